"""Which files there are in some sources, in an order that does not depend on the file system.

A folder gives the files whose suffix some loader names, without hidden ones; symbolic links are
followed inside the folder only, and a folder is entered once, so loops end. What `.gitignore` files
name, what a program installed (node_modules, virtual environments, caches) and what the caller
excludes is left out. A file that is named outright is taken whatever its suffix.
"""

from __future__ import annotations

import glob
import os
import stat
from dataclasses import dataclass

from ragfile.ground.urls import is_remote, shown
from ragfile.ingest.ignore_patterns import Ignoring, Rules
from ragfile.ingest.loaders import suffixes

INSTALLED = {"node_modules", "bower_components", "__pycache__", "site-packages", "__MACOSX"}
MARKED = {
    "pyvenv.cfg": "a virtual environment",
    "CACHEDIR.TAG": "a cache",
}  # files by which a folder says what it is


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was found: where it is, and the id its document gets."""

    path: str
    id: str
    named: bool = False  # by the caller, rather than found in a folder


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was passed over, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a folder is taken: `include` and `exclude` are globs as in a .gitignore, and `ignore`
    says whether such files and what programs installed are left out.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore: bool = True

    def record(self):
        """What a file keeps of it, so that a sync chooses alike; {} for the defaults."""
        said = {"include": list(self.include), "exclude": list(self.exclude)}
        said = {name: globs for name, globs in said.items() if globs}
        return said if self.ignore else {**said, "ignore": False}

    @classmethod
    def recorded(cls, said):
        return cls(
            tuple(said.get("include", ())), tuple(said.get("exclude", ())), said.get("ignore", True)
        )


def find(sources, skipped=None, wanted=None, selection=None):
    """The files of some sources, in a fixed order: sources as given, folders by name. `skipped`
    collects Skipped. `wanted` are the suffixes that folders give, those of all loaders if None.
    """
    skipped = [] if skipped is None else skipped
    walk = _Walk(selection or Selection(), wanted or suffixes(), skipped)
    taken, used = set(), set()
    for source, is_named in expanded(sources):
        for path, relative in walk.files(source, is_named):
            real = os.path.realpath(path)
            if real in taken:
                reason = "a file that was read before, under this or another name"
                skipped.append(Skipped(path, reason))
                continue
            taken.add(real)
            doc_id = _unused(_legible(relative), _legible(os.path.abspath(path)), used)
            used.add(doc_id)
            yield SourceFile(path, doc_id, is_named)


def expanded(sources):
    """(path, was it named outright) for each source; a glob gives what it matches, by name."""
    one = isinstance(sources, str | os.PathLike)
    for source in [sources] if one else sources:
        path = os.fspath(source)
        if is_remote(path) and not os.path.lexists(path):
            raise ValueError(f"{shown(path)} is a URL: download it, and name the local file")
        if os.path.lexists(path) or not glob.has_magic(path):
            yield path, True
            continue
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise FileNotFoundError(f"nothing matches {path}")
        yield from (
            (match, os.path.exists(match) and not os.path.isdir(match)) for match in matches
        )


class _Walk:
    """The files below folders."""

    def __init__(self, selection, wanted, skipped):
        self.wanted, self.skipped, self.ignores = wanted, skipped, selection.ignore
        self.include, self.exclude = Rules(selection.include), Rules(selection.exclude)

    def files(self, source, is_named):
        """(path, path below the source) of each file of a source."""
        if not is_named and not os.path.exists(source):
            self._skip(source, "a link that leads nowhere")
            return
        status = os.stat(source)  # a source that is named and not there is the caller's error
        if stat.S_ISDIR(status.st_mode):
            yield from self._below(source)
        elif stat.S_ISREG(status.st_mode):
            yield source, os.path.basename(source)
        else:
            self._skip(source, "neither a file nor a folder")

    def _skip(self, path, reason):
        self.skipped.append(Skipped(path, reason))

    def _below(self, root):
        """Files below a folder. Without recursion, because folders can nest deeper than the
        stack.
        """
        home, entered = os.path.realpath(root), set()
        stack = [(root, (), Ignoring.around(root) if self.ignores else Ignoring())]
        while stack:
            path, names, rules = stack.pop()
            try:
                if self._enters(path, names, rules, home, entered):
                    rules = rules.below(path, len(names)) if self.ignores else rules
                    listed = sorted(os.listdir(path), key=os.fsencode, reverse=True)
                    stack += [
                        (os.path.join(path, name), (*names, name), rules)
                        for name in listed
                        if not name.startswith(".")
                    ]
                elif self._is_wanted(path, names, rules, home):
                    yield path, "/".join(names)
            except OSError as error:
                self._skip(path, error.strerror or str(error))

    def _enters(self, path, names, rules, home, entered):
        if not os.path.isdir(path):
            return False
        if names and (reason := self._left_out(path, names, rules, True)):
            self._skip(path, reason)
            return False
        status = os.stat(path)
        place = status.st_dev, status.st_ino
        if place in entered or not _is_inside(path, home):
            seen = place in entered
            self._skip(
                path, "a link to a folder seen before" if seen else "a link out of the folder"
            )
            return False
        entered.add(place)
        return True

    def _left_out(self, path, names, rules, is_folder):
        """Why a file or folder is left out, "" if it is not."""
        if self.exclude.says(names, is_folder):
            return "excluded"
        if not self.ignores:
            return ""
        if rules.leaves_out(names, is_folder):
            return "named in a .gitignore"
        if is_folder:
            return _installed(path, names[-1])
        return "minified" if ".min." in names[-1] else ""

    def _is_wanted(self, path, names, rules, home):
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode) or os.path.isdir(path):
            return False
        reason = self._left_out(path, names, rules, False) or self._unwanted(path, names, home)
        if reason:
            self._skip(path, reason)
        return not reason

    def _unwanted(self, path, names, home):
        if self.include and not self.include.holds(names):
            return "not included"
        suffix = os.path.splitext(path)[1].lower()
        if suffix not in self.wanted and not self.include.names_file(names):
            return "no loader for this suffix"
        if not stat.S_ISREG(os.stat(path).st_mode):
            return "not a regular file"
        return "" if _is_inside(path, home) else "a link out of the folder"


def _installed(folder, name):
    """What kind of folder it is that a program made for itself, "" for others."""
    if name in INSTALLED:
        return "installed or made by a program"
    return next(
        (what for mark, what in MARKED.items() if os.path.exists(os.path.join(folder, mark))), ""
    )


def _is_inside(path, home):
    real = os.path.realpath(path)
    return real == home or real.startswith(os.path.join(home, ""))


def _legible(path):
    """A path as an id: with "/" and valid Unicode, whatever bytes the file system holds."""
    return os.fsencode(path).decode("utf-8", "replace").replace(os.sep, "/")


def _unused(name, whole, used):
    """The name, led by as many parents as keep it from being used already."""
    parents = whole[: len(whole) - len(name)].rstrip("/").split("/") if whole.endswith(name) else []
    while name in used and parents and parents[-1]:
        name = f"{parents.pop()}/{name}"
    number, free = 2, name
    while free in used:
        free, number = f"{name} ({number})", number + 1
    return free
