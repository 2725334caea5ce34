"""From folders and files to a knowledge base.

    sources ─ loading ─ chunking ─ embedding ─ (stash) ─ Writer ─ file

The same sources give the same bytes. A source that cannot be read is reported and the rest is built; a build that is killed
leaves no file under the final name, and the next one takes up the vectors that it had made.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np

from ragfile.embedding.protocol import Embedder
from ragfile.embedding.resume import Stash
from ragfile.ground import offline as network
from ragfile.ingest import loaders
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunker import Policy, split
from ragfile.ingest.document_loader import Duplicate, Limits, Loading, SourceFailure
from ragfile.ingest.source_files import Selection, Skipped
from ragfile.records import Document
from ragfile.types import (
    Errors,
    Fields,
    Layout,
    Metadata,
    Precision,
    Progress,
    Sources,
    StrPath,
    Tags,
)
from ragfile.write.read_ahead import ReadingAhead
from ragfile.write.read_worker import BuildPart, Order, with_labels
from ragfile.write.vector_clusters import recorded
from ragfile.write.writer import Writer, check_layout, layout_record, parity_record

BATCH = 512
# A page's title is in its header path and, where it comes from front matter, nowhere else.
PAGES = Analysis(fields=(("text", 1), ("headers", 6)))


@dataclass
class BuildReport:
    """What a build did, for people and programs."""

    path: str
    files: int = 0
    documents: int = 0
    chunks: int = 0
    source_bytes: int = 0
    file_bytes: int = 0
    embedded: int = 0
    reused: int = 0
    seconds: float = 0.0
    failures: list[SourceFailure] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    encodings: dict[str, str] = field(default_factory=dict)  # of files that are not UTF-8


def build(
    sources: Sources | Iterable[Document | Fields], out: StrPath, *, embedder: str | Embedder | None = "default",
    chunking: Policy | str | Fields | None = None, analysis: Analysis | None = PAGES, tags: Tags | None = None,
    metadata: Metadata | None = None, precision: Precision = 32, portable: bool = False, resume: bool = True,
    progress: Progress | None = None, limits: Limits | None = None, dedupe: bool = False, errors: Errors = "strict",
    created: int | None = None, embedding_cache: StrPath | bool | None = None, offline: bool = False,
    encoding: str | None = None, layout: Layout = "default", include: Iterable[str] = (), exclude: Iterable[str] = (),
    ignore: bool = True, jobs: int = 1, parity: int = 0, clusters: bool | int | None = None,
) -> BuildReport:  # fmt: skip
    """Builds the file `out` from folders, globs and files, or from Documents (or dicts of their fields), which stream: of a
    generator only a few are held at a time. Returns a BuildReport.

    embedder is a name ("default", "none", "st:…", "onnx:…", "openai:…", "ollama:…") or an object with embed(); chunking a
    policy such as "markdown" or "words:200/40"; tags and metadata are put on every document. analysis=None leaves out BM25.
    portable adds a section in which readers of 0.1.0 find each passage by a keyword. progress is called with (documents done,
    chunks done, the share of the sources' bytes that is done).

    A source that is named and not there is an error; a file that cannot be read is one of the report's failures, one without a
    loader is skipped. resume takes up the vectors of a build that was killed, embedding_cache is a folder that keeps them from
    build to build (ragfile.embedding.cache), dedupe leaves out files whose bytes were read before, limits is loading.Limits,
    errors="replace" reads text that is not UTF-8, created a time in ns for files that are equal byte for byte.
    encoding is that of text which is not UTF-8 and has no byte order mark, such as "cp1252".
    offline=True opens no socket: an embedder that is a server is an error. layout="web" adds what lets browsers, and other
    readers behind URLs, fetch less.
    include and exclude are globs as in a .gitignore, for the files of folders. ignore=False also reads what a .gitignore names,
    and what programs installed (node_modules, virtual environments).
    parity is how many per cent of extra blocks the file holds, with which ragfile.repair() brings damaged ones back.
    jobs is a number of processes that load, cut and (with the embedded model) embed; the file is the same for any.
    clusters is as in create.
    """
    check_layout(layout)
    chosen = recorded(clusters)
    if index(jobs) < 1:
        raise ValueError(f"jobs is a number of processes from 1, not {jobs}")
    began = time.perf_counter()
    found: Any
    found, are_documents = _looked_at(sources)
    selection = Selection(tuple(include), tuple(exclude), ignore)
    loading = Loading(
        found,
        limits=limits or Limits(),
        dedupe=dedupe,
        errors=errors,
        encoding=encoding,
        selection=selection,
    )
    read: Any = _Sources(loading, tags, metadata, jobs)
    if are_documents:
        if jobs != 1 or dedupe or include or exclude or encoding or not ignore:
            raise ValueError(
                "jobs, dedupe, include, exclude, encoding and ignore are about files, not documents"
            )
        read = labelled(map(Document.of, found), tags, metadata)
    with network.offline(offline):
        report = build_from(
            read, out, embedder=embedder, chunking=chunking, analysis=analysis, precision=precision,
            portable=portable, resume=resume, progress=progress, created=created,
            config={
                **(labels_record(tags, metadata, None if are_documents else selection) or {}),
                **layout_record(layout), **parity_record(parity), **chosen,
            },
            embedding_cache=embedding_cache, share=loading.share if progress is not None and not are_documents else None,
            why=lambda: _why_nothing(sources, loading),
        )  # fmt: skip
    report.files, report.source_bytes = loading.files, loading.bytes
    report.failures, report.duplicates, report.skipped = (
        loading.failures,
        loading.duplicates,
        loading.skipped,
    )
    report.encodings = loading.encodings
    report.seconds = time.perf_counter() - began
    return report


def _looked_at(sources):
    """(the sources, whether they are documents): an iterator is asked for its first one alone, or is one of paths."""
    if isinstance(sources, Document | Mapping):
        raise TypeError("build takes paths or an iterable of documents, not a single document")
    if isinstance(sources, str | os.PathLike):
        return sources, False
    if isinstance(sources, Iterator):
        first = list(itertools.islice(sources, 1))
        if not any(isinstance(one, Document | Mapping) for one in first):
            return [*first, *sources], False
        return itertools.chain(first, sources), True
    return sources, any(isinstance(one, Document | Mapping) for one in itertools.islice(sources, 1))


def build_from(
    documents, out, *, embedder: str | Embedder | None = "default", spec=None, chunking=None,
    analysis: Analysis | None = PAGES, precision: Precision = 32, portable=False, resume=True, progress=None,
    created=None, config=None, embedding_cache=None, share=None, why=lambda: "no documents",
):  # fmt: skip
    """As build, of Documents that were read elsewhere, or of (document, chunks) pairs where they were cut, too.

    spec is the name to record for an embedder that is open already, config what else the file records. share() says how much of the
    documents has come, for progress; why() why there is nothing to build, where there is not.
    """
    with Writer(
        out, embedder=embedder, spec=spec, chunking=chunking, analysis=analysis,
        precision=precision, portable=portable, created=created, config=config,
        embedding_cache=embedding_cache,
    ) as writer:  # fmt: skip
        work = _BuildWork(writer, _stash(out, writer.embedder, resume), out, progress, share)
        if isinstance(documents, _Sources):
            with closing(documents.read(writer, embedder)) as found:  # and so its processes
                work.take_all(found)
        else:
            work.take_all(documents)
        work.flush()
        if not work.report.documents:
            raise ValueError(why())
    return work.finish()


def labels_record(tags, metadata, selection=None):
    """What a sync has to put on documents that it reads anew, and which files it reads, recorded if there is any; the configuration
    knows no lone surrogates."""
    said = {"tags": list(tags or ()), "metadata": dict(metadata or {})}
    said = {name: value for name, value in said.items() if value}
    said_of_files = selection.record() if selection is not None else {}
    chosen = {"selection": said_of_files} if said_of_files else {}
    is_told = said and not any(
        "\ud800" <= c <= "\udfff" for c in json.dumps(said, ensure_ascii=False, default=str)
    )
    return {**chosen, **({"labels": said} if is_told else {})} or None


def labelled(documents, tags, metadata):
    """Documents with a build's tags and metadata."""
    for document in documents:
        yield with_labels(document, tags, metadata)


def cut(loading, documents, tags, metadata, policy):
    """(document, chunks) pairs, without those that cannot be cut: they are failures of a loading."""
    for document in labelled(documents, tags, metadata):
        if (chunks := loading.cut(document, policy)) is not None:
            yield document, chunks


@dataclass
class _Sources:
    """The sources of a build, to be read here or by `jobs` processes."""

    loading: Loading
    tags: Any
    metadata: Any
    jobs: int

    def read(self, writer, embedder):
        """Documents, or Parts that were cut already, with the build's tags and metadata."""
        if self.jobs == 1 or not loaders.are_built_in():  # which other processes do not have
            return cut(self.loading, self.loading, self.tags, self.metadata, writer.policy)
        return self._ahead(writer, embedder)

    def _ahead(self, writer, embedder):
        # A cache and a server are one process's business, and so is an object that somebody made.
        is_ours = embedder == "default" and not _has_cache(writer.embedder)
        order = Order(
            self.loading.limits, self.loading.errors, self.loading.encoding, tuple(self.tags or ()),
            dict(self.metadata or {}), writer.policy, embedder if is_ours else None,
            writer.record,
        )  # fmt: skip
        with closing(iter(ReadingAhead(self.loading, order, self.jobs))) as parts:
            for found in parts:
                if isinstance(found, BuildPart):
                    yield found
                else:
                    documents = self.loading.file(found)
                    yield from cut(self.loading, documents, self.tags, self.metadata, writer.policy)


def _stash(out, embedder, resume):
    """Where vectors are kept that would cost much to make again; a static model's do not, and a cache keeps its own."""
    if (
        embedder is None
        or getattr(embedder, "is_static", False)
        or not resume
        or _has_cache(embedder)
    ):
        return None
    folder, name = os.path.split(os.path.abspath(out))
    model = embedder.model
    return Stash(os.path.join(folder, f".{name}.vectors"), model.identity("document"), model.dims)


def _has_cache(embedder):
    """Whether it counts what it had to make (misses) and what it had (hits)."""
    return hasattr(embedder, "misses") and hasattr(embedder, "hits")


def _why_nothing(sources, loading):
    if isinstance(sources, Iterator):
        return "no documents"
    named = [
        os.fspath(source)
        for source in ([sources] if isinstance(sources, (str, os.PathLike)) else sources)
    ]
    found = f"no document in {', '.join(named) or 'no sources at all'}"
    reasons = [*loading.failures, *loading.skipped]
    return f"{found}: {reasons[0].path}: {reasons[0].reason}" if reasons else found


class _BuildWork:
    """Documents on their way, embedded in batches that cross documents."""

    def __init__(self, writer, stash, out, progress, share):
        self.writer, self.embedder, self.stash = writer, writer.embedder, stash
        self.report, self.progress, self.share = BuildReport(os.fspath(out)), progress, share
        self.pending, self.waiting = [], 0

    def take_all(self, documents):
        """Documents, (document, chunks) pairs, or Parts."""
        for document in documents:
            if isinstance(document, BuildPart):
                self.take(document.document, document.chunks(), document.vectors)
            else:
                self.take(*(document if isinstance(document, tuple) else (document, None)))

    def take(self, document, chunks=None, vectors=None):
        chunks = split(document, self.writer.policy) if chunks is None else chunks
        self.pending.append((document, chunks, vectors))
        self.waiting += len(chunks)
        self.report.documents += 1
        self.report.chunks += len(chunks)
        if self.waiting >= BATCH:
            self.flush()

    def flush(self):
        key = self.writer.context.key
        keys = [
            key(chunk, document.metadata)
            for document, chunks, made in self.pending if made is None
            for chunk in chunks
        ]  # fmt: skip
        vectors, at = self._vectors(keys), 0
        for document, chunks, made in self.pending:
            part = made
            if made is not None:
                self.report.embedded += len(chunks)
            elif vectors is not None and chunks:
                part, at = vectors[at : at + len(chunks)], at + len(chunks)
            self.writer.add_document(document, chunks, part)
        self.pending, self.waiting = [], 0
        if self.progress is not None:
            self.progress(
                self.report.documents,
                self.report.chunks,
                None if self.share is None else self.share(),
            )

    def _vectors(self, texts):
        if self.embedder is None or not texts:
            return None
        if self.stash is None:
            return self._made(texts)
        found = [self.stash.find(text) for text in texts]
        new = list(
            dict.fromkeys(text for text, vector in zip(texts, found, strict=True) if vector is None)
        )
        if new:
            made = self.writer.context.embed(self.embedder, new)
            self.stash.append(new, made)
        self.report.embedded += len(new)
        self.report.reused += len(texts) - sum(vector is None for vector in found)
        return np.array(
            [v if v is not None else self.stash.find(t) for t, v in zip(texts, found, strict=True)]
        )

    def _made(self, texts):
        before = getattr(self.embedder, "hits", 0)
        made = self.writer.context.embed(self.embedder, texts)
        known = getattr(self.embedder, "hits", 0) - before
        self.report.embedded += len(texts) - known
        self.report.reused += known
        return made

    def finish(self):
        if self.stash is not None:
            self.stash.discard()
        self.report.file_bytes = os.path.getsize(self.report.path)
        return self.report
