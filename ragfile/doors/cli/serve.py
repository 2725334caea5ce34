"""`ragfile serve`: serve files over HTTP."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.options import (
    FilePath,
    cache_option,
    offline_option,
    over_option,
    parse_options,
    wait_option,
)

if TYPE_CHECKING:
    from typing import Any

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


@click.command("serve")
@click.argument("files", nargs=-1, type=FilePath())
@click.option(
    "--host",
    default="127.0.0.1",
    envvar="RAGFILE_HOST",
    show_envvar=True,
    show_default=True,
    help="Address to listen on; any but the loopback requires a key.",
)
@click.option(
    "--port",
    default=7433,
    type=click.IntRange(0, 65535),
    envvar="RAGFILE_PORT",
    show_envvar=True,
    show_default=True,
    help="Port; 0 chooses a free one.",
)
@click.option(
    "--model",
    envvar="RAGFILE_MODEL",
    show_envvar=True,
    help="Chat model for answers: openai:MODEL or ollama:MODEL.",
)
@click.option("--embedder", help="Embedder for questions, if a file does not record one.")
@over_option
@click.option("--write", "can_write", is_flag=True, help="Let clients change the files.")
@click.option(
    "--workers",
    default=1,
    type=click.IntRange(1, 256),
    show_default=True,
    help="Number of processes; they share the memory of the files.",
)
@click.option(
    "--keys",
    type=FilePath(),
    envvar="RAGFILE_KEYS",
    show_envvar=True,
    help="Key file, written by `ragfile keys`.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    envvar="RAGFILE_ALLOWED_HOSTS",
    show_envvar=True,
    help="Host name that clients may use for this server; can be repeated.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    envvar="RAGFILE_ALLOWED_ORIGINS",
    show_envvar=True,
    help="Origin of pages that may call this server; can be repeated.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    envvar="RAGFILE_PROXIES",
    show_envvar=True,
    help="Address or network of a proxy, which may open any number of connections; can be repeated.",
)
@click.option(
    "--max-k",
    default=1000,
    type=click.IntRange(min=1),
    show_default=True,
    help="Maximum number of results per request.",
)
@click.option(
    "--log",
    "level",
    type=click.Choice(list(LEVELS)),
    default="info",
    show_default=True,
    help="Minimum level of the log on stderr, one JSON object per line.",
)
@click.option(
    "--list-sources",
    is_flag=True,
    help="End chat completions with a list of sources, for clients that ignore annotations.",
)
@click.option("--url", help="Public URL of the server, for links.")
@click.option(
    "--uploads",
    metavar="FOLDER",
    help="With --write: folder for uploaded files. Default: beside the first file.",
)
@click.option(
    "--originals/--no-originals",
    "keep_originals",
    default=True,
    show_default=True,
    help="With --write: whether to keep uploaded files themselves.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="COLLECTION=FOLDER",
    help="With --write: folder that clients may sync a collection with; can be repeated.",
)
@click.option(
    "--max-upload",
    default=256 << 20,
    type=click.IntRange(min=1),
    show_default=True,
    metavar="BYTES",
    help="Maximum size of an uploaded file.",
)
@click.option(
    "--max-chunks",
    default=100_000,
    type=click.IntRange(min=1),
    show_default=True,
    help="Maximum number of chunks of an uploaded file.",
)
@parse_options
@wait_option
@offline_option
@cache_option
def serve_command(
    files: tuple[str, ...],
    level: str,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    proxies: tuple[str, ...],
    sources: tuple[str, ...],
    **options: Any,  # Any: values of flags
) -> None:
    """Serve files over HTTP, with a search page."""
    if not files:
        raise click.UsageError("name a file, as `ragfile build` makes it, or a folder of them")
    from ragfile.doors.server.lifecycle import serve
    from ragfile.doors.server.log_lines import log_to_stderr
    from ragfile.doors.server.settings import Settings

    for folder in files:
        if os.path.isdir(folder) and not any(
            name.endswith(".ragfile") for name in os.listdir(folder)
        ):
            click.echo(f"ragfile: {folder} has no .ragfile: `ragfile build` makes one", err=True)
    log_to_stderr(LEVELS[level])
    options |= {"hosts": _split(hosts), "origins": _split(origins), "sources": _pairs(sources)}
    options["proxies"] = _split(proxies)
    serve(Settings(tuple(files), **options))


def _pairs(sources: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Parse each --source into a collection and its folder."""
    pairs = [source.partition("=")[::2] for source in sources]
    wrong = [name for name, folder in pairs if not name or not os.path.isdir(folder)]
    if wrong:
        raise click.UsageError("--source must be COLLECTION=FOLDER with an existing folder")
    return tuple((name, os.path.abspath(folder)) for name, folder in pairs)


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    """Split repeated options, and environment variables with commas."""
    return tuple(part for value in values for part in value.replace(",", " ").split())
