"""Arrow streams without a library on our side: read here by ctypes, and by whatever reads Arrow where that is installed."""

import ctypes
import gc
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

import ragfile
from ragfile import _core
from ragfile.file import arrow


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private_data", ctypes.c_void_p),
]  # fmt: skip
Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.c_void_p), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private_data", ctypes.c_void_p),
]  # fmt: skip


def stream_of(capsule):
    point = ctypes.pythonapi.PyCapsule_GetPointer
    point.restype, point.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Stream.from_address(point(capsule, b"arrow_array_stream"))


def texts(array):
    offsets = np.frombuffer(ctypes.string_at(array.buffers[1], 4 * (array.length + 1)), np.int32)
    raw = ctypes.string_at(array.buffers[2], int(offsets[-1]))
    return [raw[a:b].decode() for a, b in itertools.pairwise(offsets)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb"
    chunks = [
        {"doc_id": f"d{i:02d}", "chunk_index": 0, "content": f"text {i} Grüße \U0001f600", "metadata": {"n": i}} for i in range(50)
    ]  # fmt: skip
    with ragfile.create(path) as w:
        w.add(chunks, np.random.default_rng(7).standard_normal((50, 6)).astype(np.float32))
    with ragfile.edit(path) as w:
        w.delete(["d03"])
    return path


@pytest.mark.parametrize("batch", [1, 7, 4096])
def test_a_stream_has_every_live_chunk_in_order(path, monkeypatch, batch):
    monkeypatch.setattr(arrow, "BATCH", batch)
    with ragfile.open(path) as rf:
        wanted = list(arrow.records(rf.rows))
        capsule = rf.__arrow_c_stream__()
        stream, schema, found = stream_of(capsule), Schema(), []
        assert stream.get_schema(stream, schema) == 0
        assert schema.format == b"+s"
        fields = [schema.children[i].contents for i in range(schema.n_children)]
        assert [(f.name, f.format) for f in fields] == [
            (b"row", b"l"), (b"node_id", b"u"), (b"doc_id", b"u"), (b"chunk_index", b"l"), (b"text", b"u"),
            (b"source", b"u"), (b"tags", b"+l"), (b"metadata_", b"u"), (b"metadata.n", b"l"), (b"embedding", b"+w:6"),
        ]  # fmt: skip
        schema.release(schema)
        while True:
            array = Array()
            assert stream.get_next(stream, array) == 0
            if not array.release:
                break
            columns = [array.children[i].contents for i in range(array.n_children)]
            vectors = columns[9].children[0].contents
            rows = np.frombuffer(
                ctypes.string_at(vectors.buffers[1], 4 * vectors.length), np.float32
            ).reshape(-1, 6)
            named = zip(*(texts(columns[i]) for i in (1, 4, 7, 2)), rows.tolist(), strict=True)
            found += [
                dict(zip(("node_id", "text", "metadata", "doc_id", "embedding"), row, strict=True))
                for row in named
            ]
            assert array.length == len(rows) <= batch
            array.release(array)
        for row in found:
            row["metadata"] = json.loads(row["metadata"])
        assert found == [{name: record[name] for name in found[0]} for record in wanted]
        assert len(found) == 49


def test_a_column_that_was_moved_away_outlives_its_batch(path):
    with ragfile.open(path) as rf:
        capsule = rf.__arrow_c_stream__()
        array, moved = Array(), Array()
        stream_of(capsule).get_next(stream_of(capsule), array)
        ctypes.memmove(ctypes.byref(moved), array.children[4], ctypes.sizeof(Array))
        ctypes.memset(
            ctypes.byref(array.children[4].contents, Array.release.offset),
            0,
            ctypes.sizeof(ctypes.c_void_p),
        )
        array.release(array)
        assert not array.release
    del capsule
    gc.collect()
    assert texts(moved)[:2] == ["text 0 Grüße \U0001f600", "text 1 Grüße \U0001f600"]
    moved.release(moved)


def test_what_goes_wrong_in_a_stream_is_said_and_nothing_leaks():
    class Held(bytes):
        pass

    alive = Held(b"\0" * 8)
    before = sys.getrefcount(alive)

    def batches():
        yield 1, [None], [(1, [None, alive, b"x"], [])]
        yield 1, [None], [(1, [None, alive, "not bytes"], [])]

    capsule = _core.arrow_stream((b"+s", b"", [(b"u", b"a", [])]), batches())
    stream, array = stream_of(capsule), Array()
    assert stream.get_next(stream, array) == 0
    array.release(array)
    assert stream.get_next(stream, array) != 0
    assert not array.release
    assert b"TypeError" in stream.get_last_error(stream)
    assert stream.get_next(stream, array) == 0  # it is over
    assert not array.release
    del stream, array, capsule
    gc.collect()
    assert sys.getrefcount(alive) == before


def test_a_file_without_vectors_has_no_column_of_them(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "only words"}])
    with ragfile.open(tmp_path / "kb") as rf:
        capsule, schema = rf.__arrow_c_stream__(), Schema()
        stream_of(capsule).get_schema(stream_of(capsule), schema)
        assert [schema.children[i].contents.name for i in range(schema.n_children)] == [
            b"row", b"node_id", b"doc_id", b"chunk_index", b"text", b"source", b"tags", b"metadata_",
        ]  # fmt: skip
        schema.release(schema)


READERS = {
    "nanoarrow": "import nanoarrow; print(len(nanoarrow.ArrayStream(rf).read_all()))",
    "polars": "import polars; print(polars.DataFrame(rf).height)",
    "duckdb": "import duckdb; print(duckdb.sql('SELECT count(*) FROM rf WHERE len(embedding) = 6').fetchall()[0][0])",
    "pyarrow": "import pyarrow; t = pyarrow.table(rf); t.validate(full=True); print(t.num_rows)",
}


@pytest.mark.parametrize("package", READERS)
def test_other_libraries_read_the_stream_without_pyarrow(path, package):
    pytest.importorskip(package, reason=f"{package} is not installed")
    hidden = "" if package == "pyarrow" else "sys.modules['pyarrow'] = None; "
    code = f"import sys; {hidden}import ragfile; rf = ragfile.open(sys.argv[1]); {READERS[package]}"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.stdout.strip() == "49", done.stderr


def test_a_chunk_without_a_vector_has_a_null(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    chunks = [{"doc_id": f"d{i}", "chunk_index": 0, "content": "text"} for i in range(10)]
    vectors = [None if i in (0, 3, 9) else [float(i), 1.0] for i in range(10)]
    with ragfile.create(tmp_path / "kb") as w:
        w.add(chunks, vectors)
    rf = ragfile.open(tmp_path / "kb")
    table = rf.to_arrow()
    assert table.column("embedding").to_pylist() == vectors
    assert table.schema.field("embedding").nullable
    assert table.validate(full=True) is None
    assert [line["embedding"] for line in arrow.records(rf.rows)] == vectors
    assert pyarrow.table(rf).column("embedding").null_count == 3
