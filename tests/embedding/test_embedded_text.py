"""What a chunk's vector is made of: its text and its path, in every way that a chunk comes into a file."""

import json
import shutil

import numpy as np
import pytest
from crash.life import Letters

import ragfile
from ragfile.embedding import StaticEmbedder
from ragfile.embedding.embedded_text import Context
from ragfile.errors import VersionError
from ragfile.records import Chunk

EMBEDDER = StaticEmbedder()
PAGE = (
    "# Drain a node\n\nMove the pods away.\n\n## Before\n\nLook at the budget."
    + " Wait." * 40
    + "\n"
)


def turned(text, path, weight=1.0):
    """The formula of the specification in binary64, row by row."""
    t, p = (row.astype(np.float64) for row in EMBEDDER.embed([text, path]))
    total = t + weight * p
    return (total / np.sqrt((total * total).sum())).astype(np.float32)


def expected(chunk, context):
    if context.kind == "sum":
        return turned(chunk.content, chunk.metadata["headers"], context.weight)
    return Letters().embed([f"{chunk.metadata['headers']}\n{chunk.content}"])[0]


def vectors(path):
    """{(headers, text): vector} of what lives in a file."""
    live = path.with_suffix(".live")
    shutil.copy(path, live)
    ragfile.compact(live)
    with ragfile.open(live) as rf:
        chunks = [rf.chunk(row) for row in range(len(rf))]
        return {
            (c.metadata["headers"], c.content): np.array(rf.vector(i)) for i, c in enumerate(chunks)
        }


def wanted(path, context):
    made = {}
    for headers, text in vectors(path):
        made[headers, text] = expected(Chunk("", 0, text, (), {"headers": headers}), context)
    return made


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for key, vector in found.items():
        np.testing.assert_allclose(vector, expected[key], atol=1e-6, err_msg=str(key))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "drain.md").write_text(PAGE)
    (tmp_path / "docs" / "plain-words.txt").write_text("Nothing but words.\n")
    return tmp_path / "docs"


@pytest.fixture(params=["default", "letters"])
def kind(request):
    return request.param, "default" if request.param == "default" else Letters()


def context_of(name):
    return Context("sum") if name == "default" else Context("prefix")


def test_a_build_an_edit_a_sync_and_a_new_model_follow_the_recipe(folder, tmp_path, kind):
    name, embedder = kind
    path, context = tmp_path / "kb.ragfile", context_of(name)
    ragfile.build([folder], path, embedder=embedder)
    assert_same(vectors(path), wanted(path, context))
    with ragfile.edit(path, embedder=embedder) as w:
        w.upsert([{"id": "new", "text": "# Cordon\n\nNo new pods."}])
    assert_same(vectors(path), wanted(path, context))
    (folder / "drain.md").write_text(PAGE.replace("Before", "After"))
    ragfile.sync(path, [folder], embedder=embedder)
    assert_same(vectors(path), wanted(path, context))
    other = "letters" if name == "default" else "default"
    ragfile.reindex(path, embedder=Letters() if other == "letters" else "default")
    assert_same(vectors(path), wanted(path, context_of(other)))


def test_a_renamed_title_embeds_its_chunks_again(folder, tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.build([folder], path)
    before = vectors(path)
    (folder / "drain.md").write_text(PAGE.replace("# Drain a node", "# Empty a node", 1))
    ragfile.sync(path, [folder])
    after, fresh = vectors(path), tmp_path / "fresh.ragfile"
    ragfile.build([folder], fresh)
    assert (
        "Empty a node > Before",
        PAGE[PAGE.index("## Before") :].strip(),
    ) in after.keys() - before
    for key, vector in vectors(fresh).items():
        assert np.array_equal(after[key], vector)


def test_a_chunk_without_a_path_has_the_vector_of_its_text(tmp_path):
    with ragfile.create(tmp_path / "kb", embedder="default") as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "only words"}])
    with ragfile.open(tmp_path / "kb") as rf:
        assert np.array_equal(rf.vector(0), EMBEDDER.embed(["only words"])[0])


def test_the_metadata_of_a_document_is_its_chunks_too(tmp_path):
    with ragfile.create(tmp_path / "kb", embedder="default") as w:
        document = {"id": "a", "text": "only words", "metadata": {"headers": "Where it stands"}}
        w.add_documents([document])
    with ragfile.open(tmp_path / "kb") as rf:
        np.testing.assert_allclose(rf.vector(0), turned("only words", "Where it stands"), atol=1e-6)


def test_a_file_without_a_recipe_keeps_embedding_texts_alone(folder, tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, embedder="default", config={"context": None}) as w:
        w.add_documents([{"id": "a", "text": PAGE}])
    with ragfile.edit(path) as w:
        w.upsert([{"id": "b", "text": PAGE}])
    found = vectors(path)
    for (_, text), vector in found.items():
        assert np.array_equal(vector, EMBEDDER.embed([text])[0])
    assert set(ragfile.stale(path, embedder="default")) == {"a", "b"}
    assert ragfile.stale(path) == {}
    ragfile.reindex(path, embedder="default")
    assert_same(vectors(path), wanted(path, Context("sum")))
    assert ragfile.stale(path, embedder="default") == {}


def test_a_recipe_of_the_future_is_read_and_not_written_to(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, embedder="default") as w:
        w.add_documents([{"id": "a", "text": PAGE}])
        w.record["context"] = {"kind": "later"}
    with ragfile.open(path) as rf:
        assert rf.search("pods", 1)[0].doc_id == "a"
    with pytest.raises(VersionError, match="later"), ragfile.edit(path) as w:
        w.upsert([{"id": "b", "text": "words"}])


def test_chunks_of_the_future_are_read_and_cut_by_no_other_rule_unasked(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path) as w:
        w.add_documents([{"id": "a", "text": PAGE}])
        w.record["chunking"] = {**w.record["chunking"], "version": 99}
    with ragfile.open(path) as rf:
        assert rf.search("pods", 1, mode="bm25")[0].doc_id == "a"
    with pytest.raises(VersionError, match="99"):
        ragfile.edit(path)
    with ragfile.edit(path, chunking="markdown") as w:
        w.upsert([{"id": "b", "text": PAGE}])
    assert set(ragfile.stale(path)) == {"a"}


@pytest.mark.parametrize(
    "context", [7, [], {"weight": 1}, {"kind": 1}, {"kind": "sum", "weight": "1"}]
)
def test_a_recipe_of_the_wrong_type_is_refused(tmp_path, context):
    from ragfile.file import config

    raw = json.dumps({"context": context}).encode()
    with pytest.raises(ragfile.CorruptError, match="context"):
        config.read_config(raw, "kb")


def test_equal_keys_are_chunks_of_equal_vectors():
    there = Chunk("a", 0, "text", (), {"headers": "H"})
    assert Context().key(there) == "text"
    assert Context("prefix").key(there) == "H\ntext"
    assert Context("sum").key(there) == ("H", "text")
    assert Context("sum").key(Chunk("a", 0, "text"), {"headers": "H"}) == ("H", "text")
    assert Context("sum").key(Chunk("a", 0, "text", (), {"headers": 7})) == "text"
