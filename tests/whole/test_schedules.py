"""A public call stops before some of its calls on files, another one runs in the gap, and nothing is lost.

`make -C tests schedules` stops before every call, for all pairs, and runs all faults of a server.
"""

import os
import subprocess
import sys
import tempfile

import pytest
from places import ROOT
from sanitizers import SANITIZED

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="preloaded by the Linux dynamic linker"),
    pytest.mark.skipif(SANITIZED, reason="a sanitizer's runtime has to be loaded first"),
]


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    library = tmp_path_factory.mktemp("gate") / "gate.so"
    compiler = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", ROOT / "tests/crash/gate.c"]
    subprocess.run([*compiler, "-o", library, "-ldl"], check=True)
    return str(library)


def run(gate, tmp_path, script, *options):
    """What a script says under the gate."""
    pytest.importorskip("starlette.testclient", reason="the extra server is not installed")
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=place) as folder:
        done = subprocess.run(
            [sys.executable, ROOT / f"tests/crash/{script}.py", folder, *options],
            env={**os.environ, "LD_PRELOAD": gate}, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    return done.stdout


FILE = ("edit:compact", "compact:edit", "sync:keep", "search:compact")
DATASET = ("add:vacuum", "search:compact")
FAULTS = ("put:kill", "delete:full disk", "upload:no descriptors")


def test_a_call_in_the_gap_of_another_loses_nothing(gate, tmp_path):
    told = run(gate, tmp_path, "schedules", "--kind", "file", "--step", "9", "--only", *FILE)
    assert int(told.splitlines()[-1].split()[1]) >= 2 * len(FILE)
    assert "0 lost" in told


def test_calls_on_a_dataset_lose_nothing_in_one_anothers_gaps(gate, tmp_path):
    told = run(gate, tmp_path, "schedules", "--kind", "dataset", "--step", "25", "--only", *DATASET)
    assert "0 lost" in told


def test_a_server_loses_nothing_by_its_faults(gate, tmp_path):
    told = run(gate, tmp_path, "server_faults", "--step", "30", "--only", *FAULTS)
    assert "nothing lost" in told
