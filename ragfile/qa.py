"""From a question to an answer with its sources; or to all that a model needs, without calling one.

answer = rf.ask("how do I rotate the keys?", model="openai:gpt-4.1-mini")
answer.text          with [n] for the passages that it rests on
answer.citations     each [n], checked: document, page or header path, exact characters
answer.sources       the passages by their numbers
answer.unsupported   sentences that the passages do not bear out

for event in rf.ask(question, model=…, stream=True):
    event.kind       sources, then delta and citation, then done or error

ready = prepare(rf, "how do I rotate the keys?", budget=2000)
ready.prompt         the text for the model
ready.sources        what it is from, for people, ready for JSON
ready.contexts       the passages in it
ready.dropped        those that did not fit, with the reason
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from ragfile.answer.answers import Answer, Event, Events
from ragfile.answer.ask_options import BUDGET, AskOptions, K
from ragfile.answer.citations import Citation, Source, Unsupported
from ragfile.answer.continuations import read_on
from ragfile.answer.passage_budget import Dropped, estimate_tokens, pack
from ragfile.answer.pipeline import ask, candidates_of
from ragfile.answer.prompts import TEMPLATE, render, sources
from ragfile.ground.annotations import deferred
from ragfile.options import RetrievalOptions
from ragfile.records import Candidate
from ragfile.search.reranker import rerank as reranked
from ragfile.types import Reranker

if TYPE_CHECKING:
    from ragfile.knowledge_base import KnowledgeBase
else:
    KnowledgeBase = deferred("ragfile.knowledge_base", "KnowledgeBase")

__all__ = [
    "Answer",
    "AskOptions",
    "Citation",
    "Event",
    "Events",
    "Ready",
    "Source",
    "Unsupported",
    "ask",
    "prepare",
]


@dataclass(slots=True)
class Ready:
    """A question made ready for a model. `degraded` says why a leg of the search was left out, if
    one was.
    """

    prompt: str
    sources: list[dict[str, Any]]
    contexts: list[Candidate]
    dropped: list[Dropped] = field(default_factory=list)
    tokens: int = 0
    degraded: str = ""
    request_id: str = ""


def prepare(
    rf: KnowledgeBase, question: str, *, k: int = K, rerank: bool | str | Reranker = False,
    budget: int = BUDGET, template: str = TEMPLATE, count: Callable[[str], int] = estimate_tokens,
    system: Iterable[str] = (), limit: int | None = None, per_file: int | None = None,
    neighbours: bool = True, **search: Unpack[RetrievalOptions],
) -> Ready:  # fmt: skip
    """Searches, packs what was found into `budget` tokens by `count`, at most `limit` passages and
    `per_file` of one file, and renders the template.

    rerank is False, True for the built-in measure, or a model as ragfile.rerank takes it. The
    budget is for the passages with their source lines; the question and the template's own words
    come on top. search are options of rf.search, such as mode, where or drop_repeats; system are texts
    that go before the prompt.
    """
    hits = rf.search(question, k, **search)
    found = candidates_of(hits)
    if rerank:
        found = reranked(question, found, None if rerank is True else rerank)
    if neighbours:
        found = read_on(rf, found, hits)
    packed = pack(
        found,
        budget,
        count=count,
        frame=_frame(question, found, template, count),
        limit=limit,
        per_file=per_file,
    )
    return Ready(
        render(question, packed.contexts, template, system=system), sources(packed.contexts),
        packed.contexts, packed.dropped, packed.tokens, hits.degraded, hits.request_id,
    )  # fmt: skip


def _frame(question, candidates, template, count):
    """The most tokens that a template puts around one of these passages."""
    alone = count(render(question, [], template))
    return max(
        (count(render(question, [c.without_text()], template)) - alone for c in candidates),
        default=0,
    )
