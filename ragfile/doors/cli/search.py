"""ragfile search: the passages that answer a question."""

import click

from ragfile.doors.cli.failures import spelled
from ragfile.doors.cli.options import (
    cache_option,
    condition,
    field_weights,
    generation_option,
    json_option,
    offline_option,
    url_cache_option,
)
from ragfile.doors.cli.report_lines import emit, passages, printable


@click.command()
@click.argument("file", type=click.Path())
@click.argument("question")
@click.option(
    "-k", type=click.IntRange(min=1), default=5, show_default=True, help="The number of passages."
)
@click.option(
    "--mode", type=click.Choice(["hybrid", "vector", "bm25", "keyword"]), default="hybrid", show_default=True,
    help="Search by words and vectors, or by one of them. keyword finds ids, sources and keywords.",
)  # fmt: skip
@click.option("--where", help='A filter on metadata as JSON, such as \'{"year": {"$gte": 2020}}\'.')
@click.option(
    "--tag",
    "tags",
    multiple=True,
    help="Only passages with this tag; can be repeated to accept several.",
)
@click.option("--embedder", help="The embedder for the question, if the file does not record one.")
@click.option("--drop-repeats", is_flag=True, help="Skip passages that nearly repeat a better one.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Pass over so many places.")
@click.option("--min-score", type=float, help="Leave out passages that score less.")
@click.option(
    "--group", type=click.IntRange(min=1), metavar="N",
    help="The best documents, with the N best passages of each.",
)  # fmt: skip
@click.option(
    "--diversity", type=click.FloatRange(0, 1), default=0.0,
    help="Prefer passages unlike those before: 0 (not at all) to 1.",
)  # fmt: skip
@click.option(
    "--effort", type=click.FloatRange(0, 1, min_open=True), default=1.0, metavar="SHARE",
    help="Look at this share of the vectors only, the most promising clusters first; 1 is exact.",
)  # fmt: skip
@click.option(
    "--query-syntax", is_flag=True,
    help='Read "phrases", +word, -word, begin* and speling~ in the question.',
)  # fmt: skip
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=WEIGHT",
    help="Weigh a field of the words' index otherwise than the file does, such as headers=3. Repeatable.",
)  # fmt: skip
@click.option(
    "--explain", is_flag=True,
    help="Show what each retriever and each word gave to the score, and where the time went.",
)  # fmt: skip
@cache_option
@generation_option
@url_cache_option
@offline_option
@json_option
def search(
    file,
    question,
    k,
    mode,
    where,
    tags,
    embedder,
    drop_repeats,
    offset,
    min_score,
    group,
    diversity,
    effort,
    query_syntax,
    fields,
    explain,
    embedding_cache,
    generation,
    cache,
    as_json,
):
    """Find the passages that answer a question."""
    from dataclasses import asdict

    from ragfile.doors.cli.shown_hits import show_hit
    from ragfile.opener import open as open_file

    if not question.strip():
        raise click.UsageError("the question is empty")
    chosen, weights = condition(where), field_weights(fields)
    with open_file(
        file, embedder=embedder, generation=generation, embedding_cache=embedding_cache, cache=cache
    ) as rf:
        hits = passages(rf).search(
            question, k, mode=mode, where=chosen, tags_any=tags, drop_repeats=drop_repeats, offset=offset,
            min_score=min_score, group=group or 0, diversity=diversity, query_syntax=query_syntax, fields=weights,
            effort=effort,
        )  # fmt: skip
        reasons = [None] * len(hits)
        if explain and mode != "keyword":
            asked = {"mode": mode, "where": chosen, "tags_any": tags, "fields": weights}
            reasons = [rf.explain(question, hit.id, k, **asked) for hit in hits]
        excerpts = {} if as_json else {hit.id: rf.excerpt(question, hit) for hit in hits}
        lost = getattr(rf, "has_lost_commit", False)
    if as_json:
        explained = {"explanations": [r and r.to_dict() for r in reasons]} if explain else {}
        return emit(
            {
                "hits": [asdict(hit) for hit in hits],
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
            f"ragfile: about {hits.estimated_recall:.0%} of the best by vector are here", err=True
        )
    if lost:
        what = "its newest commit is damaged, and this answers from the one before"
        click.echo(f"ragfile: {file}: {what}: see `ragfile info`", err=True)
    if not hits:
        click.echo("ragfile: nothing found", err=True)
    for place, (hit, reason) in enumerate(zip(hits, reasons, strict=True), offset + 1):
        show_hit(place, hit, excerpts[hit.id], file, explain)
        if reason is not None:
            click.echo(_words_of(reason))
    if explain:
        click.echo("  ".join(f"{stage} {ms:.2f} ms" for stage, ms in hits.timings.items()))


def _words_of(reason):
    """What each word of the question gave to a passage's score."""
    shares = (f"{printable(t.term)} {t.contribution:.3f} ({t.tf}×)" for t in reason.terms if t.tf)
    return f"   words: {', '.join(shares) or 'none'}\n"
