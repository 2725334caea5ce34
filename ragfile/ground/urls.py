"""URLs: which of them can be opened, and how error messages show them."""

import os
from typing import TypeGuard

BUCKETS = ("s3", "gs", "az")  # object stores, which can hold datasets too
SCHEMES = ("http", "https", "hf", *BUCKETS)
FILE = "file://"


def scheme_of(url: str) -> str:
    """Return a URL's scheme in lower case."""
    return url.partition("://")[0].lower()


def is_remote(path: object) -> TypeGuard[str]:
    """Return whether a path is a URL that can be opened."""
    return isinstance(path, str) and "://" in path and scheme_of(path) in SCHEMES


def is_dataset(path: str | os.PathLike[str]) -> bool:
    """Return whether a path names a dataset: a folder with manifests, or a bucket's URL that ends with "/"."""
    if is_remote(path):
        return scheme_of(path) in BUCKETS and path.endswith("/")
    return os.path.isdir(os.path.join(local_path(os.fspath(path)), "manifests"))


def is_file(path: str) -> bool:
    """Return whether a path is a file:// URL."""
    return path[: len(FILE)].lower() == FILE


def local_path(path: str) -> str:
    """Return the path that a file:// URL names; other paths as they are."""
    if not is_file(path):
        return path
    from urllib.parse import unquote, urlsplit  # not when ragfile is imported: few paths are URLs

    parts = urlsplit(path, allow_fragments=False)
    if parts.netloc not in ("", "localhost"):
        raise ValueError(f"{path}: names a file of another machine, {parts.netloc}")
    return unquote(parts.path)


def shown(url: str | os.PathLike[str]) -> str:
    """Return a URL without its secrets: the password, and the query of a signed URL."""
    from urllib.parse import urlsplit  # not when ragfile is imported: few paths are URLs

    parts = urlsplit(os.fspath(url))
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" + ("?…" if parts.query else "")


def without_port(host: str) -> str:
    """Return the name in a Host header, in lower case; an IPv6 address keeps its brackets."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def local_file(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the path of a file to change, also for a file:// URL.

    Raises:
        ValueError: It is behind another URL, and so read-only.
    """
    if is_remote(path):
        raise ValueError(
            f"{shown(path)} is read-only: change a local copy of the file and upload that"
        )
    return local_path(path) if isinstance(path, str) else path
