"""The canonical blocks: callable alone, with plain data, which they leave as it is.

chunks = chunk(text, "words:200/40")
counts = index(chunks, "kb.ragfile")
found  = retrieve("how long do pods live", Plan(k=5), "kb.ragfile")
ranked = fuse([vector_candidates, lexical_candidates])
better = rerank("how long do pods live", ranked)
spans = compress("how long do pods live", better)
"""

from dataclasses import replace

import xxhash

from .chunking import Policy, split
from .fusion import fuse
from .packing import compress
from .records import Chunk, Document, Segment
from .reranking import rerank
from .staging import to_utf8
from .storing import index, retrieve
from .text import normalize

__all__ = ["chunk", "compress", "fuse", "index", "rerank", "retrieve"]

_GAP = "\n\n"


def chunk(text_or_segments, policy=None) -> list[Chunk]:
    """Chunks with a stable chunk_index, from a text, a Document, or a list of segments.

    A segment is a text or a mapping with `text` (or `content`) and `metadata`; no chunk crosses one. Text and
    segments are normalised first; a Document is taken to be so already. What has no id gets one from its text: the same
    text is the same document, and can be indexed as it is. Metadata is the document's, then the
    segment's, then the chunk's own, the later winning.
    """
    document = _document(text_or_segments)
    if not document.id:
        document = replace(document, id=xxhash.xxh3_128_hexdigest(to_utf8(document.text)))
    chunks = split(document, Policy.of(policy))
    for each in chunks:
        each.metadata = {**document.metadata, **each.metadata}
    return chunks


def _document(value):
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document("", normalize(value).text)
    pieces, segments, at = [], [], 0
    for one in value:
        text, metadata = (one, {}) if isinstance(one, str) else (_content(one), one.get("metadata") or {})
        text = normalize(text).text
        segments.append(Segment(at, at + len(text), dict(metadata)))
        pieces.append(text)
        at += len(text) + len(_GAP)
    return Document("", _GAP.join(pieces), segments=tuple(segments))


def _content(segment):
    for name in ("text", "content"):
        if name in segment:
            return segment[name]
    raise ValueError("a segment has a text")
