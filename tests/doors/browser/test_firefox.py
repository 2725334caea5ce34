"""A static site in Firefox, end to end: what tests/doors/browser/test_site.py asks of Chromium."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doors.browser.node import node
from doors.browser.small_site import ELEMENT, KEPT, TEXTS, written
from servers.site_server import SiteServer

import ragfile

DRIVER = Path(__file__).parent / "firefox.mjs"


class Firefox:
    """A browser that takes one action at a time; firefox.mjs lists them."""

    def __init__(self):
        found = shutil.which("firefox-esr") or shutil.which("firefox")
        if found is None or "PUPPETEER" not in os.environ:
            pytest.skip(
                "no firefox, or no PUPPETEER (a node_modules with puppeteer-core): make -C tests firefox"
            )
        self.process = subprocess.Popen(
            [node(), DRIVER, found], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, *action):
        self.process.stdin.write(json.dumps(action) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def browser():
    firefox = Firefox()
    yield firefox
    firefox.close()


@pytest.fixture
def firefox(browser):
    browser("page")
    return browser


@pytest.fixture
def site(tmp_path):
    return written(tmp_path)


def test_the_page_answers_by_words_then_by_meaning_with_no_word_of_the_policy(site, firefox):
    with SiteServer(site) as server:
        server.delay = 0.05
        firefox("goto", f"{server.url}/?q=rotate+the+keys")
        assert "rotation job" in firefox("text", ".passage")
        assert not any(path.endswith(".ragmodel") for path, *_ in server.log)
        firefox("waitFor", "!document.querySelector('.degraded')")
        assert any(path.endswith(".ragmodel") for path, *_ in server.log)
        assert "rotation job" in firefox("text", ".passage")
        assert firefox("said") == []


def test_a_passage_opens_its_document_at_its_characters(site, firefox):
    with SiteServer(site) as server:
        firefox("goto", f"{server.url}/?q=drained")
        firefox("click", ".passage a, .passage button")
        assert "The node is drained first." in firefox("text", "#reader mark.target")
        shown = "document.querySelector('#reader .text').textContent"
        assert firefox("evaluate", shown) == TEXTS["guide/pods.md"]
        firefox("goto", f"{server.url}/?doc=herons.txt&span=900-950&sum=0123456789abcdef")
        assert "has changed" in firefox("text", "#reader .warning")
        assert firefox("said") == []


def test_the_site_answers_when_its_host_is_gone_after_the_first_visit(site, firefox):
    with SiteServer(site) as server:
        firefox("goto", f"{server.url}/?q=herons")
        assert "Herons" in firefox("text", ".passage")
        firefox("evaluate", f"({KEPT})()")
    firefox("goto", f"{server.url}/?q=pod")
    assert "Restart a pod" in firefox("text", ".passage")


def test_the_element_searches_in_a_page_of_somebody_else(site, firefox):
    (site / "mine.html").write_text(ELEMENT)
    with SiteServer(site) as server:
        firefox("goto", f"{server.url}/mine.html")
        assert not any(path.endswith(".ragfile") for path, *_ in server.log)
        shown = "document.querySelector('ragfile-search').shadowRoot"
        firefox("evaluate", f"{shown}.querySelector('input').focus()")
        firefox("type", "rotate keys")
        firefox("waitFor", f"{shown}.querySelector('a mark')")
        assert firefox("evaluate", f"{shown}.querySelector('a').href").endswith("/keys/")
        marked = firefox("evaluate", f"{shown}.querySelector('mark').textContent")
        assert marked.lower() in ("rotate", "keys")
        firefox("press", "ArrowDown")
        firefox("press", "Escape")
        assert firefox("said") == []


@pytest.mark.parametrize("misdeed", ["lie", "cut", "gzip"])
def test_a_host_that_errs_is_said_to_the_person(site, firefox, misdeed):
    with SiteServer(site) as server:
        server.misdeed = misdeed
        firefox("goto", f"{server.url}/?q=keys")
        firefox("waitFor", "document.body.innerText.includes('kb.ragfile')")
        assert firefox("evaluate", "document.querySelectorAll('.passage').length") == 0


ASK = """async () => {
  const { open } = await import("./ragfile/index.js");
  window.file = await open(%s, { model: null, worker: %s });
  const { hits } = await file.search("drained node", { k: 2, mode: "bm25" });
  return hits.map(({ id, score }) => [id, score]);
}"""
BLOB = 'new File([await (await fetch("kb.ragfile")).blob()], "chosen.ragfile")'


@pytest.mark.parametrize(
    "place", ['"kb.ragfile"', BLOB, "await (await fetch('kb.ragfile')).arrayBuffer()"]
)
@pytest.mark.parametrize("worker", ["true", "false"])
def test_every_kind_of_place_gives_the_score_bits_of_python(site, firefox, place, worker):
    with ragfile.open(site / "kb.ragfile") as rf:
        expected = [[h.id, h.score] for h in rf.search("drained node", 2, mode="bm25")]
    with SiteServer(site) as server:
        (site / "plain.html").write_text("<!doctype html><title>plain</title>")
        firefox("goto", f"{server.url}/plain.html")
        assert firefox("evaluate", f"({ASK % (place, worker)})()") == expected


def test_a_file_that_is_replaced_under_the_page_is_noticed(site, firefox):
    (site / "plain.html").write_text("<!doctype html><title>plain</title>")
    with ragfile.create(site / "kb.ragfile", config={"layout": "web"}) as w:
        words = (" ".join(f"node{i}x{j}" for j in range(300)) for i in range(300))
        w.add_documents([{"id": f"d{i}", "text": text} for i, text in enumerate(words)])
    with SiteServer(site) as server:
        firefox("goto", f"{server.url}/plain.html")
        firefox("evaluate", f"({ASK % (repr('kb.ragfile'), 'true')})()")
        server.misdeed = "change"
        why = "file.search('node7x7', { mode: 'bm25' }).then(() => '', (error) => error.name)"
        assert firefox("evaluate", why) == "ChangedError"
        server.misdeed = ""
        found = "file.search('node9x9', { mode: 'bm25' }).then(({ hits }) => hits[0].doc_id)"
        assert firefox("evaluate", found) == "d9"
