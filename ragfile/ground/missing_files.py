"""Errors about files that do not exist: they name the file, and advise."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from itertools import islice

LISTED = 10_000  # names of a folder that are compared


@contextmanager
def explained(path: str | os.PathLike[str]) -> Generator[None]:
    """Add advice to the error of a block that does not find the file `path`."""
    try:
        yield
    except FileNotFoundError as error:
        if os.path.lexists(path) or error.errno is None:
            raise
        why = f"{error.strerror}{_advice(os.fspath(path))}"
        raise FileNotFoundError(error.errno, why, os.fspath(path)) from None


def _advice(path: str) -> str:
    import shlex  # only a missing file needs them
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    stems = {os.path.splitext(each)[0]: each for each in _names(folder or os.curdir)}
    if near := get_close_matches(os.path.splitext(name)[0], stems, 1):  # suffixes are alike
        return f"; did you mean {shlex.quote(os.path.join(folder, stems[near[0]]))}?"
    if os.path.splitext(name)[1] not in ("", ".ragfile"):
        return ""  # a build writes no other format
    return f"; `ragfile build FOLDER -o {shlex.quote(path or 'kb.ragfile')}` makes one"


def _names(folder: str) -> list[str]:
    """Return the names of the files in a folder, none of a folder that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, LISTED) if entry.is_file()]
    except OSError:
        return []
