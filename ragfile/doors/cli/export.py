"""`ragfile export`: the chunks of a file for other tools."""

import contextlib
import errno
import json
import os
import sys

import click

from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import counted, passages
from ragfile.ground.extras import optional
from ragfile.opener import open as open_file

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".duckdb": "duckdb"}


@click.command("export")
@click.argument("file", type=click.Path())
@click.argument("out", required=False, type=click.Path())
@click.option(
    "--to",
    type=click.Choice(["jsonl", "duckdb", "parquet"]),
    help="The format of OUT, if its suffix (.jsonl, .parquet, .duckdb) does not name it.",
)
@click.option("--no-vectors", is_flag=True, help="Leave the vectors out.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def export_command(file, out, to, no_vectors, as_json):
    """Write chunks and vectors for other tools. Without OUT, or with "-", print JSON lines."""
    from ragfile.file import arrow

    out = None if out == "-" else out
    to = to or _format_of(out)
    if out is None and to != "jsonl":
        raise click.UsageError(f"--to {to} needs OUT")
    if no_vectors and to == "duckdb":
        raise click.UsageError("--no-vectors goes with jsonl and parquet")
    reason, bar = "", Progress()
    with passages(open_file(file)) as rf, _whole(out):
        if to == "jsonl":
            _lines(arrow.records(rf.rows, vectors=not no_vectors), out, len(rf), bar)
        elif to == "parquet":
            reader = arrow.arrow_reader(rf.rows, vectors=not no_vectors)
            with bar.ticking(f"writing {out}"):
                _parquet(reader, out)
        else:
            from ragfile.adapters.sqlrooms import export_duckdb

            with bar.ticking(f"writing {out}"):
                reason = export_duckdb(rf, out)
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


def _format_of(out):
    """The format that a name's suffix says; lines where there is no name."""
    if out is None:
        return "jsonl"
    suffix = os.path.splitext(out)[1].lower()
    if suffix not in SUFFIXES:
        said = f"the suffix {suffix!r} names no format" if suffix else "a name without a suffix"
        raise click.UsageError(f"{out}: {said}: --to jsonl, parquet or duckdb says it")
    return SUFFIXES[suffix]


@contextlib.contextmanager
def _whole(out):
    """A new file or none: nothing is written over, and what an export left when it failed goes."""
    if out is not None and os.path.lexists(out):
        raise FileExistsError(errno.EEXIST, "exists; choose another name or remove it first", out)
    try:
        yield
    except FileExistsError:  # somebody was faster: it is theirs
        raise
    except BaseException:
        if out is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(out)
        raise


def _lines(records, out, count, bar):
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


def _parquet(reader, out):
    parquet = optional("pyarrow.parquet", "writing Parquet")
    with parquet.ParquetWriter(out, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
