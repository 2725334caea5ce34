"""Metadata and tags in one object, as the column `metadata_` of an exported table has them.

The key `tags` has the tags. A field of the metadata with that name is kept as `metadata.tags`, and one
that has such a name already gains `metadata.` once more, so that every field comes back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TAGS = "tags"
_NAMED_LIKE_TAGS = re.compile(r"(?:metadata\.)*tags").fullmatch
_KEPT = re.compile(r"(?:metadata\.)+tags").fullmatch


def with_tags(metadata: Mapping[str, object], tags: Sequence[str]) -> dict[str, object]:
    """Return metadata with the tags; without the key `tags` if no name needs it."""
    kept = {f"metadata.{name}": metadata[name] for name in metadata if _NAMED_LIKE_TAGS(name)}
    plain = {name: value for name, value in metadata.items() if not _KEPT(name)}
    return {**plain, **kept, **({TAGS: list(tags)} if tags or kept else {})}


def with_own_tags(held: Mapping[str, object]) -> dict[str, object]:
    """Return the metadata of an object without the tags, under the names that they had."""
    return {
        name.removeprefix("metadata.") if _KEPT(name) else name: value
        for name, value in held.items()
        if name != TAGS
    }
