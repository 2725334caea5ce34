"""The log of searches: one record each, as fields and as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragfile.records import Hits
    from ragfile.search.question import Question


LOG = "ragfile.search"


def write(path: str, question: Question, i: int, hits: Hits) -> None:
    """Log the answer to text i of a question."""
    import logging  # the program has imported it, or nobody would read the log

    log = logging.getLogger(LOG)
    record = _record(path, question, i, hits, has_text=log.isEnabledFor(logging.DEBUG))
    log.info("%s", _sentence(record), extra={"ragfile": record})


def _record(
    path: str, question: Question, i: int, hits: Hits, *, has_text: bool
) -> dict[str, Any]:  # fmt: skip
    """Return the fields of a search. A question can be private: its text is logged at level DEBUG only."""
    asked = {"query": question.texts[i]} if has_text else {}
    return {
        "request_id": hits.request_id, "path": path, "generation": hits.generation, **asked,
        "k": question.k, "mode": question.mode, "found": len(hits), "degraded": hits.degraded,
        "scores": [hit.score for hit in hits], "timings": hits.timings,
    }  # fmt: skip


def _sentence(record: dict[str, Any]) -> str:
    """Return a search as one sentence."""
    spent = sum(record["timings"].values())
    line = f"{record['path']}: {record['found']} of {record['k']} passages by {record['mode']} search in {spent:.1f} ms"
    asked = f", asked {record['query']!r}" if "query" in record else ""
    why = f", degraded: {record['degraded']}" if record["degraded"] else ""
    return f"{line}{asked}{why} [{record['request_id']}]"
