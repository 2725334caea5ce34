"""Write the words that claim nothing for the npm package: ragfile/doors/browser/function_words.js.

python tools/write_function_words.py            write it
python tools/write_function_words.py --check    exit unless it is what the lists of the package make
"""

import sys
import textwrap

from pinned import ROOT

from ragfile.search import function_words

PLACE = ROOT / "ragfile/doors/browser/function_words.js"
HEAD = """/* Made by tools/write_function_words.py from spec/languages.toml: words that claim nothing, by language. */

"""


def made():
    """Return the text of the module."""
    lists = ",\n".join(
        f"(\n{f' +{chr(10)}'.join(lines(of.empty))}\n)" for of in function_words.by_language()
    )
    pairs = " ".join(sorted(function_words.PAIRS))
    amounts = ",\n".join(
        f'  ["{how}", listed("{" ".join(sorted(following))}")]'
        for how, following in function_words.AMOUNTS.items()
    )
    return (
        f'{HEAD}const listed = (text) => new Set(text.split(" "));\n'
        f"export const BY_LANGUAGE = [\n{lists},\n].map(listed);\n"
        f'export const PAIRS = listed("{pairs}");\n'
        f"export const AMOUNTS = new Map([\n{amounts},\n]);\n"
    )


def lines(words):
    """Return words as lines of JavaScript strings."""
    found = textwrap.wrap(
        " ".join(sorted(words)), 100, break_long_words=False, break_on_hyphens=False
    )
    return [f'"{" " * (i > 0)}{line}"' for i, line in enumerate(found)]


def main():
    if "--check" not in sys.argv:
        PLACE.write_text(made(), encoding="utf-8")
    elif PLACE.read_text(encoding="utf-8") != made():
        sys.exit(f"{PLACE.name} is not what the lists make: run tools/write_function_words.py")


if __name__ == "__main__":
    main()
