"""Extract mail: the subject, sender, recipients, date and text; attachments by name.

The library's older interface is used, and long headers are cut first: the newer one takes time
quadratic in a header's length.
"""

from __future__ import annotations

import email
import email.header
from collections.abc import Iterator
from email.message import Message
from typing import TypeGuard, cast

from ragfile.ingest.loaders import html
from ragfile.ingest.loaders.contract import Extracted, Limits
from ragfile.ingest.loaders.markup import MarkdownLines
from ragfile.types import Metadata

HEADER = 2000  # characters of one header
PARTS = 1000
DEPTH = 50


def parse(raw: bytes, limits: Limits) -> Iterator[Extracted]:
    """Extract a message, followed by the messages attached to it."""
    message = email.message_from_bytes(_shallow(raw))
    out = MarkdownLines()
    metadata: Metadata = {}
    subject = _header(message, "subject")
    out.header(1, subject)
    for name in ("from", "to", "cc", "date"):
        if value := _header(message, name):
            out.line(f"{name.capitalize()}: {value}")
            metadata[name] = value
    out.blank()
    for part in _parts(message):
        _take(part, limits, out)
    if subject:
        metadata["title"] = subject
    yield Extracted(out.text(), metadata=metadata)


def _shallow(raw: bytes) -> bytes:
    """Return the bytes; refuse parts that are nested deeper than the parser can recurse."""
    if raw.lower().count(b"multipart/") + raw.lower().count(b"message/rfc822") > DEPTH:
        raise ValueError(f"more than {DEPTH} messages and lists of parts in one message")
    return raw


def _header(message: Message, name: str) -> str:
    value = message.get(name)
    if value is None:
        return ""
    try:
        pieces = email.header.decode_header(str(value)[:HEADER])
        text = str(email.header.make_header(pieces))
    except (ValueError, LookupError):
        text = str(value)[:HEADER]
    return " ".join(text.split())


def _parts(message: Message) -> Iterator[Message]:
    """Yield the parts with content; of alternatives, the plain one if there is one."""
    stack, count = [message], 0
    while stack and count < PARTS:
        part, count = stack.pop(), count + 1
        if not part.is_multipart():
            yield part
            continue
        inner = [each for each in cast("list[object]", part.get_payload()) if _is_message(each)]
        if part.get_content_type() == "multipart/alternative":
            plain = [each for each in inner if each.get_content_type() == "text/plain"]
            inner = plain[:1] or inner[-1:]
        stack += reversed(inner)


def _is_message(part: object) -> TypeGuard[Message]:
    return isinstance(part, Message)


def _take(part: Message, limits: Limits, out: MarkdownLines) -> None:
    name, kind = part.get_filename(), part.get_content_type()
    if name or not kind.startswith("text/"):
        if name:
            out.line(f"Attached: {' '.join(str(name)[:HEADER].split())}")
        return
    content = cast("bytes", part.get_payload(decode=True) or b"")
    text = _decoded(content, part.get_content_charset())
    if kind == "text/html":
        (page,) = html.parse(text.encode("utf-8", "replace"), limits)
        text = page.text
    out.blank()
    for line in text.splitlines():
        out.line(line)
    out.blank()


def _decoded(content: bytes, charset: str | None) -> str:
    try:
        return content.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return content.decode("cp1252", "replace")
