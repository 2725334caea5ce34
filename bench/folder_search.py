"""How long does `ragfile search` take on a folder and on a .ragmd, the first time and from then on?

    python bench/folder_search.py FOLDER

Each line is the processor time of whole commands, the start of Python included; the best of five where the cache
has the copy. A RAGFile of the folder is the comparison.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import ragfile

RUNS = 5


def main():
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        kb, ragmd = Path(work) / "kb.ragfile", Path(work) / "kb.ragmd"
        report = ragfile.build(folder, kb)
        ragfile.convert(kb, ragmd)
        own = {**os.environ, "RAGFILE_CACHE": f"{work}/cache"}
        own.pop("RAGFILE_CACHE_BYTES", None)
        print(f"{report.files:,} files, {report.chunks:,} passages; CPU seconds, first and later")
        for name, path in (("RAGFile", kb), ("folder", folder), (".ragmd", ragmd)):
            first, *later = (spent(path, own) for _ in range(RUNS + 1))
            print(f"{name:8} {first:6.2f} {min(later):6.2f}", flush=True)


def spent(path, environment):
    """Return the processor time of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "ragfile", "search", path, "how do I rotate the keys?"],
        env=environment, capture_output=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
