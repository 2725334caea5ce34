"""Documents that a program makes go into a file as they come: few of them are held at a time."""

import subprocess
import sys
import weakref

import pytest
from sanitizers import SANITIZED

import ragfile
from ragfile.records import Document

MEASURED = """
import resource, sys
import ragfile
from ragfile.write import segment_sections
from ragfile.records import Document

segment_sections.LEXICAL_MEMORY = 8 << 20

def made(count):
    words = [f"word{n} is next to word{n * 7 % 1000} " for n in range(1000)]
    for n in range(count):
        text = f"{n} " + "".join(words[n % 900 : n % 900 + 80])
        yield Document(f"d{n:07}", text)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

path, count = sys.argv[1], int(sys.argv[2])
ragfile.build(made(1000), path, embedder="none", chunking="characters:4000/0")
before = peak()
report = ragfile.build(made(count), path, embedder="none", chunking="characters:4000/0")
print(report.documents, (peak() - before) * 1024)
"""


def test_a_hundred_thousand_documents_take_little_memory(tmp_path):
    """210 MB of text. What grows are ids and numbers, the dictionary, and postings up to a limit of their own."""
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "kb.ragfile"), "100000"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    documents, grown = map(int, out.split())
    assert documents == 100_000
    assert grown < 130 << 20


OWN = """
import resource, sys
import numpy as np
import ragfile
from ragfile.write import segment_sections

segment_sections.LEXICAL_MEMORY = 4 << 20
path, count, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def build(count):
    chunks = (
        {"doc_id": f"document {n:07}", "chunk_index": 0, "content": f"text {n % 1000}", "metadata": {"part": n % 50}}
        for n in range(count)
    )
    vectors = (np.sin(np.arange(4, dtype=np.float32) * n) for n in range(count))
    with ragfile.create(path, dim=4, clusters=True) as writer:
        writer.add(chunks, vectors)

def own():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData"))

def limited(act):
    limit = own() + (32 << 20) + each * count  # the allocator itself takes some megabytes, more on some runs
    resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
    act()

build(20_000)
limited(lambda: build(count))
limited(lambda: ragfile.compact(path))
with ragfile.open(path) as rf:
    print(len(rf))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.skipif(SANITIZED, reason="sanitizers take memory")
def test_a_row_takes_little_memory_of_a_build_and_of_a_compaction(tmp_path):
    """Ids, places and sizes: the system refuses more than 250 bytes a document with one chunk."""
    command = [sys.executable, "-c", OWN, str(tmp_path / "kb.ragfile"), "200000", "250"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.stderr, ran.stdout) == ("", "200000\n")


def test_documents_are_let_go_as_they_are_written(tmp_path):
    alive, most = weakref.WeakSet(), 0

    class Held(str):
        """A text that can be watched."""

    def made():
        nonlocal most
        for n in range(3000):
            text = Held(f"{n} words of a document")
            alive.add(text)
            most = max(most, len(alive))
            yield {"id": f"d{n}", "text": text}

    ragfile.build(made(), tmp_path / "kb.ragfile", embedder="none")
    assert most < 1500


def test_a_build_of_documents_is_that_of_a_writer(tmp_path):
    documents = [
        Document(f"d{n}", f"# Title {n}\n\nText of {n}.", metadata={"n": n}) for n in range(40)
    ]
    ragfile.build(documents, tmp_path / "list.ragfile", tags=["t"], created=1)
    fields = [{"id": d.id, "text": d.text, "metadata": d.metadata} for d in documents]
    ragfile.build(iter(fields), tmp_path / "dicts.ragfile", tags=["t"], created=1)
    raw = (tmp_path / "list.ragfile").read_bytes()
    assert raw == (tmp_path / "dicts.ragfile").read_bytes()
    with ragfile.open(tmp_path / "list.ragfile") as rf:
        assert rf.document_ids() == sorted(d.id for d in documents)
        assert rf.search("title 7", where={"n": 7})[0].tags == ("t",)


def test_a_generator_of_paths_is_one_of_paths(tmp_path):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}")
    paths = (tmp_path / name for name in ("a.md", "b.md"))
    report = ragfile.build(paths, tmp_path / "kb.ragfile", progress=lambda *_: None)
    assert (report.documents, report.files) == (2, 2)


@pytest.mark.parametrize(
    ("sources", "options", "error", "why"),
    [
        (iter(()), {}, ValueError, "no document"),
        (Document("a", "x"), {}, TypeError, "not a single document"),
        ({"id": "a", "text": "x"}, {}, TypeError, "not a single document"),
        ([Document("a", "x"), "b.md"], {}, TypeError, "document"),
        ([Document("a", "x")], {"jobs": 2}, ValueError, "about files, not documents"),
        ([Document("a", "x")], {"dedupe": True}, ValueError, "about files, not documents"),
        ([{"id": "a"}], {}, (TypeError, ValueError), "text"),
        ([Document("a", "x"), Document("a", "y")], {}, ValueError, "was added before"),
    ],
)
def test_what_is_no_document_is_refused_and_nothing_is_written(
    tmp_path, sources, options, error, why
):
    with pytest.raises(error, match=why):
        ragfile.build(sources, tmp_path / "kb.ragfile", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dim", [0, -1])
def test_vectors_without_numbers_are_refused(tmp_path, dim):
    with pytest.raises(ValueError, match="at least 1"):
        ragfile.create(tmp_path / "kb", dim=dim)
    assert list(tmp_path.iterdir()) == []
