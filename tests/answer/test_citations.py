"""Only marks with a passage behind them are shown, every span is the file's, and sentences that
were made up are marked.
"""

from dataclasses import fields

import hypothesis.strategies as st
import pytest
from hypothesis import given
from places import ROOT

from ragfile.answer.citations import (
    Citation,
    Marks,
    Source,
    best_sentence,
    claims,
    judged,
    numbered,
    place_name,
)
from ragfile.records import NUMBERED, Candidate

KEYS = (
    "Rotate the keys every 90 days with the job rotate-keys. The job writes a log. "
    "Old keys stay valid for 7 days."
)
PODS = "Restart a pod by deleting it. The controller makes a new pod within 30 seconds."


def source(number, text, start=100):
    return Source(
        number,
        f"d{number}#0",
        f"d{number}",
        0,
        f"d{number}",
        f"d{number}.md",
        text,
        1.0,
        start=start,
        end=start + len(text),
    )


SOURCES = [source(1, KEYS), source(2, PODS)]


def read(text, pieces=None):
    marks = Marks(SOURCES)
    shown = (
        "".join(marks.feed(piece)[0] for piece in pieces or [text])
        + marks.feed("", is_last=True)[0]
    )
    assert shown == marks.text
    return marks


@pytest.mark.parametrize(
    ("said", "shown", "numbers", "unknown"),
    [
        ("Daily [1].", "Daily [1].", [1], []),
        ("Daily [1][2].", "Daily [1][2].", [1, 2], []),
        ("Daily [1, 2].", "Daily [1][2].", [1, 2], []),
        ("Daily [1; 9].", "Daily [1].", [1], [9]),
        ("Daily [9].", "Daily.", [], [9]),
        ("Daily [9] and [9] and [8].", "Daily and and.", [], [9, 8]),
        ("Daily【1】.", "Daily[1].", [1], []),
        ("Daily 【2†source】", "Daily [2]", [2], []),
        ("Daily [^1] [Source 2] [passage 7]", "Daily [1] [2]", [1, 2], [7]),
        ("[0] [00] [1234]", "", [], [0, 1234]),
        ("A list `x[1]` and ``y[9] ` z`` [1]", "A list `x[1]` and ``y[9] ` z`` [1]", [1], []),
        ("```\nx[1]\ny[7]\n```\n[2]", "```\nx[1]\ny[7]\n```\n[2]", [2], []),
        ("An open ` code span\nends [1]", "An open ` code span\nends [1]", [1], []),
        ("[note] [1 [see](url) [a1]", "[note] [1 [see](url) [a1]", [], []),
    ],
)
def test_a_mark_is_shown_if_there_is_such_a_passage(said, shown, numbers, unknown):
    for pieces in ([said], list(said), [said[:5], said[5:]]):
        marks = read(said, pieces)
        assert (marks.text, [c.number for c in marks.citations], marks.unknown) == (
            shown,
            numbers,
            unknown,
        )
        assert all(marks.text[c.at :].startswith(f"[{c.number}]") for c in marks.citations)


def test_a_mark_does_not_cross_a_line():
    for said in ("see [1\n]", "see [\n1]", "see [1,\n2]"):
        for pieces in ([said], list(said)):
            marks = read(said, pieces)
            assert (marks.text, marks.citations, marks.unknown) == (said, [], [])


@given(st.text("ab [1]29,`\n.【】†", max_size=60), st.data())
def test_the_pieces_that_an_answer_comes_in_change_nothing(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, parts = read(text), read(text, pieces)
    assert (parts.text, parts.citations, parts.unknown) == (
        whole.text,
        whole.citations,
        whole.unknown,
    )


def test_text_that_cannot_become_a_mark_is_not_held_back():
    marks = Marks(SOURCES)
    assert marks.feed("The keys")[0] == "The keys"
    assert marks.feed(" [")[0] == ""
    assert marks.feed("1")[0] == ""
    assert marks.feed("]")[0] == " [1]"
    assert marks.feed(" [not a mark")[0] == ""
    assert marks.feed("\n")[0] == " [not a mark\n"


def test_a_citation_is_the_sentence_of_the_passage_that_bears_the_claim_out():
    marks = read("New pods come within 30 seconds [2]. Keys stay valid for a week. [1]")
    assert [c.text for c in marks.citations] == [
        "The controller makes a new pod within 30 seconds.",
        "Old keys stay valid for 7 days.",
    ]
    for citation in marks.citations:
        passage = SOURCES[citation.number - 1]
        assert (
            passage.text[citation.start - passage.start : citation.end - passage.start]
            == citation.text
        )


def test_a_claim_without_a_word_of_the_passage_cites_the_whole_of_it():
    assert best_sentence("Nothing alike", PODS) == (0, len(PODS))
    (citation,) = Marks([source(1, PODS, start=-1)]).feed("Hm [1]", is_last=True)[1]
    assert (citation.start, citation.end) == (-1, -1)


def test_a_mark_after_the_stop_belongs_to_the_sentence_before_it():
    marks = read("Keys rotate. [1] Pods restart. [2][1]\n\n- A list [2]\n- Another")
    found = [(marks.text[a:b], numbers) for a, b, numbers in claims(marks.text, marks.citations)]
    assert found == [
        ("Keys rotate.", [1]),
        ("Pods restart.", [2, 1]),
        ("- A list [2]", [2]),
        ("- Another", []),
    ]


# (passages, sentence, whether the passages bear it out): what people would say.
JUDGEMENTS = [
    ("The keys are rotated every 90 days. [1]", True),
    ("You should rotate your keys every 90 days by running the rotate-keys job. [1]", True),
    ("Every 90 days, the rotate-keys job rotates the keys and writes a log. [1]", True),
    ("Old keys remain valid for 7 days. [1]", True),
    ("A log is written by the job. [1]", True),
    ("To restart a pod, delete it. [2]", True),
    ("After the pod is deleted, the controller makes a new one within 30 seconds. [2]", True),
    ("Deleting the pod restarts it, and a new pod is made within 30 seconds. [2]", True),
    ("Keys rotate every 90 days, and pods restart when they are deleted. [1][2]", True),
    ("Rotated keys are valid for 7 days.", True),
    ("Yes.", True),
    ("I don't know.", True),
    ("The passages do not say how long backups are kept on tape.", True),
    ("Keys aren't rotated by the storage team's operators. [1]", False),
    ("The keys are rotated every 30 days. [1]", False),
    ("Old keys stay valid for 14 days. [1]", False),
    ("The job sends an email to every administrator. [1]", False),
    ("Keys are encrypted with AES-256 and stored in a vault. [1]", False),
    ("Restart a pod with kubectl rollout restart deployment. [2]", False),
    ("The scheduler evicts a failing container after five minutes. [2]", False),
    ("Rotate the keys every 90 days with the job rotate-keys. [2]", False),
    ("The controller makes a new pod within 30 seconds. [1]", False),
    ("Billing is charged monthly for each cluster.", False),
    ("Version 2.3 introduced automatic key rotation. [1]", False),
    ("Backups are encrypted and kept off site. [1][2]", False),
    ("Administrators must approve each rotation in the web console. [1]", False),
]


@pytest.mark.parametrize(("said", "is_borne_out"), JUDGEMENTS)
def test_sentences_are_judged_as_people_judge_them(said, is_borne_out):
    marks = read(said)
    assert (not judged(marks.text, marks.citations, SOURCES)) == is_borne_out


def test_what_is_marked_says_where_how_much_and_which_numbers():
    marks = read("Keys rotate every 90 days [1]. Old keys stay valid for 1,400 days [1].")
    (sentence,) = judged(marks.text, marks.citations, SOURCES)
    assert (
        marks.text[sentence.start : sentence.end]
        == sentence.text
        == "Old keys stay valid for 1,400 days [1]."
    )
    assert sentence.numbers == ["1400"]
    assert sentence.support == 1.0


def test_without_passages_every_claim_is_marked():
    marks = Marks([])
    marks.feed("Keys rotate every 90 days. Ask somebody.", is_last=True)
    assert [s.text for s in judged(marks.text, [], [])] == ["Keys rotate every 90 days."]


def test_what_a_citation_and_the_page_know_are_all_the_numbered_parts():
    for record in (Source, Citation):
        assert set(NUMBERED) <= {field.name for field in fields(record)}
    naming = (
        (ROOT / "ragfile/doors/server/page/passages.js").read_text().partition("function naming")[2]
    )
    assert f"Object.entries({{ {', '.join(NUMBERED)} }})" in naming


@pytest.mark.parametrize("name", NUMBERED)
def test_a_place_is_named_by_its_section_else_its_number(name):
    passage = Candidate("a", 0, "text", 1.0, metadata={name: 3})
    (source,) = numbered([passage])
    assert place_name(source) == f"{name} 3"
    passage.metadata = {"headers": "Guide > Keys"}
    (source,) = numbered([passage])
    assert place_name(source) == "Guide > Keys"
