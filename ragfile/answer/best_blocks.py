"""Choose the blocks of some passages that answer a question best.

A block scores by the question's terms in it, each weighed by its rarity in the file; terms in its headings, its table's
header and the sentence above it count CONTEXT as much. The standing of its passage counts, too, and whether the block
has the form of an answer: a number for an amount, a command for a procedure (bench/eval.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragfile.answer.answer_forms import has_form, wanted_form
from ragfile.search.blocks import Block, blocks, shortened, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.answer.citations import Source
    from ragfile.answer.code_constants import Definition
    from ragfile.records import Candidate
    from ragfile.search.question_terms import QuestionTerms

CONTEXT = 0.7
FORM = 0.2  # of a block with the form of an answer
STANDING = 1.0  # of a passage with the best score, in shares of the question's weight
LOOKED_AT = 8  # passages
ALMOST = 0.85  # of the best block's score, and of its terms: such blocks are shown, too
SHOWN = 3  # blocks


class ScoredBlock(NamedTuple):
    """A block of a passage, with its score."""

    score: float
    share: float  # of the question, by weight
    source: Source
    block: Block


def best_blocks(
    question: str, asked: QuestionTerms, contexts: Sequence[Candidate], sources: Sequence[Source]
) -> list[ScoredBlock]:
    """Return the blocks of the first passages, best first."""
    wanted = wanted_form(question)
    contexts, sources = contexts[:LOOKED_AT], sources[:LOOKED_AT]
    best = max((abs(c.score) for c in contexts), default=0.0) or 1.0
    found: list[ScoredBlock] = []
    for candidate, source in zip(contexts, sources, strict=True):
        for block in blocks(candidate.content, candidate.metadata):
            share = _share(asked, candidate, block)
            score = share + STANDING * candidate.score / best
            score += FORM * has_form(wanted, block, candidate.content)
            found.append(ScoredBlock(score, share, source, block))
    return sorted(found, key=lambda one: -one.score)


def _share(asked: QuestionTerms, candidate: Candidate, block: Block) -> float:
    *headers, (start, end) = block.spans
    own = asked.held(candidate.content[start:end])
    path = candidate.metadata.get("headers")
    context = [*block.context, *(candidate.content[a:b] for a, b in headers)]
    around = asked.held("\n".join([*context, path if isinstance(path, str) else ""]))
    whole = asked.weight(asked.weights) or 1.0
    return (asked.weight(own) + CONTEXT * asked.weight(around - own)) / whole


class Quotation(NamedTuple):
    """A block as it is shown, the blocks of sources that have it, and the definitions of constants above code."""

    text: str
    blocks: list[ScoredBlock]
    constants: list[Definition]


def quotations(
    question: str, asked: QuestionTerms, contexts: Sequence[Candidate], sources: Sequence[Source]
) -> list[Quotation]:
    """Return the best block, and those almost as good; equal ones once, with all of their sources."""
    by_number = {source.number: c for source, c in zip(sources, contexts, strict=True)}
    found: dict[str, Quotation] = {}
    ranked = best_blocks(question, asked, contexts, sources)
    for one in ranked:
        if one.score < ALMOST * ranked[0].score or one.share < ALMOST * ranked[0].share:
            continue
        passage = by_number[one.source.number]
        one = one._replace(block=shortened(one.block, passage.content, asked))
        if _is_shown(one, found):
            continue
        text = shown(one.block, passage.content, passage.metadata)
        if text in found:
            if all(one.source is not other.source for other in found[text].blocks):
                found[text].blocks.append(one)
        elif text and len(found) < SHOWN:
            found[text] = Quotation(text, [one], [])
    return list(found.values())


def _is_shown(one: ScoredBlock, found: dict[str, Quotation]) -> bool:
    """Return whether an earlier block has characters of this one: chunks overlap."""
    name, start, end = _place(one)
    others = (_place(other) for quotation in found.values() for other in quotation.blocks)
    return any(name == other and start < b and a < end for other, a, b in others)


def _place(one: ScoredBlock) -> tuple[str, int, int]:
    """Return the document, or the chunk if its place there is unknown, and the last span of a block in it."""
    source, (start, end) = one.source, one.block.spans[-1]
    name, at = (source.id, 0) if source.start < 0 else (source.doc_id, source.start)
    return name, at + start, at + end
