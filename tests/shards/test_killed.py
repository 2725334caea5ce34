"""A writer that is killed at any moment leaves a dataset that is whole: before its commit, or after it."""

import os
import random
import signal
import subprocess
import sys
import time

from shards import collections

import ragfile
from ragfile import dataset

WRITER = """
import sys
from ragfile import dataset
for number in range(1000):
    dataset.add(sys.argv[1], documents=[{"id": f"k{sys.argv[2]}-{number}", "text": "a pod that is killed"}])
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_at_any_moment_leaves_a_whole_dataset(tmp_path):
    rng = random.Random(int.from_bytes(os.urandom(4), "big"))
    dataset.build(collections.write(tmp_path / "sources", 9), tmp_path / "kb", shards=2)
    told = set()
    for life in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "kb"), str(life)], stdout=subprocess.PIPE, text=True,
        ) as writer:  # fmt: skip
            assert writer.stdout is not None
            assert writer.stdout.readline() == "0\n"
            time.sleep(rng.uniform(0, 0.5))
            os.kill(writer.pid, signal.SIGKILL)
            said = writer.stdout.read().split()
        told |= {f"k{life}-{number}" for number in ["0", *said]}
        with ragfile.open(tmp_path / "kb") as rf:
            there = {doc_id for doc_id in rf.document_ids() if doc_id.startswith("k")}
            assert told <= there
            assert len(there - told) <= life + 1  # committed, and killed before it could say so
            assert rf.search("killed", 3, mode="bm25")
        assert ragfile.verify(tmp_path / "kb")[0] == []
    dataset.add(
        tmp_path / "kb", documents=[{"id": "last", "text": "makes the dead writer's objects old"}]
    )
    dataset.vacuum(tmp_path / "kb", days=0, keep=1, dry_run=False)
    left = [path for path in (tmp_path / "kb").rglob("*") if path.is_file()]
    assert len(left) == 2 + 1 + 1  # shards, statistics, a manifest
    assert ragfile.verify(tmp_path / "kb")[0] == []
