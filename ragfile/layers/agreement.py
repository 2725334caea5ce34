"""Whether files can be layers of one view: they need one model, and one analysis of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ragfile.embedding.protocol import same_model, told
from ragfile.errors import ModelError
from ragfile.search.rows_protocol import OpenRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.file.row_segment import RowSegment

SETTINGS = {"metric": "cosine", "precision": 32, "bm25": True}  # with their defaults


class Layer(OpenRows, Protocol):
    """The rows of a file or of a dataset, as layers are made of them."""

    @property
    def segments(self) -> Sequence[RowSegment]:
        """The segments, in order of their first rows."""
        ...

    @property
    def file(self) -> object:
        """The container, of a kind of its own."""
        ...


def check_agreement(layers: Sequence[Layer]) -> None:
    """Raise ModelError if the scores of layers cannot be compared. A layer without chunks fits any other."""
    first, *others = [layer for layer in layers if layer.live] or layers[:1]
    for other in others:
        _check_model(first, other)
        for name, default in SETTINGS.items():
            one, two = (layer.config.get(name, default) for layer in (first, other))
            if one != two:
                raise ModelError(_differ(first, other, f"{name} {one}", f"{name} {two}"))
        if first.analysis != other.analysis:
            differing = _different(first.analysis, other.analysis)
            raise ModelError(_differ(first, other, *differing))


def _check_model(first: Layer, other: Layer) -> None:
    one, two = first.config.get("model"), other.config.get("model")
    is_same = one == two or bool(one and two and same_model(one, two))
    if not is_same:
        raise ModelError(_differ(first, other, _model(one), _model(two)))
    if None not in (first.dim, other.dim) and first.dim != other.dim:
        one, two = (f"vectors of {layer.dim} components" for layer in (first, other))
        raise ModelError(_differ(first, other, one, two))


def _model(record: dict[str, Any] | None) -> str:
    return f"the model {told(record)}" if record else "no model"


def _different(one: object, two: object) -> tuple[str, str]:
    """Return the first choice in which two analyses differ, as each has it."""
    if one is None or two is None:
        return ("BM25", "no BM25") if two is None else ("no BM25", "BM25")
    names = (name for name in vars(one) if getattr(one, name) != getattr(two, name))
    name = next(names, "analysis")
    return f"{name}={getattr(one, name, one)!r}", f"{name}={getattr(two, name, two)!r}"


def _differ(first: Layer, other: Layer, one: str, two: str) -> str:
    return (
        f"{first.path} has {one}, and {other.path} has {two}: layers must agree; "
        "make one of them again with the settings of the other"
    )
