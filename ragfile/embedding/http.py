"""Embedders that are servers: OpenAI's /embeddings, which many speak, and Ollama's /api/embed and
/api/embeddings.

Texts go out in batches and in order; texts without content are not sent and get zeros. An answer is
taken only when it is complete: as many vectors as texts, each index once, all of one length, all
numbers finite.

A build waits for a server as long as it takes (timeout, attempts: see ragfile.net.json_client).
Behind a question somebody waits: a request with questions has QUERY_TIMEOUT seconds for everything,
or what query_timeout says, and two attempts.
"""

from __future__ import annotations

import base64
import binascii
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragfile.embedding.protocol import Model, prefixes_of, unit_rows
from ragfile.errors import ProviderError
from ragfile.net.json_client import Caller, CallError, bearer

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Role

OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://127.0.0.1:11434"
BATCH = 64
QUERY_TIMEOUT = 5.0
BATCH_CHARACTERS = 400_000  # OpenAI takes at most 300,000 tokens in one request


class HttpEmbedder:
    """Batches, prefixes and checks; what is asked and how an answer reads is the protocol's."""

    def __init__(
        self, protocol, model: Model, *, batch: int = BATCH, query_timeout: float = QUERY_TIMEOUT
    ):
        if batch < 1:
            raise ValueError(f"a batch has at least one text, not {batch}")
        self.protocol = protocol
        self.batch = batch
        self.query_timeout = float(query_timeout)
        self._model = model

    @property
    def model(self) -> Model:
        return self._model

    def embed(self, texts, role: Role = "document"):
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

    def _ask(self, texts, within):
        vectors = self.protocol.ask(texts, within)
        if len(vectors) != len(texts):
            raise ProviderError(
                f"{self._model.name} answered {len(vectors)} vectors to {len(texts)} texts"
            )
        rows = unit_rows(vectors, dims=self._model.dims, source=self._model.name)
        if self._model.dims is None:  # the first answer says it, and holds the others to it
            self._model = replace(self._model, dims=rows.shape[1])
        return rows

    def close(self):
        self.protocol.caller.close()

    def __repr__(self):
        return f"{type(self).__name__}({self._model.name} at {self.protocol.caller.base_url})"


def batches(kept, texts, count):
    """Runs of up to count indexes whose texts are not too long together; a single long text goes
    alone.
    """
    batch, characters = [], 0
    for i in kept:
        if batch and (len(batch) == count or characters + len(texts[i]) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(i)
        characters += len(texts[i])
    if batch:
        yield batch


# ---------------------------------------------------------------------------------------------------------- OpenAI ---


class OpenAIProtocol:
    """POST {base}/embeddings: model, input[], encoding_format and dimensions go out; data[] of
    index, embedding comes.
    """

    def __init__(self, caller, model, dimensions, encoding):
        self.caller = caller
        self.question = {"model": model, "encoding_format": encoding}
        if dimensions is not None:
            self.question["dimensions"] = dimensions

    def ask(self, texts, within=None):
        answer = self.caller.post("/embeddings", {**self.question, "input": texts}, within=within)
        data = answer.get("data")
        if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
            raise ProviderError(f"{self.caller.base_url}: the answer has no list called data")
        ordered = {
            entry["index"]: entry.get("embedding")
            for entry in data
            if isinstance(entry.get("index"), int)
        }
        if len(data) != len(texts) or set(ordered) != set(range(len(texts))):
            raise ProviderError(
                f"{self.caller.base_url}: the answer does not have each of {len(texts)} indexes once"
            )
        return [read_embedding(ordered[i], self.caller.base_url) for i in range(len(texts))]


def read_embedding(value, source):
    """One vector: a list of numbers, or the base64 of little-endian binary32."""
    if not isinstance(value, str):
        return value
    try:
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4")
    except (binascii.Error, ValueError):
        raise ProviderError(
            f"{source}: an embedding is neither a list nor the base64 of floats"
        ) from None


def openai(
    model, *, base_url=None, api_key=None, dimensions=None, encoding="base64", batch=BATCH,
    query_prefix=None, document_prefix=None, query_timeout=QUERY_TIMEOUT, **calling,
):  # fmt: skip
    """An embedder behind OpenAI's protocol. The key and address default to OPENAI_API_KEY and
    OPENAI_BASE_URL.
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


# ---------------------------------------------------------------------------------------------------------- Ollama ---


class OllamaProtocol:
    """POST /api/embed with input[]; a server from before that has only /api/embeddings, one prompt
    at a time.
    """

    def __init__(self, caller, model, dimensions, keep_alive):
        self.caller = caller
        self.old = False
        self.question = {"model": model}
        if dimensions is not None:
            self.question["dimensions"] = dimensions
        if keep_alive is not None:
            self.question["keep_alive"] = keep_alive
        self.dimensions = dimensions

    def ask(self, texts, within=None):
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

    def _ask_old(self, text, until):
        question = {key: value for key, value in self.question.items() if key != "dimensions"}
        within = None if until is None else max(until - time.monotonic(), 0.0)
        answer = self.caller.post("/api/embeddings", {**question, "prompt": text}, within=within)
        vector = self._list(answer, "embedding")
        return vector[: self.dimensions] if self.dimensions is not None else vector

    def _list(self, answer, key):
        if not isinstance(answer.get(key), list):
            raise ProviderError(f"{self.caller.base_url}: the answer has no list called {key}")
        return answer[key]


def is_missing_endpoint(error):
    """Whether a 404 is about the address. One about the model is JSON and says so."""
    return error.status in (404, 405) and not error.body.lstrip().startswith("{")


def ollama(
    model,
    *,
    host=None,
    dimensions=None,
    keep_alive=None,
    batch=BATCH,
    query_prefix=None,
    document_prefix=None,
    query_timeout=QUERY_TIMEOUT,
    **calling,
):
    """A model of an Ollama server, whose address defaults to OLLAMA_HOST."""
    caller = Caller(ollama_url(host or os.environ.get("OLLAMA_HOST")), **calling)
    protocol = OllamaProtocol(caller, model, dimensions, keep_alive)
    described = description("ollama", model, dimensions, query_prefix, document_prefix)
    return HttpEmbedder(protocol, described, batch=batch, query_timeout=query_timeout)


def ollama_url(host):
    """An address as Ollama writes it: a URL, a host, or host:port; 0.0.0.0 is where it listens, not
    where to ask.
    """
    if not host:
        return OLLAMA_URL
    if "://" not in host:
        host = "http://" + (host if not host.startswith(":") else "127.0.0.1" + host)
        if ":" not in host.removeprefix("http://").rpartition("]")[2]:
            host += ":11434"
    return host.replace("//0.0.0.0", "//127.0.0.1")


def description(scheme, model, dimensions, query_prefix, document_prefix):
    """The model's identity: the known prefixes, unless the caller says otherwise."""
    known_query, known_document = prefixes_of(model)
    return Model(
        f"{scheme}:{model}",
        dimensions,
        known_query if query_prefix is None else query_prefix,
        known_document if document_prefix is None else document_prefix,
    )
