"""Redirected output is UTF-8, whatever the locale says; no character ends a command."""

import json
import os
import subprocess
import sys

import pytest

import ragfile

SNOWMAN = "Rotate the ☃ keys → every “ninety” days… größer."
# A command that starts with the streams that a locale of code page 1252 gives: Windows when redirected.
LOCALE_1252 = """
import io, sys
for name in ("stdout", "stderr"):
    bytes_out = getattr(sys, name).detach()
    setattr(sys, name, io.TextIOWrapper(bytes_out, encoding="cp1252", line_buffering=name == "stderr"))
"""
START = "from ragfile.doors.cli.main import main\nmain()"


@pytest.fixture(params=["C", "cp1252"])
def redirected(request, tmp_path):
    """Runs a command with its output redirected: (exit code, bytes of stdout, bytes of stderr)."""

    def call(*arguments):
        kept = ("PYTHONIOENCODING", "PYTHONUTF8", "LANG", "LC_ALL", "LC_CTYPE")
        clean = {name: value for name, value in os.environ.items() if name not in kept}
        clean |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
        script = LOCALE_1252 + START if request.param == "cp1252" else START
        with open(tmp_path / "out", "wb") as out, open(tmp_path / "err", "wb") as err:
            command = [sys.executable, "-c", script, *map(os.fspath, arguments)]
            done = subprocess.run(command, stdout=out, stderr=err, env=clean)
        return done.returncode, (tmp_path / "out").read_bytes(), (tmp_path / "err").read_bytes()

    return call


@pytest.fixture
def snow(tmp_path):
    path = tmp_path / "snow.ragfile"
    with ragfile.create(path) as w:
        w.add_documents([ragfile.Document(id="keys", text=SNOWMAN)])
    return path


def test_a_search_prints_every_character(redirected, snow):
    code, out, err = redirected("search", snow, "keys", "--mode", "bm25")
    assert (code, err) == (0, b"")
    assert SNOWMAN in out.decode("utf-8")


def test_compact_prints_its_arrow(redirected, snow):
    code, out, err = redirected("compact", snow)
    assert (code, err) == (0, b"")
    assert " → " in out.decode("utf-8")


def test_an_export_is_utf8(redirected, snow):
    code, out, _ = redirected("export", snow)
    assert code == 0
    assert SNOWMAN in json.loads(out.decode("utf-8").splitlines()[0]).values()


def test_an_error_is_utf8_and_names_a_file_of_any_bytes(redirected, tmp_path):
    missing = os.fsencode(tmp_path) + b"/missing-\xff\xe2\x98\x83.ragfile"
    code, out, err = redirected("info", os.fsdecode(missing))
    assert (code, out) == (1, b"")
    assert "missing-\\udcff" in err.decode("utf-8")


def test_pythonioencoding_has_precedence(snow):
    command = [sys.executable, "-m", "ragfile", "search", str(snow), "keys", "--mode", "bm25"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1:replace"}
    done = subprocess.run(command, capture_output=True, env=environment)
    assert done.returncode == 0
    assert SNOWMAN.encode("latin-1", "replace") in done.stdout
