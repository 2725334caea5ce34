"""What the tests of the core share: its C files compiled by `cc` alone, once in a run."""

import os
import shutil
import subprocess

import pytest
from places import ROOT, ZSTD

COUNTED = os.environ.get("RAGFILE_OBJECTS")
FLAGS = ["-std=gnu11", "-O0", "-w", *(f"-I{ROOT / name}" for name in ("csrc/include", "csrc"))]


def pytest_collection_modifyitems(items):
    """Give the tests that need the objects to one worker, which compiles them once."""
    for item in items:
        if "c_objects" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("objects"))


@pytest.fixture(scope="session")
def c_objects(tmp_path_factory):
    """The objects of the core's C files. RAGFILE_OBJECTS names a folder with those of another build."""
    if COUNTED:
        return sorted((ROOT / COUNTED).glob("*/*.o"))
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")
    return compiled(tmp_path_factory.mktemp("core"), sorted((ROOT / "csrc").glob("*/*.c")))


@pytest.fixture(scope="session")
def libzstd(tmp_path_factory):
    """The object of libzstd, and the flag that links with counted objects."""
    if COUNTED:
        (built,) = (ROOT / COUNTED).parent.glob("build/pinned/*/zstd.o")
        return [built, "--coverage"]
    return compiled(tmp_path_factory.mktemp("zstd"), [ZSTD / "zstd.c"])


def compiled(folder, sources):
    """Compile the sources on two cores, and return their objects."""
    command = [os.environ.get("CC", "cc"), *FLAGS, f"-I{ZSTD}", "-c"]
    halves = [half for half in (sources[::2], sources[1::2]) if half]
    making = [subprocess.Popen([*command, *map(str, half)], cwd=folder) for half in halves]
    assert [one.wait() for one in making] == [0] * len(halves)
    return sorted(folder.glob("*.o"))
