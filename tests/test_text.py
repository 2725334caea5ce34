"""Normalisation: its rules, the way back to the raw text, and that nothing around it matters."""

import itertools
import random
import tracemalloc
import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ragfile.text import _CHANGING, _kinds, normalize, restored, sentences, words

AWKWARD = st.text(
    st.sampled_from(
        list(
            "ab .\t\n\r\v\f\0\x85\xa0\u2028\u200b\u200d\ufeff\xade\u0301\u0327ÅÅ가한日\u3000👩🏽\ud800"
        )
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("a\xa0b\u3000c\u2009d", "a b c d"),
        ("a\tb", "a\tb"),
        ("zero\u200bwidth\ufeff so\xadft", "zerowidth soft"),
        ("family 👨\u200d👩\u200d👧", "family 👨\u200d👩\u200d👧"),
        ("end  \t\n  start \n", "end\n  start\n"),
        ("a\n\n \n\t\n\nb", "a\n\n\nb"),
        ("nul\0bell\x07", "nulbell"),
        ("cafe\u0301 \u212b", "café Å"),
        ("\u1112\u1161\u11ab", "한"),
        ("lone \ud83d half", "lone \ufffd half"),
        ("ﬁ stays ﬁ", "ﬁ stays ﬁ"),
        ("", ""),
    ],
)
def test_normalisation_follows_its_rules(raw, text):
    assert normalize(raw).text == text


@given(st.one_of(st.text(), AWKWARD))
def test_normalisation_can_be_undone(raw):
    assert normalize(raw).restore() == raw


@given(st.one_of(st.text(), AWKWARD))
def test_normalising_twice_changes_nothing_more(raw):
    once = normalize(raw).text
    assert normalize(once).text == once


@given(AWKWARD, st.data())
def test_a_span_leads_back_to_raw_text_that_normalises_to_it(raw, data):
    normalized = normalize(raw)
    start = data.draw(st.integers(0, len(normalized.text)))
    end = data.draw(st.integers(start, len(normalized.text)))
    raw_start, raw_end = normalized.raw_span(start, end)
    assert 0 <= raw_start <= raw_end <= len(raw)
    inside = normalized.text[start:end]
    if inside and not set(inside) & set("\n \t") and inside.isascii():
        assert inside in normalize(raw[raw_start:raw_end]).text


def test_spans_of_untouched_text_are_themselves():
    assert normalize("plain text").raw_span(2, 5) == (2, 5)


def test_spans_map_around_what_was_removed():
    normalized = normalize("ab\u200b\u200bcd\r\nef")
    assert normalized.raw_span(1, 3) == (1, 5)
    assert normalized.raw_span(4, 5) == (6, 8)
    assert normalized.raw_span(7, 7) == (10, 10)


def test_a_megabyte_of_blanks_is_normalised_in_linear_time():
    assert (
        normalize("a" + " " * 2_000_000 + "b" + "\t" * 2_000_000).text
        == "a" + " " * 2_000_000 + "b"
    )


def test_sentences_end_where_a_reader_would_end_them():
    text = (
        'Dr. Smith paid $3.50. "Why?" he asked, e.g. once. No. 5 lives!\n- one\n- two\n\nTitle\n\n'
    )
    text += "日本語。次の文。"
    assert [text[a:b] for a, b in sentences(text)] == [
        "Dr. Smith paid $3.50.",
        '"Why?" he asked, e.g. once.',
        "No. 5 lives!",
        "- one",
        "- two",
        "Title",
        "日本語。",
        "次の文。",
    ]


@given(st.text())
def test_sentences_hold_everything_but_blanks(text):
    spans = sentences(text)
    assert all(a < b for a, b in spans)
    assert spans == sorted(spans)
    kept = {i for a, b in spans for i in range(a, b)}
    assert all(text[i] in " \t\n" for i in range(len(text)) if i not in kept)


def test_words_are_lower_case_and_split_cjk():
    assert words("Hello, snake_case v0.1 日本 Café’s") == [
        "hello",
        "snake_case",
        "v0",
        "1",
        "日",
        "本",
        "café",
        "s",
    ]


def test_the_quick_class_finds_exactly_the_characters_that_change():
    wrong = [
        hex(c)
        for c in range(0x10000)
        if bool(_CHANGING.match(chr(c))) != bool(_kinds().match(chr(c)))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "behind", [*"\u0f73\u0f75\u0f81\u0b56\u0b57\u09be\u102e", "\u0f73\u0f72", "\u0323\u0f81\u0301"]
)
@pytest.mark.parametrize("first", ["a\u0301", "\u0b47", "\u1025", "\u0f71\u0f72", "\u11a8\u0323"])
def test_vowels_that_join_what_is_before_them_are_composed_with_it(first, behind):
    made = normalize(first + behind + "\nx")
    assert made.text == unicodedata.ucd_3_2_0.normalize("NFC", first + behind) + "\nx"
    assert normalize(made.text).text == made.text
    assert made.restore() == first + behind + "\nx"


@given(st.integers(0, 2**32), st.sampled_from(["", "a", "\u1e0b\u1100"]))
def test_long_runs_of_marks_are_composed_as_short_ones(seed, before):
    rng = random.Random(seed)
    raw = before + "".join(
        rng.choice("\u0301\u0323\u0f71\u0f73\u0345\u0328\u0308\u0344")
        for _ in range(rng.choice([63, 64, 65, 300]))
    )
    made = normalize(raw)
    assert made.text == unicodedata.ucd_3_2_0.normalize("NFC", raw)
    assert made.restore() == raw


def test_hostile_runs_of_marks_cost_no_more_than_their_length():
    raw = "a" + "\u0301\u0323" * 1_000_000  # by insertion that would be a day
    made = normalize(raw)
    assert made.text == "\u1ea1" + "\u0323" * 999_999 + "\u0301" * 1_000_000
    assert made.restore() == raw


def test_edits_of_every_occurrence_take_no_more_memory_than_their_texts():
    tracemalloc.start()
    try:
        made = restored("ab" * (1 << 15), [[["aa", "a"], ["bb", "b"]]] + [[["aa", "a"]]] * 5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made == ("a" * 64 + "b" * 2) * (1 << 15)
    assert peak < 4 * len(made)


@given(st.text("abc\n", max_size=8), st.data())
def test_edits_are_undone_as_the_specification_says(text, data):
    raws, news = (
        st.sampled_from(["", "\r\n", "xy"]),
        st.sampled_from(["", "a", "b", "\n", "ab", "\n\n"]),
    )
    distances = st.lists(st.integers(0, 4), min_size=1, max_size=2)
    some = st.tuples(raws, news, distances).map(lambda group: [*group[:2], *group[2]])
    layer = data.draw(
        st.lists(some | st.tuples(raws, st.sampled_from("abz\n")).map(list), max_size=4)
    )
    expected = slowly_undone(text, layer)
    if expected is None:
        with pytest.raises(ValueError, match="edit"):
            restored(text, [layer])
    else:
        assert restored(text, [layer]) == expected


def slowly_undone(text, layer):
    """None where no such edits can have been made."""
    places = []
    for raw, new, *distances in layer:
        at = (
            itertools.accumulate(distances)
            if distances
            else (i for i, c in enumerate(text) if c == new)
        )
        places += [(i, len(new), raw, new) for i in at]
    places.sort(key=lambda place: place[:2])
    made, last = "", 0
    for at, size, raw, new in places:
        if at < last or at > len(text) or text[at : at + size] != new:
            return None
        made += text[last:at] + raw
        last = at + size
    return made + text[last:] if len(places) <= 2 * len(text) + 1 else None
