"""The documents are in plain English: short sentences, and none of the turns that readers stumbled over."""

import re
import statistics

import pytest
from places import ROOT

READ_BY_USERS = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
PAGES = [*READ_BY_USERS, ROOT / "bench/README.md", *sorted((ROOT / "spec").rglob("*.md"))]
TURNS = {
    r"(?<!\bthere )\bis no (?!longer|more|smaller)": "is not a",
    r"\bbehind (?!(?:a|an|the) (?:URL|server)|URLs)": "after",
    r"\bwhoever\b": "anybody who",
    r"\b(?:hereby|thereof|besides,)": "also",
}


def prose(page):
    """The text of a page without code, tables, headings and link targets."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?:\||#|    ).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`]*`", "x", re.sub(r"\]\([^)]*\)", "]", text))


def sentences(page):
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d\.) ", prose(page)):
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z*`\[(])", " ".join(paragraph.split())):
            if len(sentence.split()) > 2:
                yield sentence


def test_most_sentences_are_short():
    sizes = sorted(len(s.split()) for page in READ_BY_USERS for s in sentences(page))
    assert statistics.median(sizes) <= 16
    assert sizes[len(sizes) * 9 // 10] <= 30


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_says_it_in_usual_words(page):
    text = " ".join(prose(page).split())
    for turn, instead in TURNS.items():
        found = re.search(f".{{,30}}{turn}.{{,20}}", text, re.IGNORECASE)
        assert not found, f"{found[0]!r}: say {instead!r}"
