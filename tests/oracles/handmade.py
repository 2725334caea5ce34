"""A 1.0 file made by hand: the tests' own writer, in plain Python, that shares nothing with the C core but the numbers.

`build` makes the bytes that a well-behaved writer makes. `Table` and `Footer` hold every field as an attribute, so that a
test can lie in any of them and still get valid checksums. `directory` reads a front page as a strict 0.1.0 reader does.
"""

import re
import struct
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import xxhash

FRONT, SUPER, BLOCK = 4096, 3968, 65536
xxh = xxhash.xxh3_64_intdigest


def pad(size, to=64):
    """How many zero bytes lead from size to the next multiple."""
    return -size % to


def blocks(data):
    return b"".join(
        struct.pack("<Q", xxh(data[at : at + BLOCK])) for at in range(0, len(data), BLOCK)
    )


def extent(size):
    """Bytes of a section on disk: content, zero to 8, block hashes, zero to 64 and at least one."""
    end = size + pad(size, 8) + 8 * -(-size // BLOCK) + 1
    return end + pad(end)


def section_bytes(data):
    sums = blocks(data)
    whole = data + bytes(pad(len(data), 8)) + sums
    return whole + bytes(extent(len(data)) - len(whole)), xxh(sums)


@dataclass
class Entry:
    name: str
    at: int
    size: int
    hash: int
    segment: int = 0
    flags: int = 0
    items: int = 0
    generation: int = 1
    zero: int = 0
    zero_2: int = 0


@dataclass
class Table:
    generation: int = 1
    start: int = FRONT
    entries: list = field(default_factory=list)
    segments: list = field(default_factory=list)  # (number, rows, live, generation)
    message: bytes = b""
    created: int = 0
    next_segment: int = 1
    abandoned: int = 0
    names: bytes | None = None
    name_offsets: list | None = None
    counts: dict = field(default_factory=dict)  # lies: entries, segments, names, message
    listed: list = field(default_factory=list)  # entries that rag.sections lists

    def pack(self):
        rows = [entry.name.encode() + b"\0" for entry in self.entries]
        names = b"".join(rows) if self.names is None else self.names
        offsets = self.name_offsets or [0, *accumulate(map(len, rows))][: len(rows)]
        entries = b"".join(
            struct.pack(
                "<IIII6Q",
                e.flags,
                e.segment,
                name,
                e.zero,
                e.generation,
                e.at,
                e.size,
                e.items,
                e.hash,
                e.zero_2,
            )
            for e, name in zip(self.entries, offsets, strict=True)
        )
        segments = b"".join(
            struct.pack("<IIQQQ", n, 0, rows, live, gen) for n, rows, live, gen in self.segments
        )
        count = {
            "entries": len(self.entries), "segments": len(self.segments), "names": len(names),
            "message": len(self.message), **self.counts,
        }  # fmt: skip
        head = struct.pack(
            "<8sQQIIIIQQQ", b"RAGTOC01", self.generation, self.created, count["entries"], count["segments"],
            count["names"], count["message"], self.start, self.next_segment, self.abandoned,
        )  # fmt: skip
        return head + entries + segments + names + self.message


@dataclass
class Footer:
    generation: int
    toc_at: int
    toc_size: int
    toc_hash: int
    previous: int
    identity: int

    def pack(self):
        body = struct.pack(
            "<8s6Q",
            b"RAGCOMIT",
            self.generation,
            self.toc_at,
            self.toc_size,
            self.toc_hash,
            self.previous,
            self.identity,
        )
        return body + struct.pack("<Q", xxh(body))


def listing(name, start, end):
    return f"{name}-({start:020d},{end:020d})".encode()


def front(table, toc_at, toc, footer_at, *, read_features=0, write_features=0):
    """The front page: as many of the first commit's sections as fit, each name once, then rag.toc if all did."""
    rows, room = [], SUPER - 11 - 1 - len(listing("rag.head", 0, 0))
    entries = sorted([*table.entries, *table.listed], key=lambda entry: entry.at)
    for entry in entries:
        row = listing(entry.name, entry.at, entry.at + extent(entry.size) - 2)
        if entry.name in [r[0] for r in rows] or len(row) + 1 > room:
            break
        rows.append((entry.name, row))
        room -= len(row) + 1
    last = listing("rag.toc", toc_at, footer_at - 2)
    if len(rows) == len(entries) and len(last) + 1 <= room:
        rows.append(("rag.toc", last))
    size = len(listing("rag.head", 0, 0)) + sum(1 + len(row) for _, row in rows)
    rows.insert(0, ("rag.head", listing("rag.head", 11 + size + 1, FRONT - 2)))
    page = b"RAGFILE\1\0\0\0" + b"\0".join(row for _, row in rows)
    page += bytes(SUPER - len(page))
    page += struct.pack(
        "<8s7Q",
        b"RAGHEAD1",
        read_features,
        write_features,
        toc_at,
        len(toc),
        xxh(toc),
        footer_at,
        table.created,
    )
    page += bytes(SUPER + 112 - len(page))
    page += struct.pack("<Q", xxh(page))
    return page + bytes(FRONT - len(page))


class Image:
    """The bytes of a file, commit after commit."""

    def __init__(self):
        self.data = bytearray(FRONT)
        self.identity = self.previous = 0

    def put(self, content):
        """Appends a section; returns (at, size, hash)."""
        at = len(self.data)
        raw, digest = section_bytes(content)
        self.data += raw
        return at, len(content), digest

    def seal(self, table, front_options=None, **lies):
        """Appends a table and its footer; lies replace fields of the footer."""
        toc, at = table.pack(), len(self.data)
        self.data += toc + bytes(64 - len(toc) % 64)
        first = self.previous == 0
        if first:
            self.identity = xxh(toc)
            self.data[:FRONT] = front(table, at, toc, len(self.data), **(front_options or {}))
        fields = {
            "generation": table.generation, "toc_at": at, "toc_size": len(toc), "toc_hash": xxh(toc),
            "previous": self.previous, "identity": self.identity, **lies,
        }  # fmt: skip
        self.previous = len(self.data)
        self.data += Footer(**fields).pack()
        return self

    def bytes(self):
        return bytes(self.data)


@dataclass
class Commit:
    """What a writer is told: sections are (name, segment, flags, content, items), rows {segment: (rows, live)}."""

    sections: list = field(default_factory=list)
    drops: list = field(default_factory=list)
    rows: dict = field(default_factory=dict)
    message: str = ""
    created: int = 0
    garbage: bytes = b""  # left behind by a writer that died before this one


def build(*commits):
    """The file that these commits make."""
    image, kept, segments = Image(), [], {}
    for generation, commit in enumerate(commits, 1):
        before = len(image.data)
        image.data += commit.garbage
        image.data += bytes(pad(len(image.data)))
        left = bytes(image.data[before:])
        table = Table(
            generation, len(image.data), created=commit.created, message=commit.message.encode()
        )
        table.abandoned = xxh(blocks(left)) if left else 0
        for name, segment, flags, content, items in commit.sections:
            at, size, digest = image.put(content)
            kept = [e for e in kept if (e.name, e.segment) != (name, segment)]
            kept.append(Entry(name, at, size, digest, segment, flags, items, generation))
        kept = [e for e in kept if (e.name, e.segment) not in commit.drops]
        for number, (rows, live) in commit.rows.items():
            segments[number] = (number, rows, live, segments.get(number, (0, 0, 0, generation))[3])
        table.entries, table.segments = (
            kept,
            [segments[n] for n in sorted(segments) if segments[n][1]],
        )
        table.next_segment = max(segments, default=0) + 1
        image.seal(table)
    return image.bytes()


def directory(data):
    """{name: (start, end)} as a strict 0.1.0 reader sees it: it stops at the NUL before the smallest start."""
    assert data[:7] == b"RAGFILE"
    at, found, smallest = 11, {}, None
    while at != smallest:
        match = re.compile(rb"([A-Za-z0-9_.+@/]{1,64})-\((\d+),(\d+)\)\0").match(data, at)
        assert match, at
        name, start, end = match[1].decode(), int(match[2]), int(match[3])
        assert name not in found
        found[name] = start, end
        smallest = min(start, smallest or start)
        at = match.end()
    ranges = sorted(found.values())
    for (_, end), (start, _) in pairwise(ranges):
        assert start == end + 2
        assert data[end + 1] == 0
    assert ranges[-1][1] < len(data)
    return found
