"""The package's reader against spec/reader.py on random files: `python tests/checks/compare_readers.py N [SEED]`.

Half of the N files are as a writer makes them: both readers must find the same. The others are changed somewhere: both must
refuse them, or find the same. 0.1.0 files have either byte order, any padding and precision, slack, companions, dimensions
that are stated, given or worked out; 1.0 files are histories of sections, replacements, drops, tombs, rows, garbage and tails.
"""

import collections
import os
import random
import struct
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "spec"), str(ROOT / "spec" / "vectors"), str(ROOT / "tests")]

import pieces  # noqa: E402
import reader as oracle  # noqa: E402

from ragfile import _core, conformance  # noqa: E402
from ragfile.file.pairs_writer import write_pairs  # noqa: E402

LETTERS = ["a", "b", "-", "é", "日", "\U0001f600", "longer than eight", " "]


def words(rng, alphabet=LETTERS, most=4):
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(most)))


def random_pairs(rng):
    """(bytes, dim) of a 0.1.0 file."""
    big, p, bits, dim = (
        rng.random() < 0.5,
        rng.choice((4, 8, 16)),
        rng.choice((8, 16, 32, 64)),
        rng.randrange(1, 9),
    )
    letters = [letter for letter in LETTERS if letter != "-"]
    keywords = [(words(rng, letters), words(rng)) for _ in range(rng.randrange(5))]
    rows = [
        ([component(rng, bits) for _ in range(dim)], words(rng)) for _ in range(rng.randrange(5))
    ]
    if rng.random() < 0.02:
        return by_the_package(keywords, rows, p, bits, big), None
    slack, behind = (
        bytes(rng.choice(b"\0-xR") for _ in range(rng.choice((0, 1, 14, 40)))) for _ in range(2)
    )
    extended, lies = rng.random() < 0.6, {"flags": 0, "hash": 0} if rng.random() < 0.3 else {}
    sections = [("other.x", pieces.plain(slack + behind))] if rng.random() < 0.2 else []
    if rng.random() < 0.8:
        sections.append(("keyword", pieces.keyword_section(keywords, p, big, slack, behind)))
        if rng.random() < 0.4:
            sections.append(("rag.keys", pieces.keys_section(keywords, p, big)))
    if rng.random() < 0.8:
        made = pieces.vector_section(
            rows, bits, p, big, slack, behind, extended, **(lies if extended else {})
        )
        sections.append(("vector", made))
    rng.shuffle(sections)
    return pieces.file_0(
        sections, big, (0, rng.randrange(3), 0), behind
    ), dim if not extended and rng.random() < 0.7 else None


def component(rng, bits):
    if bits == 8:
        return rng.choice((-128, 127, 0, 45, rng.randrange(-128, 128)))
    return rng.choice((0.0, -0.0, 1.0, -2.5, 0.0625, 45.0, float(rng.randrange(-2048, 2048))))


def by_the_package(keywords, rows, p, bits, big):
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        path = os.path.join(folder, "f")
        order = "big" if big else "little"
        write_pairs(
            path,
            keywords,
            rows,
            padding=p,
            precision=bits,
            byteorder=order,
            sorted_keys=len(rows) % 2 == 0,
        )
        with open(path, "rb") as file:
            return file.read()


def memory():
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def random_commits(rng):
    """A history: for each commit the sections, the drops, the rows, the message, the garbage before it."""
    kept, segments, commits, coming = set(), {}, [], 1
    for _ in range(rng.randrange(1, 4)):
        sections, drops, rows = [], [], []
        for _ in range(rng.randrange(3)):
            key = rng.choice(("foo", "bar", "vendor.x", "rag.later")), rng.choice([0, *segments])
            sections.append(
                (
                    *key,
                    2 * (rng.random() < 0.1),
                    rng.randbytes(rng.choice((0, 1, 7, 8, 60, 300))),
                    rng.randrange(9),
                )
            )
        if rng.random() < 0.6:
            sections += random_rows(rng, coming, rows)
            *rows, (number, groups) = rows
            segments[number], coming = groups, coming + 1
            rows.append((number, sum(map(len, groups)), sum(map(len, groups))))
        for number, groups in list(segments.items()):
            count = sum(map(len, groups))
            if number not in [r[0] for r in rows] and rng.random() < 0.3:
                dead = [
                    row
                    for group in rng.sample(groups, rng.randrange(1, len(groups) + 1))
                    for row in group
                ]
                sections.append(("rag.tombs", number, 0, pieces.tombs(dead, count), len(dead)))
                rows.append((number, count, count - len(dead)))
        sections = list({section[:2]: section for section in sections}.values())
        written = {section[:2] for section in sections}
        for key in sorted(kept - written):
            if key[0] not in ("rag.tombs", "vector") and not key[1] and rng.random() < 0.2:
                drops.append(key)
        kept = (kept | written) - set(drops)
        garbage = rng.randbytes(rng.choice((0, 0, 0, 5, 64, 200))) if commits else b""
        commits.append((sections, drops, rows, words(rng), rng.randrange(3), garbage))
    return commits


def random_rows(rng, number, rows):
    """The sections of one segment: vectors, documents or both."""
    made, documents, count, groups = [], {}, 0, []
    for id_ in sorted(rng.sample(["a", "b", "é", "zz", "日"], rng.randrange(1, 4))):
        text, cuts = words(rng, most=9), []
        for index in range(rng.randrange(3)):
            start = rng.randrange(len(text) + 1)
            span = start, rng.randrange(start, len(text) + 1)
            cuts.append(
                (
                    index * 2,
                    span if rng.random() < 0.7 else words(rng),
                    {"key": "k"} if rng.random() < 0.3 else None,
                )
            )
        groups += [list(range(count, count + len(cuts)))] if cuts else []
        count += len(cuts)
        documents[f"{id_}{number}"] = (text, {"tags": ["t"]} if rng.random() < 0.5 else None, cuts)
    if count == 0:
        documents[f"one{number}"], count, groups = ("text", None, [(0, (1, 3), None)]), 1, [[0]]
    if rng.random() < 0.6:
        bits, dim = rng.choice((16, 32)), rng.randrange(1, 6)
        vectors = [[component(rng, 32) for _ in range(dim)] for _ in range(count)]
        made.append(("vector", number, 0, pieces.matrix(vectors, bits, dim), count))
    if rng.random() < 0.7 or not made:
        sections = pieces.records(documents, rng.choice((5, 64, 4096)))
        made += [(name, number, 0, data, items) for name, data, items in sections]
    rows.append((number, groups))
    return made


def random_container(rng):
    commits, file = random_commits(rng), pieces.File()
    for sections, drops, rows, message, created, garbage in commits:
        file.commit(sections, drops, rows, message, created, garbage)
    data = file.bytes()
    plain = not any(commit[5] or any(section[2] for section in commit[0]) for commit in commits)
    if rng.random() < 0.03 and plain:
        assert written_commits(commits) == data, "the package's writer and the hand-made one differ"
    return data + rng.randbytes(rng.choice((0, 0, 0, 9, 64, 130)))


def written_commits(commits):
    """The same history through the package's writer."""
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        path = os.path.join(folder, "f")
        for sections, drops, rows, message, created, _ in commits:
            writer = (
                _core.FileWriter.edit(path)
                if os.path.exists(path)
                else _core.FileWriter.create(path)
            )
            known = {number for number, *_ in (writer_rows(path) if os.path.exists(path) else [])}
            for number, *_ in rows:
                if number not in known:
                    assert writer.segment() == number
            for name, segment, flags, content, items in sections:
                at = writer.begin(name, segment, flags)
                writer.write(content(at) if callable(content) else content)
                writer.end(items)
            for number, count, live in rows:
                writer.rows(number, count, live)
            for name, segment in drops:
                writer.drop(name, segment)
            writer.commit(created, message)
        with open(path, "rb") as file:
            return file.read()


def writer_rows(path):
    return _core.Reader(_core.Map(path)).segments


def changed(rng, data):
    """The file with some damage: bytes, lengths, and sometimes with checksums that hold again."""
    out = bytearray(data)
    kind = rng.random()
    if kind < 0.15:
        return bytes(out[: rng.randrange(len(out) + 1)])
    for _ in range(rng.randrange(1, 3)):
        used = [i for i in range(len(out)) if out[i]] if rng.random() < 0.6 else None
        at = rng.choice(used) if used else rng.randrange(len(out))
        out[at] = rng.choice((out[at] ^ 1 << rng.randrange(8), 0, 0x2D, 255, rng.randrange(256)))
    if kind > 0.9:
        at = rng.randrange(len(out))
        out[at:at] = rng.choice((b"\0", b"-", b"RXV1", bytes(4)))
    return (
        resealed(bytes(out))
        if kind > 0.4 and out[7:8] == b"\1" and len(out) >= 4160
        else bytes(out)
    )


def resealed(data):
    """A 1.0 file of one commit whose checksums hold again, as far as its fields still make sense."""
    out, xxh = bytearray(data), pieces.xxh
    toc, size, at = (struct.unpack_from("<Q", out, offset)[0] for offset in (3992, 4000, 4016))
    if toc + size > len(out) or at + 64 > len(out):
        return data
    for row in range(
        toc + 64,
        min(toc + 64 + 64 * min(struct.unpack_from("<I", out, toc + 24)[0], 99), len(out) - 63),
        64,
    ):
        start, length = struct.unpack_from("<QQ", out, row + 24)
        if length < len(out) and start + length + 64 < len(out):
            sums = pieces.handmade.blocks(bytes(out[start : start + length]))
            where = start + -(-length // 8) * 8
            out[where : where + len(sums)] = sums
            struct.pack_into("<Q", out, row + 48, xxh(sums))
    identity = xxh(bytes(out[toc : toc + size]))
    struct.pack_into("<QQ", out, at + 24, size, identity)
    struct.pack_into("<Q", out, at + 48, identity)
    struct.pack_into("<Q", out, at + 56, xxh(bytes(out[at : at + 56])))
    struct.pack_into("<Q", out, 4008, identity)
    struct.pack_into("<Q", out, 4080, xxh(bytes(out[:4080])))
    return bytes(out)


def both(data, dim=None):
    return conformance.answer(oracle.read, data, dim), conformance.answer(
        conformance.read, data, dim
    )


def disagreement(data, dim, whole):
    """None, or what two readers do not agree on; `whole` files must be read.

    What tables of part 3 say of one another is checked by spec/reader.py at once and by the package when it is used, or never.
    """
    slow, fast = both(data, dim)
    if "refused" in slow or "refused" in fast:
        late = "refused" in slow and slow["refused"]["rule"].startswith("3.") and not whole
        if whole or (("refused" in slow) != ("refused" in fast) and not late):
            return f"spec/reader.py: {slow.get('refused', 'read')}, package: {fast.get('refused', 'read')}"
        return None
    return conformance.difference(slow, fast) or conformance.difference(fast, slow)


def is_undecided(data, dim):
    """A file without a dimension that nobody gives may be refused although a writer made it."""
    slow = conformance.answer(oracle.read, data, dim)
    return "refused" in slow and slow["refused"]["rule"] == "1.3"


def one_case(seed, i):
    """(bytes, dim, whether it is as it was written) of case i."""
    rng = random.Random(f"{seed}/{i}")
    data, dim = random_pairs(rng) if rng.random() < 0.7 else (random_container(rng), None)
    return (data, dim, True) if i % 2 == 0 else (changed(rng, data), dim, False)


def main(count, seed="0"):
    started, failed, seen = time.time(), 0, collections.Counter()
    for i in range(count):
        data, dim, whole = one_case(seed, i)
        if whole and dim is None and data[7:8] == b"\0" and is_undecided(data, dim):
            whole = False
        wrong = disagreement(data, dim, whole)
        seen[f"{data[7:8].hex()}{' as written' if whole else ''}"] += 1
        if wrong:
            failed += 1
            print(f"case {i} of seed {seed}: {wrong}")
            if failed >= 20:
                break
    print(f"{count} files, {failed} disagreements, {time.time() - started:.0f} s: {dict(seen)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:3]))
