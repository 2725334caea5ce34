"""A file whose whole content follows from one number, so that a torn, lost or mixed commit cannot hide.

Commit n is an edit, a deletion or a sync of a folder, chosen by n; the document "serial.txt" says n. Compactions come between
and change nothing. expected(n) is what the file must hold then.
"""

import random
from pathlib import Path

import numpy as np

import ragfile
from ragfile.embedding.protocol import Model
from ragfile.write import old_generations

WORDS = ["ab", "cad", "fed", "bead", "face", "deaf"]
SERIAL = "serial.txt"


class Letters:
    """How often each letter occurs."""

    model = Model("letters", 6)

    def embed(self, texts, role="document"):
        return np.array(
            [[t.count(c) + 0.5 for c in "abcdef"] for t in texts], dtype=np.float32
        ).reshape(len(texts), 6)


def drop_the_past_often():
    """Make commits of this process drop the past of small files, too."""
    old_generations.LEAST, old_generations.SMALL_LIMIT = 4 << 10, 1.5


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


def make(path):
    with ragfile.create(path, embedder=Letters(), chunking="words:12/3") as w:
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
    with ragfile.edit(path, embedder=Letters(), message=str(number)) as w:
        if kind == "edit":
            w.upsert([edited(f"edit{name}", text) for name, text in changes.items()])
        elif kind == "delete":
            w.delete([f"edit{name}" for name in changes])
        else:
            w.delete(where={"n": number % 12})
        w.upsert([edited(SERIAL, str(number))])


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


def asked(rf):
    return [
        (hit.id, hit.score)
        for query in ("fed cab", "deaf face", "bead")
        for hit in rf.search(query, 5, threads=2)
    ]


def asked_of_path(path):
    return asked(ragfile.open(path, embedder=Letters()))
