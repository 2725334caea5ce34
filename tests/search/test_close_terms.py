"""Few keywords that are far apart in every passage do not support an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragfile
from ragfile.search.close_terms import heaviest_place
from ragfile.search.question_terms import QuestionTerms, TermPlace
from ragfile.text import words

FILLER = "The job writes a line to its log when it is done, and waits for the next night. " * 4
PAGES = f"""# Nightly jobs

## Copies

Old copies are removed after forty days. {FILLER}

{FILLER} Colours of the console are a matter of taste.

## Schedules

A schedule is a line with five fields.

| field | range |
|---|---|
| minute | 0 to 59 |
| hour | 0 to 23 |
| weekday | 0 to 6 |
"""


@pytest.fixture(scope="module")
def rf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("close")
    (folder / "jobs.md").write_text(PAGES)
    ragfile.build(folder / "jobs.md", folder / "kb.ragfile")
    with ragfile.open(folder / "kb.ragfile") as opened:
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "remove old copies",
        "days until copies are removed",
        "schedule fields",  # a heading, and its text
        "jobs log",  # the title of the page, and the text
        "weekday range",  # the header of a table, and a row
    ],
)
def test_words_in_one_place_support_an_answer(rf, question):
    hits = rf.search(question)
    assert not hits.support.is_apart
    assert not hits.weak


@pytest.mark.parametrize("question", ["removed colours", "remove taste"])
def test_words_that_are_far_apart_do_not(rf, question):
    hits = rf.search(question)
    assert hits.support.share >= hits.support.needed
    assert hits.support.is_apart
    assert hits.weak
    assert "together" in hits.support.remark()
    assert hits.support.to_dict()["apart"] is True
    answer = rf.ask(question)
    assert not answer.supported
    assert "no passage has the words of the question together" in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "old copies removed after forty days and colours of the console by taste",
        "how are the colours removed?",
        "taste",
    ],
)
def test_the_words_of_sentences_and_long_questions_may_be_anywhere(rf, question):
    hits = rf.search(question)
    assert not hits.support.is_apart
    assert not hits.weak


WEIGHTS = {"a": 1.0, "b": 2.0, "c": 4.5}


def _places(text):
    found, at = [], 0
    for word in text.split(" "):
        found += [TermPlace(word, at, at + len(word))] if word else []
        at += len(word) + 1
    return found


TERMS = QuestionTerms(WEIGHTS, {t: t for t in WEIGHTS}, _places, lambda text: set(words(text)))


def _slow(text, room):
    """Try every stretch of the text, and every single term."""
    places = [place for place in _places(text) if place.term in WEIGHTS]
    stretches = [[one] for one in places] + [
        [one for one in places if at <= one.start and one.end <= at + room]
        for at in range(len(text))
    ]
    sums = (TERMS.weight({one.term for one in some}) for some in stretches)
    return max(sums, default=0.0)


@given(st.lists(st.sampled_from(["a", "b", "c", "x", "", "long"]), max_size=30), st.integers(0, 40))
def test_the_heaviest_place_is_that_of_all_stretches(some, room):
    text = " ".join(some)
    assert heaviest_place(TERMS, text, {"symbol": "code"}, room) == _slow(text, room)
