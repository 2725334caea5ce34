"""ragfile build: one file, or a dataset, from folders, globs and files."""

import sys

import click

from ragfile.doors.cli.failures import spelled
from ragfile.doors.cli.options import (
    cache_option,
    clusters_option,
    encoding_option,
    errors_option,
    executor_option,
    json_option,
    offline_option,
    selection_options,
)
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import (
    counted,
    emit,
    exit_incomplete,
    printable,
    readable,
    tell_sources,
    with_errors,
)


@click.command()
@click.argument("sources", nargs=-1)
@click.option("-o", "--out", required=True, help="The file to write.")
@click.option(
    "--embedder",
    default="default",
    show_default=True,
    help="The model: default, none, st:…, onnx:…, openai:…, ollama:…",
)
@click.option(
    "--chunking",
    default="markdown",
    show_default=True,
    help="The chunk policy, such as markdown or words:200/40.",
)
@click.option("--tag", "tags", multiple=True, help="A tag for every document; can be repeated.")
@click.option(
    "--precision",
    type=click.Choice(["32", "16"]),
    default="32",
    show_default=True,
    help="Bits of each vector component.",
)
@click.option(
    "--for",
    "layout",
    type=click.Choice(["default", "web"]),
    default="default",
    help="web: let browsers, and other readers behind URLs, fetch less.",
)
@click.option(
    "--parity", type=click.IntRange(0, 100), default=0, metavar="N",
    help="Hold N per cent of extra blocks, with which `ragfile repair` brings damaged ones back.",
)  # fmt: skip
@clusters_option
@click.option("--dedupe", is_flag=True, help="Skip files with the same bytes as an earlier one.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True,
    help="Processes that read files; the result is the same.",
)  # fmt: skip
@click.option(
    "--no-resume", is_flag=True, help="Do not reuse the vectors of a build that was killed."
)
@click.option(
    "--shards", type=click.IntRange(min=1), help="Build a dataset of so many files in a folder."
)
@click.option(
    "--by",
    type=click.Choice(["range", "hash"]),
    default="range",
    show_default=True,
    help="Which documents share a file of a dataset: neighbours by id, or evenly spread.",
)
@executor_option
@selection_options
@errors_option
@encoding_option
@cache_option
@offline_option
@json_option
def build(
    sources,
    out,
    shards,
    by,
    executor,
    workers,
    embedder,
    chunking,
    tags,
    precision,
    layout,
    parity,
    clusters,
    dedupe,
    jobs,
    no_resume,
    include,
    exclude,
    no_ignore,
    errors,
    encoding,
    embedding_cache,
    as_json,
):
    """Build a file from folders, globs and files. "-" reads a list of them from stdin.

    With --shards, or an output that ends with "/", it is a dataset: a folder, or an s3:// URL.
    """
    from dataclasses import asdict

    listed = [line for line in sys.stdin.read().splitlines() if line] if "-" in sources else []
    named = [source for source in sources if source != "-"] + listed
    if not named:
        raise click.UsageError("name a folder, glob or file")
    bar = Progress()
    build_file, more = _builder(out, layout, parity, clusters, shards, by, executor, workers, jobs)
    report = build_file(
        named, out, **more, embedder=embedder, chunking=chunking, tags=tags,
        precision=16 if precision == "16" else 32, dedupe=dedupe,
        resume=not no_resume, progress=bar.show, errors=errors, encoding=encoding,
        embedding_cache=embedding_cache, include=include, exclude=exclude, ignore=not no_ignore,
    )  # fmt: skip
    bar.close()
    for failure in report.failures:
        click.echo(f"ragfile: {printable(failure.path)}: {spelled(failure.reason)}", err=True)
    if as_json:
        emit(asdict(report))
    else:
        rate = report.chunks / report.seconds if report.seconds else 0
        click.echo(
            f"{out}: {counted(report.documents, 'document')}, "
            f"{counted(report.chunks, 'chunk')}, {readable(report.file_bytes)} "
            f"in {report.seconds:.1f} s ({rate:,.0f} chunks/s)" + with_errors(report.failures)
        )
        tell_sources(report)
    exit_incomplete(report)


def _builder(out, layout, parity, clusters, shards, by, executor, workers, jobs):
    """(the function that builds a file or a dataset, its own options)."""
    if shards is None and executor is None and not out.endswith("/"):
        from ragfile.write.builder import build

        return build, {"layout": layout, "jobs": jobs, "parity": parity, "clusters": clusters}
    if layout != "default":
        raise click.UsageError(f"--for {layout} goes with a single file")
    if clusters is not None:
        raise click.UsageError("--clusters goes with a single file")
    if jobs > 1:
        raise click.UsageError("--jobs is for one file; a dataset takes --workers")
    from ragfile.shards.builder import build

    more = {} if shards is None else {"shards": shards}
    more |= {"parity": parity} if parity else {}
    return build, {**more, "by": by, "executor": executor, "workers": workers}
