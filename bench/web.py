"""Measure the downloads of a visitor who searches a site, beside Pagefind, Orama and Lunr.

    python bench/web.py --folder docs/ [--questions questions.txt] [--peers node_modules]

All engines get the same folder of Markdown pages; Pagefind gets each page as HTML. Each runs in
Chromium with a host that compresses text files, as most hosts do: the first question with five
results and their texts, then the others. Counts requests and bytes as sent, code included, for the
first question and for each other one right after it. Times the first answer from opening the page,
with a host that waits 50 ms per response (the best of three), and a repeated question. Peers are
npm packages in --peers (npm i pagefind@1 @orama/orama lunr); missing ones are left out. Orama and
Lunr index the texts in node and load their whole index.
"""

import argparse
import html
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import ragfile

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from servers.site_server import SiteServer

QUESTIONS = [
    "how do I rotate the keys", "restart a pod", "configure liveness probes", "what is a StatefulSet",
    "network policy egress", "kubectl drain node safely", "persistent volume claim access modes",
    "RBAC role binding example", "horizontal pod autoscaler custom metrics", "image pull secrets",
]  # fmt: skip
DELAY = 0.05  # seconds before each response
OPEN = {
    "ragfile": """const { open } = await import("./ragfile/index.js");
        const file = await open("kb.ragfile", { model: null });
        window.ask = async (q) => (await file.search(q, { k: 5, mode: "bm25" })).hits.map((h) => h.text);""",
    "pagefind": """const pagefind = await import("./pagefind/pagefind.js");
        window.ask = async (q) => {
          const { results } = await pagefind.search(q);
          return Promise.all(results.slice(0, 5).map(async (r) => (await r.data()).excerpt));
        };""",
    "orama": """const { create, load, search } = await import("./orama/index.js");
        const db = create({ schema: { text: "string" } });
        load(db, await (await fetch("orama.json")).json());
        window.ask = async (q) => (await search(db, { term: q, limit: 5 })).hits.map((h) => h.document.text);""",
    "lunr": """await new Promise((onload) =>
          document.head.append(Object.assign(document.createElement("script"), { src: "lunr.js", onload })));
        const [index, texts] = await Promise.all(["lunr.json", "texts.json"].map(async (n) => (await fetch(n)).json()));
        const found = window.lunr.Index.load(index);
        window.ask = async (q) => found.search(q).slice(0, 5).map((r) => texts[r.ref]);""",
}
INDEX = """
const { createRequire } = require("module");
const [peers, folder] = process.argv.slice(1);
const at = createRequire(peers + "/x.js"), fs = require("fs");
const texts = JSON.parse(fs.readFileSync(folder + "/texts.json"));
(async () => {
  if (fs.existsSync(peers + "/@orama")) {
    const { create, insertMultiple, save } = at("@orama/orama");
    const db = create({ schema: { text: "string" } });
    await insertMultiple(db, texts.map((text) => ({ text })), 1000);
    fs.writeFileSync(folder + "/orama.json", JSON.stringify(save(db)));
  }
  if (fs.existsSync(peers + "/lunr")) {
    const lunr = at("lunr");
    const index = lunr(function () {
      this.ref("i"); this.field("text");
      texts.forEach((text, i) => this.add({ i, text }));
    });
    fs.writeFileSync(folder + "/lunr.json", JSON.stringify(index));
  }
})();
"""


def prepare(folder, peers, site):
    """Write the site: a file for the web, HTML for Pagefind, and the indexes of the others."""
    kb = site.parent / "kb.ragfile"
    ragfile.build([folder], kb, layout="web", embedder="none")
    ragfile.site(kb, site)
    with ragfile.open(kb) as rf:
        texts = [rf.hit(int(row)).text for row in rf.live_rows()]
        pages = {document.id: document.text for document in rf.documents()}
    (site / "texts.json").write_text(json.dumps(texts))
    for i, (name, text) in enumerate(pages.items()):
        page = site / "pages" / f"{i}.html"
        page.parent.mkdir(exist_ok=True)
        body = "".join(f"<p>{html.escape(p)}</p>" for p in text.split("\n\n"))
        page.write_text(
            f'<html lang="en"><title>{html.escape(name)}</title><main>{body}</main></html>'
        )
    if (peers / ".bin/pagefind").exists():
        command = [
            peers / ".bin/pagefind",
            "--site",
            site / "pages",
            "--output-path",
            site / "pagefind",
        ]
        subprocess.run(command, check=True, capture_output=True)
    subprocess.run(["node", "-e", INDEX, peers.absolute(), site], check=True)
    if (peers / "lunr").exists():
        (site / "lunr.js").write_bytes((peers / "lunr/lunr.min.js").read_bytes())
    browser = peers / "@orama/orama/dist/browser"
    for source in browser.rglob("*.js") if browser.exists() else ():
        target = site / "orama" / source.relative_to(browser)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    return len(pages), len(texts)


def there(site):
    marks = {
        "ragfile": "kb.ragfile",
        "pagefind": "pagefind",
        "orama": "orama.json",
        "lunr": "lunr.json",
    }
    return [name for name, mark in marks.items() if (site / mark).exists()]


def measured(browser, server, site, name, questions):
    (site / f"{name}.html").write_text("<!doctype html><meta charset=utf-8><title>bench</title>")
    later = []
    for question in questions[1:]:  # each right after the first
        page, requests, received, _ = first_answer(browser, server, name, questions[0])
        before = server.received
        page.evaluate("(q) => ask(q)", question)
        later.append(server.received - before)
        page.context.close()
    server.delay = DELAY
    waits = []
    for _ in range(3):
        page, *_, wait = first_answer(browser, server, name, questions[0])
        waits.append(wait)
        page.context.close()
    server.delay = 0
    page, *_ = first_answer(browser, server, name, questions[0])
    times = [page.evaluate(TIMED, question) for question in questions]
    page.context.close()
    return {
        "first_requests": requests, "first_bytes": received, "first_ms": min(waits),
        "later_bytes_most": max(later), "later_bytes_median": statistics.median(later),
        "ms": statistics.median(times),
    }  # fmt: skip


def first_answer(browser, server, name, question):
    """Return (page, requests, bytes, milliseconds) of a first visit with one question."""
    page = browser.new_context().new_page()
    server.log.clear()
    began = time.perf_counter()
    page.goto(f"{server.url}/{name}.html")
    page.evaluate(f"async () => {{ {OPEN[name]} }}")
    first = page.evaluate("(q) => ask(q)", question)
    wait = (time.perf_counter() - began) * 1e3
    assert len(first) == 5, (name, len(first))
    return page, len(server.log), server.received, wait


TIMED = """async (q) => {
  const times = [];
  for (let i = 0; i < 9; i++) {
    const began = performance.now();
    await ask(q);
    times.push(performance.now() - began);
  }
  return Math.min(...times);
}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--questions")
    parser.add_argument("--peers", default="node_modules")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--json")
    options = parser.parse_args()
    questions = QUESTIONS
    if options.questions:
        questions = [q for q in Path(options.questions).read_text().splitlines() if q][:20]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        site = Path(folder) / "site"
        pages, chunks = prepare(options.folder, Path(options.peers), site)
        browser = driver.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        print(
            f"{pages:,} pages, {chunks:,} passages; {platform.machine()}, Chromium {browser.version}"
        )
        found = {}
        with SiteServer(site) as server:
            server.packs = True
            for name in there(site):
                found[name] = row = measured(browser, server, site, name, questions)
                print(
                    f"{name:9} first question {row['first_bytes'] / 1e3:9,.0f} KB in "
                    f"{row['first_requests']:3} requests, {row['first_ms']:,.0f} ms; later {row['later_bytes_median'] / 1e3:6,.0f} KB "
                    f"(most {row['later_bytes_most'] / 1e3:,.0f}); warm {row['ms']:.1f} ms"
                )
        browser.close()
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
