"""A pair that a program with FAISS wrote, asked by its model through every door."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from servers.embedding_servers import Server, vector_of

import ragfile
from ragfile.adapters.single_file import ChunkRef, Document, GenericRAGService, SingleFileRAGService
from ragfile.errors import ModelError

faiss = pytest.importorskip("faiss", reason="FAISS, which writes the author's pair, is missing")
TEXTS = {"doc-001": ["Herons stand in water.", "Owls fly at night."], "doc-002": ["Chalk is soft."]}


class DocumentChunk:
    """A chunk of the author's program."""

    def __init__(self, faiss_id, i_start=None, i_end=None):
        self.faiss_id, self.i_start, self.i_end = faiss_id, i_start, i_end


class AuthorsDocument:
    """A document of the author's program, which is no mapping."""

    def __init__(self, id, full_text, chunks):
        self.id, self.full_text, self.chunks = id, full_text, chunks
        self.content, self.metadata, self.source = {}, {}, f"{id}.txt"

    def to_dict(self):
        chunks = {key: dict(vars(chunk)) for key, chunk in self.chunks.items()}
        return {**vars(self), "chunks": chunks}


def authors_document(name, texts):
    chunks, at = {}, 0
    for number, text in enumerate(texts):
        chunks[f"chunk-{number}"] = DocumentChunk(-1, at, at + len(text))
        at += len(text)
    return AuthorsDocument(name, "".join(texts), chunks)


def write_pair(folder, model, slug):
    """Write the two files as the author's program does: with FAISS and json."""
    index, refs, documents = faiss.IndexFlatIP(8), [], []
    for name, texts in TEXTS.items():
        document = authors_document(name, texts)
        for (key, chunk), text in zip(document.chunks.items(), texts, strict=True):
            chunk.faiss_id = len(refs)
            index.add(vector_of(text).reshape(1, -1))
            refs.append({"document_id": name, "chunk_key": key})
        documents.append(document.to_dict())
    paths = folder / f"vectors-{slug}.faiss", folder / f"metadata-{slug}.json"
    faiss.write_index(index, str(paths[0]))
    data = {"model_name": model, "embedding_dim": 8, "chunk_refs": refs, "documents": documents}
    with open(paths[1], "w") as f:
        json.dump(data, f, indent=2)
    return tuple(map(str, paths))


@pytest.fixture
def ollama(monkeypatch):
    with Server() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server


@pytest.fixture
def pair(tmp_path):
    return write_pair(tmp_path, "nomic-embed-text", "nomic-embed-text")


def run(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)],
        capture_output=True, text=True, **more,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["pair.json", "kb.ragfile", "kb.ragmd"])
def test_a_pair_and_its_conversions_are_asked_by_vector(pair, tmp_path, ollama, name):
    target = tmp_path / name
    if name == "pair.json":
        target = pair[1]
    else:
        assert run("convert", "--from-faiss", pair[0], "--from-json", pair[1], f"--to-{target.suffix[1:]}", target).returncode == 0  # fmt: skip
    with ragfile.open(target, embedder="ollama:nomic-embed-text") as rf:
        assert len(rf.search("night birds", mode="vector")) == 3
    options = ("--embedder", "ollama:nomic-embed-text", "--json")
    found = run("search", target, "night birds", "--mode", "vector", *options)
    assert found.returncode == 0, found.stderr
    assert len(json.loads(found.stdout)) >= 1
    asked = run("ask", target, "When do owls fly?", "--embedder", "ollama:nomic-embed-text")
    assert asked.returncode == 0, asked.stderr
    assert "built with" not in asked.stderr


@pytest.mark.parametrize("embedder", ["openai:nomic-embed-text", "ollama:nomic-embed-text:latest"])
def test_a_name_without_a_scheme_is_any_providers(pair, ollama, monkeypatch, embedder):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{ollama.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with ragfile.open(pair[0], embedder=embedder) as rf:
        assert len(rf.search("night birds", mode="vector")) == 3


def test_another_model_or_dimension_is_refused(pair, ollama):
    with pytest.raises(ModelError, match="built with nomic-embed-text, not ollama:mxbai"):
        ragfile.open(pair[0], embedder="ollama:mxbai-embed-large")
    with pytest.raises(ModelError, match="8 dimensions"):
        ragfile.open(pair[0], embedder="default")


@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("nomic-embed-text", "nomic-embed-text"),
        ("nomic-embed-text:latest", "nomic-embed-text"),
        ("amazon.titan-embed-text-v2:0", "amazon-titan-embed-text-v2-0"),
        ("Qwen3_Embedding.0.6B", "qwen3-embedding-0-6b"),
    ],
)
def test_the_service_finds_the_files_under_the_authors_names(tmp_path, ollama, model, slug):
    write_pair(tmp_path, model, slug)

    async def program():
        async with GenericRAGService("ollama", model=model, data_dir=tmp_path) as rag:
            return rag, await rag.search("Owls fly at night.", k=2, include_documents=True)

    rag, results = asyncio.run(program())
    assert (rag.index.ntotal, rag.index.d, len(rag.documents)) == (3, 8, 2)
    assert (results[0].document_id, results[0].chunk_key) == ("doc-001", "chunk-1")
    assert results[0].document_text == "".join(TEXTS["doc-001"])
    assert [request["input"] for _, request, *_ in ollama.requests] == [["Owls fly at night."]]


def test_a_ragmd_of_the_command_opens_in_the_service(pair, tmp_path, ollama):
    for scheme in ("", "ollama:"):
        path = tmp_path / f"{scheme[:-1]}.ragmd"
        written = ("--from-faiss", pair[0], "--from-json", pair[1], "--to-ragmd", path)
        assert run("convert", *written).returncode == 0
        text = path.read_text().replace("nomic-embed-text", f"{scheme}nomic-embed-text")
        path.write_text(text)
        rag = SingleFileRAGService("ollama", "nomic-embed-text", path)
        rag.initialize_search_backend()
        assert rag.search_sync("Chalk is soft.", 1)
    with pytest.raises(ModelError, match=re.escape("not with openai:nomic-embed-text")):
        SingleFileRAGService("openai", "nomic-embed-text", path).initialize_search_backend()


def test_the_whole_interface_of_the_author(tmp_path, ollama):
    document = authors_document("doc-003", ["Granite is hard.", "Slate splits."])

    async def program():
        async with GenericRAGService("ollama", "nomic-embed-text", tmp_path) as rag:
            assert (rag.index.ntotal, rag.index.d) == (0, 0)
            await rag.add_document(document)
            assert [chunk.faiss_id for chunk in document.chunks.values()] == [0, 1]
            found = await rag.get_embedding("Slate splits.")
            assert found.shape == (1, 8)
            scores, rows = rag.index.search(found, 3)
            assert rows.tolist() == [[1, 0, -1]]
            assert scores[0, 0] == pytest.approx(1)
            best, ids = rag.vector_search(found, 2)
            assert (best.shape, ids.tolist()) == ((2,), [1, 0])
            refs = rag.get_chunk_refs([1])
            assert refs == [ChunkRef("doc-003", "chunk-1")]
            assert rag.get_chunk_text(refs[0]) == "Slate splits."
            whole = {"doc-003": "Granite is hard.Slate splits."}
            assert rag.get_document_texts(["doc-003"]) == whole
            rag.save()
            rag.save_metadata()
            return rag

    rag = asyncio.run(program())
    index = faiss.read_index(rag.index_path)
    np.testing.assert_array_equal(index.reconstruct_n(0, 2), rag.index.vectors)
    data = json.loads(Path(rag.metadata_path).read_text())
    assert data["model_name"] == "nomic-embed-text"
    assert data["documents"][0]["chunks"]["chunk-1"]["faiss_id"] == 1


def test_documents_are_built_from_a_table_and_from_files(tmp_path, ollama):
    (tmp_path / "people.csv").write_text("name,bio\nAlice,Software engineer\nBob,\n")
    (tmp_path / "notes.md").write_text("# Rocks\n\nGranite is hard.\n")

    async def program():
        async with GenericRAGService("ollama", "nomic-embed-text", tmp_path) as rag:
            await rag.build_embeddings_from_documents(str(tmp_path / "people.csv"))
            await rag.build_embeddings_from_documents(str(tmp_path / "*.md"))
            return rag

    rag = asyncio.run(program())
    assert list(rag.documents) == ["people-0", "people-1", "notes.md"]
    assert rag.chunk_refs[:3] == [
        ChunkRef("people-0", "name"), ChunkRef("people-0", "bio"), ChunkRef("people-1", "name"),
    ]  # fmt: skip
    assert json.loads(rag.get_document_texts(["people-1"])["people-1"]) == {
        "name": "Bob",
        "bio": "",
    }
    assert "Granite is hard." in rag.get_document_texts(["notes.md"])["notes.md"]
    assert faiss.read_index(rag.index_path).ntotal == rag.index.ntotal == len(rag.chunk_refs)


def test_what_is_no_document_is_refused_by_its_type(tmp_path, ollama):
    rag = GenericRAGService("ollama", "nomic-embed-text", tmp_path)
    with pytest.raises(TypeError, match="has to_dict"):
        rag.add_document_sync(object())
    rag.add_document_sync(Document("a", full_text="x", chunks={"0": {"i_start": 0, "i_end": 1}}))
    assert rag.index.ntotal == 1


def inputs(server):
    """Return the texts that a server was asked to embed."""
    return [text for _, body, *_ in server.requests for text in body["input"]]


def test_texts_of_a_pair_get_no_prefix_through_any_door(pair, tmp_path, ollama):
    kb, model = tmp_path / "kb.ragfile", "ollama:nomic-embed-text"
    ragfile.convert(pair[0], kb)
    text = TEXTS["doc-001"][1]
    with ragfile.open(kb, embedder=model) as rf:
        hit = rf.search(text, 1, mode="vector")[0]
    assert (hit.text, hit.score) == (text, pytest.approx(1, abs=1e-5))
    run("search", kb, text, "--mode", "vector", "--embedder", model)
    service = GenericRAGService("ollama", "nomic-embed-text", tmp_path)
    service.initialize_search_backend()
    asyncio.run(service.search(text, k=1))
    with ragfile.edit(kb, embedder=model) as w:
        w.upsert([{"id": "new", "text": "Granite is hard."}])
    assert set(inputs(ollama)) == {text, "Granite is hard."}


def test_texts_of_a_file_that_was_built_here_keep_their_prefixes(tmp_path, ollama):
    kb, model = tmp_path / "kb.ragfile", "ollama:nomic-embed-text"
    ragfile.build([{"id": "a", "text": "Granite is hard."}], kb, embedder=model)
    with ragfile.open(kb, embedder=model) as rf:
        rf.search("rocks", mode="vector")
    assert inputs(ollama) == ["search_document: Granite is hard.", "search_query: rocks"]


def test_a_prefix_that_the_caller_names_is_kept(pair, ollama):
    with ragfile.open(pair[0], embedder="ollama:nomic-embed-text?query_prefix=ask: ") as rf:
        rf.search("owls", mode="vector")
    assert inputs(ollama) == ["ask: owls"]
