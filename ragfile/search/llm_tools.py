"""A search as a tool for language models: a JSON schema, and what it names as a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ragfile.options import SEARCH, K
from ragfile.search.option_schemas import TOOL

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST = 50  # passages a call


class Tool(NamedTuple):
    """`schema` is the JSON schema of a function as model APIs take it; `call` takes the arguments by name and returns
    passages that json.dumps can write."""

    schema: dict[str, Any]
    call: Callable[..., list[dict[str, Any]]]


def _both(fixed, given):
    """What passes the tool's own filter and the caller's: a caller narrows, and never widens."""
    if given is None or fixed is None:
        return fixed if given is None else given
    if not isinstance(given, Mapping) or not isinstance(fixed, Mapping):
        raise ValueError("this tool takes no filter, or not one of this kind")
    return {"$and": [fixed, given]}


def _described(name):
    option = K if name == "k" else SEARCH.options[name]
    return TOOL[name] | {"description": option.help}


def tool(base: Any, name: str, description: str, k: int, options: dict[str, Any]) -> Tool:
    """Return the tool of an open file. A model gives the question, and the options of a tool."""
    properties = {
        "query": {"type": "string", "description": "What to look for, in words."},
        **{option: _described(option) for option in TOOL},
    }
    properties["k"] |= {"minimum": 1, "maximum": MOST, "default": k}
    parameters = {
        "type": "object", "properties": properties, "required": ["query"], "additionalProperties": False,
    }  # fmt: skip
    options = dict(options)
    fixed = options.pop("where", None)
    if not (
        fixed is None or isinstance(fixed, Mapping)
    ):  # rows or ids, which no filter can be added to
        del properties["where"]
    function = {"name": name, "description": description, "parameters": parameters}

    def call(query: str, k: int = k, where: Any = None, **given: Any) -> list[dict[str, Any]]:
        """Return the passages, best first."""
        if not 1 <= k <= MOST:
            raise ValueError(f"k is from 1 to {MOST}, not {k}")
        if unknown := given.keys() - TOOL.keys():
            raise TypeError(f"{name} takes query, {', '.join(TOOL)}, not {min(unknown)}")
        hits = base.search(query, k, **(options | given), where=_both(fixed, where))
        return [
            {"id": hit.id, "source": hit.source, "score": hit.score, "text": hit.text}
            for hit in hits
        ]

    call.__name__ = name
    return Tool({"type": "function", "function": function}, call)
