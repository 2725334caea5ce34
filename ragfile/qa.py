"""From a question to an answer with its sources, or to a prompt for any model.

answer = rf.ask("how do I rotate the keys?", model="openai:gpt-4.1-mini")
answer.text          with [n] for the passages that support it
answer.citations     each [n], checked: document, page or header path, exact characters
answer.sources       the passages by their numbers
answer.unsupported   sentences that the passages do not support

for event in rf.ask(question, model=…, stream=True):
    event.kind       sources, then delta and citation, then done or error

ready = prepare(rf, "how do I rotate the keys?", budget=2000)
ready.prompt         the text for the model
ready.sources        the sources of the passages, for people, ready for JSON
ready.contexts       the passages in the prompt
ready.dropped        passages that did not fit, with the reason
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
    """A prompt for a model, with its passages and sources.

    Attributes:
        prompt: The text for the model.
        sources: Where the passages are from, one entry per file and page or section, ready for JSON.
        contexts: The passages in the prompt, best first.
        dropped: Passages that did not fit, with the reason.
        tokens: Size of the passages in tokens, with their source lines.
        degraded: Why a retriever of the search was skipped, or "".
        request_id: Name of the request in the log.
    """

    prompt: str
    sources: list[dict[str, Any]]
    contexts: list[Candidate]
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    tokens: int = 0
    degraded: str = ""
    request_id: str = ""


def prepare(
    rf: KnowledgeBase, question: str, *, k: int = K, rerank: str | Reranker | None = None,
    budget: int = BUDGET, template: str = TEMPLATE, count: Callable[[str], int] = estimate_tokens,
    system: Iterable[str] = (), limit: int | None = None, per_file: int | None = None,
    neighbours: bool = True, **search: Unpack[RetrievalOptions],
) -> Ready:  # fmt: skip
    """Search, fit the passages into a budget, and render a prompt, without calling a model.

    Args:
        rf: The knowledge base.
        question: The question.
        k: Number of passages to retrieve.
        rerank: A model that reorders the passages, as for `search`.
        budget: Number of tokens for the passages with their source lines. The question and the
            template's own text are not counted.
        template: Template of the prompt; see ragfile.answer.prompts.
        count: Function that counts the tokens of a text.
        system: Texts to put before the prompt.
        limit: Maximum number of passages.
        per_file: Maximum number of passages of one file.
        neighbours: Extend the best passages with the chunks that follow under the same heading.
        **search: Options of the search; see docs/reference/search-options.md.

    Returns:
        The prompt, its passages and their sources.

    Raises:
        ValueError: The budget is negative, an option is out of bounds, or the template is invalid.
    """
    hits = rf.search(question, k, rerank=rerank, **search)
    found = candidates_of(hits)
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


def _frame(
    question: str, candidates: Iterable[Candidate], template: str, count: Callable[[str], int]
) -> int:
    """Return the most tokens that the template adds around one of the passages."""
    alone = count(render(question, [], template))
    return max(
        (count(render(question, [c.without_text()], template)) - alone for c in candidates),
        default=0,
    )
