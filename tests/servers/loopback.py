"""What the servers of the tests have in common."""

import threading
from http.server import ThreadingHTTPServer


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
