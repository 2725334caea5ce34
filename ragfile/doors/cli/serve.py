"""ragfile serve: files over HTTP."""

from __future__ import annotations

import logging
import os

import click

from ragfile.doors.cli.options import cache_option, offline_option

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


@click.command("serve")
@click.argument("files", nargs=-1)
@click.option(
    "--host",
    default="127.0.0.1",
    envvar="RAGFILE_HOST",
    show_envvar=True,
    show_default=True,
    help="The address; another than the loopback needs a key.",
)
@click.option(
    "--port",
    default=7433,
    type=click.IntRange(0, 65535),
    envvar="RAGFILE_PORT",
    show_envvar=True,
    show_default=True,
    help="The port; 0 takes a free one.",
)
@click.option(
    "--model",
    envvar="RAGFILE_MODEL",
    show_envvar=True,
    help="The chat model for answers: openai:MODEL or ollama:MODEL.",
)
@click.option("--embedder", help="The embedder for questions, where a file does not know it.")
@click.option("--write", "can_write", is_flag=True, help="Let clients change the files.")
@click.option(
    "--workers",
    default=1,
    type=click.IntRange(1, 256),
    show_default=True,
    help="Processes; they share the files' memory.",
)
@click.option(
    "--keys",
    type=click.Path(),
    envvar="RAGFILE_KEYS",
    show_envvar=True,
    help="The file of keys, as `ragfile keys` writes it.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    envvar="RAGFILE_ALLOWED_HOSTS",
    show_envvar=True,
    help="A name that clients may call this server by.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    envvar="RAGFILE_ALLOWED_ORIGINS",
    show_envvar=True,
    help="The origin of a page that may ask this server.",
)
@click.option(
    "--max-k",
    default=1000,
    type=click.IntRange(min=1),
    show_default=True,
    help="The most passages of an answer.",
)
@click.option(
    "--log",
    "level",
    type=click.Choice(list(LEVELS)),
    default="info",
    show_default=True,
    help="What goes to stderr, one JSON object a line.",
)
@click.option(
    "--list-sources",
    is_flag=True,
    help="End chat completions with a list of sources, for clients that drop annotations.",
)
@click.option("--url", help="The address by which clients reach the server, for links.")
@click.option(
    "--uploads",
    metavar="FOLDER",
    help="With --write: where files that are sent are kept; else beside the first file.",
)
@click.option(
    "--originals/--no-originals",
    "keep_originals",
    default=True,
    show_default=True,
    help="With --write: whether those files themselves are kept.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="COLLECTION=FOLDER",
    help="With --write: the folder that a collection follows when a client asks.",
)
@click.option(
    "--max-upload",
    default=256 << 20,
    type=click.IntRange(min=1),
    show_default=True,
    metavar="BYTES",
    help="The largest file that can be sent.",
)
@click.option(
    "--max-chunks",
    default=100_000,
    type=click.IntRange(min=1),
    show_default=True,
    help="The most chunks of such a file.",
)
@offline_option
@cache_option
def serve_command(files, level, hosts, origins, sources, **options):
    """Serve files over HTTP, with a web page."""
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
    serve(Settings(tuple(files), **options))


def _pairs(sources):
    """(collection, folder) of each --source."""
    pairs = [source.partition("=")[::2] for source in sources]
    wrong = [name for name, folder in pairs if not name or not os.path.isdir(folder)]
    if wrong:
        raise click.UsageError("--source is COLLECTION=FOLDER, and the folder is there")
    return tuple((name, os.path.abspath(folder)) for name, folder in pairs)


def _split(values):
    """Options that can be repeated, and variables with commas."""
    return tuple(part for value in values for part in value.replace(",", " ").split())
