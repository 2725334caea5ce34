"""Embedders behind HTTP: OpenAI's /embeddings, which many servers implement, and Ollama's API.

Texts are sent in batches and in order; texts without content are not sent and get zeros. A response
must be complete: as many vectors as texts, each index once, all of one length, all numbers finite.

Documents of a build wait for the server (timeout, attempts: see ragfile.net.json_client). Questions
are interactive: a request with questions has query_timeout seconds in all, QUERY_TIMEOUT by default,
and two attempts.
"""

from __future__ import annotations

import base64
import binascii
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

import numpy as np

from ragfile.embedding.protocol import Model, prefixes_of, unit_rows
from ragfile.errors import ProviderError
from ragfile.net.json_client import Caller, CallError, bearer

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Role
    from ragfile.net.json_client import CallOptions
    from ragfile.types import Float32s

OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://127.0.0.1:11434"
BATCH = 64
QUERY_TIMEOUT = 5.0
BATCH_CHARACTERS = 400_000  # OpenAI takes at most 300,000 tokens in one request


class HttpProtocol(Protocol):
    """The requests and responses of a provider."""

    caller: Caller

    def ask(self, texts: Sequence[str], within: float | None = None) -> Sequence[object]: ...


class HttpEmbedder:
    """Batches, prefixes and checks, common to all providers."""

    def __init__(
        self,
        protocol: HttpProtocol,
        model: Model,
        *,
        batch: int = BATCH,
        query_timeout: float = QUERY_TIMEOUT,
    ) -> None:
        if batch < 1:
            raise ValueError(f"a batch has at least one text, not {batch}")
        self.protocol = protocol
        self.batch = batch
        self.query_timeout = float(query_timeout)
        self._model = model

    @property
    def model(self) -> Model:
        """The model; its dims are None until the first response."""
        return self._model

    def embed(self, texts: Sequence[str], role: Role = "document") -> Float32s:
        """Return an array with a row of length 1 per text, zeros for texts without content."""
        prefix = self._model.prefix(role)
        kept = [i for i, text in enumerate(texts) if text.strip()]
        within = self.query_timeout if role == "query" else None
        rows = [
            self._ask([prefix + texts[i] for i in batch], within)
            for batch in batches(kept, texts, self.batch)
        ]
        out = np.zeros((len(texts), self._model.dims or 0), np.float32)
        if rows:
            out[kept] = np.concatenate(rows)
        return out

    def _ask(self, texts: Sequence[str], within: float | None) -> Float32s:
        vectors = self.protocol.ask(texts, within)
        if len(vectors) != len(texts):
            raise ProviderError(
                f"{self._model.name} answered {len(vectors)} vectors to {len(texts)} texts"
            )
        rows = unit_rows(vectors, dims=self._model.dims, source=self._model.name)
        if self._model.dims is None:  # the first response sets it for all others
            self._model = replace(self._model, dims=rows.shape[1])
        return rows

    def close(self) -> None:
        """Close the connections."""
        self.protocol.caller.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model.name} at {self.protocol.caller.base_url})"


def batches(kept: Iterable[int], texts: Sequence[str], count: int) -> Iterator[list[int]]:
    """Yield batches of up to `count` indexes with at most BATCH_CHARACTERS characters of text.

    A longer text is a batch of its own.
    """
    batch: list[int] = []
    characters = 0
    for i in kept:
        if batch and (len(batch) == count or characters + len(texts[i]) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(i)
        characters += len(texts[i])
    if batch:
        yield batch


class OpenAIProtocol:
    """POST {base}/embeddings: sends model, input, encoding_format, dimensions; receives data."""

    def __init__(self, caller: Caller, model: str, dimensions: int | None, encoding: str) -> None:
        self.caller = caller
        self.question: dict[str, Any] = {"model": model, "encoding_format": encoding}
        if dimensions is not None:
            self.question["dimensions"] = dimensions

    def ask(self, texts: Sequence[str], within: float | None = None) -> list[object]:
        """Return the vectors of texts in order."""
        answer = self.caller.post("/embeddings", {**self.question, "input": texts}, within=within)
        data = self._entries(answer)
        ordered = {
            index: entry.get("embedding")
            for entry in data
            if isinstance(index := entry.get("index"), int)
        }
        if len(data) != len(texts) or set(ordered) != set(range(len(texts))):
            raise ProviderError(
                f"{self.caller.base_url}: the answer does not have each of {len(texts)} indexes once"
            )
        return [read_embedding(ordered[i], self.caller.base_url) for i in range(len(texts))]

    def _entries(self, answer: Mapping[str, object]) -> list[dict[str, object]]:
        data = answer.get("data")
        entries = cast("list[object]", data) if isinstance(data, list) else [None]
        if not all(isinstance(entry, dict) for entry in entries):
            raise ProviderError(f"{self.caller.base_url}: the answer has no list called data")
        return cast("list[dict[str, object]]", entries)


def read_embedding(value: object, source: str) -> object:
    """Return a vector: a list of numbers as it is, or decoded from base64 of little-endian binary32."""
    if not isinstance(value, str):
        return value
    try:
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4")
    except (binascii.Error, ValueError):
        raise ProviderError(
            f"{source}: an embedding is neither a list nor the base64 of floats"
        ) from None


def openai(
    model: str, *, base_url: str | None = None, api_key: str | None = None,
    dimensions: int | None = None, encoding: str = "base64", batch: int = BATCH,
    query_prefix: str | None = None, document_prefix: str | None = None,
    query_timeout: float = QUERY_TIMEOUT, **calling: Unpack[CallOptions],
) -> HttpEmbedder:  # fmt: skip
    """Open an embedder behind OpenAI's API.

    Args:
        model: The model's name on the server.
        base_url: The URL before /embeddings; OPENAI_BASE_URL, else OpenAI's, by default.
        api_key: The key; OPENAI_API_KEY by default. OpenAI itself needs one.
        dimensions: Components of a vector; the model's own number if None.
        encoding: "base64" or "float", for the vectors in responses.
        batch: The most texts in one request.
        query_prefix: Text before queries; that of the known models if None.
        document_prefix: Text before documents; that of the known models if None.
        query_timeout: The time limit in seconds of a request with questions.
        **calling: timeout, attempts, first_wait and longest_wait of net.json_client.Caller.
    """
    if encoding not in ("base64", "float"):
        raise ValueError(f"encoding is base64 or float, not {encoding!r}")
    base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    api_key = api_key or os.environ.get("OPENAI_API_KEY")
    if not api_key and base_url.rstrip("/") == OPENAI_URL:
        raise ProviderError(
            f"{OPENAI_URL} needs a key: set OPENAI_API_KEY, or pass api_key or another base_url"
        )
    protocol = OpenAIProtocol(
        Caller(base_url, headers=bearer(api_key), **calling), model, dimensions, encoding
    )
    described = description("openai", model, dimensions, query_prefix, document_prefix)
    return HttpEmbedder(protocol, described, batch=batch, query_timeout=query_timeout)


class OllamaProtocol:
    """POST /api/embed with input; older servers have only /api/embeddings, one prompt at a time."""

    def __init__(
        self, caller: Caller, model: str, dimensions: int | None, keep_alive: str | int | None
    ) -> None:
        self.caller = caller
        self.old = False
        self.question: dict[str, Any] = {"model": model}
        if dimensions is not None:
            self.question["dimensions"] = dimensions
        if keep_alive is not None:
            self.question["keep_alive"] = keep_alive
        self.dimensions = dimensions

    def ask(self, texts: Sequence[str], within: float | None = None) -> list[object]:
        """Return the vectors of texts in order."""
        until = None if within is None else time.monotonic() + within
        if not self.old:
            try:
                answer = self.caller.post(
                    "/api/embed", {**self.question, "input": texts}, within=within
                )
                return self._list(answer, "embeddings")
            except CallError as error:
                if not is_missing_endpoint(error):
                    raise
                self.old = True
        return [self._ask_old(text, until) for text in texts]

    def _ask_old(self, text: str, until: float | None) -> list[object]:
        question = {key: value for key, value in self.question.items() if key != "dimensions"}
        within = None if until is None else max(until - time.monotonic(), 0.0)
        answer = self.caller.post("/api/embeddings", {**question, "prompt": text}, within=within)
        vector = self._list(answer, "embedding")
        return vector[: self.dimensions] if self.dimensions is not None else vector

    def _list(self, answer: Mapping[str, object], key: str) -> list[object]:
        found = answer.get(key)
        if not isinstance(found, list):
            raise ProviderError(f"{self.caller.base_url}: the answer has no list called {key}")
        return cast("list[object]", found)


def is_missing_endpoint(error: CallError) -> bool:
    """Return whether a 404 is about the URL; one about the model has a JSON body."""
    return error.status in (404, 405) and not error.body.lstrip().startswith("{")


def ollama(
    model: str,
    *,
    host: str | None = None,
    dimensions: int | None = None,
    keep_alive: str | int | None = None,
    batch: int = BATCH,
    query_prefix: str | None = None,
    document_prefix: str | None = None,
    query_timeout: float = QUERY_TIMEOUT,
    **calling: Unpack[CallOptions],
) -> HttpEmbedder:
    """Open an embedding model of an Ollama server.

    Args:
        model: The model's name on the server.
        host: The server's URL, host or host:port; OLLAMA_HOST by default.
        dimensions: Components of a vector; the model's own number if None.
        keep_alive: How long the server keeps the model loaded, as Ollama writes it.
        batch: The most texts in one request.
        query_prefix: Text before queries; that of the known models if None.
        document_prefix: Text before documents; that of the known models if None.
        query_timeout: The time limit in seconds of a request with questions.
        **calling: timeout, attempts, first_wait and longest_wait of net.json_client.Caller.
    """
    caller = Caller(ollama_url(host or os.environ.get("OLLAMA_HOST")), **calling)
    protocol = OllamaProtocol(caller, model, dimensions, keep_alive)
    described = description("ollama", model, dimensions, query_prefix, document_prefix)
    return HttpEmbedder(protocol, described, batch=batch, query_timeout=query_timeout)


def ollama_url(host: str | None) -> str:
    """Return the URL of a server in Ollama's notation: a URL, a host, or host:port.

    0.0.0.0, the address that a server listens on, becomes 127.0.0.1.
    """
    if not host:
        return OLLAMA_URL
    if "://" not in host:
        host = "http://" + (host if not host.startswith(":") else "127.0.0.1" + host)
        if ":" not in host.removeprefix("http://").rpartition("]")[2]:
            host += ":11434"
    return host.replace("//0.0.0.0", "//127.0.0.1")


def description(
    scheme: str,
    model: str,
    dimensions: int | None,
    query_prefix: str | None,
    document_prefix: str | None,
) -> Model:
    """Return a model's identity, with the known prefixes unless the caller sets others."""
    known_query, known_document = prefixes_of(model)
    return Model(
        f"{scheme}:{model}",
        dimensions,
        known_query if query_prefix is None else query_prefix,
        known_document if document_prefix is None else document_prefix,
    )
