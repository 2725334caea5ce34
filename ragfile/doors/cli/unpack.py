"""`ragfile unpack`: write the files of a RAGFile to a folder again."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from ragfile.doors.cli.failures import INCOMPLETE
from ragfile.doors.cli.options import FilePath, generation_option, json_option
from ragfile.doors.cli.report_lines import counted, emit, printable, readable


@click.command("unpack")
@click.argument("file", type=FilePath())
@click.argument("folder", type=FilePath())
@click.option(
    "--key", "keys", multiple=True, type=FilePath(),
    help="Refuse a file that this public key has not signed; can be repeated.",
)  # fmt: skip
@generation_option
@json_option
def unpack_command(
    file: str, folder: str, keys: tuple[str, ...], generation: int, as_json: bool
) -> None:  # fmt: skip
    """Write the files of a RAGFile to a new folder, byte for byte.

    Files of text come from any RAGFile. Others need a build with --keep-originals; the exit code is 3 if
    some are missing.
    """
    from ragfile.opener import unpack

    report = unpack(file, folder, generation=generation, trusted=keys or None)
    for path, reason in report.unrestored:
        click.echo(f"ragfile: {printable(path)}: {printable(reason)}", err=True)
    if as_json:
        emit(asdict(report))
    else:
        click.echo(f"{folder}: {counted(report.files, 'file')}, {readable(report.bytes)}")
    if report.unrestored:
        sys.exit(INCOMPLETE)
