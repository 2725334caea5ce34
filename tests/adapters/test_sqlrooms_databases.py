"""SQLRooms' own DuckDB database, and the models of its providers, through its functions and ours."""

import json
import subprocess
import sys

import numpy as np
import pytest
from servers.embedding_servers import Server, vector_of

import ragfile
from ragfile.adapters import sqlrooms
from ragfile.errors import ModelError

TEXTS = {
    "keys.md": "# Keys\n\nRotate the keys every ninety days.\n\n## Old keys\n\nThey stay readable.\n",
    "pods.md": "# Pods\n\nRestart a pod by deleting it.\n",
}
CHUNKS = [
    ("n-1", "keys.md", "# Keys\n\nRotate the keys every ninety days."),
    ("n-2", "keys.md", "## Old keys\n\nThey stay readable."),
    ("n-3", "pods.md", "# Pods\n\nRestart a pod by deleting it."),
]
FACTS = {
    "version": "1.0", "created_at": "2026-01-01T00:00:00Z", "embedding_provider": "openai",
    "embedding_model": "text-embedding-3-small", "embedding_dimensions": "8",
    "chunking_strategy": "markdown-aware", "chunk_size": "512", "include_headers": "True",
    "total_source_documents": "2", "total_chunks": "3", "hybrid_search_enabled": "True",
}  # fmt: skip


@pytest.fixture
def theirs(tmp_path):
    """A database with the tables of its architecture page, as its preparation fills them."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE TABLE documents (node_id VARCHAR, text TEXT, embedding FLOAT[8], metadata_ JSON)"
        )
        database.execute("ALTER TABLE documents ADD COLUMN doc_id VARCHAR")
        for node, document, text in CHUNKS:
            metadata = {
                "file_name": document,
                "file_path": f"docs/{document}",
                "Header_1": text[:6],
            }
            row = [node, text, vector_of(text).tolist(), json.dumps(metadata), document]
            database.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", row)
        database.execute(
            "CREATE TABLE source_documents (doc_id VARCHAR PRIMARY KEY, file_path VARCHAR, file_name "
            "VARCHAR, text TEXT, metadata_ JSON, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)"
        )
        for name, text in TEXTS.items():
            row = [name, f"docs/{name}", name, text, json.dumps({"file_name": name})]
            database.execute("INSERT INTO source_documents VALUES (?, ?, ?, ?, ?, now())", row)
        database.execute(
            "CREATE TABLE embedding_metadata (key VARCHAR PRIMARY KEY, value VARCHAR, "
            "created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)"
        )
        for pair in FACTS.items():
            database.execute("INSERT INTO embedding_metadata (key, value) VALUES (?, ?)", pair)
    return path


@pytest.fixture
def openai(monkeypatch):
    with Server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield server


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)], capture_output=True, text=True
    )


def test_their_database_converts_with_whole_documents_and_their_model(theirs, tmp_path):
    done = run("convert", theirs, tmp_path / "kb.ragfile")
    assert (done.returncode, done.stderr) == (0, "")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.file.config["model"]["name"] == "openai:text-embedding-3-small"
        assert {name: rf.document(name).text for name in TEXTS} == TEXTS
        hits = rf.search("", vector=vector_of(CHUNKS[1][2]), k=1, mode="vector")
        assert (hits[0].id, hits[0].text) == ("keys.md#1", CHUNKS[1][2])
        assert TEXTS["keys.md"][hits[0].start : hits[0].end] == CHUNKS[1][2]
        assert hits[0].metadata["file_name"] == "keys.md"
        assert hits[0].source == "docs/keys.md"


def test_their_database_is_searched_where_it_is(theirs, openai):
    options = ("--embedder", "openai:text-embedding-3-small", "--mode", "vector", "--json")
    found = run("search", theirs, CHUNKS[2][2], *options)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["hits"][0]["text"] == CHUNKS[2][2]
    hits = sqlrooms.hybrid_query(
        CHUNKS[2][2], str(theirs), embed_model_name="text-embedding-3-small"
    )
    assert (hits[0]["text"], hits[0]["score_type"]) == (CHUNKS[2][2], "rrf")
    assert (
        sqlrooms.get_source_documents([hits[0]["node_id"]], str(theirs))[0]["text"]
        == TEXTS["pods.md"]
    )


def test_an_export_is_searched_and_described_under_their_names(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(text)
    ragfile.build(tmp_path / "docs", tmp_path / "kb.ragfile")
    assert run("export", tmp_path / "kb.ragfile", tmp_path / "out.duckdb").returncode == 0
    here = run("search", tmp_path / "out.duckdb", "how often do keys rotate?", "--json")
    there = run("search", tmp_path / "kb.ragfile", "how often do keys rotate?", "--json")
    listed = [[(hit["id"], hit["score"]) for hit in json.loads(each.stdout)["hits"]] for each in (here, there)]  # fmt: skip
    assert listed[0] == listed[1]
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as database:
        facts = dict(database.execute("SELECT key, value FROM embedding_metadata").fetchall())
    wanted = {
        "embedding_model": "potion-base-8M/1",
        "embedding_dimensions": "256",
        "total_source_documents": "2",
    }
    assert {key: facts[key] for key in wanted} == wanted
    found = sqlrooms.get_embedding_metadata(str(tmp_path / "kb.ragfile"))
    assert found["embedding"]["dimensions"] == 256
    assert found["chunking"]["strategy"] == "markdown-aware"
    assert found["source_documents"]["total_characters"] > 0
    assert found["capabilities"]["hybrid_search"] is True
    assert {"version", "created_at"} <= set(found)


def test_the_model_of_the_provider_embeds_the_question(tmp_path, openai):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXTS["pods.md"])
    path = str(tmp_path / "kb")
    sqlrooms.prepare_embeddings(
        str(tmp_path / "docs"), path, embedding_provider="openai", embed_dim=5
    ).close()
    openai.requests.clear()
    for name in ("text-embedding-3-small", "openai:text-embedding-3-small"):
        hits = sqlrooms.vector_query("restart", path, embed_model_name=name)
        assert hits[0]["score_type"] == "vector"
        assert (
            sqlrooms.hybrid_query("restart", path, embed_model_name=name)[0]["score_type"] == "rrf"
        )
    assert {request["dimensions"] for _, request, *_ in openai.requests} == {5}
    with pytest.raises(ModelError, match="was built with openai:text-embedding-3-small"):
        sqlrooms.vector_query("restart", path, embed_model_name="text-embedding-3-large")


def test_rows_that_words_found_are_not_labelled_as_vectors(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXTS["pods.md"])
    path = str(tmp_path / "kb")
    sqlrooms.prepare_embeddings(str(tmp_path / "docs"), path, embed_model_name="none").close()
    with pytest.warns(UserWarning, match="has no vectors"):
        assert sqlrooms.vector_query("restart", path)[0]["score_type"] == "bm25"
    sqlrooms.prepare_embeddings(
        str(tmp_path / "docs"), path, embed_model_name="default", overwrite=True
    ).close()
    kinds = {
        (vectors, words): sqlrooms.hybrid_query("restart", path, vector_top_k=vectors, fts_top_k=words)[0]["score_type"]
        for vectors, words in ((0, 5), (5, 0), (5, 5))
    }  # fmt: skip
    assert kinds == {(0, 5): "bm25", (5, 0): "vector", (5, 5): "rrf"}
    assert np.isfinite(sqlrooms.hybrid_query("restart", path, use_rrf=False)[0]["score"])
    assert sqlrooms.hybrid_query("restart", path, use_rrf=False)[0]["score_type"] == "weighted"
