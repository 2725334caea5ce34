"""A short time of `make -C tests soak`."""

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


def test_a_server_stands_everything_at_once(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.chdir(tmp_path)
    from soak import soak

    assert soak(seconds=4, slow=100)
