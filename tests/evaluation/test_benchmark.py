"""ragfile eval: the measures of every mode over a small judged collection, as a table and as JSON."""

import json
import subprocess
import sys

import pytest

from ragfile.evaluation.benchmark import judge
from ragfile.evaluation.measures import evaluate, read_collection

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


def test_every_mode_is_measured_with_and_without_reranking(collection):
    report = judge(collection)
    assert set(report["modes"]) == {
        f"{leg}{end}" for leg in ("bm25", "vector", "hybrid") for end in ("", "+rerank")
    }
    assert report["modes"]["bm25"] == dict.fromkeys(
        ("ndcg@10", "recall@100", "mrr", "mrr@10", "first"), 1.0
    )
    assert (report["documents"], report["queries"]) == (4, 2)


def test_the_numbers_are_those_of_the_rankings(collection):
    class Backwards:
        def score(self, query, texts):
            return [-text.count("keys") for text in texts]

    read = read_collection(collection)
    expected = evaluate({"a": ["1", "3"], "b": ["2"]}, read.qrels)
    assert judge(collection, embedder="none", reranker=Backwards())["modes"] == {
        "bm25": expected, "bm25+rerank": expected,
    }  # fmt: skip


def test_the_command_prints_a_table_and_json(collection, tmp_path):
    command = [sys.executable, "-m", "ragfile", "eval", str(collection)]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "nDCG@10" in table
    assert "hybrid+rerank" in table
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
