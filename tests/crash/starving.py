"""What starve_core.py starves: for each part of the core a small case that goes through all of it.

Each function takes a folder, prepares what it needs, and returns the call; what the call answers compares equal whenever
nothing failed.
"""

import json
import random

import numpy as np
from core.test_bm25_fields import FIELDS, some_rows, with_fields
from core.test_clusters import odd, topics
from core.test_vectors_planes import uneven
from embedding.test_protocol import small_model
from file.test_pairs_reference import Script
from oracles.clusters import made
from oracles.vectors import shadow_of
from places import ROOT

import ragfile
from ragfile import _core
from ragfile.file.pairs import PairFile
from ragfile.file.pairs_writer import write_pairs
from ragfile.file.source import opened_map
from ragfile.ingest.analysis import Analysis

PLAIN = Analysis(stemmer="none", stop_words="none")
KEY, OTHER = b"\1" * 32, b"\2" * 32
LETTERS = [f"w{n:x}" for n in range(200)]


def shown(arrays):
    """What a search found, as bytes."""
    return [np.asarray(array).tobytes() for array in arrays if array is not None]


def some_texts(count, seed=1):
    rng = random.Random(seed)
    return [" ".join(rng.choices(LETTERS, k=rng.randint(1, 12))) for _ in range(count)]


def row_set(count, step):
    """The set of each step-th of so many rows."""
    return _core.row_set(np.arange(count) % step == 0, count)


def section(data, name="rag.x"):
    return _core.Section.over(bytes(data), name)


# ------------------------------------------------------------------------------------------------------------- vectors


def plain_vectors(folder):
    rows = odd(topics(700, 20))
    half = topics(300, 20, seed=4).astype(np.float16)
    where = np.arange(700) % 3 > 0

    def call(_):
        matrix = _core.Matrix(rows, *rows.shape, metric="ip")
        small = _core.Matrix(half, 300, 20, dtype="f16", metric="ip")
        return [
            *shown(matrix.nearest(rows[50:70], 5, where=where, threads=2)),
            *shown(matrix.nearest(rows[50], 9)),
            *shown(small.nearest(rows[50:53], 5)),
            *shown(_core.nearest([matrix, small], rows[50:80], 5)),
            matrix.scores([1, 3, 7], rows[2]).tobytes(),
        ]

    return call


def shadowed_vectors(folder):
    rows = odd(topics(600, 24))
    least = np.full(40, 0.2, np.float32)
    numbers = np.arange(20, dtype=np.uint32) % 2
    sets = [[row_set(600, 2)], [None]]

    def call(_):
        matrix = _core.Matrix(rows, *rows.shape)
        matrix = _core.Matrix(rows, *rows.shape, shadow=shadow_of(matrix))
        matrix.check_shadow()
        filters = _core.Filters(numbers, sets)
        return [
            *shown(matrix.nearest(rows[40:80], 5, threads=2, least=least)),
            *shown(matrix.nearest(rows[40:60], 5, where=filters)),
            *shown(matrix.nearest(rows[50], 9, where=np.arange(600) % 5 > 0)),
            matrix.bounds(list(range(9)), rows[50]).tobytes(),
        ]

    return call


def planes(folder):
    rows = uneven(4096, 96, fall=0.93)

    def call(_):
        matrix = _core.Matrix(rows, *rows.shape)
        matrix = _core.Matrix(rows, *rows.shape, shadow=shadow_of(matrix))
        matrix.check_shadow()
        return shown(matrix.nearest(rows[:2], 9)) + shown(matrix.nearest(rows[:40], 3))

    return call


def clusters(folder):
    rows = topics(900, 16)

    def call(_):
        table, placed = made(rows, 30, threads=2)
        matrix = _core.Matrix(rows, *rows.shape, shadow=placed, clusters=table)
        matrix.check_shadow()
        recall = np.zeros(4)
        found = matrix.nearest(rows[:4], 5, effort=0.2, recall=recall, where=np.arange(900) > 50)
        most = matrix.nearest(rows[:20], 5)
        return [*shown(found), recall.tobytes(), *shown(most), matrix.cluster_rows()]

    return call


def samples(folder):
    rows = topics(300, 12)
    pairs = [(7 * i, i) for i in range(30)]

    def call(_):
        stored = _core.stored_sample(pairs, rows[:30])
        sample = _core.StoredSample(section(stored), 300, 12, 32)
        return (
            _core.Sample(rows).moments(rows[0]), sample.pairs(), sample.vectors.tobytes(),
            _core.moments(rows[0]),
        )  # fmt: skip

    return call


# ------------------------------------------------------------------------------------------------------------ words


def lexicon(texts, folder, memory=1 << 28):
    builder = _core.LexicalBuilder(PLAIN, memory=memory, directory=str(folder))
    builder.add(texts)
    parts = [bytearray(), bytearray()]
    builder.finish(parts[0].extend, parts[1].extend)
    return _core.Lexicon(section(parts[1], "rag.terms"), section(parts[0], "rag.postings"))


def words(folder):
    texts = some_texts(250)

    def call(folder):
        found = lexicon(texts, folder)
        where = row_set(250, 3)
        filters = _core.Filters(np.array([0, 1], np.uint32), [[where], [None]])
        return [
            *shown(found.match(["w1 w2 wa", "w7"], 5, where=where, threads=2)),
            *shown(found.match(["w1 w2 wa", "w7"], 5, where=filters)),
            *shown(found.rows("w1")), found.score([1, 2, 9], "w1 w3").tobytes(),
            found.beginning("w1"), found.near("w11", 2), found.df("w1", where),
            len(list(found.vocabulary())), found.lengths().tobytes(), found.live(where),
        ]  # fmt: skip

    return call


def spilled_words(folder):
    texts = some_texts(900)
    return lambda folder: lexicon(texts, folder, memory=1 << 12).match(["w1 w2"], 5)[0].tolist()


def fields(folder):
    rows = some_rows(5, 60)

    def call(_):
        found = with_fields(rows, FIELDS)
        all_of = _core.Lexicons([(found, None, 0)])
        asked = all_of.weighed(["w1 w2", "w5"], [], [1, 0, 5])
        all_of.count(asked)
        return [*shown(all_of.match(asked, 5, [None])), all_of.field_lengths()]

    return call


def several_lexicons(folder):
    parts = [some_texts(60, seed) for seed in range(4)]

    def call(folder):
        found = [lexicon(part, folder) for part in parts]
        alive = row_set(60, 2)
        all_of = _core.Lexicons([(one, alive, 60 * i) for i, one in enumerate(found)])
        asked = all_of.queries(["w1 w2", "w3 w4 w5 w6"], ["w9"])
        all_of.count(asked)
        counted = bytearray()
        _core.merge_frequencies([(one, None, False) for one in found], counted.extend, 240, 900)
        table = _core.Frequencies(section(counted, "rag.frequencies"))
        return [
            *shown(all_of.match(asked, 5, [None] * 4, threads=2)),
            all_of.score(np.array([1, 60, 130]), asked).tobytes(),
            table.df("w1"), table.beginning("w1"), table.near("w11", 1),
            table.queries(["w1 w2"]).frequencies(),
        ]  # fmt: skip

    return call


def model(folder):
    def call(_):
        read = _core.StaticModel(small_model())
        out = np.empty((3, 32), np.float32)
        read.embed(["abc", "abd [PAD]", ""], out, threads=2)
        return read.tokens("abcabc é"), out.tobytes()

    return call


# -------------------------------------------------------------------------------------------------------------- columns


def columns(folder):
    def metadata(i):
        deep = {"a": [i % 3, None, "x" * (i % 5)], "b": {"c": i / 7}}
        return {"metadata": {"n": i, "t": f"t{i % 9}", "deep": deep}, "tags": ["even"] * (i % 2)}

    def call(_):
        builder, out = _core.ColumnsBuilder(), bytearray()
        for i in range(80):
            builder.document(json.dumps(metadata(i)).encode())
            builder.rows(b'{"metadata": {"own": %d}}' % i, 2)
        builder.finish(out.extend)
        stored = _core.StoredColumns(section(out), 160)
        every = [stored.column(i) for i in range(len(stored))]
        return stored.names(), [(c.codes().tobytes(), repr(c.values())) for c in every]

    return call


# ---------------------------------------------------------------------------------------------------------------- pairs


def pairs(folder):
    path = folder / "pairs.ragfile"
    keywords = [(f"k{i % 20}", f"content {i}") for i in range(60)]
    vectors = [(np.arange(5, dtype=np.float32) + i, f"row {i}") for i in range(40)]

    def call(_):
        write_pairs(path, keywords=keywords, embeddings=vectors)
        with PairFile(path) as file:
            return [file.lookup("k3"), file.dim, file.count]

    return call


def remnants(folder):
    script = Script()
    script.keywords([(f"word{i}", "something to say") for i in range(40)], 4)
    script.finish()
    data = bytes(script.data)

    def call(_):
        with PairFile.over(data, dialect="reference") as file:
            return repr(file.report)

    return call


# ---------------------------------------------------------------------------------------------------------------- files


def chunks(first, count):
    return [
        {"doc_id": f"d{i:03d}", "chunk_index": 0, "content": content, "metadata": {"n": i % 9}}
        for i, content in enumerate(some_texts(count, first), first)
    ]


def make_file(path, **options):
    """Three segments, some of their rows deleted."""
    rows = topics(120, 16)
    with ragfile.create(path, dim=16, clusters=4, created=1, **options) as writer:
        writer.add(chunks(0, 80), rows[:80])
    for first in (80, 100):
        with ragfile.edit(path, created=1) as writer:
            writer.add(chunks(first, 20), rows[first : first + 20])
            writer.delete([f"d{first - 3:03d}"])
    return rows


def hits_of(found):
    return [(hit.id, hit.score) for hit in found]


def searches(folder):
    path = folder / "kb.ragfile"
    rows = make_file(path)

    def call(_):
        with ragfile.open(path) as rf:
            asked = {"vector": rows[3], "cache": False, "k": 4}
            return [
                hits_of(rf.search("w1 w2", fusion=fusion, **asked))
                for fusion in ("calibrated", "rrf", "blend")
            ] + [
                hits_of(rf.search("w1 w2", mode=mode, where={"n": {"$gt": 3}}, **asked))
                for mode in ("bm25", "vector", "hybrid")
            ]  # fmt: skip

    return call


def one_call(folder):
    """A hybrid question to a file of one segment, which the core answers in one call."""
    path, rows = folder / "kb.ragfile", topics(120, 16)
    with ragfile.create(path, dim=16, created=1) as writer:
        writer.add(chunks(0, 120), rows)

    def call(_):
        with ragfile.open(path) as rf:
            asked = {"vector": rows[3], "cache": False, "k": 4}
            return [
                hits_of(rf.search("w1 w2", **asked)),
                hits_of(rf.search("w1 w2", where={"n": {"$gt": 3}}, **asked)),
            ]

    return call


def edits(folder):
    path = folder / "kb.ragfile"
    rows = make_file(path, parity=5)
    before = path.read_bytes()

    def call(_):
        path.write_bytes(before)
        with ragfile.edit(path, created=1) as writer:
            writer.add(chunks(120, 9), rows[:9])
            writer.delete(["d001"])
        after = path.read_bytes()
        ragfile.compact(path)
        return after, path.read_bytes()

    return call


def builds(folder):
    path = folder / "built.ragfile"
    rows = topics(100, 16)

    def call(_):
        with ragfile.create(path, dim=16, created=1) as writer:
            writer.add(chunks(0, 100), rows)
        return path.read_bytes()

    return call


def repairs(folder):
    path = folder / "kb.ragfile"
    make_file(path, parity=30)
    good = path.read_bytes()
    bad = good[:9000] + bytes(3000) + good[12000:]

    def call(_):
        path.write_bytes(bad)
        ragfile.repair(path)
        return path.read_bytes() == good, ragfile.verify(path)[0]

    return call


def encrypted(folder):
    """An encrypted file with parity is edited, repaired without its key, given another one and verified."""
    path, rows = folder / "kb.ragfile", topics(120, 16)
    with ragfile.using_key(KEY):
        make_file(path, parity=5, key=KEY)
    before = path.read_bytes()

    def call(_):
        path.write_bytes(before)
        with ragfile.edit(path, key=KEY, created=1) as writer:
            writer.add(chunks(120, 9), rows[:9])
        good = path.read_bytes()
        path.write_bytes(good[:9000] + bytes(3000) + good[12000:])
        ragfile.repair(path)
        is_repaired = path.read_bytes() == good
        ragfile.rekey(path, key=KEY, add=OTHER)
        with ragfile.using_key(OTHER):
            return is_repaired, bytes(opened_map(str(path))), ragfile.verify(path)[0]

    return call


def readers(folder):
    """Every kept file, opened and verified, as bytes and by its name."""
    good = sorted((ROOT / "spec/vectors").glob("good-1-*s.ragfile"))

    def call(_):
        read = []
        for path in good:
            owner = _core.Map(path)
            reader = _core.Reader(owner)
            read.append((reader.commit["generation"], reader.verify(full=True)[0]))
        return read

    return call


def replacements(folder):
    path = folder / "made"

    def call(_):
        made = _core.Replacement(path)
        try:
            made.write(b"something")
            made.skip_to(100)
            made.truncate(64)
            size = len(made.mapped())
            made.publish()
        finally:
            made.close()
        held = _core.Held(path)
        held.close()
        return size, len(_core.Copy(path, 5000)), _core.writer_pid(path), len(path.read_bytes())

    return call


SCENARIOS = {
    each.__name__: each
    for each in (
        plain_vectors, shadowed_vectors, planes, clusters, samples, words, spilled_words, fields, several_lexicons,
        model, columns, pairs, remnants, searches, one_call, edits, builds, repairs, encrypted, readers,
        replacements,
    )
}  # fmt: skip
