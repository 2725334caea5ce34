"""The sequence of script.py at the level of what people do: a build, edits, deletions, syncs, compactions, a writer that gives up.

python tests/crash/script_life.py FOLDER, under the recorder. A state is everything that a reader can be told.
"""

import ctypes
import hashlib
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import life

import ragfile

COMMITS = 12


def fingerprint(path):
    """Documents, chunks, vectors, answers and the log of a file."""
    with ragfile.open(path, embedder=life.Letters(), strict=True) as rf:
        rows = [
            row
            for s in rf.rows.segments
            for row in range(s.base, s.base + s.rows)
            if s.is_live(row - s.base)
        ]
        state = [
            rf.generation, sorted(map(str, rf.documents())), sorted(str((rf.chunk(r), rf.vector(r).tolist())) for r in rows),
            [(hit.id, hit.score) for hit in rf.search("fed cad face", 9)], rf.match("deaf", 5)[1].tolist(), logged(path),
        ]  # fmt: skip
    return hashlib.sha256(repr(state).encode()).hexdigest()


def logged(path):
    """The newest commit; older ones can be dropped after it, in a step of its own."""
    commit = ragfile.log(path)[0]
    return [commit[name] for name in ("generation", "created", "message", "chunks")]


def mark(text):
    ctypes.CDLL(None).crash_mark(text.encode())


def run(path):
    life.take_every_path()
    states = 0

    def step(change):
        nonlocal states
        states += 1
        mark(f"begin {states}")
        change()
        mark(f"done {states} {fingerprint(path)}")

    with tempfile.TemporaryDirectory() as sources:
        step(lambda: life.make(path))
        for number in range(1, COMMITS + 1):
            step(lambda number=number: life.commit(path, number, sources))
            if number % 5 == 0:
                step(lambda: ragfile.compact(path))
            if number % 4 == 0:
                give_up(path)


def give_up(path):
    with ragfile.edit(path, embedder=life.Letters()) as w:
        w.upsert([{"id": "never", "text": "fed " * 90}])
        w.draft.write_segment()
        w.discard()


if __name__ == "__main__":
    run(sys.argv[1] + "/a.ragfile")
