"""Rankings on disk in TREC's format, which other evaluation tools read too.

q1 Q0 doc7 1 12.5 ragfile        question, (nothing), document, rank, score, name of the run
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

from ragfile.ground.atomic_replace import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.types import StrPath

# question → (document, score), best first
Run: TypeAlias = "dict[str, list[tuple[str, float]]]"


def write_run(path: StrPath, run: Mapping[str, Sequence[tuple[str, float]]], name: str) -> None:
    """Write a run. A document has the rank of its best passage."""
    lines = [
        f"{question} Q0 {document} {rank} {score!r} {name}\n"
        for question, ranked in run.items()
        for rank, (document, score) in enumerate(best_passages(ranked), 1)
    ]
    for line in lines:
        if len(line.split()) != 6:
            raise ValueError(
                f"a run separates its fields by blanks, so no name can hold one: {line!r}"
            )
    with replacing(path) as file:
        file.write("".join(lines).encode())


def best_passages(ranked: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return a ranking of documents from one of passages, each at its best passage's rank."""
    best: dict[str, float] = {}
    for document, score in ranked:
        best.setdefault(document, float(score))
    return list(best.items())


def is_run(path: str) -> bool:
    """Return whether a path is a run: the first line of the file has six fields, the fourth a rank."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        head = file.read(4096)
    fields = head.partition(b"\n")[0].split()
    return not head.startswith(b"RAGFILE") and len(fields) == 6 and fields[3].isdigit()


def read_run(path: StrPath) -> Run:
    """Read a run of any tool, ordered by score, then by rank."""
    found: dict[str, list[tuple[float, int, str]]] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if not fields:
                continue
            try:
                question, _, document, rank, score, _ = fields
                found.setdefault(question, []).append((-float(score), int(rank), document))
            except ValueError:
                raise ValueError(
                    f"{path}, line {number}: question Q0 document rank score name, not {line!r:.80}"
                ) from None
    return {
        question: [(document, -score) for score, _, document in sorted(ranked)]
        for question, ranked in found.items()
    }
