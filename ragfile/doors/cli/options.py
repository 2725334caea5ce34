"""Options shared by several commands, and the parsing of their values."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragfile.ground.encryption_keys import FILE as KEY_FILE
from ragfile.ground.encryption_keys import KEY
from ragfile.ground.json_values import is_object
from ragfile.ground.lock_patience import VARIABLE as WAIT
from ragfile.ground.offline import VARIABLE as OFFLINE
from ragfile.ground.urls import is_remote, local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ragfile.ground.option_table import Option, OptionTable, Schema
    from ragfile.ingest.loaders.contract import Limits

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic since click 8.5

Command = TypeVar("Command", bound="Callable[..., Any] | click.Command")


class FilePath(click.Path):
    """A path, which a file:// URL can name, too; other URLs stay as they are."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        return super().convert(local_path(os.fspath(value)), param, ctx)


def offline_option(command: Command) -> Command:
    """Add --offline, which sets RAGFILE_OFFLINE for the whole process."""
    return click.option(
        "--offline",
        is_flag=True,
        expose_value=False,
        callback=_go_offline,
        help="Disable network access. [env: RAGFILE_OFFLINE]",
    )(command)


def _go_offline(_: click.Context, __: click.Parameter, asked: bool) -> None:
    if asked:
        os.environ[OFFLINE] = "1"


def with_key_file(command: click.Command) -> click.Command:
    """Add --key-file, which sets RAGFILE_KEY_FILE for the whole process, to a command."""
    if not any(parameter.name == "key_file" for parameter in command.params):
        last = next((i for i, p in enumerate(command.params) if p.name == "as_json"), None)
        option = click.Option(
            ["--key-file"], type=FilePath(), metavar="FILE", expose_value=False,
            callback=_set_key_file, help="Key of encrypted files.  [env: RAGFILE_KEY_FILE]",
        )  # fmt: skip
        command.params.insert(len(command.params) if last is None else last, option)
    return command


def _set_key_file(context: click.Context, _: click.Parameter, path: str | None) -> None:
    if path is not None:
        os.environ[KEY_FILE] = path
        os.environ.pop(KEY, None)
    context.meta["ragfile.key_file"] = path


def wait_option(command: Command) -> Command:
    """Add --wait, which sets RAGFILE_WAIT for the whole process."""
    return click.option(
        "--wait",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        expose_value=False,
        callback=_set_wait,
        help="How long to wait for other writers; 0 refuses at once.  [env: RAGFILE_WAIT]",
    )(command)


def _set_wait(_: click.Context, __: click.Parameter, seconds: float | None) -> None:
    if seconds is not None:
        os.environ[WAIT] = str(seconds)


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def check_question(file: str, question: str, command: str) -> None:
    """Refuse an empty question, and a question and a file in the wrong order."""
    if not question.strip():
        raise click.UsageError("the question is empty")
    if os.path.exists(question) and not is_remote(file) and not os.path.exists(file):
        right = shlex.join(["ragfile", command, question, file])
        raise click.UsageError(f"the file comes first, then the question: `{right}`")


def place_options(command: Command) -> Command:
    """Add --root and --base-url, which locate the sources of a file."""
    root = click.option(
        "--root",
        envvar="RAGFILE_ROOT",
        metavar="FOLDER",
        type=FilePath(file_okay=False),
        help="Print sources as paths in this folder, from which the file was built.",
    )
    base_url = click.option(
        "--base-url", metavar="URL", help="Print sources as links below this URL."
    )
    return root(base_url(command))


def dim_option(command: Command) -> Command:
    return click.option(
        "--dim",
        type=click.IntRange(min=1),
        metavar="N",
        help="Length of the vectors of a 0.1.0 file that does not record it.",
    )(command)


def generation_option(command: Command) -> Command:
    return click.option(
        "--generation",
        default=0,
        metavar="N",
        help="Read an older commit, if the file still has it.",
    )(command)


def over_option(command: Command) -> Command:
    """Add --over. FILE stays the one that takes changes, and is one argument beside others."""
    return click.option(
        "--over", multiple=True, metavar="LAYER",
        help="Search the file as a layer over this one, which stays unchanged; can be repeated, the "
        "lowest first.",
    )(command)  # fmt: skip


def layered(file: str, over: tuple[str, ...]) -> str | list[str]:
    """Return the layers to open, or the file alone."""
    return [*over, file] if over else file


def cache_option(command: Command) -> Command:
    return click.option(
        "--embedding-cache",
        metavar="FOLDER",
        help="Cache the vectors of slow embedders in this folder. [env: RAGFILE_CACHE]",
    )(command)


def url_cache_option(command: Command) -> Command:
    """Add the options of commands that open URLs."""
    command = click.option(
        "--redirects", is_flag=True, expose_value=False, callback=_allow_redirects,
        help="Follow a URL's redirects to other hosts. [env: RAGFILE_REDIRECTS]",
    )(command)  # fmt: skip
    return click.option(
        "--cache", metavar="FOLDER", help="Cache bytes fetched from a URL in this folder."
    )(command)


def _allow_redirects(context: click.Context, parameter: click.Parameter, is_allowed: bool) -> None:
    if is_allowed:
        os.environ["RAGFILE_REDIRECTS"] = "1"


def selection_options(command: Command) -> Command:
    """Add the options that select files in folders."""
    for decorate in (
        click.option(
            "--no-ignore",
            is_flag=True,
            help="Include files that .gitignore excludes, and folders such as node_modules.",
        ),
        click.option(
            "--exclude",
            multiple=True,
            metavar="GLOB",
            help="Exclude matching files and folders; can be repeated.",
        ),
        click.option(
            "--include",
            multiple=True,
            metavar="GLOB",
            help="Read only matching files; can be repeated.",
        ),
    ):
        command = decorate(command)
    return command


def errors_option(command: Command) -> Command:
    return click.option(
        "--errors", type=click.Choice(["strict", "replace"]), default="strict", show_default=True,
        help="How to treat invalid UTF-8: report an error, or replace each bad byte by U+FFFD.",
    )(command)  # fmt: skip


def encoding_option(command: Command) -> Command:
    return click.option(
        "--encoding", metavar="NAME",
        help="Encoding of text that is not UTF-8 and has no byte order mark, such as cp1252.",
    )(command)  # fmt: skip


def parse_options(command: Command) -> Command:
    """Add the limits of parsing, which `limits_of` reads."""
    memory = click.option(
        "--parse-memory", type=click.IntRange(min=0), metavar="BYTES",
        help="Memory for parsing one PDF, office file or EPUB, in a process of its own; 0 parses "
        "in this process, without limits. Default: 512 MiB.",
    )  # fmt: skip
    seconds = click.option(
        "--parse-seconds", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
        help="Time for parsing one such file. Default: 60 seconds.",
    )  # fmt: skip
    return memory(seconds(command))


def limits_of(parse_memory: int | None, parse_seconds: float | None) -> Limits:
    """Return the limits of these options; None is the default."""
    from ragfile.ingest.loaders.contract import Limits

    return Limits.given(parse_memory=parse_memory, parse_seconds=parse_seconds)


class _Clusters(_ParamType):
    """A parameter that is yes, no, or a number of clusters."""

    name = "clusters"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> bool | int | None:
        from ragfile.write.vector_clusters import checked

        try:
            return value == "yes" if value in ("yes", "no") else checked(int(value))
        except ValueError:
            self.fail(f"{value!r} is not yes, no, or a number from 1 to 65536", param, ctx)


def clusters_option(command: Command) -> Command:
    return click.option(
        "--clusters", type=_Clusters(), metavar="yes|no|N",
        help="Cluster vectors, for searches with --effort.",
    )(command)  # fmt: skip


class _Keep(_ParamType):
    """A parameter that is "all", a number of generations, or a date."""

    name = "keep"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        from ragfile.write.old_generations import checked_keep

        try:
            return checked_keep(int(value) if value.isdecimal() else value)
        except ValueError:
            self.fail(
                f"{value!r} is not all, a number from 1, or a date like 2026-01-31", param, ctx
            )


def keep_option(command: Command) -> Command:
    return click.option(
        "--keep", type=_Keep(), metavar="N|DATE|all",
        help="Keep N generations, those since a date, or all; by default the newest, if space matters.",
    )(command)  # fmt: skip


def executor_option(command: Command) -> Command:
    """Add the options for parallel work on a dataset."""
    command = click.option(
        "--workers", type=click.IntRange(min=1), help="Number of workers of the executor."
    )(command)
    command = click.option(
        "--ray", "executor", flag_value="ray", help="Use Ray (same as --executor ray)."
    )(command)
    return click.option(
        "--executor", type=click.Choice(["process", "ray", "dask"]),
        help="Process a dataset with a process pool, Ray or Dask instead of this process.",
    )(command)  # fmt: skip


def k_option(default: int) -> Callable[[Command], Command]:
    return click.option(
        "-k", type=click.IntRange(min=1), default=default, show_default=True,
        help="Number of results.",
    )  # fmt: skip


def condition(where: str | None) -> dict[str, Any] | None:
    """Parse the filter of --where; None without one."""
    if where is None:
        return None
    try:
        found = json.loads(where)
    except ValueError as error:
        raise click.UsageError(f"--where is not JSON: {error}") from None
    except RecursionError:
        raise click.UsageError("--where is nested too deeply") from None
    if not is_object(found):
        raise click.UsageError(
            f"--where must be a JSON object, such as '{{\"year\": 2024}}', not {where:.80}"
        )
    return found


def field_weights(given: Iterable[str]) -> dict[str, int] | None:
    """Parse the weights of --field NAME=WEIGHT; None without any."""
    found: dict[str, int] = {}
    for one in given:
        name, _, weight = one.rpartition("=")
        if not name or not weight.isascii() or not weight.isdigit():
            raise click.UsageError(
                f"--field must be NAME=WEIGHT with a whole weight, such as headers=3, not {one:.80}"
            )
        found[name] = int(weight)
    return found or None


def sparse_weights(given: str | None) -> dict[str, Any] | None:
    """Parse the weights of --sparse, a JSON object or a file with one; None without any."""
    if given is None:
        return None
    try:
        if not given.lstrip().startswith("{"):
            with open(given, encoding="utf-8") as file:
                given = file.read()
        found = json.loads(given)
    except OSError as error:
        raise click.UsageError(f"--sparse names no file: {error}") from None
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--sparse is not JSON: {error}") from None
    if not is_object(found):
        raise click.UsageError(
            f"--sparse must be a JSON object, such as '{{\"fox\": 1.3}}', not {given:.80}"
        )
    return found


# Parsers of the options that the command line spells in its own way.
READ = {"where": condition, "fields": field_weights, "sparse": sparse_weights}


class QuestionCommand(click.Command):
    """A command with the options of a question; it is called with those that were given.

    The options are built on the first use of the command, so that listing commands stays fast.
    """

    def table(self) -> OptionTable:
        """Return the options of the question."""
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

    def invoke(self, ctx: click.Context) -> object:
        default = click.core.ParameterSource.DEFAULT
        values = {str(one.name): ctx.params.pop(str(one.name)) for one in self._flags()}
        ctx.params["options"] = {
            name: READ[name](value) if name in READ else value
            for name, value in values.items()
            if ctx.get_parameter_source(name) is not default
        }
        return super().invoke(ctx)


def flag(option: Option) -> click.Option:
    """Build the flag of an option from its schema."""
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

        def read(context: click.Context, parameter: click.Parameter, value: object) -> object:
            return _read(option, value)

        made["callback"] = read
    return click.Option([spelled, option.name], **made)


def _read(option: Option, value: object) -> object:
    if option.read is None:
        return value
    try:
        return option.read(value)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _value(schema: Schema) -> dict[str, Any]:
    """Return the click settings for a schema: a switch, a number, a choice, texts, or JSON."""
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
    """Return the types of a schema, without null."""
    found = [k for one in schema.get("anyOf", (schema,)) for k in _listed(one["type"])]
    return [kind for kind in dict.fromkeys(found) if kind != "null"]


def _listed(kind: str | list[str]) -> list[str]:
    return [kind] if isinstance(kind, str) else kind


def _number(schema: Schema, kind: str) -> click.ParamType[Any]:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high, is_open = schema.get("maximum"), "exclusiveMinimum" in schema
    if low is None and high is None:
        return click.INT if kind == "integer" else click.FLOAT
    if kind == "integer":
        return click.IntRange(low, high, min_open=is_open)
    return click.FloatRange(low, high, min_open=is_open)


class Json(_ParamType):
    """A JSON value; text and numbers need no quotes where the option accepts them."""

    name = "json"

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = kinds

    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> object:
        if "string" in self.kinds and value[:1] not in ("[", "{"):
            return int(value) if "integer" in self.kinds and value.isdecimal() else value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            self.fail(f"not JSON: {error}", param, ctx)
