"""URLs: which of them can be opened, and how error messages show them."""

import os
from typing import TypeGuard

SCHEMES = ("http", "https", "s3")


def is_remote(path: object) -> TypeGuard[str]:
    """Return whether a path is a URL that can be opened."""
    return isinstance(path, str) and "://" in path and path.partition("://")[0].lower() in SCHEMES


def is_dataset(path: str | os.PathLike[str]) -> bool:
    """Return whether a path names a dataset: a folder with manifests, or an s3:// URL that ends with "/"."""
    if is_remote(path):
        return path[:5].lower() == "s3://" and path.endswith("/")
    return os.path.isdir(os.path.join(path, "manifests"))


def shown(url: str | os.PathLike[str]) -> str:
    """Return a URL without its secrets: the password, and the query of a signed URL."""
    from urllib.parse import urlsplit  # not when ragfile is imported: few paths are URLs

    parts = urlsplit(os.fspath(url))
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" + ("?…" if parts.query else "")


def refuse_remote(path: object) -> None:
    """Raise ValueError for a URL: files behind URLs are read-only."""
    if is_remote(path):
        raise ValueError(
            f"{shown(path)} is read-only: change a local copy of the file and upload that"
        )
