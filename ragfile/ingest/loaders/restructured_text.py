"""Convert reStructuredText, as in Python's documentation, to Markdown.

Titles, code, notes and roles are kept; directives for typesetting are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragfile.ingest.loaders.contract import Extracted, Limits
from ragfile.ingest.loaders.markup import MarkdownLines, indentation
from ragfile.ingest.loaders.text_formats import decode
from ragfile.types import Errors

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}+$")
_DIRECTIVE = re.compile(
    r"([ \t]*+)\.\.[ \t]++(?:\|[^|\n]{1,100}\|[ \t]++)?([\w:+-]+?)::(?:[ \t]++(.*))?$"
)
_OTHER = re.compile(r"[ \t]*+\.\.(?:[ \t]|$)")
_NOTE = re.compile(r"([ \t]*+)\.\.[ \t]++(\[[^\]\n]{1,100}\])[ \t]++(.*)$")
_OPTION = re.compile(r"[ \t]++:[\w-]++:")
_BORDER = re.compile(
    r"[ \t]*+(?:\+[-=+]{2,}+|={2,}+(?:[ \t]++={2,}+)++|-{2,}+(?:[ \t]++-{2,}+)++)[ \t]*$"
)
_CODE = {"code-block", "sourcecode", "code", "parsed-literal", "literalinclude", "prompt",
         "productionlist", "doctest", "testcode", "math", "console"}  # fmt: skip
_SILENT = {"toctree", "contents", "index", "meta", "image", "include", "highlight", "default-role", "role", "module",
           "currentmodule", "testsetup", "testcleanup", "tabularcolumns", "automodule", "autoclass", "autofunction",
           "raw", "sectnum", "class", "only", "comment", "py:module", "py:currentmodule", "replace", "unicode",
           "date", "graphviz", "digraph", "sectionauthor", "moduleauthor", "codeauthor", "program"}  # fmt: skip
_ROLE = re.compile(
    r"(?::[\w:+.-]{1,50}:)?`([^`<>\n]{0,500}+)(?:<([^`<>\n]{0,500}+)>)?`_{0,2}(?:`_?)?"
)
_LITERAL = re.compile(r"``([^`\n]++(?:`[^`\n]++)*+)``")
_TITLE = 500


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the text; the level of a header is the order in which its underline first appears."""
    out = MarkdownLines()
    _RstReading(decode(raw, errors).expandtabs(8).splitlines(), out).all()
    yield Extracted(out.text(), metadata=out.metadata())


class _RstReading:
    """Read the lines of a source, from the first to the last."""

    def __init__(self, lines: list[str], out: MarkdownLines) -> None:
        self.lines, self.out, self.at = lines, out, 0
        self.styles: list[str] = []

    def all(self) -> None:
        while self.at < len(self.lines):
            if not (self._title() or self._explicit()):
                self._text()

    def _line(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.lines[at].rstrip() if at < len(self.lines) else ""

    def _title(self) -> bool:
        """Take a line with a rule below it, or rules on both sides, of one repeated mark."""
        over = _RULE.match(self._line())
        if over and self._line(1) and self._line(2) == self._line():
            return self._take_title(3, self._line(1), over[1] * 2)
        under = _RULE.match(self._line(1))
        name = self._line()
        if under and name and name[0] not in " \t" and len(self._line(1)) >= min(len(name), 4):
            return not _RULE.match(name) and self._take_title(2, name, under[1])
        if over and not self._line(1):
            self.at += 1  # a transition
            return True
        return False

    def _take_title(self, count: int, name: str, style: str) -> bool:
        if style not in self.styles:
            self.styles.append(style)
        self.out.header(self.styles.index(style) + 1, _inline(name)[:_TITLE])
        self.at += count
        return True

    def _explicit(self) -> bool:
        """Take a directive, comment, target or footnote."""
        line = self._line()
        if m := _NOTE.match(line):
            self.out.line(f"{m[1]}{m[2]} {_inline(m[3])}")
        elif m := _DIRECTIVE.match(line):
            self.at += 1
            self._directive(m[1], m[2].lower(), m[3] or "")
            return True
        elif _OTHER.match(line):
            self.at += 1
            self._block(indentation(line))
            return True
        else:
            return False
        self.at += 1
        return True

    def _directive(self, margin: str, name: str, argument: str) -> None:
        if name in _CODE:
            self.out.code(
                self._without_options(self._block(len(margin))), _language(name, argument)
            )
        elif name in _SILENT:
            self._block(len(margin))
        else:
            label = name.rpartition(":")[2].capitalize() if name in _NAMED else ""
            text = ": ".join(part for part in (label, _inline(argument)) if part)
            if text:
                self.out.line(margin + text)
            while _OPTION.match(self._line()) and indentation(self._line()) > len(margin):
                self.at += 1

    def _block(self, margin: int) -> list[str]:
        """Take the lines that are indented more than `margin`."""
        found: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and indentation(line) <= margin:
                break
            found.append(line)
            self.at += 1
        return found

    def _without_options(self, lines: list[str]) -> list[str]:
        first = 0
        while first < len(lines) and _OPTION.match(lines[first]):
            first += 1
        return lines[first:]

    def _text(self) -> None:
        line = self._line()
        self.at += 1
        if _BORDER.match(line):
            return
        if not line.endswith("::") or line.lstrip().startswith(".."):
            self.out.line(_inline(line))
            return
        text = line[:-2].rstrip()
        if text:
            self.out.line(_inline(text) + ("" if text.endswith((":", ".", "!", "?")) else ":"))
        if not self._line().strip():  # an indented block below an empty line is code
            self.out.code(self._block(indentation(line)))


_NAMED = {"note", "warning", "caution", "danger", "error", "hint", "important", "tip", "attention", "seealso",
          "deprecated", "versionadded", "versionchanged", "admonition", "todo"}  # fmt: skip


def _language(name: str, argument: str) -> str:
    word = argument.split()[0] if argument.split() else ""
    return word if name in ("code-block", "sourcecode", "code") and word.isalnum() else ""


def _inline(line: str) -> str:
    """Replace roles and links by their text."""
    if "`" not in line:
        return line
    return "".join(
        f"`{piece}`" if i % 2 else _ROLE.sub(_role_text, piece)
        for i, piece in enumerate(_LITERAL.split(line))
    )


def _role_text(m: re.Match[str]) -> str:
    text = m[1].strip() or (m[2] or "")
    return text.lstrip("~!")
