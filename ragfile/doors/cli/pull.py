"""`ragfile pull`: bring a local file up to date with the one at a URL."""

from __future__ import annotations

from dataclasses import asdict

import click

from ragfile.doors.cli.options import FilePath, json_option, wait_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import emit, printable, readable


@click.command("pull")
@click.argument("url")
@click.argument("file", type=FilePath(), required=False)
@click.option(
    "--key", "keys", multiple=True, type=FilePath(),
    help="Trusted public key; one of those given must have signed the new file.",
)  # fmt: skip
@click.option(
    "--replace", is_flag=True,
    help="Replace a FILE that was changed here, or that has another embedding model.",
)  # fmt: skip
@click.option("--redirects", is_flag=True, help="Follow redirects to other hosts.")
@wait_option
@json_option
def pull_command(
    url: str,
    file: str | None,
    keys: tuple[str, ...],
    replace: bool,
    redirects: bool,
    as_json: bool,
) -> None:
    """Update FILE from a URL.

    Only the blocks that changed are fetched, and verified before they replace the old file. FILE
    defaults to the last part of the URL.

    \b
    ragfile pull https://example.org/kb.ragfile
    ragfile pull s3://bucket/kb.ragfile team.ragfile --key team.key.pub
    """
    from ragfile.exchange.pull import pull

    with Progress().ticking(f"pulling {url}"):
        report = pull(url, file, trusted=keys or None, replace=replace, redirects=redirects)
    if as_json:
        emit(asdict(report))
        return
    fetched = f"{readable(report.fetched)} of {readable(report.size)} fetched"
    state = fetched if report.is_changed else "up to date"
    if report.old_model is not None:
        old, new = (printable(name) or "none" for name in (report.old_model, report.model))
        state += f"; its model is {new}, and was {old}"
    click.echo(f"{printable(report.path)}: generation {report.generation}, {state}")
