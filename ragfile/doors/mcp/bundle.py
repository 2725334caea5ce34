"""An MCP bundle: a zip file with RAGFiles and the command that serves them.

Claude Desktop installs it by opening it. The command runs `python3`, which needs ragfile.
"""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from typing import TYPE_CHECKING, cast

from ragfile import __version__
from ragfile.ground.atomic_replace import Write, replacing, spare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO, Any

    from ragfile.doors.mcp.tools import Tools

MANIFEST, PROGRAM = "manifest.json", "server/main.py"
VERSION = "0.3"  # of the manifest's format
CLOCK = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes
MAIN = '"""Serve the files beside this program to an MCP client."""\n\nfrom ragfile.doors.cli.main import main\n\nmain()\n'


class _ZipOutput:
    """A file for zipfile, which counts the bytes that are written."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def write(self, data: bytes) -> int:
        """Write a piece."""
        self._write(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: the file is flushed at its end."""


def write_bundle(path: str, name: str, files: Sequence[str], tools: Tools) -> None:
    """Write a bundle of files; `tools` are those that its server offers."""
    named = {os.path.basename(file): file for file in files}
    if len(named) < len(files):
        raise ValueError("two of the files have the same name: rename one of them")
    manifest = json.dumps(_manifest(name, list(named), tools), indent=2) + "\n"
    spare(path, lambda head: head.startswith(b"PK"), "bundle")
    with contextlib.ExitStack() as stack:
        output = _ZipOutput(stack.enter_context(replacing(path)).write)
        archive = stack.enter_context(zipfile.ZipFile(cast("IO[bytes]", output), "w"))
        _fill(archive, manifest, named)


def _fill(archive: zipfile.ZipFile, manifest: str, named: Mapping[str, str]) -> None:
    """Write the members of a bundle."""
    archive.writestr(zipfile.ZipInfo(MANIFEST, CLOCK), manifest)
    archive.writestr(zipfile.ZipInfo(PROGRAM, CLOCK), MAIN)
    for inside, file in named.items():
        _add(archive, inside, file)


def _add(archive: zipfile.ZipFile, inside: str, path: str) -> None:
    """Copy a file piece by piece, as it is: its texts are compressed already."""
    entry = zipfile.ZipInfo(inside, CLOCK)
    entry.file_size = os.path.getsize(path)
    with open(path, "rb") as file, archive.open(entry, "w") as out:
        while piece := file.read(1 << 20):
            out.write(piece)


def _manifest(name: str, files: Sequence[str], tools: Tools) -> dict[str, Any]:
    placed = [f"${{__dirname}}/{file}" for file in files]
    command = {"command": "python3", "args": [f"${{__dirname}}/{PROGRAM}", "mcp", *placed]}
    described = ({k: tool[k] for k in ("name", "description")} for tool in tools.listed())
    return {
        "manifest_version": VERSION, "name": name, "version": __version__,
        "description": f"Search {', '.join(files)} by words and meaning.",
        "author": {"name": "The ragfile authors"}, "license": "MIT", "keywords": ["search", "rag"],
        "server": {"type": "python", "entry_point": PROGRAM, "mcp_config": command},
        "tools": list(described),
        "compatibility": {
            "platforms": ["darwin", "linux"], "runtimes": {"python": ">=3.11"},
        },
    }  # fmt: skip
