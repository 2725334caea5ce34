"""Programs on the targets that this machine has, for tests that compare what the targets give."""

import os
import subprocess
import sys

import pytest
from places import TESTS

TARGETS = ["baseline", "avx2", "avx512", "avx512vnni", "neon", "neondot"]


def printed(target, code, *arguments):
    """What a program prints that runs on a target ("" for the widest); None where the machine does not have it."""
    # Not by PYTHONPATH, which Python's embeddable package for Windows ignores.
    begin = f"import sys; sys.path.insert(0, {str(TESTS)!r})\n"
    run = subprocess.run(
        [sys.executable, "-c", begin + code, *map(str, arguments)],
        env={**os.environ, "RAGFILE_TARGET": target},
        capture_output=True,
        text=True,
        check=False,
    )
    if "does not have it" in run.stderr:
        return None
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


def on(target, code, *arguments):
    """The same; the test is skipped where the machine does not have the target."""
    found = printed(target, code, *arguments)
    if found is None:
        pytest.skip(f"this machine cannot run {target}")
    return found
