"""Fit candidates to a budget: extract the relevant sentences (`compress`), pack passages (`pack`).

spans = compress(query, candidates)       exact substrings, with their places in the chunk and in the source
packed = pack(candidates, budget=2000)    .contexts best first, .dropped with the reason, .tokens ≤ budget
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypedDict

from ragfile.records import Candidate, Hit, Span, best_first
from ragfile.text import sentences, words
from ragfile.types import Fields, Metadata

CLOSE = 0.05  # scores within this share of the best are comparable
_CHEAP, _ASCII = re.compile("[A-Za-z ]+"), re.compile("[\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one per 4 ASCII letters or blanks, per 2 other ASCII characters, and
    per other character.

    The estimate is about 10 % high for prose and holds for code, tables and CJK. Use a model's own
    tokenizer to be exact.
    """
    letters = sum(m.end() - m.start() for m in _CHEAP.finditer(text))
    ascii_only = sum(m.end() - m.start() for m in _ASCII.finditer(text))
    return math.ceil(letters / 4 + (ascii_only - letters) / 2) + len(text) - ascii_only


@dataclass(frozen=True, slots=True)
class Extract:
    """The policy of `compress`: how much of a candidate to keep.

    Attributes:
        sentences: Maximum number of sentences with words of the query.
        window: Number of neighbouring sentences to keep on both sides of each.
    """

    sentences: int = 3
    window: int = 1


def compress(
    query: str,
    candidates: Iterable[Candidate | Hit | Fields],
    policy: Extract | Fields | None = None,
) -> list[ExtractedSpan]:
    """Return the spans of candidates that answer a query.

    A sentence scores by the query's words in it, each weighed by its rarity among all the sentences. A
    candidate without any of the words keeps its first sentences.

        for span in ragfile.compress("rotate keys", hits, {"sentences": 2, "window": 0}):
            print(span["doc_id"], span["text"])

    Args:
        query: The question.
        candidates: Candidates, hits or mappings.
        policy: How much to keep: an Extract, or a mapping of its fields. The default is Extract().

    Returns:
        A dict for each span, in the order of the candidates and of their texts: `doc_id`, `chunk_index`,
        `text`, `score`, `metadata`, `start` and `end` in the chunk, and `source_start` and `source_end`
        in the document (None if the candidate has no place there).
    """
    chosen = _extract(policy)
    found = [Candidate.of(c) for c in candidates]
    cuts = [[Span(*place) for place in sentences(c.content)] for c in found]
    held = [
        [set(words(c.content[a:b])) for a, b in cut] for c, cut in zip(found, cuts, strict=True)
    ]
    weights = _rarity(set(words(query)), [h for hs in held for h in hs])
    scores = [
        [math.fsum(w for word, w in weights.items() if word in h) for h in has] for has in held
    ]
    return [
        span
        for candidate, cut, each in zip(found, cuts, scores, strict=True)
        for span in _spans(candidate, cut, each, chosen)
    ]


def _extract(policy: Extract | Fields | None) -> Extract:
    if policy is None or isinstance(policy, Extract):
        return policy or Extract()
    return Extract(**policy)


def _rarity(asked: set[str], held: list[set[str]]) -> dict[str, float]:
    """Return the weights of words by their rarity among sentences."""
    return {w: math.log1p(len(held) / (1 + sum(w in h for h in held))) for w in sorted(asked)}


def _spans(
    candidate: Candidate, cut: list[Span], scores: list[float], policy: Extract
) -> Iterator[ExtractedSpan]:
    """Yield the spans of a candidate with its best sentences and their neighbours."""
    best = sorted(range(len(cut)), key=lambda i: (-scores[i], i))[: policy.sentences]
    best = [i for i in best if scores[i] > 0] or best
    wanted = {
        j
        for i in best
        for j in range(i - policy.window, i + policy.window + 1)
        if 0 <= j < len(cut)
    }
    for first, last in _runs(sorted(wanted)):
        start, end = cut[first].start, cut[last].end
        known = candidate.start >= 0
        yield {
            "doc_id": candidate.doc_id,
            "chunk_index": candidate.chunk_index,
            "text": candidate.content[start:end],
            "start": start,
            "end": end,
            "source_start": candidate.start + start if known else None,
            "source_end": candidate.start + end if known else None,
            "score": candidate.score,
            "metadata": dict(candidate.metadata),
        }


class ExtractedSpan(TypedDict):
    """A span of a candidate: its places in the chunk and, if known, in the document."""

    doc_id: str
    chunk_index: int
    text: str
    start: int
    end: int
    source_start: int | None
    source_end: int | None
    score: float
    metadata: Metadata


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Return runs of consecutive numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for n in numbers:
        first, last = runs[-1] if runs else (n, n - 2)
        if n == last + 1:
            runs[-1] = first, n
        else:
            runs.append((n, n))
    return runs


@dataclass(slots=True)
class Dropped:
    """A passage that was left out, and the reason."""

    candidate: Candidate
    reason: str


@dataclass(slots=True)
class Packed:
    """A result of `pack`.

    Attributes:
        contexts: The passages that fit, best first.
        dropped: The others with the reason, best first.
        tokens: Tokens of `contexts`, frames included.
    """

    contexts: list[Candidate] = field(default_factory=list[Candidate])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    tokens: int = 0


def pack(
    candidates: Iterable[Candidate | Hit | Fields], budget: int, *,
    count: Callable[[str], int] = estimate_tokens, frame: int = 0, close: float = CLOSE,
    limit: int | None = None, per_file: int | None = None,
) -> Packed:  # fmt: skip
    """Fit candidates into a budget of tokens.

    The best are taken first; among comparable scores, those of the file used least so far. A candidate
    that does not fit is cut after its last sentence that does. The top passage may be cut mid-sentence,
    so that the result is never empty. The first one that leaves nothing ends the packing: a worse
    passage never takes a better one's place. Only a passage longer than the whole budget is skipped.

        packed = ragfile.pack(hits, budget=2000, per_file=2)

    Args:
        candidates: Candidates, hits or mappings.
        budget: Maximum number of tokens.
        count: Function that counts the tokens of a text.
        frame: Tokens that the prompt adds to each passage.
        close: Scores within this share of the best score are comparable.
        limit: Maximum number of passages.
        per_file: Maximum number of passages of one file.

    Returns:
        The passages that fit and those that were dropped.

    Raises:
        ValueError: The budget is negative.
    """
    if budget < 0:
        raise ValueError(f"a token budget must not be negative, not {budget}")
    packed, order = Packed(), _covering(best_first(map(Candidate.of, candidates)), close)
    if per_file is not None:
        order = _thinned(order, per_file, packed.dropped)
    for i, candidate in enumerate(order):
        if limit is not None and len(packed.contexts) >= limit:
            return _closed(packed, order[i:], f"limit of {limit} passages")
        left = budget - packed.tokens - frame
        kept = _fitting(candidate, left, count, is_best=not packed.contexts)
        if kept is not None:
            packed.tokens += count(kept.content) + frame
            packed.contexts.append(kept)
        elif packed.contexts and count(candidate.content) + frame > budget:
            packed.dropped.append(Dropped(candidate, f"longer than the budget of {budget} tokens"))
        else:
            return _closed(packed, order[i:], f"budget of {budget} tokens")
    return _closed(packed, [], "")


def _thinned(order: list[Candidate], per_file: int, dropped: list[Dropped]) -> list[Candidate]:
    """Return the first `per_file` candidates of each file; append the others to `dropped`."""
    used: dict[str, int] = {}
    kept: list[Candidate] = []
    for candidate in order:
        used[candidate.doc_id] = used.get(candidate.doc_id, 0) + 1
        if used[candidate.doc_id] <= per_file:
            kept.append(candidate)
        else:
            dropped.append(Dropped(candidate, f"limit of {per_file} passages of one file"))
    return kept


def _closed(packed: Packed, left: list[Candidate], reason: str) -> Packed:
    """Sort the result, with the candidates left as dropped."""
    packed.contexts = best_first(packed.contexts)
    packed.dropped += [Dropped(candidate, reason) for candidate in left]
    packed.dropped.sort(key=lambda d: (-d.candidate.score, *d.candidate.key))
    return packed


def _covering(ranked: list[Candidate], close: float) -> list[Candidate]:
    """Return candidates by score, but among comparable scores those of the least used file first."""
    left, order = list(ranked), list[Candidate]()
    used: dict[str, int] = {}
    margin = close * abs(ranked[0].score) if ranked else 0.0
    while left:
        near = (i for i, c in enumerate(left) if left[0].score - c.score <= margin)
        pick = min(near, key=lambda i: (used.get(left[i].doc_id, 0), i))
        candidate = left.pop(pick)
        used[candidate.doc_id] = used.get(candidate.doc_id, 0) + 1
        order.append(candidate)
    return order


def _fitting(
    candidate: Candidate, budget: int, count: Callable[[str], int], *, is_best: bool
) -> Candidate | None:
    """Return the candidate whole or cut after its last sentence that fits, or None; the best one is cut mid-sentence."""
    if count(candidate.content) <= budget:
        return candidate
    text = candidate.content
    end = next((end for _, end in reversed(sentences(text)) if count(text[:end]) <= budget), 0)
    if not end and is_best:
        end = _last_word(text, budget, count)
    return _cut(candidate, end) if end else None


def _last_word(text: str, budget: int, count: Callable[[str], int]) -> int:
    """Return the end of the longest beginning that fits: after a word, or inside the first one."""
    ends = [m.end() for m in re.finditer(r"\S+", text)]
    fitting = bisect_right(ends, budget, key=lambda end: count(text[:end]))
    if fitting:
        return ends[fitting - 1]
    return (
        bisect_right(range(1, ends[0] + 1), budget, key=lambda end: count(text[:end]))
        if ends
        else 0
    )


def _cut(candidate: Candidate, end: int) -> Candidate:
    known = candidate.start >= 0
    return replace(
        candidate, content=candidate.content[:end], end=candidate.start + end if known else -1
    )
