"""Measure how many passages per second the built-in model embeds, beside model2vec and wordllama.

    pip install model2vec wordllama
    export RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
    python bench/embed.py PASSAGES.jsonl[.xz] --potion FOLDER [--count 4000] [--rounds 5]

PASSAGES has one JSON object with a "text" per line. FOLDER is potion-base-8M as published
(model.safetensors, tokenizer.json, config.json), for model2vec. Contestants take turns on one core,
and the best round of each counts, in CPU time of the process, so that hidden threads do not help.
No contestant truncates texts.
"""

import argparse
import json
import lzma
import os
import time

import numpy as np

from ragfile import _core
from ragfile.embedding.protocol import StaticEmbedder

QUERY = "how do I mount a persistent volume in a pod"


def read_passages(path, count):
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for _, line in zip(range(count), lines, strict=False)]


def contestants(folder):
    """Return {name: function of a list of texts}; list those that are not installed."""
    found = {"ragfile": StaticEmbedder(threads=1).embed}
    try:
        from model2vec import StaticModel

        potion = StaticModel.from_pretrained(folder)
        found["model2vec"] = lambda texts: potion.encode(
            texts, max_length=None, use_multiprocessing=False
        )
    except ImportError:
        print("model2vec is not installed")
    try:
        import wordllama

        packaged = os.path.dirname(
            wordllama.__file__
        )  # it would search beside the package, where they are missing
        llama = wordllama.WordLlama.load(cache_dir=packaged, disable_download=True)
        found["wordllama"] = lambda texts: llama.embed(texts, norm=True)
    except (ImportError, FileNotFoundError) as error:
        print(f"wordllama cannot be used: {error}")
    return found


def measure(function, argument):
    """Return (CPU seconds, wall seconds) of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    function(argument)
    return time.process_time() - cpu, time.perf_counter() - wall


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("passages")
    parser.add_argument("--potion", required=True)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    texts = read_passages(options.passages, options.count)
    functions = contestants(options.potion)
    best = dict.fromkeys(functions, (np.inf, np.inf))
    single = dict.fromkeys(functions, np.inf)
    for _ in range(options.rounds):
        for name, function in functions.items():
            best[name] = min(best[name], measure(function, texts))
            single[name] = min(
                single[name],
                measure(lambda texts, f=function: [f(texts) for _ in range(200)], [QUERY])[0],
            )
    tokens = sum(len(StaticEmbedder().tokens(text)) for text in texts)
    print(
        f"{len(texts)} passages, {tokens / len(texts):.0f} word pieces each; target {_core.target()}"
    )
    for name, (cpu, wall) in best.items():
        rate = len(texts) / cpu
        print(
            f"{name:10} {rate:9.0f} passages/s CPU  {len(texts) / wall:9.0f} wall   one query {5e3 * single[name]:8.1f} µs"
        )


if __name__ == "__main__":
    main()
