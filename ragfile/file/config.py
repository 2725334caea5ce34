"""What a file says of how it was made (rag.config), read as what a stranger wrote: every field is of its type or the file is refused.

Fields that are not known here are kept as they are. So much is refused for all JSON in a file: more than DEPTH levels, which
other programs would stumble over, and lone surrogates in the configuration, which cannot be written again.
"""

import json
import math
from typing import Any

from ragfile import _core
from ragfile.errors import CorruptError, VersionError

DEPTH = 256
DIM_LIMIT = 1 << 16
METRICS = ("cosine", "ip", "l2")
STATIC_WEIGHT, TRANSFORMER_WEIGHT = 6, 4  # calibrated fusion's w by kind of model


def read_config(raw, path):
    """The fields of rag.config, checked."""
    try:
        found = json.loads(raw)
        if is_too_deep(found):
            raise RecursionError
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise CorruptError(f"{path}: rag.config is not JSON", section="rag.config") from None
    if not isinstance(found, dict):
        raise CorruptError(f"{path}: rag.config is not an object", section="rag.config")
    bad = next(
        (name for name, fits in FIELDS.items() if name in found and not fits(found[name])), None
    )
    if bad is not None:
        raise CorruptError(f"{path}: rag.config: invalid value for {bad!r}", section="rag.config")
    if (metric := found.get("metric", "cosine")) not in METRICS:
        raise VersionError(
            f"{path}: its vectors are compared by {metric!r}; this version has {', '.join(METRICS)}"
        )
    return found


def is_too_deep(value):
    """Whether JSON nests more than DEPTH deep."""
    level = [value]
    for _ in range(DEPTH + 1):
        level = [
            inner for outer in level if isinstance(outer, dict | list) for inner in _parts(outer)
        ]
        if not level:
            return False
    return True


def check_json(value: Any, room: int = DEPTH + 1) -> None:
    """Refuses what a reader would refuse: deeper nesting, and keys that JSON would make strings."""
    if not isinstance(value, dict | list | tuple):
        return
    if not room:
        raise ValueError(f"it nests more than {DEPTH} deep")
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a string")
        value = value.values()
    for part in value:
        if isinstance(part, dict | list | tuple):
            check_json(part, room - 1)


def is_policy(value):
    """A chunk policy as it is recorded, or None for one that is not known."""
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("kind", ""), str)
        and _is_whole(value.get("size", 1), 1, 1 << 32)
        and _is_whole(value.get("overlap", 0), 0, 1 << 32)
        and _is_whole(value.get("version", 1), 1, 1 << 32)
        and _is_whole(value.get("max_chars", 1), 1, 1 << 32)
        and _is_whole(value.get("max_unit_tokens", 1), 1, 1 << 32)
    )


def _parts(value):
    inner = value.values() if isinstance(value, dict) else value
    return [part for part in inner if isinstance(part, dict | list)]


def _is_whole(value, low, high):
    return type(value) is int and low <= value <= high


def _is_number(value, low):
    return type(value) in (int, float) and low <= value < 1e300 and math.isfinite(value)


def _is_model(value):
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and (value.get("dims") is None or _is_whole(value["dims"], 1, DIM_LIMIT))
        and (value.get("spec") is None or isinstance(value["spec"], str))
        and isinstance(value.get("weights", ""), str)
        and (value.get("cut") is None or _is_whole(value["cut"], 1, 1 << 32))
    )


def _is_fusion(value):
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("method", ""), str)
        and _is_number(value.get("w", 1), 1e-300)
        and _is_number(value.get("rrf_k", 1), 0)
        and _is_number(value.get("alpha", 0), 0)
    )


def _is_context(value):
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("kind"), str)
        and _is_number(value.get("weight", 1), 1e-300)
    )


def _is_analysis(value):
    return (
        isinstance(value, dict)
        and isinstance(value.get("words"), str)
        and _is_number(value.get("k1"), 0)
        and _is_number(value.get("b"), 0)
    )


def _are_labels(value):
    tags = value.get("tags", []) if isinstance(value, dict) else None
    return (
        isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
        and isinstance(value.get("metadata", {}), dict)
    )


def _is_selection(value):
    if not isinstance(value, dict) or not isinstance(value.get("ignore", True), bool):
        return False
    globs = [value.get(name, []) for name in ("include", "exclude")]
    return all(isinstance(some, list) and all(isinstance(g, str) for g in some) for some in globs)


def config_of(reader: _core.Reader, path: str) -> dict[str, Any]:
    """What an open generation says of how it was made."""
    section = reader.section("rag.config")
    if section is None:
        return {}
    section.check()
    return read_config(bytes(section), path)


def first_generation(reader: _core.Reader, path: str) -> int:
    """The number of a file's first commit: 1, or more where a compaction counted on."""
    return config_of(reader, path).get("first_generation", 1)


FIELDS = {
    "first_generation": lambda value: _is_whole(value, 1, 1 << 62),
    "dim": lambda value: value is None or _is_whole(value, 1, DIM_LIMIT),
    "metric": lambda value: isinstance(value, str),
    "precision": lambda value: _is_whole(value, 16, 16) or _is_whole(value, 32, 32),
    "parity": lambda value: _is_whole(value, 1, 100),
    "layout": lambda value: isinstance(value, str),
    "portable": lambda value: isinstance(value, bool),
    "bm25": lambda value: isinstance(value, bool),
    "analysis": _is_analysis,
    "model": _is_model,
    "fusion": _is_fusion,
    "chunking": is_policy,
    "context": _is_context,
    "labels": _are_labels,
    "selection": _is_selection,
}
