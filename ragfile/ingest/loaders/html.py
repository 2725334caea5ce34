"""Convert HTML to text with Markdown's marks for headers, list items and code, which give header
paths.

A small tokenizer of its own instead of an HTML tree: only text is needed, time must be linear for
any input (the standard library's parser is quadratic for unclosed constructs), and the result must
not depend on the packages installed. It follows browsers where that matters: entities, unclosed
comments and scripts, quotes in attributes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from ragfile.ingest.loaders.contract import Extracted, Limits
from ragfile.ingest.loaders.text_formats import decode
from ragfile.types import Errors

# A tag ends before the next "<", and a quoted value is short, so no input makes long scans repeat.
_TAG = re.compile(
    r"""<(?:(?P<comment>!--)|[!?][^<>]*+>|(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]*+)"""
    r"""(?:[^"'<>]++|"[^"]{0,4096}+"|'[^']{0,4096}+'|["'])*+>)"""
)
_SILENT = {
    name: re.compile(f"</{name}", re.IGNORECASE | re.ASCII)
    for name in (
        "script",
        "style",
        "template",
        "noscript",
        "svg",
        "nav",
        "iframe",
        "select",
        "button",
    )
}
_BLOCKS = frozenset(
    """
    address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html li main ol option p pre section summary
    table tbody tfoot thead title tr ul
    """.split()  # noqa: SIM905 - a list of words is easier to read
)
_TIGHT = (
    "li",
    "tr",
    "dt",
    "dd",
    "option",
    "thead",
    "tbody",
    "tfoot",
)  # without an empty line around them
_HEADERS = {f"h{n}": "#" * n + " " for n in range(1, 7)}
_SPACE = re.compile(r"[ \t\r\n\f]+")
_HREF = re.compile(
    r"""[\s"']href\s{0,8}=\s{0,8}(?:"([^"]{0,2048})"|'([^']{0,2048})'|([^\s"'>]{1,2048}))""",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset=["']?([A-Za-z0-9_-]{1,40})""", re.IGNORECASE)


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the text, the title and the links of a page."""
    out, anchors = _HtmlText(), _Anchors()
    for data, tag, closing, source in _tokens(_decoded(raw, errors)):
        out.data(data)
        anchors.data(data)
        if tag:
            out.tag(tag, closing)
            anchors.tag(tag, closing, source)
    title = " ".join("".join(out.title).split())
    yield Extracted(
        out.finished(), metadata={"title": title} if title else {}, anchors=anchors.found
    )


def declares(raw: bytes) -> bool:
    """Return whether a page declares an encoding."""
    return _CHARSET.search(raw[:4096]) is not None


def _decoded(raw: bytes, errors: Errors) -> str:
    """Decode as UTF-8, else as declared; as in browsers, Latin-1 means windows-1252."""
    try:
        return decode(raw)
    except UnicodeDecodeError:
        declared = _CHARSET.search(raw[:4096])
        name = declared[1].decode("ascii").lower() if declared else ""
        if name in ("iso-8859-1", "latin1", "windows-1252", "us-ascii"):
            return raw.decode("cp1252", "replace")
        return decode(raw, errors)


def _tokens(source: str) -> Iterator[tuple[str, str, bool, str]]:
    """Yield (text, tag, is closing, source of the tag) in order, without silent elements and comments."""
    at = 0
    while m := _TAG.search(source, at):
        name = (m["name"] or "").lower()
        yield source[at : m.start()], name, m["close"] == "/", m[0]
        at = m.end()
        if m["comment"]:
            at = _after(source, "-->", at)
        elif name in _SILENT and not m["close"] and not m[0].endswith("/>"):
            closing = _SILENT[name].search(source, at)
            at = _after(source, ">", closing.end()) if closing else len(source)
    yield source[at:], "", False, ""


def _after(source: str, mark: str, at: int) -> int:
    found = source.find(mark, at)
    return len(source) if found < 0 else found + len(mark)


class _Anchors:
    """Collect the targets and texts of links."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self._href, self._text = "", [""]

    def data(self, data: str) -> None:
        """Add text, which counts inside a link."""
        if self._href and data:
            self._text.append(data)

    def tag(self, name: str, closing: bool, source: str) -> None:
        """Begin or end a link; links do not nest."""
        if name != "a":
            return
        if self._href:
            self.found.append((unescape(self._href), unescape("".join(self._text))))
        match = None if closing else _HREF.search(source)
        self._href, self._text = (match[1] or match[2] or match[3] or "") if match else "", []


@dataclass(slots=True)
class _OpenList:
    """A list that has not ended, and its items so far."""

    tag: str
    items: int = 0


class _HtmlText:
    """Collect lines of text as blocks open and close."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self._out: list[str] = []
        self._line: list[str] = []  # the open line
        self._is_blank = True  # whether the open line has only blanks
        self._lists: list[_OpenList] = []
        self._pre, self._in_title = 0, False

    def data(self, data: str) -> None:
        if not data:
            return
        data = unescape(data)
        if self._in_title:
            self.title.append(data)
        else:
            self._add(data if self._pre else _SPACE.sub(" ", data))

    def _add(self, text: str) -> None:
        self._line.append(text)
        self._is_blank = self._is_blank and not text.strip()

    def _taken(self) -> str:
        """Return the open line, and begin a new one."""
        line = "".join(self._line)
        self._line, self._is_blank = [], True
        return line

    def tag(self, name: str, closing: bool) -> None:
        if name == "br":
            self._add("\n")
        elif name in ("td", "th") and not closing:
            if not self._is_blank:
                self._add(" | ")
        elif name in _BLOCKS:
            self._block(name, closing)

    def _block(self, name: str, closing: bool) -> None:
        if name == "title":
            self._in_title = not closing
            return
        if name == "pre":
            self._code(closing)
            return
        if self._pre:
            return
        nested = name in ("ul", "ol") and len(self._lists) > closing
        self._end_line("\n" if nested or name in _TIGHT else "\n\n")
        if name in ("ul", "ol"):
            self._nest(name, closing)
        elif name == "li" and not closing:
            self._item()
        elif name in _HEADERS and not closing:
            self._add(_HEADERS[name])

    def _nest(self, name: str, closing: bool) -> None:
        if not closing:
            self._lists.append(_OpenList(name))
        elif self._lists:
            self._lists.pop()

    def _item(self) -> None:
        depth = min(len(self._lists), 8)
        mark = "- "
        if self._lists and self._lists[-1].tag == "ol":
            self._lists[-1].items += 1
            mark = f"{self._lists[-1].items}. "
        self._add("  " * max(depth - 1, 0) + mark)

    def _code(self, closing: bool) -> None:
        if not closing:
            self._pre += 1
            if self._pre == 1:
                self._end_line("\n\n")
        elif self._pre:
            self._pre -= 1
            if not self._pre:
                self._fenced()

    def _fenced(self) -> None:
        code = self._taken().strip("\n").replace("\r\n", "\n")
        if code.strip():
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
            self._out.append(f"{fence}\n{code}\n{fence}\n\n")

    def _end_line(self, gap: str) -> None:
        text = "\n".join(part.rstrip(" ") for part in self._taken().split("\n"))
        if text.strip() in ("", "-") or not text.strip("# "):
            if gap == "\n\n" and self._out and not self._out[-1].endswith("\n\n"):
                self._out.append("\n")
            return
        indent = text[: len(text) - len(text.lstrip(" "))] if self._lists else ""
        self._out.append(indent + text.strip() + gap)

    def finished(self) -> str:
        if self._pre:
            self._fenced()
        self._end_line("\n")
        return "".join(self._out).strip("\n") + "\n"
