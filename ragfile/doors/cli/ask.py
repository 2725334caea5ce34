"""`ragfile ask`: answer a question with sources, as text or JSON."""

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
    from collections.abc import Iterator
    from typing import Any

    from ragfile.answer.answers import Answer, Events
    from ragfile.answer.citations import Citation, Source
    from ragfile.answer.pipeline import Unreadable
    from ragfile.ground.option_table import OptionTable
    from ragfile.knowledge_base import KnowledgeBase

WITHOUT = "To get a written answer, name a model: --model openai:MODEL or --model ollama:MODEL."
FAILED = 1
NEAREST = 3  # passages listed if nothing supports an answer
BESIDE = "no passage supports an answer; these are the nearest"
UNSUPPORTED = "no passage has more than half of the question's words: check the answer"


class AskCommand(QuestionCommand):
    """A question command with the options of an answer."""

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
    help="Chat model, openai:MODEL or ollama:MODEL. Default: quote sentences of the file.",
)
@click.option("--embedder", help="Embedder for the question, if the file does not record one.")
@click.option("--stream", is_flag=True, help="With --json: print one event per line as it arrives.")
@offline_option
@cache_option
@generation_option
@url_cache_option
@json_option
def ask_command(
    file: str,
    question: str,
    k: int,
    model: str | None,
    stream: bool,
    embedder: str | None,
    embedding_cache: str | None,
    generation: int,
    cache: str | None,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    """Answer a question, citing the exact characters of each source."""
    if stream and not as_json:
        raise click.UsageError("--stream requires --json; plain answers are always streamed")
    if not question.strip():
        raise click.UsageError("the question is empty")
    opening = {
        "embedder": embedder, "generation": generation, "embedding_cache": embedding_cache,
        "cache": cache,
    }  # fmt: skip
    may_fail = bool(options.get("allow_ungrounded", False) and model)
    with (
        _opened(file, may_fail, opening) as rf,
        _events(rf, question, options | {"k": k, "model": model}) as events,
    ):
        show = _show_lines if stream else _show_json if as_json else _show
        answer = show(events)
    if model and answer.finish in ("error", "extract"):
        sys.exit(FAILED)


def _events(rf: KnowledgeBase | Unreadable, question: str, options: dict[str, Any]) -> Events:
    from ragfile.qa import ask

    return cast("Events", ask(rf, question, stream=True, **options))


def _opened(file: str, may_fail: bool, options: dict[str, Any]) -> KnowledgeBase | Unreadable:
    from ragfile.errors import FormatError
    from ragfile.opener import open as open_file

    try:
        return passages(open_file(file, **options))
    except (FormatError, OSError) as error:
        if not may_fail:
            raise
        from ragfile.answer.pipeline import Unreadable

        return Unreadable(error)


def _show_json(events: Events) -> Answer:
    answer = events.answer()
    emit(answer.to_dict())
    return answer


def _show_lines(events: Events) -> Answer:
    for event in events:
        click.echo(json.dumps(event.to_dict()))
    return cast("Answer", event.data)  # pyright: ignore[reportPossiblyUnboundVariable]  # never empty


def _show(events: Events) -> Answer:
    """Print the text as it arrives, then the cited sources."""
    for event in events:
        if event.kind == "delta":
            click.echo(_shown(event.data), nl=False)
    answer = cast("Answer", event.data)  # pyright: ignore[reportPossiblyUnboundVariable]  # never empty
    click.echo("\n" if answer.text else "", nl=False)
    _show_sources(answer)
    for reason in _remarks(answer):
        click.echo(f"ragfile: {reason}", err=True)
    return answer


def _shown(text: str) -> str:
    """Replace control characters other than line ends, which a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def _show_sources(answer: Answer) -> None:
    numbers = dict.fromkeys(citation.number for citation in answer.citations)
    if not answer.supported and not answer.model:
        numbers = dict.fromkeys(source.number for source in answer.sources[:NEAREST])
    if numbers:
        click.echo()
    for source in answer.sources:
        if source.number in numbers:
            click.echo(_line(source, [c for c in answer.citations if c.number == source.number]))


def _line(source: Source, citations: list[Citation]) -> str:
    from ragfile.answer.citations import place_name

    spans = dict.fromkeys(f"{c.start}-{c.end}" for c in citations if c.start >= 0)
    at = f":{','.join(spans)}" if spans else ""
    named = click.style(printable(place_name(source)), bold=True)
    return f"[{source.number}] {printable(source.source)}{at}  {named}".rstrip()


def _remarks(answer: Answer) -> Iterator[str]:
    """Yield the warnings that belong to an answer."""
    if answer.degraded:
        yield printable(answer.degraded)
    if not answer.text:
        yield "nothing found"
    elif not answer.supported:
        yield UNSUPPORTED if answer.model else BESIDE
    elif not answer.model:
        yield WITHOUT
    if answer.finish == "length":
        yield "the answer reached its token limit; raise --max-tokens"
    for number in answer.unknown:
        yield f"the model cited [{number}], which does not exist"
    for sentence in answer.unsupported:
        yield f"not supported by the passages: {printable(sentence.text)}"
