"""The MCP core on a loopback port, by the standard library alone: what the web server mounts,
without it.
"""

from http.server import BaseHTTPRequestHandler

from servers.loopback import Loopback

from ragfile.doors.mcp.http import exchange


class McpServer(Loopback):
    """Serves an MCP core at /mcp on a free port; `url` is its address."""

    def __init__(self, core):
        super().__init__(Handler)
        self.core = core
        self.url += "/mcp"


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
