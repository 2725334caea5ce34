"""ragfile serve: files over HTTP."""

from __future__ import annotations

import logging

import click

from ragfile.cli.main import cache_option, offline_option

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
@offline_option
@cache_option
def serve_command(files, level, hosts, origins, **options):
    """Serve files over HTTP, with a web page."""
    if not files:
        raise click.UsageError("name a file, as `ragfile build` makes it, or a folder of them")
    from ragfile.server.running import log_to_stderr, serve
    from ragfile.server.settings import Settings

    log_to_stderr(LEVELS[level])
    serve(Settings(tuple(files), hosts=_split(hosts), origins=_split(origins), **options))


def _split(values):
    """Options that can be repeated, and variables with commas."""
    return tuple(part for value in values for part in value.replace(",", " ").split())
