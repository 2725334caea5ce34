"""Build a file from folders, files or documents.

    sources ─ loading ─ chunking ─ embedding ─ (stash) ─ Writer ─ file

The same sources give the same bytes. Sources that cannot be read are reported, and the others are built. An interrupted build
leaves no file under the final name, and the next build reuses the vectors that it had computed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ragfile.embedding.protocol import Embedder
from ragfile.embedding.resume import Stash
from ragfile.ground import offline as network
from ragfile.ground.encryption_keys import KeyChoice
from ragfile.ingest import loaders
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.bundles import is_bundle
from ragfile.ingest.chunker import Policy, split
from ragfile.ingest.document_loader import Duplicate, Loading, SourceFailure
from ragfile.ingest.loaders.contract import Limits
from ragfile.ingest.source_files import Selection, Skipped, UnreadPath
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
from ragfile.write.analysis_record import PAGES
from ragfile.write.given_documents import documents_of, refuse_file_options
from ragfile.write.link_sections import Brought, StagedLinks, brought
from ragfile.write.read_ahead import ReadingAhead
from ragfile.write.read_worker import BuildPart, Order, with_labels
from ragfile.write.vector_clusters import recorded
from ragfile.write.writer import (
    Writer,
    check_layout,
    keep_record,
    layout_record,
    parity_record,
    refuse_plain_cache,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

    from ragfile.records import Chunk

    CutDocument: TypeAlias = tuple[Document, list[Chunk]]
    Incoming: TypeAlias = Document | CutDocument | BuildPart

BATCH = 512


@dataclass
class BuildReport:
    """The result of a build.

    Attributes:
        path: The file that was written.
        files: Source files read.
        documents: Documents in the file.
        chunks: Chunks in the file.
        source_bytes: Size of the source files, in bytes.
        file_bytes: Size of the file, in bytes.
        embedded: Chunks that were embedded.
        reused: Chunks with vectors from a cache or from an interrupted build.
        seconds: Duration of the build.
        failures: Sources that could not be read, with the reason.
        duplicates: Sources left out by `dedupe`.
        skipped: Sources that no loader reads.
        encodings: The encoding of each source that is not UTF-8, by path.
    """

    path: str
    files: int = 0
    documents: int = 0
    chunks: int = 0
    source_bytes: int = 0
    file_bytes: int = 0
    embedded: int = 0
    reused: int = 0
    seconds: float = 0.0
    failures: list[SourceFailure] = field(default_factory=list[SourceFailure])
    duplicates: list[Duplicate] = field(default_factory=list[Duplicate])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    encodings: dict[str, str] = field(default_factory=dict[str, str])


def build(
    sources: Sources | Iterable[Document | Fields], out: StrPath, *, embedder: str | Embedder | None = "default",
    chunking: Policy | str | Fields | None = None, analysis: Analysis | None = PAGES, tags: Tags | None = None,
    metadata: Metadata | None = None, precision: Precision = 32, portable: bool = False, resume: bool = True,
    progress: Progress | None = None, limits: Limits | None = None, dedupe: bool = False, errors: Errors = "strict",
    created: int | None = None, embedding_cache: StrPath | bool | None = None, offline: bool = False,
    encoding: str | None = None, layout: Layout = "default", include: Iterable[str] = (), exclude: Iterable[str] = (),
    ignore: bool = True, jobs: int = 1, parity: int = 0, clusters: bool | int | None = None,
    keep: int | str | None = None, edges: Iterable[Brought] | None = None,
    hyperedges: Iterable[Brought] | None = None, node_features: Mapping[str, Iterable[float]] | None = None,
    keep_originals: bool = False, key: KeyChoice = None,
) -> BuildReport:  # fmt: skip
    """Build a file from folders, globs and files, or from documents.

        ragfile.build([{"id": "a.md", "text": "How long do pods live?"}], "pods.ragfile")

    Documents are streamed: only a few of a generator's documents are in memory at a time. Unreadable
    files and files without a loader do not stop the build; the report lists them.

    Args:
        sources: Paths of folders, globs or files; `Document` objects or mappings with their fields; or
            a data frame, an Arrow table or a list of mappings, with columns found by name and type.
        out: The file to write. An existing RAGFile is replaced once the new one is complete.
        embedder: `"default"` (the model that ships with ragfile), `"none"`, a name such as `"st:…"`,
            `"onnx:…"`, `"openai:…"` or `"ollama:…"`, an object with `embed()`, or a function from
            a list of texts to vectors.
        chunking: A chunk policy: a `Policy`, its fields, or a name such as `"markdown"` or
            `"words:200/40"` (size and overlap).
        analysis: The fields and word rules of BM25; None builds no BM25 index.
        tags: Tags to add to every document.
        metadata: Metadata to add to every document.
        precision: Bits of a stored vector component, 16 or 32.
        portable: Also store each passage under a keyword, for readers of format 0.1.0.
        resume: Reuse the vectors of an interrupted build.
        progress: Called with the documents done, the chunks done, and the share of the source bytes
            that is done (None if unknown).
        limits: Limits on the size and number of sources.
        dedupe: Leave out files with the same bytes as an earlier one.
        errors: `"replace"` reads text that is not valid UTF-8 with replacement characters;
            `"strict"` reports the file as a failure.
        created: Creation time in ns since 1970. Defaults to `SOURCE_DATE_EPOCH`, else 0.
        embedding_cache: A folder that keeps vectors between builds; True chooses the default folder.
        offline: Open no sockets. An embedder that needs a server is an error.
        encoding: Encoding of text without a byte order mark that is not UTF-8, such as `"cp1252"`.
        layout: `"web"` adds indexes that let browsers and other remote readers fetch less.
        include: Globs, as in a `.gitignore`, of the files to read from folders.
        exclude: Globs of the files to leave out.
        ignore: Respect `.gitignore` files, and leave out installed packages (`node_modules`, virtual
            environments).
        jobs: Number of processes that load, chunk and, with the default model, embed. The file is the
            same for any number.
        parity: Size of the recovery data that `repair()` uses, 0 to 100 per cent of the file.
        clusters: Number of vector clusters for searches with `effort=`; True derives it from the
            number of rows. Defaults to none.
        keep: The generations that edits keep: a number of the newest, a date, or `"all"`; see
            `edit()`. Defaults to the newest alone.
        edges: Links of your own: mappings with `source` (an id) and `target`, and if you like `kind`,
            `weight` and `features`; (source, target) and (source, target, kind) tuples, which can end with such
            a mapping, as networkx's edges do; or an Arrow table with these columns.
        hyperedges: Sets of documents: mappings with `key` and `members` (ids), and if you like `kind`,
            `weight` and `features`.
        node_features: Numbers of your own for documents, by id.
        keep_originals: Also store the bytes of each file whose text does not give them back, and the files
            that no loader reads; `unpack()` writes the folder again.
        key: Encrypts the file: 32 bytes, the path of a key file, or a function that returns one of
            them; True takes the key of the environment. Defaults to a plain file.

    Returns:
        A report with counts, failures and skipped files.

    Raises:
        FileNotFoundError: A named source does not exist.
        ValueError: The sources contain no document, or an option is out of range.
        ProviderError: An embedding server failed for good.
    """
    check_layout(layout)
    _refuse_another_format(out)
    chosen = recorded(clusters)
    if index(jobs) < 1:
        raise ValueError(f"jobs is a number of processes from 1, not {jobs}")
    began = time.perf_counter()
    files, documents = documents_of(sources)
    bundle = documents is None and is_bundle(files)
    selection = Selection(tuple(include), tuple(exclude), ignore, keep_originals or bundle, bundle)
    loading = Loading(
        files,
        limits=limits or Limits(),
        dedupe=dedupe,
        errors=errors,
        encoding=encoding,
        selection=selection,
    )
    read: _Sources | Iterator[Document] = _Sources(loading, tags, metadata, jobs)
    if documents is not None:
        if jobs != 1:
            raise ValueError("jobs is about files, not documents")
        refuse_file_options(dedupe, include, exclude, encoding, not ignore)
        read = labelled(documents, tags, metadata)
    with network.offline(offline):
        report = build_from(
            read, out, embedder=embedder, chunking=chunking, analysis=analysis, precision=precision,
            portable=portable, resume=resume, progress=progress, created=created,
            config={
                **(labels_record(tags, metadata, None if documents is not None else selection) or {}),
                **layout_record(layout), **parity_record(parity), **chosen, **keep_record(keep),
            },
            embedding_cache=embedding_cache, share=loading.share if progress is not None and documents is None else None,
            why=lambda: _why_nothing(sources, loading), links=brought(edges, hyperedges, node_features),
            key=key,
        )  # fmt: skip
    report.files, report.source_bytes = loading.files, loading.bytes
    report.failures, report.duplicates, report.skipped = (
        [*loading.failures, *loading.unread()],
        loading.duplicates,
        [one for one in loading.skipped if not isinstance(one, UnreadPath)],
    )
    report.encodings = loading.encodings
    report.seconds = time.perf_counter() - began
    return report


# Suffixes of the formats that convert() writes, and of others that people would open with a program.
CONVERTED = frozenset(
    {".ragmd", ".md", ".parquet", ".jsonl", ".ndjson", ".duckdb", ".sqlite", ".db"}
)
OTHERS = frozenset({".txt", ".json", ".csv", ".html", ".pdf", ".docx", ".npy", ".npz", ".zip"})


def _refuse_another_format(out: StrPath) -> None:
    """Refuse a name that promises another format than the RAGFile that a build writes."""
    path = os.fspath(out)
    stem, suffix = os.path.splitext(path)
    if suffix.lower() not in CONVERTED | OTHERS or os.path.exists(path):
        return  # what exists is replaced only if it is a RAGFile
    made = f"{stem}.ragfile"
    after = f", then ragfile.convert({made!r}, {path!r})" if suffix.lower() in CONVERTED else ""
    raise ValueError(
        f"a build writes a RAGFile, and {path} is named like another format: write {made}{after}"
    )


def build_from(
    documents: Iterable[Document | CutDocument] | _Sources, out: StrPath, *,
    embedder: str | Embedder | None = "default", spec: str | None = None,
    chunking: Policy | str | Fields | None = None, analysis: Analysis | None = PAGES,
    precision: Precision = 32, portable: bool = False, resume: bool = True,
    progress: Progress | None = None, created: int | None = None, config: Metadata | None = None,
    embedding_cache: StrPath | bool | None = None, share: Callable[[], float] | None = None,
    why: Callable[[], str] = lambda: "no documents", links: dict[str, StagedLinks] | None = None,
    key: KeyChoice = None,
) -> BuildReport:  # fmt: skip
    """Build a file from documents, or from (document, chunks) pairs.

    spec is the name to record for an embedder object, config further entries of the configuration.
    share() returns the share of the input that was read, why() the reason for having no documents. links are
    those that the caller brings, by document. key encrypts the file.
    """
    refuse_plain_cache(key, embedding_cache)
    with Writer(
        out, embedder=embedder, spec=spec, chunking=chunking, analysis=analysis,
        precision=precision, portable=portable, created=created, config=config,
        embedding_cache=embedding_cache, key=key,
    ) as writer:  # fmt: skip
        waiting = writer.draft.staging.brought
        waiting.update(links or {})
        work = _BuildWork(
            writer,
            _stash(out, writer.embedder, resume and writer.draft.file.keys is None),
            out,
            progress,
            share,
        )
        if isinstance(documents, _Sources):
            with closing(documents.read(writer, embedder)) as found:  # closes its processes
                work.take_all(found)
        else:
            work.take_all(documents)
        work.flush()
        if not work.report.documents:
            raise ValueError(why())
        if waiting:
            raise ValueError(f"links of {min(waiting)!r}, and the build has no such document")
    return work.finish()


def labels_record(
    tags: Tags | None, metadata: Metadata | None, selection: Selection | None = None
) -> Metadata | None:
    """Return the configuration entries that a later sync needs: labels and the selection of files.

    Labels with a lone surrogate are not recorded, because the configuration cannot hold them.
    """
    given = {"tags": list(tags or ()), "metadata": dict(metadata or {})}
    labels = {name: value for name, value in given.items() if value}
    files = selection.record() if selection is not None else {}
    chosen = {"selection": files} if files else {}
    is_recorded = labels and not any(
        "\ud800" <= c <= "\udfff" for c in json.dumps(labels, ensure_ascii=False, default=str)
    )
    return {**chosen, **({"labels": labels} if is_recorded else {})} or None


def labelled(
    documents: Iterable[Document], tags: Tags | None, metadata: Metadata | None
) -> Iterator[Document]:
    """Yield documents with the tags and metadata of a build."""
    for document in documents:
        yield with_labels(document, tags, metadata)


def cut(
    loading: Loading, documents: Iterable[Document], tags: Tags | None,
    metadata: Metadata | None, policy: Policy,
) -> Iterator[CutDocument]:  # fmt: skip
    """Yield documents with their chunks. One that cannot be split counts as a failure to load it."""
    for document in labelled(documents, tags, metadata):
        if (chunks := loading.cut(document, policy)) is not None:
            yield document, chunks


@dataclass
class _Sources:
    """The sources of a build, to be read here or by `jobs` processes."""

    loading: Loading
    tags: Tags | None
    metadata: Metadata | None
    jobs: int

    def read(
        self, writer: Writer, embedder: str | Embedder | None
    ) -> Generator[CutDocument | BuildPart, None, None]:
        """Yield documents with chunks, tags and metadata."""
        if self.jobs == 1 or not loaders.are_built_in():  # which other processes do not have
            yield from cut(self.loading, self.loading, self.tags, self.metadata, writer.policy)
        else:
            yield from self._ahead(writer, embedder)

    def _ahead(
        self, writer: Writer, embedder: str | Embedder | None
    ) -> Iterator[CutDocument | BuildPart]:
        # Caches, servers and embedder objects belong to this process alone.
        is_ours = embedder == "default" and not _has_cache(writer.embedder)
        order = Order(
            self.loading.limits, self.loading.errors, self.loading.encoding, tuple(self.tags or ()),
            dict(self.metadata or {}), writer.policy, "default" if is_ours else None,
            writer.record, self.loading.selection,
        )  # fmt: skip
        with closing(iter(ReadingAhead(self.loading, order, self.jobs))) as parts:
            for found in parts:
                if isinstance(found, BuildPart):
                    yield found
                else:
                    documents = self.loading.file(found)
                    yield from cut(self.loading, documents, self.tags, self.metadata, writer.policy)


def _stash(out: StrPath, embedder: Embedder | None, resume: bool) -> Stash | None:
    """Return the store of vectors for resuming; static models and caches need none."""
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


def _has_cache(embedder: Embedder | None) -> bool:
    """Return whether an embedder counts the hits and misses of a cache."""
    return hasattr(embedder, "misses") and hasattr(embedder, "hits")


def _why_nothing(sources: Sources | Iterable[Document | Fields], loading: Loading) -> str:
    if isinstance(sources, Iterator):
        return "no documents"
    named = [
        os.fspath(cast("StrPath", source))
        for source in ([sources] if isinstance(sources, str | os.PathLike) else sources)
    ]
    found = f"no document in {', '.join(named) or 'no sources at all'}"
    reasons: list[SourceFailure | Skipped] = [*loading.failures, *loading.skipped]
    return f"{found}: {reasons[0].path}: {reasons[0].reason}" if reasons else found


class _BuildWork:
    """Embeds documents in batches that cross documents, and adds them to a writer."""

    def __init__(
        self, writer: Writer, stash: Stash | None, out: StrPath, progress: Progress | None,
        share: Callable[[], float] | None,
    ) -> None:  # fmt: skip
        self.writer, self.embedder, self.stash = writer, writer.embedder, stash
        self.report, self.progress, self.share = BuildReport(os.fspath(out)), progress, share
        self.pending: list[tuple[Document, list[Chunk], np.ndarray | None]] = []
        self.waiting = 0

    def take_all(self, documents: Iterable[Incoming]) -> None:
        """Take documents, split or not."""
        for document in documents:
            if isinstance(document, BuildPart):
                self.take(document.document, document.chunks(), document.vectors)
            elif isinstance(document, tuple):
                self.take(*document)
            else:
                self.take(document)

    def take(
        self, document: Document, chunks: list[Chunk] | None = None,
        vectors: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Take a document, and embed when a batch is full."""
        chunks = split(document, self.writer.policy) if chunks is None else chunks
        self.pending.append((document, chunks, vectors))
        self.waiting += len(chunks)
        self.report.documents += 1
        self.report.chunks += len(chunks)
        if self.waiting >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Embed and add the pending documents."""
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

    def _vectors(self, texts: list[Hashable]) -> np.ndarray | None:
        if self.embedder is None or not texts:
            return None
        if (stash := self.stash) is None:
            return self._made(self.embedder, texts)
        found = [stash.find(text) for text in texts]
        new = list(
            dict.fromkeys(text for text, vector in zip(texts, found, strict=True) if vector is None)
        )
        if new:
            made = self.writer.context.embed(self.embedder, new)
            stash.append(new, made)
        self.report.embedded += len(new)
        self.report.reused += len(texts) - sum(vector is None for vector in found)
        return np.array(
            [v if v is not None else stash.find(t) for t, v in zip(texts, found, strict=True)]
        )

    def _made(self, embedder: Embedder, texts: Sequence[Hashable]) -> np.ndarray:
        before = getattr(embedder, "hits", 0)
        made = self.writer.context.embed(embedder, texts)
        known = getattr(embedder, "hits", 0) - before
        self.report.embedded += len(texts) - known
        self.report.reused += known
        return made

    def finish(self) -> BuildReport:
        """Return the report of a build that was committed."""
        if self.stash is not None:
            self.stash.discard()
        self.report.file_bytes = os.path.getsize(self.report.path)
        return self.report
