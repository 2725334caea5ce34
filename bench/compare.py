"""List the numbers that differ between two JSON files of a benchmark.

python bench/compare.py before.json after.json [--more-than 5]
"""

import argparse
import json


def numbers(value, path=""):
    """Yield (path, number) for each number in a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path} / {key}" if path else key)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from numbers(inner, f"{path}[{i}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument(
        "--more-than", type=float, default=5, help="leave out smaller changes, in per cent"
    )
    options = parser.parse_args()
    with open(options.before) as first, open(options.after) as second:
        before, after = dict(numbers(json.load(first))), dict(numbers(json.load(second)))
    for path in [path for path in before if path in after]:
        if before[path] and abs(after[path] / before[path] - 1) * 100 > options.more_than:
            print(
                f"{path:70} {before[path]:12.4g} {after[path]:12.4g} {after[path] / before[path]:7.2f}x"
            )


if __name__ == "__main__":
    main()
