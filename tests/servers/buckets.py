"""moto's S3 server on a loopback port, and what a client of it needs."""

import contextlib
import logging

import pytest

from ragfile.net import fetcher

ENVIRONMENT = {
    "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
}  # fmt: skip


def require():
    """Skip a module where a package is missing."""
    pytest.importorskip("obstore", reason="the s3 extra is not installed")
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    pytest.importorskip("boto3", reason="boto3 is not installed")


@contextlib.contextmanager
def served():
    """The URL of a server without buckets."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.INFO)
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def bucket(endpoint, name, monkeypatch):
    """A client with an empty bucket; this process finds the server, and retries at once."""
    import boto3

    for variable, value in {"AWS_ENDPOINT_URL": endpoint, **ENVIRONMENT}.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(fetcher, "FIRST_WAIT", 0.001)
    client = boto3.client("s3", endpoint_url=endpoint)
    client.create_bucket(Bucket=name)
    return client
