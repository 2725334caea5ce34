"""build takes tables and lists of other programs as they are, and a function as the embedder."""

import errno
import json
import os

import numpy as np
import pytest

import ragfile
from ragfile.errors import FormatError

ROWS = [
    {"pk": "a", "body": "Herons stand in water and wait.", "year": 2024, "lang": "en"},
    {"pk": "b", "body": "Owls fly at night over the fields.", "year": 2025, "lang": "de"},
]


KINDS = ["list", "generator", "pandas", "polars", "lazy", "datasets", "pyarrow"]


def check(path):
    with ragfile.open(path) as rf:
        hit = rf.search("owls at night", 1)[0]
        assert hit.text == ROWS[1]["body"]
        assert (hit.metadata["year"], hit.metadata["lang"]) == (2025, "de")
        assert len(list(rf.documents())) == 2
        return hit.doc_id


def frame(kind):
    if kind == "list":
        return list(ROWS)
    if kind == "generator":
        return (row for row in ROWS)
    name = {"lazy": "polars"}.get(kind, kind)
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    if kind == "datasets":
        return library.Dataset.from_list(ROWS)
    if kind == "lazy":
        return library.LazyFrame(ROWS)
    return library.Table.from_pylist(ROWS) if kind == "pyarrow" else library.DataFrame(ROWS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_built_as_it_is(tmp_path, kind):
    ragfile.build(frame(kind), tmp_path / "kb.ragfile")
    assert check(tmp_path / "kb.ragfile") == "b"


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_added_as_it_is(tmp_path, kind):
    kb = tmp_path / "kb.ragfile"
    ragfile.build([{"id": "first", "text": "Granite is hard."}], kb)
    dry = ragfile.add(kb, frame(kind), dry_run=True)
    assert (dry.added, dry.generation) == (["a", "b"], 1)
    assert ragfile.add(kb, frame(kind), tags=["birds"]).added == ["a", "b"]
    with ragfile.open(kb) as rf:
        assert rf.document_ids() == ["a", "b", "first"]
        hit = rf.search("owls at night", 1)[0]
        assert (hit.doc_id, hit.metadata, hit.tags) == (
            "b",
            {"year": 2025, "lang": "de"},
            ("birds",),
        )
        assert rf.generation == 2
    report = ragfile.add(kb, frame(kind), tags=["birds"])
    assert (report.added, report.changed, report.unchanged) == ([], [], 2)


def test_rows_with_other_content_are_replaced_on_request_or_kept_apart(tmp_path):
    kb = tmp_path / "kb.ragfile"
    ragfile.build(list(ROWS), kb)
    news = [{**ROWS[0], "body": "Herons nest in trees."}, ROWS[1]]
    before = kb.read_bytes()
    with pytest.raises(ValueError, match="other content under 1 of these ids"):
        ragfile.add(kb, news)
    assert kb.read_bytes() == before
    assert ragfile.add(kb, news, replace=True).changed == ["a"]
    assert ragfile.add(kb, news, prefix="more").added == ["more/a", "more/b"]
    with ragfile.open(kb) as rf:
        texts = {document.id: document.text for document in rf.documents()}
    assert texts["a"] == texts["more/a"] == "Herons nest in trees."
    with pytest.raises(ValueError, match="are about files, not documents"):
        ragfile.add(kb, news, include=["*.md"])


def test_rows_with_an_id_a_text_and_columns_of_their_own_keep_them_as_metadata(tmp_path):
    rows = [{"id": 7, "text": "Herons stand in water.", "year": 2024}, {"id": 8, "text": "Owls."}]
    for name, given in (("list", rows), ("lazy", iter(rows))):
        ragfile.build(given, tmp_path / f"{name}.ragfile")
        with ragfile.open(tmp_path / f"{name}.ragfile") as rf:
            found = {d.id: (d.text, d.metadata) for d in rf.documents()}
        assert found == {"7": ("Herons stand in water.", {"year": 2024}), "8": ("Owls.", {})}
    plain = [{"id": "a", "text": "A."}, {"id": "b", "text": "B.", "year": 2025}]
    ragfile.build(plain, tmp_path / "later.ragfile")
    with ragfile.open(tmp_path / "later.ragfile") as rf:
        assert {d.id: d.metadata for d in rf.documents()} == {"a": {}, "b": {"year": 2025}}


@pytest.mark.parametrize("kind", ["lazy", "datasets"])
def test_a_lazy_frame_and_a_dataset_are_added_with_their_vectors(tmp_path, kind):
    rows = [
        {"doc_id": name, "text": f"text of {name}", "embedding": [1.0, n], "year": 2000 + n}
        for n, name in enumerate("abc")
    ]
    if kind == "lazy":
        polars = pytest.importorskip("polars", reason="polars is not installed")
        table = polars.LazyFrame(rows).filter(polars.col("year") > 2000)
    else:
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        table = datasets.Dataset.from_list(rows).select([1, 2])
    with ragfile.create(tmp_path / "kb.ragfile", dim=2) as w:
        w.add(table)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.document_ids() == ["b", "c"]
        assert [hit.metadata["year"] for hit in rf.search("", vector=[1.0, 2.0], mode="vector")] == [
            2002, 2001,
        ]  # fmt: skip


def test_parquet_and_json_lines_are_sources(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    ragfile.build(tmp_path / "rows.parquet", tmp_path / "kb.ragfile")
    assert check(tmp_path / "kb.ragfile") == "rows.parquet#b"
    lines = [{"id": row["pk"], "content": row["body"], **row} for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ragfile.build(tmp_path / "rows.jsonl", tmp_path / "kb2.ragfile")
    assert check(tmp_path / "kb2.ragfile") == "rows.jsonl#b"


def test_a_table_without_texts_names_its_columns(tmp_path):
    with pytest.raises(FormatError, match="no column has texts among n, m: name it"):
        ragfile.build([{"n": 1, "m": 2}], tmp_path / "kb.ragfile")


def by_letters(texts):
    return [[text.count(letter) + 0.5 for letter in "etaoin"] for text in texts]


class Encoder:
    def encode(self, texts):
        return np.array(by_letters(texts))


@pytest.mark.parametrize(
    "embedder", [by_letters, Encoder(), lambda texts: np.array(by_letters(texts))]
)
def test_a_function_is_an_embedder(tmp_path, embedder):
    ragfile.build(list(ROWS), tmp_path / "kb.ragfile", embedder=embedder)
    with ragfile.open(tmp_path / "kb.ragfile", embedder=embedder) as rf:
        hits = rf.search(ROWS[1]["body"], 1, mode="vector")
        assert (hits.degraded, hits[0].doc_id) == ("", "b")
        assert hits[0].score == pytest.approx(1, abs=1e-5)
        assert rf.file.config["model"]["dims"] == 6
    with pytest.raises(TypeError, match="is not an embedder"):
        ragfile.build(list(ROWS), tmp_path / "x.ragfile", embedder=Encoder)
    with pytest.raises(TypeError, match="is not an embedder"):
        ragfile.build(list(ROWS), tmp_path / "x.ragfile", embedder=3)


def test_an_arrow_table_carries_the_model_so_that_answers_are_equal(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    words = [
        "heron",
        "owl",
        "granite",
        "chalk",
        "water",
        "night",
        "field",
        "river",
        "stone",
        "feather",
    ]
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(words, 8)) for _ in range(300)]
    with ragfile.create(tmp_path / "kb.ragfile", embedder="default") as w:
        w.add(
            [{"doc_id": f"d{n}", "chunk_index": 0, "content": text} for n, text in enumerate(texts)]
        )
    with ragfile.open(tmp_path / "kb.ragfile") as before:
        with ragfile.create(tmp_path / "again.ragfile") as w:
            w.add(before.to_arrow())
        with ragfile.open(tmp_path / "again.ragfile") as after:
            assert after.file.config["model"] == before.file.config["model"]
            for _ in range(100):
                question = " ".join(rng.choice(words, 3))
                listed = [
                    [(hit.id, hit.score) for hit in rf.search(question, 5)]
                    for rf in (before, after)
                ]
                assert listed[0] == listed[1]


def test_a_folder_that_cannot_be_read_is_a_failure_of_the_build(tmp_path, monkeypatch):
    (tmp_path / "docs" / "closed").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("# Keys\n")
    listed = os.listdir

    def refuse(path="."):
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "listdir", refuse)  # root reads every folder
    report = ragfile.build(tmp_path / "docs", tmp_path / "kb.ragfile", embedder="none")
    assert [(f.path, f.reason) for f in report.failures] == [
        (str(tmp_path / "docs" / "closed"), "Permission denied")
    ]
    assert report.skipped == []


def test_a_table_of_our_own_is_built_without_its_places(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    first, second = tmp_path / "first.ragfile", tmp_path / "second.ragfile"
    ragfile.build(
        [{"id": r["pk"], "text": r["body"], "metadata": {"year": r["year"]}} for r in ROWS], first
    )
    with ragfile.open(first) as rf:
        ragfile.build(rf.to_arrow(), second)
        before = [(d.id, d.text, d.metadata, d.source) for d in rf.documents()]
        hits = [(h.id, h.score) for h in rf.search("owls", 2)]
    with ragfile.open(second) as rf:
        assert [(d.id, d.text, d.metadata, d.source) for d in rf.documents()] == before
        assert [(h.id, h.score) for h in rf.search("owls", 2)] == hits
