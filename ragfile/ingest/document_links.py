"""The links of a document: in its Markdown, in its front matter, and in HTML.

A link names its target by a path or by a name. The path is taken from the folder of the document's id,
so a target is the id that it means, or nearly: spec/parts/graph.md has the rules.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from ragfile import _core
from ragfile.ground.json_values import is_object
from ragfile.records import Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragfile.records import Document

KINDS = ("link", "wikilink", "embed", "link")  # by the number that the core gives a link
BY_NAME = "[["  # begins the target of a wikilink
LONGEST = 2048  # bytes of a target, a fragment or a text that is stored
SUFFIXES = (".md", ".markdown", ".mdx")
# Properties of a file, and values that no front matter sets: they are no links.
PROPERTIES = frozenset(
    ("path", "name", "folder_id", "mime", "file_id", "checksum", "created_at", "encoding", "upload")
)
DEPTH = 4  # of objects and lists in front matter
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_MEDIA = re.compile(
    r"\.(?:apng|avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp|aac|flac|m4a|mp3|ogg|wav|avi|m4v|mkv|mov|mp4|webm"
    r"|canvas|excalidraw)$",
    re.IGNORECASE,
)
_WIKILINK = re.compile(r"\[\[([^\[\]\n]{1,1024})\]\]")
_PATH = re.compile(r"(?:\.{0,2}/)?[^\s\[\](){}<>\"'`,;|*]{1,1024}")
_HUGO = re.compile(r"""\s*\{\{[<%]\s*(?:rel)?ref\s+["`]([^"`]*)["`]\s*[>%]\}\}""")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def is_markdown(document: Document) -> bool:
    """Return whether the text of a document is Markdown, by its type or the suffix of its id."""
    return document.metadata.get("mime") == "text/markdown" or document.id.endswith(SUFFIXES)


def links_of(document: Document) -> list[Link]:
    """Return the links of a document: those of its Markdown, and those that it was given."""
    if not is_markdown(document):
        return list(document.links)
    found = [*_text_links(document), *_field_links(document)]
    known = {_identity(link) for link in found if link.start < 0}
    return found + [link for link in document.links if _identity(link) not in known]


def further_links(document: Document, links: Sequence[Link]) -> tuple[Link, ...]:
    """Return those of a document's links that its text and front matter do not have."""
    if not is_markdown(document):
        return tuple(links)
    given = [link for link in links if link.start < 0]
    if not given:
        return ()
    known = {_identity(link) for link in _field_links(document)}
    return tuple(link for link in given if _identity(link) not in known)


def _identity(link: Link) -> tuple[str, str, str]:
    return link.kind, link.target, link.fragment


def names_of(document: Document) -> list[str]:
    """Return the further names of a document: its front matter's aliases."""
    found: list[str] = []
    for field in ("aliases", "alias"):
        value: object = document.metadata.get(field)
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        found += [one for one in values if isinstance(one, str) and _is_short(one)]
    return sorted(set(found)) if found and is_markdown(document) else []


def _is_short(text: str) -> bool:
    return 0 < len(text) <= LONGEST // 4 or 0 < len(text.encode("utf-8", "replace")) <= LONGEST


def _text_links(document: Document) -> Iterator[Link]:
    """Yield the links in a text, each with its place, from which most texts and fragments can be read."""
    body = document.body
    for number, start, end, raw, text in _core.markdown_links(document.text[body:]):
        if (found := target_of(raw, document.id, number in (1, 2))) is None:
            continue
        target, fragment = found
        at, end = body + start, body + end
        if number != 3 and label_of(document.text[at:end]) == (fragment, " ".join(text.split())):
            fragment = text = ""  # a reader finds both in the place
        yield Link(target, KINDS[number], fragment, text[: LONGEST // 4], at, end)


def _field_links(document: Document) -> Iterator[Link]:
    fields = {k: v for k, v in document.metadata.items() if k not in PROPERTIES}
    for kind, value in _values(fields, ""):
        is_name = (match := _WIKILINK.fullmatch(value)) is not None
        if not is_name and not _is_path(value):
            continue
        raw = match[1].partition("|")[0] if match else value
        if (found := target_of(raw, document.id, is_name)) is not None:
            yield Link(found[0], kind, found[1])


def _values(value: object, kind: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts in a JSON value, each with the names of the fields around it."""
    if isinstance(value, str):
        if len(value) <= 1024:
            yield kind, value.strip()
    elif depth < DEPTH and is_object(value):
        for name, part in value.items():
            yield from _values(part, f"{kind}.{name}" if kind else name, depth + 1)
    elif depth < DEPTH and isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _values(part, kind, depth + 1)


def _is_path(value: str) -> bool:
    """Return whether a value of front matter can only be a path: it ends like a page, or begins like a path."""
    if not _PATH.fullmatch(value) or _SCHEME.match(value):
        return False
    path = value.partition("#")[0]
    return path.endswith(SUFFIXES) or (
        value.startswith(("./", "../", "/")) and "." in posixpath.basename(path)
    )


def target_of(raw: str, doc_id: str, is_name: bool = False) -> tuple[str, str] | None:
    """Return the target and the fragment of a link, or None if it leads to no document."""
    if match := _HUGO.match(raw):
        raw = match[1]
    path, _, fragment = raw.strip().partition("#")
    if not path or not _is_short(path) or not _is_short(fragment or "-"):
        return None
    if is_name:
        name = path.strip().strip("/")
        return (BY_NAME + name, fragment) if name and not _MEDIA.search(name) else None
    if _SCHEME.match(path) or "{{" in path:
        return None
    path = unquote(_ESCAPED.sub(r"\1", path).partition("?")[0])
    if not path or _MEDIA.search(path):
        return None
    folder = "/" if path.startswith("/") else posixpath.dirname(doc_id)
    target = posixpath.normpath(posixpath.join(folder, path))
    return (target, unquote(fragment)) if target not in (".", "//") else None


def anchor_links(anchors: Iterable[tuple[str, str]], doc_id: str) -> tuple[Link, ...]:
    """Return the links of an HTML page, from the targets and texts of its anchors."""
    found: list[Link] = []
    for href, text in anchors:
        if (target := target_of(href, doc_id)) is not None:
            shown = " ".join(text.split())[: LONGEST // 4]
            found.append(Link(target[0], "link", target[1], shown))
    return tuple(found)


def label_of(source: str) -> tuple[str, str]:
    """Return the fragment and the text of the link that a span of Markdown is."""
    found = _core.markdown_links(source)
    if not found:
        return "", source
    number, _, _, raw, text = found[0]
    target = target_of(raw, "", number in (1, 2))
    return target[1] if target else "", " ".join(text.split())
