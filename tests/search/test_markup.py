"""Text for people: what is markup goes, what is code or may be no markup stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile.search.markup import code_spans, readable


@pytest.mark.parametrize(("text", "shown"), [
    ("Use `a_b` and __init__ or 2 * 3 * 4.", "Use `a_b` and __init__ or 2 * 3 * 4."),
    ("See [the *page*](/a_(b)) and ![alt](x.png) more.", "See the page and  more."),
    ("See [`rotate`](/r#now) first.", "See `rotate` first."),
    ("See [a link\nover lines](x.md).", "See a link\nover lines."),
    ("<p>One &lt; two</p> vector<int> stays", "One < two vector<int> stays"),
    ('{{< glossary_tooltip text="pods" term_id="p" >}} run {{% x %}}', "pods run "),
    ("> quoted **two\nlines**", "quoted two\nlines"),
    ("snake_case and _so_ on [1]", "snake_case and so on [1]"),
])  # fmt: skip
def test_markup_is_taken_off(text, shown):
    assert readable(text) == shown


@pytest.mark.parametrize("text", [
    "the tags `<a>`, `<b>` and `&lt;` in code", "``a `*b*` c`` and `[x](y)`", "pass **kwargs to it",
    "_private and 5*x*y and a * b", "2 ** 3 ** 4", "`{{< note >}}` and `<!-- x -->`", "\ue000 of `private` use",
    "`one", "a ` b\n\nc ` <ins",
])  # fmt: skip
def test_code_and_signs_that_may_be_no_markup_stay(text):
    assert readable(text) == text


def test_fenced_code_can_begin_or_end_outside_a_passage():
    def codes(text):
        return [text[start:end] for start, end in code_spans(text)]

    assert codes("kubectl get. pods\n```\n\nOne.") == ["kubectl get. pods\n```"]
    assert codes("x. y\n```\n\nOne.\n\n```sh\nz. w\n```\nTwo.")[1:] == ["```sh\nz. w\n```"]
    assert codes("One.\n```sh\nz. w") == ["```sh\nz. w"]


@given(st.text(st.sampled_from("ab. \n`~*_[](){}<>%!|#->&;1"), max_size=80))
def test_nothing_is_added_to_any_text(text):
    letters = iter(text)
    assert all(letter in letters for letter in readable(text) if letter in "ab1")


@pytest.mark.parametrize(("text", "shown"), [
    ("<td><code>delay</code><br/><em>integer</em></td><td>Seconds</td>", "delay integer Seconds"),
    ('<em><a href="{{< ref "#Get" >}}">Get</a></em>', "Get"), ("un<b>like</b>ly", "unlikely"),
    ("one<br>\ntwo", "one\ntwo"),
])  # fmt: skip
def test_cells_and_lines_of_html_stay_words_of_their_own(text, shown):
    assert readable(text, keeps_code_marks=False) == shown
