"""`ragfile eval`: the quality of retrieval over a judged collection."""

import json

import click

from ragfile.cli.progress import Progress

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


@click.command("eval")
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option(
    "--embedder",
    default="default",
    show_default=True,
    help="The model: default, none, st:…, onnx:…, openai:…, ollama:…",
)
@click.option(
    "--rerank",
    "reranker",
    help="A cross-encoder for the re-ranked rows, instead of the built-in measure.",
)
@click.option(
    "--split", default="test", show_default=True, help="The judgements to use: qrels/SPLIT.tsv."
)
@click.option(
    "--keep", type=click.Path(), help="Keep the built file under this name (one collection only)."
)
@click.option(
    "--anchors",
    type=click.Path(exists=True, dir_okay=False),
    help="Judge a folder of pages by its own links: questions, answers, pages to leave out.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def eval_command(folders, embedder, reranker, split, keep, anchors, as_json):
    """Measure every mode on judged questions. FOLDERS are in BEIR layout: corpus.jsonl,
    queries.jsonl, qrels/.
    """
    from ragfile.evaluation.anchors import judge_anchors
    from ragfile.evaluation.benchmark import judge

    if keep and len(folders) > 1:
        raise click.UsageError("--keep takes one collection")
    if anchors and (len(folders) > 1 or reranker):
        raise click.UsageError("--anchors takes one folder, and no --rerank")
    with Progress().ticking(f"measuring {', '.join(folders)}"):
        if anchors:
            reports = [judge_anchors(folders[0], anchors, embedder=embedder, keep=keep)]
        else:
            options = {"embedder": embedder, "reranker": reranker, "split": split, "keep": keep}
            reports = [judge(folder, **options) for folder in folders]
    if as_json:
        click.echo(json.dumps(reports, indent=2))
        return
    for report in reports:
        _show(report)


def _show(report):
    click.echo(
        f"{report['collection']}: {report['documents']} documents, {report['queries']} judged queries"
    )
    shown = list(next(iter(report["modes"].values())))
    click.echo(f"  {'':<16}" + "".join(f"{MEASURES[name]:>12}" for name in shown))
    for mode, scores in report["modes"].items():
        click.echo(f"  {mode:<16}" + "".join(f"{scores[name]:>12.4f}" for name in shown))
