"""How many excerpts still have markup, and how many printed lines are right? The best hit for 300 headings of a folder.

    python bench/excerpts.py FOLDER [FOLDER ...] [--show]

The questions are the last headings of passages drawn by a fixed seed, each once. Lines of code keep
their marks and do not count."""

import argparse
import random
import re
import tempfile
from pathlib import Path

import ragfile
from ragfile.search.shown_passages import viewer_of

QUESTIONS = 300
RAW = re.compile(
    r"\*\*|__\w|\]\(|\]\[|^\s*#{1,6} |```|~~~|^\s*\|?\s*:?-{3,}|</?[a-z]+[\s/>]|<!--|\{\{[<%]|\{%"
    r"|&[a-z]+;|^\s*>\s|^\s*[-*+] |^\s*\|.*\|\s*$|^:::|^\.\. \w"
)


def questions(rf):
    """Return headings of passages, each once."""
    paths = {str(rf.hit(int(row)).metadata.get("headers") or "") for row in rf.rows.live_rows()}
    named = sorted({path.split(" > ")[-1] for path in paths} - {""})
    return random.Random(1).sample(named, min(QUESTIONS, len(named)))


def measured(folder, is_shown):
    """Print the share of excerpts with raw markup in a line of text."""
    with tempfile.TemporaryDirectory() as place:
        kb = Path(place) / "kb.ragfile"
        ragfile.build([folder], kb)
        with ragfile.open(kb) as rf:
            raw = total = right = printed = 0
            for question in questions(rf):
                hits = rf.search(question, 1)
                viewer = viewer_of(hits, question, rf.document)
                for hit in hits:
                    shown = viewer.shown(hit.text, hit.metadata, hit.doc_id, hit.start)
                    found = shown.excerpt
                    numbers = checked(Path(folder) / hit.source, hit.text[found.start :], shown)
                    right, printed = right + sum(numbers), printed + len(numbers)
                    lines = [line.text for line in found.lines if line.at < 0]
                    faults = [line for line in lines if RAW.search(line)]
                    total, raw = total + 1, raw + bool(faults)
                    for line in faults if is_shown else []:
                        print(f"  {hit.id}: {line[:160]}")
    print(f"{folder}: {raw} of {total} excerpts have markup ({raw / max(1, total):.1%}),")
    print(f"{right} of {printed} numbers of lines are right")


def checked(path, text, shown):
    """Return for each printed number of a line whether the line of the file is that one."""
    if shown.lines is None:
        return []
    lines = path.read_text("utf-8").splitlines()
    first = text.split("\n", 1)[0].strip()
    numbered = zip(shown.excerpt.lines, shown.numbers, strict=True)
    of_code = [line.text.strip() == lines[n - 1].strip() for line, n in numbered if n]
    return [first in lines[shown.lines.first - 1], *of_code]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--show", action="store_true", help="print the lines")
    given = parser.parse_args()
    for folder in given.folders:
        measured(folder, given.show)


if __name__ == "__main__":
    main()
