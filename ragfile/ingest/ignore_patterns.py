"""The patterns of a .gitignore, with git's meaning, and the same patterns given by a caller.

    rules = Rules(["*.tmp", "/build/", "!keep.tmp"])
    rules.verdict(("docs", "a.tmp"), is_folder=False)   True: ignored; False: re-included; None: no match

A file can come from anywhere, so matching is linear in pattern and path: a `*` never backtracks,
and `**` is followed name by name.
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
    """The names of a path as regular expressions, None for `**`."""

    names: list[re.Pattern[str] | None]
    is_negative: bool
    only_folders: bool
    anywhere: bool  # without a slash: matches the last name of any path
    is_specific: bool  # its last name is not a star alone

    def matches(self, path: Sequence[str]) -> bool:
        if self.anywhere:
            last = self.names[0]
            return last is None or last.fullmatch(path[-1]) is not None
        reached = {0}  # how many names of the path the pattern can have matched so far
        for i, name in enumerate(self.names):
            if name is None:
                first = min(reached, default=len(path) + 1)
                is_last = i == len(self.names) - 1
                reached = set(range(first + is_last, len(path) + 1))
            else:
                reached = {at + 1 for at in reached if at < len(path) and name.fullmatch(path[at])}
            if not reached:
                return False
        return len(path) in reached


class Rules:
    """A list of patterns; the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        found = [_parsed(line) for line in lines]
        self._patterns = [pattern for pattern in reversed(found) if pattern is not None]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """Return whether a path is ignored; None without a match.

        The path is given by its names below the folder of the patterns.
        """
        for pattern in self._patterns:
            if (is_folder or not pattern.only_folders) and pattern.matches(path):
                return not pattern.is_negative
        return None

    def covers(self, path: Sequence[str]) -> bool:
        """Return whether a pattern matches a file or one of its folders."""
        return any(self.verdict(path[: i + 1], i + 1 < len(path)) for i in range(len(path)))

    def names_file(self, path: Sequence[str]) -> bool:
        """Return whether a pattern matches a file by the file's own name."""
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
        return None  # in git, a pattern with two slashes in a row matches nothing
    try:
        expressions = [
            None if name == "**" else re.compile(_expression(name), re.DOTALL) for name in names
        ]
    except re.error:
        return None
    is_specific = names[-1] not in ("*", "**")
    return _Pattern(expressions, is_negative, only_folders, "/" not in line, is_specific)


def _expression(name: str) -> str:
    """Return a glob of one name as a regular expression without backtracking."""
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


class _FolderRules(NamedTuple):
    """The rules of one .gitignore, and the position of its folder relative to the root."""

    rules: Rules
    above: tuple[str, ...]  # the names from its folder down to the root, if it is above
    depth: int  # the names from the root down to its folder, if it is below


class Ignoring(NamedTuple):
    """The rules that apply in a folder, outermost first."""

    rules: tuple[_FolderRules, ...] = ()

    @classmethod
    def around(cls, root: str) -> Ignoring:
        """Return the rules of the folders above a root, up to its repository's."""
        found: list[_FolderRules] = []
        names: tuple[str, ...] = ()
        folder = os.path.realpath(root)
        while not os.path.exists(os.path.join(folder, ".git")):
            folder, name = os.path.split(folder)
            if not name:
                return cls()
            names = (name, *names)
            if rules := _read(folder):
                found.append(_FolderRules(rules, names, 0))
        return cls(tuple(reversed(found)))

    def below(self, folder: str, depth: int) -> Ignoring:
        """Add the rules of a folder that is `depth` names below the root."""
        rules = _read(folder)
        return Ignoring((*self.rules, _FolderRules(rules, (), depth))) if rules else self

    def leaves_out(self, path: Sequence[str], is_folder: bool) -> bool:
        """Return whether a path below the root is ignored; the innermost rules with a match decide."""
        for rules, above, depth in reversed(self.rules):
            verdict = rules.verdict((*above, *path[depth:]), is_folder)
            if verdict is not None:
                return verdict
        return False


def _read(folder: str) -> Rules | None:
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            rules = Rules(file.read(SIZE).decode("utf-8", "surrogateescape").splitlines())
    except OSError:
        return None
    return rules or None
