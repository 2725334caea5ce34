"""The building blocks of the vectors: 0.1.0 files and sections, 1.0 sections, commits.

Nothing here is taken from the package.
"""

import itertools
import json
import math
import struct
from dataclasses import dataclass, field

import xxhash
from oracles import handmade

xxh = xxhash.xxh3_64_intdigest
CODES = {8: "b", 16: "e", 32: "f", 64: "d"}


@dataclass
class Vector:
    """A file: its bytes and purpose; the content of a good one, or the refusal of a bad one."""

    data: bytes
    note: str
    says: dict = field(default_factory=dict)
    dim: int | None = None
    marks: dict = field(default_factory=dict)
    kind: str = "format"
    at: int = 0
    rule: str = ""


def order(big):
    return "<>"[big]


# ------------------------------------------------------------------------------------------------------------- 0.1.0


def file_0(sections, big=False, version=(0, 1, 0), behind=b""):
    """A 0.1.0 file of (name, function from offset to bytes)."""
    first, before = 12, None
    while first != before:
        before, at, entries, bodies = first, first, [], []
        for name, make in sections:
            body = make(at)
            entries.append(f"{name}-({at},{at + len(body) - 1})".encode())
            bodies.append(body)
            at += len(body) + 1
        listing = b"\0".join(entries)
        first = 11 + len(listing) + 1
    return b"RAGFILE" + bytes([*version, big]) + listing + b"\0" + b"\0".join(bodies) + behind


def joined(pairs, p):
    return bytes(p).join(head + b"-" + content for head, content in pairs)


def keyword_section(pairs, p=4, big=False, slack=b"", behind=b""):
    blob = joined([(k.encode(), c.encode()) for k, c in pairs], p)

    def make(at):
        start = at + 17 + len(slack)
        return (
            struct.pack(order(big) + "QQB", start, start + len(blob) - 1, p) + slack + blob + behind
        )

    return make


def extension(rows, bits, p, big, blob, **lies):
    sizes = {len(row) * bits // 8 + 1 + len(c.encode()) + p for row, c in rows}
    said = {
        "dim": len(rows[0][0]) if rows else 1,
        "count": len(rows),
        "stride": sizes.pop() if len(sizes) == 1 else 0,
    }
    said |= {"flags": 1, "hash": xxh(blob), **lies}
    return b"RXV1" + struct.pack(order(big) + "IQIIQ", *said.values())


def vector_section(rows, bits=32, p=4, big=False, slack=b"", behind=b"", extended=True, **lies):
    def packed(row):
        return struct.pack(f"{order(big)}{len(row)}{CODES[bits]}", *row)

    blob = joined([(packed(row), content.encode()) for row, content in rows], p)
    block = extension(rows, bits, p, big, blob, **lies) if extended else b""

    def make(at):
        start = at + 18 + len(block) + len(slack)
        return (
            struct.pack(order(big) + "BQQB", bits, start, start + len(blob) - 1, p)
            + block
            + slack
            + blob
            + behind
        )

    return make


def keys_section(pairs, p=4, big=False, **lies):
    """The sorted companion of keyword_section(pairs, p)."""
    offsets, at = [], 0
    for keyword, content in pairs:
        offsets.append((keyword.encode(), at))
        at += len(keyword.encode()) + 1 + len(content.encode()) + p
    entries = b"".join(
        k[:8].ljust(8, b"\0") + struct.pack(order(big) + "Q", o) for k, o in sorted(offsets)
    )
    entries = lies.get("entries", entries)
    said = {"size": 16, "count": len(pairs), "length": max(at - p, 0), "hash": xxh(entries)}
    said |= {key: value for key, value in lies.items() if key != "entries"}
    return lambda _: b"RXK1" + struct.pack(order(big) + "IQQQ", *said.values()) + entries


def plain(data):
    return lambda _: data


def patched(data, *patches):
    """Return the bytes with (offset, bytes) written over them."""
    out = bytearray(data)
    for at, new in patches:
        out[at : at + len(new)] = new
    return bytes(out)


# --------------------------------------------------------------------------------------------------------------- 1.0


def matrix(rows, bits=32, dim=None):
    """A 1.0 `vector` section, as a function of its offset."""
    dim = dim or len(rows[0])
    stride = dim * bits // 8 + 16
    body = b"".join(
        struct.pack(f"<{dim}{CODES[bits]}", *row) + f"-c{i:010}".encode() + bytes(4)
        for i, row in enumerate(rows)
    )

    def make(at):
        head = struct.pack("<BQQB", bits, at + 64, at + 64 + len(body) - (5 if rows else 1), 4)
        return (
            head + b"RXV1" + struct.pack("<IQIIQ", dim, len(rows), stride, 0, 0) + bytes(14) + body
        )

    return make


def strings(items):
    ends = [0]
    for item in items:
        ends.append(ends[-1] + len(item))
    return struct.pack(f"<{len(ends) + 1}Q", len(items), *ends) + b"".join(items)


def rle_frame(raw):
    """A Zstandard frame of up to 255 equal bytes, by hand: single segment, content size, one block of run length."""
    assert 1 <= len(raw) <= 255
    assert set(raw) == {raw[0]}
    return (
        bytes.fromhex("28b52ffd20")
        + bytes([len(raw)])
        + (1 | 1 << 1 | len(raw) << 3).to_bytes(3, "little")
        + raw[:1]
    )


def stream(raw, block=4096, pack=False):
    held, table = b"", []
    for at in range(0, len(raw), block):
        piece = raw[at : at + block]
        held += rle_frame(piece) if pack else piece
        table.append(len(held) | pack << 63)
    held += bytes(-len(held) % 8)
    return (
        held
        + struct.pack(f"<{len(table)}Q", *table)
        + struct.pack("<8s4Q24x", b"RAGBLK01", len(raw), block, len(table), len(held))
    )


def records(documents, block=4096, pack=False):
    """Sections of documents {id: (text or None, JSON or None, chunks)}; a chunk is (index, (start, end) or text, JSON or None)."""
    text, meta, chunks, table, row = b"", b"", b"", b"", 0
    for number, (_, (own, fields, cuts)) in enumerate(sorted(documents.items())):
        blob, (fields_at, fields_size) = (own or "").encode(), described(fields, meta)
        size, meta, first = len(blob), meta + written(fields), row
        for index, place, chunk_fields in cuts:
            if isinstance(place, str):
                begin, words, point = len(blob), place, 2**32 - 1
                blob += words.encode()
            else:
                words, point = own[slice(*place)], place[0]
                begin = len(own[:point].encode())
            at, length = described(chunk_fields, meta)
            meta += written(chunk_fields)
            chunks += struct.pack(
                "<6IQ",
                number,
                index,
                begin,
                len(words.encode()),
                point,
                len(words),
                at << 24 | length,
            )
            row += 1
        table += struct.pack(
            "<QIIQIIQII16x",
            len(text),
            size,
            len(blob),
            fields_at,
            fields_size,
            own is not None,
            first,
            row - first,
            len(own or ""),
        )
        text += blob
    many = len(documents)
    return [
        ("rag.text", stream(text, block, pack), many), ("rag.meta", stream(meta, block), many), ("rag.chunks", chunks, row),
        ("rag.documents", table, many), ("rag.ids", strings([id_.encode() for id_ in sorted(documents)]), many),
    ]  # fmt: skip


def written(fields):
    return json.dumps(fields, sort_keys=True).encode() if fields else b""


def described(fields, meta):
    return (len(meta), len(written(fields))) if fields else (0, 0)


def sample(documents, vectors, count, bits=32, leave_out=()):
    """The rag.sample of the first `count` rows by hash, except those to leave out."""
    keys = [
        id_.encode() + struct.pack("<I", index)
        for id_, (_, _, cuts) in sorted(documents.items())
        for index, _, _ in cuts
    ]
    entries = sorted((xxh(key), row) for row, key in enumerate(keys) if row not in leave_out)
    entries = entries[:count]
    head = struct.pack("<8sQII40x", b"RAGSAMP1", len(entries), len(vectors[0]), bits)
    numbers = [hash_ for hash_, _ in entries] + [row for _, row in entries]
    made = head + struct.pack(f"<{len(numbers)}Q", *numbers)
    made += bytes(-len(made) % 64)
    code = f"<{len(vectors[0])}{CODES[bits]}"
    return made + b"".join(struct.pack(code, *vectors[row]) for _, row in entries)


def fine(sections, names, grain=512, change=None):
    """The rag.fine of the sections with these names in a file that begins with `sections`."""
    entries, sums, at = [], [], 4096
    for name, _, _, content, _ in sections:
        made = content(at) if callable(content) else content
        if name in names:
            entries.append((at, len(made), len(sums), 0))
            sums += [xxh(made[i : i + grain]) for i in range(0, len(made), grain)]
        at += handmade.extent(len(made))
    if change is not None:
        change(entries, sums)
    head = struct.pack("<8sII48x", b"RAGFINE1", grain, len(entries))
    told = b"".join(struct.pack("<4Q", *entry) for entry in entries)
    return head + told + struct.pack(f"<{len(sums)}Q", *sums)


def column(values, codes, width=1, **lies):
    """A column's data, and its entry except name, flags and offset."""
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    floors = [float(v - v % 2 if abs(v) > 2**53 else v) for v in numbers]
    rests = [
        int(v - int(f)) if isinstance(v, int) else 0 for v, f in zip(numbers, floors, strict=True)
    ]
    texts = [v.encode() for v in values if isinstance(v, str)]
    others = [v for v in values if isinstance(v, bytes)]
    special = sum(
        bit for v, bit in ((None, 1), (False, 2), (True, 4)) if any(v is x for x in values)
    )
    ends = [0]
    for raw in [*texts, *others]:
        ends.append(ends[-1] + len(raw))
    lists = sum(raw[:1] == b"\6" for raw in others)
    said = [special, len(numbers), len(texts), lists, len(others) - lists]
    parts = [
        lies.get("zones", struct.pack("<II", min(codes), max(codes))),
        struct.pack(f"<{len(codes)}{' BH I'[width]}", *codes), struct.pack(f"<{len(floors)}d", *floors),
        struct.pack(f"<{len(rests)}H", *rests) if any(rests) else b"",
        struct.pack(f"<{len(ends)}I", *ends), b"".join([*texts, *others]),
    ]  # fmt: skip
    data = b"".join(part + bytes(-len(part) % 8) for part in parts)
    return 4 * any(rests), width, said, ends[-1], data + bytes(-len(data) % 64)


def columns(rows, listed, flags=0):
    """rag.columns of {path, or None for the tags: column(…), or None where it is not stored}."""
    names = b"".join((path or "").encode() for path in listed)
    at, entries, data, name_at = 64 + 64 * len(listed) + len(names), b"", b"", 0
    at += -at % 64
    for path, made in listed.items():
        size, marks = len((path or "").encode()), (path is None) + 2 * (made is None)
        marks, width, said, blob, held = made or (marks, 0, [0] * 5, 0, b"")
        marks |= path is None
        entries += struct.pack(
            "<4IQ6IQQ",
            name_at,
            size,
            marks,
            width,
            at + len(data) if made else 0,
            *said,
            0,
            blob,
            0,
        )
        name_at += size
        data += held
    head = struct.pack("<8sQIIQ32x", b"RAGCOLS1", rows, len(listed), flags, len(names))
    made = head + entries + names
    return made + bytes(-len(made) % 64) + data


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def long_list(postings, norms):
    """A list of one window: dense if the rows are close, with an escape for each inexact code."""
    parts = [tf / (tf + norms[row]) for row, tf in postings]
    m = next(m for m in range(256) if (m + 1) / 256 >= max(parts))
    scale = 255 * 256 / (m + 1)
    codes = [min(255, max(1, math.ceil(part * scale))) for part in parts]
    escapes = b""
    for i, (row, tf) in enumerate(postings):
        made = (min(255, max(1, math.ceil(t / (t + norms[row]) * scale))) for t in range(1, 256))
        if next((t for t, code in enumerate(made, 1) if code >= codes[i]), 255) != tf:
            escapes += struct.pack("<HI", i, tf)
    best = sorted(codes, reverse=True)
    head = bytes([m, best[9], best[99] if len(best) > 99 else 0, 0]) + struct.pack("<I", 1)
    is_dense = 12 * len(postings) >= len(norms)
    marks = len(escapes) // 6 * 2 + is_dense
    head += struct.pack("<HHI", 0, len(postings) - 1, marks | max(codes) << 24)
    if not is_dense:
        rows = struct.pack(f"<{len(postings)}H", *(row for row, _ in postings))
        return head + rows + bytes(codes) + escapes
    groups = [
        [i for i, (row, _) in enumerate(postings) if row // 64 == g]
        for g in range(-(-len(norms) // 64))
    ]
    bits = [sum(1 << postings[i][0] % 64 for i in group) for group in groups]
    before = [sum(map(len, groups[:g])) for g in range(len(groups))]
    most = [max((codes[i] for i in group), default=0) for group in groups]
    count = len(groups)
    head += struct.pack(f"<{count}Q{count}H", *bits, *before)
    return head + bytes(most) + bytes(codes) + escapes


LANGUAGES = (
    "analyzer=rag-words-3\nunicode=15.0.0\naccents=strip\nstemmer=english\nstop_words=english-1\n"
    "languages=1\n"
)


def lexicon(lengths, terms, fields, stops=None, config=None):
    """(rag.postings, rag.terms) of the lengths of rows and {term: [(row, tf), …]}, with k1 1.2 and b 0.75.

    `stops` are the stop words of a lexicon with positions.
    """
    config = config or (
        "analyzer=rag-words-1\nunicode=15.0.0\naccents=keep\nstemmer=none\nstop_words=none\n"
    )
    config = (config + f"fields={fields}\n").encode()
    if stops is not None:
        config = config.replace(b"=none\nf", b"==" + " ".join(sorted(stops)).encode() + b"\nf")
        config += b"positions=yes\n"
    average = sum(lengths) / len(lengths) if sum(lengths) else 1.0
    norms = [1.2 * (1 - 0.75) + (1.2 * 0.75 / average) * length for length in lengths]
    lists, words, keys, starts, last = b"", b"", b"", b"", b""
    for n, (term, postings) in enumerate(sorted((t.encode(), p) for t, p in terms.items())):
        if n % 16 == 0:
            starts += struct.pack("<I", len(words))
            keys += struct.pack("<Q", int.from_bytes(term[:8].ljust(8, b"\0"), "big"))
            words, last = words + struct.pack("<Q", len(lists)), b""
        same = zip(term, last, strict=False)
        shared = next((i for i, (x, y) in enumerate(same) if x != y), min(len(term), len(last)))
        words += bytes([shared, len(term) - shared]) + term[shared:] + varint(len(postings))
        last = term
        if len(postings) == 1:
            words += varint(postings[0][0]) + varint(postings[0][1])
            continue
        if len(postings) > 32:
            made = long_list(postings, norms)
        else:
            before = [0, *(row for row, _ in postings)]
            steps = [
                (2 * (row - at) + (tf > 1), tf)
                for (row, tf), at in zip(postings, before, strict=False)
            ]
            made = b"".join(varint(step) + (varint(tf) if step & 1 else b"") for step, tf in steps)
        lists, words = lists + made, words + varint(len(made))
    pad = lambda raw: raw + bytes(-len(raw) % 8)  # noqa: E731
    width = 1 if max(lengths) < 256 else 2
    count = sum(map(len, terms.values()))
    head = struct.pack(
        "<8s5Q2d2IQ2I40x", b"RAGLEX1", len(lengths), len(terms), sum(lengths), count, len(lists) + 64,
        1.2, 0.75, len(config), width, len(words), min(lengths), max(lengths),
    )  # fmt: skip
    said = struct.pack(f"<{len(lengths)}{' BH'[width]}", *lengths)
    parts = pad(head + config) + keys + pad(starts) + pad(words) + pad(said)
    return lists + bytes(64), parts + bytes(64)


def lexicons(rows, fields):
    """The sections of rows, which have a list of words for each of {field: weight}."""
    names, weights = list(fields), list(fields.values())
    said = ",".join(f"{name}:{weight}" for name, weight in fields.items())
    found = [("", [list(zip(weights, row, strict=True)) for row in rows], said)]
    for n in range(1, len(names)):
        found.append((f".{n}", [[(1, row[n])] for row in rows], f"{names[n]}:1"))
    sections = []
    for suffix, weighed, config in found:
        lengths = [sum(w * len(words) for w, words in row) for row in weighed]
        terms = {}
        for number, row in enumerate(weighed):
            for weight, words in row:
                for word in words:
                    counts = terms.setdefault(word, {})
                    counts[number] = counts.get(number, 0) + weight
        listed = {term: list(counts.items()) for term, counts in terms.items()}
        postings, dictionary = lexicon(lengths, listed, config)
        sections += [
            (f"rag.postings{suffix}", 1, 0, postings, len(rows)),
            (f"rag.terms{suffix}", 1, 0, dictionary, len(rows)),
        ]
    return sections


def title_key(*words):
    """The key of a title with these words."""
    return xxh(words[0].encode()) >> 32 << 32 | xxh(" ".join(words).encode()) & 0xFFFFFFFF


def code_of(weight):
    """The code of a weight that needs no rounding."""
    fraction, exponent = math.frexp(weight)
    code = (exponent + 15) * 2048 + int(fraction * 4096) - 2048
    assert fraction * 4096 == int(fraction * 4096)
    assert 0 <= code < 65536
    return code


def weights(rows, count=None):
    """The rag.sparse of rows of {term: weight}, the rest of `count` rows without any."""
    terms = sorted({term for row in rows.values() for term in row}, key=str.encode)
    names, ends, lists, list_ends, total = b"", [], b"", [], 0
    for term in terms:
        held = {row: code_of(all_[term]) for row, all_ in sorted(rows.items()) if term in all_}
        windows = sorted({row >> 16 for row in held})
        lists += struct.pack("<2H", max(held.values()), len(windows) - 1)
        for window in windows:
            here = {row & 65535: code for row, code in held.items() if row >> 16 == window}
            lists += struct.pack("<2H", window, len(here) - 1)
            lists += struct.pack(f"<{len(here)}H", *here) + struct.pack(
                f"<{len(here)}H", *here.values()
            )
        names += term.encode()
        ends.append(len(names))
        list_ends.append(len(lists) // 4)
        total += len(held)
    head = struct.pack(
        "<8s5Q16x", b"RAGSPW1", len(rows) if count is None else count, len(terms), total, len(names),
        len(lists) // 4,
    )  # fmt: skip
    directory = struct.pack(f"<{2 * len(terms)}I", *ends, *list_ends)
    return head + directory + names + bytes(-len(names) % 4) + lists + bytes(64), total


def titles(entries):
    """The rag.titles of (key, document)."""
    keys, numbers = zip(*entries, strict=True)
    return struct.pack(f"<{len(keys)}Q", *keys) + struct.pack(f"<{len(numbers)}I", *numbers)


def rice(value, low):
    return "0" * (value >> low) + "1" + (f"{value % 2**low:0{low}b}" if low else "")


def below(value, count):
    """The bits of one of `count` numbers."""
    if count == 1:
        return ""
    width = (count - 1).bit_length()
    shorter = 2**width - count
    low = (count - shorter) // 2
    if low <= value < low + shorter:
        return f"{value - low:0{width - 1}b}" if width > 1 else ""
    return f"{value + (2 * shorter if value < low else shorter):0{width}b}"


def places(found, first, end):
    """The bits of ascending numbers in [first, end)."""
    if not found:
        return ""
    half = len(found) // 2
    before, middle, after = found[:half], found[half], found[half + 1 :]
    here = below(middle - first - half, end - first - len(found) + 1)
    return here + places(before, first, middle) + places(after, middle + 1, end)


def in_bytes(bits):
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def place_list(held, words, is_stop):
    """The list of a word in {row: its numbers}, with `words` of each row."""
    mean = sum(map(len, held.values())) // len(held)
    low, can_lack = min(max(mean.bit_length() - 1, 0), 6), not all(held.values())
    head, groups, before, rows = bytes([low | can_lack << 3]), b"", 0, list(held)
    gaps = (len(words) // len(rows)).bit_length() - 1
    for i in range(0, len(rows), 64):
        group, bits = rows[i : i + 64], ""
        if is_stop:
            head += varint(group[0] - before)
            pairs = itertools.pairwise(group)
            bits = "".join(rice(b - a - 1, gaps) for a, b in pairs)
        before = group[0]
        for row in group:
            bits += rice(len(held[row]) - (not can_lack), low) + places(held[row], 0, words[row])
        made = in_bytes(bits)
        groups += made
        if i + 64 < len(rows):
            head += varint(len(made))
    return head + groups


def placed(rows, stops):
    """The sections of rows, lists of words, with rag.positions; and what it says."""
    told = {"terms": {}, "stop_words": {}}
    for row, words in enumerate(rows):
        for number, word in enumerate(words):
            kind = told["stop_words" if word in stops else "terms"]
            kind.setdefault(word, {}).setdefault(row, []).append(number)
    terms, stopped = (dict(sorted(told[name].items())) for name in ("terms", "stop_words"))
    lengths = [sum(word not in stops for word in words) for words in rows]
    listed = {
        term: [(row, len(numbers)) for row, numbers in held.items()] for term, held in terms.items()
    }
    postings, dictionary = lexicon(lengths, listed, "text:1", stops)
    words = [len(row) for row in rows]
    lists, starts, made = b"", b"", [place_list(held, words, False) for held in terms.values()]
    for i in range(0, len(made), 16):
        starts += struct.pack("<Q", len(lists))
        lists += b"".join(varint(len(one)) for one in made[i : i + 16]) + b"".join(made[i : i + 16])
    stops_at, entries = len(lists), b""
    for word, held in stopped.items():
        made = place_list(held, words, True)
        entries += bytes([len(word)]) + word.encode() + varint(len(held)) + varint(len(made))
        lists += made
    width = 1 if max(words) < 256 else 2
    head = struct.pack(
        "<8s4Q2IQ8x", b"RAGPOS1", len(rows), len(terms), len(lists), stops_at, len(stopped), width,
        len(entries),
    )  # fmt: skip
    pad = lambda raw: raw + bytes(-len(raw) % 8)  # noqa: E731
    section = head + starts + struct.pack(f"<{len(words)}{' BH'[width]}", *words)
    section = pad(pad(section) + entries) + lists + bytes(16)
    sections = [
        ("rag.postings", 1, 0, postings, len(rows)), ("rag.terms", 1, 0, dictionary, len(rows)),
        ("rag.positions", 1, 0, section, len(rows)),
    ]  # fmt: skip
    found = {
        name: {word: [[row, at] for row, at in held.items()] for word, held in kind.items()}
        for name, kind in (("terms", terms), ("stop_words", stopped))
    }
    return sections, found


def frequencies(terms, rows, length):
    """rag.frequencies (10.2) of {term: rows}, few enough for one block, with k1 1.2 and b 0.75."""
    config = b"analyzer=rag-words-1\nunicode=15.0.0\naccents=keep\nstemmer=none\nstop_words=none\n"
    config += b"fields=text:1\n"
    block, last = b"", b""
    for term, count in sorted((term.encode(), count) for term, count in terms.items()):
        same = zip(term, last, strict=False)
        shared = next((i for i, (x, y) in enumerate(same) if x != y), min(len(term), len(last)))
        block += bytes([shared, len(term) - shared]) + term[shared:] + varint(count)
        last = term
    first = min(term.encode() for term in terms)
    head = struct.pack(
        "<8s3Q2dQ2I", b"RAGFREQ1", len(terms), rows, length, 1.2, 0.75, 1, len(config), 0
    )
    made = head + config
    made += bytes(-len(made) % 8) + struct.pack(
        "<Q", int.from_bytes(first[:8].ljust(8, b"\0"), "big")
    )
    return made + bytes(-len(made) % 4096) + block.ljust(4096, b"\0")


def tombs(rows, count):
    return b"".join(
        struct.pack("<Q", sum(1 << r % 64 for r in rows if r // 64 == w))
        for w in range(-(-count // 64))
    )


def deleted(rows):
    return struct.pack(f"<{len(rows)}I", *rows)


class File:
    """A 1.0 file under construction, commit after commit."""

    def __init__(self):
        self.image, self.kept, self.segments, self.generation = handmade.Image(), [], {}, 0
        self.listed = []  # entries that a rag.sections lists

    def commit(
        self,
        sections,
        drops=(),
        rows=(),
        message="",
        created=0,
        garbage=b"",
        front=None,
        lie=None,
        lists=(),
        change_list=None,
        **footer,
    ):
        """Append a commit.

        sections are (name, segment, flags, bytes or function of the offset, items), rows are
        (segment, rows, live). lists are segments whose new sections rag.sections lists;
        change_list(its bytes, items, flags) may change it. lie(table) may change the table before
        it is sealed; footer holds deliberately wrong fields.
        """
        image, self.generation = self.image, self.generation + 1
        before = len(image.data)
        image.data += garbage + bytes(handmade.pad(before + len(garbage)))
        left = bytes(image.data[before:])
        table = handmade.Table(
            self.generation, len(image.data), created=created, message=message.encode()
        )
        table.abandoned = xxh(handmade.blocks(left)) if left else 0
        for name, segment, flags, content, items in sections:
            made = content(len(image.data)) if callable(content) else content
            at, size, digest = image.put(made)
            self.kept = [e for e in self.kept if (e.name, e.segment) != (name, segment)]
            self.kept.append(
                handmade.Entry(name, at, size, digest, segment, flags, items, self.generation)
            )
            if segment in lists and name == [s[0] for s in sections if s[1] == segment][-1]:
                self._put_list(segment, change_list or (lambda *given: given))
        self.kept = [e for e in self.kept if (e.name, e.segment) not in drops]
        for number, count, live in rows:
            first = self.segments.get(number, (0, 0, 0, self.generation))[3]
            self.segments[number] = (number, count, live, first)
        alive = {e.segment for e in self.kept}
        table.entries, table.segments = (
            [e for e in self.kept if e not in self.listed],
            [s for n, s in sorted(self.segments.items()) if n in alive],
        )
        table.listed = self.listed
        table.next_segment = max(self.segments, default=0) + 1
        if lie:
            lie(table)
        image.seal(table, front, **footer)
        return self

    def _put_list(self, segment, change):
        found = [e for e in self.kept if (e.segment, e.generation) == (segment, self.generation)]
        content, items, flags = change(section_list(found), len(found), 1)
        at, size, digest = self.image.put(content)
        self.listed += found
        held = (at, size, digest, segment, flags, items, self.generation)
        self.kept.append(handmade.Entry("rag.sections", *held))

    def bytes(self):
        return self.image.bytes()


def section_list(entries):
    """The bytes of rag.sections (2.8)."""
    names = b"".join(entry.name.encode() + b"\0" for entry in entries)
    head = struct.pack("<8s2I", b"RAGSECT1", len(entries), len(names))
    rows = (struct.pack("<3Q2I", e.size, e.items, e.hash, e.flags, 0) for e in entries)
    return head + b"".join(rows) + names


# ------------------------------------------------------------------------------------------------------------- links


def frame(body):
    """A Zstandard frame of 256 bytes or more: raw, the longest run of one byte, raw."""
    runs = [(len(list(run)), byte) for byte, run in itertools.groupby(body)]
    size, byte = max(runs)
    at = body.index(bytes([byte]) * size)
    parts = [
        (0, body[:at], at),
        (1, bytes([byte]), size),
        (0, body[at + size :], len(body) - at - size),
    ]
    out = bytes.fromhex("28b52ffd60") + struct.pack("<H", len(body) - 256)
    for i, (kind, held, count) in enumerate(parts):
        out += ((i == 2) | kind << 1 | count << 3).to_bytes(3, "little") + held
    return out


def links(edges, names=(), matrices=(), packed=None, **wrong):
    """graph or hypergraph of edges (document, kind, target, place, fragment, text); and what it says.

    `wrong` replaces numbers of the header.
    """
    texts = {text for _, kind, target, _, *labels in edges for text in (kind, target, *labels)}
    strings = sorted({*texts, *(name for name, _ in names)} - {None}, key=str.encode)
    number = {text: i for i, text in enumerate(strings)}
    kinds = sorted({number[kind] for _, kind, *_ in edges})
    body = b"".join(varint(len(text.encode())) + text.encode() for text in strings)
    body += b"".join(map(varint, kinds))
    listed = sorted((number[name], document) for name, document in names)
    for i, (string, document) in enumerate(listed):
        body += varint(string - (listed[i - 1][0] if i else 0)) + varint(document)
    sources = sorted({edge[0] for edge in edges})
    for i, source in enumerate(sources):
        body += varint(source - (sources[i - 1] + 1 if i else 0))
    body += b"".join(varint(sum(edge[0] == source for edge in edges)) for source in sources)
    for _, kind, _, *has in edges:
        flags = sum((one is not None) << bit for bit, one in enumerate(has))
        body += varint(flags + 8 * kinds.index(number[kind]))
    body += b"".join(varint(number[edge[2]]) for edge in edges)
    last = {}
    for document, _, _, place, *_ in edges:
        if place:
            body += varint(place[0] - last.get(document, 0))
            last[document] = place[0]
    body += b"".join(varint(edge[3][1]) for edge in edges if edge[3])
    for part in (4, 5):
        body += b"".join(varint(number[edge[part]]) for edge in edges if edge[part] is not None)
    for scope, bits, rows in matrices:
        body += varint(scope) + varint(len(rows[0])) + varint(bits)
    stored = body if packed is None else packed(body)
    head = {
        "raw": len(body), "stored": len(stored), "edges": len(edges), "strings": len(strings),
        "kinds": len(kinds), "sources": len(sources), "names": len(names), "matrices": len(matrices),
    } | wrong  # fmt: skip
    section = struct.pack("<8s3Q5I12x", b"RAGLINK1", *head.values()) + stored
    for _, bits, rows in matrices:
        section += bytes(-len(section) % 64)
        values = [value for row in rows for value in row]
        section += struct.pack(f"<{len(values)}{CODES[bits]}", *values)
    section += bytes(-len(section) % 64) if matrices else b""
    found = {
        "kinds": [strings[kind] for kind in kinds],
        "names": [[strings[string], document] for string, document in listed],
        "edges": [
            [document, kind, target, *(place or (None, None)), *labels]
            for document, kind, target, place, *labels in edges
        ],
    }
    return section, found
