"""The rule of repeats: the same words in the same order, and nothing that could be news."""

import pytest

from ragfile.memories.same_words import words_of

SAID = "Anna lives in the old house at Lake Street 5."


@pytest.mark.parametrize(
    "repeat",
    [
        "anna lives in the old house at lake street 5",
        "Remember that Anna lives in an old house at Lake Street 5!",
        "By the way, Anna lives in the old house, at Lake Street 5.",
        "FYI: Anna lives in the old house at Lake Street 5 (as I said before).",
        "Anna still lives in the old house at Lake Street 5.".replace(" still", ""),
        "Ａnna lives in the old house at Lake Street ５",
    ],
)
def test_repeats_have_the_same_words(repeat):
    assert words_of(repeat) == words_of(SAID)


@pytest.mark.parametrize(
    "news",
    [
        "Anna lives in the old house at Lake Street 6.",
        "Anna lived in the old house at Lake Street 5.",
        "Anna no longer lives in the old house at Lake Street 5.",
        "Anna does not live in the old house at Lake Street 5.",
        "Bert lives in the old house at Lake Street 5.",
        "Lake lives in the old house at Anna Street 5.",
    ],
)
def test_statements_that_differ_in_a_word_or_their_order_are_no_repeats(news):
    assert words_of(news) != words_of(SAID)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 5.", "The limit is -5."), ("It costs 5.", "It costs 5%."),
        ("It costs 5.", "It costs $5."), ("Version 1.5", "Versions 1-5"), ("x = 1", "x != 1"),
        ("Likes C.", "Likes C++."), ("Likes C++.", "Likes C#."), ("Food: 👍", "Food: 👎"),
        ("Takes vitamin A.", "Takes vitamin."),
    ],
)  # fmt: skip
def test_statements_that_differ_in_a_sign_are_no_repeats(one, other):
    assert words_of(one) != words_of(other)


def test_a_statement_that_is_only_an_introduction_keeps_its_words():
    assert words_of("By the way, FYI!") == ("by", "way", "fyi")


def test_words_that_only_sound_like_an_introduction_count():
    assert words_of("Paul left a note.") != words_of("Paul left.")
    assert words_of("Do not call again.") != words_of("Do not call.")
    assert words_of("Still water runs deep.") != words_of("Water runs deep.")


def test_thousands_of_introductions_are_left_out():
    assert words_of("fyi " * 4000 + "tea") == ("tea",)
