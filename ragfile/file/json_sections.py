"""Sections of a commit whose bytes are one JSON value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragfile import _core


def json_of(section: _core.Section) -> object:
    """Return the value of a checked section; None for bytes that are not JSON."""
    section.check()
    try:
        found: object = json.loads(bytes(section).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return found
