"""The protocol of chat models, the names of the providers, and the parameters that all models take.

    openai:gpt-4.1-mini    a server with OpenAI's /chat/completions (OPENAI_BASE_URL, OPENAI_API_KEY)
    ollama:llama3.2        an Ollama server (OLLAMA_HOST)

    NAME:MODEL             a model that a plugin adds under NAME

Ollama's and OpenAI's need the extra `http`. Options follow a name as in a URL,
"openai:qwen3?base_url=http://127.0.0.1:8000/v1", or come as keyword arguments. Any object with
`chat(messages, …)` is a model too: it returns a str or an iterable of them, and receives only the
parameters that the caller has set.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias, cast

from ragfile.errors import ModelError, ProviderError
from ragfile.ground import plugins
from ragfile.ground.offline import is_offline, why
from ragfile.ground.provider_names import load, split_options

PROVIDERS = {"openai": "ragfile.chat.openai:model", "ollama": "ragfile.chat.ollama:model"}
NAMES = " or ".join(f"{scheme}:MODEL" for scheme in PROVIDERS)
ROLES = ("user", "assistant")
HOTTEST = 2.0
STOPS = 4  # sequences, OpenAI's limit

Message: TypeAlias = dict[str, str]
"""A turn of a conversation: {"role": …, "content": …}."""


class ContextTooLongError(ProviderError):
    """The messages do not fit into the model's context; fewer passages might."""


def _no_usage() -> dict[str, int]:
    return {}


@dataclass(frozen=True, slots=True)
class Ending:
    """The last item of a model's answer.

    Attributes:
        reason: "stop", "length" (the limit of tokens was reached) or the provider's own word.
        usage: Token counts by OpenAI's names; empty if the model reports none.
        model: The model's name according to the server.
    """

    reason: str = "stop"
    usage: dict[str, int] = field(default_factory=_no_usage)
    model: str = ""


class ChatModel(Protocol):
    """Any object with this method can be passed as a chat model."""

    def chat(
        self,
        messages: Sequence[Message],
        **parameters: object,  # of the provider's own types
    ) -> str | Iterable[str | Ending]:
        """Answer a conversation, whole or piece by piece.

        An iterable may end with an Ending. It is closed if the caller stops reading.

        Args:
            messages: Turns with the roles "system", "user" and "assistant".
            **parameters: Those of temperature, max_tokens, stop and seed that the caller has set.

        Returns:
            The text, or an iterable of its pieces.
        """
        ...


def open_chat(
    spec: str | ChatModel,
    *,
    offline: bool = False,
    **options: object,
) -> ChatModel:
    """Open the chat model that a name stands for, or check and return a model object.

    Args:
        spec: "openai:MODEL", "ollama:MODEL", or an object with a method `chat`.
        offline: Refuse models that need the network, as RAGFILE_OFFLINE does.
        **options: Options of the provider, such as base_url.

    Raises:
        ModelError: No model has this name, or it does not know an option.
        ProviderError: The model needs the network in offline mode.
        TypeError: The object has no method `chat`.
    """
    if not isinstance(spec, str):
        return _in_role(spec)
    name, options = split_options(spec, options)
    scheme, _, model = name.partition(":")
    is_plugin = scheme not in PROVIDERS and plugins.has("chat", scheme)
    if not is_plugin and (scheme not in PROVIDERS or not model):
        raise ModelError(f"no chat model is called {spec!r}: name one as {NAMES}")
    maker = plugins.load("chat", scheme) if is_plugin else load(PROVIDERS[scheme])
    if (offline or is_offline()) and not getattr(maker, "is_local", False):
        raise ProviderError(why(f"the chat model {name}"))
    try:
        return _in_role(cast("ChatModel", maker(model, **options)))
    except TypeError as error:
        raise ModelError(f"{spec}: {error}") from None


def _in_role(model: ChatModel) -> ChatModel:
    if not callable(getattr(model, "chat", None)):
        raise TypeError(
            f"{type(model).__name__} is not a chat model: it has no method chat(messages, …)"
        )
    return model


def spoken(
    model: ChatModel, messages: Sequence[Message], parameters: Mapping[str, Any]
) -> Generator[str | Ending]:
    """Yield a model's answer: pieces of text and at most one Ending.

    ModelError is raised if the model returns anything else.
    """
    answer = model.chat(list(messages), **parameters)
    if isinstance(answer, str):
        return _pieces(model, [answer])
    pieces = _pieces_of(answer)
    if pieces is None:
        kind = type(answer).__name__
        raise ModelError(f"{name_of(model)} answered with {kind}, not with text or pieces of it")
    return _pieces(model, pieces)


def _pieces_of(answer: object) -> Iterable[object] | None:
    """Return an answer that is an iterable of pieces, or None for any other object."""
    if not isinstance(answer, Iterable) or isinstance(answer, bytes | Mapping):
        return None
    return cast("Iterable[object]", answer)


def _pieces(model: ChatModel, answer: Iterable[object]) -> Generator[str | Ending]:
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


def name_of(model: object) -> str:
    """Return the name of a model that an answer reports."""
    return str(getattr(model, "name", "") or type(model).__name__)


def parameters(
    *, temperature: float | None = None, max_tokens: int | None = None,
    stop: str | Sequence[str] | None = None, seed: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Check a model's parameters and return those that are set."""
    found: dict[str, Any] = {
        "temperature": None if temperature is None else _temperature(temperature),
        "max_tokens": None if max_tokens is None else _whole("max_tokens", max_tokens, 1),
        "stop": None if stop is None else _stops(stop),
        "seed": None if seed is None else _whole("seed", seed, None),
    }
    return {name: value for name, value in found.items() if value is not None}


def _temperature(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"temperature is a number, not {type(value).__name__}")
    number = float(value)
    if not 0 <= number <= HOTTEST:
        raise ValueError(f"temperature is from 0 to {HOTTEST:g}, not {value}")
    return number


def _whole(name: str, value: object, lowest: int | None) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
    number = int(value)
    if lowest is not None and number < lowest:
        raise ValueError(f"{name} is at least {lowest}, not {value}")
    return number


def _stops(value: str | Sequence[object]) -> list[str]:
    stops = [value] if isinstance(value, str) else list(value)
    texts = [stop for stop in stops if isinstance(stop, str)]
    if len(texts) < len(stops):
        raise TypeError("stop is a text or a list of texts")
    if not texts or len(texts) > STOPS or "" in texts:
        raise ValueError(f"stop is 1 to {STOPS} texts, none of them empty")
    return texts


def history_of(turns: Iterable[object]) -> list[Message]:
    """Return the earlier turns of a conversation as messages; an error names the wrong turn."""
    return [_turn(number, turn) for number, turn in enumerate(turns)]


def _turn(number: int, turn: object) -> Message:
    if not isinstance(turn, Mapping) or not {"role", "content"} <= turn.keys():
        raise TypeError(f'history[{number}] is not {{"role": …, "content": …}}')
    fields = cast("Mapping[str, object]", turn)
    role, content = fields["role"], fields["content"]
    if role not in ROLES:
        raise ValueError(f"history[{number}] has the role {role!r}; there are {', '.join(ROLES)}")
    if not isinstance(content, str):
        raise TypeError(
            f"history[{number}] has a content that is {type(content).__name__}, not str"
        )
    return {"role": str(role), "content": content}
