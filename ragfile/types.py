"""Types for annotations in your own code: choices, filters, paths and arrays.

from ragfile.types import Mode, Where

def recent(year: int) -> Where:
    return {"year": {"$gte": year}, "draft": {"$ne": True}}
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    from typing import ForwardRef

# ------------------------------------------------------------------------------------------------------------- choices

Mode: TypeAlias = Literal["hybrid", "vector", "bm25", "sparse", "keyword"]
"""How to search."""

Fusion: TypeAlias = Literal["calibrated", "rrf", "blend"]
"""How a search combines the rankings of its retrievers."""

FuseMethod: TypeAlias = Literal["rrf", "blend", "weighted", "calibrated"]
"""The methods of ragfile.fuse."""

Metric: TypeAlias = Literal["cosine", "ip", "l2"]
"""How two vectors are compared."""

Precision: TypeAlias = Literal[16, 32]
"""Bits of a stored vector component."""

Layout: TypeAlias = Literal["default", "web"]
"""Layout of a file: "web" lets readers of a URL fetch small parts."""

PairPrecision: TypeAlias = Literal[8, 16, 32, 64]
"""Bits of a component in a 0.1.0 file."""

Padding: TypeAlias = Literal[4, 8, 16]
"""The padding of a 0.1.0 file."""

Dialect: TypeAlias = Literal["auto", "strict", "reference"]
"""How to read a 0.1.0 file."""

ByteOrder: TypeAlias = Literal["little", "big"]
"""The byte order of a 0.1.0 file."""

PairStrategy: TypeAlias = Literal["keyword", "vector"]
"""The two kinds of pairs."""

ChunkKind: TypeAlias = Literal["characters", "words", "sentences", "markdown", "joined"]
"""The chunk policies."""

Errors: TypeAlias = Literal["strict", "replace"]
"""Treatment of text that is not UTF-8."""

Format: TypeAlias = Literal[
    "ragmd", "ragfile", "ragfile-0.1", "faiss+json", "parquet", "jsonl", "sqlite-vec", "duckdb", "npy+jsonl", "ragged-mmap", "pgvector", "chroma",
    "qdrant", "csv", "langchain-faiss", "lancedb", "milvus-lite", "txtai", "postgresql",
]  # fmt: skip
"""The stores that ragfile.convert knows."""

# ------------------------------------------------------------------------------------------------------- plain values

StrPath: TypeAlias = str | PathLike[str]
"""A path, or a URL where a function accepts one."""

Assigning: TypeAlias = Literal["range", "hash"] | Callable[[str], int]
"""Which documents of a dataset share a shard."""

Sources: TypeAlias = StrPath | Iterable[StrPath]
"""Folders, globs and files; one of them or several."""

Tags: TypeAlias = tuple[str, ...] | list[str]
"""The tags of a document or chunk. A single string is not a list of tags."""

TagFilter: TypeAlias = tuple[str, ...] | list[str] | set[str] | frozenset[str]
"""The tags that a search asks for."""

Metadata: TypeAlias = dict[str, Any]
"""JSON values by name."""

Fields: TypeAlias = Mapping[str, Any]
"""A record as a mapping with its field names."""

Progress: TypeAlias = Callable[[int, int, float | None], object]
"""A function called with the documents done, the chunks done, and the share done or None if unknown."""

# ------------------------------------------------------------------------------------------------------------- filters

Scalar: TypeAlias = str | int | float | bool | None
"""A plain value in metadata."""

Operators = TypedDict(
    "Operators",
    {
        "$eq": object, "$ne": object, "$gt": Scalar, "$gte": Scalar, "$lt": Scalar, "$lte": Scalar,
        "$in": Sequence[Any], "$nin": Sequence[Any], "$any": Sequence[Any], "$all": Sequence[Any], "$exists": bool,
        "$contains": object, "$not": "Operators",
    },
    total=False,
)  # fmt: skip
"""Conditions on one field; all of them must hold."""

if TYPE_CHECKING:
    Filters: TypeAlias = Sequence["Where"]
else:  # by the name of this module, so that it resolves in any other
    Filters = Sequence[ForwardRef("Where", module=__name__)]

Condition: TypeAlias = Scalar | Sequence[Scalar] | Operators | Filters
"""The value of one key of a filter: a value to equal, operators, or the filters of "$and" and "$or"."""

Logic = TypedDict(
    "Logic", {"$and": Sequence["Where"], "$or": Sequence["Where"], "$not": "Where"}, total=False
)
"""Combined filters. Write a "$not" beside other keys into an "$and"."""

Where: TypeAlias = Mapping[str, Condition] | Logic
"""A filter on metadata: `{"lang": "en", "year": {"$gte": 2020}}`. All conditions must hold."""

# -------------------------------------------------------------------------------------------------------------- arrays

if TYPE_CHECKING:
    Floats: TypeAlias = NDArray[np.floating[Any]]
    Integers: TypeAlias = NDArray[np.integer[Any]]
    Booleans: TypeAlias = NDArray[np.bool_]
    Float32s: TypeAlias = NDArray[np.float32]
    Int64s: TypeAlias = NDArray[np.int64]
else:
    # Importing numpy takes longer than importing ragfile, so it loads when an annotation is resolved.
    def _array_of(name: str) -> object:
        import numpy as np
        from numpy.typing import NDArray

        scalar = getattr(np, name)
        return NDArray[scalar[Any] if name in ("floating", "integer") else scalar]

    Floats, Integers, Booleans, Float32s, Int64s = (
        ForwardRef(f"_array_of({name!r})", module=__name__)
        for name in ("floating", "integer", "bool_", "float32", "int64")
    )

Vector: TypeAlias = Floats | Integers | Sequence[float]
"""One vector."""

Vectors: TypeAlias = Floats | Integers | Sequence[Vector]
"""One vector a row."""

SomeVectors: TypeAlias = Vectors | Sequence[Vector | None]
"""One vector a row, or None for a chunk that has none."""


class Table(Protocol):
    """A table of any library with Arrow streams: pyarrow, pandas, polars, DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Rows: TypeAlias = Booleans | Integers | Sequence[int]
"""Row numbers, or a bool for each row of the file."""

RowFilter: TypeAlias = Where | Rows | list[str] | tuple[str, ...] | set[str] | frozenset[str]
"""The argument `where=`: a filter on metadata, rows, or ids of chunks and documents."""

RowFilters: TypeAlias = RowFilter | Sequence[RowFilter | None]
"""One filter for all questions, or a list with one for each."""

# ---------------------------------------------------------------------------------------------------------- sections


class SectionEntry(TypedDict):
    """An entry of a file's table of contents: `size` bytes at offset `at`, with `extent` bytes reserved."""

    name: str
    segment: int
    flags: int
    generation: int
    at: int
    size: int
    items: int
    extent: int


# -------------------------------------------------------------------------------------------------------------- search

FusionChoice: TypeAlias = Fusion | tuple[Fusion, Mapping[str, float]]
"""A fusion, or one with its parameters: `("rrf", {"rrf_k": 30})`."""


class Boost(TypedDict):
    """Raises scores by `weight * 0.5 ** (|value - reference| / half_life)`.

    The value is a number or an ISO date under `field` in the metadata; a date's half_life is in days.
    Passages without such a value keep their scores.
    """

    field: str
    weight: float
    reference: float | str
    half_life: float


FieldWeights: TypeAlias = Mapping[str, int]
"""Weights of BM25 fields by name, 0 to 255; other fields keep the file's weights."""

SparseWeights: TypeAlias = Mapping[str, float]
"""Weights of terms, 0 to 65,520, such as those of a sparse encoder."""

Rewrites: TypeAlias = Sequence[str] | Callable[[str], Iterable[str]]
"""Other wordings of a question, or a function that returns them."""


class Reranker(Protocol):
    """A model that reads a query and texts together."""

    def score(self, query: str, texts: Sequence[str]) -> Iterable[float]:
        """Return one finite number for each text, higher for better."""
        ...
