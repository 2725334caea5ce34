"""Open a file for its next commit, after other writers.

Waiting writers take their turns in order of arrival, among all processes of the machine. Readers never
wait.
"""

from __future__ import annotations

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.ground.encryption_keys import Unlocker
from ragfile.ground.lock_patience import seconds_to_wait
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import local_file
from ragfile.types import StrPath


def file_to_edit(path: StrPath, wait: float | None = None) -> _core.FileWriter:
    """Open a file for its next commit.

    Args:
        path: The file.
        wait: Seconds to wait for other writers; 0 refuses at once. See `seconds_to_wait`.

    Raises:
        LockedError: Another writer still holds the file, or this thread does.
        FormatError: The file is not a RAGFile.
    """
    path = local_file(path)
    try:
        with explained(path):
            return _core.FileWriter.edit(path, seconds_to_wait(wait), Unlocker(path))
    except FormatError:
        with open(path, "rb") as file:
            if file.read(6).removeprefix(b"\xef\xbb\xbf")[:3] != b"---":
                raise
        raise FormatError(
            f"{path}: a .ragmd is not changed in place: `ragfile convert` it to a .ragfile first"
        ) from None
