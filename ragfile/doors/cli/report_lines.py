"""Format numbers, times, texts and the reports on sources for a terminal."""

from __future__ import annotations

import collections
import json
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ragfile.doors.cli.failures import INCOMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ragfile.ingest.document_loader import SourceFailure
    from ragfile.ingest.source_files import Skipped
    from ragfile.write.builder import BuildReport
    from ragfile.write.source_sync import SyncReport

SHOWN = 12  # suffixes


def emit(value: object) -> None:
    """Print JSON on stdout; values of other types become strings."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, default=str))


def readable(size: float) -> str:
    """Format a number of bytes."""
    if size < 1000:
        return f"{size} B"
    for unit in ("KB", "MB", "GB"):
        size /= 1000
        if size < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def counted(count: int, noun: str) -> str:
    """Format a count with its noun in the singular or plural."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def printable(text: str) -> str:
    """Return text on one line, with control characters replaced, for a terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


def moment(nanoseconds: int) -> str:
    """Format a recorded time, in UTC."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def described(signature: Mapping[str, Any]) -> str:
    """Format a signature of the summary in one line."""
    key = signature["key_id"][:16]
    who = f"{signature['signer']} ({key})" if signature["signer"] else key
    when = f", {signature['signed']}" if signature["signed"] else ""
    return f"{who}{when}{'' if signature['is_current'] else ', and changed since'}"


def report_sources(report: BuildReport | SyncReport) -> None:
    """Report skipped sources, and those not read as UTF-8, on stderr."""
    for line in (*skipped_lines(report.skipped), *encoding_lines(report.encodings)):
        click.echo(f"ragfile: {line}", err=True)


def skipped_lines(skipped: Sequence[Skipped]) -> Iterator[str]:
    """Count skipped files by reason, and those without a loader by suffix."""
    reasons = collections.Counter(each.reason for each in skipped)
    unknown = collections.Counter(
        os.path.splitext(each.path)[1].lower() or "no suffix"
        for each in skipped
        if each.reason == "no loader for this suffix"
    )
    for reason, count in reasons.most_common():
        kinds = ", ".join(f"{n} {printable(suffix)}" for suffix, n in unknown.most_common(SHOWN))
        more = f" and {len(unknown) - SHOWN} more suffixes" if len(unknown) > SHOWN else ""
        known = f": {kinds}{more}" if reason == "no loader for this suffix" else ""
        yield f"skipped {count:,} ({reason}){known}"


def encoding_lines(encodings: Mapping[str, str]) -> Iterator[str]:
    for encoding, count in collections.Counter(encodings.values()).most_common():
        path = next(path for path, name in encodings.items() if name == encoding)
        yield f"read {counted(count, 'file')} as {encoding}, such as {printable(path)}"


def exit_incomplete(report: BuildReport | SyncReport) -> None:
    """Exit with the code for unreadable sources, if any."""
    if report.failures:
        sys.exit(INCOMPLETE)


def with_errors(failures: Sequence[SourceFailure]) -> str:
    """Count the files with errors; a file of records can have several."""
    count = len({failure.path for failure in failures})
    return f"; {counted(count, 'file')} with errors" if count else ""
