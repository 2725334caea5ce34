"""The terms of a passage in one call are those of its marked words, which is the plain, slow way."""

import random

import pytest

import ragfile
from ragfile.ingest.analysis import Analysis
from ragfile.search.question_terms import plain_terms, question_terms

ALPHABET = [
    *"abZ Yß.é_-+1,2'東京にほ\U0001f600\n\u0301\u200dİı", "rotating", "snake_case", "CamelCase", "foo.bar", " the ", " keys ",
    "Schlüssel", "été", "html5", "C++",
]  # fmt: skip


@pytest.mark.parametrize("analysis", [
    Analysis(), Analysis(pieces=False), Analysis(stemmer="german", accents="strip"), Analysis(stemmer="none"),
])  # fmt: skip
def test_the_terms_of_a_text_are_those_of_its_places(tmp_path, analysis):
    with ragfile.create(tmp_path / "kb", analysis=analysis) as w:
        w.add_documents([{"id": "a", "text": "rotating keys of snake_case"}])
    rng = random.Random(5)
    with ragfile.open(tmp_path / "kb") as rf:
        asked = question_terms(rf.rows, "rotating keys 東京 foo.bar CamelCase")
        for _ in range(500):
            text = "".join(rng.choices(ALPHABET, k=rng.randint(0, 40)))
            assert asked.terms(text) == {place.term for place in asked.places(text)}, text


def test_plain_terms_are_those_of_their_places():
    asked = plain_terms("rotating keys")
    text = "Keys rotate; the key_rotation rotates."
    assert asked.terms(text) == {place.term for place in asked.places(text)}
    assert asked.held(text) == set(asked.weights)
