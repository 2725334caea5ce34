"""Report a failed command: one line on stderr, or one JSON object with --json, and an exit code."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from ragfile.errors import CorruptError, FormatError, RagfileError
from ragfile.ground import system

if TYPE_CHECKING:
    from typing import NoReturn

WRONG, USAGE, INCOMPLETE, DAMAGED, INTERRUPTED = 1, 2, 3, 5, 130
FETCH = "fetch it again"  # the end of a message that has its own advice
OURS = (RagfileError, OSError, ValueError, KeyError, IndexError, ImportError, MemoryError)

# Spellings of the library, and of the command line.
SPELLINGS = (
    (r"encoding= names", "--encoding names"),
    (r"errors=replace\b", "--errors replace"),
    (r"\bparse_memory=0\b", "--parse-memory 0"),
    (r"\bparse_(memory|seconds)= ", "--parse-{} "),
    (r"\bquery_syntax=(?=;| needs)", "--query-syntax"),
    (r"\bfields= needs", "--field needs"),
    (r"\bdiversity= compares", "--diversity compares"),
    (r"\bwith to=(?=;)", "with --to"),
    (r"\bwith chunking=$", "with --chunking"),
    (r"\bgive embedder= or vectors=$", "name an embedder with --embedder"),
    (r"redirects=True", "--redirects"),
    (r"\bquestions= (judges)", "--questions {}"),
    (r"\bqueries= (names)", "--queries {}"),
    (r"\bpass replace=True\b", "pass --replace"),
    (r"\bprefix='(\S+)'", "--prefix {}"),
    (r"\bpass embedder=", "name it with --embedder"),
    (r"\bpass dim$", "name it with --dim"),
    (r"embedder=, --embedder", "--embedder"),
    (r"\bgive its key with key=", "give its key with --key-file"),
    (r"\bgive it with key=", "give it with --key-file"),
    (r"\bbuild it again with key=", "build it again with --encrypt"),
    (r"\bleave out embedding_cache=", "leave out --embedding-cache"),
    (r"\bpass api_key(?: or another base_url)?", "another address with ?base_url="),
    (r"ragfile\.build\((.+?), 'kb\.ragfile'\)", "`ragfile build {} -o kb.ragfile`"),
    (r"ragfile\.convert\((.+?), 'kb\.ragfile'\)", "`ragfile convert {} kb.ragfile`"),
    (r"ragfile\.convert\(('[^']+'), ('[^']+')\)", "`ragfile convert {} {}`"),
)


def warned(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning as an error is printed: one line, without the source code that it came from."""
    text = spelled(str(message))
    if not issubclass(category, DeprecationWarning):
        click.echo(f"ragfile: {text}", err=True)


def spelled(text: str) -> str:
    """Translate a message of the library to the options of the command line."""
    for pattern, spelling in SPELLINGS:
        text = re.sub(pattern, partial(_filled, spelling), text)
    return text


def _filled(spelling: str, match: re.Match[str]) -> str:
    return spelling.format(*map(_argument, match.groups()))


def _argument(literal: str) -> str:
    return shlex.quote(literal.strip("'\""))


def failed(error: BaseException, as_json: bool) -> NoReturn:
    """Report an error and exit with its code; raise it again if it is a defect of this package."""
    if isinstance(error, BrokenPipeError):  # `ragfile export … | head` closes the pipe early
        system.discard(sys.stdout.fileno())
        sys.exit(WRONG)
    code, message = _code(error), _message(error)
    if message is None:
        raise error
    if as_json:
        report = {"kind": _kind(error), "message": message, "exit_code": code}
        click.echo(json.dumps({"error": report}), err=True)
    elif isinstance(error, click.UsageError):
        error.show()
    else:
        click.echo(f"ragfile: {message}", err=True)
    if isinstance(error, CorruptError) and not as_json and not message.endswith(FETCH):
        click.echo(_remedy(message), err=True)
    sys.exit(code)


def _remedy(message: str) -> str:
    """Return advice for a damaged file; most messages begin with its name."""
    name, colon, _ = message.partition(": ")
    file = shlex.quote(name) if colon and os.path.exists(name) else "FILE"
    if sys.argv[1:2] == ["log"]:
        return f"ragfile: no commit can be listed: restore a copy of {file}"
    if _is_of_pairs(name):
        return (
            f"ragfile: restore a copy of {file}: format 0.1.0 has neither parity nor older commits"
        )
    if "no commit is whole" in message:
        return f"ragfile: restore a copy of {file}, or try `ragfile repair {file} -o NEW` if it has parity"
    older = f"--generation N reads an older commit, listed by `ragfile log {file}`"
    if sys.argv[1:2] == ["verify"]:
        return f"ragfile: {older}"
    return f"ragfile: `ragfile verify {file} --full` lists the damage; {older}"


def _is_of_pairs(path: str) -> bool:
    """Return whether a file has format 0.1.0."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(8) == b"RAGFILE\0"


def _folder_advice(path: str) -> str:
    """Return the command that makes a file of a folder: a build, or a conversion of another program's store."""
    from ragfile.exchange.conversion import format_of_folder

    if os.path.isdir(path) and (kind := format_of_folder(path)):
        return f"{path} holds {kind}; `ragfile convert {shlex.quote(path)} kb.ragfile` makes a RAGFile of it"
    return f"{path} is a folder; build a file from it with `ragfile build {shlex.quote(path)} -o kb.ragfile`"


def _is_special(path: str | None) -> bool:
    """Return whether a path exists and is neither a file nor a folder."""
    return path is not None and os.path.exists(path) and not os.path.isfile(path)


def _code(error: BaseException) -> int:
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, click.UsageError):
        return USAGE
    return DAMAGED if isinstance(error, FormatError) else WRONG


def _kind(error: BaseException) -> str:
    if isinstance(error, click.exceptions.Abort):
        return "KeyboardInterrupt"
    return "UsageError" if isinstance(error, click.ClickException) else type(error).__name__


def _message(error: BaseException) -> str | None:
    """Return an error in one line, without errno or quotes; None for a defect of this package."""
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, IsADirectoryError) and error.filename is not None:
        return _folder_advice(str(error.filename))
    if isinstance(error, OSError) and error.errno == errno.EINVAL and _is_special(error.filename):
        return f"{error.filename} is a device or a pipe; name a regular file"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if not isinstance(error, OURS):
        return None
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    return spelled(str(text)) or type(error).__name__
