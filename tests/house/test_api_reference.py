"""The API reference has every public name, once."""

import re

import pytest
from places import ROOT

import ragfile

API = ROOT / "docs/reference/api"


@pytest.fixture(scope="module")
def documented():
    text = "".join(page.read_text() for page in sorted(API.glob("*.md")))
    return re.findall(r"^::: ragfile\.(\S+)$", text, re.MULTILINE)


def test_every_exported_name_is_documented(documented):
    errors = {name for name in ragfile.__all__ if name.endswith("Error")}
    expected = {
        *ragfile.__all__,
        *(f"dataset.{name}" for name in ragfile.dataset.__all__),
    } - errors
    assert expected <= set(documented)
    assert "errors" in documented


def test_no_name_is_documented_twice(documented):
    assert len(documented) == len(set(documented))


def test_every_adapter_that_the_guides_use_is_documented(documented):
    text = "".join(page.read_text() for page in (ROOT / "docs/guides").glob("*.md"))
    used = set(re.findall(r"ragfile\.(adapters\.\w+)", text)) - {"adapters.run_sqlrooms"}
    assert used
    assert used <= set(documented)
