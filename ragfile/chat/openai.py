"""OpenAI's /chat/completions, which many servers implement, as a stream of server-sent events.

A single JSON object in response to a streamed request is accepted too. The texts of a model's
reasoning, which some servers send in other fields, are not part of the answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast

from ragfile.chat.protocol import ContextTooLongError, Ending
from ragfile.embedding.http import OPENAI_URL
from ragfile.errors import ProviderError
from ragfile.net.json_client import Caller, CallError, bearer
from ragfile.net.retries import TransientError

if TYPE_CHECKING:
    from ragfile.chat.protocol import Message
    from ragfile.net.json_client import CallOptions

# Of an interactive call to a model that may be slow to begin.
TIMEOUT, ATTEMPTS, LONGEST_WAIT = 120.0, 3, 10.0
TOO_LONG = (
    "context_length_exceeded",
    "context length",
    "context window",
    "too many tokens",
    "exceeds the available context",
)


class OpenAIChat:
    """A model behind POST {base}/chat/completions."""

    def __init__(self, caller: Caller, model: str) -> None:
        self.caller = caller
        self.model = model
        self.name = f"openai:{model}"

    def chat(
        self,
        messages: Sequence[Message],
        **parameters: object,  # of the provider's own types
    ) -> Iterator[str | Ending]:
        """Stream the answer to messages: pieces of text, then an Ending."""
        question: dict[str, Any] = {
            "model": self.model, "messages": messages, "stream": True,
            "stream_options": {"include_usage": True},
        } | parameters  # fmt: skip
        if self.caller.base_url == OPENAI_URL and "max_tokens" in question:
            # OpenAI's newer models reject the old name.
            question["max_completion_tokens"] = question.pop("max_tokens")
        return asked(self.caller, "/chat/completions", question, self._read)

    def _read(self, lines: Iterable[str]) -> Iterator[str | Ending]:
        """Yield the texts of a stream and its Ending; a stream without one is an error."""
        usage: dict[str, int] = {}
        model: object = ""
        reason: object = ""
        for event in _objects(self.caller.base_url, lines):
            usage = _usage(event) or usage
            model = event.get("model") or model
            choice = _choice(self.caller.base_url, event)
            reason = choice.get("finish_reason") or reason
            content = _message(self.caller.base_url, choice).get("content")
            if isinstance(content, str) and content:
                yield content
        if not reason:
            raise TransientError("the answer stopped before its end")
        yield Ending(str(reason), usage, str(model))

    def close(self) -> None:
        """Close the connections."""
        self.caller.close()

    def __repr__(self) -> str:
        return f"OpenAIChat({self.model} at {self.caller.base_url})"


def asked(
    caller: Caller,
    path: str,
    question: dict[str, Any],
    read: Callable[[Iterable[str]], Iterator[str | Ending]],
) -> Iterator[str | Ending]:
    """Stream an answer; raise ContextTooLongError if the model's context is too small."""
    return _with_class(caller.stream(path, question, read))


def _with_class(events: Iterator[str | Ending]) -> Iterator[str | Ending]:
    try:
        yield from events
    except CallError as error:
        if error.status in (400, 413, 422) and any(
            sign in (str(error) + error.body).lower() for sign in TOO_LONG
        ):
            raise ContextTooLongError(str(error)) from error
        raise


def _objects(source: str, lines: Iterable[str]) -> Iterator[dict[str, object]]:
    """Yield the JSON objects of server-sent events until [DONE], or that of an unstreamed body."""
    whole: list[str] = []
    for line in lines:
        if line.startswith("data:"):
            data = line[5:].strip()
            if data == "[DONE]":
                return
            yield parsed(source, data)
        elif line.lstrip().startswith("{") or whole:
            whole.append(line)
    if whole:
        yield parsed(source, "\n".join(whole))


def parsed(source: str, text: str) -> dict[str, object]:
    """Parse one JSON object of a stream; raise ProviderError for others and for a server's error."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProviderError(f"{source}: the stream holds {text[:60]!r}, which is not a JSON object")
    event = cast("dict[str, object]", found)
    if error := event.get("error"):
        is_object = isinstance(error, dict)
        fields = cast("dict[str, object]", error if is_object else {})
        raise ProviderError(f"{source}: {str(fields.get('message', error))[:500]}")
    return event


def _choice(source: str, event: Mapping[str, object]) -> dict[str, object]:
    """Return the first choice of an event; an event with usage alone has none."""
    choices: object = event.get("choices") or cast("list[object]", [{}])
    first = cast("list[object]", choices)[0] if isinstance(choices, list) else None
    if not isinstance(first, dict):
        raise ProviderError(
            f"{source}: an event of the stream has choices that are not a list of objects"
        )
    return cast("dict[str, object]", first)


def _message(source: str, choice: Mapping[str, object]) -> dict[str, object]:
    """Return the delta or the message of a choice, which must be an object."""
    message = choice.get("delta") or choice.get("message") or cast("dict[str, object]", {})
    if not isinstance(message, dict):
        raise ProviderError(
            f"{source}: a choice of the stream holds {message!r:.60}, not an object"
        )
    return cast("dict[str, object]", message)


def _usage(event: Mapping[str, object]) -> dict[str, int]:
    usage = event.get("usage")
    counts = cast("dict[str, object]", usage) if isinstance(usage, dict) else {}
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    found = {name: counts.get(name) for name in names}
    return {name: count for name, count in found.items() if isinstance(count, int)}


def model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    **calling: Unpack[CallOptions],
) -> OpenAIChat:
    """Open a chat model behind OpenAI's API.

    Args:
        name: The model's name on the server.
        base_url: The URL before /chat/completions; OPENAI_BASE_URL, else OpenAI's, by default.
        api_key: The key; OPENAI_API_KEY by default. OpenAI itself needs one.
        **calling: timeout, attempts, first_wait and longest_wait of net.json_client.Caller.
    """
    base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    api_key = api_key or os.environ.get("OPENAI_API_KEY")
    if not api_key and base_url.rstrip("/") == OPENAI_URL:
        raise ProviderError(
            f"{OPENAI_URL} needs a key: set OPENAI_API_KEY, or pass api_key or another base_url"
        )
    return OpenAIChat(Caller(base_url, headers=bearer(api_key), **patience(calling)), name)


def patience(calling: CallOptions) -> CallOptions:
    """Return the options of a chat model's Caller: the defaults below those of the caller."""
    return {"timeout": TIMEOUT, "attempts": ATTEMPTS, "longest_wait": LONGEST_WAIT, **calling}
