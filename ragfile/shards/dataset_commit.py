"""Commits of a dataset: shards first, then statistics, then the manifest, which is created unless another writer was first.

A job that dies before its manifest exists leaves unreferenced objects; vacuum removes them. A writer that loses reads the
winner's manifest and repeats its change on top of it, unless both touched the same documents.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from ragfile.errors import ConflictError, FormatError, VersionError
from ragfile.ground.json_values import is_list
from ragfile.shards import manifest as manifests
from ragfile.shards.manifest import FOLDER, TOUCHED_LIMIT, Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from ragfile.shards.stores import Store

    Outcome = TypeVar("Outcome")

ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 64, 0.02, 2.0
Touched = dict[str, Any]
ALL: Touched = {"first": "", "last": "\U0010ffff"}


def read(place: Store, generation: int = 0) -> Manifest:
    """Return the manifest of a generation; 0 is the newest."""
    found, number = raw(place, generation)
    return manifests.parse(found, f"{place.root}: {manifests.name_of(number)}", number)


def raw(place: Store, generation: int = 0) -> tuple[bytes, int]:
    """Return (the bytes of a manifest, the number of its generation)."""
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
    """Return the newest manifest, or None for an empty store."""
    return None if place.newest(FOLDER) is None else read(place)


def publish(place: Store, manifest: Manifest) -> bool:
    """Create a generation; False if its number is taken, or was taken by one that vacuum has removed."""
    name, data = manifests.name_of(manifest.generation), manifest.dump()
    if not place.put_new(name, data):
        return False
    if place.newest(FOLDER) == name or _follows(place, manifest, data):
        return True
    place.delete(name)
    return False


def _follows(place: Store, manifest: Manifest, data: bytes) -> bool:
    """Return whether the next generation is based on these bytes of a manifest."""
    try:
        previous = read(place, manifest.generation + 1).previous
    except ValueError:  # removed since
        return False
    return previous is not None and previous["sha256"] == manifests.sha256(data)


def following(before: Manifest | None) -> dict[str, Any]:
    """Return the fields `generation` and `previous` of the manifest after another one."""
    if before is None:
        return {"generation": 1, "previous": None}
    name = manifests.name_of(before.generation)
    return {
        "generation": before.generation + 1,
        "previous": {"name": name, "sha256": manifests.sha256(before.dump())},
    }


def commit(place: Store, change: Callable[[Manifest], tuple[Manifest | None, Outcome]]) -> Outcome:
    """Commit a change to the newest generation; repeat it on top of commits of other writers.

    change(manifest) returns the new manifest, or None for no change, and the outcome to return. A ConflictError is raised if
    another commit touched the same document in the meantime.
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
            _refuse_conflict(place, generation, manifest.touched)
        before = newest
    raise ConflictError(f"{place.root}: other writers committed first {ATTEMPTS} times: try again")


def _refuse_conflict(place: Store, other: int, mine: Touched) -> None:
    doc_id = clash(mine, _touched_by(place, other))
    if doc_id is not None:
        raise ConflictError(
            f"{place.root}: generation {other} changed document {doc_id!r} in the meantime: "
            "read it, and repeat your change if it still applies"
        )


def _touched_by(place: Store, generation: int) -> Touched:
    """Return the field `touched` of a generation; a removed one might have touched every document."""
    try:
        return read(place, generation).touched
    except FormatError:
        raise
    except ValueError:
        return ALL


def touched(ids: Iterable[str]) -> Touched:
    """Return the field `touched`: documents that a commit added, changed or deleted."""
    named = sorted(set(ids))
    if len(named) <= TOUCHED_LIMIT:
        return {"ids": named}
    return {"first": named[0], "last": named[-1]}


def clash(a: Touched, b: Touched) -> str | None:
    """Return a document that two commits touched, or might have touched; None if there is none."""
    for listed, other in ((a.get("ids"), b), (b.get("ids"), a)):
        if is_list(listed):
            return next((doc_id for doc_id in listed if _has(other, doc_id)), None)
    first = max(str(a.get("first")), str(b.get("first")))
    return first if first <= min(str(a.get("last")), str(b.get("last"))) else None


def _has(one: Touched, doc_id: str) -> bool:
    if isinstance(one.get("ids"), list):
        return doc_id in one["ids"]
    return str(one.get("first")) <= doc_id <= str(one.get("last"))
