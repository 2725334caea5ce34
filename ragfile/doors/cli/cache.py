"""`ragfile cache`: list or delete the copies that searches of folders and other formats keep."""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.options import json_option
from ragfile.doors.cli.report_lines import emit, printable, readable

if TYPE_CHECKING:
    from ragfile.exchange.kept_copies import CopyCache, KeptCopy


@click.command("cache")
@click.argument("origins", nargs=-1)
@click.option("--clear", is_flag=True, help="Delete the copies of ORIGINS, or all copies.")
@click.option("--cache", metavar="FOLDER", help="The cache folder, if not the user's own.")
@json_option
def cache_command(origins: tuple[str, ...], clear: bool, cache: str | None, as_json: bool) -> None:
    """List or delete the copies that searches of folders keep.

    ORIGINS are folders, and files in other formats. Without any, the command is about all copies.
    """
    from ragfile.exchange.kept_copies import CopyCache

    kept, chosen = CopyCache(cache), {os.path.realpath(origin) for origin in origins}
    if clear:
        copies = kept.clear(chosen or None)
    else:
        copies = [copy for copy in kept.copies() if not chosen or copy.origin in chosen]
    if as_json:
        return emit(
            {
                "folder": str(kept.folder),
                "limit": kept.limit,
                "deleted" if clear else "copies": [copy._asdict() for copy in copies],
            }
        )
    _show(kept, copies, clear)
    return None


def _show(kept: CopyCache, copies: list[KeptCopy], clear: bool) -> None:
    size = readable(sum(copy.size for copy in copies))
    what = (
        f"{'deleted ' if clear else ''}{len(copies):,} {'copy' if len(copies) == 1 else 'copies'}"
    )
    click.echo(f"{kept.folder}: {what}, {size} of {readable(kept.limit)} at most")
    for copy in () if clear else copies:
        used = datetime.fromtimestamp(copy.used).strftime("%Y-%m-%d %H:%M")
        click.echo(f"  {used}  {readable(copy.size):>8}  {printable(copy.origin)}")
