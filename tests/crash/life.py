"""A file whose whole content follows from one number, so that a torn, lost or mixed commit cannot hide.

Commit n is an edit, a deletion or a sync of a folder, chosen by n; the document "serial.txt" says n. Compactions come between
and change nothing. expected(n) is what the file must hold then.

python tests/crash/life.py FOLDER prints the shapes of commits that such lives have.
"""

import random
import sys
from pathlib import Path

import numpy as np

import ragfile
from ragfile.embedding.protocol import Model
from ragfile.file import generation_limits
from ragfile.write import deletions, editor, old_generations, segment_merges
from ragfile.write.group_commit import GroupCommits

WORDS = ["ab", "cad", "fed", "bead", "face", "deaf"]
SERIAL = "serial.txt"
COMMITS = GroupCommits()  # of this process, with the rows of the last commit


class Letters:
    """How often each letter occurs."""

    model = Model("letters", 6)

    def embed(self, texts, role="document"):
        return np.array(
            [[t.count(c) + 0.5 for c in "abcdef"] for t in texts], dtype=np.float32
        ).reshape(len(texts), 6)


def take_every_path():
    """Make commits of this process do with small files what they do with large ones.

    They drop the past, merge few segments, list the sections of few segments, and the deleted rows of
    short ones.
    """
    old_generations.LEAST, generation_limits.SMALL_LIMIT = 4 << 10, 1.5
    segment_merges.FANOUT, editor.LISTED_FROM, deletions.LISTED_FROM = 3, 2, 1


def shapes(path):
    """What the newest commit of a file shows of these."""
    with ragfile.open(path, embedder=Letters()) as rf:
        names = {"rag.merged", "rag.sections", "rag.deleted", "rag.parity.step", "rag.past"}
        return names & {entry["name"] for entry in rf.file.entries if entry["items"]}


def kind_of(number):
    return ("edit", "sync", "edit", "delete", "where")[number % 5]


def drawn(number):
    """The ids and texts of a commit."""
    rng = random.Random(number)
    names = rng.sample(range(12), 5)
    return {
        f"{n}": f"{number} " + " ".join(rng.choices(WORDS, k=rng.randint(1, 60))) for n in names
    }


def after(state, number):
    """The documents once commit `number` has been made on `state`."""
    kind, changes = kind_of(number), drawn(number)
    if kind == "edit":
        state = {**state, **{f"edit{name}": text for name, text in changes.items()}}
    elif kind == "sync":
        state = {name: text for name, text in state.items() if not name.startswith("file")}
        state |= {f"file{name}.txt": text for name, text in changes.items()}
    elif kind == "delete":
        state = {
            name: text for name, text in state.items() if name.removeprefix("edit") not in changes
        }
    else:
        state = {
            name: text
            for name, text in state.items()
            if not (name.startswith("edit") and int(name[4:]) == number % 12)
        }
    return {**state, SERIAL: str(number)}


class Expected:
    def __init__(self):
        self.states = [{}]

    def __getitem__(self, number):
        while len(self.states) <= number:
            self.states.append(after(self.states[-1], len(self.states)))
        return self.states[number]


expected = Expected()


def edited(name, text):
    metadata = {"n": int(name[4:])} if name.startswith("edit") else {"checksum": text}
    return {"id": name, "text": text, "metadata": metadata}


def make(path, parity=0):
    with ragfile.create(path, embedder=Letters(), chunking="words:12/3", parity=parity) as w:
        w.add_documents([edited(SERIAL, "0")])


def commit(path, number, sources):
    """Makes commit `number`; sources is a folder of its own for the syncs."""
    kind, changes = kind_of(number), drawn(number)
    if kind == "sync":
        fill(
            Path(sources),
            {**{f"file{name}.txt": text for name, text in changes.items()}, SERIAL: str(number)},
        )
        ragfile.sync(path, [sources], embedder=Letters(), message=str(number))
        return

    def change(w):
        if kind == "edit":
            w.upsert([edited(f"edit{name}", text) for name, text in changes.items()])
        elif kind == "delete":
            w.delete([f"edit{name}" for name in changes])
        else:
            w.delete(where={"n": number % 12})
        w.upsert([edited(SERIAL, str(number))])

    if number % 2:
        COMMITS.run(path, change, embedder=Letters(), message=str(number))
        return
    with ragfile.edit(path, embedder=Letters(), message=str(number)) as w:
        change(w)


def fill(folder, files):
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text)


def number_of(path):
    """The number of the commit that a file is at, after everything in it was looked at."""
    with ragfile.open(path, embedder=Letters(), strict=True) as rf:
        found = {document.id: document.text for document in rf.documents()}
        number = int(found[SERIAL])
        assert found == (expected[number] if number else {SERIAL: "0"}), (
            f"not the documents of commit {number}"
        )
        assert rf.search(str(number), 1, mode="bm25")[0].doc_id in found
        rows = rf.nearest(Letters().embed(["fed cad"]), len(rf) + 3)[0][0]
        assert (rows >= 0).sum() == len(rf)
        assert {rf.hit(row).doc_id for row in rows if row >= 0} == {
            name for name, text in found.items() if text
        }
    return number


def shapes_of_lives(folder):
    """Live two lives with every path, one with parity, and return the shapes of their commits."""
    take_every_path()
    seen = set()
    for parity in (0, 5):
        path, sources = Path(folder) / f"{parity}.ragfile", Path(folder) / f"sources{parity}"
        make(path, parity)
        for number in range(1, 13):
            commit(path, number, sources)
            assert number_of(path) == number
            seen |= shapes(path)
            if number % 5 == 0:
                ragfile.compact(path)
        assert ragfile.verify(path, full=True)[0] == []
    return seen


def asked(rf):
    return [
        (hit.id, hit.score)
        for query in ("fed cab", "deaf face", "bead")
        for hit in rf.search(query, 5, threads=2)
    ]


def asked_of_path(path):
    return asked(ragfile.open(path, embedder=Letters()))


if __name__ == "__main__":
    print(*sorted(shapes_of_lives(sys.argv[1])))
