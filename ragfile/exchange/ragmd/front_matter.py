"""The front matter of a .ragmd file, read by a YAML parser restricted to plain values and written line by line.

An unchanged value is written with the characters it was read with, including comments, so that a save
changes only the lines of changed values.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml
import yaml.composer

from ragfile.errors import FormatError
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragfile.types import Integers

Values: TypeAlias = "Mapping[str, object]"

LIMIT = 65536
MAX_DEPTH = 32
_LINE = re.compile(
    "[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])"
)  # the line ends of YAML
_CLOSE = re.compile(rb"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


class _PlainLoader(yaml.SafeLoader):
    """safe_load without aliases, deep nesting, and dates."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in rules if not tag.endswith(":timestamp")]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self._refused("aliases are not allowed")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refused("nested too deeply")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _refused(self, problem: str) -> yaml.composer.ComposerError:
        """Return an error at the next event."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # PyYAML's stubs
        return yaml.composer.ComposerError(None, None, problem, mark)  # pyright: ignore[reportUnknownArgumentType]  # PyYAML's stubs


RECORD = "ragfile"  # the key of a .ragfile's configuration in the formats made of it


class Frontmatter:
    """Values by key, with the lines that each was read from."""

    def __init__(
        self, values: dict[str, Any] | None = None, lines: dict[str, str] | None = None,
        prefix: str = "",
    ) -> None:  # fmt: skip
        self.values: dict[str, Any] = values or {}
        self._lines: dict[str, str] = lines or {}
        self._prefix = prefix

    def state(self) -> list[object]:
        """Return the arguments of the constructor as JSON values; others are kept as their lines."""
        known = {
            key: value
            for key, value in self.values.items()
            if isinstance(value, (str, int, float, type(None))) or _is_flat(value)
        }
        return [known, self._lines, self._prefix]

    def text(self, values: Values) -> str:
        """Return the lines of `values`, then those of all other keys.

        A value of None removes its key. Each line ends with a line feed.
        """
        parts = [self._prefix]
        order = dict.fromkeys(
            [*self._lines, *values] if set(values) & set(self._lines) else [*values, *self._lines]
        )
        for key in order:
            value = values.get(key, self.values.get(key))
            if key in values and value is None and key != "model_name":
                continue
            unchanged = key in self._lines and (
                key not in values or _same(self.values.get(key), value)
            )
            parts.append(self._lines[key] if unchanged else f"{key}:{_value(value)}\n")
        return "".join(parts)


def parse(data: bytes | Integers) -> tuple[Frontmatter, int]:
    """Parse text that starts with a line `---`; return the front matter and the offset after it."""
    head = bytes(data[: LIMIT + 16])
    start = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    opening = re.compile(rb"---[ \t]*\r?\n").match(head, start)
    if not opening:
        raise FormatError("Missing frontmatter", at=0)
    closing = _CLOSE.search(head, opening.end())
    if not closing:
        raise FormatError(f"line 1: the frontmatter has no end within {LIMIT} bytes", at=0)
    try:
        text = head[opening.end() : closing.start()].decode()
    except UnicodeDecodeError as error:
        at = opening.end() + error.start
        raise FormatError(
            f"line {head.count(10, 0, at) + 1}: not UTF-8 (byte {at})", at=at
        ) from None
    return _parse_text(text.replace("\r\n", "\n")), closing.end()


def _parse_text(text: str) -> Frontmatter:
    try:
        loader = _PlainLoader(text)
        return _from_node(loader, loader.get_single_node(), text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _fault(mark.line if mark else 0, error.problem or error.context) from None
    except yaml.reader.ReaderError as error:
        raise _fault(
            text.count("\n", 0, error.position), f"character {error.character!r} is not allowed"
        ) from None
    except FormatError:
        raise
    except (
        ValueError,
        OverflowError,
        AttributeError,
        LookupError,
        TypeError,
    ) as error:  # out of constructors: !!int "", 0x
        raise _fault(0, f"a value cannot be read: {error}") from None


def _from_node(loader: _PlainLoader, node: yaml.Node | None, text: str) -> Frontmatter:
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise _fault(0, "the frontmatter is not a block of 'key: value' lines")
    rows = _LINE.findall(text)
    starts = [key.start_mark.line for key, _ in node.value]
    values: dict[str, Any] = {}
    lines: dict[str, str] = {}
    for (key, value), start, end in zip(node.value, starts, [*starts[1:], len(rows)], strict=True):
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name is None or name in values:
            raise _fault(
                start, f"key {name!r} occurs twice" if name else "a key that is not plain text"
            )
        values[name] = loader.construct_object(value, deep=True)  # pyright: ignore[reportUnknownMemberType]  # PyYAML's stubs
        lines[name] = "".join(rows[start:end])
    return Frontmatter(values, lines, "".join(rows[: starts[0]] if starts else rows))


def _fault(line: int, what: str | None) -> FormatError:
    return FormatError(f"line {line + 2}: {what}", at=None)


def _same(old: object, new: object) -> bool:
    return old == new and type(old) is type(new)


def _is_flat(value: object) -> bool:
    """Return whether a value is a mapping from text to text."""
    return is_object(value) and all(
        isinstance(text, str) for pair in value.items() for text in pair
    )


def _value(value: object) -> str:
    """Return what follows a key's colon: a scalar on the same line, or one line for each pair of a mapping."""
    if not is_object(value):
        return f" {_scalar(value)}"
    return "".join(f"\n  {_scalar(name)}: {_scalar(one)}" for name, one in value.items())


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return '"' + "".join(_escaped(c) for c in value) + '"'
    return "null" if value is None else str(value)


def _escaped(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c == " " or (c.isprintable() and c != "\ufeff"):
        return c
    code = ord(c)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def looks_like(head: bytes) -> bool:
    """Return whether these are the first bytes (up to 64 KiB) of a .ragmd file."""
    try:
        front, _ = parse(head)
    except FormatError:
        return False
    return {"format_version", "embedding_dim"} <= set(front.values)


def recorded_front(kept: str) -> Frontmatter:
    """Return the front matter that keeps the configuration of a .ragfile."""
    return Frontmatter({RECORD: kept}, {RECORD: f"{RECORD}: {json.dumps(kept)}\n"})
