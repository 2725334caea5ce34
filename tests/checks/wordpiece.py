"""Compares the tokeniser with the tokenizers library on a file of real passages; too long for the suite.

    python tests/checks/wordpiece.py PASSAGES.jsonl[.xz] TOKENIZER.json

PASSAGES has one JSON object with a "text" a line; TOKENIZER.json is potion-base-8M's, as published.
"""

import json
import lzma
import sys
from itertools import islice

import tokenizers

from ragfile.embedding.protocol import StaticEmbedder


def main():
    path, reference_path = sys.argv[1:]
    reference, embedder = tokenizers.Tokenizer.from_file(reference_path), StaticEmbedder()
    opener = lzma.open if path.endswith(".xz") else open
    texts = pieces = different = 0
    with opener(path, "rt", encoding="utf-8") as lines:
        while some := [json.loads(line)["text"] for line in islice(lines, 5000)]:
            for text, encoding in zip(
                some, reference.encode_batch(some, add_special_tokens=False), strict=True
            ):
                texts, pieces = texts + 1, pieces + len(encoding.ids)
                if embedder.tokens(text) != encoding.ids:
                    different += 1
                    print(f"different: {text[:100]!r}")
    print(
        f"{texts} texts, {pieces} pieces, {different} texts different from tokenizers {tokenizers.__version__}"
    )
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
