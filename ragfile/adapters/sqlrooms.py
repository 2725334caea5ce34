"""SQLRooms' retrieval functions over a .ragfile: index a folder of Markdown once, then query it.

    prepare_embeddings("docs/", "kb.ragfile")
    for hit in hybrid_query("how do I rotate the keys?", "kb.ragfile", top_k=5): print(hit["score"], hit["text"])
    get_source_documents([hit["node_id"]], "kb.ragfile")

One file holds the vectors and the BM25 index, which cannot diverge; no other setup is needed. Source documents are returned
unchanged, to the character; chunks are spans of their normalised text. `export_duckdb` writes the tables of the SQL version.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ragfile.adapters.sqlrooms_results import print_results, reciprocal_rank_fusion
from ragfile.embedding.protocol import is_scheme, open_embedder, same_model
from ragfile.errors import ModelError, ProviderError
from ragfile.exchange.sqlrooms_facts import CHARACTERS_A_TOKEN, described, source_document
from ragfile.ground.call_site import stack_level
from ragfile.ground.extras import optional
from ragfile.ingest import document_loader, source_files
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunker import Policy
from ragfile.opener import open as open_file
from ragfile.write.analysis_record import PAGES
from ragfile.write.builder import build_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ragfile.embedding.protocol import Embedder
    from ragfile.ingest.source_files import SourceFile
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.options import SearchOptions
    from ragfile.records import Document, Hit
    from ragfile.types import ChunkKind, Fusion, Mode, Progress, StrPath

__all__ = [
    "export_duckdb",
    "get_embedding_metadata",
    "get_source_documents",
    "hybrid_query",
    "prepare_embeddings",
    "print_results",
    "reciprocal_rank_fusion",
    "validate_embedding_model",
    "vector_query",
]

OPENAI_MODEL = "text-embedding-3-small"
DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"
STEMMER = "porter"  # as in SQLRooms; other files use its successor, "english"
SCORE_TYPES = {"blend": "weighted"}  # the original's name of a fused score


def prepare_embeddings(
    input_dir: str,
    output_db: str,
    chunk_size: int = 512,
    embed_model_name: str | None = DEFAULT_MODEL,
    use_markdown_chunking: bool = True,
    include_headers_weight: int = 0,
    progress: Progress | None = None,
    *,
    embed_dim: int | None = None,
    embedding_provider: str = "huggingface",
    api_key: str | None = None,
    verbose: bool = False,
    include_headers_in_chunks: bool = True,
    header_weight: int | None = None,
    overwrite: bool = False,
) -> KnowledgeBase:
    """Build output_db from all .md files below input_dir, and open it.

    Args:
        input_dir: The folder of Markdown files.
        output_db: The file to write. Missing folders are created.
        chunk_size: The size of a chunk, in tokens.
        embed_model_name: A sentence-transformers model, or any embedder name of ragfile.open. If the
            default is not installed locally, the built-in model replaces it with a warning.
        use_markdown_chunking: Chunk by Markdown structure instead of sentences.
        include_headers_weight: The BM25 weight of a chunk's header path; 0 is the default of builds.
        progress: Called with documents, chunks, and the finished share of the sources.
        embed_dim: The required dimension of the model; OpenAI models are asked for it.
        embedding_provider: "huggingface" or "openai".
        api_key: The key of OpenAI. Default: OPENAI_API_KEY.
        verbose: Print a summary.
        include_headers_in_chunks: Index header paths in BM25.
        header_weight: Another name of include_headers_weight.
        overwrite: Replace an existing .ragfile. Files of other kinds are never replaced.

    Returns:
        The open file.

    Raises:
        FileExistsError: output_db exists, and overwrite is false.
        FileNotFoundError: input_dir is missing.
        ModelError: The model does not have embed_dim dimensions.
        ValueError: input_dir has no .md files, or embedding_provider is unknown.
    """
    sources = _markdown_files(input_dir)
    if os.path.exists(output_db) and not overwrite:
        raise FileExistsError(f"{output_db} already exists; pass overwrite=True to replace it")
    name = _model_name(embed_model_name, embedding_provider)
    if name.startswith("openai:"):
        spec, embedder = name, open_embedder(name, **_given(api_key=api_key, dimensions=embed_dim))
    else:
        spec, embedder = _embedder(name)
    if spec == "default" and name == DEFAULT_MODEL:
        embed_dim = None  # it applied to the model that was replaced
    _check_dim(embedder, embed_dim)
    os.makedirs(os.path.dirname(os.path.abspath(output_db)), exist_ok=True)
    if header_weight is not None:
        include_headers_weight = header_weight
    kind: ChunkKind = "markdown" if use_markdown_chunking else "sentences"
    policy = Policy(kind, chunk_size * CHARACTERS_A_TOKEN)
    fields = PAGES.fields
    if not include_headers_in_chunks:
        fields = (("text", 1),)
    elif include_headers_weight:
        fields = (("text", 1), ("headers", include_headers_weight))
    report = build_from(
        _read(sources), output_db, embedder=embedder, spec=spec, chunking=policy, analysis=Analysis(STEMMER, fields=fields), progress=progress,
    )  # fmt: skip
    if verbose:
        print(f"{output_db}: {report.documents} documents, {report.chunks} chunks")
    return open_file(output_db, embedder=embedder)


def _given(**options: object) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _model_name(name: str | None, provider: str) -> str:
    """Return ragfile's name for a provider's model, by default the provider's usual one."""
    if provider not in ("huggingface", "openai"):
        raise ValueError(f"embedding_provider must be 'huggingface' or 'openai', not {provider!r}")
    if provider == "openai":
        return f"openai:{OPENAI_MODEL if name in (None, DEFAULT_MODEL) else name}"
    return name or DEFAULT_MODEL


def _check_dim(embedder: Embedder | None, dim: int | None) -> None:
    if dim is not None and embedder is not None and dim != embedder.model.dims:
        raise ModelError(f"{embedder.model.name} has {embedder.model.dims} dimensions, not {dim}")


def _markdown_files(input_dir: str) -> list[SourceFile]:
    folder = Path(input_dir)
    if not folder.exists():
        raise FileNotFoundError(f"no such folder: {input_dir}")
    if not folder.is_dir():
        raise ValueError(f"not a folder: {input_dir}")
    found = list(source_files.find([folder], wanted={".md"}))
    if not found:
        raise ValueError(f"No .md files in {input_dir}")
    return found


def _on_this_machine(spec: str) -> Embedder | None:
    """Open a model that was downloaded before, without network access; None if it is missing."""
    if not spec.startswith("st:"):
        return None
    with contextlib.suppress(OSError):
        return open_embedder(spec, offline=True)
    return None


def _embedder(name: str) -> tuple[str, Embedder | None]:
    """Return the spec to record and the embedder. The default model is never downloaded unasked."""
    spec = (
        name if name in ("default", "none") or is_scheme(name.partition(":")[0]) else f"st:{name}"
    )
    if name != DEFAULT_MODEL:
        return spec, _on_this_machine(spec) or open_embedder(spec)
    try:
        made, reason = (
            _on_this_machine(spec),
            f"it is not installed locally; embed_model_name={spec!r} downloads it",
        )
    except (ImportError, ModelError, ProviderError) as error:
        made, reason = None, str(error).partition("\n")[0]
    if made is not None:
        return spec, made
    warnings.warn(
        f"{name} cannot be loaded ({reason}); the built-in model is used instead",
        stacklevel=stack_level(),
    )
    return "default", open_embedder("default")


def _read(sources: Iterable[SourceFile]) -> Iterator[Document]:
    """Yield the documents of files; warn about files that cannot be read."""
    reading = document_loader.Loading((), errors="replace")
    for source in sources:
        for document in reading.file(source):
            document.metadata["file_path"] = document.source
            yield document
    for failure in reading.failures:
        warnings.warn(f"{failure.path} is skipped: {failure.reason}", stacklevel=stack_level())


def hybrid_query(
    query_text: str,
    db_path: str,
    top_k: int = 5,
    use_rrf: bool = True,
    include_source_docs: bool = False,
    vector_weight: float = 0.5,
    embed_model_name: str | None = None,
    *,
    model_name: str | None = None,
    vector_top_k: int | None = None,
    fts_top_k: int | None = None,
    verbose: bool = False,
) -> list[dict[str, Any]]:
    """Return the top_k chunks by vectors and words, fused by reciprocal rank or by weighted scores.

    Args:
        query_text: The question.
        db_path: The file.
        top_k: The number of results.
        use_rrf: Fuse by reciprocal rank instead of weighted scores.
        include_source_docs: Return the source document of each chunk, too.
        vector_weight: The weight of the vector score, from 0 to 1, without use_rrf.
        embed_model_name: The model that the file must have been built with.
        model_name: Another name of embed_model_name.
        vector_top_k: Candidates by vectors; 0 disables them. Default: max(2 top_k, 10).
        fts_top_k: Candidates by words, likewise. The larger of the two applies to both.
        verbose: Print a summary.
    """
    if not 0 <= vector_weight <= 1:
        raise ValueError(f"vector_weight must be between 0 and 1, not {vector_weight}")
    fusion: Fusion | tuple[Fusion, dict[str, float]] = (
        ("rrf", {}) if use_rrf else ("blend", {"alpha": vector_weight})
    )
    mode = _mode(vector_top_k, fts_top_k)
    pool = max(vector_top_k or 0, fts_top_k or 0) or max(2 * top_k, 10)
    options: SearchOptions = {"pool": max(pool, top_k), "fusion": fusion, "mode": mode}
    model = embed_model_name or model_name
    hits = _query(query_text, db_path, top_k, model, include_source_docs, options)
    if verbose:
        print(f"{query_text}: {len(hits)} chunks by {mode} search")
    return hits


def _mode(vector_top_k: int | None, fts_top_k: int | None) -> Mode:
    """Return the search mode: both retrievers, or the one with candidates."""
    if vector_top_k == 0 and fts_top_k == 0:
        raise ValueError("vector_top_k and fts_top_k cannot both be 0")
    return "bm25" if vector_top_k == 0 else "vector" if fts_top_k == 0 else "hybrid"


def vector_query(
    query_text: str,
    db_path: str,
    top_k: int = 5,
    include_source_docs: bool = False,
    embed_model_name: str | None = None,
) -> list[dict[str, Any]]:
    """Return the top_k chunks by cosine similarity alone."""
    return _query(
        query_text,
        db_path,
        top_k,
        embed_model_name,
        include_source_docs,
        {"mode": "vector"},
    )


def _query(
    query_text: str,
    db_path: str,
    top_k: int,
    model: str | None,
    include_source_docs: bool,
    options: SearchOptions,
) -> list[dict[str, Any]]:
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, not {top_k}")
    with _opened(db_path, model) as rf:
        hits = rf.search(query_text, top_k, **options)
        if hits.degraded:
            warnings.warn(
                f"{db_path}: {hits.degraded}: the other retriever answers alone",
                stacklevel=stack_level(),
            )
        documents: dict[str, dict[str, Any]] = {}
        if include_source_docs:
            documents = {
                document.id: source_document(document)
                for document in rf.sources([hit.id for hit in hits])
            }
    return [
        {
            "node_id": hit.id, "text": hit.text, "metadata": _named(hit), "score": hit.score,
            "score_type": SCORE_TYPES.get(hit.score_type, hit.score_type),
            "source_doc": documents.get(hit.doc_id),
        }
        for hit in hits
    ]  # fmt: skip


def _named(hit: Hit) -> dict[str, Any]:
    """Return the metadata of a hit, with file_name and header_path added."""
    name = hit.metadata.get("name") or os.path.basename(hit.source or hit.doc_id)
    return {"file_name": name, "header_path": hit.metadata.get("headers", "")} | hit.metadata


def get_source_documents(chunk_ids: list[str], db_path: str) -> list[dict[str, Any]]:
    """Return the documents of chunks, each once, in order of first occurrence; skip unknown ids."""
    if not chunk_ids:
        return []
    with _opened(db_path) as rf:
        return [source_document(document) for document in rf.sources(chunk_ids)]


def get_embedding_metadata(db_path: str) -> dict[str, Any]:
    """Return the model, dimensions, chunking, counts and search capabilities of a file."""
    with _opened(db_path) as rf:
        model: dict[str, Any] = rf.file.config.get("model") or {}
        return described(rf.rows) | {
            "model": model.get("name"), "dims": rf.rows.dim,
            "counts": {"documents": rf.info["documents"], "chunks": rf.info["chunks"]},
        }  # fmt: skip


def validate_embedding_model(
    db_path: str, model_name: str, expected_dimensions: int | None = None
) -> bool:
    """Return whether a model matches a file; warn about the mismatch if not."""
    found = get_embedding_metadata(db_path)
    if found["model"] is not None and not same_model(
        {"name": model_name}, {"name": found["model"]}
    ):
        warnings.warn(
            f"{db_path} was built with {found['model']}, not with {model_name}",
            stacklevel=stack_level(),
        )
        return False
    if expected_dimensions and expected_dimensions != found["dims"]:
        message = f"{db_path} has vectors of {found['dims']} dimensions, not {expected_dimensions}"
        warnings.warn(message, stacklevel=stack_level())
        return False
    return True


def _opened(db_path: str, model: str | None = None) -> KnowledgeBase:
    """Open a file or a DuckDB database with the model that the caller names.

    Raises:
        ModelError: Another model built it.
    """
    if not os.path.exists(db_path):
        raise FileNotFoundError(f"no such file: {db_path}; create it with prepare_embeddings")
    if model is None:
        return open_file(db_path)
    rf = open_file(db_path, embedder="none")
    built: dict[str, str | None] = rf.file.config.get("model") or {}
    recorded, dim = built.get("name"), rf.rows.dim
    rf.close()
    spec = _spec(model, recorded)
    is_path = os.path.exists(spec.partition(":")[2])
    if not is_path and recorded and not same_model({"name": spec}, {"name": recorded}):
        raise ModelError(f"{db_path} was built with {recorded}, not with {model}")
    return open_file(db_path, embedder=_query_embedder(spec, dim))


def _spec(model: str, recorded: str | None) -> str:
    """Return the embedder that a name stands for: of the recorded provider, else of SQLRooms' usual one."""
    if model in ("default", "none") or is_scheme(model.partition(":")[0]):
        return model
    scheme = (recorded or "").partition(":")[0]
    if recorded and same_model({"name": model}, {"name": recorded}) and not is_scheme(scheme):
        return "default"
    return f"{scheme if is_scheme(scheme) else 'st'}:{model}"


def _query_embedder(spec: str, dim: int | None) -> Embedder | None:
    """Open the embedder of questions; OpenAI's models are asked for the dimensions of the file."""
    if spec.startswith("openai:") and dim:
        return open_embedder(spec, dimensions=dim)
    return _on_this_machine(spec) or open_embedder(spec)


def export_duckdb(archive: KnowledgeBase, path: StrPath) -> str:
    """Write the tables documents, source_documents and embedding_metadata, and a full-text index.

    Returns:
        "", or the reason why there is no full-text index: its extension is optional.

    Raises:
        FileExistsError: The path exists.
    """
    optional("duckdb", "writing a DuckDB database")
    from ragfile.exchange.stores import duckdb

    return duckdb.write_rows(archive.rows, path)
