"""spec/vectors through the npm package in node: the files of version 1.0, with the verdicts and the
content of the other two readers."""

import json
import subprocess
import sys
import tomllib

import pytest
from doors.browser.node import Reader
from places import ROOT

EXPECTED = json.loads((ROOT / "spec/vectors/expected.json").read_text(encoding="utf-8"))
TABLE = tomllib.loads((ROOT / "spec/sections.toml").read_text())["section"]
# The rules of the container, and of the sections that this reader reads. It skips others.
READ = {"1.3.3", *(f"2.{n}" for n in range(1, 6))}
READ |= {entry["rule"] for entry in TABLE if entry.get("browser")}
# A posting list is checked when a question reads it.
READ -= {"L.4"}
# Not a knowledge base: the package's own open() refuses it as well.
PAIRS_ALONE = {"good-1-keyword.ragfile"}
NAMES = sorted(name for name in EXPECTED if "-1-" in name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    vectors = ["--vectors", str(ROOT / "spec/vectors"), "--unpack", str(folder)]
    command = [sys.executable, "-m", "ragfile.conformance", *vectors]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def as_javascript(value):
    """JSON as JavaScript has it: all numbers are binary64."""
    return json.loads(json.dumps(value), parse_int=lambda text: int(float(text)))


BAD = [n for n in NAMES if n.startswith("bad")]


@pytest.mark.parametrize("name", [n for n in BAD if EXPECTED[n]["refused"]["rule"] in READ])
def test_a_bad_file_is_refused(folder, name):
    with Reader(folder / name) as there:
        answer = there.answer("open")
        kind = answer.get("error")
        if kind is None:
            faults = there("verify")
            assert faults, name
            kind = faults[0]["error"]
        wanted = EXPECTED[name]["refused"]["kind"]
        assert (kind == "VersionError") == (wanted == "version"), (kind, wanted)


@pytest.mark.parametrize(
    "name", [n for n in NAMES if n.startswith("good") and n not in PAIRS_ALONE]
)
def test_a_good_file_has_the_documents_that_it_says(folder, name):
    found = EXPECTED[name]["found"]
    with Reader(folder / name) as there:
        opened = there("open")
        assert opened["generation"] == found["generation"]
        info = there("info")
        if not info["tail"] and not info["recovered"]:  # which a full check counts as faults
            assert there("verify") == []
        assert opened["length"] == sum(segment["live"] for segment in found["segments"])
        for segment in found["segments"]:
            for document in segment.get("documents", ()):
                if document["deleted"]:
                    continue
                theirs = there("document", document["id"])
                assert theirs["id"] == document["id"]
                if document["text"] is not None:
                    assert theirs["text"] == document["text"]
                meta = document["meta"] or {}
                assert theirs["metadata"] == as_javascript(meta.get("metadata", {}))
                assert theirs["tags"] == meta.get("tags", [])
