"""The licences of data that is compiled in or delivered are in the source distribution and in the wheel."""

import re
import tomllib

import pytest
from places import ROOT

# What comes from others, and the file that has its licence.
LICENCES = {
    "csrc/text/unicode_tables.h": "ragfile/data/unicode.LICENSE",
    "csrc/model/wordpiece_tables.h": "ragfile/data/unicode.LICENSE",
    "csrc/compression/frames.c": "ragfile/data/zstd.LICENSE",
    "ragfile/data/potion-base-8M.ragmodel": "ragfile/data/potion-base-8M.LICENSE",
}


def _matches(patterns, folder=ROOT):
    """Return the files that glob patterns match, relative to the repository."""
    found = (path for pattern in patterns for path in folder.glob(pattern))
    return {path.relative_to(ROOT).as_posix() for path in found}


@pytest.fixture(scope="module")
def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("source", LICENCES)
def test_a_licence_is_delivered_with_its_data(settings, source):
    packaged = settings["tool"]["setuptools"]["package-data"]["ragfile"]
    assert (ROOT / source).exists()
    assert LICENCES[source] in _matches(settings["project"]["license-files"])  # the metadata
    assert LICENCES[source] in _matches(packaged, ROOT / "ragfile")
    assert "graft ragfile" in (ROOT / "MANIFEST.in").read_text().splitlines()


def test_every_file_that_names_anothers_copyright_has_its_licence_here():
    notice = re.compile(r"copyright \(c\)", re.IGNORECASE)
    foreign = {
        str(path.relative_to(ROOT))
        for folder in ("csrc", "ragfile")
        for path in (ROOT / folder).rglob("*.[chp]*")
        if path.suffix in (".c", ".h", ".py", ".pyx", ".pxi")
        and not path.name.startswith("_core")
        and notice.search(path.read_text(errors="replace"))
    }
    assert foreign <= LICENCES.keys()


def test_the_licence_of_unicode_has_its_terms():
    text = (ROOT / "ragfile/data/unicode.LICENSE").read_text()
    for words in (
        "1991-2022 Unicode, Inc.",
        "this copyright and permission notice appear",
        '"AS IS"',
    ):
        assert words in text
