"""Whatever the history of a file, it answers as a file that was built at once, to the bit, and compacts to its bytes.

HISTORIES=300 runs that many; the suite runs a few.
"""

import os
from unittest import mock

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from write.test_editor import Letters

import ragfile
from ragfile.file import sample_rows, stored_columns

WORDS = [
    "fed",
    "cab",
    "bead",
    "face",
    "deaf",
    "cafe",
    "été",
    "fed-cab",
    "Bead",
    "aaa",
    "b.",
    "\n\n",
]
POLICY = "words:7/2"
QUERIES = ["fed", "cab bead", "face deaf cafe cafe", "été", "fed-cab aaa b", "nothing", ""]
FILTERS = [
    None,
    {"n": {"$lt": 4}},
    {"lang": {"$in": ["de", "fr"]}},
    {"n": {"$gte": 3}, "lang": {"$ne": "de"}},
]
DERIVED = {"TAKEN": 3, "KEPT": 5, "WORTH": 2}
HISTORIES = int(os.environ.get("HISTORIES", "25"))

ids = st.integers(0, 8).map(lambda n: f"{'dé'[n % 2]}{n}")
texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
documents = st.fixed_dictionaries(
    {
        "id": ids, "text": texts, "tags": st.sampled_from([(), ("x",), ("x", "y")]),
        "metadata": st.fixed_dictionaries({"n": st.integers(0, 6)}, optional={"lang": st.sampled_from(["de", "en", "fr"])}),
    }
)  # fmt: skip
chunks = st.fixed_dictionaries(
    {
        "doc_id": ids, "chunk_index": st.integers(100, 102), "content": texts,
        "metadata": st.sampled_from([{}, {"n": 5}, {"lang": "fr"}]), "tags": st.sampled_from([(), ("z",)]),
    }
)  # fmt: skip
operations = st.one_of(
    st.tuples(st.just("upsert"), st.lists(documents, max_size=4, unique_by=lambda d: d["id"])),
    st.tuples(
        st.just("chunks"),
        st.lists(chunks, max_size=3, unique_by=lambda c: (c["doc_id"], c["chunk_index"])),
    ),
    st.tuples(st.just("delete"), st.lists(ids, max_size=3)),
    st.tuples(st.just("where"), st.sampled_from(FILTERS[1:])),
    st.tuples(st.sampled_from(["compact", "hold", "fail"]), st.none()),
)


class Oracle:
    """What the file should hold: documents, and chunks that were added to them."""

    def __init__(self):
        self.documents, self.chunks = {}, {}

    def ids(self):
        return self.documents.keys() | self.chunks.keys()

    def forget(self, doc_id):
        self.documents.pop(doc_id, None)
        self.chunks.pop(doc_id, None)

    def build(self, path):
        with ragfile.create(path, chunking=POLICY, embedder=Letters()) as w:
            w.add_documents(self.documents.values())
            w.add([chunk for own in self.chunks.values() for chunk in own.values()])


def passing(folder, oracle, where):
    """By building what there is and asking it for each chunk."""
    oracle.build(folder / "asked")
    with ragfile.open(folder / "asked") as rf:
        return {rf.chunk(row).doc_id for row in np.flatnonzero(rf.rows.mask(where)).tolist()}


def change(path, oracle, kind, what, folder):
    with ragfile.edit(path, embedder=Letters()) as w:
        if kind == "upsert":
            w.upsert(what)
            for document in what:
                oracle.forget(document["id"])
                oracle.documents[document["id"]] = document
        elif kind == "chunks":
            new = [c for c in what if c["chunk_index"] not in oracle.chunks.get(c["doc_id"], ())]
            w.add(new)
            for chunk in new:
                oracle.chunks.setdefault(chunk["doc_id"], {})[chunk["chunk_index"]] = chunk
        else:
            gone = set(what) & oracle.ids() if kind == "delete" else passing(folder, oracle, what)
            assert set(w.delete(what) if kind == "delete" else w.delete(where=what)) == gone
            for doc_id in gone:
                oracle.forget(doc_id)


def facts(rf):
    found = {document.id: document for document in rf.documents()}
    for doc_id in list(found):
        rows = [rf.row(f"{doc_id}#{i}") for i in range(103)]
        found[doc_id] = (
            found[doc_id],
            [(rf.chunk(r), rf.vector(r).tolist()) for r in rows if r is not None],
        )
    return found


def answers(rf):
    """All modes, under filters, by key instead of row."""
    found = []
    for where in FILTERS:
        for mode in ("hybrid", "vector", "bm25"):
            for hits in rf.search_batch(QUERIES, 6, mode=mode, where=where, pool=9):
                found.append(
                    [
                        (hit.id, hit.score.hex(), hit.score_type, sorted(hit.scores.items()))
                        for hit in hits
                    ]
                )
    return found


def raw_answers(rf):
    vectors = Letters().embed(QUERIES)
    legs = [rf.match(QUERIES, 7), rf.nearest(vectors, 7)]
    return [
        [
            (rf.hit(row).id if row >= 0 else None, score.tobytes())
            for row, score in zip(rows, scores, strict=True)
        ]
        for leg in legs
        for rows, scores in zip(*leg, strict=True)
    ]


@settings(
    max_examples=HISTORIES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(operations, max_size=9), st.booleans())
def test_any_history_equals_a_fresh_build(tmp_path_factory, history, is_derived):
    """With what a file derives for speed, which the small files of this test have only where its bounds are lower."""
    worth = DERIVED if is_derived else {"TAKEN": sample_rows.TAKEN}
    rows = 0 if is_derived else stored_columns.WORTH
    with (
        mock.patch.multiple(sample_rows, **worth),
        mock.patch.object(stored_columns, "WORTH", rows),
    ):
        follow(tmp_path_factory, history)


def follow(tmp_path_factory, history):
    folder = tmp_path_factory.mktemp("history")
    oracle, path, held = Oracle(), folder / "kb.ragfile", []
    oracle.build(path)
    living = ragfile.open(path, embedder=Letters())
    for kind, what in history:
        if kind == "compact":
            ragfile.compact(path)
        elif kind == "hold":
            reader = ragfile.open(path, embedder=Letters())
            held.append((reader, answers(reader)))
        elif kind == "fail":
            with ragfile.edit(path, embedder=Letters()) as w:
                w.upsert([{"id": "never", "text": "fed"}])
                w.discard()
        else:
            change(path, oracle, kind, what, folder)
        living.refresh()
        assert len(living) == len(ragfile.open(path))
    oracle.build(folder / "fresh")
    with ragfile.open(folder / "fresh", embedder=Letters()) as fresh:
        living.refresh()
        assert facts(living) == facts(fresh)
        assert answers(living) == answers(fresh)
        assert raw_answers(living) == raw_answers(fresh)
    assert all(answers(reader) == before for reader, before in held)
    assert ragfile.verify(path)[0] == []
    ragfile.compact(path, renumber=True)
    assert path.read_bytes() == (folder / "fresh").read_bytes()
