"""Compaction: the live documents of a file as a first generation, which leaves nothing of the past.

Everything is carried over as it is stored, through the writer that builds files, and so gives the bytes of a fresh build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.commit.editing import recorded_analysis
from ragfile.commit.writing import Writer
from ragfile.ground.urls import refuse_remote
from ragfile.store.archive import Archive

if TYPE_CHECKING:
    from ragfile.types import StrPath

KEPT = ("rag.origin", "rag.stale")


class Compactor(Writer):
    """The live documents of a file as a file of their own."""

    def __init__(self, editor, archive, created):
        record = dict(archive.config)
        dim = record.pop("dim", None)
        self._archive = archive
        analysis = recorded_analysis(archive)
        self._begin(
            editor.replacement(),
            {"precision": 32, "metric": "cosine", **record},
            dim,
            None,
            analysis,
            created,
        )

    def carry_all(self):
        for segment in self._archive.segments:
            for there in segment.live_documents():
                rows = self._staging.carry(*there)
                stored = segment.stored_vectors(rows.start, len(rows))
                if stored is not None and len(rows):
                    self._staging.carry_vectors(stored)
        for entry in self._archive.entries:
            if entry["name"] in KEPT or not (
                entry["name"].startswith("rag.") or entry["name"] in ("vector", "keyword")
            ):
                self._carry_section(entry)

    def _carry_section(self, entry):
        """A section that is not made anew: of a third party, or about the whole file."""
        if entry["segment"]:
            raise ValueError(
                f"section {entry['name']} belongs to a segment, and nothing here knows how to compact it"
            )
        section = self._archive.section(entry["name"], 0)
        section.check()
        self._extra.append((entry["name"], bytes(section), entry["items"], entry["flags"]))


def compact(path: StrPath, *, created: int | None = None, accept_loss: bool = False) -> None:
    """Writes the live documents as a new first generation and puts it in the file's place. Deleted bytes are gone then."""
    refuse_remote(path)
    editor = _core.Writer.edit(path)
    try:
        with (
            Archive(path, strict=not accept_loss) as archive,
            Compactor(editor, archive, created) as fresh,
        ):
            fresh.carry_all()
    finally:
        editor.close()
