"""How commands tell people things: numbers, times, texts of a file, and what of the sources was not read."""

import collections
import json
import os
import sys
from datetime import UTC, datetime

import click

from ragfile.doors.cli.failures import INCOMPLETE
from ragfile.errors import FormatError

SHOWN = 12  # suffixes


def emit(value):
    """JSON on stdout; what JSON does not know becomes a string."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, default=str))


def readable(size):
    """A number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000


def counted(count, noun):
    """A number of things for people."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def printable(text):
    """Text of a file on one line, for a terminal: a control character in it controls nothing."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


def moment(nanoseconds):
    """A time that a file records, in UTC."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def described(signature):
    """A signature, as info tells of it, in one line."""
    key = signature["key_id"][:16]
    who = f"{signature['signer']} ({key})" if signature["signer"] else key
    when = f", {signature['signed']}" if signature["signed"] else ""
    return f"{who}{when}{'' if signature['is_current'] else ', and changed since'}"


def passages(rf):
    """The open file, if it has any."""
    if not hasattr(rf, "search"):
        raise FormatError(
            f"{rf.info['path']}: a 0.1.0 file has pairs, not passages: `ragfile inspect --pairs NAME` lists them"
        )
    return rf


def tell_sources(report):
    """What of the sources was not read, and what was read as something else than UTF-8: on stderr."""
    for line in (*told_skipped(report.skipped), *told_encodings(report.encodings)):
        click.echo(f"ragfile: {line}", err=True)


def told_skipped(skipped):
    """Files that were passed over, counted by reason, those without a loader by suffix."""
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


def told_encodings(encodings):
    for encoding, count in collections.Counter(encodings.values()).most_common():
        path = next(path for path, name in encodings.items() if name == encoding)
        yield f"read {counted(count, 'file')} as {encoding}, such as {printable(path)}"


def exit_incomplete(report):
    """Ends with the exit code that says so, where a source could not be read and the rest was."""
    if report.failures:
        sys.exit(INCOMPLETE)


def with_errors(failures):
    """The number of files with errors; a file of records can have several."""
    count = len({failure.path for failure in failures})
    return f"; {counted(count, 'file')} with errors" if count else ""
