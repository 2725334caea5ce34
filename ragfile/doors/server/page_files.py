"""The web page: the files of ragfile/doors/server/page/, read once, with media types and ETags."""

from __future__ import annotations

import mimetypes
from importlib.resources import files
from typing import TYPE_CHECKING

import xxhash

from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.operations import Raw
from ragfile.doors.server.request import send_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from starlette.types import Receive, Scope, Send

    from ragfile.doors.server.access import Visit

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {
    ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml", ".json": "application/json", ".txt": "text/plain; charset=utf-8",
}  # fmt: skip
FIRST = "index.html"
NONE = b"This is ragfile, without its web page. See /openapi.json for the API.\n"


class WebPage:
    """An ASGI application for all paths without a route of their own."""

    def __init__(self) -> None:
        self._files: dict[str, Raw] = {}
        for name, body in _read(files("ragfile") / "doors" / "server" / "page"):
            self._files["/" + name] = _file(name, body)
        home = Raw(NONE, TYPES[".txt"], 200, {"content-security-policy": CSP})
        self._files["/"] = self._files.get("/" + FIRST, home)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._files.get(scope["path"])
        if found is None:
            path = scope["path"]
            raise HttpFailure(404, f"nothing at {path!r:.120}: /openapi.json lists all paths")
        if scope["method"] not in ("GET", "HEAD"):
            raise HttpFailure(
                405,
                f"{scope['method']:.20} is not supported here; use GET or HEAD",
                {"allow": "GET, HEAD"},
            )
        visit: Visit = scope["ragfile"]
        visit.route = "page"
        if visit.headers.get("if-none-match") == found.headers.get("etag", ""):
            found = found._replace(body=b"", status=304)
        await send_whole(send, found, is_head=scope["method"] == "HEAD")


def _read(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the paths and contents of the files in a folder."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _read(entry, f"{prefix}{entry.name}/")
        elif not entry.name.startswith("."):
            yield prefix + entry.name, entry.read_bytes()


def _file(name: str, body: bytes) -> Raw:
    """Return the response for a file."""
    dot = name.rpartition(".")
    kind = TYPES.get(f".{dot[2]}") or mimetypes.guess_type(name)[0] or "application/octet-stream"
    headers = {
        "etag": f'"{xxhash.xxh3_64_hexdigest(body)}"', "cache-control": "no-cache",
        "content-security-policy": CSP,
    }  # fmt: skip
    return Raw(body, kind, 200, headers)
