"""The patterns of a .gitignore, with git's meaning, and the same patterns given by a caller.

    rules = Rules(["*.tmp", "/build/", "!keep.tmp"])
    rules.says(("docs", "a.tmp"), is_folder=False)      True: left out; False: taken back; None: no word

A file can come from anywhere, so matching takes time in proportion to pattern and path: a `*` never
gives back what it took, and `**` is followed name by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

NAME = ".gitignore"
LONGEST = 1000  # characters of a pattern
SIZE = 256 << 10  # bytes of a file of patterns
_PIECE = re.compile(r"\\(.)|(\*+)|(\?)|\[([!^]?\]?[^\]]*)\]|(.)", re.DOTALL)


class _Pattern(NamedTuple):
    """Names of a path as expressions, None for `**`."""

    names: list[re.Pattern[str] | None]
    is_negative: bool
    only_folders: bool
    anywhere: bool  # the last name of a path decides
    is_specific: bool  # its last name says something of a file's name

    def matches(self, path: Sequence[str]) -> bool:
        if self.anywhere:
            last = self.names[0]
            return last is None or last.fullmatch(path[-1]) is not None
        reached = {0}  # how many names of the path the pattern's first ones can stand for
        for i, name in enumerate(self.names):
            if name is None:
                least = min(reached, default=len(path) + 1)
                ends = i == len(self.names) - 1
                reached = set(range(least + ends, len(path) + 1))
            else:
                reached = {at + 1 for at in reached if at < len(path) and name.fullmatch(path[at])}
            if not reached:
                return False
        return len(path) in reached


class Rules:
    """Some patterns, of which the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        found = [_parsed(line) for line in lines]
        self._patterns = [pattern for pattern in reversed(found) if pattern is not None]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def says(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """Whether a path, as its names below the patterns' folder, is left out."""
        for pattern in self._patterns:
            if (is_folder or not pattern.only_folders) and pattern.matches(path):
                return not pattern.is_negative
        return None

    def holds(self, path: Sequence[str]) -> bool:
        """Whether a file, or a folder that it is in, is named."""
        return any(self.says(path[: i + 1], i + 1 < len(path)) for i in range(len(path)))

    def names_file(self, path: Sequence[str]) -> bool:
        """Whether a pattern names the file by its own name."""
        return any(
            pattern.is_specific and not pattern.only_folders and pattern.matches(path)
            for pattern in self._patterns
        )


def _parsed(line: str) -> _Pattern | None:
    line = line.rstrip("\r\n")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#") or len(line) > LONGEST:
        return None
    is_negative = line.startswith("!")
    line = line[is_negative:]
    only_folders, line = line.endswith("/"), line.rstrip("/")
    names = line.removeprefix("/").split("/")
    if "" in names:
        return None  # git matches two slashes with nothing
    try:
        made = [
            None if name == "**" else re.compile(_expression(name), re.DOTALL) for name in names
        ]
    except re.error:
        return None
    return _Pattern(made, is_negative, only_folders, "/" not in line, names[-1] not in ("*", "**"))


def _expression(name: str) -> str:
    """A glob of one name as an expression in which no star is tried twice."""
    chunks = [""]
    for escaped, stars, one, among, plain in _PIECE.findall(name):
        if stars:
            chunks.append("")
        elif one:
            chunks[-1] += "."
        elif among:
            chunks[-1] += _class(among)
        else:
            chunks[-1] += re.escape(escaped or plain)
    if len(chunks) == 1:
        return chunks[0]
    middle = "".join(f"(?>.*?{chunk})" for chunk in chunks[1:-1] if chunk)
    return f"{chunks[0]}{middle}.*{chunks[-1]}"


def _class(among: str) -> str:
    negative = among[0] in "!^"
    members = among[negative:]
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
    return f"[{'^' if negative else ''}{inside}]" if members else re.escape(f"[{among}]")


class Ignoring(NamedTuple):
    """The rules that hold in a folder: each with the names that lead to it from where they lie."""

    rules: tuple[tuple[Rules, tuple[str, ...], int], ...] = ()

    @classmethod
    def around(cls, root: str) -> Ignoring:
        """The rules of the folders above a root, up to that of its repository."""
        found: list[tuple[Rules, tuple[str, ...], int]] = []
        names: tuple[str, ...] = ()
        folder = os.path.realpath(root)
        while not os.path.exists(os.path.join(folder, ".git")):
            folder, name = os.path.split(folder)
            if not name:
                return cls()
            names = (name, *names)
            if rules := _read(folder):
                found.append((rules, names, 0))
        return cls(tuple(reversed(found)))

    def below(self, folder: str, depth: int) -> Ignoring:
        """With the rules of a folder that lies `depth` names below the root."""
        rules = _read(folder)
        return Ignoring((*self.rules, (rules, (), depth))) if rules else self

    def leaves_out(self, path: Sequence[str], is_folder: bool) -> bool:
        """Whether the innermost rules that say something leave a path below the root out."""
        for rules, above, depth in reversed(self.rules):
            said = rules.says((*above, *path[depth:]), is_folder)
            if said is not None:
                return said
        return False


def _read(folder: str) -> Rules | None:
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            rules = Rules(file.read(SIZE).decode("utf-8", "surrogateescape").splitlines())
    except OSError:
        return None
    return rules or None
