"""The documents and docstrings are written in the words of the field, for the reader.

`MARKS` are turns that stand for an unclear sentence more often than not. Each has a limit per 1,000 words, close to
those of well-documented projects. An area that is above a limit today has a ceiling of its own, which may only fall.
"""

import ast
import io
import re
import statistics
import tokenize
from collections import Counter

import pytest
from places import ROOT

pytestmark = pytest.mark.xdist_group("prose")  # all texts are read once
MARKS = {
    "what-clauses": r"\bwhat (?:is|are|was|were|it|they|a|an|the|he|she|we|you|this|that|there|has|have|had|can|"
    r"cannot|does|do|did|comes?|came|goes|stands?|makes?|made|others?|no|nobody|else)\b",
    "say and tell": r"\b(?:say|says|said|saying|tell|tells|told|telling)\b",
    "lie": r"\b(?:lie|lies|lay|lain|lying)\b",
    "somebody": r"\b(?:somebody|nobody|anybody|everybody|whoever|whomever)\b",
}
YOU = r"\b(?:you|your|yours|yourself)\b"
GOALS = {"what-clauses": 0.8, "say and tell": 0.3, "lie": 0.3, "somebody": 0.3}
# area -> ceilings above the goals, lowered after each rewrite
CEILINGS = {
    ("tests", "what-clauses"): 9.1,
    ("tests", "say and tell"): 5.1,
    ("tests", "lie"): 0.8,
    ("tests", "somebody"): 1.0,
}


def without_markup(text):
    """The sentences of a page: no code, tables, link targets."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?:#|    ).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "x", re.sub(r"\]\([^)]*\)", "]", text))


def pages(*patterns):
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def sources(*patterns):
    generated = ("data/web", "doors/browser", "_core.c")
    return [p for p in pages(*patterns) if not any(part in str(p) for part in generated)]


def docstrings_and_comments(path):
    """The words of a Python or Cython file that are for people."""
    text = path.read_text()
    if path.suffix == ".py":
        found = [
            docstring
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and (docstring := ast.get_docstring(node))
        ]
        comments = (
            token.string.lstrip("# ")
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        )
        return "\n".join([*found, *comments])
    return "\n".join([*re.findall(r'"""(.*?)"""', text, re.DOTALL), *re.findall(r"# (.*)", text)])


def c_comments(path):
    return "\n".join(re.findall(r"/\*(.*?)\*/", path.read_text(), re.DOTALL))


def messages(path):
    """The texts of the exceptions that a module raises, and of its command line's help."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and node.exc is not None:
            for part in ast.walk(node.exc):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value
        elif isinstance(node, ast.keyword) and node.arg == "help":
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


PACKAGE = sources("ragfile/**/*.py")
AREAS = {
    "docs": lambda: [without_markup(p.read_text()) for p in pages("README.md", "docs/**/*.md")],
    "project pages": lambda: [
        without_markup(p.read_text())
        for p in pages("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
    ],
    "bench": lambda: [without_markup(p.read_text()) for p in pages("bench/*.md")],
    "spec": lambda: [without_markup(p.read_text()) for p in pages("spec/**/*.md")],
    "docstrings": lambda: [
        docstrings_and_comments(p) for p in [*PACKAGE, *sources("ragfile/**/*.p[xy][xdi]*")]
    ],
    "messages": lambda: [text for p in PACKAGE for text in messages(p)],
    "csrc": lambda: [c_comments(p) for p in pages("csrc/**/*.[ch]")],
    "tests": lambda: [docstrings_and_comments(p) for p in pages("tests/**/*.py")],
}


def per_thousand(pattern, text):
    return 1000 * len(re.findall(pattern, text, re.IGNORECASE)) / max(len(text.split()), 1)


@pytest.fixture(scope="module")
def texts():
    return {area: "\n".join(read()) for area, read in AREAS.items()}


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("area", AREAS)
def test_an_area_keeps_to_its_limit(texts, area, mark):
    limit = CEILINGS.get((area, mark), GOALS[mark])
    found = re.findall(f".{{,40}}{MARKS[mark]}.{{,30}}", texts[area], re.IGNORECASE)
    assert per_thousand(MARKS[mark], texts[area]) <= limit, "\n".join(found[:20])


@pytest.mark.parametrize(("area", "mark"), CEILINGS)
def test_a_ceiling_is_above_the_goal(texts, area, mark):
    count = per_thousand(MARKS[mark], texts[area])
    assert count > GOALS[mark], "the goal is met: delete this ceiling"


def test_pages_speak_to_their_reader(texts):
    assert per_thousand(YOU, texts["docs"]) >= 5


def sentences(text):
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d\.) ", text):
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z*`\[(])", " ".join(paragraph.split())):
            if len(sentence.split()) > 2:
                yield sentence


@pytest.mark.parametrize("area", ["docs", "project pages"])
def test_most_sentences_are_short(texts, area):
    sizes = sorted(len(s.split()) for s in sentences(texts[area]))
    assert statistics.median(sizes) <= 16
    assert sizes[len(sizes) * 9 // 10] <= 30


@pytest.mark.parametrize(
    "page", pages("README.md", "docs/**/*.md"), ids=lambda p: str(p.relative_to(ROOT))
)
def test_a_heading_is_a_noun_or_a_task(page):
    """Not a sentence, not a question."""
    for heading in re.findall(
        r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE
    ):
        assert not re.search(r"[.?!]$", heading), heading


def test_the_marks_find_what_they_are_for():
    text = "Nobody says what the file is; it lies there."
    assert Counter(
        {m: len(re.findall(p, text, re.IGNORECASE)) for m, p in MARKS.items()}
    ) == Counter({"what-clauses": 1, "say and tell": 1, "lie": 1, "somebody": 1})
