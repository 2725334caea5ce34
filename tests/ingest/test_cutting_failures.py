"""A document that cannot be cut is a failure of its own: the others are built, synced and kept."""

import pytest

import ragfile
from ragfile import dataset
from ragfile.commit import reading_worker
from ragfile.commit.reading_worker import Order, Reader
from ragfile.ingest import loading
from ragfile.ingest.chunking import Policy, split
from ragfile.ingest.finding import find
from ragfile.ingest.loading import Limits


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

    monkeypatch.setattr(loading, "split", fails)
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
        patched.setattr(loading, "split", split)
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
    order = Order(Limits(), "strict", None, (), {}, Policy(), None, {})
    found = [Reader(order).read(source) for source in find([sources])]
    events = [event for read in found for event in read.events]
    check([event for event in events if not isinstance(event, reading_worker.Part)])
    assert [e.document.id for e in events if isinstance(e, reading_worker.Part)] == ["a.md", "z.md"]
