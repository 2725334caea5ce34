"""Files whose checksums hold and whose sections lie, from afar: a block at a time, over noise where nothing was fetched."""

import os

import pytest
from fuzz import sections as fuzz_sections

import ragfile
from ragfile.errors import RagfileError
from ragfile.net import fetcher
from ragfile.net.http import Identity

WRITING = ("edit", "chunks", "compact", "reindex", "repair", "convert", "stale")
TAIL = (256 << 10) - 1024  # of a writer that died: the reader's first window has little else


@pytest.fixture
def far(monkeypatch):
    """far(data) is a URL of these bytes, of which no two stretches come in one request."""
    held = []

    class Held:
        def __init__(self, url):
            pass

        def open(self, window, limit):
            at = max(len(held[0]) - window, 0)
            return Identity(len(held[0]), '"tag"', None), at, held[0][at:]

        def read(self, at, size, identity, limit):
            yield held[0][at : at + size]

        def close(self):
            pass

    blank = fetcher.Fetcher._blank

    def noisy(self):
        file = blank(self)
        os.pwrite(file.fileno(), os.urandom(self.size), 0)
        return file

    monkeypatch.setattr(fetcher, "object_at", lambda url, redirects: Held(url))
    monkeypatch.setattr(fetcher.Fetcher, "_blank", noisy)
    for name, value in {
        "WINDOW": 2048,
        "FRONT": 64,
        "SHORT": 0,
        "OVER": 0,
        "AHEAD": 0,
        "FEW": 1 << 20,
    }.items():
        monkeypatch.setattr(fetcher, name, value)

    def url(data):
        held[:] = [data + bytes(-len(data) % 64 + TAIL)]
        return "http://held/kb"

    return url


def _ended(call):
    """What a call gives, or None where it ends in an error of ours."""
    try:
        return call()
    except (RagfileError, ValueError) as error:
        if not fuzz_sections.is_ours(error):
            raise
        return None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore")
def test_whatever_sections_say_a_call_ends_in_an_answer_or_an_error_of_ours(far, seed):
    todo = fuzz_sections.calls(far(fuzz_sections.hostile(seed)))
    while (step := _ended(lambda: next(todo, None))) is not None:
        name, call = step
        if name not in WRITING:
            _ended(call)


def test_good_files_answer_a_block_at_a_time(far, tmp_path):
    path = str(tmp_path / "kb")
    with ragfile.create(path, dim=2) as w:
        w.add(
            [{"doc_id": f"d{i}", "chunk_index": 0, "content": f"pods {i}"} for i in range(9)],
            [[i, 1.0] for i in range(9)],
        )
    with (
        open(path, "rb") as file,
        ragfile.open(path) as here,
        ragfile.open(far(file.read())) as there,
    ):
        for mode in ("bm25", "vector", "hybrid"):
            assert there.search("pods 3", mode=mode, vector=[1, 1]) == here.search(
                "pods 3", mode=mode, vector=[1, 1]
            )
