"""Every format that holds rows restores the file: ids, texts, metadata, headers, tags, vectors, model, every byte."""

import contextlib
import json
import os
import pathlib
import pickle
import sqlite3
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from exchange.test_conversion import PASSAGES, WHOLE, needs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import embedding_servers

import ragfile
from ragfile.adapters.single_file import SingleFileRAGService
from ragfile.errors import FormatError
from ragfile.exchange import conversion

FORMATS = {**WHOLE, **{kind: ("", package) for kind, package in PASSAGES.items()}}
LETTERS = "# Keys\n\nRotate the keys every ninety days.\n\n## Old keys\n\nThey stay readable.\n"


@pytest.fixture
def kb(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text(LETTERS * 3)
    (tmp_path / "docs" / "front.md").write_text(
        "---\ntags: [ops, night]\nowner: Ada\n---\n# Pods\n\nRestart.\n"
    )
    (tmp_path / "docs" / "empty.md").write_text("")
    (tmp_path / "docs" / "naïve.txt").write_text("Grüße aus 字.\r\n\r\nEnd.")
    path = tmp_path / "kb.ragfile"
    ragfile.build(tmp_path / "docs", path, tags=["all"])
    return path


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)], capture_output=True, text=True
    )


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_a_file_comes_back_byte_for_byte(kb, tmp_path, kind):
    suffix, package = FORMATS[kind]
    needs(package)
    ragfile.convert(kb, tmp_path / f"other{suffix}", to=kind)
    ragfile.convert(tmp_path / f"other{suffix}", tmp_path / "back.ragfile")
    assert (tmp_path / "back.ragfile").read_bytes() == kb.read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "jsonl"])
def test_export_and_convert_write_the_same_layout(kb, tmp_path, kind):
    needs(FORMATS[kind][1])
    exported, back = tmp_path / f"out.{kind}", tmp_path / "back.ragfile"
    done = run("export", kb, exported)
    assert done.returncode == 0, done.stderr
    done = run("convert", exported, back)
    assert (done.returncode, done.stderr) == (0, "")
    assert back.read_bytes() == kb.read_bytes()
    ragfile.convert(kb, tmp_path / f"converted.{kind}")
    if kind != "duckdb":
        assert (tmp_path / f"converted.{kind}").read_bytes() == exported.read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "jsonl"])
def test_a_file_with_chunks_without_vectors_comes_back(tmp_path, kind):
    needs(FORMATS[kind][1])
    kb = tmp_path / "kb.ragfile"
    with ragfile.create(kb, dim=2) as w:
        rows = [
            {"doc_id": f"d{n % 3}", "chunk_index": n // 3, "content": f"text {n}"} for n in range(6)
        ]
        w.add(rows, [[1, n] if n % 2 else None for n in range(6)])
    assert run("export", kb, tmp_path / f"out.{kind}").returncode == 0
    ragfile.convert(tmp_path / f"out.{kind}", tmp_path / "back.ragfile")
    assert (tmp_path / "back.ragfile").read_bytes() == kb.read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "jsonl"])
def test_a_file_without_vectors_comes_back_from_an_export(kb, tmp_path, kind):
    needs(FORMATS[kind][1])
    plain = tmp_path / "plain.ragfile"
    ragfile.build(tmp_path / "docs", plain, embedder="none")
    assert run("export", plain, tmp_path / f"out.{kind}").returncode == 0
    done = run("convert", tmp_path / f"out.{kind}", tmp_path / "back.ragfile")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "back.ragfile").read_bytes() == plain.read_bytes()


def test_a_table_that_lost_its_documents_is_refused(kb, tmp_path):
    assert run("export", kb, tmp_path / "out.jsonl").returncode == 0
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    orphan = [
        {key: v for key, v in json.loads(line).items() if key != "document"} for line in lines
    ]
    (tmp_path / "cut.jsonl").write_text("\n".join(map(json.dumps, orphan)))
    done = run("convert", tmp_path / "cut.jsonl", tmp_path / "cut.ragfile")
    assert done.returncode == 5
    assert "of the table is missing" in done.stderr


# ------------------------------------------------------------------------------------------------- tables of others ---


def pairs_of(path):
    found = conversion.read(path)
    return [(ref["document_id"], found.text(row)) for row, ref in enumerate(found.refs)], found


ROWS = [
    {"pk": "a", "body": "One long text about rotating keys.", "emb": [1.0, 0.0], "year": 2024, "lang": "en"},
    {"pk": "b", "body": "Another text about pods.", "emb": [0.0, 1.0], "year": 2025, "lang": "de"},
]  # fmt: skip


def test_columns_of_any_names_are_found_and_all_others_kept_as_metadata(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "x.parquet")
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    for name in ("x.parquet", "x.jsonl"):
        pairs, found = pairs_of(tmp_path / name)
        assert pairs == [(row["pk"], row["body"]) for row in ROWS]
        assert found.documents["a"]["metadata"] == {"year": 2024, "lang": "en"}
        ragfile.convert(tmp_path / name, tmp_path / "kb.ragfile", embedder="my-model")
        with ragfile.open(tmp_path / "kb.ragfile") as rf:
            assert rf.file.config["model"]["name"] == "my-model"
            hit = rf.search("", vector=np.array([0, 1], np.float32), k=1)[0]
            assert (hit.doc_id, hit.metadata) == ("b", {"year": 2025, "lang": "de"})
            assert rf.document("b").text == "Another text about pods."


def test_columns_are_mapped_by_the_caller(tmp_path):
    rows = [
        {
            "n": 1,
            "question": "A short one?",
            "reply": "A much longer reply.",
            "v": [1.0, 2.0],
            "w": [3.0, 4.0],
        }
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows * 2)))
    assert "vector=" in run("convert", tmp_path / "x.jsonl", tmp_path / "kb.ragfile").stderr
    roles = ("--map", "text=question", "--map", "vector=w", "--map", "id=n")
    done = run("convert", tmp_path / "x.jsonl", tmp_path / "kb.ragfile", *roles)
    assert done.returncode == 0, done.stderr
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert [hit.text for hit in rf.search("short", mode="bm25")] == ["A short one?"] * 2
        assert rf.vector(0).tolist() == [3.0, 4.0]
        assert rf.search("short", mode="bm25")[0].metadata["reply"] == "A much longer reply."
    assert "no column 'x'" in run("convert", tmp_path / "x.jsonl", tmp_path / "k2", "--to", "ragfile", "--map", "id=x").stderr  # fmt: skip
    assert (
        "ROLE=COLUMN" in run("convert", tmp_path / "x.jsonl", tmp_path / "k2", "--map", "id").stderr
    )


def test_a_foreign_duckdb_table_is_found_by_its_vectors(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.execute("CREATE TABLE other (n INTEGER)")
        database.execute("CREATE TABLE items (id INTEGER, content TEXT, vec FLOAT[2], author TEXT)")
        database.execute("INSERT INTO items VALUES (7, 'about keys', [1, 0], 'Ada')")
    pairs, found = pairs_of(tmp_path / "x.duckdb")
    assert pairs == [("7", "about keys")]
    assert found.documents["7"]["metadata"] == {"author": "Ada"}


@pytest.mark.parametrize("settings", [{}, {"allow_reset": True}])
def test_a_chroma_collection_of_another_program_is_read_beside_its_client(tmp_path, settings):
    chromadb = pytest.importorskip("chromadb", reason="chromadb is not installed")
    more = {"settings": chromadb.config.Settings(**settings)} if settings else {}
    client = chromadb.PersistentClient(str(tmp_path / "store"), **more)
    theirs = client.create_collection("notes", configuration={"hnsw": {"space": "cosine"}})
    theirs.add(
        ids=["b", "a"], embeddings=[[0.0, 2.0], [2.0, 0.0]], documents=["about b", "about a"],
        metadatas=[{"page": 3, "source": "b.pdf"}, {"page": 4, "source": "a.pdf"}],
    )  # fmt: skip
    target = tmp_path / "kb.ragfile"
    ragfile.convert(tmp_path / "store", target, embedder="ollama:nomic-embed-text")
    with ragfile.open(target) as rf:
        assert rf.file.config["model"]["name"] == "ollama:nomic-embed-text"
        hit = rf.search("", vector=np.array([1, 0.1], np.float32), k=1, mode="vector")[0]
        assert (hit.doc_id, hit.text, hit.source) == ("a", "about a", "a.pdf")
        assert hit.metadata == {"page": 4, "source": "a.pdf"}
        assert hit.score == pytest.approx(1 / np.sqrt(1.01))
    assert theirs.count() == 2


def test_a_qdrant_collection_of_another_program_is_read(tmp_path):
    qdrant = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    client = qdrant.QdrantClient(path=str(tmp_path / "store"))
    size = qdrant.models.VectorParams(size=2, distance=qdrant.models.Distance.COSINE)
    client.create_collection("notes", size)
    payload = {"page_content": "about a", "metadata": {"page": 4, "source": "a.pdf"}, "lang": "en"}
    client.upsert("notes", [qdrant.models.PointStruct(id=5, vector=[2.0, 0.0], payload=payload)])
    client.close()
    pairs, found = pairs_of(tmp_path / "store")
    assert pairs == [("5", "about a")]
    assert found.documents["5"]["metadata"] == {"page": 4, "source": "a.pdf", "lang": "en"}


@pytest.mark.parametrize("kind", sorted(PASSAGES))
def test_pages_and_headers_of_chunks_come_back_from_a_vector_store(kb, tmp_path, kind):
    needs(PASSAGES[kind])
    ragfile.convert(kb, tmp_path / "store", to=kind)
    found = conversion.read(tmp_path / "store")
    headers = [
        entry.get("metadata", {}).get("headers")
        for entry in found.documents["keys.md"]["chunks"].values()
    ]
    assert headers == ["Keys", "Keys", "Keys"]
    if kind == "chroma":
        import chromadb

        with chromadb.PersistentClient(str(tmp_path / "store")) as client:
            client.get_collection("ragfile").delete(ids=["000000000000"])
        changed = conversion.read(tmp_path / "store")
        assert len(changed) == len(found) - 1


def test_a_lancedb_table_is_read_with_the_model_of_its_function(tmp_path):
    lancedb = pytest.importorskip("lancedb", reason="lancedb is not installed")
    rows = [{"vector": [1.0, 0.0], "text": "about a", "id": "a", "lang": "en"}]
    lancedb.connect(str(tmp_path / "db")).create_table("notes", rows)
    for path in (tmp_path / "db", tmp_path / "db" / "notes.lance"):
        pairs, found = pairs_of(path)
        assert (pairs, found.documents["a"]["metadata"]) == ([("a", "about a")], {"lang": "en"})
    done = run("convert", tmp_path / "db", tmp_path / "kb.ragfile", "--embedder", "ollama:m")
    assert done.returncode == 0, done.stderr
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.file.config["model"]["name"] == "ollama:m"
    lancedb.connect(str(tmp_path / "db")).create_table("others", rows)
    done = run("convert", tmp_path / "db", tmp_path / "kb.ragfile", "--name", "others")
    assert done.returncode == 0, done.stderr
    assert (
        "choose one with --name" in run("convert", tmp_path / "db", tmp_path / "x.ragfile").stderr
    )


MILVUS = """
import pymilvus
client = pymilvus.MilvusClient("m.db")
client.create_collection("notes", dimension=2, metric_type="COSINE")
row = {"id": 1, "vector": [1.0, 0.0], "text": "about a", "lang": "en"}
client.insert("notes", [row, row | {"id": 2, "text": "about b", "vector": [0.0, 1.0]}])
client.close()
"""


def test_a_milvus_lite_collection_is_read(tmp_path):
    pymilvus = pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    assert pymilvus.MilvusClient
    subprocess.run([sys.executable, "-c", MILVUS], cwd=tmp_path, check=True, capture_output=True)
    done = run("convert", tmp_path / "m.db", tmp_path / "kb.ragfile")
    assert done.returncode == 0, done.stderr
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        hit = rf.search("", vector=np.array([0.1, 1], np.float32), k=1, mode="vector")[0]
        assert (hit.doc_id, hit.text, hit.metadata) == ("2", "about b", {"lang": "en"})


def test_a_sqlite_vec_table_of_another_program_is_read_with_its_texts(tmp_path):
    needs("sqlite_vec")
    import sqlite_vec

    from ragfile.exchange.stores.sqlite_vec import library

    database = library().connect(str(tmp_path / "theirs.db"))
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    database.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, headline TEXT, author TEXT)")
    database.execute("CREATE VIRTUAL TABLE vec_articles USING vec0(headline_embedding float[2])")
    for number, text in ((7, "Herons stand in the water"), (9, "Owls fly at night over fields")):
        database.execute("INSERT INTO articles VALUES (?, ?, 'Ada')", [number, text])
        vector = np.array([number, 1], np.float32).tobytes()
        database.execute(
            "INSERT INTO vec_articles(rowid, headline_embedding) VALUES (?, ?)", [number, vector]
        )
    database.commit()
    database.close()
    pairs, found = pairs_of(tmp_path / "theirs.db")
    assert pairs == [("7", "Herons stand in the water"), ("9", "Owls fly at night over fields")]
    assert found.documents["9"]["metadata"] == {"author": "Ada"}
    assert found.index.vectors.tolist() == [[7, 1], [9, 1]]


def sqlite_vec_file(path, *statements):
    """Make a database by statements; the first `?` takes the vector (7, 1), the second (9, 1)."""
    needs("sqlite_vec")
    import sqlite_vec

    from ragfile.exchange.stores.sqlite_vec import library

    with contextlib.closing(library().connect(str(path))) as database, database:
        database.enable_load_extension(True)
        sqlite_vec.load(database)
        for statement in statements:
            vectors = [np.array([n, 1], np.float32).tobytes() for n in (7, 9)]
            database.execute(statement, vectors[: statement.count("?")])
    return path


VECTORS = "CREATE VIRTUAL TABLE {} USING vec0({} e float[2])"
TWO_TEXTS = "INSERT INTO {} VALUES (7, 'Herons stand in the water'), (9, 'Owls fly at night')"
TWO_VECTORS = "INSERT INTO {}({}, e) VALUES (7, ?), (9, ?)"


@pytest.mark.parametrize(
    "key", ["article_id integer primary key,", "rowid integer primary key,", ""]
)
def test_a_sqlite_vec_table_with_a_key_of_its_own_is_read(tmp_path, key):
    column = key.partition(" ")[0] or "rowid"
    path = sqlite_vec_file(
        tmp_path / "theirs.db",
        "CREATE TABLE articles (id INTEGER PRIMARY KEY, headline TEXT)",
        TWO_TEXTS.format("articles"),
        VECTORS.format("vec", key),
        TWO_VECTORS.format("vec", column),
    )
    done = run("convert", path, tmp_path / "kb.ragfile")
    assert done.returncode == 0, done.stderr
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert {d.id: (d.text, d.metadata) for d in rf.documents()} == {
            "7": ("Herons stand in the water", {}),
            "9": ("Owls fly at night", {}),
        }


def test_keys_of_text_and_columns_within_a_vec0_table_are_read(tmp_path):
    path = sqlite_vec_file(
        tmp_path / "theirs.db",
        "CREATE VIRTUAL TABLE notes USING vec0(uid text primary key, e float[2], lang text, +body text)",
        "INSERT INTO notes(uid, e, lang, body) VALUES ('a', ?, 'en', 'Herons stand in the water')",
        "CREATE TABLE users (uid TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID",
        "INSERT INTO users VALUES ('a', 'Ada')",
    )
    pairs, found = pairs_of(path)
    assert pairs == [("a", "Herons stand in the water")]
    assert found.documents["a"]["metadata"] == {"lang": "en"}


def test_texts_of_an_unrelated_table_are_not_taken_silently(tmp_path):
    path = sqlite_vec_file(
        tmp_path / "theirs.db",
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)",
        "INSERT INTO users VALUES (7, 'Ada Lovelace'), (9, 'Grace Hopper'), (10, 'Alan Turing')",
        "CREATE TABLE posts (number INTEGER PRIMARY KEY, words TEXT)",
        TWO_TEXTS.format("posts"),
        VECTORS.format("embeddings", ""),
        TWO_VECTORS.format("embeddings", "rowid"),
    )
    done = run("convert", path, tmp_path / "kb.ragfile")
    assert done.returncode == 5
    assert "can be those of users, posts" in done.stderr
    assert "--map text=TABLE.COLUMN" in done.stderr
    done = run("convert", path, tmp_path / "kb.ragfile", "--map", "text=posts.words")
    assert (done.returncode, done.stderr) == (0, "")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert {d.id: d.text for d in rf.documents()}["9"] == "Owls fly at night"


def test_a_table_of_another_name_with_just_these_keys_is_named_in_a_warning(tmp_path):
    path = sqlite_vec_file(
        tmp_path / "theirs.db",
        "CREATE TABLE posts (number INTEGER PRIMARY KEY, words TEXT)",
        TWO_TEXTS.format("posts"),
        VECTORS.format("embeddings", ""),
        TWO_VECTORS.format("embeddings", "rowid"),
    )
    done = run("convert", path, tmp_path / "kb.ragfile")
    assert done.returncode == 0
    assert "the texts are those of posts" in done.stderr


def test_vectors_of_bytes_and_their_distance_are_read(tmp_path):
    path = sqlite_vec_file(
        tmp_path / "theirs.db",
        "CREATE VIRTUAL TABLE v USING vec0(e int8[4], +body text)",
        "INSERT INTO v(rowid, e, body) VALUES (1, vec_int8('[1, -2, 3, 4]'), 'Herons')",
        "CREATE VIRTUAL TABLE w USING vec0(e float[2] distance_metric=cosine, +body text)",
        "INSERT INTO w(rowid, e, body) VALUES (1, ?, 'Owls')",
    )
    found = conversion.read(path, name="v")
    assert (found.index.vectors.tolist(), found.index.metric) == ([[1, -2, 3, 4]], "l2")
    found = conversion.read(path, name="w")
    assert (found.index.vectors.tolist(), found.index.metric) == ([[7, 1]], "ip")
    done = run("convert", path, tmp_path / "kb.ragfile")
    assert "has the vec0 tables v, w: choose one with --name" in done.stderr


def test_a_qdrant_collection_with_named_vectors_is_read(tmp_path):
    client_of = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    models = client_of.models
    with contextlib.closing(client_of.QdrantClient(path=str(tmp_path / "store"))) as client:
        size = {"small": 2, "large": 3}
        client.create_collection(
            "notes",
            {
                n: models.VectorParams(size=s, distance=models.Distance.COSINE)
                for n, s in size.items()
            },
        )
        points = [
            models.PointStruct(id=1, vector={"small": [1, 0], "large": [1, 0, 0]}, payload={"text": "Keys rotate every ninety days."}),
            models.PointStruct(id=2, vector={"small": [0, 1]}, payload={"text": "Pods restart when they are deleted."}),
        ]  # fmt: skip
        client.upsert("notes", points)
    done = run("convert", tmp_path / "store", tmp_path / "kb.ragfile")
    assert done.returncode == 5
    assert "choose with --map vector=NAME, one of small, large" in done.stderr
    advised = [
        run("convert", tmp_path / "store", tmp_path / f"{name}.ragfile", "--map", f"vector={name}")
        for name in size
    ]
    assert [one.returncode for one in advised] == [0, 0], [one.stderr for one in advised]
    with ragfile.open(tmp_path / "small.ragfile") as small:
        assert small.rows.dim == 2
        assert (
            small.search("", 1, mode="vector", vector=[0, 1])[0].text
            == "Pods restart when they are deleted."
        )
    with ragfile.open(tmp_path / "large.ragfile") as large:
        assert large.rows.dim == 3
        assert (
            large.search("", 5, mode="vector", vector=[1, 0, 0])[0].text
            == "Keys rotate every ninety days."
        )
        assert [hit.doc_id for hit in large.search("pods", mode="bm25")] == ["2"]


def test_a_qdrant_folder_is_read_beside_an_open_client_and_not_written(tmp_path):
    client_of = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    models, store = client_of.models, tmp_path / "the store"
    size = models.VectorParams(size=2, distance=models.Distance.COSINE)
    with contextlib.closing(client_of.QdrantClient(path=str(store))) as client:
        client.create_collection("notes", size)
        point = models.PointStruct(id=1, vector=[1, 0], payload={"text": "Keys rotate."})
        client.upsert("notes", [point])
        before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
        done = run("convert", store, tmp_path / "kb.ragfile")
        assert (done.returncode, done.stderr) == (0, "")
        assert conversion.read(store).text(0) == "Keys rotate."
        assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before
        client.create_collection("others", size)
        refused = run("convert", store, tmp_path / "x.ragfile")
        assert "has the collections notes, others: choose one with --name" in refused.stderr
        done = run("convert", store, tmp_path / "x.ragfile", "--name", "notes")
        assert done.returncode == 0, done.stderr


class Program:
    """A pickle that makes a file when it is read."""

    def __reduce__(self):
        return os.mkdir, (os.environ["MADE_BY_A_PICKLE"],)


@pytest.mark.parametrize("planted", [pickle.dumps(Program), b"no pickle", None])
def test_a_qdrant_folder_with_a_program_in_it_is_refused(tmp_path, monkeypatch, planted):
    client_of = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    monkeypatch.setenv("MADE_BY_A_PICKLE", str(tmp_path / "made"))
    client = client_of.QdrantClient(path=str(tmp_path / "store"))
    size = client_of.models.VectorParams(size=2, distance=client_of.models.Distance.COSINE)
    client.create_collection("notes", vectors_config=size)
    point = client_of.models.PointStruct(id=5, vector=[2.0, 0.0], payload={"text": "a"})
    client.upsert("notes", [point])
    client.close()
    stored = tmp_path / "store/collection/notes/storage.sqlite"
    with contextlib.closing(sqlite3.connect(stored)) as database:
        blob = pickle.dumps(Program()) if planted is None else planted
        database.execute("UPDATE points SET point = ?", [blob])
        database.commit()
    with pytest.raises(FormatError, match="point 1 is not one of Qdrant"):
        conversion.read(tmp_path / "store")
    assert not (tmp_path / "made").exists()


def test_a_qdrant_collection_with_one_named_vector_needs_no_choice(tmp_path):
    client_of = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    models = client_of.models
    with contextlib.closing(client_of.QdrantClient(path=str(tmp_path / "store"))) as client:
        kind = models.VectorParams(size=2, distance=models.Distance.COSINE)
        client.create_collection("notes", {"dense": kind}, {"sparse": models.SparseVectorParams()})
        vector = {"dense": [1, 0], "sparse": models.SparseVector(indices=[3], values=[1.0])}
        client.upsert(
            "notes", [models.PointStruct(id=1, vector=vector, payload={"text": "Keys rotate."})]
        )
    found = conversion.read(tmp_path / "store")
    assert found.index.vectors.tolist() == [[1, 0]]
    assert found.text(0) == "Keys rotate."


# -------------------------------------------------------------------------------------------------- any documents ---

WORDS = st.text(st.sampled_from("abc ÄßГ字🔁\n\t\"'\\,;{}:#-"), max_size=40)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False),
                   WORDS, st.lists(WORDS, max_size=2), st.dictionaries(WORDS, WORDS, max_size=2))  # fmt: skip
DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.text(st.sampled_from("ab/#é"), min_size=1, max_size=6),
            "text": WORDS.map(lambda text: f"passage {text}"),
            "metadata": st.dictionaries(WORDS.map(lambda name: f"k{name}"), VALUES, max_size=3),
            "tags": st.lists(st.sampled_from(["one", "zwei", "три"]), unique=True, max_size=2),
            "source": WORDS,
        }
    ),
    min_size=1, max_size=4, unique_by=lambda document: document["id"],
)  # fmt: skip


@pytest.mark.parametrize("kind", sorted(FORMATS))
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(documents=DOCUMENTS)
def test_any_documents_come_back_through_every_format(kind, documents, tmp_path):
    suffix, package = FORMATS[kind]
    needs(package)
    with tempfile.TemporaryDirectory(dir=tmp_path) as name:
        folder = pathlib.Path(name)
        ragfile.build(documents, folder / "kb.ragfile")
        ragfile.convert(folder / "kb.ragfile", folder / f"other{suffix}", to=kind)
        ragfile.convert(folder / f"other{suffix}", folder / "back.ragfile")
        before, after = (ragfile.open(folder / f"{name}.ragfile") for name in ("kb", "back"))
        with before, after:
            assert [vars_of(d) for d in after.documents()] == [
                vars_of(d) for d in before.documents()
            ]
            assert [hit.text for hit in hits(after)] == [hit.text for hit in hits(before)]
            assert after.file.config["model"] == before.file.config["model"]
        assert (folder / "back.ragfile").read_bytes() == (folder / "kb.ragfile").read_bytes()


def vars_of(document):
    return document.id, document.text, document.metadata, document.tags, document.source


def hits(rf):
    return [rf.hit(row) for row in range(len(rf))]


def test_a_pgvector_table_as_csv_is_read_with_the_model_that_is_named(tmp_path):
    """As `\\copy … WITH (FORMAT csv, HEADER)` writes it: quotes are doubled, null is empty."""
    (tmp_path / "items.csv").write_text(
        "id,content,embedding,year,score,lang,note\n"
        '7,"Keys ""rotate"",\nevery day.","[1,0,0]",2024,0.5,en,\n'
        '8,Pods restart.,"[0,0.25,-1e-05]",2025,1,de,007\n'
        "9,Without a vector.,,,,,\n"
    )
    target = tmp_path / "kb.ragfile"
    done = run(
        "convert", tmp_path / "items.csv", target, "--embedder", "openai:text-embedding-3-small"
    )
    assert done.returncode == 0, done.stderr
    with ragfile.open(target) as rf:
        assert rf.info["model"]["name"] == "openai:text-embedding-3-small"
        documents = {document.id: document for document in rf.documents()}
        assert documents["7"].text == 'Keys "rotate",\nevery day.'
        assert documents["8"].metadata == {"year": 2025, "score": 1.0, "lang": "de", "note": "007"}
        (hit,) = rf.search("", 1, mode="vector", vector=[0, 0, -1])
        assert hit.doc_id == "8"
        assert [hit.doc_id for hit in rf.search("without", mode="bm25")] == ["9"]


@pytest.mark.parametrize("text", ["", "a,b\n1\n", 'a\n"open', "text,n\nwords,1\n"])
def test_a_csv_without_a_table_or_vectors_is_refused(tmp_path, text):
    (tmp_path / "items.csv").write_text(text)
    with pytest.raises(FormatError, match=r"items\.csv"):
        conversion.read(tmp_path / "items.csv")


# --------------------------------------------------------------------- the prefixes of a model ---


@pytest.fixture
def ollama(monkeypatch):
    with embedding_servers.Server() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server


def embedded(server):
    """The texts that the server embedded since the last call."""
    found = [text for _, body, *_ in server.requests for text in body["input"]]
    server.requests.clear()
    return found


NIGHT = "Owls fly at night."
NOMIC = "ollama:nomic-embed-text"


@pytest.mark.parametrize(
    ("named", "asked"),
    [(NOMIC, NIGHT), (f"{NOMIC}?query_prefix=ask: &document_prefix=", f"ask: {NIGHT}")],
    ids=["none", "named"],
)
def test_a_question_has_the_prefixes_of_the_program_that_made_the_vectors(
    tmp_path, ollama, named, asked
):
    """Programs put no prefixes before texts, though our provider would for this model."""
    rows = [
        {"id": str(n), "text": text, "embedding": embedding_servers.vector_of(text).tolist()}
        for n, text in enumerate([NIGHT, "Herons stand in water.", "Pods restart."])
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ragfile.convert(tmp_path / "rows.jsonl", tmp_path / "kb.ragfile", embedder=named)
    with ragfile.open(tmp_path / "kb.ragfile", embedder=NOMIC) as rf:
        [hit] = rf.search(NIGHT, 1, mode="vector")
    assert embedded(ollama) == [asked]
    for name in ("kb.ragmd", "back.ragfile"):
        ragfile.convert(tmp_path / "kb.ragfile", tmp_path / name)
        with ragfile.open(tmp_path / name, embedder=NOMIC) as rf:
            rf.search(NIGHT, 1, mode="vector")
        assert embedded(ollama) == [asked]
    assert ((hit.text, round(hit.score, 4)) == (NIGHT, 1.0)) is (asked == NIGHT)


def test_a_file_that_was_built_with_prefixes_is_asked_with_them(tmp_path, ollama):
    spec = f"{NOMIC}?query_prefix=ask: &document_prefix="
    ragfile.build([{"id": "a", "text": NIGHT}], tmp_path / "kb.ragfile", embedder=spec)
    assert embedded(ollama) == [NIGHT]
    with ragfile.open(tmp_path / "kb.ragfile", embedder=NOMIC) as rf:
        rf.search(NIGHT, 1, mode="vector")
    assert embedded(ollama) == [f"ask: {NIGHT}"]


# ------------------------------------------------------------------- the dimensions of a model ---


@pytest.fixture
def openai(monkeypatch):
    with embedding_servers.Server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield server


SMALL = "openai:text-embedding-3-small"
SHORT = f"{SMALL}?dimensions=5"  # of the server's 8


def asked_dimensions(server):
    """The models and dimensions that the server was asked for since the last call."""
    found = [(body["model"], body.get("dimensions")) for _, body, *_ in server.requests]
    server.requests.clear()
    return found


def check_short(path, server):
    """Ask a file for a text by the model's bare name, and compare with the server's short vector."""
    with ragfile.open(path, embedder=SMALL) as rf:
        hits = rf.search(NIGHT, 1, mode="vector")
    assert (hits.degraded, hits[0].text, round(hits[0].score, 4)) == ("", NIGHT, 1.0)
    assert asked_dimensions(server) == [("text-embedding-3-small", 5)]


def test_a_file_of_short_vectors_is_asked_by_the_models_bare_name(tmp_path, openai):
    kb, entries = tmp_path / "kb.ragfile", tmp_path / "metadata-m.json"
    pair = (tmp_path / "vectors-m.faiss", entries)
    ragfile.build([{"id": "a", "text": NIGHT}], kb, embedder=SHORT)
    openai.requests.clear()
    check_short(kb, openai)
    ragfile.convert(kb, tmp_path / "kb.ragmd")
    ragfile.convert(kb, pair)
    ragfile.convert(pair, tmp_path / "pair.ragfile")
    ragfile.convert(tmp_path / "kb.ragmd", tmp_path / "ragmd.ragfile")
    for name in ("kb.ragmd", "metadata-m.json", "pair.ragfile", "ragmd.ragfile"):
        check_short(tmp_path / name, openai)
    service = SingleFileRAGService("openai", "text-embedding-3-small", tmp_path / "kb.ragmd")
    service.initialize_search_backend()
    assert service.search_sync(NIGHT, 1)[0].text == NIGHT
    assert asked_dimensions(openai) == [("text-embedding-3-small", 5)]
    ragfile.add(kb, [{"id": "b", "text": "Herons wait."}], embedder=SMALL)
    assert asked_dimensions(openai) == [("text-embedding-3-small", 5)]


@pytest.mark.parametrize("recorded", [None, "text-embedding-3-small"])
def test_short_vectors_of_another_program_are_converted_with_their_dimensions(
    tmp_path, openai, recorded
):
    vector = embedding_servers.vector_of(NIGHT, 5).tolist()
    (tmp_path / "rows.jsonl").write_text(
        json.dumps({"id": "a", "text": NIGHT, "embedding": vector})
    )
    source = tmp_path / "rows.jsonl"
    if recorded:
        source = (tmp_path / "v.faiss", tmp_path / "m.json")
        ragfile.convert(tmp_path / "rows.jsonl", source)
        held = json.loads(source[1].read_text())
        source[1].write_text(json.dumps(held | {"model_name": recorded}))
    for name in ("kb.ragmd", "kb.ragfile"):
        ragfile.convert(source, tmp_path / name, embedder=SHORT)
        check_short(tmp_path / name, openai)


def test_dimensions_of_the_caller_come_first(tmp_path, openai):
    ragfile.build([{"id": "a", "text": NIGHT}], tmp_path / "kb.ragfile", embedder=SHORT)
    with pytest.raises(ragfile.ModelError, match="5 dimensions"):
        ragfile.open(tmp_path / "kb.ragfile", embedder=f"{SMALL}?dimensions=4")
