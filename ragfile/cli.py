"""The ragfile command. Exit codes: 0 done, 1 wrong usage or a failure outside the file, 2 not a RAGFile or a damaged one."""

import json
import sys

import click

from . import __version__
from .errors import FormatError, RagfileError

WRONG, DAMAGED = 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ragfile")
def ragfile():
    """One file for retrieval: documents, vectors and BM25."""


def json_option(command):
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def emit(value):
    """JSON on stdout; what JSON does not know becomes a string."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, default=str))


def readable(size):
    """A number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000


@ragfile.command()
@click.argument("file")
@json_option
def info(file, as_json):
    """What a file holds, at a glance."""
    from .opening import open as open_file

    with open_file(file) as rf:
        facts = rf.info
    if as_json:
        return emit(facts)
    for name, value in facts.items():
        shown = readable(value) if name == "size" else ", ".join(value) if isinstance(value, list) else value
        if shown not in (None, "", 0, False) or name in ("chunks", "documents"):
            click.echo(f"{name.replace('_', ' '):>16}  {shown}")


@ragfile.command()
@click.argument("file")
@click.option("--hex", "hex_at", type=int, metavar="N", help="Show 256 bytes from offset N.")
@click.option("--vector", "vector_row", type=int, metavar="N", help="Print vector N.")
@click.option("--pairs", "pairs_of", metavar="NAME", help="List the pairs of a section.")
@json_option
def inspect(file, hex_at, vector_row, pairs_of, as_json):
    """Every section of a file: where it lies and how much of the file it takes."""
    from .opening import open as open_file

    with open_file(file) as rf:
        if hex_at is not None:
            return _show_hex(file, hex_at, as_json)
        if vector_row is not None:
            values = [float(x) for x in rf.vector(vector_row)]
            return emit(values) if as_json else click.echo(" ".join(f"{x:.9g}" for x in values))
        if pairs_of is not None:
            return _show_pairs(rf, pairs_of, as_json)
        return _show_sections(rf, as_json)


def _show_sections(rf, as_json):
    entries, size = rf.entries, rf.info["size"]
    if as_json:
        return emit({"size": size, "sections": entries})
    width = max([len(entry["name"]) for entry in entries], default=4)
    click.echo(f"{'section':<{width}}  {'segment':>7}  {'offset':>14}  {'bytes':>14}  {'items':>10}  share")
    for e in entries:
        share = e["size"] / size
        bar = "█" * round(share * 30) or "▏"
        click.echo(
            f"{e['name']:<{width}}  {e.get('segment') or '-':>7}  {e['at']:>14,}  {e['size']:>14,}  {e.get('items', 0):>10,}  "
            f"{share:>6.1%} {bar}"
        )
    return None


def _show_hex(file, at, as_json):
    with open(file, "rb") as raw:
        raw.seek(at)
        data = raw.read(256)
    if as_json:
        return emit({"at": at, "hex": data.hex()})
    for line in range(0, len(data), 16):
        part = data[line : line + 16]
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        click.echo(f"{at + line:012x}  {part[:8].hex(' '):<23}  {part[8:].hex(' '):<23}  {text}")
    return None


def _show_pairs(rf, name, as_json):
    pairs = ((key if isinstance(key, str) else [float(x) for x in key], content) for key, content in rf.pairs(name))
    for key, content in pairs:
        if as_json:
            click.echo(json.dumps([key, content]))
        else:
            shown = (
                key
                if isinstance(key, str)
                else "[" + " ".join(f"{x:.4g}" for x in key[:4]) + (" …]" if len(key) > 4 else "]")
            )
            click.echo(f"{shown}\t{content}")


@ragfile.command()
@click.argument("file")
@click.option("--full", is_flag=True, help="Walk every older commit too.")
@json_option
def verify(file, full, as_json):
    """Check every byte of a file against its checksums."""
    from .opening import verify as verify_file

    faults, counts = verify_file(file, full=full)
    if as_json:
        emit(
            {
                "faults": [dict(zip(("kind", "at", "what", "section"), f, strict=True)) for f in faults],
                **counts,
            }
        )
    else:
        for kind, at, what, section in faults:
            click.echo(f"{kind}: {what} (byte {at}{f' of section {section}' if section else ''})")
        ending = "damaged" if faults else "good"
        click.echo(
            f"{file}: {ending}; {counts['sections']} sections, {counts['blocks']} blocks, {counts['commits']} commits checked"
        )
    sys.exit(DAMAGED if faults else 0)


def main(arguments=None):
    """Runs the command; errors are one line on stderr."""
    try:
        code = ragfile.main(arguments, prog_name="ragfile", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        sys.exit(WRONG)
    except click.ClickException as error:
        error.show()
        sys.exit(WRONG)
    except FormatError as error:
        click.echo(f"ragfile: {error}", err=True)
        sys.exit(DAMAGED)
    except (RagfileError, OSError, ValueError, KeyError, IndexError) as error:
        click.echo(f"ragfile: {error}", err=True)
        sys.exit(WRONG)
