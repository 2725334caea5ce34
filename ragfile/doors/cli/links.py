"""`ragfile links`: print the links of a document, and check the links of a file or a folder."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ragfile.doors.cli.options import (
    FilePath,
    generation_option,
    json_option,
    over_option,
    url_cache_option,
)
from ragfile.doors.cli.report_lines import emit, printable
from ragfile.doors.cli.searchable import searchable

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Link


@click.command("links")
@click.argument("file", type=FilePath())
@click.argument("document", metavar="[DOC]", required=False)
@click.option(
    "--broken", is_flag=True, help="List the links that lead nowhere; exit with 1 if there are any."
)
@click.option(
    "--orphans", is_flag=True, help="List the documents without a link to or from another one."
)
@click.option(
    "--mentions", is_flag=True, help="List the passages that name DOC without a link to it."
)
@click.option(
    "--near",
    metavar="N",
    type=click.IntRange(1),
    help="List the documents at most N links from DOC.",
)
@click.option("--path", "end", metavar="DOC2", help="Print a shortest way from DOC to DOC2.")
@generation_option
@over_option
@url_cache_option
@json_option
def links_command(
    file: str, document: str | None, broken: bool, orphans: bool, mentions: bool, near: int | None,
    end: str | None, generation: int, over: tuple[str, ...], cache: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Print a document's links, or check those of a file or folder.

    Without DOC, print how many links there are. FILE can be a folder.
    """
    if broken + orphans + (document is not None) > 1 or (
        not document and (mentions or near or end)
    ):
        raise click.UsageError("name DOC, or pass --broken or --orphans")
    opening: dict[str, Any] = {"generation": generation, "cache": cache, "embedder": None}
    opening["embedding_cache"] = None
    with searchable(file, over, None, None, opening) as found:
        from ragfile.opener import open_passages

        with open_passages(found.file, **found.opening) as rf:
            if broken:
                return _check(rf, as_json)
            if orphans:
                return _list(rf.graph.orphans(), as_json)
            if document is None:
                return _counts(rf, as_json)
            return _about(
                rf, _named(rf, document), mentions, near, end and _named(rf, end), as_json
            )


def _named(rf: KnowledgeBase, name: str) -> str:
    """Return the id of a document that is named by its id, or as a wikilink names it."""
    if (found := rf.graph.find(name)) is None:
        raise KeyError(f"{rf.path} has no document called {name!r}")
    return found


def _check(rf: KnowledgeBase, as_json: bool) -> None:
    """List the broken links, and exit with 1 if there are any."""
    found = rf.broken_links()
    if as_json:
        emit([_shown(link) for link in found])
    else:
        line_of = _lines(rf)
        for link in found:
            place = f"{link.source}:{line_of(link)}" if link.start >= 0 else link.source
            click.echo(f"{printable(place)}: {printable(_target(link))}")
        click.echo(f"ragfile: {len(found)} of {len(rf.graph):,} links are broken", err=True)
    if found:
        sys.exit(1)


def _lines(rf: KnowledgeBase) -> Callable[[Link], int]:
    """Return a function for the line of a link in its document."""
    texts: dict[str, str] = {}

    def line_of(link: Link) -> int:
        if link.source not in texts:
            texts.clear()
            document = rf.document(link.source)
            texts[link.source] = document.text if document else ""
        return texts[link.source].count("\n", 0, link.start) + 1

    return line_of


def _target(link: Link) -> str:
    shown = f"{link.target}]]" if link.target.startswith("[[") else link.target
    return f"{shown}#{link.fragment}" if link.fragment else shown


def _list(names: list[str], as_json: bool) -> None:
    if as_json:
        return emit(names)
    for name in names:
        click.echo(printable(name))
    return None


def _counts(rf: KnowledgeBase, as_json: bool) -> None:
    facts = {
        "documents": len(rf.document_ids()), "links": len(rf.graph),
        "broken": len(rf.broken_links()), "orphans": len(rf.graph.orphans()),
    }  # fmt: skip
    if as_json:
        return emit(facts)
    for name, value in facts.items():
        click.echo(f"{name:>16}  {value:,}")
    return None


def _about(
    rf: KnowledgeBase, doc_id: str, mentions: bool, near: int | None, end: str | None, as_json: bool
) -> None:  # fmt: skip
    if mentions:
        return _list([hit.id for hit in rf.graph.mentions(doc_id)], as_json)
    if near:
        return _near(rf, doc_id, near, as_json)
    if end:
        if (way := rf.graph.path(doc_id, end)) is None:
            raise KeyError(f"no links join {doc_id} and {end}")
        return _list(way, as_json)
    forward, backward = rf.links(doc_id), rf.backlinks(doc_id)
    if as_json:
        return emit({"links": [*map(_shown, forward)], "backlinks": [*map(_shown, backward)]})
    for link in forward:
        click.echo(_line("->", link.document or f"{_target(link)} (broken)", link))
    for link in backward:
        click.echo(_line("<-", link.source, link))
    return None


def _near(rf: KnowledgeBase, doc_id: str, depth: int, as_json: bool) -> None:
    found = rf.graph.neighbours(doc_id, depth=depth)
    if as_json:
        return emit(
            {
                "documents": [one._asdict() for one in found.documents],
                "truncated": found.is_truncated,
            }
        )
    for one in found.documents:
        click.echo(f"{one.distance}  {printable(one.document)}")
    if found.is_truncated:
        click.echo("ragfile: there are more", err=True)
    return None


def _line(arrow: str, name: str, link: Link) -> str:
    kind = "" if link.kind in ("link", "wikilink") else f"  {link.kind}"
    text = f'  "{link.text}"' if link.text else ""
    return printable(f"{arrow} {name}{kind}{text}")


def _shown(link: Link) -> dict[str, Any]:
    return asdict(link) | {"features": list(link.features)}
