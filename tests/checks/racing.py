"""Threads of one process at everything that they may share; race_module.py runs this under ThreadSanitizer.

Each round opens files anew, so that whatever is made when it is first asked for is made by several threads
at once. Threads ask in every mode, one by one and in batches, with filters, and read one another's hits;
others refresh beside a writer, close files under questions, verify, repair, build and embed. Every answer
must be the one that a single thread gets.
"""

import itertools
import random
import sys
import tempfile
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from servers.range_server import RangeServer  # noqa: E402

import ragfile  # noqa: E402
from ragfile import _core  # noqa: E402
from ragfile.embedding.protocol import Model  # noqa: E402
from ragfile.file.pairs import PairFile  # noqa: E402
from ragfile.file.pairs_writer import write_pairs  # noqa: E402

THREADS, DIM, ROWS = 5, 96, 4300  # rows and dimensions enough for a shadow along axes of its own
WORDS = [a + b for a in "bcdfghlmnprst" for b in ("ade", "ine", "orn", "uss", "elt", "am")]
FILTERS = (None, {"n": {"$lt": 40}}, {"kind": {"$in": ["red", "blue"]}, "n": {"$gte": 7}})


class Words:
    """A text's vector is the sum of its words' vectors."""

    model = Model("words", DIM)

    def __init__(self):
        spread = 0.95 ** np.arange(DIM)
        table = np.random.default_rng(5).standard_normal((len(WORDS), DIM)) * spread
        self.vectors = dict(zip(WORDS, table.astype(np.float32), strict=True))

    def embed(self, texts, role="document"):
        zero = np.full(DIM, 0.01, np.float32)
        rows = [np.sum([self.vectors.get(w, zero) for w in t.split()] or [zero], 0) for t in texts]
        return np.array(rows, np.float32).reshape(-1, DIM)


def sentence(rng, most=14):
    return " ".join(rng.choices(WORDS, k=rng.randint(2, most)))


def document(rng, name, sentences=1):
    kind = rng.choice(["red", "green", "blue", None])
    text = ". ".join(sentence(rng) for _ in range(sentences))
    return {"id": name, "text": text, "metadata": {"n": rng.randrange(99), "kind": kind}}


# ------------------------------------------------------------------------------------------- the files


def make(folder):
    """{name: path} of files of every kind that is searched in another way."""
    rng = random.Random(1)
    documents = [document(rng, f"d{i}") for i in range(ROWS)]
    found = {}
    for name, options, some in (
        ("one", {"parity": 3}, documents), ("clustered", {"clusters": 12}, documents),
        ("parts", {"precision": 16}, documents[:900]), ("living", {}, documents[:60]),
    ):  # fmt: skip
        found[name] = folder / f"{name}.ragfile"
        with ragfile.create(found[name], embedder=Words(), **options) as w:
            w.add_documents(some)
    for i in range(4):
        with ragfile.edit(found["parts"], embedder=Words()) as w:
            w.delete([f"d{n}" for n in range(i, 300, 11)])
            w.upsert([document(rng, f"new{i}.{n}") for n in range(80)])
    found["default"] = folder / "default.ragfile"
    with ragfile.create(found["default"], embedder="default") as w:
        w.add_documents(documents[:80])
    return found


def sources(folder):
    rng = random.Random(2)
    folder.mkdir()
    for i in range(6):
        body = "\n\n".join(f"## {sentence(rng, 3)}\n\n{sentence(rng, 60)}" for _ in range(4))
        (folder / f"{i}.md").write_text(f"---\ntitle: page {i}\n---\n\n{body}\n")
    return folder


# ------------------------------------------------------------------------------- what threads do with them


def told(hits):
    return [(hit.id, hit.score, hit.text, str(hit.metadata)) for hit in hits]


def questions(rf, seed):
    """One of many ways to ask; the same seed asks the same."""
    rng = random.Random(seed)
    where = rng.choice(FILTERS)
    mode = rng.choice(["hybrid", "vector", "bm25", "keyword"])
    texts = [sentence(rng, 5) for _ in range(rng.choice([1, 3, 9]))]
    way = rng.randrange(9)
    options = {"cache": rng.random() < 0.5, "threads": rng.choice([1, 2, 3])}
    if way < 3:
        return told(rf.search(texts[0], rng.choice([3, 40]), mode=mode, where=where, **options))
    vectors = rf.embedder.embed(texts)
    if way == 3:
        return [told(hits) for hits in rf.search_batch(texts, 5, mode=mode, where=where)]
    if way == 4:
        each = [rng.choice(FILTERS) for _ in texts]
        return [told(hits) for hits in rf.search_batch(texts, 5, where=each)]
    if way == 5:
        rows, scores = rf.nearest(vectors, 20, where=where, threads=options["threads"])
        return rows.tolist(), scores.tolist()
    if way == 6:
        rows, scores = rf.match(texts, 20, where=where, threads=options["threads"])
        return rows.tolist(), scores.tolist()
    if way == 7:
        rows = rf.live_rows()[:: rng.choice([3, 50])]
        return rf.score(rows, text=texts[0]).tolist(), rf.rows.vectors_of(rows[:9]).tolist()
    name = f"d{rng.randrange(700, 800)}#0"
    row = rf.row(name)
    return (
        row, None if row is None else (rf.hit(row).text, rf.vector(row).tolist()),
        rf.document(name[:-2]), int(rf.rows.mask(FILTERS[2]).sum()), rf.vectors().sum(),
        rf.highlights(texts[0], rf.live_rows()[5]), rf.file.lookup("d9"),
    )  # fmt: skip


class Round:
    """Threads that begin at once; what one of them raises is the round's."""

    def __init__(self):
        self.works, self.errors = [], []

    def add(self, work, *given):
        self.works.append((work, given))

    def run(self):
        start = threading.Barrier(len(self.works))

        def one(work, given):
            start.wait()
            try:
                work(*given)
            except Exception:  # noqa: BLE001 - a fault, to be shown
                self.errors.append(traceback.format_exc())

        threads = [threading.Thread(target=one, args=work) for work in self.works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.errors:
            raise AssertionError(self.errors[0])


def check_answers(rf, seeds, wanted):
    for seed in seeds:
        assert questions(rf, seed) == wanted[seed], f"another answer to question {seed}"


class Trial:
    def __init__(self, folder, seed):
        self.folder, self.rng, self.numbers = folder, random.Random(seed), itertools.count()
        self.files, self.sources = make(folder), sources(folder / "sources")
        self.pairs = folder / "pairs"
        vectors = [(np.arange(4) + i, f"content {i}") for i in range(200)]
        write_pairs(self.pairs, [(f"k{i}", f"c{i}") for i in range(200)], vectors)
        ragfile.dataset.build(str(self.sources), folder / "dataset", shards=3)
        self.dataset = folder / "dataset"

    def open(self, name, **options):
        embedder = None if name == "default" else Words()
        return ragfile.open(self.files.get(name, name), embedder=embedder, **options)

    def asked_at_once(self, name, **options):
        """First-use caches, all modes, batches and filters: every thread asks the same fresh file."""
        seeds = [self.rng.randrange(10**6) for _ in range(8)]
        with self.open(name, **options) as alone:
            wanted = {seed: questions(alone, seed) for seed in seeds}
        shared, round = self.open(name, **options), Round()
        for _ in range(THREADS):
            round.add(check_answers, shared, self.rng.sample(seeds, len(seeds)), wanted)
        round.run()

    def plain(self):
        self.asked_at_once("one")

    def clustered(self):
        self.asked_at_once("clustered")
        shared, round = self.open("clustered"), Round()
        near = shared.embedder.embed([sentence(self.rng)])
        for effort in (0.1, 0.3, 0.1, 1.0):
            round.add(lambda e: shared.nearest(near, 5, effort=e), effort)
        round.run()

    def parts(self):
        self.asked_at_once("parts")

    def pinned(self):
        self.asked_at_once("one", pin=True)

    def embedded(self):
        self.asked_at_once("default")

    def remote(self):
        files = {"kb": self.files["parts"].read_bytes()}
        with RangeServer(files) as server:
            self.asked_at_once(server.url("kb"))

    def hits(self):
        """Hits that nobody has looked at yet, looked at by all."""
        name = self.rng.choice(["one", "parts"])
        text = sentence(self.rng)
        with self.open(name) as rf:
            wanted = told(rf.search(text, 30))
        shared, round = self.open(name), Round()
        hits = shared.search(text, 30)
        for _ in range(THREADS):
            round.add(lambda: self.same(told(hits), wanted))
        round.run()

    @staticmethod
    def same(found, wanted):
        assert found == wanted, "hits that are read at once differ"

    def refreshed(self):
        """A writer, compactions, and readers of one shared file that follow it."""
        path, over = self.files["living"], threading.Event()
        shared, round = self.open("living"), Round()

        def write():
            try:
                rng = random.Random(next(self.numbers))
                for i in range(6):
                    some = rng.sample(range(90), 6)
                    with ragfile.edit(path, embedder=Words()) as w:
                        w.upsert([document(rng, f"d{n}") for n in some[:5]])
                        w.delete([f"d{some[5]}"])
                    if i == 3:
                        ragfile.compact(path)
            finally:
                over.set()

        def follow(seed):
            for i in itertools.count():
                if over.is_set():
                    return
                shared.refresh()
                view = shared.at_commit()
                assert questions(view, seed + i) == questions(view, seed + i)

        round.add(write)
        for i in range(THREADS - 1):
            round.add(follow, 1000 * i)
        round.run()

    def closed(self):
        """A file that is closed under questions: they end with their answer, or are told so."""
        shared, round = self.open(self.rng.choice(["one", "parts"])), Round()

        def ask(seed):
            try:
                for i in range(20):
                    questions(shared, seed + i)
            except ValueError as error:
                if "is closed" not in str(error):
                    raise

        for i in range(THREADS - 1):
            round.add(ask, 50 * i + next(self.numbers))
        round.add(lambda: (questions(self.open("parts"), 3), shared.close()))
        round.run()

    def verified(self):
        """Whole files verified, repaired, read and signed by no one, beside questions to the same map."""
        shared, round = self.open("one"), Round()
        copy = self.folder / "copy.ragfile"
        data = bytearray(self.files["one"].read_bytes())
        data[len(data) // 2] ^= 255
        copy.write_bytes(data)
        round.add(lambda: self.same(shared.file.verify()[0], []))
        round.add(lambda: self.same(list(shared.at_commit().file.verify()[0]), []))
        round.add(ragfile.repair, copy)
        round.add(lambda: [questions(shared, i) for i in range(9)])
        round.add(lambda: [document.text for document in shared.documents()])
        round.run()
        assert copy.read_bytes() == self.files["one"].read_bytes()

    def built(self):
        """Builds beside one another, which share the analyzer and the model."""
        round, outs = Round(), [self.folder / f"built{i}.ragfile" for i in range(THREADS - 1)]
        for out in outs:
            round.add(ragfile.build, str(self.sources), out)
        model = self.open("default").embedder
        texts = [sentence(self.rng, 30) for _ in range(99)]
        round.add(lambda: [model.embed(texts) for _ in range(3)])
        round.run()
        assert len({out.read_bytes() for out in outs}) == 1

    def older(self):
        """A 0.1.0 file and a dataset."""
        file, rf, round = PairFile(self.pairs), ragfile.open(self.dataset), Round()
        for i in range(THREADS):
            round.add(lambda i=i: [file.lookup(f"k{n}") for n in range(i, 200, 7)])
            round.add(lambda: told(rf.search("page " + sentence(self.rng), 5)))
        round.run()

    def engines(self):
        """The core's own objects, without the layers above: a section, a vocabulary, an analyzer."""
        shared, round = self.open("one"), Round()
        section = shared.file.reader.section("vector", shared.rows.segments[0].number)
        round.add(section.check)
        round.add(section.check)
        for i in range(THREADS):
            round.add(lambda i=i: shared.match([f"{WORDS[i]} new{n}" for n in range(300)], 3))
            round.add(lambda: _core.words(sentence(self.rng, 900)))
        round.run()

    WORKS = (plain, clustered, parts, pinned, embedded, remote, hits, refreshed, closed, verified, built, older, engines)  # fmt: skip


def trial(rounds, seed):
    """Each round and work is told on standard error."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        with tempfile.TemporaryDirectory() as folder:
            it = Trial(Path(folder), seed)
            for number in range(rounds):
                for work in Trial.WORKS:
                    print(f"round {number}: {work.__name__}", file=sys.stderr, flush=True)
                    work(it)
    finally:
        sys.setswitchinterval(before)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ragfile.errors.FilterWarning)
    trial(int(sys.argv[1]), int(sys.argv[2]))
