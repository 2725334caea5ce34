"""Random lives of a file through every writing call, and the documents and chunks that it should hold then.

No program: differential.py, the oracles and tests import it. A vector depends on its text alone, so that what
is stored does not depend on what was reused. Metadata of documents and of chunks have different keys, and so have
their tags, for the same reason.
"""

import copy
import os
import re

import numpy as np

import ragfile
from ragfile.embedding.protocol import Model
from ragfile.ingest.analysis import Analysis

WORDS = [
    "fed",
    "cab",
    "bead",
    "face",
    "deaf",
    "cafe",
    "été",
    "running",
    "the",
    "Bead",
    "pods",
    "zz",
]
COMMON = ["fed", "cab", "the"]
PLANES = (88, 4120)  # numbers of dimensions and rows for which a shadow is turned
BARE = "bare"  # how the text of a chunk without a vector begins
SIZE, OVERLAP = 7, 2
POLICY = f"words:{SIZE}/{OVERLAP}"
FIELDS = (("text", 1), ("kind", 3))


class Hashed:
    """An embedder whose vectors are random, and the same for the same text."""

    is_static = False

    def __init__(self, dim, name="hashed"):
        self.model = Model(name, dim)
        self.spread = 0.9 ** np.arange(dim) if dim >= PLANES[0] else 1.0  # which axes can follow

    def embed(self, texts, role="document"):
        return np.array([self.vector(text) for text in texts], np.float32).reshape(-1, self.dim)

    @property
    def dim(self):
        return self.model.dims

    def vector(self, text):
        """Every seventh is one of three, so that scores are equal; one is all zeros."""
        seed, own = sum(text.encode()), list(text.encode() + self.model.name.encode())
        rng = np.random.default_rng(seed % 3 if seed % 7 == 0 else own)
        if seed % 41 == 0:
            return np.zeros(self.dim, np.float32)
        return (rng.standard_normal(self.dim) * self.spread).astype(np.float32)


def sentence(rng, most):
    return " ".join(rng.choice([*WORDS, *COMMON * 3]) for _ in range(rng.randrange(most)))


def cuts(text):
    """[(start, content)] by the policy of these files, slowly."""
    words = [(found.start(), found.end()) for found in re.finditer(r"\S+", text)]
    found = []
    for first in range(0, len(words), SIZE - OVERLAP):
        last = min(first + SIZE, len(words)) - 1
        found.append((words[first][0], text[words[first][0] : words[last][1]]))
        if last == len(words) - 1:
            break
    return found


def random_document(rng, doc_id, most=40):
    metadata = {"year": rng.randrange(1999, 2004)}
    if rng.random() < 0.6:
        metadata["lang"] = rng.choice(["de", "en", "fr", None, 7, 7.5, True])
    if rng.random() < 0.3:
        metadata["deep"] = {"x": rng.choice([1, True, "1"]), "y.z": [1, "a"]}
    if rng.random() < 0.3:
        metadata["keywords"] = rng.sample(["k1", "k2", "k3"], 2)
    return {
        "id": doc_id, "text": sentence(rng, most), "metadata": metadata,
        "tags": tuple(rng.sample(["x", "y", "z"], rng.randrange(3))),
        "source": rng.choice(["", "/s/1", "/s/2"]),
    }  # fmt: skip


def random_chunk(rng, doc_id, index, is_bare):
    metadata = {"part": rng.randrange(4)} if rng.random() < 0.7 else {}
    if rng.random() < 0.6:
        metadata["kind"] = rng.choice(["face", "cab running", ["fed", "zz"], 3])
    content = (f"{BARE} " if is_bare else "") + sentence(rng, 14)
    tags = ("own", *rng.sample(["p", "q"], rng.randrange(3)))
    return {
        "doc_id": doc_id, "chunk_index": index, "content": content, "metadata": metadata,
        "tags": tags,
    }  # fmt: skip


def cut_document(said):
    """A document with its chunks, which say nothing of their own."""
    chunks = {
        i: {"text": text, "start": start, "metadata": {}, "tags": None}
        for i, (start, text) in enumerate(cuts(said["text"]))
    }
    return {**said, "chunks": chunks}


class Told:
    """What the file was told: {id: {"text", "metadata", "tags", "source", "chunks": {index: …}}}."""

    def __init__(self):
        self.documents = {}

    def document(self, said):
        self.documents[said["id"]] = cut_document(said)

    def chunk(self, said):
        whole = self.documents.setdefault(
            said["doc_id"],
            {"id": said["doc_id"], "text": "", "metadata": {}, "tags": (), "source": "", "chunks": {}},
        )  # fmt: skip
        whole["chunks"][said["chunk_index"]] = {
            "text": said["content"], "start": -1, "metadata": said["metadata"], "tags": said["tags"],
        }  # fmt: skip

    def rows(self):
        """{chunk id: (text, start, tags, metadata, source)}"""
        return {
            f"{doc_id}#{index}": (
                chunk["text"], chunk["start"],
                whole["tags"] if chunk["tags"] is None else chunk["tags"],
                {**whole["metadata"], **chunk["metadata"]}, whole["source"],
            )
            for doc_id, whole in self.documents.items() for index, chunk in whole["chunks"].items()
        }  # fmt: skip


class Life:
    """A file, and what it was told. Every method of OPERATIONS is a commit, or none where nothing was left to change."""

    def __init__(self, rng, path, key=None, is_wide=False):
        self.rng, self.path, self.told, self.key = rng, path, Told(), key
        self.is_wide = is_wide
        self.embedder = Hashed(rng.choice([3, 8, 24, 24, 40])) if rng.random() < 0.9 else None
        if is_wide:
            self.embedder = Hashed(PLANES[0])
        self.metric = rng.choice(["cosine", "cosine", "ip", "l2"])
        self.precision = rng.choice([16, 32, 32])
        self.analysis = rng.choice(
            [
                Analysis(stemmer="none", stop_words="none"),
                Analysis(stemmer="none", stop_words="none", fields=FIELDS, k1=2.0, b=0.5),
                Analysis(),
                Analysis(stemmer="none", stop_words="none", k1=0.0, b=1.0),
            ]
        )
        self.is_portable = rng.random() < 0.2
        self.embedders = {self.embedder.model.name: self.embedder} if self.embedder else {}

    def create(self):
        rng = self.rng
        documents = [random_document(rng, name) for name in self._new(rng.randrange(8))]
        chunks = self._chunks(self._new(rng.randrange(4)))
        if self.is_wide:
            chunks += [random_chunk(rng, f"w{i:04d}", 1, False) for i in range(PLANES[1])]
        clusters = rng.choice([None, None, True, 2, 5])
        parity = rng.choice([0, 0, 3])
        with ragfile.create(
            self.path, embedder=self.embedder, metric=self.metric, precision=self.precision,
            chunking=POLICY, analysis=self.analysis, portable=self.is_portable, parity=parity,
            clusters=clusters,
        ) as w:  # fmt: skip
            w.add_documents(documents)
            self._add(w, chunks)
        self._tell(documents, chunks)

    def edit(self, **options):
        return ragfile.edit(self.path, embedder=self.embedder, **options)

    # ------------------------------------------------------------------------------------- material --

    def _new(self, count):
        """Ids that are not there."""
        names = [f"{self.rng.choice(['d', 'é', 'Z/a'])}{n}" for n in range(40)]
        return [n for n in dict.fromkeys(names) if n not in self.told.documents][:count]

    def _some(self, count):
        """Ids that are there."""
        there = sorted(self.told.documents)
        return self.rng.sample(there, min(count, len(there)))

    def _chunks(self, ids):
        rng, made = self.rng, []
        for doc_id in ids:
            for index in rng.sample([100, 101, 2**32 - 2, 107], rng.randrange(1, 4)):
                made.append(random_chunk(rng, doc_id, index, rng.random() < 0.2))
        return made

    def _vectors(self, chunks):
        """Given vectors, as a writer takes them; None where there is no embedder to imitate."""
        if self.embedder is None:
            return None
        texts = [chunk["content"] for chunk in chunks]
        return [None if t.startswith(BARE) else self.embedder.vector(t) for t in texts]

    def _add(self, writer, chunks):
        if chunks:
            writer.add(chunks, self._vectors(chunks))

    def _tell(self, documents=(), chunks=()):
        for said in documents:
            self.told.document(said)
        for said in chunks:
            self.told.chunk(said)

    # ------------------------------------------------------------------------------------ operations --

    def upsert(self):
        ids = self._some(self.rng.randrange(3)) + self._new(self.rng.randrange(4))
        documents = [random_document(self.rng, doc_id) for doc_id in ids]
        with self.edit(message="upsert") as w:
            w.upsert(documents)
        self._tell(documents)

    def upsert_the_same(self):
        """Documents as they are, which changes nothing."""
        there = [
            {key: whole[key] for key in ("id", "text", "metadata", "tags", "source")}
            for whole in copy.deepcopy(list(self.told.documents.values()))
            if whole["text"] and whole["chunks"] == cut_document(whole)["chunks"]
        ]
        with self.edit(message="the same") as w:
            w.upsert(there)
        assert w.report["unchanged"] == len(there)

    def add(self):
        documents = [random_document(self.rng, name) for name in self._new(self.rng.randrange(3))]
        with self.edit(message="add") as w:
            w.add_documents(documents)
        self._tell(documents)
        chunks = self._chunks(self._new(self.rng.randrange(3)) + self._some(1))
        fresh = [c for c in chunks if c["chunk_index"] not in self._there(c["doc_id"])]
        with self.edit(message="add chunks") as w:
            self._add(w, fresh)
        self._tell((), fresh)

    def _there(self, doc_id):
        return self.told.documents.get(doc_id, {"chunks": {}})["chunks"]

    def upsert_chunks(self):
        chunks = self._chunks(self._some(2) + self._new(1))
        is_given = self.embedder is None or self.rng.random() < 0.5
        if not is_given:
            chunks = [c for c in chunks if not c["content"].startswith(BARE)]
        with self.edit(message="upsert chunks") as w:
            if chunks:
                w.upsert(chunks, self._vectors(chunks) if is_given else None)
        self._tell((), chunks)

    def update(self):
        with self.edit(message="update") as w:
            for doc_id in self._some(2):
                whole = self.told.documents[doc_id]
                if whole["chunks"] and self.rng.random() < 0.4:
                    self._update_chunk(w, doc_id)
                    continue
                new = random_document(self.rng, doc_id)
                names = self.rng.sample(["metadata", "tags", "source"], self.rng.randrange(1, 4))
                w.update(doc_id, **{name: new[name] for name in names})
                whole |= {name: new[name] for name in names}

    def _update_chunk(self, w, doc_id):
        index, chunk = self.rng.choice(sorted(self._there(doc_id).items()))
        new = random_chunk(self.rng, doc_id, index, False)
        w.update(f"{doc_id}#{index}", metadata=new["metadata"], tags=new["tags"])
        chunk |= {"metadata": new["metadata"], "tags": new["tags"]}

    def delete(self):
        ids = [*self._some(self.rng.randrange(4)), "not there"]
        with self.edit(message="delete") as w:
            assert sorted(w.delete(ids)) == sorted(ids[:-1])
        for doc_id in ids[:-1]:
            del self.told.documents[doc_id]

    def delete_chunks(self):
        there = sorted(self.told.rows())
        ids = self.rng.sample(there, min(self.rng.randrange(4), len(there)))
        with self.edit(message="delete chunks") as w:
            assert sorted(w.delete_chunks([*ids, "no#1"])) == sorted(ids)
        for chunk_id in ids:
            doc_id, _, index = chunk_id.rpartition("#")
            del self.told.documents[doc_id]["chunks"][int(index)]

    def delete_where(self):
        year = self.rng.randrange(1999, 2004)
        gone = {
            name for name, whole in self.told.documents.items()
            if whole["chunks"] and whole["metadata"].get("year") == year
        }  # fmt: skip
        with self.edit(message="delete where") as w:
            assert set(w.delete(where={"year": year})) == gone
        for doc_id in gone:
            del self.told.documents[doc_id]

    def replace(self):
        for old in self._some(1):
            new = random_document(self.rng, self.rng.choice([old, *self._new(1)]))
            with self.edit(message="replace") as w:
                w.replace(old, new)
            del self.told.documents[old]
            self._tell([new])

    def fail(self):
        """An edit that raises, one that is given up, and what a dead writer leaves behind."""
        try:
            with self.edit() as w:
                w.upsert([random_document(self.rng, "never")])
                raise InterruptedError
        except InterruptedError:
            pass
        with self.edit() as w:
            w.delete(self._some(2))
            w.discard()
        with open(self.path, "ab") as file:
            file.write(self.rng.randbytes(self.rng.choice([0, 1, 64, 700])))

    def compact(self):
        rng, options = self.rng, {}
        if rng.random() < 0.3:
            options["layout"] = rng.choice(["web", "default"])
        if rng.random() < 0.3:
            options["parity"] = rng.choice([0, 2])
        if rng.random() < 0.3:
            options["clusters"] = rng.choice([False, 3])
        ragfile.compact(self.path, renumber=rng.random() < 0.3, **options)

    def add_many(self):
        """Enough for long lists of rows, and for clusters."""
        ids = [f"m{self.rng.randrange(10**6)}" for _ in range(self.rng.choice([20, 60]))]
        chunks = self._chunks(ids)
        with self.edit(message="many") as w:
            self._add(w, chunks)
        self._tell((), chunks)

    def reindex(self):
        """Another model for every chunk."""
        texts = [chunk[0] for chunk in self.told.rows().values()]
        if self.embedder is None or any(text.startswith(BARE) for text in texts):
            return
        self.embedder = Hashed(self.rng.choice([3, 8, 24]), f"hashed {self.rng.random()}")
        self.embedders[self.embedder.model.name] = self.embedder
        ragfile.reindex(self.path, embedder=self.embedder)

    def set_parity(self):
        with self.edit(parity=self.rng.choice([0, 5])):
            pass

    def add_section(self):
        with self.edit(message="a section") as w:
            w.add_section("vendor.own", self.rng.randbytes(self.rng.randrange(300)))

    def sign(self):
        if self.key is not None and os.path.getsize(self.path):
            ragfile.sign(self.path, self.key, signer="a trial")

    OPERATIONS = (
        upsert, upsert, upsert, upsert_the_same, add, add, upsert_chunks, upsert_chunks, update, update, delete,
        delete_chunks, delete_where, replace, fail, compact, set_parity, add_section, sign, add_many, reindex,
    )  # fmt: skip

    def step(self):
        """One operation; its name."""
        operation = self.rng.choice(self.OPERATIONS)
        operation(self)
        return operation.__name__
