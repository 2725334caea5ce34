"""Every link between the project's documents leads somewhere."""

import re

import pytest
from places import ROOT

DOCUMENTS = [
    *(p for folder in (ROOT, ROOT / "bench") for p in folder.glob("*.md")),
    *(p for folder in ("docs", "spec") for p in (ROOT / folder).rglob("*.md")),
]


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = path.parent / name if name else path
        assert there.exists(), target
        if anchor and there.suffix == ".md":
            assert anchor in {
                slug(h) for h in re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE)
            }, target


def test_pages_that_the_package_names_exist():
    for folder in ("ragfile", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            for page in re.findall(r"\b(?:see|in|of) (docs/[\w/-]+\.md)", path.read_text()):
                assert (ROOT / page).exists(), (path, page)
