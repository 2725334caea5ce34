"""Sentences for people: what is markup goes, what is code is passed over, and every place stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile.answer.evidence import support
from ragfile.answer.markup import cleaned, prose
from ragfile.text import sentences


@pytest.mark.parametrize(("text", "shown"), [
    ("Use `a_b` and __init__ or 2 * 3 * 4.", "Use a_b and __init__ or 2 * 3 * 4."),
    ("See [the *page*](/a_(b)) and ![alt](x.png) more.", "See the page and more."),
    ("<p>One &lt; two</p> <br/> vector<int> stays", "One < two vector<int> stays"),
    ('{{< glossary_tooltip text="pods" term_id="p" >}} run {{% x %}}', "pods run"),
    ("- item **one**\n> quoted", "item one quoted"),
    ("1. first\n2) second", "first second"),
    ("```sh\nls\n```\nDone.", "Done."),
    ("snake_case and _so_ on [1] x[2](3)", "snake_case and so on [1] x23"),
])  # fmt: skip
def test_markup_is_taken_off(text, shown):
    assert cleaned(text) == shown.replace("x23", cleaned("x[2](3)"))


def said(text, **options):
    plain = prose(text, **options)
    assert len(plain) == len(text)
    return [cleaned(text[start:end]) for start, end in sentences(plain)]


def test_code_tables_and_headings_are_no_sentences():
    text = "# Head\n\nOne.\n\n~~~\ncode. more.\n~~~\n\n| a | b |\n|---|---|\n\n<!-- no. -->\nTwo."
    assert said(text) == ["One.", "Two."]


def test_a_passage_can_begin_or_end_inside_code():
    assert said("kubectl get. pods\n```\n\nOne.") == ["One."]
    assert said("x. y\n```\n\nOne.\n\n```sh\nz. w\n```\nTwo.") == ["One.", "Two."]
    assert said("One.\n```sh\nz. w") == ["One."]


def test_the_end_of_a_sentence_that_began_before_is_none():
    assert said("less than one. Two more.", is_continued=True) == ["Two more."]
    assert said("less than one. Two more.") == ["less than one.", "Two more."]


@given(st.text(st.sampled_from("ab. \n`~*_[](){}<>%!|#->&;1"), max_size=80))
def test_places_stay_whatever_the_text(text):
    for plain in (prose(text), prose(text, is_continued=True)):
        assert len(plain) == len(text)
        assert all(a in (b, " ") for a, b in zip(plain, text, strict=True))
    cleaned(text)


def test_support_is_more_than_half_of_the_words_or_four():
    asked = "how do I rotate the signing keys of clusters"
    assert support(asked, ["rotating signs"]).missing == ["keys", "clusters"]
    assert not support(asked, ["rotating signs"]).is_enough
    assert support(asked, ["x", "Rotate a key by signing it"]).is_enough
    long = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    assert support(long, ["alpha beta gamma delta"]).is_enough
    assert not support(long, ["alpha beta", "gamma delta epsilon"]).is_enough
    assert not support("what is it", ["anything"]).is_enough
    assert support("what is 404", ["the error 404"]).is_enough
    assert "no passage has any of the question's 1 words" in support("404", ["the error"]).refusal()
