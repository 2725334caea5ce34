"""Tool results within a budget of tokens; each function returns them as text and as JSON."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from ragfile.answer.passage_budget import estimate_tokens
from ragfile.search.shown_passages import facts_of, located, viewer_of

if TYPE_CHECKING:
    from typing import Any

    from ragfile.answer.answers import Answer
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Document, Hit, Hits
    from ragfile.search.shown_passages import PassageViewer
    from ragfile.types import Metadata


class Shown(NamedTuple):
    """A result as text for the model and as JSON."""

    text: str
    fields: dict[str, Any]


class CharSpan(NamedTuple):
    """Characters of a document."""

    start: int
    end: int


BEFORE = 0.25  # the share of the text around a passage that precedes it


def hits(found: Hits, rf: KnowledgeBase, question: str, tokens: int) -> Shown:
    """Show as many passages as the budget allows, best first; cut the first one if necessary.

    The text shows them without markup, with their lines in the file; the JSON has the exact characters.
    """
    viewer = viewer_of(found, question, rf.document)
    kept: list[Hit] = []
    parts: list[str] = []
    spent = 0
    for number, hit in enumerate(found, 1):
        part = _passage(number, hit, viewer)
        cost = max(estimate_tokens(part), estimate_tokens(hit.text))
        if spent + cost > tokens:
            if not kept:
                hit = _cut(hit, tokens - (cost - estimate_tokens(hit.text)))
                kept, parts = [hit], [_passage(number, hit, viewer)]
            break
        kept.append(hit)
        parts.append(part)
        spent += cost
    left_out = len(found) - len(kept)
    parts = parts or ["Nothing found."]
    parts += [f"{left_out} more passages did not fit: ask with more tokens."] * bool(left_out)
    parts += [f"Note: {found.degraded}."] * bool(found.degraded)
    support = found.support
    remark = support.remark() if support and found else ""
    parts += [f"Note: {remark}."] * bool(remark)
    return Shown("\n\n".join(parts), {
        "hits": [asdict(hit) for hit in kept], "left_out": left_out,
        **facts_of(found, kept), "degraded": found.degraded, "generation": rf.generation,
    })  # fmt: skip


FACTS = ("generation", "documents", "chunks", "dim", "model", "size")


def facts(rf: KnowledgeBase) -> Shown:
    """Show the counts of a file, as the server's list of collections does."""
    found = {name: rf.info[name] for name in FACTS}
    return Shown("\n".join(f"{name}: {value}" for name, value in found.items()), found)


def with_sources(shown: Shown, sources: dict[str, int] | None) -> Shown:
    """Add how many source files differ from the file, if its folder is known."""
    if sources is None:
        return shown
    differing = ", ".join(f"{count} {how}" for how, count in sources.items() if count)
    note = f"\nNote: source files that differ from this file: {differing}." if differing else ""
    return Shown(shown.text + note, {**shown.fields, "sources": sources})


def _passage(number: int, hit: Hit, viewer: PassageViewer) -> str:
    """Return a passage below a line with its number, id, characters, place and section."""
    shown = viewer.whole(hit.text, hit.metadata, hit.doc_id, hit.start)
    place = located(hit.source or hit.doc_id, hit.metadata, shown.lines or hit.lines)
    section = hit.metadata.get("headers")
    where = f"{place}, {section}" if isinstance(section, str) and section else place
    where = "; ".join(filter(None, [where, hit.standing]))
    span = f" {hit.start}-{hit.end}" if hit.start >= 0 else ""
    return f"[{number}] {hit.id}{span} ({where}){_naming(hit)}\n{shown.text()}"


def _naming(hit: Hit) -> str:
    """Return which passage names the page of a hit, if that raised it."""
    if (by := hit.named_by) is None:
        return ""
    return f", named by {by[0] or 'the question'}: {by[1]}"


def _cut(hit: Hit, tokens: int) -> Hit:
    """Return a passage cut to so many tokens."""
    size = _fitting(hit.text, tokens)
    return replace(hit, text=hit.text[:size], end=hit.start + size if hit.start >= 0 else -1)


def _fitting(text: str, tokens: int) -> int:
    """Return the number of leading characters that fit in so many tokens."""
    return bisect_right(range(1, len(text) + 1), tokens, key=lambda n: estimate_tokens(text[:n]))


def stretch(
    rf: KnowledgeBase, name: str, tokens: int, *, line: int | None = None, lines: int | None = None,
    start: int | None = None, end: int | None = None,
) -> Shown:  # fmt: skip
    """Show a part of a document: lines from 1, characters from 0, or the surroundings of a passage."""
    if (line is not None or lines is not None) and (start is not None or end is not None):
        raise ValueError("give line and lines, or start and end, not both")
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


def _document(rf: KnowledgeBase, name: str) -> tuple[Document, CharSpan | None]:
    """Return a document by its id, or by a passage's id with the passage's span."""
    document = rf.document(name)
    if document is not None:
        return document, None
    row = rf.row(name)
    if row is None:
        raise ValueError(f"no document or passage {name!r:.120}: `list` shows the documents")
    chunk = rf.chunk(row)
    whole = cast("Document", rf.document(chunk.doc_id))  # a live chunk has its document
    return whole, CharSpan(chunk.start, chunk.end) if chunk.start >= 0 else None


def _of_lines(text: str, line: int, lines: int | None) -> CharSpan:
    """Return the span of so many lines from a line on."""
    if line < 1:
        raise ValueError(f"line must be at least 1, not {line}")
    at = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
    if line > len(at):
        raise ValueError(f"line {line} is out of range: the document has {len(at)} lines")
    last = line - 1 + (len(at) if lines is None else lines)
    return CharSpan(at[line - 1], at[last] if last < len(at) else len(text))


def _around(text: str, span: CharSpan, tokens: int) -> CharSpan:
    """Return the span of a passage with its surroundings, from the beginning of a line."""
    room = max(0, tokens - estimate_tokens(text[span.start : span.end]))
    before = text[: span.start][::-1]
    start = span.start - _fitting(before[: 8 * room], int(room * BEFORE))
    line_end = text.find("\n", start, span.start) if start else -1
    return CharSpan(line_end + 1 if line_end >= 0 else start, len(text))


def _line_end(text: str, start: int, end: int) -> int:
    """Return the end of the last whole line before `end`, or `end` if there is none."""
    at = text.rfind("\n", start, end)
    return at + 1 if at > start else end


def _stretch(rf: KnowledgeBase, document: Document, start: int, end: int) -> Shown:
    """Show the characters of a document from `start` to `end`."""
    text, size = document.text[start:end], len(document.text)
    first = document.text.count("\n", 0, start) + 1
    last = first + text.rstrip("\n").count("\n")
    found = {
        "id": document.id, "source": document.source, "start": start, "end": end,
        "line": first, "last_line": last, "size": size, "next": end if end < size else None,
        "text": text, "generation": rf.generation, "checksum": document.metadata.get("checksum"),
    }  # fmt: skip
    more = f"; continue with start={end}" if end < size else ""
    return Shown(
        f"{document.id} lines {first}-{last}, characters {start}-{end} of {size}{more}\n{text}",
        found,
    )


def documents(rf: KnowledgeBase, prefix: str, after: str, tokens: int) -> Shown:
    """List as many ids as fit, in order, beginning after `after`."""
    ids = [name for name in rf.document_ids() if name.startswith(prefix)]
    rest = ids[bisect_right(ids, after) :] if after else ids
    costs = 0
    shown: list[str] = []
    for name in rest:
        costs += estimate_tokens(name) + 1
        if costs > tokens and shown:
            break
        shown.append(name)
    more = len(rest) - len(shown)
    text = "\n".join(shown) or "No documents."
    if more:
        text += f"\n{more} more: continue with after={shown[-1]}"
    model: Metadata = rf.file.config.get("model") or {}
    return Shown(text, {
        "documents": shown, "total": len(ids), "next": shown[-1] if more else None,
        "chunks": len(rf), "model": model.get("name"), "generation": rf.generation,
    })  # fmt: skip


def links(rf: KnowledgeBase, name: str, tokens: int) -> Shown:
    """Show the links of a document, then those to it, as many as fit: `-> id "text"`, `<- id`."""
    if (doc_id := rf.graph.find(name)) is None:
        raise KeyError(f"no document {name!r:.120}: `list` shows the documents")
    found = [("->", one.document or f"{one.target} (broken)", one) for one in rf.links(doc_id)]
    found += [("<-", one.source, one) for one in rf.backlinks(doc_id)]
    lines = dict.fromkeys(f'{arrow} {end} "{one.text}"' for arrow, end, one in found)
    shown: list[str] = []
    spent = 0
    for line in lines:
        spent += estimate_tokens(line) + 1
        if spent > tokens and shown:
            break
        shown.append(line.removesuffix(' ""'))
    more = len(lines) - len(shown)
    text = "\n".join(shown) + f"\n{more} more" * bool(more) if shown else "No links."
    return Shown(text, {"id": doc_id, "links": shown, "more": more})


def answer(found: Answer) -> Shown:
    """Show an answer, then its cited passages, unsupported sentences and limitations."""
    numbers = dict.fromkeys(citation.number for citation in found.citations)
    parts = [found.text or "Nothing found."]
    named = [f"[{s.number}] {s.id} {s.start}-{s.end}" for s in found.sources if s.number in numbers]
    parts += ["\n".join(named)] * bool(named)
    parts += [f"Not supported by the passages: {s.text}" for s in found.unsupported]
    parts += [f"Note: {found.degraded}."] * bool(found.degraded)
    return Shown("\n\n".join(parts), _named(found))


def _named(found: Answer) -> dict[str, Any]:
    """Return an answer as JSON without the texts of its passages, which `read` returns."""
    whole = found.to_dict()
    sources = [{k: v for k, v in source.items() if k != "text"} for source in whole["sources"]]
    return whole | {"sources": sources}
