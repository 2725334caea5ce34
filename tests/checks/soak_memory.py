"""A memory under everything at once: four writers, eight readers, and kills of both.

    PYTHONPATH=tests python tests/checks/soak_memory.py --seconds 1800

Writers remember, revise, log turns and forget; some forget with erase=True, which rewrites the file. Each
notes an intention before a call and its end after it, in a journal of its own. Writers and half of the
readers are killed (SIGKILL) at random moments and started again. Readers compare the file with journals:
whatever was noted as done is there, and nothing that was forgotten is. In the end every forgotten word is
searched for in all bytes and generations.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from oracles.decoded_bytes import places_of

import ragfile
from ragfile.memory import Memory

MEMORY_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # kills need no disk
WRITERS, READERS, STEADY = 4, 8, 4  # the first four readers are never killed
PAUSE = 0.02  # seconds between the checks of a reader, so that writers get their share
LETTERS = "bcdfghjklmnpqrstvwxz"
DONE, BEGUN = "done", "begun"


def word(rolls):
    """A word that no stemmer changes and no other text has."""
    return "".join(rolls.choice(LETTERS) + rolls.choice("aou") for _ in range(7)) + "k"


class Journal:
    """The notes of a writer: a line for each intention, and one when it is done."""

    def __init__(self, folder, number):
        self.path = Path(folder) / f"journal{number}"
        self.path.touch()

    def note(self, state, kind, name, token):
        with self.path.open("a") as file:
            file.write(f"{state} {kind} {name} {token}\n")

    def read(self):
        """[(state, kind, id, token)] of the complete lines."""
        whole, _, _ = self.path.read_text().rpartition("\n")
        return [tuple(line.split(" ")) for line in whole.splitlines()]


def facts_of(notes):
    """{id: words that it must have}, and (ids, words) whose forgetting has begun, and is done."""
    known, begun, gone = {}, set(), {}
    for state, kind, name, token in notes:
        if kind == "say" and state == DONE:
            known.setdefault(name, []).append(token)
        if kind == "forget":
            begun.add(name)
            if state == DONE:
                gone[name] = known.get(name, [])
    return known, begun, gone


def write_on(path, folder, number):
    """Change the memory again and again until killed."""
    rolls, journal = random.Random(), Journal(folder, number)
    known, begun, _ = facts_of(journal.read())
    mine = [name for name in known if name not in begun and name.startswith("m")]
    with Memory(path) as memory:
        while True:
            roll, token = rolls.random(), word(rolls)
            if roll < 0.45 or not mine:
                name = memory.remember(
                    f"The password of {token}s is {token}.", about=f"w{number}"
                ).id
                mine.append(name)
                journal.note(DONE, "say", name, token)
            elif roll < 0.65:
                name = rolls.choice(mine)
                memory.revise(name, f"The password is {token} now.")
                journal.note(DONE, "say", name, token)
            elif roll < 0.8:
                name = memory.log_turn(f"talk{number}", "Eve", f"I said {token} to Bob.")
                journal.note(DONE, "turn", name, token)
            else:
                name = mine.pop(rolls.randrange(len(mine)))
                journal.note(BEGUN, "forget", name, "-")
                memory.forget(name, erase=roll > 0.96)
                journal.note(DONE, "forget", name, "-")


def read_on(path, folder, number):
    """Compare the memory with the journals until killed; one byte on stdout for each check."""
    rolls = random.Random()
    journals = [Journal(folder, n) for n in range(WRITERS)]
    with Memory(path) as memory:
        while True:
            journal = rolls.choice(journals)
            known, _, gone = facts_of(journal.read())
            if known and rolls.random() < 0.7:
                check_known(memory, journal, *rolls.choice(list(known.items())), gone)
            elif gone:
                check_gone(memory, *rolls.choice(list(gone.items())))
            memory.recall("What is the password?", 5)
            os.write(1, b".")
            time.sleep(PAUSE)


def check_known(memory, journal, name, tokens, gone):
    """A memory has every word that was noted, unless its forgetting has begun meanwhile."""
    try:
        said = " ".join(one.text for one in memory.history(name))
    except KeyError:
        _, begun, _ = facts_of(journal.read())
        assert name in begun, f"{name} is lost"
        return
    assert name not in gone, f"{name} was forgotten and is there"
    missing = [token for token in tokens if token not in said]
    assert not missing, f"{name} lacks {missing}"


def check_gone(memory, name, tokens):
    """A forgotten memory is in no answer."""
    with contextlib.suppress(KeyError):
        memory.history(name)
        raise AssertionError(f"{name} was forgotten and has a history")
    for token in tokens[:1]:
        shown = " ".join(one.text for one in memory.recall(f"Who has the password {token}?", 5))
        assert token not in shown, f"{token} was forgotten and is recalled"


def begin(role, number, path, folder):
    command = [
        sys.executable,
        __file__,
        "--role",
        role,
        "--number",
        str(number),
        str(path),
        str(folder),
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Crew:
    """The processes, and what they have counted."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        names = [("write", n) for n in range(WRITERS)] + [("read", n) for n in range(READERS)]
        self.processes = {name: begin(*name, path, folder) for name in names}
        self.kills = self.checks = 0

    def check(self):
        """Fail if a process ended by itself."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise SystemExit(f"{name} ended: {process.stderr.read().decode()[-3000:]}")

    def kill(self, rolls):
        """Kill a writer or one of the later readers, and start it again."""
        names = [n for n in self.processes if n[0] == "write" or n[1] >= STEADY]
        name = rolls.choice(names)
        self.end(self.processes[name])
        self.processes[name] = begin(*name, self.path, self.folder)
        self.kills += 1

    def end(self, process):
        process.send_signal(signal.SIGKILL)
        self.checks += len(process.stdout.read())
        process.wait()
        process.stdout.close()
        process.stderr.close()

    def close(self):
        for process in self.processes.values():
            self.end(process)


def final(path, folder):
    """Compare everything at the end: words that were said, turns, and the bytes of what was forgotten."""
    counts = dict.fromkeys(("memories", "turns", "forgotten"), 0)
    with Memory(path) as memory:
        memory.forget(erase=True)
        ids = set(memory.knowledge.document_ids())
        for number in range(WRITERS):
            journal = Journal(folder, number)
            notes = journal.read()
            known, begun, gone = facts_of(notes)
            for name, tokens in known.items():
                if name not in begun:
                    check_known(memory, journal, name, tokens, gone)
                    counts["memories"] += 1
            turns = [name for _, kind, name, _ in notes if kind == "turn"]
            assert ids.issuperset(turns), "a turn is lost"
            logged = sorted(one for one in ids if one.startswith(f"talk{number}/"))
            assert logged == [f"talk{number}/{n:06d}" for n in range(1, len(logged) + 1)]
            counts["turns"] += len(logged)
            for tokens in gone.values():
                counts["forgotten"] += 1
                found = [places_of(path, token) for token in tokens[:1]]
                assert not any(found), f"{tokens} is still at {found}"
    faults, told = ragfile.verify(path)
    assert faults == [], faults
    assert told["forgotten"] == 0
    return counts


def soak(seconds):
    rolls, until = random.Random(5), time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=MEMORY_FOLDER) as folder:
        path = Path(folder) / "team.ragfile"
        Memory(path, retention="1h").close()
        crew = Crew(path, folder)
        try:
            while time.monotonic() < until:
                time.sleep(rolls.uniform(0.5, 5))
                crew.check()
                crew.kill(rolls)
        finally:
            crew.close()
        counts = final(path, folder)
        shown = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        print(
            f"{crew.kills} kills, {crew.checks:,} checks by readers; {shown}; {path.stat().st_size:,} bytes"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--role", choices=["write", "read"])
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("places", nargs="*")
    given = parser.parse_args()
    if given.role is None:
        return soak(given.seconds)
    roles = {"write": write_on, "read": read_on}
    return roles[given.role](*given.places, given.number)


if __name__ == "__main__":
    main()
