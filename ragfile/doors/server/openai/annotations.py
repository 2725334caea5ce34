"""The sources of an answer as OpenAI's annotations.

One annotation for each passage up to the last cited one, in the order of the numbers in the text. So
a client that counts annotations, as Open WebUI does, shows [3] as the third.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ragfile.answer.citations import place_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.answer.citations import Citation, Source
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service


class Annotations:
    """The annotations of one answer from a collection."""

    def __init__(self, service: Service, call: Call, name: str) -> None:
        self.sources: list[Source] = []
        self._name, self._annotated = name, 0
        self._base = service.settings.url or f"http://{call.headers.get('host', 'localhost')}"

    def new(self, citation: Citation) -> list[dict[str, Any]]:
        """Return annotations for the passages up to the cited one that have none yet."""
        new = self.sources[self._annotated : citation.number]
        self._annotated = max(self._annotated, citation.number)
        return [self._annotation(source, citation) for source in new]

    def _annotation(self, source: Source, citation: Citation) -> dict[str, Any]:
        mark = f"[{source.number}]" if source.number == citation.number else ""
        place = {"start_index": citation.at, "end_index": citation.at + len(mark)}
        return place | {"url": self.url(source), "title": title(source)}

    def url(self, source: Source) -> str:
        """Return the URL that opens the passage on the web page."""
        query = {"c": self._name, "doc": source.doc_id}
        if source.start >= 0:
            query["span"] = f"{source.start}-{source.end}"
        return f"{self._base}/?{urlencode(query)}"

    def listed(self, cited: Iterable[Citation]) -> str:
        """Return the cited sources as Markdown."""
        numbers = {citation.number for citation in cited}
        found = [source for source in self.sources if source.number in numbers]
        lines = [f"- [{x.number}] [{_escaped(title(x))}]({self.url(x)})" for x in found]
        return "\n\n**Sources**\n\n" + "\n".join(lines) if lines else ""


def title(source: Source) -> str:
    """Return a passage's source and its place in it."""
    return " · ".join(filter(None, (source.source or source.doc_id, place_name(source))))


def _escaped(text: str) -> str:
    """Escape a title for the text of a Markdown link."""
    return "".join(f"\\{c}" if c in "\\[]<>*_`" else " " if c < " " else c for c in text)
