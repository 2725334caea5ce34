"""A second reader of parity (part 11) in plain Python. Slow.

    python spec/parity.py FILE            check the parity of a file
    python spec/parity.py FILE OUT        write the repaired file

`repaired(data)` returns the original bytes of the file, or raises reader.Refused. `check(data)`
raises it if the parity does not match the protected bytes. `section(data, head, toc)` makes a
section, for the vectors.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import reader
from reader import Refused, align, number, xxh3

# ---- 11.2: the field and the code ---------------------------------------------------------------

POWERS = [1]
while len(POWERS) < 65535:
    double = POWERS[-1] << 1
    POWERS.append(double ^ 0x1100B if double >> 16 else double)
LOGS = {power: i for i, power in enumerate(POWERS)}


def product(a, b):
    return POWERS[(LOGS[a] + LOGS[b]) % 65535] if a and b else 0


def inverse(a):
    return POWERS[-LOGS[a] % 65535]


def base(rows):
    return 1 << (rows - 1).bit_length()


def words(block):
    return memoryview(bytes(block)).cast("H").tolist() if sys.byteorder == "little" else None


def packed(numbers):
    return b"".join(n.to_bytes(2, "little") for n in numbers)


def add_product(total, factor, block):
    log = LOGS[factor]
    for i, word in enumerate(block):
        if word:
            total[i] ^= POWERS[(LOGS[word] + log) % 65535]


def row(p, rows, blocks):
    """Return row p of blocks, which are lists of words or None for zero."""
    total = [0] * len(next(block for block in blocks if block is not None)) if blocks else []
    for j, block in enumerate(blocks):
        if block is not None:
            add_product(total, inverse(p ^ (base(rows) + j)), block)
    return total


def solved(rows, sums, lost):
    """Solve {p: row p of the blocks in `lost` alone} for {j: block}, by elimination."""
    matrix = [
        ([inverse(p ^ (base(rows) + j)) for j in lost], list(sums[p]))
        for p in list(sums)[: len(lost)]
    ]
    for i in range(len(lost)):
        pivot = next(k for k in range(i, len(lost)) if matrix[k][0][i])
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        scale = inverse(matrix[i][0][i])
        matrix[i] = tuple([product(scale, x) for x in part] for part in matrix[i])
        for k, (left, right) in enumerate(matrix):
            if k != i and left[i]:
                factor = left[i]
                add_product(left, factor, matrix[i][0])
                add_product(right, factor, matrix[i][1])
    return {j: packed(matrix[i][1]) for i, j in enumerate(lost)}


# ---- 11.1, 11.3, 11.4: blocks, records, shares --------------------------------------------------


def places(head, group):
    """Return (offset, size) of each block of a group; size 0 for missing blocks."""
    step = head["block"]
    starts = [head["from"] + (j * head["groups"] + group) * step for j in range(head["count"])]
    return [(at, max(0, min(step, head["at"] - at))) for at in starts]


def block_words(data, head, at, size):
    return words(data[at : at + size] + bytes(head["block"] - size))


def record_of(data, head, group, toc):
    """Make a group's record. toc is the table with 0 as its last entry's hash."""
    hashes = [xxh3(data[at : at + size]) if size else 0 for at, size in places(head, group)]
    raw = toc + bytes(-len(toc) % 8) + b"".join(h.to_bytes(8, "little") for h in hashes)
    assert len(raw) == head["record"]
    return raw


def shares(data, head, group, record):
    """Return [bytes of each share] of a group, from whole blocks."""
    whole = record + bytes(head["quorum"] * head["part"] - len(record))
    size, rows = head["part"], head["rows"]
    parts = [words(whole[i * size : (i + 1) * size]) for i in range(head["quorum"])]
    blocks = [block_words(data, head, at, n) for at, n in places(head, group)]
    found = []
    for p in range(rows):
        rest = packed(row(p, rows, parts)) + (packed(row(p, rows, blocks)) or bytes(head["block"]))
        found.append(share(head, p * head["groups"] + group, xxh3(record), rest))
    return found


def share(head, which, record_hash, rest):
    fields = head | {"number": which}
    raw = reader.share_magic(head["toc_size"]) + b"".join(
        fields[key].to_bytes(8, "little") for key in reader.HEAD
    )
    raw += b"".join(fields[key].to_bytes(4, "little") for key in reader.SMALL)
    raw += record_hash.to_bytes(8, "little") + xxh3(rest).to_bytes(8, "little")
    return raw + xxh3(raw).to_bytes(8, "little") + rest


def section(data, head, toc):
    """Make the section that protects data, the file up to the offset of the section."""
    groups = [shares(data, head, g, record_of(data, head, g, toc)) for g in range(head["groups"])]
    return b"".join(group[p] for p in range(head["rows"]) for group in groups)


def planned(at, start, toc_size, percent, **fields):
    """Return the head that 11.7 recommends; fields supply the rest of it."""
    size = at - start
    block = 4096 if size <= 1 << 24 else 8192 if size <= 1 << 26 else 16384
    blocks = -(-size // block)
    groups = max(1, -(-blocks // min(16384, 102400 // percent)))
    rows = max(20, -(-(-(-blocks // groups) * percent) // 100))
    head = {
        "at": at, "from": start, "toc_size": toc_size, "block": block, "groups": groups, "rows": rows,
        "quorum": min(-(-rows // 3), rows - 16), "number": 0, "zero": 0, "before": 0, "previous": 0,
        "identity": 0, "write_features": 0, "version": 1, "generation": 1, "end": 0, **fields,
    }  # fmt: skip
    return ended(head)


def step(at, start, toc_size, percent, **fields):
    """Return the head that 11.9 recommends for a step; fields supply the rest of it."""
    rows = max(5, -(-(-(-(at - start) // 512) * percent) // 100))
    head = planned(at, start, toc_size, percent, **fields)
    return ended(head | {"block": 512, "groups": 1, "rows": rows, "quorum": -(-rows // 2)} | fields)


def ended(head):
    """Complete a head with the numbers that follow from the others."""
    reader.measure(head)
    head["end"] = head["toc_at"] + align(head["toc_size"] + 1, 64) + 64
    return head


# ---- 11.5: repair -------------------------------------------------------------------------------


def heads(data, are_trailers=False):
    """Return the heads of all sections that have a share left, by offset."""
    found = {}
    for at in range(4096, len(data) - 127, 64):
        head = reader.share_head(data, at, are_trailers)
        if head:
            found.setdefault(head["at"], {k: v for k, v in head.items() if k not in OWN})
    return [found[at] for at in sorted(found)]


OWN = ("number", "record_hash", "body_hash")


def newest(data, found):
    """Return the head of the section to begin with, or None."""
    generation, listed, lost = 0, None, True
    try:
        reader.header(data)
        front = reader.front_page(data)
        footer, lost = reader.newest(data, front)
        about, _, sections = reader.table(data, footer)
        entry = listed_parity(sections)
        listed = entry and next(
            (h for h in found if h["at"] == entry["at"] and h["end"] <= len(data)), None
        )
        generation = about["generation"]
    except Refused:
        pass
    if not lost:
        return listed
    later = [h for h in found if h["end"] <= len(data) and h["generation"] > generation]
    cut = [] if generation else found
    return (later or cut or [listed])[-1]


def listed_parity(sections):
    """Return the last section of parity that a generation lists, or None."""
    found = [s for s in sections if s["name"] in ("rag.parity", "rag.parity.step")]
    return max(found, key=lambda s: s["at"], default=None)


def good_shares(data, head, group):
    """Return ({row: (part, row of blocks)}, hash of the record) of the good shares of a group."""
    found, record_hash = {}, None
    for p in range(head["rows"]):
        at = head["at"] + (p * head["groups"] + group) * head["size"]
        there = reader.share_head(data, at, head["toc_size"] == 0)
        if not there or any(there[key] != value for key, value in head.items()):
            continue
        record_hash = there["record_hash"]
        rest = data[at + 128 : at + head["size"]]
        if xxh3(rest) == there["body_hash"] and len(rest) == head["size"] - 128:
            found[p] = words(rest[: head["part"]]), words(rest[head["part"] :])
    return found, record_hash


def bare_table(toc):
    """Return a table with 0 as its last entry's hash."""
    if not toc:  # a trailer's
        return b""
    at = 64 + 64 * number(toc, 24, 4) - 16
    return toc[:at] + bytes(8) + toc[at + 8 :]


def read_record(data, head, group, found, record_hash):
    if len(found) >= head["quorum"]:
        parts = solved(
            head["rows"], {p: part for p, (part, _) in found.items()}, range(head["quorum"])
        )
        raw = b"".join(parts[i] for i in range(head["quorum"]))[: head["record"]]
    else:
        toc = data[head["toc_at"] : head["toc_at"] + head["toc_size"]]
        raw = record_of(data, head, group, bare_table(toc)) if len(toc) == head["toc_size"] else b""
    if xxh3(raw) != record_hash:
        raise Refused(head["at"], "11.5", "too few shares are left", "corrupt")
    return raw


def mend_group(data, head, group):
    """Repair the blocks and shares of a group; return its record."""
    found, record_hash = good_shares(data, head, group)
    record = read_record(data, head, group, found, record_hash)
    wanted = [number(record, len(record) - 8 * (head["count"] - j)) for j in range(head["count"])]
    spots = places(head, group)
    lost = [
        j for j, (at, size) in enumerate(spots)
        if size and (xxh3(data[at : at + size]) != wanted[j] or at + size > len(data))
    ]  # fmt: skip
    if len(lost) > len(found):
        raise Refused(
            spots[lost[0]][0], "11.5", "more blocks are damaged than shares are left", "corrupt"
        )
    left = [None if j in lost else block_words(data, head, *spot) for j, spot in enumerate(spots)]
    sums = {}
    for p in list(found)[: len(lost)]:
        known = row(p, head["rows"], left) if any(left) else [0] * (head["block"] // 2)
        sums[p] = [a ^ b for a, b in zip(known, found[p][1], strict=True)]
    for j, block in (solved(head["rows"], sums, lost) if lost else {}).items():
        at, size = spots[j]
        if xxh3(block[:size]) != wanted[j]:
            raise Refused(at, "11.5", "a block came back with another hash", "corrupt")
        put(data, at, block[:size])
    for p, raw in enumerate(shares(data, head, group, record)):
        put(data, head["at"] + (p * head["groups"] + group) * head["size"], raw)
    return record


def put(data, at, raw):
    if len(data) < at + len(raw):
        data.extend(bytes(at + len(raw) - len(data)))
    data[at : at + len(raw)] = raw


def mend_section(data, head):
    records = [mend_group(data, head, group) for group in range(head["groups"])]
    size = head["groups"] * head["rows"] * head["size"]
    body = data[head["at"] : head["at"] + size]
    sums = b"".join(
        xxh3(body[at : at + 65536]).to_bytes(8, "little") for at in range(0, size, 65536)
    )
    put(data, head["at"] + size, sums + bytes(reader.extent(size) - size - len(sums)))
    toc = bytearray(records[0][: head["toc_size"]])
    at = 64 + 64 * number(toc, 24, 4) - 16
    toc[at : at + 8] = xxh3(sums).to_bytes(8, "little")
    put(data, head["toc_at"], toc + bytes(align(len(toc) + 1, 64) - len(toc)))
    put(data, head["end"] - 64, footer(head, xxh3(toc)))


def footer(head, toc_hash):
    identity = head["identity"] if head["generation"] > 1 else toc_hash
    said = (
        head["generation"],
        head["toc_at"],
        head["toc_size"],
        toc_hash,
        head["previous"],
        identity,
    )
    raw = b"RAGCOMIT" + b"".join(value.to_bytes(8, "little") for value in said)
    return raw + xxh3(raw).to_bytes(8, "little")


def mend_front(data, head):
    """Rebuild the front page from the first commit's table (2.1)."""
    at = head["end"] - 64
    while number(data, at + 40):
        at = number(data, at + 40)
    toc_at, toc_size = number(data, at + 16), number(data, at + 24)
    rows, room = [], 3956 - len(listing("rag.head", 0, 0))
    sections = reader.table(bytes(data), first_footer(data, at))[2]
    for section in sections:
        name, start = section["name"], section["at"]
        line = listing(name, start, start + reader.extent(section["size"]) - 2)
        if name in dict(rows) or len(line) + 1 > room:
            break
        rows.append((name, line))
        room -= len(line) + 1
    last = listing("rag.toc", toc_at, at - 2)
    rows += [("rag.toc", last)] if len(rows) == len(sections) and len(last) + 1 <= room else []
    size = len(listing("rag.head", 0, 0)) + sum(1 + len(line) for _, line in rows)
    lines = [listing("rag.head", 11 + size + 1, 4094), *(line for _, line in rows)]
    page = b"RAGFILE" + head["version"].to_bytes(4, "little") + b"\0".join(lines)
    page += bytes(3968 - len(page)) + b"RAGHEAD1"
    said = (
        0,
        head["write_features"],
        toc_at,
        toc_size,
        number(data, at + 32),
        at,
        number(data, toc_at + 16),
    )
    page += b"".join(value.to_bytes(8, "little") for value in said) + bytes(48)
    put(data, 0, page + xxh3(page).to_bytes(8, "little") + bytes(8))


def first_footer(data, at):
    """Return the fields of the first commit's footer, as reader.footer does."""
    keys = ("generation", "toc", "toc_size", "toc_hash", "before", "identity")
    return {key: number(data, at + 8 + 8 * i) for i, key in enumerate(keys)} | {"at": at}


def listing(name, start, end):
    return f"{name}-({start:020d},{end:020d})".encode()


def repaired(data):
    """Return the original bytes of the file."""
    data = bytearray(data)
    found = heads(data)
    first = newest(data, found) if found else None
    if first is None:
        raise Refused(len(data), "11.5", "the file has no parity", "corrupt")
    head = first
    while head:
        mend_section(data, head)
        before = [
            h for h in found
            if h["at"] == head["before"] and h["toc_at"] == head["from"] and h["end"] <= head["at"]
        ]  # fmt: skip
        head = before[0] if before else None
    mend_front(data, first)
    reader.read(bytes(data))
    return bytes(data)


def check(data):
    """Raise Refused if the newest commit's parity does not match the protected bytes."""
    front = reader.front_page(data)
    _, _, sections = reader.table(data, reader.newest(data, front)[0])
    entry = listed_parity(sections)
    if entry is None:
        return False
    if all(h["at"] != entry["at"] for h in heads(data)):
        raise Refused(entry["at"], "11.8", "a parity section without a share", "corrupt")
    if repaired(data) != data:
        raise Refused(entry["at"], "11.8", "parity is not of what it protects", "corrupt")
    return True


if __name__ == "__main__":
    content = Path(sys.argv[1]).read_bytes()
    try:
        if len(sys.argv) > 2:
            Path(sys.argv[2]).write_bytes(repaired(content))
        else:
            print("right" if check(content) else "no parity")
    except Refused as error:
        sys.exit(f"{error.kind}: {error}")
