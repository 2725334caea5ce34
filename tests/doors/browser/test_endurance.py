"""Hostile files in node: an answer or an error, never a crash, never memory without an end."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doors.browser.node import node
from fuzz import sections
from places import ROOT

HERE = Path(__file__).parent
COUNT = int(os.environ.get("RAGFILE_HOSTILE", "60"))


def endured(folder):
    command = [node(), "--expose-gc", HERE / "endure.mjs", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def test_files_with_good_checksums_and_lying_sections(folder):
    for seed in range(COUNT):
        (folder / f"{seed:06}").write_bytes(sections.hostile(seed))
    found = endured(folder)
    assert found["problems"] == []
    assert found["files"] == COUNT
    assert found["answers"] > COUNT
    assert found["refused"] > 0


def test_the_corpus_of_the_containers_fuzzer(folder):
    corpus = ROOT / "csrc/tests/fuzz/corpus"
    for seed in corpus.iterdir():
        shutil.copy(seed, folder)
        data = seed.read_bytes()
        for cut in (1, 64, 4096, len(data) // 2):
            (folder / f"{seed.name}-{cut}").write_bytes(data[:-cut])
    assert endured(folder)["problems"] == []


@pytest.mark.stress
def test_two_thousand_hostile_files_leave_memory_as_it_was(folder):
    for seed in range(2000):
        (folder / f"{seed:06}").write_bytes(sections.hostile(seed))
    found = endured(folder)
    assert found["problems"] == []
    assert found["after"] < 1.25 * found["before"] + (64 << 20)
