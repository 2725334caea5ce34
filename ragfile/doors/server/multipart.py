"""A multipart body onto the disk as it comes: no more of it is in memory than a piece.

Parts with a file name are uploads; the others are fields: dedupe, keep, tags, metadata.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from typing import TYPE_CHECKING, Any

from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.request import parsed
from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from ragfile.doors.server.shared_state import Service
    from ragfile.doors.server.uploads import Upload

MOST_FIELDS, LONGEST_FIELD = 20, 64 << 10
IDLE = 30.0  # seconds in which something must come
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")


async def receive_files(service: Service, scope: Any, receive: Any, collection: str) -> Received:
    """What a client sends; nothing of it stays if it does not come whole."""
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
            said = f"nothing came for {IDLE:g} seconds"
            raise HttpFailure(408, said, {"connection": "close"}) from None
        raise


def _fed(feed, data):
    """Passes data on; what the parser does not take is the client's mistake."""
    parsing = optional("python_multipart.exceptions", "uploads")
    try:
        feed(data)
    except parsing.FormParserError as error:
        raise HttpFailure(400, f"the body is not multipart/form-data: {error}") from None


def _parser(header, found):
    parsing = optional("python_multipart.multipart", "uploads")
    kind, options = parsing.parse_options_header(header)
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise HttpFailure(415, "files come as multipart/form-data with a boundary")
    if len(options[b"boundary"]) > 200:
        raise HttpFailure(400, "the boundary is too long")
    taking = _Taking(found, parsing.parse_options_header)
    parser = parsing.MultipartParser(options[b"boundary"], taking.callbacks())
    return parser.write, taking.finished(parser)


class Received:
    """The files and fields of one body."""

    def __init__(self, service: Service, collection: str, user: str):
        from ragfile.doors.server.uploads import NOBODY

        self._service, self._collection, self._user = service, collection, user or NOBODY
        self.uploads: list[Upload] = []
        self.fields: dict[str, str] = {}
        self._open = -1
        self._hash: Any = None

    def begin_file(self, name: str) -> None:
        """A file follows."""
        most = self._service.settings.max_files
        if len(self.uploads) >= most:
            raise HttpFailure(413, f"at most {most} files at once")
        upload = self._service.uploads.begun(name, self._collection, self._user)
        self._open = self._service.uploads.create(upload)
        self.uploads.append(upload)
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """A piece of the file."""
        upload, most = self.uploads[-1], self._service.settings.max_upload
        upload.size += len(data)
        if upload.size > most:
            raise HttpFailure(413, f"{upload.name} is over the limit of {most:,} bytes")
        self._hash.update(data)
        view = memoryview(data)
        while view:
            view = view[os.write(self._open, view) :]

    def end_file(self) -> None:
        """The file is whole."""
        os.close(self._open)
        self._open = -1
        self.uploads[-1].checksum = self._hash.hexdigest()

    def checked(self) -> Received:
        """Itself, if there is a file and the fields make sense."""
        if not self.uploads:
            raise HttpFailure(422, "there is no file: send parts with a file name", param="file")
        tags = [tag.strip() for tag in self.fields.pop("tags", "").split(",") if tag.strip()]
        metadata = _object(self.fields.pop("metadata", "{}"))
        keeps = self._flag("keep", self._service.settings.keep_originals)
        for upload in self.uploads:
            upload.tags, upload.metadata, upload.kept = tags, metadata, keeps
        self.dedupe = self._flag("dedupe", False)
        if self.fields:
            raise HttpFailure(422, f"the field {next(iter(self.fields)):.60} is not known; there are "
                               "dedupe, keep, metadata and tags")  # fmt: skip
        return self

    def _flag(self, name, default):
        said = self.fields.pop(name, None)
        if said is None:
            return default
        if said.lower() not in (*YES, *NO):
            raise HttpFailure(422, f"{name} is true or false, not {said!r:.40}", param=name)
        return said.lower() in YES

    def discard(self) -> None:
        """Takes away what has come."""
        if self._open >= 0:
            os.close(self._open)
        for upload in self.uploads:
            self._service.uploads.drop(upload)


def _object(text):
    """The JSON object of a field."""
    try:
        found = parsed(text.encode())
    except HttpFailure:
        found = None
    if not isinstance(found, dict):
        raise HttpFailure(422, "metadata is a JSON object", param="metadata")
    return found


class _Taking:
    """The parser's callbacks, from bytes to files and fields."""

    def __init__(self, found, options_of):
        self._found, self._options_of = found, options_of
        self._header, self._value, self._said = b"", b"", {}
        self._field, self._is_file, self._ended = b"", False, False

    def callbacks(self):
        return {
            "on_part_begin": self._begin, "on_part_data": self._data, "on_part_end": self._end,
            "on_header_field": self._name, "on_header_value": self._text,
            "on_header_end": self._headed, "on_headers_finished": self._begun,
            "on_end": self._finish,
        }  # fmt: skip

    def finished(self, parser):
        """A function that refuses a body that breaks off."""

        def finish():
            parser.finalize()
            if not self._ended:
                raise HttpFailure(400, "the body broke off before its end")

        return finish

    def _finish(self):
        self._ended = True

    def _begin(self):
        self._said, self._field, self._is_file = {}, b"", False

    def _name(self, data, start, end):
        self._header += data[start:end]

    def _text(self, data, start, end):
        self._value += data[start:end]

    def _headed(self):
        self._said[self._header.lower()] = self._value
        self._header = self._value = b""

    def _begun(self):
        _, options = self._options_of(self._said.get(b"content-disposition", b""))
        self._key = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            self._is_file = True
            self._found.begin_file(options[b"filename"].decode("utf-8", "replace"))
        elif len(self._found.fields) >= MOST_FIELDS or not self._key:
            raise HttpFailure(422, "a part has a name, and there are not so many fields")

    def _data(self, data, start, end):
        if self._is_file:
            return self._found.write(data[start:end])
        self._field += data[start:end]
        if len(self._field) > LONGEST_FIELD:
            raise HttpFailure(413, f"a field has at most {LONGEST_FIELD:,} bytes")
        return None

    def _end(self):
        if self._is_file:
            self._found.end_file()
        else:
            self._found.fields[self._key] = self._field.decode("utf-8", "replace")
