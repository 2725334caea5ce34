"""`ragfile build`: build a file or a dataset from folders, globs and files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.failures import spelled
from ragfile.doors.cli.options import (
    FilePath,
    cache_option,
    clusters_option,
    encoding_option,
    errors_option,
    executor_option,
    json_option,
    keep_option,
    limits_of,
    offline_option,
    parse_options,
    selection_options,
)
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import (
    counted,
    emit,
    exit_incomplete,
    printable,
    readable,
    report_sources,
    with_errors,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ragfile.types import Assigning, Layout
    from ragfile.write.builder import BuildReport


@click.command()
@click.argument("sources", nargs=-1, type=FilePath())
@click.option("-o", "--out", required=True, type=FilePath(), help="File to write.")
@click.option(
    "--embedder",
    default="default",
    show_default=True,
    help="Embedding model: default, none, st:…, onnx:…, openai:…, ollama:…",
)
@click.option(
    "--chunking",
    default="markdown",
    show_default=True,
    help="Chunk policy, such as markdown or words:200/40.",
)
@click.option(
    "--language", metavar="CODE",
    help="Language of the texts, such as de: its stemmer and stop words.",
)  # fmt: skip
@click.option(
    "--stemmer", metavar="NAME",
    help="Stemmer of Snowball for all texts, such as lithuanian, or none; without stop words.",
)  # fmt: skip
@click.option(
    "--no-positions",
    is_flag=True,
    help="Leave the places of words out of the index: a smaller file, slower phrases.",
)
@click.option("--tag", "tags", multiple=True, help="Tag for every document; can be repeated.")
@click.option(
    "--precision",
    type=click.Choice(["32", "16"]),
    default="32",
    show_default=True,
    help="Bits per vector component.",
)
@click.option(
    "--for",
    "layout",
    type=click.Choice(["default", "web"]),
    default="default",
    help="web: optimize the layout for browsers and other remote readers.",
)
@click.option(
    "--parity", type=click.IntRange(0, 100), default=0, metavar="N",
    help="Add N percent of parity blocks, from which `ragfile repair` restores damaged ones.",
)  # fmt: skip
@clusters_option
@keep_option
@click.option(
    "--encrypt", is_flag=True,
    help="Encrypt the file with the key of --key-file, which implies this, or of the environment.",
)  # fmt: skip
@click.option("--dedupe", is_flag=True, help="Skip files identical to an earlier one.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True,
    help="Number of processes that read files; the result is the same.",
)  # fmt: skip
@click.option("--no-resume", is_flag=True, help="Do not reuse the vectors of an interrupted build.")
@click.option(
    "--shards", type=click.IntRange(min=1), help="Build a dataset with this number of files."
)
@click.option(
    "--by",
    type=click.Choice(["range", "hash"]),
    default="range",
    show_default=True,
    help="How a dataset distributes documents: neighbouring ids together, or evenly.",
)
@executor_option
@click.option(
    "--keep-originals", is_flag=True,
    help="Also keep files as they are, if their text is not enough to write them again; see unpack.",
)  # fmt: skip
@selection_options
@errors_option
@encoding_option
@parse_options
@cache_option
@offline_option
@json_option
def build(
    sources: tuple[str, ...],
    out: str,
    shards: int | None,
    by: Assigning,
    executor: str | None,
    workers: int | None,
    embedder: str,
    chunking: str,
    language: str | None,
    stemmer: str | None,
    no_positions: bool,
    tags: tuple[str, ...],
    precision: str,
    layout: Layout,
    parity: int,
    clusters: bool | int | None,
    keep: int | str | None,
    encrypt: bool,
    dedupe: bool,
    jobs: int,
    no_resume: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    no_ignore: bool,
    keep_originals: bool,
    errors: str,
    encoding: str | None,
    parse_memory: int | None,
    parse_seconds: float | None,
    embedding_cache: str | None,
    as_json: bool,
) -> None:
    """Build a file from folders, globs and files. "-" reads their names from stdin.

    With --shards, or an output that ends with "/", build a dataset in a folder or at a bucket's URL.
    """
    from dataclasses import asdict

    listed = [line for line in sys.stdin.read().splitlines() if line] if "-" in sources else []
    named = [source for source in sources if source != "-"] + listed
    if not named:
        raise click.UsageError("name a folder, glob or file")
    bar = Progress()
    build_file, more = _builder(
        out, layout, parity, clusters, keep, shards, by, executor, workers, jobs
    )
    more |= {"keep_originals": True} if keep_originals else {}
    if encrypt or click.get_current_context().meta["ragfile.key_file"]:
        more |= _encryption(more)
    report = build_file(
        named, out, **more, **_analysis(language, stemmer, no_positions), embedder=embedder, chunking=chunking, tags=tags,
        precision=16 if precision == "16" else 32, dedupe=dedupe,
        resume=not no_resume, progress=bar.show, errors=errors, encoding=encoding,
        embedding_cache=embedding_cache, include=include, exclude=exclude, ignore=not no_ignore,
        limits=limits_of(parse_memory, parse_seconds),
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
        report_sources(report)
    exit_incomplete(report)


def _encryption(more: dict[str, Any]) -> dict[str, Any]:
    """Return the option that encrypts a build."""
    if "executor" in more:
        raise click.UsageError("--encrypt is for a file, not for a dataset")
    return {"key": True}


def _analysis(language: str | None, stemmer: str | None, no_positions: bool) -> dict[str, Any]:
    """Return the analysis for the options of languages and positions as an option of a build, {} without them."""
    if language is None and stemmer is None and not no_positions:
        return {}
    if language is not None and stemmer is not None:
        raise click.UsageError("--language has a stemmer: pass it or --stemmer")
    from dataclasses import replace

    from ragfile.ingest.analysis import PAGE_FIELDS, Analysis

    if language is not None:
        found = Analysis.for_language(language)
    elif stemmer is not None:
        found = Analysis(stemmer, "none", fields=PAGE_FIELDS, languages=False)
    else:
        found = Analysis(fields=PAGE_FIELDS)
    return {"analysis": replace(found, positions=not no_positions)}


def _builder(
    out: str,
    layout: Layout,
    parity: int | None,
    clusters: bool | int | None,
    keep: int | str | None,
    shards: int | None,
    by: Assigning | None,
    executor: str | None,
    workers: int | None,
    jobs: int,
) -> tuple[Callable[..., BuildReport], dict[str, Any]]:
    """Return the function that builds a file or a dataset, and its own options."""
    if shards is None and executor is None and not out.endswith("/"):
        from ragfile.write.builder import build

        own = {"layout": layout, "jobs": jobs, "clusters": clusters, "keep": keep}
        return build, {**own, "parity": parity}
    if layout != "default":
        raise click.UsageError(f"--for {layout} requires a single file")
    if clusters is not None:
        raise click.UsageError("--clusters requires a single file")
    if keep is not None:
        raise click.UsageError("--keep requires a single file")
    if jobs > 1:
        raise click.UsageError("--jobs requires a single file; use --workers for a dataset")
    from ragfile.shards.builder import build as build_dataset

    more = {} if shards is None else {"shards": shards}
    more |= {"parity": parity} if parity else {}
    return build_dataset, {**more, "by": by, "executor": executor, "workers": workers}
