"""The `ragfile` command.

Exit codes: 0 success; 1 a failure outside the file; 2 wrong usage; 3 success, except for sources that
could not be read; 5 not a RAGFile, or a damaged one; 130 interrupted. NO_COLOR and TERM=dumb turn
colours off.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from ragfile import __version__
from ragfile.doors.cli.failures import failed, warned
from ragfile.doors.cli.options import offline_option, with_key_file
from ragfile.ground import system

if TYPE_CHECKING:
    from typing import NoReturn


class Doors(click.Group):
    """The commands; the module of each is imported when it runs, not when it is listed."""

    PLACES = {  # noqa: RUF012
        "ask": ("ask", "ask_command"),
        "build": ("build", "build"),
        "cache": ("cache", "cache_command"),
        "compare": ("evaluate", "compare"),
        "completion": ("completion", "completion_command"),
        "convert": ("convert", "convert_command"),
        "diff": ("diff", "diff_command"),
        "eval": ("evaluate", "eval_command"),
        "export": ("export", "export_command"),
        "info": ("inspect", "info"),
        "inspect": ("inspect", "inspect"),
        "keys": ("keys", "keys_command"),
        "links": ("links", "links_command"),
        "mcp": ("mcp", "mcp_command"),
        "memory": ("memory", "memory_command"),
        "pull": ("pull", "pull_command"),
        "rekey": ("rekey", "rekey"),
        "repair": ("repair", "repair_command"),
        "search": ("search", "search"),
        "serve": ("serve", "serve_command"),
        "show": ("show", "show_command"),
        "sign": ("sign", "sign"),
        "site": ("site", "site_command"),
        "unpack": ("unpack", "unpack_command"),
        "verify": ("verify", "verify"),
        **{
            name: ("changes", name)
            for name in ("add", "compact", "delete", "log", "reindex", "stale", "sync", "vacuum")
        },
    }

    LINES = {  # noqa: RUF012
        "add": "Add new files of folders and globs.",
        "ask": "Answer a question, citing the exact characters of each source.",
        "build": "Build a file from folders, globs and files.",
        "cache": "List or delete the copies that searches of folders keep.",
        "compact": "Reclaim the space of deleted data.",
        "compare": "Show which answers changed from one file or run to another.",
        "completion": "Generate shell completions, or the manual page.",
        "convert": "Convert IN to OUT, or between the stores given by options.",
        "delete": "Delete documents by id, checksum or filter.",
        "diff": "List the files that differ between two generations.",
        "eval": "Measure every search mode on judged questions.",
        "export": "Export chunks and vectors.",
        "info": "Show a summary of a file.",
        "inspect": "List the sections of a file with offsets and sizes.",
        "keys": "Create, list and revoke API keys for serve.",
        "links": "Print a document's links, or check those of a file or folder.",
        "log": "List the commits of a file, newest first.",
        "mcp": "Serve files to an MCP client (Claude, Cursor, …) over stdio.",
        "memory": "Remember statements, and recall what holds.",
        "pull": "Update FILE from a URL.",
        "reindex": "Chunk and embed stale documents again.",
        "rekey": "Change the keys of an encrypted file.",
        "repair": "Restore damaged bytes, bit for bit.",
        "search": "Find the passages that answer a question.",
        "serve": "Serve files over HTTP, with a search page.",
        "show": "Print a document or a chunk: DOC#0 is the first.",
        "sign": "Sign a file or a dataset.",
        "site": "Write a static site that searches a file in the browser.",
        "stale": "List documents with an outdated chunk policy or model.",
        "sync": "Make a file match its sources.",
        "vacuum": "List unreferenced objects of a dataset.",
        "unpack": "Write the files of a RAGFile to a new folder, byte for byte.",
        "verify": "Check every byte of a file against its checksums.",
    }

    WITHOUT_FILES = ("cache", "completion", "keys")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.PLACES:
            from difflib import get_close_matches  # only a wrong word needs it

            if near := get_close_matches(cmd_name, self.PLACES, 1):
                ctx.fail(f"there is no command {cmd_name!r}: did you mean `ragfile {near[0]}`?")
            return None
        module, name = self.PLACES[cmd_name]
        command: click.Command = getattr(
            importlib.import_module(f"ragfile.doors.cli.{module}"), name
        )
        return command if cmd_name in self.WITHOUT_FILES else with_key_file(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self.LINES.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=self.LINES[name]) for name in named), *options]


# Collections that the imports of a command start took as long as its answer: objects of a generation, and how often
# the older ones are looked at.
COLLECTED = 50_000, 20, 20

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
    if arguments is None:  # a process of its own
        gc.set_threshold(*COLLECTED)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's pool takes 30 ms to start
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = warned
            code = ragfile.main(
                arguments, prog_name="ragfile", standalone_mode=False, color=_colours()
            )
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - defects are raised again
        failed(error, as_json)
    if arguments is None and "duckdb" not in sys.modules:  # DuckDB prints what is not collected
        gc.freeze()  # the interpreter's last collection looks at all objects else, 30 ms after a search
    sys.exit(code if isinstance(code, int) else 0)


def _colours() -> bool | None:
    """Return False where the user wants no colours, else None: a terminal has some."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
