"""The rows that a search asks, however they are stored.

A file answers from its map (search/file_rows.py), a dataset by asking its shards (shards/dataset_rows.py).
Neither keeps state of a question; a question's own notes go into its Notes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import pandas
    import pyarrow
    import pyarrow.dataset
    from numpy.typing import NDArray

    from ragfile import _core
    from ragfile.file.exact_retrievers import LiveDictionary
    from ragfile.file.passages import Passages
    from ragfile.file.row_segment import RowSegment, StoredDocument
    from ragfile.file.stored_rows import RowPlace
    from ragfile.ingest.analysis import Analysis, Statistics
    from ragfile.options import SearchOptions
    from ragfile.records import Chunk, Document, Hit, Hits
    from ragfile.search.named_pages import Names
    from ragfile.search.query_syntax import Sign
    from ragfile.search.question import Notes, Question
    from ragfile.search.retriever_fusion import Method, Ranked
    from ragfile.types import FieldWeights, Float32s, Int64s, TagFilter, Vector

Found: TypeAlias = tuple["Int64s", "Float32s"]
"""Rows [m, k] and scores [m, k], best first; unused places hold row -1 and score -inf."""

Selection: TypeAlias = Any  # each kind of rows has its own
"""The rows that a question may find: a result of `select`, which only the same rows can read."""


Dictionary: TypeAlias = "LiveDictionary | _core.Frequencies"
"""The terms of a BM25 index: those of a file, or of a dataset."""


class ChunkRows(Protocol):
    """Chunks by row, and rows by chunk id."""

    def row(self, chunk_id: str) -> int | None: ...
    def chunk(self, row: int) -> Chunk: ...


class SearchedRows(ChunkRows, Protocol):
    """The rows of one commit, as a search sees them."""

    path: str
    config: dict[str, Any]  # JSON
    generation: int
    count: int  # all rows
    live: int  # those that are not deleted

    @property
    def are_apart(self) -> bool:
        """Whether questions with filters of their own are asked one by one."""
        ...

    @property
    def has_vectors(self) -> bool: ...
    @property
    def has_bm25(self) -> bool: ...
    @property
    def has_further_passages(self) -> bool:
        """Whether a document has several chunks."""
        ...

    @property
    def fusion_method(self) -> Method:
        """The recorded fusion, for questions that choose none."""
        ...

    @property
    def analysis(self) -> Analysis | None: ...
    @property
    def lexicon(self) -> Dictionary:
        """The dictionary that turns words into terms, as the index does."""
        ...

    # ------------------------------------------------------------------------------------- which rows --

    def select(
        self, where: object = None, tags_any: TagFilter = (), tags_all: TagFilter = (),
        without: int | None = None, signs: Sequence[Sign] = (),
    ) -> Selection:  # fmt: skip
        """Return the live rows that pass the filter, the tags and the signs, except the row `without`."""
        ...

    def flags(self, chosen: Selection, notes: Notes) -> NDArray[np.bool_] | None:
        """Return bool[rows] of the chosen rows, or None for all of them."""
        ...

    def listing(self, name: str, notes: Notes) -> NDArray[np.bool_]:
        """Return bool[rows]: whether a row's metadata has a name among its "keywords"."""
        ...

    def ties_each(self, rows: Sequence[Int64s], notes: Notes | None) -> list[Int64s]:
        """Return the order of each question's rows among equal scores."""
        ...

    # ----------------------------------------------------------------------------------------- finding --

    def hybrid(self, question: Question, vectors: NDArray[Any], chosen: Selection) -> Ranked:
        """Return the fused answer of both retrievers."""
        ...

    def match(
        self, texts: Sequence[str], k: int, chosen: Selection, threads: int | None, *,
        k1: float | None = None, b: float | None = None, queries: _core.Queries | None = None,
        fields: FieldWeights | None = None, notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        """Return the k best rows for each text by BM25."""
        ...

    def nearest(
        self, vectors: NDArray[Any], k: int, chosen: Selection, threads: int | None,
        min_score: Float32s | None = None, effort: float = 1.0, recall: NDArray[np.float64] | None = None,
        notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        """Return the k best rows for each vector; write into `recall` the share of the k best that each answer has."""
        ...

    def scores_of(
        self, rows: Int64s, *, text: str | None = None, vector: Vector | None = None,
        k1: float | None = None, b: float | None = None, fields: FieldWeights | None = None,
        notes: Notes | None = None,
    ) -> Float32s:  # fmt: skip
        """Return the exact scores of live rows, for a text or for a vector."""
        ...

    @property
    def has_sparse(self) -> bool:
        """Whether chunks bring weights of terms."""
        ...

    def sparse_best(
        self, questions: Sequence[_core.SparseQuestion], k: int, chosen: Selection,
        notes: Notes | None = None,
    ) -> Found:  # fmt: skip
        """Return the k best rows for the weights of each question."""
        ...

    def sparse_scores(
        self, rows: Int64s, question: _core.SparseQuestion, notes: Notes | None = None
    ) -> Float32s:
        """Return the exact scores of live rows for the weights of a question, 0 without a common term."""
        ...

    def rank_code(
        self, texts: Sequence[str], rows: Int64s, scores: NDArray[np.float64], notes: Notes
    ) -> tuple[Int64s, NDArray[np.float64]]:
        """Return the order of each text's candidates as source code, and their scores in that order."""
        ...

    # ---------------------------------------------------------------------------------- named pages --

    @property
    def has_names(self) -> bool:
        """Whether documents have titles or links, so that passages can name pages."""
        ...

    def first_rows(self, rows: Int64s, notes: Notes) -> Int64s:
        """Return the first row of the document of each row."""
        ...

    def names_each(self, texts: Sequence[str], notes: Notes) -> list[Names]:
        """Return the titles of live documents that each text names."""
        ...

    def linked_each(self, rows: Sequence[int], notes: Notes) -> list[Names]:
        """Return the live documents to which the passage of each row links, by the texts of the links."""
        ...

    def rarest(self, texts: Sequence[str], notes: Notes) -> list[int]:
        """Return the smallest document frequency of each text's terms, 0 for a text without terms."""
        ...

    def named_pages(self) -> _core.NamedPages | None:
        """Return the same steps in one call, or None where bytes are fetched."""
        ...

    def least(self, question: Question, vectors: NDArray[Any], words: Found) -> Float32s | None:
        """Return the vector score that a row without any of the words needs to be among the answers."""
        ...

    def sample_statistics(self, vector: Vector) -> tuple[float, float]:
        """Return (mean, deviation) of a vector's exact scores over the sample."""
        ...

    # ----------------------------------------------------------------------------------- the dictionary --

    def queries(
        self, texts: Sequence[str], fields: FieldWeights | None = None, terms: Sequence[str] = (),
        notes: Notes | None = None,
    ) -> _core.Queries:  # fmt: skip
        """Return texts as queries to the index; `terms` of the dictionary are added to the only text."""
        ...

    def statistics_of(
        self, query: str, fields: FieldWeights | None = None, notes: Notes | None = None
    ) -> Statistics:
        """Return the statistics over all live rows that weigh a question's terms."""
        ...

    def spelled(self, word: str, edits: int) -> dict[str, int]:
        """Return {term: rows with it} of the terms at most `edits` from a word.

        With 0, the terms begin with the word, and of more than _core.COMMONEST some rarer ones may lack.
        """
        ...

    # ----------------------------------------------------------------------------------------- reading --

    def looked_at(
        self, what: str, rows: Iterable[int] | Int64s, notes: Notes | None = None
    ) -> dict[int, Any]:
        """Return by row the "hits", "ids", "keys", "standings", "metadata", "contents", "passages" or "vectors"
        of rows; passages are the texts alone."""
        ...

    def vectors_of(self, rows: Iterable[int], notes: Notes | None = None) -> Float32s:
        """Return the vectors of live rows; NaN for a row without one."""
        ...

    def check_live(self, rows: Int64s) -> None: ...
    def place(self, row: int) -> RowPlace: ...
    def find(self, doc_id: str) -> StoredDocument | None: ...
    def passages(self) -> Passages: ...
    def hits(self, ranked: Ranked, degraded: str, notes: Notes) -> list[Hits]:
        """Return the hits of some answers; texts are read on first access unless that costs a round trip."""
        ...


class OpenRows(SearchedRows, Protocol):
    """The rows of one commit, with all that a knowledge base passes on to its caller."""

    @property
    def segments(self) -> Sequence[RowSegment]: ...
    @property
    def dim(self) -> int | None: ...
    def shown(self) -> str:
        """Return how a repr shows these rows."""
        ...

    is_sealed: bool
    is_elsewhere: bool
    is_encrypted: bool

    def check_unchanged(self) -> None: ...
    def live_rows(self) -> Int64s: ...
    def vector(self, row: int) -> NDArray[np.floating[Any]]: ...
    def vectors(self, segment: int | None = None) -> NDArray[np.floating[Any]] | None: ...
    def vector_mask(self) -> NDArray[np.bool_]: ...
    def hit(
        self, row: int, score: float = ..., score_type: str = ..., scores: dict[str, float] | None = None
    ) -> Hit: ...  # fmt: skip
    def documents(self) -> Iterator[Document]: ...
    def document_ids(self) -> list[str]: ...
    def document(self, doc_id: str) -> Document | None: ...
    def sources(self, chunk_ids: str | Iterable[str]) -> list[Document]: ...
    def context(self, chunk_id: str, before: int = ..., after: int = ...) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def to_dataset(self) -> pyarrow.dataset.Dataset: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...


class Searcher(Protocol):
    """A knowledge base, as tools for language models use it."""

    def search(self, query: str, k: int = ..., **options: Unpack[SearchOptions]) -> Hits: ...
