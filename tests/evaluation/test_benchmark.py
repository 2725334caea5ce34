"""ragfile eval: the measures of every mode over a small judged collection, as a table and as JSON."""

import json
import random
import subprocess
import sys

import pytest

from ragfile.evaluation.benchmark import judge
from ragfile.evaluation.measures import MEASURES, evaluate, read_collection
from ragfile.evaluation.runs import read_run

TEXTS = {
    "1": ("Keys", "To rotate the keys run the rotation job."), "2": ("Pods", "Restart a pod by deleting it."),
    "3": ("", "Backups of all keys are taken every night."), "4": ("", "The weather is fine."),
}  # fmt: skip


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "small"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": i, "title": title, "text": text} for i, (title, text) in TEXTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    queries = [
        {"_id": "a", "text": "rotate keys"},
        {"_id": "b", "text": "restart a pod"},
        {"_id": "c", "text": "no judgement"},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\na\t1\t2\na\t3\t1\nb\t2\t1\n"
    )
    return folder


def test_every_mode_is_measured_and_hybrid_with_a_reranker(collection):
    report = judge(collection)
    assert list(report["modes"]) == ["bm25", "vector", "hybrid"]
    assert report["modes"]["bm25"] == dict.fromkeys((*MEASURES, "found@5"), 1.0)
    assert (report["documents"], report["sets"][0]["queries"]) == (4, 2)

    class Backwards:
        def score(self, query, texts):
            return [-text.count("keys") for text in texts]

    assert list(judge(collection, reranker=Backwards())["modes"])[-1] == "hybrid+rerank"


def test_the_numbers_are_those_of_the_rankings(collection, tmp_path):
    judge(collection, runs=tmp_path / "runs")
    for mode in ("bm25", "vector", "hybrid"):
        run = read_run(tmp_path / "runs" / f"small.test.{mode}.run")
        ids = {question: [name for name, _ in ranked] for question, ranked in run.items()}
        expected = evaluate(ids, read_collection(collection).qrels)
        found = judge(collection)["modes"][mode]
        assert {name: found[name] for name in expected} == expected


def test_long_documents_are_in_passages_unless_they_are_to_be_whole(collection):
    corpus = collection / "corpus.jsonl"
    long = {
        "_id": "5",
        "title": "Long",
        "text": "Nothing of interest here. " * 400 + "Rotate keys.",
    }
    corpus.write_text(f"{corpus.read_text()}\n{json.dumps(long)}\n")
    (cut,) = judge(collection)["sets"]
    whole = judge(collection, chunking="whole")
    assert judge(collection)["chunks"] > whole["chunks"] == 5
    assert cut["unit"] == "document"


def test_an_earlier_run_is_compared_question_by_question(collection, tmp_path):
    first = judge(collection, runs=tmp_path / "runs")
    again = judge(collection, against=tmp_path / "runs")
    same = again["sets"][0]["against"]["hybrid"]["ndcg@10"]
    assert (same["difference"], same["low"], same["high"], same["p"]) == (0.0, 0.0, 0.0, 1.0)
    path = tmp_path / "runs" / "small.test.bm25.json"
    scores = json.loads(path.read_text())
    path.write_text(json.dumps({name: {"a": 0.0} for name in scores}))
    worse = judge(collection, against=tmp_path / "runs")["sets"][0]["against"]["bm25"]["mrr"]
    assert (worse["before"], worse["after"]) == (0.0, 1.0)  # of the one question that both have
    assert first["sets"][0]["intervals"]["bm25"]["mrr"] == (1.0, 1.0)
    with pytest.raises(FileNotFoundError, match="no scores of these questions"):
        judge(collection, against=tmp_path)


def test_questions_that_chose_and_that_judge_are_apart(collection):
    qrels = collection / "qrels"
    (qrels / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nc\t4\t1\n")
    report = judge(collection, dev="dev", held="test")
    assert [(one["role"], one["name"], one["queries"]) for one in report["sets"]] == [
        ("dev", "dev", 1), ("held", "test", 2),
    ]  # fmt: skip
    assert report["modes"] == report["sets"][1]["modes"]
    (qrels / "dev.tsv").write_text("query-id\tcorpus-id\tscore\na\t4\t1\n")
    with pytest.raises(ValueError, match=r"held and dev share questions \(1\)"):
        judge(collection, dev="dev", held="test")


def test_the_measures_of_a_run_are_those_of_trec_eval(tmp_path):
    oracle = pytest.importorskip("pytrec_eval", reason="pytrec-eval-terrier is not installed")
    rng = random.Random(11)
    docs = [f"d{number}" for number in range(300)]
    qrels = {f"q{i}": {d: rng.randint(0, 3) for d in rng.sample(docs, 30)} for i in range(25)}
    run = {q: {d: float(rng.randint(1, 10**6)) for d in rng.sample(docs, 150)} for q in qrels}
    lines = (f"{q} 0 {d} {gain}\n" for q, judged in qrels.items() for d, gain in judged.items())
    (tmp_path / "qrels.txt").write_text("".join(lines))
    ranked = ((q, sorted(found, key=found.get, reverse=True)) for q, found in run.items())
    lines = (
        f"{q} Q0 {d} {rank} {run[q][d]} other\n"
        for q, found in ranked
        for rank, d in enumerate(found, 1)
    )
    (tmp_path / "other.run").write_text("".join(lines))
    ours = judge(tmp_path / "other.run", questions=tmp_path / "qrels.txt")["modes"]["run"]
    names = {"ndcg_cut.10": "ndcg@10", "recall.100": "recall@100", "recip_rank": "mrr"}
    theirs = oracle.RelevanceEvaluator(qrels, set(names)).evaluate(run)
    for name, own in names.items():
        values = [scores[name.replace(".", "_")] for scores in theirs.values()]
        assert ours[own] == pytest.approx(sum(values) / len(values), abs=1e-9)
    success = oracle.RelevanceEvaluator(qrels, {"success.1,5"}).evaluate(run)
    for name, own in (("success_1", "first"), ("success_5", "found@5")):
        assert ours[own] == pytest.approx(sum(s[name] for s in success.values()) / 25, abs=1e-9)


def test_the_command_prints_a_table_and_json(collection, tmp_path):
    command = [sys.executable, "-m", "ragfile", "eval", str(collection)]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "nDCG@10" in table
    assert "hybrid against bm25: nDCG@10 +" in table
    assert "judged by test (" in table
    done = subprocess.run(
        [*command, "--json", "--keep", str(tmp_path / "kb")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)[0]["modes"]["bm25"]["mrr"] == 1.0
    assert (tmp_path / "kb").exists()
    assert (
        subprocess.run([*command[:-1], str(tmp_path / "nowhere")], capture_output=True).returncode
        == 2
    )
