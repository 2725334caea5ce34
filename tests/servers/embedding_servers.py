"""A loopback server that speaks OpenAI's and Ollama's embedding protocols, and misbehaves when told to.

A text's vector says which text it is, so that a mixed-up order shows: the components come from the text's hash.
"""

import base64
import json
import time

import numpy as np
import xxhash
from servers.loopback import Loopback, ScriptedHandler

DIMS = 8


def vector_of(text, dims=DIMS):
    """The binary32 vector, of length 1, that the server gives a text."""
    rng = np.random.default_rng(xxhash.xxh3_64_intdigest(text.encode()))
    row = rng.standard_normal(dims)
    return (row / np.sqrt(row @ row)).astype(np.float32)


class Server(Loopback):
    """Serves on a free port. `requests` keeps (path, JSON, headers, time); `script` is taken from first, one for each
    request: None for a good answer, or a function(handler, question) that answers in its own way."""

    def __init__(self):
        super().__init__(Handler)
        self.requests = []
        self.script = []
        self.has_embed = True
        self.shuffled = False
        self.ignores_base64 = False

    def paths(self):
        return [path for path, *_ in self.requests]


class Handler(ScriptedHandler):
    def answer_well(self, question):
        if self.path == "/v1/embeddings":
            self.answer(200, self.openai(question))
        elif self.path == "/api/embed" and self.server.has_embed:
            rows = [
                vector_of(text, question.get("dimensions", DIMS)).tolist()
                for text in listed(question["input"])
            ]
            self.answer(
                200,
                {
                    "model": question["model"],
                    "embeddings": rows,
                    "total_duration": 1,
                    "load_duration": 1,
                },
            )
        elif self.path == "/api/embeddings":
            self.answer(200, {"embedding": vector_of(question["prompt"]).tolist()})
        else:
            self.answer_text(404, "404 page not found")

    def openai(self, question):
        encode = (
            (lambda row: base64.b64encode(row.tobytes()).decode())
            if self.base64(question)
            else np.ndarray.tolist
        )
        rows = [
            vector_of(text, question.get("dimensions", DIMS)) for text in listed(question["input"])
        ]
        data = [
            {"object": "embedding", "index": i, "embedding": encode(row)}
            for i, row in enumerate(rows)
        ]
        if self.server.shuffled:
            data = data[::-1]
        usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
        return {"object": "list", "data": data, "model": question["model"], "usage": usage}

    def base64(self, question):
        return question.get("encoding_format") == "base64" and not self.server.ignores_base64

    def answer(self, status, body, **headers):
        self.answer_text(
            status, json.dumps(body), **{"Content-Type": "application/json", **headers}
        )

    def answer_text(self, status, body, **headers):
        raw = body.encode()
        self.send_response(status)
        for name, value in {"Content-Length": len(raw), "x-request-id": "req_7", **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(raw)


def listed(value):
    return [value] if isinstance(value, str) else value


def refuse(status, message="no", code=None, **headers):
    """A script entry that answers with an error."""
    error = {"error": {"message": message, "type": "error", "code": code}}
    return lambda handler, question: handler.answer(status, error, **headers)


def answer(body):
    """A script entry that answers 200 with this."""
    return lambda handler, question: handler.answer(200, body)


def hang(seconds):
    """A script entry that says nothing for a while."""
    return lambda handler, question: time.sleep(seconds)


def hang_up(handler, question):
    """A script entry that closes the connection without a word."""
    handler.close_connection = True
