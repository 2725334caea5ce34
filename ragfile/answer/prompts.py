"""The prompt: a template, a question and passages made into one text, and the list of sources that goes with
it.

A template is text with `{{name}}` and one kind of block, `{{#each contexts}} … {{/each}}`. Outside a block
the names are those given to `render`; inside, a context's `text`, `score`, `doc_id`, `chunk_index` and
`metadata.<path>`. A name that does not exist is an error; a metadata key that a context lacks is blank. A
template is parsed once and values are put in as they are, so nothing in a passage or question can act as
template syntax.
"""

import re
from functools import lru_cache

from ragfile.records import NUMBERED, Candidate, Hit

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

# A block's tag that stands alone on its line takes the line with it.
_TAG = re.compile(
    r"(?m:^)[ \t]*\{\{(?P<alone>[#/][^{}\n]*)\}\}[ \t]*(?:\n|\Z)|\{\{(?P<tag>[^{}\n]*)\}\}",
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_CONTEXT = ("text", "score", "doc_id", "chunk_index")


def render(query, contexts, template=TEMPLATE, *, system=(), **values):
    """The prompt. `system` texts (the folder's first, then the conversation's) come before it, each set off
    by a line.
    """
    names = {"query": query, **values}
    body = "".join(_filled(_parse(template), names, [_fields(c) for c in contexts]))
    return "".join(f"{part}\n\n" for part in system if part) + body


def _filled(nodes, names, contexts):
    for kind, value in nodes:
        if kind == "text":
            yield value
        elif kind == "name":
            yield _shown(_named(value, names))
        else:
            for context in contexts:
                yield from (
                    v if k == "text" else _shown(_of_context(v, context, names)) for k, v in value
                )


@lru_cache(maxsize=32)
def _parse(template):
    """(kind, value) nodes: text, name, and each with the nodes of its body."""
    nodes, body, at = [], None, 0
    for m in _TAG.finditer(template):
        into = nodes if body is None else body
        into.append(("text", template[at : m.start()]))
        at, tag = m.end(), (m["alone"] if m["tag"] is None else m["tag"]).strip()
        if tag == "#each contexts" and body is None:
            body = []
        elif tag == "/each" and body is not None:
            nodes.append(("each", body))
            body = None
        elif _NAME.fullmatch(tag):
            into.append(("name", tag))
        else:
            raise ValueError(f"a template may not hold {{{{{tag}}}}} here")
    if body is not None:
        raise ValueError("a template's {{#each contexts}} is not closed")
    return [*nodes, ("text", template[at:])]


def _named(name, names):
    if name not in names:
        raise ValueError(
            f"unknown template variable {name!r}: there are {', '.join(sorted(names))}"
        )
    return names[name]


def _of_context(name, context, names):
    head, _, path = name.partition(".")
    if head == "metadata" and path:
        value = context["metadata"]
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value
    return context[name] if name in context else _named(name, names)


def _shown(value):
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _fields(context):
    if not isinstance(context, Candidate | Hit):
        context = Candidate.of(context)
    metadata = {"file_id": context.doc_id, **context.metadata}
    return {**{name: getattr(context, name) for name in _CONTEXT}, "metadata": metadata}


def sources(contexts):
    """What the passages are from, one per file and page (or section), in rank order, ready for JSON."""
    found = {}
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
