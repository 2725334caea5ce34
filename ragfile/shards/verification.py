"""Verification of a dataset: each byte against the manifest, and its objects against one another.

Shards are checked like files, and statistics are counted anew. A shard's record must equal a fresh description of the
shard: a wrong bound would hide rows from a filter.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError, SignatureError
from ragfile.file.consistency import disagreements
from ragfile.ground import system
from ragfile.ground.signing_keys import PublicKey
from ragfile.ground.urls import is_remote
from ragfile.search.file_rows import FileRows, rows_of
from ragfile.shards import dataset_commit, dataset_signatures, manifest, statistics
from ragfile.shards.manifest import ShardRecord, Stored, added_by
from ragfile.shards.shard_description import file_sha256, record_of
from ragfile.shards.shards import seal_name
from ragfile.shards.statistics import SECTION, Sampled, sampled
from ragfile.shards.stores import Store, place
from ragfile.types import StrPath

Fault = tuple[str, int, str, str]
COUNTS = ("sections", "blocks", "commits", "abandoned", "faults")


def verify(
    path: StrPath, *, generation: int = 0, sample: int | None = None, full: bool = True,
    keys: Iterable[PublicKey | StrPath | bytes] | None = None,
) -> tuple[list[Fault], dict[str, int]]:  # fmt: skip
    """Check a dataset, or a random sample of its shards.

    Args:
        path: A folder or a bucket's URL.
        generation: The generation to check; 0 for the newest.
        sample: Number of shards to check; by default, all, and then the statistics as well.
        full: Check every block, not only the structure.
        keys: Public keys; one of them must have signed the generation.

    Returns:
        The faults (kind, offset, message, section), none for a sound dataset, and counts.
    """
    store = place(path)
    raw, number = dataset_commit.raw(store, generation)
    found = manifest.parse(raw, f"{store.root}: {manifest.name_of(number)}", number)
    checking = _Checking(store, found, full)
    if keys is not None:
        checking.signed(raw, keys)
    shards = list(checking.manifest.shards)
    if sample is not None and sample < len(shards):
        shards = random.sample(shards, sample)
    with system.temporary_folder() as folder:
        checking.history()
        opened = [checking.shard(record, folder) for record in shards]
        if len(shards) == len(checking.manifest.shards) and not checking.faults:
            checking.statistics(opened, folder)
        for shard in opened:
            if shard is not None:
                shard.close()
    counts = checking.counts | {"shards": len(shards), "faults": len(checking.faults)}
    return checking.faults, counts


class _Checking:
    """Collects faults and counts."""

    def __init__(self, store: Store, found: manifest.Manifest, full: bool) -> None:
        self.store, self.manifest, self.full = store, found, full
        self.faults: list[Fault] = []
        self.counts = dict.fromkeys(COUNTS, 0)
        self.contents: dict[str, str] | None = None

    def signed(self, raw: bytes, keys: Iterable[PublicKey | StrPath | bytes]) -> None:
        """Check that one of the keys signed the manifest."""
        trusted = [PublicKey.of(key) for key in keys]
        try:
            number = self.manifest.generation
            digest = manifest.sha256(raw)
            self.contents = dataset_signatures.required(
                self.store, digest, number, trusted, self.store.root
            )
        except SignatureError as error:
            self.faults.append(("SignatureError", 0, str(error), ""))

    def _signed(self, shard: FileRows, path: str) -> None:
        """Check the content and the seal of an object: reading block by block relies on them."""
        try:
            seal = self.store.read(seal_name(path))
        except FileNotFoundError:
            seal = None
        for message in dataset_signatures.forgeries(shard, path, self.contents or {}, seal):
            self._fault(path, message, "SignatureError")

    def _fault(self, name: str, message: str, kind: str = "CorruptError") -> None:
        self.faults.append((kind, 0, f"{name}: {message}", ""))

    def history(self) -> None:
        """Check the hash of the previous manifest."""
        previous = self.manifest.previous
        if previous is None:
            return
        try:
            raw = self.store.read(previous["name"])
        except FileNotFoundError:
            return  # vacuum removed it
        if manifest.sha256(raw) != previous["sha256"]:
            self._fault(previous["name"], "is not the manifest that the next generation follows")

    def _local(self, stored: Stored, folder: str) -> str | None:
        """Return a local path of an object; None, with a fault, if it is missing or damaged."""
        try:
            path = self.store.url(stored.path)
            if is_remote(path):
                path = os.path.join(folder, stored.sha256)
                self.store.fetch(stored.path, path)
            if os.path.getsize(path) != stored.bytes:
                size = os.path.getsize(path)
                self._fault(stored.path, f"has {size:,} bytes, not {stored.bytes:,}")
                return None
        except OSError as error:
            self._fault(stored.path, str(error), type(error).__name__)
            return None
        if file_sha256(path) != stored.sha256:
            self._fault(stored.path, "is not the object of that name: its SHA-256 differs")
            return None
        return path

    def shard(self, record: ShardRecord, folder: str) -> FileRows | None:
        """Check a shard. Return it open, or None if it cannot be opened."""
        path = self._local(record, folder)
        if path is None:
            return None
        try:
            shard = rows_of(path)
            faults, counts = shard.file.verify(self.full)
            faults = [*faults, *(() if faults else disagreements(shard))]
            self.faults += [(kind, at, f"{record.path}: {text}", s) for kind, at, text, s in faults]
            for name in COUNTS:
                self.counts[name] += counts.get(name, 0)
            if not faults:
                self._compare(record, record_of(shard, path, added_by(record.path) or 1))
                if self.contents is not None:
                    self._signed(shard, record.path)
        except FormatError as error:
            self.faults.append((type(error).__name__, error.at or 0, f"{record.path}: {error}", ""))
            return None
        return shard

    def _compare(self, record: ShardRecord, found: ShardRecord) -> None:
        fields = asdict(found)
        for name, value in asdict(record).items():
            if fields[name] != value:
                self._fault(record.path, f"the manifest's field {name!r} differs from the shard")

    def statistics(self, shards: Sequence[FileRows | None], folder: str) -> None:
        """Compare the stored statistics with a new count."""
        stored = self.manifest.statistics
        if stored is None:
            return
        path = self._local(stored, folder)
        if path is None:
            return
        opened = [shard for shard in shards if shard is not None]
        rows, length = self.manifest.rows, self.manifest.total_length
        anew = statistics.written(folder, None, opened, [], rows, length, self.manifest.config)
        with rows_of(path) as old, rows_of(anew) as new:
            faults, _ = old.file.verify(self.full)
            self.faults += faults
            if self.contents is not None and not faults:
                self._signed(old, stored.path)
            if not _same_frequencies(old.file.section(SECTION), new.file.section(SECTION)):
                self._fault(stored.path, "the frequencies of terms differ from those of the shards")
            if not _same_sample(sampled(old), sampled(new)):
                self._fault(stored.path, "the sample differs from that of the shards")


def _same_frequencies(old: _core.Section | None, new: _core.Section | None) -> bool:
    if old is None or new is None:
        return old is new
    return bytes(old) == bytes(new)


def _key(row: Sampled) -> tuple[int, str, int]:
    return row.hash, row.doc_id, row.chunk_index


def _same_sample(old: list[Sampled], new: list[Sampled]) -> bool:
    return [_key(row) for row in old] == [_key(row) for row in new] and all(
        np.array_equal(a.vector, b.vector) for a, b in zip(old, new, strict=True)
    )
