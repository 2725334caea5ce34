"""Are questions refused that a file cannot answer, and answered that it can?

    python bench/refusal.py SITE.ragfile:questions.txt … [--everyday questions.txt]

Each site is a RAGFile with the questions that it answers, one a line. Asks every file its own
questions and up to 80 of each other site, and prints the shares without support (`hits.weak`), and
the shares of own and foreign questions by the word of their support.
"""

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

import ragfile

OTHERS = 80
WORDS = ("strong", "fair", "weak")


def strengths(rf, questions: list[str]) -> Counter:
    """Count the words for the support of some questions."""
    return Counter(rf.search(question, 12).support.strength for question in questions)


def share(found: Counter, word: str) -> float:
    return found[word] / max(1, found.total())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sites", nargs="+", metavar="FILE:QUESTIONS")
    parser.add_argument("--everyday", type=Path, help="questions that no site answers")
    options = parser.parse_args()
    sites = dict(site.rsplit(":", 1) for site in options.sites)
    asked = {site: Path(path).read_text().splitlines() for site, path in sites.items()}
    everyday = options.everyday.read_text().splitlines() if options.everyday else []
    print(
        "| | own refused | of others | everyday | own, others: strong | fair |\n|---|---|---|---|---|---|"
    )
    for site in sites:
        with ragfile.open(site) as rf:
            own = strengths(rf, asked[site])
            others = Counter()
            for other, questions in asked.items():
                few = random.Random(5).sample(questions, min(OTHERS, len(questions)))
                others += strengths(rf, few) if other != site else Counter()
            strange = strengths(rf, everyday)
        both = (f"{share(own, word):.3f}, {share(others, word):.3f}" for word in WORDS[:2])
        row = share(own, "weak"), share(others, "weak"), share(strange, "weak")
        print(
            f"| {Path(site).stem} |",
            " | ".join([*(f"{x:.3f}" for x in row), *both]),
            "|",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
