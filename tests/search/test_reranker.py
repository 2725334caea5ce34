"""Re-ranking: stable, pure, and right on cases small enough to see; of near-duplicates the first stays."""

import copy
import sys
import types

import numpy as np
import pytest
import Stemmer
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import reranking as slow

from ragfile import _core
from ragfile.records import Candidate
from ragfile.search import reranker
from ragfile.search.reranker import (
    CrossEncoder,
    distinct_texts,
    distinct_vectors,
    rerank,
    simhash,
)
from ragfile.text import words

TEXTS = [
    "The kubelet restarts a container when its liveness probe fails.",
    "Liveness probes and readiness probes are configured per container.",
    "A persistent volume outlives the pod that uses it.",
]


def candidates(texts=TEXTS, score=1.0):
    return [Candidate("doc", i, text, score) for i, text in enumerate(texts)]


def test_the_built_in_measure_lifts_what_holds_all_of_the_question():
    ranked = rerank("volume outliving a pod", candidates())
    assert ranked[0].chunk_index == 2
    ranked = rerank("when does the kubelet restart a container", candidates())
    assert ranked[0].chunk_index == 0


def test_without_a_word_in_common_the_former_order_stays():
    before = [Candidate("d", i, text, 3.0 - i) for i, text in enumerate(TEXTS)]
    assert [c.chunk_index for c in rerank("zzz", before)] == [0, 1, 2]


def test_equal_scores_are_ordered_by_document_then_chunk():
    same = [Candidate("b", 1, "x", 1.0), Candidate("a", 10, "x", 1.0), Candidate("a", 9, "x", 1.0)]
    assert [c.key for c in rerank("x", same)] == [("a", 9), ("a", 10), ("b", 1)]


def test_a_hundred_runs_give_the_same_bits_and_leave_the_input_alone():
    given = candidates()
    before = copy.deepcopy(given)
    runs = {
        tuple((c.key, c.score) for c in rerank("liveness probe container", given))
        for _ in range(100)
    }
    assert len(runs) == 1
    assert given == before


def test_a_model_of_ones_own_only_needs_to_score():
    class Shortest:
        def score(self, query, texts):
            return [-len(text) for text in texts]

    assert [c.chunk_index for c in rerank("q", candidates(), Shortest())] == [2, 0, 1]


def test_a_plain_function_is_a_model_too_and_anything_else_is_refused():
    found = rerank("q", candidates(), lambda query, texts: [-len(text) for text in texts])
    assert [c.chunk_index for c in found] == [2, 0, 1]
    with pytest.raises(TypeError, match="a function of"):
        rerank("q", candidates(), 7)


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan"), 0.0]])
def test_a_model_that_does_not_score_every_text_is_refused(scores):
    class Broken:
        def score(self, query, texts):
            return scores

    with pytest.raises(ValueError, match="one finite number per text"):
        rerank("q", candidates(), Broken())


def test_no_candidates_give_none_without_asking_the_model():
    assert rerank("q", [], model=object()) == []


def test_near_equal_vectors_leave_the_first():
    vectors = np.array([[1, 0], [0.999, 0.001], [0, 1], [-1, 0], [0.001, 5]])
    assert distinct_vectors(vectors) == [0, 2, 3]
    assert distinct_vectors(vectors, threshold=1.1) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("cosine_of_both", "kept"), [(0.981, [0]), (0.979, [0, 1])])
def test_vectors_are_near_equal_from_a_cosine_of_98_hundredths(cosine_of_both, kept):
    assert distinct_vectors([[1, 0], [cosine_of_both, (1 - cosine_of_both**2) ** 0.5]]) == kept


@pytest.mark.parametrize(("bits", "kept"), [(3, [0]), (4, [0, 1])])
def test_texts_are_near_equal_up_to_three_bits(monkeypatch, bits, kept):
    marks = {"a": 0b1111 << 7, "b": (0b1111 << 7) ^ ((1 << bits) - 1)}
    monkeypatch.setattr("ragfile.search.reranker.simhash", marks.get)
    assert distinct_texts(["a", "b"]) == kept


def test_near_equal_texts_leave_the_first():
    text = " ".join(f"word{i}" for i in range(300))
    texts = [text, text.replace("word150", "other"), TEXTS[0], TEXTS[1], TEXTS[0].upper()]
    assert distinct_texts(texts) == [0, 2, 3]


def test_simhash_is_a_fixed_number_for_a_text():
    assert simhash("") == simhash("  ")
    assert simhash(TEXTS[0]) == simhash(TEXTS[0].lower())
    assert [f"{simhash(t):016x}" for t in TEXTS] == [
        "16edc15ac8618420",
        "a025270903086893",
        "14830427980a4964",
    ]


def test_a_cross_encoder_by_name_is_loaded_once_and_asked_for_pairs(monkeypatch):
    asked = []

    class Model:
        def __init__(self, name):
            asked.append(name)

        def predict(self, pairs, batch_size):
            asked.append((pairs, batch_size))
            return np.array([len(text) for _, text in pairs], dtype=np.float32)

    package = types.ModuleType("sentence_transformers")
    package.CrossEncoder = Model
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    for _ in range(2):
        ranked = rerank("q", candidates(), "fake/cross-encoder-a")
    assert [c.chunk_index for c in ranked] == [1, 0, 2]
    assert asked.count("fake/cross-encoder-a") == 1
    assert asked[1] == ([("q", text) for text in TEXTS], 32)


def test_a_missing_cross_encoder_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"ragfile\[st\]"):
        rerank("q", candidates(), "some/cross-encoder")


@pytest.fixture
def tiny_cross_encoder(tmp_path):
    """A real cross-encoder with random weights, as a folder: two layers over a vocabulary of the texts' words."""
    library = pytest.importorskip("sentence_transformers", reason="the extra 'st' is not installed")
    import tokenizers
    import torch
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(7)
    special = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
    }
    vocabulary = [
        *special.values(),
        *sorted({word for text in TEXTS for word in text.rstrip(".").split()}),
    ]
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(vocabulary)}, "[UNK]")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, num_labels=1, initializer_range=0.5,
    )  # fmt: skip
    folder = tmp_path / "tiny-cross-encoder"
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=made, **special).save_pretrained(folder)
    return library.CrossEncoder(str(folder), device="cpu"), str(folder)


def test_a_real_cross_encoder_gives_the_order_of_its_own_scores(tiny_cross_encoder):
    own, folder = tiny_cross_encoder
    scores = own.predict([("container probe", text) for text in TEXTS])
    assert len(set(scores.tolist())) == len(TEXTS)
    for _ in range(2):
        ranked = rerank("container probe", candidates(), folder)
        assert [c.score for c in ranked] == sorted(scores.tolist(), reverse=True)
        assert {c.content: c.score for c in ranked} == dict(
            zip(TEXTS, scores.tolist(), strict=True)
        )
    one_by_one = rerank("container probe", candidates()[::-1], CrossEncoder(folder, batch_size=1))
    assert [c.score for c in one_by_one] == pytest.approx([c.score for c in ranked], abs=1e-6)
    assert [c.content for c in one_by_one] == [c.content for c in ranked]
    assert rerank("container probe", [], folder) == []


CRUMBS = st.sampled_from([
    "node", "nodes", "Drain", "drained", "draining", "the", "a", "dying", "die", "aing", "vying", "vie", "sky",
    "skies", "s", "x", "日", "本", "naïve", "naive", "İ", "ſ", "snake_case", "\ud800", "’", "-", ". ", "\n", "ied",
    "ties", "tying", "news", "generously", "日本の", "สวัสดี", "ⅷ", "٣", "𠀀", "\x7f", "_", "ß",
])  # fmt: skip
TEXT = st.lists(CRUMBS | st.text(max_size=3), max_size=25).map(" ".join)


@settings(max_examples=examples(300))
@given(TEXT, st.lists(TEXT, min_size=1, max_size=6))
def test_the_measure_has_the_bits_of_one_that_stems_every_word(query, texts):
    before = [1 / (i + 3) for i in range(len(texts))]
    assert reranker._builtin(query, texts, before) == slow.builtin(query, texts, before)


@settings(max_examples=examples(300))
@given(st.text(st.characters() | st.sampled_from("ab _-.é日ーก’"), max_size=40))
def test_words_that_are_handed_out_are_those_of_the_plain_definition(text):
    text = text.lower()
    expected = [(i, w.encode("utf-8", "surrogatepass")) for i, w in enumerate(words(text))]
    assert _core.mentions([text], [word for _, word in expected]) == [expected]


def test_stems_keep_the_first_two_bytes_of_english_words_or_the_two_ways_are_known():
    letters = "abcdefghijklmnopqrstuvwxyz"
    ends = ["ing", "ed", "eds", "ies", "ied", "ieds", "ly", "y", "ying", "s", "es", "ingly", "edly"]
    found = [a + b + end for a in letters for b in ("", *letters) for end in ends]
    for word, stem in zip(found, Stemmer.Stemmer("english").stemWords(found), strict=True):
        assert word[:2] in {start[:2] for start in reranker._starts(stem)}
