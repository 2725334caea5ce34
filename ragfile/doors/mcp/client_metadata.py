"""Metadata from clients, which may not set the source of a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Loaders and uploads set these. By a forged checksum, another client's upload would be a duplicate.
RESERVED = ("checksum", "file_id", "path", "upload")


def client_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return metadata as a dict; raise ValueError for a reserved name."""
    found = dict(metadata or {})
    for name in RESERVED:
        if name in found:
            raise ValueError(f"metadata.{name} is set when a file is read: use another name")
    return found


def origin_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reserved part of a document's metadata, which clients must not replace."""
    return {name: metadata[name] for name in RESERVED if name in metadata}
