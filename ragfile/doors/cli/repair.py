"""`ragfile repair`: bring damaged bytes back with the parity that a file holds."""

import sys
from dataclasses import asdict

import click

from ragfile.doors.cli.failures import DAMAGED
from ragfile.doors.cli.options import json_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import emit, printable, readable
from ragfile.errors import CorruptError

SHOWN = 20  # documents


@click.command("repair")
@click.argument("file", type=click.Path())
@click.option("-o", "--out", type=click.Path(), help="Write the repaired file here instead.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would come back; write nothing.")
@json_option
def repair_command(file, out, dry_run, as_json):
    """Bring damaged bytes back, bit for bit.

    The file must have parity: `build --parity` and `compact --parity` give it. It is replaced in
    one step, or left as it is where more is damaged than parity brings back (exit code 2).

    \b
    ragfile build docs/ -o kb.ragfile --parity 2
    ragfile verify kb.ragfile
    ragfile repair kb.ragfile
    """
    from ragfile.write.repair import repair

    with Progress().ticking(f"repairing {file}"):
        try:
            report = repair(file, out, dry_run=dry_run)
        except CorruptError:  # beyond repair: what is lost says more
            report = repair(file, out, dry_run=True)
    if as_json:
        emit(_facts(report))
    else:
        _tell(report, dry_run)
    sys.exit(0 if report.is_repairable else DAMAGED)


def _facts(report):
    facts = {"is_damaged": report.is_damaged, "is_repairable": report.is_repairable}
    named = {
        name: [stretch._asdict() for stretch in getattr(report, name)]
        for name in ("restored", "lost")
    }
    faults = [
        dict(zip(("kind", "at", "what", "section"), f, strict=True)) for f in report.remaining
    ]
    return {**asdict(report), **facts, **named, "remaining": faults}


def _tell(report, dry_run):
    """What a repair found and did, for people."""
    for name, size in _by_section(report.lost):
        click.echo(f"lost      {readable(size):>10}  {name}")
    for name, size in _by_section(report.restored):
        click.echo(
            f"{'restored' if report.is_written else 'can come'}  {readable(size):>10}  {name}"
        )
    for kind, at, what, section in report.remaining:
        place = f", section {section}" if section else ""
        click.echo(f"{kind}: {what} (byte {at} of the file{place})")
    for doc_id in report.lost_documents[:SHOWN]:
        click.echo(f"lost document {printable(doc_id)}")
    if len(report.lost_documents) > SHOWN:
        click.echo(f"and {len(report.lost_documents) - SHOWN:,} more")
    click.echo(f"{report.path}: {_verdict(report, dry_run)}")


def _verdict(report, dry_run):
    if not report.is_damaged:
        return "good; nothing to repair"
    if not report.is_repairable:
        return "more is damaged than its parity brings back; nothing was written"
    if dry_run:
        return "all of it can be brought back; nothing was written"
    return f"repaired{'' if report.out == report.path else f' as {report.out}'}"


def _by_section(stretches):
    """(section, bytes), in order of place."""
    found = {}
    for stretch in stretches:
        name = stretch.section or "front page, tables and footers"
        found[name] = found.get(name, 0) + stretch.size
    return found.items()
