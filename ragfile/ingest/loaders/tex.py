"""Convert LaTeX to Markdown: sections, lists and verbatim text; formulas stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragfile.ingest.loaders.contract import Extracted, Limits
from ragfile.ingest.loaders.markup import MarkdownLines
from ragfile.ingest.loaders.text_formats import decode
from ragfile.types import Errors

_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "frametitle": 3,
}
_SECTION = re.compile(
    r"\\(part|chapter|section|subsection|subsubsection|paragraph|frametitle)\*?(?:\[[^\]\n]{0,300}\])?\{([^{}\n]{0,400}+(?:\{[^{}\n]{0,400}+\}[^{}\n]{0,400}+){0,8}+)\}"
)
_TITLE = re.compile(
    r"\\title(?:\[[^\]\n]{0,300}\])?\{([^{}]{0,500}+(?:\{[^{}]{0,300}+\}[^{}]{0,300}+){0,8}+)\}"
)
_VERBATIM = re.compile(
    r"[ \t]*+\\begin\{(verbatim|Verbatim|lstlisting|minted|alltt)\*?\}(?:\[[^\]\n]{0,300}\])?(?:\{([\w+-]{1,30})\})?"
)
_COMMENT = re.compile(r"(?<!\\)%.*")
_DROPPED = re.compile(
    r"\\(?:label|ref|eqref|pageref|autoref|[cC]ref|cite\w{0,10}|index|input|include|includegraphics|bibliography\w{0,10}"
    r"|usepackage|documentclass|vspace\*?|hspace\*?|setlength|begin|end|pagestyle|thispagestyle|newcommand|renewcommand)"
    r"(?:\[[^\]\n]{0,300}\]){0,3}(?:\{[^{}\n]{0,300}\}){0,2}"
)
_COMMAND = re.compile(r"\\([A-Za-z@]++)\*?[ \t]*+(?:\[[^\]\n]{0,100}\])?")
_KEPT = {"ldots": "…", "dots": "…", "textbackslash": "\\", "LaTeX": "LaTeX", "TeX": "TeX", "item": "- ", "footnote": " ",
         "textasciitilde": "~", "ss": "ß", "ae": "æ", "oe": "œ", "aa": "å", "copyright": "©", "S": "§"}  # fmt: skip
_ACCENT = re.compile(r"\\([`'^\"~=.cuvHr])(?:\{(\w)\}|[ ]?(\w))")
_MARKS = {"`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "c": "\u0327", "v": "\u030c",
          "=": "\u0304", ".": "\u0307", "u": "\u0306", "H": "\u030b", "r": "\u030a"}  # fmt: skip
_SYMBOLS = re.compile(r"\\([%&_#$ {},;!@/\\-])")
_MATH = re.compile(r"(\$[^$\n]{1,500}\$)")


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the body of a document, or all of a file without one, such as a chapter."""
    source, out = decode(raw, errors), MarkdownLines()
    if title := _TITLE.search(source):
        out.title = " ".join(_inline(title[1]).split())
    _, begun, body = source.partition("\\begin{document}")
    lines = iter((body if begun else source).splitlines())
    for line in lines:
        if m := _VERBATIM.match(line):
            out.code(_verbatim(lines, m[1]), (m[2] or "") if m[1] == "minted" else "")
        elif "\\end{document}" in line:
            _take(_COMMENT.sub("", line.partition("\\end{document}")[0]), out)
            break
        else:
            _take(_COMMENT.sub("", line) if "%" in line else line, out)
    yield Extracted(out.text(), metadata=out.metadata())


def _verbatim(lines: Iterator[str], kind: str) -> list[str]:
    found: list[str] = []
    for line in lines:
        if f"\\end{{{kind}" in line:
            break
        found.append(line)
    return found


def _take(line: str, out: MarkdownLines) -> None:
    at = 0
    for m in _SECTION.finditer(line):
        _add(line[at : m.start()], out)
        out.header(_LEVELS[m[1]], _inline(m[2]))
        at = m.end()
    if at == 0 or line[at:].strip():
        _add(line[at:], out)


def _add(text: str, out: MarkdownLines) -> None:
    shown = _inline(text)
    if shown.strip() or not text.strip():
        out.line(shown.strip())


def _inline(text: str) -> str:
    """Return roughly the text that a typesetter would print for a line."""
    if "\\" not in text and "{" not in text and "~" not in text:
        return text
    pieces = _MATH.split(text)
    return "".join(piece if i % 2 else _without_commands(piece) for i, piece in enumerate(pieces))


def _without_commands(text: str) -> str:
    text = _DROPPED.sub("", text)
    text = _ACCENT.sub(lambda m: (m[2] or m[3]) + _MARKS[m[1]], text)
    text = text.replace("\\\\", " ").replace("~", " ").replace("``", "“").replace("''", "”")
    text = _COMMAND.sub(lambda m: _KEPT.get(m[1], ""), text)
    text = _SYMBOLS.sub(lambda m: "" if m[1] in ",;!/-@" else m[1], text)
    return text.replace("{", "").replace("}", "").replace(" & ", " | ")
