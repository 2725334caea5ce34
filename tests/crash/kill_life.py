"""kill -9 at random moments of edits, deletions, syncs and compactions, while readers read; see life.py.

python tests/crash/kill_life.py kill --rounds 500      # two readers, a writer killed in every round
python tests/crash/kill_life.py read --commits 100     # eight readers, a writer killed every five commits
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import life  # noqa: E402
from reading import end_of_input, preemptions  # noqa: E402

import ragfile  # noqa: E402
from ragfile import _core  # noqa: E402

COMPACT_EVERY = 4
NAME = "a.ragfile"
# Windows does not replace a file that a reader maps: it steps aside, and for a moment has no other name.
ASIDE = {f".{NAME}.aside", *(f".{NAME}.old{n}" for n in range(1, 100)), "nothing"}
NAMES = {NAME, f".{NAME}.partial", *(ASIDE if sys.platform == "win32" else ())}


def write_on(path, sources, commits):
    """Commits and compacts; tells where it begins, and each number on stdout when its commit has returned."""
    life.take_every_path()
    number = life.number_of(path)
    os.write(1, f"{number}\n".encode())
    for _ in range(commits):
        number += 1
        life.commit(path, number, sources)
        os.write(1, f"{number}\n".encode())
        if number % COMPACT_EVERY == 0:
            ragfile.compact(path)


def read_on(path):
    """Opens and looks at everything until stdin closes; tells reads, distinct commits and the longest open in ms.

    Opens during which the system took the processor away tell nothing about waiting for a writer.
    """
    reads, seen, longest = 0, set(), 0.0
    ended = end_of_input()
    while not ended.is_set():
        before, began = preemptions(), time.perf_counter()
        ragfile.open(path).close()
        took = time.perf_counter() - began
        longest = max(longest, took) if preemptions() == before else longest
        number = life.number_of(path)
        assert number >= max(seen, default=0), "back to an older commit"
        seen.add(number)
        reads += 1
    print(reads, len(seen), longest * 1e3)


class Watch(threading.Thread):
    """Lists the folder again and again: there is the file, and during a compaction the one that will take its place."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.names, self.looks, self.is_over = folder, set(), 0, False

    def run(self):
        while not self.is_over:
            found = set(os.listdir(self.folder))
            self.names |= found if NAME in found else {"nothing"}
            self.looks += 1
            time.sleep(0.0005)

    def stop(self):
        self.is_over = True
        self.join()
        assert self.names <= NAMES, self.names


def start(*words, **streams):
    return subprocess.Popen([sys.executable, __file__, *map(str, words)], **streams)


def start_readers(path, count):
    pipes = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    return [start("reader", path, **pipes) for _ in range(count)]


def stop_readers(readers):
    told = []
    for reader in readers:
        out, error = reader.communicate("")
        assert reader.returncode == 0, error
        reads, seen, longest = out.split()
        told.append((int(reads), int(seen), float(longest)))
    return told


def kill_rounds(folder, rounds, seed, readers=2, at_least=0):
    """Kills a writer in every round, after at_least commits of it; returns (the last number, what the readers tell, looks)."""
    rng, path, sources = (
        random.Random(seed),
        os.path.join(folder, "kb", NAME),
        os.path.join(folder, "sources"),
    )
    os.mkdir(os.path.dirname(path))
    life.make(path, parity=5 * (seed % 2))
    watch, running, known = Watch(os.path.dirname(path)), start_readers(path, readers), 0
    watch.start()
    for _ in range(rounds):
        writer = start("writer", path, sources, 1 << 30, stdout=subprocess.PIPE)
        for _ in range(1 + at_least):
            assert writer.stdout.readline(), "the writer failed by itself"
        time.sleep(rng.random() * 0.1)
        writer.kill()
        told = max([known + at_least, *map(int, writer.stdout.read().split())])
        writer.wait()
        known = life.number_of(path)
        assert known in (told, told + 1), f"commit {told} was made, {known} is there"
        assert _core.writer_pid(path) == 0
        assert ragfile.verify(path)[0] == []
    watch.stop()
    return known, stop_readers(running), watch.looks


def main():
    options = argparse.ArgumentParser()
    ways = options.add_subparsers(dest="way", required=True)
    for way, name, count in (("kill", "--rounds", 500), ("read", "--commits", 100)):
        ways.add_parser(way).add_argument(name, type=int, default=count)
    chosen = options.parse_args()
    # Windows does not remove a file that is still mapped.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if chosen.way == "kill":
            known, told, looks = kill_rounds(folder, chosen.rounds, random.randrange(1 << 30))
            print(f"{chosen.rounds} writers killed, {known} commits, none lost")
        else:
            known, told, looks = kill_rounds(folder, chosen.commits // 5, 5, readers=8, at_least=5)
            print(f"{known} commits, a kill every five of them")
    reads, longest = sum(r for r, _, _ in told), max(ms for _, _, ms in told)
    print(
        f"{len(told)} readers: {reads} reads, longest open {longest:.2f} ms, no error; {looks} looks at the folder"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["reader"]:
        read_on(sys.argv[2])
    elif sys.argv[1:2] == ["writer"]:
        # A suite in the background hands down that interrupts are ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        write_on(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
