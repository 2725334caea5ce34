"""Questions as vectors: the embedder that the caller gave, or the model that the file records."""

import numpy as np

from ragfile.embedding.protocol import Embedder, embedded, embedder_of_file, open_embedder, told
from ragfile.errors import ModelError, ProviderError
from ragfile.ground import offline as network
from ragfile.ground.lru import Lru

NO_EMBEDDER = (
    "the file does not record its embedder: name one (embedder=, --embedder), "
    "or give the question's vector"
)
KEPT = 256  # questions


class QuestionVectors:
    """What makes vectors of the questions to one file, whose recorded model is `model`, a dict or None.

    A file never makes anybody talk to a server: of recorded models, only those on this machine are
    opened. `offline` holds for the given one, too.
    """

    def __init__(self, path, model, dim, *, given, cache, counters, offline):
        self.path, self.model, self.dim = path, model or {}, dim
        self.cache, self.kept, self.counters = cache, Lru(KEPT), counters
        self.is_off, self.is_offline = isinstance(given, str) and given == "none", offline
        self._unopened = ""
        self._embedder = None if given is None else self._checked(self._open(given))

    def is_for(self, model: dict[str, object] | None, dim: int | None) -> bool:
        """Whether these are vectors of a recorded model."""
        return self.model == (model or {}) and self.dim == dim

    def _open(self, given):
        """The embedder that was named; None, with the reason kept, for one that offline leaves no way to."""
        with network.offline(self.is_offline):
            try:
                return open_embedder(given, cache=self.cache)
            except ProviderError as error:
                if not network.is_offline():
                    raise
                self._unopened = str(error)
                return None

    @property
    def embedder(self) -> Embedder | None:
        """The one given, else the recorded model where it is on this machine; it is opened when first asked for."""
        if self._embedder is None and not self.is_off and self.model.get("spec"):
            self._embedder = self._checked(embedder_of_file(self.model["spec"], cache=self.cache))
        return self._embedder

    def of(self, texts: list[str]) -> tuple[np.ndarray | None, str]:
        """(vectors, "") or (None, why there are none)."""
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
                return None, NO_EMBEDDER
            with network.offline(self.is_offline):
                return self._made(embedder, texts), ""
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - anybody may write an embedder, and it may raise anything
            return None, f"no embedding: {str(error) or type(error).__name__}"

    def _made(self, embedder: Embedder, texts):
        """Vectors of questions; the last few hundred are kept."""
        known = {text: self.kept.get(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        if new:
            self.counters["embedding_calls"] += 1
            for text, vector in zip(new, embedded(embedder, new, "query"), strict=True):
                known[text] = vector
                self.kept.put(text, vector)
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), -1)

    def _checked(self, embedder):
        """The embedder, if its vectors can be compared with the file's."""
        if embedder is None or not self.model:
            return embedder
        made, recorded = embedder.model, self.model
        has_other_size = None not in (made.dims, self.dim) and made.dims != self.dim
        if made.name != recorded["name"] or has_other_size:
            raise ModelError(
                f"{self.path} was built with {recorded['name']} ({self.dim} dimensions), "
                f"not {made.name} ({made.dims})"
            )
        if not made.is_of(recorded):
            here = told(made.record())
            raise ModelError(f"{self.path} was built with {told(recorded)}, not {here}")
        return embedder
