"""The rows of several files as those of one: as if each layer's documents had been upserted below it.

    layers, lowest first ─ documents that a layer above hides ─ segments with new row numbers ─ FileRows

A search adds up statistics over segments, whichever file they are in. So layers need no search of their
own: the view is the segments of all layers, where the rows of hidden documents are deleted.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

from ragfile.file import remote_prefetch
from ragfile.file.hidden_documents import read_hidden
from ragfile.layers.agreement import check_agreement
from ragfile.layers.container import LayersContainer
from ragfile.layers.layer_segment import LayerSegment, hidden_by
from ragfile.search.file_rows import FileRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragfile.file.container import Container
    from ragfile.file.row_segment import RowSegment
    from ragfile.file.snapshot import Snapshot
    from ragfile.layers.agreement import Layer


class LayersSnapshot:
    """One commit of each layer, with what rows ask of a snapshot. Layers are in order, the lowest first."""

    def __init__(self, layers: Sequence[Layer], before: Sequence[RowSegment] = ()) -> None:
        check_agreement(layers)
        self.layers, self.config = list(layers), _config(layers)
        self.path = " + ".join(layer.path for layer in layers)
        self.generation = sum(layer.generation for layer in layers)
        self.is_elsewhere = any(layer.is_elsewhere for layer in layers)
        self.is_encrypted = any(layer.is_encrypted for layer in layers)
        self.sealed = next((layer for layer in layers if layer.is_sealed), None)
        self.segments = _visible(layers, before)
        self.count = sum(segment.rows for segment in self.segments)
        self.live = sum(segment.live for segment in self.segments)

    def check_unchanged(self) -> None:
        """Raise ChangedError if a layer was overwritten since it was opened."""
        for layer in self.layers:
            layer.check_unchanged()

    def close(self) -> None:
        """Do nothing: layers belong to the knowledge bases that opened them."""


def _config(layers: Sequence[Layer]) -> dict[str, Any]:
    """Return the configuration of the lowest layer, with the ranking of source code that any records."""
    ranking = next((one.config["code"] for one in layers if "code" in one.config), None)
    return layers[0].config if ranking is None else {**layers[0].config, "code": ranking}


def rows_of_layers(layers: Sequence[Layer], before: Sequence[RowSegment] = ()) -> FileRows:
    """Return the rows of layers that are open, the lowest first.

    Segments of a view before are taken over where neither they nor what hides them has changed.
    """
    snapshot = LayersSnapshot(layers, before)
    file: object = LayersContainer(snapshot)
    return FileRows(cast("Snapshot", snapshot), file=cast("Container", file))


def layers_of(rows: FileRows) -> list[Layer]:
    """Return the rows of each layer that a view is made of."""
    return cast("LayersSnapshot", rows.snapshot).layers


def _visible(layers: Sequence[Layer], before: Sequence[RowSegment]) -> list[RowSegment]:
    """Return the segments of all layers without hidden documents; those that are fetched come first."""
    pairs: list[tuple[RowSegment, frozenset[int]]] = []
    above: list[RowSegment] = []
    ids: set[str] = set()
    for layer in reversed(layers):
        pairs += _with_hidden(layer.segments, above, ids)
        above += [segment for segment in layer.segments if segment.has("rag.ids")]
        ids.update(hidden_of(layer))
    pairs.sort(key=lambda pair: not pair[0].reader.is_elsewhere)  # prefetch looks at the first
    bases = accumulate((segment.rows for segment, _ in pairs), initial=0)
    old = {id(one.stored): one for one in before if isinstance(one, LayerSegment)}
    found: list[RowSegment] = []
    for (one, hidden), base in zip(pairs, bases, strict=False):
        known = old.get(id(one))
        kept = None if known is None else known.of(base, hidden)
        found.append(LayerSegment(one, base, hidden) if kept is None else kept)
    return found


def _with_hidden(
    segments: Sequence[RowSegment], above: Sequence[RowSegment], ids: Iterable[str]
) -> list[tuple[RowSegment, frozenset[int]]]:
    """Return segments with the documents that layers above hide."""
    if not (above or ids):
        return [(segment, frozenset()) for segment in segments]
    remote_prefetch.ids(segments)
    kept = [segment for segment in segments if segment.has("rag.ids")]
    return [(segment, hidden_by(segment, above, ids)) for segment in kept]


def hidden_of(layer: Layer) -> list[str]:
    """Return the ids that a layer deletes from those below; a dataset has none."""
    if not isinstance(layer, FileRows):
        return []
    if isinstance(layer.file, LayersContainer):
        return [doc_id for one in layers_of(layer) for doc_id in hidden_of(one)]
    return read_hidden(layer.file.reader, layer.path)
