"""Single passages of code and prose in one file: is hybrid below its better retriever?

    python bench/code_and_prose.py COLLECTION … [--functions 4000] [--questions 300]

The collections are folders in BEIR layout. The code is the functions of Python's standard library
without their docstrings, whose first lines are the questions. MRR@10 of each mode, for all questions
and for each kind."""

import argparse
import ast
import random
import sys
import sysconfig
import tempfile
from pathlib import Path

import ragfile
from ragfile.evaluation.measures import read_collection

LONGEST = 2000  # characters of a function
WORDS = 4  # of a question, at least


def functions(seed: int = 7) -> list[tuple[str, str]]:
    """Return the functions of the library in any order, each without its docstring, and its first line."""
    found = []
    library = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(library.rglob("*.py")):
        if {"test", "tests", "idlelib", "site-packages"} & set(path.parts):
            continue
        try:
            source = path.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = source.split("\n")
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        found += [
            _undocumented(node, lines) for node in nodes if node.end_lineno - node.lineno >= 3
        ]
    found = [(text, doc) for text, doc in found if len(text) < LONGEST]
    random.Random(seed).shuffle(found)
    return found


def _undocumented(node: ast.FunctionDef, lines: list[str]) -> tuple[str, str]:
    doc = ast.get_docstring(node) or ""
    first = node.body[0]
    end = node.lineno - 1 if not doc else first.lineno - 1
    after = node.lineno - 1 if not doc else first.end_lineno
    kept = lines[node.lineno - 1 : end] + lines[after : node.end_lineno]
    return "\n".join(kept), doc.strip().partition("\n")[0]


def reciprocal(hits, right: set[str]) -> float:
    """Return 1 / the place of the first right hit, 0 for none."""
    return next((1 / place for place, hit in enumerate(hits, 1) if hit.doc_id in right), 0.0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", nargs="+")
    parser.add_argument("--functions", type=int, default=4000)
    parser.add_argument("--questions", type=int, default=300, help="about functions")
    options = parser.parse_args()
    code = functions()[: options.functions]
    documents = [{"id": f"function/{i}", "text": text} for i, (text, _) in enumerate(code)]
    asked = [
        ("code", doc, {f"function/{i}"})
        for i, (_, doc) in enumerate(code)
        if len(doc.split()) >= WORDS
    ]
    asked = asked[: options.questions]
    for folder in options.collections:
        name, read = Path(folder).name, read_collection(folder, "test")
        documents += [
            {"id": f"{name}/{one.id}", "text": one.text, "metadata": one.metadata}
            for one in read.documents()
        ]
        asked += [(name, read.queries[query], {f"{name}/{doc}" for doc, gain in judged.items() if gain > 0})
                  for query, judged in read.qrels.items()]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        with ragfile.create(Path(folder, "kb.ragfile"), embedder="default") as w:
            w.add_documents(documents)
        with ragfile.open(Path(folder, "kb.ragfile")) as rf:
            print(f"{len(documents):,} documents, {len(asked)} questions")
            for mode in ("bm25", "vector", "hybrid"):
                found: dict[str, list[float]] = {}
                for kind, text, right in asked:
                    score = reciprocal(rf.search(text, 10, mode=mode), right)
                    found.setdefault("all", []).append(score)
                    found.setdefault(kind, []).append(score)
                print(
                    mode, *(f"{kind} {sum(some) / len(some):.4f}" for kind, some in found.items())
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
