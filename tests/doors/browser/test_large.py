"""A file beyond 2^32 bytes, opened and searched in memory that does not grow with it: in node from the disk and over
ranges, in Chromium over ranges and as a chosen file. (A file-backed Blob of node 20 has the size modulo 2^32.)"""

import os
import shutil

import pytest
from doors.browser.node import Reader
from servers.site_server import SiteServer

import ragfile

pytestmark = pytest.mark.stress
PIECE, PIECES = 256 << 20, 17
QUESTIONS = [("drain the node", "bm25"), ("rotate keys", "hybrid"), ("pods that wait", "vector")]
MEMORY = 8 << 20  # of the file, between calls
MOST = 450 << 20  # of node, with the model and WebAssembly's own


def documents(prefix):
    words = "drain node rotate key pod wait shallow water heron volume claim".split()  # noqa: SIM905
    for i in range(300):
        text = " ".join(words[(i * j + j) % len(words)] for j in range(1, 120))
        yield {"id": f"{prefix}{i:04}", "text": f"{text} {prefix}{i}", "metadata": {"n": i}}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Documents before and after four gibibytes of a section that nobody reads."""
    path = tmp_path_factory.mktemp("large") / "kb.ragfile"
    if shutil.disk_usage(path.parent).free < 8 << 30:
        pytest.skip("less than 8 GiB of room for a file of four")
    with ragfile.create(path, embedder="default", config={"layout": "web"}) as w:
        w.add_documents(documents("a"))
    for i in range(PIECES):
        with ragfile.edit(path) as w:
            w.add_section(f"zeros.{i}", bytes(PIECE))
    with ragfile.edit(path) as w:
        w.add_documents(documents("b"))
        w.delete(["a0003"])
    assert path.stat().st_size > 1 << 32
    yield path
    path.unlink()


def expected(path):
    with ragfile.open(path) as rf:
        return [
            [(h.id, h.score, h.text) for h in rf.search(text, 7, mode=mode)]
            for text, mode in QUESTIONS
        ]


def check(there, path):
    assert there("open")["length"] > 500
    for (text, mode), hits in zip(QUESTIONS, expected(path), strict=True):
        found = there("search", text, {"k": 7, "mode": mode})["hits"]
        assert [(h["id"], h["score"], h["text"]) for h in found] == hits
    assert any(hit[0].startswith("b") for hits in expected(path) for hit in hits)
    memory = there("memory")
    assert memory["kept"] <= MEMORY
    assert memory["rss"] < MOST, memory
    assert memory["received"] < 16 << 20


def test_node_reads_it_from_the_disk(large):
    with Reader(large, memory=MEMORY) as there:
        check(there, large)


def test_node_reads_it_over_ranges(large):
    with (
        SiteServer(large.parent) as server,
        Reader(f"{server.url}/{large.name}", memory=MEMORY) as there,
    ):
        check(there, large)


ASK = """async ([place, questions]) => {
  const { open } = await import("./ragfile/index.js");
  const chosen = document.querySelector("input").files[0];
  const file = await open(chosen ?? place, { memory: %d });
  const found = [];
  for (const [text, mode] of questions) {
    const { hits } = await file.search(text, { k: 7, mode });
    found.push(hits.map(({ id, score, text }) => [id, score, text]));
  }
  return { found, received: file.received, heap: performance.memory.usedJSHeapSize };
}"""


@pytest.mark.parametrize("is_chosen", [False, True])
def test_chromium_reads_it_over_ranges_and_as_a_chosen_file(large, tmp_path, is_chosen, browser):
    with ragfile.create(tmp_path / "small.ragfile", embedder="default") as w:
        w.add_documents([{"id": "a", "text": "a"}])
    ragfile.site(tmp_path / "small.ragfile", tmp_path / "site")
    (tmp_path / "site/plain.html").write_text("<!doctype html><title>x</title><input type=file>")
    os.symlink(large, tmp_path / "site/kb.ragfile")
    with SiteServer(tmp_path / "site") as server:
        page = browser.new_page()
        page.goto(f"{server.url}/plain.html")
        if is_chosen:
            page.set_input_files("input", large)
        answer = page.evaluate(ASK % MEMORY, ["kb.ragfile", QUESTIONS])
        page.close()
    found = [[tuple(hit) for hit in hits] for hits in answer["found"]]
    assert found == expected(large)
    assert answer["received"] < 16 << 20
    assert answer["heap"] < 64 << 20
    if is_chosen:
        assert not any(path.endswith(".ragfile") for path, *_ in server.log)
