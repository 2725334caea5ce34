"""A document that cannot be cut is a failure of its own: the others are built, synced and kept."""

import pytest

import ragfile
from ragfile import dataset
from ragfile.ingest import document_loader
from ragfile.ingest.chunker import Policy, split
from ragfile.ingest.document_loader import Limits
from ragfile.ingest.source_files import Selection, find
from ragfile.write import read_worker
from ragfile.write.read_worker import Order, SourceReader


@pytest.fixture
def sources(tmp_path, monkeypatch):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a", "huge", "z"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nabout {name}\n")

    def fails(document, policy):
        if "huge" in document.id:
            raise MemoryError
        return split(document, policy)

    monkeypatch.setattr(document_loader, "split", fails)
    return folder


def check(failures):
    (failure,) = failures
    assert failure.path.endswith("huge.md")
    assert (failure.kind, "cut" in failure.reason) == ("MemoryError", True)


def test_a_build_goes_on(sources, tmp_path):
    report = ragfile.build(sources, tmp_path / "kb", embedder="none")
    check(report.failures)
    assert ragfile.open(tmp_path / "kb").document_ids() == ["a.md", "z.md"]


def test_a_sync_keeps_what_it_had(sources, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(document_loader, "split", split)
        ragfile.build(sources, tmp_path / "kb", embedder="none")
    (sources / "huge.md").write_text("another text")
    (sources / "a.md").write_text("changed")
    report = ragfile.sync(tmp_path / "kb", sources)
    check(report.failures)
    rf = ragfile.open(tmp_path / "kb")
    assert (rf.document("huge.md").text, rf.document("a.md").text) == (
        "# huge\n\nabout huge\n",
        "changed",
    )


def test_a_dataset_goes_on(sources, tmp_path):
    report = dataset.build(sources, tmp_path / "kb", shards=2, embedder="none")
    check(report.failures)
    assert ragfile.open(tmp_path / "kb").document_ids() == ["a.md", "z.md"]


def test_a_worker_goes_on(sources):
    order = Order(Limits(), "strict", None, (), {}, Policy(), None, {}, Selection())
    found = [SourceReader(order).read(source) for source in find([sources])]
    events = [event for read in found for event in read.events]
    check([event for event in events if not isinstance(event, read_worker.BuildPart)])
    assert [e.document.id for e in events if isinstance(e, read_worker.BuildPart)] == [
        "a.md",
        "z.md",
    ]
