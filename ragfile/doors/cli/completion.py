"""`ragfile completion`: what lets a shell complete commands and options, and the manual page."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from ragfile import __version__

# Where each is looked for without any further setting, below XDG_DATA_HOME or XDG_CONFIG_HOME.
PLACES = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/ragfile"),
    "zsh": ("XDG_DATA_HOME", ".local/share", "zsh/site-functions/_ragfile"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/ragfile.fish"),
    "man": ("XDG_DATA_HOME", ".local/share", "man/man1/ragfile.1"),
}


@click.command("completion")
@click.argument("kind", type=click.Choice(list(PLACES)))
@click.option("--install", is_flag=True, help="Write it where the shell, or man, looks for it.")
def completion_command(kind, install):
    """Print a shell's completion of this command, or its manual."""
    from ragfile.doors.cli.main import ragfile

    text = manual(ragfile) if kind == "man" else script(ragfile, kind)
    if not install:
        return click.echo(text)
    path = place(kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(path)
    if kind == "zsh":
        click.echo(
            f"ragfile: if it is not there yet, add to ~/.zshrc: fpath+=({path.parent})", err=True
        )
    return None


def place(kind):
    """The file that --install writes."""
    variable, default, name = PLACES[kind]
    return Path(os.environ.get(variable) or Path.home() / default) / name


def script(command, shell):
    """A shell's script, as click makes it."""
    made = get_completion_class(shell)(command, {}, "ragfile", "_RAGFILE_COMPLETE")
    return made.source()


def manual(command):
    """The manual page in the troff that man reads."""
    context = click.Context(command, info_name="ragfile")
    today = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or 0), UTC)
    date = today.strftime("%Y-%m-%d") if "SOURCE_DATE_EPOCH" in os.environ else ""
    lines = [f'.TH RAGFILE 1 "{date}" "ragfile {__version__}" "User Commands"']
    lines += [".SH NAME", f"ragfile \\- {_plain(_help(command))}"]
    lines += [".SH SYNOPSIS", ".B ragfile", ".I COMMAND", "[OPTIONS] ...", ".SH COMMANDS"]
    for name in command.list_commands(context):
        lines += _section(name, command.get_command(context, name), context)
    return "\n".join([*lines, *_ENDING]) + "\n"


_ENDING = (
    ".SH EXIT STATUS",
    ".TP\n0\nSuccess.",
    ".TP\n1\nWrong usage, or a failure outside the file.",
    ".TP\n2\nThe file is damaged or is not a RAGFile.",
    ".TP\n3\nDone, but for sources that could not be read.",
    ".TP\n130\nInterrupted.",
)


def _section(name, command, parent):
    """The lines of one command."""
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS {name}", f".B ragfile {name}", _plain(usage), ".PP", _plain(_help(command))]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            lines += [".TP", f"\\fB{_plain(record[0])}\\fR", _plain(record[1])]
    return lines


def _help(command):
    return " ".join((command.help or "").split())


def _plain(text):
    """Text that troff takes as it is: no escapes, no line that begins a request, minus signs to
    copy, ASCII.
    """
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text[:1] in (".", "'") else text
