"""`ragfile repair`: restore damaged bytes from the parity of a file."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.failures import DAMAGED
from ragfile.doors.cli.options import FilePath, json_option, wait_option
from ragfile.doors.cli.progress import Progress
from ragfile.doors.cli.report_lines import emit, printable, readable
from ragfile.errors import CorruptError

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterable

    from ragfile.write.repair import DamagedStretch, RepairReport

SHOWN = 20  # documents


@click.command("repair")
@click.argument("file", type=FilePath())
@click.option(
    "-o", "--out", type=FilePath(), help="Write the repaired file here instead of replacing FILE."
)
@click.option("-n", "--dry-run", is_flag=True, help="Report what can be restored, without writing.")
@wait_option
@json_option
def repair_command(file: str, out: str | None, dry_run: bool, as_json: bool) -> None:
    """Restore damaged bytes, bit for bit.

    The file must have parity, from build --parity or compact --parity. It is replaced atomically. If
    the damage exceeds the parity, it is left unchanged and the exit code is 5.

    \b
    ragfile build docs/ -o kb.ragfile --parity 2
    ragfile verify kb.ragfile
    ragfile repair kb.ragfile
    """
    from ragfile.write.repair import repair

    with Progress().ticking(f"repairing {file}"):
        try:
            report = repair(file, out, dry_run=dry_run)
        except CorruptError:  # beyond repair: report the losses instead
            report = repair(file, out, dry_run=True)
    if as_json:
        emit(_facts(report))
    else:
        _show_report(report, dry_run)
    sys.exit(0 if report.is_repairable else DAMAGED)


def _facts(report: RepairReport) -> dict[str, object]:
    facts = {"is_damaged": report.is_damaged, "is_repairable": report.is_repairable}
    named = {
        name: [stretch._asdict() for stretch in getattr(report, name)]
        for name in ("restored", "lost")
    }
    faults = [
        dict(zip(("kind", "at", "what", "section"), f, strict=True)) for f in report.remaining
    ]
    return {**asdict(report), **facts, **named, "remaining": faults}


def _show_report(report: RepairReport, dry_run: bool) -> None:
    """Print the results of a repair."""
    for name, size in _by_section(report.lost):
        click.echo(f"lost      {readable(size):>10}  {name}")
    for name, size in _by_section(report.restored):
        click.echo(
            f"{'restored' if report.is_written else 'repairable':<10}{readable(size):>10}  {name}"
        )
    for kind, at, what, section in report.remaining:
        place = f", section {section}" if section else ""
        click.echo(f"{kind}: {what} (byte {at} of the file{place})")
    for doc_id in report.lost_documents[:SHOWN]:
        click.echo(f"lost document {printable(doc_id)}")
    if len(report.lost_documents) > SHOWN:
        click.echo(f"and {len(report.lost_documents) - SHOWN:,} more")
    click.echo(f"{report.path}: {_verdict(report, dry_run)}")


def _verdict(report: RepairReport, dry_run: bool) -> str:
    if not report.is_damaged:
        return "good; nothing to repair"
    if not report.is_repairable:
        return "the damage exceeds its parity; nothing was written"
    if dry_run:
        return "all damage can be repaired; nothing was written"
    return f"repaired{'' if report.out == report.path else f' as {report.out}'}"


def _by_section(stretches: Iterable[DamagedStretch]) -> ItemsView[str, int]:
    """Sum the bytes of each section, in file order."""
    found: dict[str, int] = {}
    for stretch in stretches:
        name = stretch.section or "front page, tables and footers"
        found[name] = found.get(name, 0) + stretch.size
    return found.items()
