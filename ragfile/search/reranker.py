"""A short list of candidates put in a better order, or made shorter. The whole is pure: candidates go in and
are left alone.

rerank(query, candidates)                       by the built-in lexical measure, no model needed
rerank(query, candidates, CrossEncoder(name))   by a model that reads query and text together
reordered(query, hits, model, 0, 10)            the ten best of a search's hits, in a new order
distinct_vectors(vectors), distinct_texts(texts)    positions left when near-duplicates are dropped
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import xxhash

from ragfile import _core
from ragfile.ground.extras import optional
from ragfile.ingest.analysis import STOP_WORDS
from ragfile.records import Candidate, Hit, Hits, best_first
from ragfile.text import words
from ragfile.types import Fields, Reranker

EVIDENCE = 0.25  # the built-in measure's weight against the former order
WITH_PATHS = 0.1  # the same where it reads header paths; see bench/eval.md
LONGEST = 10  # words of a question, stop words aside; longer ones keep the order that was
READ = 40  # hits of a search that are read
SAME_COSINE = 0.98
SAME_BITS = 3
SHINGLE = (
    2  # words: single ones make texts that share a vocabulary look alike, triples part near copies
)

_HALF = re.compile("[\ud800-\udfff]")


Scorer: TypeAlias = Callable[[str, Sequence[str]], Iterable[float]]
"""A function in the place of a Reranker."""


def rerank(
    query: str, candidates: Iterable[Candidate | Hit | Fields],
    model: str | Reranker | Scorer | None = None,
) -> list[Candidate]:  # fmt: skip
    """Candidates with new scores, best first; equal scores by (doc_id, chunk_index).

    `model` is None (built in), anything with `score(query, texts) -> numbers`, a function like that, or a
    cross-encoder's name.
    """
    candidates = [Candidate.of(c) for c in candidates]
    if not candidates:
        return []
    texts = [c.content for c in candidates]
    if model is None:
        scores = _builtin(query, texts, [c.score for c in candidates])
    else:
        scores = [float(s) for s in _scorer(model)(query, texts)]
    if len(scores) != len(candidates) or not all(map(math.isfinite, scores)):
        raise ValueError("a re-ranking model gives one finite number per text")
    return best_first(c.scored(s) for c, s in zip(candidates, scores, strict=True))


def _scorer(model: Any) -> Scorer:
    """What gives the scores: a model's `score`, or a plain function."""
    if isinstance(model, str):
        return CrossEncoder(model).score
    scorer = getattr(model, "score", None) or model
    if not callable(scorer):
        raise TypeError(
            "model is None, a name, a function of (query, texts), or has score(query, texts), "
            f"not {type(model).__name__}"
        )
    return cast("Scorer", scorer)


BY_SCORE = ("min_score", "diversity", "group")


def check(options):
    """Refuse options that depend on scores, which re-ranking replaces. `options` has all of them."""
    for name in BY_SCORE:
        if options[name] not in (None, 0):
            raise ValueError(f"rerank replaces the scores, so it does not go with {name}")


def reordered(
    query: str, hits: Hits, model: Literal[True] | str | Reranker, offset: int, k: int
) -> Hits:
    """k hits from `offset` on, by the built-in measure (True) or a model, which read header paths and
    texts. A hit's former score stays in `scores` under the name of its type.
    """
    texts, before = [_with_path(hit) for hit in hits], [hit.score for hit in hits]
    if model is True:
        scores = _measured(query, texts, before) if texts else []
    else:
        asked = CrossEncoder(model) if isinstance(model, str) else model
        scores = [float(score) for score in asked.score(query, texts)] if texts else []
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        raise ValueError("a re-ranking model gives one finite number per text")
    for hit, score in zip(hits, scores, strict=True):
        hit.scores[hit.score_type] = hit.score
        hit.score, hit.score_type = score, "rerank"
    hits.sort(key=lambda hit: (-hit.score, hit.doc_id, hit.chunk_index))
    hits[:] = hits[offset : offset + k]
    return hits


def _measured(query, texts, before):
    """The built-in measure where it helps: of a long question every passage has some words."""
    dull = STOP_WORDS["english-1"]
    asked = sum(word not in dull for word in words(query))
    return _builtin(query, texts, before, WITH_PATHS if asked <= LONGEST else 0.0, dull)


def _with_path(hit):
    path = hit.metadata.get("headers")
    return f"{path}\n{hit.text}" if isinstance(path, str) and path else hit.text


def _builtin(query, texts, before, evidence=EVIDENCE, dull=frozenset()):
    """Three quarters of the order that was, one quarter of the query's words and word pairs in the text.

    Each weighs by its rarity among the candidates; words that are `dull` count in pairs alone. It lifts texts
    that hold all of the question over those that repeat a part of it; over a good lexical order it changes
    little, by design.
    """
    count, held = _features(query, texts, dull)
    rarity = [math.log((len(texts) + 1) / (sum(f in h for h in held) + 0.5)) for f in range(count)]
    whole = math.fsum(rarity)
    low, high = min(before), max(before)
    scores, shares = [], {}
    for has, score in zip(held, before, strict=True):
        if (share := shares.get(has)) is None:
            share = shares[has] = math.fsum(rarity[f] for f in has) / whole if whole else 0.0
        prior = (score - low) / (high - low) if high > low else 1.0
        scores.append((1 - evidence) * prior + evidence * share)
    return scores


def _features(query, texts, dull):
    """(how many stems and pairs of neighbouring stems the query has, which of them each text has).

    The core hands out the few words that begin as the query's stems do; only these are stemmed.
    """
    asked = _stems(words(query))
    stems = dict.fromkeys(asked)
    numbers: dict[Any, int] = {}
    for feature in (*(stem for stem in stems if stem not in dull), *itertools.pairwise(asked)):
        numbers.setdefault(feature, len(numbers))
    starts = [start for stem in stems for start in _starts(stem)]
    found = _core.mentions([text.lower() for text in texts], starts)
    like = list({word for each in found for _, word in each})
    reduced = _stems([word.decode("utf-8", "surrogatepass") for word in like])
    known = {word: stem for word, stem in zip(like, reduced, strict=True) if stem in stems}
    return len(numbers), [frozenset(_core.held(each, known, numbers)) for each in found]


def _stems(found):
    import Stemmer  # here, so that importing ragfile does not load it

    stemmer = Stemmer.Stemmer("english")
    try:
        return stemmer.stemWords(found)
    except UnicodeEncodeError:  # of lone surrogates, whose words are their own stems
        return [word if _HALF.search(word) else stemmer.stemWord(word) for word in found]


def _starts(stem):
    """How the words begin that have a stem: as it does, but for `dying` (die) and `aing` (a)."""
    if len(stem) == 1:
        return stem, f"{stem}e", f"{stem}i"
    return (stem, f"{stem[0]}y") if stem[1:] == "ie" else (stem,)


class CrossEncoder:
    """A sentence-transformers cross-encoder, loaded when it is first asked."""

    def __init__(self, name: str, *, batch_size: int = 32) -> None:
        self.name, self.batch_size = name, batch_size

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One number for each text."""
        model = _cross_encoder(self.name)
        return model.predict([(query, text) for text in texts], batch_size=self.batch_size).tolist()


@cache
def _cross_encoder(name):
    library = optional("sentence_transformers", "re-ranking with a cross-encoder")
    return library.CrossEncoder(name)


def _unit(vectors):
    vectors = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)


class Unlike:
    """Vectors of which none repeats another one."""

    def __init__(self, threshold: float = SAME_COSINE) -> None:
        self.threshold, self._count, self._kept = threshold, 0, np.empty((0, 0))

    def has(self, vector: Any) -> bool:
        """Whether the cosine to one of them is the threshold or more."""
        return self._repeats(_unit([vector])[0])

    def of(self, vectors: Any) -> Iterator[bool]:
        """The same as keeps of one after the other, with one product for all that was there before."""
        rows, before = _unit(vectors), self._count
        near = (self._kept[:before] @ rows.T).max(axis=0) if before else np.full(len(rows), -np.inf)
        for row, nearest in zip(rows, near.tolist(), strict=True):
            new = self._kept[before : self._count]
            repeats = nearest >= self.threshold or (
                len(new) and (new @ row).max() >= self.threshold
            )
            if not repeats:
                self._keep(row)
            yield not repeats

    def keeps(self, vector: Any) -> bool:
        """Takes a vector, unless it repeats one; whether it did."""
        row = _unit([vector])[0]
        if self._repeats(row):
            return False
        self._keep(row)
        return True

    def _keep(self, row):
        if self._count == len(self._kept):
            grown = np.empty((2 * self._count + 8, len(row)))
            grown[: self._count] = self._kept.reshape(self._count, len(row))
            self._kept = grown
        self._kept[self._count] = row
        self._count += 1

    def _repeats(self, row):
        known = self._kept[: self._count]
        return self._count > 0 and float((known @ row).max()) >= self.threshold


class UnlikeTexts:
    """Texts of which none repeats another one: their SimHashes differ in more than `bits`."""

    def __init__(self, bits: int = SAME_BITS) -> None:
        self.bits, self._kept = bits, []

    def has(self, text: str) -> bool:
        """Whether it repeats one of them."""
        return self._repeats(simhash(text))

    def of(self, texts: Iterable[str]) -> Iterator[bool]:
        """Whether it keeps each of some texts, one after the other."""
        return map(self.keeps, texts)

    def keeps(self, text: str) -> bool:
        """Takes a text, unless it repeats one; whether it did."""
        mark = simhash(text)
        if self._repeats(mark):
            return False
        self._kept.append(mark)
        return True

    def _repeats(self, mark):
        return any((mark ^ other).bit_count() <= self.bits for other in self._kept)


def distinct_vectors(vectors, threshold=SAME_COSINE):
    """Positions, in order, of the rows whose cosine to every earlier one kept is below the threshold."""
    kept = Unlike(threshold).of(vectors)
    return [i for i, is_new in enumerate(kept) if is_new]


def distinct_texts(texts, bits=SAME_BITS):
    """Positions, in order, of the texts whose SimHash is more than `bits` from every earlier one kept."""
    unlike = UnlikeTexts(bits)
    return [i for i, text in enumerate(texts) if unlike.keeps(text)]


def simhash(text):
    """64 bits that differ little where texts differ little:

    the majority vote, bit by bit, of hashed word pairs.
    """
    found = words(text)
    spread = [" ".join(found[i : i + SHINGLE]) for i in range(max(1, len(found) - SHINGLE + 1))]
    hashes = np.array([xxhash.xxh3_64_intdigest(s.encode()) for s in spread], dtype="<u8")
    votes = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").sum(
        axis=0, dtype=np.int64
    )
    return int.from_bytes(
        np.packbits(votes * 2 > len(spread), bitorder="little").tobytes(), "little"
    )
