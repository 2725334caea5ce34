"""Convert manual pages, with the macros man and mdoc, to Markdown.

Only content is kept: sections, paragraphs, examples, names of options. Conditions, fonts, sizes and
macro definitions are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragfile.ingest.loaders.contract import Extracted, Limits
from ragfile.ingest.loaders.markup import MarkdownLines
from ragfile.ingest.loaders.text_formats import decode, text
from ragfile.types import Errors

_IS_MANUAL = re.compile(
    r"(?:(?:[.'][ \t]*\\\"|'\\\").*\n|\n)*+\.(?:TH|Dd|so|Dt|SH|if|ie|de|mso|nr|ds)\b"
)
_ESCAPE = re.compile(
    r"\\(?:\*?\((?P<two>..)|[fFgkmMnOVYz*](?:\((?:..)|\[[^\]\n]{0,50}\]|.)|\[(?P<named>[^\]\n]{0,50})\]"
    r"|[hvwlLDXbBAZRSNoH]'[^'\n]{0,200}'|s(?:[-+]?\d{1,2}|\([-+]?..)|(?P<one>.))"
)
_NAMED = {"em": "—", "en": "–", "bu": "•", "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "co": "©",
          "rg": "®", "tm": "™", "mu": "µ", "<=": "≤", ">=": "≥", "->": "→", "<-": "←", "ha": "^", "ti": "~", "rs": "\\",
          "ga": "`", "de": "°", "mc": "µ", "+-": "±", "mi": "-", "hy": "-", "Bu": "•", "ci": "○", "sl": "/", "at": "@",
          "sh": "#", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "⟨", "ra": "⟩", "bv": "|", "ba": "|"}  # fmt: skip
_ONES = {
    "-": "-",
    "e": "\\",
    "\\": "\\",
    " ": " ",
    "0": " ",
    "~": " ",
    "t": "\t",
    "'": "´",
    "`": "`",
    ".": ".",
    '"': "",
}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*+)"?|(\S++)')
_FONTS = {"B", "I", "SB", "SM"}
_MIXED = {"BR", "RB", "BI", "IB", "IR", "RI", "SY", "OP"}
_ENDS = {
    "PP",
    "P",
    "LP",
    "HP",
    "sp",
    "br",
    "Pp",
    "RS",
    "RE",
    "Lp",
    "TQ",
    "fi",
    "EE",
    "Ve",
    "Bl",
    "El",
    "Bd",
    "Ed",
}
_SHOWN = {"nf", "EX", "Vb"}
_PHRASES = {"Fl", "Ar", "Op", "Xr", "Nm", "Cm", "Ic", "Pa", "Va", "Ev", "Dv", "Li", "Em", "Sy", "Fn", "Fa", "Ft", "In",
            "Dq", "Sq", "Qq", "Ql", "Pq", "Aq", "Bq", "Brq", "Er", "Cd", "Ad", "An", "Lk", "Mt", "No", "Oo", "Oc", "Ns",
            "Tn", "St", "Bx", "Fx", "Nx", "Ox", "Ux", "At", "Vt", "Qo", "Qc", "Do", "Dc", "Po", "Pc", "Ap", "It", "Nd",
            "Rs", "Re", "%T", "%A", "%B", "%J", "%D", "%U", "%O", "Dl", "D1", "Fo", "Fc", "Ms", "Eo", "Ec", "Sm",
            "Bsx", "Xo", "Xc", "So", "Sc"}  # fmt: skip
_AROUND = {
    "Op": "[]",
    "Dq": "“”",
    "Sq": "‘’",
    "Qq": '""',
    "Ql": "‘’",
    "Pq": "()",
    "Aq": "<>",
    "Bq": "[]",
    "Brq": "{}",
}
_SILENT = {"Oo", "Oc", "Xo", "Xc", "Rs", "Re", "Sm", "Ns", "No", "Ap"}


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract a manual page; any other file with such a suffix, such as a log, is plain text."""
    source = decode(raw, errors)
    if not _IS_MANUAL.match(source):
        yield from text(raw, limits, errors)
        return
    page = _ManPage()
    for line in source.replace("\\\n", "").splitlines():
        page.take(line)
    page.end()
    yield Extracted(page.out.text(), metadata=page.out.metadata())


class _ManPage:
    """Collect the text of a page, line by line."""

    def __init__(self) -> None:
        self.out, self.name = MarkdownLines(), ""
        self.awaits_tag = False  # whether the next words are the tag of a paragraph
        self.example: list[str] | None = None
        self.paragraph: list[str] = []
        self.skips = ""  # the line that ends skipped lines

    def take(self, line: str) -> None:
        """Read one line of the source."""
        if self.skips:
            self.skips = "" if line.strip() == self.skips else self.skips
        elif line[:1] in (".", "'") and len(line) > 1:
            self._macro(line[1:].lstrip())
        elif self.example is not None:
            self.example.append(_plain(line))
        elif not line.strip():
            self.end()
        else:
            self._add(_plain(line))

    def _macro(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if line.startswith('\\"') or not name:
            return
        arguments = [
            (a.replace('""', '"') or b) for a, b in _ARGUMENT.findall(rest.partition('\\"')[0])
        ]
        if name in ("TH", "Dt"):
            self._titled(arguments)
        elif name in ("SH", "Sh", "SS", "Ss"):
            self._headed(3 if name in ("SS", "Ss") else 2, arguments)
        elif name in ("de", "ig", "am"):
            self.skips = f".{arguments[-1] if name != 'ig' and len(arguments) > 1 else '.'}"
        elif name in _SHOWN or (name == "Bd" and {"-literal", "-unfilled"} & set(arguments)):
            self.end()
            self.example = []
        elif name in _ENDS:
            self.end()
        else:
            self._words(name, arguments)

    def _words(self, name: str, arguments: list[str]) -> None:
        words = [_plain(a) for a in arguments]
        if name in ("TP", "IP", "It"):
            self.end()
            self.awaits_tag = name == "TP"
            first = words[0] if words and name == "IP" else ""
            tag = _phrases(arguments) if name == "It" else first
            if tag:
                self._add(f"**{tag}**" if tag not in "•-*o" else "-")
        elif name in _FONTS or name in ("UR", "MT", "UE", "ME"):
            self._add(" ".join(words))
        elif name in _MIXED:
            self._add("".join(words))
        elif name in _PHRASES:
            self._add(("— " if name == "Nd" else "") + _phrases([name, *arguments], self))

    def _titled(self, arguments: list[str]) -> None:
        if arguments and not self.out.title:
            section = f"({arguments[1]})" if len(arguments) > 1 else ""
            self.out.title = _plain(arguments[0]).lower() + section

    def _headed(self, level: int, arguments: list[str]) -> None:
        self.end()
        words = _plain(" ".join(arguments))
        title = self.out.title
        self.out.header(level, words.capitalize() if words.isupper() else words)
        self.out.title = title

    def _add(self, words: str) -> None:
        if not words.strip():
            return
        if self.example is not None:
            self.example.append(words)
        elif self.awaits_tag:
            self.awaits_tag = False
            self.out.line(f"**{words.strip()}**")
        else:
            self.paragraph.append(words.strip())

    def end(self) -> None:
        """End a paragraph or an example."""
        if self.example is not None:
            self.out.code(self.example)
            self.example = None
        if self.paragraph:
            self.out.line(" ".join(self.paragraph))
            self.paragraph = []
        self.out.blank()


def _plain(text: str) -> str:
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(m: re.Match[str]) -> str:
    name = m["two"] or m["named"]
    if name:
        return _NAMED.get(name, "")
    return _ONES.get(m["one"], "") if m["one"] else ""


def _phrases(arguments: list[str], page: _ManPage | None = None) -> str:
    """Return the words of an mdoc line, in which macros and words alternate."""
    words: list[str] = []
    closing: list[str] = []
    flag, glue = "", False
    for argument in arguments:
        if argument == "Ns":
            glue = True
        elif argument == "Fl":
            flag = "-"
        elif argument == "Nm" and page is not None and len(arguments) == 1:
            words.append(page.name)
        elif argument in _AROUND:
            words.append(_AROUND[argument][0] + "\0")
            closing.append(_AROUND[argument][1])
        elif argument not in _PHRASES:
            word = flag + _plain(argument)
            words.append(("\0" if glue else "") + word)
            flag, glue = "", False
            if page is not None and arguments[0] == "Nm" and not page.name:
                page.name = word
    if arguments[:1] == ["Xr"] and len(words) > 1:
        words[1:2] = [f"\0({words[1]})"]
    text = " ".join([*words, *("\0" + mark for mark in reversed(closing))])
    return re.sub(r"[ ]?\0[ ]?", "", text).strip()
