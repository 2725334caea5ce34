"""rag.stale: the documents that another chunk policy than the file's has split."""

import json
from collections.abc import Callable, Collection, Container, Iterable
from typing import Any

from ragfile import _core
from ragfile.file.row_segment import StoredDocument
from ragfile.search.file_rows import FileRows
from ragfile.write.metadata_fields import to_utf8

Policies = dict[str, Any]


class StaleDocuments:
    """The entries of rag.stale after an edit.

    Attributes:
        current: Ids of unchanged documents that the edit split by the file's policy.
        carried: Ids of documents that it moved without splitting them.
    """

    def __init__(self, archive: FileRows, policy: Policies | None) -> None:
        self._archive, self._policy = archive, policy
        self.current: set[str] = set()
        self.carried: set[str] = set()

    def remaining(
        self, take: Callable[[str], StoredDocument | None], staged: Container[str]
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Return the entries of rag.stale, given the untouched and the written documents of the edit."""
        by_policy: dict[str, list[str]] = {}
        for doc_id, policy in self._listed().items():
            is_carried = doc_id in self.carried
            if policy == self._policy:
                continue
            if not is_carried and (doc_id in self.current or doc_id in staged):
                continue
            if is_carried or take(doc_id) is not None:
                by_policy.setdefault(json.dumps(policy, sort_keys=True), []).append(doc_id)
        return [
            {"chunking": json.loads(policy), "documents": sorted(ids, key=to_utf8)}
            for policy, ids in sorted(by_policy.items())
        ]

    def _listed(self) -> dict[str, Policies | None]:
        """Return the policy of each possibly stale document: all with a text if the policy changes."""
        listed = {
            doc_id: entry["chunking"]
            for entry in self._archive.file.stale_records
            for doc_id in entry["documents"]
        }
        before = self._archive.config.get("chunking")
        if before != self._policy:
            for segment in self._archive.segments:
                for old in segment.live_documents():
                    if old.record.has_text:
                        listed.setdefault(old.id, before)
        return listed

    def write(self, file: _core.FileWriter, entries: list[dict[str, Any]]) -> None:
        """Write the section, or drop it without entries."""
        if entries == self._archive.file.stale_records:
            return
        if not entries:
            file.drop("rag.stale")
            return
        raw, items = packed(entries)
        file.add("rag.stale", raw, items=items)


def packed(entries: Iterable[dict[str, Any]]) -> tuple[bytes, int]:
    """Return the bytes of the section and the number of its items."""
    listed = list(entries)
    raw = json.dumps(listed, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return to_utf8(raw), sum(len(entry["documents"]) for entry in listed)


def entries_of(
    records: Iterable[dict[str, Any]], ids: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Merge the entries of several files for one with these documents, or with all."""
    found: dict[str, set[str]] = {}
    for record in records:
        wanted = {doc_id for doc_id in record["documents"] if ids is None or doc_id in ids}
        if wanted:
            found.setdefault(json.dumps(record["chunking"], sort_keys=True), set()).update(wanted)
    return [
        {"chunking": json.loads(policy), "documents": sorted(listed, key=to_utf8)}
        for policy, listed in sorted(found.items())
    ]
