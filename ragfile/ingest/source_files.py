"""Find the files of some sources, in an order that does not depend on the file system.

A folder gives the files with a suffix of some loader, and those without a suffix that are text;
hidden ones are left out. If it has none of them, it gives every file that is text. Symbolic links are
followed inside the folder only and after everything else, so that a file keeps its own path. A folder
is entered once, so loops end. Left out are the files that a `.gitignore` matches, installed or
generated ones (node_modules, virtual environments, caches, lock files), and those that the caller
excludes. A file that is named outright is taken with any suffix.

A document's source is the path of its file below the folder, so that nothing of this machine travels
with a file. With several folders, it begins with the folder's name: docs/a.md, manuals/a.md.
"""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from ragfile.ground.urls import is_remote, local_path, shown
from ragfile.ingest.ignore_patterns import Ignoring, Rules
from ragfile.ingest.loaders import has_loader, is_text
from ragfile.types import Fields, Metadata, Sources

INSTALLED = {"node_modules", "bower_components", "__pycache__", "site-packages", "__MACOSX"}
MARKED = {
    "pyvenv.cfg": "a virtual environment",
    "CACHEDIR.TAG": "a cache",
}  # files that mark such a folder
LOCKS = {
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
}  # others have unknown suffixes
UNKNOWN = "no loader for this suffix"
SAMPLE = 64 << 10  # bytes by which text is recognised


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, and the id that its document gets."""

    path: str
    id: str
    named: bool = False  # by the caller, not found in a folder
    source: str = ""  # the path below its folder, as a document records it
    is_kept: bool = False  # as bytes alone: no loader reads it


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was skipped, and why."""

    path: str
    reason: str


class UnreadPath(Skipped):
    """A file or folder that could not be read, or that disappeared while its folder was read."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of a folder to take.

    `include` and `exclude` are globs as in a .gitignore. `ignore` leaves out files that a
    .gitignore matches, and installed ones. `originals` also takes files that no loader reads, to be kept
    and not searched. `bundle`: the folder is a bundle, whose indexes and logs are not ranked.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore: bool = True
    originals: bool = False
    bundle: bool = False

    def record(self) -> Metadata:
        """Return the selection as a file keeps it for later syncs; {} for the defaults."""
        globs = {"include": list(self.include), "exclude": list(self.exclude)}
        kept: Metadata = {name: patterns for name, patterns in globs.items() if patterns}
        kept |= {"originals": True} if self.originals else {}
        kept |= {"bundle": True} if self.bundle else {}
        return kept if self.ignore else {**kept, "ignore": False}

    @classmethod
    def recorded(cls, record: Fields) -> Self:
        """Return the selection that record() wrote."""
        return cls(
            tuple(record.get("include", ())),
            tuple(record.get("exclude", ())),
            record.get("ignore", True),
            record.get("originals", False),
            record.get("bundle", False),
        )


def find(
    sources: Sources,
    skipped: list[Skipped] | None = None,
    wanted: set[str] | None = None,
    selection: Selection | None = None,
    prefix: str = "",
) -> Iterator[SourceFile]:
    """Yield the files of some sources: sources in the order given, the files of a folder by name.

    Args:
        sources: Folders, globs and files.
        skipped: A list that collects skipped files and folders.
        wanted: The suffixes that a folder gives. Default: those of all loaders.
        selection: The files of a folder to take. Default: `Selection()`.
        prefix: A folder's name that begins every id and recorded source.

    Raises:
        FileNotFoundError: A source does not exist, or a glob matches nothing.
        ValueError: A source is a URL, or two folders have one name.
    """
    skipped = [] if skipped is None else skipped
    walk, below = _Walk(selection or Selection(), wanted, skipped), checked_prefix(prefix)
    found: list[tuple[str, bool]] = []
    ids: list[NamedPath] = []
    places: list[NamedPath] = []
    taken: set[str] = set()
    for root in labelled_roots(_paths(sources)):
        for path, relative in walk.files(root.path, root.is_named):
            real, whole = os.path.realpath(path), _legible(os.path.abspath(path))
            if real in taken:
                reason = "a file that was read before, under this or another name"
                skipped.append(Skipped(path, reason))
                continue
            taken.add(real)
            found.append((path, root.is_named))
            ids.append(NamedPath(_legible(relative), whole))
            places.append(NamedPath(_legible(root.name_of(path)), whole))
    for (path, is_named), doc_id, source in zip(
        found, _distinct(ids), _distinct(places), strict=True
    ):
        yield SourceFile(path, below + doc_id, is_named, below + source, path in walk.kept)


def checked_prefix(prefix: str) -> str:
    """Return a prefix with a "/" at its end, "" for none."""
    if prefix and not all(part.strip(". ") for part in prefix.split("/")):
        raise ValueError(f"prefix={prefix!r} is not a folder's name, such as 'manuals'")
    return f"{prefix}/" if prefix else ""


class Root(NamedTuple):
    """A source, or one match of a glob, and the folder that its files are named from."""

    path: str
    is_named: bool  # a file that is taken with any suffix
    folder: str
    label: str = ""  # the folder's name, if there are several sources

    def name_of(self, path: str) -> str:
        """Return the path of a file below the folder, after the label."""
        return os.path.join(self.label, os.path.relpath(path, self.folder or os.curdir))


def labelled_roots(sources: Sources) -> list[Root]:
    """Return the roots of several sources with labels, those of one without."""
    roots = list(expanded(sources))
    if len(_paths(sources)) < 2:
        return roots
    labelled = [root._replace(label=_label(root)) for root in roots]
    folders: dict[str, str] = {}
    for root in labelled:
        before = folders.setdefault(root.label, root.folder)
        if root.label and os.path.abspath(before) != os.path.abspath(root.folder):
            raise ValueError(
                f"{before} and {root.folder} have one name, so their files would have the same "
                "sources: name the folder that holds both, or rename one"
            )
    return labelled


def _label(root: Root) -> str:
    """Return the name of a root's folder; a file that was named has none."""
    is_file = root.is_named and not os.path.isdir(root.path)
    return "" if is_file else os.path.basename(os.path.abspath(root.folder))


def _paths(sources: Sources) -> list[str]:
    each = [sources] if isinstance(sources, str | os.PathLike) else sources
    return [local_path(os.fspath(source)) for source in each]


def expanded(sources: Sources) -> Iterator[Root]:
    """Yield each source; a glob gives its matches, by name."""
    for path in _paths(sources):
        if is_remote(path) and not os.path.lexists(path):
            raise ValueError(f"{shown(path)} is a URL: download it, and name the local file")
        if os.path.lexists(path) or not glob.has_magic(path):
            yield Root(path, True, path if os.path.isdir(path) else os.path.dirname(path))
            continue
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise FileNotFoundError(f"nothing matches {path}")
        folder = _fixed_part(path)
        for match in matches:
            yield Root(match, os.path.exists(match) and not os.path.isdir(match), folder)


def _fixed_part(pattern: str) -> str:
    """Return the folder of a glob before its first wildcard."""
    while glob.has_magic(pattern):
        pattern = os.path.dirname(pattern)
    return pattern


class _WalkEntry(NamedTuple):
    """A file or folder, its names below the root, and the rules of the folder that it is in."""

    path: str
    names: tuple[str, ...]
    rules: Ignoring


class _Walk:
    """Find the files below folders."""

    def __init__(
        self, selection: Selection, wanted: set[str] | None, skipped: list[Skipped]
    ) -> None:
        self.wanted, self.takes_text = wanted, wanted is None
        self.skipped, self.ignores = skipped, selection.ignore
        self.include, self.exclude = Rules(selection.include), Rules(selection.exclude)
        self._unknown: list[_WalkEntry] = []  # the files of a folder without a loader
        self.keeps, self.kept = selection.originals, set[str]()  # files to be kept as bytes

    def files(self, source: str, is_named: bool) -> Iterator[tuple[str, str]]:
        """Yield the path of each file of a source, and its path below the source."""
        if not is_named and not os.path.exists(source):
            self._skip(source, "a link that leads nowhere")
            return
        status = os.stat(source)  # raises for a named source that does not exist
        if stat.S_ISDIR(status.st_mode):
            yield from self._in_folder(source)
        elif stat.S_ISREG(status.st_mode):
            yield source, os.path.basename(source)
        else:
            self._skip(source, "neither a file nor a folder")

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path, reason))

    def _in_folder(self, root: str) -> Iterator[tuple[str, str]]:
        """Yield the files of a folder; if no loader reads any of them, those that are text."""
        self._unknown = []
        is_empty = True
        for found in self._below(root):
            is_empty = False
            yield found
        for entry in self._unknown:
            if is_empty and self.takes_text and _is_legible(entry.path):
                yield entry.path, "/".join(entry.names)
            elif self.keeps and os.path.isfile(entry.path):
                self.kept.add(entry.path)
                yield entry.path, "/".join(entry.names)
            else:
                self._skip(entry.path, UNKNOWN)

    def _below(self, root: str) -> Iterator[tuple[str, str]]:
        """Yield the files below a folder, without recursion: folders can nest deeply."""
        home = os.path.realpath(root)
        entered: set[tuple[int, int]] = set()
        stack = [_WalkEntry(root, (), Ignoring.around(root) if self.ignores else Ignoring())]
        links: deque[_WalkEntry] = deque()
        while stack or links:
            is_late = not stack
            entry = stack.pop() if stack else links.popleft()
            if entry.names and not is_late and os.path.islink(entry.path):
                links.append(entry)
                continue
            try:
                if self._enters(entry, home, entered):
                    stack += self._listed(entry)
                elif self._is_wanted(entry, home):
                    yield entry.path, "/".join(entry.names)
            except OSError as error:
                self.skipped.append(UnreadPath(entry.path, error.strerror or str(error)))

    def _listed(self, folder: _WalkEntry) -> list[_WalkEntry]:
        """List a folder without hidden entries, last name first."""
        path, names, rules = folder
        rules = rules.below(path, len(names)) if self.ignores else rules
        listed = sorted(os.listdir(path), key=os.fsencode, reverse=True)
        return [
            _WalkEntry(os.path.join(path, name), (*names, name), rules)
            for name in listed
            if not name.startswith(".")
        ]

    def _enters(self, entry: _WalkEntry, home: str, entered: set[tuple[int, int]]) -> bool:
        path = entry.path
        if not os.path.isdir(path):
            return False
        if entry.names and (reason := self._left_out(entry, True)):
            self._skip(path, reason)
            return False
        status = os.stat(path)
        identity = status.st_dev, status.st_ino
        if identity in entered or not _is_inside(path, home):
            is_seen = identity in entered
            self._skip(
                path, "a link to a folder seen before" if is_seen else "a link out of the folder"
            )
            return False
        entered.add(identity)
        return True

    def _left_out(self, entry: _WalkEntry, is_folder: bool) -> str:
        """Return why a file or folder is left out, or ""."""
        path, names, rules = entry
        if self.exclude.verdict(names, is_folder):
            return "excluded"
        if not self.ignores:
            return ""
        if rules.leaves_out(names, is_folder):
            return "named in a .gitignore"
        if is_folder:
            return _installed(path, names[-1])
        if names[-1] in LOCKS:
            return "made by a package manager"
        return "minified" if ".min." in names[-1] else ""

    def _is_wanted(self, entry: _WalkEntry, home: str) -> bool:
        path = entry.path
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode) or os.path.isdir(path):
            return False
        reason = self._left_out(entry, False) or self._unwanted(path, entry.names, home)
        if reason == UNKNOWN:
            self._unknown.append(entry)
        elif reason:
            self._skip(path, reason)
        return not reason

    def _is_known(self, suffix: str) -> bool:
        return has_loader(suffix) if self.wanted is None else suffix in self.wanted

    def _unwanted(self, path: str, names: tuple[str, ...], home: str) -> str:
        if self.include and not self.include.covers(names):
            return "not included"
        if not _is_inside(path, home):
            return "a link out of the folder"
        suffix = os.path.splitext(path)[1].lower()
        if self._is_known(suffix) or self.include.names_file(names):
            return "" if stat.S_ISREG(os.stat(path).st_mode) else "not a regular file"
        return "" if self.takes_text and not suffix and _is_text_file(path) else UNKNOWN


def _is_text_file(path: str) -> bool:
    """Return whether a file is a regular one, and begins as text does."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return False
    with open(path, "rb") as file:
        return is_text(file.read(SAMPLE))


def _is_legible(path: str) -> bool:
    try:
        return _is_text_file(path)
    except OSError:
        return False


def _installed(folder: str, name: str) -> str:
    """Return the kind of a folder that a program made for itself, "" for other folders."""
    if name in INSTALLED:
        return "installed or made by a program"
    return next(
        (kind for mark, kind in MARKED.items() if os.path.exists(os.path.join(folder, mark))), ""
    )


def _is_inside(path: str, home: str) -> bool:
    real = os.path.realpath(path)
    return real == home or real.startswith(os.path.join(home, ""))


def _legible(path: str) -> str:
    """Return a path as an id: with "/" and valid Unicode, whatever bytes the file system holds."""
    return os.fsencode(path).decode("utf-8", "replace").replace(os.sep, "/")


class NamedPath(NamedTuple):
    """The name of a file, and its whole path."""

    name: str
    whole: str

    def above(self, count: int) -> str:
        """Return the name after as many parent folders, or as many as there are."""
        if not self.whole.endswith(self.name):
            return self.name
        parents = [part for part in self.whole[: -len(self.name) or None].split("/") if part]
        return "/".join([*parents[len(parents) - min(count, len(parents)) :], self.name])


def _distinct(paths: list[NamedPath]) -> list[str]:
    """Return the names of some paths; equal ones all get enough parent folders to differ.

    So a name does not depend on the order of the paths. Paths whose bytes are not text can be equal as a
    whole; those after the first have a number.
    """
    seen: Counter[str] = Counter()
    numbers: list[str] = []
    for path in paths:
        seen[path.whole] += 1
        numbers.append(f" ({seen[path.whole]})" if seen[path.whole] > 1 else "")
    names = [path.name + number for path, number in zip(paths, numbers, strict=True)]
    count = 0
    while clashing := {name for name, times in Counter(names).items() if times > 1}:
        count += 1
        longer = [
            path.above(count) + number if name in clashing else name
            for path, number, name in zip(paths, numbers, names, strict=True)
        ]
        if longer == names:
            break
        names = longer
    return names
