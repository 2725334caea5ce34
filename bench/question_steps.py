"""Measure what one hybrid question spends its time on.

    python bench/question_steps.py kb.ragfile questions.txt [--rounds 25] [--json FILE]

Milliseconds by stage as `hits.timings` reports them, on one thread and without cached answers: for each question
the round with the smallest sum, and of all questions the one in the middle.
"""

import argparse
import json
from pathlib import Path

import ragfile


def fastest(rf, question, rounds):
    """Return the timings of the round with the smallest sum."""
    found = (rf.search(question, k=10, cache=False, threads=1).timings for _ in range(rounds))
    return min(found, key=lambda timings: sum(timings.values()))


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with ragfile.open(args.file) as rf:
        rows = len(rf)
        questions = args.questions.read_text("utf-8").splitlines()
        spent = sorted(
            (fastest(rf, question, args.rounds) for question in questions),
            key=lambda timings: sum(timings.values()),
        )
    middle = spent[len(spent) // 2]
    print(f"{rows:,} passages, {len(questions)} questions, {sum(middle.values()):.3f} ms")
    for stage, milliseconds in middle.items():
        print(f"{stage:8} {milliseconds:.3f} ms")
    if args.json:
        args.json.write_text(json.dumps({"passages": rows, "stages": middle}))


if __name__ == "__main__":
    main()
