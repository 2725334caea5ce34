"""ragfile ask: an answer with its sources on the terminal, or as JSON."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, cast

import click

from ragfile.doors.cli.options import (
    QuestionCommand,
    cache_option,
    generation_option,
    json_option,
    k_option,
    offline_option,
    url_cache_option,
)
from ragfile.doors.cli.report_lines import emit, passages, printable

if TYPE_CHECKING:
    from ragfile.answer.answers import Events
    from ragfile.ground.option_table import OptionTable

WITHOUT = "For a written answer name a model: --model openai:MODEL or --model ollama:MODEL."
FAILED = 1
NEAREST = 3  # passages that are named where nothing supports an answer
BESIDE = "the passages named are the nearest"
UNSUPPORTED = "no passage has more than half of the question's words: check the answer"


class AskCommand(QuestionCommand):
    """The same for `ask`, with the options of a model."""

    def table(self) -> OptionTable:
        from ragfile.answer.ask_options import ASK

        return ASK


@click.command("ask", cls=AskCommand)
@click.argument("file")
@click.argument("question")
@k_option(12)
@click.option(
    "--model",
    envvar="RAGFILE_MODEL",
    show_envvar=True,
    help="openai:MODEL or ollama:MODEL; without one, sentences of the file.",
)
@click.option("--embedder", help="The embedder for the question, where the file does not know it.")
@click.option("--stream", is_flag=True, help="With --json: one event a line, as it comes.")
@offline_option
@cache_option
@generation_option
@url_cache_option
@json_option
def ask_command(
    file, question, k, model, stream, embedder, embedding_cache, generation, cache, as_json, options
):
    """Answer a question with its sources. They open at the exact characters."""
    if stream and not as_json:
        raise click.UsageError(
            "--stream goes with --json: without it an answer always comes as it is written"
        )
    if not question.strip():
        raise click.UsageError("the question is empty")
    opening = {
        "embedder": embedder, "generation": generation, "embedding_cache": embedding_cache,
        "cache": cache,
    }  # fmt: skip
    may_fail = options.get("allow_ungrounded", False) and model
    with (
        _opened(file, may_fail, opening) as rf,
        _events(rf, question, options | {"k": k, "model": model}) as events,
    ):
        show = _show_lines if stream else _show_json if as_json else _show
        answer = show(events)
    if model and answer.finish in ("error", "extract"):
        sys.exit(FAILED)


def _events(rf, question, options) -> Events:
    from ragfile.qa import ask

    return cast("Events", ask(rf, question, stream=True, **options))


def _opened(file, may_fail, options):
    from ragfile.errors import FormatError
    from ragfile.opener import open as open_file

    try:
        return passages(open_file(file, **options))
    except (FormatError, OSError) as error:
        if not may_fail:
            raise
        from ragfile.answer.pipeline import Unreadable

        return Unreadable(error)


def _show_json(events):
    answer = events.answer()
    emit(answer.to_dict())
    return answer


def _show_lines(events):
    for event in events:
        click.echo(json.dumps(event.to_dict()))
    return event.data  # pyright: ignore[reportPossiblyUnboundVariable]  # there is always a last event


def _show(events):
    """The text as it comes, then the sources that it names."""
    for event in events:
        if event.kind == "delta":
            click.echo(_shown(event.data), nl=False)
    answer = event.data  # pyright: ignore[reportPossiblyUnboundVariable]  # there is always a last event
    click.echo("\n" if answer.text else "", nl=False)
    _show_sources(answer)
    for reason in _remarks(answer):
        click.echo(f"ragfile: {reason}", err=True)
    return answer


def _shown(text):
    """Text for a terminal: line ends stay, other control characters control nothing."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def _show_sources(answer):
    numbers = dict.fromkeys(citation.number for citation in answer.citations)
    if not answer.supported and not answer.model:
        numbers = dict.fromkeys(source.number for source in answer.sources[:NEAREST])
    if numbers:
        click.echo()
    for source in answer.sources:
        if source.number in numbers:
            click.echo(_line(source, [c for c in answer.citations if c.number == source.number]))


def _line(source, citations):
    from ragfile.answer.citations import place_name

    spans = dict.fromkeys(f"{c.start}-{c.end}" for c in citations if c.start >= 0)
    at = f":{','.join(spans)}" if spans else ""
    named = click.style(printable(place_name(source)), bold=True)
    return f"[{source.number}] {printable(source.source)}{at}  {named}".rstrip()


def _remarks(answer):
    """What the reader of an answer has to know besides."""
    if answer.degraded:
        yield printable(answer.degraded)
    if not answer.text:
        yield "nothing found"
    elif not answer.supported:
        yield UNSUPPORTED if answer.model else BESIDE
    elif not answer.model:
        yield WITHOUT
    if answer.finish == "length":
        yield "the answer ends at its limit of tokens (--max-tokens)"
    for number in answer.unknown:
        yield f"the model cited [{number}], and there is no such passage"
    for sentence in answer.unsupported:
        yield f"not borne out by the passages: {printable(sentence.text)}"
