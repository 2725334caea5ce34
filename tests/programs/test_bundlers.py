"""The npm package in bundles of esbuild, Vite, Rollup, webpack and Bun, run in node and in Chromium.

BUNDLERS names a folder with their packages; `make -C tests programs-bundlers` installs them. Each
command is the one that docs/guides/bundle-javascript.md shows.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from places import ROOT

import ragfile

FOLDER = os.environ.get("BUNDLERS")
WEB = ROOT / "ragfile/doors/browser"
PAGE = (ROOT / "docs/guides/bundle-javascript.md").read_text()
pytestmark = pytest.mark.skipif(
    not FOLDER or not (WEB / "ragfile.wasm.gz").exists(),
    reason="BUNDLERS does not name a folder with bundlers, or `make web` was not run",
)
QUESTION = "running pods"
ASK = """
const { hits } = await file.search("running pods", { k: 3 });
const found = hits.map((hit) => [hit.id, hit.score]);
"""
IN_PAGE = """
import { open } from "ragfile";
try {
  const file = await open("kb.ragfile", { model: new URL("potion-base-8M.ragmodel", document.baseURI) });
  %s
  document.body.dataset.found = JSON.stringify(found);
} catch (error) {
  document.body.dataset.found = JSON.stringify(String(error.stack));
}
"""
IN_NODE = """
import { open } from "ragfile";
async function main() {
  const file = await open(process.argv[2], { model: process.argv[3] });
  %s
  console.log(JSON.stringify(found));
}
main();
"""
NODE_COMMANDS = {
    "esbuild": "esbuild app.js --bundle --splitting --format=esm --platform=node --outdir=dist",
    "rollup": "rollup --config rollup.config.mjs",
    "webpack": "webpack --config webpack.config.mjs --target node",
    "bun": "bun build app.js --target=node --splitting --outdir=dist",
}
BUNDLERS = ("esbuild", "vite", "rollup", "webpack", "bun")
COPIES = ("esbuild", "rollup", "bun")  # which leave it to the user to copy the core


def shown(bundler):
    """The files and the command of a bundler on the page."""
    part = re.search(rf"^## {bundler}$(.*?)(?=^## |\Z)", PAGE, re.M | re.S | re.I)[1]
    files = dict(re.findall(r"```js\n// (\S+)\n(.*?)```", part, re.S))
    [command] = re.findall(r"```sh\n(.*?)```", part, re.S)
    return files, command


@pytest.fixture
def project(tmp_path):
    """A folder with an installed package, a file and the model."""
    installed = tmp_path / "node_modules" / "ragfile"
    shutil.copytree(WEB, installed)
    modules = Path(FOLDER) / "node_modules"
    for entry in modules.iterdir():
        if not (tmp_path / "node_modules" / entry.name).exists():
            (tmp_path / "node_modules" / entry.name).symlink_to(entry)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    return tmp_path


@pytest.fixture
def kb(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, embedder="default") as w:
        w.add_documents([{"id": f"d{i}", "text": f"pods and nodes {i} running"} for i in range(40)])
    with ragfile.open(path) as rf:
        return path, [[hit.id, hit.score] for hit in rf.search(QUESTION, 3)]


def for_node(text):
    """A configuration for node in place of one for browsers."""
    text = text.replace("browser: true", "browser: false")
    text = text.replace(
        'mode: "production"', 'mode: "production", experiments: { outputModule: true }'
    )
    return text.replace("output: { path", "output: { module: true, path")


def run(project, command):
    environment = os.environ | {"PATH": f"{project / 'node_modules/.bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-ec", command], cwd=project, capture_output=True, text=True, env=environment,
        check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def served(folder):
    """A server of a folder, with ranges refused: a file is then fetched whole."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.mark.parametrize("bundler", BUNDLERS)
def test_a_bundle_answers_in_chromium_like_the_library(project, kb, bundler):
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        pytest.skip("no chromium")
    files, command = shown(bundler)
    for name, text in files.items():
        (project / name).write_text(text)
    (project / "app.js").write_text(IN_PAGE % ASK)
    page = '<!doctype html><html><body><script type="module" src="./{}"></script></body></html>'
    (project / "index.html").write_text(page.format("app.js"))
    run(project, command)
    dist = project / "dist"
    if bundler != "vite":
        (dist / "index.html").write_text(page.format("app.js"))
    shutil.rmtree(project / "node_modules")  # nothing of the sources is needed any longer
    path, expected = kb
    shutil.copy(path, dist)
    shutil.copy(ROOT / "ragfile/data/potion-base-8M.ragmodel", dist)
    server = served(dist)
    try:
        with sync.sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=browser_path, args=["--no-sandbox"]
            )
            view = browser.new_page()
            workers = []
            view.on("worker", lambda worker: workers.append(worker.url))
            view.goto(f"http://127.0.0.1:{server.server_port}/index.html")
            view.wait_for_selector("body[data-found]", state="attached", timeout=60_000)
            found = json.loads(view.get_attribute("body", "data-found"))
            browser.close()
    finally:
        server.shutdown()
        server.server_close()
    assert found == expected
    assert len(workers) == 1, "the work is done in a worker"


@pytest.mark.parametrize("bundler", NODE_COMMANDS)
def test_a_bundle_answers_in_node_like_the_library(project, kb, bundler):
    files, _ = shown(bundler)
    for name, text in files.items():
        (project / name).write_text(for_node(text))
    (project / "app.js").write_text(IN_NODE % ASK)
    run(project, NODE_COMMANDS[bundler])
    dist = project / "dist"
    if bundler in COPIES:
        shutil.copy(WEB / "ragfile.wasm.gz", dist)
    shutil.rmtree(project / "node_modules")
    path, expected = kb
    model = ROOT / "ragfile/data/potion-base-8M.ragmodel"
    done = subprocess.run(
        ["node", *dist.glob("app.*js"), path.as_uri(), model.as_uri()], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
