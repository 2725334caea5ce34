"""The surface of SQLRooms: its signatures, defaults, result keys and errors; and the ways out to Arrow, DuckDB and JSON lines."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from servers.embedding_servers import Server

import ragfile
from ragfile.adapters import sqlrooms
from ragfile.embedding.protocol import Model
from ragfile.errors import ModelError
from ragfile.ingest.document_loader import timestamp
from ragfile.knowledge_base import KnowledgeBase

MODEL = "default"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "keys.md").write_bytes(
        b"# Keys\r\n\r\nTo rotate the keys, run the rotation job.   \r\n\r\n## Old keys\r\n\r\nThey stay."
        + b" What they have signed must be readable for ten years more." * 9
    )
    (folder / "deep" / "pods.md").write_text(
        "# Pods\n\nRestart a pod by deleting it. Grüße!\n\n\n\n\nOAuth2 and C++ are words.\n"
    )
    (folder / "ignored.txt").write_text("not Markdown, though it rotates keys")
    return folder


@pytest.fixture
def db(folder, tmp_path):
    path = str(tmp_path / "kb.ragfile")
    sqlrooms.prepare_embeddings(str(folder), path, embed_model_name=MODEL).close()
    return path


def defaults(function):
    return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]


def test_signatures_and_defaults_are_those_of_the_original():
    empty = inspect.Parameter.empty
    assert defaults(sqlrooms.prepare_embeddings)[:4] == [
        ("input_dir", empty), ("output_db", empty), ("chunk_size", 512), ("embed_model_name", "BAAI/bge-small-en-v1.5"),
    ]  # fmt: skip
    assert defaults(sqlrooms.hybrid_query)[:6] == [
        ("query_text", empty), ("db_path", empty), ("top_k", 5), ("use_rrf", True), ("include_source_docs", False),
        ("vector_weight", 0.5),
    ]  # fmt: skip
    assert defaults(sqlrooms.get_source_documents) == [("chunk_ids", empty), ("db_path", empty)]


def test_a_fresh_file_answers_hybrid_without_a_further_step(db):
    hits = sqlrooms.hybrid_query("how do I rotate the keys?", db)
    assert set(hits[0]) == {"node_id", "text", "metadata", "score", "score_type", "source_doc"}
    assert (hits[0]["node_id"], hits[0]["score_type"], hits[0]["source_doc"]) == (
        "keys.md#0",
        "rrf",
        None,
    )
    assert {"path", "name", "headers"} <= set(hits[0]["metadata"])
    assert sqlrooms.hybrid_query("OAuth2", db)[0]["node_id"] == "deep/pods.md#0"


@pytest.mark.parametrize(("top_k", "candidates"), [(1, 10), (5, 10), (6, 12), (40, 80)])
def test_each_leg_proposes_twice_as_many_and_ten_at_least(db, monkeypatch, top_k, candidates):
    asked, search = [], KnowledgeBase.search
    monkeypatch.setattr(
        KnowledgeBase,
        "search",
        lambda self, *args, **options: asked.append(options) or search(self, *args, **options),
    )
    sqlrooms.hybrid_query("keys", db, top_k=top_k)
    sqlrooms.hybrid_query("keys", db, top_k=top_k, use_rrf=False)
    assert [options["pool"] for options in asked] == [candidates] * 2


def test_metadata_name_the_file_and_its_time(folder, db, monkeypatch):
    hit = sqlrooms.vector_query("old keys", db, include_source_docs=True)[0]
    path = folder / hit["metadata"]["path"]
    assert (hit["metadata"]["file_path"], hit["metadata"]["name"]) == (path.name, path.name)
    assert hit["metadata"]["created_at"] == timestamp(path.stat().st_mtime)
    assert hit["source_doc"]["metadata"].items() <= hit["metadata"].items()


def test_weighted_scores_follow_the_weight(db):
    by_words = sqlrooms.hybrid_query("restart a pod", db, use_rrf=False, vector_weight=0.0)
    by_vectors = sqlrooms.hybrid_query("restart a pod", db, use_rrf=False, vector_weight=1.0)
    assert {h["score_type"] for h in by_words + by_vectors} == {"weighted"}
    assert [h["node_id"] for h in by_vectors] == [
        h["node_id"] for h in sqlrooms.vector_query("restart a pod", db)
    ]
    assert by_words[0]["score"] == 1.0
    with pytest.raises(ValueError, match="vector_weight"):
        sqlrooms.hybrid_query("x", db, vector_weight=1.5)
    with pytest.raises(ValueError, match="top_k"):
        sqlrooms.hybrid_query("x", db, top_k=0)


def test_source_documents_are_what_was_read_to_the_character(folder, db):
    found = sqlrooms.get_source_documents(
        ["keys.md#1", "nobody#0", "deep/pods.md#0", "keys.md#0"], db
    )
    assert [d["doc_id"] for d in found] == ["keys.md", "deep/pods.md"]
    assert set(found[0]) == {"doc_id", "file_path", "file_name", "text", "metadata"}
    for document in found:
        assert document["text"].encode() == (folder / document["doc_id"]).read_bytes()
        assert document["file_path"] == document["doc_id"]
        assert document["file_name"] == document["doc_id"].rpartition("/")[2]
    assert sqlrooms.get_source_documents([], db) == []
    hit = sqlrooms.hybrid_query("keys", db, include_source_docs=True)[0]
    assert hit["source_doc"] == found[0]
    with ragfile.open(db) as rf:
        for row in range(len(rf)):
            chunk = rf.chunk(row)
            assert rf.document(chunk.doc_id).text[chunk.start : chunk.end] == chunk.content


def test_both_ways_of_cutting_and_a_weight_for_headers(folder, tmp_path):
    path = str(tmp_path / "kb")
    options = {
        "embed_model_name": MODEL,
        "use_markdown_chunking": False,
        "include_headers_weight": 3,
    }
    with sqlrooms.prepare_embeddings(str(folder), path, chunk_size=20, **options) as rf:
        assert rf.file.config["chunking"]["kind"] == "sentences"
        assert rf.file.config["chunking"]["size"] == 80
        assert rf.rows.segments[0].lexicon.analysis.fields == (("text", 1), ("headers", 3))


def test_words_are_stemmed_as_porter_does_and_stop_words_are_not_looked_for(db):
    with ragfile.open(db) as rf:
        assert rf.rows.segments[0].lexicon.analysis.stemmer == "porter"
        assert [rf.hit(row).id for row in rf.match("rotations", 1)[0][0].tolist()] == ["keys.md#0"]
        assert rf.match("how do the and", 1)[0].tolist() == [[-1]]
    assert len(sqlrooms.hybrid_query("the of and", db)) == 3


def test_inputs_that_make_no_sense_are_refused(folder, tmp_path):
    out = str(tmp_path / "kb")
    with pytest.raises(FileNotFoundError):
        sqlrooms.prepare_embeddings(str(tmp_path / "nowhere"), out)
    with pytest.raises(ValueError, match="not a folder"):
        sqlrooms.prepare_embeddings(str(folder / "keys.md"), out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"No \.md files"):
        sqlrooms.prepare_embeddings(str(tmp_path / "empty"), out)
    with pytest.raises(FileNotFoundError):
        sqlrooms.hybrid_query("x", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError):
        sqlrooms.get_source_documents(["a#0"], str(tmp_path / "nowhere"))


def test_the_default_model_gives_way_to_the_embedded_one_aloud_and_a_named_one_does_not(
    folder, tmp_path, monkeypatch
):
    def missing(spec, **options):
        if spec.startswith("st:"):
            raise ImportError("sentence-transformers is not installed")
        return real(spec, **options)

    real = sqlrooms.open_embedder
    monkeypatch.setattr(sqlrooms, "open_embedder", missing)
    with pytest.warns(UserWarning, match="built-in model"):
        sqlrooms.prepare_embeddings(str(folder), str(tmp_path / "kb")).close()
    assert sqlrooms.get_embedding_metadata(str(tmp_path / "kb"))["model"].startswith("potion")
    with pytest.raises(ImportError):
        sqlrooms.prepare_embeddings(
            str(folder), str(tmp_path / "other"), embed_model_name="some/model"
        )


def test_a_model_is_opened_once_and_without_the_network_if_it_was_fetched_before(
    folder, tmp_path, monkeypatch
):
    asked, fetched = [], set()

    class Tiny:
        model = Model("st:tiny", 2)

        def embed(self, texts, role="document"):
            return np.array([[len(text), 1.0] for text in texts], np.float32)

    def opened(spec, offline=False, **options):
        asked.append((spec, offline))
        if offline and spec not in fetched:
            raise OSError("not in the cache")
        fetched.add(spec)
        return Tiny()

    monkeypatch.setattr(sqlrooms, "open_embedder", opened)
    for _ in range(2):
        with sqlrooms.prepare_embeddings(
            str(folder), str(tmp_path / "kb"), embed_model_name="some/tiny", overwrite=True
        ) as rf:
            assert rf.file.config["model"] == {"name": "st:tiny", "dims": 2, "spec": "st:some/tiny"}
    assert asked == [("st:some/tiny", True), ("st:some/tiny", False), ("st:some/tiny", True)]


def test_the_default_model_is_not_fetched(folder, tmp_path, monkeypatch):
    def opened(spec, offline=False, **options):
        if spec.startswith("st:"):
            assert offline
            raise OSError("not in the cache")
        return real(spec, **options)

    real = sqlrooms.open_embedder
    monkeypatch.setattr(sqlrooms, "open_embedder", opened)
    with pytest.warns(UserWarning, match="st:BAAI/bge-small-en-v1.5' downloads it"):
        sqlrooms.prepare_embeddings(str(folder), str(tmp_path / "kb")).close()


def test_metadata_say_how_the_file_was_made_and_another_model_is_refused(db):
    found = sqlrooms.get_embedding_metadata(db)
    assert set(found) >= {"model", "dims", "chunking", "counts", "capabilities"}
    assert (found["dims"], found["counts"]["documents"]) == (256, 2)
    assert found["capabilities"].items() >= {"vector": True, "fts": True, "hybrid": True}.items()
    assert sqlrooms.hybrid_query("keys", db, embed_model_name="default")
    with pytest.raises(ModelError, match="was built with"):
        sqlrooms.hybrid_query("keys", db, embed_model_name="BAAI/bge-small-en-v1.5")


def test_a_leg_that_is_missing_is_said_and_the_other_answers(folder, tmp_path):
    words, vectors = str(tmp_path / "words"), str(tmp_path / "vectors")
    sqlrooms.prepare_embeddings(str(folder), words, embed_model_name="none").close()
    ragfile.build(folder, vectors, analysis=None)
    for path, has, reason in (
        (words, "fts", "has no vectors"),
        (vectors, "vector", "has no BM25 index"),
    ):
        capabilities = {"vector": False, "fts": False, "hybrid": False, has: True}
        found = sqlrooms.get_embedding_metadata(path)["capabilities"]
        assert found.items() >= capabilities.items()
        for use_rrf in (True, False):
            with pytest.warns(UserWarning, match=reason):
                hits = sqlrooms.hybrid_query("restart a pod", path, use_rrf=use_rrf)
            assert hits[0]["node_id"] == "deep/pods.md#0"
            assert hits[0]["score_type"] == {"fts": "bm25", "vector": "vector"}[has]


# ------------------------------------------------------------------------------------------------------------ ways out --


def export(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", "export", *arguments], capture_output=True, text=True
    )


def test_json_lines_hold_every_live_chunk_with_its_vector(db, tmp_path):
    with ragfile.edit(db) as w:
        w.delete(["deep/pods.md"])
    lines = [json.loads(line) for line in export(db).stdout.splitlines()]
    with ragfile.open(db) as rf:
        assert [line["node_id"] for line in lines] == ["keys.md#0", "keys.md#1"]
        row = rf.row("keys.md#1")
        assert lines[1]["text"] == rf.chunk(row).content
        assert lines[1]["uuid"] == rf.chunk(row).uuid
        assert (np.array(lines[1]["embedding"], np.float32) == rf.vector(row)).all()
    out = str(tmp_path / "out.jsonl")
    assert json.loads(export(db, out, "--json").stdout)["chunks"] == 2
    assert [json.loads(line) for line in Path(out).read_text().splitlines()] == lines
    assert export(db, "--to", "duckdb").returncode == 2


def test_arrow_columns_are_those_of_the_chunk_table(db):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra 'arrow' is not installed")
    with ragfile.open(db) as rf:
        table = rf.to_arrow()
        assert {"node_id", "text", "metadata_", "embedding", "doc_id"} <= set(table.column_names)
        assert table.num_rows == len(rf)
        assert table.column("text").to_pylist() == [rf.chunk(row).content for row in range(len(rf))]
        vectors = (
            table.column("embedding").combine_chunks().flatten().to_numpy().reshape(len(rf), -1)
        )
        assert (vectors == rf.vectors()).all()
        assert json.loads(table.column("metadata_")[0].as_py())["name"]
        assert pyarrow.table(rf).equals(table)


def test_parquet_holds_the_same_columns(db, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra 'arrow' is not installed")
    done = export(db, str(tmp_path / "out.parquet"), "--to", "parquet")
    assert done.returncode == 0, done.stderr
    with ragfile.open(db) as rf:
        table = parquet.read_table(tmp_path / "out.parquet")
        assert table.drop_columns(["document"]).equals(rf.to_arrow())


def test_duckdb_gets_the_tables_that_sql_users_know(db, folder, tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    out = str(tmp_path / "out.duckdb")
    done = export(db, out, "--to", "duckdb")
    assert done.returncode == 0, done.stderr
    with duckdb.connect(out, read_only=True) as database:
        count, dim = database.execute(
            "SELECT count(*), max(len(embedding)) FROM documents"
        ).fetchone()
        joined = database.execute(
            "SELECT count(*), max(s.text) FROM documents d JOIN source_documents s USING (doc_id) WHERE doc_id = 'keys.md'"
        ).fetchone()
        notes = dict(database.execute("SELECT key, value FROM embedding_metadata").fetchall())
    with ragfile.open(db) as rf:
        assert (count, dim) == (len(rf), 256)
    assert joined == (2, (folder / "keys.md").read_bytes().decode())
    assert notes["embedding_dimensions"] == "256"
    assert export(db, out, "--to", "duckdb").returncode == 1


# ----------------------------------------------------------------------------- the other arguments ---


def test_what_is_there_already_is_not_overwritten_unless_asked(folder, tmp_path):
    path = tmp_path / "notes.duckdb"
    path.write_bytes(b"a user's own database")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        sqlrooms.prepare_embeddings(str(folder), str(path), embed_model_name="default")
    with pytest.raises((ValueError, OSError)):  # and never a file of another kind
        sqlrooms.prepare_embeddings(
            str(folder), str(path), embed_model_name="default", overwrite=True
        )
    assert path.read_bytes() == b"a user's own database"
    made = str(tmp_path / "kb.ragfile")
    for overwrite in (False, True):
        rf = sqlrooms.prepare_embeddings(
            str(folder), made, embed_model_name="default", overwrite=overwrite
        )
        assert len(rf)
        rf.close()


def test_the_arguments_of_the_original_are_taken(folder, tmp_path, capsys):
    rf = sqlrooms.prepare_embeddings(
        str(folder), str(tmp_path / "kb"), 512, "default", embed_dim=256, verbose=True, header_weight=3,
        include_headers_in_chunks=True,
    )  # fmt: skip
    rf.close()
    assert "chunks" in capsys.readouterr().out
    with pytest.raises(ModelError, match="256 dimensions, not 384"):
        sqlrooms.prepare_embeddings(
            str(folder), str(tmp_path / "b"), embed_model_name="default", embed_dim=384
        )
    with pytest.raises(ValueError, match="'huggingface' or 'openai'"):
        sqlrooms.prepare_embeddings(str(folder), str(tmp_path / "b"), embedding_provider="cohere")


def test_a_leg_without_candidates_is_left_out(db):
    asked = {"db_path": db, "top_k": 3}
    vector = sqlrooms.hybrid_query("rotate the keys", **asked, fts_top_k=0)
    assert [h["node_id"] for h in vector] == [
        h["node_id"] for h in sqlrooms.vector_query("rotate the keys", **asked)
    ]
    with ragfile.open(db) as rf:
        words = [hit.id for hit in rf.search("rotate the keys", 3, mode="bm25")]
    assert [
        h["node_id"] for h in sqlrooms.hybrid_query("rotate the keys", **asked, vector_top_k=0)
    ] == words
    with pytest.raises(ValueError, match="cannot both be 0"):
        sqlrooms.hybrid_query("rotate", **asked, vector_top_k=0, fts_top_k=0)


def test_results_are_printed_with_file_and_section(db, capsys):
    hits = sqlrooms.hybrid_query(
        "how do I rotate the keys?", db, top_k=2, verbose=True, model_name="default"
    )
    assert {"file_name", "header_path"} <= set(hits[0]["metadata"])
    sqlrooms.print_results(hits, "how do I rotate the keys?")
    said = capsys.readouterr().out
    assert f"Source: {hits[0]['metadata']['file_name']}" in said
    assert hits[0]["node_id"] in said


def test_a_model_is_validated_before_it_is_asked(db):
    assert sqlrooms.validate_embedding_model(db, "default", 256)
    with pytest.warns(UserWarning, match="was built with"):
        assert not sqlrooms.validate_embedding_model(db, "BAAI/bge-small-en-v1.5")
    with pytest.warns(UserWarning, match="dimensions"):
        assert not sqlrooms.validate_embedding_model(db, "default", 384)


def test_rankings_are_fused_by_reciprocal_ranks():
    assert sqlrooms.reciprocal_rank_fusion([["a", "b"], ["b", "c"]], k=0) == [
        ("b", 1.5),
        ("a", 1.0),
        ("c", 0.5),
    ]


PROGRAM = """
import sys
from sqlrooms_rag import get_source_documents, hybrid_query, prepare_embeddings, print_results
from sqlrooms_rag.query import hybrid_query as the_same

folder, question = sys.argv[1:]
base = "generated/deeper/docs.duckdb"
prepare_embeddings(
    input_dir=folder, output_db=base, chunk_size=512, embed_model_name="BAAI/bge-small-en-v1.5", embed_dim=384, verbose=True
)
found = hybrid_query(question, db_path=base, top_k=3, use_rrf=True, verbose=True)
print_results(found, question)
for one in get_source_documents([found[0]["node_id"]], base):
    print(one["file_name"], one["file_path"], len(one["text"]))
assert the_same(question, db_path=base, top_k=3, fts_top_k=0)
"""


def test_a_program_written_for_the_original_runs_unchanged(folder, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [
            *(sys.executable, "-W", "ignore", "-m", "ragfile.adapters.run_sqlrooms"),
            *("program.py", str(folder), "rotate the keys"),
        ],
        cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Query: rotate the keys" in done.stdout
    assert os.path.exists(tmp_path / "generated/deeper/docs.duckdb")
    assert subprocess.run(
        [sys.executable, "-m", "ragfile.adapters.run_sqlrooms"], capture_output=True
    ).returncode


def test_openai_is_asked_with_the_key_and_the_dimensions_that_were_given(folder, tmp_path):
    with Server() as server:
        rf = sqlrooms.prepare_embeddings(
            str(folder), str(tmp_path / "kb"), embed_model_name=f"some-model?base_url={server.url}/v1",
            embed_dim=5, embedding_provider="openai", api_key="sk-secret",
        )  # fmt: skip
        assert rf.rows.dim == 5
        rf.close()
        assert {question["dimensions"] for _, question, *_ in server.requests} == {5}
        assert {headers["Authorization"] for *_, headers, _ in server.requests} == {
            "Bearer sk-secret"
        }
    assert b"sk-secret" not in (tmp_path / "kb").read_bytes()
    told = sqlrooms.get_embedding_metadata(str(tmp_path / "kb"))
    assert told["embedding"]["dimensions"] == 5
    assert told["embedding"]["provider"] == "openai"
    assert told["chunks"]["total_chunks"] == told["counts"]["chunks"]
