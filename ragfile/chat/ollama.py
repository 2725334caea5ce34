"""Ollama's /api/chat: one JSON object per line, the last with `done`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast

from ragfile.chat.openai import asked, parsed, patience
from ragfile.chat.protocol import Ending
from ragfile.embedding.http import ollama_url
from ragfile.net.json_client import Caller
from ragfile.net.retries import TransientError

if TYPE_CHECKING:
    from ragfile.chat.protocol import Message
    from ragfile.net.json_client import CallOptions

NAMES = {"max_tokens": "num_predict"}


class OllamaChat:
    """A chat model of an Ollama server."""

    def __init__(
        self, caller: Caller, model: str, keep_alive: str | int | None, num_ctx: int | None
    ) -> None:
        self.caller = caller
        self.model = model
        self.name = f"ollama:{model}"
        self._fixed = {} if keep_alive is None else {"keep_alive": keep_alive}
        self._options = {} if num_ctx is None else {"num_ctx": num_ctx}

    def chat(
        self,
        messages: Sequence[Message],
        **parameters: object,  # of the provider's own types
    ) -> Iterator[str | Ending]:
        """Stream the answer to messages: pieces of text, then an Ending."""
        options: dict[str, Any] = self._options | {
            NAMES.get(name, name): value for name, value in parameters.items()
        }
        question: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "stream": True,
            **self._fixed,
        }
        if options:
            question["options"] = options
        return asked(self.caller, "/api/chat", question, self._read)

    def _read(self, lines: Iterable[str]) -> Iterator[str | Ending]:
        """Yield the texts of a stream and its Ending; a stream without one is an error."""
        for line in lines:
            if not line.strip():
                continue
            event = parsed(self.caller.base_url, line)
            if content := _content(event):
                yield content
            if event.get("done"):
                yield _ending(event)
                return
        raise TransientError("the answer stopped before its end")

    def close(self) -> None:
        """Close the connections."""
        self.caller.close()

    def __repr__(self) -> str:
        return f"OllamaChat({self.model} at {self.caller.base_url})"


def _content(event: Mapping[str, object]) -> str:
    """Return the text of an event, "" if it has none."""
    message = event.get("message")
    if not isinstance(message, dict):
        return ""
    content = cast("dict[str, object]", message).get("content")
    return content if isinstance(content, str) else ""


def _ending(event: Mapping[str, object]) -> Ending:
    reason, model = event.get("done_reason") or "stop", event.get("model") or ""
    return Ending(str(reason), _usage(event), str(model))


def _usage(event: Mapping[str, object]) -> dict[str, int]:
    """Return Ollama's token counts under OpenAI's names."""
    prompt, completion = event.get("prompt_eval_count"), event.get("eval_count")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return {}
    total = prompt + completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


def model(
    name: str, *, host: str | None = None, keep_alive: str | int | None = None,
    num_ctx: int | None = None, **calling: Unpack[CallOptions],
) -> OllamaChat:  # fmt: skip
    """Open a model of an Ollama server.

    Args:
        name: The model's name on the server, such as "llama3.2".
        host: The server's URL, host or host:port; OLLAMA_HOST by default.
        keep_alive: How long the server keeps the model loaded, as Ollama writes it.
        num_ctx: The size of the model's context in tokens; the server's default if None.
        **calling: timeout, attempts, first_wait and longest_wait of net.json_client.Caller.
    """
    caller = Caller(ollama_url(host or os.environ.get("OLLAMA_HOST")), **patience(calling))
    return OllamaChat(caller, name, keep_alive, num_ctx)
