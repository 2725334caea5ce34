"""`ragfile sign`: vouch for a file's content with a key, or make a key."""

import os

import click

from ragfile.doors.cli.options import json_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import described, emit

PASSWORD = "RAGFILE_KEY_PASSWORD"


@click.command()
@click.argument("file", type=click.Path(), required=False)
@click.option("--key", type=click.Path(), help="Your private key: a PEM or OpenSSH file (Ed25519).")
@click.option("--new-key", type=click.Path(), help="Write a new key here, and NAME.pub beside it.")
@click.option(
    "--bundle", type=click.Path(), metavar="OUT",
    help="Write a bundle of OpenSSF Model Signing here instead; --key is an elliptic curve of NIST.",
)  # fmt: skip
@click.option("--signer", default="", help="Your name, as it is to stand in the signature.")
@click.option("--signed", default="", help='The time to state: "now", or ISO 8601 with a zone.')
@json_option
def sign(file, key, new_key, bundle, signer, signed, as_json):
    """Sign a file, or a dataset. Readers who trust your key refuse any other content.

    Of a file it is a commit of its own, of a dataset its newest generation is signed.

    A key with a password takes it from the variable RAGFILE_KEY_PASSWORD.

    \b
    ragfile sign --new-key me.key
    ragfile sign kb.ragfile --key me.key --signer "Ada" --signed now
    ragfile verify kb.ragfile --key me.key.pub
    ragfile sign kb.ragfile --key ec.pem --bundle kb.sig
    """
    if bool(file) == bool(new_key) or bool(file) != bool(key):
        raise click.UsageError("give FILE and --key to sign, or --new-key to make a key")
    if new_key:
        return _made(new_key, as_json)
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
    said = {"key_id": made.key_id, "signer": made.signer, "signed": made.signed, "is_current": True}
    return emit(said) if as_json else click.echo(f"{file}: signed by {described(said)}")


def _bundled(file, bundle, key, password, as_json):
    from ragfile.exchange.bundles import sign_bundle

    with Progress().ticking(f"signing {file}"):
        key_id = sign_bundle(file, bundle, key, password=password.encode() if password else None)
    if as_json:
        return emit({"bundle": bundle, "key_id": key_id})
    return click.echo(f"{bundle}: vouches for {file} as it is ({key_id[:16]})")


def _made(path, as_json):
    from ragfile.ground.signing_keys import new_key

    key = new_key(path)
    if as_json:
        return emit({"key": path, "public": f"{path}.pub", "key_id": key.id})
    return click.echo(
        f"{path}: keep it to yourself; {path}.pub is for your readers ({key.id[:16]})"
    )
