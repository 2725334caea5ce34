"""An option of a question, and a table of options that a call is given by name.

ragfile.options declares the options; this reads the declarations and checks the values of a call.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import inf
from operator import index
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

Schema = dict[str, Any]
Door = Literal["rest", "cli", "browser"]
CallT = TypeVar("CallT", bound=Callable[..., Any])


class Option:
    """One option: its help, its default, the values that it takes, and the doors that lack it.

    `more` completes the help for programs; the command line shows `help` alone.
    `schema` is the JSON Schema of its values where the type alone does not give it, `read` makes the
    Python value of a JSON one. `limit` bounds its size on a server: a setting's name, or "", and a
    factor. `flag` is its spelling on the command line where that is not `--name`, `typescript` its
    type in the browser where the schema does not give it. `tool` is its schema in tools for language
    models. Most options have none: each word of a tool costs every conversation.
    """

    __slots__ = (
        "above", "absent", "default", "flag", "help", "kind", "limit", "maximum", "metavar", "minimum",
        "more", "name", "read", "schema", "tool", "typescript",
    )  # fmt: skip

    def __init__(
        self, help: str,
        default: Any = None,  # Any: of the option's own type
        *, more: str = "", minimum: float = -inf, above: float = -inf,
        maximum: float = inf, schema: Schema | None = None, read: Callable[[Any], Any] | None = None,
        limit: tuple[str, int] | None = None, flag: str = "", metavar: str = "", typescript: str = "",
        tool: Schema | None = None, absent: Mapping[Door, str] | None = None,
    ) -> None:  # fmt: skip
        self.name = ""
        self.kind: object = None  # a type or a special form, set by its record
        self.help, self.more, self.default, self.schema, self.read = (
            help,
            more,
            default,
            schema,
            read,
        )
        self.minimum, self.above, self.maximum, self.limit = minimum, above, maximum, limit
        self.flag, self.metavar, self.typescript, self.tool = flag, metavar, typescript, tool
        self.absent = absent or {}

    @property
    def description(self) -> str:
        """All of its help."""
        return f"{self.help} {self.more}".strip()

    @property
    def interval(self) -> str:
        """The numbers that it takes, in words."""
        if self.above > -inf:
            return f"above {self.above:g}" + f" and at most {self.maximum:g}" * (self.maximum < inf)
        if self.maximum < inf:
            return f"from {self.minimum:g} to {self.maximum:g}"
        return f"at least {self.minimum:g}" if self.minimum > -inf else "below infinity"


# Names of other libraries for our options, and for `k`, which every call has.
FOREIGN = {
    **dict.fromkeys(("top_k", "topk", "limit", "n_results", "num_results", "size"), "k"),
    **dict.fromkeys(("filter", "filters", "query_filter", "metadata_filter"), "where"),
    **dict.fromkeys(("threshold", "score_threshold", "similarity_threshold"), "min_score"),
    **dict.fromkeys(("reranker", "rerank_model"), "rerank"),
    **dict.fromkeys(("search_type", "query_type"), "mode"),
}


class OptionTable:
    """The options of a record by name, and the checks of the values that a call is given."""

    def __init__(self, record: type[object], call: str) -> None:
        """`call` is the name of the function in messages."""
        self.call = call
        self.options: dict[str, Option] = {}
        for name, annotated in record.__annotations__.items():
            kind, option = get_args(annotated)
            option.name, option.kind = name, kind
            self.options[name] = option
        self.defaults = {name: option.default for name, option in self.options.items()}
        self.readers = {name: o.read for name, o in self.options.items() if o.read is not None}
        self.checks = {name: made for name, o in self.options.items() if (made := check_of(o))}

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options: those given, checked, and the defaults of the others.

        Raises:
            TypeError: A name is not an option, or a value is of the wrong type.
            ValueError: A value is out of bounds.
        """
        found = {**self.defaults, **given}
        if len(found) > len(self.defaults):
            raise self._unknown(next(name for name in given if name not in self.defaults))
        for name, value in given.items():
            if name in self.checks:
                found[name] = self.checks[name](value)
        return found

    def _unknown(self, name: str) -> TypeError:
        from difflib import get_close_matches  # only a mistake needs it

        meant = FOREIGN.get(name)
        near = [meant] if meant else get_close_matches(name, self.options, 1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        return TypeError(
            f"{self.call}() has no option {name!r}{hint or '.'} It has {', '.join(self.options)}"
        )

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """The options as parameters of a signature."""
        keyword = inspect.Parameter.KEYWORD_ONLY
        each = self.options.values()
        return [inspect.Parameter(o.name, keyword, default=o.default) for o in each]

    @cached_property
    def described(self) -> str:
        """A line for each option, for docstrings."""
        return "\n".join(
            f"    {name}: {option.description}" for name, option in self.options.items()
        )


def check_of(option: Option) -> Callable[[Any], Any] | None:
    """Return a function that checks a value of an option and returns it, or None if any will do."""
    kinds = {kind for kind in members(option.kind) if kind is not type(None)}
    if all(get_origin(kind) is Literal for kind in kinds):
        choices = tuple(choice for kind in kinds for choice in get_args(kind))
        return _choice_check(option.name, choices)
    if kinds in ({int}, {float}):
        return _number_check(option, is_whole=kinds == {int})
    return None


def members(kind: object) -> Sequence[Any]:
    """Return the members of a union, or the type alone."""
    return get_args(kind) if isinstance(kind, UnionType) or get_origin(kind) is Union else (kind,)


def _choice_check(name: str, choices: tuple[str, ...]) -> Callable[[Any], Any]:
    def check(value: object) -> object:
        if value not in choices:
            raise ValueError(f"{name} is one of {', '.join(choices)}, not {value!r}")
        return value

    return check


def _number_check(option: Option, *, is_whole: bool) -> Callable[[Any], Any]:
    low, high = max(option.minimum, option.above), option.maximum
    excluded = {inf, option.above} - {-inf}

    def check(value: Any) -> float:  # Any: the value of a call
        try:
            found = index(value) if is_whole else value
            is_inside = low <= found <= high and found not in excluded
        except TypeError:
            kind = "a whole number" if is_whole else "a number"
            raise TypeError(f"{option.name} is {kind}, not {value!r:.80}") from None
        if not is_inside:
            raise ValueError(f"{option.name} is {option.interval}, not {value!r}")
        return found

    if type(None) in members(option.kind):
        return lambda value: None if value is None else check(value)
    return check


def takes(table: OptionTable) -> Callable[[CallT], CallT]:
    """Show a call's options in its signature and docstring, for help() and interactive shells."""

    def shown(call: CallT) -> CallT:
        signature = inspect.signature(call)
        before = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        changed = signature.replace(parameters=[*before, *table.parameters])
        call.__signature__ = changed  # type: ignore[attr-defined]  # read by inspect
        if call.__doc__:
            call.__doc__ = f"{inspect.cleandoc(call.__doc__)}\n\nOptions:\n{table.described}"
        return call

    return shown
