"""The generated files of the npm package: made once where the pinned compiler is installed."""

import functools
import subprocess
import sys
from importlib.util import find_spec

import pytest
from places import ROOT

MODULE = ROOT / "ragfile/doors/browser/ragfile.wasm.gz"
TOOL = ROOT / "tools/build_web.py"


def has_compiler():
    return find_spec("ziglang") is not None or (ROOT / "build/pinned/ziglang").is_dir()


@functools.cache
def why_absent():
    """Build the files if they are missing; return the reason if they still are, otherwise None."""
    if MODULE.is_file():
        return None
    if not has_compiler():
        return "the core for browsers is not built: `make web` builds it"
    done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else f"make web: {lines[-1] if lines else 'failed'}"


@pytest.fixture(scope="session")
def web_files():
    """Skip the test where these files are missing and cannot be made."""
    if (reason := why_absent()) is not None:
        pytest.skip(reason)
