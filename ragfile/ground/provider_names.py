"""Provider names with options in the form of a URL query.

openai:gpt-4.1-mini?base_url=http://127.0.0.1:8000/v1
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

from ragfile.errors import ModelError


def split_options(spec: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a name and its options. Keyword options override those in the name's query part."""
    name, _, query = spec.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    if any(key.lower().replace("-", "").replace("_", "").endswith("key") for key, _ in pairs):
        raise ModelError(
            "a key does not belong in a model's name, which files and logs keep: pass api_key="
        )
    written = {key: int(value) if value.isdecimal() else value for key, value in pairs}
    return name, {**written, **options}


def load(maker: str) -> Callable[..., Any]:
    """Import and return the function that "module:function" names."""
    module, _, function = maker.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(module), function)
    return loaded
