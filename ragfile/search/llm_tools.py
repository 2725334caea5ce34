"""A search as a tool for language models: its JSON schema, and the function that answers calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

from ragfile.options import SEARCH, K
from ragfile.search.option_schemas import TOOL

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ragfile.ground.option_table import Schema
    from ragfile.options import SearchOptions
    from ragfile.search.rows_protocol import Searcher
    from ragfile.types import RowFilter

MOST = 50  # passages a call


class Tool(NamedTuple):
    """A tool for a language model.

    `schema` is the JSON schema of a function, as model APIs take it. `call` takes the arguments by name
    and returns passages that json.dumps can write.
    """

    schema: dict[str, Any]
    call: Callable[..., list[dict[str, Any]]]


def _both(fixed: RowFilter | None, given: RowFilter | None) -> RowFilter | None:
    """Return a filter that both the tool and the caller must pass: a caller can only narrow the search."""
    if given is None or fixed is None:
        return fixed if given is None else given
    if not isinstance(given, Mapping) or not isinstance(fixed, Mapping):
        raise ValueError("this tool takes no where=, or only a filter on metadata (a dict)")
    return {"$and": [fixed, given]}


def _described(name: str) -> Schema:
    """Return the schema of an option, with its help."""
    option = K if name == "k" else SEARCH.options[name]
    return TOOL[name] | {"description": option.help}


def tool(base: Searcher, name: str, description: str, k: int, options: SearchOptions) -> Tool:
    """Return the tool of an open file. The model gives the question and the options that tools offer."""
    properties: dict[str, Schema] = {
        "query": {"type": "string", "description": "What to look for, in words."},
        **{option: _described(option) for option in TOOL},
    }
    properties["k"] |= {"minimum": 1, "maximum": MOST, "default": k}
    parameters = {
        "type": "object", "properties": properties, "required": ["query"], "additionalProperties": False,
    }  # fmt: skip
    options = options.copy()
    fixed = options.pop("where", None)
    if not (fixed is None or isinstance(fixed, Mapping)):
        del properties["where"]  # rows and ids cannot be combined with a filter
    function = {"name": name, "description": description, "parameters": parameters}

    def call(
        query: str, k: int = k, where: RowFilter | None = None, **given: object
    ) -> list[dict[str, Any]]:
        """Return the passages, best first."""
        if not 1 <= k <= MOST:
            raise ValueError(f"k is from 1 to {MOST}, not {k}")
        if unknown := given.keys() - TOOL.keys():
            raise TypeError(f"{name} takes query, {', '.join(TOOL)}, not {min(unknown)}")
        asked = cast("SearchOptions", {**options, **given, "where": _both(fixed, where)})
        hits = base.search(query, k, **asked)
        return [
            {"id": hit.id, "source": hit.source, "score": hit.score, "text": hit.text}
            for hit in hits
        ]

    call.__name__ = name
    return Tool({"type": "function", "function": function}, call)
