"""`ragfile info` and `ragfile inspect`: summarize a file, and list its sections and bytes."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any, cast

import click

from ragfile.doors.cli.options import (
    FilePath,
    dim_option,
    generation_option,
    json_option,
    over_option,
    url_cache_option,
)
from ragfile.doors.cli.report_lines import described, emit, moment, printable, readable
from ragfile.ground.json_values import is_list
from ragfile.ground.urls import is_remote

if TYPE_CHECKING:
    from ragfile.file.pairs import PairFile
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.types import PairStrategy


@click.command()
@click.argument("file", type=FilePath(), required=False)
@click.option("--plugins", is_flag=True, help="List the plugins that are installed.")
@click.option(
    "--root", envvar="RAGFILE_ROOT", metavar="FOLDER", type=FilePath(exists=True, file_okay=False),
    help="Compare the file with this folder, from which it was built.",
)  # fmt: skip
@click.option(
    "--languages", is_flag=True,
    help="Count the documents by language, which reads all texts.",
)  # fmt: skip
@dim_option
@generation_option
@over_option
@url_cache_option
@json_option
def info(
    file: str | None,
    plugins: bool,
    root: str | None,
    languages: bool,
    dim: int | None,
    generation: int,
    over: tuple[str, ...],
    cache: str | None,
    as_json: bool,
) -> None:
    """Show a summary of a file.

    With --root, also show whether the source folder has changed since.
    """
    from ragfile.opener import open as open_file

    if plugins:
        return _show_plugins(as_json)
    if file is None:
        raise click.UsageError("name a file, or pass --plugins")
    if not over and (sealed := _without_key(file)) is not None:
        return emit(sealed) if as_json else _show_facts(sealed)
    opening: dict[str, Any] = {"dim": dim, "generation": generation, "cache": cache}
    layered = [*over, file]
    with cast(
        "KnowledgeBase | PairFile",
        open_file(layered, cache=cache) if over else open_file(file, **opening),
    ) as rf:
        facts: dict[str, Any] = {**rf.info, "sources": _sources(rf, root)}
        if languages:
            facts["languages"] = _languages(rf)
    if as_json:
        return emit(facts)
    for name, value in facts.items():
        shown = _sync_advice(value, file, root) if name == "sources" else _fact(name, value)
        if shown not in (None, "", 0, False) or name in ("chunks", "documents"):
            click.echo(f"{name.replace('_', ' '):>16}  {shown}")


def _without_key(file: str) -> dict[str, Any] | None:
    """Return the facts that an encrypted file shows without a key; None for other files, or with a key."""
    from ragfile import _core
    from ragfile.ground.encryption_keys import has_key

    if is_remote(file) or not os.path.isfile(file) or has_key():
        return None
    found = _core.Map(file)
    if not found.is_encrypted:
        return None
    header = _core.encryption_header(found, file)
    return {
        "path": file, "format": "1.0, encrypted", "cipher": "AES-256-GCM", "size": len(found),
        "keys": len(header["slots"]), "advice": "--key-file shows the rest",
    }  # fmt: skip


def _show_facts(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' '):>16}  {_fact(name, value)}")


def _show_plugins(as_json: bool) -> None:
    from ragfile.ground.plugins import installed

    found = installed()
    if as_json:
        return emit([plugin._asdict() for plugin in found])
    for plugin in found:
        package = printable(f"{plugin.package} {plugin.version}".strip())
        click.echo(
            f"{plugin.group:>10}  {printable(plugin.name)}  {printable(plugin.value)} ({package})"
        )
    if not found:
        click.echo("no plugins are installed", err=True)


def _sources(rf: KnowledgeBase | PairFile, root: str | None) -> dict[str, int] | None:
    """Return how many files of a folder differ from the file; None without a folder."""
    if root is None:
        return None
    from ragfile.search.file_rows import FileRows
    from ragfile.write.source_state import source_state

    rows = getattr(rf, "rows", None)
    if not isinstance(rows, FileRows) or is_remote(rows.path):
        return None
    return source_state(rows, root)._asdict()


def _languages(rf: KnowledgeBase | PairFile) -> dict[str, int] | None:
    """Return the number of texts in each language, the commonest first; None for a file of 0.1.0."""
    from ragfile.file.pairs import PairFile
    from ragfile.ingest.languages import language_of

    if isinstance(rf, PairFile):
        return None
    found: dict[str, int] = {}
    for document in rf.documents():
        if document.text:
            code = language_of(document.text)
            found[code] = found.get(code, 0) + 1
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _sync_advice(state: dict[str, int] | None, file: str, root: str | None) -> str:
    """Format the state of the sources, with the command that follows them."""
    if state is None or root is None:
        return ""
    differing = ", ".join(f"{count} {how}" for how, count in state.items() if count)
    command = f"ragfile sync {shlex.quote(file)} {shlex.quote(root)}"
    return f"{differing}: run `{command}`" if differing else "up to date"


def _fact(name: str, value: Any) -> object:  # Any: JSON
    """Format one fact of the summary."""
    if name == "size":
        return readable(value)
    if name == "created" and value:
        return moment(value)
    if name == "languages":
        counts: dict[str, int] = value or {}
        return ", ".join(f"{code} {count:,}" for code, count in counts.items())
    if name == "layers":
        return ", ".join(layer["path"] for layer in value)
    if name == "signatures":
        return "; ".join(described(signature) for signature in value)
    if name == "model" and value:
        spec = value.get("spec")
        return value["name"] + (f" ({spec})" if spec and spec != value["name"] else "")
    return ", ".join(map(str, value)) if is_list(value) else value


@click.command()
@click.argument("file", type=FilePath())
@click.option(
    "--hex", "hex_at", type=click.IntRange(min=0), metavar="N", help="Dump 256 bytes from offset N."
)
@click.option("--vector", "vector_row", type=int, metavar="N", help="Print vector N.")
@click.option("--pairs", "pairs_of", metavar="NAME", help="List the pairs of a section.")
@click.option("--picture", is_flag=True, help="Draw the sections as a map of the file.")
@dim_option
@generation_option
@url_cache_option
@json_option
def inspect(
    file: str,
    hex_at: int | None,
    vector_row: int | None,
    pairs_of: PairStrategy | None,
    picture: bool,
    dim: int | None,
    generation: int,
    cache: str | None,
    as_json: bool,
) -> None:
    """List the sections of a file with offsets and sizes."""
    from ragfile.opener import open as open_file

    opening: dict[str, Any] = {"dim": dim, "generation": generation, "cache": cache}
    with cast("KnowledgeBase | PairFile", open_file(file, **opening)) as rf:
        if picture:
            return _show_picture(rf, as_json)
        if hex_at is not None:
            return _show_hex(rf, file, hex_at, as_json)
        if vector_row is not None:
            values = [float(x) for x in rf.vector(vector_row)]
            return emit(values) if as_json else click.echo(" ".join(f"{x:.9g}" for x in values))
        if pairs_of is not None:
            return _show_pairs(rf, pairs_of, as_json)
        return _show_sections(rf, as_json)


def _show_sections(rf: KnowledgeBase | PairFile, as_json: bool) -> None:
    entries, size = rf.file.entries, rf.info["size"]
    if as_json:
        return emit({"size": size, "sections": entries})
    width = max([len(entry["name"]) for entry in entries], default=4)
    click.echo(
        f"{'section':<{width}}  {'segment':>7}  {'offset':>14}  {'bytes':>14}  {'items':>10}  share"
    )
    for e in entries:
        share = e["size"] / size
        bar = "█" * round(share * 30) or "▏"
        click.echo(
            f"{e['name']:<{width}}  {e.get('segment') or '-':>7}  {e['at']:>14,}  {e['size']:>14,}  {e.get('items', 0):>10,}  "
            f"{share:>6.1%} {bar}"
        )
    return None


def _show_picture(rf: KnowledgeBase | PairFile, as_json: bool) -> None:
    from ragfile.doors.cli.picture import drawn

    if as_json:
        raise click.UsageError("--picture cannot be combined with --json, which lists the sections")
    for line in drawn(rf.file.entries, rf.info["size"]):
        click.echo(line)


def _show_hex(rf: KnowledgeBase | PairFile, file: str, at: int, as_json: bool) -> None:
    size = rf.info["size"]
    if at >= size:
        raise click.UsageError(f"--hex {at:,} is past the end: {file} has {size:,} bytes")
    if is_remote(file):
        data = rf.file.raw(at, 256)
    else:
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


def _show_pairs(rf: KnowledgeBase | PairFile, name: PairStrategy, as_json: bool) -> None:
    pairs = (
        (key if isinstance(key, str) else [float(x) for x in key], content)
        for key, content in rf.file.pairs(name)
    )
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
