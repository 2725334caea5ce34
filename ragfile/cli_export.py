"""`ragfile export`: the chunks of a file for other tools."""

import json
import sys

import click

from .cli import passages
from .opening import open as open_file

FORMATS = ("jsonl", "duckdb", "parquet")


@click.command("export")
@click.argument("file")
@click.argument("out", required=False)
@click.option("--to", type=click.Choice(FORMATS), default="jsonl", show_default=True, help="What OUT shall be.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
def export_command(file, out, to, as_json):
    """Write chunks and vectors for other tools. JSON lines go to stdout if there is no OUT."""
    from . import tabular

    if out is None and to != "jsonl":
        raise click.UsageError(f"--to {to} needs OUT")
    with passages(open_file(file)) as rf:
        reason = ""
        if to == "jsonl":
            _lines(tabular.records(rf), out)
        elif to == "parquet":
            _parquet(tabular.arrow_reader(rf), out)
        else:
            from .adapters.sqlrooms import export_duckdb

            reason = export_duckdb(rf, out)
        count = len(rf)
    if reason:
        click.echo(f"ragfile: no full-text index: {reason}", err=True)
    if as_json and out is not None:
        click.echo(json.dumps({"out": out, "format": to, "chunks": count, "full_text": to == "duckdb" and not reason}))
    elif out is not None:
        click.echo(f"{out}: {count} chunks")


def _lines(records, out):
    stream = sys.stdout if out is None else open(out, "x", encoding="utf-8")  # noqa: SIM115 - closed below
    try:
        for record in records:
            stream.write(json.dumps(record) + "\n")
    finally:
        if out is not None:
            stream.close()


def _parquet(reader, out):
    from pyarrow import parquet

    with parquet.ParquetWriter(out, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
