"""A file as a dataset: DuckDB and pyarrow scan it as they scan a table in memory, and read what they ask for."""

import pickle
import random
from itertools import chain

import numpy as np
import pytest

import ragfile
from ragfile.file import arrow
from ragfile.file.row_segment import RowSegment

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pads = pytest.importorskip("pyarrow.dataset")


def document(i):
    metadata = {"year": 2000 + i % 7, "lang": ["de", "en"][i % 2], "deep": {"k": f"v{i % 3}"}}
    metadata |= {"score": i / 4} if i % 3 else {"score": None}
    metadata |= {
        "mixed": i if i % 2 else "text",
        "names": ["x"] * (i % 4),
        "big": 2**70 + i,
        "ok": i % 5 == 0,
    }
    return metadata if i % 11 else {}


@pytest.fixture(params=[40, 300])  # fewer rows than get stored columns, and more
def rf(tmp_path, request):
    path = tmp_path / "kb"
    rng = np.random.default_rng(1)
    chunks = [
        {"doc_id": f"d{i // 2:03d}", "chunk_index": i % 2, "content": f"text {i}",
         "metadata": document(i), "tags": ["t"] * (i % 3)}
        for i in range(request.param)
    ]  # fmt: skip
    vectors = [
        None if i % 5 == 0 else v for i, v in enumerate(rng.standard_normal((len(chunks), 3)))
    ]
    with ragfile.create(path) as w:
        w.add(chunks[: len(chunks) // 2], vectors[: len(chunks) // 2])
    with ragfile.edit(path) as w:
        w.add(chunks[len(chunks) // 2 :], vectors[len(chunks) // 2 :])
    with ragfile.edit(path) as w:
        w.delete(["d003", "d015"])
    return ragfile.open(path)


def test_columns_have_the_types_of_what_they_hold(rf):
    schema = rf.to_dataset().schema
    types = {
        f.name.removeprefix("metadata."): str(f.type)
        for f in schema
        if f.name.startswith("metadata.")
    }
    assert types == {
        "big": "string", "deep.k": "string", "lang": "string", "mixed": "string", "names": "list<item: string not null>",
        "ok": "bool", "score": "double", "year": "int64",
    }  # fmt: skip
    assert schema.equals(pyarrow.table(rf).schema)


def test_typed_columns_say_what_the_metadata_say(rf):
    """Row by row against the hits, which read each object by itself."""
    table = rf.to_arrow()
    table.validate(full=True)
    for row, found in zip(rf.live_rows().tolist(), table.to_pylist(), strict=True):
        hit = rf.hit(row)
        m = hit.metadata
        assert (found["row"], found["node_id"], found["chunk_index"], found["text"]) == (
            row,
            hit.id,
            hit.chunk_index,
            hit.text,
        )
        assert found["tags"] == list(hit.tags)
        for name in ("year", "lang", "score", "ok", "names"):
            assert found[f"metadata.{name}"] == m.get(name), name
        assert found["metadata.deep.k"] == m.get("deep", {}).get("k")
        assert found["metadata.mixed"] == (
            None if "mixed" not in m else '"text"' if m["mixed"] == "text" else str(m["mixed"])
        )
        assert found["embedding"] == (None if hit.vector is None else hit.vector.tolist())


CONDITIONS = [
    pads.field("metadata.year") > 2003, pads.field("metadata.lang") == "de",
    (pads.field("metadata.score") <= 5.5) & ~(pads.field("metadata.ok")), pads.field("embedding").is_null(),
    pads.field("metadata.deep.k").isin(["v0", "v2"]) | (pads.field("chunk_index") == 1),
    pads.field("text") == "text 7", pads.field("row") > 20, pads.field("metadata.year") > 9999,
]  # fmt: skip


@pytest.mark.parametrize(
    "columns", [None, ["text"], ["embedding", "row"], [], {"next": pads.field("row") + 1}]
)
def test_pyarrow_scans_it_like_a_table_in_memory(rf, columns):
    there, here = rf.to_dataset(), pads.dataset(pyarrow.table(rf))
    for condition in [None, *CONDITIONS]:
        found = there.to_table(columns=columns, filter=condition)
        wanted = here.to_table(columns=columns, filter=condition)
        assert found.num_rows == wanted.num_rows == there.count_rows(filter=condition)
        assert found.to_pydict() == wanted.to_pydict()
        if condition is not None:
            assert there.filter(condition).count_rows() == wanted.num_rows
    assert there.head(3).to_pydict() == here.head(3).to_pydict()
    with pytest.raises(NotImplementedError, match="to_table"):
        there.join(there, "row")


def test_duckdb_answers_as_over_a_table_in_memory(rf):
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.register("there", rf.to_dataset())
    con.register("here", pyarrow.table(rf))
    rng = random.Random(3)
    wheres = [
        '"metadata.year" > 2002', "\"metadata.lang\" = 'en'", '"metadata.score" BETWEEN 2 AND 9', '"metadata.ok"',
        "embedding IS NULL", "text LIKE '%1%'", "list_contains(tags, 't')", "doc_id IN ('d001', 'd007')",
        '"metadata.names" IS NOT NULL', 'chunk_index <> 0',
    ]  # fmt: skip
    for _ in range(40):
        where = f" {rng.choice(['AND', 'OR'])} ".join(rng.sample(wheres, rng.randint(1, 3)))
        select = rng.choice(["count(*)", "max(text), count(*)", 'sum("metadata.year")', "list(row ORDER BY row)",
                             "list(doc_id ORDER BY row)", 'count(DISTINCT "metadata.lang")'])  # fmt: skip
        found = [
            con.sql(f"SELECT {select} FROM {name} WHERE {where}").fetchall()
            for name in ("there", "here")
        ]
        assert found[0] == found[1], (select, where)


def counted(monkeypatch):
    """Which columns are made, and how many texts are read."""
    made, read = [], []
    batches, passage = arrow.ArrowFields._batches, RowSegment.passage
    monkeypatch.setattr(
        arrow.ArrowFields,
        "_batches",
        lambda self, fields, rows: (
            made.append([f.name for f in fields]) or batches(self, fields, rows)
        ),
    )
    monkeypatch.setattr(
        RowSegment, "passage", lambda self, row: read.append((self, row)) or passage(self, row)
    )
    return made, read


def test_a_query_reads_what_it_names_and_no_more(rf, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    rows = rf.to_dataset()  # which DuckDB finds by the name of the variable
    made, read = counted(monkeypatch)
    assert duckdb.sql("SELECT count(*) FROM rows").fetchall() == [(len(rf),)]
    assert rows.count_rows() == len(rf)
    assert (set(chain.from_iterable(made)), read) == ({"row"}, [])
    made.clear()
    duckdb.sql('SELECT avg("metadata.score") FROM rows WHERE "metadata.year" = 2003').fetchall()
    assert (set(chain.from_iterable(made)), read) == (
        {"row", "metadata.score", "metadata.year"},
        [],
    )
    ((count,),) = duckdb.sql("SELECT count(*) FROM rows WHERE \"metadata.lang\" = 'de'").fetchall()
    duckdb.sql("SELECT text FROM rows WHERE \"metadata.lang\" = 'de'").fetchall()
    assert len(set(read)) == count < len(rf)


def test_an_empty_file_is_a_dataset_too(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "x"}])
    with ragfile.edit(tmp_path / "kb") as w:
        w.delete(["a"])
    assert ragfile.open(tmp_path / "kb").to_dataset().count_rows() == 0
    assert ragfile.open(tmp_path / "kb").to_arrow().num_rows == 0


def test_paths_that_no_column_can_be_called_by_stay_in_the_json(tmp_path):
    odd = {"a\0b": 1, "\ud800": 2, "plain": 3, "": 4, "x.y": 5, "deep": {"\udfff": 6, "ok": 7}}
    chunks = [
        {"doc_id": f"d{i}", "chunk_index": 0, "content": "x", "metadata": odd} for i in range(80)
    ]
    with ragfile.create(tmp_path / "kb") as w:
        w.add(chunks)
    table = ragfile.open(tmp_path / "kb").to_arrow()
    table.validate(full=True)
    names = [n.removeprefix("metadata.") for n in table.column_names if n.startswith("metadata.")]
    assert names == ["", "deep.ok", "plain", "x.y"]


def test_batches_places_and_copies_of_a_dataset_are_those_of_a_table(rf):
    there, here = rf.to_dataset(), pyarrow.table(rf)
    condition = pads.field("metadata.year") > 2002
    chosen = here.filter(condition)
    batches = list(there.to_batches(columns=["row", "text"], filter=condition))
    assert (
        pyarrow.Table.from_batches(batches).to_pydict()
        == chosen.select(["row", "text"]).to_pydict()
    )
    assert there.take([2, 0], filter=condition).to_pydict() == chosen.take([2, 0]).to_pydict()
    sent = pickle.loads(pickle.dumps(there.filter(condition)))
    assert sent.to_table(["node_id"]).to_pydict() == chosen.select(["node_id"]).to_pydict()


def test_long_texts_come_in_batches_of_fewer_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "BATCH_BYTES", 1000)
    texts = [f"{n} " * (n * 20) for n in range(30)]
    with ragfile.create(tmp_path / "kb") as w:
        w.add([{"doc_id": f"d{n:02}", "chunk_index": 0, "content": t} for n, t in enumerate(texts)])
    rf = ragfile.open(tmp_path / "kb")
    batches = rf.to_dataset().to_batches(columns=["text"])
    sizes = [batch.num_rows for batch in batches]
    assert (len(sizes) > 10, sum(sizes)) == (True, 30)
    assert rf.to_arrow().column("text").to_pylist() == [rf.hit(row).text for row in range(30)]
