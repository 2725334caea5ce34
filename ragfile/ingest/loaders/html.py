"""HTML made into text with Markdown's marks for headers, list items and code, so that header paths
survive.

A small tokenizer of our own instead of an HTML tree: text is all we want, time must be linear in
the input for any bytes (the standard library's parser is not, for unclosed constructs), and the
result must not depend on what is installed. It follows browsers where it matters: entities,
unclosed comments and scripts, quotes in attributes.
"""

import re
from html import unescape

from ragfile.ingest.loaders.contract import Extracted
from ragfile.ingest.loaders.plain import decode

# A tag ends before the next "<", and a quoted value is short: no input makes a scan start over at
# length.
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
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset=["']?([A-Za-z0-9_-]{1,40})""", re.IGNORECASE)


def parse(raw, limits, errors="strict"):
    out = _HtmlText()
    for data, tag, closing in _tokens(_decoded(raw, errors)):
        out.data(data)
        if tag:
            out.tag(tag, closing)
    title = " ".join("".join(out.title).split())
    yield Extracted(out.finished(), metadata={"title": title} if title else {})


def declares(raw):
    """Whether a page names an encoding."""
    return _CHARSET.search(raw[:4096]) is not None


def _decoded(raw, errors):
    """UTF-8 first; else as the file declares itself, which for the Web's old half is
    windows-1252.
    """
    try:
        return decode(raw)
    except UnicodeDecodeError:
        declared = _CHARSET.search(raw[:4096])
        name = declared[1].decode("ascii").lower() if declared else ""
        if name in ("iso-8859-1", "latin1", "windows-1252", "us-ascii"):
            return raw.decode("cp1252", "replace")
        return decode(raw, errors)


def _tokens(source):
    """(text, tag, is it a closing one) in order; what stands in silent elements and comments is
    left out.
    """
    at = 0
    while m := _TAG.search(source, at):
        name = (m["name"] or "").lower()
        yield source[at : m.start()], name, m["close"] == "/"
        at = m.end()
        if m["comment"]:
            at = _after(source, "-->", at)
        elif name in _SILENT and not m["close"] and not m[0].endswith("/>"):
            closing = _SILENT[name].search(source, at)
            at = _after(source, ">", closing.end()) if closing else len(source)
    yield source[at:], "", False


def _after(source, mark, at):
    found = source.find(mark, at)
    return len(source) if found < 0 else found + len(mark)


class _HtmlText:
    """Lines of text as blocks open and close."""

    def __init__(self):
        self.title, self._out = [], []
        self._line, self._is_blank = [], True  # the open line, and whether it is blanks alone
        self._lists, self._pre, self._in_title = [], 0, False

    def data(self, data):
        if not data:
            return
        data = unescape(data)
        if self._in_title:
            self.title.append(data)
        else:
            self._add(data if self._pre else _SPACE.sub(" ", data))

    def _add(self, text):
        self._line.append(text)
        self._is_blank = self._is_blank and not text.strip()

    def _taken(self):
        """The open line, of which nothing is left."""
        line = "".join(self._line)
        self._line, self._is_blank = [], True
        return line

    def tag(self, name, closing):
        if name == "br":
            self._add("\n")
        elif name in ("td", "th") and not closing:
            if not self._is_blank:
                self._add(" | ")
        elif name in _BLOCKS:
            self._block(name, closing)

    def _block(self, name, closing):
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

    def _nest(self, name, closing):
        if not closing:
            self._lists.append([name, 0])
        elif self._lists:
            self._lists.pop()

    def _item(self):
        depth = min(len(self._lists), 8)
        mark = "- "
        if self._lists and self._lists[-1][0] == "ol":
            self._lists[-1][1] += 1
            mark = f"{self._lists[-1][1]}. "
        self._add("  " * max(depth - 1, 0) + mark)

    def _code(self, closing):
        if not closing:
            self._pre += 1
            if self._pre == 1:
                self._end_line("\n\n")
        elif self._pre:
            self._pre -= 1
            if not self._pre:
                self._fenced()

    def _fenced(self):
        code = self._taken().strip("\n").replace("\r\n", "\n")
        if code.strip():
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
            self._out.append(f"{fence}\n{code}\n{fence}\n\n")

    def _end_line(self, gap):
        text = "\n".join(part.rstrip(" ") for part in self._taken().split("\n"))
        if text.strip() in ("", "-") or not text.strip("# "):
            if gap == "\n\n" and self._out and not self._out[-1].endswith("\n\n"):
                self._out.append("\n")
            return
        indent = text[: len(text) - len(text.lstrip(" "))] if self._lists else ""
        self._out.append(indent + text.strip() + gap)

    def finished(self):
        if self._pre:
            self._fenced()
        self._end_line("\n")
        return "".join(self._out).strip("\n") + "\n"
