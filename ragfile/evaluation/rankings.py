"""Rankings of documents, pages, sections or files from the passages that a search found.

Each has the rank of its best passage. Only `passage` counts the passages themselves: the first one of a
target has its rank, and the others take places.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ragfile.records import NUMBERED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ragfile.evaluation.questions import JudgedQuestion, Unit
    from ragfile.records import Hit


HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


def ranking(hits: Iterable[Hit], question: JudgedQuestion, unit: Unit) -> list[tuple[str, float]]:
    """Return the targets that the hits of a question stand for, best first, with scores.

    A hit stands for the first of its names that is judged, else for the most precise one. Hits that stand
    for something left out take no place.
    """
    found: dict[str, float] = {}
    for hit in hits:
        names = NAMES[unit](hit)
        if not question.left_out.isdisjoint(names):
            continue
        name = next((name for name in names if name in question.judged), names[0])
        if unit == "passage" and (name in found or name not in question.judged):
            name = hit.id
        found.setdefault(name, hit.score)
    return list(found.items())


def is_among(hits: Sequence[Hit], question: JudgedQuestion, unit: Unit, first: int) -> bool:
    """Return whether one of the first passages that count stands for a target that answers."""
    kept = (NAMES[unit](hit) for hit in hits)
    counted = [names for names in kept if question.left_out.isdisjoint(names)][:first]
    return any(question.judged.get(name, 0) > 0 for names in counted for name in names)


def resolved(question: JudgedQuestion, sources: Sequence[str]) -> JudgedQuestion | None:
    """Return a question about files with the paths that they have in a collection; None if one is not there.

    A path can have more folders before it than the other: of several files, the one that shares most counts.
    """
    judged: dict[str, int] = {}
    known = set(sources)
    for target, gain in question.judged.items():
        if target not in known:
            like = [source for source in sources if is_same_path(source, target)]
            if not like:
                return None
            target = max(like, key=len)
        judged[target] = max(gain, judged.get(target, gain))
    return replace(question, judged=judged)


def is_same_path(one: str, other: str) -> bool:
    """Return whether one path is the end of the other, as of a file in a folder and of the file there."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _document(hit: Hit) -> list[str]:
    return [hit.doc_id]


def _page(hit: Hit) -> list[str]:
    numbered = (f"{hit.doc_id}#{part}={hit.metadata.get(part)}" for part in NUMBERED)
    return [*(name for name in numbered if not name.endswith("=None")), hit.doc_id]


def _section(hit: Hit) -> list[str]:
    path = hit.metadata.get("headers")
    around = path.split(" > ") if isinstance(path, str) and path else []
    inside = HEADING.findall(hit.text)  # short sections are in one passage
    return [*(f"{hit.doc_id}#{slug(header)}" for header in (*around[::-1], *inside)), hit.doc_id]


def _file(hit: Hit) -> list[str]:
    return [hit.source or hit.doc_id]


def slug(header: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    kept = re.sub(r"[^\w\- ]", "", header.strip().lower())
    return kept.replace(" ", "-")


NAMES: dict[Unit, Callable[[Hit], list[str]]] = {
    "document": _document,
    "page": _page,
    "section": _section,
    "file": _file,
    "passage": _file,
}
