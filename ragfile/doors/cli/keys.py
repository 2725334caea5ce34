"""ragfile keys: who may ask a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.options import json_option
from ragfile.doors.cli.report_lines import emit, moment

if TYPE_CHECKING:
    from ragfile.doors.server.keys import KeyFile


@click.group("keys")
@click.option(
    "--keys",
    "path",
    type=click.Path(),
    envvar="RAGFILE_KEYS",
    show_envvar=True,
    help="The file of keys; else keys.json in the folder ragfile of your configuration.",
)
@click.pass_context
def keys_command(context, path):
    """Make, list and revoke the keys of `ragfile serve`."""
    from ragfile.doors.server.keys import KeyFile, default_path

    context.obj = KeyFile(path or default_path())


@keys_command.command("add")
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "write", "admin"]),
    default="read",
    show_default=True,
    help="What it allows; each includes those before it.",
)
@json_option
@click.pass_obj
def add_command(file: KeyFile, name, scope, as_json):
    """Make a key and show it. It is shown this once."""
    secret = file.add(name, scope)
    if as_json:
        return emit({"name": name, "scope": scope, "key": secret})
    click.echo(secret)
    return click.echo("ragfile: keep it now; only its hash is stored", err=True)


@keys_command.command("list")
@json_option
@click.pass_obj
def list_command(file: KeyFile, as_json):
    """List the keys by name, without their secrets."""
    keys = [{n: key.get(n) for n in ("name", "scope", "created")} for key in file.read()]
    if as_json:
        return emit(keys)
    for key in keys:
        click.echo(f"{key['name']}  {key['scope']}  {moment(int(key['created'] or 0) * 10**9)}")
    return None


@keys_command.command("revoke")
@click.argument("name")
@click.pass_obj
def revoke_command(file: KeyFile, name):
    """End a key. Servers that run see it at once."""
    file.revoke(name)
    click.echo(f"{name} is revoked")
