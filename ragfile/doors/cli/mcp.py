"""`ragfile mcp`: serve files to MCP clients over stdio, and edit the clients' configurations."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypeAlias, cast

import click

from ragfile.doors.cli.options import FilePath, offline_option, over_option, wait_option
from ragfile.doors.mcp.clients import CLIENTS
from ragfile.ground.urls import is_remote

if TYPE_CHECKING:
    from ragfile.chat.protocol import ChatModel
    from ragfile.doors.mcp.clients import ConfigChange

Given: TypeAlias = str | bool | tuple[str, ...] | None  # values of flags


@click.command("mcp")
@click.argument("files", nargs=-1, type=FilePath())
@click.option("--model", help="Offer the tool ask with this model: openai:MODEL or ollama:MODEL.")
@click.option("--embedder", help="Embedder for questions, if a file does not record one.")
@over_option
@click.option("--write", "can_write", is_flag=True, help="Offer the tools put and delete.")
@click.option(
    "--memory",
    is_flag=True,
    help="Offer the tools of a memory instead: recall, remember, revise, forget. A missing file is made.",
)
@click.option(
    "--root", metavar="FOLDER", type=FilePath(exists=True, file_okay=False),
    help="Folder from which the file was built; tools report its changes since. One file only.",
)  # fmt: skip
@click.option(
    "--install", type=click.Choice(CLIENTS), help="Add this server to a client's configuration."
)
@click.option(
    "--uninstall",
    type=click.Choice(CLIENTS),
    help="Remove this server from a client's configuration.",
)
@click.option(
    "--name", default="ragfile", show_default=True, help="Name of the server in the client."
)
@click.option(
    "--project", is_flag=True, help="With --install: use the configuration of this folder."
)
@click.option(
    "--bundle",
    metavar="FILE",
    help="Write a .mcpb bundle of the files, which Claude Desktop installs.",
)
@click.option("--yes", is_flag=True, help="With --install: do not ask for confirmation.")
@wait_option
@offline_option
def mcp_command(
    files: tuple[str, ...],
    model: str | None,
    embedder: str | None,
    over: tuple[str, ...],
    can_write: bool,
    memory: bool,
    root: str | None,
    install: str | None,
    uninstall: str | None,
    bundle: str | None,
    name: str,
    project: bool,
    yes: bool,
) -> None:
    """Serve files to an MCP client (Claude, Cursor, …) over stdio."""
    if uninstall:
        return _change(_removal(uninstall, name, project), yes)
    if not files:
        raise click.UsageError("name a file, as `ragfile build` makes it")
    if root is not None and len(files) > 1:
        raise click.UsageError("--root takes a single file")
    folder = None if root is None else os.path.abspath(root)
    below = tuple(each if is_remote(each) else os.path.abspath(each) for each in over)
    options: dict[str, Given] = {
        "--model": model, "--embedder": embedder, "--write": can_write, "--root": folder,
        "--over": below, "--memory": memory,
    }  # fmt: skip
    if memory:
        _begin_memories(files, options)
    if bundle:
        return _bundle(bundle, name, files, options)
    if install:
        return _change(_addition(install, name, project, files, options), yes)
    if memory:
        return _serve_memory(files, embedder, over)
    return _serve(files, model, embedder, can_write, folder, over)


def _serve(
    files: tuple[str, ...], model: str | None, embedder: str | None, can_write: bool,
    root: str | None, over: tuple[str, ...],
) -> None:  # fmt: skip
    """Serve without opening the files yet, so that the handshake is not delayed."""
    from ragfile.doors.mcp.files import Files
    from ragfile.doors.mcp.protocol import Server
    from ragfile.doors.mcp.source_folders import SourceFolders
    from ragfile.doors.mcp.stdio import serve
    from ragfile.doors.mcp.tools import Tools

    opening = {} if embedder is None else {"embedder": embedder}
    named = Files(files, over=over, **opening)
    folders = None if root is None else SourceFolders({named.names[0]: root})
    serve(Server(Tools(named, model=_opened(model), can_write=can_write, folders=folders)))


def _begin_memories(files: tuple[str, ...], options: dict[str, Given]) -> None:
    """Make the files that do not exist; refuse options that are about documents."""
    others = [flag for flag in ("--model", "--write", "--root") if options[flag]]
    if others:
        raise click.UsageError(f"--memory cannot be combined with {others[0]}: omit {others[0]}")
    missing = [file for file in files if not os.path.exists(file)]
    if missing:
        from ragfile.memory import Memory

        embedder = options["--embedder"]
        below = cast("tuple[str, ...]", options["--over"])
        for file in missing:
            named = embedder if isinstance(embedder, str) else None
            Memory(file, embedder=named, over=below).close()


def _serve_memory(files: tuple[str, ...], embedder: str | None, over: tuple[str, ...]) -> None:
    """Serve memories without opening them yet, so that the handshake is not delayed."""
    from ragfile.doors.mcp.files import Files
    from ragfile.doors.mcp.memory_tools import MemoryTools, OpenMemories
    from ragfile.doors.mcp.protocol import Server
    from ragfile.doors.mcp.stdio import serve

    opening = {} if embedder is None else {"embedder": embedder}
    serve(Server(MemoryTools(OpenMemories(Files(files, over=over, **opening)))))


def _bundle(path: str, name: str, files: tuple[str, ...], options: dict[str, Given]) -> None:
    """Write a bundle; it can be passed on, so it grants nothing but reading."""
    from ragfile.doors.mcp.bundle import write_bundle
    from ragfile.doors.mcp.files import Files
    from ragfile.doors.mcp.tools import Tools

    given = [flag for flag, value in options.items() if value]
    if given:
        raise click.UsageError(
            f"--bundle cannot be combined with {', '.join(given)}: others may open the bundle. "
            f"Omit {given[0]}"
        )
    _require_files(files)
    write_bundle(path, name, files, Tools(Files(files)))
    click.echo(f"{path}: written; python3 needs ragfile where it is opened")


def _require_files(files: tuple[str, ...]) -> None:
    """Refuse a file that does not exist."""
    missing = [f for f in files if not is_remote(f) and not os.path.isfile(f)]
    if missing:
        raise click.UsageError(f"no such file: {missing[0]}")


def _opened(model: str | None) -> ChatModel | None:
    """Return the chat model, if one is named. A wrong name fails here; nothing connects yet."""
    if model is None:
        return None
    from ragfile.chat.protocol import open_chat

    return open_chat(model)


def _addition(
    client: str,
    name: str,
    project: bool,
    files: tuple[str, ...],
    options: dict[str, Given],
) -> ConfigChange:
    from ragfile.doors.mcp.clients import added

    given = [flag for flag, value in options.items() if value]
    if project and given:
        raise click.UsageError(
            f"--project cannot be combined with {', '.join(given)}: everyone who opens this folder "
            "would run it unasked. Omit --project"
        )
    _require_files(files)
    placed = [f if is_remote(f) else _path(f, project) for f in files]
    flags = [part for flag in given for part in _arguments(flag, options[flag])]
    return added(client, name, [*_program(project), "mcp", *placed, *flags], in_project=project)


def _arguments(flag: str, value: Given) -> list[str]:
    """Return the arguments that pass a flag on."""
    if isinstance(value, tuple):
        return [part for one in value for part in (flag, one)]
    return [flag] if value is True else [flag, str(value)]


def _path(file: str, project: bool) -> str:
    """Return an absolute path; in a project a relative one, which holds on other machines."""
    return os.path.relpath(file) if project else os.path.abspath(file)


def _program(project: bool) -> list[str]:
    """Return the command of this server: by this Python, or in a project by name alone."""
    return ["ragfile"] if project else [sys.executable, "-m", "ragfile"]


def _removal(client: str, name: str, project: bool) -> ConfigChange:
    from ragfile.doors.mcp.clients import removed

    return removed(client, name, in_project=project)


def _confirm(question: str) -> None:
    """Ask for confirmation; exit with code 1 unless the answer is yes."""
    try:
        is_wanted = click.confirm(question)
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        is_wanted = False
    if not is_wanted:
        raise click.exceptions.Exit(1)


def _change(change: ConfigChange, is_sure: bool) -> None:
    """Show a change, and apply it if confirmed."""
    if change.before == change.after:
        return click.echo(f"{change.path}: nothing to change")
    click.echo(change.diff.rstrip("\n"))
    if not is_sure:
        _confirm(f"Change {change.path}?")
    change.write()
    return click.echo(
        f"{change.path}: {'changed' if change.after else 'removed, because it was empty'}"
    )
