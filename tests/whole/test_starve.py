"""Every allocation and system call of writers and readers fails once: the file stays whole and nothing is left behind."""

import os
import shutil
import subprocess
import sys
import tempfile

import pytest
from crash.starving import SCENARIOS
from places import ROOT
from sanitizers import SANITIZED

WRAPPED = [
    "malloc",
    "calloc",
    "realloc",
    "strdup",
    "strndup",
    "fstat",
    "stat",
    "flock",
    "unlink",
    "fchown",
    "fchmod",
    "fsync",
    "rename",
    "mmap",
    "open",
    "pwrite",
]
SOURCES = [
    "csrc/tests/drivers/starve.c",
    *(
        f"csrc/{name}.c"
        for name in (
            "container/guard",
            "container/hash",
            "container/section_lists",
            "container/reader",
            "container/sha256",
            "container/verify",
            "container/writer",
            "encryption/encrypted_file",
            "encryption/header",
            "encryption/plain",
            "parity/cauchy",
            "parity/gf16",
            "parity/parity",
            "parity/shard",
            "parity/trailer",
            "parity/trailer_mark",
            "shared/array",
            "shared/bits",
            "system/cpu",
            "system/files",
            "system/thread_pool",
            "system/posix",
        )
    ),
]
FLAGS = [
    "-std=gnu11",
    "-g",
    "-O1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
    "-Icsrc/include",
    "-Icsrc",
]

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux", reason="wraps functions by the GNU linker, counts /proc/self/fd"
    ),
    pytest.mark.skipif(not shutil.which("cc"), reason="compiled by the test"),
]


def starved(name, folder, *most):
    """What tests/crash/NAME.py says under tests/crash/NAME.c."""
    library = folder / f"{name}.so"
    source = ROOT / f"tests/crash/{name}.c"
    compiler = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", source, "-o", library]
    subprocess.run([*compiler, "-ldl"], check=True)
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
    with tempfile.TemporaryDirectory(dir=memory_or(folder)) as work:
        done = subprocess.run(
            [sys.executable, ROOT / f"tests/crash/{name}.py", f"{work}/work", *most],
            env={**os.environ, "LD_PRELOAD": preload, "PYTHONMALLOC": "malloc"},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def memory_or(folder):
    """Where a thousand syncs cost little."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else folder


def test_an_allocation_that_fails_is_one_error_in_every_public_call(tmp_path):
    assert starved("starve_api", tmp_path, "3").count("allocations, 0 findings") == 13


@pytest.mark.skipif(SANITIZED, reason="sanitizers have an allocator of their own")
def test_a_call_of_the_core_that_fails_is_one_error_in_every_part_of_it(tmp_path):
    said = starved("starve_core", tmp_path, "12")
    assert said.count("calls failed, 0 findings") == len(SCENARIOS)
    assert int(said.splitlines()[-1].split()[0]) > 12 * len(SCENARIOS) * 2 // 3


def test_every_failing_call_leaves_a_whole_file_and_nothing_else(tmp_path):
    program = tmp_path / "starve"
    wraps = [f"-Wl,--wrap={name}" for name in WRAPPED]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment["ASAN_OPTIONS"] = "detect_leaks=1"
    compiler = [os.environ.get("CC", "cc"), *FLAGS, *SOURCES, *wraps, "-o", program]
    subprocess.run(compiler, cwd=ROOT, env=environment, check=True)
    with tempfile.TemporaryDirectory(dir=memory_or(tmp_path)) as folder:
        done = subprocess.run(
            [program, folder], env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("each failed once") == 6
