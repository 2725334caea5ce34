"""Writes the seed corpus of the container's fuzz target: small files of every kind that the writer makes.

python csrc/tests/fuzz/seeds.py csrc/tests/fuzz/corpus
"""

import sys
from pathlib import Path

from ragfile import _core


def first(path, sections=(), rows=None):
    writer = _core.Writer.create(path)
    if rows:
        writer.rows(writer.segment(), *rows)
    for name, data, segment, items in sections:
        writer.add(name, data, segment, items=items)
    writer.commit(created=1, message="first")


def append(path, change, message=""):
    writer = _core.Writer.edit(path)
    change(writer)
    writer.commit(created=2, message=message)


def seed_empty(path):
    first(path)


def seed_sections(path):
    first(
        path,
        [
            ("vector", bytes(range(200)), 0, 3),
            ("rag.docs", b"text " * 20, 0, 1),
            ("foo@1", b"", 0, 0),
        ],
    )


def seed_segments(path):
    first(
        path, [("rag.ids", b"a" * 99, 1, 70), ("rag.tombs", b"\7" + bytes(15), 1, 3)], rows=(70, 67)
    )


def seed_many(path):
    first(path, [(f"rag.part{n}", bytes([n]), 0, n) for n in range(60)])


def seed_two_blocks(path):
    first(path, [("rag.docs", bytes(65536) + b"end", 0, 1)])


def seed_commits(path):
    seed_segments(path)

    def grow(writer):
        number = writer.segment()
        writer.rows(number, 5)
        writer.add("rag.ids", b"b" * 50, number, items=5)
        writer.add("rag.tombs", b"\x0f" + bytes(15), 1, items=4)
        writer.rows(1, 70, 66)

    append(path, grow, "more")
    append(path, lambda writer: writer.drop("rag.ids", 2), "less")


def seed_abandoned(path):
    seed_sections(path)
    with open(path, "ab") as file:
        file.write(b"half a section" * 9)
    append(path, lambda writer: writer.add("rag.late", b"late"))


def seed_tail(path):
    seed_commits(path)
    with open(path, "ab") as file:
        file.write(b"RAGCOMIT" * 16)


def seed_damaged(path):
    seed_commits(path)
    data = bytearray(Path(path).read_bytes())
    data[-10] ^= 1
    Path(path).write_bytes(data)


def main(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, make in sorted(globals().items()):
        if name.startswith("seed_"):
            make(str(Path(folder) / name.replace("_", "-")))


if __name__ == "__main__":
    main(sys.argv[1])
