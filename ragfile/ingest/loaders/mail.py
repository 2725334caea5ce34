"""Mail: the subject, who wrote when to whom, and the text; attachments by name.

The library's older interface is used, and long headers are cut first: its newer one takes time with
the square of a header's length.
"""

from __future__ import annotations

import email
import email.header
import email.utils
from email.message import Message

from ragfile.ingest.loaders import html
from ragfile.ingest.loaders.contract import Extracted
from ragfile.ingest.loaders.markup import MarkdownLines

HEADER = 2000  # characters of one header
PARTS = 1000
DEPTH = 50


def parse(raw, limits):
    """A message; one that is attached to it follows it."""
    message = email.message_from_bytes(_shallow(raw))
    out, metadata = MarkdownLines(), {}
    subject = _header(message, "subject")
    out.header(1, subject)
    for name in ("from", "to", "cc", "date"):
        if said := _header(message, name):
            out.line(f"{name.capitalize()}: {said}")
            metadata[name] = said
    out.blank()
    for part in _parts(message):
        _take(part, limits, out)
    if subject:
        metadata["title"] = subject
    yield Extracted(out.text(), metadata=metadata)


def _shallow(raw):
    """The bytes, if their parts do not lie deeper in one another than the parser can go."""
    if raw.lower().count(b"multipart/") + raw.lower().count(b"message/rfc822") > DEPTH:
        raise ValueError(f"more than {DEPTH} messages and lists of parts in one message")
    return raw


def _header(message, name):
    value = message.get(name)
    if value is None:
        return ""
    try:
        pieces = email.header.decode_header(str(value)[:HEADER])
        text = str(email.header.make_header(pieces))
    except (ValueError, LookupError):
        text = str(value)[:HEADER]
    return " ".join(text.split())


def _parts(message: Message):
    """The parts with content, of alternatives the plain one where there is one."""
    stack, count = [message], 0
    while stack and count < PARTS:
        part, count = stack.pop(), count + 1
        if not part.is_multipart():
            yield part
            continue
        inner = [each for each in part.get_payload() if isinstance(each, Message)]
        if part.get_content_type() == "multipart/alternative":
            plain = [each for each in inner if each.get_content_type() == "text/plain"]
            inner = plain[:1] or inner[-1:]
        stack += reversed(inner)


def _take(part, limits, out):
    name, kind = part.get_filename(), part.get_content_type()
    if name or not kind.startswith("text/"):
        if name:
            out.line(f"Attached: {' '.join(str(name)[:HEADER].split())}")
        return
    content = part.get_payload(decode=True) or b""
    text = _decoded(content, part.get_content_charset())
    if kind == "text/html":
        (page,) = html.parse(text.encode("utf-8", "replace"), limits)
        text = page.text
    out.blank()
    for line in text.splitlines():
        out.line(line)
    out.blank()


def _decoded(content, charset):
    try:
        return content.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return content.decode("cp1252", "replace")
