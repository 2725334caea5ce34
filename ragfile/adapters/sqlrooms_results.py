"""Fuse rankings and print results, for programs written for SQLRooms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

PREVIEW = 400  # characters of a hit's text
LINE = 80


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[str]], k: int = 60
) -> list[tuple[str, float]]:
    """Return each id with Σ 1 / (k + rank) over the rankings, best first.

    Equal scores are in order of first occurrence.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def print_results(results: Sequence[dict[str, Any]], query_text: str) -> None:
    """Print results of hybrid_query: score, id, file, section, and the start of the text."""
    print(f"\nQuery: {query_text}\n{'=' * LINE}\n{len(results)} results\n")
    for number, hit in enumerate(results, 1):
        print("\n".join(_lines(number, hit)))
        print("-" * LINE)


def _lines(number: int, hit: Mapping[str, Any]) -> Iterator[str]:
    metadata, text = hit["metadata"], hit["text"]
    yield f"{number}. Score: {hit['score']:.4f} ({hit['score_type']})"
    yield f"   Node ID: {hit['node_id']}"
    for label, key in (("Source", "file_name"), ("Section", "header_path")):
        if metadata.get(key):
            yield f"   {label}: {metadata[key]}"
    yield f"   Text: {text[:PREVIEW]}{'…' if len(text) > PREVIEW else ''}"
