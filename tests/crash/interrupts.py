"""Ctrl-C and SIGTERM at random moments of builds, edits, deletions, syncs and compactions; see life.py.

python tests/crash/interrupts.py --rounds 500

Ctrl-C is a KeyboardInterrupt wherever the interpreter happens to be, in one process that goes on: afterwards the file is at the
commit before or the one that was being made, its lock is free, and nothing lies beside it. SIGTERM ends a process.
"""

import argparse
import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import kill_life  # noqa: E402
import life  # noqa: E402

import ragfile  # noqa: E402
from ragfile import _core  # noqa: E402

NAME = "a.ragfile"


class Interrupted(BaseException):
    """As KeyboardInterrupt, but one that nobody else sends."""


def interrupt(*_):
    raise Interrupted


def interrupted(change, after):
    """Runs change and interrupts it after some seconds; whether it was."""
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        try:
            change()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:
        return True
    finally:
        signal.signal(signal.SIGALRM, before)
    return False


def settled(folder, path):
    """What must be true however the last writer ended."""
    gc.collect()
    assert _core.writer_pid(path) == 0, "a writer that is no more holds the file"
    assert os.listdir(folder) == [NAME], os.listdir(folder)
    assert ragfile.verify(path)[0] == []


def interrupt_rounds(folder, rounds, seed):
    """Interrupts edits, deletions, syncs and compactions; returns (how many were, the last number)."""
    rng, home = random.Random(seed), Path(folder) / "kb"
    path, sources, hits = home / NAME, Path(folder) / "sources", 0
    home.mkdir()
    life.make(path)
    began = time.perf_counter()
    life.commit(path, 1, sources)
    known, took = 1, time.perf_counter() - began
    for i in range(rounds):
        is_compaction = i % 4 == 3
        change = (
            (lambda: ragfile.compact(path))
            if is_compaction
            else (lambda n=known + 1: life.commit(path, n, sources))
        )
        began = time.perf_counter()
        if interrupted(change, 1e-5 + rng.random() * 1.3 * took):
            hits += 1
        else:
            took = 0.7 * took + 0.3 * (time.perf_counter() - began)
        took *= 1.05  # until it is long enough again
        settled(home, path)
        number = life.number_of(path)
        assert number in ((known,) if is_compaction else (known, known + 1)), (
            f"{known} became {number}"
        )
        known = number
    return hits, known


def interrupt_builds(folder, rounds, seed):
    """Interrupts builds, over nothing and over an older file; returns how many were."""
    rng, home, sources, hits = (
        random.Random(seed),
        Path(folder) / "built",
        Path(folder) / "texts",
        0,
    )
    home.mkdir()
    path = home / NAME
    life.fill(sources, {f"{n}.txt": f"{n} fed a cad " * 50 for n in range(30)})
    for _ in range(rounds):
        before = path.read_bytes() if path.exists() else None

        def build():
            ragfile.build(
                [sources], path, embedder=life.Letters(), chunking="words:12/3", resume=False
            )

        was_hit = interrupted(build, 1e-5 + rng.random() * 0.15)
        hits += was_hit
        gc.collect()
        if was_hit and before is None:
            assert os.listdir(home) in ([], [NAME])
        if path.exists():
            settled(home, path)
            with ragfile.open(path) as rf:
                assert len(list(rf.documents())) == 30
            if rng.random() < 0.5:
                path.unlink()
    return hits


def terminate_rounds(folder, rounds, seed, how=signal.SIGTERM):
    """Ends writing processes, and lets the next writer go on; returns the last number."""
    rng, path, sources = (
        random.Random(seed),
        os.path.join(folder, "ended", NAME),
        os.path.join(folder, "ended-sources"),
    )
    os.mkdir(os.path.dirname(path))
    life.make(path)
    known = 0
    for _ in range(rounds):
        command = [sys.executable, kill_life.__file__, "writer", path, sources, str(1 << 30)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert writer.stdout.readline(), "the writer failed by itself"
        try:
            writer.wait(rng.random() * 0.5)
        except subprocess.TimeoutExpired:
            writer.send_signal(how)
        # Python drops a KeyboardInterrupt that meets it in a destructor: people press Ctrl-C again.
        again = threading.Timer(20, writer.send_signal, [how])
        again.start()
        told = max([known, *map(int, writer.stdout.read().split())])
        again.cancel()
        assert writer.wait() in (-how, 1)
        number = life.number_of(path)
        assert number in (told, told + 1), f"commit {told} was made, {number} is there"
        if how == signal.SIGINT:
            assert os.listdir(os.path.dirname(path)) == [NAME]
        known = number
        _core.FileWriter.edit(path).close()
    return known


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=500)
    rounds, seed = options.parse_args().rounds, random.randrange(1 << 30)
    folder = tempfile.mkdtemp()
    print(f"seed {seed}")
    hits, known = interrupt_rounds(folder, rounds, seed)
    print(
        f"{hits} of {rounds} changes interrupted, {known} commits, none lost, no lock and no file left"
    )
    print(f"{interrupt_builds(folder, rounds // 10, seed)} of {rounds // 10} builds interrupted")
    print(
        f"{rounds // 20} writers terminated: {terminate_rounds(folder, rounds // 20, seed)} commits, none lost"
    )
    os.rename(os.path.join(folder, "ended"), os.path.join(folder, "terminated"))
    print(
        f"{rounds // 20} writers interrupted: {terminate_rounds(folder, rounds // 20, seed, signal.SIGINT)} commits"
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
