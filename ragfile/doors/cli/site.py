"""`ragfile site`: a file and the page that searches it, for any host of files."""

import json
import os

import click


@click.command("site")
@click.argument("file", type=click.Path())
@click.option("-o", "--out", default="public", show_default=True, help="The folder to write.")
@click.option("--title", help="What the page calls the collection. Otherwise the file's name.")
@click.option("--words-only", is_flag=True, help="Leave out the model: no questions by meaning.")
@click.option(
    "--offline/--no-offline",
    default=None,
    help="Whether browsers keep the whole file. They do if it has at most 16 MiB.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def site_command(file, out, title, words_only, offline, as_json):
    """Write a static site that searches FILE in the browser."""
    from ragfile.doors.site.static_site import site

    names = site(file, out, title=title, meaning=not words_only, offline=offline)
    size = sum(os.path.getsize(os.path.join(out, name)) for name in names)
    if as_json:
        click.echo(json.dumps({"out": os.fspath(out), "files": names, "bytes": size}))
    else:
        click.echo(f"{out}: {len(names)} files, {size / 1e6:.1f} MB; any host of files serves them")
