"""`ragfile keys`: manage the API keys of a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.options import FilePath, condition, json_option
from ragfile.doors.cli.report_lines import emit, moment

if TYPE_CHECKING:
    from ragfile.doors.server.keys import KeyFile


SHOWN = ("name", "scope", "file", "where", "created")


@click.group("keys")
@click.option(
    "--keys",
    "path",
    type=FilePath(),
    envvar="RAGFILE_KEYS",
    show_envvar=True,
    help="Key file. Default: ragfile/keys.json in your configuration folder.",
)
@click.pass_context
def keys_command(context: click.Context, path: str | None) -> None:
    """Create, list and revoke API keys for serve."""
    from ragfile.doors.server.keys import KeyFile, default_path

    context.obj = KeyFile(path or default_path())


@keys_command.command("add")
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "write", "admin"]),
    default="read",
    show_default=True,
    help="Permissions of the key; each scope includes those before it.",
)
@click.option(
    "--file", "only", default="", metavar="COLLECTION",
    help="The only file that the key opens, by its name on the server.",
)  # fmt: skip
@click.option(
    "--where", metavar="JSON",
    help="A filter: the key sees no document that does not pass it.",
)  # fmt: skip
@json_option
@click.pass_obj
def add_command(
    file: KeyFile, name: str, scope: str, only: str, where: str | None, as_json: bool
) -> None:
    """Create a key and print it. It cannot be shown again."""
    chosen = condition(where)
    secret = file.add(name, scope, only, chosen)
    if as_json:
        bound = ({"file": only} if only else {}) | ({"where": chosen} if chosen else {})
        return emit({"name": name, "scope": scope, **bound, "key": secret})
    click.echo(secret)
    return click.echo("ragfile: save it now; only its hash is stored", err=True)


@keys_command.command("list")
@json_option
@click.pass_obj
def list_command(file: KeyFile, as_json: bool) -> None:
    """List the keys, without their secrets."""
    keys = file.read()
    if as_json:
        return emit([{name: key.get(name) for name in SHOWN} for key in keys])
    for key in keys:
        created = moment(int(key.get("created") or 0) * 10**9)
        bound = key.get("file", "")
        only = f"  {bound}" if bound else ""
        where = f"  where {json.dumps(key['where'])}" if "where" in key else ""
        click.echo(f"{key['name']}  {key['scope']}  {created}{only}{where}")
    return None


@keys_command.command("revoke")
@click.argument("name")
@click.pass_obj
def revoke_command(file: KeyFile, name: str) -> None:
    """Revoke a key. Running servers reject it at once."""
    file.revoke(name)
    click.echo(f"{name} is revoked")
