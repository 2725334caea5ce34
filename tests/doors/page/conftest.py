"""What the tests of the page share: a real browser, and collections with all that is awkward."""

import os
from pathlib import Path

import pytest
from places import ROOT
from servers.page_server import PageServer, file_of

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
FILLING = " ".join(f"Sentence {i} keeps sections apart." for i in range(60))
PAGES = {
    "guide/keys.md": f"# 🗝️ Guide\n\nKeys open doors 🚪. {FILLING}\n\n## Rotation\n\nTo rotate the keys, "
    f"run the rotation job 🔁 every 90 days.\nIt takes a minute. {FILLING}\n\n"
    f"## Storage\n\nKeys are stored in the vault. {FILLING}\n",
    "guide/pods.md": "# Pods\n\nRestart a pod by deleting it. **Bold** and `code` and *em*.\n\n"
    "```sh\nkubectl delete pod\n    --now\n```\n\nA line that an editor\nbroke flows on.\n",
    "hostile/<b>&\"'.md": f"# Heading {HOSTILE}\n\nSpecimen text {HOSTILE} and\n\n"
    "![x](http://127.0.0.1:9/leak.png) [go](javascript:window.hacked=1) {{question}} </script>\n",
    "plain.txt": "A plain text about herons.\n* not a list *\n  two spaces kept\n",
}
FACTS = {
    "guide/keys.md": {"lang": "en", "year": 2024},
    "guide/pods.md": {"lang": "en", "year": 2021},
    "plain.txt": {"lang": "de", "year": 2019, "mime": "text/plain"},
}
FACETS = {
    "tags": [{"value": "guide", "chunks": 4}, {"value": "odd", "chunks": 2}],
    "fields": [
        {"name": "lang", "distinct": 2, "values": [{"value": "en", "chunks": 4}, {"value": "de", "chunks": 1}]},
        {"name": "year", "distinct": 90, "least": 2019, "most": 2024},
        {"name": "checksum", "distinct": 4, "values": [{"value": v, "chunks": 1} for v in "abcd"]},
    ],
}  # fmt: skip


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    """Two files: the pages above, and one that has the same with another word in it."""
    folder = tmp_path_factory.mktemp("page")
    made = {}
    for name in ("handbook", "other"):
        documents = [document(id, text, name) for id, text in PAGES.items()]
        made[name] = file_of(documents, folder / f"{name}.ragfile")
    return made


def document(id, text, collection):
    metadata = {"checksum": "0123456789abcdef" * 4, "title": "", "mime": "text/markdown"}
    if id.startswith("hostile"):
        metadata |= {"title": f"Title {HOSTILE}", "author": HOSTILE}
    tags = ["guide"] if id.startswith("guide") else ["odd"]
    text = text if collection == "handbook" else text.replace("vault", "cellar")
    return {
        "id": id,
        "text": text,
        "source": id,
        "metadata": metadata | FACTS.get(id, {}),
        "tags": tags,
    }


@pytest.fixture
def server(paths):
    with PageServer(paths, facets=FACETS) as server:
        yield server


@pytest.fixture
def visit(browser):
    """Opens an address in a window of its own, and holds that nothing was asked of anybody else,
    that no policy was broken and that no script failed.
    """
    windows = []

    def visit(url, **options):
        context = browser.new_context(viewport={"width": 1280, "height": 860}, **options)
        page = context.new_page()
        page.foreign, page.wrong = [], []
        page.on("request", lambda request: page.foreign.append(request.url))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on(
            "console",
            lambda said: page.wrong.append(said.text) if "policy" in said.text.lower() else None,
        )
        page.set_default_timeout(15_000)
        page.goto(url)
        windows.append((page, url))
        return page

    yield visit
    for page, url in windows:
        origin = "/".join(url.split("/")[:3]) + "/"
        assert [asked for asked in page.foreign if not asked.startswith(origin)] == []
        assert page.wrong == []
        assert page.evaluate("window.hacked") is None
        page.context.close()


@pytest.fixture(scope="session")
def axe():
    """axe-core's source, which finds what hinders people who use the page by other means."""
    place = Path(os.environ.get("AXE", ROOT / "build/page/node_modules/axe-core/axe.min.js"))
    if not place.is_file():
        pytest.skip("no axe-core here: make -C tests page installs it")
    return place.read_text()
