"""How many modules a question passes: files of the package that get a frame, texts unread.

A limit may rise by one for a new feature, with its reason beside it.
"""

import asyncio
import gc
import json
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import ragfile
from ragfile import dataset
from ragfile.embedding.protocol import Model
from ragfile.file.row_segment import RowSegment

PACKAGE = str(Path(ragfile.__file__).parent)
HYBRID, DATASET = 15, 23  # one more each for the pages that the best passages name
EVIDENCE = 5  # a document's further passages are evidence: the documents of the rows are read from their segments
# One more each: the support of an answer; words that claim nothing; blocks in the place of sentences; their markup; the
# form that an answer has; the beginning of a passage that is cut; the pages that the best ones name; how current and
# trusted a source is.
ASK = 32
HTTP = 33
QUESTION = "alpha beta"


class Letters:
    """An embedder that counts letters."""

    model = Model("letters", 8)

    def embed(self, texts, role="document"):
        """A row of counts for each text."""
        return np.array([[1 + t.count(c) for c in "abehlpt "] for t in texts], np.float32)


class Walk:
    """The files of the package that get a frame inside."""

    def __init__(self):
        self.files, self.is_on = set(), False

    def note(self, frame, event, argument):
        if self.is_on and event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.files.add(frame.f_code.co_filename[len(PACKAGE) + 1 :])

    def of(self, call):
        for _ in range(3):  # what is made on first use
            call()
        gc.collect()  # what other tests left closes its files now, not during the call
        gc.disable()
        self.is_on = True
        sys.setprofile(self.note)
        try:
            call()
        finally:
            sys.setprofile(None)
            self.is_on = False
            gc.enable()
        return sorted(self.files)


def made(path, each):
    """A file of 60 chunks, `each` of them in a document."""
    texts = [f"alpha {'beta ' * (i % 5)}text of number {i}" for i in range(60)]
    chunks = [ragfile.Chunk(f"d{i // each:02}", i % each, text) for i, text in enumerate(texts)]
    with ragfile.create(path, embedder=Letters()) as w:
        w.add(chunks)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return made(tmp_path_factory.mktemp("walks") / "kb.ragfile", 4)


def test_a_question_to_a_file(path):
    with ragfile.open(path, embedder=Letters()) as rf:
        hits = rf.search(QUESTION, k=10, cache=False)
        assert {"bm25", "vector"} <= hits[0].scores.keys()
        files = Walk().of(lambda: rf.search(QUESTION, k=10, cache=False))
    assert len(files) <= HYBRID, files


@pytest.mark.parametrize(("each", "limit"), [(1, DATASET), (4, DATASET + EVIDENCE)])
def test_a_question_to_a_dataset(each, limit, tmp_path):
    dataset.convert(made(tmp_path / "kb.ragfile", each), tmp_path / "kb", shards=3)
    with ragfile.open(tmp_path / "kb", embedder=Letters()) as rf:
        assert len(rf.search(QUESTION, k=10, cache=False)) == 10
        files = Walk().of(lambda: rf.search(QUESTION, k=10, cache=False))
    assert len(files) <= limit, files


def test_an_answer_without_a_model(path):
    with ragfile.open(path, embedder="none") as rf:
        assert rf.ask(QUESTION).sources
        files = Walk().of(lambda: rf.ask(QUESTION))
    assert len(files) <= ASK, files


async def posted(app, body):
    """The body of an answer to a request that an ASGI server would hand on."""
    found = []

    async def receive():
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message):
        found.append(message.get("body", b""))

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    where = "/v1/collections/kb/search"
    scope = {
        "type": "http", "method": "POST", "path": where, "raw_path": where.encode(),
        "query_string": b"", "headers": headers, "client": ("127.0.0.1", 1), "root_path": "",
        "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 80),
    }  # fmt: skip
    await app(scope, receive, send)
    return json.loads(b"".join(found))


def test_a_question_over_http_reads_each_hit_once(path, monkeypatch):
    pytest.importorskip("starlette", reason="the extra server is not installed")
    pytest.importorskip("python_multipart", reason="the extra server is not installed")
    from ragfile.doors.server.access import log
    from ragfile.doors.server.app import make_app
    from ragfile.doors.server.settings import Settings

    monkeypatch.setattr(log, "disabled", True)  # a server that a test began here set up the log
    walk, reads, whole = Walk(), [], RowSegment.whole
    monkeypatch.setattr(RowSegment, "whole", lambda *given: reads.append(given) or whole(*given))
    for part in ("identity", "passage", "labels"):
        monkeypatch.setattr(RowSegment, part, lambda *given: pytest.fail("a part is read apart"))
    threading.setprofile(walk.note)  # of the threads that the server starts
    loop = asyncio.new_event_loop()
    try:
        app = make_app(Settings((str(path),), embedder=Letters()))
        body = {"query": QUESTION, "k": 5, "cache": False}
        files = walk.of(lambda: loop.run_until_complete(posted(app, body)))
        reads.clear()
        assert len(loop.run_until_complete(posted(app, body))["hits"]) == 5
    finally:
        threading.setprofile(None)
        loop.close()
    assert len(reads) == 5
    assert len(files) <= HTTP, "\n".join(files)
