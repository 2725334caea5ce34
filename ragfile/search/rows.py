"""What a search asks of rows, whatever they are stored in.

A file answers from its map (search/file_rows.py), a dataset by asking its shards (shards/dataset_rows.py). Neither keeps
anything of a question: what one question notes goes into its Notes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ragfile import _core
    from ragfile.file.passages import Passages
    from ragfile.file.row_segment import StoredDocument
    from ragfile.file.stored_rows import RowPlace
    from ragfile.ingest.analysis import Analysis, Statistics
    from ragfile.records import Chunk, Hits
    from ragfile.search.query_syntax import Sign
    from ragfile.search.question import Notes, Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.types import FieldWeights, Float32s, Int64s, TagFilter, Vector

Found = tuple["Int64s", "Float32s"]
"""rows [m, k] and scores [m, k], best first; what is left over is row -1 with score -inf."""


class SearchedRows(Protocol):
    """The rows of one commit, as a search sees them.

    `chosen` is what select() returned: the rows that a question may find, in the form that these rows take.
    """

    path: str
    config: dict[str, Any]  # JSON
    generation: int
    count: int  # all rows
    live: int  # those that are not deleted
    are_apart: bool  # whether questions with filters of their own are asked one by one

    @property
    def has_vectors(self) -> bool: ...
    @property
    def has_bm25(self) -> bool: ...
    @property
    def analysis(self) -> Analysis | None: ...
    @property
    def lexicon(self) -> Any:  # _core.Lexicon or _core.Frequencies
        """What makes terms of words as the index does."""
        ...

    # ------------------------------------------------------------------------------------- which rows --

    def select(
        self, where: Any = None, tags_any: TagFilter = (), tags_all: TagFilter = (),
        without: int | None = None, signs: Sequence[Sign] = (),
    ) -> Any:  # fmt: skip
        """Return the rows that pass a filter and have the tags, without one of them, and that signs leave."""
        ...

    def flags(self, chosen: Any, notes: Notes) -> NDArray[np.bool_] | None:
        """Return bool[rows] of the chosen rows, or None for all of them."""
        ...

    def listing(self, name: str, notes: Notes) -> NDArray[np.bool_]:
        """Return bool[rows]: those with metadata that list a name among their "keywords"."""
        ...

    # ----------------------------------------------------------------------------------------- finding --

    def hybrid(self, question: Question, vectors: NDArray[Any], chosen: Any) -> Ranked:
        """Return the fused answer of both retrievers."""
        ...

    def match(
        self, texts: Sequence[str], k: int, chosen: Any, threads: int | None, *,
        k1: float | None = None, b: float | None = None, queries: _core.Queries | None = None,
        fields: FieldWeights | None = None, notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        """Return the k best rows for each text by BM25."""
        ...

    def nearest(
        self, vectors: NDArray[Any], k: int, chosen: Any, threads: int | None,
        min_score: Float32s | None = None, effort: float = 1.0, recall: NDArray[np.float64] | None = None,
        notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        """Return the k best rows for each vector. recall takes the share of the best that each answer has."""
        ...

    def scores_of(
        self, rows: Int64s, *, text: str | None = None, vector: Vector | None = None,
        k1: float | None = None, b: float | None = None, fields: FieldWeights | None = None,
        notes: Notes | None = None,
    ) -> Float32s:  # fmt: skip
        """Return the exact scores of live rows, for a text or for a vector."""
        ...

    def least(self, question: Question, vectors: NDArray[Any], words: Found) -> Float32s | None:
        """Return the vector score that a row needs that no word found, to be among the answers."""
        ...

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        """Return (mean, deviation) of a vector's exact scores over the sample."""
        ...

    # ----------------------------------------------------------------------------------- the dictionary --

    def queries(
        self, texts: Sequence[str], fields: FieldWeights | None = None, terms: Sequence[str] = (),
        notes: Notes | None = None,
    ) -> _core.Queries:  # fmt: skip
        """Return texts as the index is asked for them. `terms` of the dictionary go to the only text."""
        ...

    def statistics_of(
        self, query: str, fields: FieldWeights | None = None, notes: Notes | None = None
    ) -> Statistics:
        """Return the sums over all live rows that weigh a question's terms."""
        ...

    def spelled(self, word: str, edits: int) -> dict[str, int]:
        """Return the terms that begin with a word, or are so many edits away, with their numbers of rows."""
        ...

    # ----------------------------------------------------------------------------------------- reading --

    def looked_at(
        self, what: str, rows: Iterable[int] | Int64s, notes: Notes | None = None
    ) -> dict[int, Any]:
        """Return by row the "hits", "ids", "keys", "standings", "metadata", "contents" or "vectors" of rows."""
        ...

    def vectors_of(self, rows: Iterable[int], notes: Notes | None = None) -> Float32s:
        """Return the vectors of live rows; NaN for a row without one."""
        ...

    def check_live(self, rows: Int64s) -> None: ...
    def place(self, row: int) -> RowPlace: ...
    def chunk(self, row: int) -> Chunk: ...
    def row(self, chunk_id: str) -> int | None: ...
    def find(self, doc_id: str) -> StoredDocument | None: ...
    def passages(self) -> Passages: ...
    def hits(self, ranked: Ranked, degraded: str, notes: Notes) -> list[Hits]:
        """Return the hits of some answers; texts are read on first look where that costs no round trip."""
        ...
