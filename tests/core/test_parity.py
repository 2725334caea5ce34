"""The code of parity in C: the same bytes on every target, and no byte outside under sanitizers."""

import os
import shutil
import subprocess
import sys

import pytest
from places import ROOT

from ragfile import _core

COMPILER = shutil.which("cc")
PARTS = [
    *sorted((ROOT / "csrc/parity").glob("*.c")),
    *sorted((ROOT / "csrc/encryption").glob("*.c")),
    *sorted((ROOT / "csrc/system").glob("*.c")),
    *(ROOT / f"csrc/shared/{n}.c" for n in ("array", "bits")),
    *(
        ROOT / f"csrc/container/{n}.c"
        for n in ("guard", "hash", "reader", "section_lists", "sha256", "verify")
    ),
]
WRITE = """
import random, sys
from ragfile import _core
writer, rng = _core.FileWriter.create(sys.argv[1]), random.Random(7)
writer.parity(int(sys.argv[2]))
writer.add("a", rng.randbytes(700_001))
writer.commit()
"""


@pytest.mark.parametrize("percent", [2, 37])
def test_every_target_writes_the_same_bytes(tmp_path, percent):
    made = {}
    for target in {"baseline", _core.target()}:
        path = tmp_path / f"{target}.ragfile"
        subprocess.run(
            [sys.executable, "-c", WRITE, path, str(percent)], check=True,
            env={**os.environ, "RAGFILE_TARGET": target},
        )  # fmt: skip
        made[target] = path.read_bytes()
    assert len(set(made.values())) == 1


@pytest.mark.skipif(not COMPILER, reason="no C compiler here")
def test_damaged_and_lying_parity_stays_inside_its_bytes(tmp_path):
    program = tmp_path / "parity_fuzz"
    sources = [ROOT / "csrc/tests/drivers/parity_fuzz.c"]
    sources += PARTS
    flags = [
        "-std=gnu11",
        "-O0",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=undefined",
    ]
    built = subprocess.run(
        [COMPILER, *flags, f"-I{ROOT / 'csrc/include'}", f"-I{ROOT / 'csrc'}", *sources, "-lpthread", "-o", program],
        capture_output=True, text=True,
    )  # fmt: skip
    if built.returncode:
        pytest.skip(f"the sanitizers cannot be linked here: {built.stderr[:200]}")
    vectors = sorted((ROOT / "spec/vectors/parity").glob("*.ragfile"))
    vectors += sorted((ROOT / "spec/vectors/encryption").glob("parity*.ragfile"))
    done = subprocess.run([program, "100", "9", *vectors], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 20
