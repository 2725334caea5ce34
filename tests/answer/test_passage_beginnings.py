"""Passages of an answer without a model begin with a whole sentence or definition; characters are those of the file."""

import pytest

import ragfile
from ragfile.answer.passage_beginnings import from_beginning
from ragfile.answer.pipeline import candidates_of

PYTHON = """class Pool:
    def drain(self, node):
        \"\"\"Drain a node.

        {doc}
        \"\"\"
        return self.pool.drain(node)
"""
JAVASCRIPT = """class Pool {{
  drain(node) {{
    // {doc}
    return this.pool.drain(node);
  }}
}}
"""
LINES = "\n        // ".join(
    f"The taint number {i} of the drained node is kept." for i in range(12)
)


def beginnings(path, size=300):
    """Each passage that is cut, as it is found and as it begins."""
    chunking = ragfile.Policy(size=size, overlap=60)
    ragfile.build(path, path.with_suffix(".ragfile"), chunking=chunking)
    rf = ragfile.open(path.with_suffix(".ragfile"))
    hits = rf.search("drained node taint", 50)
    for candidate, hit in zip(candidates_of(hits), hits, strict=True):
        begun = from_beginning(candidate, hit)
        text = rf.document(hit.doc_id).text
        assert text[begun.start : begun.end] == begun.content
        assert begun.content.endswith(candidate.content)
        yield candidate, begun


@pytest.mark.parametrize(("name", "source"), [("pool.py", PYTHON), ("pool.js", JAVASCRIPT)])
def test_code_begins_with_the_line_that_names_it(tmp_path, name, source):
    (tmp_path / name).write_text(source.format(doc=LINES))
    cut = [(a, b) for a, b in beginnings(tmp_path / name) if a.content != b.content]
    assert cut
    for _, begun in cut:
        name = begun.metadata["symbol"].rpartition(" > ")[2]
        assert name in begun.content.lstrip().partition("\n")[0]


def test_prose_begins_with_its_sentence(tmp_path):
    sentence = "when a node is drained, every pod on it is evicted, and " * 6
    text = f"# Drain\n\nFirst, a node gets a taint. Then, {sentence}the node is empty.\n"
    (tmp_path / "drain.md").write_text(text)
    cut = [(a, b) for a, b in beginnings(tmp_path / "drain.md") if a.content != b.content]
    assert cut
    for before, begun in cut:
        assert before.content[0].islower()
        assert begun.content.startswith(("Then, when", "First, a node"))


def test_a_paragraph_with_a_small_letter_is_whole(tmp_path):
    text = "# Tools\n\n" + "\n\n".join(
        f"kubectl drains a node, and number {i} gets a taint before its pods go elsewhere."
        for i in range(12)
    )
    (tmp_path / "tools.md").write_text(text)
    assert all(a == b for a, b in beginnings(tmp_path / "tools.md", size=120))


def test_a_hit_of_no_open_file_begins_where_it_did():
    hit = ragfile.Hit("d#1", "d", 1, "of a sentence.", 1.0, start=40, end=54)
    (candidate,) = candidates_of([hit])
    assert from_beginning(candidate, hit) is candidate
