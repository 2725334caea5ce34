"""The surface of SQLRooms' retrieval over a .ragfile: a folder of Markdown prepared once, then asked.

    prepare_embeddings("docs/", "kb.ragfile")
    for hit in hybrid_query("how do I rotate the keys?", "kb.ragfile", top_k=5): print(hit["score"], hit["text"])
    get_source_documents([hit["node_id"]], "kb.ragfile")

Vectors and words are in the one file, exact, and always in step; nothing is to be set up besides. Source documents come back as
they were read, to the character; chunks are spans of their normalised text. `export_duckdb` writes the tables that SQL users know.
"""

import contextlib
import json
import os
import warnings
from pathlib import Path

from ragfile.adapters.sqlrooms_results import print_results, reciprocal_rank_fusion
from ragfile.embedding.protocol import PROVIDERS, open_embedder
from ragfile.errors import ModelError, ProviderError
from ragfile.ground.extras import optional
from ragfile.ingest import document_loader, source_files
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunker import Policy
from ragfile.opener import open as open_file
from ragfile.write.builder import PAGES, build_from

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
STEMMER = "porter"  # the first Porter stemmer, which that surface names; other files have its successor, "english"
CHARACTERS_A_TOKEN = 4  # chunk_size counts tokens, as a budget; chunks here are cut by characters


def prepare_embeddings(
    input_dir: str,
    output_db: str,
    chunk_size: int = 512,
    embed_model_name: str | None = DEFAULT_MODEL,
    use_markdown_chunking: bool = True,
    include_headers_weight: int = 0,
    progress=None,
    *,
    embed_dim: int | None = None,
    embedding_provider: str = "huggingface",
    api_key: str | None = None,
    verbose: bool = False,
    include_headers_in_chunks: bool = True,
    header_weight: int | None = None,
    overwrite: bool = False,
):
    """Builds output_db from all .md files below input_dir, and opens it for asking.

    embed_model_name is a sentence-transformers model, or any name that ragfile.open knows. The default is taken where it is on this
    machine already; else the embedded model takes its place with a warning. The file records which one it was.
    include_headers_weight counts each word of a chunk's header path so many times in BM25; 0 leaves it at what builds do by default.
    header_weight means the same, and include_headers_in_chunks=False leaves the path out of BM25. embedding_provider is "huggingface" or
    "openai", whose key is api_key or comes from OPENAI_API_KEY. embed_dim is what the model's dimension must be, and what OpenAI's is
    asked for. A file that is there already is an error unless overwrite is true, and no file of another kind is ever replaced; the
    folder of output_db is made where it is missing.
    """
    sources = _markdown_files(input_dir)
    if os.path.exists(output_db) and not overwrite:
        raise FileExistsError(f"{output_db} is there already; overwrite=True replaces it")
    name = _model_name(embed_model_name, embedding_provider)
    if name.startswith("openai:"):
        spec, embedder = name, open_embedder(name, **_said(api_key=api_key, dimensions=embed_dim))
    else:
        spec, embedder = _embedder(name)
    if spec == "default" and name == DEFAULT_MODEL:
        embed_dim = None  # it was said of the model whose place the embedded one takes
    _check_dim(embedder, embed_dim)
    os.makedirs(os.path.dirname(os.path.abspath(output_db)), exist_ok=True)
    if header_weight is not None:
        include_headers_weight = header_weight
    kind = "markdown" if use_markdown_chunking else "sentences"
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


def _said(**options):
    return {name: value for name, value in options.items() if value is not None}


def _model_name(name, provider):
    """The model of a provider, as ragfile names it; without a name the provider's usual one."""
    if provider not in ("huggingface", "openai"):
        raise ValueError(f"embedding_provider is 'huggingface' or 'openai', not {provider!r}")
    if provider == "openai":
        return f"openai:{OPENAI_MODEL if name in (None, DEFAULT_MODEL) else name}"
    return name or DEFAULT_MODEL


def _check_dim(embedder, dim):
    if dim is not None and dim != embedder.model.dims:
        raise ModelError(f"{embedder.model.name} has {embedder.model.dims} dimensions, not {dim}")


def _markdown_files(input_dir):
    folder = Path(input_dir)
    if not folder.exists():
        raise FileNotFoundError(f"no such folder: {input_dir}")
    if not folder.is_dir():
        raise ValueError(f"not a folder: {input_dir}")
    found = list(source_files.find([folder], wanted={".md"}))
    if not found:
        raise ValueError(f"No .md files in {input_dir}")
    return found


def _on_this_machine(spec):
    """A model that was fetched once, opened without asking anybody for a newer one; None if there is none."""
    if not spec.startswith("st:"):
        return None
    with contextlib.suppress(OSError):
        return open_embedder(spec, offline=True)
    return None


def _embedder(name):
    """(the spec to record, embedder); a bare name is a sentence-transformers model. The default is not fetched: nobody asked for it."""
    spec = (
        name if name in ("default", "none") or name.partition(":")[0] in PROVIDERS else f"st:{name}"
    )
    if name != DEFAULT_MODEL:
        return spec, _on_this_machine(spec) or open_embedder(spec)
    try:
        made, reason = (
            _on_this_machine(spec),
            f"it is not on this machine; embed_model_name={spec!r} fetches it",
        )
    except (ImportError, ModelError, ProviderError) as error:
        made, reason = None, str(error).partition("\n")[0]
    if made is not None:
        return spec, made
    warnings.warn(
        f"{name} cannot be loaded ({reason}); the embedded model is used instead", stacklevel=3
    )
    return "default", open_embedder("default")


def _read(sources):
    """Files as documents. What cannot be read is said, and the rest is built."""
    reading = document_loader.Loading((), errors="replace")
    for source in sources:
        for document in reading.file(source):
            document.metadata["file_path"] = os.path.abspath(source.path)
            yield document
    for failure in reading.failures:
        warnings.warn(f"{failure.path} is left out: {failure.reason}", stacklevel=2)


# ----------------------------------------------------------------------------------------------------------- asking --


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
) -> list[dict]:
    """The top_k chunks by both legs, of max(2 top_k, 10) candidates each: put together by reciprocal ranks, or by scores with
    vector_weight for the vectors and the rest for the words.

    vector_top_k and fts_top_k are the candidates of a leg; 0 leaves the leg out, and of two other numbers the larger holds for
    both. model_name is embed_model_name under its other name.
    """
    if not 0 <= vector_weight <= 1:
        raise ValueError(f"vector_weight lies between 0 and 1, not {vector_weight}")
    fusion = ("rrf", {}) if use_rrf else ("blend", {"alpha": vector_weight})
    score_type, mode = ("rrf" if use_rrf else "weighted"), _mode(vector_top_k, fts_top_k)
    pool = max(vector_top_k or 0, fts_top_k or 0) or max(2 * top_k, 10)
    options = {"pool": max(pool, top_k), "fusion": fusion, "mode": mode}
    model = embed_model_name or model_name
    hits = _query(query_text, db_path, top_k, model, include_source_docs, score_type, options)
    if verbose:
        print(f"{query_text}: {len(hits)} chunks by {mode} search")
    return hits


def _mode(vector_top_k, fts_top_k):
    """The legs that are asked: all but those of which no candidate is wanted."""
    if vector_top_k == 0 and fts_top_k == 0:
        raise ValueError("vector_top_k and fts_top_k cannot both be 0: no leg would be asked")
    return "bm25" if vector_top_k == 0 else "vector" if fts_top_k == 0 else "hybrid"


def vector_query(
    query_text, db_path, top_k=5, include_source_docs=False, embed_model_name=None
) -> list[dict]:
    """The top_k chunks by cosine similarity alone."""
    return _query(
        query_text,
        db_path,
        top_k,
        embed_model_name,
        include_source_docs,
        "vector",
        {"mode": "vector"},
    )


def _query(query_text, db_path, top_k, model, include_source_docs, score_type, options):
    if top_k < 1:
        raise ValueError(f"top_k is at least 1, not {top_k}")
    with _opened(db_path, model) as rf:
        hits = rf.search(query_text, top_k, **options)
        if hits.degraded:
            warnings.warn(f"{db_path}: {hits.degraded}: the other leg answers alone", stacklevel=3)
        documents = {}
        if include_source_docs:
            documents = {
                document.id: _source(document) for document in rf.sources([hit.id for hit in hits])
            }
    return [
        {
            "node_id": hit.id, "text": hit.text, "metadata": _named(hit), "score": hit.score, "score_type": score_type,
            "source_doc": documents.get(hit.doc_id),
        }
        for hit in hits
    ]  # fmt: skip


def _named(hit):
    """The metadata of a hit, with its file and section under the names that these programs print."""
    name = hit.metadata.get("name") or os.path.basename(hit.source or hit.doc_id)
    return {"file_name": name, "header_path": hit.metadata.get("headers", "")} | hit.metadata


def get_source_documents(chunk_ids: list[str], db_path: str) -> list[dict]:
    """The whole documents that chunks are from, each once, in order of first mention; unknown ids are passed over."""
    if not chunk_ids:
        return []
    with _opened(db_path) as rf:
        return [_source(document) for document in rf.sources(chunk_ids)]


def get_embedding_metadata(db_path: str) -> dict:
    """How a file was made: its model, dimensions, chunking, counts, and what it can answer."""
    with _opened(db_path) as rf:
        model, info = rf.file.config.get("model") or {}, rf.info
        return {
            "model": model.get("name"), "dims": rf.rows.dim, "chunking": rf.file.config.get("chunking"),
            "counts": {"documents": info["documents"], "chunks": info["chunks"]},
            "embedding": {"provider": _provider(model.get("name")), "model": model.get("name"), "dimensions": rf.rows.dim},
            "source_documents": {"total_documents": info["documents"]}, "chunks": {"total_chunks": info["chunks"]},
            "capabilities": {"vector": rf.rows.has_vectors, "fts": rf.rows.has_bm25, "hybrid": rf.rows.has_vectors and rf.rows.has_bm25},
        }  # fmt: skip


def _provider(name):
    scheme = (name or "").partition(":")[0]
    return {"st": "huggingface", "onnx": "huggingface"}.get(scheme, scheme if scheme in PROVIDERS else "ragfile")  # fmt: skip


def validate_embedding_model(
    db_path: str, model_name: str, expected_dimensions: int | None = None
) -> bool:
    """Whether questions to a file can be embedded by a model; what does not fit is a warning."""
    found = get_embedding_metadata(db_path)
    if found["model"] is not None and not _names(model_name, found["model"]):
        warnings.warn(
            f"{db_path} was built with {found['model']}, not with {model_name}", stacklevel=2
        )
        return False
    if expected_dimensions and expected_dimensions != found["dims"]:
        said = f"{db_path} has vectors of {found['dims']} dimensions, not {expected_dimensions}"
        warnings.warn(said, stacklevel=2)
        return False
    return True


def _opened(db_path, model=None):
    """The file, open; a model that is not the one it was built with is refused."""
    if not os.path.exists(db_path):
        raise FileNotFoundError(f"no such file: {db_path}; prepare_embeddings makes it")
    rf = open_file(db_path)
    recorded = (rf.file.config.get("model") or {}).get("name")
    if model is not None and recorded is not None and not _names(model, recorded):
        rf.close()
        raise ModelError(f"{db_path} was built with {recorded}, not with {model}")
    return rf


def _names(model, recorded):
    """Whether a name, with or without its scheme, is that of a recorded model."""
    bare = model.partition(":")[2] if model.partition(":")[0] in PROVIDERS else model
    return bare in (recorded, recorded.partition(":")[2]) or (
        model == "default" and recorded.startswith("potion")
    )


def _source(document):
    return {
        "doc_id": document.id, "file_path": document.metadata.get("file_path", document.source),
        "file_name": document.metadata.get("name", os.path.basename(document.source or document.id)), "text": document.original,
        "metadata": document.metadata,
    }  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- DuckDB --

QUIET = {"autoinstall_known_extensions": "false"}  # no download that nobody asked for
SOURCES = """
CREATE TABLE source_documents (
    doc_id VARCHAR PRIMARY KEY, file_path VARCHAR, file_name VARCHAR, text TEXT, metadata_ JSON, created_at TIMESTAMP
);
CREATE TABLE embedding_metadata (key VARCHAR PRIMARY KEY, value VARCHAR);
"""


def export_duckdb(archive, path) -> str:
    """Writes the tables documents, source_documents and embedding_metadata, and a full-text index where that extension is installed.

    Returns the reason why there is no full-text index, or "".
    """
    duckdb = optional("duckdb", "writing a DuckDB database")
    if os.path.exists(path):
        raise FileExistsError(f"{path} is there already")
    with contextlib.closing(duckdb.connect(os.fspath(path), config=QUIET)) as database:
        database.register("arriving", archive)
        database.execute(
            "CREATE TABLE documents AS SELECT * REPLACE (metadata_::JSON AS metadata_) FROM arriving"
        )
        database.execute(SOURCES)
        for document in archive.documents():
            found = _source(document)
            row = [found[name] for name in ("doc_id", "file_path", "file_name", "text")]
            created = document.metadata.get("created_at")
            database.execute(
                "INSERT INTO source_documents VALUES (?, ?, ?, ?, ?, TRY_CAST(? AS TIMESTAMP))",
                [
                    *map(_plain, row),
                    json.dumps(found["metadata"]),
                    created if isinstance(created, str) else None,
                ],
            )
        for key, value in _notes(archive):
            database.execute(
                "INSERT INTO embedding_metadata VALUES (?, ?)", [key, json.dumps(value)]
            )
        return _full_text(database, duckdb)


def _plain(text):
    return text.encode("utf-8", "replace").decode()


def _notes(archive):
    yield "model", archive.file.config.get("model")
    yield "dims", archive.rows.dim
    yield "chunking", archive.file.config.get("chunking")
    yield "chunks", len(archive)


def _full_text(database, duckdb):
    try:
        database.execute("LOAD fts; PRAGMA create_fts_index('documents', 'node_id', 'text')")
    except duckdb.Error as error:
        return str(error).splitlines()[0]
    return ""
