"""The documentation's website, as people see it: wide and narrow, light and dark, with its own search."""

import re

import pytest
from servers.site_server import SiteServer

import ragfile

PAGES = ("index.html", "docs/index.html", "docs/guides/edit.html", "docs/reference/api/files.html")
FIRST_VISIT = 150_000  # bytes, from a host that packs text


@pytest.fixture(scope="module")
def host(website):
    with SiteServer(website) as server:
        server.packs = True
        yield server


@pytest.mark.parametrize("width", [1280, 380])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(host, visit, axe, scheme, width):
    page = visit(host.url + "/" + PAGES[0], color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 860})
    for name in PAGES:
        page.goto(host.url + "/" + name)
        page.wait_for_load_state("networkidle")
        page.evaluate(axe)
        found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == [], name
        assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0, name


@pytest.mark.parametrize("name", ["index.html", "docs/guides/edit.html"])
def test_the_search_field_finds_pages_that_exist(host, website, visit, name):
    page = visit(host.url + "/" + name)
    page.locator("ragfile-search input").fill("rotate a signing key")
    links = page.locator("ragfile-search li a")
    links.first.wait_for()
    targets = {link.get_attribute("href").removeprefix(host.url + "/") for link in links.all()}
    assert "docs/guides/sign.html" in targets
    assert all((website / target).is_file() for target in targets)
    links.first.click()
    page.get_by_role("heading", name="Sign a file").wait_for()


def test_every_page_can_be_the_target_of_a_result(website):
    with ragfile.open(website / "ask/docs.ragfile") as file:
        ids = [document.id for document in file.documents()]
    assert len(ids) > 100
    for id in ids:
        path = re.sub("README$", "index", id.removesuffix(".md"))
        assert (website / f"{path}.html").is_file(), id


def test_a_first_visit_is_small(host, visit):
    host.log.clear()
    page = visit(host.url + "/index.html")
    page.wait_for_load_state("networkidle")
    sizes = {path: size for path, _, _, size in host.log}
    assert {"/index.html", "/website.css", "/ask/ragfile/element.js"} <= set(sizes)
    assert sum(sizes.values()) <= FIRST_VISIT, sizes
