"""The files that `search` and `ask` open: folders and other formats through a copy in the cache."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING, NamedTuple

import click

from ragfile.doors.cli.failures import spelled
from ragfile.doors.cli.options import layered
from ragfile.doors.cli.report_lines import printable
from ragfile.doors.cli.shown_hits import Home
from ragfile.ground.urls import is_dataset, is_remote, local_path

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

MANIFEST = re.compile(r"\d{20}\.json")


class FilesToOpen(NamedTuple):
    """The files to open, the options to open them with, and where their sources are."""

    file: str | list[str]
    opening: dict[str, Any]
    home: Home


@contextlib.contextmanager
def searchable(
    file: str,
    over: tuple[str, ...],
    root: str | None,
    base_url: str | None,
    opening: dict[str, Any],
) -> Generator[FilesToOpen]:
    """Yield the files to open; that of a folder is built or synced first."""
    path, cache = local_path(file), opening["cache"]
    if not _is_folder(path):
        if cache is None and not any(map(is_remote, (file, *over))):
            opening = opening | {"cache": _default_cache()}
        yield FilesToOpen(layered(file, over), opening, Home(file, root, base_url))
        return
    if opening["generation"]:
        raise click.UsageError("--generation is for a file, not for a folder")
    from ragfile.doors.cli.progress import Progress
    from ragfile.exchange.folder_copies import copied_folder

    bar = Progress()
    with copied_folder(
        path, cache=cache, embedder=opening["embedder"] or "default",
        embedding_cache=opening["embedding_cache"], progress=bar.show,
    ) as copy:  # fmt: skip
        bar.close()
        click.echo(f"ragfile: {printable(spelled(copy.summary))}", err=True)
        # the copy records its model, and blocks of layers at URLs are kept only if asked for
        options = opening | {"embedder": None}
        yield FilesToOpen(layered(copy.path, over), options, Home(file, root or path, base_url))


def _is_folder(path: str) -> bool:
    """Return whether a path is a folder of files, not a dataset: its manifests have numbers for names."""
    if is_remote(path) or not os.path.isdir(path):
        return False
    if not is_dataset(path):
        return True
    names = os.listdir(os.path.join(path, "manifests"))
    return bool(names) and not any(map(MANIFEST.fullmatch, names))


def _default_cache() -> str | None:
    """Return the user's cache folder; None for a user without a home folder."""
    from ragfile.ground.cache_folder import default_folder

    try:
        return str(default_folder())
    except ValueError:
        return None
