"""Vacuum: removal of objects that no generation needs, such as those of failed jobs and of old generations.

An object belongs to the generation that its name ends in, and no later generation can be the first to list it. So an object
of an existing generation that no remaining manifest lists is unreferenced forever: no writer can take it back while it is
being removed. Objects of the next generation stay, however old, until that generation exists. Age protects readers of old
generations and the temporary files of running jobs. Nothing is removed if a manifest cannot be read: a newer version may
have written it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragfile.shards import dataset_commit
from ragfile.shards.dataset_signatures import SIGNATURES
from ragfile.shards.dataset_signatures import generation_of as signed_generation
from ragfile.shards.manifest import FOLDER, SHARDS, STATISTICS, added_by, generation_of
from ragfile.shards.shards import SEALS, seal_name
from ragfile.shards.stores import Listed, Store, place
from ragfile.types import StrPath

OWN = (SHARDS, STATISTICS, FOLDER, SEALS, SIGNATURES, "building/")
DAY = 86400.0


def vacuum(
    path: StrPath, *, days: float = 7.0, keep: int | None = None, dry_run: bool = True
) -> list[Listed]:
    """List the unreferenced objects of a dataset, and remove them with dry_run=False.

    Other jobs may write to the dataset meanwhile. Deleted documents are gone for good once all generations that hold them
    are removed. Objects of a commit that failed can be removed once another commit has succeeded.

    Args:
        path: A folder or a bucket's URL.
        days: Age from which objects are removed, so that readers can finish with older generations.
        keep: Number of newest generations to keep; by default, all.
        dry_run: Only list the objects.

    Returns:
        The objects that can be removed, or that were.

    Raises:
        ValueError: days is negative, or keep is less than 1.
        FormatError: The folder is not a dataset.
    """
    if days < 0 or (keep is not None and keep < 1):
        raise ValueError("days must not be negative, and keep must be at least one generation")
    store = place(path)
    newest = dataset_commit.read(store).generation
    kept, old = _generations(store, newest, keep)
    before = store.now() - days * DAY
    needed = _Needed(_named(store, kept), old, newest)
    listed = (found for found in store.names() if found.name.startswith(OWN))
    spare = sorted(f for f in listed if f.written < before and needed.is_spare(f.name))
    if not dry_run:
        for found in sorted(spare, key=lambda one: not one.name.startswith(FOLDER)):
            store.delete(found.name)  # manifests first, so that none names a missing object
    return spare


def _generations(store: Store, newest: int, keep: int | None) -> tuple[list[int], list[int]]:
    """Return (the generations to keep, those to remove), newest first; later ones are left alone."""
    numbers = (generation_of(found.name) for found in store.names(FOLDER))
    found = sorted((n for n in numbers if n is not None and n <= newest), reverse=True)
    return (found, []) if keep is None else (found[:keep], found[keep:])


def _named(store: Store, generations: Iterable[int]) -> set[str]:
    """Return the names of all objects that generations need."""
    named: set[str] = set()
    for generation in generations:
        manifest = dataset_commit.read(store, generation)
        named.update(shard.path for shard in manifest.shards)
        if manifest.statistics is not None:
            named.add(manifest.statistics.path)
    return named | {seal_name(name) for name in named}


class _Needed:
    """Decides which objects are needed: those that a kept generation names, and those of generations to come."""

    def __init__(self, named: set[str], old: list[int], newest: int) -> None:
        self._named, self._old, self._newest = named, frozenset(old), newest

    def is_spare(self, name: str) -> bool:
        """Return whether an object may be removed; a manifest or signature only with its generation."""
        generation = generation_of(name) or signed_generation(name)
        if generation is not None:
            return generation in self._old
        if name in self._named or (added_by(name) or 0) > self._newest:
            return False
        return not name.startswith(FOLDER) or name.rpartition("/")[2].startswith(".")
