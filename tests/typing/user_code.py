"""A program such as a user writes: it touches every public name, type checkers pass it, and it runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ragfile
from ragfile import dataset
from ragfile.embedding import Model as ModelByItsModule
from ragfile.options import SearchOptions
from ragfile.qa import prepare
from ragfile.types import Boost, Mode, Where

CREATED = 1_700_000_000_000_000_000


# ---------------------------------------------------------------------------------------- an embedder of one's own


class Lengths:
    """Embeds a text by how long it is: enough for a test, and for nothing else."""

    model = ragfile.Model("lengths-1", 2)

    def embed(self, texts: Sequence[str], role: str = "document") -> NDArray[np.float32]:
        angles = np.array([len(text) % 90 for text in texts], dtype=np.float32) * np.pi / 180
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def named(embedder: ragfile.Embedder) -> str:
    model: ragfile.Model = embedder.model
    return f"{model.name} ({model.dims})"


# ------------------------------------------------------------------------------------------------------ signatures


def signed(path: Path) -> str:
    key = ragfile.new_key(path.with_suffix(".key"))
    made: ragfile.Signature = ragfile.sign(
        path, path.with_suffix(".key"), signer="me", signed="now"
    )
    with ragfile.open(path, trusted=[key.raw.hex()]) as rf:
        assert rf.file.signatures == [made]
    try:
        ragfile.open(path, trusted=[])
    except ragfile.SignatureError as error:
        return str(error)
    return made.signer


def encrypted(path: Path) -> int:
    key = bytes(32)
    ragfile.build([ragfile.Document(id="a", text="Pods live long.")], path, key=key)
    with ragfile.open(path, key=lambda: key) as rf, ragfile.edit(path, key=key) as writer:
        assert rf.search("pods")
        writer.delete(["a"])
    with ragfile.using_key(key):
        ragfile.compact(path)
    try:
        return ragfile.rekey(path, key=key, add=b"1" * 32, remove=key)
    except ragfile.EncryptionError:
        return 0


# ---------------------------------------------------------------------------------------------- building and asking


def written(folder: Path) -> Path:
    docs = folder / "docs"
    docs.mkdir()
    (docs / "keys.md").write_text("# Keys\n\nTo rotate the keys, run the rotation job.\n")
    (docs / "pods.md").write_text(
        "---\ntags: [ops]\n---\n# Pods\n\nA pod restarts when it fails.\n"
    )
    return docs


def built(folder: Path) -> Path:
    out = folder / "kb.ragfile"
    report: ragfile.BuildReport = ragfile.build(
        [written(folder)],
        out,
        chunking=ragfile.Policy("words", 100, 10),
        analysis=ragfile.Analysis(stemmer="english", k1=1.2),
        limits=ragfile.Limits(max_bytes=1 << 20),
        tags=["docs"],
        metadata={"lang": "en", "year": 2024},
        precision=16,
        created=CREATED,
        progress=lambda documents, chunks, share: None,
    )
    assert report.documents == 2
    assert not report.failures
    print(f"{report.chunks} chunks, {report.file_bytes} bytes in {report.seconds:.1f} s")
    return out


def asked(path: Path) -> list[str]:
    recent: Where = {"year": {"$gte": 2020}, "lang": "en"}
    with ragfile.open(path) as rf:
        first: ragfile.Hit = rf.search("How do I rotate the keys?")[0]
        hits: ragfile.Hits = rf.search("pods", 5, where=recent, tags_any=["docs"], mode="bm25")
        spans: list[ragfile.Span] = rf.highlights("pods", hits[0])
        print([hits[0].text[span.start : span.end] for span in spans])
        many = rf.search_batch(["keys", "pods"], k=1, fusion=("rrf", {"rrf_k": 30}))
        lines = [f"{hit.doc_id}: {hit.text[:20]} {hit.score:.2f} {hit.scores}" for hit in hits]
        lines += [f"{hits.request_id} {hits.timings.get('bm25', 0.0):.1f}", hits.degraded]
        lines += [found[0].source for found in many]
        lines.append(rf.context(first.id, before=20, after=20))
        assert rf.search("keys", where={"$or": [{"year": 2024}, {"lang": {"$in": ["de", "fr"]}}]})
        return lines + details(rf, first)


def details(rf: ragfile.KnowledgeBase, hit: ragfile.Hit) -> list[str]:
    document: ragfile.Document | None = rf.document(hit.doc_id)
    row = rf.row(hit.id)
    assert document is not None
    assert row is not None
    chunk: ragfile.Chunk = rf.chunk(row)
    assert document.text[chunk.start : chunk.end] == chunk.content
    rows, scores = rf.nearest(rf.vector(row), 1)
    assert rows.shape == scores.shape == (1, 1)
    assert rf.score([row], text="keys")[0] > 0
    if rf.embedder is not None:
        print(named(rf.embedder))
    names: list[str] = rf.file.strategies
    listed = [one.source for one in rf.documents()]
    return [*names, *listed, *document.tags, str(rf.info["chunks"]), chunk.uuid, document.original]


def every_mode(rf: ragfile.KnowledgeBase, question: str) -> Iterator[tuple[str, int]]:
    modes: list[Mode] = ["hybrid", "vector", "bm25", "keyword"]
    for mode in modes:
        options: SearchOptions = {"mode": mode, "drop_repeats": True, "pool": 20}
        yield mode, len(rf.search(question, 3, **options))


def asked_in_every_way(rf: ragfile.KnowledgeBase) -> list[str]:
    newer: Boost = {"field": "year", "weight": 0.1, "reference": 2026, "half_life": 2}
    hits = rf.search(
        "pods", 3, boost=newer, offset=1, min_score=-9.0, diversity=0.2, rewrites=["pod"]
    )
    grouped = rf.search("pods", 2, group=1).groups()
    found = rf.search_batch(["pods", "keys"], 2, columns=True)
    rows: NDArray[np.int64] = found.rows
    listed: list[ragfile.Hits] = rf.search_batch(["pods"], 2)
    alike = rf.search("", similar_to=listed[0][0].id)
    why = rf.explain("pods", int(rows[0, 0]))
    awaited = asyncio.run(rf.asearch("pods", 2, mode="bm25"))
    schema, call = rf.as_tool(k=2)
    every, _ = rf.match("pods", None, min_score=0.1)
    said = [str(why), str(schema), str(call("pods")), str(every.shape), str(found.ids), str(alike)]
    return [*said, *(hit.id for hit in [*hits, *awaited, *grouped[0]])]


class Parrot:
    """A chat model: it says one thing."""

    def chat(self, messages: Sequence[dict[str, str]], **parameters: Any) -> list[str]:
        return ["Run the ", "rotation job [1]."]


def written_answer(rf: ragfile.KnowledgeBase, model: ragfile.ChatModel) -> str:
    answer: ragfile.Answer = rf.ask("How do I rotate the keys?", model=model, k=2, temperature=0)
    citation: ragfile.Citation = answer.citations[0]
    assert citation.start >= 0
    kinds = [event.kind for event in rf.ask("keys", stream=True, where={"lang": "en"}, history=[])]
    return answer.text + kinds[-1] + "".join(source.section or "" for source in answer.sources)


def answered(path: Path) -> str:
    with ragfile.open(path, embedder="default", strict=True) as rf:
        ready: ragfile.Ready = prepare(
            rf, "When does a pod restart?", k=4, budget=500, mode="hybrid"
        )
        print(dict(every_mode(rf, "pods")), asked_in_every_way(rf))
        print(ready.tokens, len(ready.dropped))
        print(written_answer(rf, Parrot()))
        return ready.prompt + "".join(str(source["file_id"]) for source in ready.sources)


# ----------------------------------------------------------------------------------------------------- the blocks


def by_blocks(folder: Path) -> list[str]:
    store = folder / "blocks.ragfile"
    chunks: list[ragfile.Chunk] = ragfile.chunk("Pods restart. Keys rotate.", "sentences:60/10")
    counts: dict[str, int] = ragfile.index(chunks, store)
    assert counts["inserted"] == len(chunks)
    plan = ragfile.Plan(k=3, fusion="rrf", where={"lang": {"$exists": False}})
    found: list[ragfile.Candidate] = ragfile.retrieve("pods", plan, store)
    fused = ragfile.fuse([found, found], "rrf", {"limit": 2})
    better = ragfile.rerank("pods", fused)
    spans = ragfile.compress("pods", better, {"sentences": 1})
    return [span["text"] for span in spans]


# -------------------------------------------------------------------------------------------------------- changing


def made(folder: Path) -> Path:
    path = folder / "made.ragfile"
    with ragfile.create(path, embedder=Lengths(), metric="cosine", created=CREATED) as writer:
        fill(writer)
        assert len(writer) == 3
    return path


def fill(writer: ragfile.Writer) -> None:
    writer.add([{"doc_id": "a", "chunk_index": 0, "content": "one"}], vectors=[[0.6, 0.8]])
    writer.add([ragfile.Chunk("b", 0, "three", tags=("x",))], np.array([[0.8, 0.6]], np.float32))
    writer.add_documents([ragfile.Document("c", "A text that is cut here.", metadata={"n": 1})])
    writer.add_section("my.notes", b"hello", items=1)


class Notes:
    """A strategy: what makes sense of a section's bytes."""

    def __init__(self, section: Any, rf: ragfile.KnowledgeBase) -> None:
        self.text = bytes(section).decode()


def notes_of(folder: Path, user: str) -> list[str]:
    with ragfile.Folder(folder) as files:
        rf: ragfile.KnowledgeBase = files.open(user)
        return [hit.text for hit in rf.search("one", mode="bm25")]


def layered(paths: list[Path]) -> int:
    layers: ragfile.Layers = ragfile.open(paths)
    with layers as view:
        return len(view.paths) + len(view)


def measured(path: Path, links: Path) -> list[str]:
    links.write_text('[{"q": "one", "t": "keys.md"}]')
    report: dict[str, Any] = ragfile.judge(path, questions=links)
    return list(report)


def changed(path: Path) -> dict[str, int]:
    editor: ragfile.Editor = ragfile.edit(
        path, embedder=Lengths(), message="an edit", created=CREATED
    )
    with editor as writer:
        writer.upsert([{"id": "c", "text": "Another text.", "metadata": {"n": 2}}])
        gone: list[str] = writer.delete(["a"], where={"n": {"$gt": 5}})
    assert gone == ["a"]
    ragfile.register("my.notes", Notes)
    with ragfile.open(path, embedder=Lengths()) as rf:
        assert rf.strategy("my.notes").text == "hello"
        assert rf.generation == 2
    return editor.report


def written_often(path: Path) -> int:
    keeper: ragfile.OpenWriter = ragfile.writer(path)
    with keeper as kept:
        for n in range(2):
            with kept.edit(message="one more") as writer:
                writer.upsert([{"id": f"more{n}", "text": "A further text."}])
    with ragfile.open(path) as rf:
        return rf.generation


def kept_up(path: Path, docs: Path) -> list[str]:
    (docs / "new.md").write_text("# New\n\nSomething new.\n")
    plan: ragfile.SyncReport = ragfile.sync(path, [docs], dry_run=True)
    assert plan.added == ["new.md"]
    done = ragfile.add(path, docs / "new.md", message="one more", errors="replace")
    assert not done.is_empty
    recut = ragfile.reindex(path, chunking="words:50/5")
    ragfile.compact(path, created=CREATED)
    faults, counts = ragfile.verify(path)
    assert not faults
    messages = [commit["message"] for commit in ragfile.log(path)]
    return [*messages, *ragfile.stale(path), f"{recut['recut']} {counts['sections']}"]


# ------------------------------------------------------------------------------------------------ other files, errors


def as_pairs(folder: Path) -> list[str]:
    path = folder / "pairs.ragfile"
    keywords = [("key", "a text")]
    ragfile.write_pairs(
        path, keywords, [([0.6, 0.8], "key")], padding=8, precision=32, byteorder="little"
    )
    with ragfile.open(path, dialect="strict") as pairs:
        texts = pairs.file.lookup("key")
    with ragfile.PairFile(path, dim=2) as same:
        rows, _ = same.nearest([0.6, 0.8], k=1, metric="ip")
        assert rows[0, 0] == 0
        assert same.vectors().shape == (1, 2)
    return texts


def pulled(url: str, path: Path) -> ragfile.PullReport:
    report: ragfile.PullReport = ragfile.pull(url, path, trusted=[path], replace=True)
    if report.is_changed and report.fetched < report.size:
        print(report.path, report.generation)
    return report


def converted(path: Path, folder: Path) -> int:
    return len(ragfile.convert(path, folder / "kb.ragmd", to="ragmd"))


def explained(path: Path) -> str:
    try:
        ragfile.open(path).close()
    except ragfile.VersionError:
        return "update ragfile"
    except ragfile.CorruptError as error:
        return f"damaged in {error.section}"
    except ragfile.FormatError as error:
        return f"not a RAGFile, says byte {error.at}"
    except (ragfile.ConflictError, ragfile.LockedError, ragfile.ModelError, ragfile.ProviderError):
        return "try again"
    except ragfile.ChangedError:
        return "fetch it again"
    except ragfile.RemoteError as error:
        return f"the server says {error.status}"
    except ragfile.RagfileError as error:
        return str(error)
    return "fine"


def checked(place: Path) -> object:
    return dataset.verify(place)


def mended(path: Path, folder: Path) -> str:
    ragfile.build(folder / "docs", path, parity=2)
    report: ragfile.RepairReport = ragfile.repair(path, dry_run=True)
    return f"{len(report.restored)} stretches came back"


def vouched(path: Path, key: Path, public: Path, folder: Path) -> bool:
    made: str = ragfile.sign_bundle(path, folder / "kb.sigstore.json", key)
    return made == ragfile.verify_bundle(path, folder / "kb.sigstore.json", [public])


def published(path: Path, folder: Path) -> str:
    names: list[str] = ragfile.site(path, folder / "public", title="Documentation", meaning=False)
    return f"{len(names) > 3}"


def linked(path: Path, folder: Path) -> str:
    with ragfile.open(path) as rf:
        first = next(iter(rf.documents())).id
        links: list[ragfile.Link] = rf.links(first)
        graph: ragfile.DocumentGraph = rf.graph
        near: ragfile.Neighbours = graph.neighbours(first)
        each: list[ragfile.Neighbour] = near.documents
        sets: list[ragfile.Hyperedge] = graph.hyperedges()
    report: ragfile.UnpackReport = ragfile.unpack(path, folder / "back")
    return f"{len(links)} {len(each)} {len(sets)} {report.files > 0}"


def main(folder: Path) -> list[str]:
    path = built(folder)
    lines = [*asked(path), answered(path), *by_blocks(folder), str(changed(made(folder)))]
    lines += [*notes_of(folder, path.stem), *kept_up(path, folder / "docs")]
    lines += [*as_pairs(folder), str(converted(path, folder)), explained(path)]
    lines += [
        str(layered([path])),
        *measured(path, folder / "links.json"),
        str(written_often(path)),
    ]
    lines += [published(path, folder), linked(path, folder), signed(path)]
    lines.append(mended(folder / "safe.ragfile", folder))
    (folder / "other.ragfile").write_bytes(b"something else")
    lines.append(explained(folder / "other.ragfile"))
    assert ModelByItsModule is ragfile.Model
    return [*lines, ragfile.__version__]


if __name__ == "__main__":
    print("\n".join(main(Path(sys.argv[1]))))
