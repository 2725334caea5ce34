"""A hit in source code has the lines of the file that it came from."""

import re
from pathlib import Path

import pytest

import ragfile
from ragfile.text import normalize

ROOT = Path(__file__).parents[2]
ENDS = re.compile(r"\r\n?|\n")
SOURCES = [
    *("ragfile/records.py", "ragfile/text.py", "ragfile/_core_files.pyx", "csrc/fusion/fuse.c", "csrc/include/ragfile/fusion.h"),
    *("csrc/text/analyze.c", "ragfile/doors/browser/retrieval.js", "ragfile/doors/browser/index.d.ts", "tools/sdist.sh"),
]  # fmt: skip
BODY = "    value = compute(value, 12345)  # a line of a body that goes on\n"
MADE = {
    "a.go": "package a\n\n// F does.\nfunc F() {\n" + BODY * 40 + "}\n",
    "A.java": "class A {\n\n\n\n\n  void f() {\n" + BODY * 40 + "  }\n}\n",
    "a.rb": "class A\n\n\n\n\n\n  def f\n" + BODY * 40 + "  end\nend\n",
    "a.php": "<?php\nfunction f() {\n" + "\n".join([BODY] * 40) + "\n}\n",
    "a.rs": "fn f() {   \n\n\n\n\n\n" + BODY * 40 + "}\n",
    "a.sql": "create table t (\n" + BODY * 40 + ");\n\n\n\n\ncreate view v as select 1;\n",
    "a.kt": "fun f() {\n" + (BODY + "\n\n\n\n") * 40 + "}\n",
    "blank.lua": "\n" * 9 + "function f()\n" + BODY * 40 + "end\n" + "\n" * 9,
    "marks.py": "\ufeff# caf\u0065\u0301\u200b\n\n\n\n\n\ndef f():\n" + BODY * 40,
}


def written(folder, change):
    for name in filter(lambda name: (ROOT / name).exists(), SOURCES):  # a wheel's tests lack some
        to = folder / "repository" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(change((ROOT / name).read_text("utf-8")).encode())
    for name, text in MADE.items():
        (folder / "repository" / name).write_bytes(change(text).encode())
    path = folder / "kb.ragfile"
    ragfile.build(folder / "repository", path, embedder="none")
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_lines_of_every_passage_are_those_of_the_file(tmp_path, end):
    path = written(tmp_path, lambda text: text.replace("\n", end))
    with ragfile.open(path) as kb:
        checked, read = 0, kb.rows.passages()
        for row in range(len(kb)):
            hit = kb.hit(row)
            raw = (tmp_path / "repository" / hit.doc_id).read_bytes().decode()
            lines, shown = ENDS.split(raw), hit.text.split("\n")
            first, last = read.lines(row, hit)
            assert plain(shown[0]) in plain(lines[first - 1])
            assert plain(shown[-1]) in plain(lines[last - 1])
            covered = [plain(line) for line in lines[first - 1 : last] if plain(line)]
            assert len(covered) == sum(bool(plain(line)) for line in shown)
            checked += 1
    assert checked > 100


def plain(line):
    """A line as normalisation leaves it, without the blanks at its ends."""
    return normalize(line).text.strip()


def test_prose_and_loose_passages_have_no_lines(tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.build(
        [{"id": "a.md", "text": "# A\n\nWords."}, {"id": "a.py", "text": "a = 1\n"}], path
    )
    with ragfile.open(path) as kb:
        found = {hit.doc_id: hit.lines for hit in kb.search("a words", k=5)}
        assert found == {"a.md": None, "a.py": (1, 1)}
        again = kb.search("a words", k=5)  # from the cache
        assert {hit.doc_id: hit.lines for hit in again} == found
    with ragfile.edit(path) as w:
        w.add([{"doc_id": "b.py", "chunk_index": 0, "content": "b = 2"}])
    with ragfile.open(path) as kb:
        assert kb.search("b", k=1, where={"doc_id": "b.py"})[0].lines is None
