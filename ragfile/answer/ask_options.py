"""The options of `ask`: those of a search, of a model, and of the prompt."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from ragfile.answer.passage_budget import estimate_tokens
from ragfile.chat.protocol import ChatModel
from ragfile.ground.option_table import Option, OptionTable, Schema
from ragfile.options import SearchOptions

BUDGET = 2000
K = 12

_NO_CHAT = "a page has no model"
_NOT_JSON = "a function is no JSON"
_TURN: Schema = {
    "type": "object", "required": ["role", "content"], "additionalProperties": False,
    "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
}  # fmt: skip


class AskOptions(SearchOptions, total=False):
    """The options of `ask`, for functions that pass them on."""

    model: Annotated[str | ChatModel | None, Option(
        "Chat model, such as `openai:gpt-4.1-mini` or `ollama:llama3.2`. Without one, the answer "
        "quotes the file.",
        more="In Python also an object with chat(messages).", schema={"type": "string"}, absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    k: Annotated[int, Option(
        "Number of passages to retrieve.", K, minimum=0, limit=("max_k", 1), flag="-k",
        absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    budget: Annotated[int, Option(
        "Number of tokens for passages in the prompt.", BUDGET, minimum=0, limit=("", 1_000_000),
        metavar="TOKENS", absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    history: Annotated[Iterable[Mapping[str, str]], Option(
        'Turns before the question, such as {"role": "user", "content": "…"}.', (),
        schema={"type": "array", "items": _TURN},
        absent={"cli": "one command asks one question", "browser": _NO_CHAT},
    )]  # fmt: skip
    system: Annotated[str | Sequence[str], Option(
        "Texts that come before the rules of the prompt.", (), absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    temperature: Annotated[float | None, Option(
        "Randomness of the model's words, from 0 to 2.", absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    max_tokens: Annotated[int | None, Option(
        "Maximum number of tokens of the answer.", absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    stop: Annotated[str | Sequence[str] | None, Option(
        "Texts at which the answer ends.", absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    seed: Annotated[int | None, Option(
        "Seed, for models that take one.", absent={"browser": _NO_CHAT},
    )]  # fmt: skip
    count: Annotated[Callable[[str], int], Option(
        "Function that counts the tokens of a text.", estimate_tokens,
        absent={"rest": _NOT_JSON, "cli": _NOT_JSON, "browser": _NO_CHAT},
    )]  # fmt: skip
    offline: Annotated[bool, Option(
        "Open no socket.", False,
        absent={
            "rest": "the server decides", "cli": "a switch of every command", "browser": _NO_CHAT,
        },
    )]  # fmt: skip
    allow_ungrounded: Annotated[bool, Option(
        "Let the model answer without passages if the file cannot be read.", False,
        absent={"browser": _NO_CHAT},
    )]  # fmt: skip


ASK = OptionTable(AskOptions, "ask")
