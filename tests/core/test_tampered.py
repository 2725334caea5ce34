"""Each number of each kind of section, set to what a liar would set it to: the section is refused, or answers.

The sections are small and whole; nothing but the number is wrong. A call ends in an answer or in one of ragfile's own errors.
"""

import contextlib
import itertools
import json
import os
import random
import struct
import tempfile

import numpy as np
import pytest
from core.test_clusters import topics
from core.test_vectors_planes import uneven
from crash.starving import PLAIN, some_texts
from effort import FULL
from oracles.clusters import made
from oracles.vectors import shadow_of

import ragfile
from ragfile import _core
from ragfile.errors import FormatError

TEMPTING = [
    0, 1, 2, 3, 7, 8, 64, 255, 256, 4095, 65535, 65536, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1,
    2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 64, 2**64 - 1,
]  # fmt: skip
FLOATS = [0.0, -1.0, 1.5, 1e30, float("inf"), float("-inf"), float("nan")]


def changes(data, whole, seed=1):
    """The section with one number changed, for each of its first `whole` bytes and some of the rest; and cut short."""
    rng = random.Random(seed)
    places = list(range(0, min(whole, len(data) - 8), 4))
    places += [rng.randrange(len(data) - 8) for _ in range(300)]
    for at in places:
        old4, old8 = struct.unpack_from("<I", data, at)[0], struct.unpack_from("<Q", data, at)[0]
        near = [old4 + 1, old4 - 1, old4 ^ 1, old4 + 64, old4 - 64, 2 * old4]
        for value in [*TEMPTING, *near]:
            yield put(data, at, struct.pack("<I", value & 0xFFFFFFFF))
        for value in [*TEMPTING[-8:], old8 + 1, old8 - 1, old8 + 64, old8 - 64]:
            yield put(data, at, struct.pack("<Q", value & 0xFFFFFFFFFFFFFFFF))
        for value in FLOATS:
            yield put(data, at, struct.pack("<f", value))
            yield put(data, at, struct.pack("<d", value))
        yield put(data, at, bytes([data[at] ^ 1 << rng.randrange(8)]))
    for size in {*range(0, min(len(data), 80)), *rng.choices(range(len(data)), k=60)}:
        yield data[:size]
        yield data + bytes(size)


def put(data, at, raw):
    return data[:at] + raw + data[at + len(raw) :]


def section(data, name="rag.x"):
    return _core.Section.over(bytes(data), name)


def vectors():
    rows = topics(70, 16)
    return rows, _core.Matrix(rows, *rows.shape)


def stream():
    out = bytearray()
    builder = _core.StreamBuilder(out.extend, 4096)
    for i in range(40):
        builder.write(b"some words and some more " * 20 + bytes([i]))
    builder.write(random.Random(2).randbytes(5000))
    builder.finish()

    def read(data):
        made = _core.Stream(section(data))
        return made.read(0, 100), made.read(4090, 12000), made.places(0, 25000)

    return bytes(out), 0, read


def records(tampered):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with ragfile.create(path, created=1) as writer:
            for i in range(6):
                shared = {"doc_id": f"d{i}" * (i + 1), "metadata": {"n": i}}
                writer.add([shared | {"chunk_index": k, "content": "words"} for k in range(2)])
        reader = _core.Reader(_core.Map(path))
        names = ("rag.chunks", "rag.documents", "rag.ids")
        tables = [bytes(reader.section(name, 1)) for name in names]

    def read(data):
        parts = [section(data if i == tampered else table) for i, table in enumerate(tables)]
        found = _core.Records(*parts)
        return (
            [found.chunk(row) for row in range(min(len(found), 20))],
            [found.document(i) for i in range(min(found.documents, 9))],
            [found.place(i) for i in range(min(found.documents, 9))],
            found.find("d0"), found.find("d5" * 6), found.row(1, 1), found.sample(4),
            found.id_hashes(), found.documents_of_rows(), found.stretches(True),
        )  # fmt: skip

    return tables[tampered], 400, read


def fine():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        writer = _core.FileWriter.create(path)
        segment = writer.segment()
        writer.rows(segment, 1)
        writer.grain(4096)
        for name in ("rag.docs", "rag.ids"):
            writer.add(name, bytes(range(256)) * 50, segment, items=1)
        writer.fine(segment)
        writer.commit()
        reader = _core.Reader(_core.Map(path))
        data = bytes(reader.section("rag.fine", segment))
    return data, 120, lambda data: _core.fine_sums(section(data))


def sample():
    rows = topics(300, 12)
    stored = _core.stored_sample([(7 * i, i) for i in range(30)], rows[:30])

    def read(data):
        made = _core.StoredSample(section(data), 300, 12, 32)
        return made.pairs(), made.vectors.tobytes()

    return bytes(stored), 600, read


def columns():
    builder, out = _core.ColumnsBuilder(), bytearray()
    for i in range(80):
        deep = {"a": [i % 3, None, "x" * (i % 5), True], "b": {"c": i / 7, "d": -(10**19)}}
        fields = {"metadata": {"n": i, "t": f"t{i % 9}", "deep": deep}, "tags": ["even"] * (i % 2)}
        builder.document(json.dumps(fields).encode())
        builder.rows(b'{"metadata": {"own": %d}}' % i, 2)
    builder.finish(out.extend)

    def read(data):
        stored = _core.StoredColumns(section(data), 160)
        found = [stored.names()]
        for i in range(len(stored)):
            with contextlib.suppress(ValueError):  # a column whose values are not stored
                column = stored.column(i)
                found.append((column.codes().tobytes(), repr(column.values())))
        return found

    return bytes(out), 1200, read


def plain_shadow():
    rows, matrix = vectors()

    def read(data):
        made = _core.Matrix(rows, *rows.shape, shadow=data)
        with contextlib.suppress(FormatError):
            made.check_shadow()
        return made.nearest(rows[:2], 3)

    return shadow_of(matrix, rotate=False), 400, read


def planes():
    rows = uneven(1024, 96, fall=0.93)
    matrix = _core.Matrix(rows, *rows.shape)

    def read(data):
        made = _core.Matrix(rows, *rows.shape, shadow=data)
        with contextlib.suppress(FormatError):
            made.check_shadow()
        return made.nearest(rows[:2], 3)

    return shadow_of(matrix), 200, read


def clusters():
    rows = topics(900, 16)
    table, placed = made(rows, 30, threads=1)

    def read(data):
        found = _core.Matrix(rows, *rows.shape, shadow=placed, clusters=data)
        with contextlib.suppress(FormatError):
            found.check_shadow()
        return found.nearest(rows[:2], 3, effort=0.3), found.nearest(rows[:20], 3)

    return bytes(table), 900, read


def lexical(of_terms):
    postings, terms = bytearray(), bytearray()
    builder = _core.LexicalBuilder(PLAIN)
    builder.add(some_texts(250))
    builder.finish(postings.extend, terms.extend)

    def read(data):
        parts = (data, postings) if of_terms else (terms, data)
        found = _core.Lexicon(section(parts[0], "rag.terms"), section(parts[1], "rag.postings"))
        return (
            found.match(["w1 w2 wa", "w7"], 5), found.rows("w1"), found.score([1, 2, 9], "w1 w3"),
            found.beginning("w1"), found.near("w11", 2), list(found.vocabulary()), found.lengths(),
        )  # fmt: skip

    return bytes(terms if of_terms else postings), 500, read


def frequencies():
    counted = bytearray()
    parts = [lexicon_of(some_texts(60, seed)) for seed in range(4)]
    _core.merge_frequencies([(one, None, False) for one in parts], counted.extend, 240, 900)

    def read(data):
        table = _core.Frequencies(section(data, "rag.frequencies"))
        return table.df("w1"), table.beginning("w1"), table.near("w11", 1), table.df("zz")

    return bytes(counted), 400, read


def lexicon_of(texts):
    postings, terms = bytearray(), bytearray()
    builder = _core.LexicalBuilder(PLAIN)
    builder.add(texts)
    builder.finish(postings.extend, terms.extend)
    return _core.Lexicon(section(terms, "rag.terms"), section(postings, "rag.postings"))


def vector_head():
    data = _core.vector_head(4096, 8, 32, 20) + bytes(20 * 48)

    def read(data):
        return _core.vector_layout(section(data, "vector"), 4096)

    return data, 64, read


def faiss():
    rows = np.arange(160, dtype="<f4")
    data = _core.faiss_flat_head(8, 20, True) + rows.tobytes()
    return bytes(data), 64, _core.faiss_read


KINDS = {
    "stream": stream, "sample": sample, "columns": columns, "shadow": plain_shadow, "planes": planes,
    "clusters": clusters, "terms": lambda: lexical(True), "postings": lambda: lexical(False),
    "frequencies": frequencies, "vector": vector_head, "faiss": faiss, "fine": fine,
    "chunks": lambda: records(0), "documents": lambda: records(1), "ids": lambda: records(2),
}  # fmt: skip
STEPS = {"clusters": 31, "planes": 31}  # these look at every row


@pytest.mark.parametrize("kind", KINDS)
def test_a_section_with_one_false_number_is_refused_or_answers(kind):
    data, whole, read = KINDS[kind]()
    read(data)
    refused = tried = 0
    step = STEPS.get(kind, 1 if FULL else 7)
    for changed in itertools.islice(changes(data, whole), 0, None, step):
        tried += 1
        try:
            read(changed)
        except FormatError:
            refused += 1
    assert 0 < refused < tried


class Refused(Exception):
    """What a place to write to raises that takes no more."""


def takes(count):
    """A function that takes so many pieces, and refuses the next."""
    left = iter(range(count))

    def write(piece):
        if next(left, None) is None:
            raise Refused

    return write


def lexical_sections(write):
    builder = _core.LexicalBuilder(PLAIN)
    builder.add(some_texts(250))
    builder.finish(write, write)


def merged_frequencies(write):
    parts = [(lexicon_of(some_texts(60, seed)), None, False) for seed in range(3)]
    _core.merge_frequencies(parts, write, 180, 900)


def written_clusters(write):
    rows = topics(900, 16)
    matrix = _core.Matrix(rows, *rows.shape)
    table = _core.Clustering(matrix, 30, 1)
    offsets = table.order.astype(np.uint64) * np.uint64(rows.strides[0])
    table.measure(_core.Matrix(rows, *rows.shape, offsets=offsets))
    table.write(write)


def written_shadow(write):
    _core.Shadow(vectors()[1]).write(write)


def written_columns(write):
    builder = _core.ColumnsBuilder()
    for i in range(80):
        builder.document(b'{"metadata": {"n": %d, "t": "t%d"}}' % (i, i % 7))
        builder.rows(b"", 2)
    builder.finish(write)


@pytest.mark.parametrize(
    "make",
    [lexical_sections, merged_frequencies, written_clusters, written_shadow, written_columns],
)
def test_a_place_that_takes_no_more_is_told_whichever_piece_it_refuses(make):
    pieces = []
    make(pieces.append)
    for count in {*range(min(len(pieces), 40)), len(pieces) - 1}:
        with pytest.raises(Refused):
            make(takes(count))
    make(takes(len(pieces)))


FIELDS = (
    rb'{ "tags" : [ "a" , "\u00e9" ] , "metadata" : { "n" : -12.5e+3 , "big" : -9223372036854775809 ,'
    rb' "t" : "\ud83d\ude00 \ud83d x\n\"" , "nul" : null , "yes" : true , "no" : false ,'
    rb' "list" : [ 1 , [ ] , { } , { "a" : 0.5E-2 } ] , "deep" : { "x" : { "y" : 0 } } } , "z" : 3 }'
)


def columns_of(raw):
    """The columns that a document's fields make, or None where they make none."""
    builder, out = _core.ColumnsBuilder(), bytearray()
    for _ in range(40):
        builder.document(raw)
        builder.rows(b"", 1)
    if builder.is_spoilt:
        return None
    builder.finish(out.extend)
    return _core.StoredColumns(section(out), 40).names()


def is_json(raw):
    try:
        return isinstance(json.loads(raw), dict)
    except ValueError:
        return False


def test_fields_that_are_no_json_make_no_columns():
    assert is_json(FIELDS)
    wanted = columns_of(FIELDS)
    assert wanted
    for at in range(len(FIELDS)):
        assert columns_of(FIELDS[:at]) is None or at == 0
        for byte in b' \x00"\\{}[]:,0.eE+-u\xff\x80':
            changed = FIELDS[:at] + bytes([byte]) + FIELDS[at + 1 :]
            assert columns_of(changed) is None or is_json(changed), changed
