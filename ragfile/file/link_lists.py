"""The links of a segment's documents, as its section `graph` or `hypergraph` stores them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = list[float] | None
FOLLOWED = 64  # links of a passage that can raise pages


class LinkLists:
    """The links of a segment, by document. Nothing is decoded twice."""

    def __init__(self, stored: _core.StoredLinks, documents: int) -> None:
        self.documents = documents
        self.edges: NDArray[np.uint32] = stored.edges()
        self.strings, self.kinds = stored.strings(), stored.kinds()
        self.names = stored.names()
        self._matrices = {scope: matrix for scope, _, matrix in stored.features()}
        self.starts = np.searchsorted(self.edges[:, 0], np.arange(documents + 1))

    def edges_of(self, document: int, by_target: bool = False) -> list[list[Any]]:
        """Return (kind, target, start, size, fragment, text, features) of each edge of a document.

        With by_target, features are those of the target.
        """
        found: list[list[Any]] = []
        first, end = int(self.starts[document]), int(self.starts[document + 1])
        for i, row in enumerate(self.edges[first:end].tolist(), first):
            _, kind, target, start, size, fragment, text = row
            place = [-1, 0] if start == _core.NO_PLACE else [start, size]
            features = self._target_row(kind, target) if by_target else self._edge_row(kind, i)
            labels = [self._string(fragment), self._string(text)]
            found.append([self.kinds[kind], self.strings[target], *place, *labels, features])
        return found

    def targets_within(
        self, document: int, first: int, end: int
    ) -> list[tuple[str, int, int, str | None]]:
        """Return (target, start, end, text) of the first links of a document whose places are in a span of it."""
        found: list[tuple[str, int, int, str | None]] = []
        rows: list[list[int]] = self.edges[
            self.starts[document] : self.starts[document + 1]
        ].tolist()
        for row in rows:
            _, _, target, start, size, _, text = row
            if first <= start and start + size <= end and len(found) < FOLLOWED:
                found.append((self.strings[target], start, start + size, self._string(text)))
        return found

    def _string(self, number: int) -> str | None:
        return None if number == _core.NO_STRING else self.strings[number]

    def features_of(self, document: int) -> Row:
        """Return the features of a document, None without any."""
        return self._row(0, document)

    def names_of(self, document: int) -> list[str]:
        """Return the further names of a document."""
        return self._names.get(document, [])

    @cached_property
    def _names(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for name, document in self.names:
            found.setdefault(document, []).append(name)
        return found

    def _edge_row(self, kind: int, edge: int) -> Row:
        if 1 + 2 * kind not in self._matrices:
            return None
        return self._row(1 + 2 * kind, int(self._ranks[edge]))

    @cached_property
    def _ranks(self) -> NDArray[np.int64]:
        """The number of each edge among those of its kind."""
        ranks = np.zeros(len(self.edges), np.int64)
        for kind in range(len(self.kinds)):
            of_kind = np.flatnonzero(self.edges[:, 1] == kind)
            ranks[of_kind] = np.arange(len(of_kind))
        return ranks

    def _target_row(self, kind: int, target: int) -> Row:
        if 2 + 2 * kind not in self._matrices:
            return None
        targets = np.unique(self.edges[self.edges[:, 1] == kind, 2])
        return self._row(2 + 2 * kind, int(np.searchsorted(targets, target)))

    def _row(self, scope: int, number: int) -> Row:
        """Return a row without the components that are missing at its end, None if all are."""
        if (matrix := self._matrices.get(scope)) is None:
            return None
        has = np.flatnonzero(~np.isnan(matrix[number]))
        return matrix[number, : has[-1] + 1].tolist() if len(has) else None
