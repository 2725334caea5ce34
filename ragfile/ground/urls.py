"""Paths that are URLs: what may be opened where it is, and what an error message may show of it."""

import os

SCHEMES = ("http", "https", "s3")


def is_remote(path):
    """Whether a path is a URL that can be opened."""
    return isinstance(path, str) and "://" in path and path.partition("://")[0].lower() in SCHEMES


def is_dataset(path):
    """Whether a path names a dataset rather than a file: a folder with manifests, or an s3:// URL that ends with "/"."""
    if is_remote(path):
        return path[:5].lower() == "s3://" and path.endswith("/")
    return os.path.isdir(os.path.join(path, "manifests"))


def shown(url):
    """The URL without what lets somebody in: a password, the query of a signed address."""
    from urllib.parse import urlsplit  # not when ragfile is imported: few paths are URLs

    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" + ("?…" if parts.query else "")


def refuse_remote(path):
    """A file behind a URL is for reading."""
    if is_remote(path):
        raise ValueError(
            f"{shown(path)} is for reading: change the file where it is kept, and put it there anew"
        )
