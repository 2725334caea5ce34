"""Removing what no generation needs any more: leftovers of jobs that died, and generations that nobody wants to go back to.

Only what is old by the store's own clock is removed, so that a job that is under way, and has put shards that no manifest
names yet, loses nothing. Nothing is removed where a manifest cannot be read: a newer program might have written it.
"""

from __future__ import annotations

from ragfile.shards import new_generation
from ragfile.shards.dataset_signatures import SIGNATURES
from ragfile.shards.dataset_signatures import generation_of as signed_generation
from ragfile.shards.manifest import FOLDER, SHARDS, STATISTICS, generation_of
from ragfile.shards.shards import SEALS, seal_name
from ragfile.shards.stores import Listed, place
from ragfile.types import StrPath

OWN = (SHARDS, STATISTICS, FOLDER, SEALS, SIGNATURES, "building/")
DAY = 86400.0


def vacuum(
    path: StrPath, *, days: float = 7.0, keep: int | None = None, dry_run: bool = True
) -> list[Listed]:
    """What can be removed of a dataset, and with dry_run=False is: objects that no generation names, older than so many days.

    keep is how many of the newest generations stay; all of them unless it is given. What was deleted from a dataset is gone for
    good when the generations before the deletion are. Give more days than the longest job takes.
    """
    if days < 0 or (keep is not None and keep < 1):
        raise ValueError("days is not negative, and at least one generation is kept")
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


def _generations(store, keep):
    """(the generations that stay, those that go), the newest first."""
    numbers = (generation_of(found.name) for found in store.names(FOLDER))
    found = sorted((number for number in numbers if number is not None), reverse=True)
    return (found, []) if keep is None else (found[:keep], found[keep:])


def _named(store, generations):
    """The names of all objects that generations need."""
    named = set()
    for generation in generations:
        manifest = new_generation.read(store, generation)
        named.update(shard.path for shard in manifest.shards)
        if manifest.statistics is not None:
            named.add(manifest.statistics.path)
    return named | {seal_name(name) for name in named}


def _is_spare(name, old):
    """Whether an object may go that no kept generation names; of manifests only those that are not kept."""
    generation = generation_of(name) or signed_generation(name)
    if generation is not None:
        return generation in old
    return not name.startswith(FOLDER) or name.rpartition("/")[2].startswith(".")


def _removed(store, spare, kept, before):
    """Manifests first, so that none names what is gone; then what nobody came to need or wrote again meanwhile."""
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
