"""The sections of a file, as constants.

Made by tools/sections.py from spec/sections.toml. Do not edit.
"""

# Sections that must be present in the same segment; `.N` is a field's number.
NEEDS: dict[str, tuple[str, ...]] = {
    "vector": ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"),
    "keyword": ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"),
    "rag.keys": ("keyword",),
    "rag.shadow": ("vector",),
    "rag.planes": ("vector",),
    "rag.clusters": ("vector", "rag.clustered"),
    "rag.clustered": ("vector", "rag.clusters"),
    "rag.terms": ("rag.postings",),
    "rag.postings": ("rag.terms",),
    "rag.terms.N": ("rag.terms", "rag.postings.N"),
    "rag.postings.N": ("rag.terms", "rag.terms.N"),
    "rag.positions": ("rag.terms", "rag.postings"),
    "rag.titles": ("rag.chunks", "rag.documents", "rag.ids"),
    "rag.chunks": ("rag.documents", "rag.ids", "rag.text", "rag.meta"),
    "rag.documents": ("rag.chunks", "rag.ids", "rag.text", "rag.meta"),
    "rag.ids": ("rag.chunks", "rag.documents", "rag.text", "rag.meta"),
    "rag.text": ("rag.chunks", "rag.documents", "rag.ids", "rag.meta"),
    "rag.meta": ("rag.chunks", "rag.documents", "rag.ids", "rag.text"),
    "rag.bare": ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"),
    "rag.sample": ("vector",),
    "rag.columns": ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"),
    "rag.original": ("rag.documents",),
    "graph": ("rag.documents",),
    "hypergraph": ("rag.documents",),
    "rag.sparse": ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"),
}

# How compaction treats each section: rebuilt from the documents, kept, or dropped.
COMPACTION = {
    "vector": "rebuilt",
    "keyword": "rebuilt",
    "rag.keys": "dropped",
    "rag.shadow": "rebuilt",
    "rag.planes": "rebuilt",
    "rag.clusters": "rebuilt",
    "rag.clustered": "rebuilt",
    "rag.terms": "rebuilt",
    "rag.postings": "rebuilt",
    "rag.terms.N": "rebuilt",
    "rag.postings.N": "rebuilt",
    "rag.positions": "rebuilt",
    "rag.titles": "rebuilt",
    "rag.chunks": "rebuilt",
    "rag.documents": "rebuilt",
    "rag.ids": "rebuilt",
    "rag.text": "rebuilt",
    "rag.meta": "rebuilt",
    "rag.bare": "rebuilt",
    "rag.sample": "rebuilt",
    "rag.fine": "rebuilt",
    "rag.columns": "rebuilt",
    "rag.original": "rebuilt",
    "graph": "rebuilt",
    "hypergraph": "rebuilt",
    "rag.sparse": "rebuilt",
    "rag.tombs": "dropped",
    "rag.deleted": "dropped",
    "rag.gone": "dropped",
    "rag.sections": "dropped",
    "rag.config": "rebuilt",
    "rag.merged": "dropped",
    "rag.stale": "kept",
    "rag.hidden": "kept",
    "rag.past": "dropped",
    "rag.origin": "kept",
    "rag.frequencies": "kept",
    "rag.parity": "rebuilt",
    "rag.parity.step": "dropped",
    "rag.seal": "dropped",
    "rag.signatures": "dropped",
}

# Sections that an edit drops, because they describe the file before it.
DROPPED_BY_EDITS = ("rag.merged", "rag.origin", "rag.seal", "rag.signatures")

# Sections that no signature covers.
UNSIGNED = ("rag.parity", "rag.parity.step", "rag.seal", "rag.signatures")

# Sections that are fetched before the first question if they are small.
PREFETCHED = (
    "rag.terms",
    "rag.postings",
    "rag.chunks",
    "rag.documents",
    "rag.ids",
    "rag.meta",
    "rag.bare",
    "rag.tombs",
    "rag.deleted",
)

# Names of later versions.
RESERVED: tuple[str, ...] = ()
