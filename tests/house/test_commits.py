"""Commit subjects are short and imperative, from the first commit after START on."""

import re
import shutil
import subprocess

import pytest
from places import ROOT

START = "52a0a27"  # earlier subjects are longer, and most describe a state
LONGEST = 72
NOT_VERBS = {
    "A", "All", "An", "And", "Any", "Another", "At", "Because", "Both", "By", "Each", "Every", "For",
    "From", "He", "How", "I", "If", "In", "It", "Its", "More", "Most", "New", "No", "Not", "Now", "Of",
    "On", "One", "Only", "Our", "She", "Some", "That", "The", "Their", "There", "These", "They",
    "This", "Those", "To", "Two", "We", "What", "When", "Where", "Which", "Who", "Why", "With", "You",
}  # fmt: skip
IMPERATIVES_LIKE_OTHER_FORMS = {
    "Access", "Address", "Bring", "Bypass", "Canvass", "Compress", "Cross", "Discuss", "Dismiss",
    "Embed", "Exceed", "Express", "Feed", "Focus", "Guess", "Miss", "Need", "Pass", "Process",
    "Proceed", "Press", "Seed", "Shed", "Speed", "String", "Suppress", "Swing", "Toss", "Witness",
}  # fmt: skip


def fault(subject):
    """Return the rule that a subject breaks, None for a good one."""
    first = re.split(r"[\s,:;]", subject, maxsplit=1)[0]
    if len(subject) > LONGEST:
        return f"is longer than {LONGEST} characters ({len(subject)})"
    if not re.fullmatch(r"[A-Z][a-z]+(-[a-z]+)*", first):
        return "does not begin with a capitalised verb"
    if subject.endswith("."):
        return "ends with a full stop"
    if first in NOT_VERBS:
        return f"begins with {first!r}, which is no verb"
    if first not in IMPERATIVES_LIKE_OTHER_FORMS and re.search(r"(s|ed|ing)$", first):
        return f"begins with {first!r}, which is not imperative"
    return None


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)


@pytest.fixture
def subjects():
    """The subjects since START, newest first."""
    if shutil.which("git") is None or git("cat-file", "-e", f"{START}^{{commit}}").returncode:
        pytest.skip("no history here: a shallow clone or a source distribution")
    return git("log", "--no-merges", "--format=%s", f"{START}..HEAD").stdout.splitlines()


def test_subjects_are_short_and_imperative(subjects):
    assert {subject: why for subject in subjects if (why := fault(subject))} == {}


@pytest.mark.parametrize(
    "subject",
    [
        "Merge small segments inside a commit",
        "Fix flaky body-limit test",
        "Compress texts in blocks",
    ],
)
def test_the_rule_knows_imperatives(subject):
    assert fault(subject) is None


@pytest.mark.parametrize(
    "subject",
    [
        "The test of a body's limit sends what the server reads",
        "Merges small segments",
        "Merged small segments",
        "Merging small segments",
        "merge small segments",
        "Merge small segments.",
        "README: the output of the first command",
        "Merge " + "x" * 67,
    ],
)
def test_the_rule_knows_other_subjects(subject):
    assert fault(subject)
