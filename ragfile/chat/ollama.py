"""Ollama's /api/chat: one JSON object a line, the last of which says `done`."""

import os
from collections.abc import Iterator
from typing import Any

from ragfile.chat.openai import asked, parsed, patience
from ragfile.chat.protocol import Ending
from ragfile.embedding.http import ollama_url
from ragfile.net.json_client import Caller
from ragfile.net.retries import TransientError

NAMES = {"max_tokens": "num_predict"}


class OllamaChat:
    """A model of an Ollama server."""

    def __init__(
        self, caller: Caller, model: str, keep_alive: str | int | None, num_ctx: int | None
    ):
        self.caller = caller
        self.model = model
        self.name = f"ollama:{model}"
        self._fixed = {} if keep_alive is None else {"keep_alive": keep_alive}
        self._options = {} if num_ctx is None else {"num_ctx": num_ctx}

    def chat(self, messages, **parameters) -> Iterator[str | Ending]:
        options = self._options | {
            NAMES.get(name, name): value for name, value in parameters.items()
        }
        question = {"model": self.model, "messages": messages, "stream": True, **self._fixed}
        if options:
            question["options"] = options
        return asked(self.caller, "/api/chat", question, self._read)

    def _read(self, lines):
        for line in lines:
            if not line.strip():
                continue
            event = parsed(self.caller.base_url, line)
            message = event.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            if isinstance(content, str) and content:
                yield content
            if event.get("done"):
                yield Ending(
                    str(event.get("done_reason") or "stop"),
                    _usage(event),
                    str(event.get("model") or ""),
                )
                return
        raise TransientError("the answer stopped before its end")

    def close(self):
        """Closes the connections."""
        self.caller.close()

    def __repr__(self):
        return f"OllamaChat({self.model} at {self.caller.base_url})"


def _usage(event):
    """Ollama's counts under the names that OpenAI gave them."""
    counts = [event.get("prompt_eval_count"), event.get("eval_count")]
    if not all(isinstance(count, int) for count in counts):
        return {}
    return {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}


def model(
    name: str, *, host: str | None = None, keep_alive: str | int | None = None,
    num_ctx: int | None = None, **calling: Any,
) -> OllamaChat:  # fmt: skip
    """A model of an Ollama server, whose address defaults to OLLAMA_HOST. num_ctx is the size of
    its context in tokens.
    """
    caller = Caller(ollama_url(host or os.environ.get("OLLAMA_HOST")), **patience(calling))
    return OllamaChat(caller, name, keep_alive, num_ctx)
