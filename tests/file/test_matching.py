"""BM25 of an open file: the choices that it records, the numbers worked by hand, and what a question may choose instead."""

import math

import numpy as np
import pytest

import ragfile
from ragfile.ingest.analysis import Analysis

TEXTS = ["red fox", "red red hen", "blue hen sat down"]  # 9 words in 3 rows: 3 on average


def by_hand(tf, length, df, k1, b, rows=3, average=3.0):
    idf = math.log(1 + (rows - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + k1 * (1 - b + b * length / average))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kb.ragfile"


def write(path, analysis=None, chunks=None):
    analysis = analysis or Analysis(stemmer="none", stop_words="none", k1=0.9, b=0.4)
    chunks = chunks or [{"content": text} for text in TEXTS]
    with ragfile.create(path, analysis=analysis) as w:
        w.add([{"doc_id": f"d{i}", "chunk_index": 0, **chunk} for i, chunk in enumerate(chunks)])


@pytest.mark.parametrize(
    ("k1", "b"), [(None, None), (1.2, 0.75), (2.0, None), (None, 0.0), (0.0, 0.0)]
)
def test_k1_and_b_are_the_files_unless_a_question_has_its_own(path, k1, b):
    write(path)
    used = (0.9 if k1 is None else k1, 0.4 if b is None else b)
    expected = {0: by_hand(1, 2, 2, *used), 1: by_hand(2, 3, 2, *used)}
    with ragfile.open(path) as rf:
        rows, scores = rf.match("red", 3, k1=k1, b=b)
        found = dict(zip(rows[0][:2].tolist(), scores[0][:2].tolist(), strict=True))
        assert found == pytest.approx(expected, rel=1e-7)
        assert rows[0, 2] == -1
        assert rf.score([2, 1, 0], text="red", k1=k1, b=b).tolist() == [0.0, found[1], found[0]]


def test_published_constants_give_these_numbers(path):
    write(path)
    with ragfile.open(path) as rf:
        scores = rf.score([0, 1, 2], text="red hen", k1=1.2, b=0.75)
    # idf(red) = idf(hen) = ln 1.6; parts 1/1.9 | 2/3.2 and 1/2.2 | 1/2.5
    expected = [0.47000362924573563 * part for part in (1 / 1.9, 2 / 3.2 + 1 / 2.2, 1 / 2.5)]
    np.testing.assert_allclose(scores, expected, rtol=1e-7)


@pytest.mark.parametrize("change", ["edit", "compact"])
def test_the_recorded_choices_outlive_a_change(path, change):
    write(path, Analysis(stemmer="porter", stop_words=("fox",), accents="strip", k1=0.9, b=0.4))
    if change == "edit":
        with ragfile.edit(path) as w:
            w.add([{"doc_id": "new", "chunk_index": 0, "content": "Relational RÉD fox"}])
    else:
        ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert rf.match("fox", 3)[0].max() == -1
        assert (rf.match("reds", 4)[0] >= 0).sum() == (3 if change == "edit" else 2)
        again = rf.match("red", 4), rf.match("red", 4, k1=0.9, b=0.4)
        assert all(np.array_equal(one, other) for one, other in zip(*again, strict=True))


def test_a_heading_that_weighs_twice_is_worth_a_second_mention(path):
    analysis = Analysis(stemmer="none", stop_words="none", fields=(("text", 1), ("headers", 2)))
    chunks = [
        {"content": "about hens", "metadata": {"headers": ["Fox"]}},
        {"content": "fox hens seen", "metadata": {"headers": ["Den"]}},
    ]
    write(path, analysis, chunks)
    with ragfile.open(path) as rf:
        rows, scores = rf.match("fox", 2)
    # lengths 2 + 2 and 3 + 2, 4.5 on average; tf 2 and 1
    expected = [by_hand(2, 4, 2, 1.2, 0.75, 2, 4.5), by_hand(1, 5, 2, 1.2, 0.75, 2, 4.5)]
    assert rows.tolist() == [[0, 1]]
    np.testing.assert_allclose(scores[0], expected, rtol=1e-7)


def test_a_search_by_bm25_ranks_as_the_match_does(path):
    write(path)
    with ragfile.open(path) as rf:
        rows, scores = rf.match("red hen", 3)
        hits = rf.search("red hen", 3, mode="bm25")
    assert [hit.doc_id for hit in hits] == [f"d{row}" for row in rows[0]]
    assert [hit.scores["bm25"] for hit in hits] == pytest.approx(scores[0].tolist(), rel=1e-7)
