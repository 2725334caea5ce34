"""Options that make no sense are refused before anything is read or written, with a sentence that says what would."""

import numpy as np
import pytest

import ragfile
from ragfile import canonical, embedding
from ragfile.answer.passage_budget import pack
from ragfile.exchange.faiss.index import Index
from ragfile.file import custom_sections
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunker import Policy
from ragfile.search import fusion
from ragfile.search.reranker import rerank

CHUNKS = [
    {"doc_id": "a", "chunk_index": 0, "content": "Rotate the keys.", "metadata": {"year": 2024}},
    {"doc_id": "b", "chunk_index": 0, "content": "Drain the node.", "metadata": {"year": 2025}},
]
AXES = np.eye(2, 4, dtype=np.float32)
BOOST = {"field": "year", "weight": 1.0, "reference": 2025, "half_life": 2}


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    path = tmp_path_factory.mktemp("wrong") / "kb.ragfile"
    with ragfile.create(path) as w:
        w.add(CHUNKS, AXES)
    with ragfile.open(path) as rf:
        yield rf


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A file of words alone."""
    path = tmp_path_factory.mktemp("wrong") / "words.ragfile"
    with ragfile.create(path) as w:
        w.add(CHUNKS)
    with ragfile.open(path) as rf:
        yield rf


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """A file of vectors alone."""
    path = tmp_path_factory.mktemp("wrong") / "vectors.ragfile"
    with ragfile.create(path, analysis=None) as w:
        w.add(CHUNKS, AXES)
    with ragfile.open(path) as rf:
        yield rf


SEARCHES = [
    ({"diversity": 2}, ValueError, "diversity is from 0 to 1, not 2"),
    ({"min_score": float("inf")}, ValueError, "min_score is below infinity, not inf"),
    ({"offset": -1}, ValueError, "offset is at least 0, not -1"),
    ({"effort": 0}, ValueError, "effort is above 0 and at most 1, not 0"),
    ({"effort": float("nan")}, ValueError, "effort is above 0 and at most 1, not nan"),
    ({"mode": "words"}, ValueError, "mode is one of hybrid, vector, bm25, sparse, keyword, not 'words'"),
    ({"pool": 2.5}, TypeError, "pool is a whole number, not 2.5"),
    ({"min_score": "high"}, TypeError, "min_score is a number, not 'high'"),
    ({"efort": 0.5}, TypeError, r"search\(\) has no option 'efort': did you mean 'effort'\?"),
    ({"boost": {"field": "year"}}, ValueError, "a boost has field, weight, reference and half_life"),
    ({"boost": BOOST | {"reference": "soon"}}, ValueError, "is a number or a date, not 'soon'"),
    ({"boost": BOOST | {"reference": None}}, ValueError, "is a number or a date, not None"),
    ({"boost": BOOST | {"half_life": 0}}, ValueError, "a finite weight, and half_life is more than 0"),
    ({"boost": BOOST | {"weight": float("inf")}}, ValueError, "a boost has a finite weight"),
    ({"rewrites": "turn the keys"}, TypeError, "rewrites are a list of texts, not one text"),
    ({"rewrites": ["turn"], "query_syntax": True}, ValueError, "cannot be combined with query_syntax"),
    ({"where": [{"year": 2024}]}, TypeError, "where is one filter for one question"),
    ({"where": {3: 1}}, ValueError, "a filter's keys are strings, not 3"),
    ({"where": {"year": float("nan")}}, ValueError, "NaN is not a JSON value"),
    ({"where": [99]}, IndexError, "row 99 is outside the file's 2 rows"),
    ({"tags_any": "a tag"}, TypeError, "tags must be a list of strings, not the string 'a tag'"),
    ({"mode": "bm25", "fields": {"text": 0, "headers": 0}}, ValueError, "every field the weight 0"),
    ({"mode": "bm25", "fields": {"body": 1}}, ValueError, "no field 'body': it has text"),
    ({"mode": "vector", "vector": np.array([1j, 0, 0, 0])}, ValueError, "must be real numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "error", "says"), SEARCHES)
def test_a_search_says_what_is_wrong_with_an_option(kb, options, error, says):
    with pytest.raises(error, match=says):
        kb.search("keys", **options)


def test_what_a_file_does_not_have_is_said(words, vectors):
    with pytest.raises(ValueError, match="has no vectors, which diversity= compares"):
        words.search("keys", mode="bm25", diversity=0.5)
    with pytest.raises(ValueError, match="has no BM25 index, which query_syntax= needs"):
        vectors.search('"keys"', vector=AXES[0], query_syntax=True)
    assert vectors.highlights("keys", vectors.hit(0)) == []
    with pytest.raises(ValueError, match=r"has no vectors"):
        words.vector(0)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda rf: rf.nearest(AXES[0], -1), ValueError, "k must not be negative, not -1"),
        (lambda rf: rf.score([0.5], text="x"), TypeError, "rows are a list of row numbers"),
        (lambda rf: rf.score([[0]], text="x"), TypeError, "rows are a list of row numbers"),
        (lambda rf: rf.score([0]), ValueError, "score needs a text or a vector"),
        (lambda rf: rf.score([0], text="x", vector=AXES[0]), ValueError, "a text or a vector"),
        (lambda rf: rf.explain("keys", "nosuch#0"), KeyError, "has no chunk 'nosuch#0'"),
        (lambda rf: rf.explain("keys", 0, mode="keyword"), ValueError, "not keyword mode"),
        (lambda rf: rf.context("nosuch#0"), KeyError, "nosuch#0"),
        (lambda rf: rf.strategy("nosuch"), KeyError, "has no section 'nosuch'"),
        (lambda rf: rf.strategy("vector"), KeyError, "no strategy 'vector' is registered"),
        (lambda rf: rf.search_batch([b"keys"]), TypeError, "a question is a str, not bytes"),
    ],
)
def test_a_call_says_what_is_wrong_with_an_argument(kb, call, error, says):
    with pytest.raises(error, match=says):
        call(kb)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda p: ragfile.create(p, metric="manhattan"), "unknown metric 'manhattan': use one of"),
        (lambda p: ragfile.create(p, precision=8), "16 or 32 bits a component, not 8"),
        (lambda p: ragfile.create(p, dim=0), "how many numbers a vector has, at least 1, not 0"),
        (lambda p: ragfile.create(p, chunking="pages:3"), "unknown chunk policy 'pages'"),
        (lambda p: ragfile.create(p, analysis=Analysis(stemmer="klingon")), "no stemmer 'klingon'"),
        (lambda p: ragfile.build(p, p, errors="ignore"), "'strict' or 'replace', not 'ignore'"),
    ],
)
def test_no_file_comes_of_wrong_options(tmp_path, call, says):
    with pytest.raises(ValueError, match=says):
        call(tmp_path / "kb.ragfile")
    assert list(tmp_path.iterdir()) == []


def test_vectors_and_chunks_come_in_equal_numbers(tmp_path):
    with ragfile.create(tmp_path / "kb.ragfile") as w:
        with pytest.raises(ValueError, match="there are more vectors than chunks"):
            w.add(iter(CHUNKS), iter([*AXES, AXES[0]]))
        w.discard()
    with ragfile.create(tmp_path / "kb.ragfile") as w:
        with pytest.raises(ValueError, match="2 chunks need 2 vectors, not an array of shape"):
            w.add(CHUNKS, AXES[:1])
        w.discard()


@pytest.mark.parametrize(
    ("legs", "options", "says"),
    [
        ([[("a", 1)], [("a", 1)], []], {"method": "blend"}, "3 lists need weights"),
        ([[("a", 1)]], {"method": "blend", "params": {"weights": [1, 2]}}, "as many weights"),
        ([[("a", 1)], []], {"method": "rrf", "params": {"k": 3}}, "rrf_k is the constant"),
        ([[("a", 1)], []], {"method": "borda"}, "unknown fusion method 'borda'"),
        ([[("a", float("nan"))], []], {"method": "blend"}, "scores must be finite numbers"),
        ([[("a", 1)]], {"method": "calibrated", "params": {"mean": 0, "deviation": 1, "w": 0.5}},
         "a vector and a lexical list, not 1 lists"),
        ([[("a", 1)], [("b", 1)]],
         {"method": "calibrated", "params": {"mean": 0, "deviation": 1, "w": 0.5}},
         "needs the vector score of every candidate"),
    ],
)  # fmt: skip
def test_lists_that_cannot_be_fused_are_refused(legs, options, says):
    sets = [
        [{"doc_id": name, "chunk_index": 0, "content": name, "score": s} for name, s in leg]
        for leg in legs
    ]
    with pytest.raises(ValueError, match=says):
        ragfile.fuse(sets, **options)


def test_a_list_of_rows_has_each_row_once():
    with pytest.raises(ValueError, match="a list for fusion contains a row twice"):
        fusion.rrf([([3, 3], [1.0, 0.5])])
    rows, scores = fusion.rrf([])
    assert (len(rows), len(scores)) == (0, 0)


CANDIDATE = {"doc_id": "a", "chunk_index": 0, "content": "Rotate the keys.", "score": 1.0}


@pytest.mark.parametrize(
    ("model", "error", "says"),
    [
        (lambda query, texts: [], ValueError, "one finite number per text"),
        (lambda query, texts: [float("nan")], ValueError, "one finite number per text"),
        (3, TypeError, "model is None, a name, a function"),
    ],
)
def test_a_model_that_cannot_rank_is_refused(model, error, says):
    with pytest.raises(error, match=says):
        rerank("keys", [CANDIDATE], model)
    assert rerank("keys", [], model) == []


def test_a_budget_is_a_number_of_tokens():
    with pytest.raises(ValueError, match="a token budget must not be negative, not -1"):
        pack([CANDIDATE], -1)


def test_canonical_calls_are_refused_as_those_of_the_library(kb):
    with pytest.raises(ValueError, match="a plan needs vector=True, lexical=True, or both"):
        canonical.retrieve("keys", {"vector": False, "lexical": False}, kb)
    with pytest.raises(ValueError, match="a segment needs a text"):
        canonical.chunk([{"page": 1}])


@pytest.mark.parametrize(
    ("name", "says"),
    [("a b", "a section's name is"), ("vector", "belongs to"), ("rag.x", "belongs to")],
)
def test_names_of_strategies_leave_the_formats_own_alone(name, says):
    with pytest.raises(ValueError, match=says):
        custom_sections.register(name, lambda data, rf: None)


def test_a_chunk_policy_is_of_a_version_that_is_known():
    with pytest.raises(ValueError, match="unknown chunk version 99"):
        Policy("words", version=99)


def test_a_flat_index_is_made_of_a_matrix():
    for vectors, metric in ((np.ones(3), "ip"), (AXES, "cosine")):
        with pytest.raises(ValueError, match="a flat index needs a matrix"):
            Index.of(vectors, metric)


def test_a_batch_of_texts_for_a_server_has_at_least_one():
    with pytest.raises(ValueError, match="a batch has at least one text, not 0"):
        embedding.open_embedder("ollama:x?batch=0")
