"""The build settings of a file (rag.config). They are untrusted: a field of a wrong type is refused.

Unknown fields are kept. JSON in any section may nest DEPTH levels at most, since other programs fail
on more. Lone surrogates are refused in the configuration, because they cannot be written again.
"""

import json
import math
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from ragfile import _core
from ragfile.errors import CorruptError, VersionError
from ragfile.ground.json_values import is_list, is_object, is_sequence
from ragfile.ground.lru import Lru

DEPTH = 256
DIM_LIMIT = 1 << 16
METRICS = ("cosine", "ip", "l2")
STATIC_WEIGHT, TRANSFORMER_WEIGHT = 6, 4  # calibrated fusion's w by kind of model
CODE_RANKING = 1  # the version of the rule that ranks source code
KNOWN = 1  # how much the share of a question that a static model knows weighs its vector
FOREIGN = 0.2  # the largest share that an English model can know of a question in another language
SHARED, SHARED_MOST = 64, 8192  # configurations that are kept, and bytes of one
EVIDENCE = 0.05  # share by which further passages raise a document's best one
NAMED = 0.5  # share by which pages rise that the best passages name
LINKED = 0.25  # weight of a link beside that of a name, ln(1 + N / df) / documents


_checked: Lru[bytes, dict[str, Any]] = Lru(SHARED)


def read_config(raw: bytes, path: str) -> dict[str, Any]:
    """Return the checked fields of rag.config. Files of equal settings share the values."""
    found = _checked.get(raw)
    if found is None:
        found = _read(raw, path)
        if len(raw) <= SHARED_MOST:
            _checked.put(raw, found)
    return dict(found)


def _read(raw: bytes, path: str) -> dict[str, Any]:
    try:
        found = json.loads(raw)
        if raw.count(b"[") + raw.count(b"{") > DEPTH and is_too_deep(found):
            raise RecursionError
        if not raw.isascii() or b"\\u" in raw:  # only these can hold half of a character
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise CorruptError(f"{path}: rag.config is not JSON", section="rag.config") from None
    if not is_object(found):
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
    if (code := found.get("code", CODE_RANKING)) != CODE_RANKING:
        raise VersionError(
            f"{path}: its source code is ranked by rule {code}; this version has {CODE_RANKING}"
        )
    return found


def is_too_deep(value: object) -> bool:
    """Return whether JSON nests more than DEPTH levels."""
    level = [value]
    for _ in range(DEPTH + 1):
        level = [
            inner for outer in level if isinstance(outer, dict | list) for inner in _parts(outer)
        ]
        if not level:
            return False
    return True


def check_json(value: object, room: int = DEPTH + 1) -> None:
    """Raise for JSON that a reader would refuse: too deep, or with keys that are not strings."""
    if not is_object(value) and not is_sequence(value):
        return
    if not room:
        raise ValueError(f"it nests more than {DEPTH} deep")
    parts: Iterable[object] = ()
    if is_sequence(value):
        parts = value
    elif is_object(value):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a string")
        parts = value.values()
    for part in parts:
        if is_object(part) or is_sequence(part):
            check_json(part, room - 1)


def is_policy(value: object) -> bool:
    """Return whether a value is a recorded chunk policy, or None for an unknown one."""
    return value is None or (
        is_object(value)
        and isinstance(value.get("kind", ""), str)
        and _is_whole(value.get("size", 1), 1, 1 << 32)
        and _is_whole(value.get("overlap", 0), 0, 1 << 32)
        and _is_whole(value.get("version", 1), 1, 1 << 32)
        and _is_whole(value.get("max_chars", 1), 1, 1 << 32)
        and _is_whole(value.get("max_unit_tokens", 1), 1, 1 << 32)
    )


def _parts(value: dict[Any, Any] | list[Any]) -> list[dict[Any, Any] | list[Any]]:
    inner = value.values() if is_object(value) else value
    return [part for part in inner if isinstance(part, dict | list)]


def _is_whole(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _is_number(value: object, low: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return low <= value < 1e300 and math.isfinite(value)


def _is_model(value: object) -> bool:
    return value is None or (
        is_object(value)
        and isinstance(value.get("name"), str)
        and (value.get("dims") is None or _is_whole(value["dims"], 1, DIM_LIMIT))
        and (value.get("spec") is None or isinstance(value["spec"], str))
        and isinstance(value.get("weights", ""), str)
        and (value.get("cut") is None or _is_whole(value["cut"], 1, 1 << 32))
    )


def _is_fusion(value: object) -> bool:
    return value is None or (
        is_object(value)
        and isinstance(value.get("method", ""), str)
        and _is_number(value.get("w", 1), 1e-300)
        and _is_number(value.get("rrf_k", 1), 0)
        and _is_number(value.get("alpha", 0), 0)
        and _is_number(value.get("evidence", 0), 0)
        and _is_number(value.get("known", 0), 0)
        and _is_number(value.get("foreign", 1), 0)
        and _is_number(value.get("named", 0), 0)
        and _is_number(value.get("linked", 0), 0)
    )


def _is_context(value: object) -> bool:
    return value is None or (
        is_object(value)
        and isinstance(value.get("kind"), str)
        and _is_number(value.get("weight", 1), 1e-300)
    )


def _is_analysis(value: object) -> bool:
    return (
        is_object(value)
        and isinstance(value.get("words"), str)
        and _is_number(value.get("k1"), 0)
        and _is_number(value.get("b"), 0)
    )


def _are_labels(value: object) -> bool:
    if not is_object(value):
        return False
    tags = value.get("tags", [])
    return (
        is_list(tags)
        and all(isinstance(tag, str) for tag in tags)
        and isinstance(value.get("metadata", {}), dict)
    )


def _is_keep(value: object) -> bool:
    if not isinstance(value, str):
        return _is_whole(value, 1, 1 << 62)
    try:
        return value == "all" or bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def _is_selection(value: object) -> bool:
    if not is_object(value) or not isinstance(value.get("ignore", True), bool):
        return False
    globs = [value.get(name, []) for name in ("include", "exclude")]
    return all(is_list(some) and all(isinstance(g, str) for g in some) for some in globs)


def config_of(reader: _core.Reader, path: str) -> dict[str, Any]:
    """Return the build settings of an open generation."""
    section = reader.section("rag.config")
    if section is None:
        return {}
    section.check()
    return read_config(bytes(section), path)


def first_generation(reader: _core.Reader, path: str) -> int:
    """Return the number of a file's first commit: 1, or more after a compaction."""
    first: int = config_of(reader, path).get("first_generation", 1)
    return first


FIELDS: dict[str, Callable[[Any], bool]] = {
    "first_generation": lambda value: _is_whole(value, 1, 1 << 62),
    "keep": _is_keep,
    "signed": lambda value: _is_whole(value, 1, 1 << 62),
    "code": lambda value: _is_whole(value, 1, 1 << 32),
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
