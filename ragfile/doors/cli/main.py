"""The `ragfile` command.

Exit codes: 0 success; 1 a failure outside the file; 2 wrong usage; 3 success, except for sources that
could not be read; 5 not a RAGFile, or a damaged one; 130 interrupted. NO_COLOR and TERM=dumb turn
colours off.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from ragfile import __version__
from ragfile.doors.cli.failures import failed, warned
from ragfile.doors.cli.options import offline_option
from ragfile.ground import system

if TYPE_CHECKING:
    from typing import NoReturn


class Doors(click.Group):
    """The commands; the module of each is imported on its first use."""

    PLACES = {  # noqa: RUF012
        "ask": ("ask", "ask_command"),
        "build": ("build", "build"),
        "compare": ("evaluate", "compare"),
        "completion": ("completion", "completion_command"),
        "convert": ("convert", "convert_command"),
        "eval": ("evaluate", "eval_command"),
        "export": ("export", "export_command"),
        "info": ("inspect", "info"),
        "inspect": ("inspect", "inspect"),
        "keys": ("keys", "keys_command"),
        "mcp": ("mcp", "mcp_command"),
        "pull": ("pull", "pull_command"),
        "repair": ("repair", "repair_command"),
        "search": ("search", "search"),
        "serve": ("serve", "serve_command"),
        "show": ("show", "show_command"),
        "sign": ("sign", "sign"),
        "site": ("site", "site_command"),
        "verify": ("verify", "verify"),
        **{
            name: ("changes", name)
            for name in ("add", "compact", "delete", "log", "reindex", "stale", "sync", "vacuum")
        },
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.PLACES:
            if near := get_close_matches(cmd_name, self.PLACES, 1):
                ctx.fail(f"there is no command {cmd_name!r}: did you mean `ragfile {near[0]}`?")
            return None
        module, name = self.PLACES[cmd_name]
        command: click.Command = getattr(
            importlib.import_module(f"ragfile.doors.cli.{module}"), name
        )
        return command


# Used in messages such as "'x' is not a valid integer".
click.IntRange.name, click.FloatRange.name = "integer", "number"


@click.group(cls=Doors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ragfile")
@offline_option
def ragfile() -> None:
    """One file for retrieval: documents, vectors and BM25."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command; report errors in one line on stderr, or as one JSON object with --json."""
    system.write_utf8()
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = warned
            code = ragfile.main(
                arguments, prog_name="ragfile", standalone_mode=False, color=_colours()
            )
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - defects are raised again
        failed(error, as_json)
    sys.exit(code if isinstance(code, int) else 0)


def _colours() -> bool | None:
    """Return False where the user wants no colours, else None: a terminal has some."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
