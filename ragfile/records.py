"""The nouns that the steps hand to one another: plain records, cheap to make, without behaviour of their own.

Chunk and Candidate have the five and six fields of the canonical interface; beside them they carry the span
of the text in its document (`start`, `end`, in code points), which is what lets every passage be traced to
its source:

    document.text[chunk.start:chunk.end] == chunk.content
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from gc import get_referents
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ragfile.errors import CorruptError
from ragfile.ground.annotations import deferred

if TYPE_CHECKING:
    from ragfile.types import Fields, Floats, Fusion, Metadata, Tags, Where
else:  # a tenth of the time that importing this module takes
    Fields, Floats, Fusion, Metadata, Tags, Where = (
        deferred("ragfile.types", name)
        for name in ("Fields", "Floats", "Fusion", "Metadata", "Tags", "Where")
    )


def _of_mapping(cls, value):
    """A record from a mapping with its field names; what is missing or not known is said by name."""
    what = f"a {cls.__name__.lower()}"
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} is a {cls.__name__} or a mapping, not {type(value).__name__}")
    known = {f.name: f.default is MISSING and f.default_factory is MISSING for f in fields(cls)}
    missing = [name for name, is_needed in known.items() if is_needed and name not in value]
    other = [str(name) for name in value if name not in known]
    if missing or other:
        said = [f"lacks {', '.join(missing)}"] * bool(missing) + [
            f"does not know {', '.join(other)}"
        ] * bool(other)
        raise TypeError(f"{what} {' and '.join(said)}; its fields are {', '.join(known)}")
    return cls(**value)


class Span(NamedTuple):
    """A stretch of a text, in code points: `text[start:end]`."""

    start: int
    end: int


NUMBERED = ("page", "slide", "row")
"""The parts of a source that have numbers: a segment's metadata has its number under this name."""


@dataclass(slots=True)
class Segment:
    """A part of a document that no chunk may cross:

    a page, a slide, a row. Its metadata goes on every chunk in it.
    """

    start: int
    end: int
    metadata: Metadata = field(default_factory=dict)


@dataclass(slots=True)
class Document:
    """One source text, normalised. Without segments it is one piece, whose chunks begin at `body`, behind its front matter.

    `edits` lead back to the text as it was read (text.restored), none where that was no other.
    """

    id: str
    text: str
    source: str = ""
    metadata: Metadata = field(default_factory=dict)
    tags: Tags = ()
    segments: Sequence[Segment] = ()
    edits: Sequence[Any] = ()
    body: int = 0

    @property
    def original(self) -> str:
        """The text as its loader read it: of text and Markdown files, character for character what is in the file."""
        from ragfile.text import restored  # with its tables, which opening and asking do not need

        try:
            return restored(self.text, self.edits)
        except ValueError as error:
            raise CorruptError(
                f"the original text of document {self.id!r}: {error}", section="rag.meta"
            ) from None

    @classmethod
    def of(cls, value: Self | Fields) -> Self:
        """A Document as it is, or one made from a mapping with its field names."""
        return value if isinstance(value, cls) else _of_mapping(cls, value)


@dataclass(slots=True)
class Chunk:
    """The unit that is indexed and found.

    `start` is -1 where the chunk did not come from a known document.
    """

    doc_id: str
    chunk_index: int
    content: str
    tags: Tags = ()
    metadata: Metadata = field(default_factory=dict)
    start: int = -1
    end: int = -1

    @property
    def text(self) -> str:
        """The content, under the name that a Hit has for it."""
        return self.content

    def whole(self) -> tuple[Any, ...]:
        """The fields of all PARTS, in their order."""
        return tuple(getattr(self, field_name) for field_name in PART_OF)

    @property
    def uuid(self) -> str:
        """A UUID that is the same for the same document and index at any time and place."""
        return chunk_uuid(self.doc_id, self.chunk_index)

    def to_dict(self) -> Metadata:
        """The canonical five fields."""
        return {
            "doc_id": self.doc_id,
            "chunk_index": self.chunk_index,
            "content": self.content,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }

    @classmethod
    def of(cls, value: Self | Fields) -> Self:
        """A Chunk as it is, or one made from a mapping with its field names."""
        return value if isinstance(value, cls) else _of_mapping(cls, value)


@dataclass(slots=True)
class Candidate:
    """A chunk that a leg proposes, with that leg's score. Higher is better."""

    doc_id: str
    chunk_index: int
    content: str
    score: float
    tags: Tags = ()
    metadata: Metadata = field(default_factory=dict)
    start: int = -1
    end: int = -1

    @property
    def key(self) -> tuple[str, int]:
        """What names a chunk, and what decides a tie."""
        return self.doc_id, self.chunk_index

    @property
    def text(self) -> str:
        """The content, under the name that a Hit has for it."""
        return self.content

    def to_dict(self) -> Metadata:
        """The canonical six fields."""
        return {
            "doc_id": self.doc_id,
            "chunk_index": self.chunk_index,
            "content": self.content,
            "score": self.score,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }

    def scored(self, score: float) -> Candidate:
        """The same candidate with another score; the original is left alone."""
        return Candidate(
            self.doc_id,
            self.chunk_index,
            self.content,
            score,
            self.tags,
            self.metadata,
            self.start,
            self.end,
        )

    def without_text(self) -> Candidate:
        """The same candidate, but for its text."""
        return replace(self, content="")

    @classmethod
    def of(cls, value: Self | Hit | Fields) -> Self:
        """A Candidate as it is, or one made of a search's hit, or of a mapping with its field names."""
        if isinstance(value, Hit):
            return cls(
                value.doc_id, value.chunk_index, value.text, value.score, value.tags, value.metadata,
                value.start, value.end,
            )  # fmt: skip
        return value if isinstance(value, cls) else _of_mapping(cls, value)


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates by falling score, ties by (doc_id, chunk_index)."""
    return sorted(candidates, key=lambda c: (-c.score, c.doc_id, c.chunk_index))


UUID_NAMESPACE = bytes.fromhex("6f1d7f0e2a5c5b0c9d0c3e8b7a41f652")


def chunk_uuid(doc_id: str, chunk_index: int, collection: str = "") -> str:
    """The UUID of a chunk, for stores whose ids are UUIDs: version 5, the same for the same three at any time and place."""
    import hashlib  # both here, so that importing ragfile does not load them
    from uuid import UUID

    name = f"{collection}\0{doc_id}\0{chunk_index}".encode("utf-8", "surrogatepass")
    return str(UUID(bytes=hashlib.sha1(UUID_NAMESPACE + name).digest()[:16], version=5))


class Candidates(list[Candidate]):
    """A list of Candidate, best first. `degraded` is the reason why a leg was left out, or ""."""

    __slots__ = ("degraded",)

    degraded: str

    def __init__(self, candidates: Iterable[Candidate] = (), *, degraded: str = "") -> None:
        super().__init__(candidates)
        self.degraded = degraded


@dataclass(slots=True)
class Plan:
    """How to retrieve: which legs, how deep, through which filters, and how the legs are put together."""

    k: int = 12
    pool: int = 50
    rrf_k: int = 60
    fusion: Fusion = "rrf"
    vector: bool = True
    lexical: bool = True
    where: Where | None = None
    tags_any: Tags = ()
    tags_all: Tags = ()


class Stretch(NamedTuple):
    """Text of a document, and its span there in code points (-1 where that is not known)."""

    text: str
    start: int
    end: int


# A hit that a search found is read on first look, in these parts: which fields come together.
PARTS = {
    "identity": ("id", "doc_id", "chunk_index", "start", "end"),
    "passage": ("text",),
    "labels": ("tags", "metadata", "source"),
}
ALL_PARTS = tuple(PARTS)
PART_OF = {name: part for part, names in PARTS.items() for name in names}
_WAITING = [some for n in range(len(PARTS) + 1) for some in combinations(ALL_PARTS, n)]
# By the parts that wait and the one that is read: those that wait then.
_AFTER = {
    (waiting, part): tuple(one for one in waiting if one != part)
    for waiting in _WAITING
    for part in PARTS
}


class _Unread:
    """What is read when somebody first asks for it: `found_in` is the reader, what it reads, and the parts that wait.

    A slot that was never filled asks __getattr__, so fields that are there cost nothing more.
    """

    __slots__ = ("found_in",)

    found_in: tuple[Any, Any, tuple[str, ...]]

    if not TYPE_CHECKING:  # a type checker would take any misspelt name for one of these

        def __getattr__(self, name):
            part = PART_OF.get(name)
            if part is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            reader, what, waiting = self.found_in
            values, names = reader.read(what, part), PARTS[part]
            is_untouched = len(names) == 1 or _slots_filled(self) == _FILLED[waiting]
            for field_name, value in zip(names, values, strict=True):
                if is_untouched or not _is_filled(self, field_name):
                    setattr(self, field_name, value)
            self.found_in = reader, what, _AFTER[waiting, part]
            return object.__getattribute__(self, name)


def _slots_filled(record):
    """How many slots have a value: asking each that has none would cost an exception."""
    return len(get_referents(record))


def _is_untouched(hit):
    """Whether all parts of a hit wait, and its taker has set none of their fields."""
    return _slots_filled(hit) == _FILLED[ALL_PARTS] and hit.found_in[2] == ALL_PARTS


def _is_filled(record, name):
    try:
        object.__getattribute__(record, name)
    except AttributeError:
        return False
    return True


@dataclass(slots=True)
class Hit(_Unread):
    """One passage of an answer: where it is from, why it is here (`scores` by leg), and its exact text.

    Hits of a search read their text and metadata from the file when they are first looked at.
    """

    id: str
    doc_id: str
    chunk_index: int
    text: str
    score: float
    score_type: str = "score"
    scores: dict[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    source: str = ""
    start: int = -1
    end: int = -1

    @classmethod
    def unread(
        cls, reader: Any, what: Any, score: float, score_type: str, scores: dict[str, float]
    ) -> Self:
        """A hit whose other fields are reader.read(what, part) when they are first looked at."""
        hit = cls.__new__(cls)
        hit.found_in, hit.score = (reader, what, ALL_PARTS), score
        hit.score_type, hit.scores = score_type, scores
        return hit

    def __reduce__(self) -> Any:
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    def read(self) -> Self:
        """The hit itself, with all that it has to say read from the file: in one step, if nothing was read or set."""
        if _is_untouched(self):
            reader, what, _ = self.found_in
            for name, value in zip(PART_OF, reader.read(what, "whole"), strict=True):
                setattr(self, name, value)
            self.found_in = reader, what, ()
            return self
        for name in PARTS:
            self.part(name)
        return self

    def part(self, name: str) -> tuple[Any, ...]:
        """The fields of one of the PARTS."""
        return tuple(getattr(self, field_name) for field_name in PARTS[name])

    def whole(self) -> tuple[Any, ...]:
        """The fields of all PARTS, in their order."""
        return tuple(getattr(self, field_name) for field_name in PART_OF)

    @property
    def uuid(self) -> str:
        """A UUID that is the same for the same document and index at any time and place."""
        return chunk_uuid(self.doc_id, self.chunk_index)

    def context(self, *, before: int = 1, after: int = 1) -> Stretch:
        """The document's text from so many chunks before this one to so many after it, without a gap.

        Chunks that were deleted alone end it. Read from the open file, so it is not there for a hit that
        came out of a pickle.
        """
        if before < 0 or after < 0:
            raise ValueError(f"before and after count chunks, not {min(before, after)}")
        if not _is_filled(self, "found_in"):
            raise ValueError(f"the hit {self.id} is of no open file: search for it again")
        reader, what, _ = self.found_in
        return reader.stretch(what, before, after)

    @property
    def vector(self) -> Floats | None:
        """The stored vector, read from the open file; None where there is none, or the hit came out of a pickle."""
        if not _is_filled(self, "found_in"):
            return None
        reader, what, _ = self.found_in
        return reader.vector(what)


# By the parts that wait: how many slots of a hit are filled when its taker has set none himself.
_FILLED = {
    waiting: _slots_filled(Hit.unread(None, None, 0.0, "", {}))
    + sum(len(PARTS[part]) for part in PARTS if part not in waiting)
    for waiting in _WAITING
}


class Hits(list[Hit]):
    """A list of Hit, best first.

    `degraded` is the reason why a leg was left out, or "". `timings` are ms by stage, `request_id` is its name in the log.
    `generation` is the commit that was searched. `estimated_recall` is the share of the best by vector that was found: 1.0 unless
    an effort below 1 left some out, then by estimate. Of a dataset, `missing_shards` are the shards that could not be asked, each
    with the reason, and `skipped` is how often a shard was ruled out without being asked.
    """

    __slots__ = (
        "degraded",
        "estimated_recall",
        "generation",
        "missing_shards",
        "request_id",
        "skipped",
        "timings",
    )

    degraded: str
    generation: int
    request_id: str
    timings: dict[str, float]
    missing_shards: tuple[str, ...]
    skipped: int
    estimated_recall: float

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        *,
        degraded: str = "",
        timings: dict[str, float] | None = None,
    ) -> None:
        super().__init__(hits)
        self.degraded, self.request_id, self.generation = degraded, "", 0
        self.timings = {} if timings is None else timings
        self.missing_shards, self.skipped, self.estimated_recall = (), 0, 1.0

    @property
    def exact(self) -> bool:
        """Whether no better passage by vector can have been missed."""
        return self.estimated_recall == 1.0

    @property
    def complete(self) -> bool:
        """Whether all of the collection was searched."""
        return not self.missing_shards

    def groups(self) -> list[list[Hit]]:
        """Neighbours of one document put together: what group= found, document by document."""
        return [list(hits) for _, hits in groupby(self, key=lambda hit: hit.doc_id)]
