"""A file under everything at once: eight readers beside a writer, compactions, and kills of both.

    python tests/checks/soak_file.py --seconds 1800

What generation g holds follows from g alone, so a reader can tell whatever generation it has opened from
a torn, lost or mixed one, and ask the same questions to a file that it builds anew from that content.
The writer adds, replaces and deletes documents, changes metadata, syncs a folder and compacts. Readers
open, refresh, hold old commits, and ask for generations by their number. Half of the readers and the
writer are killed (SIGKILL) at random moments and started again; the other readers stay.

It fails if an answer is wrong, a process fails by itself, a commit is lost, or the memory or descriptors
of a process grow from the first half of its time to the second.
"""

import argparse
import collections
import contextlib
import functools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import ragfile
from ragfile import _core
from ragfile.embedding.protocol import Model
from ragfile.errors import FilterWarning

READERS, STEADY = 8, 4  # the first four readers are never killed
GROWTH = 12  # MB of memory, and descriptors, that may come and go
LONG = 45  # seconds that a process lives before its growth is judged
COMPACT = 0.04  # the share of commits that are followed by a compaction
DOCUMENTS, ROUND, FILES, DIM = 240, 37, 30, 32
WORDS = [a + b for a in "bcdfghlmnprst" for b in ("ade", "ine", "orn", "uss", "elt", "am")]
SERIAL, NAME = "serial.txt", "kb.ragfile"
# One byte through a pipe for each check; a killed process loses none.
KINDS = {
    "n": "newest commits opened and read whole", "g": "old generations by number", "x": "generations that a compaction took",
    "r": "refreshes", "h": "questions to commits that were held", "o": "questions compared with a fresh build",
    "c": "commits", "k": "compactions",
}  # fmt: skip


# ---------------------------------------------------------------------- what a generation holds


class Words:
    """A text's vector is the sum of its words' vectors."""

    model = Model("words", DIM)

    def __init__(self):
        table = np.random.default_rng(5).standard_normal((len(WORDS), DIM), dtype=np.float32)
        self.vectors = dict(zip(WORDS, table, strict=True))
        self.none = np.full(DIM, 0.01, np.float32)

    def embed(self, texts, role="document"):
        found = [[self.vectors.get(w, self.none) for w in t.split()] or [self.none] for t in texts]
        return np.array([np.sum(v, 0) for v in found], np.float32).reshape(len(texts), DIM)


def drawn(*seed):
    rng = random.Random(repr(seed))
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 70)))


def is_sync(serial):
    return serial % 5 == 1


def touched(serial):
    """The documents that commit `serial` changes, and how."""
    for i in range(serial % ROUND, DOCUMENTS, ROUND):
        yield i, random.Random(f"{serial}/{i}").choice(["put", "put", "tell", "delete"])


def after(old, serial, i, change):
    """A document (its text and metadata, or None) once a commit has changed it."""
    if change == "delete":
        return None
    if change == "tell" and old is not None:
        return old[0], {"n": i, "told": serial}
    return drawn(serial, i), {"n": i, "put": serial}


def document_at(serial, i):
    """Document i as of commit `serial`; by the commits that touched it, and not by those before its last text."""
    last = [m for m in range(serial - (serial - i) % ROUND, 0, -ROUND) if not is_sync(m)]
    changes = []
    for m in last:
        change = random.Random(f"{m}/{i}").choice(["put", "put", "tell", "delete"])
        changes.append((m, change))
        if change != "tell":
            break
    found = after(None, 0, i, "put")
    for m, change in reversed(changes):
        found = after(found, m, i, change)
    return found


def files_at(serial):
    """The folder as the last sync of all commits up to `serial` has found it."""
    sync = serial - (serial - 1) % 5
    if sync < 1:
        return {}
    names = random.Random(f"files {sync}").sample(range(FILES), FILES // 2)
    # most files stay as they were at one of the syncs before
    return {f"file{i}.txt": drawn(sync - sync % 35, "file", i) for i in names}


@functools.lru_cache(8)
def expected(serial):
    """{id: (text, metadata or None for those of a source)}"""
    found = {f"d{i}": document_at(serial, i) for i in range(DOCUMENTS)}
    found = {name: said for name, said in found.items() if said is not None}
    found |= {name: (text, None) for name, text in files_at(serial).items()}
    return {**found, SERIAL: (str(serial), None)}


def record(name, said):
    """A document; one with a checksum counts as a file's, so that a sync replaces it."""
    metadata = {"checksum": "of no file"} if said[1] is None else said[1]
    return {"id": name, "text": said[0], "metadata": metadata}


def make(path):
    with ragfile.create(path, embedder=Words(), chunking="words:12/3") as w:
        w.add_documents([record(name, said) for name, said in expected(0).items()])


# ------------------------------------------------------------------------------------ the writer


def fill(folder, serial):
    folder.mkdir(exist_ok=True)
    wanted = {**files_at(serial), SERIAL: str(serial)}
    for path in folder.iterdir():
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text)


def commit(path, serial, folder):
    """Makes commit `serial`."""
    if is_sync(serial):
        fill(folder, serial)
        ragfile.sync(path, [folder], embedder=Words())
        return
    now, put = expected(serial), []
    with ragfile.edit(path, embedder=Words()) as w:
        for i, change in touched(serial):
            name, is_there = f"d{i}", w.take(f"d{i}") is not None
            if change == "delete":
                w.delete([name])
            elif change == "tell" and is_there:
                w.update(name, metadata=now[name][1])
            else:
                put.append(record(name, now[name]))
        w.upsert([*put, record(SERIAL, now[SERIAL])])


def write_on(path, folder, told):
    rng = random.Random()
    with ragfile.open(path, embedder=Words(), strict=True) as rf:
        serial = rf.generation - 1
    while True:
        serial += 1
        commit(path, serial, folder)
        os.write(1, b"%d\n" % serial)
        os.write(told, b"c")
        if rng.random() < COMPACT:
            ragfile.compact(path)
            os.write(told, b"k")


# ------------------------------------------------------------------------------------ the readers


def look(rf):
    """All documents that the commit holds, and some of its rows; returns its serial."""
    serial = rf.generation - 1
    found = {d.id: (d.text, d.metadata) for d in rf.documents()}
    wanted = expected(serial)
    assert found[SERIAL][0] == str(serial), f"generation {serial + 1} is commit {found[SERIAL][0]}"
    assert found.keys() == wanted.keys(), sorted(found.keys() ^ wanted.keys())
    for name, (text, metadata) in wanted.items():
        assert found[name][0] == text, f"the text of {name} in commit {serial}"
        assert metadata is None or found[name][1] == metadata, f"the metadata of {name}"
    rows = rf.live_rows().tolist()
    assert len(rows) == len(rf)
    for row in random.sample(rows, 20):
        hit = rf.hit(row)
        assert hit.text == wanted[hit.doc_id][0][hit.start : hit.end]
    return serial


def answers(rf, seed):
    """Answers in every mode, with and without filters, one by one and together; vectors and scores to the bit."""
    rng, found = random.Random(seed), []
    questions = [" ".join(rng.choices(WORDS, k=rng.randint(1, 5))) for _ in range(3)]
    limit = rng.randrange(DOCUMENTS)
    for where in (None, {"n": {"$lt": limit}}, {"told": {"$exists": True}}):
        for mode in ("hybrid", "vector", "bm25"):
            found += [rf.search(q, 7, mode=mode, where=where) for q in questions]
            found += rf.search_batch(questions, 5, mode=mode, where=where)
    found.append(rf.search("d17", 5, mode="keyword"))
    return [[(hit.id, hit.score.hex(), hit.text) for hit in hits] for hits in found]


@contextlib.contextmanager
def fresh(serial, folder):
    """A file with the content of commit `serial` that has no past."""
    path, files = folder / "fresh.ragfile", folder / "files"
    with ragfile.create(path, embedder=Words(), chunking="words:12/3") as w:
        w.add_documents([record(n, s) for n, s in expected(serial).items() if s[1] is not None])
    fill(files, serial)
    for stray in set(os.listdir(files)) - expected(serial).keys():
        (files / stray).unlink()
    ragfile.sync(path, [files], embedder=Words())
    if not is_sync(serial):
        with ragfile.edit(path, embedder=Words()) as w:
            w.upsert([record(SERIAL, (str(serial), None))])
    ragfile.compact(path)
    with ragfile.open(path, embedder=Words()) as rf:
        yield rf


class Reader:
    """Opens, refreshes, asks, and holds what it saw, until its time is over."""

    def __init__(self, path, told):
        self.path, self.told = path, told
        self.living = ragfile.open(path, embedder=Words(), strict=True)
        self.least, self.held = 1, []

    def read_on(self):
        works = [self.newest, self.old, self.old, self.refresh, self.refresh, self.ask_held, self.compare]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            while os.getppid() != 1:
                random.choice(works)()

    def tell(self, kind):
        os.write(self.told, kind)

    def newest(self):
        with ragfile.open(self.path, embedder=Words(), strict=True) as rf:
            look(rf)
            self.note(rf.generation)
        self.tell(b"n")

    def note(self, generation):
        """The newest generation of the moment: it never goes back."""
        assert generation >= self.least, f"from generation {self.least} back to {generation}"
        self.least = generation

    def old(self):
        before = _core.file_identity(self.path)[:2]
        wanted = random.choice(ragfile.log(self.path))["generation"]
        try:
            rf = ragfile.open(self.path, embedder=Words(), generation=wanted)
        except ValueError:
            if _core.file_identity(self.path)[:2] == before:
                raise  # nobody took it away
            self.tell(b"x")
            return
        with rf:
            assert rf.generation == wanted
            look(rf)
        self.tell(b"g")

    def refresh(self):
        self.living.refresh()
        view = self.living.at_commit()
        self.note(view.generation)
        look(view)
        self.tell(b"r")
        if len(self.held) < 3 or random.random() < 0.2:
            seed = random.random()
            self.held = [*self.held[-2:], (view, seed, answers(view, seed))]

    def ask_held(self):
        if self.held:
            view, seed, before = random.choice(self.held)
            assert answers(view, seed) == before, "a commit that was held answers otherwise"
            self.tell(b"h")

    def compare(self):
        view, seed = self.living.at_commit(), random.random()
        with fresh(view.generation - 1, self.folder) as rf:
            assert len(rf) == len(view)
            for row in random.sample(range(len(rf)), 20):
                there = view.row(rf.hit(row).id)
                assert np.array_equal(rf.vector(row), view.vector(there)), (
                    f"a vector of row {there}"
                )
            wanted, found = answers(rf, seed), answers(view, seed)
        assert found == wanted, f"other answers than a fresh build, seed {seed}"
        self.tell(b"o")


# ------------------------------------------------------------------------------- what watches them


class Process:
    """A reader or the writer, what it used, and when it is to be killed."""

    def __init__(self, role, path, folder, told, life):
        words = [sys.executable, __file__, role, str(path), str(folder), str(told)]
        self.role, self.sizes, self.began = role, [], time.monotonic()
        self.end = self.began + life
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is killed
        self.process = subprocess.Popen(
            words, pass_fds=[told], stdout=subprocess.PIPE, stderr=self.errors
        )
        os.set_blocking(self.process.stdout.fileno(), False)
        self.said, self.last = b"", None

    def measure(self):
        """(MB of its own memory, without the files that it maps; descriptors)"""
        with contextlib.suppress(OSError, StopIteration):  # it is just ending
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            memory = next(int(t.split()[1]) for t in status.splitlines() if t.startswith("RssAnon"))
            descriptors = len(os.listdir(f"/proc/{self.process.pid}/fd"))
            self.sizes.append((memory / 1024, descriptors))

    def listen(self):
        """Which commits it has told of: the last one."""
        self.said += self.process.stdout.read() or b""
        *lines, self.said = self.said.split(b"\n")
        self.last = int(lines[-1]) if lines else self.last

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.listen()
        self.process.stdout.close()
        self.errors.close()

    def failure(self):
        """What it said, if it ended by itself."""
        if self.process.poll() is None:
            return None
        self.errors.seek(0)
        return f"{self.role}: ended with {self.process.returncode}\n{self.errors.read().decode()[-3000:]}"

    def growth(self):
        if time.monotonic() - self.began < LONG:
            return
        half = len(self.sizes) // 2
        for i, what in enumerate(("memory in MB", "descriptors")):
            first, second = (max(s[i] for s in p) for p in (self.sizes[:half], self.sizes[half:]))
            if second > first + GROWTH:
                yield f"{self.role}: {what} grow from {first:.0f} to {second:.0f}"


class Soak:
    def __init__(self, seconds, folder):
        self.path, self.folder = Path(folder) / "kb" / NAME, Path(folder) / "sources"
        self.path.parent.mkdir()
        make(self.path)
        self.until, self.seen, self.faults = time.monotonic() + seconds, collections.Counter(), []
        self.hear, self.told = os.pipe()
        os.set_blocking(self.hear, False)
        self.known, self.judged = 0, 0

    def run(self):
        self.readers = [self.reader(i) for i in range(READERS)]
        self.writer = self.start("writer")
        try:
            while not self.faults and (time.monotonic() < self.until or self.is_missing()):
                time.sleep(0.2)
                self.turn()
        finally:
            for process in [*self.readers, self.writer]:
                self.judge(process)
                process.kill()
        self.listen()
        self.check_writer()
        self.check_end()
        return self.told_all()

    def is_missing(self):
        """Whether something was not done yet, as on a slow machine in a short time."""
        wanted = [*(KINDS[kind] for kind in "ngrhoc"), "kills of a reader", "kills of a writer"]
        return any(not self.seen[what] for what in wanted)

    def start(self, role, life=0.0):
        """Lives are short, and now and then a minute long."""
        if not life:
            life = random.choices(
                [random.uniform(0.3, 3), random.uniform(3, 20), 70], [0.6, 0.35, 0.05]
            )[0]
        return Process(role, self.path, self.folder, self.told, life)

    def reader(self, i):
        return self.start("reader", 1e9 if i < STEADY else 0.0)

    def turn(self):
        """One look at all processes: measures them, and kills those whose time is over."""
        self.listen()
        self.writer.listen()
        now = time.monotonic()
        for process in [*self.readers, self.writer]:
            process.measure()
            if (failure := process.failure()) is not None:
                self.faults.append(failure)
        if self.faults:
            return
        for i, process in enumerate(self.readers):
            if process.end < now:
                self.end(process)
                self.readers[i] = self.reader(i)
        if self.writer.end < now:
            self.end(self.writer)
            self.check_writer()
            self.writer = self.start("writer")

    def end(self, process):
        self.judge(process)
        process.kill()
        self.seen[f"kills of a {process.role}"] += 1

    def judge(self, process):
        self.judged += time.monotonic() - process.began >= LONG
        self.faults += process.growth()

    def listen(self):
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.hear, 1 << 16):
                self.seen.update(KINDS[chr(byte)] for byte in data)

    def check_writer(self):
        """After its death: what it has told of is there, and nothing else but perhaps the next commit."""
        told = self.known if self.writer.last is None else self.writer.last
        with ragfile.open(self.path, embedder=Words(), strict=True) as rf:
            self.known = look(rf)
        if self.known not in (told, told + 1):
            self.faults.append(f"commit {told} was made, {self.known} is there")
        if _core.writer_pid(str(self.path)):
            self.faults.append("a dead writer holds the lock")
        found = ragfile.verify(self.path)[0]
        self.faults += map(str, found)

    def check_end(self):
        """One more commit and compaction, and nothing is left of what was killed."""
        commit(self.path, self.known + 1, self.folder)
        ragfile.compact(self.path)
        left = sorted(set(os.listdir(self.path.parent)) - {NAME})
        if left:
            self.faults.append(f"left beside the file: {left}")

    def told_all(self):
        for process in self.readers[:STEADY]:
            if process.sizes:
                (m0, d0), (m1, d1) = process.sizes[len(process.sizes) // 2], process.sizes[-1]
                print(f"reader: {m0:.0f} to {m1:.0f} MB, {d0} to {d1} descriptors in its second half")  # fmt: skip
        print(f"growth judged of {self.judged} processes that lived for {LONG} s")
        print(", ".join(f"{count:,} {what}" for what, count in sorted(self.seen.items())))
        for fault in self.faults[:5]:
            print("FAULT", fault)
        return not self.faults


def soak(seconds):
    """(whether the file stood it, what was done)"""
    with tempfile.TemporaryDirectory(prefix="ragfile-soak-") as folder:
        trial = Soak(seconds, folder)
        return trial.run(), trial.seen


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--seconds", type=float, default=60)
    return 0 if soak(options.parse_args().seconds)[0] else 1


if __name__ == "__main__":
    if sys.argv[1] == "writer":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        write_on(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1] == "reader":
        warnings.simplefilter("ignore", FilterWarning)
        Reader(sys.argv[2], int(sys.argv[4])).read_on()
    else:
        sys.exit(main())
