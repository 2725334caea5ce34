"""Build Markdown line by line, for the loaders of other markup.

out = MarkdownLines()
out.header(2, "Install")     out.code(["make"], "sh")     out.line("Some words.")
out.text()
"""

from __future__ import annotations

import re

from ragfile.types import Metadata

_LOOKS_LIKE_A_HEADER = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:={2,}|-{2,})[ \t]*$")
_FENCE = re.compile(r"[`~]{3,}+")


class MarkdownLines:
    """Lines of Markdown. Text that looks like a header is escaped."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self.title = ""

    def header(self, level: int, title: str) -> None:
        """Add a header; the first one is the document's title, unless it has one."""
        title = " ".join(title.split())
        if not title:
            return
        self.title = self.title or title
        self.blank()
        self._lines += [f"{'#' * min(max(level, 1), 6)} {title}", ""]

    def line(self, line: str) -> None:
        """Add a line of text."""
        line = line.rstrip()
        if _LOOKS_LIKE_A_HEADER.match(line):
            line = f"\\{line.lstrip()}"
        elif _RULE.match(line):
            return
        self._lines.append(line)

    def blank(self) -> None:
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def code(self, lines: list[str], language: str = "") -> None:
        """Add a code block, dedented, with a fence longer than any in its lines."""
        lines = dedented(lines)
        if not lines:
            return
        inside = max((len(run) for line in lines for run in _FENCE.findall(line)), default=2)
        fence = "`" * max(3, inside + 1)
        self.blank()
        self._lines += [fence + language, *lines, fence, ""]

    def text(self) -> str:
        return "\n".join(self._lines).strip("\n") + "\n" if self._lines else ""

    def metadata(self) -> Metadata:
        return {"title": self.title} if self.title else {}


def dedented(lines: list[str]) -> list[str]:
    """Return lines without their common indentation, and without empty lines at the ends."""
    lines = [line.expandtabs().rstrip() if "\t" in line[:80] else line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    first = next((i for i, line in enumerate(lines) if line), len(lines))
    lines = lines[first:]
    width = min((indentation(line) for line in lines if line), default=0)
    return [line[width:] for line in lines]


def indentation(line: str) -> int:
    """Return the number of blanks at the beginning of a line."""
    return len(line) - len(line.lstrip(" \t"))
