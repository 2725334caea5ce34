"""The spans of a question's words in a passage: where a plain reading of the text has them, stems included."""

import re
from itertools import pairwise

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

import ragfile
from ragfile import _core
from ragfile.ingest.analysis import Analysis
from ragfile.records import Span
from ragfile.search.highlight_spans import joined

TEXT = "Rotate the keys. Rotating a key rotates v1.2.0 of snake_case; Straße, STRASSE. 東京都 key's"


@pytest.fixture(scope="module")
def rf(tmp_path_factory):
    path = tmp_path_factory.mktemp("highlights") / "kb.ragfile"
    with ragfile.create(path) as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": TEXT}])
    with ragfile.open(path) as rf:
        yield rf


def marked(rf, question, passage=0):
    return [TEXT[start:end] for start, end in rf.highlights(question, passage)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("rotation of a key", ["Rotate", "keys", "Rotating", "key", "rotates", "key's"]),
        ("the of a", []),
        ("v1.2.0", ["v1.2.0"]),
        ("snake", ["snake"]),
        ("snake_case", ["snake_case"]),
        ("strasse", ["Straße", "STRASSE"]),
        ("東京", ["東京"]),
        ("東京都", ["東京都"]),
        ("absent", []),
        ("", []),
    ],
)
def test_words_are_found_by_their_terms(rf, question, expected):
    assert marked(rf, question) == expected


def test_a_passage_is_a_hit_a_chunk_or_a_row(rf):
    hit = rf.search("keys", mode="bm25")[0]
    assert (
        rf.highlights("keys", hit)
        == rf.highlights("keys", rf.chunk(0))
        == rf.highlights("keys", 0)
        == rf.highlights("keys", rf.live_rows()[0])
        != []
    )
    assert rf.excerpt("keys", rf.live_rows()[0]) == rf.excerpt("keys", 0)


def test_an_empty_file_has_nothing_to_mark(tmp_path):
    with ragfile.create(tmp_path / "empty.ragfile"):
        pass
    with ragfile.open(tmp_path / "empty.ragfile") as rf:
        assert rf.highlights("keys", ragfile.Chunk("a", 0, "keys")) == []


LETTERS = st.text(alphabet="abcdefgh ,.;!\n", max_size=80)


@given(text=LETTERS, question=LETTERS)
def test_plain_words_are_those_that_a_regular_expression_finds(rf, text, question):
    """Words without dots between letters are all alike: runs of letters, stemmed."""
    text, question = text.replace(".", " "), question.replace(".", " ")
    stem, analysis = Stemmer.Stemmer("english", 0).stemWord, Analysis()
    asked = {stem(w) for w in re.findall("[a-z]+", question) if w not in analysis.stopped}
    expected = [
        m.span()
        for m in re.finditer("[a-z]+", text)
        if m[0] not in analysis.stopped and stem(m[0]) in asked
    ]
    chunk = ragfile.Chunk("x", 0, text)
    assert rf.highlights(question, chunk) == expected


@given(st.text(max_size=60))
def test_every_word_stands_where_it_is_said_to_stand(text):
    """The place of a word holds it, and nothing before or after that would change it."""
    found = _core.word_places(text)
    assert [(word, whole) for word, whole, _, _ in found] == _core.words(text)
    for word, whole, start, end in found:
        assert 0 <= start < end <= len(text)
        assert (word, whole) in _core.words(text[start:end])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=12))
def test_joined_spans_cover_the_same_places(pairs):
    given_ = [Span(start, start + size) for start, size in pairs]
    kept = joined(given_)
    assert {i for s in kept for i in range(*s)} == {i for s in given_ for i in range(*s)}
    assert all(a.end <= b.start for a, b in pairwise(kept))
