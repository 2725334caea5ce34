"""Options that several commands take, and what is read out of them."""

import json
import os

import click

from ragfile.ground.offline import VARIABLE as OFFLINE


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
