"""Messages to text: what a chat model is, the names of those that are servers, and the parameters
that all of them know.

    openai:gpt-4.1-mini    a server with OpenAI's /chat/completions (OPENAI_BASE_URL,
    OPENAI_API_KEY)    (extra: http) ollama:llama3.2        an Ollama server (OLLAMA_HOST)
    (extra: http)

Options follow a name as in a URL, "openai:qwen3?base_url=http://127.0.0.1:8000/v1", or come as
keyword arguments. Any object with `chat(messages, …)` is a model too: it answers with a str, or
with an iterable of them, and is given only those parameters that the caller has set.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Protocol

from ragfile.errors import ModelError, ProviderError
from ragfile.ground.offline import is_offline, why
from ragfile.ground.provider_names import load, split_options

PROVIDERS = {"openai": "ragfile.chat.openai:model", "ollama": "ragfile.chat.ollama:model"}
NAMES = " or ".join(f"{scheme}:MODEL" for scheme in PROVIDERS)
ROLES = ("user", "assistant")
HOTTEST = 2.0
STOPS = 4  # sequences, as OpenAI allows

Message = dict[str, str]


class ContextTooLongError(ProviderError):
    """The model's context does not hold the messages: fewer passages might fit."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What a model says when it is done. `reason` is "stop", "length" (its limit of tokens) or
    another word of its own.
    """

    reason: str = "stop"
    usage: dict[str, int] = field(default_factory=dict)
    model: str = ""


class ChatModel(Protocol):
    """The role: anything with this can be given wherever a chat model is asked for."""

    def chat(self, messages: Sequence[Message], **parameters: Any) -> str | Iterable[str | Ending]:
        """The answer, whole or as it comes; an iterable may end with an Ending, and is closed when
        nobody reads on.
        """
        ...


def open_chat(spec: str | ChatModel, *, offline: bool = False, **options: Any) -> ChatModel:
    """The chat model that a name stands for. A model stands for itself."""
    if not isinstance(spec, str):
        return _in_role(spec)
    name, options = split_options(spec, options)
    scheme, _, model = name.partition(":")
    if scheme not in PROVIDERS or not model:
        raise ModelError(f"no chat model is called {spec!r}: name one as {NAMES}")
    if offline or is_offline():
        raise ProviderError(why(f"the chat model {name}"))
    try:
        return load(PROVIDERS[scheme])(model, **options)
    except TypeError as error:
        raise ModelError(f"{spec}: {error}") from None


def _in_role(model: Any) -> ChatModel:
    if not callable(getattr(model, "chat", None)):
        raise TypeError(
            f"{type(model).__name__} is not a chat model: it has no method chat(messages, …)"
        )
    return model


def spoken(
    model: ChatModel, messages: Sequence[Message], parameters: Mapping[str, Any]
) -> Generator[str | Ending]:
    """What a model answers: pieces of text and at most one Ending; ModelError for anything else."""
    answer = model.chat(list(messages), **parameters)
    if isinstance(answer, str):
        answer = [answer]
    if not isinstance(answer, Iterable) or isinstance(answer, bytes | Mapping):
        raise ModelError(
            f"{name_of(model)} answered with {type(answer).__name__}, not with text or pieces of it"
        )
    return _pieces(model, answer)


def _pieces(model, answer):
    try:
        for piece in answer:
            if not isinstance(piece, str | Ending):
                raise ModelError(
                    f"{name_of(model)} answered with a piece of {type(piece).__name__}, not str"
                )
            yield piece
    finally:
        close = getattr(answer, "close", None)
        if close is not None:
            close()


def name_of(model: Any) -> str:
    """What an answer calls its model."""
    return str(getattr(model, "name", "") or type(model).__name__)


# ----------------------------------------------------------------------------------- parameters ---


def parameters(
    *, temperature: float | None = None, max_tokens: int | None = None,
    stop: str | Sequence[str] | None = None, seed: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Those that are set, checked."""
    found = {
        "temperature": None if temperature is None else _temperature(temperature),
        "max_tokens": None if max_tokens is None else _whole("max_tokens", max_tokens, 1),
        "stop": None if stop is None else _stops(stop),
        "seed": None if seed is None else _whole("seed", seed, None),
    }
    return {name: value for name, value in found.items() if value is not None}


def _temperature(value):
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"temperature is a number, not {type(value).__name__}")
    number = float(value)
    if not 0 <= number <= HOTTEST:
        raise ValueError(f"temperature is from 0 to {HOTTEST:g}, not {value}")
    return number


def _whole(name, value, least):
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
    if least is not None and value < least:
        raise ValueError(f"{name} is at least {least}, not {value}")
    return int(value)


def _stops(value):
    stops = [value] if isinstance(value, str) else list(value)
    if not all(isinstance(stop, str) for stop in stops):
        raise TypeError("stop is a text or a list of texts")
    if not stops or len(stops) > STOPS or "" in stops:
        raise ValueError(f"stop is 1 to {STOPS} texts, none of them empty")
    return stops


def history_of(turns: Iterable[Mapping[str, Any]]) -> list[Message]:
    """The turns of a conversation so far, as messages; an error names the turn that is none."""
    found = []
    for number, turn in enumerate(turns):
        if not isinstance(turn, Mapping) or not {"role", "content"} <= turn.keys():
            raise TypeError(f'history[{number}] is not {{"role": …, "content": …}}')
        if turn["role"] not in ROLES:
            raise ValueError(
                f"history[{number}] has the role {turn['role']!r}; there are {', '.join(ROLES)}"
            )
        if not isinstance(turn["content"], str):
            raise TypeError(
                f"history[{number}] has a content that is {type(turn['content']).__name__}, not str"
            )
        found.append({"role": turn["role"], "content": turn["content"]})
    return found
