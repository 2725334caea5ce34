"""Runs on disk, and two of them side by side; the judge of the files is another program where there is one."""

import json
import math
import random

import numpy as np
import pytest

import ragfile
from ragfile.evaluation.comparison import (
    BATCH,
    DRAWS,
    SEED,
    by_question,
    change,
    compare,
    resampled,
    significance,
)
from ragfile.evaluation.measures import ndcg, read_collection, read_qrels
from ragfile.evaluation.runs import read_run, write_run

BEFORE = {"a": [("x", 3.0), ("y", 2.0), ("z", 1.0)], "b": [("x", 1.5)]}
AFTER = {"a": [("y", 3.0), ("x", 2.0), ("w", 1.0)], "b": [("x", 9.0)], "c": [("v", 1.0)]}


def test_a_run_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "a.run"
    write_run(path, {**BEFORE, "d": [("p", 0.1 + 0.2), ("p", 0.3), ("q", 0.3)]}, "tag")
    assert path.read_text().splitlines()[0] == "a Q0 x 1 3.0 tag"
    found = read_run(path)
    assert found["a"] == BEFORE["a"]
    assert found["d"] == [("p", 0.1 + 0.2), ("q", 0.3)]


def test_names_with_blanks_cannot_be_written_and_other_lines_not_read(tmp_path):
    with pytest.raises(ValueError, match="blanks"):
        write_run(tmp_path / "a.run", {"a b": [("x", 1.0)]}, "tag")
    assert not (tmp_path / "a.run").exists()
    for line in ("a Q0 x 1 3.0", "a Q0 x first 3.0 tag", "a Q0 x 1 high tag"):
        (tmp_path / "b.run").write_text(line)
        with pytest.raises(ValueError, match="line 1"):
            read_run(tmp_path / "b.run")


def test_a_change_says_what_came_went_and_moved():
    assert change("a", BEFORE["a"], AFTER["a"], 3) == {
        "question": "a", "gone": ["z"], "came": ["w"], "moved": [["y", 2, 1], ["x", 1, 2]],
        "first": True,
    }  # fmt: skip
    assert change("b", BEFORE["b"], AFTER["b"], 3) is None
    report = compare(BEFORE, AFTER, k=1)
    assert [c["question"] for c in report["changed"]] == ["a", "c"]
    assert report["questions"] == 3


def test_significance_knows_a_difference_from_noise():
    rng = random.Random(7)
    noise = [rng.random() for _ in range(200)]
    other = [value + rng.gauss(0, 0.1) for value in noise]
    better = [value + 0.05 + rng.gauss(0, 0.1) for value in noise]
    assert significance(noise, other)["p"] > 0.05
    found = significance(noise, better)
    assert found["p"] < 0.01
    assert found["low"] < found["difference"] < found["high"]
    assert found["low"] > 0
    assert significance(noise, noise)["p"] == 1.0
    assert significance(noise, better) == significance(noise, better)


def test_the_interval_is_that_of_the_normal_approximation():
    rng = random.Random(3)
    apart = [rng.gauss(0.1, 1.0) for _ in range(500)]
    found = significance([0.0] * 500, apart)
    mean = sum(apart) / 500
    error = math.sqrt(sum((a - mean) ** 2 for a in apart) / 500 / 500)
    assert found["low"] == pytest.approx(mean - 1.96 * error, abs=0.15 * error)
    assert found["high"] == pytest.approx(mean + 1.96 * error, abs=0.15 * error)


def test_all_columns_are_drawn_from_the_same_questions():
    rng = random.Random(5)
    columns = [[rng.random() for _ in range(7)] for _ in range(2)]
    first, second = resampled(columns)
    for at, picks in enumerate(np.random.RandomState(SEED).randint(0, 7, (BATCH, 7))):
        for drawn, column in ((first, columns[0]), (second, columns[1])):
            assert drawn[at] == pytest.approx(sum(column[i] for i in picks) / 7, abs=1e-12)
    assert len(first) == DRAWS


def test_trec_s_judgements_are_read_as_beir_s(tmp_path):
    (tmp_path / "trec").write_text("a 0 x 2\na 0 y 0\nb 0 x 1\n")
    (tmp_path / "beir").write_text("query-id\tcorpus-id\tscore\na\tx\t2\na\ty\t0\nb\tx\t1\n")
    assert read_qrels(tmp_path / "trec") == read_qrels(tmp_path / "beir")
    (tmp_path / "bad").write_text("a 0 x 2\na 0 y high\n")
    with pytest.raises(ValueError, match="line 2"):
        read_qrels(tmp_path / "bad")


def test_each_query_s_scores_are_those_of_ir_measures(tmp_path):
    ir = pytest.importorskip("ir_measures", reason="ir-measures is not installed")
    qrels = {"a": {"y": 2, "z": 1}, "b": {"x": 1}}
    write_run(tmp_path / "a.run", BEFORE, "tag")
    judged = [ir.Qrel(q, d, v) for q, of in qrels.items() for d, v in of.items()]
    run = list(ir.read_trec_run(str(tmp_path / "a.run")))
    theirs = {m.query_id: m.value for m in ir.iter_calc([ir.nDCG @ 10], judged, run)}
    assert by_question(ndcg, BEFORE, qrels) == pytest.approx(theirs)


@pytest.fixture
def files(tmp_path):
    texts = {"keys.md": "Rotate the keys.", "pods.md": "Restart the pods."}
    for name, more in (("old", {}), ("new", {"locks.md": "Rotate the keys and the locks."})):
        with ragfile.create(tmp_path / f"{name}.ragfile", embedder="default") as w:
            w.add_documents({"id": n, "text": t} for n, t in {**texts, **more}.items())
    (tmp_path / "asked.txt").write_text("rotate the locks\nrestart pods\n")
    return tmp_path


def ran(capsys, *arguments):
    from ragfile.doors.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def test_the_command_compares_two_files_and_can_fail_a_build(files, capsys):
    command = ["compare", files / "old.ragfile", files / "new.ragfile"]
    asked = ["--questions", files / "asked.txt", "-k", 1]
    code, out, _ = ran(capsys, *command, *asked)
    assert code == 0
    assert out.splitlines() == [
        "1 of 2 questions have different answers in the top 1",
        "  rotate the locks: +locks.md, -keys.md",
    ]
    assert ran(capsys, *command, *asked, "--fail-over", 0)[0] == 1
    assert ran(capsys, *command, *asked, "--fail-over", 1)[0] == 0
    code, _, err = ran(capsys, *command)
    assert code == 2
    assert "to compare two files, pass --questions" in err
    same = ["compare", files / "old.ragfile", files / "old.ragfile", *asked, "--json"]
    assert json.loads(ran(capsys, *same)[1])["changed"] == []


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "small"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": "1", "text": "Rotate keys."}, {"_id": "2", "text": "Restart pods."}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "a", "text": "keys"}))
    (folder / "qrels" / "test.tsv").write_text("a\t1\t1\n")
    return folder


def test_eval_writes_runs_and_scores_and_fails_under_a_bar(collection, tmp_path, capsys):
    code, out, _ = ran(capsys, "eval", collection, "--runs", tmp_path / "runs")
    assert code == 0
    assert "p99" in out
    assert read_run(tmp_path / "runs" / "small.test.bm25.run")["a"][0][0] == "1"
    scores = json.loads((tmp_path / "runs" / "small.test.hybrid.json").read_text())
    assert scores["ndcg@10"] == {"a": 1.0}
    assert ran(capsys, "eval", collection, "--fail-under", "ndcg@10=.9")[0] == 0
    code, _, err = ran(capsys, "eval", collection, "--fail-under", "bm25:ndcg@10=1.1")
    assert (code, err) == (1, "ragfile: small: bm25 ndcg@10 is 1.0000, below 1.1\n")
    assert ran(capsys, "eval", collection, "--fail-under", "nonsense=1")[0] == 2
    assert ran(capsys, "eval", tmp_path / "nowhere")[0] == 2


def test_a_collection_of_ir_datasets_is_read_by_its_id(tmp_path):
    ir = pytest.importorskip("ir_datasets", reason="ir-datasets is not installed")
    (tmp_path / "docs.tsv").write_text("1\tRotate keys.\n2\tRestart pods.\n")
    (tmp_path / "queries.tsv").write_text("a\tkeys\nb\tnot judged\n")
    (tmp_path / "qrels").write_text("a 0 1 1\n")
    dataset = ir.create_dataset(
        docs_tsv=str(tmp_path / "docs.tsv"), queries_tsv=str(tmp_path / "queries.tsv"),
        qrels_trec=str(tmp_path / "qrels"),
    )  # fmt: skip
    if "ragfile-test" not in ir.registry._registered:
        ir.registry.register("ragfile-test", dataset)
    read = read_collection("ir:ragfile-test")
    assert read.queries == {"a": "keys"}
    assert read.qrels == {"a": {"1": 1}}
    assert [d.text for d in read.documents()] == ["Rotate keys.", "Restart pods."]


def test_runs_are_judged_by_what_was_said_of_each_question(tmp_path, capsys):
    from ragfile.doors.cli.main import main

    qrels = {"a": {"x": 2, "y": 1}, "b": {"x": 1}, "c": {"v": 1}, "nothing": {"x": 0}}
    report = compare(BEFORE, AFTER, qrels=qrels)["measures"]
    for name, measure in (("mrr", [1, 1, 0]), ("recall@100", [1, 1, 0])):
        assert report[name]["before"] == pytest.approx(sum(measure) / 3)
    assert report["mrr"]["after"] == 1.0
    assert report["mrr"]["difference"] == pytest.approx(1 / 3)
    assert compare(BEFORE, AFTER, qrels={})["measures"]["mrr"]["p"] == 0.0

    write_run(tmp_path / "before.run", BEFORE, "x")
    write_run(tmp_path / "after.run", AFTER, "x")
    judged = "".join(f"{q} 0 {d} {n}\n" for q, said in qrels.items() for d, n in said.items())
    (tmp_path / "qrels").write_text(judged)
    (tmp_path / "before.run").write_text("\n" + (tmp_path / "before.run").read_text())
    runs = [str(tmp_path / "before.run"), str(tmp_path / "after.run")]
    with pytest.raises(SystemExit) as ended:
        main(["compare", *runs, "--qrels", str(tmp_path / "qrels")])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert "mrr: 0.6667 → 1.0000, +0.3333" in out


def test_questions_come_as_lines_or_as_json(tmp_path, capsys):
    from ragfile.doors.cli.main import main

    for name, text in (("old", "Rotate the keys."), ("new", "Rotate the keys and the locks.")):
        (tmp_path / "page.md").write_text(text)
        ragfile.build([tmp_path / "page.md"], tmp_path / f"{name}.ragfile")
    files = [str(tmp_path / f"{name}.ragfile") for name in ("old", "new")]
    (tmp_path / "lines").write_text("keys\n\nlocks\n")
    said = [{"_id": "1", "text": "keys"}, {"_id": "2", "text": "locks"}]
    (tmp_path / "json").write_text("".join(json.dumps(one) + "\n" for one in said))
    for name, asked in (("lines", "locks"), ("json", "2")):
        with pytest.raises(SystemExit):
            main(["compare", *files, "--questions", str(tmp_path / name), "--mode", "bm25"])
        out = capsys.readouterr().out.splitlines()
        assert out == [
            "1 of 2 questions have different answers in the top 10",
            f"  {asked}: +page.md",
        ]
