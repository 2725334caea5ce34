"""Files that are made to cost more than their size are read, or refused, within the means of a small process."""

import resource
import subprocess
import sys

import pytest
from oracles import source_files as made
from oracles.adversarial import CASES
from sanitizers import SANITIZED

from ragfile.ingest import document_loader, loaders
from ragfile.ingest.chunker import split
from ragfile.ingest.loaders import LimitError, Limits, Loader, office
from ragfile.records import Document

SIZE = 200_000  # bytes; what grows with the square of it, or worse, does not come to its end
CPU, MEMORY = 20, 2 << 30
SCRIPT = """
import sys
from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import Loading

print(sum(len(split(document)) for document in Loading(sys.argv[1])))
"""


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    if not SANITIZED:  # whose shadow takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize("name", CASES)
def test_a_file_costs_no_more_than_a_small_process_has(name, tmp_path):
    suffix, make = CASES[name]
    path = tmp_path / f"case{suffix}"
    path.write_bytes(make(SIZE))
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, path], preexec_fn=limited, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr.decode()[-500:]


def test_a_header_that_is_long_is_not_repeated_whole_in_every_chunk():
    text = "# " + "a" * 50_000 + "\n" + "## b\n" * 10_000
    chunks = split(Document("d", text), {"version": 2})
    assert len(chunks) == 10_000
    assert max(len(chunk.metadata["headers"]) for chunk in chunks) <= 1000


def test_no_more_memory_is_asked_for_than_a_file_has():
    asked = []

    class File:
        def __init__(self, content):
            self.content = content

        def read(self, size):
            asked.append(size)
            return self.content[:size]

    assert (
        document_loader._content(File(b"twelve bytes"), 12, Limits().max_bytes) == b"twelve bytes"
    )
    assert asked == [13]


def test_a_file_that_memory_does_not_suffice_for_is_one_failure(tmp_path, monkeypatch):
    def parse(raw, limits):
        raise MemoryError

    monkeypatch.setattr(loaders, "_LOADERS", dict(loaders._LOADERS))
    loaders.register(Loader("big", "x/big", (".big",), parse))
    (tmp_path / "a.big").write_text("x")
    (tmp_path / "b.txt").write_text("kept")
    found = document_loader.Loading(tmp_path)
    assert [document.text for document in found] == ["kept"]
    assert [(failure.kind, failure.reason) for failure in found.failures] == [
        ("MemoryError", "not enough memory to read it")
    ]


def test_a_slide_that_is_named_twice_is_read_once(tmp_path):
    suffix, make = CASES["pptx: a slide many times"]
    path = tmp_path / f"case{suffix}"
    path.write_bytes(make(100_000))
    (document,) = document_loader.load(path)
    assert len(document.segments) == 1


def test_a_word_document_is_held_one_block_at_a_time(monkeypatch):
    monkeypatch.setattr(office, "HELD", 2 << 20)
    paragraphs = made.docx("<w:p/>" * 100_000 + made.paragraph("The end."))
    assert [extracted.text for extracted in office.word(paragraphs, Limits())] == ["The end."]
    table = made.docx(f"<w:tbl>{'<w:tr/>' * 100_000}</w:tbl>")
    with pytest.raises(LimitError, match="more than 2 MiB of memory"):
        list(office.word(table, Limits()))
