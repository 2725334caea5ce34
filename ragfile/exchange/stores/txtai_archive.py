"""An archive saved by txtai, .tar.gz or .zip: its files in a folder of their own, bounded in size."""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from ragfile.errors import FormatError
from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ragfile.types import StrPath

NAMES = {"config", "config.json", "documents", "embeddings", "ids"}
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MAX_RATIO, ALWAYS = 100, 1 << 26  # times the archive's size, and bytes that are always allowed
DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError,
    OverflowError,
)  # fmt: skip


class Entry(NamedTuple):
    """A file of an archive, with the bytes that it counts for."""

    name: str
    size: int
    content: IO[bytes] | None


@contextlib.contextmanager
def unpacked(path: StrPath) -> Generator[Path]:
    """Return the folder itself, or that of an archive, deleted at the end."""
    if os.path.isdir(path):
        yield Path(path)
        return
    with system.temporary_folder() as folder:
        try:
            _unpack(path, Path(folder))
        except FormatError:
            raise
        except DAMAGE as error:
            raise FormatError(f"{path} is not a whole archive: {error}") from None
        if not {"config", "config.json"} & set(os.listdir(folder)):
            raise FormatError(f"{path} is an archive without the config.json of a txtai index")
        yield Path(folder)


def _unpack(path: StrPath, folder: Path) -> None:
    limit = os.path.getsize(path) * MAX_RATIO + ALWAYS
    entries = _zip_entries(path) if zipfile.is_zipfile(path) else _tar_entries(path)
    for name, size, content in entries:
        limit -= size
        if limit < 0:
            raise FormatError(f"{path} unpacks to more than {MAX_RATIO} times its size")
        if name in NAMES and content is not None:
            with content, (folder / name).open("wb") as target:
                shutil.copyfileobj(content, target)


def _zip_entries(path: StrPath) -> Iterator[Entry]:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.filename in NAMES and entry.compress_type not in PLAIN:
                raise ValueError(f"{entry.filename} is neither stored nor deflated")
            is_known = entry.filename in NAMES
            yield Entry(
                entry.filename,
                entry.file_size if is_known else 0,
                archive.open(entry) if is_known else None,
            )


def _tar_entries(path: StrPath) -> Iterator[Entry]:
    with tarfile.open(path, "r:gz") as archive:
        for entry in archive:
            content = archive.extractfile(entry) if entry.isfile() else None
            yield Entry(entry.name.removeprefix("./"), entry.size + tarfile.BLOCKSIZE, content)
