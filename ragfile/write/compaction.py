"""Compaction: rewrite the live documents of a file as its first commit.

Documents are carried over as stored, through the writer that builds files, so the result has the bytes
of a fresh build except for the generation number.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from typing import Any

from ragfile import _core
from ragfile.errors import CorruptError, RagfileError
from ragfile.file import sections
from ragfile.file.row_segment import StoredDocument
from ragfile.ground.json_values import is_object
from ragfile.search.file_rows import FileRows, rows_over
from ragfile.types import Layout, SectionEntry, StrPath
from ragfile.write.draft import Draft
from ragfile.write.editor import recorded_analysis
from ragfile.write.file_to_edit import file_to_edit
from ragfile.write.old_generations import NEWEST
from ragfile.write.stale_documents import packed
from ragfile.write.vector_clusters import recorded
from ragfile.write.writer import check_layout, keep_record, layout_record, parity_record


def compact(
    path: StrPath, *, created: int | None = None, accept_loss: bool = False,
    renumber: bool = False, layout: Layout | None = None, parity: int | None = None, clusters: bool | int | None = None,
    wait: float | None = None,
    keep: int | str | None = None,
) -> None:  # fmt: skip
    """Rewrite a file with its live documents alone, which reclaims obsolete bytes.

    Earlier commits cannot be opened afterwards. The file is replaced in one step.

    Args:
        path: The file to compact.
        created: Creation time in ns since 1970. Defaults to `SOURCE_DATE_EPOCH`, else 0.
        accept_loss: Compact the previous commit if the newest one is damaged.
        renumber: Restart generations at 1, which makes the file equal to a fresh build. By default the
            newest number is kept, so that a request for an older generation is refused.
        layout: `"web"` adds indexes for remote readers, `"default"` removes them. Defaults to the
            file's own.
        parity: Size of the recovery data in per cent; 0 removes it. Defaults to the file's own.
        clusters: Number of vector clusters, True for a derived number, False for none. Defaults to
            the file's own.
        wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 30.
        keep: The generations that later edits keep; see `edit()`. Defaults to the file's own.

    Raises:
        LockedError: Another writer still holds the file, or this thread does.
        CorruptError: The newest commit is damaged, and `accept_loss` is false.
        ValueError: An option is out of range, or another program's section cannot be carried over.
    """
    check_layout(layout)
    chosen = recorded(clusters)
    changes: dict[str, Any] = {} if parity is None else {"parity": None, **parity_record(parity)}
    if keep is not None:
        changes |= {"keep": None, **keep_record(keep)}
    if layout is not None:
        changes |= {"layout": None, **layout_record(layout)}
    file = file_to_edit(path, wait)
    try:
        with rows_over(file.take_reader(), path, strict=not accept_loss) as archive:
            generation = 1 if renumber else archive.generation
            with closing(file.replacement()) as made:
                _rewrite(archive, made, created, generation, changes, chosen)
    finally:
        file.close()


def _rewrite(
    archive: FileRows, file: _core.FileWriter, created: int | None, generation: int,
    changes: dict[str, Any], chosen: dict[str, Any],
) -> None:  # fmt: skip
    record: dict[str, Any] = {"precision": 32, "metric": "cosine", **archive.config, **changes}
    record = {name: value for name, value in record.items() if name not in changes or value}
    record |= chosen
    record.pop("first_generation", None)
    record.pop("signed", None)
    if record.get("keep") == NEWEST:
        del record["keep"]  # the next edit records it again
    if is_object(memory := record.get("memory")):
        # The bytes of forgotten texts are not in the new file.
        record["memory"] = {name: value for name, value in memory.items() if name != "forgotten"}
    if generation > 1:
        record["first_generation"] = generation
    dim = record.pop("dim", None)
    draft = Draft(file, record, dim=dim, analysis=recorded_analysis(archive), created=created)
    try:
        with _damage_of(archive):
            for segment in archive.segments:
                for old in segment.live_documents():
                    draft.carry(old)
        for entry in filter(_is_kept, archive.file.entries):
            draft.add_section(*_section(archive, entry))
        with _damage_of(archive):
            draft.write()
        draft.commit()
    finally:
        draft.discard()


@contextmanager
def _damage_of(archive: FileRows) -> Generator[None]:
    """Raise CorruptError for stored values that a new file must not have."""
    try:
        yield
    except RagfileError:
        raise
    except ValueError as error:
        raise CorruptError(f"{archive.path}: {error}") from error


def rewrite(
    path: StrPath, archive: FileRows, documents: Iterable[StoredDocument],
    stale: Sequence[dict[str, Any]] = (), without: Iterable[str] = (),
    changes: dict[str, Any] | None = None,
) -> None:  # fmt: skip
    """Write stored documents of any files to a new one, with the configuration of `archive`.

    The entries of the configuration that `without` names are left out, and `changes` are added.
    """
    record: dict[str, Any] = {"precision": 32, "metric": "cosine", **archive.config}
    for name in without:
        record.pop(name, None)
    record.pop("first_generation", None)
    record.pop("signed", None)
    if record.get("keep") == NEWEST:
        del record["keep"]
    record |= changes or {}
    dim = record.pop("dim", None)
    with closing(_core.FileWriter.create(path)) as file:
        draft = Draft(file, record, dim=dim, analysis=recorded_analysis(archive), created=0)
        try:
            for old in documents:
                draft.carry(old)
            if stale:
                draft.add_section("rag.stale", *packed(stale), 0)
            draft.write()
            draft.commit()
        finally:
            draft.discard()


def _is_kept(entry: SectionEntry) -> bool:
    """Return whether a section is copied: another program's, or about the whole file."""
    return sections.compaction(entry["name"]) == "kept"


def _section(archive: FileRows, entry: SectionEntry) -> tuple[str, bytes, int, int]:
    if entry["segment"]:
        raise ValueError(
            f"section {entry['name']} belongs to a segment: only the program that wrote it can "
            "compact this file"
        )
    section = archive.file.section(entry["name"], 0)
    assert section is not None  # it is in the table of contents
    section.check()
    return entry["name"], bytes(section), entry["items"], entry["flags"]
