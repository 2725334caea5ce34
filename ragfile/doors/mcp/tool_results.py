"""Results as text and as JSON, within a budget of tokens; each function gives both."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from ragfile.answer.citations import place_of
from ragfile.answer.passage_budget import estimate_tokens

if TYPE_CHECKING:
    from typing import Any

    from ragfile.answer.answers import Answer
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Document, Hits

Shown = tuple[str, dict]
BEFORE = 0.25  # the share of the room around a passage that goes to what is before it


def hits(found: Hits, generation: int, tokens: int) -> Shown:
    """As many passages as the budget holds, best first; the first is cut rather than left out."""
    kept, spent = [], 0
    for number, hit in enumerate(found, 1):
        head = _head(number, hit)
        cost = estimate_tokens(head) + estimate_tokens(hit.text)
        if spent + cost > tokens:
            if not kept:
                kept.append((head, _cut(hit, tokens - estimate_tokens(head))))
            break
        kept.append((head, hit))
        spent += cost
    left_out = len(found) - len(kept)
    parts = [f"{head}\n{hit.text}" for head, hit in kept] or ["Nothing found."]
    parts += [f"{left_out} more passages did not fit: ask with more tokens."] * bool(left_out)
    parts += [f"Note: {found.degraded}."] * bool(found.degraded)
    return "\n\n".join(parts), {
        "hits": [asdict(hit) for _, hit in kept], "left_out": left_out,
        "degraded": found.degraded, "generation": generation,
    }  # fmt: skip


def _head(number, hit):
    place = place_of(hit.metadata)
    where = place.get("section") or next(
        (f"{n} {v}" for n, v in place.items() if n != "checksum"), ""
    )
    span = f" {hit.start}-{hit.end}" if hit.start >= 0 else ""
    return f"[{number}] {hit.id}{span}{f' ({where})' if where else ''}"


def _cut(hit, tokens):
    size = _fitting(hit.text, tokens)
    return replace(hit, text=hit.text[:size], end=hit.start + size if hit.start >= 0 else -1)


def _fitting(text, tokens):
    """How many characters of a text fit."""
    return bisect_right(range(1, len(text) + 1), tokens, key=lambda n: estimate_tokens(text[:n]))


# ------------------------------------------------------------------------------------ reading ---


def stretch(
    rf: KnowledgeBase, name: str, tokens: int, *, line: int | None = None, lines: int | None = None,
    start: int | None = None, end: int | None = None,
) -> Shown:  # fmt: skip
    """A stretch of a document, by lines from 1 or characters from 0; around a passage by its id."""
    if (line is not None or lines is not None) and (start is not None or end is not None):
        raise ValueError("say line and lines, or start and end, not both")
    document, span = _document(rf, name)
    text = document.text
    if line is not None or lines is not None:
        start, end = _of_lines(text, line or 1, lines)
    elif start is None and end is None and span is not None:
        start, end = _around(text, span, tokens)
    start = min(start or 0, len(text))
    end = len(text) if end is None else min(max(end, start), len(text))
    fitting = start + _fitting(text[start:end], tokens)
    if fitting < end:
        end = _line_end(text, start, fitting)
    return _stretch(rf, document, start, end)


def _document(rf, name) -> tuple[Any, Any]:
    """(document, span of the passage or None) of the id of either."""
    document = rf.document(name)
    if document is not None:
        return document, None
    row = rf.row(name)
    if row is None:
        raise ValueError(f"no document or passage {name!r}; list shows the documents")
    chunk = rf.chunk(row)
    return rf.document(chunk.doc_id), ((chunk.start, chunk.end) if chunk.start >= 0 else None)


def _of_lines(text, line, lines):
    if line < 1:
        raise ValueError("lines are counted from 1")
    at = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
    if line > len(at):
        raise ValueError(f"the document has {len(at)} lines, and no line {line}")
    last = line - 1 + (len(at) if lines is None else lines)
    return at[line - 1], at[last] if last < len(at) else len(text)


def _around(text, span, tokens):
    """A passage with as much of what surrounds it as there is room for, from the beginning of a
    line.
    """
    room = max(0, tokens - estimate_tokens(text[span[0] : span[1]]))
    before = text[: span[0]][::-1]
    start = span[0] - _fitting(before[: 8 * room], int(room * BEFORE))
    begun = text.find("\n", start, span[0]) if start else -1
    return (begun + 1 if begun >= 0 else start), len(text)


def _line_end(text, start, end) -> int:
    """The end of the last whole line before `end`, or `end` where there is none."""
    at = text.rfind("\n", start, end)
    return at + 1 if at > start else end


def _stretch(rf: KnowledgeBase, document: Document, start: int, end: int) -> Shown:
    text, size = document.text[start:end], len(document.text)
    first = document.text.count("\n", 0, start) + 1
    last = first + text.rstrip("\n").count("\n")
    found = {
        "id": document.id, "source": document.source, "start": start, "end": end,
        "line": first, "last_line": last, "size": size, "next": end if end < size else None,
        "text": text, "generation": rf.generation, "checksum": document.metadata.get("checksum"),
    }  # fmt: skip
    more = f"; go on with start={end}" if end < size else ""
    return (
        f"{document.id} lines {first}-{last}, characters {start}-{end} of {size}{more}\n{text}",
        found,
    )


# -------------------------------------------------------------------------- listing, answering ---


def documents(rf: KnowledgeBase, prefix: str, after: str, tokens: int) -> Shown:
    """Ids in order, from the one after `after`, as many as fit."""
    ids = [name for name in rf.document_ids() if name.startswith(prefix)]
    rest = ids[bisect_right(ids, after) :] if after else ids
    costs, shown = 0, []
    for name in rest:
        costs += estimate_tokens(name) + 1
        if costs > tokens and shown:
            break
        shown.append(name)
    more = len(rest) - len(shown)
    text = "\n".join(shown) or "No documents."
    if more:
        text += f"\n{more} more: go on with after={shown[-1]}"
    model = (rf.file.config.get("model") or {}).get("name")
    return text, {
        "documents": shown, "total": len(ids), "next": shown[-1] if more else None,
        "chunks": len(rf), "model": model, "generation": rf.generation,
    }  # fmt: skip


def answer(found: Answer) -> Shown:
    """The text, then what it rests on and what is wrong with it."""
    numbers = dict.fromkeys(citation.number for citation in found.citations)
    parts = [found.text or "Nothing found."]
    named = [f"[{s.number}] {s.id} {s.start}-{s.end}" for s in found.sources if s.number in numbers]
    parts += ["\n".join(named)] * bool(named)
    parts += [f"Not borne out by the passages: {s.text}" for s in found.unsupported]
    parts += [f"Note: {found.degraded}."] * bool(found.degraded)
    return "\n\n".join(parts), _named(found)


def _named(found: Answer) -> dict[str, Any]:
    """The answer as JSON; of the passages their names, as their texts are `read`."""
    whole = found.to_dict()
    sources = [{k: v for k, v in source.items() if k != "text"} for source in whole["sources"]]
    return whole | {"sources": sources}
