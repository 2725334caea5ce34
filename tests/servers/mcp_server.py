"""The MCP core on a loopback port, by the standard library alone: what the web server mounts,
without it.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ragfile.mcp.over_http import exchange


class McpServer(ThreadingHTTPServer):
    """Serves an MCP core at /mcp on a free port; `url` is its address."""

    daemon_threads = True

    def __init__(self, core):
        super().__init__(("127.0.0.1", 0), Handler)
        self.core = core
        self.url = f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def __enter__(self):
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        done = exchange(self.server.core, self.command, dict(self.headers), body)
        self.send_response(done.status)
        for name, value in {**done.headers, "content-length": len(done.body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(done.body)

    do_GET = do_POST = do_DELETE = do_PUT = answer

    def log_message(self, *arguments):
        """Nothing on the terminal."""
