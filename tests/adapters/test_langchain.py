"""LangChain's own suites, and what they leave out: filters, scores, MMR, files that `ragfile build` made."""

import asyncio
import pickle

import numpy as np
import pytest

pytest.importorskip("langchain_tests", reason="langchain-tests is not installed")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_tests.integration_tests import (
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import EmbeddingsUnitTests

import ragfile
from ragfile.adapters.langchain import RagfileEmbeddings, RagfileRetriever, RagfileVectorStore


class TestStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path):
        store = RagfileVectorStore(path=tmp_path / "kb.ragfile", embedding=self.get_embeddings())
        yield store
        store.close()


class TestStoreWithTheBuiltInModel(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path):
        store = RagfileVectorStore(path=tmp_path / "kb.ragfile")
        yield store
        store.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("langchain")
    for i in range(9):
        (folder / f"{i}.md").write_text(f"# Page {i}\n\nKeys are rotated on day {i}.\n")
    ragfile.build([folder], folder / "kb.ragfile")
    return folder / "kb.ragfile"


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def file(self, built):
        self.path = built

    @property
    def retriever_constructor(self):
        return RagfileRetriever

    @property
    def retriever_constructor_params(self):
        return {"path": self.path}

    @property
    def retriever_query_example(self):
        return "when are keys rotated?"


class TestEmbeddings(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self):
        return RagfileEmbeddings


class TestEmbeddingsAlone(EmbeddingsUnitTests):
    @property
    def embeddings_class(self):
        return RagfileEmbeddings


TEXTS = ["keys are rotated", "pods are restarted", "keys expire", "the weather is fine"]


@pytest.fixture
def store(tmp_path):
    said = [{"n": i, "deep": {"list": [i, None]}} for i in range(4)]
    made = RagfileVectorStore.from_texts(
        TEXTS, metadatas=said, ids=list("abcd"), path=tmp_path / "kb.ragfile"
    )
    yield made
    made.close()


@pytest.mark.parametrize("mode", ["vector", "hybrid", "bm25"])
def test_an_answer_is_that_of_the_library(store, mode):
    with ragfile.open(store._store.path) as rf:
        expected = [(hit.doc_id, hit.score) for hit in rf.search("rotate keys", 3, mode=mode)]
    found = store.similarity_search_with_score("rotate keys", 3, mode=mode)
    assert [(document.id, score) for document, score in found] == expected


def test_filters_and_metadata_of_any_shape(store):
    (found,) = store.similarity_search(
        "keys", 4, filter={"n": {"$gte": 1}, "deep.list": {"$contains": 2}}
    )
    assert found == Document(
        id="c", page_content="keys expire", metadata={"n": 2, "deep": {"list": [2, None]}}
    )


def test_a_retriever_of_the_store_passes_options_on(store):
    retriever = store.as_retriever(search_kwargs={"k": 1, "filter": {"n": 3}, "mode": "hybrid"})
    assert [d.id for d in retriever.invoke("keys")] == ["d"]
    both = store.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.9}
    )
    assert [d.id for d in both.invoke("keys are rotated")] == ["a"]


def test_mmr_leaves_out_what_repeats(tmp_path):
    texts = ["keys are rotated daily", "keys are rotated daily!", "pods and keys"]
    store = RagfileVectorStore.from_texts(texts, ids=list("abc"), path=tmp_path / "kb.ragfile")
    near = [d.id for d in store.similarity_search("keys are rotated daily", 2)]
    wide = [d.id for d in store.max_marginal_relevance_search("keys are rotated daily", 2, 3, 0.2)]
    assert (sorted(near), wide) == (["a", "b"], ["a", "c"])


def test_vectors_are_those_of_the_given_embeddings(tmp_path):
    embedding = DeterministicFakeEmbedding(size=6)
    store = RagfileVectorStore.from_texts(
        ["one"], embedding, [{"headers": "not part of the vector"}], ids=["a"], path=tmp_path / "kb"
    )
    with ragfile.open(tmp_path / "kb") as rf:
        np.testing.assert_array_equal(
            rf.vector(0), np.array(embedding.embed_query("one"), np.float32)
        )
    assert store.similarity_search_by_vector(embedding.embed_query("one"), 1)[0].id == "a"


def test_a_retriever_says_what_the_framework_has_no_place_for(built):
    (found,) = RagfileRetriever(path=built, k=1).invoke("Page 3")
    more = found.metadata["_ragfile"]
    with ragfile.open(built) as rf:
        assert rf.document(more["doc_id"]).text[more["start"] : more["end"]] == found.page_content
    assert set(more["scores"]) == {"bm25", "vector"}


def test_async_calls_give_the_same(store):
    found = asyncio.run(store.asimilarity_search("rotate keys", 2))
    assert found == store.similarity_search("rotate keys", 2)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s: s.delete(), ValueError),
        (lambda s: s.add_texts(["a"], [{}, {}]), ValueError),
        (lambda s: s.add_texts(["a"], ids=["a", "b"]), ValueError),
        (lambda s: s.similarity_search("a", 1, filters={}), TypeError),
        (lambda s: s.similarity_search("a", 1, filter={"n": {"$near": 1}}), ValueError),
        (lambda s: s.add_texts(["a"], [{"n": object()}]), (TypeError, ValueError)),
        (lambda s: RagfileVectorStore.from_texts(["a"]), ValueError),
    ],
)
def test_wrong_calls_are_refused_and_write_nothing(store, call, error):
    with pytest.raises(error):
        call(store)
    assert len(store._store) == 4


def test_a_retriever_of_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="needs an existing file"):
        RagfileRetriever(path=tmp_path / "missing.ragfile").invoke("keys")


# ----------------------------------------------------------- indexing, pickles, another process ---


def pages(*texts):
    return [
        Document(page_content=text, metadata={"source": f"{i}.md"}) for i, text in enumerate(texts)
    ]


@pytest.mark.parametrize("is_async", [False, True], ids=["index", "aindex"])
def test_langchains_index_adds_skips_and_deletes(tmp_path, is_async):
    from langchain_core.indexing import InMemoryRecordManager, aindex, index

    store = RagfileVectorStore(path=tmp_path / "kb.ragfile")
    manager = InMemoryRecordManager("kb")
    manager.create_schema()

    def run(documents, cleanup):
        options = {"cleanup": cleanup, "source_id_key": "source", "batch_size": 2}
        if is_async:
            return asyncio.run(aindex(documents, manager, store, **options))
        return index(documents, manager, store, **options)

    assert run(pages(*TEXTS), "full")["num_added"] == 4
    assert run(pages(*TEXTS), "full")["num_skipped"] == 4
    again = run(pages(TEXTS[0], "pods are deleted"), "full")
    assert (again["num_added"], again["num_deleted"]) == (1, 3)
    found = {d.page_content for d in store.similarity_search("keys", 9)}
    assert found == {TEXTS[0], "pods are deleted"}


def test_an_unknown_option_is_still_refused(tmp_path):
    store = RagfileVectorStore(path=tmp_path / "kb.ragfile")
    with pytest.raises(TypeError, match="unknown option 'batchsize'"):
        store.add_texts(["a"], batchsize=2)


@pytest.mark.parametrize("embedding", [None, DeterministicFakeEmbedding(size=8)])
def test_a_store_and_a_retriever_can_be_pickled(tmp_path, embedding):
    store = RagfileVectorStore(path=tmp_path / "kb.ragfile", embedding=embedding)
    store.add_texts(TEXTS)
    copy = pickle.loads(pickle.dumps(store))
    before = store.similarity_search_with_score("keys", 3)
    assert copy.similarity_search_with_score("keys", 3) == before
    copy.add_texts(["a copy writes, too"], ids=["new"])
    assert [d.id for d in store.get_by_ids(["new"])] == ["new"]
    retriever = RagfileRetriever(path=str(tmp_path / "kb.ragfile"), mode="bm25")
    retriever.invoke("keys")
    assert pickle.loads(pickle.dumps(retriever)).invoke("keys") == retriever.invoke("keys")
    model = RagfileEmbeddings()
    assert pickle.loads(pickle.dumps(model)).embed_query("keys") == model.embed_query("keys")
