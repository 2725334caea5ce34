"""Quoted code stands below the constants that it uses; the lines are those of its file."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragfile
from ragfile.answer.code_constants import LINES, MOST, definitions

MODULE = '''"""Drain the basin of a lock."""

SLOWEST = 40  # seconds
GATES = ("upper", "lower")
UNUSED = 3


def fill(basin):
    """Fill the basin of a lock with water from above, gate by gate, until both levels are equal."""
    return basin.fill()


def drain(basin):
    """Drain the basin, gate by gate."""
    for gate in GATES:
        basin.open(gate, within=SLOWEST)
'''


def asked(tmp_path, question, name="lock.py", text=MODULE):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / name).write_text(text)
    chunking = ragfile.Policy(size=200, overlap=0)
    ragfile.build(tmp_path / "code", tmp_path / "kb.ragfile", chunking=chunking)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        answer = rf.ask(question)
        return answer, {c.doc_id: rf.document(c.doc_id).text for c in answer.citations}


def test_quoted_code_has_its_constants_above_it(tmp_path):
    answer, _ = asked(tmp_path, "how is the basin drained gate by gate?")
    first = answer.text.partition("[1]")[0]
    assert "SLOWEST = 40  # seconds\nGATES = (" in first
    assert "UNUSED" not in first
    assert first.index("SLOWEST = 40") < first.index("def drain")


def test_each_definition_is_cited_with_its_characters(tmp_path):
    answer, texts = asked(tmp_path, "how is the basin drained gate by gate?")
    cited = [c.text for c in answer.citations]
    assert "SLOWEST = 40  # seconds" in cited
    for one in answer.citations:
        assert texts[one.doc_id][one.start : one.end] == one.text


def test_prose_brings_no_constants(tmp_path):
    text = "# Locks\n\nSLOWEST = 40\n\nGates.\n\n## Drain\n\nThe basin is drained within SLOWEST seconds.\n"
    answer, _ = asked(tmp_path, "when is the basin drained?", "lock.md", text)
    assert "SLOWEST = 40" not in answer.text.partition("[1]")[0]


@pytest.mark.parametrize(
    "line",
    [
        "LIMIT = 3",
        "LIMIT: int = 3",
        "#define LIMIT 3",
        "#  define LIMIT (1u << 3)",
        "static const size_t LIMIT = 3;",
        "export const LIMIT = 3;",
        "    public static final int LIMIT = 3;",
        "pub const LIMIT: usize = 3;",
        "FIRST, LIMIT = 1, 3",
        "LIMIT = (\n    3,\n)",
    ],
)
def test_definitions_of_many_languages(line):
    text = f"x = 1\n{line}\ny = 2\n"
    assert [text[a:b] for a, b in definitions(text, {"LIMIT": None})] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "if a == LIMIT:",
        "f(LIMIT=3)",
        "x = LIMIT",
        "LIMITS = 3",
        "#define LIMIT(x) x",
        "a.LIMIT = 3",
        "LIMIT == 3",
        "LIMIT = (\n" + "    1,\n" * LINES + ")",
    ],
)
def test_other_lines_define_nothing(line):
    assert definitions(f"{line}\n", {"LIMIT": None}) == []


def test_the_nearest_definition_counts():
    text = "LIMIT = 1\nLIMIT = 2\n"
    assert definitions(text, {"LIMIT": None}) == [(10, 19)]


def test_few_definitions_are_brought():
    names = [f"LIMIT_{i}" for i in range(3 * MOST)]
    text = "".join(f"{name} = {i}\n" for i, name in enumerate(names))
    found = definitions(text, dict.fromkeys(reversed(names)))
    assert [text[a:b].split()[0] for a, b in found] == names[-MOST:]


LINE = st.sampled_from(
    ["AAA", "BBB", "x", " = ", "==", "1", "(", ")", "\t", " ", "#define ", ":", ","]
)


@given(st.lists(st.lists(LINE, max_size=6).map("".join), max_size=8))
def test_definitions_are_whole_lines_with_the_name_and_a_value(lines):
    text = "\n".join(lines)
    for start, end in definitions(text, {"AAA": None, "BBB": None}):
        assert start == 0 or text[start - 1] == "\n"
        assert end == len(text) or text[end] == "\n"
        assert re.match(r".*\b(AAA|BBB)\b.*(=|#define)|\s*#define", text[start:end])
