"""`ragfile sign`: sign the content of a file, or create a key."""

from __future__ import annotations

import os

import click

from ragfile.doors.cli.options import FilePath, json_option, wait_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import described, emit

PASSWORD = "RAGFILE_KEY_PASSWORD"


@click.command()
@click.argument("file", type=FilePath(), required=False)
@click.option("--key", type=FilePath(), help="Private key: a PEM or OpenSSH file (Ed25519).")
@click.option(
    "--new-key",
    type=FilePath(),
    help="Create a key pair: write the private key here and the public key beside it, as .pub.",
)
@click.option(
    "--bundle", type=FilePath(), metavar="OUT",
    help="Write an OpenSSF Model Signing bundle instead; requires a NIST elliptic-curve --key.",
)  # fmt: skip
@click.option("--signer", default="", help="Your name, recorded in the signature.")
@click.option("--signed", default="", help='Time to record: "now", or ISO 8601 with a time zone.')
@wait_option
@json_option
def sign(
    file: str | None,
    key: str | None,
    new_key: str | None,
    bundle: str | None,
    signer: str,
    signed: str,
    as_json: bool,
) -> None:
    """Sign a file or a dataset. Readers who trust your key refuse any other content.

    In a file, the signature is a commit of its own; in a dataset, it covers the newest generation.

    The password of an encrypted key is read from RAGFILE_KEY_PASSWORD.

    \b
    ragfile sign --new-key me.key
    ragfile sign kb.ragfile --key me.key --signer "Ada" --signed now
    ragfile verify kb.ragfile --key me.key.pub
    ragfile sign kb.ragfile --key ec.pem --bundle kb.sig
    """
    if bool(file) == bool(new_key) or bool(file) != bool(key):
        raise click.UsageError("give FILE and --key to sign, or --new-key to create a key")
    if new_key:
        return _create_key(new_key, as_json)
    assert file is not None
    assert key is not None
    from ragfile.opener import sign as sign_file

    password = os.environ.get(PASSWORD)
    if bundle:
        return _bundled(file, bundle, key, password, as_json)
    with Progress().ticking(f"signing {file}"):
        made = sign_file(
            file,
            key,
            signer=signer,
            signed=signed,
            password=password.encode() if password else None,
        )
    signature = {
        "key_id": made.key_id,
        "signer": made.signer,
        "signed": made.signed,
        "is_current": True,
    }
    return emit(signature) if as_json else click.echo(f"{file}: signed by {described(signature)}")


def _bundled(file: str, bundle: str, key: str, password: str | None, as_json: bool) -> None:
    from ragfile.exchange.signature_bundles import sign_bundle

    with Progress().ticking(f"signing {file}"):
        key_id = sign_bundle(file, bundle, key, password=password.encode() if password else None)
    if as_json:
        return emit({"bundle": bundle, "key_id": key_id})
    return click.echo(f"{bundle}: signature of {file} ({key_id[:16]})")


def _create_key(path: str, as_json: bool) -> None:
    from ragfile.ground.signing_keys import new_key

    key = new_key(path)
    if as_json:
        return emit({"key": path, "public": f"{path}.pub", "key_id": key.id})
    return click.echo(f"{path}: keep it secret; give {path}.pub to your readers ({key.id[:16]})")
