"""Run a program written for SQLRooms' own package, unchanged.

    python -m ragfile.adapters.run_sqlrooms examples/hybrid_search_example.py --compare

In the program, `sqlrooms_rag` and `sqlrooms_rag.query` are `ragfile.adapters.sqlrooms`. Its knowledge base is
a .ragfile, whatever the suffix.
"""

from __future__ import annotations

import runpy
import sys

from ragfile.adapters import sqlrooms

NAMES = ("sqlrooms_rag", "sqlrooms_rag.query", "sqlrooms_rag.prepare")


def main(arguments: list[str]) -> None:
    """Run arguments[0] as a program with the remaining arguments."""
    if not arguments:
        sys.exit(f"usage: python -m {__package__}.run_sqlrooms PROGRAM.py [ARGUMENT…]")
    sys.modules |= dict.fromkeys(NAMES, sqlrooms)
    sys.argv[:] = arguments
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
