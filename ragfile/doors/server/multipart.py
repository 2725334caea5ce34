"""Receive multipart bodies: files are written to the disk as they arrive, piece by piece.

Parts with a file name are uploads; the others are fields: dedupe, keep, replace, tags, metadata; for
a file without a collection also purpose.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any, cast

from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.request import parsed
from ragfile.ground import system
from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash as Hash  # pyright: ignore[reportPrivateUsage]  # hashlib names no public type
    from typing import Protocol, TypeVar

    from starlette.types import Receive, Scope

    from ragfile.doors.server.shared_state import Service
    from ragfile.doors.server.uploads import Upload

    Feed = Callable[[bytes], object]
    Finish = Callable[[], None]

    FlagT = TypeVar("FlagT", bool, None)

    class _Parser(Protocol):
        def finalize(self) -> None: ...


MOST_FIELDS, LONGEST_FIELD = 20, 64 << 10
IDLE = 30.0  # seconds between two pieces of a body
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")


async def receive_files(
    service: Service, scope: Scope, receive: Receive, collection: str
) -> Received:
    """Receive a body's files and fields; delete the files if it does not arrive completely."""
    found = Received(service, collection, scope["ragfile"].user)
    try:
        feed, finish = _parser(scope["ragfile"].headers.get("content-type", ""), found)
        while True:
            async with asyncio.timeout(IDLE):
                message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError
            _fed(feed, message.get("body", b""))
            if not message.get("more_body"):
                break
        _fed(lambda _: finish(), b"")
        return found.checked()
    except BaseException as error:
        found.discard()
        if isinstance(error, TimeoutError):
            reason = f"no data arrived for {IDLE:g} seconds"
            raise HttpFailure(408, reason, {"connection": "close"}) from None
        raise


def _fed(feed: Feed, data: bytes) -> None:
    """Pass data to the parser; raise a failure 400 if it is malformed."""
    parsing = optional("python_multipart.exceptions", "uploads")
    try:
        feed(data)
    except parsing.FormParserError as error:
        raise HttpFailure(400, f"the body is not multipart/form-data: {error}") from None


def _parser(header: str, found: Received) -> tuple[Feed, Finish]:
    """Return the functions that parse a piece and that check the end of a body."""
    parsing = optional("python_multipart.multipart", "uploads")
    kind, options = parsing.parse_options_header(header)
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise HttpFailure(
            415, f"the Content-Type is {header!r:.80}: send multipart/form-data with a boundary"
        )
    if (size := len(options[b"boundary"])) > 200:
        raise HttpFailure(400, f"the boundary has {size} bytes; the limit is 200")
    reader = _PartReader(found, parsing.parse_options_header)
    parser = parsing.MultipartParser(options[b"boundary"], reader.callbacks())
    return parser.write, reader.finished(parser)


class Received:
    """The files and fields of one body."""

    def __init__(self, service: Service, collection: str, user: str) -> None:
        from ragfile.doors.server.uploads import NOBODY

        self._service, self._collection, self._user = service, collection, user or NOBODY
        self.uploads: list[Upload] = []
        self.fields: dict[str, str] = {}
        self._open = -1
        self._hash: Hash = hashlib.sha256()

    def begin_file(self, name: str) -> None:
        """Create the file of the next part."""
        most = self._service.settings.max_files
        if len(self.uploads) >= most:
            raise HttpFailure(413, f"a request has at most {most} files: send the rest in another")
        upload = self._service.uploads.begun(name, self._collection, self._user)
        self._open = self._service.uploads.create(upload)
        self.uploads.append(upload)
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Write a piece of the file."""
        upload, most = self.uploads[-1], self._service.settings.max_upload
        upload.size += len(data)
        if upload.size > most:
            raise HttpFailure(413, f"{upload.name} exceeds the limit of {most:,} bytes")
        self._hash.update(data)
        system.write(self._open, data)

    def end_file(self) -> None:
        """Close the file and record its checksum."""
        system.close(self._open)
        self._open = -1
        self.uploads[-1].checksum = self._hash.hexdigest()

    def checked(self) -> Received:
        """Check and apply the fields; return self."""
        if not self.uploads:
            raise HttpFailure(
                422, "the body has no file: send parts with a file name", param="file"
            )
        self.purpose = "" if self._collection else self.fields.pop("purpose", "assistants")
        tags = [tag.strip() for tag in self.fields.pop("tags", "").split(",") if tag.strip()]
        metadata = _object(self.fields.pop("metadata", "{}"))
        keeps = self._flag("keep", self._service.settings.keep_originals)
        for upload in self.uploads:
            upload.tags, upload.metadata, upload.kept = tags, metadata, keeps
        self.dedupe = self._flag("dedupe", False)
        self.replace = self._flag("replace", None)
        if self.fields:
            unknown = next(iter(self.fields))
            reason = f"unknown field {unknown!r:.60}: use dedupe, keep, metadata, replace or tags"
            raise HttpFailure(422, reason, param=unknown)
        return self

    def _flag(self, name: str, default: FlagT) -> bool | FlagT:
        """Return the value of a field that is true or false."""
        text = self.fields.pop(name, None)
        if text is None:
            return default
        if text.lower() not in (*YES, *NO):
            raise HttpFailure(422, f"{name} must be true or false, not {text!r:.40}", param=name)
        return text.lower() in YES

    def discard(self) -> None:
        """Delete all files that have been received."""
        if self._open >= 0:
            system.close(self._open)
        for upload in self.uploads:
            self._service.uploads.drop(upload)


def _object(text: str) -> dict[str, Any]:
    """Parse the JSON object of a field."""
    try:
        found = parsed(text.encode())
    except HttpFailure:
        found = None
    if not isinstance(found, dict):
        raise HttpFailure(
            422, f"metadata must be a JSON object, not {text!r:.40}", param="metadata"
        )
    return cast("dict[str, Any]", found)


class _PartReader:
    """The parser's callbacks: they turn bytes into files and fields."""

    def __init__(
        self, found: Received, options_of: Callable[[bytes], tuple[bytes, dict[bytes, bytes]]]
    ) -> None:
        self._found, self._options_of = found, options_of
        self._header, self._value, self._key = b"", b"", ""
        self._headers: dict[bytes, bytes] = {}
        self._field, self._is_file, self._ended = b"", False, False

    def callbacks(self) -> dict[str, Callable[..., None]]:
        """Return the callbacks by the parser's names for them."""
        return {
            "on_part_begin": self._begin, "on_part_data": self._data, "on_part_end": self._end,
            "on_header_field": self._name, "on_header_value": self._text,
            "on_header_end": self._headed, "on_headers_finished": self._begun,
            "on_end": self._finish,
        }  # fmt: skip

    def finished(self, parser: _Parser) -> Finish:
        """Return a function that refuses an incomplete body."""

        def finish() -> None:
            parser.finalize()
            if not self._ended:
                raise HttpFailure(400, "the body ended before its closing boundary")

        return finish

    def _finish(self) -> None:
        self._ended = True

    def _begin(self) -> None:
        self._headers, self._field, self._is_file = {}, b"", False

    def _name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _text(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _headed(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _begun(self) -> None:
        """Begin a file or a field, once the headers of a part are complete."""
        _, options = self._options_of(self._headers.get(b"content-disposition", b""))
        self._key = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            self._is_file = True
            self._found.begin_file(options[b"filename"].decode("utf-8", "replace"))
        elif not self._key:
            raise HttpFailure(422, "a part has no name: name it in its Content-Disposition")
        elif len(self._found.fields) >= MOST_FIELDS:
            raise HttpFailure(422, f"the body has more than {MOST_FIELDS} fields")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            return self._found.write(data[start:end])
        self._field += data[start:end]
        if len(self._field) > LONGEST_FIELD:
            reason = f"the field {self._key:.60} exceeds the limit of {LONGEST_FIELD:,} bytes"
            raise HttpFailure(413, reason, param=self._key)
        return None

    def _end(self) -> None:
        if self._is_file:
            self._found.end_file()
        else:
            self._found.fields[self._key] = self._field.decode("utf-8", "replace")
