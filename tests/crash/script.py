"""The sequence whose every moment is crashed: builds, appends, deletes, dead writers, compactions. Run under the recorder.

python tests/crash/script.py FOLDER: marks "begin FINGERPRINT" when a state is about to be committed and "done" when it is.
"""

import ctypes
import hashlib
import json
import random
import sys

from ragfile import _core

RNG = random.Random(11)


def fingerprint(reader):
    """What a user would see: every section, every segment."""
    state = [[e["name"], e["segment"], e["items"], e["generation"]] for e in reader.entries]
    state += [[bytes(reader.section(e["name"], e["segment"])).hex()] for e in reader.entries]
    state.append([reader.commit["generation"], reader.commit["message"], reader.segments])
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


def mark(text):
    ctypes.CDLL(None).crash_mark(text.encode())


def add(writer, name, size, segment=0, items=0):
    writer.begin(name, segment)
    for at in range(0, size, 1777):
        writer.write(RNG.randbytes(min(1777, size - at)))
    writer.end(items)


def grow(writer, sizes):
    number = writer.segment()
    writer.rows(number, 100)
    for name, size in sizes.items():
        add(writer, name, size, number, 100)


def delete(writer, segment, dead):
    bitmap = ((1 << dead) - 1).to_bytes(16, "little")
    writer.rows(segment, 100, 100 - dead)
    writer.add("rag.tombs", bitmap, segment, items=dead)


class Sequence:
    def __init__(self, path):
        self.path, self.count = path, 0

    def commit(self, writer, *changes, editor=None):
        """The state is told apart by its number, which every commit writes into a section of its own."""
        self.count += 1
        for change in changes:
            change(writer)
        writer.add("rag.number", str(self.count).encode())
        mark(f"begin {self.count}")
        writer.commit(message=f"state {self.count}")
        if editor is not None:
            editor.close()
        reader = _core.Reader(_core.Map(self.path))
        mark(f"done {self.count} {fingerprint(reader)}")

    def run(self):
        path, edit = self.path, lambda: _core.FileWriter.edit(self.path)
        self.commit(
            _core.FileWriter.create(path), lambda w: grow(w, {"rag.docs": 3000, "rag.ids": 700})
        )
        listed = {"rag.docs": 5100, "vector": 64}  # in rag.sections, until the vectors are dropped
        self.commit(edit(), lambda w: grow(w, listed), lambda w: w.list_sections(2))
        self.commit(edit(), lambda w: delete(w, 1, 3))
        dead = edit()
        add(dead, "rag.never", 2500)
        dead.close()
        self.commit(edit(), lambda w: delete(w, 1, 5), lambda w: add(w, "rag.late", 0))
        self.commit(edit(), lambda w: w.drop("rag.late"), lambda w: w.drop("vector", 2))
        dead = edit()
        dead.begin("rag.never")
        dead.write(RNG.randbytes(1 << 20))
        dead.close()
        editor = edit()
        self.commit(editor.replacement(), lambda w: grow(w, {"rag.docs": 4000}), editor=editor)
        self.commit(edit(), lambda w: grow(w, {f"rag.many{n}": 40 for n in range(12)}))
        editor = edit()
        dead = editor.replacement()
        add(dead, "rag.never", 900)
        dead.close()
        editor.close()
        self.commit(_core.FileWriter.create(path), lambda w: add(w, "rag.docs", 70000))
        self.commit(edit(), lambda w: add(w, "rag.docs", 66000))


if __name__ == "__main__":
    Sequence(sys.argv[1] + "/a.ragfile").run()
