"""The LlamaIndex store beside LlamaIndex's own in-memory store: the same nodes, scores and filters."""

import itertools
import pickle
import tempfile

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

import ragfile
from ragfile.adapters.llama_index import RagfileVectorStore

SAID = [
    {"n": 1, "s": "red", "tags": ["a", "b"]},
    {"n": 2, "s": "Green", "tags": []},
    {"n": 3, "s": "", "deep": {"x": None}},
    {"s": "blue red", "tags": ["b"]},
    {"n": 2.5, "s": "red"},
]
WORDS = ["keys are rotated", "pods restart", "keys expire soon", "nothing here", "rotate the pods"]


def nodes():
    random = np.random.default_rng(3)
    return [
        TextNode(
            id_=f"node-{i}", text=WORDS[i], metadata=said, embedding=random.normal(size=8).tolist(),
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc-{i % 2}")},
        )
        for i, said in enumerate(SAID)
    ]  # fmt: skip


@pytest.fixture
def stores(tmp_path):
    ours, theirs = RagfileVectorStore(tmp_path / "kb.ragfile"), SimpleVectorStore()
    assert ours.add(nodes()) == theirs.add(nodes())
    return ours, theirs


def asked(store, filters=None, k=5, **more):
    vector = np.random.default_rng(4).normal(size=8).tolist()
    query = VectorStoreQuery(query_embedding=vector, similarity_top_k=k, filters=filters, **more)
    try:
        found = store.query(query)
    except (TypeError, ValueError) as error:
        return type(error)
    return [
        (name, round(score, 5)) for name, score in zip(found.ids, found.similarities, strict=True)
    ]


OPERATORS = list(FilterOperator)
VALUES = {
    "n": [2, 2.5, "2", [1, 2]],
    "s": ["red", "RED", "", ["red"]],
    "tags": ["b", ["a", "b"], 1],
}
SINGLE = [
    MetadataFilter(key=key, operator=operator, value=value)
    for (key, values), operator in itertools.product([*VALUES.items(), ("no", [1])], OPERATORS)
    for value in values
]


@pytest.mark.parametrize("condition", list(FilterCondition))
def test_every_filter_chooses_what_the_simple_store_chooses(stores, condition):
    ours, theirs = stores
    pairs = itertools.pairwise(SINGLE)
    groups = [[one] for one in SINGLE] + [list(pair) for pair in pairs]
    assert len(groups) > 288
    for group in groups:
        filters = MetadataFilters(filters=group, condition=condition)
        assert asked(ours, filters) == asked(theirs, filters), group


@pytest.mark.parametrize("k", [1, 3, 50])
def test_vectors_rank_as_in_the_simple_store(stores, k):
    ours, theirs = stores
    assert asked(ours, k=k) == asked(theirs, k=k)
    some = {"node_ids": ["node-1", "node-4", "gone"]}
    assert asked(ours, k=k, **some) == asked(theirs, k=k, **some)


RED = MetadataFilters(filters=[MetadataFilter(key="s", value="red")])
UNLIKE = MetadataFilters(
    filters=[MetadataFilter(key="s", operator=FilterOperator.TEXT_MATCH_INSENSITIVE, value="RED")]
)


@pytest.mark.parametrize("filters", [None, RED, UNLIKE])
@pytest.mark.parametrize("doc_ids", [None, [], ["doc-0"], ["doc-0", "doc-1", "gone"]])
@pytest.mark.parametrize("node_ids", [None, ["node-4", "node-0", "gone", "node-4"]])
def test_nodes_documents_and_filters_restrict_together(stores, node_ids, doc_ids, filters):
    ours, theirs = stores
    # The simple store does not look at doc_ids; all nodes are among its five best.
    of = {node.node_id for node in nodes() if not doc_ids or node.ref_doc_id in doc_ids}
    expected = [pair for pair in asked(theirs, filters, node_ids=node_ids) if pair[0] in of]
    assert asked(ours, filters, node_ids=node_ids, doc_ids=doc_ids) == expected


def test_nodes_named_twice_come_once_and_in_order(stores):
    ours, _ = stores
    named = ["node-4", "node-0", "gone", "node-4"]
    assert [node.node_id for node in ours.get_nodes(named)] == ["node-0", "node-4"]
    assert [node.node_id for node in ours.get_nodes(named, RED)] == ["node-0", "node-4"]


def test_nodes_come_back_as_they_were(stores):
    ours, _ = stores
    for was, is_now in zip(nodes(), ours.get_nodes(), strict=True):
        assert (is_now.node_id, is_now.text, is_now.metadata) == (
            was.node_id,
            was.text,
            was.metadata,
        )
        assert is_now.ref_doc_id == was.ref_doc_id
    assert [n.node_id for n in ours.get_nodes(["node-3"])] == ["node-3"]


@pytest.mark.parametrize(
    ("mode", "library"),
    [
        (VectorStoreQueryMode.TEXT_SEARCH, "bm25"),
        (VectorStoreQueryMode.HYBRID, "hybrid"),
        (VectorStoreQueryMode.SEMANTIC_HYBRID, "hybrid"),
    ],
)
def test_words_rank_as_in_the_library(stores, mode, library):
    ours, _ = stores
    vector = np.random.default_rng(4).normal(size=8).tolist()
    with ragfile.open(ours.path) as rf:
        hits = rf.search("rotate keys", 3, mode=library, vector=vector)
        expected = [(hit.doc_id, round(hit.score, 5)) for hit in hits]
    assert asked(ours, k=3, mode=mode, query_str="rotate keys") == expected


def test_alpha_weighs_words_against_vectors(stores):
    ours, _ = stores
    more = {"mode": VectorStoreQueryMode.HYBRID, "query_str": "rotate"}
    assert asked(ours, alpha=1.0, **more)[0][0] == asked(ours)[0][0]
    assert asked(ours, alpha=0.0, **more)[0][0] in {"node-0", "node-4"}


def test_documents_and_nodes_are_deleted_and_replaced(stores):
    ours, _ = stores
    ours.delete("doc-1")
    assert [n.node_id for n in ours.get_nodes()] == ["node-0", "node-2", "node-4"]
    ours.delete_nodes(filters=MetadataFilters(filters=[MetadataFilter(key="n", value=1)]))
    changed = nodes()[2]
    changed.text = "another text"
    ours.add([changed])
    assert {n.text for n in ours.get_nodes()} == {"another text", "rotate the pods"}
    ours.clear()
    assert ours.get_nodes() == []
    assert asked(ours) == []


def test_mmr_chooses_as_the_framework_does(stores):
    ours, theirs = stores
    more = {"mode": VectorStoreQueryMode.MMR, "mmr_threshold": 0.3}
    vector = np.random.default_rng(4).normal(size=8).tolist()
    query = VectorStoreQuery(query_embedding=vector, similarity_top_k=2, **more)
    assert ours.query(query).ids == theirs.query(query, mmr_threshold=0.3).ids


def test_an_index_over_the_store_retrieves(tmp_path):
    store = RagfileVectorStore(tmp_path / "kb.ragfile")
    index = VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(embed_dim=4))
    index.insert_nodes([TextNode(id_="a", text="one"), TextNode(id_="b", text="two")])
    assert {n.node_id for n in index.as_retriever(similarity_top_k=2).retrieve("one")} == {"a", "b"}


def test_what_a_mode_needs_is_said(stores):
    ours, _ = stores
    with pytest.raises(ValueError, match="query_str"):
        ours.query(VectorStoreQuery(query_embedding=[0.0] * 8, mode=VectorStoreQueryMode.HYBRID))
    with pytest.raises(ValueError, match="query_embedding"):
        ours.query(VectorStoreQuery(query_str="x"))
    with pytest.raises(ValueError, match="svm"):
        ours.query(VectorStoreQuery(query_embedding=[0.0] * 8, mode=VectorStoreQueryMode.SVM))


def test_an_empty_store_answers_nothing(tmp_path):
    store = RagfileVectorStore(tmp_path / "kb.ragfile")
    assert asked(store) == []
    assert store.get_nodes() == []
    store.delete("doc")
    assert store.add([]) == []


def test_filters_and_deletes_read_no_node_in_python(stores, monkeypatch):
    ours, _ = stores
    monkeypatch.setattr(ragfile.KnowledgeBase, "documents", None)
    red = MetadataFilters(filters=[MetadataFilter(key="s", value="red")])
    assert [node.node_id for node in ours.get_nodes(filters=red)] == ["node-0", "node-4"]
    ours.delete("doc-1")
    assert [node.node_id for node in ours.get_nodes()] == ["node-0", "node-2", "node-4"]
    ours.delete_nodes(filters=red)
    assert [node.node_id for node in ours.get_nodes()] == ["node-2"]
    ours.clear()
    assert ours.get_nodes() == []


def test_a_store_can_be_pickled(stores):
    ours, _ = stores
    copy = pickle.loads(pickle.dumps(ours))
    query = VectorStoreQuery(query_embedding=[1.0] * 8, similarity_top_k=3)
    assert copy.query(query).ids == ours.query(query).ids


VALUES = st.one_of(
    st.integers(-2, 2), st.sampled_from([0.0, 1.0, 1.5, -0.5]), st.booleans(),
    st.sampled_from(["", "a", "ab", "B", "1"]),
)  # fmt: skip
METADATA = st.dictionaries(
    st.sampled_from(["x", "y"]),
    st.one_of(VALUES, st.none(), st.lists(VALUES, max_size=3)), max_size=2,
)  # fmt: skip
GIVEN = [
    st.integers(-2, 2), st.sampled_from([0.0, 1.0, 1.5, -0.5]),
    st.sampled_from(["", "a", "ab", "B", "1"]),
]  # fmt: skip
CONDITION = st.builds(
    MetadataFilter, key=st.sampled_from(["x", "y", "z"]),
    value=st.one_of(*GIVEN, *(st.lists(kind, max_size=3) for kind in GIVEN)),
    operator=st.sampled_from(list(FilterOperator)),
)  # fmt: skip


@given(
    st.lists(METADATA, min_size=1, max_size=6), st.lists(CONDITION, min_size=1, max_size=3),
    st.sampled_from(list(FilterCondition)),
)  # fmt: skip
@settings(max_examples=examples(60), deadline=None)
@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
def test_random_filters_choose_what_llamaindexs_function_chooses(metadata, conditions, joined):
    filters = MetadataFilters(filters=conditions, condition=joined)
    with tempfile.TemporaryDirectory() as folder:
        store = RagfileVectorStore(f"{folder}/kb.ragfile")
        store.add([
            TextNode(id_=f"n{i}", text="a", metadata=one, embedding=[1.0, float(i)])
            for i, one in enumerate(metadata)
        ])  # fmt: skip
        passes = build_metadata_filter_fn(lambda name: metadata[int(name[1:])], filters)
        try:
            expected = [f"n{i}" for i in range(len(metadata)) if passes(f"n{i}")]
        except TypeError:
            with pytest.raises(TypeError):
                store.get_nodes(filters=filters)
        else:
            assert [node.node_id for node in store.get_nodes(filters=filters)] == expected
