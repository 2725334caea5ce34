"""A reader of RAGFile 0.1.0 and 1.0, slow and plain.

It is written from the pages beside it alone, shares no code with the ragfile package, and needs
nothing but Python. Other readers are compared with its output.

`read(data, dim=None)` returns a dict of the whole content, or raises `Refused` with the kind, the
offset and the rule (the number of the section of the specification that the file breaks):

    format    the bytes break a MUST
    version   a newer program wrote them: major version, feature bit, must-understand section
    corrupt   a checksum does not match

`python spec/reader.py FILE [DIM]` prints the dict or the refusal as JSON; the exit code is 0 or 2.
Components of embeddings are numbers; those without a JSON number are the texts "nan", "inf" and
"-inf". A packed text is null if the module zstandard is missing.
"""

import hashlib
import itertools
import json
import math
import re
import struct
import sys

try:
    import zstandard
except ImportError:
    zstandard = None

BLOCK, MIB = 1 << 16, 1 << 20
NAME = rb"[A-Za-z0-9_.+@/]"
# Checked here or in signatures.py and parity.py; N is a field's number.
KNOWN = (
    "vector", "keyword", "rag.keys", "rag.shadow", "rag.planes", "rag.clusters", "rag.clustered",
    "rag.terms", "rag.postings", "rag.positions", "rag.titles", "rag.sparse", "rag.terms.N", "rag.postings.N", "rag.chunks", "rag.documents",
    "rag.ids", "rag.text", "rag.meta", "rag.bare", "rag.sample", "rag.fine", "rag.columns",
    "rag.tombs", "rag.deleted", "rag.gone", "rag.sections", "rag.config", "rag.merged", "rag.stale",
    "rag.hidden", "rag.past", "rag.origin",
    "rag.frequencies", "rag.parity", "rag.parity.step", "rag.seal", "rag.signatures",
    "graph", "hypergraph", "rag.original",
)  # fmt: skip
RECORDS = ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta")
FIELDS = {"source": str, "metadata": dict, "tags": list, "original": list, "body": int}
ORIGINAL_LIMIT, LAYERS = 1 << 28, 8


class Refused(ValueError):
    def __init__(self, at, rule, reason, kind="format"):
        super().__init__(f"offset {at}, rule {rule}: {reason}")
        self.at, self.rule, self.reason, self.kind = at, rule, reason, kind


def need(truth, at, rule, reason, kind="format"):
    if not truth:
        raise Refused(at, rule, reason, kind)


def align(x, n):
    return -(-x // n) * n


def extent(size):
    """Return the size of the extent of a section of `size` bytes in a 1.0 file (2.2)."""
    return align(align(size, 8) + 8 * -(-size // BLOCK) + 1, 64)


# ---- XXH3-64, seed 0, from its public description ---------------------------------------------------------------------------

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
A1, A2, A3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364ea"
    "c5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def number(data, at, size=8, order="little"):
    return int.from_bytes(data[at : at + size], order)


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def stir(h):
    h = ((h ^ (h >> 37)) * 0x165667919E3779F9) & M64
    return h ^ (h >> 32)


def stir_short(h):
    h = ((h ^ (h >> 33)) * P2) & M64
    h = ((h ^ (h >> 29)) * P3) & M64
    return h ^ (h >> 32)


def mix(data, at, key):
    return fold(
        number(data, at) ^ number(SECRET, key), number(data, at + 8) ^ number(SECRET, key + 8)
    )


def xxh3(data):
    n, word = len(data), lambda key: number(SECRET, key)
    if n > 240:
        return xxh3_long(data)
    if n == 0:
        return stir_short(word(56) ^ word(64))
    if n <= 3:
        joined = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return stir_short(joined ^ number(SECRET, 0, 4) ^ number(SECRET, 4, 4))
    if n <= 8:
        h = (number(data, n - 4, 4) + (number(data, 0, 4) << 32)) ^ word(8) ^ word(16)
        h ^= ((h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & M64
        h = (h * 0x9FB21C651E98DF25) & M64
        h = ((h ^ ((h >> 35) + n)) * 0x9FB21C651E98DF25) & M64
        return h ^ (h >> 28)
    if n <= 16:
        low, high = number(data, 0) ^ word(24) ^ word(32), number(data, n - 8) ^ word(40) ^ word(48)
        return stir(
            (n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high)) & M64
        )
    h = n * P1
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            h += mix(data, 16 * i, 32 * i) + mix(data, n - 16 * (i + 1), 32 * i + 16)
        return stir(h & M64)
    h = stir((h + sum(mix(data, 16 * i, 16 * i) for i in range(8))) & M64)
    h += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16)) + mix(
        data, n - 16, 119
    )
    return stir(h & M64)


def xxh3_long(data):
    n, lanes = len(data), [A3, P1, P2, P3, P4, A2, P5, A1]
    keys = [struct.unpack_from("<8Q", SECRET, 8 * i) for i in range(17)]
    last_key = struct.unpack_from("<8Q", SECRET, 121)

    def take(at, key):
        for i, value in enumerate(struct.unpack_from("<8Q", data, at)):
            keyed = value ^ key[i]
            lanes[i ^ 1] += value
            lanes[i] = (lanes[i] + (keyed & M32) * (keyed >> 32)) & M64

    for stripe in range((n - 1) // 64):
        take(64 * stripe, keys[stripe % 16])
        if stripe % 16 == 15:
            lanes[:] = [
                (((x & M64) ^ (x & M64) >> 47 ^ k) * A1) & M64
                for x, k in zip(lanes, keys[16], strict=True)
            ]
    take(n - 64, last_key)
    h, lanes = n * P1, [x & M64 for x in lanes]
    for i in range(4):
        h += fold(
            lanes[2 * i] ^ number(SECRET, 11 + 16 * i),
            lanes[2 * i + 1] ^ number(SECRET, 19 + 16 * i),
        )
    return stir(h & M64)


# ---- Part 1: header, directory, pairs ---------------------------------------------------------------------------------------


def header(data):
    magic = b"RAGFILE"
    need(data[:7] == magic, 0, "1.1", "not a RAGFile")
    need(len(data) >= 11, len(data), "1.1", "the file ends inside its header")
    need(data[7] <= 1, 7, "1.1", f"major version {data[7]}", "version")
    need(data[10] <= 1, 10, "1.1", "byte order is neither 0 nor 1")
    return list(data[7:10]), ("little", "big")[data[10]]


def match(data, at, pattern):
    """Match one piece of the entry grammar at `at`; return (bytes, end)."""
    found = re.compile(pattern, re.DOTALL).match(data, at)
    need(found, at, "1.1", "the directory does not follow its grammar")
    return found.group(), found.end()


def directory(data):
    """Return [(name, start, end), …] by the rules of 1.1, in file order."""
    entries, at = [], 11
    if at == len(data) or data[at] == 0:
        return entries
    while True:
        entry = at
        need(len(entries) < 1024, entry, "1.1.5", "more than 1024 entries")
        name, at = match(data, at, NAME + rb"{1,64}")
        _, at = match(data, at, rb"-")
        _, at = match(data, at, rb"\(")
        start_at, (start, at) = at, match(data, at, rb"[0-9]{1,20}")
        need(int(start) <= M64, start_at, "1.1", "a number of 2^64 or more")
        _, at = match(data, at, rb",")
        end_at, (end, at) = at, match(data, at, rb"[0-9]{1,20}")
        need(int(end) <= M64, end_at, "1.1", "a number of 2^64 or more")
        _, at = match(data, at, rb"\)")
        name, start, end = name.decode(), int(start), int(end)
        need(
            (entries[0][1] if entries else start) <= 65548,
            entry,
            "1.1.5",
            "a directory of more than 65,536 bytes",
        )
        need(all(name != other for other, _, _ in entries), entry, "1.1.5", "a name twice")
        need(
            not entries or start == entries[-1][2] + 2,
            entry,
            "1.1.3",
            "a section does not start at the end before it + 2",
        )
        need(end < len(data), entry, "1.1.4", "a section ends outside the file")
        need(end >= start - 1, entry, "1.1.4", "a section ends before it starts")
        entries.append((name, start, end))
        need(at + 1 <= entries[0][1], entry, "1.1.2", "the directory runs past the first section")
        need(data[at] == 0, at, "1.1.2", "no NUL after an entry")
        at += 1
        if at == entries[0][1]:
            break
    for _, _, end in entries[:-1]:
        need(data[end + 1] == 0, end + 1, "1.1.3", "no NUL between two sections")
    return entries


def text(data, at, end):
    try:
        return data[at:end].decode()
    except UnicodeDecodeError as error:
        raise Refused(at + error.start, "1.2.5", "not UTF-8") from None


def bounds(data, at, end, order, rule):
    """Read (start, end, padding) of a pair section and check them against the section at..end."""
    first, last, p = number(data, at, 8, order), number(data, at + 8, 8, order), data[at + 16]
    need(p in (4, 8, 16), at + 16, rule, "padding is not 4, 8 or 16")
    need(at + 17 <= first <= end + 1, at, rule, "start outside the section")
    need(first - 1 <= last <= end, at + 8, rule, "end outside the section")
    return first, last, p


def gap(data, at, end, p, rule):
    """Return the start of the next pair, after the NULs at `at`."""
    need(
        data[at : at + p] == bytes(p) and at + p <= end,
        at,
        rule,
        "not exactly p NULs between two pairs",
    )
    return at + p


def content_end(data, at, end):
    nul = data.find(b"\0", at, end + 1)
    return end + 1 if nul < 0 else nul


def keyword_section(data, at, end, order="little"):
    need(end - at + 1 >= 17, end + 1, "1.2", "shorter than its preamble")
    first, last, p = bounds(data, at, end, order, "1.2.1")
    pairs, offsets, pair = [], [], first
    while pair <= last:
        stop = content_end(data, pair, last)
        dash = data.find(b"-", pair, stop)
        need(dash >= 0, pair, "1.2.4", "a pair without -")
        pairs.append([text(data, pair, dash), text(data, dash + 1, stop)])
        offsets.append(pair - first)
        if stop > last:
            break
        pair = gap(data, stop, last, p, "1.2.4")
        need(data[pair] != 0, stop, "1.2.4", "more than p NULs between two pairs")
    return {"padding": p, "start": first, "end": last, "pairs": pairs}, offsets


def embeddings(data, first, last, p, dim, bits, order):
    """Return pairs of one dimension: ([[components, content], …], their offsets)."""
    width, pairs, offsets, pair = dim * bits // 8, [], [], first
    code = "<>"[order == "big"] + str(dim) + {8: "b", 16: "e", 32: "f", 64: "d"}[bits]
    while pair <= last:
        need(
            pair + width <= last and data[pair + width] == 0x2D,
            pair,
            "1.3.3",
            "no - after an embedding",
        )
        stop = content_end(data, pair + width + 1, last)
        pairs.append([[*struct.unpack_from(code, data, pair)], text(data, pair + width + 1, stop)])
        offsets.append(pair)
        if stop > last:
            break
        pair = gap(data, stop, last, p, "1.3.3")
    return pairs, offsets


def inferred(data, first, last, p, bits, order):
    """Return the only dimension with which the pairs parse and are finite."""
    fitting = []
    for dim in range(1, min(65536, (last - first) * 8 // bits) + 1):
        if data[first + dim * bits // 8] == 0x2D:
            try:
                pairs, _ = embeddings(data, first, last, p, dim, bits, order)
            except Refused:
                continue
            if all(math.isfinite(x) for row, _ in pairs for x in row):
                fitting.append(dim)
    need(len(fitting) == 1, first, "1.3", f"the dimensions {fitting} fit, not exactly one")
    return fitting[0]


def extension(data, at, last, first, p, bits, order):
    """Read the block RXV1 at `at` with the checks of 1.4; return None if it is absent."""
    if first < at + 32 or data[at : at + 4] != b"RXV1":
        return None
    dim, stride, flags = (number(data, at + i, 4, order) for i in (4, 16, 20))
    count, hashed, length = (
        number(data, at + 8, 8, order),
        number(data, at + 24, 8, order),
        last + 1 - first,
    )
    need(1 <= dim <= 65536, at + 4, "1.4", "dim is not 1 to 65,536")
    need(
        (count == 0) == (length == 0) and count <= length,
        at + 8,
        "1.4",
        "count and length contradict each other",
    )
    if stride and count:
        need(stride > dim * bits // 8 + p, at + 8, "1.4", "stride is too small")
        need(count * stride == length + p, at + 8, "1.4", "stride and length contradict each other")
    return {"dim": dim, "count": count, "stride": stride, "hash": hashed if flags & 1 else None}


def vector_section(data, at, end, order="little", dim=None):
    need(end - at + 1 >= 18, end + 1, "1.3", "shorter than its preamble")
    bits = data[at]
    need(bits in (8, 16, 32, 64), at, "1.3.1", "precision is not 8, 16, 32 or 64")
    first, last, p = bounds(data, at + 1, end, order, "1.3.1")
    block = extension(data, at + 18, last, first, p, bits, order)
    if block:
        need(
            dim in (None, block["dim"]),
            at + 22,
            "1.3",
            "the caller gives another dimension than the file",
        )
        dim = block["dim"]
    elif dim is None and first <= last:
        dim = inferred(data, first, last, p, bits, order)
    pairs, offsets = embeddings(data, first, last, p, dim or 1, bits, order)
    if block:
        need(block["count"] == len(pairs), first, "1.4", "the section does not hold count pairs")
        strides = {b - a for a, b in itertools.pairwise(offsets)} | (
            {last + 1 + p - offsets[-1]} if pairs else set()
        )
        need(
            not block["stride"] or strides <= {block["stride"]},
            first,
            "1.4",
            "pairs are not stride apart",
        )
        found = block["hash"]
        need(
            found is None or found == xxh3(data[first : last + 1]),
            at + 42,
            "1.4",
            "pairs differ from their hash",
            "corrupt",
        )
    pairs = [
        [[x if math.isfinite(x) else str(x).replace("-nan", "nan") for x in row], words]
        for row, words in pairs
    ]
    return {
        "precision": bits,
        "padding": p,
        "dim": dim,
        "start": first,
        "end": last,
        "extension": block,
        "pairs": pairs,
    }


def keys_section(data, at, end, order, keyword, offsets):
    """Check 1.5 in full: the entries list every pair once, in order."""
    need(end - at + 1 >= 32, at, "1.5", "shorter than its head")
    need(data[at : at + 4] == b"RXK1", at, "1.5", "no RXK1")
    need(number(data, at + 4, 4, order) == 16, at + 4, "1.5", "entries are not of 16 bytes")
    count, length, hashed = (number(data, at + i, 8, order) for i in (8, 16, 24))
    need(count * 16 <= end + 1 - at - 32, at + 8, "1.5", "entries reach beyond the section")
    need(count == len(offsets), at + 8, "1.5", "not one entry per pair")
    need(
        length == keyword["end"] + 1 - keyword["start"],
        at + 16,
        "1.5",
        "made for another keyword section",
    )
    need(
        hashed == xxh3(data[at + 32 : at + 32 + 16 * count]),
        at + 24,
        "1.5",
        "entries differ from their hash",
        "corrupt",
    )
    keywords, before, order_of_pairs = dict(zip(offsets, keyword["pairs"], strict=True)), None, []
    for entry in range(at + 32, at + 32 + 16 * count, 16):
        offset = number(data, entry + 8, 8, order)
        need(offset in keywords, entry, "1.5", "an entry points at no pair")
        key = keywords[offset][0].encode()
        need(
            data[entry : entry + 8] == key[:8].ljust(8, b"\0"),
            entry,
            "1.5",
            "an entry has another keyword than its pair",
        )
        need(before is None or before < (key, offset), entry, "1.5", "entries do not ascend")
        before = key, offset
        order_of_pairs.append(offsets.index(offset))
    return order_of_pairs


def read_0(data, dim):
    version, order = header(data)
    entries = directory(data)
    found = {"version": version, "byteorder": order, "size": len(data)}
    found["sections"] = [{"name": name, "start": start, "end": end} for name, start, end in entries]
    ranges = {name: (start, end) for name, start, end in entries}
    if "keyword" in ranges:
        found["keyword"], offsets = keyword_section(data, *ranges["keyword"], order)
    if "rag.keys" in ranges:
        at, end = ranges["rag.keys"]
        need("keyword" in ranges, at, "1.5", "rag.keys without keyword")
        found["keys"] = keys_section(data, at, end, order, found["keyword"], offsets)
    if "vector" in ranges:
        found["vector"] = vector_section(data, *ranges["vector"], order, dim)
    return found


# ---- Part 2: the container --------------------------------------------------------------------------------------------------


def front_page(data):
    need(data[10] == 0, 10, "2.1", "byte order is not 0")
    need(len(data) >= 4160, len(data), "2.1", "no room for a front page and a footer")
    need(data[3968:3976] == b"RAGHEAD1", 3968, "2.1", "no RAGHEAD1")
    need(
        number(data, 4080) == xxh3(data[:4080]),
        4080,
        "2.1",
        "the front page differs from its hash",
        "corrupt",
    )
    need(
        number(data, 3976) == 0,
        3976,
        "2.1",
        "a read feature that this reader does not know",
        "version",
    )
    zero(data, 4032, 4080, "2.1")
    zero(data, 4088, 4096, "2.1")
    keys = ("write_features", "toc", "toc_size", "identity", "footer", "created")
    head = {key: number(data, 3984 + 8 * i) for i, key in enumerate(keys)}
    at = head["footer"]
    need(
        at % 64 == 0 and 4096 <= at <= len(data) - 64,
        4016,
        "2.1",
        "the base's footer is outside the file",
    )
    return head


def zero(data, at, end, rule):
    bad = next((i for i in range(at, end) if data[i]), None)
    need(bad is None, bad, rule, "reserved bytes are not zero")


def footer(data, at, head):
    """Return the fields of the footer at `at` if it is valid by itself (2.4), otherwise None."""
    if data[at : at + 8] != b"RAGCOMIT" or number(data, at + 56) != xxh3(data[at : at + 56]):
        return None
    keys = ("generation", "toc", "toc_size", "toc_hash", "before", "identity")
    found = {key: number(data, at + 8 + 8 * i) for i, key in enumerate(keys)} | {"at": at}
    generation, toc, size, before = (
        found[key] for key in ("generation", "toc", "toc_size", "before")
    )
    placed = (
        toc >= 4096 and toc % 64 == 0 and 64 <= size <= 64 * MIB and toc + align(size + 1, 64) == at
    )
    if generation == 1:
        chained = before == 0 and found["toc_hash"] == head["identity"] and at == head["footer"]
    else:
        chained = generation > 1 and head["footer"] <= before < toc and before % 64 == 0
    return found if placed and chained and found["identity"] == head["identity"] else None


def newest(data, head):
    """Return the newest footer with a valid table, and the lost later generation or None (2.5)."""
    left = len(data) + 64 * MIB
    for at in range(len(data) // 64 * 64 - 64, head["footer"] - 1, -64):
        found = footer(data, at, head)
        if found:
            need(found["toc_size"] <= left, at, "2.5", "too many damaged commits")
            left -= found["toc_size"]
            if found["toc_hash"] == xxh3(data[found["toc"] : found["toc"] + found["toc_size"]]):
                break
    else:
        raise Refused(head["footer"], "2.5", "no commit holds", "corrupt")
    for tail in range(at + 64, len(data) - 63, 64):
        marked = data[tail : tail + 8] == b"RAGCOMIT" or number(data, tail + 48) == head["identity"]
        if marked and (
            number(data, tail + 40) == at or number(data, tail + 8) == found["generation"] + 1
        ):
            return found, found["generation"] + 1
        share = share_head(data, tail)
        if (
            share
            and share["generation"] > found["generation"]
            and share["previous"] >= at
            and share["end"] <= len(data)
        ):
            return found, found["generation"] + 1
    return found, None


HEAD = ("generation", "at", "from", "before", "end", "previous", "identity", "write_features")
SMALL = ("toc_size", "version", "block", "groups", "rows", "quorum", "number", "zero")


def share_magic(toc_size):
    """Return what a share begins with: one of a trailer protects no table (13.6)."""
    return b"RAGPAR01" if toc_size else b"RAGTRL01"


def share_head(data, at, is_trailer=False):
    """Return the head of the share of parity at `at`, with derived fields, or None (11.3, 13.6)."""
    if data[at : at + 8] != share_magic(not is_trailer) or len(data) < at + 128:
        return None
    if number(data, at + 120) != xxh3(data[at : at + 120]):
        return None
    head = {key: number(data, at + 8 + 8 * i) for i, key in enumerate(HEAD)}
    head |= {key: number(data, at + 72 + 4 * i, 4) for i, key in enumerate(SMALL)}
    head |= {"record_hash": number(data, at + 104), "body_hash": number(data, at + 112)}
    if is_trailer != (head["toc_size"] == 0):
        return None
    return head if measure(head) and at == head["at"] + head["number"] * head["size"] else None


def measure(head):
    """Add the derived fields of a head; return False if they are impossible."""
    block, groups, rows, toc_size = (head[key] for key in ("block", "groups", "rows", "toc_size"))
    sane = (
        block in (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
        and 1 <= head["quorum"] <= rows <= 1024
        and (follows_commit(head) if toc_size else follows_blocks(head))
        and head["at"] <= 1 << 60
        and head["from"] % 64 == head["at"] % 64 == head["zero"] == head["version"] >> 24 == 0
        and head["generation"] > 0
        and head["before"] < head["at"]
    )
    blocks = -(-(head["at"] - head["from"]) // block) if sane else 0
    if not sane or not 1 <= groups <= max(blocks, 1) or head["number"] >= groups * rows:
        return False
    head["count"] = -(-blocks // groups)
    head["record"] = align(toc_size, 8) + 8 * head["count"]
    head["part"] = align(-(-head["record"] // head["quorum"]), 64)
    head["size"] = 128 + head["part"] + block
    size = groups * rows * head["size"]
    head["toc_at"] = head["at"] + (extent(size) if toc_size else size)
    fits = head["count"] <= 32768 and groups * rows < 1 << 32 and size <= 1 << 60
    if not toc_size:
        return fits and 64 <= head["end"] - head["toc_at"] <= 65600 and head["end"] % 64 == 0
    return fits and head["end"] == head["toc_at"] + align(toc_size + 1, 64) + 64


def follows_commit(head):
    return (
        64 <= head["toc_size"] <= 64 * MIB
        and 4096 <= head["from"] <= head["at"]
        and (head["generation"] == 1) == (head["previous"] == 0)
        and head["previous"] < head["at"]
    )


def follows_blocks(head):
    end = head["previous"]
    return 8192 <= head["from"] < end <= head["at"] < end + 65536


def table(data, found):
    """Read the table of contents of a footer by 2.3: (table fields, segments, sections)."""
    at, size, generation = found["toc"], found["toc_size"], found["generation"]
    need(data[at : at + 8] == b"RAGTOC01", at, "2.3", "no RAGTOC01")
    entries, segments, names, message = (number(data, at + i, 4) for i in (24, 28, 32, 36))
    need(entries <= 65536, at + 24, "2.3", "more than 65,536 entries")
    need(segments <= 65536, at + 28, "2.3", "more than 65,536 segments")
    need(message <= 4096, at + 36, "2.3", "a message of more than 4,096 bytes")
    segments_at = at + 64 + 64 * entries
    names_at = segments_at + 32 * segments
    need(
        at + size == names_at + names + message,
        at,
        "2.3",
        "the table's size is not the sum of its parts",
    )
    need(
        number(data, at + 8) == generation,
        at + 8,
        "2.3",
        "table and footer are of different generations",
    )
    start, coming = number(data, at + 40), number(data, at + 48)
    earliest = found["before"] + 64 if generation > 1 else 4096
    fits = start % 64 == 0 and earliest <= start <= at and (generation > 1 or start == 4096)
    need(fits, at + 40, "2.3", "start is not where this commit can begin")
    need(1 <= coming < 1 << 32, at + 48, "2.3", "next segment number out of range")
    listed = segment_table(data, segments_at, segments, coming, generation)
    texts = section_names(data, at, names_at, names, entries)
    rows = range(at + 64, segments_at, 64)
    stated = [entry_of(data, row, name) for row, name in zip(rows, texts, strict=True)]
    numbers = {s["number"] for s in listed}
    entries_check(stated, found, numbers, start)
    sections = with_lists(data, stated)
    entries_check(sections, found, numbers, start)
    words = data[names_at + names : at + size].decode(errors="replace")
    abandoned = {"at": earliest, "end": start, "hash": number(data, at + 56)}
    return (
        found | {"time": number(data, at + 16), "message": words, "abandoned": abandoned},
        listed,
        sections,
    )


def segment_table(data, at, count, coming, generation):
    listed = []
    for row in range(at, at + 32 * count, 32):
        segment = {
            "number": number(data, row, 4),
            "rows": number(data, row + 8),
            "live": number(data, row + 16),
        }
        before = listed[-1]["number"] if listed else 0
        need(
            before < segment["number"] < coming,
            row,
            "2.3",
            "segment numbers do not ascend below the next one",
        )
        need(number(data, row + 4, 4) == 0, row, "2.3", "reserved bytes are not zero")
        need(segment["live"] <= segment["rows"] <= 1 << 40, row + 8, "2.3", "rows out of range")
        segment |= {"generation": number(data, row + 24), "row": row}
        need(
            1 <= segment["generation"] <= generation, row + 24, "2.3", "a segment of a later commit"
        )
        listed.append(segment)
    return listed


def section_names(data, toc, at, size, count):
    names, past, end = [], at, at + size
    for row in range(toc + 64, toc + 64 + 64 * count, 64):
        need(
            at + number(data, row + 8, 4) == past,
            row + 8,
            "2.3",
            "names are not in order of entries",
        )
        found = re.compile(NAME + rb"{1,64}\0").match(data, past, end)
        need(found, row + 8, "2.3", "not a section name")
        names.append(found.group()[:-1].decode())
        past = found.end()
    need(past == end, toc + 32, "2.3", "bytes after the last name")
    return names


def entry_of(data, row, name):
    """Read an entry of the table."""
    flags, segment, reserved = (number(data, row + j, 4) for j in (0, 4, 12))
    fields = ("generation", "at", "size", "items", "hash")
    values = (number(data, row + j) for j in (16, 24, 32, 40, 48))
    need(flags < 4, row, "2.3", "a flag that is not defined", "version")
    need(reserved == number(data, row + 56) == 0, row, "2.3", "reserved bytes are not zero")
    section = {"name": name, "segment": segment, **dict(zip(fields, values, strict=True))}
    return section | {"flags": flags, "row": row}


def entries_check(sections, found, numbers, start):
    """Check the entries of a generation by 2.3."""
    past, generation, names = 4096, found["generation"], set()
    for section in sections:
        row, at, written, name = (section[key] for key in ("row", "at", "generation", "name"))
        end, own = at + extent(section["size"]), written == generation
        need(
            at % 64 == 0 and past <= at and end <= found["toc"],
            row,
            "2.3",
            "an extent unaligned, out of order or out of place",
        )
        need(own or end <= found["before"], row, "2.3", "an older section reaches into this commit")
        need(
            1 <= written <= generation and own == (at >= start),
            row,
            "2.3",
            "an extent outside its commit",
        )
        need(section["items"] <= 1 << 40, row, "2.3", "more than 2^40 items")
        segment = section["segment"]
        need(segment == 0 or segment in numbers, row, "2.3", "a segment that is not listed")
        need(
            not section["flags"] & 1 or re.sub(r"\.[0-9]+$", ".N", name) in KNOWN,
            row,
            "2.3",
            "a must-understand section that this reader does not know",
            "version",
        )
        need((name, segment) not in names, row, "2.3", "name and segment twice")
        names.add((name, segment))
        past = end


def with_lists(data, stated):
    """Return the sections of a generation: the table's, and those that rag.sections list (2.8)."""
    later = {(s["name"], s["segment"]): s["generation"] for s in stated}
    found = []
    for section in stated:
        if section["name"] == "rag.sections":
            for part in listed_sections(data, section):
                again = later.get((part["name"], part["segment"]))
                fits = again is None or again > section["generation"]
                need(fits, section["at"], "2.8", "the table has a listed section, too")
                found += [part] if again is None else []
        found.append(section)
    need(len(found) <= 65536, stated[0]["row"] if stated else 0, "2.8", "too many sections")
    return found


def listed_sections(data, section):
    """Return the sections that a rag.sections lists."""
    at, size = section["at"], section["size"]
    need(section["segment"] and section["flags"] & 1, at, "2.8", "not of a segment, or no flag")
    need(16 <= size <= BLOCK, at, "2.8", "a list of another size")
    raw = contents(data, section)
    need(raw[:8] == b"RAGSECT1", at, "2.8", "no RAGSECT1")
    count, names = number(raw, 8, 4), number(raw, 12, 4)
    need(count == section["items"] > 0, at, "2.8", "another number of sections than of items")
    need(16 + 32 * count + names == size, at, "2.8", "the list's size is not the sum of its parts")
    texts = raw[16 + 32 * count :].split(b"\0")
    need(len(texts) == count + 1 and texts[-1] == b"", at, "2.8", "another number of names")
    found, past = [], at
    for i in reversed(range(count)):
        row = 16 + 32 * i
        name = texts[i].decode("latin-1")
        valid = re.fullmatch(NAME.decode() + "{1,64}", name) and name != "rag.sections"
        need(valid, at, "2.8", "not the name of a listed section")
        flags, reserved = number(raw, row + 24, 4), number(raw, row + 28, 4)
        need(reserved == 0, at, "2.8", "reserved bytes are not zero")
        need(flags < 4, at, "2.8", "a flag that is not defined", "version")
        past -= extent(number(raw, row))
        need(past >= 4096, at, "2.8", "a listed section outside the file")
        sizes = {"size": number(raw, row), "items": number(raw, row + 8)}
        part = {"name": name, "segment": section["segment"], "at": past, **sizes}
        part |= {"generation": section["generation"], "hash": number(raw, row + 16)}
        found.insert(0, part | {"flags": flags, "row": at})
    return found


def contents(data, section):
    """Return the bytes of a section after checking padding, block hashes and blocks (2.2)."""
    at, size, blocks = section["at"], section["size"], -(-section["size"] // BLOCK)
    sums = at + align(size, 8)
    held = data[sums : sums + 8 * blocks]
    need(section["hash"] == xxh3(held), at, "2.2", "block hashes differ from their hash", "corrupt")
    for i in range(blocks):
        block = at + BLOCK * i
        here = xxh3(data[block : min(block + BLOCK, at + size)])
        need(number(held, 8 * i) == here, block, "2.2", "a block differs from its hash", "corrupt")
    zero(data, at + size, sums, "2.2")
    zero(data, sums + 8 * blocks, at + extent(size), "2.2")
    return data[at : at + size]


def commit_check(data, about, sections):
    """Check one commit by itself: contiguous extents, padding, and abandoned bytes."""
    own, at = (
        [s for s in sections if s["generation"] == about["generation"]],
        about["abandoned"]["end"],
    )
    for section in own:
        need(section["at"] == at, at, "2.2", "a hole in front of an extent")
        contents(data, section)
        at += extent(section["size"])
    need(at == about["toc"], at, "2.2", "a hole in front of the table")
    zero(data, about["toc"] + about["toc_size"], about["at"], "2.3")
    left = data[about["abandoned"]["at"] : about["abandoned"]["end"]]
    hashed = (
        xxh3(
            b"".join(
                xxh3(left[i : i + BLOCK]).to_bytes(8, "little") for i in range(0, len(left), BLOCK)
            )
        )
        if left
        else 0
    )
    need(
        about["abandoned"]["hash"] == hashed,
        about["abandoned"]["at"],
        "2.5",
        "abandoned bytes have changed",
        "corrupt",
    )
    return own


def entry_text(name, at, end):
    return f"{name}-({at:020},{end:020})".encode()


def front_check(data, head, about, sections):
    """Check that the front page agrees with the base (2.1)."""
    lines, names = [], {"rag.head", "rag.toc"}
    for name, at, end in [(s["name"], s["at"], s["at"] + extent(s["size"]) - 2) for s in sections]:
        lines.append(entry_text(name, at, end))
        if name in names or 52 + sum(len(line) + 1 for line in lines) > 3956:
            lines.pop()
            break
        names.add(name)
    toc = entry_text("rag.toc", about["toc"], about["at"] - 2)
    if len(lines) == len(sections) and 52 + sum(len(line) + 1 for line in [*lines, toc]) <= 3956:
        lines.append(toc)
    page = b"\0".join(
        [entry_text("rag.head", 12 + 52 + sum(len(line) + 1 for line in lines), 4094), *lines]
    )
    bad = next((i for i, byte in enumerate(page.ljust(3957, b"\0")) if byte != data[11 + i]), None)
    need(bad is None, 11 + (bad or 0), "2.1", "the directory contradicts the table of contents")
    same = (head["toc"], head["toc_size"], head["created"]) == (
        about["toc"],
        about["toc_size"],
        about["time"],
    )
    need(same, 3968, "2.1", "the front page contradicts the base")


def history(data, head, found):
    """Yield (footer and table fields, sections) of every commit before `found`, newest first."""
    while found["generation"] > 1:
        at, generation = found["before"], found["generation"] - 1
        found = footer(data, at, head)
        need(
            found and found["generation"] == generation,
            at,
            "2.4",
            "the chain of footers is broken",
            "corrupt",
        )
        held = data[found["toc"] : found["toc"] + found["toc_size"]]
        need(
            found["toc_hash"] == xxh3(held),
            found["toc"],
            "2.4",
            "a table differs from its hash",
            "corrupt",
        )
        about, _, sections = table(data, found)
        yield about, sections


def read_1(data):
    version, order = header(data)
    head = front_page(data)
    found, lost = newest(data, head)
    about, segments, sections = table(data, found)
    left, places = 0, {}
    for commit, listed in [(about, sections), *history(data, head, found)]:
        left += commit["abandoned"]["end"] - commit["abandoned"]["at"]
        places |= {section["at"]: section for section in commit_check(data, commit, listed)}
    front_check(data, head, commit, listed)
    for section in sections:
        then = places.get(section["at"], {})
        same = all(then.get(key) == section[key] for key in section if key != "row")
        need(same, section["row"], "2.3", "the section is not the one that its commit wrote")
    held = {(s["segment"], s["name"]): (contents(data, s), s) for s in sections}
    for segment in segments:
        parts = {
            name: part for (number_, name), part in held.items() if number_ == segment["number"]
        }
        segment |= read_segment(data, segment.pop("row"), segment, parts)
    live = [d for s in segments for d in s.get("documents", []) if not d["deleted"]]
    once = {d["id"]: d for d in live}
    need(len(once) == len(live), about["toc"], "3.3", "an id is live in two segments")
    parts = {name: part for (number_, name), part in held.items() if number_ == 0}
    keys = ("name", "segment", "at", "size", "items", "generation", "flags")
    return {
        **{
            "version": version,
            "byteorder": order,
            "size": len(data),
            "generation": about["generation"],
        },
        **{
            "identity": f"{head['identity']:016x}",
            "created": head["created"],
            "write_features": head["write_features"],
        },
        **{
            "time": about["time"],
            "message": about["message"],
            "tail": len(data) - about["at"] - 64,
        },
        **{"lost_generation": lost, "abandoned": left, "segments": segments},
        **{"sections": [{key: section[key] for key in keys} for section in sections]},
        **read_whole(parts, once),
        **merged(parts, about["generation"], segments),
    }


# ---- Part 3: the sections of a knowledge base -------------------------------------------------------------------------------


def bits_of(part, count, unit, at, rule):
    """Return the set bits of a bitmap over `count` items, in units of `unit` bytes."""
    need(len(part) == unit * -(-count // (8 * unit)), at, rule, "a bitmap of the wrong size")
    numbers = [i for i in range(8 * len(part)) if part[i >> 3] >> (i & 7) & 1]
    beyond = next((i for i in numbers if i >= count), None)
    need(beyond is None, at + (beyond or 0) // (8 * unit) * unit, rule, "a bit after the last item")
    return numbers


def deleted_rows(parts, rows, row, tombs):
    """2.3: the deleted rows that are not in the bitmap."""
    part, at = of(parts, "rag.deleted")
    entry = parts["rag.deleted"][1]
    need(len(part) == 4 * entry["items"], row, "2.3", "a list of the wrong size")
    need(entry["flags"] & 1, entry["row"], "2.3", "a list of deleted rows that readers may skip")
    found = [number(part, i, 4) for i in range(0, len(part), 4)]
    before = -1
    for i, one in enumerate(found):
        need(
            before < one < rows, at + 4 * i, "2.3", "a row that does not ascend, or does not exist"
        )
        need(one not in tombs, at + 4 * i, "2.3", "a row that the bitmap has, too")
        before = one
    return found


def bare_rows(parts, rows):
    """3.9: the rows without a vector."""
    if "rag.bare" not in parts:
        return []
    part, at = of(parts, "rag.bare")
    found = bits_of(part, rows, 8, at, "3.9")
    need(
        found and len(found) == parts["rag.bare"][1]["items"],
        at,
        "3.9",
        "not as many bits as items",
    )
    need("vector" in parts or len(found) == rows, at, "3.9", "a row whose vector is not there")
    return found


def matrix(data, part, place, rows, bare):
    """3.1: `vector` as a part 1 section with a fixed layout."""
    at, items = place["at"], place["items"]
    need(len(part) >= 64, at, "3.1", "shorter than its head")
    bits, dim, count = part[0], number(part, 22, 4), number(part, 26)
    stride = dim * bits // 8 + 16
    need(
        1 <= dim <= 65536 and bits in (16, 32),
        at + 22,
        "3.1",
        "dimension or precision out of range",
    )
    need(
        len(part) == 64 + count * stride,
        at + 26,
        "3.1",
        "the section is not 64 + count * stride bytes",
    )
    end = at + len(part) - (5 if count else 1)
    head = struct.pack("<BQQB4sIQII22x", bits, at + 64, end, 4, b"RXV1", dim, count, stride, 0)
    need(part[:64] == head, at, "3.1", "another head than that of a 1.0 file")
    need(count == items == rows, at + 26, "3.1", "not one vector per row")
    found = vector_section(data, at, at + len(part) - 1)
    for row, (values, reference) in enumerate(found["pairs"]):
        need(
            reference == f"c{row:010}",
            at + 64 + row * stride,
            "3.1",
            "a row has another reference than its own",
        )
        if row in bare:
            need(set(values) == {"nan"}, None, "3.9", "a row without a vector that has components")
            continue
        need(
            all(isinstance(x, float) for x in values),
            None if bare else at + 64 + row * stride,
            "3.1",
            "a component is not finite",
        )
    zero(data, at + len(part) - 4 if count else at + 64, at + len(part), "3.1")
    return found


def strings(part, at):
    """3.2: a list of byte strings."""
    need(len(part) >= 16, at, "3.2", "shorter than its numbers")
    count = number(part, 0)
    need(count <= len(part) // 8 - 2, at, "3.2", "offsets reach beyond the section")
    offsets, held = [number(part, 8 + 8 * i) for i in range(count + 1)], part[16 + 8 * count :]
    need(offsets == sorted(offsets) and offsets[0] == 0, at + 8, "3.2", "offsets descend")
    need(
        offsets[-1] == len(held),
        at + 8 + 8 * count,
        "3.2",
        "offsets and bytes contradict each other",
    )
    return [held[a:b] for a, b in itertools.pairwise(offsets)]


def stream(part, at):
    """3.4: the raw bytes of a stream, or None if a block is packed and zstandard is missing."""
    need(len(part) >= 64, at, "3.4", "shorter than its trailer")
    trailer = len(part) - 64
    need(part[trailer : trailer + 8] == b"RAGBLK01", at + trailer, "3.4", "no RAGBLK01")
    raw, size, blocks, where = (number(part, trailer + 8 + 8 * i) for i in range(4))
    need(not any(part[trailer + 40 :]), at + trailer + 40, "3.4", "reserved bytes are not zero")
    need(1 <= size <= 16 * MIB, at + trailer + 16, "3.4", "a block of more than 16 MiB")
    need(
        blocks == (-(-raw // size)),
        at + trailer + 24,
        "3.4",
        "raw size and blocks contradict each other",
    )
    need(
        where % 8 == 0 and where + 8 * blocks == trailer,
        at + trailer + 32,
        "3.4",
        "the table is not in front of the trailer",
    )
    held, begin = [], 0
    for i in range(blocks):
        word, wanted = number(part, where + 8 * i), min(size, raw - size * i)
        end, packed = word & (1 << 63) - 1, word >> 63
        need(begin <= end <= where, at + where + 8 * i, "3.4", "a block ends outside the section")
        held.append(unpacked(part[begin:end], wanted, at + begin) if packed else part[begin:end])
        need(
            packed or end - begin == wanted,
            at + where + 8 * i,
            "3.4",
            "a raw block is not of its raw size",
        )
        begin = end
    need(
        where == align(begin, 8) and not any(part[begin:where]),
        at + begin,
        "3.4",
        "bytes after the blocks are not zero to 8",
    )
    return None if None in held else b"".join(held)


def unpacked(frame, size, at):
    """Return the bytes of one Zstandard frame, or None if only its header can be checked."""
    need(len(frame) * 1000 >= size, at, "3.4", "packed more than 1000 to 1")
    need(
        len(frame) > 5 and frame[:4] == bytes.fromhex("28b52ffd"),
        at,
        "3.4",
        "not a Zstandard frame",
    )
    single = frame[4] >> 5 & 1
    begin, wide = 6 - single + (0, 1, 2, 4)[frame[4] & 3], (single, 2, 4, 8)[frame[4] >> 6]
    need(
        wide and number(frame[begin:], 0, wide) + 256 * (wide == 2) == size,
        at,
        "3.4",
        "a frame states another size",
    )
    if zstandard is None:
        return None
    try:
        held = zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise Refused(at, "3.4", str(error), "corrupt") from None
    need(len(held) == size, at, "3.4", "a frame of another size than its block")
    return held


def documents(parts, rows, tombs):
    """3.3: the documents and their rows."""
    ids, (chunks, chunk_place), (table_, place) = (
        strings(*of(parts, "rag.ids")),
        parts["rag.chunks"],
        parts["rag.documents"],
    )
    ids_at, at, chunks_at = parts["rag.ids"][1]["at"], place["at"], chunk_place["at"]
    need(ids == sorted(set(ids)), ids_at, "3.2", "ids do not ascend")
    need(len(table_) == 64 * len(ids) == 64 * place["items"], at, "3.3", "not one document per id")
    need(
        len(chunks) == 32 * rows == 32 * chunk_place["items"],
        chunks_at,
        "3.3",
        "not one chunk per row",
    )
    texts, meta = (stream(*of(parts, name)) for name in ("rag.text", "rag.meta"))
    gone = gone_documents(parts, len(ids))
    found, next_row = [], 0
    for i, id_ in enumerate(ids):
        record, blob_at, chunks_of = table_[64 * i : 64 * i + 64], at + 64 * i, []
        start, size, blob_size, meta_at, meta_size, flags = struct.unpack_from("<QIIQII", record)
        first, count, points = struct.unpack_from("<QII", record, 32)
        need(not any(record[48:]), blob_at + 48, "3.3", "reserved bytes are not zero")
        need(
            first == next_row and first + count <= rows,
            blob_at + 32,
            "3.3",
            "documents do not share out the rows",
        )
        need(flags < 2, blob_at + 28, "3.3", "a flag that is not defined")
        need(size <= blob_size, blob_at + 8, "3.3", "a text longer than its blob")
        blob = cut(texts, start, blob_size, blob_at)
        whole = spelled(blob, 0, size, blob_at)
        need(
            whole is None or len(whole) == points, blob_at + 44, "3.3", "not that many code points"
        )
        dead = sum(first <= row < first + count for row in tombs)
        need(
            dead in (0, count),
            blob_at + 32,
            "3.3",
            "some of a document's rows are deleted and some not",
        )
        need(not count or i not in gone, blob_at, "3.3", "rag.gone marks a document that has rows")
        for row in range(first, first + count):
            chunks_of.append(
                chunk(chunks, row, i, blob, whole, size, blob_size, meta, chunks_at + 32 * row)
            )
        indexes = [c["index"] for c in chunks_of]
        need(indexes == sorted(set(indexes)), blob_at + 32, "3.3", "chunk indexes do not ascend")
        record = {
            "id": spelled(id_, 0, len(id_), ids_at),
            "deleted": i in gone or (count > 0 and dead == count),
        }
        record |= {"text": whole if flags & 1 else None, "own_text": bool(flags & 1)}
        said = object_at(meta, meta_at, meta_size, blob_at + 16)
        if "original" in (said or {}):
            record["original"] = original(whole or "", said["original"], blob_at + 16)
        need(
            0 <= (said or {}).get("body", 0) <= points,
            blob_at + 16,
            "3.4",
            "a body that begins after the text",
        )
        found.append(record | {"meta": said, "chunks": chunks_of})
        next_row = first + count
    need(next_row == rows, at, "3.3", "documents do not share out the rows")
    return found


def original(text, layers, at):
    """Return the text before normalisation (3.4), from the text and its edits."""
    need(len(layers) <= LAYERS, at, "3.4", "too many layers")
    for layer in layers:
        need(isinstance(layer, list), at, "3.4", "a layer that is not a list")
        spots = []
        for group in layer:
            need(isinstance(group, list) and len(group) > 1, at, "3.4", "a group without two texts")
            raw, new, *steps = group
            need(
                isinstance(raw, str) and isinstance(new, str),
                at,
                "3.4",
                "a group without two texts",
            )
            need(
                all(type(step) is int and step >= 0 for step in steps),
                at,
                "3.4",
                "a distance that is none",
            )
            need(
                steps or len(new) == 1, at, "3.4", "all places of something else than one character"
            )
            here, everywhere = 0, not steps
            if everywhere:
                spots += [(i, 1, raw) for i, character in enumerate(text) if character == new]
            for step in steps:
                here += step
                need(
                    text[here : here + len(new)] == new and here <= len(text),
                    at,
                    "3.4",
                    "an edit of another text",
                )
                spots.append((here, len(new), raw))
            need(len(spots) <= 2 * len(text) + 1, at, "3.4", "more edits than text")
        size = len(text) + sum(len(raw) - length for _, length, raw in spots)
        need(size <= ORIGINAL_LIMIT, at, "3.4", "an original over the limit")
        before, end = "", 0
        for spot, length, raw in sorted(spots, key=lambda each: each[:2]):
            need(spot >= end, at, "3.4", "edits that overlap")
            before, end = before + text[end:spot] + raw, spot + length
        text = before + text[end:]
    return text


def gone_documents(parts, count):
    if "rag.gone" not in parts:
        return []
    part, at = of(parts, "rag.gone")
    gone = bits_of(part, count, 1, at, "3.3")
    need(len(gone) == parts["rag.gone"][1]["items"], at, "3.3", "not as many bits as items")
    return gone


def chunk(chunks, row, document, blob, whole, size, blob_size, meta, at):
    of_document, index, first, length, point, points, packed = struct.unpack_from(
        "<IIIIIIQ", chunks, 32 * row
    )
    need(of_document == document, at, "3.3", "a row of another document")
    need(first + length <= blob_size, at + 8, "3.3", "a chunk reaches beyond its document's blob")
    words = spelled(blob, first, length, at + 8)
    need(words is None or len(words) == points, at + 20, "3.3", "not that many code points")
    if point != M32 and blob is not None:
        need(first + length <= size, at + 16, "3.3", "a chunk with a place reaches beyond the text")
        need(
            len(spelled(blob, 0, first, at + 8)) == point,
            at + 16,
            "3.3",
            "a chunk starts at another code point",
        )
    found = {"row": row, "index": index, "text": words, "start": None if point == M32 else point}
    return found | {"meta": object_at(meta, packed >> 24, packed & 0xFFFFFF, at + 24)}


def of(parts, name):
    return parts[name][0], parts[name][1]["at"]


def cut(raw, start, size, at):
    if raw is None:
        return None
    need(start + size <= len(raw), at, "3.3", "a range beyond the end of its stream")
    return raw[start : start + size]


def spelled(blob, at, size, where):
    try:
        return None if blob is None else blob[at : at + size].decode(errors="surrogatepass")
    except UnicodeDecodeError:
        raise Refused(where, "3.3", "not UTF-8") from None


def object_at(meta, at, size, where):
    """Return the JSON object of a document or chunk, or None without one (3.4)."""
    held = cut(meta, at, size, where) if size else None
    if held is None:
        return None
    try:
        fields = json.loads(held.decode(errors="surrogatepass"))
    except (ValueError, RecursionError):
        raise Refused(where, "3.4", "not JSON") from None
    need(isinstance(fields, dict), where, "3.4", "not an object")
    kinds = all(isinstance(fields[key], kind) for key, kind in FIELDS.items() if key in fields)
    kinds = kinds and not isinstance(fields.get("body"), bool)
    need(
        kinds and all(isinstance(tag, str) for tag in fields.get("tags", [])),
        where,
        "3.4",
        "a field of another kind",
    )
    return fields


def read_segment(data, row, segment, parts):
    rows, tombs = segment["rows"], []
    dead = parts["rag.tombs"][1]["items"] if "rag.tombs" in parts else 0
    more = parts["rag.deleted"][1]["items"] if "rag.deleted" in parts else 0
    need(
        rows - segment["live"] == dead + more,
        row,
        "2.3",
        "rows minus live rows is not the number of tombs",
    )
    if "rag.tombs" in parts:
        part, at = of(parts, "rag.tombs")
        need(len(part) == 8 * -(-rows // 64), row, "2.3", "a bitmap of the wrong size")
        tombs = bits_of(part, rows, 8, at, "2.3")
        need(len(tombs) == dead, at, "2.3", "not as many bits as items")
    if "rag.deleted" in parts:
        tombs = sorted(tombs + deleted_rows(parts, rows, row, set(tombs)))
    found = {"tombs": tombs}
    bare = set(bare_rows(parts, rows))
    if bare:
        found["bare"] = sorted(bare)
    if "vector" in parts:
        found["vector"] = matrix(data, *parts["vector"], rows, bare)
        if "rag.clusters" in parts or "rag.clustered" in parts:
            need(
                "rag.clusters" in parts and "rag.clustered" in parts,
                row, "4.4", "clusters without their shadow, or the reverse",
            )  # fmt: skip
            found["clusters"], placed = clusters(parts, found["vector"], "rag.clusters")
            kind = planes if bytes(of(parts, "rag.clustered")[0][:8]) == b"RAGPLANE" else shadow
            found["shadow"] = kind(parts, placed, "rag.clustered")
        elif "rag.planes" in parts:
            found["shadow"] = planes(parts, found["vector"], "rag.planes")
        elif "rag.shadow" in parts:
            found["shadow"] = shadow(parts, found["vector"], "rag.shadow")
    if "keyword" in parts:
        part, at = of(parts, "keyword")
        found["keyword"], offsets = keyword_section(data, at, at + len(part) - 1)
        if "rag.keys" in parts:
            keys, keys_at = of(parts, "rag.keys")
            found["keys"] = keys_section(
                data, keys_at, keys_at + len(keys) - 1, "little", found["keyword"], offsets
            )
    if any(name in parts for name in RECORDS):
        need(
            all(name in parts for name in RECORDS),
            row,
            "3.3",
            "some of a segment's records are missing",
        )
        found["documents"] = documents(parts, rows, tombs)
    if "rag.sample" in parts:
        found["sample"] = sample(parts, found, rows)
    if "rag.titles" in parts:
        found["titles"] = titles(parts, found)
    if "rag.sparse" in parts:
        found["sparse"] = weights(*of(parts, "rag.sparse"), parts["rag.sparse"][1]["items"], rows)
    if "rag.fine" in parts:
        found["fine"] = fine(parts)
    if "rag.columns" in parts:
        found["columns"] = columns(parts, found, rows)
    if "rag.original" in parts:
        found["originals"] = originals(parts, found)
    for name in ("graph", "hypergraph"):
        if name in parts:
            at = of(parts, name)[1]
            need("documents" in found, at, "12.1", "links of no documents")
            found[name] = links(*of(parts, name), parts[name][1]["items"], len(found["documents"]))
    suffixes = sorted(name[9:] for name in parts if re.fullmatch(r"rag\.terms(\.\d+)?", name))
    if suffixes:
        found["words"] = [lexicon(parts, suffix, rows) for suffix in suffixes]
        need("rag.terms" in parts, row, "L.7", "fields without the whole")
        own_lengths(found["words"], *of(parts, "rag.terms"))
    if "rag.positions" in parts:
        at = of(parts, "rag.positions")[1]
        need("words" in found, at, "L.8", "positions without terms")
        found["positions"] = positions(
            *of(parts, "rag.positions"), found["words"][0]["terms"], rows
        )
    return found


def read_whole(parts, documents):
    """Read the sections of the whole file. `documents` are the live ones by id."""
    found = {}
    if "rag.config" in parts:
        part, at = of(parts, "rag.config")
        found["config"] = json_of(part, at, "3.5")
        need(isinstance(found["config"], dict), at, "3.5", "not an object")
    if "rag.stale" in parts:
        found["stale"] = stale(*of(parts, "rag.stale"), documents)
    if "rag.hidden" in parts:
        found["hidden"] = hidden(*of(parts, "rag.hidden"), parts["rag.hidden"][1]["items"])
    if "rag.past" in parts:
        found["past"] = past(*of(parts, "rag.past"), parts["rag.past"][1]["items"])
    if "rag.origin" in parts:
        found["origin"] = origin(*of(parts, "rag.origin"))
    if "rag.frequencies" in parts:
        found["frequencies"] = frequencies(*of(parts, "rag.frequencies"))
    return found


def merged(parts, generation, segments):
    """3.10: how many rows of this commit come from segments that it merged."""
    if "rag.merged" not in parts:
        return {}
    part, at = of(parts, "rag.merged")
    entry = parts["rag.merged"][1]
    need(not part and entry["items"], at, "3.10", "bytes, or no rows")
    if entry["generation"] != generation:
        return {}
    new = sum(segment["rows"] for segment in segments if segment["generation"] == generation)
    need(entry["items"] <= new, at, "3.10", "more rows than the commit wrote")
    return {"merged": entry["items"]}


def json_of(part, at, rule):
    try:
        return json.loads(part.decode(errors="surrogatepass"))
    except (ValueError, RecursionError):
        raise Refused(at, rule, "not JSON") from None


def stale(part, at, documents):
    """3.5.1: the documents that another chunk policy cut."""
    found, seen = json_of(part, at, "3.5.1"), set()
    need(isinstance(found, list), at, "3.5.1", "not an array")
    for record in found:
        fits = isinstance(record, dict) and isinstance(record.get("documents"), list)
        fits = fits and isinstance(record.get("chunking", 0), dict | type(None))
        need(fits, at, "3.5.1", "not a record of a policy and documents")
        for id_ in record["documents"]:
            need(
                isinstance(id_, str) and id_ in documents,
                at,
                "3.5.1",
                "a document that is not live",
            )
            need(id_ not in seen, at, "3.5.1", "a document twice")
            need(documents[id_]["own_text"], at, "3.5.1", "a document without a text of its own")
            seen.add(id_)
    return found


def hidden(part, at, items):
    """3.5.2: the documents that this file deletes from layers below it."""
    found = json_of(part, at, "3.5.2")
    need(isinstance(found, list), at, "3.5.2", "not an array")
    need(all(isinstance(i, str) and i for i in found), at, "3.5.2", "not an array of ids")
    need(len(set(found)) == len(found), at, "3.5.2", "an id twice")
    need(items == len(found), at, "3.5.2", "another number of items")
    return found


def past(part, at, items):
    """3.11: the names of generations that copies of the file can have."""
    found = json_of(part, at, "3.11")
    need(isinstance(found, list) and 1 <= len(found) <= 256, at, "3.11", "not 1 to 256 names")
    fits = all(isinstance(i, str) and re.fullmatch("[0-9a-f]{16}", i) for i in found)
    need(fits, at, "3.11", "not an array of hashes")
    need(items == len(found), at, "3.11", "another number of items")
    return found


def origin(part, at):
    """Part 8: the object, or None if a block is packed and zstandard is missing."""
    raw = stream(part, at)
    if raw is None:
        return None
    found = json_of(raw, at, "8")
    need(isinstance(found, dict), at, "8", "not an object")
    need(found.get("version") == 1, at, "8", "another version", "version")
    return found


FREQUENCY_BLOCK = 4096


def frequencies(part, at):
    """10.2: the number of rows in which each term occurs."""
    need(len(part) >= 64 and part[:8] == b"RAGFREQ1", at, "10.2", "no RAGFREQ1")
    terms, rows, length, k1, b, blocks = struct.unpack_from("<3Q2dQ", part, 8)
    config, zeros = struct.unpack_from("<2I", part, 56)
    need(zeros == 0, at + 60, "10.2", "reserved bytes are not zero")
    need(config <= 65535, at + 56, "10.2", "a configuration of more than 65,535 bytes")
    keys = align(64 + config, 8)
    first, found = align(keys + 8 * blocks, FREQUENCY_BLOCK), {}
    fits = first + blocks * FREQUENCY_BLOCK == len(part)
    need(fits, at, "10.2", "the parts do not fill the section")
    for block in range(blocks):
        place = first + block * FREQUENCY_BLOCK
        held = frequency_block(part[place : place + FREQUENCY_BLOCK], rows, at + place)
        need(held, at + place, "10.2", "an empty block")
        key = int.from_bytes(held[0][0][:8].ljust(8, b"\0"), "big")
        need(number(part, keys + 8 * block) == key, at + keys, "10.2", "another key")
        found.update(held)
    need(list(found) == sorted(found), at + first, "10.2", "terms are not in order")
    need(len(found) == terms, at + 8, "10.2", "another number of terms")
    named = {term.decode(): count for term, count in found.items()}
    return {"rows": rows, "total_length": length, "k1": k1, "b": b, "terms": named}


def frequency_block(block, rows, place):
    """Return [(term, rows)] of one block."""
    at, term, found = 0, b"", []
    while at + 2 <= FREQUENCY_BLOCK and block[at + 1]:
        shared, more = block[at], block[at + 1]
        need(shared <= len(term), place, "10.2", "a term shares more than there is")
        term = term[:shared] + block[at + 2 : at + 2 + more]
        count, at = varint(block, at + 2 + more)
        need(0 < count <= rows, place, "10.2", "more rows than there are")
        found.append((term, count))
    need(not any(block[at:]), place, "10.2", "the rest of a block is not zero")
    return found


def lexicon(parts, suffix, rows):
    """L.3, L.4: lengths of rows, rows of each term with tf. A suffix selects a field."""
    part, at = of(parts, "rag.terms" + suffix)
    need("rag.postings" + suffix in parts, at, "L.3", "terms without their postings")
    need(len(part) >= 128 and part[:8] == b"RAGLEX1\0", at, "L.3", "no RAGLEX1")
    there, terms, total, postings, size = struct.unpack_from("<5Q", part, 8)
    k1, b, config, width, dictionary = struct.unpack_from("<2d2IQ", part, 48)
    need(there == rows, at + 8, "L.3", "another number of rows")
    need(width in (1, 2, 4), at + 68, "L.3", "a length has 1, 2 or 4 bytes")
    need(size == len(parts["rag.postings" + suffix][0]), at + 40, "L.3", "postings of another size")
    blocks = -(-terms // 16)
    starts = align(128 + config, 8) + 8 * blocks
    words = align(starts + 4 * blocks, 8)
    first = words + align(dictionary, 8)
    fits = first + align(width * rows, 8) + 64 == len(part)
    need(fits, at, "L.3", "the parts do not fill the section")
    kind = {1: "B", 2: "H", 4: "I"}[width]
    lengths = list(struct.unpack_from(f"<{rows}{kind}", part, first))
    need(sum(lengths) == total, at + 24, "L.3", "the total length is not that of the rows")
    average = total / rows if total else 1.0
    norms = [k1 * (1 - b) + (k1 * b / average) * length for length in lengths]
    ends = [*struct.unpack_from(f"<{blocks}I", part, starts), dictionary]
    found = {}
    for i in range(blocks):
        block = part[words + ends[i] : words + ends[i + 1]]
        found |= block_of_terms(block, parts["rag.postings" + suffix][0], norms, at)
    need(len(found) == terms, at + 16, "L.3", "another number of terms")
    need(sum(map(len, found.values())) == postings, at + 32, "L.3", "another number of postings")
    need(list(found) == sorted(found), at, "L.3", "terms are not in order")
    named = {term.decode(): rows_ for term, rows_ in found.items()}
    return {"field": int(suffix[1:]) if suffix else None, "lengths": lengths, "terms": named}


def own_lengths(words, part, at):
    """L.7: the lengths of fields are a part of the whole, and the rest a multiple of its weight."""
    config = part[128 : 128 + number(part, 64, 4)].decode()
    listed = next(line for line in config.splitlines() if line.startswith("fields="))
    names, weights = zip(*(field.split(":") for field in listed[7:].split(",")), strict=True)
    weights = [int(weight) for weight in weights]
    whole, *own = words
    if not own:
        return
    first = names.index("text") if "text" in names else 0
    numbers = {field["field"] for field in own}
    need(numbers == {*range(len(names))} - {first}, at, "L.7", "some fields have no sections")
    for row, length in enumerate(whole["lengths"]):
        if length == M32:  # this value represents any longer one
            continue
        rest = length - sum(weights[field["field"]] * field["lengths"][row] for field in own)
        need(rest >= 0 and rest % weights[first] == 0, at, "L.7", "lengths that are not a part")


def varint(raw, at):
    value, shift = 0, 0
    while True:
        byte = raw[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def originals(parts, found):
    """3.12: the SHA-256 of each document's stored bytes, None without any."""
    part, at = of(parts, "rag.original")
    need("documents" in found, at, "3.12", "originals of no documents")
    try:
        raw = stream(part, at)
        held = None if raw is None else strings(raw, at)
    except Refused as error:
        raise Refused(at, "3.12", error.reason, error.kind) from None
    if held is None:
        return None
    need(len(held) == len(found["documents"]), at, "3.12", "not one string for each document")
    items = parts["rag.original"][1]["items"]
    need(sum(map(bool, held)) == items, at, "3.12", "another number of items")
    return [hashlib.sha256(one).hexdigest() if one else None for one in held]


# ---- Part 12: links ---------------------------------------------------------------------------------------------------------


class Numbers:
    """The varints of a body, one after the other (12.1)."""

    def __init__(self, body, place):
        self.body, self.at, self.place = body, 0, place

    def one(self, end=1 << 32):
        """Return the next number, which must be below `end`."""
        value, shift = 0, 0
        while True:
            need(self.at < len(self.body) and shift < 35, self.place, "12.1", "no varint")
            byte = self.body[self.at]
            value, shift, self.at = value | (byte & 127) << shift, shift + 7, self.at + 1
            if byte < 128:
                need(value < min(end, 1 << 32), self.place, "12.1", "a number that is too large")
                return value

    def some(self, count, end=1 << 32):
        return [self.one(end) for _ in range(count)]

    def raw(self, size):
        need(
            1 <= size <= 4096 and self.at + size <= len(self.body), self.place, "12.1", "no string"
        )
        self.at += size
        return bytes(self.body[self.at - size : self.at])


def links(part, at, items, documents):
    """12.1: kinds, names, edges and matrices of `graph` or `hypergraph`."""
    refuse = lambda truth, reason: need(truth, at, "12.1", reason)  # noqa: E731
    refuse(len(part) >= 64 and part[:8] == b"RAGLINK1", "no RAGLINK1")
    size, stored, count = (number(part, i) for i in (8, 16, 24))
    strings_, kinds_, sources_, names_, matrices = (number(part, i, 4) for i in range(32, 52, 4))
    refuse(not any(part[52:64]), "a reserved byte")
    refuse(stored <= size < M32 and 64 + stored <= len(part), "a body of an impossible size")
    refuse(size // 64 <= stored and kinds_ <= 65536, "too dense a body, or too many kinds")
    refuse(count == items, "another number of items")
    least = 2 * (count + strings_ + sources_ + names_) + kinds_ + 3 * matrices
    refuse(least <= size, "a body that is too short")
    try:
        body = part[64 : 64 + stored]
        body = body if stored == size else unpacked(body, size, at)
    except Refused as error:
        raise Refused(at, "12.1", error.reason, error.kind) from None
    if body is None:
        return None
    numbers = Numbers(body, at)
    strings_ = [numbers.raw(numbers.one()) for _ in range(strings_)]
    refuse(strings_ == sorted(set(strings_)), "strings do not ascend")
    try:
        strings_ = [one.decode(errors="surrogatepass") for one in strings_]
    except UnicodeDecodeError:
        refuse(False, "a string that is not UTF-8")
    kinds_ = numbers.some(kinds_, len(strings_))
    refuse(kinds_ == sorted(set(kinds_)), "kinds do not ascend")
    names, string = [], 0
    for _ in range(names_):
        string += numbers.one()
        refuse(string < len(strings_), "a name that is not among the strings")
        names.append((string, numbers.one(documents)))
    refuse(names == sorted(set(names)), "names do not ascend")
    rows = edges(numbers, count, sources_, documents, len(kinds_), len(strings_), refuse)
    found = {
        "kinds": [strings_[one] for one in kinds_],
        "names": [[strings_[one], document] for one, document in names],
        "edges": [
            [document, strings_[kinds_[kind]], strings_[target], *place,
             *(None if one is None else strings_[one] for one in labels)]
            for document, kind, target, place, labels in rows
        ],
        "matrices": matrices_of(
            part, numbers, matrices, documents, rows, len(kinds_), 64 + stored, refuse
        ),
    }  # fmt: skip
    refuse(numbers.at == len(body), "bytes after the last number")
    return found


def edges(numbers, count, sources, documents, kinds, strings_, refuse):
    """Return (document, kind, target, place, fragment and text) of each edge."""
    document, listed = -1, []
    for _ in range(sources):
        document += numbers.one() + 1
        refuse(document < documents, "edges of a document that is not there")
        listed.append(document)
    counts = numbers.some(sources)
    refuse(0 not in counts and sum(counts) == count, "edges of documents do not add up to all")
    of_edges = [one for one, times in zip(listed, counts, strict=True) for _ in range(times)]
    heads = numbers.some(count)
    refuse(all(head >> 3 < kinds for head in heads), "a kind that is not there")
    targets = numbers.some(count, strings_)
    starts, last = [], {}
    for one, head in zip(of_edges, heads, strict=True):
        if head & 1:
            last[one] = last.get(one, 0) + numbers.one()
            refuse(last[one] < M32, "a place after the longest text")
        starts.append(last[one] if head & 1 else None)
    sizes = [numbers.one() if head & 1 else None for head in heads]
    for start, size in zip(starts, sizes, strict=True):
        refuse(start is None or start + size < M32, "a place that ends after the longest text")
    fragments = [numbers.one(strings_) if head & 2 else None for head in heads]
    texts = [numbers.one(strings_) if head & 4 else None for head in heads]
    labels = zip(fragments, texts, strict=True)
    places = zip(starts, sizes, strict=True)
    kinds_of = [head >> 3 for head in heads]
    return list(zip(of_edges, kinds_of, targets, places, labels, strict=True))


def matrices_of(part, numbers, count, documents, rows, kinds, at, refuse):
    """Return [scope, bits, rows] of each matrix."""
    found, before = [], -1
    for _ in range(count):
        scope, width, bits = numbers.some(3)
        refuse(scope > before and 1 <= width <= 65535 and bits in (16, 32), "no form of a matrix")
        before, kind = scope, (scope - 1) // 2
        of_kind = [target for _, one, target, _, _ in rows if one == kind]
        refuse(not scope or kind < kinds, "features of a kind that is not there")
        lines = documents if not scope else len(of_kind) if scope % 2 else len(set(of_kind))
        at = align(at, 64)
        refuse(at + lines * width * bits // 8 <= len(part), "a matrix after the section")
        letter = {16: "e", 32: "f"}[bits]
        lines = [
            struct.unpack_from(f"<{width}{letter}", part, at + i * width * bits // 8)
            for i in range(lines)
        ]
        at = align(at + len(lines) * width * bits // 8, 64)
        shown = [
            [x if math.isfinite(x) else str(x).replace("-nan", "nan") for x in row] for row in lines
        ]
        found.append([scope, bits, shown])
    refuse(at == len(part), "a section of another size")
    return found


# ---- Part 14: weights of terms ----------------------------------------------------------------------------------------------


def weight(code):
    """14.1: the weight of a code."""
    return (1 + code % 2048 / 2048) * 2.0 ** (code // 2048 - 16)


def weights(part, at, items, rows):
    """14.2: the weights of each row, by term."""
    refuse = lambda truth, reason: need(truth, at, "14.2", reason)  # noqa: E731
    refuse(len(part) >= 128 and part[:6] == b"RAGSPW", "no RAGSPW1")
    need(part[6:8] == b"1\0", at, "14.2", "a newer version", "version")
    told, terms, count, names, words = (number(part, i) for i in range(8, 48, 8))
    refuse(told == rows < M32 - 1, "another number of rows")
    refuse(count == items, "another number of items")
    refuse(not any(part[48:64]), "a reserved byte")
    refuse(names < M32 and words < M32, "names or lists of 4 GiB")
    names_at = 64 + 8 * terms
    lists_at = align(names_at + names, 4)
    refuse(lists_at + 4 * words + 64 == len(part), "parts that do not fill it")
    ends = [0, *(number(part, 64 + 4 * i, 4) for i in range(terms))]
    list_ends = [0, *(number(part, 64 + 4 * (terms + i), 4) for i in range(terms))]
    refuse(ends == sorted(ends) and ends[-1] == names, "names that do not fill their part")
    refuse(list_ends == sorted(set(list_ends)) and list_ends[-1] == words, "lists without words")
    found_terms = [bytes(part[names_at + a : names_at + b]) for a, b in itertools.pairwise(ends)]
    refuse(all(1 <= len(term) <= 255 for term in found_terms), "a term of no or of 256 bytes")
    refuse(found_terms == sorted(set(found_terms)), "terms do not ascend")
    refuse(all(is_text(term) for term in found_terms), "a term that is not UTF-8")
    found = [{} for _ in range(rows)]
    for term, (first, last) in zip(found_terms, itertools.pairwise(list_ends), strict=True):
        listed = part[lists_at + 4 * first : lists_at + 4 * last]
        for row, code in list_of_weights(listed, rows, refuse):
            found[row][term.decode()] = weight(code)
    refuse(sum(map(len, found)) == count, "another number of weights")
    return found


def is_text(raw):
    try:
        return "\0" not in raw.decode()
    except UnicodeDecodeError:
        return False


def list_of_weights(part, rows, refuse):
    """The (row, code) of a list."""
    found, at, before = [], 4, -1
    for _ in range(number(part, 2, 2) + 1):
        refuse(at + 4 <= len(part), "a list that its containers do not fill")
        window, size = number(part, at, 2), number(part, at + 2, 2) + 1
        refuse(at + 4 + 4 * size <= len(part), "a container after its list")
        refuse(window > before, "windows do not ascend")
        here = struct.unpack_from(f"<{size}H", part, at + 4)
        codes = struct.unpack_from(f"<{size}H", part, at + 4 + 2 * size)
        refuse(all(a < b for a, b in itertools.pairwise(here)), "rows do not ascend")
        found += zip((window << 16 | row for row in here), codes, strict=True)
        at, before = at + 4 + 4 * size, window
    refuse(at == len(part), "a list that its containers do not fill")
    refuse(found[-1][0] < rows, "a weight of a row that is not there")
    refuse(number(part, 0, 2) == max(code for _, code in found), "another largest code")
    return found


def block_of_terms(block, postings, norms, place):
    (here,), at, term, found = struct.unpack_from("<Q", block), 8, b"", {}
    while at < len(block):
        shared, more = block[at], block[at + 1]
        need(shared <= len(term), place, "L.3", "a term shares more than there is")
        term, at = term[:shared] + block[at + 2 : at + 2 + more], at + 2 + more
        df, at = varint(block, at)
        if df == 1:
            row, at = varint(block, at)
            tf, at = varint(block, at)
            found[term] = [[row, tf]]
            continue
        size, at = varint(block, at)
        raw, here = postings[here : here + size], here + size
        found[term] = long_list(raw, norms) if df > 32 else short_list(raw, df)
        need(len(found[term]) == df, place, "L.4", "a list has another number of rows")
        fits = all(a < b for a, b in itertools.pairwise(row for row, _ in found[term]))
        need(fits and found[term][-1][0] < len(norms), place, "L.4", "a row that is not there")
    return found


def short_list(raw, df):
    at, row, found = 0, 0, []
    for _ in range(df):
        step, at = varint(raw, at)
        tf, at = varint(raw, at) if step & 1 else (1, at)
        row += step // 2
        found.append([row, tf])
    return found


def long_list(raw, norms):
    m, containers = raw[0], struct.unpack_from("<I", raw, 4)[0]
    at, found, scale = 8 + 8 * containers, [], 255 * 256 / (m + 1)
    for i in range(containers):
        window, count, marks = struct.unpack_from("<HHI", raw, 8 + 8 * i)
        count, escapes, is_dense = count + 1, (marks & 0xFFFFFF) // 2, marks & 1
        groups = -(-min(65536, len(norms) - 65536 * window) // 64)
        if is_dense:
            bits = int.from_bytes(raw[at : at + 8 * groups], "little")
            rows, at = [r for r in range(64 * groups) if bits >> r & 1], at + 11 * groups
        else:
            rows, at = list(struct.unpack_from(f"<{count}H", raw, at)), at + 2 * count
        codes, at = raw[at : at + count], at + count
        given = dict(struct.unpack_from("<HI", raw, at + 6 * j) for j in range(escapes))
        at += 6 * escapes
        for j, row in enumerate(65536 * window + r for r in rows):
            found.append([row, given.get(j) or tf_of(codes[j], norms[row], scale)])
    return found


def code_of(tf, norm, scale):
    return min(255, max(1, math.ceil(tf / (tf + norm) * scale)))


def tf_of(code, norm, scale):
    return next((t for t in range(1, 255) if code_of(t, norm, scale) >= code), 255)


# L.8: the places of words in texts.


class Bits:
    """The bits of a group, from the highest of its first byte on."""

    def __init__(self, raw, at, rule):
        self.raw, self.place, self.rule = raw, at, rule
        self.bits, self.at = int.from_bytes(raw, "big"), 0

    def take(self, count):
        self.at += count
        left = 8 * len(self.raw) - self.at
        need(left >= 0, self.place, self.rule, "a group ends within a code")
        return self.bits >> left & (1 << count) - 1

    def rice(self, low):
        zeros = 0
        while not self.take(1):
            zeros += 1
        return zeros << low | self.take(low)

    def below(self, range_):
        """Return one of the numbers 0 to range_ - 1."""
        if range_ == 1:
            return 0
        width = (range_ - 1).bit_length()
        shorter = 2**width - range_
        low = (range_ - shorter) // 2
        found = self.take(width - 1)
        if found < shorter:
            return found + low
        found = (found << 1 | self.take(1)) - 2 * shorter
        return found if found < low else found + shorter


def places(bits, count, first, end):
    """Return `count` ascending numbers in [first, end)."""
    if not count:
        return []
    half = count // 2
    middle = first + half + bits.below(end - first - count + 1)
    before = places(bits, half, first, middle)
    return [*before, middle, *places(bits, count - half - 1, middle + 1, end)]


def place_list(raw, at, rows, words, count):
    """Return [[row, numbers]] of a word. `rows` are those of its postings; None for a stop word."""
    need(raw and raw[0] < 16 and raw[0] & 7 <= 6, at, "L.8", "an unknown head of a list")
    rice, can_lack, next_ = raw[0] & 7, raw[0] >> 3, 1
    groups, first, heads = -(-count // 64), 0, []
    for group in range(groups):
        step, next_ = varint(raw, next_) if rows is None else (0, next_)
        need(step or not group or rows is not None, at, "L.8", "rows do not ascend")
        first += step
        size, next_ = varint(raw, next_) if group + 1 < groups else (None, next_)
        heads.append((first, size))
    found = []
    for group, (first, size) in enumerate(heads):
        stop = len(raw) if size is None else next_ + size
        need(stop <= len(raw), at, "L.8", "a group lies outside of its list")
        bits, next_ = Bits(raw[next_:stop], at, "L.8"), stop
        held = [first] if rows is None else rows[64 * group : 64 * group + 64]
        gaps = (len(words) // count).bit_length() - 1
        while rows is None and len(held) < min(64, count - 64 * group):
            held.append(held[-1] + 1 + bits.rice(gaps))
        need(held[-1] < len(words), at, "L.8", "a row that is not there")
        for row in held:
            number = bits.rice(rice) + (not can_lack)
            need(number <= words[row], at, "L.8", "a row with fewer words than positions")
            found.append([row, places(bits, number, 0, words[row])])
    return found


def positions(part, at, terms, rows):
    """L.8: the rows of each word, with its numbers in their texts."""
    need(len(part) >= 80 and part[:8] == b"RAGPOS1\0", at, "L.8", "no RAGPOS1")
    there, known, size, stops_at, stops, width, dictionary = struct.unpack_from("<4Q2IQ", part, 8)
    need(there == rows, at + 8, "L.8", "another number of rows")
    need(known == len(terms), at + 16, "L.8", "another number of terms")
    need(width in (1, 2, 4), at + 44, "L.8", "a number of words has 1, 2 or 4 bytes")
    blocks = -(-known // 16)
    first = 64 + 8 * blocks
    listed = align(first + rows * width, 8)
    lists = align(listed + dictionary, 8)
    need(lists + size + 16 == len(part), at, "L.8", "the parts do not fill the section")
    words = struct.unpack_from(f"<{rows}{' BH I'[width]}", part, first)
    starts = [*struct.unpack_from(f"<{blocks}Q", part, 64), stops_at]
    need(starts == sorted(starts) and stops_at <= size, at + 64, "L.8", "a block lies outside")
    found, names = {"terms": {}, "stop_words": {}}, list(terms)
    for block, start in enumerate(starts[:-1]):
        here, sizes = lists + start, []
        for _ in names[16 * block : 16 * block + 16]:
            one, here = varint(part, here)
            sizes.append(one)
        need(
            here + sum(sizes) <= lists + starts[block + 1], at + start, "L.8", "a list lies outside"
        )
        for name, one in zip(names[16 * block :], sizes, strict=False):
            held, raw = [row for row, _ in terms[name]], part[here : here + one]
            told = place_list(raw, at + here, held, words, len(held)) if one else []
            found["terms"][name], here = [pair for pair in told if pair[1]], here + one
    here, place = lists + stops_at, listed
    for _ in range(stops):
        end = place + 1 + part[place]
        need(end < listed + dictionary, at + place, "L.8", "a stop word lies outside")
        name = part[place + 1 : end].decode()
        count, place = varint(part, end)
        one, place = varint(part, place)
        need(0 < count <= rows, at + place, "L.8", "a stop word in more rows than there are")
        found["stop_words"][name] = place_list(
            part[here : here + one], at + here, None, words, count
        )
        here += one
    need(place == listed + dictionary, at + listed, "L.8", "the dictionary has another size")
    need(here == lists + size, at + lists, "L.8", "the lists have another size")
    numbers = [[] for _ in words]
    for row, some in itertools.chain(*(w for kind in found.values() for w in kind.values())):
        numbers[row] += some
    whole = all(sorted(n) == [*range(size)] for n, size in zip(numbers, words, strict=True))
    need(whole, at, "L.8", "a word of a text is in two lists or in none")
    return found


def fine(parts):
    """3.7: checksums of grains. Return the grain and the names of the covered sections."""
    part, at = of(parts, "rag.fine")
    need(len(part) >= 64 and part[:8] == b"RAGFINE1", at, "3.7", "no RAGFINE1")
    grain, count = struct.unpack_from("<II", part, 8)
    is_power = grain & (grain - 1) == 0 and 512 <= grain <= 32768
    need(is_power, at + 8, "3.7", "a grain is a power of two from 512 to 32768")
    need(len(part) >= 64 + 32 * count, at + 12, "3.7", "more sections than there is room for")
    need(not any(part[16:64]), at + 16, "3.7", "reserved bytes are not zero")
    first, end, listed = 64 + 32 * count, 0, []
    names = {part["at"]: (name, raw) for name, (raw, part) in parts.items()}
    sums = 0
    for i in range(count):
        place = at + 64 + 32 * i
        start, size, number, zero = struct.unpack_from("<4Q", part, 64 + 32 * i)
        need(start >= end, place, "3.7", "the sections do not ascend")
        need(number == sums and zero == 0, place + 16, "3.7", "sums do not add up")
        grains, end = -(-size // grain), start + size
        sums += grains
        need(first + 8 * sums <= len(part), place + 8, "3.7", "sums do not add up")
        name, raw = names.get(start, (None, b""))
        if name is None or len(raw) != size:
            continue
        told = struct.unpack_from(f"<{grains}Q", part, first + 8 * number)
        good = all(xxh3(raw[grain * n : grain * (n + 1)]) == told[n] for n in range(grains))
        need(good, at + first + 8 * number, "3.7", "a sum that is not its grain's")
        listed.append(name)
    need(len(part) == first + 8 * sums, at + 12, "3.7", "sums do not add up")
    return [grain, listed]


# 3.8: metadata as columns.

NOTHING = object()


def resolve(metadata, path):
    """Return the value at a path (6.4)."""
    if path in metadata:
        return metadata[path]
    head, dot, rest = path.partition(".")
    if dot and isinstance(metadata.get(head), dict):
        return resolve(metadata[head], rest)
    return NOTHING


def paths_of(metadata, before=""):
    """Return the paths that select a value in an object."""
    for key, value in metadata.items():
        yield before + key
        if isinstance(value, dict) and "." not in key:
            yield from paths_of(value, f"{before}{key}.")


def value_bytes(value):
    """Return a JSON value as bytes that compare in the order of values; None if it has none."""
    if value is None or isinstance(value, bool):
        return bytes([1 if value is None else 2 + value])
    if isinstance(value, str):
        raw = value.encode(errors="surrogatepass")
        return b"\5" + raw.replace(b"\1", b"\1\2").replace(b"\0", b"\1\1") + b"\0"
    if isinstance(value, list):
        return joined(b"\6", map(value_bytes, value))
    if isinstance(value, dict):
        members = [
            part
            for key in sorted(value, key=lambda key: key.encode(errors="surrogatepass"))
            for part in (value_bytes(key), value_bytes(value[key]))
        ]
        return joined(b"\7", members)
    if not (math.isfinite(value) if isinstance(value, float) else -(2**63) <= value < 2**63):
        return None
    below = float(value)
    below = math.nextafter(below, -math.inf) if below > value else below
    bits = struct.unpack(">Q", struct.pack(">d", below + 0.0))[0]
    bits = bits ^ M64 if bits >> 63 else bits | 1 << 63
    return b"\4" + struct.pack(">QH", bits, int(value - int(below)) if value != below else 0)


def joined(kind, parts):
    parts = list(parts)
    return None if None in parts else kind + b"".join(parts) + b"\0"


def columns(parts, segment, rows):
    part, at = of(parts, "rag.columns")
    need("documents" in segment, at, "3.8", "columns without documents")
    need(len(part) >= 64 and part[:8] == b"RAGCOLS1", at, "3.8", "no RAGCOLS1")
    count_of_rows, count, flags, size = struct.unpack_from("<QIIQ", part, 8)
    need(count_of_rows == rows < 1 << 32, at + 8, "3.8", "another number of rows")
    need(count <= 1024 and flags < 2, at + 16, "3.8", "too many columns, or a flag")
    need(not any(part[32:64]), at + 32, "3.8", "reserved bytes are not zero")
    names_at = 64 + 64 * count
    need(names_at + size <= len(part), at + 24, "3.8", "names outside the section")
    name_at, next_at, before, found = 0, align(names_at + size, 64), None, {}
    need(not any(part[names_at + size : next_at]), at + 24, "3.8", "padding is not zero")
    for place in range(64, names_at, 64):
        where, length, marks, *_ = struct.unpack_from("<III", part, place)
        need(where == name_at and length <= size - where, at + place, "3.8", "a name elsewhere")
        name = part[names_at + where : names_at + where + length]
        key = (not marks & 1, name)
        need(before is None or before < key, at + place, "3.8", "names do not ascend")
        need(marks < 8 and not (marks & 1 and length), at + place + 8, "3.8", "a flag")
        path = None if marks & 1 else spelled(name, 0, length, at + names_at)
        if marks & 2:
            need(not any(part[place + 12 : place + 64]), at + place, "3.8", "not stored, and there")
            need(marks < 4, at + place + 8, "3.8", "a flag")
            found[path] = None
        else:
            found[path], next_at = column(part, place, marks, rows, next_at, at)
        name_at, before = name_at + length, key
    need(name_at == size and next_at == len(part), at + 24, "3.8", "another size")
    listed_paths(found, segment, flags, at)
    return [
        {"path": path, "codes": each and each[0], "values": each and [v.hex() for v in each[1]]}
        for path, each in found.items()
    ]


def column(part, place, marks, rows, begin, at):
    """Return ((codes, values as bytes), start of the next column)."""
    width, data = struct.unpack_from("<IQ", part, place + 12)
    special, numbers, *others, zero_, blob, zero_2 = struct.unpack_from("<6IQQ", part, place + 24)
    values = special.bit_count() + numbers + sum(others)
    need(data == begin and not zero_ and not zero_2, at + place, "3.8", "a column elsewhere")
    need(width in (1, 2, 4) and values < 1 << 8 * width, at + place + 12, "3.8", "narrow codes")
    need(special < 8 and blob < 1 << 32, at + place + 24, "3.8", "values that there are not")
    zones = -(-rows // 4096)
    sizes = [8 * zones, width * rows, 8 * numbers, 2 * numbers * (marks >> 2 & 1)]
    sizes += [4 * (sum(others) + 1), blob]
    held, end = [], begin
    for size in sizes:
        need(end + align(size, 8) <= len(part), at + place, "3.8", "a column outside its section")
        held.append(part[end : end + size])
        need(not any(part[end + size : end + align(size, 8)]), at + end, "3.8", "padding")
        end += align(size, 8)
    need(not any(part[end : align(end, 64)]), at + end, "3.8", "padding is not zero")
    zones, codes, floors, rests, ends, blob = held
    codes = list(struct.unpack(f"<{rows}{' BH I'[width]}", codes))
    for i in range(-(-rows // 4096)):
        some = codes[4096 * i : 4096 * i + 4096]
        need(
            struct.unpack_from("<II", zones, 8 * i) == (min(some), max(some)),
            at + begin,
            "3.8",
            "a zone of other codes",
        )
    found = [bytes([kind]) for kind in (1, 2, 3) if special >> kind - 1 & 1]
    rests = struct.unpack(f"<{len(rests) // 2}H", rests) or (0,) * numbers
    for below, rest in zip(struct.unpack(f"<{numbers}d", floors), rests, strict=True):
        raw = value_bytes(below)
        need(raw, at + begin, "3.8", "a number that JSON has no text for")
        found.append(raw[:9] + struct.pack(">H", rest))
    ends = struct.unpack(f"<{len(ends) // 4}I", ends)
    need(ends[0] == 0 and list(ends) == sorted(ends), at + begin, "3.8", "ends descend")
    need(ends[-1] == len(blob), at + begin, "3.8", "ends and bytes contradict each other")
    spans = [blob[a:b] for a, b in itertools.pairwise(ends)]
    found += [value_bytes(spelled(span, 0, len(span), at + begin)) for span in spans[: others[0]]]
    found += spans[others[0] :]
    need(found == sorted(set(found)), at + begin, "3.8", "values do not ascend")
    return (codes, found), align(end, 64)


def listed_paths(found, segment, flags, at):
    """Check that every column matches the metadata of the rows."""
    said = []
    for document in segment["documents"]:
        shared = document["meta"] or {}
        for own in (chunk["meta"] or {} for chunk in document["chunks"]):
            metadata = {**shared.get("metadata", {}), **own.get("metadata", {})}
            tags = own["tags"] if "tags" in own else shared.get("tags", NOTHING)
            said.append((metadata, tags, own.get("source") or shared.get("source")))
    there = {path for metadata, _, _ in said for path in paths_of(metadata)}
    there |= {"source" for _, _, source in said if source}
    there |= {None for _, tags, _ in said if tags is not NOTHING}
    need(flags or there <= found.keys(), at, "3.8", "a path that is not listed")
    held = {path for path, stored in found.items() if stored is not None}
    need(held <= there, at, "3.8", "a path that no row has")
    for path, stored in found.items():
        if stored is None:
            continue
        rows = []
        for metadata, tags, source in said:
            value = tags if path is None else resolve(metadata, path)
            value = source if path == "source" and value is NOTHING and source else value
            rows.append(b"" if value is NOTHING else value_bytes(value))
        values = [b"", *stored[1]]
        need(set(rows) - {b""} == set(stored[1]), at, "3.8", "values that rows do not have")
        codes = [code < len(values) and values[code] for code in stored[0]]
        need(codes == rows, at, "3.8", "a row has another value")


def sample(parts, segment, rows):
    """3.6: the rows that calibrate fusion."""
    part, at = of(parts, "rag.sample")
    need("vector" in segment and "documents" in segment, at, "3.6", "a sample without vectors")
    need(len(part) >= 64 and part[:8] == b"RAGSAMP1", at, "3.6", "no RAGSAMP1")
    count, dim, bits = struct.unpack_from("<QII", part, 8)
    need(count <= min(rows, 65536), at + 8, "3.6", "a sample of more rows than there can be")
    there = segment["vector"]
    need((dim, bits) == (there["dim"], there["precision"]), at + 16, "3.6", "other vectors")
    need(not any(part[24:64]), at + 24, "3.6", "reserved bytes are not zero")
    first, size = align(64 + 16 * count, 64), dim * bits // 8
    need(len(part) == first + count * size, at + 8, "3.6", "another size than its rows")
    need(not any(part[64 + 16 * count : first]), at + 64 + 16 * count, "3.6", "padding")
    numbers = struct.unpack_from(f"<{2 * count}Q", part, 64)
    found = list(zip(numbers[:count], numbers[count:], strict=True))
    need(all(row < rows for _, row in found), at + 64 + 8 * count, "3.6", "a row that is not there")
    need(found == sorted(found), at + 64, "3.6", "the entries do not ascend")
    need(len({row for _, row in found}) == count, at + 64, "3.6", "a row twice")
    hashes = [
        xxh3(d["id"].encode(errors="surrogatepass") + struct.pack("<I", c["index"]))
        for d in segment["documents"]
        for c in d["chunks"]
    ]
    need(all(hashes[row] == hash_ for hash_, row in found), at + 64, "3.6", "another row's hash")
    bare = set(segment.get("bare", ()))
    need(not bare & {row for _, row in found}, at + 64, "3.6", "a row without a vector")
    left = set(range(rows)) - {row for _, row in found} - set(segment["tombs"]) - bare
    before = any((hashes[row], row) < found[-1] for row in left) if found else bool(left)
    need(not before, at + 64, "3.6", "a row that comes before its last entry is left out")
    vector = parts["vector"][0]
    for i, (_, row) in enumerate(found):
        stored = vector[64 + row * (size + 16) :][:size]
        place = first + i * size
        need(part[place : place + size] == stored, at + place, "3.6", "another row's vector")
    return [list(entry) for entry in found]


def titles(parts, segment):
    """3.13: the keys of titles, each with its document."""
    part, at = of(parts, "rag.titles")
    need("documents" in segment, at, "3.13", "titles without documents")
    need(part and len(part) % 12 == 0, at, "3.13", "titles of 12 bytes each do not fill it")
    count = len(part) // 12
    keys = struct.unpack_from(f"<{count}Q", part)
    numbers = struct.unpack_from(f"<{count}I", part, 8 * count)
    found = list(zip(keys, numbers, strict=True))
    known = len(segment["documents"])
    need(all(n < known for n in numbers), at + 8 * count, "3.13", "a document that is not there")
    need(found == sorted(set(found)), at, "3.13", "titles do not ascend")
    for n, document in enumerate(segment["documents"]):
        told = title_keys(document)
        here = sorted(key for key, number in found if number == n)
        need(told is None or here == told, at, "3.13", "other titles than the document's")
    return [list(entry) for entry in found]


def title_keys(document):
    """The keys of a document's title; None for a title that needs an analyzer, which this reader lacks."""
    chunks = document["chunks"][:1]
    metadata = {}
    for one in (document, *chunks) if chunks else ():
        metadata |= (one["meta"] or {}).get("metadata", {})
    title = metadata.get("title")
    if not isinstance(title, str):
        return []
    if not re.fullmatch("[A-Za-z0-9 ()]*", title):
        return None
    shorter = re.fullmatch(r"(.+) \(.*\) *", title)
    found = set()
    for text in [title, shorter[1]] if shorter else [title]:
        words = re.findall("[a-z0-9]+", text.lower())
        if 1 <= len(words) <= 10:
            whole = xxh3(" ".join(words).encode())
            found.add(xxh3(words[0].encode()) >> 32 << 32 | whole & 0xFFFFFFFF)
    return sorted(found)


# ---- Part 4: shadows of vectors ----------------------------------------------------------------------------------------------

TRUE_ENOUGH = 1e-9  # tolerance for rounding errors of this reader


def floats(part, at, count, code="f"):
    return struct.unpack_from(f"<{count}{code}", part, at)


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def norm(a):
    return math.sqrt(dot(a, a))


def unit_row(values):
    """Return (u, N, whether it has a direction) of a row, by "Guarantees" in 4.2."""
    if "nan" in values:  # it has no vector (3.9): never ranked
        return [0.0] * len(values), -1.0, False
    length = norm(values)
    usual = 2.0**-100 <= length <= 2.0**100
    return [x / length if usual else 0.0 for x in values], length, usual


def shadow_head(part, at, magic, vectors, rule, used):
    """Check the head that both kinds share; return group_rows."""
    need(len(part) >= 128 and part[:8] == magic, at, rule, "another magic, or too short")
    version, dim, rows, group_rows = struct.unpack_from("<IIQI", part, 8)
    need(version == 1, at + 8, rule, "a shadow of an unknown version", "version")
    there = (vectors["dim"], len(vectors["pairs"]))
    need((dim, rows) == there, at + 12, rule, "the shadow of other vectors")
    fits = group_rows % 16 == 0 and 16 <= group_rows <= 65536
    need(fits, at + 24, rule, "groups of a number of rows that is not allowed")
    need(not any(part[used:64]), at + used, rule, "reserved bytes are not zero")
    need(not any(part[-64:]), at + len(part) - 64, rule, "the last bytes are not zero")
    return group_rows


def nibbles(part, block, r, count):
    """Return the first codes of row r of a block, less 7.5."""
    found = []
    for i in range(count):
        byte = part[block + 64 * (i // 8) + 4 * r + i % 4]
        found.append((byte & 15 if i % 8 < 4 else byte >> 4) - 7.5)
    return found


def is_norm(said, length, usual):
    wanted = struct.unpack("<f", struct.pack("<f", length))[0] if usual else float(length != 0)
    return said == wanted


def is_special(scale, rest, length):
    """Return whether the stored numbers mark a row without a direction."""
    kind = math.copysign(math.inf, length)
    return scale == 0 and (rest == kind if length else rest >= 0)


def eight_bits(part, where, u, length, usual, at, rule):
    """Check the guarantee of the 8-bit copy of one row."""
    scale, rest, said = floats(part, where, 3)
    need(is_norm(said, length, usual), at + where + 8, rule, "another norm than the row's")
    if not usual:
        need(
            is_special(scale, rest, length),
            at + where,
            rule,
            "a wrong mark of a row without a direction",
        )
        return
    left = [x - scale * (part[where + 12 + i] - 128) for i, x in enumerate(u)]
    need(norm(left) <= rest + TRUE_ENOUGH, at + where + 4, rule, "the copy is further from its row")


def shadow(parts, vectors, name):
    """4.2: return [group_rows, 0] after checking the guarantees of every row."""
    part, at = of(parts, name)
    group_rows = shadow_head(part, at, b"RAGSHADW", vectors, "4.2", 28)
    rows, dim, wide = len(vectors["pairs"]), vectors["dim"], align(vectors["dim"], 8)

    def size(count):
        return -(-count // 16) * (8 * wide + 192) + count * (12 + wide)

    whole = 64 + rows // group_rows * size(group_rows) + size(rows % group_rows) + 64
    need(len(part) == whole, at, "4.2", "another size than that of its rows")
    for row, (values, _) in enumerate(vectors["pairs"]):
        first = row // group_rows * group_rows
        blocks, count = 64 + row // group_rows * size(group_rows), min(group_rows, rows - first)
        r, block = row % 16, blocks + (row - first) // 16 * (8 * wide + 192)
        u, length, usual = unit_row(values)
        scale, rest, said = (
            floats(part, block + 8 * wide + 64 * i + 4 * r, 1)[0] for i in range(3)
        )
        need(is_norm(said, length, usual), at + block, "4.2", "another norm than the row's")
        if usual:
            v = [scale * x for x in nibbles(part, block, r, dim)]
            left = [x - y for x, y in zip(u, v, strict=True)]
            need(norm(left) <= rest + TRUE_ENOUGH, at + block, "4.2", "a copy further from its row")
            need(abs(dot(left, v)) <= 2e-6, at + block, "4.2", "a copy that is no projection")
        else:
            need(
                is_special(scale, rest, length),
                at + block,
                "4.2",
                "a wrong mark of a row without a direction",
            )
        codes = blocks + -(-count // 16) * (8 * wide + 192) + (row - first) * (12 + wide)
        eight_bits(part, codes, u, length, usual, at, "4.2")
    return [group_rows, 0]


class Axes:
    """The axes of planes, and the space that they span."""

    def __init__(self, part, at, where, dim, kept):
        stride = align(dim, 32)
        said = struct.unpack_from(f"<{kept * stride}h", part, where)
        need(
            not any(said[2 * (p * kept + i) + j] for p in range(dim // 2, stride // 2)
                    for i in range(kept) for j in (0, 1) if 2 * p + j >= dim),
            at + where, "4.3", "components past dim are not zero",
        )  # fmt: skip
        self.whole = [
            [said[2 * (j // 2 * kept + i) + j % 2] for j in range(dim)] for i in range(kept)
        ]
        one = 1 << 30
        square = lambda i, j: sum(a * b for a, b in zip(self.whole[i], self.whole[j], strict=True))  # noqa: E731
        gram = [[square(i, j) for j in range(kept)] for i in range(kept)]
        skew = sum((gram[i][j] - one * (i == j)) ** 2 for i in range(kept) for j in range(kept))
        near = all(abs(gram[i][i] - one) <= one >> 8 for i in range(kept))
        need(near and skew << 16 <= one * one, at + where, "4.3", "the axes are not orthonormal")
        self.axes = [[x / 32768 for x in axis] for axis in self.whole]

    def along(self, x):
        return [dot(axis, x) for axis in self.axes]

    def sum(self, places):
        columns = zip(*self.axes, strict=True)
        return [dot(places, column) for column in columns]

    def split(self, x):
        """Return the lengths of x's parts in the axes' space and across it (4.3)."""
        places, left = [0.0] * len(self.axes), list(x)
        for _ in range(8):
            places = [p + q for p, q in zip(places, self.along(left), strict=True)]
            left = [a - b for a, b in zip(x, self.sum(places), strict=True)]
        return norm(self.sum(places)), norm(left)


def planes(parts, vectors, name):
    """4.3: return [group_rows, K] after checking the guarantees of every row."""
    part, at = of(parts, name)
    group_rows = shadow_head(part, at, b"RAGPLANE", vectors, "4.3", 32)
    rows, dim, wide = len(vectors["pairs"]), vectors["dim"], align(vectors["dim"], 8)
    kept = number(part, 28, 4)
    fits = kept in (64, 128, 192, 256) and kept <= dim <= 512
    need(fits, at + 28, "4.3", "axes of a number that is not allowed")
    steps_at = 64 + align(4 * dim, 64)
    groups_at = steps_at + 4 * kept + 2 * kept * align(dim, 32)
    block_size = 8 * kept + 64

    def size(count):
        return count and 64 + -(-count // 16) * (block_size + 64) + count * (12 + wide)

    whole = groups_at + rows // group_rows * size(group_rows) + size(rows % group_rows) + 64
    need(len(part) == whole, at, "4.3", "another size than that of its rows")
    mean, steps = floats(part, 64, dim), floats(part, steps_at, kept)
    need(all(map(math.isfinite, mean)), at + 64, "4.3", "a mean that is not finite")
    need(dot(mean, mean) <= 1.01, at + 64, "4.3", "the mean is longer than one")
    fits = all(2.0**-40 <= step <= 4 for step in steps)
    need(fits, at + steps_at, "4.3", "a step is out of range")
    axes = Axes(part, at, steps_at + 4 * kept, dim, kept)
    for row, (values, _) in enumerate(vectors["pairs"]):
        first = row // group_rows * group_rows
        head, count = (
            groups_at + row // group_rows * size(group_rows),
            min(group_rows, rows - first),
        )
        norms = head + 64 + -(-count // 16) * block_size
        r, block = row % 16, head + 64 + (row - first) // 16 * block_size
        u, length, usual = unit_row(values)
        need(not any(part[head + 12 : head + 64]), at + head, "4.3", "a group's head goes on")
        along_axes(part, head, block, r, u, (usual or not length), axes, mean, steps, at)
        said = floats(part, norms + 4 * (row - first), 1)[0]
        need(is_norm(said, length, usual), at + norms, "4.3", "another norm than the row's")
        codes = norms + 64 * -(-count // 16) + (row - first) * (12 + wide)
        eight_bits(part, codes, u, length, usual, at, "4.3")
    return [group_rows, kept]


def along_axes(part, head, block, r, u, bounded, axes, mean, steps, at):
    """Check that the coordinates of one row are within the stored bounds."""
    rest_unit, tail_unit, reach = floats(part, head, 3)
    meta = block + 8 * len(steps)
    scale, rest = floats(part, meta + 2 * r, 1, "e")[0], rest_unit * part[meta + 32 + r]
    tail, codes = part[meta + 48 + r], nibbles(part, block, r, len(steps))
    need(norm(codes) <= reach + TRUE_ENOUGH, at + head + 8, "4.3", "nibbles that reach further")
    need(0 <= scale < math.inf, at + meta, "4.3", "a scale that is not a finite number from 0 on")
    v = axes.sum([scale * step * code for step, code in zip(steps, codes, strict=True)])
    need(norm(v) <= 2.1, at + meta, "4.3", "places that are too far away")
    if tail == 255:
        need(scale == 0, at + meta, "4.3", "a scale, and no bounds")
        return
    need(bounded, at + meta + 48, "4.3", "bounds of a row that can have none")
    x = [a - b for a, b in zip(u, mean, strict=True)]
    along, _ = axes.split([a - b for a, b in zip(x, v, strict=True)])
    _, across = axes.split(x)
    need(along <= rest + TRUE_ENOUGH, at + meta + 32, "4.3", "places further from their row")
    fits = across <= tail * tail_unit + TRUE_ENOUGH
    need(fits, at + meta + 48, "4.3", "a row further from the axes")


def clusters(parts, vectors, name):
    """4.4: return (the rows of each cluster, the vectors at their places) after all checks."""
    part, at = of(parts, name)
    need(len(part) >= 64 and part[:8] == b"RAGCLUST", at, "4.4", "another magic, or too short")
    version, dim, rows, count = struct.unpack_from("<IIQI", part, 8)
    need(version == 1, at + 8, "4.4", "clusters of an unknown version", "version")
    there = (vectors["dim"], len(vectors["pairs"]))
    need((dim, rows) == there, at + 12, "4.4", "the clusters of other vectors")
    fits = 1 <= count <= min(rows, 65536) and dim <= 4096
    need(fits, at + 24, "4.4", "clusters of a number, or a width, that is not allowed")
    need(not any(part[28:64]), at + 28, "4.4", "reserved bytes are not zero")
    column, stride = align(4 * count, 64), align(dim, 32)
    radii_at = 64 + align(4 * (count + 1), 64)
    panels_at = radii_at + 4 * column
    order_at = panels_at + -(-count // 32) * 64 * stride
    need(
        len(part) == order_at + align(4 * rows, 64), at, "4.4", "another size than that of its rows"
    )
    starts = struct.unpack_from(f"<{count + 1}I", part, 64)
    climbs = all(a < b for a, b in itertools.pairwise(starts))
    need(starts[0] == 0 and starts[-1] == rows and climbs, at + 64, "4.4", "places out of order")
    tables = [floats(part, radii_at + i * column, count) for i in range(4)]
    fine = all(x >= 0 for table in tables for x in table)
    need(fine, at + radii_at, "4.4", "a radius, spread or norm is negative or no number")
    order = struct.unpack_from(f"<{rows}I", part, order_at)
    need(
        sorted(order) == list(range(rows)), at + order_at, "4.4", "a row without a place of its own"
    )
    for c in range(count):
        panel = panels_at + c // 32 * 64 * stride + 4 * (c % 32)
        whole = [number(part, panel + 128 * (i // 2) + 2 * (i % 2), 2) for i in range(dim)]
        centroid = [(x - (x >> 15 << 16)) / 32768 for x in whole]
        for row in order[starts[c] : starts[c + 1]]:
            values = vectors["pairs"][row][0]
            in_cluster(values, centroid, [table[c] for table in tables], at + radii_at + 4 * c)
    placed = {**vectors, "pairs": [vectors["pairs"][row] for row in order]}
    return [list(order[a:b]) for a, b in itertools.pairwise(starts)], placed


def in_cluster(values, centroid, numbers, at):
    """Check that a row is within the radius and the norms of its cluster."""
    radius, _, least, most = numbers
    u, length, usual = unit_row(values)
    if length < 0:
        return
    if usual or not length:
        left = [a - b for a, b in zip(u, centroid, strict=True)]
        need(norm(left) <= radius + TRUE_ENOUGH, at, "4.4", "a row outside its cluster's radius")
    else:
        need(radius == math.inf, at, "4.4", "a row without a direction in a cluster with a radius")
    fits = least * (1 - TRUE_ENOUGH) <= length <= most * (1 + TRUE_ENOUGH)
    need(fits, at, "4.4", "a norm outside those of the cluster")


def read(data, dim=None):
    """Return the content of the file `data`. `dim` is the dimension of a 0.1.0 file without one."""
    version, _ = header(data)
    return read_1(data) if version[0] else read_0(data, dim)


def main(arguments):
    with open(arguments[0], "rb") as file:
        data = file.read()
    try:
        found, status = read(data, *map(int, arguments[1:2])), 0
    except Refused as error:
        found = {
            "refused": {
                "kind": error.kind,
                "at": error.at,
                "rule": error.rule,
                "reason": error.reason,
            }
        }
        status = 2
    print(json.dumps(found, indent=1, allow_nan=False))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
