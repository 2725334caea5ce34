"""`ragfile memory`: remember, recall, revise and forget from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragfile.doors.cli.options import FilePath, json_option, over_option, wait_option
from ragfile.doors.cli.report_lines import emit, printable
from ragfile.errors import RagfileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ragfile.doors.cli.options import Command
    from ragfile.memory import Memory, MemoryChange, Recalled, StatementVersion

    Options = Mapping[str, object]
    Shown = TypeVar("Shown", Recalled, StatementVersion, MemoryChange)
    Result = TypeVar("Result")


class OpenedLate:
    """A file of memories that a command opens after its options were checked."""

    def __init__(self, path: str, over: tuple[str, ...], retention: str | None = None) -> None:
        self._path, self._over, self._retention = path, over, retention

    def run(self, call: Callable[[Memory], Result]) -> Result:
        """Open the memory and return a call's result."""
        from ragfile.memory import Memory

        with Memory(self._path, retention=self._retention, over=self._over) as memory:
            try:
                return call(memory)
            except KeyError as error:
                raise click.ClickException(str(error.args[0])) from None
            except RagfileError:
                raise
            except ValueError as error:
                raise click.UsageError(str(error)) from None


@click.group("memory")
def memory_command() -> None:
    """Remember statements, and recall what holds."""


def _file_argument(command: Command) -> Command:
    return click.argument("file", type=FilePath(dir_okay=False))(command)


def _options(*wanted: str) -> Callable[[Command], Command]:
    """Add options by name, in the order given."""

    def decorate(command: Command) -> Command:
        for name in reversed(wanted):
            command = click.option(*_OPTIONS[name][0], **_OPTIONS[name][1])(command)
        return command

    return decorate


def _option(
    *names: str, **attributes: object
) -> tuple[tuple[str, ...], dict[str, Any]]:  # fmt: skip
    return names, attributes


_OPTIONS = {
    "about": _option("--about", help="The person or thing that it is about."),
    "at": _option("--at", metavar="TIME", help="Time of the statement. Default: now."),
    "source": _option("--source", default="", help="Where it comes from."),
    "tag": _option("--tag", "tags", multiple=True, help="Label; can be repeated."),
    "valid-from": _option("--valid-from", metavar="TIME", help="Since when it is true."),
    "valid-until": _option("--valid-until", metavar="TIME", help="Until when it is true."),
    "ttl": _option("--ttl", metavar="DURATION", help="How long to remember it, such as 30d."),
}


def _given(options: Options) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value not in (None, "", ())}


@memory_command.command("remember")
@_file_argument
@over_option
@click.argument("text")
@_options("about", "tag", "source", "at", "valid-from", "valid-until", "ttl")
@click.option("--same-as", metavar="ID", help="Memory that it repeats in other words.")
@click.option(
    "--retention", metavar="DURATION",
    help="How long forgotten texts may stay in the file, such as 30d. Recorded. Default: 1d.",
)  # fmt: skip
@wait_option
@json_option
def remember_command(
    file: str, text: str, over: tuple[str, ...], retention: str | None, as_json: bool, **options: object
) -> None:  # fmt: skip
    """Store a statement, in a new FILE if there is none."""
    made = OpenedLate(file, over, retention).run(
        lambda memory: memory.remember(text, **_given(options))
    )
    _report({"id": made.id, "kind": made.kind, "joined": made.joined}, as_json)


@memory_command.command("revise")
@_file_argument
@over_option
@click.argument("id")
@click.argument("text")
@_options("source", "at", "valid-from", "valid-until", "ttl")
@click.option("--correction", is_flag=True, help="The last one was never true.")
@wait_option
@json_option
def revise_command(
    file: str, id: str, text: str, over: tuple[str, ...], as_json: bool, **options: object
) -> None:  # fmt: skip
    """State what holds now instead of a memory."""
    given = _given(options)
    made = OpenedLate(file, over).run(lambda memory: memory.revise(id, text, **given))
    _report({"id": made.id, "kind": made.kind}, as_json)


def _report(made: dict[str, str], as_json: bool) -> None:
    if as_json:
        return emit(made)
    joined = f" ({made['joined']})" if made.get("joined") else ""
    return click.echo(f"{made['id']}  {made['kind']}{joined}")


@memory_command.command("recall")
@_file_argument
@over_option
@click.argument("question")
@click.option("-k", default=5, show_default=True, type=click.IntRange(1, 1000), help="Results.")
@click.option("--about", help="Keep memories about this only.")
@click.option("--as-of", metavar="TIME", help="Return the statements that were true then.")
@click.option("--known-at", metavar="TIME", help="Ignore later statements.")
@json_option
def recall_command(
    file: str, question: str, k: int, over: tuple[str, ...], as_json: bool, **view: object
) -> None:  # fmt: skip
    """Find memories as they hold now or at a date."""
    from ragfile.doors.mcp.memory_tools import recalled_line

    _require(file)
    found = OpenedLate(file, over).run(lambda memory: memory.recall(question, k, **_given(view)))
    _list(found, recalled_line, as_json)


@memory_command.command("history")
@_file_argument
@over_option
@click.argument("id")
@json_option
def history_command(file: str, id: str, over: tuple[str, ...], as_json: bool) -> None:
    """List all statements of a memory."""
    from ragfile.doors.mcp.memory_tools import version_line

    _require(file)
    _list(OpenedLate(file, over).run(lambda memory: memory.history(id)), version_line, as_json)


@memory_command.command("changes")
@_file_argument
@over_option
@click.option("--since", required=True, metavar="TIME", help="First moment.")
@click.option("--until", metavar="TIME", help="Last moment.")
@click.option("--about", help="Keep memories about this only.")
@json_option
def changes_command(
    file: str, over: tuple[str, ...], as_json: bool, **period: object
) -> None:  # fmt: skip
    """List statements that were remembered, revised or corrected in a period."""
    from ragfile.doors.mcp.memory_tools import change_line

    _require(file)
    found = OpenedLate(file, over).run(lambda memory: memory.changes(**_given(period)))
    _list(found, change_line, as_json)


def _list(
    found: list[Shown], line: Callable[[Shown], str], as_json: bool
) -> None:  # fmt: skip
    if as_json:
        return emit([one.to_dict() for one in found])
    for one in found:
        click.echo(printable(line(one)))
    return None


@memory_command.command("log-turn")
@_file_argument
@over_option
@click.argument("session")
@click.argument("who")
@click.argument("text")
@_options("at")
@wait_option
@json_option
def log_turn_command(
    file: str, session: str, who: str, text: str, over: tuple[str, ...], at: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Store the next turn of a conversation."""
    name = OpenedLate(file, over).run(lambda memory: memory.log_turn(session, who, text, at))
    return emit({"id": name}) if as_json else click.echo(name)


@memory_command.command("forget")
@_file_argument
@over_option
@click.argument("ids", nargs=-1)
@click.option("--about", help="Forget all memories about this.")
@click.option("--session", help="Forget all turns of this conversation.")
@click.option("--erase", is_flag=True, help="Erase the bytes now, whatever the retention.")
@click.option("--end-kept", is_flag=True, help="End signed and kept generations that hold them.")
@wait_option
@json_option
def forget_command(
    file: str, ids: tuple[str, ...], over: tuple[str, ...], as_json: bool, **options: object
) -> None:  # fmt: skip
    """Hide memories and turns, and erase their bytes after the file's retention.

    Without IDS, --about and --session, hide expired memories and erase bytes whose retention has ended.
    """
    from ragfile.doors.mcp.memory_tools import forgotten_line

    _require(file)
    gone = OpenedLate(file, over).run(lambda memory: memory.forget(ids, **_given(options)))
    return emit(gone.to_dict()) if as_json else click.echo(forgotten_line(gone.to_dict()))


def _require(file: str) -> None:
    """Refuse a file that does not exist; only commands that write create one."""
    import os

    if not os.path.exists(file):
        raise click.UsageError(f"{file} does not exist: `ragfile memory remember` makes one")
