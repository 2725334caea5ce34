"""The commands that change a file or tell its history: add, sync, delete, reindex, compact, stale,
log.
"""

import os
import sys
from typing import Any

import click

from ragfile.doors.cli.failures import WRONG, spelled
from ragfile.doors.cli.options import (
    cache_option,
    clusters_option,
    condition,
    encoding_option,
    errors_option,
    executor_option,
    json_option,
    selection_options,
    url_cache_option,
)
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import (
    counted,
    emit,
    exit_incomplete,
    moment,
    printable,
    readable,
    tell_sources,
)
from ragfile.ground.urls import is_dataset

EMBEDDER = "The embedder for new chunks, if the file does not record one."


def message_option(command):
    return click.option("-m", "--message", default="", help="A message for the log.")(command)


def _following(command):
    """The options of add and sync."""
    for decorate in (
        json_option,
        cache_option,
        encoding_option,
        errors_option,
        selection_options,
        message_option,
        click.option(
            "--tag",
            "tags",
            multiple=True,
            help="A tag for every document that is read; can be repeated.",
        ),
        click.option(
            "--dedupe", is_flag=True, help="Leave out new files with the bytes of a document."
        ),
        click.option("--chunking", help="A new chunk policy for the file, such as words:200/40."),
        click.option("--embedder", help=EMBEDDER),
        click.option("-n", "--dry-run", is_flag=True, help="Show the changes and write nothing."),
        click.argument("sources", nargs=-1, required=True),
        click.argument("file", type=click.Path()),
    ):
        command = decorate(command)
    return command


@click.command()
@_following
def add(file, sources, dry_run, as_json, **options):
    """Add folders, globs and files. Documents of changed files are replaced; nothing is removed."""
    _follow("add", file, sources, dry_run, as_json, **options)


@click.command()
@_following
def sync(file, sources, dry_run, as_json, **options):
    """Make a file equal to its sources. Documents are added, replaced, moved and removed."""
    _follow("sync", file, sources, dry_run, as_json, **options)


def _follow(way, file, sources, dry_run, as_json, include, exclude, no_ignore, **options):
    from dataclasses import asdict

    options |= {
        "include": include or None,
        "exclude": exclude or None,
        "ignore": False if no_ignore else None,
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
        _tell(file, report)
        tell_sources(report)
    if not (as_json or dry_run):
        _hint(file)
    exit_incomplete(report)


def _tell(file, report):
    """What a sync did, for people: a line for each source, and their sum."""
    names = {"+": report.added, "~": [*report.changed, *report.recut], "-": report.removed}
    for sign, listed in names.items():
        for name in listed:
            click.echo(f"{sign} {printable(name)}")
    for old, new in report.moved:
        click.echo(f"> {printable(old)} → {printable(new)}")
    for name, first in report.duplicates:
        click.echo(f"= {printable(name)}, as {printable(first)}")
    kinds = ("added", "changed", "moved", "recut", "removed")
    counts = [f"{len(listed)} {kind}" for kind in kinds if (listed := getattr(report, kind))]
    ending = f"{counted(report.embedded, 'chunk')} embedded, generation {report.generation}"
    click.echo(
        f"{file}: {', '.join(counts) or 'nothing to do'}; {report.unchanged} unchanged; "
        + ("nothing was written" if report.dry_run else ending)
    )


def _changing(file):
    """The module that adds to a file, or to a dataset."""
    if is_dataset(file):
        from ragfile.shards import changes

        return changes
    from ragfile.write import source_sync

    return source_sync


def _hint(file):
    """Says when compaction pays; it never happens by itself."""
    from ragfile.search.file_rows import rows_of

    if is_dataset(file):
        return

    with rows_of(file) as archive:
        if archive.file.compaction:
            click.echo(
                f"ragfile: {archive.file.compaction}: `ragfile compact {file}` rewrites it",
                err=True,
            )


@click.command()
@click.argument("file", type=click.Path())
@click.argument("ids", nargs=-1)
@click.option(
    "--checksum", "checksums", multiple=True, help="Documents of the source file with this SHA-256."
)
@click.option(
    "--where",
    help='Documents with a chunk that passes a filter, such as \'{"year": {"$lt": 2000}}\'.',
)
@message_option
@cache_option
@json_option
def delete(file, ids, checksums, where, message, embedding_cache, as_json):
    """Delete documents by id, checksum or filter. Their vectors leave the embedding cache, too."""
    from ragfile.write.editor import edit

    if not ids and not checksums and where is None:
        raise click.UsageError("name ids, --checksum or --where")
    wanted = {"checksums": checksums, "where": condition(where)}
    if is_dataset(file):
        return _delete_from_dataset(file, ids, wanted, message, as_json)
    with edit(file, message=message, embedding_cache=embedding_cache) as w:
        found = w.delete(ids, **wanted)
    unknown = [doc_id for doc_id in ids if doc_id not in found]
    for doc_id in unknown:
        click.echo(f"ragfile: {file} has no document called {printable(doc_id)}", err=True)
    if as_json:
        emit({"deleted": found, "unknown": unknown, "documents": w.deletions, **w.report})
        sys.exit(WRONG if unknown else 0)
    for gone in w.deletions:
        click.echo(
            f"- {printable(gone['id'])}  {counted(gone['chunks'], 'chunk')}  sha256 {gone['checksum'] or gone['sha256']}"
        )
    erasing = f"; `ragfile compact {file}` erases their bytes" if found else ""
    click.echo(f"{counted(len(found), 'document')} deleted{erasing}")
    _hint(file)
    sys.exit(WRONG if unknown else 0)


@click.command()
@click.argument("file", type=click.Path())
@click.option("--renumber", is_flag=True, help="Let generations begin at 1 again.")
@click.option(
    "--for",
    "layout",
    type=click.Choice(["default", "web"]),
    help="web: let browsers, and other readers behind URLs, fetch less. Otherwise as it is.",
)
@clusters_option
@click.option(
    "--parity", type=click.IntRange(0, 100), metavar="N",
    help="Hold N per cent of extra blocks for `ragfile repair`; 0: none. Otherwise as it is.",
)  # fmt: skip
@click.option(
    "--shards", type=click.IntRange(min=1), help="Deal a dataset out again into so many files."
)
@click.option("--by", type=click.Choice(["range", "hash"]), help="Which documents share a file.")
@executor_option
@json_option
def compact(file, renumber, layout, parity, clusters, shards, by, executor, workers, as_json):
    """Rewrite a file without what was deleted. A dataset is dealt out again."""
    from ragfile.write.compaction import compact as compact_file

    if is_dataset(file):
        return _deal_again(file, shards, by, executor, workers, as_json)

    before = os.path.getsize(file)
    compact_file(file, renumber=renumber, layout=layout, parity=parity, clusters=clusters)
    after = os.path.getsize(file)
    if as_json:
        return emit({"before": before, "after": after})
    click.echo(f"{file}: {readable(before)} → {readable(after)}")


def _delete_from_dataset(path, ids, wanted, message, as_json):
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
    erasing = f"; `ragfile vacuum --keep 1 {path}` erases their bytes" if found else ""
    click.echo(f"{counted(len(found), 'document')} deleted{erasing}")
    sys.exit(WRONG if unknown else 0)


def _deal_again(path, shards, by, executor, workers, as_json):
    from ragfile.shards.changes import compact as compact_dataset

    generation = compact_dataset(path, shards=shards, by=by, executor=executor, workers=workers)
    if as_json:
        return emit({"generation": generation})
    return click.echo(f"{path}: generation {generation}")


@click.command()
@click.argument("dataset", type=click.Path())
@click.option(
    "--days", default=7.0, show_default=True, help="Only what is older; longer than any job takes."
)
@click.option(
    "--keep", type=click.IntRange(min=1), help="Keep so many generations; all if not given."
)
@click.option("--delete", "is_meant", is_flag=True, help="Delete; without it, only list.")
@json_option
def vacuum(dataset, days, keep, is_meant, as_json):
    """List what no generation of a dataset needs, or delete it."""
    from ragfile.shards.vacuum import vacuum as vacuum_dataset

    found = vacuum_dataset(dataset, days=days, keep=keep, dry_run=not is_meant)
    if as_json:
        return emit([{"name": one.name, "bytes": one.bytes} for one in found])
    for one in found:
        click.echo(f"{one.name}  {readable(one.bytes)}")
    size = readable(sum(one.bytes for one in found))
    ending = "deleted" if is_meant else "can go: --delete removes them"
    return click.echo(f"{counted(len(found), 'object')}, {size}, {ending}")


@click.command()
@click.argument("file", type=click.Path())
@url_cache_option
@json_option
def log(file, cache, as_json):
    """List the commits of a file, newest first. Open one with --generation, until compaction."""
    if is_dataset(file):
        from ragfile.shards.history import log as generations

        found = generations(file)
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
@click.argument("file", type=click.Path())
@click.option("--chunking", help="Compare with this policy instead of the file's own.")
@click.option("--embedder", help="Compare with this model instead of the file's own.")
@json_option
def stale(file, chunking, embedder, as_json):
    """List documents of another chunk policy or model. `reindex` makes them again."""
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
@click.argument("file", type=click.Path())
@click.option("--chunking", help="A new chunk policy for the file, such as words:200/40.")
@click.option("--embedder", help="A new model for the file: embeds everything again.")
@message_option
@cache_option
@executor_option
@json_option
def reindex(file, chunking, embedder, message, embedding_cache, executor, workers, as_json):
    """Chunk and embed stale documents again. Their texts are in the file, or in the dataset."""
    options: Any = {"message": message, "embedding_cache": embedding_cache}
    if is_dataset(file):
        from ragfile.shards.reindex import reindex as make_again

        options |= {"executor": executor, "workers": workers}
    else:
        from ragfile.write.reindex import reindex as make_again

    report = make_again(file, chunking=chunking, embedder=embedder, **options)
    if as_json:
        return emit(report)
    click.echo(
        f"{file}: {counted(report['recut'], 'document')} cut again, {counted(report['embedded'], 'chunk')} embedded"
    )
    return _hint(file)
