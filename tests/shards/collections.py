"""Folders of documents for tests of datasets: few words, many ties, metadata and tags, and questions about them."""

import os
import random

from ragfile.shards import task_runner

WORDS = [f"w{i}" for i in range(60)] + ["pod", "node", "drain", "cluster", "naïve", "日本語"]
TITLES = [f"Pod w{n}" for n in range(12)] + ["Drain (cluster)", "W7 node", "Naïve", "日本語"]
QUESTIONS = [
    "pod drain",
    "w1 w2 w3",
    "the same text",
    "w5",
    "nothing zzz",
    "cluster node w7",
    "日本",
]
FILTERS = [
    None, {"year": {"$gte": 2015}}, {"year": 2003}, {"$or": [{"year": 2001}, {"kind": "k1"}]},
    {"kind": {"$ne": "k1"}}, {"year": {"$in": [2001, 2030]}}, {"nested.a": 1},
]  # fmt: skip


class OneByOne:
    """An executor that runs tasks in this process, one after the other, where local shards are else asked together."""

    def run(self, tasks):
        return [task_runner.attempt(task) for task in tasks]

    def close(self):
        pass


def text(rng, number):
    """Some texts are the same, so that scores tie across shards."""
    if number % 6 == 0:
        return "the same text about a pod and a node"
    return "\n\n".join(
        " ".join(rng.choices(WORDS + TITLES, k=rng.randint(3, 40))) for _ in range(2)
    )


def page(rng, number):
    nested = "nested:\n  a: 1\n" if number % 9 == 0 else ""
    front = f"tags: [t{number % 5}]\nyear: {2000 + number % 20}\nkind: k{number % 3}\n{nested}"
    return f"---\n{front}---\n# {TITLES[number % 19 % len(TITLES)]}\n\n{text(rng, number)}\n"


def write(folder, count=60, seed=1):
    """A folder of Markdown files below three folders."""
    rng = random.Random(seed)
    for number in range(count):
        path = folder / ("a" if number % 3 else "b") / f"d{number:03}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(rng, number))
        os.utime(path, (1_700_000_000, 1_700_000_000))  # documents say when their file was changed
    return folder


def told(hits):
    """All that an answer says of its passages."""
    return [
        (
            h.id,
            h.score,
            h.score_type,
            h.scores,
            h.text,
            h.tags,
            h.metadata,
            h.source,
            h.start,
            h.end,
        )
        for h in hits
    ]
