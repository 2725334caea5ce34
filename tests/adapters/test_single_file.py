"""SingleFileRAGService: the seed's program runs, finds what FAISS would find, and never holds up the event loop."""

import asyncio
import hashlib
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from oracles.ragmd_examples import collection

import ragfile
from ragfile.adapters.single_file import (
    ChunkRef,
    Document,
    GenericRAGService,
    SingleFileRAGService,
    nearest,
)
from ragfile.errors import ModelError
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader


class Hashing:
    """Embeds words by hash: alike texts get alike vectors, offline and at once."""

    dim = 64

    def embed(self, texts, role):
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[hashlib.md5(word.encode()).digest()[0] % self.dim] += 1
        return rows


def document(name, *texts):
    full, chunks, at = "", {}, 0
    for number, text in enumerate(texts):
        chunks[f"chunk-{number}"] = {"i_start": at, "i_end": at + len(text)}
        full += text
        at += len(text)
    return Document(name, {"title": name}, full, {"kind": "test"}, f"{name}.txt", chunks)


def service(path, **more):
    return SingleFileRAGService(
        "local", model="hashing", ragmd_path=path, embedder=Hashing(), **more
    )


def filled(path):
    rag = service(path)
    rag.initialize_search_backend()
    rag.add_document_sync(document("birds", "herons stand in water ", "owls fly at night "))
    rag.add_document_sync(document("rocks", "granite is hard ", "chalk is soft "))
    rag.save()
    return rag


def test_the_program_of_the_migration_guide_runs(tmp_path):
    filled(tmp_path / "embeddings.ragmd")

    async def program():
        async with SingleFileRAGService(
            "ollama",
            model="hashing",
            ragmd_path=Path(tmp_path / "embeddings.ragmd"),
            connect=lambda name, model: Hashing(),
        ) as rag:
            results = await rag.search("query owls night")
        return results

    results = asyncio.run(program())
    assert (results[0].document_id, results[0].chunk_key, results[0].text) == (
        "birds",
        "chunk-1",
        "owls fly at night ",
    )


def test_a_file_that_is_not_there_is_an_empty_store(tmp_path):
    async def program():
        async with service(tmp_path / "none.ragmd") as rag:
            return await rag.search("anything")

    assert asyncio.run(program()) == []
    assert list(tmp_path.iterdir()) == []


def test_what_was_saved_answers_the_same(tmp_path):
    before = filled(tmp_path / "x.ragmd")
    after = service(tmp_path / "x.ragmd")
    after.initialize_search_backend()
    for query in ("owls", "chalk granite", "nothing of it"):
        assert after.search_sync(query, 4) == before.search_sync(query, 4)
    assert after.documents == before.documents
    assert after.chunk_refs[0] == ChunkRef("birds", "chunk-0")
    assert (after.embedding_dim, after.model_name, after.collection.index.class_name) == (
        64,
        "hashing",
        "IndexFlatIP",
    )


def test_a_copied_file_answers_the_same_and_nothing_else_is_needed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    before = filled(tmp_path / "a" / "x.ragmd")
    (tmp_path / "b" / "y.ragmd").write_bytes((tmp_path / "a" / "x.ragmd").read_bytes())
    (tmp_path / "b" / "y.ragmd").chmod(0o400)
    after = service(tmp_path / "b" / "y.ragmd")
    after.initialize_search_backend()
    assert after.search_sync("herons") == before.search_sync("herons")
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["y.ragmd"]


def test_sync_and_async_find_the_same(tmp_path):
    rag = filled(tmp_path / "x.ragmd")
    assert asyncio.run(rag.search("soft chalk", 3)) == rag.search_sync("soft chalk", 3)


def test_the_whole_text_comes_along_when_asked_for(tmp_path):
    found = filled(tmp_path / "x.ragmd").search_sync("owls", 1, include_documents=True)
    assert found[0].document_text == "herons stand in water owls fly at night "


def test_another_model_is_refused(tmp_path):
    filled(tmp_path / "x.ragmd")
    other = SingleFileRAGService(
        "local", model="other", ragmd_path=tmp_path / "x.ragmd", embedder=Hashing()
    )
    with pytest.raises(ModelError, match="was built with hashing, not with other"):
        other.initialize_search_backend()


def test_a_query_of_another_dimension_is_refused():
    with pytest.raises(ModelError, match="the query has 15 dimensions, the collection 16"):
        nearest(collection().index, np.ones(15, np.float32), 3)


def test_a_document_added_again_is_replaced(tmp_path):
    rag = filled(tmp_path / "x.ragmd")
    rag.add_document_sync(document("rocks", "slate splits "))
    rag.save()
    found = ragmd_reader.load(tmp_path / "x.ragmd")
    assert found.documents["rocks"]["full_text"] == "slate splits "
    assert found.drop_unclaimed() == 0
    found.delete("birds")
    assert found.refs == [{"document_id": "rocks", "chunk_key": "chunk-0"}]
    found.check()


def test_the_update_time_grows_and_the_creation_time_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    rag = filled(tmp_path / "x.ragmd")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000060")
    rag.add_document_sync(document("late", "more "))
    rag.save()
    found = ragmd_reader.load(tmp_path / "x.ragmd")
    assert (found.created_at, found.updated_at) == ("2001-09-09T01:46:40Z", "2001-09-09T01:47:40Z")


def test_documents_keep_keys_that_are_not_known():
    data = {"chunks": {}, "id": "x", "licence": ["CC0"], "content": {"authors": ["a"]}}
    assert Document.from_dict(data).to_dict() == data
    assert list(Document.from_dict(data).to_dict()) == list(data)


def test_searching_leaves_the_event_loop_free(tmp_path):
    """While a search is held up in another thread, the loop runs other things."""
    rag = filled(tmp_path / "x.ragmd")
    entered, leave = threading.Event(), threading.Event()
    embed = rag.embedder.embed

    def slow(texts, role):
        entered.set()
        assert leave.wait(30)
        return embed(texts, role)

    rag.embedder.embed = slow

    async def program():
        searching = asyncio.create_task(rag.search("owls"))
        while not entered.is_set():
            await asyncio.sleep(0.001)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not searching.done()
        leave.set()
        return await searching

    assert asyncio.run(program())[0].document_id == "birds"


def test_large_stores_are_searched_without_holding_the_interpreter(tmp_path):
    """Another thread gets on while rows are scored, however slow the machine: searches go on until it did."""
    index = Index.of(np.random.default_rng(0).standard_normal((20_000, 256), np.float32))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.0005)

    ticking = threading.Thread(target=tick)
    ticking.start()
    for _ in range(5000):
        nearest(index, np.ones(256, np.float32), 10)
        if len(ticks) > 5:
            break
    done.set()
    ticking.join()
    assert len(ticks) > 5


@pytest.mark.parametrize("metric", ["ip", "l2"])
@pytest.mark.parametrize("k", [1, 10, 100])
def test_faiss_finds_the_same_rows(metric, k):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    random = np.random.default_rng(4)
    vectors = np.round(random.standard_normal((2000, 32)) * 8).astype(
        np.float32
    )  # whole numbers: sums are exact
    vectors[1000:1500] = vectors[:500]
    index = {"ip": faiss.IndexFlatIP, "l2": faiss.IndexFlatL2}[metric](32)
    index.add(vectors)
    for query in np.round(random.standard_normal((20, 32)) * 8).astype(np.float32):
        scores, _ = index.search(query[None], k)
        rows, ours = nearest(Index.of(vectors, metric), query, k)
        assert np.array_equal(ours, scores[0])
        assert [float(s) for s in ours] == sorted(map(float, ours), reverse=metric == "ip")
        assert all(
            a < b
            for a, b, s, t in zip(rows[:-1], rows[1:], ours[:-1], ours[1:], strict=True)
            if s == t
        )


def test_a_service_is_asked_for_by_name_and_works_without_a_network(tmp_path):
    """The proposal's own lines, with the model inside the package as the local provider."""

    async def talk():
        async with SingleFileRAGService("default", ragmd_path=tmp_path / "embeddings.ragmd") as rag:
            text = "To rotate the keys, run the rotation job. Pods restart on their own."
            chunks = {"a": {"i_start": 0, "i_end": 41}, "b": {"i_start": 42, "i_end": len(text)}}
            await rag.add_document(Document("d", full_text=text, chunks=chunks))
            rag.save()
        async with SingleFileRAGService("default", ragmd_path=tmp_path / "embeddings.ragmd") as rag:
            return await rag.search("rotate the keys")

    assert [hit.chunk_key for hit in asyncio.run(talk())] == ["a", "b"]


def test_an_unknown_service_is_refused_by_name():
    with pytest.raises(ModelError, match="nobody:model"):
        SingleFileRAGService("nobody", model="model").add_document_sync(
            {"id": "d", "content": {"x": "y"}, "chunks": {"x": {}}}
        )


def test_a_document_that_is_added_again_replaces_the_old_one(tmp_path):
    rag = filled(tmp_path / "x.ragmd")
    rag.add_document_sync(document("birds", "swans swim in lakes "))
    assert [(ref.document_id, ref.chunk_key) for ref in rag.chunk_refs] == [
        ("rocks", "chunk-0"), ("rocks", "chunk-1"), ("birds", "chunk-0"),
    ]  # fmt: skip
    found = rag.search_sync("herons stand in water", 9)
    assert sorted((hit.document_id, hit.chunk_key) for hit in found) == sorted(rag.chunk_refs)
    new = {hit.document_id: hit.score for hit in found}["birds"]
    swans, herons = Hashing().embed(["swans swim in lakes ", "herons stand in water"], "query")
    assert new == swans @ herons  # the old text is gone, and so is its vector
    assert [hit.text for hit in rag.search_sync("swans swim in lakes", 1)] == [
        "swans swim in lakes "
    ]
    rag.save()
    again = service(tmp_path / "x.ragmd")
    again.initialize_search_backend()
    assert again.chunk_refs == rag.chunk_refs


def test_a_document_that_does_not_fit_leaves_the_old_one(tmp_path):
    rag = filled(tmp_path / "x.ragmd")
    before = rag.chunk_refs
    rag.embedder = type("Other", (Hashing,), {"dim": 3})()
    with pytest.raises(ModelError, match="3 dimensions"):
        rag.add_document_sync(document("birds", "swans swim in lakes "))
    assert rag.chunk_refs == before
    assert rag.documents["birds"].full_text.startswith("herons")


# ------------------------------------------------------------------------------------- two files ---


def opened(path):
    """The choice by suffix that the seed describes."""
    path = Path(path)
    if path.suffix == ".ragmd":
        return SingleFileRAGService("local", "hashing", ragmd_path=path, embedder=Hashing())
    return GenericRAGService("local", "hashing", data_dir=path.parent, embedder=Hashing())


@pytest.mark.parametrize("name", ["embeddings.ragmd", "vectors-hashing.faiss"])
def test_the_same_program_runs_over_both_stores(tmp_path, name):
    async def program():
        async with opened(tmp_path / name) as rag:
            assert isinstance(rag, GenericRAGService)
            await rag.add_document(
                document("birds", "herons stand in water ", "owls fly at night ")
            )
            rag.save()
        async with opened(tmp_path / name) as rag:
            return await rag.search("owls at night", k=1)

    assert asyncio.run(program())[0].text == "owls fly at night "
    assert (tmp_path / name).exists()


def test_two_files_and_one_give_the_same_answers_and_faiss_reads_the_index(tmp_path):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    one = filled(tmp_path / "embeddings.ragmd")
    two = opened(tmp_path / "vectors-hashing.faiss")
    for name in one.documents:
        two.add_document_sync(one.documents[name])
    two.save()
    assert [r[:3] for r in two.search_sync("owls night")] == [
        r[:3] for r in one.search_sync("owls night")
    ]
    index = faiss.read_index(str(tmp_path / "vectors-hashing.faiss"))
    assert (index.ntotal, index.d) == (4, 64)


def test_a_model_with_a_path_in_its_name_stays_in_the_folder(tmp_path):
    rag = GenericRAGService("st", "../../BAAI/bge small", data_dir=tmp_path)
    assert {Path(path).parent for path in rag.paths} == {tmp_path}


def test_an_index_without_its_metadata_is_said(tmp_path):
    (tmp_path / "vectors-hashing.faiss").write_bytes(b"IxFI")
    with pytest.raises((OSError, ValueError)):
        opened(tmp_path / "vectors-hashing.faiss").initialize_search_backend()


@pytest.mark.parametrize("key", ["chunk-0", "abstract"])
def test_a_document_put_into_what_was_a_ragfile_is_found_there(tmp_path, key):
    (tmp_path / "a.md").write_text("Granite is hard.")
    ragfile.build(tmp_path / "a.md", tmp_path / "kb.ragfile", tags=["rocks"])
    ragfile.convert(tmp_path / "kb.ragfile", tmp_path / "kb.ragmd")
    rag = SingleFileRAGService("default", "potion-base-8M/1", tmp_path / "kb.ragmd")
    rag.initialize_search_backend()
    text = "Herons stand in water."
    chunks = {key: {"i_start": 0, "i_end": len(text)}}
    rag.add_document_sync(Document("birds", full_text=text, chunks=chunks))
    rag.save()
    with ragfile.open(tmp_path / "kb.ragmd") as rf:
        assert rf.search("herons", 1)[0].text == text
        assert len(rf) == 2


def test_a_store_of_two_files_without_documents_has_nothing_to_save(tmp_path):
    rag = GenericRAGService("local", "hashing", tmp_path, embedder=Hashing())
    rag.initialize_search_backend()
    assert rag.collection is None
    with pytest.raises(ModelError, match="nothing to save"):
        rag.save()
    assert list(tmp_path.iterdir()) == []
    rag.add_document_sync(document("birds", "herons stand in water ", "owls fly at night "))
    rag.save()
    assert len(rag.collection) == 2


def test_an_embedder_that_the_service_made_is_closed_with_it(tmp_path):
    closed = []

    class Closing(Hashing):
        def close(self):
            closed.append(self)

    async def use(**given):
        async with GenericRAGService("local", "hashing", tmp_path, **given) as rag:
            rag.add_document_sync(document("birds", "herons stand in water "))

    asyncio.run(use(connect=lambda service, model: Closing()))
    assert len(closed) == 1
    asyncio.run(use(embedder=Closing()))
    assert len(closed) == 1


def test_a_document_gives_the_text_of_a_chunk():
    assert document("birds", "herons ", "owls").get_chunk_text("chunk-1") == "owls"


def test_a_service_does_not_undo_what_another_one_saved(tmp_path):
    path = tmp_path / "kb.ragmd"
    filled(path)
    first, second = service(path), service(path)
    for rag in (first, second):
        rag.initialize_search_backend()
    first.add_document_sync(document("trees", "oaks are old "))
    first.save()
    second.add_document_sync(document("seas", "tides turn twice a day "))
    with pytest.raises(ragfile.ConflictError, match=r"kb\.ragmd.*load it again"):
        second.save()
    assert set(ragmd_reader.load(path).documents) == {"birds", "rocks", "trees"}
    second.initialize_search_backend()
    second.add_document_sync(document("seas", "tides turn twice a day "))
    second.save()
    second.save()  # its own content
    assert set(ragmd_reader.load(path).documents) == {"birds", "rocks", "trees", "seas"}


def test_of_two_services_that_begin_with_no_file_the_second_is_refused(tmp_path):
    path = tmp_path / "kb.ragmd"
    first, second = service(path), service(path)
    for rag in (first, second):
        rag.initialize_search_backend()
        rag.add_document_sync(document(f"of-{id(rag)}", "some text "))
    first.save()
    with pytest.raises(ragfile.ConflictError):
        second.save()
    second.save_to_ragmd(tmp_path / "other.ragmd")
    assert set(ragmd_reader.load(path).documents) == {f"of-{id(first)}"}
