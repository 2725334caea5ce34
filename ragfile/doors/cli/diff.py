"""`ragfile diff`: the files that differ between two generations of a file."""

from __future__ import annotations

import click

from ragfile.doors.cli.options import FilePath, json_option
from ragfile.doors.cli.report_lines import emit, printable

MARKS = {"added": "A", "removed": "D", "changed": "M"}


@click.command("diff")
@click.argument("file", type=FilePath())
@click.argument("old", type=int)
@click.argument("new", type=int, default=0)
@click.option("-p", "--patch", is_flag=True, help="Print the lines that differ, as diff -u does.")
@json_option
def diff_command(file: str, old: int, new: int, patch: bool, as_json: bool) -> None:
    """List the files that differ between two generations.

    NEW is the newest by default.

    `ragfile log` lists the generations, and builds and edits keep old ones with --keep.
    """
    from ragfile.exchange.folder_diff import folder_diff
    from ragfile.opener import open as open_file

    with open_file(file, generation=old) as before, open_file(file, generation=new) as after:
        changes = folder_diff(before.documents(), after.documents())
    if as_json:
        emit({"changes": [{"path": one.path, "how": one.how} for one in changes]})
        return
    for one in changes:
        click.echo(f"{MARKS[one.how]} {printable(one.path)}")
        for line in one.patch() if patch else ():
            click.echo(printable(line))
