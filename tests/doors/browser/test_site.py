"""`ragfile site`: what is in the folder; and in Chromium, end to end, under the page's own policy."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from doors.browser.small_site import ELEMENT, KEPT, TEXTS, written
from places import ROOT
from servers.site_server import SiteServer

import ragfile
from ragfile.doors.cli.main import ragfile as command


@pytest.fixture
def site(tmp_path):
    return written(tmp_path)


# ----------------------------------------------------------------------------------- the folder --


def test_the_folder_has_the_file_as_it_is_and_all_that_the_page_names(site, tmp_path):
    assert (site / "kb.ragfile").read_bytes() == (tmp_path / "kb.ragfile").read_bytes()
    index = (site / "index.html").read_text()
    assert "script-src 'self' 'wasm-unsafe-eval';" in index
    assert "unsafe-inline" not in index
    assert "'unsafe-eval'" not in index
    assert "<title>A &lt;b&gt; &amp; c</title>" in index
    about = json.loads((site / "site.json").read_text())
    assert (about["file"], about["model"]) == ("kb.ragfile", "ragfile/potion-base-8M.ragmodel")
    for name in (about["model"], "sw.js", "ragfile/ragfile.wasm.gz", "ragfile/stemmers/LICENSE"):
        assert (site / name).is_file()
    assert "Zstandard" in (site / "ragfile/zstd.LICENSE").read_text()
    assert "Unicode, Inc." in (site / "ragfile/unicode.LICENSE").read_text()
    assert not (site / "rest.js").exists()


def test_a_site_is_written_again_and_a_folder_of_somebody_else_is_left_alone(site, tmp_path):
    ragfile.site(tmp_path / "kb.ragfile", site)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not a site"):
        ragfile.site(tmp_path / "kb.ragfile", tmp_path / "mine")
    assert os.listdir(tmp_path / "mine") == ["letter.txt"]


def test_words_only_leaves_out_the_model(site, tmp_path):
    out = tmp_path / "words"
    done = CliRunner().invoke(
        command, ["site", str(tmp_path / "kb.ragfile"), "-o", str(out), "--words-only", "--json"]
    )
    assert done.exit_code == 0, done.output
    names = json.loads(done.output)["files"]
    assert not any(name.endswith(".ragmodel") for name in names)
    assert json.loads((out / "site.json").read_text())["model"] is None
    assert sorted(names) == sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())


def test_a_file_of_pairs_is_refused(tmp_path):
    ragfile.write_pairs(tmp_path / "old.ragfile", [("a", "b")])
    with pytest.raises(ragfile.FormatError, match="convert"):
        ragfile.site(tmp_path / "old.ragfile", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------- Chromium --


@pytest.fixture
def page(browser):
    context = browser.new_context()
    page = context.new_page()
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    yield page
    context.close()


def test_the_page_answers_by_words_then_by_meaning_with_no_word_of_the_policy(site, page):
    with SiteServer(site) as server:
        server.delay = 0.02
        page.goto(f"{server.url}/?q=rotate+the+keys")
        first = page.locator(".passage").first
        first.wait_for(timeout=30_000)
        assert "rotation job" in first.inner_text()
        assert not any(path.endswith(".ragmodel") for path, *_ in server.log)
        page.get_by_text("1 passage").or_(page.get_by_text("passages in")).first.wait_for()
        page.wait_for_event("request", lambda request: "ragmodel" in request.url, timeout=30_000)
        page.locator(".degraded").wait_for(state="detached", timeout=30_000)
        assert "rotation job" in page.locator(".passage").first.inner_text()
        assert page.said == []
        hosts = {path for path, *_ in server.log}
        assert "/kb.ragfile" in hosts
        assert len([path for path in hosts if path.endswith(".js")]) == 5  # joined, theme and sw


def test_a_passage_opens_its_document_at_its_characters(site, page):
    with SiteServer(site) as server:
        page.goto(f"{server.url}/?q=drained")
        page.locator(".passage").first.wait_for(timeout=30_000)
        page.locator(".passage a, .passage button").first.click()
        reader = page.locator("#reader")
        reader.get_by_text("The node is drained first.").first.wait_for(timeout=10_000)
        mark = reader.locator("mark.target")
        assert "The node is drained first." in mark.text_content()
        whole = TEXTS["guide/pods.md"]  # what is around the passage comes with it
        assert reader.locator(".text").text_content() == whole
        assert (
            hashlib.sha256(whole.encode()).hexdigest()[:12] in reader.locator(".hash").inner_text()
        )
        page.goto(f"{server.url}/?doc=herons.txt&span=900-950&sum=0123456789abcdef")
        reader.locator(".warning").wait_for(timeout=30_000)
        assert "has changed" in reader.locator(".warning").inner_text()
        assert "Herons stand" in reader.locator(".text").text_content()
        assert page.said == []


def test_the_site_answers_without_a_network_after_the_first_visit(site, page):
    with SiteServer(site) as server:
        page.goto(f"{server.url}/?q=herons")
        page.locator(".passage").first.wait_for(timeout=30_000)
        page.evaluate(KEPT)
        page.context.set_offline(True)
        page.goto(f"{server.url}/?q=pod")
        first = page.locator(".passage").first
        first.wait_for(timeout=30_000)
        assert "Restart a pod" in first.inner_text()


def test_the_element_searches_in_a_page_of_somebody_else(site, page):
    (site / "mine.html").write_text(ELEMENT)
    with SiteServer(site) as server:
        page.goto(f"{server.url}/mine.html")
        assert not any(path.endswith(".ragfile") for path, *_ in server.log)
        page.locator("ragfile-search input").fill("rotate keys")
        link = page.locator("ragfile-search a").first
        link.wait_for(timeout=30_000)
        assert link.get_attribute("href").endswith("/keys/")
        assert page.locator("ragfile-search mark").first.inner_text().lower() in ("rotate", "keys")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        assert page.said == []


KEEP = """async (question) => {
  const { open } = await import("./ragfile/index.js");
  const file = await open("large.ragfile", { model: null, cache: "ours" });
  const { hits } = await file.search(question, { k: 2, mode: "bm25" });
  const kept = (await (await caches.open("ours")).keys()).length;
  await file.close();
  return { id: hits[0].doc_id, kept };
}"""


def test_what_was_fetched_is_kept_for_the_next_visit_where_the_program_wants_it(site, page):
    def fill(word):
        with ragfile.create(site / "large.ragfile", config={"layout": "web"}) as w:
            texts = (" ".join(f"{word}{i}x{j}" for j in range(300)) for i in range(300))
            w.add_documents([{"id": f"{word}{i}", "text": text} for i, text in enumerate(texts)])

    def asked(question):
        before = len(server.log)
        answer = page.evaluate(KEEP, question)
        return answer, [line for line in server.log[before:] if line[0].endswith(".ragfile")]

    (site / "plain.html").write_text("<!doctype html><title>plain</title>")
    fill("node")
    with SiteServer(site) as server:
        page.goto(f"{server.url}/plain.html")
        answer, requests = asked("node7x7")
        assert (answer["id"], answer["kept"] > 3, len(requests) > 5) == ("node7", True, True)
        answer, requests = asked("node7x7")
        assert (answer["id"], len(requests)) == ("node7", 2)  # the front and the end
        fill("pods")  # another file: what was kept of the one before is of no use, and goes
        answer, requests = asked("pods9x9")
        assert (answer["id"], len(requests) > 5) == ("pods9", True)
        page.evaluate("async () => (await caches.open('ours')).put('/mine', new Response('x'))")
        spoil = """async () => {
          const cache = await caches.open("ours");
          for (const one of await cache.keys())
            if (one.url.includes("ragfile-range")) {
              const bytes = new Uint8Array(await (await cache.match(one)).arrayBuffer());
              await cache.put(one, new Response(bytes.map((byte) => byte ^ 1)));
            }
        }"""
        page.evaluate(spoil)
        why = page.evaluate(f"(q) => ({KEEP})(q).then(() => '', (error) => error.name)", "pods9x9")
        assert why == "CorruptError"
        answer, _ = asked("pods9x9")  # what was spoilt is forgotten, and nothing else of the Cache
        assert answer["id"] == "pods9"
        assert page.evaluate("async () => Boolean(await caches.match('/mine'))")


@pytest.mark.parametrize("misdeed", ["lie", "cut", "gzip"])
def test_a_host_that_errs_is_said_to_the_person(site, page, misdeed):
    with SiteServer(site) as server:
        server.misdeed = misdeed
        page.goto(f"{server.url}/?q=keys")
        page.get_by_text("kb.ragfile").first.wait_for(timeout=30_000)
        assert page.locator(".passage").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(site, browser, scheme):
    place = Path(os.environ.get("AXE", ROOT / "build/page/node_modules/axe-core/axe.min.js"))
    if not place.is_file():
        pytest.skip("no axe-core here: make -C tests page installs it")
    (site / "mine.html").write_text(ELEMENT.replace("<title>", '<html lang="en"><title>'))
    page = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
    with SiteServer(site) as server:
        page.goto(f"{server.url}/?q=rotate+the+keys")
        page.locator(".passage").first.wait_for(timeout=30_000)
        page.locator(".degraded").wait_for(state="detached", timeout=30_000)
        assert judged(page, place) == []
        page.goto(f"{server.url}/mine.html")
        page.locator("ragfile-search input").fill("rotate keys")
        page.locator("ragfile-search a").first.wait_for(timeout=30_000)
        # rules for whole pages, which this one of an element alone is not
        assert set(judged(page, place)) <= {"landmark-one-main", "page-has-heading-one", "region"}
    page.context.close()


def judged(page, axe):
    page.evaluate(axe.read_text(encoding="utf-8"))
    run = "() => axe.run(document, { resultTypes: ['violations'] })"
    return [violation["id"] for violation in page.evaluate(run)["violations"]]
