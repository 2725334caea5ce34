"""A folder saved by LangChain's FAISS store: index.faiss and index.pkl.

A pickle can run any program, so it is opened only with trust_pickle=True. Even then nothing is
imported: its three classes become plain containers here, and any other name is refused.
"""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING

from ragfile.errors import FormatError
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.rows import Passage, gathered
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from typing import Protocol

    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

    class PickledDocument(Protocol):
        """The attributes of a document that this module reads. They come from an unchecked pickle."""

        page_content: str


class _PickledObject:
    """A document or a document store, with its pickled state as attributes."""

    def __setstate__(self, state: object) -> None:
        self.__dict__.update(state.get("__dict__", state) if is_object(state) else {})


class _Plain(pickle.Unpickler):
    """Loads known classes as _PickledObject, and refuses all others."""

    def find_class(self, module: str, name: str) -> type[_PickledObject]:
        if module.split(".")[0].startswith("langchain") and name in (
            "Document",
            "InMemoryDocstore",
        ):
            return _PickledObject
        raise FormatError(f"index.pkl asks for {module}.{name}, which no document store uses")


def read(path: StrPath, *, trust_pickle: bool = False) -> Collection:
    """Read the folder, if its pickle is trusted."""
    if not trust_pickle:
        raise FormatError(
            f"{path}/index.pkl is a pickle, and opening one can run any program; use --trust-pickle if you made it yourself"
        )
    index = Index.read(os.path.join(path, "index.faiss"))
    with open(os.path.join(path, "index.pkl"), "rb") as file:
        try:
            store, names = _Plain(file).load()
            documents = [store._dict[names[row]] for row in range(index.count)]
        except (
            pickle.UnpicklingError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
            EOFError,
            MemoryError,  # a length that the file does not have
            RecursionError,
        ) as error:
            raise FormatError(f"{path}/index.pkl does not hold a document store: {error}") from None
    found = [_passage(names[row], document) for row, document in enumerate(documents)]
    return gathered(found, index.vectors, metric=index.metric)


def _passage(name: object, document: PickledDocument) -> Passage:
    metadata = dict(getattr(document, "metadata", None) or {})
    source = str(metadata.get("source") or "")
    plain = {
        key: value
        for key, value in metadata.items()
        if isinstance(value, (str, int, float, bool, type(None)))
    }
    return Passage(
        str(name),
        "text",
        document.page_content,
        source=source,
        title=str(metadata.get("title") or ""),
        metadata=plain,
    )
