"""The Haystack store under Haystack's own suites, and its retrievers beside rf.search."""

import asyncio
import pickle

import numpy as np
import pytest

pytest.importorskip("haystack", reason="haystack-ai is not installed")

from haystack import Document, Pipeline
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DocumentStoreError, DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing import document_store as suites
from haystack.testing import document_store_async as async_suites

import ragfile
from ragfile.adapters.haystack import (
    RagfileBM25Retriever,
    RagfileDocumentStore,
    RagfileEmbeddingRetriever,
    RagfileHybridRetriever,
)


def nearly_equal(received, expected):
    """Equal but for embeddings, which are stored as float32."""
    rounded = [
        [None if d.embedding is None else np.float32(d.embedding).tolist() for d in documents]
        for documents in (received, expected)
    ]
    assert sorted(map(str, rounded[0])) == sorted(map(str, rounded[1]))
    bare = [
        sorted(({**d.to_dict(), "embedding": None} for d in documents), key=lambda d: d["id"])
        for documents in (received, expected)
    ]
    assert bare[0] == bare[1]


@pytest.fixture
def document_store(tmp_path):
    return RagfileDocumentStore(path=tmp_path / "kb.ragfile")


class TestHaystacksOwnSuite(
    suites.DocumentStoreBaseExtendedTests,
    suites.CountDocumentsByFilterTest,
    suites.CountUniqueMetadataByFilterTest,
    suites.GetMetadataFieldsInfoTest,
    suites.GetMetadataFieldMinMaxTest,
    suites.GetMetadataFieldUniqueValuesTest,
):
    """Every class of the suite. Overridden: equality, because of float32, and what the suite leaves open."""

    @pytest.fixture
    def document_store(self, tmp_path):
        return RagfileDocumentStore(path=tmp_path / "kb.ragfile")

    def assert_documents_are_equal(self, received, expected):
        nearly_equal(received, expected)

    def test_write_documents(self, document_store):
        """Without a policy, an id that is there is an error."""
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])


ASYNC = [
    (kind, name)
    for kind in vars(async_suites).values()
    if isinstance(kind, type) and kind.__name__.endswith("AsyncTest")
    for name in dir(kind)
    if name.startswith("test_") and name != "test_write_documents_async"
]


@pytest.mark.parametrize(("kind", "name"), ASYNC, ids=[name for _, name in ASYNC])
def test_haystacks_own_async_suite(kind, name, document_store):
    class Suite(kind):
        @staticmethod
        def assert_documents_are_equal(received, expected):
            nearly_equal(received, expected)

    run, more = getattr(Suite(), name), {}
    if "filterable_docs" in run.__code__.co_varnames[: run.__code__.co_argcount]:
        make = suites.FilterableDocsFixtureMixin.filterable_docs
        make = getattr(make, "__wrapped__", None) or make.__pytest_wrapped__.obj
        more["filterable_docs"] = make(Suite())
    if asyncio.iscoroutinefunction(run):
        asyncio.run(run(document_store, **more))
    else:
        run(document_store, **more)


TEXTS = ["Keys are rotated every ninety days.", "Pods restart when they fail.", "Keys expire."]


def documents(dim=4):
    random = np.random.default_rng(5)
    return [
        Document(id=f"d{i}", content=text, meta={"n": i, "deep": {"x": [None, 1.5]}},
                 embedding=random.normal(size=dim).tolist())
        for i, text in enumerate(TEXTS)
    ]  # fmt: skip


def test_retrievers_answer_as_the_file_does(document_store):
    document_store.write_documents(documents())
    vector, question = [0.1, 0.2, -0.3, 0.4], "when do keys expire?"
    runs = {
        "vector": RagfileEmbeddingRetriever(document_store).run(query_embedding=vector),
        "bm25": RagfileBM25Retriever(document_store).run(query=question),
        "hybrid": RagfileHybridRetriever(document_store).run(
            query=question, query_embedding=vector
        ),
    }
    with ragfile.open(document_store.path) as rf:
        for mode, found in runs.items():
            asked = None if mode == "bm25" else vector
            hits = rf.search(question, 10, mode=mode, vector=asked)
            assert [(d.id, d.score) for d in found["documents"]] == [
                (hit.doc_id, hit.score) for hit in hits
            ]


def test_filters_of_a_call_replace_those_of_the_retriever(document_store):
    document_store.write_documents(documents())
    only = lambda n: {"field": "meta.n", "operator": "==", "value": n}  # noqa: E731
    retriever = RagfileBM25Retriever(document_store, filters=only(0))
    assert [d.id for d in retriever.run(query="keys")["documents"]] == ["d0"]
    assert [d.id for d in retriever.run(query="keys", filters=only(2))["documents"]] == ["d2"]


def test_documents_with_and_without_embeddings_lie_side_by_side(document_store):
    bare = [Document(id="bare", content="Keys without a vector."), Document(id="void")]
    document_store.write_documents(bare)
    document_store.write_documents(documents())
    document_store.write_documents([Document(id="late", content="Late keys.")])
    found = RagfileEmbeddingRetriever(document_store).run(query_embedding=[1, 0, 0, 0])
    assert {d.id for d in found["documents"]} == {"d0", "d1", "d2"}
    words = RagfileBM25Retriever(document_store).run(query="keys")["documents"]
    assert {d.id for d in words} == {"bare", "d0", "d2", "late"}
    kept = {d.id: d for d in document_store.filter_documents()}
    assert kept["bare"].embedding is None
    assert kept["void"].content is None
    nearly_equal([kept[d.id] for d in documents()], documents())
    ragfile.verify(document_store.path)


def test_everything_of_a_document_comes_back(document_store):
    document = Document(
        id="x", content=None, blob=ByteStream(b"\x00\xff", meta={"a": 1}, mime_type="text/plain"),
        meta={"any": [1, {"b": None}, "ü"], "list": [], "n": 2.5},
        sparse_embedding=SparseEmbedding(indices=[1, 5], values=[0.5, 1.0]),
    )  # fmt: skip
    document_store.write_documents([document])
    assert document_store.filter_documents() == [document]
    again = RagfileDocumentStore(document_store.path)
    assert again.filter_documents() == [document]


def test_what_is_returned_is_the_caller_s_own(document_store):
    document_store.write_documents(documents())
    found = document_store.filter_documents()
    found[0].meta["n"] = "changed"
    assert document_store.filter_documents()[0].meta["n"] == 0


def test_an_embedding_of_another_size_is_refused_and_nothing_is_written(document_store):
    document_store.write_documents(documents())
    with pytest.raises(DocumentStoreError):
        document_store.write_documents([Document(id="y", content="y", embedding=[1.0])])
    with pytest.raises(DocumentStoreError, match="cannot be compared"):
        document_store.write_documents(
            [Document(id="y", embedding=[1.0]), Document(id="z", embedding=[1.0, 2.0])]
        )
    assert document_store.count_documents() == 3


def test_an_emptied_store_takes_embeddings_of_another_size(document_store):
    document_store.write_documents(documents())
    document_store.delete_all_documents()
    document_store.write_documents(documents(dim=7))
    assert len(document_store.filter_documents()[0].embedding) == 7


def test_ids_that_repeat_in_one_call_follow_the_policy(document_store):
    twice = [Document(id="a", content="first"), Document(id="a", content="second")]
    with pytest.raises(DuplicateDocumentError):
        document_store.write_documents(twice)
    assert document_store.write_documents(twice, DuplicatePolicy.OVERWRITE) == 1
    assert document_store.filter_documents()[0].content == "second"
    more = [Document(id="b", content="first"), Document(id="b", content="second")]
    assert document_store.write_documents(more, DuplicatePolicy.SKIP) == 1
    assert {d.content for d in document_store.filter_documents()} == {"second", "first"}


def test_a_pipeline_survives_being_written_down(document_store):
    document_store.write_documents(documents())
    pipeline = Pipeline()
    pipeline.add_component("words", RagfileBM25Retriever(document_store, top_k=1))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["ragfile.adapters.haystack"])
    found = again.run({"words": {"query": "pods"}})["words"]["documents"]
    assert [d.id for d in found] == ["d1"]


def test_an_empty_store_answers_nothing(document_store):
    assert RagfileHybridRetriever(document_store).run(query="x", query_embedding=[1.0]) == {
        "documents": []
    }
    with pytest.raises(ValueError, match="RagfileDocumentStore"):
        RagfileBM25Retriever(None)


def test_a_store_and_a_retriever_can_be_pickled(tmp_path):
    store = RagfileDocumentStore(path=tmp_path / "kb.ragfile")
    store.write_documents([Document(id="a", content="keys rotate", embedding=[1.0, 0.0])])
    assert store.filter_documents()
    copy = pickle.loads(pickle.dumps(store))
    assert copy.filter_documents() == store.filter_documents()
    copy.write_documents([Document(id="b", content="pods restart", embedding=[0.0, 1.0])])
    assert store.count_documents() == 2
    retriever = RagfileBM25Retriever(store, top_k=1)
    again = pickle.loads(pickle.dumps(retriever))
    assert again.run(query="rotate") == retriever.run(query="rotate")
