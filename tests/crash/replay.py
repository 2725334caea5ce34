"""Crashes a recorded sequence at every operation and looks at what is left.

The disk is modelled pessimistically. A file's bytes are sure once it was synced; of what was written since, any set of
512-byte sectors may have arrived, the rest hold zeros or rubbish, and the length may be any that was passed through. Names
are sure once the folder was synced; of the changes since, any first part may have arrived. Whatever is left, opening must
give the last committed state or the one being committed.

    python tests/crash/replay.py --cases 50 --seed 1      # cases for each operation of the sequence
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from ragfile import _core

HERE = Path(__file__).parent
SECTOR = 512
NAME = "a.ragfile"

sys.path.insert(0, str(HERE))
from script import fingerprint  # noqa: E402


def record(folder, script="script.py"):
    """Runs a sequence under the recorder; returns its operations as tuples."""
    folder = Path(folder)
    library, log, watched = folder / "recorder.so", folder / "log", folder / "watched"
    watched.mkdir()
    subprocess.run(
        [
            os.environ.get("CC", "cc"),
            "-shared",
            "-fPIC",
            "-O1",
            HERE / "recorder.c",
            "-o",
            library,
            "-ldl",
        ],
        check=True,
    )
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
    env = {**os.environ, "LD_PRELOAD": preload, "CRASH_LOG": str(log), "CRASH_FOLDER": str(watched)}
    subprocess.run([sys.executable, HERE / script, watched.resolve()], env=env, check=True)
    return list(parse(log.read_bytes()))


def parse(log):
    """Operations, with files numbered as they were created: the system gives an inode out again."""
    at, files = 0, {}
    while at < len(log):
        end = log.index(b"\n", at)
        kind, *words = log[at:end].decode().split(" ")
        at = end + 1
        if kind == "W":
            inode, offset, size = words
            yield "W", files[inode], int(offset), log[at : at + int(size)]
            at += int(size)
        elif kind == "C":
            files[words[0]] = at
            yield "C", at, words[1]
        elif kind in "TS":
            yield (kind, files[words[0]], *words[1:])
        else:
            yield (kind, *words)


class File:
    """Sure bytes, and what was written since."""

    def __init__(self):
        self.sure, self.since = b"", []

    def full(self):
        return self.after(self.since)

    def after(self, changes):
        data = bytearray(self.sure)
        for offset, piece in changes:
            if piece is None:
                del data[offset:]
                continue
            data += bytes(max(0, offset - len(data)))
            data[offset : offset + len(piece)] = piece
        return bytes(data)

    def crashed(self, rng):
        """One of the many things that may be on the disk."""
        full = self.full()
        if not self.since or full == self.sure:
            return full
        luck = rng.choice([0, 0.05, 0.5, 0.95, 1])
        end = (
            len(full)
            if rng.random() < 0.5
            else rng.choice([len(self.sure), *(o + len(p or b"") for o, p in self.since)])
        )
        data = bytearray(self.sure.ljust(len(full), b"\0")[: len(full)])
        rubbish = rng.random() < 0.3
        touched = {
            s
            for o, p in self.since
            for s in range(o // SECTOR, (o + len(p or b"") + SECTOR - 1) // SECTOR)
        }
        for sector in sorted(touched):
            at = sector * SECTOR
            if rng.random() < luck:
                data[at : at + SECTOR] = full[at : at + SECTOR]
            elif rubbish and at >= len(self.sure):
                data[at : at + SECTOR] = rng.randbytes(len(data[at : at + SECTOR]))
        return bytes(data[: max(end, min(len(self.sure), len(full)))])


class Disk:
    def __init__(self):
        self.files, self.names, self.changes = {}, {}, []

    def apply(self, operation):
        kind, *what = operation
        if kind == "C":
            self.files[what[0]] = File()
            self.changes.append(("link", what[1], what[0]))
        elif kind == "W":
            self.files[what[0]].since.append((what[1], what[2]))
        elif kind == "T":
            self.files[what[0]].since.append((int(what[1]), None))
        elif kind == "S":
            file = self.files[what[0]]
            file.sure, file.since = file.full(), []
        elif kind == "R":
            self.changes.append(("rename", *what))
        elif kind == "U":
            self.changes.append(("unlink", *what))
        elif kind == "D":
            self.names, self.changes = self.named(self.changes), []

    def named(self, changes):
        names = dict(self.names)
        for kind, *what in changes:
            if kind == "link":
                names[what[0]] = what[1]
            elif kind == "rename":
                names[what[1]] = names.pop(what[0])
            else:
                names.pop(what[0], None)
        return names

    def crashed(self, rng):
        """{name: bytes} after a power cut here."""
        arrived = self.changes[: rng.randint(0, len(self.changes))]
        return {name: self.files[inode].crashed(rng) for name, inode in self.named(arrived).items()}


def check(left, committed, coming, states):
    """What is left must be the last state that was committed, or the one that was on its way."""
    data = left.get(NAME)
    if data is None:
        assert committed == 0, "the file is gone"
        return
    reader = _core.Reader(data)
    number = int(bytes(reader.section("rag.number")))
    assert number in (committed, coming), f"state {number} after {committed}"
    assert fingerprint(reader) == states[number], f"state {number} is not what was committed"
    assert reader.commit["lost_generation"] == 0, "a commit that never was is called lost"
    faults = [fault for fault in reader.verify()[0] if "belong to none" not in fault[2]]
    assert not faults, faults


def go_on(left, folder):
    """The next writer after the crash: a new commit, and a new file beside the old one's remains."""
    if NAME not in left:
        return
    for name in (NAME, f".{NAME}.partial"):
        (Path(folder) / name).unlink(missing_ok=True)
        if name in left:
            (Path(folder) / name).write_bytes(left[name])
    path = Path(folder) / NAME
    before = _core.Reader(left[NAME])
    writer = _core.FileWriter.edit(path)
    writer.add("rag.next", b"next")
    writer.commit()
    after = _core.Reader(_core.Map(path))
    assert after.verify()[0] == []
    assert after.commit["generation"] == before.commit["generation"] + 1
    for e in before.entries:
        assert bytes(after.section(e["name"], e["segment"])) == bytes(
            before.section(e["name"], e["segment"])
        )
    writer = _core.FileWriter.create(path)
    writer.add("rag.fresh", b"fresh")
    writer.commit()
    assert [e["name"] for e in _core.Reader(_core.Map(path)).entries] == ["rag.fresh"]


def damaged_tail(data, rng):
    """Rubbish after the end: noise, zeros, or an old piece of the same file."""
    at = rng.randrange(0, max(len(data), 1), 64)
    return data + rng.choice(
        [rng.randbytes(rng.randrange(1, 3000)), bytes(rng.randrange(1, 3000)), data[at : at + 640]]
    )


def replay(operations, cases, seed, folder, check=check, go_on=go_on):
    """Crashes after every operation, cases times each; returns how many crashes were looked at."""
    states = {int(op[2]): op[3] for op in operations if op[0] == "M" and op[1] == "done"}
    disk, committed, coming, done = Disk(), 0, 0, 0
    for step, operation in enumerate(operations):
        disk.apply(operation)
        if operation[0] == "M":
            coming = int(operation[2])
            committed = coming if operation[1] == "done" else committed
        for case in range(cases):
            rng = random.Random(f"{seed} {step} {case}")
            left = disk.crashed(rng)
            if NAME in left and rng.random() < 0.2:
                left[NAME] = damaged_tail(left[NAME], rng)
            try:
                check(left, committed, coming, states)
                if rng.random() < 0.1:
                    go_on(left, folder)
            except Exception as error:
                raise AssertionError(
                    f"seed {seed}, operation {step} {operation[:3]}, case {case}: {error!r}"
                ) from error
            done += 1
    return done


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=50)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        operations = record(folder)
        print(f"{len(operations)} operations recorded")
        print(
            f"{replay(operations, chosen.cases, chosen.seed, folder)} crashes, every one recovered"
        )


if __name__ == "__main__":
    main()
