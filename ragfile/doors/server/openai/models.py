"""Models and embeddings: each collection is a model, which embeds with its file's embedder."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.answer.passage_budget import estimate_tokens
from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema
    from ragfile.types import Float32s, Metadata

HEADER = "x-ragfile-collection"
ROLES = ("document", "query")
MODEL = s.shown(id=s.TEXT, object=s.TEXT, created=s.WHOLE, owned_by=s.TEXT)
MODELS = s.shown(object=s.TEXT, data=s.many(MODEL))
EMBEDDINGS = s.shown(object=s.TEXT, model=s.TEXT, data=s.many(s.FREE), usage=s.FREE)


def embeddings_body(settings: Settings, dims: Sequence[int] = ()) -> Schema:
    """Return the schema of a request; unknown members are ignored.

    `dims` are those of the collections, which only the description of the server knows.
    """
    size = {"type": "integer", "enum": list(dims)} if dims else s.POSITIVE
    texts = s.many(s.TEXT, minItems=1, maxItems=2048)
    known = {
        "model": s.TEXT, "input": {"anyOf": [s.TEXT, texts]}, "dimensions": size,
        "encoding_format": {"type": "string", "enum": ["float", "base64"]},
        "input_type": {"type": "string", "enum": list(ROLES)},
    }  # fmt: skip
    return s.nullable({"type": "object", "properties": known, "required": ["input"]})


def collection_of(service: Service, call: Call) -> str:
    """Return a request's collection: from its header, its model, or the only one."""
    body: Metadata = call.body or {}
    name: str | None = call.headers.get(HEADER) or body.get("model")
    names = service.collections.names
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        known = ", ".join(names) or "none"
        raise HttpFailure(404, f"unknown model {name!r:.80}; the models are {known}", param="model")
    return name


def models(service: Service, call: Call) -> dict[str, Any]:
    """List the collections as models."""
    return {"object": "list", "data": [_model(name) for name in service.collections.names]}


def model(service: Service, call: Call) -> dict[str, Any]:
    """Return one collection as a model."""
    name = call.path["model"]
    if name not in service.collections.names:
        raise HttpFailure(404, f"unknown model {name!r:.80}: see GET /v1/models", param="model")
    return _model(name)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "ragfile"}


def embeddings(service: Service, call: Call) -> dict[str, Any]:
    """Return the vectors of texts, in order, from the embedder that the file records."""
    name, body = collection_of(service, call), s.given(call.body)
    rf = service.collections.at_commit(name)
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    embedder = rf.embedder
    if embedder is None:
        reason = f"the embedder of {name} is not available here: start the server with --embedder"
        raise HttpFailure(422, reason, param="model")
    dims = embedder.model.dims
    if body.get("dimensions", dims) != dims:
        reason = f"dimensions must be {dims}, not {body['dimensions']}"
        raise HttpFailure(422, reason, param="dimensions")
    vectors = np.asarray(embedder.embed(texts, body.get("input_type", ROLES[0])), np.float32)
    is_base64 = body.get("encoding_format") == "base64"
    count = sum(map(estimate_tokens, texts))
    call.sink["embedded"] = len(texts)
    return {
        "object": "list", "model": name,
        "data": [
            {"object": "embedding", "index": i, "embedding": _base64(vector) if is_base64 else vector.tolist()}
            for i, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": count, "total_tokens": count},
    }  # fmt: skip


def _base64(vector: Float32s) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
