"""Texts to vectors: what an embedder is, the one inside the package, and the names of the others.

An embedder turns a batch of texts into vectors of length 1, knowing whether they are queries or
documents, and says which model it is. A file records that model, and refuses vectors of another.

    default                        potion-base-8M, inside the package: no download, no key, no network
    none                           no vectors: BM25 only
    st:all-MiniLM-L6-v2            a sentence-transformers model, by name or folder      (extra: st)
    onnx:/models/arctic-embed-s    a folder with model.onnx and tokenizer.json           (extra: onnx)
    openai:text-embedding-3-small  a server with OpenAI's /embeddings                    (extra: http)
    ollama:nomic-embed-text        an Ollama server                                      (extra: http)

Options follow a name as in a URL, "openai:text-embedding-3-small?dimensions=512", or come as
keyword arguments.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ragfile import _core
from ragfile.errors import ModelError, ProviderError
from ragfile.ground.offline import is_offline, why
from ragfile.ground.provider_names import load, split_options
from ragfile.types import StrPath

Role = Literal["query", "document"]

DATA = Path(__file__).parents[1] / "data"
DEFAULT_MODEL = DATA / "potion-base-8M.ragmodel"

# scheme -> (module:function taking (name, **options), whether it reaches for the network)
PROVIDERS = {
    "st": ("ragfile.embedding.local:sentence_transformer", False),
    "onnx": ("ragfile.embedding.local:onnx_folder", False),
    "openai": ("ragfile.embedding.http:openai", True),
    "ollama": ("ragfile.embedding.http:ollama", True),
}

# What models want to read before a text, (name contains, query, document). The first match counts.
PREFIXES = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("snowflake-arctic-embed2", "query: ", ""),
    ("arctic-embed-l-v2", "query: ", ""),
    ("arctic-embed-m-v2", "query: ", ""),
    ("arctic-embed", "Represent this sentence for searching relevant passages: ", ""),
    ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-m3", "", ""),
    ("bge-small-en", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-base-en", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-large-en", "Represent this sentence for searching relevant passages: ", ""),
    (
        "e5-mistral",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
        "",
    ),
    ("e5-", "query: ", "passage: "),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    (
        "qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
)


@dataclass(frozen=True, slots=True)
class Model:
    """Which model made a vector. Vectors of equal models can be compared.

    dims is None until a server that was not told how many has answered once.
    """

    name: str
    dims: int | None
    query_prefix: str = ""
    document_prefix: str = ""
    normalised: bool = True
    weights: str = ""  # a hash of a local model's weights and tokenizer
    cut: int | None = None  # tokens at which it cuts a text

    def is_of(self, record: Mapping[str, Any]) -> bool:
        """Whether it is the model that a file recorded. Not all files record weights and cut."""
        known = ((record.get("weights"), self.weights), (record.get("cut"), self.cut))
        is_same = all(there == here for there, here in known if there and here)
        return self.name == record.get("name") and is_same

    def record(self) -> dict[str, Any]:
        """What a file keeps of it."""
        said = {"name": self.name, "dims": self.dims, "weights": self.weights, "cut": self.cut}
        return {key: value for key, value in said.items() if value or key == "dims"}

    def prefix(self, role: Role) -> str:
        """What is put before a text of this role."""
        if role == "query":
            return self.query_prefix
        if role == "document":
            return self.document_prefix
        raise ValueError(f"a text is a query or a document, not {role!r}")

    def identity(self, role: Role) -> str:
        """What determines a text's vector besides the text and the dims."""
        parts = [self.name, str(self.normalised), self.prefix(role)]
        if self.weights or self.cut:
            parts += [self.weights, str(self.cut)]
        return "\0".join(parts)


def told(record: Mapping[str, Any]) -> str:
    """A model's record in words."""
    weights = f"weights {record['weights'][:8]}" if record.get("weights") else ""
    cut = f"cut at {record['cut']} tokens" if record.get("cut") else ""
    said = ", ".join(part for part in (weights, cut) if part)
    return f"{record.get('name')} ({said})" if said else str(record.get("name"))


class Embedder(Protocol):
    """The role: anything with these two can be given wherever an embedder is asked for."""

    @property
    def model(self) -> Model: ...

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.floating[Any]]:
        """One float32 row of length 1 for each text, in their order; zeros for a text without
        content.
        """
        ...


class StaticEmbedder:
    """The embedded model, or any other model file, on the C core.

    A text's vector is the same to the bit for any batch, number of threads and machine.
    """

    is_static = True

    def __init__(self, path: StrPath = DEFAULT_MODEL, *, threads: int | None = None) -> None:
        self.path = Path(path)
        self.threads = threads
        self._core = _map_model(self.path)
        self.model = Model(self._core.name, self._core.dims)

    def embed(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One row of length 1 for each text."""
        self.model.prefix(role)  # refuses what is neither a query nor a document
        out = np.empty((len(texts), self._core.dims), np.float32)
        threads = _core.cpu_count() if self.threads is None else self.threads
        self._core.embed(texts, out, threads)
        return out

    def tokens(self, text: str) -> list[int]:
        """The ids of the word pieces that the model sees in a text."""
        return self._core.tokens(text)

    def __reduce__(self):
        return _reopen_static, (self.path, self.threads)

    def __repr__(self) -> str:
        return f"StaticEmbedder({self.model.name}, {self.model.dims} dims)"


def _reopen_static(path, threads):
    return StaticEmbedder(path, threads=threads)


@cache
def _map_model(path: Path):
    """The model of a path, mapped once in this process: its pages are shared with every other
    one.
    """
    with path.open("rb") as file:
        return _core.StaticModel(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def open_embedder(
    spec: str | Embedder | None, *, offline: bool = False, cache=None, **options
) -> Embedder | None:
    """The embedder that a name stands for; None for "none". An embedder stands for itself.

    offline=True, or RAGFILE_OFFLINE, never opens a socket: a remote provider is an error, and a
    local one looks only at what is on disk. cache keeps what embedders answer that are not static:
    see ragfile.embedding.cache.
    """
    offline = offline or is_offline()
    made = (
        _opened(spec, offline, options) if spec is None or isinstance(spec, str) else _in_role(spec)
    )
    if made is None or getattr(made, "is_static", False):
        return made
    if cache is None and not (isinstance(spec, str) and os.environ.get("RAGFILE_CACHE")):
        return made
    return load("ragfile.embedding.cache:cached")(made, cache)


def _opened(spec, offline, options):
    name, options = split_options(spec or "none", options)
    if name in ("none", "default"):
        if name == "none" or not options:
            return None if name == "none" else StaticEmbedder()
        return StaticEmbedder(**options)
    scheme, _, model = name.partition(":")
    if scheme not in PROVIDERS or not model:
        known = ", ".join(["default", "none", *(f"{scheme}:MODEL" for scheme in PROVIDERS)])
        raise ModelError(f"no embedder is called {spec!r}: use one of {known}")
    maker, remote = PROVIDERS[scheme]
    if offline and remote:
        raise ProviderError(why(f"the embedder {spec}"))
    if offline:
        options["offline"] = True
    return load(maker)(model, **options)


def _in_role(embedder):
    """The embedder, if it is one."""
    if not callable(getattr(embedder, "embed", None)):
        raise TypeError(
            f"{type(embedder).__name__} is not an embedder: it has no method embed(texts, role)"
        )
    model = getattr(embedder, "model", None)
    if not isinstance(model, Model):
        raise TypeError(
            f"{type(embedder).__name__} is not an embedder: its model must be a ragfile.embedding.Model(name, dims), not {model!r}"
        )
    return embedder


def embedded(embedder: Embedder, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
    """What an embedder makes of texts, if it is a finite row of the model's width for each;
    ModelError else.

    Anybody can write an embedder. Its mistakes are reported here, before a vector is stored or
    compared.
    """
    answer, name = embedder.embed(texts, role=role), embedder.model.name
    try:
        rows = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError):
        raise ModelError(
            f"the embedder {name} answered with {type(answer).__name__}, not with rows of numbers"
        ) from None
    wanted = len(texts), embedder.model.dims or (rows.shape[1] if rows.ndim == 2 else 0)
    if rows.shape != wanted:
        raise ModelError(
            f"the embedder {name} made an array of shape {rows.shape} of {len(texts)} texts, not {wanted}"
        )
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise ModelError(
            f"the embedder {name} made a vector that is not finite, of the text {texts[row][:60]!r}"
        )
    return rows


def embedder_of_file(spec: str, *, cache=None) -> Embedder:
    """The embedder that a file names, where that needs nobody's consent; ModelError where it does.

    A file comes from anywhere. It must not be able to send its reader's questions to a server, nor
    to load a model from a folder of its choice or with options of its choice (some run code). It
    can name only the embedded model, and a sentence-transformers model by its bare name, if this
    machine has it already.
    """
    if spec in ("default", StaticEmbedder().model.name):
        return StaticEmbedder()
    name = spec.removeprefix("st:")
    if (
        name != spec
        and re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", name)
        and not Path(name).exists()
    ):
        found = open_embedder(spec, offline=True, cache=cache)
        if found is not None:
            return found
    raise ModelError(
        f"the file's vectors are of {spec}, which is not opened without being asked for: pass embedder="
    )


def open_recorded(model: dict | None, *, cache=None) -> Embedder | None:
    """The embedder of a file's own record, if a file is allowed to name it; None if the caller
    must.
    """
    if not model or not model.get("spec"):
        return None
    try:
        found = embedder_of_file(model["spec"], cache=cache)
    except ModelError:
        return None
    if not found.model.is_of(model):
        here, there = told(found.model.record()), told(model)
        raise ModelError(f"{model['spec']} is {here} here, and the file's vectors are of {there}")
    return found


def prefixes_of(name: str) -> tuple[str, str]:
    """The (query, document) prefixes that a model is known to want."""
    lowered = name.lower()
    for part, query, document in PREFIXES:
        if part in lowered:
            return query, document
    return "", ""


def unit_rows(vectors, *, dims: int | None, source: str) -> np.ndarray:
    """A provider's vectors as float32 rows of length 1, or ProviderError for a wrong shape or a
    value that is not a number.

    Lengths are taken in binary64 row by row, so that a row does not depend on its batch.
    """
    try:
        rows = np.asarray(vectors, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProviderError(
            f"{source} answered with something other than vectors of one length: {error}"
        ) from None
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ProviderError(f"{source} answered with something other than vectors of one length")
    if dims is not None and rows.shape[1] != dims:
        raise ProviderError(
            f"{source} answered with {rows.shape[1]} components where {dims} were expected"
        )
    if not np.isfinite(rows).all():
        raise ProviderError(f"{source} answered with a component that is not a finite number")
    lengths = np.array([np.sqrt(np.dot(row, row)) for row in rows]).reshape(-1, 1)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(np.float32)
