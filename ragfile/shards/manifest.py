"""The manifest of a generation: canonical JSON that lists the shards of a dataset and its properties.

spec/parts/dataset.md defines the fields. A manifest is untrusted input: each field that the code relies on is checked, and
an invalid manifest is refused with the name of the field.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ragfile.errors import CorruptError, FormatError, VersionError
from ragfile.file import config as file_config
from ragfile.ground.json_values import is_list, is_object

FORMAT, VERSION = "ragfile-dataset", [1, 0]
FOLDER, SHARDS, STATISTICS = "manifests/", "shards/", "statistics/"
LAST = (1 << 64) - 1
SIZE_LIMIT = 1 << 30  # bytes of a manifest
SHARD_LIMIT = 1 << 20
ROW_LIMIT = (1 << 32) - 2  # of a file
BOUNDS = {"numbers": (int, float), "texts": (str,)}  # types of a bound, by kind
TOUCHED_LIMIT = 1024  # touched ids that are listed; more become a range
_HASH = re.compile(r"[0-9a-f]{64}")
_ADDED = re.compile(r"[a-z]+/[0-9a-f]{64}(?:-([1-9][0-9]{0,19}))?\.(?:ragfile|seal)")


def name_of(generation: int) -> str:
    """Return the name of a generation's manifest; newer ones sort first."""
    return f"{FOLDER}{LAST - generation:020}.json"


def generation_of(name: str) -> int | None:
    """Return the generation in a manifest's name, or None for another name."""
    found = re.fullmatch(rf"{FOLDER}(\d{{20}})\.json", name)
    return LAST - int(found[1]) if found and int(found[1]) < LAST else None


def object_name(folder: str, digest: str, generation: int) -> str:
    """Return the name of an object that a generation adds.

    Only this generation can be the first to list the name, so an object that no manifest lists once its generation exists is
    unreferenced forever.
    """
    return f"{folder}{digest}{f'-{generation}' * (generation > 1)}.ragfile"


def added_by(name: str) -> int | None:
    """Return the generation that adds an object or the object of a seal, or None for another name."""
    found = _ADDED.fullmatch(name)
    return int(found[1] or 1) if found else None


@dataclass(frozen=True, slots=True)
class Stored:
    """An object of a dataset: its path, bytes and SHA-256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ShardRecord(Stored):
    """The description of a shard, with bounds that rule it out without opening it."""

    identity: str
    generation: int
    documents: int
    rows: int
    live: int
    total_length: int
    first: str
    last: str
    footer: list[int] = field(default_factory=list[int])
    sections: list[list[Any]] = field(default_factory=list[list[Any]])
    is_ordered: bool = True  # rows are in order of (document id, chunk index)
    bounds: dict[str, Any] = field(default_factory=dict[str, Any])
    knows_all_fields: bool = False
    tags: list[str] | None = None
    centroid: list[int] | None = None
    radius: float = 0.0

    @property
    def deletions(self) -> int:
        """The number of deleted rows that still take space."""
        return self.rows - self.live

    def as_json(self) -> dict[str, Any]:
        """Return the record as a JSON object."""
        return {**asdict(self), "deletions": self.deletions}


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation of a dataset. `live` counts the rows that are not deleted; `is_ordered` is True if all rows are in order
    of (document id, chunk index)."""

    generation: int = 0
    created: int = 0
    message: str = ""
    previous: dict[str, str] | None = None
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    analysis: str | None = None
    assignment: dict[str, Any] = field(default_factory=lambda: {"by": "range"})
    statistics: Stored | None = None
    rows: int = 0
    total_length: int = 0
    touched: dict[str, Any] = field(default_factory=dict[str, Any])
    writer_flags: tuple[str, ...] = ()
    shards: tuple[ShardRecord, ...] = ()
    live: int = field(init=False, compare=False)
    is_ordered: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Derive the sums over all shards."""
        follows = zip(self.shards, self.shards[1:], strict=False)
        is_ordered = all(a.last < b.first for a, b in follows)
        is_ordered = is_ordered and all(shard.is_ordered for shard in self.shards)
        object.__setattr__(self, "live", sum(shard.live for shard in self.shards))
        object.__setattr__(self, "is_ordered", is_ordered)

    @property
    def bases(self) -> list[int]:
        """The number of the first row of each shard, and at the end the count of all rows."""
        return list(itertools.accumulate((shard.rows for shard in self.shards), initial=0))

    def with_shards(self, shards: list[ShardRecord]) -> Manifest:
        """Return a copy with other shards, sorted."""
        ordered = tuple(sorted(shards, key=lambda s: (s.first, s.sha256)))
        return replace(self, shards=ordered)

    def dump(self) -> bytes:
        """Return canonical JSON: sorted names, no spaces, ASCII."""
        fields = {
            "format": FORMAT, "version": VERSION, "reader_flags": [],
            "writer_flags": list(self.writer_flags),
            "generation": self.generation, "created": self.created, "message": self.message,
            "previous": self.previous, "config": self.config, "analysis": self.analysis,
            "assignment": self.assignment, "touched": self.touched,
            "statistics": {
                "rows": self.rows, "total_length": self.total_length,
                "file": None if self.statistics is None else asdict(self.statistics),
            },
            "shards": [shard.as_json() for shard in self.shards],
        }  # fmt: skip
        return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii")


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def parse(raw: bytes, path: str, generation: int) -> Manifest:
    """Read a manifest that was stored under the name of a generation."""
    if len(raw) > SIZE_LIMIT:
        raise CorruptError(f"{path}: the manifest has more than {SIZE_LIMIT:,} bytes")
    try:
        fields = json.loads(raw)
        if file_config.is_too_deep(fields):
            raise RecursionError
    except (ValueError, RecursionError):
        raise CorruptError(f"{path}: the manifest is not JSON") from None
    if not is_object(fields) or fields.get("format") != FORMAT:
        raise FormatError(f"{path}: not the manifest of a ragfile dataset")
    found = _ManifestFields(fields, path)
    _check_version(found.fields, path)
    if found.whole("generation") != generation:
        raise CorruptError(f"{path}: its field 'generation' is {fields['generation']}")
    statistics = _ManifestFields(found.mapping("statistics"), path)
    file = statistics.fields.get("file")
    return _checked(
        Manifest(
            generation, found.whole("created"), found.text("message"), _previous(found),
            file_config.read_config(json.dumps(found.mapping("config")).encode(), path),
            None if found.fields.get("analysis") is None else found.text("analysis"),
            found.mapping("assignment"), None if file is None else _stored(file, path, STATISTICS, generation),
            statistics.whole("rows"), statistics.whole("total_length"), found.mapping("touched"),
            tuple(found.texts("writer_flags")), tuple(shard_record(one, path, generation) for one in found.listed("shards")),
        ),
        path,
    )  # fmt: skip


def _check_version(fields: dict[str, Any], path: str) -> None:
    version = fields.get("version")
    if not (isinstance(version, list) and version and version[0] == VERSION[0]):
        raise VersionError(f"{path}: a dataset of version {version}; this version reads {VERSION}")
    if fields.get("reader_flags"):
        raise VersionError(f"{path}: the dataset needs {fields['reader_flags']}: update ragfile")


def _previous(found: _ManifestFields) -> dict[str, str] | None:
    """Return the name and hash of the manifest before."""
    fields = found.fields.get("previous")
    if fields is None:
        return None
    previous = _ManifestFields(fields, found.path)
    if generation_of(previous.text("name")) is None:
        raise CorruptError(f"{found.path}: the manifest before has no manifest's name")
    return {"name": previous.text("name"), "sha256": previous.hash("sha256")}


def _stored(fields: object, path: str, folder: str, generation: int) -> Stored:
    found = _ManifestFields(fields, path)
    name, digest = found.text("path"), found.hash("sha256")
    added = added_by(name) or 0
    if not 1 <= added <= generation or name != object_name(folder, digest, added):
        raise CorruptError(f"{path}: an object of {folder} is named {name:.100}")
    return Stored(name, found.whole("bytes"), digest)


def shard_record(fields: object, path: str, generation: int) -> ShardRecord:
    """Read the description of a shard in a generation from a JSON object."""
    stored = _stored(fields, path, SHARDS, generation)
    found = _ManifestFields(fields, path)
    tags, centroid = found.fields.get("tags"), found.fields.get("centroid")
    return ShardRecord(
        stored.path, stored.bytes, stored.sha256, found.text("identity"),
        found.whole("generation"), found.whole("documents"), found.whole("rows"),
        found.whole("live"), found.whole("total_length"), found.text("first"), found.text("last"),
        found.wholes("footer"), _sections(found), found.fields.get("is_ordered") is True,
        _bounds(found), found.fields.get("knows_all_fields") is True,
        None if tags is None else found.texts("tags"),
        None if centroid is None else found.wholes("centroid", -127), found.number("radius"),
    )  # fmt: skip


def _sections(found: _ManifestFields) -> list[list[Any]]:
    listed = found.listed("sections")
    for one in listed:
        is_place = is_list(one) and len(one) == 4 and isinstance(one[0], str)
        if not is_place or not all(type(number) is int for number in one[1:]):
            raise CorruptError(f"{found.path}: a shard's section is not [name, segment, at, bytes]")
    return listed


def _bounds(found: _ManifestFields) -> dict[str, Any]:
    """Return the bounds; refuse a manifest with bounds that cannot be compared with a filter."""
    bounds = found.mapping("bounds")
    for bound in bounds.values():
        pairs = [bound.get(name) for name in BOUNDS] if is_object(bound) else [0]
        kinds = zip(pairs, BOUNDS.values(), strict=False)
        if not all(pair is None or _is_pair(pair, kind) for pair, kind in kinds):
            raise CorruptError(f"{found.path}: a shard's bounds are not two values of one kind")
    return bounds


def _is_pair(pair: object, kinds: tuple[type, ...]) -> bool:
    return is_list(pair) and len(pair) == 2 and all(type(x) in kinds for x in pair)


def _is_assignment(fields: dict[str, Any]) -> bool:
    if fields.get("by") == "range":
        starts = fields.get("from")
        if not is_list(starts) or not all(isinstance(one, str) for one in starts):
            return False
        return bool(starts[:1] == [""] and starts == sorted(starts))
    if fields.get("by") == "hash":
        count = fields.get("shards")
        return isinstance(count, int) and not isinstance(count, bool) and count > 0
    return fields.get("by") == "given"


def _checked(manifest: Manifest, path: str) -> Manifest:
    """Check the sums and orders that a reader relies on."""
    shards, dim = manifest.shards, manifest.config.get("dim")
    if not _is_assignment(manifest.assignment):
        raise CorruptError(f"{path}: the manifest's field 'assignment' is missing or not valid")
    if any(shard.centroid is not None and len(shard.centroid) != dim for shard in shards):
        raise CorruptError(f"{path}: a centroid does not have the {dim} dimensions of the dataset")
    if any(shard.rows > ROW_LIMIT for shard in shards):
        raise CorruptError(f"{path}: a shard has more than {ROW_LIMIT:,} rows")
    if len(shards) > SHARD_LIMIT:
        raise CorruptError(f"{path}: more than {SHARD_LIMIT:,} shards")
    if any(shard.live > shard.rows for shard in shards):
        raise CorruptError(f"{path}: a shard has more live rows than rows")
    if manifest.rows != manifest.live:
        raise CorruptError(f"{path}: the shards do not have the {manifest.rows:,} rows")
    if manifest.total_length != sum(shard.total_length for shard in shards):
        raise CorruptError(f"{path}: the shards' lengths do not add up")
    if len({shard.path for shard in shards}) != len(shards):
        raise CorruptError(f"{path}: a shard is listed twice")
    if manifest.rows and manifest.statistics is None:
        raise CorruptError(f"{path}: there are rows and no statistics")
    return manifest


class _ManifestFields:
    """The fields of a JSON object; each is checked when it is read."""

    def __init__(self, fields: object, path: str) -> None:
        if not is_object(fields):
            raise CorruptError(f"{path}: an object of the manifest is not a JSON object")
        self.fields: dict[str, Any] = fields
        self.path = path

    def _refuse(self, name: str) -> CorruptError:
        return CorruptError(f"{self.path}: the manifest's field {name!r} is missing or not valid")

    def whole(self, name: str, low: int = 0) -> int:
        value = self.fields.get(name)
        if type(value) is not int or not low <= value < 1 << 64:
            raise self._refuse(name)
        return value

    def number(self, name: str) -> float:
        value = self.fields.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e300:
            raise self._refuse(name)
        return float(value)

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise self._refuse(name)
        return value

    def hash(self, name: str) -> str:
        value = self.text(name)
        if not _HASH.fullmatch(value):
            raise self._refuse(name)
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.fields.get(name)
        if not is_object(value):
            raise self._refuse(name)
        return value

    def listed(self, name: str) -> list[Any]:
        value = self.fields.get(name)
        if not is_list(value):
            raise self._refuse(name)
        return value

    def texts(self, name: str) -> list[str]:
        value = self.listed(name)
        if not all(isinstance(one, str) for one in value):
            raise self._refuse(name)
        return value

    def wholes(self, name: str, low: int = 0) -> list[int]:
        value = self.listed(name)
        if not all(type(one) is int and low <= one < 1 << 64 for one in value):
            raise self._refuse(name)
        return value
