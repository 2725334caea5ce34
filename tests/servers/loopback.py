"""What the servers of the tests have in common."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Loopback(ThreadingHTTPServer):
    """Serves on a free port of this machine within `with`; `url` is its address."""

    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()


class ScriptedHandler(BaseHTTPRequestHandler):
    """Notes a question in the server's `requests`, then answers by the next entry of its `script`,
    or by `answer_well`.
    """

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, question, dict(self.headers), time.monotonic()))
        told = self.server.script.pop(0) if self.server.script else None
        if told is not None:
            told(self, question)
        else:
            self.answer_well(question)

    def log_message(self, *arguments):
        """Nothing on the terminal."""
