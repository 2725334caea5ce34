"""Where the program called the package: warnings are shown at that line, not at one of ours."""

from __future__ import annotations

import inspect
import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def stack_level() -> int:
    """Return the `stacklevel` of warnings.warn() for the nearest caller outside the package."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
