"""Deleted means gone: after compaction nothing of a deleted document is in the file, packed or not, whatever it was kept as."""

import itertools

import numpy as np
import pytest
from crash import life

import ragfile
from ragfile import _core
from ragfile.embedding.embedded_text import Context
from ragfile.embedding.protocol import Model
from ragfile.exchange import collection
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.exchange.stores import knowledge_base
from ragfile.ingest.analysis import Analysis

CANARY = "Xq7zCanary"
STREAMS = ("rag.text", "rag.meta", "rag.origin")


class Irrational:
    """A vector for each text that no other text has, of 24 components."""

    model = Model("irrational", 24)

    def embed(self, texts, role="document"):
        return np.array(
            [np.random.default_rng(sum(t.encode())).standard_normal(24) for t in texts], np.float32
        )


def told(path):
    """Everything that the file can be made to say: its bytes, and what is packed in them."""
    mapped = _core.Map(path)
    reader, said = _core.Reader(mapped), [bytes(mapped)]
    for entry in reader.entries:
        section = reader.section(entry["name"], entry["segment"])
        if entry["name"] in STREAMS:
            stream = _core.Stream(section)
            said.append(stream.read(0, stream.size))
        elif entry["name"] == "rag.terms":
            lexicon = _core.Lexicon(section, reader.section("rag.postings", entry["segment"]))
            said.append("\n".join(lexicon.vocabulary()).encode())
    return said


def holds(path, traces):
    return sorted({t for t in traces for said in told(path) if t in said or t.lower() in said})


def vectors_of(embedder, chunks):
    """The vectors of chunks and their paths, as the recipe of a new file makes them."""
    recipe = Context.for_embedder(embedder)
    return recipe.embed(embedder, [recipe.key(chunk) for chunk in chunks])


def traces_of(vectors=()):
    """The word itself in every case and width, and vectors in both precisions."""
    words = [CANARY.encode(), CANARY.encode("utf-16-le"), CANARY[::-1].encode()]
    return [
        *words,
        *(v.tobytes() for v in vectors),
        *(v.astype(np.float16).tobytes() for v in vectors),
    ]


def secret(name, size=3):
    paragraphs = [
        f"# {CANARY} header {i}\n\nUnder {CANARY.lower()}{name}{i} stands snake_{CANARY}_case.\n\n"
        for i in range(size)
    ]
    return {
        "id": f"{CANARY}-{name}",
        "text": "".join(paragraphs),
        "source": f"/home/{CANARY}/{name}.md",
        "metadata": {CANARY: 1, "title": f"{CANARY} title", "keywords": [CANARY], "checksum": CANARY, "deep": {CANARY: [CANARY]}},
        "tags": [CANARY, "shared"],
    }  # fmt: skip


def plain(i):
    return {
        "id": f"doc{i}", "text": f"# Header {i}\n\nA pod of {i} whales. Under the sea.\n\nMore of {i}.", "source": f"/docs/{i}.md",
        "metadata": {"n": i, "title": f"Title {i}", "keywords": [f"k{i}"]}, "tags": ["shared"],
    }  # fmt: skip


EMBEDDERS = {"none": None, "letters": life.Letters(), "irrational": Irrational()}
ANALYSES = {
    "plain": Analysis(),
    "fields": Analysis(fields=(("text", 1), ("title", 3)), accents="strip"),
}
CASES = [
    *itertools.product(EMBEDDERS, ["markdown:80/20", "characters:64/32"], [32], [False], ["plain"]),
    *itertools.product(
        ["irrational"], ["words:5/4", "sentences:60/30"], [16], [True], ["plain", "fields"]
    ),
    ("none", "markdown", 32, True, "fields"),
]


@pytest.mark.parametrize(("embedder", "chunking", "precision", "portable", "analysis"), CASES)
def test_nothing_of_a_deleted_document_is_left(
    tmp_path, embedder, chunking, precision, portable, analysis
):
    path, fresh = tmp_path / "kb", tmp_path / "fresh"
    embedder, options = (
        EMBEDDERS[embedder],
        {"chunking": chunking, "precision": precision, "portable": portable},
    )
    options |= {"embedder": embedder, "analysis": ANALYSES[analysis]}
    with ragfile.create(path, **options) as w:
        w.add_documents(
            [
                *map(plain, range(12)),
                secret("first"),
                {"id": CANARY + "-empty", "text": "", "tags": [CANARY]},
            ]
        )
    with ragfile.edit(path, embedder=embedder, message=f"{CANARY} comes") as w:
        w.upsert(
            [
                secret("second", 40),
                {**plain(3), "text": f"doc3 once said {CANARY}"},
                {**plain(4), "source": f"/{CANARY}"},
            ]
        )
    chunks = [
        chunk
        for s in ragfile.open(path).rows.segments
        for chunk in chunks_of(path, s)
        if CANARY in chunk.content
    ]
    made = [] if embedder is None else vectors_of(embedder, chunks)
    traces, stored = traces_of(made), np.float32 if precision == 32 else np.float16
    vectors = made if embedder is None else made.astype(stored)
    assert chunks
    assert {CANARY.encode(), *(v.tobytes() for v in vectors)} <= set(holds(path, traces))
    with ragfile.edit(path, embedder=embedder) as w:
        w.upsert([plain(3), plain(4)])
        assert len(w.delete([CANARY + "-first", CANARY + "-empty"])) == 2
        assert w.delete(where={CANARY: 1}) == [CANARY + "-second"]
        assert [d["checksum"] for d in w.deletions] == [CANARY, None, CANARY]
    assert holds(path, traces)
    ragfile.compact(path, renumber=True)
    assert holds(path, traces) == []
    with ragfile.create(fresh, **options) as w:
        w.add_documents(map(plain, range(12)))
    assert path.read_bytes() == fresh.read_bytes()
    with ragfile.open(path, embedder=embedder) as rf:
        assert [hit for hit in rf.search(CANARY, 50, mode="bm25") if "whales" not in hit.text] == []
        assert rf.file.lookup(CANARY) == []


def chunks_of(path, segment):
    with ragfile.open(path) as rf:
        rows = [row for row in range(segment.rows) if segment.is_live(row)]
        return [rf.chunk(segment.base + row) for row in rows]


def test_nothing_is_left_in_the_list_of_stale_documents(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, chunking="words:5/0") as w:
        w.add_documents([*map(plain, range(4)), secret("stale")])
    with ragfile.edit(path, chunking="words:6/0") as w:
        w.upsert([plain(0)])
    assert CANARY.encode() in bytes(ragfile.open(path).file.section("rag.stale"))
    with ragfile.edit(path) as w:
        w.delete([CANARY + "-stale"])
    assert CANARY.encode() not in bytes(ragfile.open(path).file.section("rag.stale"))
    ragfile.compact(path)
    assert holds(path, traces_of()) == []
    assert set(ragfile.stale(path)) == {"doc1", "doc2", "doc3"}


def test_nothing_is_left_of_what_a_file_was_converted_from(tmp_path):
    """Front matter and what else the origin keeps go with the first change: they describe a file that is no more."""
    markdown, path = tmp_path / "kb.ragmd", tmp_path / "kb"
    made = collection.empty(3, model_name="m")
    for name, text in (("kept", "pods"), (CANARY, f"{CANARY} text")):
        document = {
            "id": name,
            "full_text": text,
            "source": f"/{name}",
            "chunks": {"c": {"i_start": 0, "i_end": 4}},
        }
        made.add(
            {**document, "note": [name]}, np.array([[1.0, len(text), 0.25]], np.float32), now=0
        )
    ragmd_reader.save(markdown, made)
    written = markdown.read_text()
    markdown.write_text(written.replace("---\n", f"---\ntitle: {CANARY} front\n", 1))
    knowledge_base.write(ragmd_reader.load(markdown), path)
    traces = traces_of()
    assert any(CANARY.encode() in said for said in told(path)[1:])
    ragfile.compact(path, renumber=True)
    assert holds(path, traces)  # nothing was deleted, and a conversion back gives the same bytes
    with ragfile.edit(path) as w:
        assert w.delete([CANARY]) == [CANARY]
    assert ragfile.open(path).file.section("rag.origin") is None
    ragfile.compact(path)
    assert holds(path, traces) == []
    with ragfile.open(path) as rf:
        assert [document.id for document in rf.documents()] == ["kept"]


def test_what_is_packed_is_looked_into_by_these_tests(tmp_path):
    path, rng = tmp_path / "kb", np.random.default_rng(1)
    text = " ".join(str(n) for n in rng.integers(0, 10**6, 500)) + CANARY
    with ragfile.create(path, analysis=None) as w:
        w.add_documents([{"id": "a", "text": text}])
    assert CANARY.encode() not in path.read_bytes()
    assert holds(path, [CANARY.encode()])
