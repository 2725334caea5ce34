"""Vectors of questions, by the caller's embedder or the model that the file records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragfile.embedding.protocol import (
    Embedder,
    StaticEmbedder,
    embedded,
    embedder_of_file,
    open_for_model,
    told,
)
from ragfile.errors import ModelError, ProviderError
from ragfile.ground import offline as network
from ragfile.ground.lru import Lru

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.types import Float32s, StrPath

NO_EMBEDDER = (
    "the file does not record its embedder: name one (embedder=, --embedder), "
    "or give the question's vector"
)
KEPT = 256  # questions


class QuestionVectors:
    """Embeds the questions to one file, which records its model in `model`.

    A file alone never causes a network request: of recorded models, only those on this machine are
    opened. `offline` also binds the embedder that the caller gave.
    """

    def __init__(
        self, path: str, model: Mapping[str, Any] | None, dim: int | None, *,
        given: str | Embedder | None, cache: StrPath | bool | None, counters: dict[str, int],
        offline: bool,
    ) -> None:  # fmt: skip
        self.path, self.model, self.dim = path, model or {}, dim
        self.cache, self.counters = cache, counters
        self.kept: Lru[str, Float32s] = Lru(KEPT)
        self.is_off, self.is_offline = isinstance(given, str) and given == "none", offline
        self._unopened = ""
        self._embedder = None if given is None else self._checked(self._open(given))

    def is_for(self, model: Mapping[str, object] | None, dim: int | None) -> bool:
        """Return whether these are vectors of a recorded model."""
        return self.model == (model or {}) and self.dim == dim

    def _open(self, given: str | Embedder) -> Embedder | None:
        """Return the embedder of a name, or None, with the reason kept, if it needs the network offline."""
        with network.offline(self.is_offline):
            try:
                return open_for_model(given, self.model, cache=self.cache)
            except ProviderError as error:
                if not network.is_offline():
                    raise
                self._unopened = str(error)
                return None

    @property
    def embedder(self) -> Embedder | None:
        """The given embedder, else the recorded model if it is on this machine; opened on first use."""
        if self._embedder is None and not self.is_off and self.model.get("spec"):
            self._embedder = self._checked(embedder_of_file(self.model["spec"], cache=self.cache))
        return self._embedder

    def of(self, texts: list[str]) -> tuple[Float32s | None, str]:
        """Return (vectors, "") or (None, reason)."""
        try:
            if self.is_off:
                return None, "the embedder none was asked for"
            if self._unopened:
                return None, self._unopened
            kept = [self.kept.get(text) for text in texts]
            if kept and not any(vector is None for vector in kept):
                return np.array(kept, dtype=np.float32), ""
            embedder = self.embedder
            if embedder is None:
                return None, self._no_embedder()
            with network.offline(self.is_offline):
                return self._made(embedder, texts), ""
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - a user's embedder may raise anything
            return None, f"no embedding: {str(error) or type(error).__name__}"

    def _no_embedder(self) -> str:
        """Return why there is no embedder, with the model if another program recorded its name."""
        if not (name := str(self.model.get("name") or "")):
            return NO_EMBEDDER
        which = f"its vectors are of {name:.80}: name one (embedder=, --embedder)"
        return f"{NO_EMBEDDER.partition(':')[0]}, and {which}, such as ollama:{name:.80}"

    def known(self, texts: list[str]) -> NDArray[np.float64] | None:
        """Return the share of each text that the model knows; None if the model does not report it."""
        embedder = None if self.is_off else self.embedder
        if not isinstance(embedder, StaticEmbedder):
            return None
        return np.array([embedder.known(text) for text in texts])

    def _made(self, embedder: Embedder, texts: list[str]) -> Float32s:
        """Return the vectors of questions, from the cache where it has them."""
        known = {text: self.kept.get(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        if new:
            self.counters["embedding_calls"] += 1
            for text, vector in zip(new, embedded(embedder, new, "query"), strict=True):
                known[text] = vector
                self.kept.put(text, vector)
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), -1)

    def _checked(self, embedder: Embedder | None) -> Embedder | None:
        """Return the embedder; ModelError if its vectors cannot be compared with the file's."""
        if embedder is None:
            return embedder
        made, recorded = embedder.model, self.model
        if None not in (made.dims, self.dim) and made.dims != self.dim:
            has = f"{recorded.get('name', 'an unnamed model')} ({self.dim} dimensions)"
            raise ModelError(f"{self.path} was built with {has}, not {made.name} ({made.dims})")
        if recorded and not made.is_of(recorded):
            given = told(made.record())
            raise ModelError(f"{self.path} was built with {told(recorded)}, not {given}")
        return embedder
