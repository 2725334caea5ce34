"""Branches of the core that no test takes: each reason in the source is about a statement that has branches."""

import re
import runpy

import pytest
from places import ROOT

TOOL = ROOT / "tools/coverage_c.py"
SOURCES = [p for p in sorted((ROOT / "csrc").glob("*/*.[ch]")) if "unreached:" in p.read_text()]

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="not in a source distribution")


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(TOOL))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_reason_is_about_a_statement_with_branches(tool, path):
    text = path.read_text()
    reasons = list(tool["reasons_of"](path.name, text))
    assert len(reasons) == text.count("unreached:")
    for reason in reasons:
        code = "\n".join(text.splitlines()[reason.first - 1 : reason.last])
        assert re.search(r"\b(if|for|while)\b|&&|\|\||\?", code), (reason, code)
        assert reason.last - reason.first < 6, (reason, code)


SOURCE = """
    if (a &&
        /* unreached: inside */ b)
        return c;
    /* unreached: it takes
     * two lines */
    while (f(x,
             y)) {
        z++;
    }
    return w ? 1 : 2; /* unreached: at the end */
"""


def test_a_reason_speaks_for_its_own_statement_alone(tool):
    found = [(r.first, r.last, r.text) for r in tool["reasons_of"]("x.c", SOURCE)]
    assert found == [
        (3, 3, "inside"), (7, 8, "it takes two lines"), (11, 11, "at the end")
    ]  # fmt: skip


def test_untaken_branches_count_unless_they_have_a_reason(tool):
    reasons = list(tool["reasons_of"]("x.c", SOURCE))
    lines = [(2, [1, 0]), (7, [3, 0]), (8, [0, 0]), (11, [5, 5])]
    entries = [
        {"line_number": n, "count": 1, "branches": [{"count": c} for c in counts]}
        for n, counts in lines
    ]
    files = tool["measured"]({"files": [{"file": "x.c", "lines": entries}]}, reasons)
    one = files["x.c"]
    assert (one.branches, one.taken, one.reasons, dict(one.rest)) == (8, 4, 3, {2: 1})
    assert [reason.branches for reason in reasons] == [0, 3, 0]
