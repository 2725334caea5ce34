"""ragfile mcp: files for MCP clients over stdio, and entries in the clients' configurations."""

import os
import sys

import click

from ragfile.doors.cli.options import offline_option
from ragfile.doors.mcp.clients import CLIENTS


@click.command("mcp")
@click.argument("files", nargs=-1)
@click.option("--model", help="Offer `ask` with this model: openai:MODEL or ollama:MODEL.")
@click.option("--embedder", help="The embedder for questions, where a file does not know it.")
@click.option("--write", "can_write", is_flag=True, help="Offer `put` and `delete`.")
@click.option("--install", type=click.Choice(CLIENTS), help="Add this server to a client's list.")
@click.option("--uninstall", type=click.Choice(CLIENTS), help="Take it out again.")
@click.option("--name", default="ragfile", show_default=True, help="What the client calls it.")
@click.option("--project", is_flag=True, help="With --install: the list of this folder.")
@click.option("--yes", is_flag=True, help="With --install: do not ask.")
@offline_option
def mcp_command(files, model, embedder, can_write, install, uninstall, name, project, yes):
    """Serve files to an MCP client (Claude, Cursor, …) over stdio."""
    if uninstall:
        return _change(_removal(uninstall, name, project), yes)
    if not files:
        raise click.UsageError("name a file, as `ragfile build` makes it")
    options = {"--model": model, "--embedder": embedder, "--write": can_write}
    if install:
        return _change(_addition(install, name, project, files, options), yes)
    return _serve(files, model, embedder, can_write)


def _serve(files, model, embedder, can_write):
    """Opens nothing yet: a client waits for the handshake, and a question can wait for the file."""
    from ragfile.doors.mcp.files import Files
    from ragfile.doors.mcp.protocol import Server
    from ragfile.doors.mcp.stdio import serve
    from ragfile.doors.mcp.tools import Tools

    opening = {} if embedder is None else {"embedder": embedder}
    serve(Server(Tools(Files(files, **opening), model=_opened(model), can_write=can_write)))


def _opened(model):
    """The chat model, if one is named: a wrong name is said now, and no connection is made."""
    if model is None:
        return None
    from ragfile.chat.protocol import open_chat

    return open_chat(model)


def _addition(client, name, project, files, options):
    from ragfile.doors.mcp.clients import added
    from ragfile.ground.urls import is_remote

    said = [flag for flag, value in options.items() if value]
    if project and said:
        raise click.UsageError(
            f"--project does not go with {', '.join(said)}: whoever opens this folder would run it "
            "without having chosen it. Leave out --project"
        )
    missing = [f for f in files if not is_remote(f) and not os.path.isfile(f)]
    if missing:
        raise click.UsageError(f"there is no file {missing[0]}")
    placed = [f if is_remote(f) else _path(f, project) for f in files]
    flags = [
        part
        for flag in said
        for part in ([flag] if options[flag] is True else [flag, options[flag]])
    ]
    return added(client, name, [*_program(project), "mcp", *placed, *flags], in_project=project)


def _path(file, project):
    """Absolute; in a project's list relative, since the folder lies elsewhere on other machines."""
    return os.path.relpath(file) if project else os.path.abspath(file)


def _program(project):
    """What starts this ragfile: in a project's list by its bare name, else by this Python."""
    return ["ragfile"] if project else [sys.executable, "-m", "ragfile"]


def _removal(client, name, project):
    from ragfile.doors.mcp.clients import removed

    return removed(client, name, in_project=project)


def _confirm(question):
    """Goes on after a yes; anything else, and an input that ends, is exit code 1."""
    try:
        is_wanted = click.confirm(question)
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        is_wanted = False
    if not is_wanted:
        raise click.exceptions.Exit(1)


def _change(change, is_sure):
    """Shows a change and makes it, if that is wanted."""
    if change.before == change.after:
        return click.echo(f"{change.path}: nothing to change")
    click.echo(change.diff.rstrip("\n"))
    if not is_sure:
        _confirm(f"Change {change.path}?")
    change.write()
    return click.echo(
        f"{change.path}: {'changed' if change.after else 'removed, as nothing was left'}"
    )
