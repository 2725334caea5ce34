"""`ragfile export`: export the chunks of a file to other tools."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from typing import TYPE_CHECKING, cast

import click

from ragfile.doors.cli.options import FilePath, dim_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import counted
from ragfile.ground import system
from ragfile.ground.extras import optional
from ragfile.opener import open_passages

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from typing import Any

    from ragfile.search.file_rows import FileRows


SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".duckdb": "duckdb"}


@click.command("export")
@click.argument("file", type=FilePath())
@click.argument("out", required=False, type=FilePath())
@click.option(
    "--to",
    type=click.Choice(["jsonl", "duckdb", "parquet"]),
    help="Format of OUT, if its suffix (.jsonl, .parquet, .duckdb) does not name it.",
)
@dim_option
@click.option("--no-vectors", is_flag=True, help="Omit the vectors.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def export_command(
    file: str, out: str | None, to: str | None, dim: int | None, no_vectors: bool, as_json: bool
) -> None:
    """Export chunks and vectors. Without OUT, or with "-", print JSON lines."""
    from ragfile.exchange.stores import json_lines

    out = None if out == "-" else out
    to = to or _format_of(out)
    if out is None and to != "jsonl":
        raise click.UsageError(f"--to {to} needs OUT")
    if no_vectors and to == "duckdb":
        raise click.UsageError("--no-vectors requires the format jsonl or parquet")
    reason, bar = "", Progress()
    with open_passages(file, dim=dim) as rf, _whole(out):
        if to == "jsonl":
            _lines(json_lines.records(rf.rows, vectors=not no_vectors), out, len(rf), bar)
        else:
            with bar.ticking(f"writing {out}"):
                reason = _written(rf.rows, cast("str", out), to, not no_vectors)
        count = len(rf)
    if reason:
        click.echo(f"ragfile: no full-text index: {reason}", err=True)
    if as_json and out is not None:
        click.echo(
            json.dumps(
                {
                    "out": out,
                    "format": to,
                    "chunks": count,
                    "full_text": to == "duckdb" and not reason,
                }
            )
        )
    elif out is not None:
        click.echo(f"{out}: {counted(count, 'chunk')}")


def _format_of(out: str | None) -> str:
    """Return the format of a suffix; JSON lines without a name."""
    if out is None:
        return "jsonl"
    suffix = os.path.splitext(out)[1].lower()
    if suffix not in SUFFIXES:
        problem = f"unknown suffix {suffix!r}" if suffix else "no suffix"
        raise click.UsageError(
            f"{out}: {problem}; choose a format with --to jsonl, parquet or duckdb"
        )
    return SUFFIXES[suffix]


@contextlib.contextmanager
def _whole(out: str | None) -> Generator[None]:
    """Refuse to overwrite a file, and remove the incomplete output of a failed export."""
    if out is not None and os.path.lexists(out):
        raise FileExistsError(errno.EEXIST, "exists; choose another name or remove it first", out)
    try:
        yield
    except FileExistsError:  # another process created it first: keep it
        raise
    except BaseException:
        if out is not None:
            with contextlib.suppress(FileNotFoundError):
                system.remove(out)
        raise


def _lines(
    records: Iterable[Mapping[str, Any]], out: str | None, count: int, bar: Progress
) -> None:
    with (
        contextlib.nullcontext(sys.stdout)
        if out is None
        else open(out, "x", encoding="utf-8") as stream
    ):
        for number, record in enumerate(records):
            if number % 1000 == 0 and out is not None:
                bar.count(number, count, "chunks")
            stream.write(json.dumps(record) + "\n")
    bar.close()


def _written(rows: FileRows, out: str, to: str, vectors: bool) -> str:
    """Write Parquet or DuckDB, and return the reason for a missing full-text index."""
    if to == "parquet":
        optional("pyarrow.parquet", "writing Parquet")
        from ragfile.exchange.stores import parquet

        parquet.write_rows(rows, out, vectors=vectors)
        return ""
    optional("duckdb", "writing a DuckDB database")
    from ragfile.exchange.stores import duckdb

    return duckdb.write_rows(rows, out)
