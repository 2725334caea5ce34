"""`ragfile eval` and `ragfile compare`: measure and compare the quality of retrieval."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ragfile.doors.cli.failures import WRONG
from ragfile.doors.cli.options import FilePath
from ragfile.doors.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.types import Mode

MEASURES = {
    "ndcg@10": "nDCG@10",
    "recall@100": "Recall@100",
    "mrr": "MRR",
    "mrr@10": "MRR@10",
    "first": "first",
    "found@5": "found@5",
}
ROLES = {"": "judged by", "dev": "chosen on", "held": "held back"}

Report = dict[str, Any]  # the JSON of a measurement or comparison


class Bar(NamedTuple):
    """The minimum of a measure."""

    mode: str
    measure: str
    floor: float


@click.command("eval")
@click.argument("collections", nargs=-1, required=True, type=FilePath())
@click.option(
    "--questions", metavar="FILE|SPLIT",
    help="Judged questions. Default: the split `test` of a folder in BEIR layout.",
)  # fmt: skip
@click.option(
    "--dev", metavar="FILE|SPLIT", help="Questions that rules were chosen on; reported apart."
)
@click.option(
    "--held", metavar="FILE|SPLIT",
    help="Questions that only judge. None of them may be among those of --dev.",
)  # fmt: skip
@click.option(
    "--queries", type=FilePath(exists=True, dir_okay=False),
    help="Texts of the queries of qrels: JSON lines, or an id, a tab and a text a line.",
)  # fmt: skip
@click.option(
    "--by", "unit", type=click.Choice(["document", "page", "section", "file", "passage"]),
    help="The unit that is ranked. Default: that of the targets.",
)  # fmt: skip
@click.option(
    "--chunking",
    help="Chunk policy of the build, or whole: one passage a document. Default: markdown.",
)
@click.option(
    "--embedder",
    default="default",
    show_default=True,
    help="Embedding model: default, none, st:…, onnx:…, openai:…, ollama:…",
)
@click.option("--rerank", "reranker", help="Also measure hybrid searches re-ranked by this model.")
@click.option(
    "--depth", type=click.IntRange(min=1), default=100, show_default=True,
    help="Passages of each search, such as the number that you use.",
)  # fmt: skip
@click.option(
    "--keep", type=FilePath(), help="Save the built file under this name (one collection only)."
)
@click.option(
    "--runs",
    type=FilePath(file_okay=False),
    help="Write each mode's ranking (TREC) and each question's scores (JSON) to this folder.",
)
@click.option(
    "--against",
    type=FilePath(exists=True, file_okay=False),
    help="Compare with the --runs folder of an earlier evaluation, question by question.",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="[MODE:]MEASURE=N",
    help="Exit with 1 if a measure is below N, such as ndcg@10=.40 or bm25:mrr=.6. Default MODE: hybrid. "
    "With --held, the held questions count.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def eval_command(
    collections: tuple[str, ...],
    fail_under: tuple[str, ...],
    as_json: bool,
    **options: Any,  # Any: as click parses them
) -> None:
    """Measure every search mode on judged questions.

    COLLECTIONS are folders in BEIR layout (corpus.jsonl, queries.jsonl, qrels/), ir:ID of the package
    ir_datasets, folders of files or RAGFiles with --questions, or runs in TREC's format.
    """
    _refuse_missing(collections)
    bars = [_bar(text) for text in fail_under]
    from ragfile.evaluation.benchmark import judge

    if options["keep"] and len(collections) > 1:
        raise click.UsageError("--keep requires a single collection")
    with Progress().ticking(f"measuring {', '.join(collections)}"):
        reports = [judge(collection, **options) for collection in collections]
    if as_json:
        click.echo(json.dumps(reports, indent=2))
    for report in [] if as_json else reports:
        _show(report)
    below = [line for report in reports for line in _below(report, bars)]
    for line in below:
        click.echo(f"ragfile: {line}", err=True)
    sys.exit(WRONG if below else 0)


def _refuse_missing(collections: tuple[str, ...]) -> None:
    for collection in collections:
        if not (collection.startswith("ir:") or os.path.exists(collection)):
            raise click.UsageError(f"{collection}: no such file or folder")


def _bar(text: str) -> Bar:
    """Parse a limit of --fail-under."""
    mode, _, rest = text.rpartition(":")
    measure, _, floor = rest.partition("=")
    try:
        return Bar(mode or "hybrid", measure, float(floor))
    except ValueError:
        raise click.UsageError(f"--fail-under takes [MODE:]MEASURE=N, not {text!r}") from None


def _below(report: Report, bars: list[Bar]) -> Iterator[str]:
    for mode, measure, floor in bars:
        scores = report["modes"].get(mode)
        if scores is None or measure not in scores:
            known = sorted({f"{m}:{name}" for m, s in report["modes"].items() for name in s})
            raise click.UsageError(f"no measure {mode}:{measure}; use one of {', '.join(known)}")
        if scores[measure] < floor:
            found = f"{mode} {measure} is {scores[measure]:.4f}"
            yield f"{report['collection']}: {found}, below {floor:g}"


def _show(report: Report) -> None:
    click.echo(
        f"{report['collection']}: {report['documents']:,} documents, {report['chunks']:,} passages"
    )
    for one in report["sets"]:
        _show_set(one)
    if "milliseconds" in report:
        times = ", ".join(
            f"{name} {value:.2f} ms" for name, value in report["milliseconds"].items()
        )
        click.echo(f"  a hybrid question by the clock: {times}")


def _show_set(one: dict[str, Any]) -> None:
    """Print the measures of a set of questions, with intervals of 95 %."""
    more = f", {one['left_out']:,} left out" if one["left_out"] else ""
    what = f"{one['queries']:,} judged questions{more}, ranked by {one['unit']}"
    click.echo(f"{ROLES[one['role']]} {one['name']} ({one['digest'][:8]}): {what}")
    modes = one["modes"]
    click.echo(f"  {'':<12}" + "".join(f"{mode:<24}" for mode in modes).rstrip())
    for name, shown in MEASURES.items():
        cells = ((modes[mode][name], *one["intervals"][mode][name]) for mode in modes)
        line = "".join(f"{mean:.4f} [{low:.4f} {high:.4f}]   " for mean, low, high in cells)
        click.echo(f"  {shown:<12}{line}".rstrip())
    for group, found in one["groups"].items():
        values = ", ".join(
            f"{mode} {scores['ndcg@10']:.4f} / {scores['mrr@10']:.4f}"
            for mode, scores in found["modes"].items()
        )
        click.echo(f"  {group} ({found['queries']:,}), nDCG@10 / MRR@10: {values}")
    first = next(iter(modes))
    _show_differences(one["differences"], first)
    _show_differences(one.get("against", {}), "before")


def _show_differences(differences: dict[str, Any], other: str) -> None:
    for mode, measures in differences.items():
        for name in ("ndcg@10", "mrr@10"):
            m = measures[name]
            click.echo(
                f"  {mode} against {other}: {MEASURES[name]} {m['difference']:+.4f} "
                f"[{m['low']:+.4f} {m['high']:+.4f}], {_chance(m['p'])}"
            )


@click.command()
@click.argument("before", type=FilePath())
@click.argument("after", type=FilePath())
@click.option(
    "--questions",
    type=FilePath(exists=True, dir_okay=False),
    help="For two files: the questions, one per line, or queries.jsonl.",
)
@click.option(
    "--qrels",
    type=FilePath(exists=True, dir_okay=False),
    help="Judgements (BEIR or TREC), to test whether the change is significant.",
)
@click.option(
    "-k",
    default=10,
    show_default=True,
    type=click.IntRange(min=1),
    help="Number of results to compare.",
)
@click.option("--mode", default="hybrid", show_default=True, help="For two files: the search mode.")
@click.option(
    "--fail-over",
    type=click.IntRange(min=0),
    help="Exit with 1 if more questions than this have different answers.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    before: str,
    after: str,
    questions: str | None,
    qrels: str | None,
    k: int,
    mode: Mode,
    fail_over: int | None,
    as_json: bool,
) -> None:
    """Show which answers changed from one file or run to another.

    \b
    ragfile compare old.ragfile new.ragfile --questions questions.txt
    ragfile compare before.run after.run --qrels qrels/test.tsv
    """
    from ragfile.evaluation import comparison
    from ragfile.evaluation.measures import read_qrels

    runs = [
        _run(path, questions, k if qrels is None else max(k, 100), mode) for path in (before, after)
    ]
    judged = None if qrels is None else read_qrels(qrels)
    report = comparison.compare(*runs, k=k, qrels=judged)
    if as_json:
        click.echo(json.dumps(report, indent=2))
    else:
        _show_changes(report)
    sys.exit(WRONG if fail_over is not None and len(report["changed"]) > fail_over else 0)


def _run(
    path: str, questions: str | None, k: int, mode: Mode
) -> dict[str, list[tuple[str, float]]]:
    from ragfile.evaluation.runs import best_passages, read_run
    from ragfile.opener import open as open_file

    if questions is None:
        try:
            return read_run(path)
        except UnicodeDecodeError:
            message = f"{path} is not a run; to compare two files, pass --questions"
            raise click.UsageError(message) from None
    asked = _asked(questions)
    with open_file(path) as rf:
        answers = rf.search_batch(list(asked.values()), k, mode=mode, pool=max(k, 50))
        return {
            name: best_passages([(hit.doc_id, hit.score) for hit in hits])
            for name, hits in zip(asked, answers, strict=True)
        }


def _asked(path: str) -> dict[str, str]:
    """Read questions by name, one per line or JSON lines with _id and text."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()]
    if lines and lines[0].startswith("{"):
        records = [json.loads(line) for line in lines]
        return {str(record["_id"]): record["text"] for record in records}
    return {line: line for line in lines}


def _show_changes(report: Report) -> None:
    changed, count = report["changed"], report["questions"]
    click.echo(
        f"{len(changed)} of {count} questions have different answers in the top {report['k']}"
    )
    for one in changed:
        changes = [f"+{name}" for name in one["came"]] + [f"-{name}" for name in one["gone"]]
        changes += [f"{name} {old}→{new}" for name, old, new in one["moved"]]
        click.echo(f"  {one['question']}: {', '.join(changes)}")
    for name, m in report.get("measures", {}).items():
        click.echo(
            f"{name}: {m['before']:.4f} → {m['after']:.4f}, {m['difference']:+.4f} "
            f"[{m['low']:+.4f}, {m['high']:+.4f}], {_chance(m['p'])}"
        )


def _chance(p: float) -> str:
    """Format the probability of such a difference by chance; the bootstrap knows none below 1 in 10,000."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
