"""`ragfile eval` and `ragfile compare`: measure and compare the quality of retrieval."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ragfile.doors.cli.failures import WRONG
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
    "titles ndcg@10": "titles nDCG",
    "titles mrr@10": "titles MRR",
    "titles first": "first",
}

Report = dict[str, Any]  # the JSON of a measurement or comparison


class Bar(NamedTuple):
    """The minimum of a measure."""

    mode: str
    measure: str
    floor: float


@click.command("eval")
@click.argument("folders", nargs=-1, required=True)
@click.option(
    "--embedder",
    default="default",
    show_default=True,
    help="Embedding model: default, none, st:…, onnx:…, openai:…, ollama:…",
)
@click.option(
    "--rerank",
    "reranker",
    help="Cross-encoder for reranking, instead of the built-in reranker.",
)
@click.option(
    "--split", default="test", show_default=True, help="Judgements to use: qrels/SPLIT.tsv."
)
@click.option(
    "--keep", type=click.Path(), help="Save the built file under this name (one collection only)."
)
@click.option(
    "--anchors",
    type=click.Path(exists=True, dir_okay=False),
    help='Judge a folder of pages by its own links, given as JSON: [{"q": question, "t": id of the answer, '
    '"src": [ids to leave out]}, …].',
)
@click.option(
    "--runs",
    type=click.Path(file_okay=False),
    help="Write each mode's ranking (TREC) and each query's scores (JSON) to this folder.",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="[MODE:]MEASURE=N",
    help="Exit with 1 if a measure is below N, such as ndcg@10=.40 or bm25:mrr=.6. Default MODE: hybrid.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def eval_command(
    folders: tuple[str, ...],
    embedder: str,
    reranker: str | None,
    split: str,
    keep: str | None,
    anchors: str | None,
    runs: str | None,
    fail_under: tuple[str, ...],
    as_json: bool,
) -> None:
    """Measure every search mode on judged questions.

    FOLDERS have the BEIR layout (corpus.jsonl, queries.jsonl, qrels/), or are ir:ID of the package
    ir_datasets.
    """
    _refuse_missing(folders)
    bars = [_bar(text) for text in fail_under]
    from ragfile.evaluation.anchors import judge_anchors
    from ragfile.evaluation.benchmark import judge

    if keep and len(folders) > 1:
        raise click.UsageError("--keep requires a single collection")
    if anchors and (len(folders) > 1 or reranker or runs):
        raise click.UsageError("--anchors requires a single folder, without --rerank and --runs")
    with Progress().ticking(f"measuring {', '.join(folders)}"):
        if anchors:
            reports = [
                judge_anchors(folder, anchors, embedder=embedder, keep=keep) for folder in folders
            ]
        else:
            options: dict[str, Any] = {
                "embedder": embedder,
                "reranker": reranker,
                "split": split,
                "keep": keep,
            }
            options["runs"] = runs
            reports = [judge(folder, **options) for folder in folders]
    if as_json:
        click.echo(json.dumps(reports, indent=2))
    for report in [] if as_json else reports:
        _show(report)
    below = [line for report in reports for line in _below(report, bars)]
    for line in below:
        click.echo(f"ragfile: {line}", err=True)
    sys.exit(WRONG if below else 0)


def _refuse_missing(folders: tuple[str, ...]) -> None:
    for folder in folders:
        if not (folder.startswith("ir:") or os.path.isdir(folder)):
            raise click.UsageError(f"{folder}: no such folder")


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
        f"{report['collection']}: {report['documents']} documents, {report['queries']} judged queries"
    )
    shown = list(next(iter(report["modes"].values())))
    click.echo(f"  {'':<16}" + "".join(f"{MEASURES[name]:>12}" for name in shown))
    for mode, scores in report["modes"].items():
        click.echo(f"  {mode:<16}" + "".join(f"{scores[name]:>12.4f}" for name in shown))
    if "milliseconds" in report:
        times = ", ".join(
            f"{name} {value:.2f} ms" for name, value in report["milliseconds"].items()
        )
        click.echo(f"  a hybrid question by the clock: {times}")


@click.command()
@click.argument("before")
@click.argument("after")
@click.option(
    "--questions",
    type=click.Path(exists=True, dir_okay=False),
    help="For two files: the questions, one per line, or queries.jsonl.",
)
@click.option(
    "--qrels",
    type=click.Path(exists=True, dir_okay=False),
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
            f"[{m['low']:+.4f}, {m['high']:+.4f}], p = {m['p']:.3f}"
        )
