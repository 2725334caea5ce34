"""Search a folder of files as it is: a RAGFile of it is built, kept in the cache, and synced by each use.

Nothing is written into the folder. All files are compared by their bytes before each use, so an answer
never comes from an older state of a file that can be read.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from ragfile.errors import FormatError
from ragfile.exchange.conversion import format_of_folder
from ragfile.exchange.kept_copies import CopyCache, LockPatience
from ragfile.ground import system
from ragfile.ingest.document_loader import Loading
from ragfile.search.file_rows import rows_of
from ragfile.write.builder import build
from ragfile.write.history import stale_in
from ragfile.write.source_sync import SourcePlan, SyncReport, selected, sync

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ragfile.embedding.protocol import Embedder
    from ragfile.ingest.document_loader import SourceFailure
    from ragfile.types import Progress, StrPath
    from ragfile.write.builder import BuildReport

PASSING = ("ImportError", "ModuleNotFoundError", "MemoryError", "OSError", "PermissionError")


class FolderCopy(NamedTuple):
    """A RAGFile of a folder, and one line about how it came up to date."""

    path: str
    summary: str


@contextlib.contextmanager
def copied_folder(
    folder: StrPath, *, cache: StrPath | None = None, embedder: str | Embedder = "default",
    embedding_cache: StrPath | bool | None = None, progress: Progress | None = None,
) -> Generator[FolderCopy]:  # fmt: skip
    """Yield a RAGFile that has the content of a folder now.

    Args:
        folder: The folder, whose files are selected as `build()` does.
        cache: The cache folder. Defaults to the user's. A cache that cannot be written, or is inside
            the folder, is not used: the copy then is temporary.
        embedder: The embedder of the copy.
        embedding_cache: A folder that keeps vectors of slow embedders.
        progress: As for `build()`.

    Raises:
        OSError: The folder cannot be read.
        ValueError: The folder has no file that can be read.
    """
    home = os.path.realpath(folder)
    os.listdir(home)  # a folder that cannot be listed looks empty to a build
    with contextlib.ExitStack() as held:
        kept = _usable(cache, home)
        if kept is None:
            path = os.path.join(held.enter_context(system.temporary_folder()), "kb.ragfile")
        else:
            path = kept.path(home, getattr(embedder, "model", embedder))
        work = _FolderWork(os.fspath(folder), home, path, kept, embedder, embedding_cache, progress)
        yield FolderCopy(path, work.carry_out())


def _usable(cache: StrPath | None, home: str) -> CopyCache | None:
    """Return the cache of copies, None if nothing can be kept or if it would be written into the folder."""
    try:
        kept = CopyCache(cache)
    except ValueError:
        if cache is None and not os.environ.get("RAGFILE_CACHE_BYTES"):
            return None  # a user without a home folder
        raise
    is_inside = os.path.realpath(kept.folder).startswith(os.path.join(home, ""))
    return None if is_inside or not kept.is_usable() else kept


class _FolderWork:
    """Brings one copy up to date."""

    def __init__(
        self, name: str, home: str, path: str, kept: CopyCache | None,
        embedder: str | Embedder, embedding_cache: StrPath | bool | None, progress: Progress | None,
    ) -> None:  # fmt: skip
        self.name, self.home, self.path, self.kept = name, home, path, kept
        self.embedder, self.embedding_cache, self.progress = embedder, embedding_cache, progress
        self.began = time.perf_counter()

    def carry_out(self) -> str:
        """Build or sync the copy, and return a line that reports it."""
        patience = LockPatience()
        while True:
            try:
                return f"{self.name}: {self._synced()}"
            except FileNotFoundError as error:
                if error.filename != self.path:
                    raise
            except (FormatError, ValueError):  # damaged, or of a folder that was emptied meanwhile
                if self.kept is not None:
                    self.kept.forget(self.path)
            with patience:
                return f"{self.name}: {self._built()}"

    def _built(self) -> str:
        try:
            report = build(
                [self.home], self.path, embedder=self.embedder, progress=self.progress,
                embedding_cache=self.embedding_cache,
            )  # fmt: skip
        except ValueError as error:
            if kind := format_of_folder(self.home):
                advice = f"ragfile.convert({self.home!r}, 'kb.ragfile') makes a RAGFile of it"
                raise FormatError(f"{self.home}: it holds {kind}; {advice}") from error
            raise
        where = "not kept"
        if self.kept is not None:
            self.kept.use(self.path, self.home, {})
            where = f"kept in {_short(str(self.kept.folder))}"
        return f"read {_counted(report)}{self._spent()}, {where}{_unread(report.failures)}"

    def _synced(self) -> str:
        """Compare all files with the copy, and sync it if any differs."""
        if self.kept is None or not os.path.exists(self.path):
            raise FileNotFoundError(2, "no copy yet", self.path)
        report = SyncReport(self.path, dry_run=True)
        loading = Loading([self.home])
        with rows_of(self.path) as rows:
            loading.selection = selected(rows, None, None, None)
            outdated = set(stale_in(rows, None))
            plan = SourcePlan(rows, loading, report, removes=True, outdated=outdated, dedupe=False)
        settled = self.kept.settled(self.path)
        failures = [*report.failures, *loading.unread()]
        if _is_current(plan, settled):
            self.kept.use(self.path, self.home)
            same, empty = report.unchanged, len({*report.added, *report.changed})
            text = f"nothing changed in {same:,} file{'s' * (same != 1)}{self._spent()}"
            return text + (f"; {empty:,} without text" if empty else "") + _unread(failures)
        done = sync(
            self.path, [self.home], embedding_cache=self.embedding_cache, progress=self.progress
        )
        self.kept.use(self.path, self.home, _settled(plan, done))
        return f"{_changes(done)}{self._spent()}{_unread(done.failures)}"

    def _spent(self) -> str:
        return f" in {time.perf_counter() - self.began:.2g} s"


def _is_current(plan: SourcePlan, settled: dict[str, str]) -> bool:
    """Return whether a copy has all that the sources have, but for files that gave no document before."""
    report = plan.report
    waiting = [*report.added, *report.changed]
    is_same = not (report.moved or report.recut or report.removed)
    return is_same and all(settled.get(name) == plan.checksums[name] for name in waiting)


def _settled(plan: SourcePlan, done: SyncReport) -> dict[str, str]:
    """Return the checksums of files that gave no document, and will not until their bytes change."""
    passing = {failure.path for failure in done.failures if failure.kind in PASSING}
    with rows_of(done.path) as rows:
        held = {
            (metadata.get("path"), metadata.get("checksum"))
            for segment in rows.segments
            for document in segment.live_documents()
            if (metadata := document.fields.get("metadata", {}))
        }
    return {
        name: checksum
        for name in [*plan.report.added, *plan.report.changed]
        if (checksum := plan.checksums[name])
        and (name, checksum) not in held
        and plan.sources[name].path not in passing
    }


def _counted(report: BuildReport) -> str:
    return f"{report.files:,} file{'s' * (report.files != 1)}"


def _changes(report: SyncReport) -> str:
    """Format the numbers of changes that are not zero."""
    kinds = ("added", "changed", "moved", "recut", "removed")
    numbers = ((len(getattr(report, kind)), kind) for kind in kinds)
    return ", ".join(f"{number:,} {kind}" for number, kind in numbers if number) or "no change"


def _unread(failures: Sequence[SourceFailure]) -> str:
    """Format the number of files that could not be read, with the first of them."""
    count = len({failure.path for failure in failures})
    if not count:
        return ""
    first = f"such as {failures[0].path}: {failures[0].reason}"
    return f"; {count:,} file{'s' * (count != 1)} could not be read, {first}"


def _short(path: str) -> str:
    """Return a path with ~ for the home folder."""
    home = os.path.join(os.path.expanduser("~"), "")
    return f"~/{path[len(home) :]}" if path.startswith(home) else path
