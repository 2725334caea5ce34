"""The list of a server's operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragfile.doors.server import (
    answer_endpoints,
    facets,
    native_endpoints,
    operation_pages,
    upload_endpoints,
    write_endpoints,
)
from ragfile.doors.server import schemas as s
from ragfile.doors.server.metrics import MEDIA
from ragfile.doors.server.openai import chat, files, models, new_stores, rerank, responses, stores
from ragfile.doors.server.operations import OPEN_TO_ALL, Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.doors.server.settings import Settings
    from ragfile.ground.json_schema import Schema

ONE = "/v1/collections/{c}"
GENERATION: dict[str, Schema] = {"generation": s.GENERATION}


def operations(settings: Settings, dims: Sequence[int] = ()) -> list[Operation]:
    """Return the operations of a server with these settings; `dims` as in `embeddings_body`."""
    return [*_reading(settings), *_openai(settings, dims), *_about(),
            *((*_writing(), *_openai_files(settings)) if settings.can_write else ())]  # fmt: skip


def _reading(settings: Settings) -> list[Operation]:
    limit: Schema = {"type": "integer", "minimum": 1, "maximum": native_endpoints.LONGEST_PAGE}
    pages: dict[str, Schema] = {"prefix": s.TEXT, "after": s.TEXT, "limit": limit, **GENERATION}
    span = {"type": "string", "pattern": "^[0-9]{1,15}-[0-9]{1,15}$"}
    around: dict[str, Schema] = {
        "span": span,
        "context": {"type": "integer", "minimum": 0, "maximum": 100_000},
    }
    return [
        Operation("GET", "/v1/health", native_endpoints.health, "Check that the server is up.",
                  scope=OPEN_TO_ALL, returns=s.shown(status=s.TEXT, version=s.TEXT),
                  is_filtered=True),
        Operation("GET", "/v1/collections", native_endpoints.collections, "List all collections.",
                  returns=s.shown(collections=s.many(s.COLLECTION)), is_filtered=True),
        Operation("GET", ONE, native_endpoints.collection, "Describe a collection.", returns=s.COLLECTION,
                  is_filtered=True),
        Operation("POST", ONE + "/search", native_endpoints.search, "Search for passages.",
                  body=s.search_body(settings), returns=s.FOUND, is_filtered=True),
        Operation("POST", ONE + "/ask", answer_endpoints.ask, "Answer a question with its sources.",
                  body=s.ask_body(settings), returns=s.ANSWER, is_ask=True, is_filtered=True),
        Operation("GET", ONE + "/documents", native_endpoints.documents, "List documents, ordered by id.",
                  query=pages, returns=s.DOCUMENTS, is_filtered=True),
        Operation("GET", ONE + "/documents/{id:text}", native_endpoints.document,
                  "Read a document or a span of it.", query=around | GENERATION,
                  returns=s.STRETCH, weight=native_endpoints.document_weight, is_filtered=True),
        Operation("GET", ONE + "/links/{id:text}", native_endpoints.links,
                  "List the links of a document, and to it.", query=GENERATION, returns=s.LINKS,
                  is_filtered=True),
        Operation("GET", ONE + "/chunks/{row:text}", native_endpoints.chunk,
                  "Read a chunk by its row number or id.", query=GENERATION, returns=s.CHUNK,
                  is_filtered=True),
        Operation("GET", ONE + "/facets", facets.facets,
                  "List tags and metadata values with their counts.", returns=s.FACETS,
                  is_filtered=True),
    ]  # fmt: skip


def _writing() -> list[Operation]:
    document = {"text": s.TEXT, "metadata": s.FREE, "tags": s.many(s.TEXT), "source": s.TEXT}
    common: dict[str, Any] = {"scope": "write", "failures": (404, 409, 507)}
    sent: dict[str, Any] = {"body": s.SENT, "media": "multipart/form-data", "returns": s.UPLOADS}
    file = ONE + "/files/{id:text}"
    return [
        Operation("PUT", ONE + "/documents/{id:text}", write_endpoints.put_document, "Store a document.",
                  body=s.record(("text",), **document), returns=s.STORED, is_write=True,
                  makes_file=True, change=write_endpoints.put_change, **common),
        Operation("DELETE", ONE + "/documents/{id:text}", write_endpoints.delete_document,
                  "Delete a document.", returns=s.DELETED, is_write=True,
                  change=write_endpoints.delete_change, **common),
        Operation("POST", ONE + "/files", upload_endpoints.add_files, "Upload files to be indexed.",
                  status=202, makes_file=True, **sent, **common),
        Operation("PUT", ONE + "/files", upload_endpoints.replace_files,
                  "Upload files in place of those with the same names.", status=202,
                  makes_file=True, **sent, **common),
        Operation("GET", ONE + "/files", upload_endpoints.files, "List uploaded files.",
                  returns=s.UPLOADS),
        Operation("GET", file, upload_endpoints.file, "Get the state of an upload.", returns=s.UPLOAD),
        Operation("DELETE", file, upload_endpoints.delete_file, "Delete a file with its documents.",
                  returns=s.DELETED, is_write=True, **common),
        Operation("POST", ONE + "/sync", write_endpoints.sync,
                  "Make a collection match its source folders.",
                  body=s.record((), dry_run=s.YES, dedupe=s.YES), returns=s.FREE, is_write=True,
                  **common),
    ]  # fmt: skip


def _openai(settings: Settings, dims: Sequence[int]) -> list[Operation]:
    store = "/v1/vector_stores/{c}"
    file = store + "/files/{id:text}"
    return [
        Operation("POST", "/v1/chat/completions", chat.completions, "Answer as a chat completion.",
                  body=chat.completion_body(settings), returns=chat.COMPLETION, is_ask=True,
                  is_filtered=True),
        Operation("POST", "/v1/responses", responses.responses, "Answer as a response.",
                  body=responses.response_body(settings), returns=responses.RESPONSE, is_ask=True,
                  is_filtered=True),
        *(Operation("POST", f"/{version}/rerank", rerank.rerank, "Order texts by relevance.",
                    body=rerank.rerank_body(settings), returns=rerank.RANKING, failures=(404,),
                    is_filtered=True)
          for version in ("v1", "v2")),
        Operation("GET", "/v1/models", models.models, "List the collections as models.",
                  returns=models.MODELS, is_filtered=True),
        Operation("GET", "/v1/models/{model}", models.model, "Get a collection as a model.",
                  returns=models.MODEL, is_filtered=True),
        Operation("POST", "/v1/embeddings", models.embeddings, "Embed texts.",
                  body=models.embeddings_body(settings, dims), returns=models.EMBEDDINGS,
                  failures=(404,), is_filtered=True),
        Operation("GET", "/v1/vector_stores", stores.stores,
                  "List the collections as vector stores.", query=stores.PAGES,
                  returns=stores.LIST, advice=_advice(settings), is_filtered=True),
        Operation("GET", store, stores.store, "Get a collection as a vector store.",
                  returns=stores.STORE, advice=_advice(settings), is_filtered=True),
        Operation("POST", store + "/search", stores.search, "Search with OpenAI's filters.",
                  body=stores.search_body(settings), returns=stores.RESULTS, is_filtered=True),
        Operation("GET", store + "/files", stores.files, "List documents as files.",
                  query=stores.PAGES, returns=stores.LIST, is_filtered=True),
        Operation("GET", file + "/content", stores.content, "Read the text of a document.",
                  returns=stores.CONTENT, weight=stores.content_weight, is_filtered=True),
        Operation("GET", file, stores.file, "Get a document as a file.", returns=stores.FILE,
                  is_filtered=True),
    ]  # fmt: skip


def _advice(settings: Settings) -> str:
    """Return advice for a client that may not change a vector store in this way."""
    return stores.RENAMED if settings.can_write else stores.CREATED


def _openai_files(settings: Settings) -> list[Operation]:
    one, store = "/v1/files/{id}", "/v1/vector_stores/{c}"
    batches = store + "/file_batches"
    common: dict[str, Any] = {"scope": "write", "is_write": True, "failures": (404, 409, 507)}
    return [
        Operation("GET", "/v1/files", files.files, "List the uploaded files.",
                  query=files.FILE_PAGES, returns=stores.LIST, failures=(404,)),
        Operation("POST", "/v1/vector_stores", new_stores.create, "Make a vector store.",
                  body=new_stores.store_body(settings), returns=stores.STORE, **common),
        Operation("DELETE", store, new_stores.delete, "Delete a vector store with its file.",
                  returns=files.DELETED, **common),
        Operation("POST", "/v1/files", files.create, "Upload a file, for a vector store to take.",
                  body=files.SENT, media="multipart/form-data", returns=files.FILE,
                  scope="write", failures=(507,)),
        Operation("GET", one, files.file, "Get an uploaded file.", returns=files.FILE),
        Operation("GET", one + "/content", files.content, "Read the bytes of a file.",
                  returns=s.TEXT, answers="application/octet-stream", weight=files.content_weight),
        Operation("DELETE", one, files.delete, "Delete a file with its documents.",
                  returns=files.DELETED, **common),
        Operation("POST", store + "/files", files.attach, "Add an uploaded file.",
                  body=files.attach_body(settings), returns=stores.FILE, **common),
        Operation("DELETE", store + "/files/{id:text}", files.remove, "Take a file out.",
                  returns=files.DELETED, **common),
        Operation("POST", batches, files.create_batch, "Add several uploaded files.",
                  body=files.batch_body(settings), returns=files.BATCH, **common),
        Operation("GET", batches + "/{batch}", files.batch, "Get the state of a batch.",
                  returns=files.BATCH),
        Operation("GET", batches + "/{batch}/files", files.batch_files, "List a batch's files.",
                  query=stores.PAGES, returns=stores.LIST),
    ]  # fmt: skip


def _about() -> list[Operation]:
    return [
        Operation("GET", "/openapi.json", operation_pages.description,
                  "Get this OpenAPI description.", is_filtered=True),
        Operation("GET", "/metrics", operation_pages.metrics, "Get counters for Prometheus.",
                  returns=s.TEXT, answers=MEDIA.partition(";")[0]),
    ]  # fmt: skip
