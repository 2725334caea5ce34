"""Writers that are killed, readers that never wait: real processes on a real file.

Every commit writes its serial number into all of its sections, so that a reader can tell a whole generation from a mixture.

    python tests/crash/kill.py kill --rounds 200      # kill -9 at random moments while readers run
    python tests/crash/kill.py read --commits 100     # 8 readers during 100 commits and compactions
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from reading import end_of_input, preemptions

from ragfile import _core

NAMES = ("rag.a", "rag.b", "rag.c")
SIZES = (40, 3000, 150000)


def serial_of(reader):
    """The number that all sections carry; anything else is half a commit."""
    assert reader.commit["lost_generation"] == 0, "a commit in the making is called lost"
    found = set()
    for name in NAMES:
        section = reader.section(name)
        section.check()
        raw = bytes(section)
        assert raw == raw[:8] * (len(raw) // 8), "a torn section"
        found.add(int.from_bytes(raw[:8], "little"))
    assert len(found) == 1, f"a mixture of commits {found}"
    return found.pop()


def fill(writer, serial):
    for name, size in zip(NAMES, SIZES, strict=True):
        writer.begin(name)
        writer.write(serial.to_bytes(8, "little") * (size // 16))
        writer.write(serial.to_bytes(8, "little") * (size // 16))
        writer.end()


def write_on(path, commits, compact_every):
    """Commits again and again; tells each serial number on stdout when its commit has returned."""
    serial = serial_of(_core.Reader(_core.Map(path)))
    for _ in range(commits):
        serial += 1
        editor = _core.FileWriter.edit(path)
        writer = editor.replacement() if serial % compact_every == 0 else editor
        fill(writer, serial)
        writer.commit(message=str(serial))
        editor.close()
        os.write(1, f"{serial}\n".encode())


def read_on(path):
    """Opens and reads until stdin closes. Tells when it has read once; at its end, reads, commits seen, and the longest
    wait of an open in ms.

    On a full machine any process may be put off its processor for a while; such opens (an involuntary switch) tell nothing
    about waiting for a writer and are left out of the longest.
    """
    reads, seen, longest = 0, set(), 0.0
    ended = end_of_input()
    while not ended.is_set():
        before, started = preemptions(), time.perf_counter()
        reader = _core.Reader(_core.Map(path))
        took = time.perf_counter() - started
        if preemptions() == before:
            longest = max(longest, took)
        serial = serial_of(reader)
        assert serial >= max(seen, default=0), "back to an older commit"
        seen.add(serial)
        reads += 1
        if reads == 1:
            print("reading", flush=True)
    print(reads, len(seen), longest * 1e3)


def start(*words, **streams):
    return subprocess.Popen([sys.executable, __file__, *map(str, words)], **streams)


def start_readers(path, count):
    """Readers, each of which has read the file once."""
    readers = [
        start(
            "reader",
            path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for reader in readers:
        reader.stdout.readline()
    return readers


def stop_readers(readers):
    """[(reads, commits seen, longest wait in ms)], or the first reader's error."""
    told = []
    for reader in readers:
        out, error = reader.communicate("")
        assert reader.returncode == 0, error
        reads, seen, longest = out.split()
        told.append((int(reads), int(seen), float(longest)))
    return told


def kill_rounds(path, rounds, seed, readers=2):
    """Kills writers at random moments; returns (commits that survived, what the readers tell)."""
    rng = random.Random(seed)
    first = _core.FileWriter.create(path)
    fill(first, 1)
    first.commit()
    running, known = start_readers(path, readers), 1
    for _ in range(rounds):
        writer = start("writer", path, 1 << 30, 7, stdout=subprocess.PIPE)
        writer.stdout.readline()
        time.sleep(rng.random() ** 2 * 0.05)
        writer.kill()
        told = known + 1 + len(writer.stdout.read().split())
        writer.wait()
        reader = _core.Reader(_core.Map(path))
        known = serial_of(reader)
        assert known in (told, told + 1), f"commit {told} was made, {known} is there"
        assert not [fault for fault in reader.verify()[0] if "belong to none" not in fault[2]]
        assert _core.writer_pid(path) == 0
        _core.FileWriter.edit(path).close()
    return known, stop_readers(running)


def read_rounds(path, commits, readers=8, compact_every=50):
    first = _core.FileWriter.create(path)
    fill(first, 1)
    first.commit()
    running = start_readers(path, readers)
    writer = start("writer", path, commits, compact_every, stdout=subprocess.PIPE)
    told = writer.communicate()[0].split()
    assert writer.returncode == 0
    assert int(told[-1]) == commits + 1 == serial_of(_core.Reader(_core.Map(path)))
    return stop_readers(running)


def main():
    options = argparse.ArgumentParser()
    ways = options.add_subparsers(dest="way", required=True)
    ways.add_parser("kill").add_argument("--rounds", type=int, default=200)
    ways.add_parser("read").add_argument("--commits", type=int, default=100)
    chosen = options.parse_args()
    # Windows does not remove a file that is still mapped.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "a.ragfile")
        if chosen.way == "kill":
            known, told = kill_rounds(path, chosen.rounds, 1)
            print(f"{chosen.rounds} writers killed, {known} commits, none lost")
        else:
            told = read_rounds(path, chosen.commits)
            print(f"{chosen.commits} commits, two of them compactions")
    print(
        f"{len(told)} readers: {sum(r for r, _, _ in told)} reads, longest wait {max(ms for _, _, ms in told):.2f} ms, no error"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["reader"]:
        read_on(sys.argv[2])
    elif sys.argv[1:2] == ["writer"]:
        write_on(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
