"""The records that the steps of a search exchange: documents, chunks, candidates and hits.

Chunk and Candidate have the five and six fields of the canonical interface, and the span of the text
in its document (`start`, `end`, in code points), which traces every passage to its source:

    document.text[chunk.start:chunk.end] == chunk.content
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from gc import get_referents
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, TypeVar, cast

from ragfile.errors import CorruptError
from ragfile.ground.annotations import deferred

if TYPE_CHECKING:
    from datetime import date

    from ragfile.types import Fields, Floats, Fusion, Metadata, SparseWeights, Tags, Where
else:  # a tenth of the time that importing this module takes
    Fields, Floats, Fusion, Metadata, SparseWeights, Tags, Where = (
        deferred("ragfile.types", name)
        for name in ("Fields", "Floats", "Fusion", "Metadata", "SparseWeights", "Tags", "Where")
    )

R = TypeVar("R")


def _of_mapping(cls: type[R], value: object) -> R:
    """Return a record from a mapping with its field names, or raise TypeError with the wrong names."""
    what = f"a {cls.__name__.lower()}"
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} is a {cls.__name__} or a mapping, not {type(value).__name__}")
    declared: Any = cls  # Any: a dataclass
    known = {
        f.name: f.default is MISSING and f.default_factory is MISSING for f in fields(declared)
    }
    named = cast("Mapping[str, Any]", value)
    missing = [name for name, is_needed in known.items() if is_needed and name not in named]
    other = [str(name) for name in named if name not in known]
    if missing or other:
        faults = [f"lacks {', '.join(missing)}"] * bool(missing)
        faults += [f"does not know {', '.join(other)}"] * bool(other)
        raise TypeError(f"{what} {' and '.join(faults)}; its fields are {', '.join(known)}")
    return cls(**named)


class Span(NamedTuple):
    """A stretch of a text, in code points: `text[start:end]`."""

    start: int
    end: int


NUMBERED = ("page", "slide", "row")
"""The numbered parts of a source. A segment's metadata has its number under one of these names."""


LONGEST_ID = 1024  # bytes


def check_id(doc_id: object) -> None:
    """Raise ValueError if the id of a new document is too long; ids are in indexes and messages."""
    if isinstance(doc_id, str) and len(doc_id) * 4 > LONGEST_ID:
        size = len(doc_id.encode("utf-8", "surrogatepass"))
        if size > LONGEST_ID:
            raise ValueError(
                f"the id of a document has {size:,} bytes of UTF-8; the limit is {LONGEST_ID:,}"
            )


@dataclass(slots=True)
class Segment:
    """A part of a document that no chunk may cross: a page, a slide, a row.

    Every chunk in it gets its metadata.
    """

    start: int
    end: int
    metadata: Metadata = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a document to another one.

    Args:
        target: The id of a document, or a path or a name that leads to it; kept if none exists.
        kind: `"link"`, `"wikilink"`, `"embed"`, a field of front matter, or a kind of your own.
        fragment: The part of the target after `#`, such as a heading.
        text: The text of the link.
        start: The place of the link in the document's text, in code points; -1 if unknown.
        end: The end of the place.
        weight: A number for your own use. Default: 1.
        features: Further numbers; stored with the precision of the file's vectors.
        source: The id of the document that has the link. `rf.links()` fills it.
        document: The id of the document that the target leads to, None for a broken link. Filled
            likewise.
    """

    target: str
    kind: str = "link"
    fragment: str = ""
    text: str = ""
    start: int = -1
    end: int = -1
    weight: float = 1.0
    features: Sequence[float] = ()
    source: str = ""
    document: str | None = None


@dataclass(slots=True)
class Document:
    """One source text, normalised.

    Without segments it is one piece; its chunks begin at `body`, after the front matter. `edits` restore
    the text as it was read (see `original`); there are none if normalisation changed nothing. `links` are
    further ones, beyond those in its Markdown and its front matter. `raw` are the bytes of its file, if
    they are to be kept because the text does not give them back.
    """

    id: str
    text: str
    source: str = ""
    metadata: Metadata = field(default_factory=lambda: {})
    tags: Tags = ()
    segments: Sequence[Segment] = ()
    edits: Sequence[Any] = ()
    body: int = 0
    links: Sequence[Link] = field(default=(), repr=False, compare=False)
    raw: bytes = field(default=b"", repr=False, compare=False)

    @property
    def original(self) -> str:
        """The text as its loader read it; for text and Markdown files, the exact characters of the file."""
        from ragfile.text import restored  # with tables that opening and searching do not need

        try:
            text: str = restored(self.text, self.edits)
        except ValueError as error:
            raise CorruptError(
                f"the original text of document {self.id!r}: {error}", section="rag.meta"
            ) from None
        return text

    @classmethod
    def of(cls, value: Self | Fields) -> Self:
        """Return a Document as it is, or one from a mapping with its field names."""
        document = value if isinstance(value, cls) else _of_mapping(cls, value)
        check_id(document.id)
        return document


@dataclass(slots=True)
class Chunk:
    """The unit of indexing and search.

    `start` and `end` are the span in the document, in code points; -1 if the document is unknown.
    `sparse` are weights of terms that you bring, such as those of a sparse encoder; None for none.
    """

    doc_id: str
    chunk_index: int
    content: str
    tags: Tags = ()
    metadata: Metadata = field(default_factory=lambda: {})
    start: int = -1
    end: int = -1
    sparse: SparseWeights | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The content, under the name that a Hit has for it."""
        return self.content

    def whole(self) -> tuple[Any, ...]:
        """Return the fields of all PARTS, in their order."""
        return tuple(getattr(self, field_name) for field_name in PART_OF)

    @property
    def uuid(self) -> str:
        """A UUID of document id and chunk index, equal on every machine."""
        return chunk_uuid(self.doc_id, self.chunk_index)

    def to_dict(self) -> Metadata:
        """Return the canonical five fields."""
        return {
            "doc_id": self.doc_id,
            "chunk_index": self.chunk_index,
            "content": self.content,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }

    @classmethod
    def of(cls, value: Self | Fields) -> Self:
        """Return a Chunk as it is, or one from a mapping with its field names."""
        chunk = value if isinstance(value, cls) else _of_mapping(cls, value)
        check_id(chunk.doc_id)
        return chunk


@dataclass(slots=True)
class Candidate:
    """A chunk proposed by a retriever, with its score. Higher is better."""

    doc_id: str
    chunk_index: int
    content: str
    score: float
    tags: Tags = ()
    metadata: Metadata = field(default_factory=lambda: {})
    start: int = -1
    end: int = -1

    @property
    def key(self) -> tuple[str, int]:
        """The identity of the chunk, which also orders equal scores."""
        return self.doc_id, self.chunk_index

    @property
    def text(self) -> str:
        """The content, under the name that a Hit has for it."""
        return self.content

    def to_dict(self) -> Metadata:
        """Return the canonical six fields."""
        return {
            "doc_id": self.doc_id,
            "chunk_index": self.chunk_index,
            "content": self.content,
            "score": self.score,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }

    def scored(self, score: float) -> Candidate:
        """Return the same candidate with another score."""
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
        """Return the same candidate without its text."""
        return replace(self, content="")

    @classmethod
    def of(cls, value: Self | Hit | Fields) -> Self:
        """Return a Candidate as it is, or one from a hit or a mapping with its field names."""
        if isinstance(value, Hit):
            return cls(
                value.doc_id, value.chunk_index, value.text, value.score, value.tags, value.metadata,
                value.start, value.end,
            )  # fmt: skip
        return value if isinstance(value, cls) else _of_mapping(cls, value)


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort candidates by falling score, ties by (doc_id, chunk_index)."""
    return sorted(candidates, key=lambda c: (-c.score, c.doc_id, c.chunk_index))


UUID_NAMESPACE = bytes.fromhex("6f1d7f0e2a5c5b0c9d0c3e8b7a41f652")


def chunk_uuid(doc_id: str, chunk_index: int, collection: str = "") -> str:
    """Return the version 5 UUID of a chunk, equal on every machine, for stores with UUIDs as ids."""
    import hashlib  # both here, so that importing ragfile does not load them
    from uuid import UUID

    name = f"{collection}\0{doc_id}\0{chunk_index}".encode("utf-8", "surrogatepass")
    return str(UUID(bytes=hashlib.sha1(UUID_NAMESPACE + name).digest()[:16], version=5))


class Candidates(list[Candidate]):
    """A list of Candidate, best first. `degraded` is the reason a retriever was skipped, or ""."""

    __slots__ = ("degraded",)

    degraded: str

    def __init__(self, candidates: Iterable[Candidate] = (), *, degraded: str = "") -> None:
        super().__init__(candidates)
        self.degraded = degraded


@dataclass(slots=True)
class Plan:
    """How to retrieve: the retrievers, the candidates of each, the filters and the fusion.

    Attributes:
        k: results to return.
        pool: candidates of each retriever.
        rrf_k: constant of reciprocal rank fusion.
        fusion: how rankings are combined.
        vector: whether to search by vector.
        lexical: whether to search by BM25.
        where: a filter on metadata.
        tags_any: tags of which a chunk must have one.
        tags_all: tags that a chunk must have.
    """

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
    """Text of a document, and its span there in code points (-1 if unknown)."""

    text: str
    start: int
    end: int


# A hit of a search reads its fields on first use, in these parts.
PARTS = {
    "identity": ("id", "doc_id", "chunk_index", "start", "end"),
    "passage": ("text",),
    "labels": ("tags", "metadata", "source"),
}
ALL_PARTS = tuple(PARTS)
PART_OF = {name: part for part, names in PARTS.items() for name in names}
_WAITING = [some for n in range(len(PARTS) + 1) for some in combinations(ALL_PARTS, n)]
# (unread parts, the part that is read) -> parts that remain unread.
_AFTER = {
    (waiting, part): tuple(one for one in waiting if one != part)
    for waiting in _WAITING
    for part in PARTS
}


class _Unread:
    """Fields that are read on first use: `found_in` is (reader, key for it, unread parts).

    Only an empty slot reaches __getattr__, so fields already read cost nothing more.
    """

    found_in: tuple[Any, Any, tuple[str, ...]]
    asked: HitQuestion | None

    if (
        not TYPE_CHECKING
    ):  # mypy misses slots of a base; with __getattr__, misspelt names would pass
        __slots__ = ("asked", "found_in")

        def __getattr__(self, name: str) -> object:
            part = PART_OF.get(name)
            if part is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            reader, key, unread = self.found_in
            values, names = reader.read(key, part), PARTS[part]
            is_untouched = len(names) == 1 or _slots_filled(self) == _FILLED[unread]
            for field_name, value in zip(names, values, strict=True):
                if is_untouched or not _is_filled(self, field_name):
                    setattr(self, field_name, value)
            self.found_in = reader, key, _AFTER[unread, part]
            return object.__getattribute__(self, name)


def _slots_filled(record: object) -> int:
    """Return the number of slots with a value; checking each would cost an exception for each empty one."""
    return len(get_referents(record))


def _is_untouched(hit: Hit) -> bool:
    """Return whether no part of a hit was read, and no field set by its caller."""
    return _slots_filled(hit) == _FILLED[ALL_PARTS] and hit.found_in[2] == ALL_PARTS


def _is_filled(record: object, name: str) -> bool:
    try:
        object.__getattribute__(record, name)
    except AttributeError:
        return False
    return True


SHOWN = 60  # characters of a text in a repr


def shortened(text: str) -> str:
    """Return the beginning of a text in one line, for a repr."""
    line = " ".join(text[: 4 * SHOWN].split())
    return line if len(line) <= SHOWN and len(text) <= 4 * SHOWN else f"{line[: SHOWN - 1]}…"


@dataclass(slots=True, repr=False)
class Hit(_Unread):
    """One passage of a result: its source, its exact text, and its `scores` by retriever.

    Hits of a search read their text and metadata from the file on first use.
    """

    id: str
    doc_id: str
    chunk_index: int
    text: str
    score: float
    score_type: str = "score"
    scores: dict[str, float] = field(default_factory=lambda: {})
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=lambda: {})
    source: str = ""
    start: int = -1
    end: int = -1

    @classmethod
    def unread(
        cls, reader: object, key: object, score: float, score_type: str, scores: dict[str, float]
    ) -> Self:
        """Return a hit that reads its other fields by reader.read(key, part) on first use."""
        hit = cls.__new__(cls)
        hit.found_in, hit.score = (reader, key, ALL_PARTS), score
        hit.score_type, hit.scores = score_type, scores
        hit.asked = None
        return hit

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    def __repr__(self) -> str:
        return f"Hit({self.id!r}, {self.score_type}={self.score:.3f}, {shortened(self.text)!r})"

    def _repr_html_(self) -> str | None:
        """Return the hit for a notebook; None, which means the repr, after unpickling."""
        asked: HitQuestion | None = getattr(self, "asked", None)
        return None if asked is None else asked.html([self])

    def read(self) -> Self:
        """Read all fields from the file and return the hit; in one step if none was read or set."""
        if _is_untouched(self):
            reader, key, _ = self.found_in
            for name, value in zip(PART_OF, reader.read(key, "whole"), strict=True):
                setattr(self, name, value)
            self.found_in = reader, key, ()
            return self
        for name in PARTS:
            self.part(name)
        return self

    def part(self, name: str) -> tuple[Any, ...]:
        """Return the fields of one of the PARTS."""
        return tuple(getattr(self, field_name) for field_name in PARTS[name])

    def whole(self) -> tuple[Any, ...]:
        """Return the fields of all PARTS, in their order."""
        return tuple(getattr(self, field_name) for field_name in PART_OF)

    @property
    def uuid(self) -> str:
        """A UUID of document id and chunk index, equal on every machine."""
        return chunk_uuid(self.doc_id, self.chunk_index)

    @property
    def named_by(self) -> tuple[str, str] | None:
        """The id of the better passage that names this page ("" for the question itself), and the name as it stands
        there; None if the hit did not rise by one, and after unpickling.
        """
        asked: HitQuestion | None = getattr(self, "asked", None)
        return None if asked is None else asked.named_by(self)

    @property
    def missing(self) -> list[str]:
        """The question's words that the passage does not have; empty after unpickling."""
        asked: HitQuestion | None = getattr(self, "asked", None)
        return [] if asked is None else asked.missing(self)

    @property
    def standing(self) -> str:
        """How current and how trusted the document is, such as "stale since 2026-09-23, unverified".

        Read from the front matter of the Open Knowledge Format; "" for a document without these fields.
        """
        return standing_of(self.metadata)

    def context(self, *, before: int = 1, after: int = 1) -> Stretch:
        """Return the document's text around this chunk, without gaps, read from the open file.

        Args:
            before: chunks before this one. A deleted chunk ends the text.
            after: chunks after this one.

        Raises:
            ValueError: a count is negative, or the hit has no open file, as after unpickling.
        """
        if before < 0 or after < 0:
            raise ValueError(f"before and after count chunks, not {min(before, after)}")
        if not _is_filled(self, "found_in"):
            raise ValueError(f"the hit {self.id} is of no open file: search for it again")
        reader, key, _ = self.found_in
        text: Stretch = reader.stretch(key, before, after)
        return text

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and last line of a passage of source code in its file, from 1.

        None for other passages, and after unpickling.
        """
        if not _is_filled(self, "found_in"):
            return None
        reader, key, _ = self.found_in
        found: tuple[int, int] | None = reader.lines(key, self)
        return found

    @property
    def vector(self) -> Floats | None:
        """The stored vector, read from the open file; None without one, or after unpickling."""
        if not _is_filled(self, "found_in"):
            return None
        reader, key, _ = self.found_in
        found: Floats | None = reader.vector(key)
        return found


# Unread parts -> filled slots of a hit with no field set by its caller.
_FILLED = {
    waiting: _slots_filled(Hit.unread(None, None, 0.0, "", {}))
    + sum(len(PARTS[part]) for part in PARTS if part not in waiting)
    for waiting in _WAITING
}


NAMED = 6  # missing words in a refusal
TOGETHER = "the words of the question together"


class Support(NamedTuple):
    """How much of a question the passages of an answer have.

    Attributes:
        share: The largest share of the question's terms in one passage, by weight, from 0 to 1.
        needed: The share that supports an answer.
        missing: Words of the question that no passage has, in order.
        terms: Number of terms of the question.
        is_near: Whether a passage is near in meaning.
        strong: The share from which the support is strong.
        is_apart: Whether a few keywords are far apart in every passage that has enough of them.
    """

    share: float = 0.0
    needed: float = 1.0
    missing: tuple[str, ...] = ()
    terms: int = 0
    is_near: bool = False
    strong: float = 1.0
    is_apart: bool = False

    @property
    def is_enough(self) -> bool:
        """Whether the passages support an answer."""
        has_words = self.terms > 0 and self.share >= self.needed and not self.is_apart
        return self.is_near or has_words

    @property
    def strength(self) -> Literal["strong", "fair", "weak"]:
        """The support in one word."""
        if not self.is_enough:
            return "weak"
        return "strong" if self.share >= self.strong else "fair"

    def remark(self) -> str:
        """Return the word with the missing words, for people and models; "" for strong support."""
        if self.strength == "strong" or not self.terms:
            return ""
        found = f"{self.strength} support for an answer"
        if self.is_apart:
            return f"{found}; no passage has {TOGETHER}"
        named = ", ".join(self.missing[:NAMED])
        return f"{found}; no passage has: {named}" if named else found

    def to_dict(self) -> dict[str, Any]:
        """Return the support as a dict, ready for JSON."""
        return {
            "strength": self.strength, "share": round(self.share, 3), "needed": round(self.needed, 3),
            "missing": list(self.missing), "apart": self.is_apart,
        }  # fmt: skip

    def refusal(self) -> str:
        """Return the text that replaces an answer."""
        if not self.terms:
            return "Nothing here supports an answer: the question has no words to look for."
        if self.is_apart:
            return f"Nothing here supports an answer: no passage has {TOGETHER}."
        named = ", ".join(self.missing[:NAMED])
        lacking = f"; the nearest do not have: {named}" if named else ""
        has = "no passage has any word of the question"
        if self.share:
            has = f"no passage has more than {self.share:.0%} of the question"
        return f"Nothing here supports an answer: {has}{lacking}."


class HitQuestion(Protocol):
    """The question that found some hits."""

    def missing(self, hit: Hit, /) -> list[str]: ...
    def named_by(self, hit: Hit, /) -> tuple[str, str] | None: ...
    def support(self, hits: Sequence[Hit], /) -> Support: ...
    def html(self, hits: Sequence[Hit], /) -> str: ...


class Hits(list[Hit]):
    """A list of Hit, best first.

    Attributes:
        degraded: the reason a retriever was skipped, or "".
        timings: milliseconds by stage.
        request_id: the search's name in the log.
        generation: the commit that was searched.
        estimated_recall: share of the nearest vectors that was found; below 1.0 only with an effort below 1.
        missing_shards: the shards of a dataset that could not be searched, each with the reason.
        skipped: how often a shard was ruled out without a search.
    """

    __slots__ = (
        "asked",
        "degraded",
        "estimated_recall",
        "generation",
        "missing_shards",
        "request_id",
        "skipped",
        "timings",
    )

    asked: HitQuestion | None
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
        self.asked = None

    def __repr__(self) -> str:
        return f"Hits([{''.join(f'{chr(10)}    {hit!r},' for hit in self)}{chr(10) * bool(self)}])"

    def _repr_html_(self) -> str | None:
        """Return the hits for a notebook; None, which means the repr, after unpickling."""
        return None if self.asked is None else self.asked.html(self)

    @property
    def exact(self) -> bool:
        """Whether the search by vector was exact: no nearer passage can be missing."""
        return self.estimated_recall == 1.0

    @property
    def complete(self) -> bool:
        """Whether the whole collection was searched."""
        return not self.missing_shards

    @property
    def support(self) -> Support | None:
        """How much of the question the first five passages have; None after unpickling."""
        return None if self.asked is None else self.asked.support(self)

    @property
    def weak(self) -> bool:
        """Whether nothing here supports an answer: the file is probably about something else."""
        found = self.support
        return found is not None and bool(found.terms) and not found.is_enough

    def groups(self) -> list[list[Hit]]:
        """Return runs of hits of one document, as `group=` orders them."""
        return [list(hits) for _, hits in groupby(self, key=lambda hit: hit.doc_id)]


# ---------------------------------------------------------------------------------------------------------- standing --

STANDING = ("generated", "verified", "stale_after")  # fields of the Open Knowledge Format
PERSON = "human:"


def standing_of(metadata: Metadata, today: date | None = None) -> str:
    """Return the standing, such as "stale since 2026-09-23, human-reviewed", or "" if none is recorded.

    `stale_after` is the first day on which a document is stale, `verified` lists who confirmed it, `status` is
    draft, stable or deprecated.
    """
    kind = metadata.get("type")
    if not (isinstance(kind, str) and kind and any(name in metadata for name in STANDING)):
        return ""
    return ", ".join(_standing_words(metadata, today))


def _standing_words(metadata: Metadata, today: date | None) -> Iterator[str]:
    from datetime import UTC, datetime  # which few documents need

    today = today or datetime.now(UTC).date()
    since = _day(metadata.get("stale_after"))
    if since is not None and today >= since:
        yield f"stale since {since}"
    if (status := metadata.get("status")) in ("draft", "deprecated"):
        yield str(status)
    actors = list(_actors(metadata.get("verified")))
    if any(actor.startswith(PERSON) for actor in actors):
        yield "human-reviewed"
    else:
        yield "machine-confirmed" if actors else "unverified"


def _day(value: object) -> date | None:
    """Return the day of a date or a time; None for anything else."""
    from datetime import date

    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None


def _actors(verified: object) -> Iterator[str]:
    """Yield who confirmed a document; a single event needs no list."""
    events = cast("list[object]", verified if isinstance(verified, list) else [verified])
    for event in events:
        by = cast("dict[str, object]", event).get("by") if isinstance(event, dict) else None
        if isinstance(by, str) and by:
            yield by
