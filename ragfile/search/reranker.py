"""Reorder or shorten a list of candidates. The functions do not change their arguments, `reordered` excepted.

rerank(query, candidates)                       by the built-in lexical measure, without a model
rerank(query, candidates, CrossEncoder(name))   by a model that reads query and text together
reordered(query, hits, model, 0, 10)            the ten best of a search's hits, in a new order
distinct_vectors(vectors), distinct_texts(texts)    positions that remain without near-duplicates
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from ragfile import _core
from ragfile.embedding.protocol import is_scheme
from ragfile.ground import plugins
from ragfile.ground.cancellation import steps
from ragfile.ground.extras import optional
from ragfile.records import Candidate, Hit, Hits, best_first
from ragfile.search.vector_reranker import VectorReranker, added, exchanged, vector_reranker
from ragfile.text import words
from ragfile.types import Fields, Reranker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from ragfile.types import Floats, StrPath

EVIDENCE = 0.25  # the built-in measure's weight against the previous order
READ = 40  # hits of a search that are reordered
SAME_COSINE = 0.98
SAME_BITS = 3

_HALF = re.compile("[\ud800-\udfff]")


Scorer: TypeAlias = Callable[[str, Sequence[str]], Iterable[float]]
"""A function to use instead of a Reranker."""


def rerank(
    query: str, candidates: Iterable[Candidate | Hit | Fields],
    model: str | Reranker | Scorer | None = None,
) -> list[Candidate]:  # fmt: skip
    """Return candidates with new scores, best first.

        best = ragfile.rerank("rotate keys", hits, "cross-encoder/ms-marco-MiniLM-L-6-v2")[:5]

    Args:
        query: The question.
        candidates: Candidates, hits or mappings; they are not changed.
        model: None for the built-in lexical measure; the name of an embedder, such as `st:NAME`, whose
            cosines are fused with the candidates' scores; the name of a cross-encoder (needs the extra
            `st`), an object with `score(query, texts)`, or such a function.

    Returns:
        Candidates by falling score, ties by (doc_id, chunk_index).

    Raises:
        ValueError: The model did not return one finite number for each text.
        TypeError: `model` is of another type.
    """
    found = [Candidate.of(c) for c in candidates]
    if not found:
        return []
    texts, before = [c.content for c in found], [c.score for c in found]
    if model is None:
        scores = _builtin(query, texts, before)
    else:
        asked = _scorer(model)
        scores = [float(s) for s in asked.score(query, texts)]
        _refuse_wrong(scores, len(found))
        if isinstance(asked, VectorReranker):
            scores = added(before, scores, asked.weight)
    _refuse_wrong(scores, len(found))
    return best_first(c.scored(s) for c, s in zip(found, scores, strict=True))


class _Function(NamedTuple):
    """A function in the place of a Reranker."""

    scorer: Scorer

    def score(self, query: str, texts: Sequence[str]) -> Iterable[float]:
        return self.scorer(query, texts)


def _scorer(model: str | Reranker | Scorer) -> Reranker | _Function:
    """Return the model that scores, of a function, too."""
    if isinstance(model, str) or hasattr(model, "score"):
        return opened(cast("str | Reranker", model))
    if not callable(model):
        raise TypeError(
            "model is None, a name, a function of (query, texts), or has score(query, texts), "
            f"not {type(model).__name__}"
        )
    return _Function(model)


BY_SCORE = ("min_score", "diversity", "group")


def check(query: str, options: Mapping[str, object]) -> None:
    """Refuse options that depend on scores, which re-ranking replaces. `options` has all of them."""
    model = options["rerank"]
    if not isinstance(model, str) and not callable(getattr(model, "score", None)):
        raise TypeError(
            "rerank is the name of a model, such as st:NAME, or has score(query, texts), "
            f"not {type(model).__name__}"
        )
    if not query.strip():
        raise ValueError("rerank reads the text of the question, which is empty")
    for name in BY_SCORE:
        if options[name] not in (None, 0):
            raise ValueError(f"rerank replaces the scores, so it cannot be combined with {name}")


def reordered(
    query: str, hits: Hits, model: str | Reranker, offset: int, k: int,
    cache: StrPath | bool | None = None,
) -> Hits:  # fmt: skip
    """Return k hits from `offset` on, reordered by a model that reads header paths and texts.

    A hit's previous score stays in `scores` under the name of its type.
    """
    asked = opened(model, cache)
    if isinstance(asked, VectorReranker):
        scores = _fused(hits, asked.score_hits(query, hits), asked.weight)
    else:
        scores = [float(score) for score in asked.score(query, [_with_path(hit) for hit in hits])]
    _refuse_wrong(scores, len(hits))
    for hit, score in zip(hits, scores, strict=True):
        hit.scores[hit.score_type] = hit.score
        hit.score, hit.score_type = score, "rerank"
    hits.sort(key=lambda hit: (-hit.score, hit.doc_id, hit.chunk_index))
    hits[:] = hits[offset : offset + k]
    return hits


def _refuse_wrong(scores: Sequence[float], count: int) -> None:
    if len(scores) != count or not all(map(math.isfinite, scores)):
        raise ValueError("a re-ranking model gives one finite number per text")


def _fused(hits: Hits, scores: Sequence[float], weight: float) -> list[float]:
    """Return the scores of a model's cosines with the search's own."""
    before = [hit.score for hit in hits]
    if not hits or hits[0].score_type != "calibrated":
        return added(before, scores, weight)
    return exchanged(before, [hit.scores.get("vector") for hit in hits], scores, weight)


def _with_path(hit: Hit) -> str:
    path = hit.metadata.get("headers")
    return f"{path}\n{hit.text}" if isinstance(path, str) and path else hit.text


def _builtin(query: str, texts: Sequence[str], before: Sequence[float]) -> list[float]:
    """Return scores of three quarters previous order, one quarter words and word pairs of the query.

    Each feature weighs by its rarity among the candidates. Texts with the whole question rise above
    those that repeat a part of it; a good lexical order changes little, by design.
    """
    count, held = _features(query, texts)
    rarity = [math.log((len(texts) + 1) / (sum(f in h for h in held) + 0.5)) for f in range(count)]
    whole = math.fsum(rarity)
    low, high = min(before), max(before)
    scores: list[float] = []
    shares: dict[frozenset[int], float] = {}
    for has, score in zip(held, before, strict=True):
        if (share := shares.get(has)) is None:
            share = shares[has] = math.fsum(rarity[f] for f in has) / whole if whole else 0.0
        prior = (score - low) / (high - low) if high > low else 1.0
        scores.append((1 - EVIDENCE) * prior + EVIDENCE * share)
    return scores


def _features(query: str, texts: Sequence[str]) -> tuple[int, list[frozenset[int]]]:
    """Return the number of the query's stems and stem pairs, and those that each text has.

    The core finds the few words with the beginning of one of the query's stems; only these are stemmed.
    """
    asked = _stems(words(query))
    stems = dict.fromkeys(asked)
    numbers: dict[str | tuple[str, str], int] = {}
    features: list[str | tuple[str, str]] = [*stems, *itertools.pairwise(asked)]
    for feature in features:
        numbers.setdefault(feature, len(numbers))
    starts = [start for stem in stems for start in _starts(stem)]
    found = _core.mentions([text.lower() for text in texts], starts)
    like = list({word for each in found for _, word in each})
    reduced = _stems([word.decode("utf-8", "surrogatepass") for word in like])
    known = {word: stem for word, stem in zip(like, reduced, strict=True) if stem in stems}
    return len(numbers), [frozenset(_core.held(each, known, numbers)) for each in steps(found)]


class _Stemmer(Protocol):
    """The part of a Stemmer.Stemmer that this module uses."""

    def stemWord(self, word: str, /) -> str: ...
    def stemWords(self, words: list[str], /) -> list[str]: ...


def _stems(found: list[str]) -> list[str]:
    import Stemmer  # importing ragfile does not load it

    stemmer: _Stemmer = Stemmer.Stemmer("english")
    try:
        return list(stemmer.stemWords(found))
    except UnicodeEncodeError:  # of lone surrogates, whose words are their own stems
        return [word if _HALF.search(word) else stemmer.stemWord(word) for word in found]


def _starts(stem: str) -> tuple[str, ...]:
    """Return the beginnings of all words with a stem: the stem, except for `dying` (die) and `aing` (a)."""
    if len(stem) == 1:
        return stem, f"{stem}e", f"{stem}i"
    return (stem, f"{stem[0]}y") if stem[1:] == "ie" else (stem,)


class _Predictor(Protocol):
    """The part of a sentence_transformers.CrossEncoder that this module uses."""

    def predict(
        self, sentences: list[tuple[str, str]], *, batch_size: int
    ) -> NDArray[np.float32]: ...


def opened(model: str | Reranker, cache: StrPath | bool | None = None) -> Reranker:
    """Return a model, by its name if it is one: a plugin's, an embedder's, else that of a cross-encoder."""
    if not isinstance(model, str):
        return model
    scheme, _, name = model.partition(":")
    if plugins.has("rerankers", scheme):
        return cast("Reranker", plugins.load("rerankers", scheme)(name))
    if is_scheme(scheme) or model in ("default", "none"):
        return vector_reranker(
            model, cache if cache is None or isinstance(cache, bool) else os.fspath(cache)
        )
    return CrossEncoder(model)


class CrossEncoder:
    """A sentence-transformers cross-encoder, loaded on first use. It needs the extra `st`."""

    def __init__(self, name: str, *, batch_size: int = 32) -> None:
        self.name, self.batch_size = name, batch_size

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text."""
        model = _cross_encoder(self.name)
        pairs = [(query, text) for text in texts]
        return list(model.predict(pairs, batch_size=self.batch_size).tolist())


@cache
def _cross_encoder(name: str) -> _Predictor:
    library = optional("sentence_transformers", "re-ranking with a cross-encoder")
    encoder: _Predictor = library.CrossEncoder(name)
    return encoder


class Unlike:
    """A set of vectors in which none nearly repeats another."""

    def __init__(self, threshold: float = SAME_COSINE) -> None:
        self.threshold, self._kept = threshold, _core.Repeats()

    def has(self, vector: Floats) -> bool:
        """Return whether the cosine to a vector of the set reaches the threshold."""
        return not self._new(np.asarray(vector)[None], keeps=False)[0]

    def of(self, vectors: ArrayLike) -> Iterator[bool]:
        """Yield `keeps` of each vector."""
        return iter(self._new(vectors, keeps=True))

    def keeps(self, vector: Floats) -> bool:
        """Add a vector unless it repeats one. Return whether it was added."""
        return self._new(np.asarray(vector)[None], keeps=True)[0]

    def _new(self, vectors: ArrayLike, *, keeps: bool) -> list[bool]:
        rows = np.ascontiguousarray(vectors, dtype=np.float64)
        if not len(rows):
            return []
        found: list[bool] = self._kept.vectors(rows, self.threshold, keeps).tolist()
        return found


class UnlikeTexts:
    """A set of texts in which none nearly repeats another: their SimHashes differ in more than `bits`."""

    def __init__(self, bits: int = SAME_BITS) -> None:
        self.bits, self._kept = bits, _core.Repeats()

    def has(self, text: str) -> bool:
        """Return whether a text repeats one of the set."""
        return not self._kept.mark(simhash(text), self.bits, False)

    def of(self, texts: Iterable[str]) -> Iterator[bool]:
        """Yield `keeps` of each text."""
        return map(self.keeps, texts)

    def keeps(self, text: str) -> bool:
        """Add a text unless it repeats one. Return whether it was added."""
        return self._kept.mark(simhash(text), self.bits, True)


def distinct_vectors(vectors: ArrayLike, threshold: float = SAME_COSINE) -> list[int]:
    """Return the positions of the vectors with a cosine below the threshold to every earlier one kept."""
    kept = Unlike(threshold).of(vectors)
    return [i for i, is_new in enumerate(kept) if is_new]


def distinct_texts(texts: Iterable[str], bits: int = SAME_BITS) -> list[int]:
    """Return the positions of the texts with a SimHash more than `bits` from every earlier one kept."""
    unlike = UnlikeTexts(bits)
    return [i for i, text in enumerate(texts) if unlike.keeps(text)]


def simhash(text: str) -> int:
    """Return 64 bits that differ little if texts differ little: a majority vote of hashed word pairs."""
    return _core.simhash(" ".join(words(text)).encode("utf-8", "surrogatepass"))
