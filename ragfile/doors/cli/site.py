"""`ragfile site`: write a static site that searches a file in the browser."""

from __future__ import annotations

import json
import os

import click

from ragfile.doors.cli.options import FilePath


@click.command("site")
@click.argument("file", type=FilePath())
@click.option("-o", "--out", default="public", show_default=True, help="Folder to write.")
@click.option("--title", help="Title of the page. Default: the name of the file.")
@click.option("--words-only", is_flag=True, help="Omit the model; search by words alone.")
@click.option(
    "--offline/--no-offline",
    default=None,
    help="Whether browsers cache the whole file. Default: files of up to 16 MiB.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def site_command(
    file: str, out: str, title: str | None, words_only: bool, offline: bool | None, as_json: bool
) -> None:
    """Write a static site that searches a file in the browser."""
    from ragfile.doors.site.static_site import site

    names = site(file, out, title=title, meaning=not words_only, offline=offline)
    size = sum(os.path.getsize(os.path.join(out, name)) for name in names)
    if as_json:
        click.echo(json.dumps({"out": os.fspath(out), "files": names, "bytes": size}))
    else:
        click.echo(
            f"{out}: {len(names)} files, {size / 1e6:.1f} MB; serve them from any static host"
        )
