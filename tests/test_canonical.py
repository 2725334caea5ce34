"""index and retrieve: idempotent upserts by (doc_id, chunk_index), plans that are honoured, inputs left alone."""

import copy
import inspect
import uuid

import pytest

import ragfile
from ragfile import canonical
from ragfile.canonical import chunk, fuse, index, retrieve
from ragfile.errors import ModelError
from ragfile.records import Candidate, Chunk, Document, Plan, chunk_uuid

EMPTY = inspect.Parameter.empty
PAGES = {
    "keys": "To rotate the keys run the rotation job. Old keys stay valid for one hour.",
    "pods": "Restart a pod by deleting it. The scheduler makes another one.",
    "backup": "A backup of the keys is taken every night and kept for a week.",
}


def chunks_of(pages=PAGES):
    return [
        c
        for name, text in pages.items()
        for c in chunk(Document(name, text, tags=("ops",)), "words:8/2")
    ]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.ragfile"
    index(chunks_of(), path)
    return path


def test_the_signatures_are_those_of_the_canonical_interface():
    signatures = {
        "chunk": {"text_or_segments": EMPTY, "policy": None}, "index": {"chunks": EMPTY, "store": EMPTY},
        "retrieve": {"query": EMPTY, "plan": EMPTY, "store": EMPTY}, "fuse": {"candidate_sets": EMPTY, "method": "rrf", "params": None},
        "rerank": {"query": EMPTY, "candidates": EMPTY, "model": None}, "compress": {"query": EMPTY, "candidates": EMPTY, "policy": None},
    }  # fmt: skip
    assert sorted(canonical.__all__) == sorted(signatures)
    for name, parameters in signatures.items():
        assert getattr(ragfile, name) is getattr(canonical, name)
        found = inspect.signature(getattr(canonical, name)).parameters.values()
        assert {parameter.name: parameter.default for parameter in found} == parameters


def test_every_block_takes_plain_data(tmp_path):
    chunks = [
        c.to_dict()
        for c in chunk(
            [{"text": "One of the keys.", "metadata": {"page": 1}}, "Two pods."], "words:8/2"
        )
    ]
    assert [set(c) for c in chunks] == [
        {"doc_id", "chunk_index", "content", "tags", "metadata"}
    ] * 2
    for each in chunks:
        each["doc_id"] = "d"
    assert index(chunks, str(tmp_path / "kb"))["inserted"] == 2
    found = [c.to_dict() for c in retrieve("keys", {"k": 5}, str(tmp_path / "kb"))]
    assert [set(c) for c in found] == [
        {"doc_id", "chunk_index", "content", "score", "tags", "metadata"}
    ] * 2
    fused = [c.to_dict() for c in fuse([found, found[::-1]])]
    ranked = [c.to_dict() for c in canonical.rerank("keys", fused)]
    (span, *_) = canonical.compress("keys", ranked)
    assert (span["text"], span["metadata"]) == ("One of the keys.", {"page": 1})


def test_indexing_says_what_came_and_a_second_time_changes_nothing(tmp_path):
    path, chunks = tmp_path / "kb", chunks_of()
    assert index(chunks, path) == {
        "inserted": len(chunks),
        "updated": 0,
        "unchanged": 0,
        "deleted": 0,
        "generation": 1,
    }
    before = path.read_bytes()
    assert index(chunks, path) == {
        "inserted": 0,
        "updated": 0,
        "unchanged": len(chunks),
        "deleted": 0,
        "generation": 1,
    }
    assert path.read_bytes() == before


def test_a_changed_chunk_is_updated_and_the_others_stay_with_their_vectors(path):
    with ragfile.open(path) as rf:
        before = {rf.hit(row).id: (rf.chunk(row), rf.vector(row).copy()) for row in range(len(rf))}
    new = Chunk("keys", 1, "Quite another text.", ("ops",), {"year": 2020})
    assert index([new, Chunk("keys", 9, "One more.", ("ops",))], path) == {
        "inserted": 1, "updated": 1, "unchanged": 0, "deleted": 0, "generation": 2,
    }  # fmt: skip
    with ragfile.open(path) as rf:
        assert len(rf) == len(before) + 1
        changed = rf.chunk(rf.row("keys#1"))
        assert (changed.content, changed.metadata, changed.tags) == (
            new.content,
            new.metadata,
            new.tags,
        )
        for name, (kept, vector) in before.items():
            if name != "keys#1":
                assert rf.chunk(rf.row(name)) == kept
                assert (rf.vector(rf.row(name)) == vector).all()
        assert (rf.vector(rf.row("keys#1")) == rf.embedder.embed([new.content])[0]).all()
        assert rf.search("another text")[0].id == "keys#1"


def test_what_was_indexed_in_pieces_answers_as_what_was_indexed_at_once(tmp_path, path):
    chunks = chunks_of()
    for one in reversed(chunks):
        index([one], tmp_path / "pieces")
    with ragfile.open(path) as a, ragfile.open(tmp_path / "pieces") as b:
        for question in ("rotate keys", "restart", "night"):
            assert [(h.id, h.score, h.text) for h in a.search(question)] == [
                (h.id, h.score, h.text) for h in b.search(question)
            ]


def test_a_chunk_of_a_document_with_text_keeps_the_document(tmp_path):
    with ragfile.create(tmp_path / "kb", chunking="words:4/0") as w:
        w.add_documents(
            [
                {
                    "id": "d",
                    "text": "one two three four five six",
                    "metadata": {"a": 1},
                    "source": "d.md",
                }
            ]
        )
    assert (
        index([Chunk("d", 1, "fifth sixth", (), {"b": 2}, 19, 27)], tmp_path / "kb")["updated"] == 1
    )
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("d").text == "one two three four five six"
        assert rf.hit(rf.row("d#0")).metadata == {"a": 1}
        assert rf.hit(rf.row("d#1")).metadata == {"a": 1, "b": 2}
        assert rf.hit(rf.row("d#0")).source == "d.md"
        assert rf.chunk(rf.row("d#1")).start == -1  # the document does not say this there


def test_a_document_whose_text_is_not_known_is_not_taken_for_an_empty_one(path):
    index([Chunk("keys", 1, "Quite another text.", ("ops",))], path)
    with ragfile.open(path) as rf:
        before = [rf.chunk(row) for row in rf.live_rows().tolist()]
    assert ragfile.stale(path, chunking="words:5/1") == {}
    ragfile.reindex(path, chunking="words:5/1")
    with ragfile.open(path) as rf:
        assert [rf.chunk(row) for row in rf.live_rows().tolist()] == before


def test_a_pair_named_twice_is_refused_and_nothing_is_stored(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="twice"):
        index([Chunk("x", 0, "a"), Chunk("x", 0, "b")], path)
    assert path.read_bytes() == before


def test_vectors_of_a_model_that_is_not_named_are_not_mixed_with_others(tmp_path):
    with ragfile.create(tmp_path / "kb", dim=2) as w:
        w.add([Chunk("a", 0, "x")], [[1, 0]])
    with pytest.raises(ModelError):
        index([Chunk("b", 0, "y")], tmp_path / "kb")


def test_an_open_file_and_a_writer_are_stores_too(tmp_path, path):
    with ragfile.open(path) as rf:
        assert index([Chunk("new", 0, "Fresh words.")], rf)["generation"] == 2
        assert rf.search("fresh")[0].id == "new#0"
    with ragfile.edit(path, embedder="default") as w:
        assert (
            index([Chunk("new", 0, "Fresh words."), Chunk("more", 0, "Even more.")], w)["inserted"]
            == 1
        )
    with ragfile.create(tmp_path / "other") as w:
        assert index(chunks_of(), w)["inserted"] == len(chunks_of())


def test_a_chunk_has_the_uuid_of_what_names_it(path):
    namespace = uuid.UUID("6f1d7f0e-2a5c-5b0c-9d0c-3e8b7a41f652")
    assert chunk_uuid("guide.md", 3) == str(uuid.uuid5(namespace, "\0guide.md\x003"))
    assert chunk_uuid("guide.md", 3) == "3054d887-803c-5508-92ea-182f8bbbbcdf"
    assert (
        len(
            {
                chunk_uuid(*name)
                for name in (("a", 1), ("a", 2), ("b", 1), ("a", 1, "x"), ("a\ud800", 1))
            }
        )
        == 5
    )
    with ragfile.open(path) as rf:
        for row in range(len(rf)):
            chunk, hit = rf.chunk(row), rf.hit(row)
            assert chunk.uuid == hit.uuid == chunk_uuid(chunk.doc_id, chunk.chunk_index)


# ------------------------------------------------------------------------------------------------------------- retrieve --


def test_candidates_come_in_order_with_the_fields_of_the_canonical_interface(path):
    found = retrieve("rotate the keys", Plan(k=3), path)
    assert all(isinstance(c, Candidate) for c in found)
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert found[0].key == ("keys", 0)
    assert found[0].score == pytest.approx(2 / 61)
    assert set(found[0].to_dict()) == {
        "doc_id",
        "chunk_index",
        "content",
        "score",
        "tags",
        "metadata",
    }


def test_the_plans_defaults_are_the_specified_ones():
    plan = Plan()
    assert (plan.k, plan.pool, plan.rrf_k, plan.fusion, plan.vector, plan.lexical) == (
        12,
        50,
        60,
        "rrf",
        True,
        True,
    )


def test_retrieving_both_legs_is_fusing_what_each_retrieves(path):
    legs = [
        retrieve("rotate keys", Plan(k=50, lexical=False), path),
        retrieve("rotate keys", Plan(k=50, vector=False), path),
    ]
    fused = fuse(legs, params={"limit": 12})
    both = retrieve("rotate keys", Plan(), path)
    assert [(c.key, c.score) for c in both] == [(c.key, c.score) for c in fused]


def test_a_leg_that_the_plan_leaves_out_is_not_touched(path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("this leg was not asked for")

    with ragfile.open(path) as rf:
        monkeypatch.setattr(rf, "match", refuse)
        for segment in rf.rows.segments:
            monkeypatch.setattr(type(segment), "lexicon", property(refuse))
        assert retrieve("rotate", Plan(lexical=False), rf)
        monkeypatch.undo()
        monkeypatch.setattr(rf, "nearest", refuse)
        assert retrieve("rotate", Plan(vector=False), rf)
        with pytest.raises(ValueError, match="both"):
            retrieve("rotate", Plan(vector=False, lexical=False), rf)


def test_filters_of_the_plan_apply_before_the_best_are_taken(path):
    index(
        [
            Chunk("tagged", i, f"keys keys {i}", ("red", "blue") if i % 2 else ("red",))
            for i in range(20)
        ],
        path,
    )
    assert len(retrieve("keys", Plan(k=5, pool=5, tags_all=("blue",)), path)) == 5
    assert {c.doc_id for c in retrieve("keys", {"tags_any": ["ops"], "k": 50}, path)} == set(PAGES)


def test_inputs_are_left_alone_and_a_hundred_runs_agree(path):
    chunks, plan = chunks_of(), Plan(where={"x": {"$exists": False}}, tags_any=("ops",))
    before = copy.deepcopy((chunks, plan))
    index(chunks, path)
    with ragfile.open(path) as rf:
        runs = {tuple((c.key, c.score) for c in retrieve("keys", plan, rf)) for _ in range(100)}
    assert len(runs) == 1
    assert (chunks, plan) == before


def test_a_plain_text_is_chunked_and_indexed_as_it_is(tmp_path):
    path, text = tmp_path / "kb", "To rotate the keys run the rotation job. " * 40
    chunks = chunk(text, "words:20/5")
    assert index(chunks, path)["inserted"] == len(chunks) > 1
    assert index(chunk(text.replace(" ", "\xa0", 1), "words:20/5"), path)["unchanged"] == len(
        chunks
    )
    index(chunk([text, {"text": "Pods are restarted."}]), path)
    index(chunk(Document("", "A document without a name.")), path)
    with ragfile.open(path) as rf:
        assert len(list(rf.documents())) == 3
    found = retrieve("who restarts pods", Plan(k=1), path)
    assert found[0].content == "Pods are restarted."
    named = Document("", "A document without a name.")
    chunk(named)
    assert named.id == ""
    assert chunk("") == []


class Gone:
    """An embedder that is down."""

    model = ragfile.Model("potion-base-8M/1", 256)

    def embed(self, texts, role):
        raise ragfile.ProviderError("the server is down")


def test_a_plan_with_a_leg_that_has_no_answer_says_so(path):
    with ragfile.open(path, embedder=Gone()) as rf:
        with pytest.raises(ragfile.ModelError, match="the server is down"):
            retrieve("rotate", Plan(lexical=False), rf)
        found = retrieve("rotate", Plan(), rf)
        assert "the server is down" in found.degraded
        assert [c.key for c in found] == [c.key for c in retrieve("rotate", Plan(vector=False), rf)]
    assert retrieve("rotate", Plan(), path).degraded == ""


def test_what_else_a_segment_says_is_metadata():
    segments = [
        {"text": "Keys rotate.", "t_start": 1.5, "page": 3, "metadata": {"page": 4, "lang": "en"}},
        {"content": "Pods restart.", "speaker": "Ada"},
    ]
    found = [{k: v for k, v in c.metadata.items() if k != "headers"} for c in chunk(segments)]
    assert found == [{"t_start": 1.5, "page": 4, "lang": "en"}, {"speaker": "Ada"}]
    assert segments[0]["metadata"] == {"page": 4, "lang": "en"}
