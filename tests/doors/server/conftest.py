"""What the tests of the server share: files, a server over them, and a client."""

import http.client
import json
import os
import threading
import time
from urllib.parse import quote, urlsplit

import pytest
from servers.built_files import build_pages

PAGES = {
    "keys.md": "---\ntags: [security]\nyear: 2024\n---\n# Guide\n\n## Keys\n\nRotate the keys "
    "every 90 days with the job.\n\n## More\n\n"
    + "".join(f"Line {i} of the page about keys.\n" for i in range(60)),
    "pods.md": "---\nyear: 2023\n---\n# Pods\n\nRestart a pod by deleting it.\n",
    "sub/night & day.md": "# Backups\n\nBackups are taken every night. Größe: 3 µm 😀 <b>.\n",
}


@pytest.fixture(scope="session", autouse=True)
def _extra():
    """Where a package of the extra is missing, the tests are skipped, and say so."""
    for package in ("uvicorn", "starlette", "httptools", "uvloop", "python_multipart"):
        pytest.importorskip(package, reason="the extra server is not installed")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return build_pages(tmp_path_factory.mktemp("served"), PAGES)


@pytest.fixture
def path(built, tmp_path):
    copy = tmp_path / "kb.ragfile"
    copy.write_bytes(built.read_bytes())
    return copy


def until(is_so, seconds=20):
    """Waits for something to be so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)


class Answer:
    """A response that was read whole."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]

    @property
    def events(self):
        """(event, data) of server-sent events."""
        blocks = self.body.decode().split("\n\n")
        pairs = [dict(line.split(": ", 1) for line in b.splitlines()) for b in blocks if b]
        return [(p.get("event"), json.loads(p["data"])) for p in pairs if "data" in p]


class Serving:
    """A server in a thread, and a client of it. Options are those of Settings."""

    def __init__(self, *files, **settings):
        import uvicorn

        from ragfile.doors.server import lifecycle
        from ragfile.doors.server.settings import Settings

        told = Settings(tuple(map(str, files)), port=0, **settings)
        lifecycle.check(told)
        self.socket = lifecycle.bound(told)
        self.server = uvicorn.Server(lifecycle.configured(told))
        self.url = lifecycle.address(self.socket)
        self.address = urlsplit(self.url).netloc
        self._thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})

    def __enter__(self):
        self._thread.start()
        until = time.monotonic() + 20
        while not self.server.started and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.005)
        assert self.server.started
        return self

    def __exit__(self, *error):
        self.server.should_exit = True
        self._thread.join(40)
        assert not self._thread.is_alive()

    def ask(self, method, path, body=None, headers=(), **also):
        """An Answer. A body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection(self.address, timeout=30)
        sent = dict(headers) | {name.replace("_", "-"): value for name, value in also.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, body, **headers)

    def search(self, body, collection="kb", **headers):
        return self.post(f"/v1/collections/{quote(collection)}/search", body, **headers)


@pytest.fixture(scope="session")
def server(built):
    """A server over one file that nobody changes."""
    with Serving(built) as serving:
        yield serving


@pytest.fixture
def root(tmp_path):
    """The folder of a server's uploads."""
    return tmp_path / "uploads"


@pytest.fixture
def writable(serving, path, root):
    """A server that takes changes and uploads."""
    return serving(path, can_write=True, uploads=str(root))


@pytest.fixture
def serving():
    """A function that starts servers, which end with the test."""
    started = []

    def start(*files, **settings):
        started.append(Serving(*files, **settings).__enter__())
        return started[-1]

    yield start
    for one in started:
        one.__exit__()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch, tmp_path):
    """The machine's own keys and models are not those of the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in [name for name in os.environ if name.startswith("RAGFILE_")]:
        monkeypatch.delenv(name)
