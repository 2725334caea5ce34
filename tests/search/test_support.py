"""Support: how much of a question the passages of an answer have, in a number, in words and in one word."""

import pickle

import pytest

import ragfile
from ragfile.search.function_words import function_words, is_question
from ragfile.search.question_terms import question_terms
from ragfile.search.support import KEYWORDS, SENTENCE, needed

PAGES = {
    "keys": "Rotate the signing keys every 90 days with the job rotate-keys. It writes a log.",
    "pods": "Restart a pod by deleting it. The controller makes a new pod in 30 seconds.",
    "backups": "Backups are taken every night. They are kept for 40 days.",
    "volumes": "A volume outlives its pod. Claims ask for storage of a class.",
}


@pytest.fixture(scope="module")
def rf(tmp_path_factory):
    path = tmp_path_factory.mktemp("support") / "kb"
    with ragfile.create(path, embedder="default") as w:
        w.add_documents([{"id": name, "text": text} for name, text in PAGES.items()])
    with ragfile.open(path) as opened:
        yield opened


def test_a_hit_names_the_questions_words_that_it_does_not_have(rf):
    hits = rf.search("Rotate the pancakes, every week")
    assert hits[0].doc_id == "keys"
    assert hits[0].missing == ["pancakes", "week"]
    assert "Rotate" in hits[1].missing
    assert hits.support.missing == ("pancakes", "week")


def test_words_are_compared_by_their_stems_and_identifiers_by_their_parts(rf):
    assert rf.search("how are signed keys rotated?")[0].missing == []
    assert rf.search("signingKeys")[0].missing == []
    assert rf.search("rotate_keys")[0].missing == []


@pytest.mark.parametrize(("question", "strength"), [
    ("rotate signing keys", "strong"),
    ("how do I rotate the signing keys?", "strong"),
    ("how are the signing keys of a bank rotated?", "fair"),
    ("how do I bake pancakes?", "weak"),
    ("restart a washing machine", "weak"),
])  # fmt: skip
def test_support_has_one_word(rf, question, strength):
    hits = rf.search(question)
    assert (hits.support.strength, hits.weak) == (strength, strength == "weak")


def test_answers_of_a_batch_and_of_the_cache_have_support_too(rf):
    (batch,) = rf.search_batch(["how do I bake pancakes?"])
    assert batch.weak
    for _ in range(2):
        hits = rf.search("bake pancakes", cache=True)
        assert hits.weak
        assert hits[0].missing == ["bake", "pancakes"]


def test_without_a_question_nothing_is_weak_or_missing(rf):
    for hits in (rf.search("", similar_to="keys#0"), rf.search("what is it?")):
        assert not hits.weak
        assert [hit.missing for hit in hits] == [[]] * len(hits)
    assert rf.search("keys", mode="keyword").support is None
    assert not rf.ask("what is it?").supported


def test_a_pickled_answer_has_no_support(rf):
    hits = pickle.loads(pickle.dumps(rf.search("bake pancakes")))
    assert (hits.support, hits.weak, hits[0].missing) == (None, False, [])


def test_keywords_need_more_than_a_sentence_and_long_questions_less():
    assert needed("rotate keys", 2) == KEYWORDS
    assert needed("how do I rotate keys?", 2) == SENTENCE
    assert needed("how do I rotate keys?", 16) == SENTENCE / 2


@pytest.mark.parametrize(("question", "words", "is_one"), [
    ("how long does it take?", {"how", "long", "does", "it"}, True),
    ("a long rope", {"a"}, False),
    ("Wie lange dauert die Inspektion?", {"wie", "lange", "die"}, True),
    ("Combien de temps dure la visite", {"combien", "de", "la"}, True),
    ("die casting", set(), False),
])  # fmt: skip
def test_words_that_claim_nothing_are_those_of_the_questions_language(question, words, is_one):
    found = function_words(question)
    assert words <= found
    assert {"rope", "dauert", "take", "temps", "casting"}.isdisjoint(found)
    assert is_question(question) is is_one


@pytest.mark.parametrize(("question", "claimed"), [
    ("如何安装软件包", {"安装", "装软", "软件", "件包"}),
    ("什么是内核", {"内核"}),
    ("パスワードをどうすればよいですか", {"パス", "スワ", "ワー", "ード", "ドを"}),
    ("네트워크 설정하기", {"네트", "트워", "워크", "설정"}),
    ("これはどうするのですか", set()),
])  # fmt: skip
def test_pairs_that_only_ask_claim_nothing(tmp_path, question, claimed):
    ragfile.build([{"id": "a", "text": "text"}], tmp_path / "kb", embedder="none")
    with ragfile.open(tmp_path / "kb") as rf:
        assert set(question_terms(rf.rows, question).weights) == claimed
