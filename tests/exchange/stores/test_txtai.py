"""Indexes of txtai are read from the folder or the archive that it saves: made by txtai itself, and by hand."""

import io
import json
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers.embedding_servers import Server, vector_of

import ragfile
from ragfile.errors import FormatError
from ragfile.exchange import conversion

TEXTS = ["about alpha", "about beta", "seven"]
VECTORS = np.eye(4, 3, dtype="<f4")  # the last one is zero, as of a deleted row


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)], capture_output=True, text=True
    )


def flat(vectors):
    """Return the bytes of a flat FAISS index for inner products."""
    count, dim = vectors.shape
    head = struct.pack("<4siqqqBi", b"IxFI", dim, count, 1 << 20, 1 << 20, 1, 0)
    return head + struct.pack("<Q", dim * count) + vectors.astype("<f4").tobytes()


def id_map(vectors, numbers, inner=None):
    """Return the bytes of a FAISS index under an id map."""
    count, dim = vectors.shape
    head = struct.pack("<4siqqqBi", b"IxMp", dim, count, 1 << 20, 1 << 20, 1, 0)
    ids = struct.pack(f"<Q{len(numbers)}q", len(numbers), *numbers)
    return head + (inner or flat(vectors)) + ids


def content(path, sections, documents=()):
    """Write the database of an index that keeps its content."""
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE documents (id TEXT PRIMARY KEY, data JSON, tags TEXT, entry DATETIME)"
    )
    database.execute(
        "CREATE TABLE sections (indexid INTEGER PRIMARY KEY, id TEXT, text TEXT, tags TEXT, entry DATETIME)"
    )
    database.executemany("INSERT INTO sections VALUES (?, ?, ?, ?, NULL)", sections)
    database.executemany("INSERT INTO documents VALUES (?, ?, NULL, NULL)", documents)
    database.commit()
    database.close()


SECTIONS = [(0, "a", TEXTS[0], "ops"), (5, "b", TEXTS[1], None), (2, "7", TEXTS[2], None)]
DATA = {"text": "seven", "id": 7, "tags": ["t1", "t2"], "url": "seven.md", "n": {"k": [1]}}


@pytest.fixture
def folder(tmp_path):
    """An index as txtai documents it: numbers 0, 5 and 2 in another order than their vectors."""
    path = tmp_path / "index"
    path.mkdir()
    config = {"path": "intfloat/e5", "backend": "faiss", "content": True, "dimensions": 3}
    (path / "config.json").write_text(json.dumps(config))
    (path / "embeddings").write_bytes(id_map(VECTORS[:3], [2, 0, 5]))
    content(path / "documents", SECTIONS, [("7", json.dumps(DATA))])
    return path


def texts_and_vectors(found):
    return {found.text(row): found.index.vectors[row].tolist() for row in range(len(found))}


def change(folder, **entries):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def test_ids_texts_tags_metadata_and_vectors_are_read(folder):
    found = conversion.read(folder)
    assert texts_and_vectors(found) == {
        "about alpha": [0, 1, 0], "about beta": [0, 0, 1], "seven": [1, 0, 0],
    }  # fmt: skip
    seven = found.documents["7"]
    assert (seven["tags"], seven["source"]) == (["t1", "t2"], "seven.md")
    assert seven["metadata"] == {"url": "seven.md", "n": {"k": [1]}}
    assert found.documents["a"]["tags"] == ["ops"]
    assert (found.model_name, found.is_cosine) == ("st:intfloat/e5", True)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"method": "sentence-transformers", "path": "a/b"}, "st:a/b"),
        ({"method": "litellm", "path": "openai/text-embedding-3-small"}, "openai:text-embedding-3-small"),
        ({"method": "litellm", "path": "ollama/all-minilm"}, "ollama:all-minilm"),
        ({"method": "words", "path": "glove"}, "glove"),
        ({"method": "external", "path": "a/b"}, None),
        ({"path": "/home/ada/model"}, None),
        ({"path": "C:\\models\\e5"}, None),
        ({"path": ""}, None),
        ({"path": None}, None),
        ({"path": ["a"]}, None),
    ],
)  # fmt: skip
def test_the_model_is_recorded_by_its_name_never_by_a_folder(folder, config, name):
    change(folder, **config)
    assert conversion.read(folder).model_name == name


def test_a_converted_index_is_asked_with_its_model(folder, tmp_path, monkeypatch):
    change(folder, path="ollama/all-minilm", method="litellm")
    vectors = np.array([vector_of(TEXTS[n]) for n in (2, 0, 1)], np.float32)
    (folder / "embeddings").write_bytes(id_map(vectors, [2, 0, 5]))
    done = run("convert", folder, tmp_path / "kb.ragfile")
    assert (done.returncode, done.stderr) == (0, "")
    with Server() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        options = ("--embedder", "ollama:all-minilm", "--mode", "vector", "--json")
        found = run("search", tmp_path / "kb.ragfile", TEXTS[1], *options)
    assert json.loads(found.stdout)["hits"][0]["doc_id"] == "b", found.stderr


def test_sections_of_one_document_become_its_chunks(folder):
    content(folder / "documents", [(0, "a", "one", None), (2, "a", "two", None)])
    found = conversion.read(folder)
    assert list(found.documents) == ["a"]
    assert texts_and_vectors(found) == {"one": [0, 1, 0], "two": [1, 0, 0]}


def test_an_empty_id_is_replaced_by_its_number(folder):
    content(folder / "documents", [(5, "", "no id", None)])
    assert list(conversion.read(folder).documents) == ["row-5"]


def test_a_text_without_a_vector_is_kept(folder, tmp_path):
    content(folder / "documents", [*SECTIONS, (9, "late", "never embedded", None)])
    ragfile.convert(folder, tmp_path / "kb.ragfile")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.search("never embedded", mode="bm25")[0].doc_id == "late"


def test_an_index_of_objects_alone_keeps_their_ids_and_vectors(folder, tmp_path):
    content(folder / "documents", [(0, "picture", None, None)])
    ragfile.convert(folder, tmp_path / "kb.ragfile", embedder="ollama:m")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        hits = rf.search("", vector=np.array([0, 1, 0], np.float32), mode="vector", k=1)
        assert [(hit.doc_id, hit.text) for hit in hits] == [("picture", "")]


def test_numbers_that_no_vector_has_leave_texts_without_vectors(folder, tmp_path):
    content(folder / "documents", [(77, "a", "about alpha", None)])
    ragfile.convert(folder, tmp_path / "kb.ragfile")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.search("alpha", mode="bm25")[0].doc_id == "a"


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_an_array_is_read_by_its_rows(folder, backend):
    change(folder, backend=backend)
    with (folder / "embeddings").open("wb") as file:
        np.save(file, VECTORS)
    content(folder / "documents", [(1, "a", "one", None), (2, "b", "two", None)])
    assert texts_and_vectors(conversion.read(folder)) == {"one": [0, 1, 0], "two": [0, 0, 1]}


def test_without_content_the_ids_have_the_vectors(folder, tmp_path):
    msgpack = pytest.importorskip("msgpack", reason="msgpack is not installed")
    (folder / "documents").unlink()
    (folder / "ids").write_bytes(msgpack.packb(["a", None, 7]))
    ragfile.convert(folder, tmp_path / "kb.ragfile", embedder="ollama:m")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        hits = rf.search("", vector=np.array([1, 0, 0], np.float32), mode="vector", k=2)
        assert [hit.doc_id for hit in hits] == ["7", "a"]


def packed(folder, suffix):
    path = folder.with_suffix(suffix)
    shutil.make_archive(str(folder), "zip" if suffix == ".zip" else "gztar", folder)
    return path


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz"])
def test_an_archive_is_read_like_its_folder(folder, suffix):
    path = packed(folder, suffix)
    assert conversion.read(path) == conversion.read(folder)


# ------------------------------------------------------------------------------------------------------------ refused --

OTHERS = {
    "IndexScalarQuantizer": id_map(VECTORS, [0, 1, 2, 3], b"IxSQ" + flat(VECTORS)[4:] + b"0" * 9),
    "IndexIVFFlat": b"IwFl" + flat(VECTORS)[4:] + b"0" * 50,
    "IndexHNSWFlat": id_map(VECTORS, [0, 1, 2, 3], b"IHNf" + flat(VECTORS)[4:]),
}


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_another_faiss_index_is_named_and_its_texts_are_embedded_again(folder, tmp_path, name):
    (folder / "embeddings").write_bytes(OTHERS[name])
    done = run("convert", folder, tmp_path / "kb.ragfile")
    assert done.returncode == 5  # a file of a wrong format
    assert f"the vectors of an {name} are not read" in done.stderr
    assert "pass --embedder MODEL to embed the texts again" in done.stderr
    done = run("convert", folder, tmp_path / "kb.ragfile", "--embedder", "default")
    assert done.returncode == 0, done.stderr
    assert "the texts were embedded again with default" in done.stderr
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.search("beta", mode="vector")[0].doc_id == "b"


@pytest.mark.parametrize(
    ("config", "raw", "says"),
    [
        ({"backend": "hnsw"}, b"", "vectors of the backend 'hnsw' are not read"),
        ({"backend": "numpy"}, b"\x10\0\0\0\0\0\0\0{}", "not a .npy array"),
        ({}, b"IBxF" + bytes(60), "not a FAISS index of float vectors"),
        ({}, id_map(VECTORS, [0, 1]), "FAISS"),
        ({}, id_map(VECTORS, [0, 1, 2, 3])[:-9], "FAISS"),
        ({}, id_map(VECTORS, [0])[:44], "ends inside"),
        ({}, id_map(VECTORS * np.nan, [0, 1, 2, 3]), "not finite"),
        ({}, b"", "FAISS"),
    ],
)
def test_vectors_that_cannot_be_read_are_named(folder, config, raw, says):
    change(folder, **config)
    (folder / "embeddings").write_bytes(raw)
    with pytest.raises(FormatError, match=says) as error:
        conversion.read(folder)
    assert str(folder / "embeddings") in str(error.value)


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 9), }", "npy"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1, 9), }", "npy"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), }", "uint8 is not a matrix"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -1), }", "npy"),
        ("{'descr': ", "npy"),
    ],
)
def test_an_array_is_checked_before_it_is_read(folder, head, says):
    change(folder, backend="numpy")
    raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
    (folder / "embeddings").write_bytes(raw + bytes(64))
    with pytest.raises(FormatError, match=says):
        conversion.read(folder)


def test_pickles_are_never_opened(folder):
    (folder / "documents").rename(folder / "kept")
    (folder / "ids").write_bytes(b"\x80\x04N.")
    with pytest.raises(FormatError, match=r"ids is a pickle.*ALLOW_PICKLE=True"):
        conversion.read(folder)
    (folder / "kept").rename(folder / "documents")
    (folder / "config.json").rename(folder / "config")
    with pytest.raises(FormatError, match=r"config is a pickle.*ALLOW_PICKLE=True"):
        conversion.read(folder)


@pytest.mark.parametrize(
    ("section", "data", "says"),
    [
        ((0, None, "x", None), None, "id text"),
        ((0, "a", b"\xff", None), None, "the text of 'a' is not text"),
        ((0, "a", "x", None), "{", "the data of 'a' is not JSON"),
        ((0, "a", "x", None), "[]", "the data of 'a' is not a JSON object"),
        ((0, "a", "x", None), '{"n": NaN}', "the data of 'a' is not JSON"),
        ((0, "a", "x", None), '{"n": 1e999}', "the data of 'a' is not JSON"),
        ((0, "a", "x", None), '{"n": "\\ud800"}', "the data of 'a' is not JSON"),
        ((0, "a", "x", None), "[" * 100_000, "the data of 'a' is not JSON"),
        ((0, "a", "x", None), 3, "the data of 'a' is not JSON"),
    ],
)
def test_a_damaged_row_is_named(folder, section, data, says):
    content(folder / "documents", [section], [] if data is None else [("a", data)])
    with pytest.raises(FormatError, match=says):
        conversion.read(folder)


def test_views_that_never_end_are_refused(folder):
    (folder / "documents").unlink()
    database = sqlite3.connect(folder / "documents")
    database.execute("CREATE TABLE documents (id TEXT, data JSON)")
    endless = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)"
    columns = "i AS indexid, 'a' AS id, 'x' AS text, '' AS tags, '' AS entry"
    database.execute(f"CREATE VIEW sections AS {endless} SELECT {columns} FROM n")
    database.commit()
    database.close()
    with pytest.raises(FormatError, match="no table sections"):
        conversion.read(folder)


@pytest.mark.parametrize(
    ("raw", "says"),
    [(b"nonsense", "not an SQLite"), (b"\0" * 8 + b"DUCK" + bytes(9), "a DuckDB database")],
)
def test_another_database_is_named(folder, raw, says):
    (folder / "documents").write_bytes(raw)
    with pytest.raises(FormatError, match=says):
        conversion.read(folder)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"[" * 100_000, b'{"path": "\\ud800"}'])
def test_a_config_that_is_none_is_refused(folder, raw):
    (folder / "config.json").write_bytes(raw)
    with pytest.raises(FormatError, match=r"config\.json is not"):
        conversion.read(folder)


@pytest.mark.parametrize(
    "raw", [b"", b"\xdd\xff\xff\xff\xff", b"\x91\x90", b"\x01", b"\x91\xa1\xff"]
)
def test_ids_that_are_none_are_refused(folder, raw):
    pytest.importorskip("msgpack", reason="msgpack is not installed")
    (folder / "documents").unlink()
    (folder / "ids").write_bytes(raw)
    with pytest.raises(FormatError, match="ids is not"):
        conversion.read(folder)


def test_an_empty_index_and_one_without_its_content_are_refused(folder):
    content(folder / "documents", [])
    with pytest.raises(FormatError, match="has no documents"):
        conversion.read(folder)
    (folder / "documents").unlink()
    with pytest.raises(FormatError, match="neither documents nor ids"):
        conversion.read(folder)


def test_archives_that_unpack_to_too_much_are_refused(tmp_path):
    size = 300 << 20
    with (
        zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("documents", "w") as file,
    ):
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    with pytest.raises(FormatError, match="unpacks to more than 100 times its size"):
        conversion.read(tmp_path / "x.zip")


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz"])
def test_an_archive_of_anything_else_or_cut_off_is_refused(folder, tmp_path, suffix):
    path = packed(folder, suffix)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FormatError, match=r"archive|a txtai index"):
        conversion.read(path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("x")
    with pytest.raises(FormatError, match=r"an archive without the config\.json of a txtai index"):
        conversion.read(packed(tmp_path / "other", suffix))


def test_entries_of_an_archive_never_leave_its_folder(tmp_path):
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        for name, kind in (("../config.json", b"0"), ("config.json", b"2")):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/hostname"
            archive.addfile(entry, io.BytesIO())
    with pytest.raises(FormatError, match=r"without the config\.json"):
        conversion.read(tmp_path / "x.tar.gz")
    assert not (tmp_path.parent / "config.json").exists()


@given(
    st.sampled_from(["config.json", "embeddings", "documents"]),
    st.integers(0, 1 << 16), st.integers(0, 255), st.booleans(),
)  # fmt: skip
@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_changed_byte_or_a_cut_gives_a_collection_or_one_error(folder, name, at, value, is_cut):
    path = folder / name
    whole = path.read_bytes()
    at %= len(whole)
    path.write_bytes(whole[:at] if is_cut else whole[:at] + bytes([value]) + whole[at + 1 :])
    try:
        conversion.read(folder).check()
    except FormatError:
        pass
    finally:
        path.write_bytes(whole)


# ------------------------------------------------------------------------------------------------------- txtai itself --

PROGRAM = """
import sys
import numpy as np
from txtai import Embeddings

def transform(texts):
    return np.array([[len(t), t.count("a"), t.count("e") + 1] for t in texts], np.float32)

def rows():
    yield "a", {"text": "about alpha", "lang": "en", "page": 3}, "ops"
    yield "b", "about beta", None
    yield 7, {"text": "seven", "n": {"k": [1]}}, None
    yield "gone", "deleted", None

def save(name, *paths, **options):
    e = Embeddings(method="external", transform=transform, **options)
    e.index(rows())
    e.delete(["gone"])
    e.upsert([("e", "later text", None)])
    for path in (name, *paths):
        e.save(path)

save("content", "content.tar.gz", "content.zip", content=True)
save("array", content=True, backend="numpy")
save("hybrid", content=True, hybrid=True)
save("plain")
save("quantized", content=True, quantize=True)
"""
OLD = """
import sys
from txtai import Embeddings
e = Embeddings(method="external", transform=lambda texts: [[1.0, 2.0, 2.0] for _ in texts], content=True, format="pickle")
e.index([("a", "about alpha", None)])
e.config["transform"] = None
e.save("old")
"""
ADVICE = """
from txtai import Embeddings
embeddings = Embeddings()
embeddings.load("old")
embeddings.config["format"] = "json"
embeddings.save("again")
"""
WORDS = {"a": "about alpha", "b": "about beta", "7": "seven", "e": "later text"}


def txtai(program, cwd):
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True,
        env={"ALLOW_PICKLE": "True", "HF_HUB_OFFLINE": "1", "HOME": str(cwd), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    """A folder of indexes that txtai saved."""
    pytest.importorskip("txtai", reason="txtai is not installed")
    path = tmp_path_factory.mktemp("txtai")
    txtai(PROGRAM, path)
    return path


def expected(text):
    vector = np.array([len(text), text.count("a"), text.count("e") + 1], np.float32)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    "name", ["content", "content.tar.gz", "content.zip", "array", "hybrid", "plain"]
)
def test_an_index_of_txtai_is_converted(indexes, tmp_path, name):
    done = run("convert", indexes / name, tmp_path / "kb.ragfile", "--embedder", "openai:m")
    assert (done.returncode, done.stderr) == (0, "")
    found = conversion.read(indexes / name)
    assert list(found.documents) == list(WORDS)
    for row, ref in enumerate(found.refs):
        wanted = expected(WORDS[ref["document_id"]])
        np.testing.assert_allclose(found.index.vectors[row], wanted, atol=1e-6)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        hits = rf.search("", vector=expected("about beta"), mode="vector", k=1)
        assert hits[0].doc_id == "b"
        assert hits[0].text == ("" if name == "plain" else "about beta")
    if name != "plain":
        alpha = found.documents["a"]
        assert alpha["tags"] == ["ops"]
        assert {k: v for k, v in alpha["metadata"].items() if k != "entry"} == {
            "lang": "en",
            "page": 3,
        }
        assert found.documents["7"]["metadata"]["n"] == {"k": [1]}


def test_a_quantized_index_of_txtai_is_embedded_again(indexes, tmp_path):
    done = run("convert", indexes / "quantized", tmp_path / "kb.ragfile")
    assert "the vectors of an IndexScalarQuantizer are not read" in done.stderr
    done = run("convert", indexes / "quantized", tmp_path / "kb.ragfile", "--embedder", "default")
    assert done.returncode == 0, done.stderr
    assert "the texts were embedded again with default" in done.stderr
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.search("beta", mode="vector")[0].doc_id == "b"


def test_an_old_index_is_converted_after_the_advice_of_its_error(tmp_path):
    pytest.importorskip("txtai", reason="txtai is not installed")
    txtai(OLD, tmp_path)
    done = run("convert", tmp_path / "old", tmp_path / "kb.ragfile")
    assert 'set embeddings.config["format"] = "json", and save it again' in done.stderr
    txtai(ADVICE, tmp_path)
    assert list(conversion.read(tmp_path / "again").documents) == ["a"]
