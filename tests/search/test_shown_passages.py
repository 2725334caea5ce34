"""Passages of code are shown with their lines aligned, whatever part of a line they begin with."""

import pytest

import ragfile
from ragfile.search.question_terms import plain_terms
from ragfile.search.shown_passages import PassageViewer

SPACES = "class Pool:\n    def drain(self, node):\n        if node:\n            return 1\n        return 2\n"
TABS = SPACES.replace("    ", "\t")
CODE = "def drain(self, node):\n{0}if node:\n{0}{0}return 1\n{0}return 2"


@pytest.mark.parametrize(("source", "blank"), [(SPACES, "    "), (TABS, "\t")])
def test_lines_of_code_have_no_common_indentation(tmp_path, source, blank):
    (tmp_path / "pool.py").write_text(source)
    rf = ragfile.open(ragfile.build(tmp_path, tmp_path.with_suffix(".ragfile"), progress=None).path)
    text, terms = rf.document("pool.py").text, plain_terms("drain")
    viewer = PassageViewer(terms, rf.document)
    for start in (text.index("def"), text.index("\n") + 1):  # after its indentation, and before
        passage = text[start:].rstrip("\n")
        shown = viewer.shown(
            passage, {"symbol": "drain", "mime": "text/x-python"}, "pool.py", start
        )
        lines = shown.excerpt.lines
        assert "\n".join(line.text for line in lines) == CODE.format(blank)
        assert shown.numbers == [2, 3, 4, 5]
        assert [lines[0].text[a:b] for a, b in lines[0].marks] == ["drain"]
