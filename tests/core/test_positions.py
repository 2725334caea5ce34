"""Positions of words: the core's lists and phrases against a reading of each text, word by word."""

import hypothesis.strategies as st
import numpy as np
import pytest
from core.test_phrases import ANALYSES, TEXTS, folded, has, marks
from hypothesis import example, given, settings

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.ingest.analysis import Analysis

PLAIN = Analysis(stemmer="none", stop_words=("the", "of"))


def built(analysis, rows, **options):
    """Return the Lexicon and the bytes of rag.positions of rows of text."""
    builder = _core.LexicalBuilder(analysis, **options)
    postings, terms, lists, front = bytearray(), bytearray(), bytearray(), bytearray()
    for row in rows:
        builder.add([row])
    builder.finish(postings.extend, terms.extend, (lists.extend, front.extend))
    sections = [_core.Section.over(bytes(part)) for part in (terms, postings)]
    return _core.Lexicon(*sections), bytes(front + lists)


def opened(analysis, rows, **options):
    lexicon, raw = built(analysis, rows, **options)
    return lexicon, _core.Positions(_core.Section.over(raw), lexicon)


def paired(asker, words):
    """Words as Positions takes them."""
    return [(m[0], True) if isinstance(m, tuple) else (m, False) for m in marks(asker, words)]


def found(positions, count, words):
    return [int(flag) for flag in _core.flags_of(positions.phrase(words), count)]


def checked_lists(analysis, texts, lexicon, positions):
    """Compare all lists with the words of the texts; each place of a row belongs to one word."""
    asker, expected = _core.Asker(analysis), {}
    for row, text in enumerate(texts):
        words = folded(analysis, text)
        assert positions.words(row) == len(words)
        for at, word in enumerate(paired(asker, words)):
            expected.setdefault(word, {}).setdefault(row, []).append(at)
    stops = positions.stop_words()
    assert stops == sorted(stops, key=lambda word: word.encode("utf-8", "surrogatepass"))
    told = {}
    for word in [*((t, False) for t in lexicon.vocabulary()), *((s, True) for s in stops)]:
        listed = positions.places(word)
        if not word[1] and listed:
            assert [row for row, _ in listed] == lexicon.rows(word[0])[0].tolist()
        held = {row: at for row, at in listed if at}
        if held:
            told[word] = held
    assert told == expected


@pytest.mark.parametrize("analysis", ANALYSES)
@given(texts=st.lists(TEXTS, max_size=6), phrase=TEXTS)
@example(texts=["rotate the the key", "rotate the key", "the"], phrase="the key")
@example(texts=["getPodStatus is pod status", "pod status"], phrase="pod status")
@example(texts=["v0.1.0 of c++"], phrase="0 of c")
def test_positions_find_what_a_reading_of_each_text_finds(analysis, texts, phrase):
    asker, words = _core.Asker(analysis), folded(analysis, phrase)
    lexicon, positions = opened(analysis, texts)
    checked_lists(analysis, texts, lexicon, positions)
    if words:
        expected = [has(asker, analysis, text, words) for text in texts]
        assert found(positions, len(texts), paired(asker, words)) == expected


def many_texts(seed, rows=700, most=90):
    """Texts with words from rare to everywhere, so that lists have many groups and containers."""
    rng = np.random.default_rng(seed)
    words = ["the", "of", *(f"w{i}" for i in range(60))]
    shares = 1 / np.arange(1, len(words) + 1)
    return [
        " ".join(rng.choice(words, size=int(rng.integers(0, most)), p=shares / shares.sum()))
        for _ in range(rows)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_long_lists_of_terms_and_stop_words(seed):
    texts = many_texts(seed)
    lexicon, positions = opened(PLAIN, texts)
    checked_lists(PLAIN, texts, lexicon, positions)
    asker, rng = _core.Asker(PLAIN), np.random.default_rng(seed)
    phrases = [["of", "the"], ["the"], ["the", "the"], ["w0", "of", "the"], ["w59"], ["w0", "w0"]]
    while len(phrases) < 60:
        words = texts[rng.integers(len(texts))].split()
        if len(words) > 5:
            at = int(rng.integers(len(words) - 4))
            phrases.append(words[at : at + int(rng.integers(1, 5))])
    for words in phrases:
        expected = [has(asker, PLAIN, text, words) for text in texts]
        assert found(positions, len(texts), paired(asker, words)) == expected, words


def test_rows_of_several_windows():
    """Posting lists split rows into windows of 65,536; a term can be dense in one and sparse in the other."""
    texts = ["the a b" if row < 65_000 or row % 50 == 0 else "b" for row in range(66_500)]
    lexicon, positions = opened(PLAIN, texts)
    expected = [text != "b" for text in texts]
    assert found(positions, len(texts), [("the", True), ("a", False), ("b", False)]) == expected
    assert found(positions, len(texts), [("a", False), ("a", False)]) == [0] * len(texts)
    assert len(lexicon.rows("a")[0]) == sum(expected)


@settings(max_examples=20)
@given(texts=st.lists(TEXTS, max_size=12), memory=st.sampled_from([1, 500, 3000]))
def test_the_bytes_do_not_depend_on_memory(tmp_path_factory, texts, memory):
    folder = tmp_path_factory.mktemp("spill")
    whole = built(Analysis(), texts)[1]
    assert built(Analysis(), texts, memory=memory, directory=folder)[1] == whole


def test_runs_on_disk_give_the_same_bytes(tmp_path):
    texts = many_texts(9)
    assert built(PLAIN, texts, memory=20_000, directory=tmp_path)[1] == built(PLAIN, texts)[1]


def test_only_the_text_has_positions():
    analysis = Analysis(fields=(("text", 1), ("headers", 6)))
    lexicon, positions = opened(analysis, [("red fox", "fox den"), (None, "red"), ("fox", None)])
    assert positions.places(("fox", False)) == [(0, [1]), (2, [0])]
    assert positions.places(("red", False)) == [(0, [0]), (1, [])]
    assert positions.places(("den", False)) == []
    assert lexicon.rows("den")[0].tolist() == [0]
    assert [positions.words(row) for row in range(3)] == [2, 0, 1]
    assert found(positions, 3, [("fox", False), ("den", False)]) == [0, 0, 0]


def test_a_phrase_needs_a_word():
    _, positions = opened(PLAIN, ["a"])
    with pytest.raises(ValueError, match="a word at least"):
        positions.phrase([])


@pytest.mark.parametrize("seed", range(4))
def test_any_bytes_are_read_safely(seed):
    """Changed bytes give an error or other rows, and never a read outside the section."""
    texts = many_texts(seed, 150, 30)
    lexicon, raw = built(PLAIN, texts)
    rng = np.random.default_rng(seed)
    words = [[("the", True), ("of", True)], [("w1", False), ("the", True)], [("w40", False)]]
    for _ in range(400):
        changed = bytearray(raw)
        for at in rng.integers(0, len(raw), size=int(rng.integers(1, 4))):
            changed[at] = int(rng.integers(256))
        try:
            positions = _core.Positions(_core.Section.over(bytes(changed)), lexicon)
            for phrase in words:
                positions.phrase(phrase)
            for word in ("the", True), ("w0", False):
                positions.places(word)
            positions.stop_words()
        except FormatError:
            pass
    for size in range(0, len(raw), 97):
        with pytest.raises(FormatError):
            _core.Positions(_core.Section.over(raw[:size]), lexicon)
