"""A client's uploads to a server of the tests."""

import time
from pathlib import Path

KB = "/v1/collections/kb"
FILES = KB + "/files"
BOUNDARY = "------------------------a b"


def multipart(*parts, end=True):
    """A body; a part is (name, content) or (name, file name, content)."""
    said = b""
    for name, *file, content in parts:
        also = f'; filename="{file[0]}"' if file else ""
        content = content if isinstance(content, bytes) else content.encode()
        said += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{also}\r\n'.encode()
        said += b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n"
    return said + f"--{BOUNDARY}--\r\n".encode() * end


def send(server, *parts, end=True, method="POST", **headers):
    kind = f'multipart/form-data; boundary="{BOUNDARY}"'
    return server.ask(method, FILES, multipart(*parts, end=end), Content_Type=kind, **headers)


def settled(server, upload, headers=()):
    """The state of an upload when it is no longer queued."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = server.ask("GET", f"{FILES}/{upload['id']}", headers=headers).json
        if found["state"] != "queued":
            return found
        time.sleep(0.01)
    raise AssertionError("it stays queued")


def originals(root):
    """The files below a root that are no states."""
    return [p for p in Path(root).rglob("*") if p.is_file() and ".state" not in p.parts]
