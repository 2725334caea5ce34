"""`ragfile search`: find the passages that answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.failures import spelled
from ragfile.doors.cli.options import (
    FilePath,
    QuestionCommand,
    cache_option,
    check_question,
    dim_option,
    generation_option,
    json_option,
    k_option,
    offline_option,
    over_option,
    place_options,
    url_cache_option,
)
from ragfile.doors.cli.report_lines import emit, printable

if TYPE_CHECKING:
    from typing import Any

    from ragfile.search.explanation import Explanation


@click.command(cls=QuestionCommand)
@click.argument("file", type=FilePath())
@click.argument("question")
@k_option(5)
@click.option("--embedder", help="Embedder for the question, if the file does not record one.")
@click.option(
    "--explain", is_flag=True,
    help="Show the score by retriever and by word, and the time of each stage.",
)  # fmt: skip
@cache_option
@place_options
@dim_option
@generation_option
@over_option
@url_cache_option
@offline_option
@json_option
def search(
    file: str,
    question: str,
    k: int,
    embedder: str | None,
    explain: bool,
    embedding_cache: str | None,
    root: str | None,
    base_url: str | None,
    dim: int | None,
    generation: int,
    over: tuple[str, ...],
    cache: str | None,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    """Find the passages that answer a question.

    FILE can be a folder of texts: a copy in the cache, which `ragfile cache` lists, is brought up to date.
    """
    from dataclasses import asdict

    from ragfile.doors.cli.searchable import searchable
    from ragfile.doors.cli.shown_hits import show_hit, shown_hits
    from ragfile.opener import open_passages
    from ragfile.options import EXPLAIN
    from ragfile.search.shown_passages import facts_of

    check_question(file, question, "search")
    opening = {
        "embedder": embedder, "generation": generation, "embedding_cache": embedding_cache,
        "cache": cache, "dim": dim,
    }  # fmt: skip
    with (
        searchable(file, over, root, base_url, opening) as found,
        open_passages(found.file, **found.opening) as rf,
    ):
        hits = rf.search(question, k, **options)
        reasons: list[Explanation | None] = [None] * len(hits)
        if explain and options.get("mode") != "keyword":
            asked = {name: value for name, value in options.items() if name in EXPLAIN.options}
            reasons = [rf.explain(question, hit.id, k, **asked) for hit in hits]
        shown = [] if as_json else shown_hits(rf, question, hits)
        support = hits.support
        facts = facts_of(hits, hits) if as_json else {}
        lost = getattr(rf.file, "has_lost_commit", False)
    if as_json:
        explained = {"explanations": [r and r.to_dict() for r in reasons]} if explain else {}
        return emit(
            {
                "hits": [asdict(hit) for hit in hits],
                **facts,
                "degraded": hits.degraded,
                "complete": hits.complete,
                "exact": hits.exact,
                "estimated_recall": hits.estimated_recall,
                "timings": hits.timings,
                **explained,
            }
        )
    if hits.degraded:
        click.echo(f"ragfile: {spelled(hits.degraded)}", err=True)
    if not hits.exact:
        click.echo(
            f"ragfile: estimated recall of the vector search: {hits.estimated_recall:.0%}", err=True
        )
    if lost:
        problem = "the newest commit is damaged; results are from the one before"
        click.echo(f"ragfile: {file}: {problem}: see `ragfile info`", err=True)
    if not hits:
        click.echo("ragfile: nothing found", err=True)
    elif support and (remark := support.remark()):
        click.echo(f"ragfile: {printable(remark)}", err=True)
    for place, (hit, reason) in enumerate(
        zip(shown, reasons, strict=True), options.get("offset", 0) + 1
    ):
        show_hit(place, hit, found.home, explain)
        if reason is not None:
            click.echo(_words_of(reason))
    if explain:
        click.echo("  ".join(f"{stage} {ms:.2f} ms" for stage, ms in hits.timings.items()))


def _words_of(reason: Explanation) -> str:
    """Format the contribution of each word to a score."""
    shares = (f"{printable(t.term)} {t.contribution:.3f} ({t.tf}×)" for t in reason.terms if t.tf)
    return f"   words: {', '.join(shares) or 'none'}\n"
