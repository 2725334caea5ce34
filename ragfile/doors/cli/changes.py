"""The commands that change a file or show its history: add, sync, delete, reindex, compact, vacuum,
stale and log.
"""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from ragfile.doors.cli.failures import WRONG, spelled
from ragfile.doors.cli.options import (
    FilePath,
    cache_option,
    clusters_option,
    condition,
    encoding_option,
    errors_option,
    executor_option,
    json_option,
    keep_option,
    layered,
    limits_of,
    over_option,
    parse_options,
    selection_options,
    url_cache_option,
    wait_option,
)
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import (
    counted,
    emit,
    exit_incomplete,
    moment,
    printable,
    readable,
    report_sources,
)
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import is_dataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from ragfile.doors.cli.options import Command
    from ragfile.shards.executors import ExecutorChoice
    from ragfile.types import Assigning, Layout
    from ragfile.write.source_sync import SyncReport

EMBEDDER = "Embedder for new chunks, if the file does not record one."


def message_option(command: Command) -> Command:
    return click.option("-m", "--message", default="", help="Message for the log.")(command)


def _following(command: Command) -> Command:
    """Add the options of add and sync."""
    for decorate in (
        json_option,
        cache_option,
        parse_options,
        encoding_option,
        errors_option,
        selection_options,
        message_option,
        wait_option,
        click.option(
            "--tag",
            "tags",
            multiple=True,
            help="Tag for every document that is read; can be repeated.",
        ),
        click.option("--dedupe", is_flag=True, help="Skip new files identical to a document."),
        click.option("--chunking", help="New chunk policy for the file, such as words:200/40."),
        click.option("--embedder", help=EMBEDDER),
        click.option(
            "-n", "--dry-run", is_flag=True, help="Show the changes without writing them."
        ),
        click.argument("sources", nargs=-1, required=True, type=FilePath()),
        click.argument("file", type=FilePath()),
    ):
        command = decorate(command)
    return command


@click.command()
@_following
@click.option("--replace", is_flag=True, help="Replace documents that have the id of a new file.")
@click.option(
    "--prefix",
    default="",
    metavar="NAME",
    help="Begin the ids of these files with NAME/, so that another folder's stay apart.",
)
def add(
    file: str, sources: tuple[str, ...], dry_run: bool, as_json: bool,
    **options: Any,  # Any: values of flags
) -> None:  # fmt: skip
    """Add new files of folders and globs. Replace nothing without --replace; remove nothing."""
    _follow("add", file, sources, dry_run, as_json, **options)


@click.command()
@_following
def sync(
    file: str, sources: tuple[str, ...], dry_run: bool, as_json: bool,
    **options: Any,  # Any: values of flags
) -> None:  # fmt: skip
    """Make a file match its sources.

    Documents are added, replaced, moved and removed.
    """
    _follow("sync", file, sources, dry_run, as_json, **options)


def _follow(
    way: str,
    file: str,
    sources: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    no_ignore: bool,
    parse_memory: int | None,
    parse_seconds: float | None,
    **options: object,
) -> None:
    from dataclasses import asdict

    options |= {
        "include": include or None,
        "exclude": exclude or None,
        "ignore": False if no_ignore else None,
        "limits": limits_of(parse_memory, parse_seconds),
    }
    bar = Progress()
    report = getattr(_changing(file), way)(
        file, sources, dry_run=dry_run, progress=bar.show, **options
    )
    bar.close()
    for failure in report.failures:
        click.echo(f"ragfile: {printable(failure.path)}: {spelled(failure.reason)}", err=True)
    if as_json:
        emit(asdict(report))
    else:
        _show_changes(file, report)
        report_sources(report)
    if not (as_json or dry_run):
        _hint(file)
    exit_incomplete(report)


def _show_changes(file: str, report: SyncReport) -> None:
    """Print a line for each changed source, and a summary."""
    names = {"+": report.added, "~": [*report.changed, *report.recut], "-": report.removed}
    for sign, listed in names.items():
        for name in listed:
            click.echo(f"{sign} {printable(name)}")
    for old, new in report.moved:
        click.echo(f"> {printable(old)} → {printable(new)}")
    for name, first in report.duplicates:
        click.echo(f"= {printable(name)}, as {printable(first)}")
    for name in report.kept:
        click.echo(f"! {printable(name)}: kept the document that was written by hand or uploaded")
    kinds = ("added", "changed", "moved", "recut", "removed")
    counts = [f"{len(listed)} {kind}" for kind in kinds if (listed := getattr(report, kind))]
    ending = f"{counted(report.embedded, 'chunk')} embedded, generation {report.generation}"
    click.echo(
        f"{file}: {', '.join(counts) or 'nothing to do'}; {report.unchanged} unchanged; "
        + ("nothing was written" if report.dry_run else ending)
    )


def _changing(file: str) -> ModuleType:
    """Return the module that changes a file, or a dataset."""
    if is_dataset(file):
        from ragfile.shards import changes

        return changes
    from ragfile.write import source_sync

    return source_sync


def _hint(file: str) -> None:
    """Suggest a compaction if it pays; none runs by itself."""
    from ragfile.search.file_rows import rows_of

    if is_dataset(file):
        return

    with rows_of(file) as archive:
        if archive.file.compaction:
            click.echo(
                f"ragfile: {archive.file.compaction}: `ragfile compact {quote(file)}` rewrites it",
                err=True,
            )


@click.command()
@click.argument("file", type=FilePath())
@click.argument("ids", nargs=-1)
@click.option(
    "--checksum",
    "checksums",
    multiple=True,
    help="Delete documents whose source file has this SHA-256.",
)
@click.option(
    "--where",
    help='Delete documents with a chunk that passes a filter, such as \'{"year": {"$lt": 2000}}\'.',
)
@over_option
@message_option
@cache_option
@wait_option
@json_option
def delete(
    file: str,
    over: tuple[str, ...],
    ids: tuple[str, ...],
    checksums: tuple[str, ...],
    where: str | None,
    message: str,
    embedding_cache: str | None,
    as_json: bool,
) -> None:
    """Delete documents by id, checksum or filter.

    Their vectors are deleted from the embedding cache, too.
    """
    from ragfile.opener import edit

    if not ids and not checksums and where is None:
        raise click.UsageError("name ids, --checksum or --where")
    wanted: dict[str, Any] = {"checksums": checksums, "where": condition(where)}
    if is_dataset(file):
        return _delete_from_dataset(file, ids, wanted, message, as_json)
    with edit(layered(file, over), message=message, embedding_cache=embedding_cache) as w:
        found = w.delete(ids, **wanted)
    unknown = [doc_id for doc_id in ids if doc_id not in found]
    for doc_id in unknown:
        click.echo(f"ragfile: {file} has no document called {printable(doc_id)}", err=True)
    if as_json:
        emit({"deleted": found, "unknown": unknown, "documents": w.deletions, **w.report})
        sys.exit(WRONG if unknown else 0)
    for deleted in w.deletions:
        click.echo(
            f"- {printable(deleted['id'])}  {counted(deleted['chunks'], 'chunk')}  sha256 {deleted['checksum'] or deleted['sha256']}"
        )
    erasing = f"; `ragfile compact {quote(file)}` erases their bytes" if found and not over else ""
    click.echo(f"{counted(len(found), 'document')} deleted{erasing}")
    _hint(file)
    sys.exit(WRONG if unknown else 0)


@click.command()
@click.argument("file", type=FilePath())
@click.option("--renumber", is_flag=True, help="Restart generation numbers at 1.")
@click.option(
    "--for",
    "layout",
    type=click.Choice(["default", "web"]),
    help="Change the layout; web: optimize for browsers and other remote readers.",
)
@clusters_option
@keep_option
@click.option(
    "--parity", type=click.IntRange(0, 100), metavar="N",
    help="Change the parity to N percent of extra blocks for `ragfile repair`; 0 removes it.",
)  # fmt: skip
@click.option(
    "--shards", type=click.IntRange(min=1), help="Redistribute a dataset into this number of files."
)
@click.option(
    "--by", type=click.Choice(["range", "hash"]), help="How a dataset distributes documents."
)
@executor_option
@wait_option
@json_option
def compact(
    file: str,
    renumber: bool,
    layout: Layout | None,
    parity: int | None,
    clusters: bool | int | None,
    keep: int | str | None,
    shards: int | None,
    by: Assigning | None,
    executor: ExecutorChoice,
    workers: int | None,
    as_json: bool,
) -> None:
    """Reclaim the space of deleted data.

    A file is rewritten; a dataset is redistributed.
    """
    from ragfile.write.compaction import compact as compact_file

    if is_dataset(file):
        return _redistribute(file, shards, by, executor, workers, as_json)

    with explained(file):
        before = os.path.getsize(file)
    compact_file(
        file, renumber=renumber, layout=layout, parity=parity, clusters=clusters, keep=keep
    )
    after = os.path.getsize(file)
    if as_json:
        return emit({"before": before, "after": after})
    click.echo(f"{file}: {readable(before)} → {readable(after)}")


def _delete_from_dataset(
    path: str, ids: tuple[str, ...], wanted: dict[str, Any], message: str, as_json: bool
) -> None:
    from ragfile.shards.changes import delete as delete_from

    found = delete_from(path, ids, message=message, **wanted)
    unknown = [doc_id for doc_id in ids if doc_id not in found]
    for doc_id in unknown:
        click.echo(f"ragfile: {path} has no document called {printable(doc_id)}", err=True)
    if as_json:
        emit({"deleted": found, "unknown": unknown})
        sys.exit(WRONG if unknown else 0)
    for doc_id in found:
        click.echo(f"- {printable(doc_id)}")
    erasing = (
        f"; `ragfile vacuum {quote(path)} --keep 1 --days 0 --delete` erases their bytes"
        if found
        else ""
    )
    click.echo(f"{counted(len(found), 'document')} deleted{erasing}")
    sys.exit(WRONG if unknown else 0)


def _redistribute(
    path: str,
    shards: int | None,
    by: Assigning | None,
    executor: ExecutorChoice,
    workers: int | None,
    as_json: bool,
) -> None:
    from ragfile.shards.changes import compact as compact_dataset

    generation = compact_dataset(path, shards=shards, by=by, executor=executor, workers=workers)
    if as_json:
        return emit({"generation": generation})
    return click.echo(f"{path}: generation {generation}")


@click.command()
@click.argument("dataset", type=FilePath())
@click.option(
    "--days",
    default=7.0,
    show_default=True,
    help="Only objects older than this, so that open readers of old generations can finish.",
)
@click.option(
    "--keep", type=click.IntRange(min=1), help="Number of newest generations to keep. Default: all."
)
@click.option(
    "--delete", "is_meant", is_flag=True, help="Delete the objects instead of listing them."
)
@json_option
def vacuum(dataset: str, days: float, keep: int | None, is_meant: bool, as_json: bool) -> None:
    """List unreferenced objects of a dataset.

    With --delete, delete them.
    """
    from ragfile.shards.vacuum import vacuum as vacuum_dataset

    found = vacuum_dataset(dataset, days=days, keep=keep, dry_run=not is_meant)
    if as_json:
        return emit([{"name": one.name, "bytes": one.bytes} for one in found])
    for one in found:
        click.echo(f"{one.name}  {readable(one.bytes)}")
    size = readable(sum(one.bytes for one in found))
    ending = "deleted" if is_meant else "unreferenced; --delete removes them"
    return click.echo(f"{counted(len(found), 'object')}, {size}, {ending}")


@click.command()
@click.argument("file", type=FilePath())
@url_cache_option
@json_option
def log(file: str, cache: str | None, as_json: bool) -> None:
    """List the commits of a file, newest first. Other commands read one with --generation."""
    if is_dataset(file):
        from ragfile.shards.history import log as generations

        found: Sequence[Mapping[str, Any]] = generations(file)
    else:
        from ragfile.write.history import log as commits

        found = commits(file, cache=cache)
    if as_json:
        return emit(found)
    for commit in found:
        click.echo(
            f"{commit['generation']:>5}  {moment(commit['created']) if commit['created'] else '-':<20}  {counted(commit['chunks'], 'chunk'):>16}  +{commit['added']:,} "
            f"-{commit['deleted']:,}  {readable(commit['size'])}  {commit['message']}".rstrip()
        )


@click.command()
@click.argument("file", type=FilePath())
@click.option("--chunking", help="Compare with this chunk policy instead of the file's own.")
@click.option("--embedder", help="Compare with this model instead of the file's own.")
@json_option
def stale(file: str, chunking: str | None, embedder: str | None, as_json: bool) -> None:
    """List documents with an outdated chunk policy or model. Update them with reindex."""
    if is_dataset(file):
        from ragfile.shards.history import stale as stale_documents
    else:
        from ragfile.write.history import stale as stale_documents

    found = stale_documents(file, chunking=chunking, embedder=embedder)
    if as_json:
        return emit(found)
    for doc_id, reason in found.items():
        click.echo(f"{doc_id}: {reason}")
    click.echo(counted(len(found), "stale document"))


@click.command()
@click.argument("file", type=FilePath())
@click.option("--chunking", help="New chunk policy for the file, such as words:200/40.")
@click.option("--embedder", help="New model for the file; embeds everything again.")
@message_option
@cache_option
@wait_option
@executor_option
@json_option
def reindex(
    file: str,
    chunking: str | None,
    embedder: str | None,
    message: str,
    embedding_cache: str | None,
    executor: ExecutorChoice,
    workers: int | None,
    as_json: bool,
) -> None:
    """Chunk and embed stale documents again.

    The texts are read from the file, or the dataset.
    """
    options: dict[str, Any] = {
        "chunking": chunking, "embedder": embedder, "message": message,
        "embedding_cache": embedding_cache,
    }  # fmt: skip
    if is_dataset(file):
        from ragfile.shards.reindex import reindex as reindex_dataset

        report = reindex_dataset(file, executor=executor, workers=workers, **options)
    else:
        from ragfile.write.reindex import reindex as reindex_file

        report = reindex_file(file, **options)
    if as_json:
        return emit(report)
    click.echo(
        f"{file}: {counted(report['recut'], 'document')} rechunked, {counted(report['embedded'], 'chunk')} embedded"
    )
    return _hint(file)
