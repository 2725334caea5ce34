"""<ragfile-search> in sites that MkDocs, Sphinx and Docusaurus make, set up as docs/guides/site-search.md describes: in Chromium, one
question whose first answer leads to a page that is there."""

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from servers.site_server import SiteServer

import ragfile

PAGES = {
    "index.md": "# Welcome\n\nWhat this is.\n",
    "guide/keys.md": "# Keys\n\nTo rotate the keys, run the rotation job every 90 days.\n",
    "guide/pods.md": "# Pods\n\nRestart a pod by deleting it.\n",
}
ELEMENT = '<ragfile-search src="{0}search/kb.ragfile" link="{1}"></ragfile-search>'


def pages(folder, ending=".md", heading=lambda line: line):
    for name, text in PAGES.items():
        place = (folder / name).with_suffix(ending)
        place.parent.mkdir(parents=True, exist_ok=True)
        title, rest = text.split("\n", 1)
        place.write_text(heading(title) + "\n" + rest)


def made(docs, out):
    """Follow docs/guides/site-search.md: build a file of the folder, and a site of it in another."""
    ragfile.build([docs], docs.parent / "kb.ragfile", layout="web", exclude=["search/"])
    ragfile.site(docs.parent / "kb.ragfile", out, meaning=False)


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def check(browser, built, start, leads_to):
    """Asks the element of a built site's page, follows the first answer, and finds the page."""
    with SiteServer(built) as server:
        page = browser.new_page()
        page.goto(f"{server.url}{start}")
        page.locator("ragfile-search input").fill("rotate keys")
        link = page.locator("ragfile-search a").first
        link.wait_for(timeout=30_000)
        assert page.locator("ragfile-search mark").first.inner_text().lower() in ("rotate", "keys")
        link.click()
        page.wait_for_url(f"{server.url}{leads_to}")
        page.get_by_text("every 90 days").first.wait_for(timeout=30_000)
        page.close()


def test_mkdocs(browser, tmp_path):
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: make -C tests web-generators")
    docs = tmp_path / "docs"
    pages(docs)
    made(docs, docs / "search")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: Ours\nplugins: []\nextra_javascript:\n"
        "  - {path: search/ragfile/element.js, type: module}\n"
    )
    with open(docs / "index.md", "a") as index:
        index.write("\n" + ELEMENT.format("/", "/{page}/") + "\n")
    run(sys.executable, "-m", "mkdocs", "build", cwd=tmp_path)
    check(browser, tmp_path / "site", "/", "/guide/keys/")


def test_sphinx(browser, tmp_path):
    if find_spec("sphinx") is None:
        pytest.skip("sphinx is not installed: make -C tests web-generators")
    docs = tmp_path / "docs"
    pages(docs, ".rst", lambda line: f"{line[2:]}\n{'=' * len(line)}")
    made(docs, tmp_path / "extra/search")
    (docs / "index.rst").write_text(
        "Welcome\n=======\n\n.. toctree::\n\n   guide/keys\n   guide/pods\n"
    )
    (docs / "conf.py").write_text(
        'html_extra_path = ["../extra"]\ntemplates_path = ["templates"]\n'
        'html_sidebars = {"**": ["ragfile.html", "globaltoc.html"]}\n'
    )
    (docs / "templates").mkdir()
    element = ELEMENT.format("{{ pathto('', 1) }}", "{path}.html")
    (docs / "templates/ragfile.html").write_text(
        '<script type="module" src="{{ pathto(\'search/ragfile/element.js\', 1) }}"></script>\n'
        + element.replace("<ragfile-search", "<ragfile-search base=\"{{ pathto('', 1) or './' }}\"")
    )
    run(sys.executable, "-m", "sphinx", "-q", "-b", "html", "docs", "site", cwd=tmp_path)
    check(browser, tmp_path / "site", "/index.html", "/guide/keys.html")
    check(browser, tmp_path / "site", "/guide/pods.html", "/guide/keys.html")


CONFIG = """
export default {
  title: "Ours", url: "https://example.org", baseUrl: "/", onBrokenLinks: "ignore",
  presets: [["classic", { docs: {}, blog: false, pages: false }]],
  scripts: [{ src: "/search/ragfile/element.js", type: "module" }],
};
"""


def test_docusaurus(browser, tmp_path):
    installed = os.environ.get("DOCUSAURUS")
    if installed is None:
        pytest.skip(
            "no DOCUSAURUS (a node_modules with @docusaurus/core): make -C tests web-generators"
        )
    with tempfile.TemporaryDirectory(dir=Path(installed).parent) as folder:  # beside node_modules
        site = Path(folder)
        pages(site / "docs")
        made(site / "docs", site / "static/search")
        with open(site / "docs/index.md", "a") as index:
            index.write("\n" + ELEMENT.format("/", "/docs/{page}") + "\n")
        (site / "docusaurus.config.mjs").write_text(CONFIG)
        (site / "package.json").write_text('{"name": "ours", "private": true}')
        run("node", Path(installed) / "@docusaurus/core/bin/docusaurus.mjs", "build", cwd=site)
        check(browser, site / "build", "/docs/", "/docs/guide/keys")
