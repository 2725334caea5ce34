"""Tables as chunks: data frames, Arrow, DuckDB and open files go in, and come out as they were."""

import datetime as dt

import numpy as np
import pytest

import ragfile

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def told(rf):
    return [
        (h.id, h.text, h.tags, h.metadata, None if h.vector is None else h.vector.tolist())
        for h in (rf.hit(row) for row in rf.live_rows().tolist())
    ]


@pytest.fixture
def table():
    return pyarrow.table(
        {
            "doc_id": ["b", "a", "a"],
            "text": ["late", "first", None],
            "year": [2020, None, 2022],
            "when": [dt.date(2024, 1, 2), None, None],
            "tags": [["x", "y"], [], None],
            "embedding": pyarrow.array(
                [[1.0, 0.0], None, [0.0, 1.0]], pyarrow.list_(pyarrow.float32())
            ),
        }
    )


def test_an_arrow_table_goes_in_column_by_column(tmp_path, table):
    with ragfile.create(tmp_path / "kb") as w:
        w.add(table)
    assert told(ragfile.open(tmp_path / "kb")) == [
        ("a#0", "first", (), {}, None),
        ("a#1", "", (), {"year": 2022}, [0.0, 1.0]),
        ("b#0", "late", ("x", "y"), {"year": 2020, "when": "2024-01-02"}, [1.0, 0.0]),
    ]


def test_frames_relations_and_batches_are_tables_too(tmp_path, table):
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    plain = table.select(["doc_id", "text", "embedding"]).slice(0, 1)
    given = {
        "arrow": plain,
        "batches": pyarrow.RecordBatchReader.from_batches(plain.schema, plain.to_batches()),
        "pandas": pandas.DataFrame(
            {"doc_id": ["b"], "text": ["late"], "embedding": [np.array([1.0, 0.0])]}, index=[7]
        ),
        "duckdb": duckdb.sql("SELECT 'b' AS doc_id, 'late' AS text, [1.0, 0.0]::FLOAT[] AS embedding"),
    }  # fmt: skip
    for name, one in given.items():
        with ragfile.create(tmp_path / name) as w:
            w.add(one)
        assert told(ragfile.open(tmp_path / name)) == [("b#0", "late", (), {}, [1.0, 0.0])], name


def test_a_file_is_a_table(tmp_path):
    chunks = [
        {"doc_id": f"d{i // 2}", "chunk_index": 3 * (i % 2), "content": f"text {i}",
         "tags": ["t"] * (i % 3), "metadata": {"n": i, "deep": {"k": [i]}}}
        for i in range(8)
    ]  # fmt: skip
    with ragfile.create(tmp_path / "one") as w:
        w.add(chunks, [None if i == 3 else [float(i), 1.0] for i in range(8)])
    one = ragfile.open(tmp_path / "one")
    with ragfile.create(tmp_path / "two") as w:
        w.add(one)
    assert told(ragfile.open(tmp_path / "two")) == told(one)
    with ragfile.edit(tmp_path / "two") as w:
        w.upsert(one)
    assert ragfile.open(tmp_path / "two").generation == 1


def test_a_table_says_what_it_lacks(tmp_path, table):
    with (
        pytest.raises(ValueError, match="this one has doc_id, year"),
        ragfile.create(tmp_path / "kb") as w,
    ):
        w.add(table.select(["doc_id", "year"]))
    with pytest.raises(ValueError, match="no doc_id"), ragfile.create(tmp_path / "kb") as w:
        w.add(pyarrow.table({"doc_id": ["a", None], "text": ["x", "y"]}))
    with pytest.raises(ValueError, match="not 'x'"), ragfile.create(tmp_path / "kb") as w:
        w.add(pyarrow.table({"node_id": ["x"], "text": ["x"]}))
    with pytest.raises(TypeError, match="column embedding"), ragfile.create(tmp_path / "kb") as w:
        w.add(table, [[1.0]] * 3)
    assert not (tmp_path / "kb").exists()


def test_the_order_of_arrival_is_kept_where_it_is_wanted(tmp_path):
    def chunks(names):
        return [{"doc_id": n, "chunk_index": 0, "content": n, "metadata": {"k": n}} for n in names]

    given = chunks("zma")
    with ragfile.create(tmp_path / "kb") as w:
        w.add(given, order="at")
        w.add(chunks("y"), order="at")
    with ragfile.edit(tmp_path / "kb") as w:
        w.add(chunks("cb"), order="at")
    rf = ragfile.open(tmp_path / "kb")
    found = sorted((rf.hit(r).metadata["at"], rf.hit(r).doc_id) for r in rf.live_rows().tolist())
    assert found == list(enumerate("zmaycb"))
    assert given[0]["metadata"] == {"k": "z"}


def test_a_row_can_be_named_by_its_chunk_alone(tmp_path):
    rows = {"node_id": ["a#1", "a#0", "b#c#2"], "text": ["second", "first", "other"]}
    with ragfile.create(tmp_path / "kb") as w:
        w.add(pyarrow.table(rows))
    with ragfile.open(tmp_path / "kb") as rf:
        found = {rf.hit(row).id: rf.hit(row).text for row in range(3)}
    assert found == {"a#0": "first", "a#1": "second", "b#c#2": "other"}


@pytest.mark.parametrize("name", ["a", "#1", "a#", "a#x", "a#-1"])
def test_a_name_that_is_no_chunk_s_is_refused(tmp_path, name):
    with ragfile.create(tmp_path / "kb") as w:
        with pytest.raises(ValueError, match="node_id is a document's id, # and a number"):
            w.add(pyarrow.table({"node_id": [name], "text": ["x"]}))
        w.discard()


@pytest.mark.parametrize("said", ["[1]", "3", '"text"'])
def test_metadata_of_a_row_are_an_object(tmp_path, said):
    table = pyarrow.table({"doc_id": ["a"], "text": ["x"], "metadata_": [said]})
    with ragfile.create(tmp_path / "kb") as w:
        with pytest.raises(ValueError, match="metadata of a row are an object"):
            w.add(table)
        w.discard()
