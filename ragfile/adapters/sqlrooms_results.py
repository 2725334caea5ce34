"""What SQLRooms' programs do with results: put rankings together by themselves, and print hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

PREVIEW = 400  # characters of a hit's text
LINE = 80


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[str]], k: int = 60
) -> list[tuple[str, float]]:
    """(id, Σ 1 / (k + rank)) of ids in several rankings, best first; equal ones in order of first
    mention.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def print_results(results: Sequence[dict[str, Any]], query_text: str) -> None:
    """Prints hits of hybrid_query: score, id, file, section, and how the text begins."""
    print(f"\nQuery: {query_text}\n{'=' * LINE}\n{len(results)} results\n")
    for number, hit in enumerate(results, 1):
        print("\n".join(_lines(number, hit)))
        print("-" * LINE)


def _lines(number, hit):
    metadata, text = hit["metadata"], hit["text"]
    yield f"{number}. Score: {hit['score']:.4f} ({hit['score_type']})"
    yield f"   Node ID: {hit['node_id']}"
    for label, key in (("Source", "file_name"), ("Section", "header_path")):
        if metadata.get(key):
            yield f"   {label}: {metadata[key]}"
    yield f"   Text: {text[:PREVIEW]}{'…' if len(text) > PREVIEW else ''}"
