"""`ragfile convert`: convert one kind of store to another.

ragfile convert IN OUT
ragfile convert --from-faiss v.faiss --from-json m.json --to-ragmd x.ragmd
ragfile convert --from-ragmd x.ragmd --to-faiss v.faiss --to-json m.json
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, cast

import click

from ragfile.doors.cli.options import FilePath, dim_option, executor_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import counted
from ragfile.exchange import conversion
from ragfile.ground.urls import shown
from ragfile.shards.conversion import is_one_of

if TYPE_CHECKING:
    from typing import Any

    from ragfile.exchange.collection import Collection
    from ragfile.types import Format

Store = str | tuple[str, str]  # a path, or the two of a FAISS + JSON pair
WRITTEN = [name for name, f in conversion.FORMATS.items() if f.write]
SOURCES = ("ragmd", "ragfile", "faiss", "json")


@click.command("convert")
@click.argument("paths", nargs=-1, type=FilePath())
@click.option("--from-faiss", type=FilePath(), help="Index of a FAISS + JSON pair.")
@click.option("--from-json", type=FilePath(), help="Metadata of a FAISS + JSON pair.")
@click.option("--from-ragmd", type=FilePath())
@click.option("--from-ragfile", type=FilePath())
@click.option("--to-faiss", type=FilePath())
@click.option("--to-json", type=FilePath())
@click.option("--to-ragmd", type=FilePath())
@click.option("--to-ragfile", type=FilePath())
@click.option(
    "--to",
    type=click.Choice(WRITTEN),
    metavar="FORMAT",
    help=f"Format of OUT, if its suffix does not name it: {', '.join(WRITTEN)}.",
)
@click.option("--name", help="Name of the collection or table in the store.")
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="ROLE=COLUMN",
    help="Column of a table of another program: id, document, text, vector or source.",
)
@click.option("--embedder", help="Model of the vectors, if IN does not record it.")
@click.option(
    "--allow-large",
    is_flag=True,
    default=None,
    help="Also write quantized and graph indexes to a .ragmd file.",
)
@click.option(
    "--trust-pickle",
    is_flag=True,
    default=None,
    help="Load the pickle of a LangChain folder. A pickle can execute code.",
)
@dim_option
@click.option(
    "--padding",
    type=click.Choice(["4", "8", "16"]),
    help="Padding of the 0.1.0 file to write (default 16).",
)
@click.option(
    "--precision",
    type=click.Choice(["8", "16", "32", "64"]),
    help="Bits of a component in the 0.1.0 file to write (default 32).",
)
@click.option(
    "--byte-order",
    "byteorder",
    type=click.Choice(["little", "big"]),
    help="Byte order of the 0.1.0 file to write (default little).",
)
@click.option(
    "--shards", type=click.IntRange(min=1), help="Write OUT as a dataset with this number of files."
)
@executor_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def convert_command(
    paths: tuple[str, ...],
    to: Format | None,
    name: str | None,
    columns: tuple[str, ...],
    embedder: str | None,
    allow_large: bool | None,
    trust_pickle: bool | None,
    dim: int | None,
    padding: str | None,
    precision: str | None,
    byteorder: str | None,
    shards: int | None,
    executor: str | None,
    workers: int | None,
    as_json: bool,
    **sides: str | None,
) -> None:
    """Convert IN to OUT, or between the stores given by options. An OUT that ends with "/" is a dataset."""
    source, target, named = _ends(paths, sides)
    options: dict[str, Any] = {
        "name": name,
        "allow_large": allow_large,
        "trust_pickle": trust_pickle,
        "dim": dim,
        "padding": int(padding) if padding else None,
        "precision": int(precision) if precision else None,
        "byteorder": byteorder,
        "columns": _roles(columns),
        "embedder": embedder,
    }
    if is_one_of(source, target, shards, to or named):
        return _convert_dataset(
            source, target, to or named, options, as_json,
            shards=shards, executor=executor, workers=workers,
        )  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Progress().ticking(f"converting {_shown(source)}"):
            collection = conversion.convert(source, target, to=to or named, **options)
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            click.echo(f"warning: {warning.message}", err=True)
    _report(collection, source, target, as_json)


def _roles(columns: tuple[str, ...]) -> dict[str, str] | None:
    """Return the columns of --map by role."""
    wrong = [column for column in columns if not all(column.partition("="))]
    if wrong:
        raise click.UsageError(f"--map takes ROLE=COLUMN, such as text=body, not {wrong[0]}")
    return dict(column.split("=", 1) for column in columns) or None


def _convert_dataset(
    source: Store,
    target: Store,
    to: Format | None,
    options: dict[str, Any],
    as_json: bool,
    **more: Any,  # Any: options of the conversion
) -> None:
    """Convert from or to a dataset."""
    from ragfile.shards.conversion import convert

    with Progress().ticking(f"converting {_shown(source)}"):
        options |= {"to": to} if to else {}
        report = convert(cast("str", source), cast("str", target), **more, **options)
    counts = {"documents": report.documents, "chunks": report.chunks}
    if as_json:
        return click.echo(json.dumps({"source": source, "target": target, **counts}))
    summary = ", ".join(counted(count, name[:-1]) for name, count in counts.items())
    return click.echo(f"{_shown(target)}: {summary}")


def _shown(end: Store) -> str:
    """Return the name of a store, without the password of a URL."""
    if isinstance(end, tuple):
        return " + ".join(end)
    return shown(end) if "://" in end else end


def _ends(
    paths: tuple[str, ...], sides: dict[str, str | None]
) -> tuple[Store, Store, Format | None]:
    """Return the source, the target, and the target's format if a flag names it."""
    source = _end(sides, "from")
    target = _end(sides, "to")
    if paths and (len(paths) != 2 or source or target):
        raise click.UsageError("give IN and OUT, or --from-… and --to-… flags, not both")
    if paths:
        return paths[0], paths[1], None
    if not source or not target:
        raise click.UsageError("give IN and OUT, or --from-… and --to-… flags")
    named: Format = (
        "faiss+json"
        if isinstance(target, tuple)
        else next(k for k in ("ragmd", "ragfile") if sides[f"to_{k}"])
    )
    return source, target, named


def _end(sides: dict[str, str | None], side: str) -> Store | None:
    given = {kind: path for kind in SOURCES if (path := sides[f"{side}_{kind}"])}
    if not given:
        return None
    if set(given) == {"faiss", "json"}:
        return given["faiss"], given["json"]
    if len(given) == 1 and not set(given) & {"faiss", "json"}:
        return next(iter(given.values()))
    raise click.UsageError(
        f"--{side}-faiss and --{side}-json must be used together, without other --{side}-… flags"
    )


def _report(collection: Collection, source: Store, target: Store, as_json: bool) -> None:
    counts = {
        "documents": len(collection.documents),
        "vectors": len(collection),
        "dim": collection.dim,
    }
    if as_json:
        click.echo(
            json.dumps(
                {
                    "source": source if isinstance(source, tuple) else _shown(source),
                    "target": target,
                    **counts,
                    "index_type": collection.index.class_name,
                }
            )
        )
        return
    click.echo(
        f"{_shown(target)}: {counted(counts['documents'], 'document')}, {counted(counts['vectors'], 'vector')} of {counts['dim']} dimensions"
    )
