"""Vacuum: removal of objects that no generation needs, such as those of failed jobs and of old generations.

Only objects that are old by the store's own clock are removed, so that a running job keeps the shards that no manifest
names yet. Nothing is removed if a manifest cannot be read: a newer version may have written it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragfile.shards import new_generation
from ragfile.shards.dataset_signatures import SIGNATURES
from ragfile.shards.dataset_signatures import generation_of as signed_generation
from ragfile.shards.manifest import FOLDER, SHARDS, STATISTICS, generation_of
from ragfile.shards.shards import SEALS, seal_name
from ragfile.shards.stores import Listed, Store, place
from ragfile.types import StrPath

OWN = (SHARDS, STATISTICS, FOLDER, SEALS, SIGNATURES, "building/")
DAY = 86400.0


def vacuum(
    path: StrPath, *, days: float = 7.0, keep: int | None = None, dry_run: bool = True
) -> list[Listed]:
    """List the unreferenced objects of a dataset, and remove them with dry_run=False.

    Deleted documents are gone for good once all generations that hold them are removed.

    Args:
        path: A folder or an s3:// URL.
        days: Age from which objects are removed. Give more days than your longest job takes.
        keep: Number of newest generations to keep; by default, all.
        dry_run: Only list the objects.

    Returns:
        The objects that can be removed, or that were.

    Raises:
        ValueError: days is negative, or keep is less than 1.
    """
    if days < 0 or (keep is not None and keep < 1):
        raise ValueError("days must not be negative, and keep must be at least one generation")
    store = place(path)
    kept, old = _generations(store, keep)
    before = store.now() - days * DAY
    named = _named(store, kept)
    listed = [found for found in store.names() if found.name.startswith(OWN)]
    spare = {
        found.name: found
        for found in listed
        if found.written < before and found.name not in named and _is_spare(found.name, old)
    }
    if dry_run:
        return sorted(spare.values())
    return _removed(store, spare, kept, before)


def _generations(store: Store, keep: int | None) -> tuple[list[int], list[int]]:
    """Return (the generations to keep, those to remove), newest first."""
    numbers = (generation_of(found.name) for found in store.names(FOLDER))
    found = sorted((number for number in numbers if number is not None), reverse=True)
    return (found, []) if keep is None else (found[:keep], found[keep:])


def _named(store: Store, generations: Iterable[int]) -> set[str]:
    """Return the names of all objects that generations need."""
    named: set[str] = set()
    for generation in generations:
        manifest = new_generation.read(store, generation)
        named.update(shard.path for shard in manifest.shards)
        if manifest.statistics is not None:
            named.add(manifest.statistics.path)
    return named | {seal_name(name) for name in named}


def _is_spare(name: str, old: list[int]) -> bool:
    """Return whether an unreferenced object may be removed; a manifest only if it is among the old ones."""
    generation = generation_of(name) or signed_generation(name)
    if generation is not None:
        return generation in old
    return not name.startswith(FOLDER) or name.rpartition("/")[2].startswith(".")


def _removed(
    store: Store, spare: dict[str, Listed], kept: list[int], before: float
) -> list[Listed]:
    """Remove manifests first, so that none names a missing object; then objects that no new commit needs or rewrote."""
    gone = [found for found in spare.values() if found.name.startswith(FOLDER)]
    for found in gone:
        store.delete(found.name)
    newest = new_generation.read(store).generation
    named = _named(store, range(kept[0] + 1, newest + 1))
    young = {found.name for found in store.names() if found.written >= before}
    for name in sorted(spare.keys() - named - young - {found.name for found in gone}):
        store.delete(name)
        gone.append(spare[name])
    return sorted(gone)
