"""Loaders that other packages add by the entry point `ragfile.loaders`: one suffix, one function.

    def parse(raw, limits):
        yield "the text"                   # or a ragfile.Document, with metadata and tags

A name is a suffix without its dot. Built-in suffixes stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeAlias, cast

from ragfile.ground import plugins
from ragfile.ingest.loaders.contract import Extracted, Limits, Loader, LoadError
from ragfile.records import Document

_Parse: TypeAlias = Callable[[bytes, Limits], Iterable[object]]


def is_plugged(suffix: str) -> bool:
    """Return whether a package adds a loader for a suffix."""
    return len(suffix) > 1 and plugins.has("loaders", suffix[1:])


@cache
def plugged(name: str) -> Loader:
    """Load the plugin of a name.

    Raises:
        KeyError: No package adds it.
        ModelError: Its package cannot be imported.
    """
    if not plugins.has("loaders", name):
        raise KeyError(name)
    parse = cast("_Parse", plugins.load("loaders", name))
    return Loader(name, f"application/x-{name}", (f".{name}",), _extracting(name, parse))


def _extracting(name: str, parse: _Parse) -> Callable[[bytes, Limits], Iterator[Extracted]]:
    """Return a loader's function that converts a plugin's results to Extracted."""

    def extract(raw: bytes, limits: Limits) -> Iterator[Extracted]:
        try:
            yielded = parse(raw, limits)
            if isinstance(yielded, str | bytes):
                raise LoadError(f"the plugin {name} returns a text: let it yield the text")
            for number, found in enumerate(yielded, 1):
                yield _extracted(name, found, number)
        except SystemExit as error:  # the build is not the plugin's to end
            raise LoadError(f"the plugin {name} ended with exit({error.code!r})") from error

    return extract


def _extracted(name: str, found: object, number: int) -> Extracted:
    own_id = str(number) if number > 1 else ""
    if isinstance(found, str):
        return Extracted(found, id=own_id)
    if isinstance(found, Document):
        _check_metadata(name, found)
        return Extracted(
            found.text, metadata=dict(found.metadata), id=found.id or own_id, tags=tuple(found.tags)
        )
    raise LoadError(
        f"the plugin {name} yields texts or ragfile.Document, not {type(found).__name__}"
    )


def _check_metadata(name: str, document: Document) -> None:
    try:
        json.dumps(dict(document.metadata))
    except (TypeError, ValueError) as error:
        raise LoadError(f"the plugin {name} gives metadata that is not JSON: {error}") from error
