"""`ragfile ask`: answer a question with sources, as text or JSON."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, cast

import click

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
from ragfile.doors.cli.searchable import FilesToOpen, searchable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ragfile.answer.answers import Answer, Events
    from ragfile.answer.citations import Citation, Source
    from ragfile.answer.pipeline import Unreadable
    from ragfile.doors.cli.shown_hits import Home
    from ragfile.ground.option_table import OptionTable
    from ragfile.knowledge_base import KnowledgeBase

WITHOUT = "To get a written answer, name a model: --model openai:MODEL or --model ollama:MODEL."
FAILED, UNANSWERED = 1, 4
NEAREST = 3  # passages listed if nothing supports an answer
UNSUPPORTED = "no passage supports an answer (weak): check it"


class AskCommand(QuestionCommand):
    """A question command with the options of an answer."""

    def table(self) -> OptionTable:
        from ragfile.answer.ask_options import ASK

        return ASK


@click.command("ask", cls=AskCommand)
@click.argument("file", type=FilePath())
@click.argument("question")
@k_option(12)
@click.option(
    "--model",
    envvar="RAGFILE_MODEL",
    show_envvar=True,
    help="Chat model, openai:MODEL or ollama:MODEL. Default: quote the file.",
)
@click.option("--embedder", help="Embedder for the question, if the file does not record one.")
@click.option("--stream", is_flag=True, help="With --json: print one event per line as it arrives.")
@offline_option
@cache_option
@place_options
@dim_option
@generation_option
@over_option
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
    root: str | None,
    base_url: str | None,
    dim: int | None,
    generation: int,
    over: tuple[str, ...],
    cache: str | None,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    """Answer a question, citing the exact characters of each source.

    FILE can be a folder of texts: a copy in the cache, which `ragfile cache` lists, is brought up to date.
    """
    if stream and not as_json:
        raise click.UsageError("--stream requires --json; plain answers are always streamed")
    check_question(file, question, "ask")
    opening = {
        "embedder": embedder, "generation": generation, "embedding_cache": embedding_cache,
        "cache": cache, "dim": dim,
    }  # fmt: skip
    may_fail = bool(options.get("allow_ungrounded", False) and model)
    with (
        searchable(file, over, root, base_url, opening) as found,
        _opened(found, may_fail) as rf,
        _events(rf, question, options | {"k": k, "model": model}) as events,
    ):
        shown = partial(_show, rf=rf, home=found.home, is_asked=model is not None)
        show = _show_lines if stream else _show_json if as_json else shown
        answer = show(events)
    if model and answer.finish in ("error", "extract"):
        sys.exit(FAILED)
    if not answer.model and not answer.supported:
        sys.exit(UNANSWERED)


def _events(rf: KnowledgeBase | Unreadable, question: str, options: dict[str, Any]) -> Events:
    from ragfile.qa import ask

    return cast("Events", ask(rf, question, stream=True, **options))


def _opened(found: FilesToOpen, may_fail: bool) -> KnowledgeBase | Unreadable:
    from ragfile.errors import FormatError
    from ragfile.opener import open_passages

    try:
        return open_passages(found.file, **found.opening)
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


def _show(events: Events, rf: KnowledgeBase | Unreadable, home: Home, is_asked: bool) -> Answer:
    """Print the text as it arrives, then the cited sources."""
    for event in events:
        if event.kind == "delta":
            click.echo(_shown(event.data), nl=False)
    answer = cast("Answer", event.data)  # pyright: ignore[reportPossiblyUnboundVariable]  # never empty
    click.echo("\n" if answer.text else "", nl=False)
    _show_sources(answer, rf, home)
    for reason in _remarks(answer, is_asked):
        click.echo(f"ragfile: {reason}", err=True)
    return answer


def _shown(text: str) -> str:
    """Replace control characters other than line ends, which a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def _show_sources(answer: Answer, rf: KnowledgeBase | Unreadable, home: Home) -> None:
    numbers = dict.fromkeys(citation.number for citation in answer.citations)
    if not answer.supported and not answer.model:
        numbers = dict.fromkeys(source.number for source in answer.sources[:NEAREST])
        click.echo("\nThe nearest passages:" if numbers else "", nl=bool(numbers))
    elif numbers:
        click.echo()
    for source in answer.sources:
        if source.number in numbers:
            cited = [c for c in answer.citations if c.number == source.number]
            click.echo(_line(source, _places(rf, source, cited), home))


def _places(rf: KnowledgeBase | Unreadable, source: Source, citations: list[Citation]) -> list[str]:
    """Return the lines of citations in the source's file, if they are known."""
    from ragfile.answer.pipeline import Unreadable
    from ragfile.doors.cli.shown_hits import lines_of

    lines = None if isinstance(rf, Unreadable) else lines_of(rf, source.doc_id)
    if lines is None:
        return []
    ranges = [lines.range(c.start, c.end) for c in citations if c.start >= 0]
    return list(dict.fromkeys(f"{a}-{b}" if b > a else str(a) for a, b in sorted(ranges)))


def _line(source: Source, places: list[str], home: Home) -> str:
    from ragfile.answer.citations import place_name

    at = f":{','.join(places)}" if places else ""
    named = click.style(printable(place_name(source)), bold=True)
    standing = f"  ({printable(source.standing)})" if source.standing else ""
    where = f"{printable(home.place(source.source))}{at}"
    return f"[{source.number}] {where}  {named}".rstrip() + standing


def _remarks(answer: Answer, is_asked: bool) -> Iterator[str]:
    """Yield the warnings that belong to an answer; `is_asked` if a model was to write it."""
    if answer.degraded:
        yield printable(answer.degraded)
    if not answer.text:
        yield "nothing found"
    elif not answer.supported:
        if answer.model:
            yield UNSUPPORTED
    elif not (answer.model or is_asked):
        yield WITHOUT
    if answer.finish == "length":
        yield "the answer reached its token limit; raise --max-tokens"
    for number in answer.unknown:
        yield f"the model cited [{number}], which does not exist"
    unsupported = list(dict.fromkeys(printable(one.text) for one in answer.unsupported))
    if len(unsupported) == 1:
        yield f"not supported by the passages: {unsupported[0]}"
    elif unsupported:
        yield "\n  ".join(["not supported by the passages:", *unsupported])
