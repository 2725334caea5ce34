"""Bundles of the Open Knowledge Format: folders of Markdown whose front matter has type, trust and currency.

A bundle declares its version as `okf_version` in the front matter of the `index.md` at its root. In each of its
folders, `index.md` lists the content and `log.md` the changes: searches do not rank them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ragfile.ingest.loaders import front_matter
from ragfile.text import normalize

if TYPE_CHECKING:
    from ragfile.types import Sources

INDEX, LOG = "index.md", "log.md"
VERSION = "okf_version"
HEAD = 64 << 10  # bytes of the index that are read


def is_bundle(sources: Sources) -> bool:
    """Return whether the only source is the folder of a bundle."""
    only = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    if len(only) != 1 or not os.path.isdir(only[0]):
        return False
    try:
        with open(os.path.join(only[0], INDEX), "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return VERSION in front_matter(normalize(head.decode("utf-8", "replace")).text).metadata


def is_reserved(path: str) -> bool:
    """Return whether a path is that of an index or a log."""
    return path.rpartition("/")[2] in (INDEX, LOG)
