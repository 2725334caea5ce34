"""Phrases in texts: the core against a reading of each text, word by word."""

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from ragfile import _core
from ragfile.ingest.analysis import Analysis

WORDS = [
    "the",
    "of",
    "key",
    "keys",
    "rotating",
    "rotate",
    "Straße",
    "über",
    "v0.1.0",
    "a_b",
    "東京都",
]
WORDS += ["c++", "THE", "it's", "\u0130", "e\u0301t", "\ud800"]
TEXTS = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)), max_size=8).map(" ".join)
ANALYSES = [Analysis(), Analysis(stemmer="none", stop_words="none"), Analysis(accents="strip")]


def folded(analysis, text):
    pairs = _core.words(text, strip_accents=analysis.strip_accents)
    return [word for word, is_whole in pairs if not is_whole]


def marks(asker, words):
    """The term of each word, or the word itself if it is a stop word."""
    return [term or (word,) for term, word in zip(asker.terms_of(words), words, strict=True)]


def has(asker, analysis, text, phrase):
    wanted, found = marks(asker, phrase), marks(asker, folded(analysis, text))
    size = len(wanted)
    return any(found[i : i + size] == wanted for i in range(len(found) - size + 1))


@pytest.mark.parametrize("analysis", ANALYSES)
@given(texts=st.lists(TEXTS, max_size=6), phrase=TEXTS)
@example(texts=["rotate the the key", "rotate the key", "the"], phrase="the key")
@example(texts=["v0.1.0 of c++"], phrase="0 of c")
@example(texts=["key key rotate key"], phrase="key rotating keys")
def test_the_core_finds_what_a_reading_of_each_text_finds(analysis, texts, phrase):
    asker, words = _core.Asker(analysis), folded(analysis, phrase)
    if not words:
        return
    expected = [has(asker, analysis, text, words) for text in texts]
    finder = _core.Phrase(asker, words)
    assert list(finder.found(texts)) == expected
    assert list(finder.found([*texts, *texts])) == expected * 2


def test_every_start_in_a_text_is_tried():
    finder = _core.Phrase(_core.Asker(Analysis()), ["the", "the", "key"])
    texts = ["the the the key", "the key the the", "the the key"]
    assert list(finder.found(texts)) == [1, 0, 1]


def test_a_phrase_of_many_words_and_one_of_none_have_no_limit():
    asker, words = _core.Asker(Analysis()), [f"w{i}" for i in range(5_000)]
    text = " ".join(words)
    assert list(_core.Phrase(asker, words).found([text, text[3:], f"x {text} y"])) == [1, 0, 1]
    assert list(_core.Phrase(asker, words).found([])) == []


def test_more_words_than_are_kept_change_no_answer():
    finder = _core.Phrase(_core.Asker(Analysis(stemmer="none")), ["blue", "sky"])
    for first in range(0, 200_000, 50_000):
        text = " ".join(f"n{i}" for i in range(first, first + 50_000))
        assert list(finder.found([text, f"{text} blue sky"])) == [0, 1]


@pytest.mark.parametrize("word", ["", "x" * 256])
def test_words_that_no_text_has_are_refused(word):
    with pytest.raises(ValueError, match="1 to 255 bytes"):
        _core.Phrase(_core.Asker(Analysis()), [word])
