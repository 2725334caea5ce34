"""A search as a tool for language models: a JSON schema, and what it names as a function."""

from __future__ import annotations

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
    function = {"name": name, "description": description, "parameters": parameters}

    def call(query: str, k: int = k, where: Any = None) -> list[dict[str, Any]]:
        """The passages, best first."""
        if not 1 <= k <= MOST:
            raise ValueError(f"k lies between 1 and {MOST}, not {k}")
        asked = options if where is None else {**options, "where": where}
        return [
            {"id": hit.id, "source": hit.source, "score": hit.score, "text": hit.text}
            for hit in base.search(query, k, **asked)
        ]

    call.__name__ = name
    return Tool({"type": "function", "function": function}, call)
