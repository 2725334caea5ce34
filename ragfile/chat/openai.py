"""OpenAI's /chat/completions, which many servers speak: streamed, as server-sent events.

A server that answers a streamed request with one JSON object is taken at its word. Texts of a
model's thinking, which some servers send under other names, are not part of the answer.
"""

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from ragfile.chat.protocol import ContextTooLongError, Ending
from ragfile.embedding.http import OPENAI_URL
from ragfile.errors import ProviderError
from ragfile.net.json_client import Caller, CallError, bearer
from ragfile.net.retries import TransientError

TIMEOUT, ATTEMPTS, LONGEST_WAIT = (
    120.0,
    3,
    10.0,
)  # of a call that somebody waits for, for a model that is slow to begin
TOO_LONG = (
    "context_length_exceeded",
    "context length",
    "context window",
    "too many tokens",
    "exceeds the available context",
)


class OpenAIChat:
    """A model behind POST {base}/chat/completions."""

    def __init__(self, caller: Caller, model: str):
        self.caller = caller
        self.model = model
        self.name = f"openai:{model}"

    def chat(self, messages, **parameters) -> Iterator[str | Ending]:
        question = {
            "model": self.model, "messages": messages, "stream": True,
            "stream_options": {"include_usage": True},
        } | parameters  # fmt: skip
        if (
            self.caller.base_url == OPENAI_URL and "max_tokens" in question
        ):  # its newer models refuse the older name
            question["max_completion_tokens"] = question.pop("max_tokens")
        return asked(self.caller, "/chat/completions", question, lambda lines: self._read(lines))

    def _read(self, lines):
        """Texts, and what the model says at the end; the texts come first, and a connection that
        ends early is an error.
        """
        usage, model, reason = {}, "", ""
        for event in _objects(self.caller.base_url, lines):
            usage = _usage(event) or usage
            model = event.get("model") or model
            choice = _choice(self.caller.base_url, event)
            reason = choice.get("finish_reason") or reason
            content = _said(self.caller.base_url, choice).get("content")
            if isinstance(content, str) and content:
                yield content
        if not reason:
            raise TransientError("the answer stopped before its end")
        yield Ending(str(reason), usage, str(model))

    def close(self):
        """Closes the connections."""
        self.caller.close()

    def __repr__(self):
        return f"OpenAIChat({self.model} at {self.caller.base_url})"


def asked(caller: Caller, path: str, question: dict[str, Any], read) -> Iterator[str | Ending]:
    """The stream of an answer; a refusal for want of room says so by its class."""
    return _with_class(caller.stream(path, question, read))


def _with_class(events):
    try:
        yield from events
    except CallError as error:
        if error.status in (400, 413, 422) and any(
            sign in (str(error) + error.body).lower() for sign in TOO_LONG
        ):
            raise ContextTooLongError(str(error)) from error
        raise


def _objects(source: str, lines: Iterable[str]) -> Iterator[dict]:
    """The JSON objects of server-sent events, until [DONE]; or the one object of a server that does
    not stream.
    """
    lines, whole = iter(lines), []
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


def parsed(source: str, text: str) -> dict:
    """One JSON object of a stream; ProviderError for anything else, and for an error that the
    server puts in.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProviderError(f"{source}: the stream holds {text[:60]!r}, which is not a JSON object")
    if found.get("error"):
        error = found["error"]
        said = error.get("message", error) if isinstance(error, dict) else error
        raise ProviderError(f"{source}: {str(said)[:500]}")
    return found


def _choice(source, event):
    """The first choice of an event; an event of usage alone has none."""
    choices = event.get("choices") or [{}]
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise ProviderError(
            f"{source}: an event of the stream has choices that are not a list of objects"
        )
    return choices[0]


def _said(source, choice):
    """The delta or the message of a choice, which must be an object."""
    said = choice.get("delta") or choice.get("message") or {}
    if not isinstance(said, dict):
        raise ProviderError(f"{source}: a choice of the stream holds {said!r:.60}, not an object")
    return said


def _usage(event):
    usage = event.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: counts[name] for name in names if isinstance(counts.get(name), int)}


def model(
    name: str, *, base_url: str | None = None, api_key: str | None = None, **calling: Any
) -> OpenAIChat:
    """A chat model behind OpenAI's protocol. The key and address default to OPENAI_API_KEY and
    OPENAI_BASE_URL.
    """
    base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    api_key = api_key or os.environ.get("OPENAI_API_KEY")
    if not api_key and base_url.rstrip("/") == OPENAI_URL:
        raise ProviderError(
            f"{OPENAI_URL} needs a key: set OPENAI_API_KEY, or pass api_key or another base_url"
        )
    return OpenAIChat(Caller(base_url, headers=bearer(api_key), **patience(calling)), name)


def patience(calling: dict[str, Any]) -> dict[str, Any]:
    """How a chat model is waited for, unless the caller says otherwise."""
    return {"timeout": TIMEOUT, "attempts": ATTEMPTS, "longest_wait": LONGEST_WAIT} | calling
