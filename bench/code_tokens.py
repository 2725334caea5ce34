"""Count the tokens that an agent reads until it sees a file that answers, beside grep and semble.

    python bench/code_tokens.py REPOSITORIES ANNOTATIONS [--without NAME ...]

The folders and questions are those of code_search.py. A search shows the path, the lines and the text of
ten passages, and an agent reads them in order. With grep, the agent looks for the words of the question,
gets the names of the files with the number of words that each has, and reads whole files, those with the
most words first and of equal ones the smaller first. A question counts as answered once a passage of a
wanted file was read. Tokens are estimated as ragfile does.
"""

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from code_search import FIRST, Ragfile, Semble, read_questions

from ragfile.answer.passage_budget import estimate_tokens

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000, 32_000)
COMMON = frozenset("a an and are as at be by do does for from has how if in into is it of on or the to what when where which with".split())  # noqa: SIM905  # fmt: skip


def searched(shown, wanted):
    """Return the tokens of passages up to the first one of a wanted file, None if there is none."""
    spent = 0
    for path, text in shown:
        spent += estimate_tokens(f"{path}\n{text}\n")
        if path.rpartition(":")[0] in wanted:
            return spent
    return None


def grepped(root, query, wanted):
    """Return the tokens of a grep and of whole files up to the first wanted one."""
    words = {w.lower() for w in re.findall(r"\w{2,}", query)} - COMMON
    found = Counter()
    for word in words:
        ran = subprocess.run(["grep", "-rilIF", "--", word, "."], cwd=root, capture_output=True, text=True, check=False)  # fmt: skip
        found.update(line.removeprefix("./") for line in ran.stdout.splitlines())
    order = sorted(found, key=lambda path: (-found[path], (root / path).stat().st_size, path))
    spent = sum(estimate_tokens(f"{found[path]} {path}\n") for path in order)
    for path in order:
        spent += estimate_tokens((root / path).read_text("utf-8", "replace"))
        if path in wanted:
            return spent
    return None


class RagfileTokens(Ragfile):
    def shown(self, query):
        hits = self.kb.search(query, k=FIRST, mode=self.mode, cache=False)
        places = (hit.lines or (hit.start, hit.end) for hit in hits)
        return [
            (f"{hit.doc_id}:{a}-{b}", hit.text) for hit, (a, b) in zip(hits, places, strict=True)
        ]


class SembleTokens(Semble):
    def shown(self, query):
        chunks = [result.chunk for result in self.found.search(query, top_k=FIRST)]
        return [(f"{c.file_path}:{c.start_line}-{c.end_line}", c.content) for c in chunks]


def contestants():
    found = {"hybrid": RagfileTokens("hybrid"), "bm25": RagfileTokens("bm25")}
    try:
        found["semble"] = SembleTokens()
    except ImportError:
        print("semble is not installed")
    return found


def measured(args):
    """Return {contestant: the tokens of each question, None for one without an answer}."""
    engines = contestants()
    spent = {name: [] for name in (*engines, "grep")}
    for entry in json.loads((args.annotations / "repositories.json").read_text("utf-8")):
        name, prefix = entry["name"], entry.get("benchmark_root", "")
        root = args.repositories / name / prefix
        if name in args.without or not root.is_dir():
            continue
        judged = args.annotations / "annotations" / f"{name}.json"
        questions, _ = read_questions(judged, root, prefix)
        for engine_name, engine in engines.items():
            with tempfile.TemporaryDirectory() as work:
                engine.index(root, Path(work))
                spent[engine_name] += [
                    searched(engine.shown(q["query"]), set(q["wanted"])) for q in questions
                ]
        spent["grep"] += [grepped(root, q["query"], set(q["wanted"])) for q in questions]
    return spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repositories", type=Path)
    parser.add_argument("annotations", type=Path)
    parser.add_argument("--without", nargs="*", default=[])
    spent = measured(parser.parse_args())
    count = len(spent["grep"])
    print(f"{count} questions; share answered within so many tokens, and the median")
    print(f"{'':10}" + "".join(f"{budget:>9,}" for budget in BUDGETS) + f"{'median':>9}")
    for name, tokens in spent.items():
        shares = [sum(t is not None and t <= budget for t in tokens) / count for budget in BUDGETS]
        median = sorted(float("inf") if t is None else t for t in tokens)[count // 2]
        print(f"{name:10}" + "".join(f"{share:9.3f}" for share in shares) + f"{median:9,.0f}")


if __name__ == "__main__":
    main()
