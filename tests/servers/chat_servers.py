"""A server that speaks the chat protocols of OpenAI and of Ollama on a loopback port, streamed and
whole, as real ones do.

What it says is `reply`, piece by piece. Everything that it was asked is kept in `requests`. `gone`
is set when a reader hung up before the end of an answer.
"""

import json
import threading
import time

from servers.loopback import Loopback, ScriptedHandler


class Server(Loopback):
    """Serves on a free port. `script` is taken from first, one for each request: None for a good
    answer, or a function(handler, question) that answers in its own way.
    """

    def __init__(self, reply=("Hello", " there", ".")):
        super().__init__(Handler)
        self.requests, self.script, self.reply = [], [], list(reply)
        self.pause = 0.0  # between pieces
        self.finish = "stop"
        self.streams = True  # an OpenAI-compatible server that does not stream answers whole
        self.gone = threading.Event()

    def handle_error(self, request, client_address):
        """A reader that hung up is nothing to write about."""

    def model(self, scheme="openai", **options):
        """The name of a model behind this server, with options as in a URL."""
        options = (
            {"base_url": self.url + "/v1"} | options
            if scheme == "openai"
            else {"host": self.url} | options
        )
        return f"{scheme}:m?" + "&".join(f"{name}={value}" for name, value in options.items())

    @property
    def messages(self):
        """Those of the last request."""
        return self.requests[-1][1]["messages"]


class Handler(ScriptedHandler):
    def answer_well(self, question):
        if self.path == "/v1/chat/completions":
            self.openai(question)
        elif self.path == "/api/chat":
            self.ollama(question)
        else:
            self.whole(404, {"error": {"message": "no such address"}})

    # ------------------------------------------------------------------------------ the answers ---

    def openai(self, question):
        usage = {
            "prompt_tokens": 11,
            "completion_tokens": len(self.server.reply),
            "total_tokens": 11 + len(self.server.reply),
        }
        common = {"id": "chatcmpl-1", "created": 1, "model": question["model"]}
        if not question.get("stream") or not self.server.streams:
            message = {"role": "assistant", "content": "".join(self.server.reply)}
            choice = {"index": 0, "message": message, "finish_reason": self.server.finish}
            return self.whole(
                200, {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
            )
        chunks = [chunk(common, {"role": "assistant", "content": ""})]
        chunks += [chunk(common, {"content": piece}) for piece in self.server.reply]
        chunks.append(chunk(common, {}, self.server.finish))
        if (question.get("stream_options") or {}).get("include_usage"):
            chunks.append(
                {**common, "object": "chat.completion.chunk", "choices": [], "usage": usage}
            )
        lines = [f"data: {json.dumps(part, ensure_ascii=False)}\n\n" for part in chunks]
        return self.stream(": a comment\n\n", *lines, "data: [DONE]\n\n", kind="text/event-stream")

    def ollama(self, question):
        name, when = question["model"], "2026-01-01T00:00:00.000000Z"
        counts = {
            "total_duration": 9,
            "prompt_eval_count": 11,
            "eval_count": len(self.server.reply),
        }
        ending = {"done": True, "done_reason": self.server.finish, **counts}
        said = lambda text: {"role": "assistant", "content": text}  # noqa: E731
        if question.get("stream") is False:
            whole = said("".join(self.server.reply))
            return self.whole(200, {"model": name, "created_at": when, "message": whole, **ending})
        parts = [
            {"model": name, "created_at": when, "message": said(p), "done": False}
            for p in self.server.reply
        ]
        parts.append({"model": name, "created_at": when, "message": said(""), **ending})
        lines = [json.dumps(part, ensure_ascii=False) + "\n" for part in parts]
        return self.stream(*lines, kind="application/x-ndjson")

    # --------------------------------------------------------------------------------- the wire ---

    def whole(self, status, body, **headers):
        raw = json.dumps(body).encode()
        self.send_response(status)
        shown = {
            "Content-Type": "application/json",
            "Content-Length": len(raw),
            "x-request-id": "req_7",
            **headers,
        }
        for name, value in shown.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(raw)

    def begin(self, kind="text/event-stream"):
        self.send_response(200)
        for name, value in {
            "Content-Type": kind,
            "Transfer-Encoding": "chunked",
            "x-request-id": "req_7",
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def stream(self, *pieces, kind="text/event-stream", is_whole=True):
        """Sends pieces as chunks, and notes when nobody reads them any more."""
        self.begin(kind)
        try:
            for piece in pieces:
                raw = piece.encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
                self.wfile.flush()
                time.sleep(self.server.pause)
            if is_whole:
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True
        except OSError:
            self.close_connection = True
            self.server.gone.set()


def chunk(common, delta, reason=None):
    """One event of OpenAI's stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {**common, "object": "chat.completion.chunk", "choices": [choice]}


def refuse(status, message="no", code=None, **headers):
    """A script entry that answers with an error."""
    error = {"error": {"message": message, "type": "error", "code": code}}
    return lambda handler, question: handler.whole(status, error, **headers)


def say(*lines, kind="text/event-stream", is_whole=True):
    """A script entry that streams these lines; is_whole=False breaks the connection after them."""
    return lambda handler, question: handler.stream(*lines, kind=kind, is_whole=is_whole)


def hang(seconds):
    """A script entry that says nothing for a while."""
    return lambda handler, question: time.sleep(seconds)


def event(content=None, reason=None):
    """A line of OpenAI's stream, for scripts."""
    delta = {} if content is None else {"content": content}
    return f"data: {json.dumps(chunk({'id': 'c', 'model': 'm'}, delta, reason))}\n\n"


def line(content="", **more):
    """A line of Ollama's stream, for scripts."""
    return (
        json.dumps(
            {
                "model": "m",
                "message": {"role": "assistant", "content": content},
                "done": False,
                **more,
            }
        )
        + "\n"
    )
