"""Where Python and the C core meet: every status becomes an exception, buffers are checked, nothing is packed in Python."""

import ast
import os
import subprocess
import sys

import numpy as np
import pytest
from places import ROOT

from ragfile import _core, errors

PACKAGE = ROOT / "ragfile"


def test_every_status_has_an_exception_and_a_sentence():
    assert sorted(_core.STATUS) == list(range(1, _core.STATUS_COUNT))
    for kind, sentence in _core.STATUS.values():
        assert issubclass(kind, Exception)
        sentence.format(what="", at=0, where="")


def test_exceptions_form_the_tree_that_their_module_draws():
    assert issubclass(errors.VersionError, errors.FormatError)
    assert issubclass(errors.CorruptError, errors.FormatError)
    assert issubclass(errors.FormatError, ValueError)
    assert issubclass(errors.LockedError, OSError)
    assert all(
        issubclass(getattr(errors, name), errors.RagfileError)
        for name in dir(errors)
        if name.endswith("Error")
    )


def test_a_section_is_a_read_only_buffer_that_knows_its_bounds():
    section = _core.Section.over(b"hello", "greeting")
    assert bytes(section) == b"hello"
    assert len(section) == 5
    section.check(0, 5)
    with pytest.raises(ValueError, match="outside section greeting"):
        section.check(3, 3)
    assert memoryview(section).readonly
    assert not np.frombuffer(section, np.uint8).flags.writeable


def test_a_missing_file_is_the_operating_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        _core.Map(tmp_path / "nothing")
    assert caught.value.filename == str(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        _core.Map(tmp_path)


def test_python_packs_and_unpacks_nothing():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert "struct" not in names, path


def test_an_unknown_target_stops_the_import_with_its_name():
    done = subprocess.run(
        [sys.executable, "-c", "import ragfile._core"],
        env={**os.environ, "RAGFILE_TARGET": "mmx"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "mmx" in done.stderr


def test_importing_the_package_starts_no_thread_and_opens_no_socket():
    code = (
        "import sys, threading, ragfile; ragfile.open; ragfile.create;"
        "assert threading.active_count() == 1;"
        "print(sorted({'socket', 'ssl', 'httpx2', 'click', 'torch', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
