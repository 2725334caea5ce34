"""Prompts from templates, and the list of sources for people.

A template is text with `{{name}}` and one kind of block, `{{#each contexts}} … {{/each}}`. Outside a block the names
are those given to `render`; inside, a context's `text`, `score`, `doc_id`, `chunk_index` and `metadata.<path>`. An
unknown name is an error; a metadata key that a context lacks is blank. A template is parsed once and values are
inserted as they are, so no passage or question can act as template syntax.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ragfile.ground.json_values import is_object
from ragfile.records import NUMBERED, Candidate, Hit
from ragfile.types import Fields

TEMPLATE = """\
You are a helpful assistant. Use the provided context to answer the user's question.
If the answer is not in the context, say you don't know.

Question:
{{query}}

Context:
{{#each contexts}}
[Source: {{metadata.file_id}} page={{metadata.page}} score={{score}}]
{{text}}

{{/each}}

Answer:
"""

# A block's tag alone on its line removes the line.
_TAG = re.compile(
    r"(?m:^)[ \t]*\{\{(?P<alone>[#/][^{}\n]*)\}\}[ \t]*(?:\n|\Z)|\{\{(?P<tag>[^{}\n]*)\}\}",
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_CONTEXT = ("text", "score", "doc_id", "chunk_index")


def render(
    query: str, contexts: Iterable[Candidate | Hit | Fields], template: str = TEMPLATE, *,
    system: Iterable[str] = (), **values: object,
) -> str:  # fmt: skip
    """Return the prompt of a template.

    Args:
        query: The question, `{{query}}` in the template.
        contexts: The passages.
        template: The template.
        system: Texts to put before the prompt, each followed by a blank line.
        **values: Other names of the template.

    Raises:
        ValueError: The template has a syntax error or an unknown name.
    """
    names = {"query": query, **values}
    body = "".join(_filled(_parse(template), names, [_fields(c) for c in contexts]))
    return "".join(f"{part}\n\n" for part in system if part) + body


class _Text(NamedTuple):
    """Text of a template."""

    text: str


class _Name(NamedTuple):
    """A value of a template."""

    name: str


class _Each(NamedTuple):
    """The body of a block, repeated for each context."""

    body: list[_Text | _Name]


def _filled(
    nodes: Iterable[_Text | _Name | _Each], names: Mapping[str, object],
    contexts: Sequence[dict[str, Any]],
) -> Iterator[str]:  # fmt: skip
    for node in nodes:
        if isinstance(node, _Text):
            yield node.text
        elif isinstance(node, _Name):
            yield _shown(_named(node.name, names))
        else:
            for context in contexts:
                for one in node.body:
                    if isinstance(one, _Text):
                        yield one.text
                    else:
                        yield _shown(_of_context(one.name, context, names))


@lru_cache(maxsize=32)
def _parse(template: str) -> list[_Text | _Name | _Each]:
    nodes: list[_Text | _Name | _Each] = []
    body: list[_Text | _Name] | None = None
    at = 0
    for m in _TAG.finditer(template):
        into: list[_Text | _Name | _Each] | list[_Text | _Name] = nodes if body is None else body
        into.append(_Text(template[at : m.start()]))
        at, tag = m.end(), (m["alone"] if m["tag"] is None else m["tag"]).strip()
        if tag == "#each contexts" and body is None:
            body = []
        elif tag == "/each" and body is not None:
            nodes.append(_Each(body))
            body = None
        elif _NAME.fullmatch(tag):
            into.append(_Name(tag))
        else:
            raise ValueError(f"a template may not hold {{{{{tag}}}}} here")
    if body is not None:
        raise ValueError("a template's {{#each contexts}} is not closed")
    return [*nodes, _Text(template[at:])]


def _named(name: str, names: Mapping[str, object]) -> object:
    if name not in names:
        raise ValueError(
            f"unknown template variable {name!r}: there are {', '.join(sorted(names))}"
        )
    return names[name]


def _of_context(name: str, context: dict[str, Any], names: Mapping[str, object]) -> object:
    head, _, path = name.partition(".")
    if head == "metadata" and path:
        value: object = context["metadata"]
        for key in path.split("."):
            value = value.get(key) if is_object(value) else None
        return value
    return context[name] if name in context else _named(name, names)


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _fields(context: Candidate | Hit | Fields) -> dict[str, Any]:
    """Return the names of a context inside a block."""
    if not isinstance(context, Candidate | Hit):
        context = Candidate.of(context)
    metadata = {"file_id": context.doc_id, **context.metadata}
    return {**{name: getattr(context, name) for name in _CONTEXT}, "metadata": metadata}


def sources(contexts: Iterable[Candidate | Hit | Fields]) -> list[dict[str, Any]]:
    """Return the sources of passages in order, one per file and page (or section), ready for JSON."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for context in map(_fields, contexts):
        metadata = context["metadata"]
        place = {k: metadata[k] for k in NUMBERED if metadata.get(k) is not None}
        if not place and metadata.get("headers"):
            place = {"section": metadata["headers"]}
        source = {"file_id": metadata["file_id"], **place, "checksum": metadata.get("checksum")}
        found.setdefault(
            tuple(source.items()), {**source, "score": float(context["score"]), "chunks": []}
        )["chunks"].append(context["chunk_index"])
    return list(found.values())
