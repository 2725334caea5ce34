"""The files that a reader must refuse: each breaks one rule at a known byte.

Checksums are valid unless they are the subject of the test.
"""

import dataclasses
import struct

from good_files import (
    DOCUMENTS,
    FILES,
    FREQUENT,
    NOTHING,
    ORIGIN,
    PAST,
    RICH,
    ROWS,
    SOME_VECTORS,
    TITLED,
    VECTORS,
    WEIGHTS,
    cluster_sections,
    hiding,
    linked,
    listed_file,
    merged_segments,
    remembering,
    rich_columns,
    segment,
    shadowed,
    weighed,
    whole_file,
    with_originals,
)
from oracles import handmade
from pieces import (
    File,
    Vector,
    column,
    columns,
    deleted,
    file_0,
    fine,
    frequencies,
    keys_section,
    keyword_section,
    lexicons,
    links,
    matrix,
    patched,
    placed,
    plain,
    sample,
    section_list,
    title_key,
    titles,
    tombs,
    vector_section,
    weights,
)
from shadows import TINY_ROW, Clusters, Planes, rows_of, shadow

PAIRS = [("AI", "alpha"), ("RAG", "beta"), ("NUL", "gaps")]


def bad(data, at, rule, note, kind="format", dim=None):
    return Vector(data, note, dim=dim, kind=kind, at=at, rule=rule)


def headers():
    yield "0-nothing", bad(b"", 0, "1.1", "no bytes")
    yield "0-magic", bad(b"RAGFILF\0\1\0\0\0", 0, "1.1", "another magic")
    yield "0-magic-short", bad(b"RAGF", 0, "1.1", "half a magic")
    yield "0-header-short", bad(b"RAGFILE\0\1\0", 10, "1.1", "the file ends inside its header")
    yield "0-major", bad(b"RAGFILE\2\0\0\0\0", 7, "1.1", "major version 2", "version")
    yield "0-order", bad(b"RAGFILE\0\1\0\2\0", 10, "1.1", "byte order 2")


def directories():
    good = file_0(
        [("keyword", keyword_section(PAIRS)), ("v", plain(b"12345"))]
    )  # keyword-(40,… at 11, v-(… behind it
    second = good.index(b"\0v-(") + 1
    first_end, end = second - 1, good.index(b"\0", second)

    def listing(text, at, rule, note, behind=b"", kind="format"):
        return bad(b"RAGFILE\0\1\0\0" + text + b"\0" + behind, at, rule, note, kind)

    yield "0-name-empty", listing(b"-(19,18)", 11, "1.1", "an entry without a name")
    yield "0-name-byte", listing(b"a b-(22,21)", 12, "1.1", "a space in a name")
    yield "0-name-long", listing(b"n" * 65 + b"-(90,89)", 75, "1.1", "a name of 65 bytes")
    yield "0-entry-bracket", listing(b"n-[20,19]", 13, "1.1", "another bracket")
    yield "0-number-none", listing(b"n-(,19)", 14, "1.1", "no number")
    yield "0-number-sign", listing(b"n-(+20,19)", 14, "1.1", "a sign")
    yield "0-number-21", listing(b"n-(%021d,39)" % 40, 34, "1.1", "a number of 21 digits")
    yield "0-number-2-64", listing(b"n-(20,18446744073709551616)", 17, "1.1", "2^64")
    yield (
        "0-directory-cut",
        bad(b"RAGFILE\0\1\0\0n-(20,", 17, "1.1", "the file ends inside its directory"),
    )
    yield (
        "0-first-start",
        listing(b"n-(15,19)", 11, "1.1.2", "the directory runs past the first start", b"xxxx"),
    )
    yield (
        "0-directory-size",
        listing(
            b"n-(65549,65548)", 11, "1.1.5", "a first start behind the largest directory", bytes(9)
        ),
    )
    yield "0-end-file", listing(b"n-(21,22)", 11, "1.1.4", "a section ends outside the file", b"x")
    yield "0-end-before", listing(b"n-(21,19)", 11, "1.1.4", "end is less than start - 1", b"x")
    yield (
        "0-name-twice",
        bad(
            file_0([("n", plain(b"1")), ("n", plain(b"2"))]),
            11 + len(b"n-(30,30)") + 1,
            "1.1.5",
            "a name twice",
        ),
    )
    yield (
        "0-entry-nul",
        bad(patched(good, (first_end, b" ")), first_end, "1.1.2", "no NUL between entries"),
    )
    yield (
        "0-directory-nul",
        bad(patched(good, (end, b"\1")), end, "1.1.2", "no NUL behind the directory"),
    )
    gap = len(good) - 6
    yield "0-section-nul", bad(patched(good, (gap, b"\1")), gap, "1.1.3", "no NUL between sections")
    hole = good.replace(b"v-(%d" % (gap + 1), b"v-(%d" % (gap + 2))
    yield "0-hole", bad(hole, second, "1.1.3", "a hole between two sections")
    overlap = good.replace(b"v-(%d" % (gap + 1), b"v-(%d" % gap)
    yield "0-overlap", bad(overlap, second, "1.1.3", "two sections without room for a NUL")


def keyword_pairs():
    good = file_0([("keyword", keyword_section(PAIRS))])
    s = good.index(b"\0", 11) + 1
    p = s + 17
    e = len(good) - 1

    def put(*patches):
        return patched(good, *patches)

    def number(value):
        return struct.pack("<Q", value)

    yield (
        "0-keyword-short",
        bad(
            file_0([("keyword", plain(bytes(16)))]),
            27 + 16,
            "1.2",
            "a section shorter than its preamble",
        ),
    )
    yield "0-keyword-padding", bad(put((s + 16, b"\5")), s + 16, "1.2.1", "padding 5")
    yield "0-keyword-start", bad(put((s, number(s + 16))), s, "1.2.1", "start inside the preamble")
    yield (
        "0-keyword-start-far",
        bad(put((s, number(e + 2))), s, "1.2.1", "start behind the section"),
    )
    yield (
        "0-keyword-end",
        bad(put((s + 8, number(e + 1))), s + 8, "1.2.1", "end behind the section"),
    )
    yield (
        "0-keyword-end-before",
        bad(put((s + 8, number(p - 2))), s + 8, "1.2.1", "end is less than start - 1"),
    )
    yield (
        "0-keyword-end-max",
        bad(put((s + 8, number(2**64 - 1))), s + 8, "1.2.1", "end is 2^64 - 1"),
    )
    yield "0-no-dash", bad(put((p + 2, b"+")), p, "1.2.4", "a pair without -")
    nul = good.index(b"\0", p)
    yield "0-nuls-few", bad(put((nul + 3, b"x")), nul, "1.2.4", "three NULs of four")
    yield "0-nuls-many", bad(put((nul + 4, b"\0")), nul, "1.2.4", "five NULs of four")
    yield "0-nul-first", bad(put((p, b"\0")), p, "1.2.4", "a NUL before the first pair")
    yield "0-nul-last", bad(put((e, b"\0")), e, "1.2.4", "a NUL behind the last pair")
    yield "0-nul-keyword", bad(put((nul + 5, b"\0")), nul + 4, "1.2.4", "a NUL in a keyword")
    yield "0-utf-8", bad(put((p + 4, b"\xff")), p + 4, "1.2.5", "a content that is not UTF-8")
    yield (
        "0-utf-8-surrogate",
        bad(put((p + 4, b"\xed\xa0\x80")), p + 4, "1.2.5", "a surrogate in UTF-8"),
    )
    yield "0-utf-8-keyword", bad(put((p, b"\xc0\x80")), p, "1.2.5", "an overlong form in a keyword")


def vector_pairs():
    for name, big in (("little", False), ("big", True)):
        rows = [(row, f"r{i}") for i, (row, _) in enumerate(ROWS)]
        good = file_0([("vector", vector_section(rows, 32, 8, big))], big)
        s = good.index(b"\0", 11) + 1
        first, order = s + 50, "<>"[big]
        gap = first + 16 + 3

        def put(at, code, value, good=good, order=order):
            return patched(good, (at, struct.pack(order + code, value)))

        yield f"0-precision-{name}", bad(put(s, "B", 24), s, "1.3.1", "precision 24")
        yield f"0-dim-{name}", bad(put(s + 22, "I", 0), s + 22, "1.4", "dimension 0")
        yield (
            f"0-stride-{name}",
            bad(put(s + 34, "I", 28), s + 26, "1.4", "count and stride do not fit the length"),
        )
        yield f"0-count-{name}", bad(put(s + 26, "Q", 0), s + 26, "1.4", "count 0 with pairs")
        harmed = patched(good, (s + 34, bytes(4)), (s + 26, struct.pack(order + "Q", 2)))
        yield (
            f"0-count-walk-{name}",
            bad(harmed, first, "1.4", "three pairs where the block says two"),
        )
        yield (
            f"0-hash-{name}",
            bad(put(s + 42, "Q", 1), s + 42, "1.4", "pairs differ from their hash", "corrupt"),
        )
        yield (
            f"0-embedding-{name}",
            bad(put(first + 16, "B", 0x2C), first, "1.3.3", "no - behind an embedding"),
        )
        yield f"0-gap-{name}", bad(put(gap + 7, "B", 1), gap, "1.3.3", "seven NULs of eight")
        harmed = put(first + 54 + 16, "B", 0)
        yield (
            f"0-embedding-last-{name}",
            bad(harmed, first + 54, "1.3.3", "no - behind the last embedding"),
        )
    short = file_0([("vector", plain(bytes([32]) + bytes(16)))])
    yield "0-vector-short", bad(short, len(short), "1.3", "a section shorter than its preamble")
    row = [([1.0, 2.0], "x-y"), ([3.0, 4.0], "z-")]
    data = file_0([("vector", vector_section(row, 8 * 8, 4, extended=False))])
    yield (
        "0-dim-wrong",
        bad(data, data.index(b"\0", 11) + 1 + 18, "1.3.3", "a dimension that does not fit", dim=3),
    )
    swallow = [([1], "---a"), ([2], "---b")]
    data = file_0([("vector", vector_section(swallow, 8, 4, extended=False))])
    yield (
        "0-dim-several",
        bad(data, 26 + 18, "1.3", "several dimensions fit, and nobody says which"),
    )
    data = file_0([("vector", vector_section([([1.0], "x")], extended=False))])
    at = data.index(b"\0", 11) + 1 + 18
    yield "0-dim-none", bad(patched(data, (at + 4, b"+")), at, "1.3", "no dimension fits")
    data = file_0([("vector", vector_section([([1.0, 2.0], "a"), ([1.0, 2.0], "b\0")]))])
    yield "0-vector-nul-last", bad(data, len(data) - 1, "1.3.3", "a NUL behind the last pair")


def companions():
    def made(**lies):
        data = file_0(
            [("keyword", keyword_section(PAIRS)), ("rag.keys", keys_section(PAIRS, **lies))]
        )
        return data, data.index(b"RXK1")

    for name, off, lies, note in (
        ("size", 4, {"size": 24}, "entries of 24 bytes"),
        ("count", 8, {"count": 4}, "more entries than bytes"),
        ("count-few", 8, {"count": 2}, "not one entry per pair"),
        ("length", 16, {"length": 5}, "made for another keyword section"),
        ("hash", 24, {"hash": 5}, "entries differ from their hash"),
    ):
        data, at = made(**lies)
        yield (
            f"0-keys-{name}",
            bad(data, at + off, "1.5", note, "corrupt" if name == "hash" else "format"),
        )
    good, at = made()
    entries = [good[at + 32 + 16 * i : at + 48 + 16 * i] for i in range(3)]
    for name, new, where, note in (
        ("order", [entries[1], entries[0], entries[2]], 1, "entries do not ascend"),
        ("twice", [entries[0], entries[0], entries[2]], 1, "a pair listed twice"),
        (
            "offset",
            [entries[0][:8] + struct.pack("<Q", 1), *entries[1:]],
            0,
            "an entry points inside a pair",
        ),
        (
            "prefix",
            [b"AJ" + entries[0][2:], *entries[1:]],
            0,
            "an entry has another keyword than its pair",
        ),
    ):
        data, at = made(entries=b"".join(new))
        yield f"0-keys-{name}", bad(data, at + 32 + 16 * where, "1.5", note)
    data, at = made()
    yield "0-keys-magic", bad(patched(data, (at, b"RXK2")), at, "1.5", "no RXK1")
    data = file_0([("rag.keys", keys_section([]))])
    yield "0-keys-alone", bad(data, data.index(b"RXK1"), "1.5", "rag.keys without keyword")


# --------------------------------------------------------------------------------------------------------------- 1.0


def one(lie=None, sections=None, rows=(), **options):
    return (
        File()
        .commit(
            sections or [("foo", 0, 0, b"hello", 0), ("bar", 0, 0, b"hi", 0)],
            rows=rows,
            lie=lie,
            **options,
        )
        .bytes()
    )


def resealed(data, *patches):
    """Return the bytes with patches in the front page, and a valid hash of it."""
    data = patched(data, *patches)
    return patched(data, (4080, struct.pack("<Q", handmade.xxh(data[:4080]))))


def fronts():
    good = one()
    yield "1-front-cut", bad(good[:4000], 4000, "2.1", "the file ends inside its front page")
    yield "1-front-order", bad(resealed(good, (10, b"\1")), 10, "2.1", "a big-endian 1.0 file")
    yield "1-front-magic", bad(resealed(good, (3968, b"RAGHEAD2")), 3968, "2.1", "no RAGHEAD1")
    yield (
        "1-front-hash",
        bad(
            patched(good, (4024, b"\1")),
            4080,
            "2.1",
            "the front page differs from its hash",
            "corrupt",
        ),
    )
    yield (
        "1-front-feature",
        bad(
            resealed(good, (3976, b"\2")),
            3976,
            "2.1",
            "a read feature that nobody knows",
            "version",
        ),
    )
    yield (
        "1-front-zero",
        bad(resealed(good, (4040, b"\1")), 4040, "2.1", "a reserved byte that is not zero"),
    )
    yield (
        "1-front-footer",
        bad(resealed(good, (4016, b"\1")), 4016, "2.1", "the base's footer at no multiple of 64"),
    )
    yield (
        "1-front-directory",
        bad(resealed(good, (100, b"x")), 100, "2.1", "the directory contradicts the table"),
    )
    yield (
        "1-no-commit",
        bad(
            patched(good, (len(good) - 40, b"\xff")),
            len(good) - 64,
            "2.5",
            "no commit holds",
            "corrupt",
        ),
    )


def tables():
    toc = len(one()) - 64 - 256  # 64 + 2 entries of 64 + names: 256 with padding
    entry, second = toc + 64, toc + 128

    def lie(**fields):
        def change(table):
            for key, value in fields.items():
                setattr(table, key, value)

        return change

    def lie_entry(number, **fields):
        def change(table):
            for key, value in fields.items():
                setattr(table.entries[number], key, value)

        return change

    yield (
        "1-toc-generation",
        bad(
            one(lie(generation=2), generation=1),
            toc + 8,
            "2.3",
            "table and footer of different generations",
        ),
    )
    yield (
        "1-toc-count",
        bad(
            one(lie(counts={"names": 9})),
            toc,
            "2.3",
            "the table's size is not the sum of its parts",
        ),
    )
    yield (
        "1-toc-start",
        bad(one(lie(start=4160)), toc + 40, "2.3", "the base does not start at 4096"),
    )
    yield "1-toc-next", bad(one(lie(next_segment=0)), toc + 48, "2.3", "next segment number 0")
    yield "1-toc-name", bad(one(lie(names=b"f-o\0bar\0")), entry + 8, "2.3", "a name that is none")
    yield (
        "1-toc-name-order",
        bad(one(lie(name_offsets=[4, 0])), entry + 8, "2.3", "names not in order of entries"),
    )
    yield (
        "1-toc-name-left",
        bad(one(lie(names=b"foo\0bar\0baz\0")), toc + 32, "2.3", "a name too many"),
    )
    yield "1-toc-twice", bad(one(lie(names=b"foo\0foo\0")), second, "2.3", "a section twice")
    yield (
        "1-toc-flag",
        bad(one(lie_entry(1, flags=4)), second, "2.3", "a flag that is not defined", "version"),
    )
    yield (
        "1-toc-must",
        bad(
            one(lie_entry(1, flags=1)),
            second,
            "2.3",
            "a must-understand section that nobody knows",
            "version",
        ),
    )
    yield (
        "1-toc-zero",
        bad(one(lie_entry(1, zero=1)), second, "2.3", "a reserved field that is not zero"),
    )
    yield (
        "1-toc-unaligned",
        bad(one(lie_entry(1, at=4161)), second, "2.3", "an extent at no multiple of 64"),
    )
    yield (
        "1-toc-overlap",
        bad(one(lie_entry(1, at=4096)), second, "2.3", "two extents in one place"),
    )
    yield (
        "1-toc-front",
        bad(one(lie_entry(0, at=64)), entry, "2.3", "an extent inside the front page"),
    )
    yield (
        "1-toc-far",
        bad(one(lie_entry(1, size=2**40)), second, "2.3", "an extent beyond the table"),
    )
    yield (
        "1-toc-huge",
        bad(one(lie_entry(1, size=2**64 - 1)), second, "2.3", "an extent of 2^64 bytes"),
    )
    yield (
        "1-toc-later",
        bad(one(lie_entry(1, generation=2)), second, "2.3", "a section of a later generation"),
    )
    yield (
        "1-toc-items",
        bad(one(lie_entry(1, items=2**40 + 1)), second, "2.3", "more than 2^40 items"),
    )
    yield (
        "1-toc-segment",
        bad(one(lie_entry(1, segment=1)), second, "2.3", "a segment that is not listed"),
    )
    hole = one(lambda table: table.entries.pop(0))
    yield "1-hole", bad(hole, 4096, "2.2", "an extent that no entry lists")


def segments():
    sections = [("rag.tombs", 1, 0, tombs([1], 3), 1), ("x", 2, 0, b"", 0)]

    def made(rows, **more):
        return one(
            lambda table: [
                setattr(table, "segments", rows),
                *(setattr(table, k, v) for k, v in more.items()),
            ],
            sections,
        )

    at = 4096 + 128 + 64 + 64 * 2
    good = [(1, 3, 2, 1), (2, 0, 0, 1)]
    named = {"next_segment": 3}
    assert File().commit(sections, rows=[(1, 3, 2), (2, 0, 0)]).bytes() == made(good, **named)
    yield (
        "1-segment-order",
        bad(
            made([(2, 0, 0, 1), (1, 3, 2, 1)], **named),
            at + 32,
            "2.3",
            "segment numbers do not ascend",
        ),
    )
    yield (
        "1-segment-next",
        bad(made(good, next_segment=2), at + 32, "2.3", "a segment number that is yet to come"),
    )
    yield (
        "1-segment-rows",
        bad(
            made([(1, 2**40 + 1, 2**40, 1), good[1]], **named), at + 8, "2.3", "more than 2^40 rows"
        ),
    )
    yield (
        "1-segment-live",
        bad(made([(1, 3, 4, 1), good[1]], **named), at + 8, "2.3", "more live rows than rows"),
    )
    yield (
        "1-segment-later",
        bad(
            made([(1, 3, 2, 2), good[1]], **named),
            at + 24,
            "2.3",
            "a segment of a later generation",
        ),
    )
    yield (
        "1-segment-tombs",
        bad(
            made([(1, 3, 1, 1), good[1]], **named),
            at,
            "2.3",
            "rows minus live rows is not the number of tombs",
        ),
    )
    yield (
        "1-segment-bitmap",
        bad(made([(1, 65, 64, 1), good[1]], **named), at, "2.3", "a bitmap of another size"),
    )
    wrong = [("rag.tombs", 1, 0, tombs([1, 2], 3), 1)]
    yield (
        "1-tombs-bits",
        bad(one(None, wrong, [(1, 3, 2)]), 4096, "2.3", "two bits where the entry says one"),
    )
    wrong = [("rag.tombs", 1, 0, tombs([5], 64), 1)]
    yield (
        "1-tombs-behind",
        bad(one(None, wrong, [(1, 3, 2)]), 4096, "2.3", "a bit behind the last row"),
    )
    yield from deleted_rows()


def deleted_rows():
    def made(listed, live=3, items=2, flags=1):
        wrong = [("rag.tombs", 1, 0, tombs([1], 6), 1), ("rag.deleted", 1, flags, listed, items)]
        return one(None, wrong, [(1, 6, live)])

    at = 4096 + 64
    table = at + 64
    entry, segment = table + 64 + 64, table + 64 + 128
    yield "1-deleted-order", bad(made(deleted([2, 2])), at + 4, "2.3", "rows that do not ascend")
    yield "1-deleted-behind", bad(made(deleted([2, 6])), at + 4, "2.3", "a row behind the last one")
    yield "1-deleted-both", bad(made(deleted([1, 2])), at, "2.3", "a row that the bitmap has, too")
    yield (
        "1-deleted-size",
        bad(made(deleted([2, 3, 4])), segment, "2.3", "three rows where the entry counts two"),
    )
    yield (
        "1-deleted-flag",
        bad(made(deleted([2, 3]), flags=0), entry, "2.3", "a list that readers may skip"),
    )


def extents():
    good = one()
    yield (
        "1-block",
        bad(patched(good, (4098, b"X")), 4096, "2.2", "a block differs from its hash", "corrupt"),
    )
    yield (
        "1-block-hash",
        bad(
            patched(good, (4104, b"X")),
            4096,
            "2.2",
            "block hashes differ from their hash",
            "corrupt",
        ),
    )
    yield (
        "1-padding",
        bad(patched(good, (4103, b"X")), 4103, "2.2", "padding behind a section that is not zero"),
    )
    yield (
        "1-padding-end",
        bad(
            patched(good, (4159, b"X")), 4159, "2.2", "padding behind block hashes that is not zero"
        ),
    )


def chains():
    def two(lie=None, **options):
        file = File().commit([("foo", 0, 0, b"hello", 0)])
        return file.commit([("bar", 0, 0, b"hi", 0)], lie=lie, **options).bytes()

    good = two()
    start = good.rindex(b"RAGTOC01") - 64
    toc = start + 64

    def moved(table):
        table.entries[0].at, table.entries[0].generation = 4096, 2

    yield (
        "1-generation-place",
        bad(two(moved), toc + 64, "2.3", "an extent of this generation before its start"),
    )
    old = two(lambda table: setattr(table.entries[1], "generation", 1))
    yield (
        "1-generation-old",
        bad(old, toc + 128, "2.3", "an older section behind the commit's start"),
    )
    early = two(lambda table: setattr(table, "start", 4096))
    yield (
        "1-start-early",
        bad(early, toc + 40, "2.3", "a commit that starts before the footer of the one before"),
    )
    kept = two(lambda table: setattr(table.entries[0], "items", 9))
    yield "1-kept", bad(kept, toc + 64, "2.3", "a section that is not the one its commit wrote")
    left = two(garbage=b"left behind")
    changed = patched(left, (left.index(b"left behind"), b"L"))
    yield (
        "1-abandoned",
        bad(
            changed,
            left.index(b"left behind") // 64 * 64,
            "2.5",
            "abandoned bytes have changed",
            "corrupt",
        ),
    )
    base = good.index(b"RAGCOMIT")
    yield (
        "1-chain",
        bad(
            patched(good, (base + 56, b"\xff\xff")),
            base,
            "2.4",
            "the base's footer is broken",
            "corrupt",
        ),
    )
    table = good.index(b"RAGTOC01")
    yield (
        "1-chain-table",
        bad(
            patched(good, (table + 16, b"\1")),
            table,
            "2.4",
            "the base's table is broken",
            "corrupt",
        ),
    )


def rows():
    def made(*patches):
        """A segment of vectors whose section was changed before it was hashed."""
        make, many = matrix(VECTORS), len(VECTORS)
        return (
            File()
            .commit(
                [("vector", 1, 0, lambda at: patched(make(at), *patches), many)],
                rows=[(1, many, many)],
            )
            .bytes()
        )

    yield "1-vector-dash", bad(made((64 + 12, b"+")), 4160, "1.3.3", "no - behind a vector")
    yield "1-vector-dim", bad(made((22, bytes(4))), 4096 + 22, "3.1", "dimension 0")
    yield "1-vector-bits", bad(made((0, b"\x40")), 4096 + 22, "3.1", "precision 64")
    yield (
        "1-vector-count",
        bad(made((26, b"\4")), 4096 + 26, "3.1", "count and size contradict each other"),
    )
    yield "1-vector-padding", bad(made((17, b"\x08")), 4096, "3.1", "padding 8")
    yield "1-vector-flags", bad(made((38, b"\1")), 4096, "3.1", "flags that are not zero")
    yield "1-vector-start", bad(made((1, b"\x41")), 4096, "3.1", "rows that start elsewhere")


def documents():
    """Sections of 3.2 to 3.4; the specification names no offsets for these."""

    def made(name, change, note, rule):
        sections = [
            (n, s, f, change(d) if n == name else d, i) for n, s, f, d, i in segment(1, DOCUMENTS)
        ]
        return bad(File().commit(sections, rows=[(1, 5, 5)]).bytes(), None, rule, note)

    def put(*patches):
        return lambda data: patched(data, *patches)

    def behind(at, new):
        return lambda data: patched(data, (len(data) + at, new))

    yield "1-ids-count", made("rag.ids", put((0, b"\3")), "fewer ids than documents", "3.2")
    yield "1-ids-descend", made("rag.ids", put((16, b"\xff")), "offsets that descend", "3.2")
    yield "1-chunks-half", made("rag.chunks", lambda data: data[:-1], "half a chunk record", "3.3")
    yield (
        "1-chunk-range",
        made("rag.chunks", put((12, b"\0\0\0\1")), "a chunk that reaches behind the stream", "3.3"),
    )
    yield (
        "1-document-text",
        made("rag.documents", put((8, b"\xff")), "a text longer than its blob", "3.3"),
    )
    yield (
        "1-document-rows",
        made("rag.documents", put((40, b"\xff")), "more rows than the segment has", "3.3"),
    )
    yield "1-meta-json", made("rag.meta", put((0, b"[")), "metadata that is no JSON", "3.4")
    yield (
        "1-meta-kind",
        made(
            "rag.meta",
            lambda data: data.replace(b'"source": "a.md"', b'"source": 123456'),
            "a source that is no text",
            "3.4",
        ),
    )
    for name, fields, note in (
        (
            "overlap",
            {"original": [[["a", "te", 0], ["b", "xt", 1]]]},
            "edits that overlap, and of another text",
        ),
        ("behind", {"original": [[["a", "", 5]]]}, "an edit behind the text"),
        ("all", {"original": [[["a", "te"]]]}, "every place of two characters"),
        ("layers", {"original": [[]] * 9}, "nine layers of edits"),
        ("body", {"body": 5}, "a body that begins behind the text"),
        ("body-kind", {"body": True}, "a body that is no number"),
    ):
        held = segment(1, {"o": ("text", fields, [(0, (0, 4), None)])})
        yield (
            f"1-original-{name}",
            bad(File().commit(held, rows=[(1, 1, 1)]).bytes(), None, "3.4", note),
        )
    yield "1-stream-magic", made("rag.text", behind(-64, b"R_G"), "no trailer", "3.4")
    yield (
        "1-stream-size",
        made(
            "rag.text", behind(-56, b"\0\0\1"), "raw size and blocks contradict each other", "3.4"
        ),
    )
    yield (
        "1-stream-block",
        made("rag.text", behind(-48, b"\1\0\0\1"), "blocks of more than 16 MiB", "3.4"),
    )
    yield (
        "1-stream-end",
        made("rag.text", behind(-72, b"\xff\xff"), "a block that ends outside the section", "3.4"),
    )
    long = {"d": ("a" * 200, None, [(0, (0, 200), None)])}
    sections = segment(1, long, pack=True)
    name, number, flags, text, items = sections[0]
    sections[0] = (name, number, flags, patched(text, (5, b"\xc7")), items)
    data = File().commit(sections, rows=[(1, 1, 1)]).bytes()
    yield "1-frame-size", bad(data, None, "3.4", "a frame of another size than its block")


def samples():
    good = sample(DOCUMENTS, VECTORS, 3)

    def made(name, section, note):
        held = [*segment(1, DOCUMENTS, VECTORS), ("rag.sample", 1, 0, section, 3)]
        data = File().commit(held, rows=[(1, 5, 5)]).bytes()
        return f"1-sample-{name}", bad(data, None, "3.6", note)

    yield made("magic", patched(good, (0, b"r")), "no RAGSAMP1")
    yield made("count", patched(good, (8, b"\4")), "more entries than its size")
    yield made("dim", patched(good, (16, b"\4")), "another dimension than the vectors")
    yield made("zero", patched(good, (30, b"\1")), "a reserved byte")
    yield made("row", patched(good, (64 + 24, b"\5")), "a row that is not there")
    swapped = good[72:80] + good[64:72]
    yield made("order", patched(good, (64, swapped)), "hashes that descend")
    yield made("twice", patched(good, (64 + 32, good[64 + 24 : 64 + 32])), "a row twice")
    yield made("vector", patched(good, (len(good) - 1, b"\x7e")), "another vector than the row's")
    first = min(range(5), key=lambda row: sample(DOCUMENTS, VECTORS, 1)[72] != row)
    left_out = sample(DOCUMENTS, VECTORS, 3, leave_out=[first])
    yield made("left-out", left_out, "without the row that comes first")


def titles_of_documents():
    lilu, both = title_key("lilu"), title_key("lilu", "mythology")
    entries = sorted([(both, 0), (lilu, 0), (lilu, 1)])

    def made(name, note, part, items=3):
        held = [*segment(1, TITLED), ("rag.titles", 1, 0, part, items)]
        data = File().commit(held, rows=[(1, 3, 3)]).bytes()
        return f"1-titles-{name}", bad(data, None, "3.13", note)

    yield made("size", "a byte more than its titles take", titles(entries) + b"\0")
    yield made("none", "no title at all", b"", 0)
    yield made("order", "keys that descend", titles(entries[::-1]))
    yield made("twice", "a document twice with one key", titles([entries[0], *entries]), 4)
    yield made("document", "a document that is not there", titles([*entries[:2], (2**64 - 1, 3)]))
    yield made("other", "another title than the document's", titles([*entries[:2], (2**64 - 1, 2)]))


def weights_of_terms():
    """Four terms: ##ing, fox, größe and red, whose list is the last and has rows 0 and 2."""
    good, count = weights(WEIGHTS, 5)
    lists = len(good) - 64 - 4 * (3 * 3 + 4)
    red = lists + 4 * 3 * 3

    def made(case, note, *patches, cut=0, items=count):
        data = patched(good, *patches)[: len(good) - cut]
        return f"1-sparse-{case}", bad(weighed(data, items), None, "14.2", note)

    yield made("magic", "no RAGSPW1", (0, b"r"))
    yield made("short", "half a header", cut=len(good) - 64)
    yield made("items", "another number of items", items=6)
    yield made("zero", "a reserved byte", (63, b"\1"))
    yield made("rows", "another number of rows than the segment's", (8, b"\4"))
    yield made("terms", "more terms than the section has room for", (16, b"\xff"))
    yield made("names", "names of 4 GiB", (36, b"\1"))
    yield made("lists", "lists of 16 GiB", (44, b"\1"))
    yield made("fill", "a section of another size", cut=4)
    yield made("name-none", "a term without bytes", (64, b"\0"))
    yield made("name-end", "names that end before their part", (64 + 12, b"\x11"))
    yield made("list-none", "a list without words", (64 + 16, b"\0"))
    yield made("list-end", "lists that end before their part", (64 + 28, b"\x0c"))
    yield made("order", "terms that do not ascend", (96, b"z"))
    yield made("utf-8", "a term that is not UTF-8", (96, b"\xff"))
    yield made("nul", "a term with a NUL", (98, b"\0"))
    yield made("largest", "another code than the largest", (lists, b"\1"))
    yield made("containers", "more containers than the list has", (lists + 2, b"\1"))
    yield made("container", "a container that ends after its list", (lists + 6, b"\1"))
    yield made("filled", "a list that its container does not fill", (red + 6, b"\0"))
    yield made("row", "a weight of a row that is not there", (lists + 8, b"\5"))
    yield made("window", "a window that is not there", (lists + 4, b"\1"))
    yield made("row-order", "rows that do not ascend", (red + 8, b"\2"))
    yield made("count", "another number of weights", (24, b"\6"), items=6)


def bares():
    bits = tombs([1, 4], 5)

    def made(name, note, *, vectors=SOME_VECTORS, part=bits, items=2, more=(), rule="3.9"):
        held = [*segment(1, DOCUMENTS, vectors), ("rag.bare", 1, 1, part, items), *more]
        data = File().commit(held, rows=[(1, 5, 5)]).bytes()
        return f"1-bare-{name}", bad(data, None, rule, note)

    yield made("size", "a bitmap that is too long", part=bits + bytes(8))
    yield made("after", "a bit after the last row", part=tombs([1, 4, 9], 10), items=3)
    yield made("items", "another number of items than of bits", items=1)
    yield made("none", "no bit at all", vectors=VECTORS, part=tombs([], 5), items=0)
    yield made("vector", "a row without a vector that has components", vectors=VECTORS)
    unsaid = [*SOME_VECTORS[:2], NOTHING, *SOME_VECTORS[3:]]
    yield made("unsaid", "a row of NaN that is not named", vectors=unsaid, rule="3.1")
    yield made("missing", "rows with a vector, and no vectors", vectors=None)
    part = sample(DOCUMENTS, SOME_VECTORS, 4, leave_out=[4])
    more = [("rag.sample", 1, 0, part, 4)]
    yield made("sample", "a sample with a row without a vector", more=more, rule="3.6")


def fines():
    held = segment(1, DOCUMENTS, VECTORS)
    names = ("rag.text", "rag.chunks")
    good = fine(held, names)

    def made(name, section, at, note):
        data = File().commit([*held, ("rag.fine", 1, 0, section, 2)], rows=[(1, 5, 5)]).bytes()
        place = None if at is None else data.index(section) + at
        return f"1-fine-{name}", bad(data, place, "3.7", note)

    def spoilt(change):
        return fine(held, names, change=change)

    yield made("magic", patched(good, (0, b"r")), 0, "no RAGFINE1")
    yield made("grain", patched(good, (8, b"\1")), 8, "a grain that is no power of two")
    yield made("grain-small", patched(good, (8, b"\0\1")), 8, "a grain of 256 bytes")
    yield made("count", patched(good, (12, b"\xff")), 12, "more sections than its size")
    yield made("zero", patched(good, (40, b"\1")), None, "a reserved byte")
    yield made("first", patched(good, (64 + 32 + 16, b"\x7f")), 64 + 32 + 16, "another first sum")
    yield made("order", spoilt(lambda entries, _: entries.reverse()), None, "sections that descend")
    yield made("cut", good[:-8], None, "a sum less")
    yield made("more", good + bytes(8), 12, "a sum more")
    yield made("sum", patched(good, (len(good) - 1, b"\x7e")), None, "another sum than the grain's")


def columns_of_metadata():
    good = columns(4, rich_columns())
    at = good.index(struct.pack("<d", -0.5))

    def made(name, section, note):
        held = [*segment(1, RICH), ("rag.columns", 1, 0, section, 4)]
        data = File().commit(held, rows=[(1, 4, 4)]).bytes()
        return f"1-columns-{name}", bad(data, None, "3.8", note)

    def changed(**others):
        return columns(4, {**rich_columns(), **others})

    yield made("magic", patched(good, (7, b"2")), "no RAGCOLS1")
    yield made("rows", patched(good, (8, b"\5")), "another number of rows")
    yield made("count", patched(good, (16, b"\xff\xff\xff\xff")), "more columns than can be")
    yield made("flag", patched(good, (20, b"\2")), "a flag of the head")
    yield made("names", patched(good, (24, b"\xff" * 8)), "names outside the section")
    yield made("zero", patched(good, (33, b"\1")), "a reserved byte")
    yield made("entry-flag", patched(good, (64 + 8, b"\x09")), "a flag of an entry")
    yield made("width", patched(good, (64 + 12, b"\3")), "codes of three bytes")
    yield made("place", patched(good, (64 + 16, b"\0")), "a column that lies elsewhere")
    yield made("values", patched(good, (64 + 32, b"\xff\xff\xff\x0f")), "more values than bytes")
    yield made("blob", patched(good, (64 + 55, b"\x80")), "bytes beyond all sizes")
    yield made("absent", patched(good, (128 + 12, b"\1")), "a column that is not stored, and is")
    names = list(rich_columns().items())
    swapped = columns(4, dict([names[0], names[2], names[1], *names[3:]]))
    yield made("order", swapped, "names that descend")
    short = columns(4, dict(names[:-1]))
    yield made("unlisted", short, "a path that is not listed")
    yield made("number", patched(good, (at, struct.pack("<d", -0.75))), "another number")
    yield made("code", changed(flag=column([None, False], [0, 0, 1, 2])), "codes of other rows")
    lied = column([None, False], [0, 0, 2, 1], zones=struct.pack("<II", 1, 2))
    yield made("zone", changed(flag=lied), "a zone of other codes")
    yield made("more", changed(**{"zz": column(["q"], [1, 0, 0, 0])}), "a path that no row has")
    yield made(
        "unused", changed(**{"deep.k": column(["y", "z"], [2, 0, 0, 0])}), "a value of no row"
    )
    yield made("end", good + bytes(64), "bytes after the last column")


def shadow_maker(name, rule, kind, rows):
    def made(case, section, note, as_kind="format"):
        held = shadowed(kind, section, rows)
        data = File().commit(held, rows=[(1, len(rows), len(rows))]).bytes()
        return f"1-{name}-{case}", bad(data, None, rule, note, as_kind)

    return made


def shadow_heads(made, good):
    """The checks that both kinds share."""
    yield made("magic", patched(good, (0, b"r")), "another magic")
    yield made("version", patched(good, (8, b"\2")), "version 2", "version")
    yield made("dim", patched(good, (12, b"\x4d")), "another dimension than the vectors")
    yield made("rows", patched(good, (16, b"\3")), "another number of rows")
    yield made("group", patched(good, (24, b"\x11")), "groups of 17 rows")
    yield made("group-none", patched(good, (24, b"\0")), "groups of no rows")
    yield made("zero", patched(good, (40, b"\1")), "a reserved byte")
    yield made("cut", good[:-64], "64 bytes less than its rows")
    yield made("more", good + bytes(64), "64 bytes more than its rows")
    yield made("last", patched(good, (len(good) - 1, b"\1")), "a byte of the last 64")


def lowered(data, at):
    return patched(data, (at, struct.pack("<f", struct.unpack_from("<f", data, at)[0] / 2)))


def plain_shadows():
    rows = rows_of(18, 13)
    good = shadow(rows)
    made = shadow_maker("shadow", "4.2", "rag.shadow", rows)
    meta, codes, second = 64 + 128, 64 + 128 + 192, 64 + 128 + 192 + 16 * 28
    yield from shadow_heads(made, good)
    yield made("rest", lowered(good, meta + 64), "a row further from its 4 bits than it says")
    yield made("rest-second", lowered(good, second + 128 + 64 + 4), "in the last group")
    yield made("norm", lowered(good, meta + 128), "another norm beside the 4 bits")
    skewed = patched(good, (meta, struct.pack("<f", 0.15)), (meta + 64, struct.pack("<f", 9)))
    yield made("projection", skewed, "a scale that is not the least-squares one, and room for it")
    yield made("nibble", patched(good, (64, bytes([good[64] ^ 0x0C]))), "another nibble")
    yield made("bytes-rest", lowered(good, codes + 4), "a row further from its 8 bits than it says")
    yield made("bytes-norm", lowered(good, codes + 8), "another norm beside the 8 bits")
    hidden = patched(good, (codes + 4, struct.pack("<f", float("-inf"))))
    yield made("hidden", hidden, "a row that says it is never ranked")
    place = codes + TINY_ROW * 28 + 4
    yield made("special", patched(good, (place, bytes(4))), "a row without bounds that has some")


def rotated_planes():
    rows = rows_of(20, 76)
    good = Planes(rows).bytes()
    made = shadow_maker("planes", "4.3", "rag.planes", rows)
    steps = 64 + 320
    axes = steps + 256
    group = axes + 64 * 96 * 2
    meta, norms = group + 64 + 512, group + 64 + 576
    codes, second = norms + 64, norms + 64 + 16 * 92
    nan, inf = struct.pack("<f", float("nan")), struct.pack("<f", float("inf"))
    yield from shadow_heads(made, good)
    yield made("kept", patched(good, (28, b"\x20")), "32 axes")
    yield made("kept-none", patched(good, (28, b"\0")), "no axes")
    yield made("kept-most", patched(good, (28, b"\x80")), "more axes than dimensions")
    yield made("mean", patched(good, (64, nan)), "a mean that is not a number")
    yield made("mean-long", patched(good, (64, struct.pack("<f", 1.5))), "a mean that is too long")
    yield made("step", patched(good, (steps + 8, inf)), "an infinite step")
    yield made("step-none", patched(good, (steps + 8, bytes(4))), "a step of zero")
    pairs = axes + 4 * 64 * 10
    yield made("axis", patched(good, (pairs + 4 * 9, b"\0\x40")), "an axis that is too long")
    twice = [(at, good[at - 4 : at]) for at in range(axes + 4, group, 256)]
    yield made("axis-twice", patched(good, *twice), "an axis twice")
    yield made("head", patched(good, (group + 20, b"\1")), "a byte of a group's head")
    yield made("rest-unit", lowered(good, group), "rests half as long")
    yield made("tail-unit", lowered(good, group + 4), "tails half as long")
    yield made("reach", lowered(good, group + 8), "a reach half as long")
    yield made("rest", patched(good, (meta + 32 + 1, b"\1")), "a row further than its rest")
    yield made("tail", patched(good, (meta + 48 + 1, b"\1")), "a row further than its tail")
    yield made(
        "rest-second", patched(good, (second + 64 + 512 + 32 + 2, b"\0")), "in the last group"
    )
    yield made("scale", patched(good, (meta + 1, b"\xb0")), "a scale below zero")
    yield made("scale-infinite", patched(good, (meta, b"\0\x7c")), "an infinite scale")
    unknown = patched(good, (meta + 48, b"\xff"))
    yield made("unknown", unknown, "a row without bounds that has a scale")
    bounded = patched(good, (meta + 48 + TINY_ROW, b"\0"))
    yield made("bounded", bounded, "bounds of a row that can have none")
    yield made("nibble", patched(good, (group + 64, bytes([good[group + 64] ^ 0x0C]))), "a nibble")
    yield made("norm", lowered(good, norms + 8), "another norm than the row's")
    yield made("bytes-rest", lowered(good, codes + 4), "a row further from its 8 bits than it says")
    yield made(
        "bytes", patched(good, (codes + 12, bytes([good[codes + 12] ^ 0x10]))), "another byte"
    )
    hidden = patched(good, (codes + 4, struct.pack("<f", float("-inf"))))
    yield made("hidden", hidden, "a row that says it is never ranked")
    held = shadowed("rag.planes", good, rows)
    data = File().commit(held, rows=[(1, len(rows), len(rows))]).bytes()
    at = data.index(good)
    flipped = patched(data, (at + group + 70, bytes([good[group + 70] ^ 1])))
    note = "a bit of a block of planes flipped"
    yield "1-planes-damaged", bad(flipped, at, "2.2", note, "corrupt")


def cluster_tables():
    cells = Clusters(rows_of(18, 13), 4)
    good, placed = cells.bytes(), shadow(cells.placed)
    radii, norms, order = 128, 256, 448 + 64 * 32

    def made(case, table, note, kind="format", section=placed):
        held = cluster_sections(cells, section, table)
        data = File().commit(held, rows=[(1, 18, 18)]).bytes()
        return f"1-clusters-{case}", bad(data, None, "4.4", note, kind)

    yield made("magic", patched(good, (0, b"r")), "another magic")
    yield made("version", patched(good, (8, b"\2")), "version 2", "version")
    yield made("dim", patched(good, (12, b"\x0e")), "another dimension than the vectors")
    yield made("rows", patched(good, (16, b"\3")), "another number of rows")
    yield made("none", patched(good, (24, b"\0")), "no clusters")
    yield made("many", patched(good, (24, b"\x13")), "more clusters than rows")
    yield made("zero", patched(good, (40, b"\1")), "a reserved byte")
    yield made("cut", good[:-64], "64 bytes less than its rows")
    yield made("more", good + bytes(64), "64 bytes more than its rows")
    yield made("first", patched(good, (64, b"\1")), "places that begin after 0")
    yield made("empty", patched(good, (72, good[68:72])), "a cluster without rows")
    yield made("back", patched(good, (68, b"\x0c")), "places that go back")
    yield made("last", patched(good, (80, b"\x11")), "places that end before the rows do")
    yield made("radius", lowered(good, radii), "a row outside the radius of its cluster")
    yield made("radius-nan", patched(good, (radii, struct.pack("<f", float("nan")))), "no number")
    yield made("least", patched(good, (norms, struct.pack("<f", -1))), "a norm below zero")
    yield made("norm", lowered(good, norms + 64), "a row longer than its cluster's rows are")
    bounded = patched(good, (radii + 4 * (TINY_ROW % 4), struct.pack("<f", 3)))
    yield made("bounded", bounded, "a row without a direction, and a radius")
    yield made("twice", patched(good, (order, good[order + 4 : order + 8])), "a row at two places")
    yield made("row", patched(good, (order, b"\xff")), "a row that is not there")
    alone = shadowed("rag.clustered", placed, cells.rows)
    data = File().commit(alone, rows=[(1, 18, 18)]).bytes()
    yield "1-clusters-missing", bad(data, None, "4.4", "a shadow in the order of no clusters")
    data = File().commit(shadowed("rag.clusters", good, cells.rows), rows=[(1, 18, 18)]).bytes()
    yield "1-clusters-alone", bad(data, None, "4.4", "clusters without a shadow in their order")


def lexical():
    """Words of two fields, in three rows."""
    rows = [(["red", "fox"], ["red"]), (["red", "red"], []), ([], ["fox", "den"])]

    def made(case, name, change, note, rule):
        held = [
            (n, s, f, change(d) if n == name else d, i)
            for n, s, f, d, i in lexicons(rows, {"text": 1, "headers": 6})
        ]
        return f"1-{case}", bad(File().commit(held, rows=[(1, 3, 3)]).bytes(), None, rule, note)

    def put(*patches):
        return lambda data: patched(data, *patches)

    yield made("terms-magic", "rag.terms", put((0, b"r")), "no RAGLEX1", "L.3")
    yield made("terms-rows", "rag.terms", put((8, b"\4")), "another number of rows", "L.3")
    yield made("terms-total", "rag.terms", put((24, b"\xff")), "another total length", "L.3")
    yield made("terms-width", "rag.terms", put((68, b"\3")), "lengths of three bytes", "L.3")
    yield made("terms-cut", "rag.terms", lambda data: data[:-8], "eight bytes less", "L.3")
    yield made("postings-row", "rag.postings", put((1, b"\x7f")), "a row that is not there", "L.4")
    swapped = lexicons(list(reversed(rows)), {"text": 1, "headers": 6})
    own = {name: data for name, _, _, data, _ in swapped}
    yield made(
        "fields-lengths",
        "rag.terms.1",
        lambda _: own["rag.terms.1"],
        "lengths of other rows",
        "L.7",
    )


def positions():
    """Places of words in two rows, `the red fox` and `red red`."""
    sections, _ = placed([["the", "red", "fox"], ["red", "red"]], {"the", "of"})
    good = sections[2][3]

    def made(case, note, *patches, cut=0):
        data = patched(good, *patches)[: len(good) - cut]
        held = [*sections[:2], ("rag.positions", 1, 0, data, 2)]
        return f"1-positions-{case}", bad(
            File().commit(held, rows=[(1, 2, 2)]).bytes(), None, "L.8", note
        )

    lists = 64 + 8 + 8 + 8
    yield made("magic", "no RAGPOS1", (0, b"r"))
    yield made("rows", "another number of rows", (8, b"\3"))
    yield made("terms", "another number of terms", (16, b"\3"))
    yield made("width", "numbers of three bytes", (44, b"\3"))
    yield made("cut", "eight bytes less", cut=8)
    yield made("outside", "a list that ends after its block", (lists, b"\x7f"))
    yield made("head", "a list with an unknown head", (lists + 2, b"\x10"))
    yield made("count", "a row with more positions than words", (lists + 3, b"\0\1"))
    yield made("twice", "a number of a row in two lists", (lists + 3, b"\x80"))
    data = File().commit([sections[2]], rows=[(1, 2, 2)]).bytes()
    yield "1-positions-alone", bad(data, None, "L.8", "positions without terms")


def links_of_documents():
    """One link with all parts, and what is wrong with it."""
    edges = [(0, "link", "b", (3, 5), "part", "a text"), (3, "link", "b", None, None, None)]
    good, _ = links(edges, names=[("other", 2)], matrices=[(1, 32, [[1.0], [0.5]])])
    strings = len(
        b"".join(bytes([len(one)]) + one for one in (b"a text", b"b", b"link", b"other", b"part"))
    )
    body = (
        64 + strings
    )  # kinds; names; sources, their counts; heads; targets; place; labels; matrix

    def made(case, note, *patches, cut=0, items=2):
        data = patched(good, *patches)[: len(good) - cut]
        return f"1-graph-{case}", bad(linked(data, items), None, "12.1", note)

    yield made("magic", "no RAGLINK1", (0, b"r"))
    yield made("short", "half a header", cut=len(good) - 32)
    yield made("zero", "a reserved byte", (60, b"\1"))
    yield made("items", "another number of items", items=3)
    yield made("raw", "a body larger than all that its frame can hold", (8, b"\0\0\0\1"))
    yield made("stored", "a body that ends after the section", (8, b"\xff\xff"), (16, b"\xff\xff"))
    yield made("edges", "more edges than the body has room for", (24, b"\xff"))
    yield made("strings", "more strings than the body has room for", (32, b"\xff"))
    yield made("string-none", "a string without bytes", (64, b"\0"))
    yield made("string-order", "strings that do not ascend", (65, b"z"))
    yield made("string-utf-8", "a string that is not UTF-8", (body - 1, b"\xff"))
    yield made("kind", "a kind that is not among the strings", (body, b"\5"))
    yield made("name", "a name that is not among the strings", (body + 1, b"\5"))
    yield made("name-document", "a name of no document", (body + 2, b"\4"))
    yield made("source", "edges of a document that is not there", (body + 4, b"\3"))
    yield made("count", "a source without edges", (body + 5, b"\0"))
    yield made("count-more", "sources with more edges than there are", (body + 6, b"\2"))
    yield made("head", "an edge of a kind that is not there", (body + 7, b"\x0f"))
    yield made("target", "a target that is not among the strings", (body + 9, b"\5"))
    yield made("fragment", "a fragment that is not among the strings", (body + 13, b"\5"))
    yield made("text", "a text that is not among the strings", (body + 14, b"\5"))
    yield made("scope", "features of a kind that is not there", (body + 15, b"\3"))
    yield made("width", "features without a component", (body + 16, b"\0"))
    yield made("bits", "features of 8 bits", (body + 17, b"\x08"))
    yield made("cut", "a matrix that ends after the section", cut=64)
    yield made("varint", "a number that does not end", (body + 11, b"\xff" * 7))
    long, _ = links([(0, "link", "b", (3, 1 << 32), None, None)])
    yield "1-graph-place", bad(linked(long, 1), None, "12.1", "a place after the longest text")
    section, _ = links([(4, "topic", "pods", None, None, None)])
    note = "a member that is not there"
    yield "1-hypergraph-source", bad(linked(section, 1, "hypergraph"), None, "12.1", note)
    data = File().commit([("graph", 1, 0, links([])[0], 0)], rows=[(1, 0, 0)]).bytes()
    yield "1-graph-alone", bad(data, None, "12.1", "links of no documents")


def originals_of_documents():
    for case, note, held in (
        ("count", "originals of three of four documents", {"files": FILES[1:]}),
        ("items", "another number of items", {"items": 3}),
    ):
        yield f"1-originals-{case}", bad(with_originals(**held), None, "3.12", note)


def whole_files():
    """Sections of the whole file."""

    def made(case, note, rule, kind="format", **parts):
        data = File().commit(whole_file(**parts), rows=[(1, 5, 5)]).bytes()
        return f"1-{case}", bad(data, None, rule, note, kind)

    yield made("config-list", "a configuration that is no object", "3.5", config=[1])
    yield made("config-json", "a configuration that is no JSON", "3.5", config=b"{")
    yield made("stale-object", "stale documents that are no array", "3.5.1", stale={})
    record = {"chunking": None, "documents": ["b"]}
    yield made("stale-text", "a document without a text of its own", "3.5.1", stale=[record])
    record = {"chunking": None, "documents": ["a/first", "gone"]}
    yield made("stale-gone", "a document that is not there", "3.5.1", stale=[record])
    for case, note, ids, items in (
        ("hidden-object", "hidden documents that are no array", {}, 0),
        ("hidden-number", "a hidden document without an id", ["a", 1], 2),
        ("hidden-empty", "a hidden document with an empty id", [""], 1),
        ("hidden-twice", "a hidden document twice", ["a", "a"], 2),
        ("hidden-items", "another number of hidden documents", ["a"], 2),
        ("hidden-json", "hidden documents that are no JSON", b"[", 0),
    ):
        yield f"1-{case}", bad(hiding(ids, items), None, "3.5.2", note)
    for case, note, names, items in (
        ("past-object", "names of generations that are no array", {}, 1),
        ("past-none", "no name of a generation", [], 0),
        ("past-number", "a name that is no text", [9], 1),
        ("past-digits", "a name with a capital digit", ["09F1c62a5e3b7d84"], 1),
        ("past-short", "a name of 15 digits", ["09f1c62a5e3b7d8"], 1),
        ("past-many", "257 names of generations", PAST[:1] * 257, 257),
        ("past-items", "another number of names", PAST, 3),
        ("past-json", "names that are no JSON", b"[", 1),
    ):
        yield f"1-{case}", bad(remembering(names, items), None, "3.11", note)
    yield made("origin-list", "an origin that is no object", "8", origin=[])
    newer = {**ORIGIN, "version": 2}
    yield made("origin-version", "an origin of version 2", "8", "version", origin=newer)

    for case, note, held in (
        ("bytes", "rag.merged with a byte", {"content": b"\0"}),
        ("none", "no merged rows", {"items": 0}),
        ("more", "more merged rows than the commit wrote", {"items": 3}),
    ):
        yield f"1-merged-{case}", bad(merged_segments(**held), None, "3.10", note)

    def counted(case, change, note):
        held = [("rag.frequencies", 0, 0, change(frequencies(FREQUENT, 3, 9)), 0)]
        return f"1-frequencies-{case}", bad(File().commit(held).bytes(), None, "10.2", note)

    yield counted("magic", lambda data: patched(data, (0, b"r")), "no RAGFREQ1")
    yield counted("zero", lambda data: patched(data, (60, b"\1")), "a reserved byte")
    yield counted("blocks", lambda data: patched(data, (48, b"\2")), "more blocks than its size")
    yield counted("rows", lambda data: patched(data, (16, b"\2")), "a term in more rows than all")
    yield counted("cut", lambda data: data[:-4096], "a block less")
    gone = [*segment(1, DOCUMENTS, VECTORS), ("rag.gone", 1, 0, b"\4\0", 1)]
    data = File().commit(gone, rows=[(1, 5, 5)]).bytes()
    yield "1-gone-size", bad(data, None, "3.3", "a bitmap that is too long")
    gone[-1] = ("rag.gone", 1, 0, b"\4", 2)
    data = File().commit(gone, rows=[(1, 5, 5)]).bytes()
    yield "1-gone-items", bad(data, None, "3.3", "another number of items than of bits")
    gone[-1] = ("rag.gone", 1, 0, b"\1", 1)
    data = File().commit(gone, rows=[(1, 5, 5)]).bytes()
    yield "1-gone-rows", bad(data, None, "3.3", "a document that has rows")


def lists():
    """Lists of sections (2.8) that break a rule."""

    def made(case, change, note, rule="2.8", kind="format", **more):
        return f"1-sections-{case}", bad(
            listed_file(change, **more).bytes(), None, rule, note, kind
        )

    def edited(*places, items=6, flags=1):
        return lambda raw, *_: (patched(raw, *places), items, flags)

    names = 16 + 32 * 6
    yield made("magic", edited((0, b"r")), "no RAGSECT1")
    yield made("flag", edited(flags=0), "a list that older readers would skip")
    yield made("items", edited(items=5), "another number of items")
    yield made("count", edited((8, b"\5")), "a section less than its names")
    yield made("names", edited((12, b"\1")), "a list that does not add up")
    yield made("none", lambda *_: (b"RAGSECT1" + bytes(8), 0, 1), "an empty list")
    yield made("short", lambda *_: (b"RAGSECT1", 6, 1), "half a head")
    yield made("name", edited((names, b" ")), "not a name")
    yield made("end", edited((names + 6, b"x")), "a name too few")
    yield made("zero", edited((16 + 28, b"\1")), "a reserved byte")
    yield made("size", edited((16 + 4, b"\1")), "a section in front of the file")
    note = "a flag that is not defined"
    yield made("flags", edited((16 + 24, b"\4")), note, kind="version")
    note = "block hashes that differ from the listed hash"
    yield made("hash", edited((16 + 16, b"\0\0")), note, "2.2", "corrupt")
    itself = section_list([handmade.Entry("rag.sections", 0, 0, 0)])
    yield made("itself", lambda *_: (itself, 1, 1), "a list of a list")

    def twice(table):
        again = dataclasses.replace(table.entries[0], name="vector", at=4096, size=0, flags=0)
        table.entries.insert(0, again)

    note = "a listed section that the table has, too"
    yield made("twice", None, note, lie=twice)
    over = [("rag.chunks", 0, 0, b"", 0)]
    file = File().commit(over)
    file.commit(segment(1, {"z": ("later", None, [(0, (0, 5), None)])}), rows=[(1, 1, 1)], lists=[1],
                change_list=lambda raw, *held: (patched(raw, (17, b"\1")), *held))  # fmt: skip
    note = "listed sections over an older commit"
    yield "1-sections-over", bad(file.bytes(), None, "2.3", note)


def vectors():
    found = {}
    for group in (
        headers,
        directories,
        keyword_pairs,
        vector_pairs,
        companions,
        fronts,
        tables,
        segments,
        extents,
        chains,
        rows,
        documents,
        samples,
        titles_of_documents,
        weights_of_terms,
        bares,
        fines,
        columns_of_metadata,
        plain_shadows,
        rotated_planes,
        cluster_tables,
        lexical,
        positions,
        links_of_documents,
        originals_of_documents,
        whole_files,
        lists,
    ):
        for name, vector in group():
            assert name not in found, name
            found[name] = vector
    return found
