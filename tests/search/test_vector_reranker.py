"""search(rerank="onnx:…"): the model's cosines take the place of the file's own, and all else keeps its weight."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_models import by_hand

import ragfile
from ragfile.embedding.protocol import Model
from ragfile.errors import ModelError
from ragfile.qa import prepare
from ragfile.search import vector_reranker as module
from ragfile.search.vector_reranker import WEIGHT, VectorReranker, added, exchanged

PAGES = {
    "a": "# One\n\none one two",
    "b": "# Two\n\ntwo two one three",
    "c": "# Three\n\nthree two three three",
    "d": "# Four\n\none three",
}
QUESTION = "one two"


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    return tmp_path / "docs"


@pytest.fixture
def rf(docs, tmp_path):
    ragfile.build(docs, tmp_path / "kb.ragfile")
    with ragfile.open(tmp_path / "kb.ragfile") as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_open_models():
    module.vector_reranker.cache_clear()


def deviations(values):
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return [(v - mean) / spread if spread else 0.0 for v in values]


def checked(rf, spec, prefixes=("", "")):
    """Compare a re-ranked search with one that is worked out from the model's table by hand."""
    plain = {hit.id: hit for hit in rf.search(QUESTION, k=10)}
    query, document = prefixes
    question = by_hand(query + QUESTION)
    new = [
        by_hand(f"{document}{hit.metadata['headers']}\n{hit.text}") @ question
        for hit in plain.values()
    ]
    old = [hit.scores["vector"] for hit in plain.values()]
    expected = {
        hit.id: hit.score + WEIGHT * (after - before)
        for hit, after, before in zip(plain.values(), deviations(new), deviations(old), strict=True)
    }
    found = rf.search(QUESTION, k=10, rerank=spec)
    assert {hit.id: hit.score for hit in found} == pytest.approx(expected, abs=1e-6)
    assert [hit.score for hit in found] == sorted(expected.values(), reverse=True) or (
        [hit.score for hit in found] == pytest.approx(sorted(expected.values(), reverse=True))
    )
    assert {hit.score_type for hit in found} == {"rerank"}
    assert [hit.scores["calibrated"] for hit in found] == [plain[hit.id].score for hit in found]
    assert [hit.id for hit in found] != list(plain)


def test_an_onnx_model_takes_the_place_of_the_files_own(rf, onnx_folder):
    checked(rf, f"onnx:{onnx_folder}")


def test_a_sentence_transformer_takes_it_too_with_its_prompts(rf, transformer_folder):
    checked(rf, f"st:{transformer_folder}", ("query: ", "passage: "))


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_the_files_own_model_changes_no_order_of_a_hybrid_search(rf, mode):
    plain = [hit.id for hit in rf.search(QUESTION, k=10, mode=mode)]
    found = [hit.id for hit in rf.search(QUESTION, k=10, mode=mode, rerank="default")]
    assert sorted(found) == sorted(plain)
    if mode != "bm25":
        assert found == plain


def test_passages_are_embedded_once_and_questions_each_time(rf):
    asked = []

    class Counting:
        model = Model("counting", 3)

        def embed(self, texts, role="document"):
            asked.append((role, len(texts)))
            return np.array([[len(text), text.count("o"), 1] for text in texts], np.float32)

    model = VectorReranker(Counting())
    first = model.score_hits(QUESTION, hits := rf.search(QUESTION, k=3))
    assert model.score_hits(QUESTION, hits) == first
    model.score_hits(QUESTION, rf.search(QUESTION, k=4))
    documents = [count for role, count in asked if role == "document"]
    assert documents == [3, 1]
    assert [role for role, _ in asked].count("query") == 3


def test_an_embedding_cache_keeps_vectors_between_processes(docs, tmp_path, onnx_folder):
    ragfile.build(docs, tmp_path / "kb.ragfile")
    with ragfile.open(tmp_path / "kb.ragfile", embedding_cache=tmp_path / "cache") as rf:
        rf.search(QUESTION, rerank=f"onnx:{onnx_folder}")
        embedder = module.vector_reranker(f"onnx:{onnx_folder}", str(tmp_path / "cache")).embedder
        assert embedder.misses == len(PAGES) + 1
        module.vector_reranker.cache_clear()
        rf.search(QUESTION, rerank=f"onnx:{onnx_folder}", cache=False)
        again = module.vector_reranker(f"onnx:{onnx_folder}", str(tmp_path / "cache")).embedder
        assert (again.hits, again.misses) == (len(PAGES) + 1, 0)


def test_answers_prompts_datasets_and_lists_of_candidates_are_re_ranked(
    rf, docs, tmp_path, onnx_folder
):
    name = f"onnx:{onnx_folder}"
    found = [hit.id for hit in rf.search(QUESTION, k=4, rerank=name)]
    answer = rf.ask(QUESTION, k=4, rerank=name)
    assert {f"{c.doc_id}#{c.chunk_index}" for c in answer.contexts} <= set(found)
    ready = prepare(rf, QUESTION, k=4, rerank=name, neighbours=False)
    assert [f"{c.doc_id}#{c.chunk_index}" for c in ready.contexts] == found
    ragfile.dataset.build([docs], tmp_path / "parts/", shards=2)
    with ragfile.open(tmp_path / "parts") as parts:
        assert [hit.id for hit in parts.search(QUESTION, k=4, rerank=name)] == found
    candidates = [{"doc_id": "x", "chunk_index": i, "content": t, "score": 1.0} for i, t in enumerate(["three", "one two"])]  # fmt: skip
    assert ragfile.rerank(QUESTION, candidates, name)[0].content == "one two"


def test_the_command_line_names_a_model_and_eval_measures_it(docs, tmp_path, onnx_folder):
    ragfile.build(docs, tmp_path / "kb.ragfile")
    (tmp_path / "links.json").write_text('[{"q": "one two", "t": "a.md"}]')
    for words in (
        ["search", "kb.ragfile", QUESTION, "--rerank", f"onnx:{onnx_folder}", "--json"],
        ["eval", "kb.ragfile", "--questions", "links.json", "--rerank", f"onnx:{onnx_folder}"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ragfile", *words],
            capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=True,
        )  # fmt: skip
        assert "rerank" in done.stdout


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("onnx:nowhere", ModelError, "has no model.onnx"),
        ("none", ModelError, "makes no vectors"),
        ("onnx:", ModelError, "no embedder is called 'onnx:'"),
    ],
)
def test_a_model_that_cannot_be_opened_is_named(rf, name, error, says):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    with pytest.raises(error, match=says):
        rf.search(QUESTION, rerank=name)


def test_a_model_whose_package_is_missing_names_the_extra(rf, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"pip install 'ragfile\[onnx\]'"):
        rf.search(QUESTION, rerank="onnx:anything")


numbers = st.floats(-1, 1).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(numbers, st.none() | numbers, numbers), max_size=8))
def test_an_exchange_moves_a_score_by_the_weight_of_what_changed(rows):
    scores, old, new = ([row[i] for row in rows] for i in range(3))
    known = iter(deviations([v for v in old if v is not None]) if any(v is not None for v in old) else [])  # fmt: skip
    before = [0.0 if v is None else next(known) for v in old]
    after = deviations(new) if new else []
    expected = [s + 0.2 * (b - a) for s, a, b in zip(scores, before, after, strict=True)]
    assert exchanged(scores, old, new, 0.2) == pytest.approx(expected, abs=1e-6)


def test_other_searches_add_to_their_shares():
    assert added([4.0, 2.0], [1.0, 3.0], 0.25) == [1.0 - 0.25, 0.5 + 0.25]
    assert added([4.0, 2.0], [1.0, 1.0], 0.25) == [1.0, 0.5]
    assert added([0.0, -1.0], [1.0, 3.0], 0.25) == [-0.25, 0.25]
    assert added([], [], 0.25) == []
