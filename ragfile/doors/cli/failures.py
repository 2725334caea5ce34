"""What the command says when it fails: one line on stderr, or one JSON object there with --json,
and an exit code.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

import click

from ragfile.errors import CorruptError, FormatError, RagfileError

if TYPE_CHECKING:
    from typing import NoReturn

WRONG, DAMAGED, INCOMPLETE, INTERRUPTED = 1, 2, 3, 130
OURS = (RagfileError, OSError, ValueError, KeyError, IndexError, ImportError, MemoryError)

# How the library spells an option, and how the command line does.
SPELLINGS = (
    (re.compile(r"encoding= names"), "--encoding names"),
    (re.compile(r"errors=replace\b"), "--errors replace"),
    (re.compile(r"redirects=True"), "--redirects"),
    (re.compile(r"\bpass embedder="), "name it with --embedder"),
    (re.compile(r"embedder=, --embedder"), "--embedder"),
    (re.compile(r"\bpass api_key(?: or another base_url)?"), "another address with ?base_url="),
    (re.compile(r"ragfile\.build\((.+?), 'kb\.ragfile'\)"), "`ragfile build {} -o kb.ragfile`"),
    (re.compile(r"ragfile\.convert\((.+?), 'kb\.ragfile'\)"), "`ragfile convert {} kb.ragfile`"),
)


def spelled(text):
    """A message of the library in the spelling of the command line."""
    for pattern, said in SPELLINGS:
        text = pattern.sub(lambda m, said=said: said.format(*map(_argument, m.groups())), text)
    return text


def _argument(literal):
    return shlex.quote(literal.strip("'\""))


def failed(error, as_json) -> NoReturn:
    """Reports an error and ends the process with its exit code; what is not an error of use is
    raised again.
    """
    if isinstance(error, BrokenPipeError):  # `ragfile export … | head`: the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(WRONG)
    code, message = _code(error), _message(error)
    if message is None:
        raise error
    if as_json:
        said = {"kind": _kind(error), "message": message, "exit_code": code}
        click.echo(json.dumps({"error": said}), err=True)
    elif isinstance(error, click.UsageError):
        error.show()
    else:
        click.echo(f"ragfile: {message}", err=True)
    if isinstance(error, CorruptError) and not as_json:
        click.echo(_way_out(message), err=True)
    sys.exit(code)


def _way_out(message):
    """What to do about a damaged file, which a message most often begins with."""
    name, colon, _ = message.partition(": ")
    file = shlex.quote(name) if colon and os.path.exists(name) else "FILE"
    older = f"--generation N opens an older commit of `ragfile log {file}`"
    if sys.argv[1:2] == ["verify"]:
        return f"ragfile: {older}"
    return f"ragfile: `ragfile verify {file} --full` lists the damage; {older}"


def _is_special(path):
    """Whether a path is there and is neither a file nor a folder."""
    return path is not None and os.path.exists(path) and not os.path.isfile(path)


def _code(error):
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        return INTERRUPTED
    return DAMAGED if isinstance(error, FormatError) else WRONG


def _kind(error):
    if isinstance(error, click.exceptions.Abort):
        return "KeyboardInterrupt"
    return "UsageError" if isinstance(error, click.ClickException) else type(error).__name__


def _message(error):
    """An error in one line, without the number of an OSError or the quotes of a KeyError; None for
    a defect of ours.
    """
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, IsADirectoryError) and error.filename is not None:
        return (
            f"{error.filename} is a folder; `ragfile build FOLDER -o kb.ragfile` makes a file of it"
        )
    if isinstance(error, OSError) and error.errno == errno.EINVAL and _is_special(error.filename):
        return f"{error.filename} is a device or a pipe; name a regular file"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if not isinstance(error, OURS):
        return None
    said = error.args[0] if isinstance(error, KeyError) and error.args else error
    return spelled(str(said)) or type(error).__name__
