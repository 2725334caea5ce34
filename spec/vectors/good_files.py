"""The files that a reader must accept."""

import hashlib
import itertools
import json
import os
import struct
import tempfile

from pieces import (
    LANGUAGES,
    File,
    Vector,
    column,
    columns,
    deleted,
    file_0,
    fine,
    frame,
    frequencies,
    handmade,
    keys_section,
    keyword_section,
    lexicon,
    lexicons,
    links,
    matrix,
    patched,
    placed,
    plain,
    records,
    sample,
    stream,
    title_key,
    titles,
    tombs,
    vector_section,
    weights,
)  # fmt: skip
from shadows import Clusters, Planes, rows_of, shadow

from ragfile import _core
from ragfile.file.pairs_writer import write_pairs

KEYWORDS = [
    ("AI", "alpha content"),
    ("RAG", "beta"),
    ("NUL", "gaps of four"),
    ("", "no keyword"),
    ("größe", "日本-語"),
    ("RAG", ""),
]
ROWS = [
    ([1.0, -2.5, 0.0, 3.25], "alpha"),
    ([-0.0, 45.0, 0.5, -1.0], "beta-b"),
    ([1.5, 0.0, 2.0, 64.0], ""),
]
SMALL = [([1, -128, 0], "alpha"), ([45, 45, 45], "beta-b"), ([0, 0, 127], "")]
ORDERS = {"little": False, "big": True}


def says_0(keywords=None, rows=None, **more):
    found = (
        {"keyword": {"pairs": [list(pair) for pair in keywords]}} if keywords is not None else {}
    )
    return (
        found
        | ({"vector": {"pairs": [list(pair) for pair in rows]}} if rows is not None else {})
        | more
    )


def golden():
    """The 176 bytes of 1.8, from its own numbers."""
    pairs = [("AI", "alpha content"), ("RAG", "beta"), ("NUL", "gaps of four")]
    rows = [([1.0, -2.5, 0.0, 3.25], "alpha"), ([0.0, 0.0, 0.17578125, -0.0], "beta")]
    data = file_0(
        [("keyword", keyword_section(pairs)), ("vector", vector_section(rows, extended=False))]
    )
    return Vector(data, "the worked example of 1.8", says_0(pairs, rows))


def matrix_of_shapes():
    """Both byte orders, all paddings, all precisions."""
    for order, big in ORDERS.items():
        for p in (4, 8, 16):
            for bits in (8, 16, 32, 64):
                rows = SMALL if bits == 8 else ROWS
                sections = [
                    ("keyword", keyword_section(KEYWORDS, p, big)),
                    ("vector", vector_section(rows, bits, p, big)),
                ]
                yield f"0-{order}-p{p}-{bits}", Vector(
                    file_0(sections, big), f"{order}-endian, padding {p}, {bits} bits, extension with hash",
                    says_0(KEYWORDS, rows, byteorder=order),
                )  # fmt: skip


def as_written(keywords, rows, p, big, keys):
    """The layout that 1.2, 1.3 and 1.4 recommend, assembled by hand.

    Pairs are aligned, a NUL follows them, and keyword sections are multiples of 4096 bytes. The
    first pairs start after the space for the longest directory, because they are written before it.
    """
    names = ["keyword", *(["rag.keys"] if keys else []), "vector"]
    room = 11 + sum(len(name) + 45 for name in names)

    def keyword(at):
        start = -(-(room + 18) // 64) * 64
        body = keyword_section(keywords, p, big, slack=bytes(start - at - 17), behind=b"\0")(at)
        return body + bytes(-len(body) % 4096)

    def vector(at):
        start = -(-(at + 51) // 64) * 64
        return vector_section(rows, 32, p, big, slack=bytes(start - at - 50), behind=b"\0")(at)

    middle = [("rag.keys", keys_section(keywords, p, big))] if keys else []
    return file_0([("keyword", keyword), *middle, ("vector", vector)], big)


def written():
    for order, big in ORDERS.items():
        for p, keys in ((4, True), (16, False)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "made.ragfile")
                write_pairs(path, KEYWORDS, ROWS, padding=p, byteorder=order, sorted_keys=keys)
                with open(path, "rb") as file:
                    data = file.read()
            by_hand = as_written(KEYWORDS, ROWS, p, big, keys)
            assert data == by_hand, (
                "the package writes another layout than the specification advises"
            )
            yield (
                f"0-written-{order}-p{p}",
                Vector(
                    data,
                    f"by write_pairs, {order}-endian, padding {p}{', sorted keys' if keys else ''}",
                    says_0(KEYWORDS, ROWS),
                ),
            )


def odd_pairs():
    yield "0-header-11", Vector(b"RAGFILE\0\1\0\0", "a header and nothing else", {"sections": []})
    yield (
        "0-header-12",
        Vector(
            b"RAGFILE\0\1\0\1\0",
            "a header and NUL: no sections",
            {"sections": [], "byteorder": "big"},
        ),
    )
    yield (
        "0-header-junk",
        Vector(
            b"RAGFILE\0\1\0\0\0junk", "what follows an empty directory is ignored", {"sections": []}
        ),
    )
    yield "0-minor", Vector(
        file_0([("keyword", keyword_section(KEYWORDS[:2]))], version=(0, 9, 3)), "any minor and patch version opens",
        says_0(KEYWORDS[:2], version=[0, 9, 3]),
    )  # fmt: skip
    slack = b"x-\0y--\0\0" * 9
    sections = [
        ("keyword", keyword_section(KEYWORDS, 8, slack=slack, behind=b"-junk\0-")),
        ("vector", vector_section(ROWS, 16, 8, slack=slack, behind=b"RXV1\0")),
    ]
    data = file_0(sections, behind=b"\0ignored-(1,2)")
    yield (
        "0-slack",
        Vector(
            data,
            "slack before and behind pairs, bytes behind the last section",
            says_0(KEYWORDS, ROWS),
        ),
    )
    sections = [("vector", vector_section(ROWS, extended=False, slack=b"RXV2" + bytes(40)))]
    yield (
        "0-slack-no-extension",
        Vector(file_0(sections), "slack that is no extension block", says_0(None, ROWS), dim=4),
    )
    sections = [
        ("vector", vector_section([([1.0], "x")], extended=False, slack=b"RXV1" + bytes(27)))
    ]
    yield (
        "0-slack-of-31",
        Vector(
            file_0(sections),
            "RXV1 in 31 bytes of slack is no block",
            says_0(None, [([1.0], "x")]),
            dim=1,
        ),
    )
    others = [
        ("graph", plain(b"nodes")),
        ("hypergraph", plain(b"\0-\0")),
        ("maker.x@1+/_", plain(b"")),
        ("rag.later", plain(b"\0")),
    ]
    data = file_0([others[0], ("keyword", keyword_section(KEYWORDS)), *others[1:]])
    names = ["graph", "keyword", "hypergraph", "maker.x@1+/_", "rag.later"]
    yield (
        "0-unknown",
        Vector(
            data,
            "unknown and reserved strategies, an empty one",
            says_0(KEYWORDS, sections=[{"name": n} for n in names]),
        ),
    )
    data = file_0(
        [("keyword", keyword_section([])), ("vector", vector_section([])), ("v", plain(b""))]
    )
    yield "0-empty", Vector(data, "sections without pairs, with an extension block", says_0([], []))
    data = file_0(
        [
            ("vector", vector_section([], big=True, extended=False)),
            ("keyword", keyword_section([], 4, True, behind=b"\0x")),
        ],
        True,
    )
    yield (
        "0-empty-big",
        Vector(
            data,
            "sections without pairs, without a dimension",
            says_0([], []) | {"vector": {"dim": None}},
        ),
    )
    body = keyword_section([("a", "b"), ("c", "d")])(109)
    end = 108 + len(body)
    data = b"RAGFILE\0\1\0\0keyword-(%020d,%020d)\0v-(%020d,%020d)\0" % (109, end, end + 2, end + 1)
    assert len(data) == 109
    data += body
    yield (
        "0-leading-zeros",
        Vector(data + b"\0", "numbers of 20 digits", says_0([("a", "b"), ("c", "d")])),
    )


def odd_vectors():
    marks = [
        ([struct.unpack("<f", b"----")[0], 0.0], "-"),
        ([0.0, 0.0], "--"),
        ([struct.unpack("<f", b"\0\0--")[0], 1.0], ""),
    ]
    data = file_0([("vector", vector_section(marks, 32, 16))])
    yield "0-dashes", Vector(data, "embeddings of 00 and 2D bytes", says_0(None, marks))
    data = file_0([("vector", vector_section(marks, 32, 16, flags=0, hash=0))])
    yield "0-no-hash", Vector(data, "an extension block without a hash", says_0(None, marks))
    data = file_0([("vector", vector_section(ROWS[::2] * 2, 64, 4, True))], True)
    yield (
        "0-stride-0",
        Vector(
            data,
            "pairs of different sizes",
            says_0(None, ROWS[::2] * 2, vector={"extension": {"stride": 0}}),
        ),
    )
    odd = [([float("inf"), 1.0], "a"), ([float("-inf"), float("nan")], "b")]
    said = [[["inf", 1.0], "a"], [["-inf", "nan"], "b"]]
    for bits in (16, 32, 64):
        data = file_0([("vector", vector_section(odd, bits))])
        yield (
            f"0-not-finite-{bits}",
            Vector(data, "NaN and infinities are handed over", {"vector": {"pairs": said}}),
        )
    data = file_0(
        [
            (
                "vector",
                vector_section(
                    [(row, f"r{i}") for i, (row, _) in enumerate(ROWS)], extended=False, slack=b"s"
                ),
            )
        ]
    )
    yield "0-inferred", Vector(data, "one dimension fits", {"vector": {"dim": 4}})


def companions():
    pairs = [
        ("prefix-1"[:6] + "ab1", "x"),
        ("prefixab", "y"),
        ("prefixab2", "z"),
        ("", "e"),
        ("a", "1"),
        ("a", "2"),
        ("prefixab", "w"),
    ]
    order = [3, 4, 5, 1, 6, 0, 2]
    for name, big in ORDERS.items():
        data = file_0(
            [
                ("keyword", keyword_section(pairs, 8, big)),
                ("rag.keys", keys_section(pairs, 8, big)),
            ],
            big,
        )
        yield (
            f"0-keys-{name}",
            Vector(
                data, "the sorted companion; keywords twice, long, empty", says_0(pairs, keys=order)
            ),
        )
    data = file_0([("keyword", keyword_section([])), ("rag.keys", keys_section([]))])
    yield "0-keys-none", Vector(data, "a companion of no pairs", says_0([], keys=[]))


# --------------------------------------------------------------------------------------------------------------- 1.0


def says_1(**more):
    return {"version": [1, 0, 0], "tail": 0, "lost_generation": None, "abandoned": 0, **more}


def several():
    """Three commits: a replacement, a section dropped, a message."""
    file = File()
    file.commit(
        [("foo", 0, 0, b"hello", 1), ("bar", 0, 0, b"x" * 100, 0)],
        created=1_700_000_000_000_000_000,
    )
    file.commit(
        [("foo", 0, 0, b"hello again", 2), ("baz", 0, 0, b"", 0)],
        message="größer",
        created=1_800_000_000_000_000_000,
    )
    return file.commit([], drops=[("bar", 0)], message="drop")


def written_several():
    """The same by the package's writer."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.ragfile")
        writer = _core.FileWriter.create(path)
        writer.add("foo", b"hello", items=1)
        writer.add("bar", b"x" * 100)
        writer.commit(1_700_000_000_000_000_000)
        writer = _core.FileWriter.edit(path)
        writer.add("foo", b"hello again", items=2)
        writer.add("baz", b"")
        writer.commit(1_800_000_000_000_000_000, "größer")
        writer = _core.FileWriter.edit(path)
        writer.drop("bar")
        writer.commit(0, "drop")
        with open(path, "rb") as file:
            return file.read()


def containers():
    one = File().commit([("foo", 0, 0, b"hello", 0)]).bytes()
    yield (
        "1-one",
        Vector(
            one,
            "the worked example of 2.6",
            says_1(generation=1, sections=[{"name": "foo", "at": 4096, "size": 5}]),
        ),
    )
    yield (
        "1-none",
        Vector(File().commit([]).bytes(), "no sections", says_1(sections=[], segments=[])),
    )
    data = several().bytes()
    assert data == written_several(), "the package writes other commits than the specification says"
    names = [{"name": "foo", "generation": 2}, {"name": "baz", "size": 0}]
    yield (
        "1-commits",
        Vector(
            data,
            "three commits: replaced, dropped, a message",
            says_1(generation=3, sections=names, message="drop"),
        ),
    )
    yield (
        "1-tail",
        Vector(
            data + b"an unfinished commit" * 9,
            "a tail that is ignored",
            says_1(generation=3, tail=180),
        ),
    )
    file = several().commit([("late", 0, 0, b"!", 0)], garbage=b"left by a writer that died" * 5)
    yield (
        "1-abandoned",
        Vector(
            file.bytes(), "bytes left by a writer that died", says_1(generation=4, abandoned=192)
        ),
    )
    at = len(data) - 64
    for name, flip in (
        ("footer-hash", at + 56),
        ("footer-magic", at),
        ("footer-identity", at + 48),
        ("table", at - 64),
    ):
        harmed = patched(data, (flip, bytes([data[flip] ^ 1])))
        note = f"a newest commit whose {name} is damaged: the one before, and a lost generation"
        yield (
            f"1-lost-{name}",
            Vector(
                harmed,
                note,
                says_1(generation=2, lost_generation=3)
                | {"tail": len(data) - len(several_of_two())},
            ),
        )
    forged = several_of_two() + b"RAGCOMIT" + bytes(56)
    yield (
        "1-tail-magic",
        Vector(
            forged, "a tail with the magic that names nothing is no lost commit", says_1(tail=64)
        ),
    )
    decoy = several_of_two() + b"RAGCOMIT" + bytes(56) + data[at:-8] + bytes(8)
    note = "bytes like a footer in front of what is left of a lost one"
    yield "1-lost-decoy", Vector(decoy, note, says_1(generation=2, lost_generation=3, tail=128))
    torn = data[: at + 17]
    yield (
        "1-torn-footer",
        Vector(
            torn,
            "a footer of which seventeen bytes came",
            says_1(generation=2) | {"tail": len(torn) - len(several_of_two())},
        ),
    )
    data = File().commit([("vendor.thing", 0, 2, b"unknown", 0)]).bytes()
    yield (
        "1-write-flag",
        Vector(
            data,
            "an unknown section that forbids unknowing writers",
            says_1(sections=[{"flags": 2}]),
        ),
    )
    data = File().commit([("foo", 0, 0, b"hello", 0)], front={"write_features": 5}).bytes()
    yield (
        "1-write-feature",
        Vector(data, "a write feature does not stop a reader", says_1(write_features=5)),
    )
    data = File().commit([(f"{'n' * 56}{i:08}", 0, 0, bytes([i]), 0) for i in range(37)]).bytes()
    yield "1-many", Vector(data, "more sections than the directory has room for", says_1())
    data = File().commit(
        [("n" * 30 + str(i), 0, 0, b"", 0) for i in range(10)] + [("n" * 30 + "0", 1, 0, b"", 0)],
        rows=[(1, 3, 3)],
    )
    yield (
        "1-twice",
        Vector(data.bytes(), "a name twice, in two segments: the directory stops there", says_1()),
    )
    data = reversioned(one, (1, 9, 3))
    yield (
        "1-minor",
        Vector(data, "any minor and patch version opens", says_1() | {"version": [1, 9, 3]}),
    )


def several_of_two():
    file = File()
    file.commit(
        [("foo", 0, 0, b"hello", 1), ("bar", 0, 0, b"x" * 100, 0)],
        created=1_700_000_000_000_000_000,
    )
    file.commit(
        [("foo", 0, 0, b"hello again", 2), ("baz", 0, 0, b"", 0)],
        message="größer",
        created=1_800_000_000_000_000_000,
    )
    return file.bytes()


def reversioned(data, version):
    data = patched(data, (7, bytes(version)))
    return patched(data, (4080, struct.pack("<Q", handmade.xxh(data[:4080]))))


TEXT = "Grüße aus Köln. Zweiter Satz. 日本語"
DOCUMENTS = {
    "a/first": (
        TEXT,
        {"source": "a.md", "tags": ["x"], "metadata": {"k": 1}},
        [(0, (0, 15), None), (1, (10, 30), {"key": "c"})],
    ),
    "b": (None, None, [(0, "a loose text", {"metadata": {"page": 3}}), (7, "日本", None)]),
    "empty": ("no rows", {"metadata": {"a": None}}, []),
    "größe": ("", None, [(0, (0, 0), None)]),
}
TITLED = {
    "a": (None, {"metadata": {"title": "Lilu (mythology)"}}, [(0, "one", None)]),
    "b": (
        None,
        {"metadata": {"title": "Gallu"}},
        [(0, "two", {"metadata": {"title": "Lilu"}}), (1, "three", None)],
    ),
    "c": ("no rows", {"metadata": {"title": "Alu"}}, []),
}
RICH = {
    "a": (
        None,
        {"source": "a.md", "tags": ["x", "y"], "metadata": {"n": 2**53 + 1, "deep": {"k": "z"}}},
        [(0, "one", None), (1, "two", {"metadata": {"n": 1, "deep": 5}, "tags": []})],
    ),
    "b": (
        None,
        {"metadata": {"n": -0.5, "source": "mine", "big": 2**70}},
        [(0, "three", {"metadata": {"flag": False}}), (1, "four", {"metadata": {"flag": None, "n": "1"}})],
    ),
}  # fmt: skip


def rich_columns():
    x, y = b"\5x\0", b"\5y\0"
    return {
        None: column([b"\6\0", b"\6" + x + y + b"\0"], [2, 1, 0, 0]),
        "big": None,
        "deep": column([5, b"\7\5k\0\5z\0\0"], [2, 1, 0, 0]),
        "deep.k": column(["z"], [1, 0, 0, 0]),
        "flag": column([None, False], [0, 0, 2, 1]),
        "n": column([-0.5, 1, 2**53 + 1, "1"], [3, 2, 1, 4]),
        "source": column(["a.md", "mine"], [1, 1, 2, 2]),
    }


VECTORS = [[1.0, -0.5, 0.25], [0.0, 2.0, -0.0], [3.5, 4.0, 0.125], [0.5, 0.5, 0.5], [1.0, 2.0, 3.0]]


def segment(number, documents, vectors=None, bits=32, **options):
    made = [("vector", number, 0, matrix(vectors, bits), len(vectors))] if vectors else []
    return made + [
        (name, number, 0, data, items) for name, data, items in records(documents, **options)
    ]


def lines(count):
    """A document of `count` chunks of one letter."""
    return {"d": ("x" * count, None, [(i, (i, i + 1), None) for i in range(count)])}


def shadowed(name, section, rows, bits=32):
    """The sections of vectors with a shadow, plain or rotated."""
    return [
        *segment(1, lines(len(rows)), rows, bits),
        (name, 1, 0, section, len(rows)),
    ]


def shadows():
    for name, rows, bits in (
        ("shadow", rows_of(18, 13), 32),
        ("shadow-16", rows_of(5, 8, bits=16), 16),
        ("planes", rows_of(20, 76), 32),
    ):
        kind = "rag.planes" if name == "planes" else "rag.shadow"
        section = Planes(rows).bytes() if name == "planes" else shadow(rows)
        file = File().commit(shadowed(kind, section, rows, bits), rows=[(1, len(rows), len(rows))])
        note = f"{len(rows)} vectors of {bits} bits with {kind}, one of them zero"
        found = [16, 64 if name == "planes" else 0]
        yield f"1-{name}", Vector(file.bytes(), note, says_1(segments=[{"shadow": found}]))


def clustered():
    for name, rows, count in (
        ("clusters", rows_of(18, 13), 4),
        ("clusters-many", rows_of(36, 2), 33),
        ("clusters-planes", rows_of(6, 76), 2),
    ):
        cells = Clusters(rows, count)
        is_planes = name == "clusters-planes"
        section = Planes(cells.placed).bytes() if is_planes else shadow(cells.placed)
        file = File().commit(cluster_sections(cells, section), rows=[(1, len(rows), len(rows))])
        note = f"{len(rows)} vectors in {count} clusters, one of them zero"
        found = {"shadow": [16, 64 if is_planes else 0], "clusters": cells.members}
        yield f"1-{name}", Vector(file.bytes(), note, says_1(segments=[found]))


def cluster_sections(cells, section, table=None):
    """The sections of vectors in clusters."""
    count = len(cells.rows)
    return [
        *segment(1, lines(count), cells.rows, 32),
        ("rag.clusters", 1, 0, cells.bytes() if table is None else table, count),
        ("rag.clustered", 1, 0, section, count),
    ]


def knowledge():
    found = [
        {
            "id": id_,
            "text": own,
            "own_text": own is not None,
            "meta": fields,
            "chunks": [{"index": c[0]} for c in cuts],
        }
        for id_, (own, fields, cuts) in DOCUMENTS.items()
    ]
    for bits in (16, 32):
        file = File().commit(segment(1, DOCUMENTS, VECTORS, bits), rows=[(1, 5, 5)])
        yield f"1-documents-{bits}", Vector(
            file.bytes(), f"documents, chunks, metadata and vectors of {bits} bits",
            says_1(segments=[{"rows": 5, "vector": {"precision": bits, "dim": 3}, "documents": found}]),
        )  # fmt: skip
    data = File().commit(segment(1, DOCUMENTS, block=7), rows=[(1, 5, 5)]).bytes()
    yield (
        "1-stream-blocks",
        Vector(data, "streams of many small blocks", says_1(segments=[{"documents": found}])),
    )
    long = {"d": ("a" * 600, None, [(0, (0, 300), None), (1, (300, 600), None)])}
    data = File().commit(segment(1, long, block=200, pack=True), rows=[(1, 2, 2)]).bytes()
    yield (
        "1-packed",
        Vector(
            data,
            "text in Zstandard frames",
            says_1(segments=[{"documents": [{"id": "d"}]}]),
            marks={"packed": True},
        ),
    )
    layers = [[[" ", "", 6], ["\t\t", "", 9]], [["\r\n", "\n"], ["\ufeff", "", 0]]]
    held = {"f": ("---\nx\ny\nz", {"original": layers, "body": 4}, [(0, (4, 9), None)])}
    data = File().commit(segment(1, held), rows=[(1, 1, 1)]).bytes()
    found = [{"text": "---\nx\ny\nz", "original": "\ufeff---\r\nx\r\n y\r\nz\t\t"}]
    yield (
        "1-original",
        Vector(
            data, "a text before normalisation, a body", says_1(segments=[{"documents": found}])
        ),
    )
    surrogate = File().commit(surrogates(), rows=[(1, 1, 1)]).bytes()
    yield (
        "1-surrogate",
        Vector(
            surrogate,
            "a lone surrogate in a text",
            says_1(segments=[{"documents": [{"text": "a\ud800b"}]}]),
        ),
    )
    file = File().commit(segment(1, DOCUMENTS, VECTORS), rows=[(1, 5, 5)])
    dead = [("rag.tombs", 1, 0, tombs([0, 1], 5), 2), ("rag.gone", 1, 0, b"\4", 1)]
    new = {"a/first": ("changed", None, [(0, (0, 7), None)])}
    file.commit(
        [*dead, *segment(2, new, [[9.0, 8.0, 7.0]])],
        rows=[(1, 5, 3), (2, 1, 1)],
        message="an update",
    )
    says = says_1(generation=2, segments=[{"tombs": [0, 1], "live": 3}, {"rows": 1}])
    yield "1-update", Vector(file.bytes(), "rows deleted, a document gone, one written again", says)
    file.commit(
        [("rag.tombs", 2, 0, tombs([0], 1), 1)], rows=[(2, 1, 0)],
        drops=[(name, 1) for name in ("vector", "rag.text", "rag.meta", "rag.chunks", "rag.documents", "rag.ids", "rag.tombs", "rag.gone")],
    )  # fmt: skip
    yield (
        "1-dropped-segment",
        Vector(
            file.bytes(), "a whole segment dropped", says_1(segments=[{"number": 2, "live": 0}])
        ),
    )
    for bits in (16, 32):
        held = [
            *segment(1, DOCUMENTS, VECTORS, bits),
            ("rag.sample", 1, 0, sample(DOCUMENTS, VECTORS, 3, bits), 3),
            ("rag.tombs", 1, 0, tombs([0, 1], 5), 2),
        ]
        file = File().commit(held, rows=[(1, 5, 3)])
        note = f"the first three rows by hash with their vectors of {bits} bits, and deleted rows"
        yield f"1-sample-{bits}", Vector(file.bytes(), note, says_1(segments=[{"live": 3}]))
    yield from bare_rows()
    held = segment(1, DOCUMENTS, VECTORS)
    for name, names in (("fine", ("rag.text", "rag.chunks", "rag.ids")), ("fine-none", ())):
        part = ("rag.fine", 1, 0, fine(held, names), len(names))
        file = File().commit([*held, part], rows=[(1, 5, 5)])
        note = f"sums of smaller blocks of {len(names)} sections"
        yield (
            f"1-{name}",
            Vector(file.bytes(), note, says_1(segments=[{"fine": [512, list(names)]}])),
        )
    held = [*segment(1, RICH), ("rag.columns", 1, 0, columns(4, rich_columns()), 4)]
    file = File().commit(held, rows=[(1, 4, 4)])
    note = "metadata as columns: all kinds of values, a path within another, one that is not stored"
    yield "1-columns", Vector(file.bytes(), note, says_1(segments=[{"rows": 4}]))
    yield from fields_of_words()
    yield from placed_words()
    yield from words_of_languages()
    yield from titled()
    pairs = [("c0000000000", "first"), ("c0000000001", "second-2")]
    at = 4096 + handmade.extent(len(keyword_section(pairs)(0)))
    sections = [
        ("keyword", 1, 0, keyword_section(pairs), 2),
        ("rag.keys", 1, 0, keys_section(pairs)(at), 2),
    ]
    data = File().commit(sections, rows=[(1, 2, 2)]).bytes()
    yield (
        "1-keyword",
        Vector(data, "keyword pairs and their companion", says_1(segments=[{"keys": [0, 1]}])),
    )
    wide = (
        File()
        .commit([("rag.tombs", 1, 0, tombs([0, 63, 64, 129], 130), 4)], rows=[(1, 130, 126)])
        .bytes()
    )
    yield (
        "1-tombs",
        Vector(wide, "a bitmap of three words", says_1(segments=[{"tombs": [0, 63, 64, 129]}])),
    )
    held = [
        ("rag.tombs", 1, 0, tombs([0, 63], 400), 2),
        ("rag.deleted", 1, 1, deleted([7, 64, 300, 399]), 4),
        ("rag.deleted", 2, 1, deleted([0, 2]), 2),
        ("rag.tombs", 3, 0, tombs([1], 2), 1),
        ("rag.deleted", 3, 1, b"", 0),
    ]
    yield (
        "1-deleted",
        Vector(
            File().commit(held, rows=[(1, 400, 394), (2, 3, 1), (3, 2, 1)]).bytes(),
            "lists of deleted rows: beside a bitmap, alone, and empty",
            says_1(
                segments=[{"tombs": [0, 7, 63, 64, 300, 399]}, {"tombs": [0, 2]}, {"tombs": [1]}]
            ),
        ),
    )


def fields_of_words():
    few = [(["red", "fox"], ["red"]), (["red", "red"], []), ([], ["fox", "den"])]
    many = [
        (["all"] * (i % 7 + 1) + ["w"] * (i == 5), ["all"] * (i != 3) + ["odd"] * (i == 9))
        for i in range(66)
    ]
    many[40] = ["all"] * 300, ["all"] * 2
    for name, rows in (("fields", few), ("fields-long", many)):
        file = File().commit(
            lexicons(rows, {"text": 1, "headers": 6}), rows=[(1, len(rows), len(rows))]
        )
        lengths = [[len(row[n]) for row in rows] for n in (0, 1)]
        whole = [text + 6 * headers for text, headers in zip(*lengths, strict=True)]
        words = [{"field": None, "lengths": whole}, {"field": 1, "lengths": lengths[1]}]
        note = f"words of two fields, the second with lists of its own, in {len(rows)} rows"
        yield f"1-{name}", Vector(file.bytes(), note, says_1(segments=[{"words": words}]))


def words_of_languages():
    """The words of "The insurances and the café", "Die Versicherungen und das Café" and "保险 docker"."""
    terms = {
        "insur": [(0, 1)], "cafe": [(0, 1)], "de:versicher": [(1, 1)], "de:caf": [(1, 1)],
        "保险": [(2, 1)], "保": [(2, 1)], "险": [(2, 1)], "docker": [(2, 1)],
    }  # fmt: skip
    postings, dictionary = lexicon([2, 2, 2], terms, "text:1", config=LANGUAGES)
    sections = [
        ("rag.postings", 1, 0, postings, 3), ("rag.terms", 1, 0, dictionary, 3),
    ]  # fmt: skip
    file = File().commit(sections, rows=[(1, 3, 3)])
    words = {
        "field": None,
        "lengths": [2, 2, 2],
        "terms": {term: [list(one) for one in rows] for term, rows in terms.items()},
    }
    note = (
        "words by rag-words-3 and with the mark of their language, in English, German and Chinese"
    )
    yield "1-languages", Vector(file.bytes(), note, says_1(segments=[{"words": [words]}]))


def placed_words():
    few = [["the", "red", "fox"], ["red", "red"]]
    many = [["the"] * (i % 3) + ["all", "of"] * (i % 4 == 1) + ["a"] for i in range(130)]
    many[7] = [*["of"] * 9, "rare", "the", "rare"]
    many[50:60] = [[]] * 10
    for name, rows in (("positions", few), ("positions-long", many)):
        sections, found = placed(rows, {"the", "of"})
        file = File().commit(sections, rows=[(1, len(rows), len(rows))])
        note = f"the places of words and stop words in the texts of {len(rows)} rows"
        yield f"1-{name}", Vector(file.bytes(), note, says_1(segments=[{"positions": found}]))


LINKS = [
    (0, "link", "b", (3, 5), None, None), (0, "wikilink", "[[größe", (3, 9), "part", None),
    (0, "source", "https://example.org/größe", None, None, None),
    (3, "link", "a/first", None, None, "a text"), (3, "link", "gone.md", (0, 0), None, None),
]  # fmt: skip
LONG = (3, "link", "a" * 400, None, None, None)
MEMBERS = [(0, "topic", "pods", None, None, None), (1, "topic", "nodes", None, None, None),
           (1, "topic", "pods", None, None, None)]  # fmt: skip


def linked(section, items, name="graph"):
    held = [*segment(1, DOCUMENTS, VECTORS), (name, 1, 0, section, items)]
    return File().commit(held, rows=[(1, 5, 5)]).bytes()


def links_of_documents():
    names = [("alias", 1), ("alias", 3), ("größe", 3)]
    nan = float("nan")
    matrices = [
        (0, 16, [[1.0], [2.0], [nan], [0.5]]),
        (1, 32, [[1.0, 0.25], [nan, nan], [3.0, 0.0]]),
    ]
    for case, note, edges, more in (
        ("graph", "links with and without places, and names", LINKS, {"names": names}),
        ("graph-none", "no links", [], {}),
        ("graph-features", "features of documents and of links", LINKS, {"matrices": matrices}),
        ("graph-packed", "links in a frame", [*LINKS, LONG], {"packed": frame}),
    ):
        ordered = sorted(edges, key=lambda edge: (edge[0], edge[3] or (0, 0)))
        section, found = links(ordered, **more)
        says = says_1(segments=[{"graph": found}])
        yield f"1-{case}", Vector(linked(section, len(edges)), note, says)
    section, found = links(MEMBERS, matrices=[(2, 32, [[1.0], [0.5]])])
    says = says_1(segments=[{"hypergraph": found}])
    note = "two sets of documents with weights"
    yield "1-hypergraph", Vector(linked(section, 3, "hypergraph"), note, says)


FILES = [b"", b"<p>page</p>", b"", b"\0\1\2" * 99]


def with_originals(files=FILES, items=2):
    raw = struct.pack(
        f"<{len(files) + 2}Q", len(files), *itertools.accumulate(map(len, files), initial=0)
    )
    return linked(stream(raw + b"".join(files)), items, "rag.original")


def originals_of_documents():
    found = [hashlib.sha256(one).hexdigest() if one else None for one in FILES]
    says = says_1(segments=[{"originals": found}])
    yield "1-originals", Vector(with_originals(), "the bytes of two files", says)


WEIGHTS = {0: {"fox": 1.0, "red": 0.5}, 2: {"red": 2.0, "##ing": 2.0**-16}, 4: {"größe": 65520.0}}


def weighed(section, items):
    held = [*segment(1, DOCUMENTS, VECTORS), ("rag.sparse", 1, 0, section, items)]
    return File().commit(held, rows=[(1, 5, 5)]).bytes()


def weights_of_terms():
    says = says_1(segments=[{"sparse": [WEIGHTS.get(row, {}) for row in range(5)]}])
    yield "1-sparse", Vector(weighed(*weights(WEIGHTS, 5)), "weights of terms of three rows", says)
    says = says_1(segments=[{"sparse": [{}] * 5}])
    yield "1-sparse-none", Vector(weighed(*weights({}, 5)), "weights of no terms", says)


def titled():
    entries = sorted(
        [(title_key("lilu", "mythology"), 0), (title_key("lilu"), 0), (title_key("lilu"), 1)]
    )
    held = [*segment(1, TITLED), ("rag.titles", 1, 0, titles(entries), 3)]
    note = "titles: one of two words and without its part in parentheses, one of a chunk, none, one of no row"
    found = says_1(segments=[{"titles": [list(entry) for entry in entries]}])
    yield "1-titles", Vector(File().commit(held, rows=[(1, 3, 3)]).bytes(), note, found)


POLICY = {"kind": "markdown", "size": 1000, "overlap": 200}
CONFIG = {"chunking": {**POLICY, "size": 500}, "dim": 3, "metric": "ip", "precision": 32}
STALE = [{"chunking": POLICY, "documents": ["a/first"]}]
ORIGIN = {
    "version": 1, "model_name": None, "created_at": None, "updated_at": None, "refs": [], "texts": [],
    "documents": {}, "index": {"head": "", "loose": {}}, "front": None, "sections": [], "pair": None,
}  # fmt: skip


def whole_file(config=CONFIG, stale=STALE, origin=ORIGIN):
    """A segment, and the sections of the whole file that are JSON."""
    raw = [
        value if isinstance(value, bytes) else json.dumps(value).encode()
        for value in (config, stale, origin)
    ]
    return [
        *segment(1, DOCUMENTS, VECTORS),
        ("rag.config", 0, 0, raw[0], 1),
        ("rag.stale", 0, 0, raw[1], 1),
        ("rag.origin", 0, 0, stream(raw[2]), 0),
    ]


FREQUENT = {"den": 1, "fox": 2, "foxes": 1, "red": 3}


def merged_segments(items=1, content=b""):
    """A segment of one row, and a commit that merges it with a new row."""
    documents = {name: (name, None, [(0, (0, 3), None)]) for name in ("new", "old")}
    old = segment(1, {"old": documents["old"]})
    file = File().commit(old, rows=[(1, 1, 1)])
    held = [*segment(2, documents), ("rag.merged", 0, 0, content, items)]
    return file.commit(held, rows=[(2, 2, 2)], drops=[(name, 1) for name, *_ in old]).bytes()


def hiding(ids, items=None):
    """A file without documents that deletes some from layers below it."""
    raw = ids if isinstance(ids, bytes) else json.dumps(ids).encode()
    count = len(ids) if items is None else items
    return File().commit([("rag.hidden", 0, 0, raw, count)]).bytes()


PAST = ["09f1c62a5e3b7d84", "57ab03c1d2e4f690"]


def remembering(names, items=None):
    """A file without documents that names generations from before."""
    raw = names if isinstance(names, bytes) else json.dumps(names).encode()
    return File().commit([("rag.past", 0, 0, raw, len(names) if items is None else items)]).bytes()


def about_files():
    """Sections of the whole file."""
    note = "a layer that deletes two documents from those below"
    yield "1-hidden", Vector(hiding(["a.md", "b"]), note, says_1(hidden=["a.md", "b"]))
    note = "a file that dropped generations, two of which it names"
    yield "1-past", Vector(remembering(PAST), note, says_1(past=PAST))
    data = File().commit(whole_file(), rows=[(1, 5, 5)]).bytes()
    says = says_1(config=CONFIG, stale=STALE, origin=ORIGIN)
    yield "1-records", Vector(data, "configuration, stale documents and origin", says)
    says = says_1(generation=2, merged=1, segments=[{"number": 2, "rows": 2}])
    yield "1-merged", Vector(merged_segments(), "a segment merged with a new row", says)
    held = [("rag.frequencies", 0, 0, frequencies(FREQUENT, 3, 9), 0)]
    says = says_1(frequencies={"rows": 3, "total_length": 9, "terms": FREQUENT})
    yield "1-frequencies", Vector(File().commit(held).bytes(), "rows by term of a dataset", says)


def listed_file(change_list=None, **more):
    """A segment whose sections are in a list."""
    held = segment(1, DOCUMENTS, VECTORS)
    return File().commit(held, rows=[(1, 5, 5)], lists=[1], change_list=change_list, **more)


def listed_sections():
    """Sections that rag.sections lists (2.8)."""
    says = says_1(segments=[{"rows": 5, "live": 5}])
    yield "1-sections", Vector(listed_file().bytes(), "a segment with a list of its sections", says)
    file = listed_file().commit([("rag.tombs", 1, 0, tombs([4], 5), 1)], rows=[(1, 5, 4)])
    later = segment(2, {"z": ("later", None, [(0, (0, 5), None)])})
    file.commit(
        [*later, ("rag.bare", 2, 1, tombs([0], 1), 1)], rows=[(1, 5, 4), (2, 1, 1)], lists=[2]
    )
    says = says_1(generation=3, segments=[{"tombs": [4], "live": 4}, {"bare": [0]}])
    yield "1-sections-two", Vector(file.bytes(), "two lists, and a section between them", says)
    file = File().commit(
        [("rag.tombs", 1, 0, tombs([4], 5), 1), *segment(1, DOCUMENTS, VECTORS)],
        rows=[(1, 5, 4)], lists=[1],
    )  # fmt: skip
    file.commit([("rag.tombs", 1, 0, tombs([0, 1, 4], 5), 3)], rows=[(1, 5, 2)])
    note = "a listed section that a later commit wrote again"
    says = says_1(generation=2, segments=[{"tombs": [0, 1, 4], "live": 2}])
    yield "1-sections-again", Vector(file.bytes(), note, says)


NOTHING = [float("nan")] * 3
SOME_VECTORS = [VECTORS[0], NOTHING, VECTORS[2], VECTORS[3], NOTHING]


def bare_rows():
    """Rows without a vector (3.9): in a segment with vectors, and in one without."""
    for bits in (16, 32):
        held = [
            *segment(1, DOCUMENTS, SOME_VECTORS, bits),
            ("rag.bare", 1, 1, tombs([1, 4], 5), 2),
            ("rag.sample", 1, 0, sample(DOCUMENTS, SOME_VECTORS, 2, bits, leave_out=[1, 4]), 2),
            ("rag.tombs", 1, 0, tombs([4], 5), 1),
        ]
        data = File().commit(held, rows=[(1, 5, 4)]).bytes()
        says = says_1(segments=[{"bare": [1, 4], "live": 4}])
        note = f"rows without a vector among others of {bits} bits, one of them deleted"
        yield f"1-bare-{bits}", Vector(data, note, says)
    later = {"z": ("later", None, [(0, (0, 5), None)])}
    file = File().commit(segment(1, later), rows=[(1, 1, 1)])
    added = [("rag.bare", 1, 1, tombs([0], 1), 1), *segment(2, DOCUMENTS, VECTORS)]
    file.commit(added, rows=[(1, 1, 1), (2, 5, 5)])
    says = says_1(segments=[{"bare": [0]}, {"live": 5}])
    yield "1-bare-segment", Vector(file.bytes(), "a segment without vectors beside one with", says)


def surrogates():
    raw = "a\ud800b".encode("utf-8", "surrogatepass")
    chunk, document = (
        struct.pack("<6IQ", 0, 0, 0, 5, 0, 3, 0),
        struct.pack("<QIIQIIQII16x", 0, 5, 5, 0, 0, 1, 0, 1, 3),
    )
    return [
        ("rag.text", 1, 0, stream(raw), 1), ("rag.meta", 1, 0, stream(b""), 1), ("rag.chunks", 1, 0, chunk, 1),
        ("rag.documents", 1, 0, document, 1), ("rag.ids", 1, 0, struct.pack("<3Q", 1, 0, 1) + b"s", 1),
    ]  # fmt: skip


def vectors():
    found = {"0-golden-176": golden()}
    for group in (
        matrix_of_shapes,
        written,
        odd_pairs,
        odd_vectors,
        companions,
        containers,
        knowledge,
        shadows,
        clustered,
        about_files,
        listed_sections,
        links_of_documents,
        weights_of_terms,
        originals_of_documents,
    ):
        for name, vector in group():
            assert name not in found
            found[name] = vector
    return found
