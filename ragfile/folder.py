"""A folder of files by name, such as one for each user: opened on first use, the last ones kept open.

    folder = ragfile.Folder("users/", create=True)
    folder.change("alice", lambda writer: writer.upsert([{"id": "tea", "text": "She drinks tea."}]))
    hits = folder.open("alice").search("what does she drink?")

A file that is open holds a map and no descriptor. One that leaves the cache is not closed: a thread that
still asks it holds it, and its memory returns with the last of these references.
"""

from __future__ import annotations

import errno
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar, Unpack

from ragfile.embedding.protocol import Embedder
from ragfile.ground import portable_names
from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.ground.whole_numbers import whole
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import begin_edit, open_passages
from ragfile.types import StrPath
from ragfile.write.editor import Editor
from ragfile.write.group_commit import BeginOptions, ChangeOptions, GroupCommits

T = TypeVar("T")

SUFFIX = ".ragfile"
MOST_OPEN = 30_000  # maps; Linux allows 65,530 in a process


class KeptFile(NamedTuple):
    """A file that stays open, and the bytes that it maps."""

    opened: KnowledgeBase
    size: int


class Folder:
    """Files of one folder by name. Threads share one object; `open` returns views for one request each.

    Args:
        path: The folder. Each `NAME.ragfile` in it is a file.
        max_open: Number of files that stay open, 30,000 at most. A file of 50 memories takes 36 KB of memory.
        max_bytes: Bytes of files that stay open; they count as addresses, not as memory.
        over: Layers below every file, the lowest first: paths, or knowledge bases that are open.
        create: Whether a write makes a file that does not exist.
        template: A file whose settings new files get. Defaults to the lowest layer, else the default model.
        embedder: The embedder of questions and texts, which all files share. Defaults to the model
            that each file records.
        embedding_cache: A folder for vectors of slow embedders.
        offline: Open no socket.

    Raises:
        NotADirectoryError: `path` is not a folder.
    """

    def __init__(
        self, path: StrPath, *, max_open: int = 1000, max_bytes: int = 64 << 30,
        over: Sequence[StrPath | KnowledgeBase] = (), create: bool = False,
        template: StrPath | None = None, embedder: str | Embedder | None = None,
        embedding_cache: StrPath | bool | None = None, offline: bool = False,
    ) -> None:  # fmt: skip
        self.path = os.path.abspath(path)
        if not os.path.isdir(self.path):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", self.path)
        if isinstance(over, str | os.PathLike):
            raise TypeError("over= is a list of layers, the lowest first, not one path")
        self._most_open = min(whole(max_open, "max_open", 1), MOST_OPEN)
        self._most_bytes = whole(max_bytes, "max_bytes", 1)
        self._creates, self._template, self._embedder = create, template, embedder
        self._cache, self._offline = embedding_cache, offline
        self._lock = ForkSafeLock()
        self._kept: OrderedDict[str, KeptFile] = OrderedDict()
        self._bytes = 0
        self._commits: GroupCommits | None = None
        self._own = [p for p in over if not isinstance(p, KnowledgeBase)]
        self._over = tuple(p if isinstance(p, KnowledgeBase) else self._opened(p) for p in over)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, name: str) -> bool:
        path = self.path_of(name)
        return os.path.exists(path) and not portable_names.is_other_case(path)

    def __repr__(self) -> str:
        return f"<Folder {self.path}, {len(self._kept)} files open>"

    def names(self) -> list[str]:
        """Return the names of all files, sorted."""
        with os.scandir(self.path) as entries:
            files = (e for e in entries if e.name.endswith(SUFFIX) and e.is_file())
            names = [e.name.removesuffix(SUFFIX) for e in files]
        return sorted(name for name in names if not portable_names.fault_of(name))

    def path_of(self, name: str) -> str:
        """Return the path of a file, which need not exist.

        Raises:
            ValueError: The name could lead out of the folder, or is not valid on every system.
        """
        return path_in(self.path, name)

    # ---------------------------------------------------------------------------------- reading --

    def open(self, name: str) -> KnowledgeBase:
        """Return a file at its newest commit, open for as long as the caller holds it.

            hits = folder.open("alice").search("tea")

        The result does not change: open the file again for later commits. Closing it does nothing.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The name is not valid.
        """
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None:
                self._kept.move_to_end(name)
        if kept is None:
            return self._keep(name).at_commit()
        try:
            kept.opened.refresh()
        except FileNotFoundError:
            self.evict(name)
            return self._keep(name).at_commit()
        return kept.opened.at_commit()

    async def aopen(self, name: str) -> KnowledgeBase:
        """Return a file as `open` does, without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self.open, name)

    def _keep(self, name: str) -> KnowledgeBase:
        """Open a file, and keep it open."""
        path = self.path_of(name)
        try:
            if portable_names.is_other_case(path):
                raise FileNotFoundError
            opened = self._opened(path)
            size = os.path.getsize(path)
        except FileNotFoundError:
            why = "no such file; names() lists those of the folder"
            raise FileNotFoundError(errno.ENOENT, why, path) from None
        with self._lock:
            self._drop(name)
            self._kept[name] = KeptFile(opened, size)
            self._bytes += size
            while len(self._kept) > self._most_open or (
                self._bytes > self._most_bytes and len(self._kept) > 1
            ):
                self._drop(next(iter(self._kept)))
        return opened

    def _opened(self, path: StrPath) -> KnowledgeBase:
        over: tuple[KnowledgeBase, ...] = getattr(self, "_over", ())
        return open_passages(
            (*over, path) if over else path, embedder=self._embedder,
            embedding_cache=self._cache, offline=self._offline,
        )  # fmt: skip

    def _drop(self, name: str) -> None:
        """Drop an open file; the lock is held."""
        kept = self._kept.pop(name, None)
        self._bytes -= 0 if kept is None else kept.size

    def evict(self, name: str) -> None:
        """Drop a file from the open ones, for example before you delete it."""
        with self._lock:
            self._drop(name)
            commits = self._commits
        if commits is not None:
            commits.release(self.path_of(name))

    # ---------------------------------------------------------------------------------- writing --

    def edit(self, name: str, **options: Unpack[BeginOptions]) -> Editor:
        """Start the next commit of a file, as `ragfile.edit` does.

        With `create=True` a file that does not exist is made first.

        Raises:
            FileNotFoundError: There is no such file, and `create` is false.
            ValueError: The name is not valid.
        """
        return self._edit(self._made(name), **options)

    def change(
        self, name: str, change: Callable[[Editor], T], **options: Unpack[ChangeOptions]
    ) -> T:
        """Change a file in a commit that threads which wait together share.

            folder.change("alice", lambda writer: writer.delete(["tea"]))

        Args:
            name: The file.
            change: Called with the editor. It is repeated if a change beside it fails.
            options: `message`, `wait`, `embedder` and `embedding_cache` of `ragfile.edit`.

        Returns:
            What `change` returned, once it is durable.
        """
        with self._lock:
            if self._commits is None:
                self._commits = GroupCommits(self._edit)
            commits = self._commits
        return commits.run(self._made(name), change, **options)

    def _edit(self, path: StrPath, **options: Unpack[BeginOptions]) -> Editor:
        given: BeginOptions = {"embedder": self._embedder, "embedding_cache": self._cache}
        options = {**given, **options}
        return begin_edit((*self._over, path) if self._over else path, **options)

    def _made(self, name: str) -> str:
        """Return the path of a file to write, which is made if that is allowed."""
        path = self.path_of(name)
        if os.path.exists(path) and not portable_names.is_other_case(path):
            return path
        if not self._creates:
            why = "no such file; a Folder with create=True makes it"
            raise FileNotFoundError(errno.ENOENT, why, path)
        refuse_twin(path)
        from ragfile.write.new_layer import create_default, create_layer

        if self._template is not None:
            with open_passages(self._template) as template:
                create_layer(path, template.rows)
        elif self._over:
            create_layer(path, self._over[0].rows)
        else:
            create_default(path, self._embedder)
        return path

    def close(self) -> None:
        """Keep no file open. Views that are in use stay valid."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0


def path_in(folder: str, name: str) -> str:
    """Return the path of a name in a folder; ValueError for a name that is not valid on every system."""
    if fault := portable_names.fault_of(name):
        raise ValueError(f"{name!r:.80} is not the name of a file: {fault}")
    return os.path.join(folder, name + SUFFIX)


def refuse_twin(path: str) -> None:
    """Raise ValueError if a folder has a file whose name differs from that of a path in case alone."""
    folder, name = os.path.split(path)
    if found := portable_names.twin(folder, name):
        one, other = (each.removesuffix(SUFFIX) for each in (name, found))
        raise ValueError(
            f"{one!r:.80} differs from {other!r:.80} in case alone, and some systems take the two for "
            "one file: choose another name"
        )
