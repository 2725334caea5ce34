"""Models and embeddings: each collection is a model, and embeds with the model of its file."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.answer.passage_budget import estimate_tokens
from ragfile.doors.server import schemas as s
from ragfile.doors.server.failures import HttpFailure

if TYPE_CHECKING:
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.settings import Settings
    from ragfile.doors.server.shared_state import Service
    from ragfile.ground.json_schema import Schema

HEADER = "x-ragfile-collection"
ROLES = ("document", "query")
MODEL = s.shown(id=s.TEXT, object=s.TEXT, created=s.WHOLE, owned_by=s.TEXT)
MODELS = s.shown(object=s.TEXT, data=s.many(MODEL))
EMBEDDINGS = s.shown(object=s.TEXT, model=s.TEXT, data=s.many(s.FREE), usage=s.FREE)


def embeddings_body(settings: Settings) -> Schema:
    """What clients send; members that are not known here are passed over."""
    texts = s.many(s.TEXT, minItems=1, maxItems=2048)
    known = {
        "model": s.TEXT, "input": {"anyOf": [s.TEXT, texts]}, "dimensions": s.WHOLE,
        "encoding_format": {"type": "string", "enum": ["float", "base64"]},
        "input_type": {"type": "string", "enum": list(ROLES)},
    }  # fmt: skip
    return {"type": "object", "properties": known, "required": ["input"]}


def collection_of(service: Service, call: Call) -> str:
    """The collection that a request is about: the header's, else the model's, if there is one."""
    name = call.headers.get(HEADER) or (call.body or {}).get("model")
    names = service.collections.names
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        known = ", ".join(names) or "none"
        raise HttpFailure(404, f"there is no model {name!r:.80}; there are {known}", param="model")
    return name


def models(service: Service, call: Call) -> dict[str, Any]:
    """The collections, as models."""
    return {"object": "list", "data": [_model(name) for name in service.collections.names]}


def model(service: Service, call: Call) -> dict[str, Any]:
    """One of them."""
    name = call.path["model"]
    if name not in service.collections.names:
        raise HttpFailure(404, f"there is no model {name!r:.80}", param="model")
    return _model(name)


def _model(name):
    return {"id": name, "object": "model", "created": 0, "owned_by": "ragfile"}


def embeddings(service: Service, call: Call) -> dict[str, Any]:
    """The vectors of texts, in their order, by the model that the file records."""
    name, body = collection_of(service, call), call.body
    rf = service.collections.at_commit(name)
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    embedder = rf.embedder
    if embedder is None:
        raise HttpFailure(422, f"the model of {name} cannot be opened here", param="model")
    if body.get("dimensions", embedder.model.dims) != embedder.model.dims:
        raise HttpFailure(422, f"vectors have {embedder.model.dims} dimensions", param="dimensions")
    vectors = np.asarray(embedder.embed(texts, body.get("input_type", ROLES[0])), np.float32)
    shown = _base64 if body.get("encoding_format") == "base64" else np.ndarray.tolist
    count = sum(map(estimate_tokens, texts))
    call.sink["embedded"] = len(texts)
    return {
        "object": "list", "model": name,
        "data": [
            {"object": "embedding", "index": i, "embedding": shown(vector)}
            for i, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": count, "total_tokens": count},
    }  # fmt: skip


def _base64(vector):
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
