"""The facts that SQLRooms keeps of a database: its documents, model, chunks and capabilities."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ragfile.exchange.collection import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.records import Document
    from ragfile.search.file_rows import FileRows

PROVIDERS = {"st": "huggingface", "onnx": "huggingface", "openai": "openai", "ollama": "ollama"}
CHARACTERS_A_TOKEN = 4  # chunk_size is a budget in tokens; ragfile counts characters


def source_document(document: Document) -> dict[str, Any]:
    """Return a document as get_source_documents does."""
    return {
        "doc_id": document.id,
        "file_path": document.metadata.get("file_path", document.source),
        "file_name": document.metadata.get(
            "name", os.path.basename(document.source or document.id)
        ),
        "text": document.original,
        "metadata": document.metadata,
    }


def described(rows: FileRows) -> dict[str, dict[str, Any] | str]:
    """Return the facts about a file as get_embedding_metadata does."""
    model: dict[str, str | None] = rows.config.get("model") or {}
    scheme, _, plain = (model.get("name") or "").rpartition(":")
    has = {"vector": rows.has_vectors, "fts": rows.has_bm25}
    return {
        "version": "1.0",
        "created_at": timestamp(),
        "embedding": {
            "provider": PROVIDERS.get(scheme, "ragfile"), "model": plain, "dimensions": rows.dim or 0,
        },
        "chunking": _chunking(rows),
        "source_documents": _documents(rows),
        "chunks": _chunks(rows),
        "capabilities": has | {
            "hybrid": all(has.values()), "hybrid_search": all(has.values()),
            "fts_enabled": rows.has_bm25, "source_documents_stored": True,
        },
    }  # fmt: skip


def _chunking(rows: FileRows) -> dict[str, Any]:
    policy: dict[str, Any] = rows.config.get("chunking") or {}
    fields: Sequence[tuple[str, int]] = () if rows.analysis is None else rows.analysis.fields
    weight = dict(fields).get("headers", 0)
    is_markdown = policy.get("kind") == "markdown"
    return {
        "strategy": "markdown-aware" if is_markdown else "size-based",
        "chunk_size": policy.get("size", 0) // CHARACTERS_A_TOKEN,
        "include_headers": bool(weight), "header_weight": weight, "policy": policy,
    }  # fmt: skip


def _documents(rows: FileRows) -> dict[str, int]:
    sizes: list[int] = []
    sources: set[str] = set()
    for segment in rows.segments:
        for stored in segment.live_documents():
            document = stored.read()
            sizes.append(len(document.text))
            sources.add(document.source or document.id)
    return {
        "total_documents": len(sizes),
        "unique_files": len(sources),
        "total_characters": sum(sizes),
    }


def _chunks(rows: FileRows) -> dict[str, int]:
    sizes = sorted(len(rows.chunk(row).content) for row in rows.live_rows().tolist()) or [0]
    return {
        "total_chunks": len(rows), "min_chunk_size": sizes[0], "max_chunk_size": sizes[-1],
        "median_chunk_size": sizes[len(sizes) // 2], "mean_chunk_size": sum(sizes) // len(sizes),
        "total_characters": sum(sizes),
    }  # fmt: skip


# The keys of the table embedding_metadata, with the places of their values in described().
KEYS = {
    "version": ("version",), "created_at": ("created_at",),
    "embedding_provider": ("embedding", "provider"), "embedding_model": ("embedding", "model"),
    "embedding_dimensions": ("embedding", "dimensions"), "chunking_strategy": ("chunking", "strategy"),
    "chunk_size": ("chunking", "chunk_size"), "include_headers": ("chunking", "include_headers"),
    "header_weight": ("chunking", "header_weight"),
    "total_source_documents": ("source_documents", "total_documents"),
    "unique_files": ("source_documents", "unique_files"),
    "source_total_characters": ("source_documents", "total_characters"),
    "total_chunks": ("chunks", "total_chunks"), "min_chunk_size": ("chunks", "min_chunk_size"),
    "max_chunk_size": ("chunks", "max_chunk_size"), "median_chunk_size": ("chunks", "median_chunk_size"),
    "mean_chunk_size": ("chunks", "mean_chunk_size"),
    "chunks_total_characters": ("chunks", "total_characters"),
    "hybrid_search_enabled": ("capabilities", "hybrid_search"),
    "fts_enabled": ("capabilities", "fts_enabled"),
    "source_documents_stored": ("capabilities", "source_documents_stored"),
}  # fmt: skip


def flat(rows: FileRows) -> dict[str, str]:
    """Return the facts about a file as the rows of the table embedding_metadata."""
    facts = described(rows)
    return {key: str(_value_at(facts, place)) for key, place in KEYS.items()}


def _value_at(facts: Mapping[str, Any], place: Sequence[str]) -> object:
    *outer, last = place
    for name in outer:
        facts = facts[name]
    return facts[last]
