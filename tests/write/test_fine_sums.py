"""config={"layout": "web"}: finer sums (rag.fine) of what a question by words touches, in every kind of commit."""

import pytest

import ragfile
from ragfile import _core
from ragfile.file import consistency

COVERED = [
    "rag.text",
    "rag.ids",
    "rag.chunks",
    "rag.documents",
    "rag.postings",
    "rag.meta",
    "rag.terms",
]


def documents(first, count):
    return [
        {"id": f"d{i:04}", "text": f"Document {i} on pods and nodes. " * 40, "metadata": {"n": i}}
        for i in range(first, first + count)
    ]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, embedder="default", config={"layout": "web"}) as w:
        w.add_documents(documents(0, 200))
    return path


def parts(rf):
    """For each segment the grain, and the names of the sections that have finer sums."""
    for segment in rf.rows.segments:
        names = {(e["at"], e["size"]): e["name"] for e in rf.file.entries}
        grain, found = _core.fine_sums(segment.section("rag.fine"))
        yield grain, [names[at, size] for at, size, _ in found], found


def test_every_grain_of_the_covered_sections_has_its_own_sum(path):
    with ragfile.open(path) as rf:
        ((grain, names, found),) = parts(rf)
        assert (grain, names) == (1024, COVERED)
        for at, size, sums in found:
            raw = rf.file.raw(at, size)
            assert sums == [_core.hash64(raw[i : i + grain]) for i in range(0, size, grain)]
        assert ragfile.verify(path)[0] == []


def test_edits_and_compaction_keep_to_the_layout(path):
    with ragfile.edit(path) as w:
        w.add_documents(documents(200, 30))
        w.delete([f"d{i:04}" for i in range(0, 200, 3)])
    with ragfile.open(path) as rf:
        assert [names for _, names, _ in parts(rf)] == [COVERED, COVERED]
    ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert [names for _, names, _ in parts(rf)] == [COVERED]
        assert ragfile.verify(path)[0] == []


def test_compaction_gives_and_takes_the_layout(path, tmp_path):
    plain = tmp_path / "plain.ragfile"
    with ragfile.create(plain, embedder="default") as w:
        w.add_documents(documents(0, 200))
    before = plain.read_bytes()
    ragfile.compact(plain, layout="web", renumber=True)
    assert plain.read_bytes() == path.read_bytes()
    ragfile.compact(plain, layout="default", renumber=True)
    assert plain.read_bytes() == before
    with pytest.raises(ValueError, match="unknown layout"):
        ragfile.compact(plain, layout="webb")


def test_a_reader_answers_alike_with_and_without(path, tmp_path):
    with ragfile.open(path) as rf:
        found = [(h.id, h.score, h.text) for h in rf.search("pods and nodes 17", k=9)]
    ragfile.compact(path, layout="default")
    with ragfile.open(path) as rf:
        assert [(h.id, h.score, h.text) for h in rf.search("pods and nodes 17", k=9)] == found


def test_a_wrong_finer_sum_is_a_fault(path):
    with ragfile.open(path) as rf:
        entry = next(e for e in rf.file.entries if e["name"] == "rag.fine")
        faults = [list(consistency.fine_faults(segment)) for segment in rf.rows.segments]
        assert faults == [[]]
    data = bytearray(path.read_bytes())
    data[entry["at"] + entry["size"] - 1] ^= 1
    path.write_bytes(data)
    assert ragfile.verify(path)[0]


def test_a_build_takes_the_layout(tmp_path):
    (tmp_path / "a.md").write_text("# Pods\n\nA pod restarts.\n")
    ragfile.build([tmp_path / "a.md"], tmp_path / "kb.ragfile", layout="web")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.file.config["layout"] == "web"
        assert [names for _, names, _ in parts(rf)] == [COVERED]
