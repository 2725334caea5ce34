"""Imports point down: doors → flows → steps → nouns. Steps know one another only where ALLOWED says so."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "ragfile"
NOUNS = {"addresses", "errors", "locking", "recent", "recorded", "records", "spans", "text", "tracing", "_core"}
STEPS = {
    "agreement", "ahead", "analysis", "archive", "calling", "chunking", "collection", "embedding", "embedding_cache", "embedding_http", "embedding_local",
    "evaluating", "faiss_flat", "faiss_json", "filters", "frontmatter", "fusion", "keeping", "labels", "legs", "loading", "loaders", "origin", "packing",
    "pairs", "passages", "prompting", "ragmd", "ragmd_writing", "remote", "remote_http", "remote_s3", "replacing", "reranking", "segment", "staging", "stash", "strategies",
    "tabular",
}  # fmt: skip
FLOWS = {
    "answering", "blocks", "building", "compacting", "conformance", "converting", "editing", "hybrid", "judging", "opening", "searching", "storing",
    "syncing", "upkeep", "writing",
}  # fmt: skip
DOORS = {"__init__", "__main__", "cli", "cli_convert", "cli_eval", "cli_export", "cli_living", "adapters"}
RANK = {name: rank for rank, layer in enumerate((NOUNS, STEPS, FLOWS, DOORS)) for name in layer}
# Steps that stand on other steps: an open file on its legs and filters, a text format on the model it writes.
ALLOWED = {
    "archive": {"ahead", "filters", "labels", "legs", "segment", "strategies", "tabular"}, "labels": {"filters"}, "legs": {"ahead", "analysis"}, "collection": {"faiss_flat"}, "passages": {"collection", "faiss_flat"},
    "origin": {"collection", "faiss_flat", "frontmatter"}, "faiss_json": {"collection", "faiss_flat", "replacing"},
    "ragmd": {"collection", "faiss_flat", "frontmatter", "ragmd_writing", "replacing", "faiss_json"},
    "ragmd_writing": {"collection", "faiss_flat", "frontmatter", "replacing", "faiss_json", "ragmd"},
    "loading": {"loaders"}, "embedding_cache": {"embedding"}, "embedding_http": {"calling", "embedding"}, "embedding_local": {"embedding"},
    "replacing": {"faiss_flat"}, "frontmatter": set(), "packing": {"reranking"}, "pairs": {"replacing"},
    "remote": {"calling", "keeping", "remote_http", "remote_s3"}, "remote_http": {"calling"}, "remote_s3": {"calling", "remote_http"},
}  # fmt: skip
LATE = {("opening", "adapters"), ("converting", "adapters")}  # imported on use: one outside world each


def imports(path):
    """Names of the package's own modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            inside = node.level > 0 or (node.module or "").split(".")[0] == "ragfile"
            parts = (node.module or "").removeprefix("ragfile").strip(".").split(".")
            if inside:
                found |= {parts[0]} if parts[0] else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("ragfile.")}
    return found & set(RANK)


def test_every_module_has_a_layer():
    modules = {p.stem for p in PACKAGE.glob("*.py")} | {
        p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()
    }
    assert modules <= set(RANK), modules - set(RANK)


def test_imports_point_down():
    for path in PACKAGE.glob("*.py"):
        for name in imports(path) - {path.stem}:
            here, there = RANK[path.stem], RANK[name]
            if (path.stem, name) in LATE or there < here or here in (2, 3) == there:
                continue
            if here == there == 1:
                assert name in ALLOWED.get(path.stem, ()), f"{path.stem} imports {name}"
            else:
                assert there <= here, f"{path.stem} imports {name}"
