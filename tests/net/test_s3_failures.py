"""A store that breaks off: what comes out of files and datasets in a bucket is an error of ours."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import ragfile
from ragfile import dataset
from ragfile.errors import RagfileError

pytest.importorskip("obstore", reason="the extra 's3' is not installed")

PAGE = b"<ListBucketResult><Contents><Key>p/manifests/1"  # a listing that ends within
HEADERS = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "ETag": '"e"'}


def store(status, body, length):
    """A store with one response to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(length))
            if status == 206:
                self.send_header("Content-Range", f"bytes 0-{length - 1}/{length}")
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET

        def log_message(self, *_):
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


ANSWERS = {
    "a body that is cut off": (200, b"some", 100),
    "a range that is cut off": (206, b"some", 100),
    "a listing that is cut off": (200, PAGE, len(PAGE)),
    "a refusal": (403, b"", 0),
    "an error": (500, b"", 0),
    "nothing": (200, b"", 0),
}


@pytest.fixture(params=ANSWERS.values(), ids=ANSWERS)
def bucket(request, monkeypatch):
    server = store(*request.param)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setattr("ragfile.net.bucket_object.RETRIES", {"max_retries": 0})
    yield "s3://b/p"
    server.shutdown()
    server.server_close()


CALLS = {
    "open a file": lambda url: ragfile.open(f"{url}.ragfile"),
    "open a dataset": lambda url: ragfile.open(f"{url}/"),
    "verify a dataset": lambda url: dataset.verify(f"{url}/"),
    "vacuum a dataset": lambda url: dataset.vacuum(f"{url}/"),
    "delete": lambda url: dataset.delete(f"{url}/", ["a"]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_only_errors_of_ours_come_out(bucket, call):
    with pytest.raises((RagfileError, FileNotFoundError)):
        call(bucket)


def test_wrong_settings_are_an_error_of_ours(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "perhaps")
    with pytest.raises(RagfileError):
        ragfile.open("s3://b/p.ragfile")
