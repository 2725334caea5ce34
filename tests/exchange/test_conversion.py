"""Conversions between every two stores keep what the stores can hold, and the content decides what a source is."""

import json
import os
import pickle
import sqlite3
import subprocess
import sys
import types

import numpy as np
import pytest
from click.testing import CliRunner
from oracles.ragmd_examples import collection, minimal, rendered
from places import ROOT
from servers.postgres import running_server

from ragfile.doors.cli.convert import convert_command
from ragfile.doors.cli.main import main
from ragfile.errors import FormatError
from ragfile.exchange import conversion, origin
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.exchange.rows import passages
from ragfile.records import Chunk, Document
from ragfile.write.writer import Writer


def unusual():
    """A collection with everything that a lesser model would lose."""
    of = collection(documents=4, chunks=3, dim=20)
    of.documents["doc-002"]["licence"] = {"name": "CC0"}
    of.documents["doc-002"]["content"]["title"] = "a | b \ud800 \t\\t \x00 é"
    of.documents["doc-002"]["content"]["abstract (2nd)"] = 'said "x"'
    of.documents["doc-002"]["chunks"]["abstract (2nd)"] = {
        "i_start": None,
        "i_end": None,
        "faiss_id": 12,
    }
    of.refs.append({"document_id": "doc-002", "chunk_key": "abstract (2nd)"})
    of.refs.append({"document_id": "doc-001", "chunk_key": "chunk-0"})
    of.refs.append({"document_id": "deleted", "chunk_key": "chunk-0"})
    of.index = Index.of(np.vstack([of.index.vectors, of.index.vectors[:3] * 20]))
    return of


# ---------------------------------------------------------------------------------------------------------- whole ---

WHOLE = {
    "ragmd": (".ragmd", None),
    "faiss+json": (".faiss", None),
    "npy+jsonl": ("", None),
    "ragged-mmap": ("", "mmap_ninja"),
    "pgvector": ("", None),
    "parquet": (".parquet", "pyarrow"),
    "sqlite-vec": (".sqlite", "sqlite_vec"),
    "duckdb": (".duckdb", "duckdb"),
    "jsonl": (".jsonl", None),
}


def needs(package):
    if package:
        pytest.importorskip(package, reason=f"{package} is not installed")
    if package == "duckdb":
        needs("pyarrow")  # which hands over the rows
    if package == "sqlite_vec" and not hasattr(sqlite3.Connection, "enable_load_extension"):
        pytest.importorskip("pysqlite3", reason="this Python's sqlite3 cannot load extensions")


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_a_collection_comes_back_whole(kind, metric, tmp_path):
    suffix, package = WHOLE[kind]
    needs(package)
    of = unusual()
    of.index = Index.of(of.index.vectors, metric)
    path = tmp_path / f"store{suffix}"
    conversion.write(of, path, to=kind)
    assert conversion.format_of(path) == kind
    found = conversion.read(path)
    assert json.dumps([found.documents, found.refs]) == json.dumps([of.documents, of.refs])
    assert found.index == of.index
    assert found.model_name == of.model_name


@pytest.mark.parametrize(
    "kind", sorted(set(WHOLE) - {"pgvector", "ragged-mmap"})
)  # rows alone do not say their dimension
def test_an_empty_collection_comes_back(kind, tmp_path):
    suffix, package = WHOLE[kind]
    needs(package)
    of = collection(documents=0)
    of.index = Index.of(np.empty((0, 16), np.float32))
    conversion.write(of, tmp_path / f"store{suffix}", to=kind)
    found = conversion.read(tmp_path / f"store{suffix}")
    assert (len(found), found.dim, found.documents) == (0, 16, {})


# ---------------------------------------------------------------------------------------------------------- passages ---

PASSAGES = {"chroma": "chromadb", "qdrant": "qdrant_client"}


@pytest.mark.parametrize("kind", PASSAGES)
def test_texts_vectors_and_metadata_come_back_from_a_vector_store(kind, tmp_path):
    needs(PASSAGES[kind])
    of = collection(documents=3, chunks=2)
    conversion.write(of, tmp_path / "store", to=kind)
    assert conversion.format_of(tmp_path / "store") == kind
    found = conversion.read(tmp_path / "store")
    assert found.refs == of.refs
    assert [found.text(row) for row in range(6)] == [of.text(row) for row in range(6)]
    assert found.index == of.index
    for name, document in of.documents.items():
        same = found.documents[name]
        assert (same["source"], same["metadata"]) == (document["source"], document["metadata"])
        assert same["content"]["title"] == document["content"]["title"]


def test_a_parquet_file_of_others_needs_only_texts_and_embeddings(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    table = pyarrow.table(
        {"id": ["a", "b"], "text": ["one", "two"], "embedding": [[1.0, 2.0], [3.0, 4.0]]}
    )
    parquet.write_table(table, tmp_path / "x.parquet")
    found = conversion.read(tmp_path / "x.parquet")
    assert [found.text(row) for row in range(2)] == ["one", "two"]
    assert found.index.vectors.tolist() == [[1, 2], [3, 4]]


def test_a_sqlite_vec_table_answers_a_query(tmp_path):
    needs("sqlite_vec")
    import sqlite_vec

    from ragfile.exchange.stores.sqlite_vec import library

    of = collection()
    conversion.write(of, tmp_path / "x.db")
    database = library().connect(tmp_path / "x.db")
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    query = "SELECT rowid FROM chunk_vectors WHERE embedding MATCH ? AND k = 1"
    assert database.execute(query, [of.index.vectors[7].tobytes()]).fetchone() == (7,)
    database.close()


def test_a_duckdb_table_answers_a_query(tmp_path):
    needs("duckdb")
    import duckdb

    of = collection(dim=16)
    conversion.write(of, tmp_path / "x.duckdb")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        query = (
            'SELECT "row" FROM documents ORDER BY array_distance(embedding, ?::FLOAT[16]) LIMIT 1'
        )
        assert database.execute(query, [of.index.vectors[7].tolist()]).fetchone() == (7,)


# ---------------------------------------------------------------------------------------------------------- LangChain ---


@pytest.fixture
def langchain_folder(tmp_path):
    """A folder as LangChain saves it: two pickled classes of its own modules (made up here, so it need not be installed)."""
    document_module, store_module = types.ModuleType("langchain_a"), types.ModuleType("langchain_b")

    class Document:
        def __getstate__(self):
            return {
                "__dict__": self.__dict__,
                "__pydantic_extra__": None,
                "__pydantic_fields_set__": set(),
            }

    class InMemoryDocstore:
        pass

    for module, kind in ((document_module, Document), (store_module, InMemoryDocstore)):
        kind.__module__, kind.__qualname__ = module.__name__, kind.__name__
        setattr(module, kind.__name__, kind)
    modules = {m.__name__: m for m in (document_module, store_module)}
    store, names = InMemoryDocstore(), {}
    store._dict = {}
    for row in range(3):
        document = Document()
        document.page_content, document.metadata = f"text {row}", {"source": "a.txt", "page": row}
        names[row] = f"id-{row}"
        store._dict[f"id-{row}"] = document
    (tmp_path / "index.faiss").write_bytes(Index.of(np.eye(3), "l2").data.tobytes())
    sys.modules.update(modules)
    try:
        (tmp_path / "index.pkl").write_bytes(pickle.dumps((store, names)))
    finally:
        for name in modules:
            del sys.modules[name]
    return tmp_path


def test_a_langchain_folder_is_refused_with_the_reason_unless_trusted(langchain_folder):
    with pytest.raises(FormatError, match="opening one can run any program; use --trust-pickle"):
        conversion.read(langchain_folder)


def test_a_trusted_langchain_folder_is_read_without_langchain(langchain_folder):
    found = conversion.read(langchain_folder, trust_pickle=True)
    assert [found.text(row) for row in range(3)] == ["text 0", "text 1", "text 2"]
    assert found.documents["id-2"]["metadata"] == {"source": "a.txt", "page": 2}
    assert np.array_equal(found.index.vectors, np.eye(3))


def test_even_a_trusted_pickle_runs_nothing(langchain_folder):
    class Harm:
        def __reduce__(self):
            return os.system, (f"touch {langchain_folder}/ran",)

    (langchain_folder / "index.pkl").write_bytes(pickle.dumps(Harm()))
    with pytest.raises(FormatError, match=r"asks for (posix|nt)\.system"):
        conversion.read(langchain_folder, trust_pickle=True)
    assert not (langchain_folder / "ran").exists()


def test_a_folder_that_langchain_itself_saved_is_read(tmp_path):
    pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    stores = pytest.importorskip(
        "langchain_community.vectorstores", reason="langchain-community is not installed"
    )
    fake = pytest.importorskip(
        "langchain_core.embeddings", reason="langchain-core is not installed"
    ).DeterministicFakeEmbedding
    texts = ["one", "two", "three"]
    stores.FAISS.from_texts(
        texts, fake(size=8), metadatas=[{"source": f"{t}.txt"} for t in texts]
    ).save_local(str(tmp_path))
    found = conversion.read(tmp_path, trust_pickle=True)
    assert [found.text(row) for row in range(3)] == texts
    assert np.allclose(found.index.vectors, fake(size=8).embed_documents(texts))


# ------------------------------------------------------------------------------------------------------------- pgvector ---


@pytest.mark.xdist_group("postgres")
def test_postgres_takes_the_tables_and_gives_them_back(tmp_path):
    of = unusual()
    conversion.write(of, tmp_path / "out", to="pgvector")
    conversion.write(of, tmp_path / "back", to="pgvector")
    with running_server() as (running, program):
        psql = [program, running.get_uri(), "-v", "ON_ERROR_STOP=1", "-q"]
        schema = os.path.join(ROOT, "spec", "postgres.sql")
        subprocess.run([*psql, "-v", "dim=20", "-f", schema], check=True, capture_output=True)
        subprocess.run([*psql, "-f", "load.sql"], cwd=tmp_path / "out", check=True)
        query = "SELECT row_id FROM ragfile.chunks ORDER BY embedding <-> (SELECT embedding FROM ragfile.chunks WHERE row_id = 7) LIMIT 1"
        assert (
            subprocess.run([*psql, "-Atc", query], check=True, capture_output=True).stdout == b"7\n"
        )
        for name in ("note", "documents", "chunks"):
            (tmp_path / "back" / f"{name}.copy").unlink()
        subprocess.run([*psql, "-f", "dump.sql"], cwd=tmp_path / "back", check=True)
    found = conversion.read(tmp_path / "back")
    assert json.dumps([found.documents, found.refs]) == json.dumps([of.documents, of.refs])
    assert found.index == of.index


def test_copy_files_escape_what_copy_would_take_for_its_own(tmp_path):
    of = unusual()
    conversion.write(of, tmp_path / "folder", to="pgvector")
    lines = (tmp_path / "folder" / "documents.copy").read_text().split("\n")
    assert len(lines) == 5
    assert all(line.count("\t") == 4 for line in lines[:-1])


# ----------------------------------------------------------------------------------------------------- what a source is ---


def test_content_wins_over_a_wrong_suffix_with_a_warning(tmp_path):
    (tmp_path / "x.faiss").write_text(minimal())
    with pytest.warns(UserWarning, match="is named like faiss.json but holds ragmd"):
        assert conversion.format_of(tmp_path / "x.faiss") == "ragmd"


@pytest.mark.parametrize("data", [b"", b"hello", b"---\ntitle: x\n---\n"])
def test_a_file_of_nothing_we_know_is_refused(tmp_path, data):
    (tmp_path / "x.bin").write_bytes(data)
    with pytest.raises(FormatError, match="is not in a format that can be converted"):
        conversion.format_of(tmp_path / "x.bin")


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "ragfile.exchange.stores.parquet", raising=False)
    with pytest.raises(
        ImportError, match=r"the format parquet needs pyarrow: pip install .ragfile\[arrow\]"
    ):
        conversion.write(collection(), tmp_path / "x.parquet")


ADAPTERS = sorted(
    {how for f in conversion.FORMATS.values() for how in (f.read, f.write) if isinstance(how, str)}
)


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_reads_and_says_what_it_takes(name):
    module = pytest.importorskip(
        f"ragfile.exchange.stores.{name}",
        reason="its library is not installed",
        exc_type=ImportError,
    )
    assert module.read.__code__.co_varnames[0] == "path"


# --------------------------------------------------------------------------------------------------------------- origin ---


def through_another_store(of):
    """The collection after a store that keeps texts by id and vectors by (document, chunk) in an order of its own."""
    blob, texts, rows = origin.pack(of)
    kept = {place: of.index.vectors[row].copy() for row, place in rows.items()}
    assert len(kept) == len(rows), "no two rows at one place"
    return origin.unpack(blob, dict(texts).__getitem__, lambda name, n: kept[name, n])


def test_a_collection_comes_back_through_another_store_byte_for_byte(tmp_path):
    of = unusual()
    found = through_another_store(of)
    assert rendered(found) == rendered(of)


def test_a_pair_comes_back_through_another_store_byte_for_byte():
    of = unusual()
    data = {"chunk_refs": of.refs, "documents": list(of.documents.values()), "more": 1}
    text = (json.dumps(data, indent=3) + " ").encode()
    pair = json_pair.parse(text, of.index)
    found = through_another_store(pair)
    assert json_pair.text_of(found) == text
    assert found.index.data.tobytes() == of.index.data.tobytes()


def test_a_ragmd_file_comes_back_through_another_store_byte_for_byte():
    text = minimal().replace(
        "---\n\n## D", "# mine\nwhen: 2026-01-01 # a date\nlist: [1, {a: b}]\n---\n\n## D", 1
    )
    of = ragmd_reader.parse(text.replace("## Vectors", "## Notes\n\nmine\n\n## Vectors").encode())
    assert rendered(through_another_store(of)) == rendered(of)


def test_full_texts_are_not_stored_twice():
    of = collection()
    blob, texts, _ = origin.pack(of)
    assert all(text.encode() not in blob for text in texts.values())
    assert set(texts) == set(of.documents)


# ------------------------------------------------------------------------------------------------------- command line ---


def run(*arguments):
    return CliRunner().invoke(convert_command, [os.fspath(a) for a in arguments])


def test_the_flags_of_the_command_go_there_and_back(tmp_path):
    of = unusual()
    old, new = (
        (tmp_path / "vectors-nomic.faiss", tmp_path / "metadata-nomic.json"),
        (tmp_path / "b.faiss", tmp_path / "b.json"),
    )
    json_pair.write(of, *old)
    text = tmp_path / "embeddings-nomic.ragmd"
    there = run("--from-faiss", old[0], "--from-json", old[1], "--to-ragmd", text)
    assert (there.exit_code, there.stdout) == (
        0,
        f"{text}: 4 documents, 15 vectors of 20 dimensions\n",
    )
    back = run("--from-ragmd", text, "--to-faiss", new[0], "--to-json", new[1])
    assert back.exit_code == 0, back.output
    assert [path.read_bytes() for path in new] == [path.read_bytes() for path in old]


def test_two_paths_are_enough(tmp_path):
    (tmp_path / "x.ragmd").write_text(minimal())
    done = run(tmp_path / "x.ragmd", tmp_path / "folder", "--to", "npy+jsonl", "--json")
    assert json.loads(done.stdout)["vectors"] == 3
    assert run(tmp_path / "folder", tmp_path / "y.ragmd").exit_code == 0
    assert (
        ragmd_reader.load(tmp_path / "y.ragmd").documents
        == ragmd_reader.load(tmp_path / "x.ragmd").documents
    )


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a"],
        ["--from-faiss", "x", "--to-ragmd", "y"],
        ["--from-ragmd", "x"],
        ["a", "b", "--to-ragmd", "c"],
    ],
)
def test_half_a_command_is_a_usage_error(arguments):
    assert run(*arguments).exit_code == 2


def test_a_failure_is_one_line_and_an_exit_code(tmp_path, capsys):
    (tmp_path / "x.ragmd").write_text(minimal("broken!"))
    for source, code, reason in (
        ("x.ragmd", 5, "line 49: not a base64 character"),
        ("none.ragmd", 1, "No such file or directory"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["convert", str(tmp_path / source), str(tmp_path / "y.faiss")])
        assert ended.value.code == code
        assert capsys.readouterr().err == f"ragfile: {tmp_path / source}: {reason}\n"


# ------------------------------------------------------------------ what only a chunk says, and the model ---


@pytest.fixture
def paged(tmp_path):
    """A file of two documents: one whose chunks have pages and headers of their own."""
    model = {"model": {"name": "own/2", "dims": 2}}
    with Writer(tmp_path / "kb.ragfile", dim=2, config=model) as w:
        w.add_document(
            Document("a.pdf", "First page.Second page.", "a.pdf", {"lang": "en", "title": "A"}),
            [
                Chunk("a.pdf", 0, "First page.", (), {"page": 1, "headers": "A > One"}, 0, 11),
                Chunk("a.pdf", 1, "Second page.", (), {"page": 2, "headers": "A > Two"}, 11, 23),
            ],
            np.eye(2, dtype=np.float32),
        )
    return tmp_path / "kb.ragfile"


@pytest.mark.parametrize("store", ["chroma", "qdrant"])
def test_a_store_keeps_pages_headers_and_the_model(paged, tmp_path, store):
    pytest.importorskip(
        {"chroma": "chromadb", "qdrant": "qdrant_client"}[store], reason=f"no {store}"
    )
    conversion.convert(paged, tmp_path / "out", to=store)
    back = conversion.read(tmp_path / "out")
    assert back.model_name == "own/2"
    told = {p.text: p.metadata for p in passages(back)}
    for number, text in ((1, "First page."), (2, "Second page.")):
        kept = {key: told[text][key] for key in ("page", "headers", "lang")}
        assert kept == {
            "page": number,
            "headers": f"A > {['One', 'Two'][number - 1]}",
            "lang": "en",
        }
    assert back.documents["a.pdf"]["metadata"].get("lang") == "en"
    assert "page" not in back.documents["a.pdf"]["metadata"]
    assert next(passages(back)).title == "A"


# --------------------------------------------------------------------------------------------------- without vectors ---


@pytest.mark.parametrize("suffix", [".ragmd", ".faiss"])
def test_chunks_without_a_vector_come_back_as_they_were(tmp_path, suffix):
    path, there, back = (
        tmp_path / "kb.ragfile",
        tmp_path / f"kb{suffix}",
        tmp_path / "again.ragfile",
    )
    with Writer(path) as w:
        chunks = [Chunk(f"d{i // 3}", i % 3, f"text {i}") for i in range(9)]
        w.add(chunks, [None if i % 4 == 0 else [float(i), 1.0] for i in range(9)])
        whole = Document("whole", "all of it has no vector")
        w.add_document(whole, [Chunk("whole", 0, "all of it", start=0, end=9)], [None])
    with pytest.warns(UserWarning, match="4 chunks have no vector"):
        conversion.convert(path, there)
    if suffix == ".faiss":
        assert json_pair.read(*json_pair.pair_paths(there)).index.count == 6
        return
    conversion.convert(there, back)
    assert back.read_bytes() == path.read_bytes()
