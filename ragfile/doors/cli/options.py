"""Options that several commands take, and what is read out of them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from ragfile.ground.offline import VARIABLE as OFFLINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.ground.option_table import Option, OptionTable, Schema


def offline_option(command):
    """A switch for the whole process: what a command opens asks RAGFILE_OFFLINE, wherever it is."""
    return click.option(
        "--offline",
        is_flag=True,
        expose_value=False,
        callback=_go_offline,
        help="Open no socket. [env: RAGFILE_OFFLINE]",
    )(command)


def _go_offline(_, __, asked):
    if asked:
        os.environ[OFFLINE] = "1"


def json_option(command):
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def generation_option(command):
    return click.option(
        "--generation", default=0, metavar="N", help="Open an older commit; compaction ends this."
    )(command)


def cache_option(command):
    return click.option(
        "--embedding-cache",
        metavar="FOLDER",
        help="Keep the vectors of slow embedders in this folder. [env: RAGFILE_CACHE]",
    )(command)


def url_cache_option(command):
    """What every command that opens URLs takes."""
    command = click.option(
        "--redirects", is_flag=True, expose_value=False, callback=_allow_redirects,
        help="Follow a URL's redirects to other hosts. [env: RAGFILE_REDIRECTS]",
    )(command)  # fmt: skip
    return click.option(
        "--cache", metavar="FOLDER", help="Keep bytes fetched from a URL in this folder."
    )(command)


def _allow_redirects(context, parameter, is_allowed):
    if is_allowed:
        os.environ["RAGFILE_REDIRECTS"] = "1"


def selection_options(command):
    """Which files of folders are read."""
    for decorate in (
        click.option(
            "--no-ignore",
            is_flag=True,
            help="Also read what a .gitignore names, and node_modules and the like.",
        ),
        click.option(
            "--exclude",
            multiple=True,
            metavar="GLOB",
            help="Leave files and folders out; can be repeated.",
        ),
        click.option(
            "--include",
            multiple=True,
            metavar="GLOB",
            help="Read only such files of folders; can be repeated.",
        ),
    ):
        command = decorate(command)
    return command


def errors_option(command):
    return click.option(
        "--errors", type=click.Choice(["strict", "replace"]), default="strict", show_default=True,
        help="If text is not UTF-8: report an error, or read U+FFFD for each bad byte.",
    )(command)  # fmt: skip


def encoding_option(command):
    return click.option(
        "--encoding", metavar="NAME",
        help="How to read text that is not UTF-8 and has no byte order mark, such as cp1252.",
    )(command)  # fmt: skip


class _Clusters(click.ParamType):
    """yes, no, or a number."""

    name = "clusters"

    def convert(self, value, param, ctx):
        from ragfile.write.vector_clusters import checked

        try:
            return value == "yes" if value in ("yes", "no") else checked(int(value))
        except ValueError:
            self.fail(f"{value!r} is not yes, no, or a number from 1 to 65536", param, ctx)


def clusters_option(command):
    return click.option(
        "--clusters", type=_Clusters(), metavar="yes|no|N",
        help="Put vectors in clusters, for searches with --effort.",
    )(command)  # fmt: skip


def executor_option(command):
    """Who asks and builds the files of a dataset."""
    command = click.option(
        "--workers", type=click.IntRange(min=1), help="The number of the executor's workers."
    )(command)
    command = click.option("--ray", "executor", flag_value="ray", help="Use Ray.")(command)
    return click.option(
        "--executor", type=click.Choice(["process", "ray", "dask"]),
        help="Work on a dataset with a pool of processes, Ray or Dask instead of this process.",
    )(command)  # fmt: skip


def k_option(default: int):
    return click.option(
        "-k", type=click.IntRange(min=1), default=default, show_default=True,
        help="Number of passages.",
    )  # fmt: skip


def condition(where):
    """A filter from --where, or None without one."""
    if where is None:
        return None
    try:
        found = json.loads(where)
    except ValueError as error:
        raise click.UsageError(f"--where is not JSON: {error}") from None
    except RecursionError:
        raise click.UsageError("--where nests too deep") from None
    if not isinstance(found, dict):
        raise click.UsageError(
            f"--where is a JSON object, such as '{{\"year\": 2024}}', not {where:.80}"
        )
    return found


def field_weights(given):
    """Weights by name from --field NAME=WEIGHT, or None without one."""
    found = {}
    for one in given:
        name, _, weight = one.rpartition("=")
        if not name or not weight.isascii() or not weight.isdigit():
            raise click.UsageError(
                f"--field is a name and a whole weight, such as headers=3, not {one:.80}"
            )
        found[name] = int(weight)
    return found or None


# ------------------------------------------------------------------------ the options of a question


# How the values of two options are read, which the command line spells in its own way.
READ = {"where": condition, "fields": field_weights}


class QuestionCommand(click.Command):
    """A command that asks: it takes the options of a question, and is called with those given.

    They are made when a line is read or helped with, so that a list of commands needs none.
    """

    def table(self) -> OptionTable:
        """The options of its question."""
        from ragfile.options import SEARCH

        return SEARCH

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        first = sum(isinstance(parameter, click.Argument) for parameter in own) + 1
        return [*own[:first], *self._flags(), *own[first:]]

    def _flags(self) -> list[click.Option]:
        own = {parameter.name for parameter in self.params}
        offered = (o for o in self.table().options.values() if "cli" not in o.absent)
        return [flag(option) for option in offered if option.name not in own]

    def invoke(self, ctx: click.Context) -> Any:  # Any: what the command returns
        default = click.core.ParameterSource.DEFAULT
        values = {str(one.name): ctx.params.pop(str(one.name)) for one in self._flags()}
        ctx.params["options"] = {
            name: READ[name](value) if name in READ else value
            for name, value in values.items()
            if ctx.get_parameter_source(name) is not default
        }
        return super().invoke(ctx)


def flag(option: Option) -> click.Option:
    """Return the flag of an option, by its schema."""
    from ragfile.search.option_schemas import schema_of

    spelled = option.flag or f"--{option.name.replace('_', '-')}"
    made: dict[str, Any] = _value(schema_of(option)) | {"help": option.help.replace("`", "")}
    if option.metavar:
        made["metavar"] = option.metavar
    if option.default and not callable(option.default):
        made |= {"default": option.default, "show_default": True}
    if option.name in READ:
        made |= {"type": click.STRING, "multiple": option.name == "fields"}
    elif option.read is not None:
        made["callback"] = lambda ctx, param, value: _read(option, value)
    return click.Option([spelled, option.name], **made)


def _read(option, value):
    try:
        return option.read(value)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _value(schema: Schema) -> dict[str, Any]:
    """Return how click reads the values of a schema: as a switch, a number, a name, texts, or JSON."""
    kinds = _kinds(schema)
    if kinds == ["boolean"]:
        return {"is_flag": True}
    if "enum" in schema:
        return {"type": click.Choice(schema["enum"])}
    if kinds in (["integer"], ["number"]):
        return {"type": _number(schema, kinds[0])}
    if {"type": "array", "items": {"type": "string"}} in (schema, *schema.get("anyOf", ())):
        return {"multiple": True} if "object" not in kinds else {"type": Json(kinds)}
    return {"type": click.STRING if kinds == ["string"] else Json(kinds)}


def _kinds(schema: Schema) -> list[str]:
    """The types of a schema, without null."""
    found: Any = [k for one in schema.get("anyOf", (schema,)) for k in _listed(one["type"])]
    return [kind for kind in dict.fromkeys(found) if kind != "null"]


def _listed(kind: str | list[str]) -> list[str]:
    return [kind] if isinstance(kind, str) else kind


def _number(schema: Schema, kind: str) -> click.ParamType:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    bounds = {"min": low, "max": schema.get("maximum"), "min_open": "exclusiveMinimum" in schema}
    if low is None and bounds["max"] is None:
        return click.INT if kind == "integer" else click.FLOAT
    return click.IntRange(**bounds) if kind == "integer" else click.FloatRange(**bounds)


class Json(click.ParamType):
    """A JSON value; a text or a number can stand as it is, where the option takes one."""

    name = "json"

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = kinds

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:  # Any: a JSON value
        if "string" in self.kinds and value[:1] not in ("[", "{"):
            return int(value) if "integer" in self.kinds and value.isdecimal() else value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            self.fail(f"not JSON: {error}", param, ctx)
