"""A host of files for tests, with ranges, that can also be slow, lie, cut short, pack, or change what
it serves."""

import gzip
import re
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TYPES = {".js": "text/javascript", ".json": "application/json", ".html": "text/html", ".css": "text/css",
         ".svg": "image/svg+xml"}  # fmt: skip
PACKED = {".js", ".json", ".html", ".css", ".svg"}


class SiteServer:
    """Serves a folder at `url`, with `packs` as most hosts do: text files packed. What `misdeed` names
    is done to .ragfile files from then on.

    lie: other bytes; cut: half of each answer; gzip: everything packed, ranges included; whole: no
    ranges; change: another tag; `delay` is in seconds for each answer.
    """

    def __init__(self, folder):
        self.folder, self.misdeed, self.delay, self.packs = Path(folder), "", 0.0, False
        self.log = []  # (path, range, status, bytes)
        outer = self

        class Handler(SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self)

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def received(self):
        return sum(size for *_, size in self.log)

    def answer(self, request):
        time.sleep(self.delay)
        path = request.path.partition("?")[0]
        place = self.folder / (path.lstrip("/") or "index.html")
        if place.is_dir():
            place /= "index.html"
        if not place.exists() and place.with_suffix(".html").is_file():
            place = place.with_suffix(".html")
        if not place.is_file():
            return self.send(request, path, 404, b"", {})
        size = place.stat().st_size
        bad = self.misdeed if place.suffix == ".ragfile" else ""
        headers = {"Content-Type": TYPES.get(place.suffix, "application/octet-stream")}
        ends = stretch(place, 0, 64), stretch(place, max(0, size - 64), size)
        headers["ETag"] = f'"{hash((*ends, size, bad == "change")) & 0xFFFFFFFF:x}"'
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
        if not found or bad == "whole":
            data = place.read_bytes()
            if bad == "gzip":
                headers["Content-Encoding"], data = "gzip", gzip.compress(data, 1)
            if self.packs and place.suffix in PACKED:
                headers["Content-Encoding"], data = "gzip", gzip.compress(data, 6)
            return self.send(request, path, 200, data, headers)
        first, last = found.groups()
        at = int(first) if first else max(0, size - int(last))
        end = min(int(last) + 1, size) if first and last else size
        if at >= size:
            return self.send(request, path, 416, b"", {})
        headers["Content-Range"] = f"bytes {at}-{end - 1}/{size}"
        part = stretch(place, at, end)
        if bad == "lie":  # of all but the front page
            front = max(0, 4096 - at)
            part = part[:front] + bytes(byte ^ 1 for byte in part[front:])
        if bad == "gzip":
            headers["Content-Encoding"], part = "gzip", gzip.compress(part, 1)
        return self.send(request, path, 206, part, headers, cut=bad == "cut")

    def send(self, request, path, status, data, headers, cut=False):
        self.log.append((path, request.headers.get("Range", ""), status, len(data)))
        request.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(data))}).items():
            request.send_header(name, value)
        request.end_headers()
        if request.command == "HEAD":
            return
        if cut:
            request.close_connection = True
        request.wfile.write(data[: len(data) // 2] if cut else data)


def stretch(place, start, end):
    """Bytes of a file, which can be larger than memory."""
    with open(place, "rb") as file:
        file.seek(start)
        return file.read(end - start)
