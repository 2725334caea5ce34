"""Write the sections `graph` and `hypergraph` of a segment, from the links of its documents.

Until their documents have numbers, links are staged as JSON, a text for each document that has any. A
document of an open file is carried over with the links that its segment stores.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ragfile import _core
from ragfile.ground.json_values import is_object
from ragfile.ingest.document_links import further_links, links_of, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragfile.file.row_segment import StoredDocument
    from ragfile.records import Document, Link

LONGEST = 4096  # bytes of a string
GRAPH, HYPERGRAPH = "graph", "hypergraph"
Row = list[float] | None
Brought: TypeAlias = Mapping[str, Any] | Sequence[Any]  # an edge or a hyperedge of the caller's
# kind, target, start, size, fragment, text, features; a start of -1 stands for no place
StagedEdge = list[Any]


@dataclass(slots=True)
class StagedLinks:
    """The entries of one document in the sections of links."""

    edges: list[StagedEdge] = field(default_factory=list[StagedEdge])
    names: list[str] = field(default_factory=list[str])
    features: Row = None
    hyperedges: list[StagedEdge] = field(default_factory=list[StagedEdge])  # kind, key, features

    def packed(self) -> bytes:
        """Return the bytes to stage, none for a document without links."""
        if not (self.edges or self.names or self.features or self.hyperedges):
            return b""
        parts = (self.edges, self.names, self.features, self.hyperedges)
        return json.dumps(parts, separators=(",", ":")).encode()

    @classmethod
    def unpacked(cls, raw: bytes) -> StagedLinks:
        """Return the staged links."""
        return cls(*json.loads(raw))


def staged(document: Document, brought: StagedLinks | None = None) -> StagedLinks:
    """Return the links of a document to be added, with those that a build brings for it."""
    found = StagedLinks([_edge(link, document) for link in links_of(document)], names_of(document))
    if brought is not None:
        found.edges += brought.edges
        found.features, found.hyperedges = brought.features, brought.hyperedges
    found.edges.sort(key=lambda edge: edge[2] if edge[2] >= 0 else 1 << 40)
    return found


def _edge(link: Link, document: Document) -> StagedEdge:
    whose = f"a link of document {document.id!r}"
    for name in ("target", "kind"):
        checked_text(getattr(link, name), f"the {name} of {whose}")
    start, end = link.start, link.end
    if not (start == end == -1 or 0 <= start <= end <= len(document.text)):
        raise ValueError(f"{whose} is outside of its text: {start} to {end}")
    labels = [checked_text(one, whose, True) or None for one in (link.fragment, link.text)]
    row = weighted(link.weight, link.features)
    return [link.kind, link.target, start, end - start if start >= 0 else 0, *labels, row]


def checked_text(text: object, what: str, can_be_empty: bool = False) -> str:
    """Return a string of a link, or raise an error that names it."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > LONGEST or not (size or can_be_empty):
        raise ValueError(f"{what} has {size:,} bytes of UTF-8; it has 1 to {LONGEST:,}")
    return text


def weighted(weight: float, features: Iterable[float]) -> Row:
    """Return the row of features that a weight and further numbers make; None for the defaults."""
    row = [float(weight), *map(float, features)]
    return None if row == [1.0] else row


def carried(old: StoredDocument) -> StagedLinks:
    """Return the links of a document of an open file."""
    found = StagedLinks()
    if (graph := old.segment.link_lists(GRAPH)) is not None:
        found.edges, found.features = graph.edges_of(old.number), graph.features_of(old.number)
        found.names = graph.names_of(old.number)
    if (sets := old.segment.link_lists(HYPERGRAPH)) is not None:
        found.hyperedges = [
            [kind, key, row] for kind, key, *_, row in sets.edges_of(old.number, by_target=True)
        ]
    return found


def given_links(old: StoredDocument) -> StagedLinks | None:
    """Return the features and sets of a stored document, and the edges that its file does not make.

    Those have no place, fragment or text, and are not among the fields of its front matter.
    """
    if not any(old.segment.has(name) for name in (GRAPH, HYPERGRAPH)):
        return None
    found, document = carried(old), old.read()
    further = {(link.kind, link.target) for link in further_links(document, document.links)}
    found.edges = [
        edge
        for edge in found.edges
        if edge[2] < 0 and not (edge[4] or edge[5]) and (edge[0], edge[1]) in further
    ]
    return found if found.edges or found.features or found.hyperedges else None


class _Strings:
    """Distinct strings, numbered in order of arrival."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        if text is None:
            return _core.NO_STRING
        return self._numbers.setdefault(text, len(self._numbers))

    def in_order(self) -> tuple[list[bytes], np.ndarray]:
        """Return the strings in the order of their bytes, and the position of each number among them."""
        raw = [text.encode("utf-8", "surrogatepass") for text in self._numbers]
        order = sorted(range(len(raw)), key=raw.__getitem__)
        places = np.full(len(raw) + 1, _core.NO_STRING, np.uint32)
        places[order] = np.arange(len(raw), dtype=np.uint32)
        return [raw[i] for i in order], places


class _LinkTable:
    """The columns of one section. Documents arrive in order."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.strings = _Strings()
        self.edges, self.names = array("I"), array("I")
        self.rows: dict[int, Row] = {}  # features of edges by number
        self.document_rows: dict[int, Row] = {}
        self.target_rows: dict[tuple[int, int], Row] = {}  # by kind and target

    def __len__(self) -> int:
        return len(self.edges) // len(_core.EDGE_FIELDS)

    def add(
        self, document: int, kind: str, target: str, start: int = -1, size: int = 0,
        fragment: str | None = None, text: str | None = None,
    ) -> tuple[int, int]:  # fmt: skip
        """Add an edge, and return the numbers of its kind and its target."""
        number = self.strings.number
        found = number(kind), number(target)
        place = (_core.NO_PLACE, 0) if start < 0 else (start, size)
        self.edges.extend((document, *found, *place, number(fragment), number(text)))
        return found

    def write(self, write: Callable[[bytes], object], documents: int) -> None:
        strings, places = self.strings.in_order()
        edges = np.asarray(self.edges).reshape(-1, len(_core.EDGE_FIELDS)).copy()
        limit = len(strings)
        for column in (1, 2, 5, 6):
            edges[:, column] = places[np.minimum(edges[:, column], limit)]
        kinds = np.unique(edges[:, 1])
        edges[:, 1] = np.searchsorted(kinds, edges[:, 1])
        names = np.asarray(self.names).reshape(-1, 2).copy()
        names[:, 0] = places[names[:, 0]]
        names = np.unique(names, axis=0)
        features = self._features(documents, edges, kinds, places)
        _core.write_links(
            documents, strings, np.ascontiguousarray(kinds), np.ascontiguousarray(names),
            np.ascontiguousarray(edges), features, write,
        )  # fmt: skip

    def _features(
        self, documents: int, edges: np.ndarray, kinds: np.ndarray, places: np.ndarray
    ) -> list[tuple[int, np.ndarray]]:
        """Return the matrices of documents, of edges by kind, and of targets by kind."""
        found: list[tuple[int, np.ndarray]] = []
        if self.document_rows:
            found.append((0, self._matrix(documents, self.document_rows)))
        for kind in range(len(kinds) if self.rows or self.target_rows else 0):
            numbers = np.flatnonzero(edges[:, 1] == kind).tolist()
            rows = {i: self.rows[n] for i, n in enumerate(numbers) if n in self.rows}
            if rows:
                found.append((1 + 2 * kind, self._matrix(len(numbers), rows)))
            targets = np.unique(edges[numbers, 2]).tolist()
            at = {target: i for i, target in enumerate(targets)}
            rows = {
                at[int(places[target])]: row
                for (one, target), row in self.target_rows.items()
                if places[one] == kinds[kind]
            }
            if rows:
                found.append((2 + 2 * kind, self._matrix(len(targets), rows)))
        return found

    def _matrix(self, count: int, rows: dict[int, Row]) -> np.ndarray:
        width = max(len(row or ()) for row in rows.values())
        matrix = np.full((count, width), np.nan, self.dtype)
        for i, row in rows.items():
            matrix[i, : len(row or ())] = row
        return matrix


class LinkSections:
    """The links of the documents of a segment, which arrive in order."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._graph, self._sets = _LinkTable(dtype), _LinkTable(dtype)

    def add(self, document: int, raw: bytes) -> None:
        """Add the staged links of a document."""
        found, graph = StagedLinks.unpacked(raw), self._graph
        for *edge, row in found.edges:
            if row is not None:
                graph.rows[len(graph)] = row
            graph.add(document, *edge)
        for name in found.names:
            graph.names.extend((graph.strings.number(name), document))
        if found.features is not None:
            graph.document_rows[document] = found.features
        for kind, key, row in found.hyperedges:
            place = self._sets.add(document, kind, key)
            if row is not None:
                self._sets.target_rows[place] = row

    def sections(self) -> list[tuple[str, int, Callable[[Callable[[bytes], object], int], None]]]:
        """Return (name, items, function that writes it) of each section that has content."""
        graph = self._graph
        has_graph = len(graph) or graph.names or graph.document_rows
        return [
            (name, len(table), table.write)
            for name, table, has_any in (
                (GRAPH, graph, has_graph), (HYPERGRAPH, self._sets, len(self._sets)),
            )
            if has_any
        ]  # fmt: skip


def brought(
    edges: Iterable[Brought] | None, hyperedges: Iterable[Brought] | None,
    node_features: Mapping[str, Iterable[float]] | None = None,
) -> dict[str, StagedLinks]:  # fmt: skip
    """Return the links that a build is given for each document, by id.

    Args:
        edges: Mappings with `source` and `target`, and if given `kind`, `weight` and `features`; or
            (source, target) pairs, or (source, target, kind).
        hyperedges: Mappings with `key` and `members`, and if given `kind`, `weight` and `features`.
        node_features: The features of documents by id.
    """
    found: dict[str, StagedLinks] = {}
    for edge in _records(edges, ("source", "target", "kind"), "an edge"):
        row = weighted(edge.get("weight", 1.0), edge.get("features", ()))
        kind = checked_text(edge.get("kind", "link"), "the kind of an edge")
        target = checked_text(edge.get("target"), "the target of an edge")
        _of(found, edge.get("source"), "the source of an edge").edges.append(
            [kind, target, -1, 0, None, None, row]
        )
    for one in _records(hyperedges, ("key", "members", "kind"), "a hyperedge"):
        key = checked_text(one.get("key"), "the key of a hyperedge")
        kind = checked_text(one.get("kind", "set"), "the kind of a hyperedge")
        row = weighted(one.get("weight", 1.0), one.get("features", ()))
        for member in dict.fromkeys(one.get("members", ())):
            _of(found, member, f"a member of {key!r}").hyperedges.append([kind, key, row])
    for doc_id, values in (node_features or {}).items():
        _of(found, doc_id, "a document with features").features = [float(x) for x in values]
    return found


def _of(found: dict[str, StagedLinks], doc_id: object, what: str) -> StagedLinks:
    return found.setdefault(checked_text(doc_id, what), StagedLinks())


def _named(order: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of a tuple; networkx's edges have theirs in a mapping at the end."""
    more: dict[str, Any] = dict(values[-1]) if values and is_object(values[-1]) else {}
    ends = values[:-1] if values and is_object(values[-1]) else values
    return {**dict(zip(order, ends, strict=False)), **more}


KNOWN = {"source", "target", "kind", "weight", "features", "key", "members"}


def _records(
    given: Iterable[Brought] | None, order: Sequence[str], what: str
) -> Iterable[dict[str, Any]]:
    """Yield mappings with known fields from mappings, from tuples, which can end with a mapping, or from an Arrow table."""
    listed = getattr(given, "to_pylist", None)  # of an Arrow table, which yields columns
    rows: Iterable[Any] = given or () if listed is None else listed()
    for one in rows:
        record: dict[str, Any] = dict(one) if is_object(one) else _named(order, one)
        if other := set(record) - KNOWN:
            fields = ", ".join(sorted(KNOWN))
            raise TypeError(f"{what} does not know {min(map(str, other))}; its fields are {fields}")
        yield record
