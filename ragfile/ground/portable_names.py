"""Names of files that are valid on every system, and are there the names of different files.

Windows reserves the names of devices, whatever follows after a dot. macOS and Windows take names that
differ in case alone for one, and macOS two that differ in Unicode normalisation. So a file that is
made in one folder can be copied to any other system.
"""

from __future__ import annotations

import os
import re
import unicodedata

MOST = 200  # bytes of UTF-8, which leaves room for suffixes and the names of files beside it
FORBIDDEN = frozenset('/\\:*?"<>|')
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)", re.IGNORECASE)


def fault_of(name: str) -> str:
    """Return why a name is not portable, "" if it is."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    if not 0 < size <= MOST:
        return f"it has {size} bytes, not 1 to {MOST}"
    if not name.isprintable() or not FORBIDDEN.isdisjoint(name):
        return f"it has a control character or one of {' '.join(sorted(FORBIDDEN))}"
    if name != name.strip(". "):
        return "it begins or ends with a dot or a space"
    if _DEVICE.match(name):
        return "Windows has a device of this name"
    if name != unicodedata.normalize("NFC", name):
        return "it is not in Unicode's normal form NFC: use unicodedata.normalize('NFC', name)"
    return ""


def twin(folder: str, name: str) -> str:
    """Return a name in a folder that differs from another in case alone, "" if there is none."""
    wanted = _folded(name)
    found = (each for each in os.listdir(folder) if each != name and _folded(each) == wanted)
    return next(found, "")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def is_other_case(path: str) -> bool:
    """Return whether a path finds a file of a name that differs in case, on a system that ignores case."""
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    if not os.path.exists(os.path.join(folder, stem + suffix.swapcase())):
        return False  # the system is case-sensitive, or there is no such file
    return name not in os.listdir(folder)
