"""Candidates made to fit: the spans that matter (`compress`), as many passages as a budget holds (`pack`).

spans = compress(query, candidates)       exact substrings, with their places in the chunk and in the source
packed = pack(candidates, budget=2000)    .contexts best first, .dropped with the reason, .tokens ≤ budget
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ragfile.records import Candidate, Hit, best_first
from ragfile.text import sentences, words
from ragfile.types import Fields

CLOSE = 0.05  # scores nearer than this share of the best count as comparable
_CHEAP, _ASCII = re.compile("[A-Za-z ]+"), re.compile("[\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """The default counter: a token per 4 ASCII letters or blanks, per 2 other ASCII characters, and per other
    character.

    It errs high on prose (by a tenth or so) and holds for code, tables and CJK; give a model's own counter to
    be exact.
    """
    letters = sum(m.end() - m.start() for m in _CHEAP.finditer(text))
    ascii_only = sum(m.end() - m.start() for m in _ASCII.finditer(text))
    return math.ceil(letters / 4 + (ascii_only - letters) / 2) + len(text) - ascii_only


@dataclass(frozen=True, slots=True)
class Extract:
    """What `compress` keeps:

    at most `sentences` best ones of a candidate, each with `window` neighbours on both sides.
    """

    sentences: int = 3
    window: int = 1


def compress(
    query: str,
    candidates: Iterable[Candidate | Hit | Fields],
    policy: Extract | Fields | None = None,
) -> list[dict[str, Any]]:
    """The spans of each candidate that answer the query, in the candidates' order and in text order inside
    one.

    A sentence counts the query's words that it holds, each by its rarity among all sentences here. A
    candidate without any of them gives its first sentences. `start`, `end` are places in the chunk,
    `source_start`, `source_end` in the document (None where the candidate does not know its own).
    """
    policy = _extract(policy)
    candidates = [Candidate.of(c) for c in candidates]
    cuts = [sentences(c.content) for c in candidates]
    held = [
        [set(words(c.content[a:b])) for a, b in cut]
        for c, cut in zip(candidates, cuts, strict=True)
    ]
    weights = _rarity(set(words(query)), [h for hs in held for h in hs])
    return [
        span
        for candidate, cut, has in zip(candidates, cuts, held, strict=True)
        for span in _spans(
            candidate,
            cut,
            [math.fsum(w for word, w in weights.items() if word in h) for h in has],
            policy,
        )
    ]


def _extract(policy):
    if policy is None or isinstance(policy, Extract):
        return policy or Extract()
    return Extract(**policy)


def _rarity(asked, held):
    return {w: math.log1p(len(held) / (1 + sum(w in h for h in held))) for w in sorted(asked)}


def _spans(candidate, cut, scores, policy):
    best = sorted(range(len(cut)), key=lambda i: (-scores[i], i))[: policy.sentences]
    best = [i for i in best if scores[i] > 0] or best
    wanted = {
        j
        for i in best
        for j in range(i - policy.window, i + policy.window + 1)
        if 0 <= j < len(cut)
    }
    for first, last in _runs(sorted(wanted)):
        start, end = cut[first][0], cut[last][1]
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


def _runs(numbers):
    """Neighbouring numbers as (first, last)."""
    runs = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return runs


@dataclass(slots=True)
class Dropped:
    """A passage that was left out, and why."""

    candidate: Candidate
    reason: str


@dataclass(slots=True)
class Packed:
    """What fits: `contexts` best first, `tokens` they cost, and what was `dropped`, best first."""

    contexts: list[Candidate] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    tokens: int = 0


def pack(
    candidates, budget, *, count: Callable[[str], int] = estimate_tokens, frame=0, close=CLOSE, limit=None, per_file=None
):  # fmt: skip
    """As many candidates as fit in `budget` tokens, each costing count(text) + `frame`; at most `limit`, and `per_file` of a file.

    The best come first; among those whose scores are within `close` of the best one left, the one from the
    file that is least used so far. One that does not fit is cut after its last sentence that does, and the
    next go on in what room is left. The best of all is cut inside a sentence rather than not given. When a
    passage gives nothing, it is dropped with all that follow: a worse passage never takes a better one's
    place. Only a passage that no budget of this size holds is dropped alone.
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


def _thinned(order, per_file, dropped):
    """The candidates without those of which their file has `per_file` before them; these are dropped."""
    used, kept = {}, []
    for candidate in order:
        used[candidate.doc_id] = used.get(candidate.doc_id, 0) + 1
        if used[candidate.doc_id] <= per_file:
            kept.append(candidate)
        else:
            dropped.append(Dropped(candidate, f"limit of {per_file} passages of one file"))
    return kept


def _closed(packed, left, reason):
    packed.contexts = best_first(packed.contexts)
    packed.dropped += [Dropped(candidate, reason) for candidate in left]
    packed.dropped.sort(key=lambda d: (-d.candidate.score, *d.candidate.key))
    return packed


def _covering(ranked, close):
    """The order in which to take: by score, but a file not used yet first among comparable scores."""
    left, used, order = list(ranked), {}, []
    margin = close * abs(ranked[0].score) if ranked else 0.0
    while left:
        near = (i for i, c in enumerate(left) if left[0].score - c.score <= margin)
        pick = min(near, key=lambda i: (used.get(left[i].doc_id, 0), i))
        candidate = left.pop(pick)
        used[candidate.doc_id] = used.get(candidate.doc_id, 0) + 1
        order.append(candidate)
    return order


def _fitting(candidate, budget, count, *, is_best):
    """The candidate as it is, or cut after its last sentence that fits, the best one inside a sentence if need be; or None."""
    if count(candidate.content) <= budget:
        return candidate
    text = candidate.content
    end = next((end for _, end in reversed(sentences(text)) if count(text[:end]) <= budget), 0)
    if not end and is_best:
        end = _last_word(text, budget, count)
    return _cut(candidate, end) if end else None


def _last_word(text, budget, count):
    """Where the longest beginning that fits ends: after a word, or inside one where not even the first fits."""
    ends = [m.end() for m in re.finditer(r"\S+", text)]
    fitting = bisect_right(ends, budget, key=lambda end: count(text[:end]))
    if fitting:
        return ends[fitting - 1]
    return (
        bisect_right(range(1, ends[0] + 1), budget, key=lambda end: count(text[:end]))
        if ends
        else 0
    )


def _cut(candidate, end):
    known = candidate.start >= 0
    return replace(
        candidate, content=candidate.content[:end], end=candidate.start + end if known else -1
    )
