"""Links as tables and graphs of other programs: Arrow, Parquet, GraphML, networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import networkx
    import pyarrow

    from ragfile.records import Link
    from ragfile.types import StrPath

COLUMNS = ("source", "target", "document", "kind", "fragment", "text", "start", "end", "weight")
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="kind" for="edge" attr.name="kind" attr.type="string"/>
<key id="text" for="edge" attr.name="text" attr.type="string"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<graph edgedefault="directed">
"""


def arrow_table(links: Iterable[Link]) -> pyarrow.Table:
    """Return links as an Arrow table, with a column for each of COLUMNS and for the features."""
    pa = optional("pyarrow", "a table of links")
    listed = list(links)
    columns = {name: [getattr(link, name) for link in listed] for name in COLUMNS}
    types = {"start": pa.int64(), "end": pa.int64(), "weight": pa.float64()}
    fields = [pa.field(name, types.get(name, pa.string())) for name in COLUMNS]
    columns["features"] = [list(link.features) for link in listed]
    fields.append(pa.field("features", pa.list_(pa.float32())))
    return pa.table(columns, pa.schema(fields))


def write_parquet(links: Iterable[Link], path: StrPath) -> None:
    """Write links as a Parquet file."""
    table = arrow_table(links)
    optional("pyarrow.parquet", "a Parquet file").write_table(table, path)


def write_graphml(documents: Iterable[str], links: Iterable[Link], path: StrPath) -> None:
    """Write documents and the links between them as GraphML."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(GRAPHML)
        for doc_id in documents:
            file.write(f"<node id={quoteattr(_clean(doc_id))}/>\n")
        for link in links:
            if link.document is not None:
                file.write(_edge(link))
        file.write("</graph>\n</graphml>\n")


def _edge(link: Link) -> str:
    ends = (
        f"source={quoteattr(_clean(link.source))} target={quoteattr(_clean(link.document or ''))}"
    )
    values = {"kind": link.kind, "text": link.text, "weight": repr(link.weight)}
    shown = [
        f'<data key="{key}">{escape(_clean(value))}</data>'
        for key, value in values.items()
        if value
    ]
    return f"<edge {ends}>{''.join(shown)}</edge>\n"


def _clean(text: str) -> str:
    """Replace what XML cannot hold."""
    return "".join(
        c if c in "\t\n" or " " <= c < "\ud800" or "\udfff" < c not in "\ufffe\uffff" else "\ufffd"
        for c in text
    )


def networkx_graph(documents: Sequence[str], links: Iterable[Link]) -> networkx.MultiDiGraph:
    """Return documents and the links between them as a networkx graph."""
    graph = optional("networkx", "a graph").MultiDiGraph()
    graph.add_nodes_from(documents)
    for link in links:
        if link.document is not None:
            values = {"kind": link.kind, "text": link.text, "weight": link.weight}
            graph.add_edge(link.source, link.document, **values)
    return graph
