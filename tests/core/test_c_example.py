"""The C library by itself: the command of csrc/README.md compiles its example, which answers."""

import re
import runpy
import shutil
import subprocess

import pytest
from places import ROOT

import ragfile

README = (ROOT / "csrc/README.md").read_text()


SOURCES = "csrc/*/*.c $zstd/zstd.c"


@pytest.fixture(params=["objects", pytest.param("sources", marks=pytest.mark.stress)])
def example(request, tmp_path, c_objects, libzstd):
    """The example as the page's command builds it: from the objects of the same files, or whole."""
    command = re.search(r"^zstd=.*\ncc .*$", README, re.MULTILINE)[0]
    assert SOURCES in command
    if request.param == "objects":
        objects = " ".join(map(str, [*c_objects, *libzstd]))
        command = command.replace(SOURCES, objects).replace("-O2", "-O0 -w")
    command = command.replace("-o example", f"-o {tmp_path / 'example'}")
    subprocess.run(command, shell=True, cwd=ROOT, check=True)
    return tmp_path / "example"


@pytest.mark.skipif(not shutil.which("cc"), reason="compiled by the test")
def test_the_example_of_the_c_library_builds_with_cc_alone_and_answers(example, tmp_path):
    path = tmp_path / "birds.ragfile"
    texts = ["a red fox", "a red hen and a red cock", "grey geese"]
    with ragfile.create(path, dim=None, created=1) as writer:
        writer.add(
            [{"doc_id": f"d{i}", "chunk_index": 0, "content": t} for i, t in enumerate(texts)]
        )
    printed = subprocess.run(
        [example, path, "red"], capture_output=True, text=True, check=True
    ).stdout
    found = [line.split() for line in printed.splitlines()]
    with ragfile.open(path) as rf:
        wanted = rf.search("red", k=3, mode="bm25")
    assert [(f[0], int(f[1]), float(f[2])) for f in found] == [
        (hit.doc_id, hit.chunk_index, pytest.approx(hit.score)) for hit in wanted
    ]


def test_the_readme_of_the_c_library_names_every_header():
    named = set(re.findall(r"(?<!system/)\b(\w+)\.h`", README))  # system.h is internal
    assert named == {path.stem for path in (ROOT / "csrc/include").rglob("*.h")}


def test_cython_is_told_of_every_header():
    rooms = runpy.run_path(str(ROOT / "tools/write_pxd.py"))["ROOMS"]
    declared = {header for room in rooms.values() for header in room}
    assert declared == {p.stem for p in (ROOT / "csrc/include/ragfile").glob("*.h")}
    assert all(len(room) == len(set(room)) for room in rooms.values())
