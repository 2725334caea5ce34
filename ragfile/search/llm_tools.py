"""A search as a tool for language models: a JSON schema, and what it names as a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

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


def tool(base: Any, name: str, description: str, k: int, options: dict[str, Any]) -> Tool:
    """The tool of an open file. A model may say the question, how many passages, and a filter."""
    properties = {
        "query": {"type": "string", "description": "What to look for, in words."},
        "k": {"type": "integer", "minimum": 1, "maximum": MOST, "default": k, "description": "How many passages."},
        "where": {
            "type": "object",
            "description": 'A filter on metadata, such as {"year": {"$gte": 2020}}.',
        },
    }  # fmt: skip
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

    def call(query: str, k: int = k, where: Any = None) -> list[dict[str, Any]]:
        """The passages, best first."""
        if not 1 <= k <= MOST:
            raise ValueError(f"k lies between 1 and {MOST}, not {k}")
        hits = base.search(query, k, **options, where=_both(fixed, where))
        return [
            {"id": hit.id, "source": hit.source, "score": hit.score, "text": hit.text}
            for hit in hits
        ]

    call.__name__ = name
    return Tool({"type": "function", "function": function}, call)
