"""ragfile verify: every byte against its checksum, and a key against the file."""

import os
import sys

import click

from ragfile.doors.cli.failures import DAMAGED, WRONG
from ragfile.doors.cli.options import json_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import counted, emit
from ragfile.errors import FormatError
from ragfile.ground.urls import is_remote

UNSIGNED = "SignatureError"  # the kind of a fault that is not damage


@click.command()
@click.argument("file", type=click.Path())
@click.option("--full", is_flag=True, help="Check every older commit, too.")
@click.option(
    "--key",
    "keys",
    multiple=True,
    type=click.Path(),
    help="A public key that must have signed the file as it is; of several, one.",
)
@click.option(
    "--bundle", type=click.Path(), metavar="FILE",
    help="The signature is this bundle of OpenSSF Model Signing.",
)  # fmt: skip
@json_option
def verify(file, full, keys, bundle, as_json):
    """Check every byte of a file against its checksums."""
    from ragfile.opener import verify as verify_file

    try:
        with Progress().ticking(f"verifying {file}"):
            own_keys = keys if keys and bundle is None else None
            faults, counts = verify_file(file, full=full, keys=own_keys)
            faults += _bundle_faults(file, bundle, keys)
    except FormatError:
        if not as_json:
            _tell_repair(file, _is_repairable(file))
        raise
    damaged = any(fault[0] != UNSIGNED for fault in faults)
    can_be = _is_repairable(file) if damaged else None
    if as_json:
        emit(
            {
                "faults": [
                    dict(zip(("kind", "at", "what", "section"), f, strict=True)) for f in faults
                ],
                **counts,
                "is_repairable": can_be,
            }
        )
    else:
        for kind, at, what, section in faults:
            place = f" (byte {at} of the file{f', section {section}' if section else ''})"
            click.echo(f"{kind}: {what}{'' if kind == UNSIGNED else place}")
        ending = "damaged" if damaged else "whole, but not vouched for" if faults else "good"
        click.echo(
            f"{file}: {ending}; {counted(counts['sections'], 'section')}, {counted(counts['blocks'], 'block')}, "
            f"{counted(counts['commits'], 'commit')} checked"
        )
        _tell_repair(file, can_be)
    sys.exit(DAMAGED if damaged else WRONG if faults else 0)


def _bundle_faults(file, bundle, keys):
    """Why a bundle does not vouch for a file, as a fault; none where it does."""
    from ragfile.errors import SignatureError
    from ragfile.exchange.bundles import verify_bundle

    if bundle is None:
        return []
    if not keys:
        raise click.UsageError("--bundle needs --key: the public key that you trust")
    try:
        verify_bundle(file, bundle, keys)
    except SignatureError as error:
        return [(UNSIGNED, 0, str(error), "")]
    return []


def _is_repairable(file):
    """Whether the parity of a damaged file brings all of it back; None where there is none."""
    from ragfile.write.repair import repair

    if is_remote(file) or not os.path.isfile(file):
        return None
    try:
        report = repair(file, dry_run=True)
    except FormatError:
        return None
    return report.is_repairable if report.is_damaged else None


def _tell_repair(file, can_be):
    if can_be:
        click.echo(f"ragfile: `ragfile repair {file}` brings all of it back", err=True)
    elif can_be is not None:
        click.echo(
            f"ragfile: more is damaged than the file's parity brings back: `ragfile repair -n {file}` "
            "says what is lost", err=True,
        )  # fmt: skip
