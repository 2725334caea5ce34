"""An HTTP server on loopback that serves ranges of bytes, counts what it is asked for, and misbehaves when told to."""

import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_):
        """Clients that hang up are what is tested."""


class RangeServer:
    """files: path → bytes. requests: (path, start, end, status) of every request that was answered, in order.

    behave(handler, start, end, data) may answer in its own way and return True. latency is added to every request.
    """

    def __init__(self, files):
        self.files, self.requests, self.latency = dict(files), [], 0.0
        self.tags = {}
        self.behave = None
        self.has_tags = True
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            owner = server

        self._server = _Quiet(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, name):
        return f"http://127.0.0.1:{self._server.server_address[1]}/{name}"

    def tag(self, name):
        return self.tags.get(name, f'"{hash(self.files[name]) & 0xFFFFFFFF:08x}"')

    def note(self, *request):
        with self._lock:
            self.requests.append(request)

    @property
    def count(self):
        return len(self.requests)

    @property
    def sent(self):
        """Bytes of bodies of ranges."""
        return sum(end - start for _, start, end, status in self.requests if status == 206)

    def forget(self):
        self.requests.clear()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: RangeServer

    def log_message(self, *_):
        pass

    def do_GET(self):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._get()

    def _get(self):
        owner, name = self.owner, unquote(self.path.lstrip("/").partition("?")[0])
        if owner.latency:
            time.sleep(owner.latency)
        data = owner.files.get(name)
        if data is None:
            owner.note(name, 0, 0, 404)
            return self.plain(404)
        start, end = self.asked(len(data))
        if owner.behave is not None and owner.behave(self, start, end, data):
            return None
        tag = owner.tag(name)
        if owner.has_tags and self.headers.get("If-Match", tag) != tag:
            owner.note(name, start, end, 412)
            return self.plain(412)
        if start >= end:
            owner.note(name, start, end, 416)
            return self.plain(416, {"Content-Range": f"bytes */{len(data)}"})
        owner.note(name, start, end, 206)
        return self.part(start, end, data, tag if owner.has_tags else None)

    def asked(self, size):
        """[start, end) of the Range header."""
        first, _, last = (
            self.headers.get("Range", f"bytes=0-{size - 1}").removeprefix("bytes=").partition("-")
        )
        if not first:
            return max(size - int(last), 0), size
        return int(first), min(int(last) + 1, size)

    def plain(self, status, headers=None, body=b""):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def part(self, start, end, data, tag=None, headers=None, body=None):
        """The honest answer; headers and body may be replaced."""
        body = data[start:end] if body is None else body
        self.send_response(206)
        stated = {
            "Content-Range": f"bytes {start}-{end - 1}/{len(data)}",
            "Content-Length": str(len(body)),
            "ETag": tag,
        }
        for name, value in (stated | (headers or {})).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def ask_with_cache(url, folder, count):
    """What a process of its own does with a server."""
    import ragfile

    for i in range(count):
        with ragfile.open(url, cache=folder) as far:
            far.search(f"w{i + 5} w{i + 60}", mode="bm25")
