"""Every byte of a dataset held against what its manifest says, and against one another.

The shards are checked as files are, the statistics are counted anew. What a manifest says of a shard must be what the shard
says of itself: a wrong bound would hide rows from a filter.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterable
from dataclasses import asdict

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError, SignatureError
from ragfile.file.consistency import disagreements
from ragfile.ground.signing_keys import PublicKey
from ragfile.ground.urls import is_remote
from ragfile.search.file_rows import rows_of
from ragfile.shards import dataset_signatures, manifest, new_generation, statistics
from ragfile.shards.shard_description import file_sha256, record_of
from ragfile.shards.shards import seal_name
from ragfile.shards.statistics import SECTION, sampled
from ragfile.shards.stores import place
from ragfile.types import StrPath

Fault = tuple[str, int, str, str]
COUNTS = ("sections", "blocks", "commits", "abandoned", "faults")


def verify(
    path: StrPath, *, generation: int = 0, sample: int | None = None, full: bool = True,
    keys: Iterable[PublicKey | StrPath | bytes] | None = None,
) -> tuple[list[Fault], dict[str, int]]:  # fmt: skip
    """Checks a dataset, or so many of its shards, chosen by chance. The statistics are counted anew when all are checked.

    With keys, one of them must have signed the generation.

    Returns a list of faults (kind, offset, what, section), empty when all is well, and counts.
    """
    store = place(path)
    raw, number = new_generation.raw(store, generation)
    found = manifest.parse(raw, f"{store.root}: {manifest.name_of(number)}", number)
    checking = _Checking(store, found, full)
    if keys is not None:
        checking.signed(raw, keys)
    shards = list(checking.manifest.shards)
    if sample is not None and sample < len(shards):
        shards = random.sample(shards, sample)
    with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
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
    """The faults so far."""

    def __init__(self, store, found, full):
        self.store, self.manifest, self.full = store, found, full
        self.faults: list[Fault] = []
        self.counts = dict.fromkeys(COUNTS, 0)
        self.contents: dict[str, str] | None = None

    def signed(self, raw, keys):
        """One of the keys vouched for the manifest."""
        trusted = [PublicKey.of(key) for key in keys]
        try:
            number = self.manifest.generation
            digest = manifest.sha256(raw)
            self.contents = dataset_signatures.required(
                self.store, digest, number, trusted, self.store.root
            )
        except SignatureError as error:
            self.faults.append(("SignatureError", 0, str(error), ""))

    def _signed(self, shard, path):
        """What it takes to read an object block by block is there and right."""
        try:
            seal = self.store.read(seal_name(path))
        except FileNotFoundError:
            seal = None
        for what in dataset_signatures.forgeries(shard, path, self.contents or {}, seal):
            self._say(path, what, "SignatureError")

    def _say(self, name, what, kind="CorruptError"):
        self.faults.append((kind, 0, f"{name}: {what}", ""))

    def history(self):
        """The manifest before is the one that this one names."""
        previous = self.manifest.previous
        if previous is None:
            return
        try:
            raw = self.store.read(previous["name"])
        except FileNotFoundError:
            return  # vacuum removed it
        if manifest.sha256(raw) != previous["sha256"]:
            self._say(previous["name"], "is not the manifest that the next one follows")

    def _local(self, stored, folder):
        """The path of an object's bytes on this machine; None, with a fault, where they are not those."""
        try:
            path = self.store.url(stored.path)
            if is_remote(path):
                path = os.path.join(folder, stored.sha256)
                self.store.fetch(stored.path, path)
            if os.path.getsize(path) != stored.bytes:
                return self._say(
                    stored.path, f"has {os.path.getsize(path):,} bytes, not {stored.bytes:,}"
                )
        except OSError as error:
            return self._say(stored.path, str(error), type(error).__name__)
        if file_sha256(path) != stored.sha256:
            return self._say(stored.path, "is not the object of that name: its SHA-256 is another")
        return path

    def shard(self, record, folder):
        """The open shard, if it is as its record says."""
        path = self._local(record, folder)
        if path is None:
            return None
        try:
            shard = rows_of(path)
            faults, counts = shard.file.verify(self.full)
            faults = [*faults, *(() if faults else disagreements(shard))]
            self.faults += [(kind, at, f"{record.path}: {what}", s) for kind, at, what, s in faults]
            for name in COUNTS:
                self.counts[name] += counts.get(name, 0)
            if not faults:
                self._compare(record, record_of(shard, path))
                if self.contents is not None:
                    self._signed(shard, record.path)
        except FormatError as error:
            self.faults.append((type(error).__name__, error.at or 0, f"{record.path}: {error}", ""))
            return None
        return shard

    def _compare(self, said, found):
        there = asdict(found)
        for name, value in asdict(said).items():
            if there[name] != value:
                self._say(said.path, f"the manifest's field {name!r} is not what the shard says")

    def statistics(self, shards, folder):
        """The sums, counted anew, are those that are stored."""
        stored = self.manifest.statistics
        if stored is None:
            return
        path = self._local(stored, folder)
        if path is None:
            return
        sizes = self.manifest.rows, self.manifest.total_length
        anew = statistics.written(folder, None, shards, [], *sizes, self.manifest.config)
        with rows_of(path) as old, rows_of(anew) as new:
            faults, _ = old.file.verify(self.full)
            self.faults += faults
            if self.contents is not None and not faults:
                self._signed(old, stored.path)
            if not _same_frequencies(old.file.section(SECTION), new.file.section(SECTION)):
                self._say(stored.path, "the frequencies of terms are not those of the shards")
            if not _same_sample(sampled(old), sampled(new)):
                self._say(stored.path, "the sample is not that of the shards")


def _same_frequencies(old: _core.Section | None, new: _core.Section | None) -> bool:
    if old is None or new is None:
        return old is new
    return bytes(old) == bytes(new)


def _same_sample(old, new):
    return [row[:3] for row in old] == [row[:3] for row in new] and all(
        np.array_equal(a.vector, b.vector) for a, b in zip(old, new, strict=True)
    )
