"""The options of a question, each declared once.

Every door reads this table: Python calls, REST, MCP, the command line, the browser's types and the
table in the docs. To add an option, declare it in one of the records below and implement it. An
option that a door does not offer names the door and the reason in `absent`.

    def recent(rf: KnowledgeBase, query: str, **options: Unpack[SearchOptions]) -> Hits:
        return rf.search(query, where={"year": {"$gte": 2025}}, **options)
"""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from ragfile.ground.json_values import is_list
from ragfile.ground.option_table import Option, OptionTable, Schema
from ragfile.types import (
    Boost,
    FieldWeights,
    FusionChoice,
    Mode,
    Reranker,
    Rewrites,
    RowFilter,
    RowFilters,
    SparseWeights,
    TagFilter,
    Vector,
    Vectors,
)

# ------------------------------------------------------------------------------------- values in JSON

_FREE: Schema = {"type": "object"}
_ROWS: list[Schema] = [
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "items": {"type": "integer", "minimum": 0}},
    {"type": "array", "items": {"type": "boolean"}},
]
_NULL: Schema = {"type": "null"}
_EACH: Schema = {"type": "array", "items": {"anyOf": [_FREE, *_ROWS, _NULL]}}
_WEIGHTS: Schema = {
    "type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 255},
}  # fmt: skip
_SPARSE: Schema = {
    "type": "object",
    "additionalProperties": {"type": "number", "minimum": 0, "maximum": 65520},
    "maxProperties": 4096,
}
_VECTOR: Schema = {
    "type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 65536,
}  # fmt: skip


def _fusion(value: object) -> object:
    """Return a fusion as Python spells it; JSON has no tuples."""
    if not is_list(value):
        return value
    if len(value) != 2 or not isinstance(value[0], str) or not isinstance(value[1], dict):
        raise ValueError("fusion is a name, or [name, {parameters}]")
    return tuple(value)


_NOT_READ = "not implemented"
_ONE_QUESTION = "one command asks one question"

K = Option(
    "Number of results.",
    12,
    minimum=0,
    limit=("max_k", 1),
    tool={"type": "integer", "minimum": 1, "maximum": 50},
)
K.name, K.kind = "k", int

# ------------------------------------------------------------------------------------------ the records


class _Single(TypedDict, total=False):
    """The options of one question that batches spell otherwise."""

    where: Annotated[RowFilter | None, Option(
        'Filter on metadata, such as `{"year": {"$gte": 2020}}`.',
        more="Also row numbers, a bool for each row, or ids of chunks and documents.",
        schema={"anyOf": [_FREE, *_ROWS, _NULL]}, metavar="JSON", typescript="Where | null",
        tool=_FREE,
    )]  # fmt: skip
    vector: Annotated[Vector | Vectors | None, Option(
        "Vector of the question, used instead of embedding it; with `rewrites`, one for each wording.",
        schema={"anyOf": [_VECTOR, {"type": "array", "items": _VECTOR}, _NULL]},
        typescript="ArrayLike<number> | ArrayLike<number>[] | null",
        absent={"cli": "a vector is too long for a command line"},
    )]  # fmt: skip


class _Common(TypedDict, total=False):
    """The options of every call."""

    mode: Annotated[Mode, Option(
        "Search by all that a question has (`hybrid`): words, vectors and weights of terms; by one of them "
        "(`bm25`, `vector`, `sparse`), or by id, source and keyword (`keyword`).",
        "hybrid", typescript="Mode",
    )]  # fmt: skip
    tags_any: Annotated[TagFilter, Option(
        "Keep passages with at least one of these tags.", (), flag="--tag", metavar="TAG",
    )]  # fmt: skip
    tags_all: Annotated[TagFilter, Option(
        "Keep passages with all of these tags.", (), flag="--tag-all", metavar="TAG",
    )]  # fmt: skip
    pool: Annotated[int, Option(
        "Number of candidates that each retriever proposes.", 50, minimum=0, limit=("max_k", 1),
    )]  # fmt: skip
    fusion: Annotated[FusionChoice | None, Option(
        "How to combine the retrievers: `calibrated`, `rrf` or `blend`, alone or with parameters, "
        'such as `["rrf", {"rrf_k": 30}]`. The file records a default.',
        metavar="METHOD", read=_fusion, typescript="FusionMethod | [FusionMethod, { [name: string]: number }] | null",
    )]  # fmt: skip
    hops: Annotated[int, Option(
        "Whether pages rise that the best passages name: 0 for no, 1 as the file records, 2 for answers that "
        "need several pages.", 1, minimum=0, maximum=2,
    )]  # fmt: skip
    fields: Annotated[FieldWeights | None, Option(
        "Weights of fields of the BM25 index, from 0 to 255. Other fields keep the file's weights.",
        more='Such as `{"headers": 3}`.', schema={"anyOf": [_WEIGHTS, _NULL]}, flag="--field",
        metavar="NAME=WEIGHT",
        absent={"browser": _NOT_READ},
    )]  # fmt: skip


class ExplainOptions(_Single, _Common, total=False):
    """The options of `KnowledgeBase.explain`."""


class _OptionOrder(TypedDict, total=False):
    """The options of searches that are not those of an explanation."""

    drop_repeats: Annotated[
        bool, Option("Leave out passages that nearly repeat a better one.", False)
    ]
    offset: Annotated[int, Option(
        "Number of results to skip.", 0, minimum=0, limit=("max_k", 10),
    )]  # fmt: skip
    min_score: Annotated[float | None, Option("Minimum score.")]
    diversity: Annotated[float, Option(
        "Prefer passages unlike those ranked before, from 0 (off) to 1.", 0.0, minimum=0, maximum=1,
    )]  # fmt: skip
    boost: Annotated[Boost | Sequence[Boost], Option(
        "Raise scores by a number or a date in the metadata: one `Boost`, or a list of them.", (),
        limit=("", 16), typescript="Boost | Boost[]",
    )]  # fmt: skip
    query_syntax: Annotated[bool, Option(
        'Read `"phrases"`, `+word`, `-word`, `begin*` and `speling~` in the question.', False,
        absent={"browser": _NOT_READ},
    )]  # fmt: skip
    effort: Annotated[float, Option(
        "Share of the vectors to look at, the most promising clusters first; 1 is exact.", 1.0,
        above=0, maximum=1, absent={"browser": _NOT_READ},
    )]  # fmt: skip
    threads: Annotated[int | None, Option(
        "Number of threads. The default is 1; for a batch, one for each processor.",
        minimum=1, maximum=256, schema={"type": ["integer", "null"], "minimum": 1, "maximum": 256},
        absent={"browser": "a page searches on one thread"},
    )]  # fmt: skip
    request_id: Annotated[str | None, Option(
        "Name of the request in the log and for the embedding provider.",
        absent={
            "rest": "the header X-Request-Id names a request", "cli": _ONE_QUESTION,
            "browser": "a page keeps no log",
        },
    )]  # fmt: skip


class RetrievalOptions(ExplainOptions, _OptionOrder, total=False):
    """The options of `KnowledgeBase.search`, except `rerank`."""

    sparse: Annotated[SparseWeights | None, Option(
        'Weights of terms of the question, such as `{"fox": 1.3}`, for chunks that bring such weights.',
        more="The command line also reads them from a file.",
        schema={"anyOf": [_SPARSE, _NULL]}, metavar="JSON|FILE", absent={"browser": _NOT_READ},
    )]  # fmt: skip
    similar_to: Annotated[str | int | None, Option(
        "Find passages similar to this one, without it: the id of a chunk, or a row number.",
        minimum=0, metavar="ID",
    )]  # fmt: skip
    rewrites: Annotated[Rewrites, Option(
        "Other wordings of the question. Their answers are fused by rank.", (),
        more="In Python also a function that makes them of the question.",
        limit=("max_questions", 1), flag="--rewrite", metavar="TEXT",
    )]  # fmt: skip
    group: Annotated[int, Option(
        "Return the best documents, each with this many of its best passages; 0 is off.", 0,
        minimum=0, limit=("max_k", 1), absent={"browser": _NOT_READ},
    )]  # fmt: skip
    cache: Annotated[bool, Option(
        "Repeat the answer to an identical question instead of searching again.", True,
        absent={"cli": _ONE_QUESTION, "browser": "a page keeps no answers"},
    )]  # fmt: skip


class SearchOptions(RetrievalOptions, total=False):
    """The options of `KnowledgeBase.search`, for functions that pass them on."""

    rerank: Annotated[str | Reranker | None, Option(
        "Reorder the best 40 passages, or `k` if that is more, by another model: st:NAME, onnx:FOLDER, or a "
        "cross-encoder's name.",
        more="In Python also an object with score(query, texts).",
        schema={"type": "string"}, metavar="MODEL",
        absent={"browser": _NOT_READ, "rest": "a client may not choose models that the server loads"},
    )]  # fmt: skip


class BatchOptions(_Common, _OptionOrder, total=False):
    """The options of `KnowledgeBase.search_batch`, for functions that pass them on."""

    where: Annotated[RowFilters | None, Option(
        "One filter for all questions, as for a search, or a list with one for each.",
        schema={"anyOf": [_FREE, *_ROWS, _EACH, _NULL]},
    )]  # fmt: skip
    vectors: Annotated[Vectors | None, Option(
        "Vectors of the questions, one for each, used instead of embedding them.",
        schema={"anyOf": [{"type": "array", "items": _VECTOR}, _NULL]},
        limit=("max_questions", 1),
    )]  # fmt: skip
    sparse: Annotated[SparseWeights | Sequence[SparseWeights] | None, Option(
        "Weights of terms of the questions: one mapping for all of them, or a list with one for each.",
        schema={"anyOf": [_SPARSE, {"type": "array", "items": _SPARSE}, _NULL]},
        limit=("max_questions", 1), absent={"browser": _NOT_READ},
    )]  # fmt: skip


EXPLAIN = OptionTable(ExplainOptions, "explain")
SEARCH = OptionTable(SearchOptions, "search")
BATCH = OptionTable(BatchOptions, "search_batch")
