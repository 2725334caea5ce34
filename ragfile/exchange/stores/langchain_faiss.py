"""A folder that LangChain's FAISS store saved: index.faiss and index.pkl.

A pickle can run any program, so it is opened only when the caller says that it is trusted. Even
then nothing is imported: its three classes become plain containers here, and any other name is
refused.
"""

import os
import pickle

from ragfile.errors import FormatError
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.rows import Passage, gathered


class _PickledObject:
    """Stands for a document or a document store: whatever state was pickled, as attributes."""

    def __setstate__(self, state):
        self.__dict__.update(state.get("__dict__", state) if isinstance(state, dict) else {})


class _Plain(pickle.Unpickler):
    def find_class(self, module, name):
        if module.split(".")[0].startswith("langchain") and name in (
            "Document",
            "InMemoryDocstore",
        ):
            return _PickledObject
        raise FormatError(
            f"index.pkl asks for {module}.{name}, which a document store has no use for"
        )


def read(path, *, trust_pickle=False):
    if not trust_pickle:
        raise FormatError(
            f"{path}/index.pkl is a pickle, and opening one can run any program; say --trust-pickle if you made it yourself"
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
        ) as error:
            raise FormatError(f"{path}/index.pkl does not hold a document store: {error}") from None
    found = [_passage(names[row], document) for row, document in enumerate(documents)]
    return gathered(found, index.vectors, metric=index.metric)


def _passage(name, document):
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
