"""Measure recall and CPU time of approximate searches (`effort` below exact), beside other engines.

    python bench/effort.py --passages P.jsonl.xz --questions short.txt long.txt --rows 1000000

The passages (one JSON object with a `text` per line, plain or .xz) are grown to the number of rows:
each row is part of one passage followed by part of a similar one. The built-in model embeds rows
and questions. All engines search the same vectors on one thread; recall is relative to our exact
answer. The others are faiss IVF and HNSW, hnswlib, usearch, svs, turbovec and zvec, if installed.
Times are CPU milliseconds per question, one at a time, the best of several rounds in turns; build
times are CPU seconds.
"""

import argparse
import json
import lzma
import sys
import tempfile
import time

import numpy as np
from vectors import bandwidth, ours_target

from ragfile import _core
from ragfile.embedding.protocol import StaticEmbedder

CHUNK = 20_000
EFFORTS = (0.0025, 0.005, 0.01, 0.02, 0.025, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
GOALS = (0.9, 0.95, 0.99)


def passages_of(path):
    """Return the words of each passage; equal words are the same object."""
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [[sys.intern(word) for word in json.loads(line)["text"].split()] for line in file]


def stretch(words, least, most, rng):
    count = int(rng.integers(least, most))
    at = int(rng.integers(0, max(1, len(words) - count + 1)))
    return words[at : at + count]


def grown(passages, first, count, rng, words=(30, 100, 20, 60)):
    """Generate new texts: words of one passage, then words of a similar one."""
    for i in range(first, first + count):
        one = passages[i % len(passages)]
        near = min(len(passages) - 1, max(0, i % len(passages) + int(rng.integers(-4, 5))))
        yield " ".join(stretch(one, *words[:2], rng) + stretch(passages[near], *words[2:], rng))


def embedded(args):
    """Return (rows, questions)."""
    model, rng = StaticEmbedder(threads=1), np.random.default_rng(1)
    passages = passages_of(args.passages)
    rows = np.empty((args.rows, 256), np.float32)
    for first in range(0, args.rows, CHUNK):
        count = min(CHUNK, args.rows - first)
        rows[first : first + count] = model.embed(list(grown(passages, first, count, rng)))
    texts = [line.rstrip("\n") for path in args.questions for line in open(path)]  # noqa: SIM115
    asked = model.embed(texts, "query")
    asked = asked[np.linalg.norm(asked, axis=1) > 0.5]
    return rows, asked[np.random.default_rng(3).permutation(len(asked))[: args.asked]]


class Ours:
    """Rows, shadow and clusters in mapped files. A setting is an effort; None is exact."""

    name, settings = "ragfile", EFFORTS

    def __init__(self, rows, folder):
        count = len(rows)
        rows.tofile(f"{folder}/rows")
        mapped = np.memmap(f"{folder}/rows", np.float32, "r", shape=rows.shape)
        matrix = _core.Matrix(mapped, *rows.shape)
        clusters = _core.Clustering(matrix, count // 256)
        offsets = clusters.order.astype(np.uint64) * np.uint64(mapped.strides[0])
        placed = _core.Matrix(mapped, *rows.shape, offsets=offsets)
        clusters.measure(placed)
        self._write(f"{folder}/clusters", clusters)
        self._write(f"{folder}/shadow", _core.Shadow(matrix, placed=placed))
        sections = [np.memmap(f"{folder}/{name}", np.uint8, "r") for name in ("shadow", "clusters")]
        self.matrix = _core.Matrix(mapped, *rows.shape, shadow=sections[0], clusters=sections[1])

    def _write(self, path, section):
        with open(path, "wb") as file:
            section.write(file.write)

    def search(self, query, k, effort):
        return self.matrix.nearest(query, k, threads=1, effort=effort or 1.0)[0][0]

    def told(self, queries, k, effort):
        recall = np.empty(len(queries))
        self.matrix.nearest(queries, k, threads=1, effort=effort, recall=recall)
        return recall


class Plain:
    """Exact search of a file without clusters."""

    name, settings = "ragfile, without clusters", ()

    def __init__(self, rows, folder):
        mapped = np.memmap(f"{folder}/rows", np.float32, "r", shape=rows.shape)
        shadow = _core.Shadow(_core.Matrix(mapped, *rows.shape))
        with open(f"{folder}/plain", "wb") as file:
            shadow.write(file.write)
        section = np.memmap(f"{folder}/plain", np.uint8, "r")
        self.matrix = _core.Matrix(mapped, *rows.shape, shadow=section)

    def search(self, query, k, setting):
        return self.matrix.nearest(query, k, threads=1)[0][0]


class FaissIvf:
    name, settings = "faiss IVF-Flat", (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

    def __init__(self, rows, folder):
        import faiss

        faiss.omp_set_num_threads(1)
        quantizer = faiss.IndexFlatIP(rows.shape[1])
        self.index = faiss.IndexIVFFlat(
            quantizer, rows.shape[1], max(16, len(rows) // 256), faiss.METRIC_INNER_PRODUCT
        )
        self.index.cp.niter = 8
        self.index.cp.max_points_per_centroid = 48
        self.index.train(rows)
        self.index.add(rows)

    def search(self, query, k, setting):
        self.index.nprobe = setting
        return self.index.search(query[None], k)[1][0]


class FaissHnsw:
    name, settings = "faiss HNSW 32", (16, 32, 64, 128, 256, 512, 1024, 2048)

    def __init__(self, rows, folder):
        import faiss

        faiss.omp_set_num_threads(1)
        self.index = faiss.IndexHNSWFlat(rows.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
        self.index.hnsw.efConstruction = 100
        self.index.add(rows)

    def search(self, query, k, setting):
        self.index.hnsw.efSearch = setting
        return self.index.search(query[None], k)[1][0]


class Usearch:
    name, settings = "usearch", (16, 32, 64, 128, 256, 512, 1024, 2048)

    def __init__(self, rows, folder):
        from usearch.index import Index

        self.index = Index(ndim=rows.shape[1], metric="ip", dtype="f32", expansion_add=100)
        self.index.add(np.arange(len(rows)), rows, threads=1)

    def search(self, query, k, setting):
        self.index.expansion_search = setting
        return self.index.search(query, k, threads=1).keys


class Hnswlib:
    name, settings = "hnswlib", (16, 32, 64, 128, 256, 512, 1024, 2048)

    def __init__(self, rows, folder):
        import hnswlib

        self.index = hnswlib.Index("ip", rows.shape[1])
        self.index.init_index(len(rows), M=16, ef_construction=100)
        self.index.set_num_threads(1)
        self.index.add_items(rows)

    def search(self, query, k, setting):
        self.index.set_ef(max(setting, k))
        return self.index.knn_query(query[None], k, num_threads=1)[0][0]


class SvsVamana:
    """Intel's Scalable Vector Search: a graph over the original vectors."""

    name, settings = "svs Vamana 32", (10, 16, 32, 64, 128, 256, 512, 1024)

    def __init__(self, rows, folder):
        import svs

        graph = svs.VamanaBuildParameters(graph_max_degree=32, window_size=100)
        self.index = svs.Vamana.build(graph, rows, svs.DistanceType.MIP, num_threads=1)

    def search(self, query, k, setting):
        self.index.search_window_size = max(setting, k)
        return self.index.search(query, k)[0][0]


class Turbovec:
    """Rows quantised to the bits of the setting; every row is read."""

    name, settings = "turbovec", (2, 3, 4)

    def __init__(self, rows, folder):
        from turbovec import TurboQuantIndex

        self.indexes = {}
        for bits in self.settings:
            self.indexes[bits] = TurboQuantIndex(rows.shape[1], bits)
            self.indexes[bits].add(rows)
            self.indexes[bits].prepare()

    def search(self, query, k, setting):
        return self.indexes[setting].search(query[None], k)[1][0]


class Zvec:
    """A graph in a mapped collection on disk."""

    name, settings = "zvec HNSW 32", (16, 32, 64, 128, 256, 512, 1024, 2048)

    def __init__(self, rows, folder):
        import zvec

        zvec.init(query_threads=1, optimize_threads=1, log_level=zvec.LogLevel.ERROR)
        graph = zvec.HnswIndexParam(metric_type=zvec.MetricType.IP, m=32, ef_construction=100)
        field = zvec.VectorSchema("v", zvec.DataType.VECTOR_FP32, rows.shape[1], graph)
        schema = zvec.CollectionSchema("rows", vectors=field)
        self.collection = zvec.create_and_open(f"{folder}/zvec", schema)
        for first in range(0, len(rows), 1000):
            part = enumerate(rows[first : first + 1000], first)
            self.collection.insert([zvec.Doc(str(i), vectors={"v": row}) for i, row in part])
        self.collection.optimize()
        self.asked = lambda query, ef: zvec.Query(
            "v", vector=query, param=zvec.HnswQueryParam(ef=ef)
        )

    def search(self, query, k, setting):
        found = self.collection.query(self.asked(query, setting), topk=k)
        return [int(one.id) for one in found]


PEERS = {
    "ivf": FaissIvf, "hnsw": FaissHnsw, "usearch": Usearch, "hnswlib": Hnswlib, "svs": SvsVamana,
    "turbovec": Turbovec, "zvec": Zvec,
}  # fmt: skip


def built(kind, rows, folder):
    """Return (contestant, CPU seconds), or None if its package is missing."""
    began = time.process_time()
    try:
        return kind(rows, folder), time.process_time() - began
    except ImportError as error:
        print(f"  ({kind.name} left out: {error})")
        return None


def once(one, asked, k, setting):
    began = time.process_time()
    for query in asked:
        one.search(query, k, setting)
    return (time.process_time() - began) / len(asked) * 1e3


def curve(one, asked, k, truth, rounds):
    """Return [{setting, recall, ms}] of a contestant."""
    found = []
    for setting in one.settings:
        answers = [one.search(query, k, setting) for query in asked]
        pairs = zip(answers, truth, strict=True)
        recall = np.mean([len({int(r) for r in a} & set(b)) / k for a, b in pairs])
        ms = min(once(one, asked[:100], k, setting) for _ in range(rounds))
        found.append({"setting": setting, "recall": float(recall), "ms": ms})
        if isinstance(one, Ours):
            told = one.told(asked, k, setting)
            found[-1] |= {"told": float(told.mean()), "proven": float((told == 1).mean())}
    return found


def at(goal, points):
    """Return the time at a recall, interpolated between settings; None if it is not reached."""
    points = sorted(points, key=lambda point: point["recall"])
    for low, high in zip([points[0], *points], points, strict=False):
        if high["recall"] >= goal:
            span = high["recall"] - low["recall"]
            share = (goal - low["recall"]) / span if span > 0 and low["recall"] < goal else 1.0
            return (
                low["ms"] + share * (high["ms"] - low["ms"]) if low["recall"] < goal else low["ms"]
            )
    return None


def report(args, rows, asked):
    out = {"cpu": ours_target(), "GB/s": bandwidth(rows), "rows": len(rows), "k": args.k, "of": {}}
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        ours, seconds = built(Ours, rows, folder)
        plain, before = built(Plain, rows, folder)
        truth = [plain.search(query, args.k, None).tolist() for query in asked]
        assert truth == [ours.search(query, args.k, None).tolist() for query in asked]
        kinds = [(plain, before), (ours, seconds)]
        times = {one.name: [] for one, _ in kinds}
        for _ in range(args.rounds):
            for one, _ in kinds:
                times[one.name].append(once(one, asked[:100], args.k, None))
        for one, took in kinds:
            out["of"][one.name] = {"exact": min(times[one.name]), "build": took, "curve": []}
        out["of"]["ragfile"]["curve"] = curve(ours, asked, args.k, truth, args.rounds)
        show("ragfile", out)
        for name in args.peers:
            made = built(PEERS[name], rows, folder)
            if made is None:
                continue
            points = curve(made[0], asked, args.k, truth, args.rounds)
            out["of"][made[0].name] = {"build": made[1], "curve": points}
            show(made[0].name, out)
            del made
    return out


def show(name, out):
    found, exact = out["of"][name], out["of"]["ragfile, without clusters"]["exact"]
    print(
        f"\n{name}: built in {found['build']:.1f} s of CPU; exact without clusters {exact:.3f} ms"
    )
    for point in found["curve"]:
        told = (
            f", told {point['told']:.3f}, proven {point['proven']:.2f}" if "told" in point else ""
        )
        print(
            f"  {point['setting']}: recall {point['recall']:.4f}{told}, {point['ms']:.3f} ms",
            flush=True,
        )
    for goal in GOALS if found["curve"] else ():
        ms = at(goal, found["curve"])
        print(
            f"  at {goal}: "
            + ("not reached" if ms is None else f"{ms:.3f} ms, {exact / ms:.1f}× exact")
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--asked", type=int, default=300, help="questions for recall")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--folder", help="a folder for temporary files")
    parser.add_argument("--json", help="write the numbers here")
    args = parser.parse_args()
    found = report(args, *embedded(args))
    if args.json:
        with open(args.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
