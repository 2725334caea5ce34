"""The protocol of embedders, the model inside the package, and the names of the providers.

An embedder turns a batch of texts, all queries or all documents, into vectors of length 1, and names
its model. A file records that model and rejects vectors of any other.

    default                        potion-base-8M, in the package: no download, no key, no network
    none                           no vectors: BM25 only
    st:all-MiniLM-L6-v2            a sentence-transformers model, by name or folder      (extra: st)
    onnx:/models/arctic-embed-s    a folder with model.onnx and tokenizer.json           (extra: onnx)
    openai:text-embedding-3-small  a server with OpenAI's /embeddings                    (extra: http)
    ollama:nomic-embed-text        an Ollama server                                      (extra: http)
    NAME:MODEL                     an embedder that a plugin adds under NAME

Options follow a name as in a URL, "openai:text-embedding-3-small?dimensions=512", or come as
keyword arguments.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, cast
from urllib.parse import parse_qsl, urlencode

import numpy as np

from ragfile import _core
from ragfile.errors import ModelError, ProviderError
from ragfile.ground import plugins, system
from ragfile.ground.offline import is_offline, why
from ragfile.ground.provider_names import load, split_options
from ragfile.types import Float32s, Floats, StrPath

Role: TypeAlias = Literal["query", "document"]
"""Some models embed queries and documents differently."""

CacheChoice: TypeAlias = StrPath | bool | None
"""A cache folder, True for the user's, False for none, None for that of RAGFILE_CACHE, if set."""

DATA = Path(__file__).parents[1] / "data"
DEFAULT_MODEL = DATA / "potion-base-8M.ragmodel"


class Provider(NamedTuple):
    """How to open a provider's embedder: "module:function" that takes (name, **options)."""

    maker: str
    is_remote: bool


PROVIDERS = {
    "st": Provider("ragfile.embedding.local:sentence_transformer", is_remote=False),
    "onnx": Provider("ragfile.embedding.local:onnx_folder", is_remote=False),
    "openai": Provider("ragfile.embedding.http:openai", is_remote=True),
    "ollama": Provider("ragfile.embedding.http:ollama", is_remote=True),
}

# The texts that models expect before a query and before a document, by part of the model's name.
# The first match counts.
PREFIX_OPTIONS = ("query_prefix", "document_prefix")
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
    """The identity of an embedding model. Vectors of equal models can be compared.

    Attributes:
        name: The provider's scheme and the model's name, such as "openai:text-embedding-3-small".
        dims: Components of a vector; None until a server's first response shows it.
        query_prefix: Text that is put before queries.
        document_prefix: Text that is put before documents.
        normalised: Whether vectors have length 1.
        weights: A hash of a local model's weights and tokenizer, or "".
        cut: The number of tokens at which the model cuts a text, if known.
    """

    name: str
    dims: int | None
    query_prefix: str = ""
    document_prefix: str = ""
    normalised: bool = True
    weights: str = ""
    cut: int | None = None

    def is_of(self, record: Mapping[str, Any]) -> bool:
        """Return whether a file's record names this model; see `same_model()`."""
        return same_model(self.record(), record)

    def record(self) -> dict[str, Any]:
        """Return the record that a file keeps of the model."""
        fields = {"name": self.name, "dims": self.dims, "weights": self.weights, "cut": self.cut}
        return {key: value for key, value in fields.items() if value or key == "dims"}

    def prefix(self, role: Role) -> str:
        """Return the text that is put before texts of a role."""
        if role == "query":
            return self.query_prefix
        if role == "document":
            return self.document_prefix
        raise ValueError(f"a text is a query or a document, not {role!r}")

    def identity(self, role: Role) -> str:
        """Return a string of everything that determines a vector besides the text and the dims."""
        parts = [self.name, str(self.normalised), self.prefix(role)]
        if self.weights or self.cut:
            parts += [self.weights, str(self.cut)]
        return "\0".join(parts)


def same_model(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether the vectors of two models can be compared.

    This is the only comparison of models. Dims or cuts that differ decide first, then the hashes of
    the weights where both are known, then the names: a name without a provider's scheme matches any
    scheme, and ":latest" counts for nothing. The name of a model's folder identifies the model only
    together with its scheme.

    Args:
        one: A record of a model, as `Model.record()` returns it. Every field can be missing.
        other: Another one.
    """
    if any(one.get(key) and other.get(key) not in (None, 0, one[key]) for key in ("dims", "cut")):
        return False
    if one.get("weights") and other.get("weights"):
        return bool(one["weights"] == other["weights"])
    (scheme, name), (other_scheme, other_name) = _scheme_and_name(one), _scheme_and_name(other)
    if name != other_name or scheme == other_scheme:
        return name == other_name
    is_of_folder = bool(one.get("weights") or other.get("weights"))
    return not is_of_folder and not (scheme and other_scheme)


def _scheme_and_name(record: Mapping[str, Any]) -> tuple[str, str]:
    """Split a model's name into its provider's scheme, or "", and the name that providers share."""
    name = str(record.get("name") or "").partition("?")[0]
    if name == "default":
        name = StaticEmbedder().model.name
    scheme, colon, rest = name.partition(":")
    if not colon or not is_scheme(scheme):
        scheme, rest = "", name
    return scheme, rest.removeprefix("sentence-transformers/").removesuffix(":latest")


def is_scheme(name: str) -> bool:
    """Return whether a name stands for a provider, built in or of a plugin."""
    return name in PROVIDERS or plugins.has("embedders", name)


def told(record: Mapping[str, Any]) -> str:
    """Describe a model's record in an error message."""
    weights = f"weights {record['weights'][:8]}" if record.get("weights") else ""
    cut = f"cut at {record['cut']} tokens" if record.get("cut") else ""
    details = ", ".join(part for part in (weights, cut) if part)
    return f"{record.get('name')} ({details})" if details else str(record.get("name"))


class Embedder(Protocol):
    """Any object with these two members can be passed as an embedder."""

    @property
    def model(self) -> Model:
        """The model that makes the vectors."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Floats:
        """Embed texts.

        Args:
            texts: The texts, in any number.
            role: "query" or "document", for all of them.

        Returns:
            A float32 array with a row of length 1 per text, in order; zeros for an empty text.
        """
        ...


class StaticEmbedder:
    """The model inside the package, or another static model file, run by the C core.

    A text's vector is the same to the bit for any batch, number of threads and machine.

    Args:
        path: The model file.
        threads: The number of threads; all CPUs if None.
    """

    is_static = True

    def __init__(self, path: StrPath = DEFAULT_MODEL, *, threads: int | None = None) -> None:
        self.path = Path(path)
        self.threads = threads
        self._core = _map_model(self.path)
        self.model = Model(self._core.name, self._core.dims)

    def embed(self, texts: Sequence[str], role: Role = "document") -> Float32s:
        """Return an array with a row of length 1 per text; the role makes no difference."""
        self.model.prefix(role)  # raises ValueError for an unknown role
        out = np.empty((len(texts), self._core.dims), np.float32)
        threads = _core.cpu_count() if self.threads is None else self.threads
        self._core.embed(texts, out, threads)
        return out

    def known(self, text: str) -> float:
        """Return the share of a text that the model knows, from 0 to 1."""
        return self._core.known(text)

    def tokens(self, text: str) -> list[int]:
        """Return the ids of a text's word pieces."""
        return self._core.tokens(text)

    def __reduce__(self) -> tuple[object, tuple[Path, int | None]]:
        return _reopen_static, (self.path, self.threads)

    def __repr__(self) -> str:
        return f"StaticEmbedder({self.model.name}, {self.model.dims} dims)"


def _reopen_static(path: Path, threads: int | None) -> StaticEmbedder:
    return StaticEmbedder(path, threads=threads)


@cache
def _map_model(path: Path) -> _core.StaticModel:
    """Map a model file, once per process; processes share its pages."""
    return _core.StaticModel(system.mapped(path))


def open_embedder(
    spec: str | Embedder | None,
    *,
    offline: bool = False,
    cache: CacheChoice = None,
    **options: object,
) -> Embedder | None:
    """Open the embedder that a name stands for, or check and return an embedder object.

    Args:
        spec: A name such as "default" or "openai:MODEL", an embedder, or None or "none" for no
            vectors.
        offline: Never open a socket, as RAGFILE_OFFLINE does: a remote provider is an error, and a
            local one loads only models that are on disk.
        cache: Where to cache the vectors of embedders that are not static; see
            ragfile.embedding.cache.
        **options: Options of the provider.

    Raises:
        ModelError: No embedder has this name.
        ProviderError: The embedder needs the network in offline mode.
        TypeError: The object is not an embedder.
    """
    offline = offline or is_offline()
    opened = (
        _opened(spec, offline, options) if spec is None or isinstance(spec, str) else _in_role(spec)
    )
    if opened is None or getattr(opened, "is_static", False):
        return opened
    if cache is None and not (isinstance(spec, str) and os.environ.get("RAGFILE_CACHE")):
        return opened
    return cast("Embedder", load("ragfile.embedding.cache:cached")(opened, cache))


def open_for_model(
    spec: str | Embedder, recorded: Mapping[str, Any] | None, *, cache: CacheChoice = None
) -> Embedder | None:
    """Open the embedder that a caller names for vectors of a recorded model.

    A recorded name without a provider's scheme comes from another program, which puts no prefixes before
    texts. Then the provider puts none before them either. Prefixes and dimensions that the record names
    apply, and those that `spec` names come first.
    """
    record = recorded or {}
    name = str(record.get("name") or "")
    scheme = spec.partition(":")[0] if isinstance(spec, str) else ""
    if not (isinstance(spec, str) and name and scheme in PROVIDERS):
        return open_embedder(spec, cache=cache)
    is_foreign = not is_scheme(name.partition(":")[0])
    known = str(record.get("spec") or name)
    options: dict[str, Any] = (
        dict.fromkeys(PREFIX_OPTIONS, "") if is_foreign else _prefix_options(known)
    )
    if PROVIDERS[scheme].is_remote:
        options |= _dimensions(known) | _dimensions(spec)
    options |= _prefix_options(spec)
    return open_embedder(spec, cache=cache, **options)


def with_vector_options(name: str, spec: str) -> str:
    """Return a name with the prefixes and dimensions that another spec of the model names, and none of its
    other options, which do not change vectors.
    """
    return _noted(name, _vector_options(spec))


def foreign_name(spec: str) -> str:
    """Return the name to record for a model whose vectors another program made.

    Such programs put no prefixes before texts. If our provider would put some, the name records empty
    prefixes, unless `spec` names others.
    """
    name = spec.partition("?")[0]
    is_known = is_scheme(name.partition(":")[0]) and any(prefixes_of(name))
    none = dict.fromkeys(PREFIX_OPTIONS if is_known else (), "")
    return _noted(name, {**none, **_vector_options(spec)})


def completed_name(name: str, spec: str) -> str:
    """Return the name that a store records, with what `spec` adds if both are of one model.

    A recorded name without options gains the prefixes and dimensions of `spec`, and its scheme.
    """
    if "?" in name or not _vector_options(spec):
        return name
    return foreign_name(spec) if same_model({"name": name}, {"name": spec}) else name


def _prefix_options(spec: str) -> dict[str, str]:
    """Return the prefixes that a name has; none for a query part of another form."""
    options = dict(parse_qsl(spec.partition("?")[2], keep_blank_values=True))
    return {key: options[key] for key in PREFIX_OPTIONS if key in options}


def _dimensions(spec: str) -> dict[str, int]:
    """Return the dimensions that a name has, as an option."""
    asked = dict(parse_qsl(spec.partition("?")[2])).get("dimensions", "")
    return {"dimensions": int(asked)} if re.fullmatch(r"[1-9][0-9]{0,5}", asked) else {}


def _vector_options(spec: str) -> dict[str, str | int]:
    """Return the options of a name that change vectors."""
    return {**_prefix_options(spec), **_dimensions(spec)}


def _noted(name: str, options: Mapping[str, str | int]) -> str:
    return f"{name}?{urlencode(options)}" if options else name


def _opened(spec: str | None, offline: bool, options: dict[str, Any]) -> Embedder | None:
    name, options = split_options(spec or "none", options)
    if name == "none":
        return None
    if name == "default":
        return StaticEmbedder(**options)
    scheme, _, model = name.partition(":")
    if scheme not in PROVIDERS and plugins.has("embedders", scheme):
        return _plugged(scheme, model, offline, options)
    if scheme not in PROVIDERS or not model:
        schemes = [*PROVIDERS, *plugins.names("embedders")]
        known = ", ".join(["default", "none", *(f"{scheme}:MODEL" for scheme in schemes)])
        raise ModelError(f"no embedder is called {spec!r}: use one of {known}")
    provider = PROVIDERS[scheme]
    if offline and provider.is_remote:
        raise ProviderError(why(f"the embedder {spec}"))
    if offline:
        options["offline"] = True
    return cast("Embedder", load(provider.maker)(model, **options))


def _plugged(scheme: str, model: str, offline: bool, options: dict[str, Any]) -> Embedder:
    """Open the embedder of a plugin; offline only if its function has `is_local = True`."""
    maker = plugins.load("embedders", scheme)
    if offline and not getattr(maker, "is_local", False):
        raise ProviderError(why(f"the embedder {scheme}:{model}"))
    return _in_role(cast("Embedder", maker(model, **options)))


class FunctionEmbedder:
    """A function from a list of texts to rows of numbers, as an embedder; roles make no difference.

    Args:
        function: The function, or an object with `encode()`. Its name is that of the model.
    """

    def __init__(self, function: Callable[[list[str]], object]) -> None:
        self._function = function
        named = getattr(function, "__qualname__", None) or type(function).__qualname__
        self.model = Model(f"function:{named}", None)

    def embed(self, texts: Sequence[str], role: Role = "document") -> Float32s:
        """Return an array with a row of length 1 per text."""
        self.model.prefix(role)  # raises ValueError for an unknown role
        rows = unit_rows(self._function(list(texts)), dims=self.model.dims, source=self.model.name)
        self.model = replace(self.model, dims=rows.shape[1])
        return rows


def _in_role(embedder: Embedder) -> Embedder:
    """Return an embedder; raise TypeError for an object that is none."""
    function: object = getattr(embedder, "encode", embedder)
    if not hasattr(embedder, "embed") and callable(function) and not isinstance(embedder, type):
        return FunctionEmbedder(cast("Callable[[list[str]], object]", function))
    if not callable(getattr(embedder, "embed", None)):
        raise TypeError(
            f"{type(embedder).__name__} is not an embedder: it has no method embed(texts, role)"
        )
    model: object = getattr(embedder, "model", None)
    if not isinstance(model, Model):
        raise TypeError(
            f"{type(embedder).__name__} is not an embedder: its model must be a ragfile.embedding.Model(name, dims), not {model!r}"
        )
    return embedder


def embedded(embedder: Embedder, texts: Sequence[str], role: Role) -> Float32s:
    """Embed texts, and check for one finite row of the model's dims per text.

    Embedders come from users too. ModelError reports their faults before a vector is stored or
    compared.
    """
    answer, name = cast("object", embedder.embed(texts, role=role)), embedder.model.name
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


def embedder_of_file(spec: str, *, cache: CacheChoice = None) -> Embedder:
    """Open the embedder that a file names, if that is safe; raise ModelError if not.

    Files come from untrusted sources. A file must not be able to send its reader's questions to a
    server, nor load a model from a folder of its choice or with options of its choice (some run
    code). It can only name the static model of this package, and a sentence-transformers model by
    its plain name if it is already on this machine, with the prefixes of the vectors.
    """
    if spec in ("default", StaticEmbedder().model.name):
        return StaticEmbedder()
    prefixes: dict[str, Any] = {**_prefix_options(spec)}
    named = spec.partition("?")[0]
    name = named.removeprefix("st:")
    is_plain = re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", name)
    has_prefixes_alone = _noted(named, prefixes) == spec
    if name != named and is_plain and has_prefixes_alone and not Path(name).exists():
        found = open_embedder(named, offline=True, cache=cache, **prefixes)
        if found is not None:
            return found
    raise ModelError(
        f"the file's vectors are of {named}, which is not opened without being asked for: pass embedder="
    )


def open_recorded(model: Mapping[str, Any] | None, *, cache: CacheChoice = None) -> Embedder | None:
    """Open the embedder of a file's record; None if the caller must pass one."""
    if not model or not model.get("spec"):
        return None
    try:
        found = embedder_of_file(model["spec"], cache=cache)
    except ModelError:
        return None
    if not found.model.is_of(model):
        own, recorded = told(found.model.record()), told(model)
        raise ModelError(f"{model['spec']} is {own} here, and the file's vectors are of {recorded}")
    return found


def prefixes_of(name: str) -> tuple[str, str]:
    """Return the (query, document) prefixes that a model is known to expect."""
    lowered = name.lower()
    for part, query, document in PREFIXES:
        if part in lowered:
            return query, document
    return "", ""


def unit_rows(vectors: object, *, dims: int | None, source: str) -> Float32s:
    """Return a provider's vectors as float32 rows of length 1.

    ProviderError is raised for a wrong shape and for components that are not finite. Lengths are
    computed in binary64, row by row, so that a row does not depend on its batch.
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
    unit: Float32s = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(
        np.float32
    )
    return unit
