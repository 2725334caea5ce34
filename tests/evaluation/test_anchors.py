"""A folder judged by its own links: the ranks are those of pages, without those that hold the link."""

import json
import subprocess
import sys

import pytest

import ragfile
from ragfile.evaluation.anchors import Anchor, judge_anchors, read_anchors

PAGES = {
    "drain.md": "# Safely drain a node\n\nMove pods away before maintenance.\n",
    "cordon.md": "# Cordon\n\nSee how to [drain a node](drain.md) and drain a node well.\n",
    "budget.md": "# Budgets\n\nHow many pods may go at once.\n",
}
ANCHORS = [
    {"q": "drain a node", "t": "drain.md", "src": ["cordon.md"], "title": False},
    {"q": "nothing of the kind", "t": "budget.md", "src": [], "title": False},
    {"q": "budgets", "t": "budget.md", "title": True},
]


@pytest.fixture
def folder(tmp_path):
    for name, text in PAGES.items():
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text)
    (tmp_path / "anchors.json").write_text(json.dumps(ANCHORS))
    return tmp_path


@pytest.mark.parametrize(
    ("documents", "rank"),
    [
        (["a"], 1),
        (["x", "a"], 1),
        (["b", "b", "a"], 2),
        (["b"], None),
        ([*"bcdefghijk", "a"], None),
        (["x", *"bcdefghij", "a"], 10),
    ],
)
def test_a_rank_counts_pages_once_and_skips_those_left_out(documents, rank):
    assert Anchor("q", "a", frozenset("x"), False).rank(documents) == rank


def test_the_numbers_follow_from_the_ranks(folder):
    report = judge_anchors(folder / "docs", folder / "anchors.json")
    assert (report["documents"], report["queries"]) == (3, 3)
    assert report["modes"]["bm25"] == {
        "ndcg@10": 0.5, "mrr@10": 0.5, "first": 0.5,
        "titles ndcg@10": 1.0, "titles mrr@10": 1.0, "titles first": 1.0,
    }  # fmt: skip


def test_a_file_without_vectors_is_judged_by_words(folder):
    report = judge_anchors(folder / "docs", folder / "anchors.json", embedder="none")
    assert list(report["modes"]) == ["bm25"]


def test_the_command_prints_the_table_and_keeps_the_file(folder):
    kb = folder / "kb.ragfile"
    words = ["eval", folder / "docs", "--anchors", folder / "anchors.json", "--keep", kb]
    command = [sys.executable, "-m", "ragfile", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "MRR@10" in done.stdout
    assert "first" in done.stdout
    with ragfile.open(kb) as rf:
        assert len(rf) == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "list of questions"),
        ('{"q": 1}', "list of questions"),
        ('[{"q": "a", "t": "b"}, 7]', "question 2"),
        ('[{"q": "a"}]', "question 1"),
        ('[{"q": "a", "t": "b", "src": 7}]', "question 1"),
    ],
)
def test_what_is_no_list_of_anchors_is_refused_by_its_place(tmp_path, text, why):
    (tmp_path / "anchors.json").write_text(text)
    with pytest.raises(ValueError, match=why):
        read_anchors(tmp_path / "anchors.json")


def test_answers_that_are_not_in_the_folder_are_an_error(folder):
    (folder / "anchors.json").write_text(json.dumps([{"q": "a", "t": "nowhere.md"}]))
    with pytest.raises(ValueError, match=r"nowhere\.md"):
        judge_anchors(folder / "docs", folder / "anchors.json")
