"""The specification's vectors of words and languages: the core, a reading of the rules, and a browser agree with them."""

import json

import pytest
from doors.browser.node import Reader
from oracles import languages as oracle
from oracles.decoded import reader
from places import ROOT

import ragfile
from ragfile import _core

VECTORS = ROOT / "spec" / "vectors"
LANGUAGES = json.loads((VECTORS / "languages.json").read_text(encoding="utf-8"))
DOCUMENTS, QUESTIONS = LANGUAGES["documents"], LANGUAGES["questions"]


def numbers(codes):
    return [oracle.CODES.index(code) for code in codes]


def code(number):
    return None if number is None else oracle.CODES[number]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "kb.ragfile"
    texts = [{"id": one["id"], "text": one["text"]} for one in DOCUMENTS]
    ragfile.build(texts, path, embedder="none")
    return path


@pytest.mark.parametrize(
    "case", json.loads((VECTORS / "words_3.json").read_text(encoding="utf-8")),
    ids=lambda case: ascii(case["text"]),
)  # fmt: skip
def test_words_are_those_of_the_third_analyzer(case):
    found = _core.words(case["text"], pieces=True, clusters=True)
    assert [list(one) for one in found] == case["words"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one["id"])
def test_documents_have_their_language_and_its_terms(document):
    text, language = document["text"], document["language"]
    assert code(_core.language_of(text)) == language
    assert code(oracle.of_document(text)) == language
    slow = [term for term, *_ in oracle.words_in(text, *numbers([language])) if term is not None]
    assert slow == document["terms"]


def test_the_dictionary_has_the_terms_of_all_documents(path):
    wanted = {term for document in DOCUMENTS for term in document["terms"]}
    (segment,) = reader.read(path.read_bytes())["segments"]
    found = (
        segment["words"][0]["terms"]
        if isinstance(segment["words"], list)
        else segment["words"]["terms"]
    )
    assert found.keys() == wanted


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: ascii(one["text"]))
def test_questions_have_their_language_and_find_their_documents(path, question):
    text, among = question["text"], numbers(question["among"])
    assert code(_core.language_asked(text, among)) == question["language"]
    assert code(oracle.asked(text, among)) == question["language"]
    assert _core.is_foreign(text) == question["is_foreign"]
    with ragfile.open(path) as rf:
        assert sorted(hit.doc_id for hit in rf.search(text, mode="bm25")) == question["found"]


def test_a_browser_finds_the_same_documents(path, web_files):
    with Reader(path) as there:
        there("open")
        for question in QUESTIONS:
            hits = there("search", question["text"], {"mode": "bm25"})["hits"]
            assert sorted(hit["doc_id"] for hit in hits) == question["found"], question
