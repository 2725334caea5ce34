"""Every call of an edit, a sync and a compaction fails once, under faults.c: the last commit opens, the error says why.

python tests/crash/faults_life.py FOLDER [STEP]: with a STEP, of the plain writes only one in so many fails
"""

import ctypes
import errno
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import life

import ragfile

FAULTS = [("pwrite", errno.ENOSPC), ("pwrite", errno.EIO), ("short", errno.ENOSPC), ("write", errno.ENOSPC), ("fsync", errno.EIO),
          ("rename", errno.EIO), ("ftruncate", errno.EIO), ("pwrite", errno.EINTR), ("write", errno.EINTR), ("fsync", errno.EINTR)]  # fmt: skip


def attempts(folder):
    """What is done to the file at commit 3, and the numbers that it may be at afterwards."""
    path, sources = folder / "kb" / "a.ragfile", folder / "sources"
    yield "edit", lambda: life.commit(path, 4 + 1, sources), 5
    yield "where", lambda: life.commit(path, 4, sources), 4
    yield "sync", lambda: life.commit(path, 6, sources), 6
    yield "compact", lambda: ragfile.compact(path), 3


def prepare(folder):
    path = folder / "kb" / "a.ragfile"
    path.parent.mkdir()
    life.make(path)
    for number in range(1, 4):
        life.commit(path, number, folder / "sources")
    return path


def put_back(path, data):
    """Replace the file: the writer that life.py keeps still maps the old one."""
    beside = path.parent.parent / "before"
    beside.write_bytes(data)
    os.replace(beside, path)


def number_at(path, tried):
    """As life.number_of, for a file that went from commit 3 to `tried` at once."""
    with ragfile.open(path, embedder=life.Letters(), strict=True) as rf:
        found = {document.id: document.text for document in rf.documents()}
    number = int(found[life.SERIAL])
    assert found == (life.expected[3] if number == 3 else life.after(life.expected[3], tried))
    assert ragfile.verify(path)[0] == []
    return number


def main(folder, step):
    faults, count = ctypes.CDLL(None), 0
    path = prepare(folder)
    before = path.read_bytes()
    for name, attempt, number in attempts(folder):
        for call, error in FAULTS:
            at = 0
            while True:
                at += step if call == "pwrite" else 1
                put_back(path, before)
                faults.fault_next(call.encode(), at, error)
                failure = None
                try:
                    attempt()
                except OSError as caught:
                    failure = caught
                hits = faults.fault_hits()
                faults.fault_next(b"", 0, 0)
                if hits == 0:
                    assert failure is None
                    break
                count += 1
                assert failure is None or failure.errno == error, (
                    f"{name}, {call} {at}: {failure!r}"
                )
                is_at = number_at(path, number)
                if failure is None:
                    assert is_at == number
                    if error == errno.EINTR:  # it was done again
                        continue
                    break
                assert os.strerror(error) in str(failure)
                assert is_at == 3 or call == "fsync", (
                    f"{name}, {call} {at}: {failure!r} but the commit is there"
                )
                assert os.listdir(path.parent) == ["a.ragfile"]
                attempt()
                assert number_at(path, number) == number
    print(f"{count} failing calls, the last commit opened after each")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    shutil.rmtree(sys.argv[1])
