"""The user's folder for caches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def default_folder() -> Path:
    """Return RAGFILE_CACHE, or else ragfile in the user's cache folder."""
    from pathlib import Path  # few programs keep a cache

    own = os.environ.get("RAGFILE_CACHE")
    folder = Path(own) if own else user_folder()
    if folder is None:
        raise ValueError(
            "no place for the cache: set RAGFILE_CACHE or XDG_CACHE_HOME, for this user has no home folder"
        )
    return folder


def user_folder() -> Path | None:
    """Return ragfile in XDG_CACHE_HOME or ~/.cache; None for a user without a home folder."""
    from pathlib import Path

    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragfile"
    except RuntimeError:
        return None
