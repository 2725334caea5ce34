"""The documents of an open file as a graph: their links in both directions, ways, and shares of a walk.

All answers follow from the content of one commit alone: documents are in order of ids, and sums are whole
numbers. So they are the same on every machine, and after any history of edits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ragfile import _core
from ragfile.file.link_targets import LinkTargets
from ragfile.file.row_segment import RowSegment
from ragfile.ground.whole_numbers import whole
from ragfile.ingest.document_links import BY_NAME, label_of
from ragfile.records import Document, Hit, Hits, Link
from ragfile.types import StrPath

if TYPE_CHECKING:
    import networkx
    import pyarrow
    from numpy.typing import NDArray

    from ragfile.file.link_lists import LinkLists
    from ragfile.file.row_segment import StoredDocument

    # Where the list of each document starts, and the documents that all lists lead to.
    _Lists = tuple[NDArray[np.uint64], NDArray[np.uint32]]

NOWHERE = 0xFFFFFFFF
UNIT = 1 << 40  # the mass of a walk
OUTSIDE = "../"  # begins a target outside of the folder that was built


class Neighbour(NamedTuple):
    """A document near another one: its id, and how many links away it is."""

    document: str
    distance: int


class Neighbours(NamedTuple):
    """The documents near one, and whether there are more than were asked for."""

    documents: list[Neighbour]
    is_truncated: bool


class Hyperedge(NamedTuple):
    """A named set of documents, with its weight and features."""

    key: str
    kind: str
    members: list[str]
    weight: float
    features: tuple[float, ...]


class _Edges(NamedTuple):
    """All edges: source, kind and head by number."""

    sources: NDArray[np.uint32]
    kinds: NDArray[np.uint32]
    heads: NDArray[np.uint32]
    names: list[str]  # of kinds


class DocumentGraph:
    """The links between the documents of one commit, as `rf.graph` returns it."""

    def __init__(
        self, segments: Sequence[RowSegment], search: Callable[[str, int], Hits],
        document: Callable[[str], Document | None],
    ) -> None:  # fmt: skip
        self._targets, self._search, self._read = LinkTargets(segments), search, document

    def __len__(self) -> int:
        """Return the number of links."""
        return len(self._edges.sources)

    @property
    def is_empty(self) -> bool:
        """Whether the file has no links; nothing is read."""
        return not any(segment.has("graph") for segment in self._targets.segments)

    def __repr__(self) -> str:
        return f"<DocumentGraph, {len(self):,} links>"

    # ------------------------------------------------------------------------------------------- links --

    def find(self, name: str) -> str | None:
        """Return the id of the document that a target leads to, or a name as in `[[name]]`."""
        for target in (name, BY_NAME + name):
            if (number := self._find(target)) is not None:
                return self._id(number)
        return None

    def links(self, doc_id: str) -> list[Link]:
        """Return the links of a document, in the order of their places in its text."""
        old = self._stored(doc_id)
        text = self._text_of(old) if any(link.start >= 0 for link in old.links) else ""
        return [self._resolved(link, doc_id, text) for link in old.links]

    def backlinks(self, doc_id: str) -> list[Link]:
        """Return the links to a document, in order of their sources' ids."""
        number = self._number(doc_id)
        order, starts = self._backward
        edges = order[int(starts[number]) : int(starts[number + 1])]
        sources = {self._id(int(source)) for source in self._edges.sources[edges]}
        return [
            link for source in sorted(sources) for link in self.links(source) if link.document == doc_id
        ]  # fmt: skip

    def broken_links(self) -> list[Link]:
        """Return the links that lead to no document of the file, in order of their sources' ids.

        Links that leave the folder of the file (`../` at its top) are left out.
        """
        found: list[Link] = []
        broken = np.unique(self._edges.sources[self._edges.heads == NOWHERE])
        for source in sorted(self._id(int(number)) for number in broken):
            found += [link for link in self.links(source) if _is_broken(link)]
        return found

    def orphans(self) -> list[str]:
        """Return the documents without a link to or from another document, in order."""
        edges = self._edges
        joins = (edges.heads != NOWHERE) & (edges.heads != edges.sources)
        linked = {*edges.sources[joins].tolist(), *edges.heads[joins].tolist()}
        return sorted(doc_id for doc_id, number in self._targets.live() if number not in linked)

    def mentions(self, doc_id: str, limit: int = 20) -> list[Hit]:
        """Return passages that name a document, of documents that have no link to it.

        Its names are its title, its aliases and the name of its file.

        Args:
            doc_id: The id of the document.
            limit: Largest number of passages.
        """
        from ragfile.graph.unlinked_mentions import mentions

        linked = {link.source for link in self.backlinks(doc_id)}
        document = self._read(doc_id)
        assert document is not None  # it has a number
        return list(mentions(document, linked, self._search, whole(limit, "limit", 1)))

    # --------------------------------------------------------------------------------------- neighbours --

    def neighbours(
        self, doc_id: str, *, kinds: Iterable[str] | None = None, depth: int = 1, limit: int = 100,
        directed: bool = False,
    ) -> Neighbours:  # fmt: skip
        """Return the documents near a document, the nearest first, then in order of ids.

        Args:
            doc_id: The id of the document.
            kinds: Follow links of these kinds only.
            depth: Largest distance, in links.
            limit: Largest number of documents.
            directed: Follow links forwards only.
        """
        whole(limit, "limit", 1)
        depth, distances = whole(depth, "depth", 1), {self._number(doc_id): 0}
        front = list(distances)
        for distance in range(1, depth + 1):
            front = self._next(front, distances, distance, self._lists(kinds, directed))
        found = [Neighbour(self._id(n), d) for n, d in distances.items() if d]
        found.sort(key=lambda one: (one.distance, one.document))
        return Neighbours(found[:limit], len(found) > limit)

    def path(
        self, start: str, end: str, *, kinds: Iterable[str] | None = None, directed: bool = False
    ) -> list[str] | None:
        """Return a shortest way between two documents, as ids; None if no links join them.

        Of several ways, the one whose ids come first.
        """
        first, last = self._number(start), self._number(end)
        lists = self._lists(kinds, directed)
        backward = self._lists(kinds, directed, is_reversed=True)
        distances, front = {last: 0}, [last]
        distance = 0
        while front and first not in distances:
            distance += 1
            front = self._next(front, distances, distance, backward)
        if first not in distances:
            return None
        found = [first]
        while found[-1] != last:
            near = distances[found[-1]] - 1
            heads = {h for h in self._heads(found[-1], lists) if distances.get(h) == near}
            found.append(min(heads, key=self._id))
        return [self._id(number) for number in found]

    def rank(
        self, seeds: Iterable[str] | Mapping[str, float] | None = None, *, damping: float = 0.85,
        steps: int = 20, limit: int = 10, kinds: Iterable[str] | None = None,
    ) -> list[tuple[str, float]]:  # fmt: skip
        """Return the documents where a walk along the links is most often, with their shares.

        The walk starts at a seed, and with each step goes on with the probability `damping`, or back to a
        seed. Sums are whole numbers, so the result is the same everywhere.

        Args:
            seeds: Ids of documents, or a mapping from ids to weights. Defaults to all documents.
            damping: Probability of each further step, 0 to 1.
            steps: Number of steps that are computed.
            limit: Largest number of documents.
            kinds: Follow links of these kinds only.
        """
        if not 0 <= damping < 1:
            raise ValueError(f"damping is a probability below 1, not {damping}")
        start = self._start(seeds)
        starts, heads = self._forward(kinds)
        share = int(damping * (1 << 16))
        mass = start
        for _ in range(whole(steps, "steps", 0)):
            following = start * np.uint64((1 << 16) - share) >> np.uint64(16)
            _core.walk_step(starts, heads, share, mass, following)
            mass = following
        total = int(mass.sum()) or 1
        best = [(self._id(int(n)), int(mass[n]) / total) for n in np.flatnonzero(mass)]
        return sorted(best, key=lambda one: (-one[1], one[0]))[: whole(limit, "limit", 1)]

    def _start(self, seeds: Iterable[str] | Mapping[str, float] | None) -> NDArray[np.uint64]:
        mass = np.zeros(self._targets.count, np.uint64)
        if seeds is None:
            weights = {number: 1.0 for _, number in self._targets.live()}
        else:
            is_weighted = isinstance(seeds, Mapping)
            named = cast("Mapping[str, float]", seeds) if is_weighted else dict.fromkeys(seeds, 1.0)
            weights = {self._number(doc_id): float(weight) for doc_id, weight in named.items()}
        total = sum(weights.values())
        if any(weight < 0 for weight in weights.values()) or (weights and not total > 0):
            raise ValueError("weights of seeds are not negative, and not all zero")
        for number, weight in weights.items():
            mass[number] = int(UNIT * weight / total)
        return mass

    # -------------------------------------------------------------------------------------------- tables --

    def edges(self) -> Iterator[Link]:
        """Yield all links, in order of their sources' ids and their places."""
        for doc_id, number in sorted(self._targets.live()):
            if self._has_links(number):
                yield from self.links(doc_id)

    def hyperedges(self) -> list[Hyperedge]:
        """Return the named sets of documents, in order of kinds and keys."""
        found: dict[tuple[str, str], tuple[list[str], list[float]]] = {}
        for segment in self._targets.segments:
            if (lists := segment.link_lists("hypergraph")) is None:
                continue
            for document in np.unique(lists.edges[:, 0]).tolist():
                if not (old := segment.document(document)).is_live:
                    continue
                for kind, key, *_, row in lists.edges_of(document, by_target=True):
                    members, features = found.setdefault((kind, key), ([], []))
                    members.append(old.id)
                    features[:] = row or features
        return [
            Hyperedge(key, kind, sorted(members), row[0] if row else 1.0, tuple(row[1:]))
            for (kind, key), (members, row) in sorted(found.items())
        ]

    def features(self, doc_id: str) -> tuple[float, ...]:
        """Return the features of a document that its build was given; none without any."""
        old = self._stored(doc_id)
        lists = old.segment.link_lists()
        row = None if lists is None else lists.features_of(old.number)
        return tuple(row or ())

    def to_arrow(self) -> pyarrow.Table:
        """Return all links as an Arrow table. Needs pyarrow."""
        from ragfile.graph.edge_tables import arrow_table

        return arrow_table(self.edges())

    def to_parquet(self, path: StrPath) -> None:
        """Write all links as a Parquet file. Needs pyarrow."""
        from ragfile.graph.edge_tables import write_parquet

        write_parquet(self.edges(), path)

    def to_graphml(self, path: StrPath) -> None:
        """Write documents and links as GraphML, which Gephi, yEd and networkx read."""
        from ragfile.graph.edge_tables import write_graphml

        write_graphml([doc_id for doc_id, _ in sorted(self._targets.live())], self.edges(), path)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Return documents and links as a networkx graph. Needs networkx."""
        from ragfile.graph.edge_tables import networkx_graph

        return networkx_graph([doc_id for doc_id, _ in sorted(self._targets.live())], self.edges())

    # ------------------------------------------------------------------------------------------ internals --

    def _number(self, doc_id: str) -> int:
        if (number := self._targets.number(doc_id)) is None:
            raise KeyError(f"no document {doc_id!r}")
        return number

    def _document(self, number: int) -> StoredDocument:
        bases = self._targets.bases
        at = int(np.searchsorted(bases, number, side="right")) - 1
        return self._targets.segments[at].document(number - bases[at])

    def _stored(self, doc_id: str) -> StoredDocument:
        return self._document(self._number(doc_id))

    def _id(self, number: int) -> str:
        return self._document(number).id

    @staticmethod
    def _text_of(old: StoredDocument) -> str:
        return old.segment.text(old.record, 0, old.record.text_size)

    def _find(self, target: str) -> int | None:
        return self._targets.find(target)

    def _resolved(self, link: Link, doc_id: str, text: str) -> Link:
        found = self._find(link.target)
        fragment, shown = link.fragment, link.text
        if link.start >= 0 and not (fragment or shown):
            fragment, shown = label_of(text[link.start : link.end])
        document = None if found is None else self._id(found)
        return replace(link, source=doc_id, document=document, fragment=fragment, text=shown)

    def _has_links(self, number: int) -> bool:
        first, end = np.searchsorted(self._edges.sources, [number, number + 1])
        return bool(end > first)

    @cached_property
    def _edges(self) -> _Edges:
        """All edges of live documents, in order of numbers."""
        names: dict[str, int] = {}
        parts: list[NDArray[np.uint32]] = [np.empty((0, 3), np.uint32)]
        for segment, base in zip(self._targets.segments, self._targets.bases, strict=True):
            if (lists := segment.link_lists()) is not None:
                parts.append(self._of_segment(segment, lists, base, names))
        joined = np.concatenate(parts)
        sources, kinds, heads = (np.ascontiguousarray(column) for column in joined.T)
        return _Edges(sources, kinds, heads, list(names))

    def _of_segment(
        self, segment: RowSegment, lists: LinkLists, base: int, names: dict[str, int]
    ) -> NDArray[np.uint32]:  # fmt: skip
        """Return (source, kind, head) of the edges of a segment's live documents."""
        edges = lists.edges
        if segment.has_deletions:
            sources: list[int] = np.unique(edges[:, 0]).tolist()
            live = [number for number in sources if segment.document(number).is_live]
            edges = edges[np.isin(edges[:, 0], live)]
        heads = np.full(len(lists.strings), NOWHERE, np.uint32)
        targets: list[int] = np.unique(edges[:, 2]).tolist()
        for target in targets:
            if (found := self._find(lists.strings[target])) is not None:
                heads[target] = found
        kinds = np.array([names.setdefault(kind, len(names)) for kind in lists.kinds], np.uint32)
        columns = edges[:, 0] + np.uint32(base), kinds[edges[:, 1]], heads[edges[:, 2]]
        return np.stack(columns, axis=1) if len(edges) else np.empty((0, 3), np.uint32)

    def _chosen(self, kinds: Iterable[str] | None) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the sources and heads of edges of some kinds that lead somewhere."""
        edges = self._edges
        wanted = edges.heads != NOWHERE
        if kinds is not None:
            named = {kinds} if isinstance(kinds, str) else set(kinds)
            wanted &= np.isin(edges.kinds, [i for i, one in enumerate(edges.names) if one in named])
        return edges.sources[wanted], edges.heads[wanted]

    def _forward(
        self, kinds: Iterable[str] | None
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Return where the list of each document starts, and the heads of all."""
        sources, heads = self._chosen(kinds)
        starts = np.searchsorted(sources, np.arange(self._targets.count + 1)).astype(np.uint64)
        return starts, np.ascontiguousarray(heads)

    @cached_property
    def _backward(self) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
        """Return the edges in order of heads, and where those of each document start."""
        starts, order = _core.reversed_lists(self._edges.heads, self._targets.count)
        return order, starts

    def _lists(
        self, kinds: Iterable[str] | None, directed: bool, is_reversed: bool = False
    ) -> list[_Lists]:
        """Return the lists that a search follows."""
        starts, heads = self._forward(kinds)
        lists: list[_Lists] = [] if is_reversed and directed else [(starts, heads)]
        if is_reversed or not directed:
            sources, _ = self._chosen(kinds)
            back, order = _core.reversed_lists(heads, self._targets.count)
            lists.append((back, sources[order]))
        return lists

    @staticmethod
    def _heads(number: int, lists: Iterable[_Lists]) -> Iterator[int]:
        for starts, heads in lists:
            yield from heads[int(starts[number]) : int(starts[number + 1])].tolist()

    def _next(
        self, front: Iterable[int], distances: dict[int, int], distance: int,
        lists: Sequence[_Lists],
    ) -> list[int]:  # fmt: skip
        """Note the documents that are one link further, and return them."""
        new = {h for number in front for h in self._heads(number, lists)} - distances.keys()
        distances.update(dict.fromkeys(new, distance))
        return list(new)


def _is_broken(link: Link) -> bool:
    return link.document is None and not link.target.startswith(OUTSIDE)
