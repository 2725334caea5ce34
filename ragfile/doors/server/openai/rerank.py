"""Re-ranking in the format that Cohere's and Jina's clients share.

The previous order of the texts is that of their cosines to the question, by the collection's
embedder. ragfile.rerank then weighs the words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.answer.passage_budget import estimate_tokens
from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.openai.models import collection_of
from ragfile.records import Candidate
from ragfile.search.reranker import rerank as reranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.embedding.protocol import Embedder
    from ragfile.ground.json_schema import Schema

MOST = 1000  # texts of one request, as in Cohere's interface
RANKING = s.shown(id=s.TEXT, model=s.TEXT, results=s.many(s.FREE), usage=s.FREE, meta=s.FREE)


def rerank_body(settings: Settings) -> Schema:
    """Return the schema of a request; unknown members are ignored."""
    record = {"type": "object", "properties": {"text": s.TEXT}, "required": ["text"]}
    documents = s.many({"anyOf": [s.TEXT, record]}, minItems=1, maxItems=MOST)
    known = {
        "model": s.TEXT, "query": s.TEXT, "documents": documents, "top_n": s.POSITIVE,
        "return_documents": s.YES,
    }  # fmt: skip
    return s.nullable({"type": "object", "properties": known, "required": ["query", "documents"]})


def rerank(service: Service, call: Call) -> dict[str, Any]:
    """Order texts by their relevance to a question."""
    body, name = s.given(call.body), collection_of(service, call)
    if not body["query"].strip():
        raise HttpFailure(422, "the query is blank: give the question's text", param="query")
    texts = [one if isinstance(one, str) else one["text"] for one in body["documents"]]
    rf = service.collections.at_commit(name)
    scores = _cosines(rf.embedder, body["query"], texts)
    given = [Candidate("", i, text, scores[i]) for i, text in enumerate(texts)]
    best = reranked(body["query"], given)[: body.get("top_n")]
    count = sum(map(estimate_tokens, [body["query"], *texts]))
    call.sink["embedded"] = len(texts) + 1
    return {
        "id": call.request_id, "object": "list", "model": name,
        "results": [_result(one, body.get("return_documents", False)) for one in best],
        "usage": {"prompt_tokens": count, "total_tokens": count},
        "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 0}},
    }  # fmt: skip


def _cosines(embedder: Embedder | None, query: str, texts: Sequence[str]) -> list[float]:
    """Return the cosine of each text to the question; zeros without an embedder."""
    if embedder is None:
        return [0.0] * len(texts)
    question = np.asarray(embedder.embed([query], "query"), np.float64)[0]
    vectors = np.asarray(embedder.embed(list(texts), "document"), np.float64)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(question)
    products = vectors @ question
    found: list[float] = np.divide(
        products, lengths, out=np.zeros_like(products), where=lengths > 0
    ).tolist()
    return found


def _result(candidate: Candidate, is_whole: bool) -> dict[str, Any]:
    found = {"index": candidate.chunk_index, "relevance_score": candidate.score}
    return found | ({"document": {"text": candidate.content}} if is_whole else {})
