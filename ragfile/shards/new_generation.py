"""A new generation of a dataset: shards first, then statistics, then the manifest, which is created only if nobody was faster.

A job that dies before its manifest is there leaves objects that nobody refers to; vacuum removes them. One that loses reads
the winner's manifest and makes its change again on top of it, unless both touched the same documents.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from ragfile.errors import ConflictError, FormatError, VersionError
from ragfile.shards import manifest as manifests
from ragfile.shards.manifest import FOLDER, TOUCHED_LIMIT, Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragfile.shards.stores import Store

ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 64, 0.02, 2.0
Touched = dict[str, Any]


def read(place: Store, generation: int = 0) -> Manifest:
    """The manifest of a generation, the newest for 0."""
    found, number = raw(place, generation)
    return manifests.parse(found, f"{place.root}: {manifests.name_of(number)}", number)


def raw(place: Store, generation: int = 0) -> tuple[bytes, int]:
    """(its bytes, its number)."""
    name = manifests.name_of(generation) if generation else place.newest(FOLDER)
    if name is None:
        raise FormatError(f"{place.root}: not a ragfile dataset: there is no manifest in {FOLDER}")
    number = manifests.generation_of(name)
    if number is None:
        raise FormatError(f"{place.root}: {name} is not the name of a manifest")
    try:
        return place.read(name), number
    except FileNotFoundError:
        raise ValueError(f"{place.root} has no generation {generation}") from None


def find(place: Store) -> Manifest | None:
    """The newest manifest, or None where there is none yet."""
    return None if place.newest(FOLDER) is None else read(place)


def publish(place: Store, manifest: Manifest) -> bool:
    """Creates a generation; False where another one has its number."""
    return place.put_new(manifests.name_of(manifest.generation), manifest.dump())


def following(before: Manifest | None) -> dict[str, Any]:
    """The generation after a manifest, and the manifest's name and hash."""
    if before is None:
        return {"generation": 1, "previous": None}
    name = manifests.name_of(before.generation)
    return {
        "generation": before.generation + 1,
        "previous": {"name": name, "sha256": manifests.sha256(before.dump())},
    }


def commit(place: Store, change: Callable[[Manifest], tuple[Manifest | None, Any]]) -> Any:
    """Makes a change of the newest generation the next one, again and again until nobody is faster.

    change(manifest) gives the new manifest, or None where there is nothing to change, and what is returned. A generation that
    came meanwhile and touched a document that this change touches is a ConflictError.
    """
    before = read(place)
    for attempt in range(ATTEMPTS):
        if before.writer_flags:
            flags = ", ".join(before.writer_flags)
            raise VersionError(f"{place.root}: a writer must know {flags}: update ragfile")
        manifest, found = change(before)
        if manifest is None or publish(place, manifest):
            return found
        time.sleep(random.uniform(0, min(FIRST_WAIT * 2**attempt, LONGEST_WAIT)))
        newest = read(place)
        for generation in range(before.generation + 1, newest.generation + 1):
            _refuse_conflict(place, read(place, generation), manifest.touched)
        before = newest
    raise ConflictError(f"{place.root}: other writers were faster {ATTEMPTS} times: try again")


def _refuse_conflict(place, other, mine):
    doc_id = clash(mine, other.touched)
    if doc_id is not None:
        raise ConflictError(
            f"{place.root}: generation {other.generation} changed document {doc_id!r} meanwhile: "
            "look at it, and make the change again if it is still right"
        )


def touched(ids: Iterable[str]) -> Touched:
    """What a manifest says of the documents that its commit added, changed or deleted."""
    named = sorted(set(ids))
    if len(named) <= TOUCHED_LIMIT:
        return {"ids": named}
    return {"first": named[0], "last": named[-1]}


def clash(a: Touched, b: Touched) -> str | None:
    """A document that two commits touched, or might have touched; None where there is none."""
    for listed, other in ((a.get("ids"), b), (b.get("ids"), a)):
        if isinstance(listed, list):
            return next((doc_id for doc_id in listed if _has(other, doc_id)), None)
    first = max(str(a.get("first")), str(b.get("first")))
    return first if first <= min(str(a.get("last")), str(b.get("last"))) else None


def _has(said, doc_id):
    if isinstance(said.get("ids"), list):
        return doc_id in said["ids"]
    return str(said.get("first")) <= doc_id <= str(said.get("last"))
