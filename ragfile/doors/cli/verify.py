"""`ragfile verify`: check the checksums and the signature of a file."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.failures import DAMAGED, WRONG
from ragfile.doors.cli.options import FilePath, json_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import counted, emit, printable
from ragfile.errors import FormatError
from ragfile.ground.urls import is_remote

if TYPE_CHECKING:
    from ragfile.ingest.bundle_rules import BrokenRule
    from ragfile.opener import Fault

UNSIGNED = "SignatureError"  # the one kind of fault that is not damage
UNFINISHED = (
    "{:,} bytes after the newest commit are a commit in progress, or one whose writer died; they do "
    "no harm, the next edit starts after them, and `ragfile compact` removes them"
)


@click.command()
@click.argument("file", type=FilePath())
@click.option("--full", is_flag=True, help="Also check every older commit.")
@click.option(
    "--key",
    "keys",
    multiple=True,
    type=FilePath(),
    help="Trusted public key; one of those given must have signed the file as it is.",
)
@click.option(
    "--bundle", type=FilePath(), metavar="FILE",
    help="Verify this OpenSSF Model Signing bundle instead of a signature in the file.",
)  # fmt: skip
@json_option
def verify(file: str, full: bool, keys: tuple[str, ...], bundle: str | None, as_json: bool) -> None:
    """Check every byte of a file against its checksums."""
    from ragfile.opener import verify as verify_file

    try:
        with Progress().ticking(f"verifying {file}"):
            own_keys = keys if keys and bundle is None else None
            faults, counts = verify_file(file, full=full, keys=own_keys)
            faults += _bundle_faults(file, bundle, keys)
    except FormatError:
        if not as_json:
            _suggest_repair(file, _is_repairable(file))
        raise
    damaged = any(fault[0] != UNSIGNED for fault in faults)
    broken = [] if damaged else _broken_rules(file)
    can_be = _is_repairable(file) if damaged else None
    if as_json:
        emit(
            {
                "faults": [
                    dict(zip(("kind", "at", "what", "section"), f, strict=True)) for f in faults
                ],
                **counts,
                "is_repairable": can_be,
                **({"bundle": [one._asdict() for one in broken]} if broken else {}),
            }
        )
    else:
        for kind, at, what, section in faults:
            place = f" (byte {at} of the file{f', section {section}' if section else ''})"
            click.echo(f"{kind}: {what}{'' if kind == UNSIGNED else place}")
        ending = (
            "damaged"
            if damaged
            else "intact, but not signed by a trusted key"
            if faults
            else "good"
        )
        click.echo(
            f"{file}: {ending}; {counted(counts['sections'], 'section')}, {counted(counts['blocks'], 'block')}, "
            f"{counted(counts['commits'], 'commit')} checked"
        )
        for path, rule in broken:
            click.echo(f"bundle: {printable(path)}: {printable(rule)}")
        _tell_forgotten(file, counts.get("forgotten", 0))
        _suggest_repair(file, can_be)
        if tail := counts.get("tail"):
            click.echo(f"ragfile: {UNFINISHED.format(tail)}", err=True)
    sys.exit(DAMAGED if damaged else WRONG if faults or broken else 0)


def _broken_rules(file: str) -> list[BrokenRule]:
    """Return the rules of bundles that a file breaks, if it was built from one."""
    from ragfile.ingest.bundle_rules import broken_rules
    from ragfile.opener import open as open_file

    with open_file(file) as rf:
        selection = rf.file.config.get("selection", {})
        return broken_rules(rf.documents()) if selection.get("bundle") else []


def _tell_forgotten(file: str, count: int) -> None:
    """Print how many forgotten memories have bytes in a file, and how to erase them."""
    if count:
        verb = "is" if count == 1 else "are"
        click.echo(
            f"{file}: {counted(count, 'forgotten text')} {verb} still in the file: "
            f"`ragfile memory forget {quote(file)} --erase` erases them"
        )


def _bundle_faults(file: str, bundle: str | None, keys: tuple[str, ...]) -> list[Fault]:
    """Return a fault if a bundle does not match a file and a key."""
    from ragfile.errors import SignatureError
    from ragfile.exchange.signature_bundles import verify_bundle

    if bundle is None:
        return []
    if not keys:
        raise click.UsageError("--bundle requires --key, a public key that you trust")
    try:
        verify_bundle(file, bundle, keys)
    except SignatureError as error:
        return [(UNSIGNED, 0, str(error), "")]
    return []


def _is_repairable(file: str) -> bool | None:
    """Return whether parity can repair all damage; None if the file has no parity or no damage."""
    from ragfile.write.repair import repair

    if is_remote(file) or not os.path.isfile(file):
        return None
    try:
        report = repair(file, dry_run=True)
    except FormatError:
        return None
    return report.is_repairable if report.is_damaged else None


def _suggest_repair(file: str, can_be: bool | None) -> None:
    if can_be:
        click.echo(f"ragfile: `ragfile repair {quote(file)}` can repair it", err=True)
    elif can_be is not None:
        click.echo(
            f"ragfile: the damage exceeds the file's parity; `ragfile repair -n {quote(file)}` "
            "lists the losses", err=True,
        )  # fmt: skip
