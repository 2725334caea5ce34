"""`ragfile rekey`: add and remove keys of an encrypted file, or create a key."""

from __future__ import annotations

import click

from ragfile.doors.cli.options import FilePath, json_option, wait_option
from ragfile.doors.cli.report_lines import counted, emit


@click.command()
@click.argument("file", type=FilePath(), required=False)
@click.option("--add", type=FilePath(), help="Key file that opens the file from now on.")
@click.option("--remove", type=FilePath(), help="Key file that does so no longer.")
@click.option("--new-key", type=FilePath(), help="Create a key, and write it here.")
@wait_option
@json_option
def rekey(
    file: str | None, add: str | None, remove: str | None, new_key: str | None, as_json: bool
) -> None:  # fmt: skip
    """Change the keys of an encrypted file.

    Its data is not written again. --key-file names a key that opens the file. Readers and writers with other keys go on.

    \b
    ragfile rekey --new-key kb.key
    ragfile build docs -o kb.ragfile --key-file kb.key
    ragfile rekey kb.ragfile --key-file kb.key --add ada.key
    ragfile rekey kb.ragfile --key-file ada.key --remove kb.key
    """
    if bool(file) == bool(new_key) or bool(file) != bool(add or remove):
        raise click.UsageError("give FILE with --add or --remove, or --new-key to create a key")
    if new_key:
        return _create_key(new_key, as_json)
    assert file is not None
    from ragfile.write.rekey import rekey as rekey_file

    count = rekey_file(file, add=add, remove=remove)
    if as_json:
        return emit({"file": file, "keys": count})
    return click.echo(f"{file}: {counted(count, 'key')}")


def _create_key(path: str, as_json: bool) -> None:
    from ragfile.ground.encryption_keys import new_key_file

    new_key_file(path)
    if as_json:
        return emit({"key_file": path})
    return click.echo(f"{path}: keep it secret, and keep a copy: without it, no one reads the file")
