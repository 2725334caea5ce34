"""What a release needs, apart from the addresses that only its publisher knows."""

import subprocess
import sys

from places import ROOT


def problems():
    command = [sys.executable, "tools/check_release.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stderr.splitlines()


def test_every_version_is_that_of_the_package():
    assert [line for line in problems() if not line.startswith(".github/contact.toml: set ")] == []
