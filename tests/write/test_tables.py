"""Tables as chunks: data frames, Arrow, DuckDB and open files go in, and come out as they were."""

import datetime as dt
import pathlib
import tempfile
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


fields = st.dictionaries(
    st.sampled_from(["tags", "metadata.tags", "metadata.metadata.tags", "metadata", "tag", "year"]),
    st.sampled_from(["x", 5, None, ["x"], ["x", "y"], [], {"tags": ["x"]}, {"metadata.tags": 1}]),
)  # fmt: skip
marks = st.sampled_from([[], ["x"], ["x", "y"]])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(fields, marks), min_size=1, max_size=8))
def test_a_field_of_the_metadata_can_be_called_tags(rows):
    chunks = [
        {"doc_id": f"d{i}", "chunk_index": 0, "content": "text", "metadata": own, "tags": tags}
        for i, (own, tags) in enumerate(rows)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with ragfile.create(folder / "one") as w:
            w.add(chunks)
        with ragfile.open(folder / "one") as one:
            for number, given in enumerate(
                [one, one.to_arrow(), one.to_arrow().drop_columns("tags")]
            ):
                with ragfile.create(folder / f"two{number}") as w:
                    w.add(given)
                with ragfile.open(folder / f"two{number}") as two:
                    assert told(two) == told(one)
            ragfile.build(one.to_arrow(), folder / "built", embedder="none")
        with ragfile.open(folder / "built") as built:
            found = {
                document.id: (document.metadata, document.tags) for document in built.documents()
            }
    kept = [({k: v for k, v in own.items() if v is not None}, tuple(tags)) for own, tags in rows]
    assert [
        ({k: v for k, v in found[f"d{i}"][0].items() if v is not None}, found[f"d{i}"][1])
        for i in range(len(rows))
    ] == kept


def model_in(path):
    with ragfile.open(path) as rf:
        return {name: rf.file.config.get(name) for name in ("model", "fusion", "context")}


@pytest.fixture
def kb(tmp_path):
    with ragfile.create(tmp_path / "kb", embedder="default") as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "Owls fly at night."}])
    return tmp_path / "kb"


@pytest.mark.parametrize("kind", ["file", "arrow", "pandas", "sliced"])
def test_a_table_carries_the_model_where_it_has_a_place_for_it(tmp_path, kb, kind):
    if kind in ("pandas", "sliced"):
        pytest.importorskip("pandas", reason="pandas is not installed")
    makers = {
        "file": lambda rf: rf, "arrow": lambda rf: rf.to_arrow(), "pandas": lambda rf: rf.to_pandas(),
        "sliced": lambda rf: rf.to_pandas().query("doc_id == 'a'").assign(seen=True),
    }  # fmt: skip
    with ragfile.open(kb) as rf, ragfile.create(tmp_path / "again") as w:
        w.add(makers[kind](rf))
    assert model_in(tmp_path / "again") == model_in(kb)
    with ragfile.open(tmp_path / "again") as rf:
        assert rf.search("Owls fly at night.", 1, mode="vector").degraded == ""


@pytest.mark.parametrize("is_lazy", [False, True])
def test_a_frame_without_a_place_for_the_model_warns_until_it_is_named(tmp_path, kb, is_lazy):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    with ragfile.open(kb) as rf:
        frame = polars.from_arrow(rf.to_arrow())
    frame = frame.lazy() if is_lazy else frame
    with (
        pytest.warns(UserWarning, match="without the name of their model: pass embedder="),
        ragfile.create(tmp_path / "again") as w,
    ):
        w.add(frame)
    assert model_in(tmp_path / "again")["model"] is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ragfile.create(tmp_path / "named", embedder="default") as w:
            w.add(frame)
    assert model_in(tmp_path / "named") == model_in(kb)
