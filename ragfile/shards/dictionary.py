"""The terms of a dataset's texts, weighted by statistics of the whole dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.ingest.analysis import Statistics
from ragfile.search.question import Notes
from ragfile.shards.messages import Counted, Lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragfile import _core
    from ragfile.ingest.analysis import Analysis
    from ragfile.shards.messages import Ask, ShardResult, Task
    from ragfile.shards.snapshot import DatasetSnapshot
    from ragfile.shards.statistics import Whole
    from ragfile.types import FieldWeights

    Results = Callable[[Ask, Notes | None], tuple[list[Task], list[ShardResult]]]


class Dictionary:
    """Turns texts into terms. `results` runs an ask on the shards."""

    def __init__(self, snapshot: DatasetSnapshot, results: Results, has_bm25: bool) -> None:
        self._snapshot, self._results, self._has_bm25 = snapshot, results, has_bm25
        self._whole: Whole | None = None
        self._analysis: Analysis | None = None
        self._field_lengths: list[int] | None = None

    @property
    def whole(self) -> Whole:
        """Statistics of the whole dataset, opened on first use."""
        if self._whole is None:
            self._whole = self._snapshot.whole()
        return self._whole

    @property
    def analysis(self) -> Analysis | None:
        """The analysis of the BM25 index; None without an index."""
        if self._analysis is None and self._has_bm25:
            self._analysis = self.whole.analysis
        return self._analysis

    def queries(
        self, texts: Sequence[str], fields: FieldWeights | None = None, terms: Sequence[str] = (),
        notes: Notes | None = None,
    ) -> _core.Queries:  # fmt: skip
        """Return texts as queries, weighted by field if `fields` is given."""
        whole = self.whole
        queries = whole.queries(list(texts), terms)
        analysis = self.analysis if fields else None
        weights = analysis.weights_for(fields) if fields and analysis else None
        if weights is None or analysis is None:
            return queries
        lengths = self._lengths_by_field(analysis, notes)
        total = analysis.reweighed(whole.stats.total_length, lengths, weights)
        queries.weigh(weights, whole.stats.rows, total, analysis.k1, analysis.b)
        if 0 in weights:
            self._count(queries, notes)
        return queries

    def _lengths_by_field(self, analysis: Analysis, notes: Notes | None) -> list[int]:
        """Return the summed length of all rows in each field with postings of its own; computed once."""
        if self._field_lengths is not None:
            return self._field_lengths
        notes = Notes() if notes is None else notes
        _, results = self._results(Lengths(), notes)
        none = [0] * len(analysis.own_fields)
        known = [
            sum(parts) for parts in zip(none, *(result.value for result in results), strict=True)
        ]
        if not notes.failed:
            self._field_lengths = known
        return known

    def _count(self, queries: _core.Queries, notes: Notes | None) -> None:
        """Count terms anew where some weights are 0: rows that have a term in such fields alone do not count."""
        _, results = self._results(Counted(queries), notes)
        found: dict[str, int] = {}
        for i, terms in enumerate(queries.terms()):
            each = (result.value[i] for result in results)
            counts = [sum(parts) for parts in zip([0] * len(terms), *each, strict=True)]
            found.update(zip((term for term, _ in terms), counts, strict=True))
        queries.set_df(found)
        queries.join()

    def statistics_of(
        self, query: str, fields: FieldWeights | None = None, notes: Notes | None = None
    ) -> Statistics:
        """Return the statistics that rank a query, with the frequencies of its terms."""
        analysis = self.analysis
        if fields and analysis and analysis.weights_for(fields):
            return Statistics.weighed(self.queries([query], fields, notes=notes))
        return self.whole.of(query)
