"""Pieces joined into chunks: whole, within the size, with the end of the chunk before."""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import ragfile
from ragfile.canonical import chunk, index
from ragfile.ingest.chunker import Policy, split
from ragfile.records import Document

TURNS = [
    {"text": "Hello there", "t_start": 0.0, "t_end": 1.0, "speaker": "A"},
    {"text": "General Kenobi", "t_start": 1.0, "t_end": 2.0, "speaker": "B"},
    {"text": "You are a bold one", "t_start": 2.0, "t_end": 3.0, "speaker": "A"},
]


def shown(chunks):
    return [{"content": c.content, "metadata": c.metadata} for c in chunks]


def test_segments_are_joined_as_the_specification_s_own_case_says():
    found = chunk(TURNS, {"target_tokens": 6, "overlap_tokens": 2, "max_chars": 80})
    first = {
        "segment_start": 0,
        "segment_end": 1,
        "speakers": ["A", "B"],
        "t_start": 0.0,
        "t_end": 2.0,
    }
    second = {"segment_start": 2, "segment_end": 2, "speakers": ["A"], "t_start": 2.0, "t_end": 3.0}
    assert shown(found) == [
        {"content": "Hello there General Kenobi", "metadata": first},
        {"content": "General Kenobi You are a bold one", "metadata": second},
    ]


def test_a_text_is_joined_as_the_specification_s_own_case_says():
    text = "Cats are small mammals. Dogs are loyal animals."
    found = chunk(text, {"target_tokens": 8, "overlap_tokens": 2, "max_chars": 60})
    assert shown(found) == [{"content": text, "metadata": {"segment_start": 0, "segment_end": 0}}]


def greedy(turns, size, overlap, most):
    """The words of each chunk, by lists of words alone."""
    done, now = [], []
    for turn in turns:
        if now and (len(now) + len(turn) > size or len(" ".join(now + turn)) > most):
            done.append(now)
            now = now[1:][max(0, len(now) - 1 - overlap) :] if overlap else []
            while now and len(" ".join(now + turn)) > most:
                now = now[1:]
        now = now + turn
    return [*done, now] if now else done


WORDS = st.text("abcXYZ", min_size=1, max_size=6)


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=8), max_size=20),
    st.integers(1, 20), st.integers(0, 8), st.integers(55, 120),
)  # fmt: skip
def test_chunks_are_those_of_a_plain_greedy_count(turns, size, overlap, most):
    overlap = min(overlap, size - 1)
    policy = Policy("joined", size, overlap, max_chars=most)
    found = chunk([" ".join(turn) for turn in turns], policy)
    assert [c.content.split() for c in found] == greedy(turns, size, overlap, most)


@given(st.text("ab. \n", max_size=600), st.integers(1, 30), st.integers(1, 60), st.integers(1, 12))
def test_nothing_is_longer_than_it_may_be_and_nothing_is_lost(text, size, most, unit):
    chunks = chunk(text, Policy("joined", size, max_chars=most, max_unit_tokens=unit))
    assert all(len(c.content) <= most for c in chunks)
    assert "".join(text.split()) == "".join(_parts_not_said_before(chunks)).translate(BLANKS)
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end


BLANKS = dict.fromkeys(map(ord, " \n\t"))


def _parts_not_said_before(chunks):
    end = 0
    for c in chunks:
        yield c.content[max(0, end - c.start) :]
        end = c.end


def test_a_long_paragraph_is_joined_by_sentences_and_a_long_word_is_cut():
    text = "Pods come and go. " * 30 + "\n\n" + "x" * 500
    chunks = chunk(text, Policy("joined", 20, 0, max_chars=100, max_unit_tokens=10))
    assert all(c.content.endswith(".") for c in chunks if "x" not in c.content)
    assert sum(c.content.count("x") for c in chunks) == 500


def test_what_all_pieces_say_stays_and_the_page_is_the_first_one_s():
    rows = [
        {"text": "One.", "page": 3, "lang": "en", "speaker": 7},
        {"text": "Two.", "page": 4, "lang": "en", "by": "x"},
    ]
    (only,) = chunk(rows, "joined")
    assert only.metadata == {"page": 3, "lang": "en", "segment_start": 0, "segment_end": 1}


def test_a_file_records_the_policy_and_edits_follow_it(tmp_path):
    folder, path = tmp_path / "docs", tmp_path / "kb.ragfile"
    folder.mkdir()
    text = "\n\n".join(f"Paragraph {i} is here." for i in range(20))
    (folder / "a.txt").write_text(text)
    policy = Policy("joined", 12, 3, max_chars=90, max_unit_tokens=40)
    ragfile.build(folder, path, chunking=policy)
    (folder / "b.txt").write_text(text)
    ragfile.sync(path, folder)
    wanted = sorted(c.content for c in split(Document("b", text), policy))
    with ragfile.open(path) as rf:
        recorded = rf.file.config["chunking"]
        assert (recorded["max_chars"], recorded["max_unit_tokens"]) == (90, 40)
        for name in ("a.txt", "b.txt"):
            rows = np.flatnonzero(rf.rows.mask({"doc_id": name}))
            assert sorted(rf.hit(row).text for row in rows) == wanted


def test_joined_turns_are_indexed_and_found(tmp_path):
    path = tmp_path / "talk.ragfile"
    index(chunk(TURNS, {"target_tokens": 6, "overlap_tokens": 2}), path)
    with ragfile.open(path) as rf:
        assert rf.search("who is bold?", k=1)[0].metadata["speakers"] == ["A"]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"kind": "words", "max_chars": 10}, "max_chars belongs to the policy 'joined'"),
        ({"target_tokens": 5, "max_chars": 0}, "max_chars must be at least 1"),
        ({"target_tokens": 5, "max_unit_tokens": "x"}, "max_unit_tokens must be at least 1"),
        ({"target_tokens": 0}, "at least 1"),
        ({"target_tokens": 5, "overlap_tokens": 5}, "less than the size"),
    ],
)
def test_limits_that_make_no_sense_are_refused(given_, said):
    with pytest.raises(ValueError, match=said):
        Policy.of(given_)
