"""Are turns of long conversations found? Conversations are generated, and their turns asked for.

    python bench/talks.py --seeds 21 22 23

Two people talk in 25 sessions on different days, about objects that a turn names once and the next ones
only point at ("it", "that one"). A question names the object and what was said of it later, sometimes
the day or the month. R@10 and nDCG@10 of the turn with the answer, beside the same file with "who: text" as
the text of each turn, and no other field.
"""

import argparse
import random
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import ragfile
from ragfile.memories.moments import day_words
from ragfile.memory import Memory

THINGS = [
    "violin",
    "telescope",
    "canoe",
    "sewing machine",
    "typewriter",
    "aquarium",
    "greenhouse",
    "motorbike",
    "piano",
    "bookshelf",
    "camera",
    "rowing boat",
    "record player",
    "tent",
    "fireplace",
    "kiln",
    "loom",
    "globe",
    "chess set",
    "saxophone",
    "trampoline",
    "barbecue",
    "hammock",
    "sledge",
    "easel",
]
OWNERS = [
    "grandmother",
    "uncle",
    "neighbour",
    "sister",
    "teacher",
    "godfather",
    "cousin",
    "landlord",
    "aunt",
    "colleague",
]
OPENINGS = ("My {owner} gave me an old {thing}.", "I finally bought a {thing} from my {owner}.",
            "There is a {thing} in the cellar, my {owner} left it.", "You will not believe it, my {owner} sold me a {thing}.")  # fmt: skip
REPLIES = ("Really? What shape is it in?", "How nice! Do you use it?", "Oh wow. Where do you keep it?", "And is it any good?",
           "That sounds like work.", "Show me a photo!")  # fmt: skip
# answer, question without the day, question with it
LATER = (
    ("It took me {n} weeks to repair it.", "How long did {p} need to repair the {thing}?", "What about the {thing} did {p} repair {day}?"),
    ("I paid {n} euros for it in the end.", "How much did {p} pay for the {thing}?", "What did {p} pay for the {thing} {day}?"),
    ("I keep it next to the {place} now.", "Where does {p} keep the {thing}?", "Where did {p} say {day} that the {thing} is?"),
    ("The children painted it {colour} last weekend.", "What colour is {p}'s {thing}?", "What did the children do with the {thing} {day}?"),
    ("Every {weekday} I spend an hour with it.", "On which day does {p} use the {thing}?", "When does {p} use the {thing}, as told {day}?"),
)  # fmt: skip
SMALL = [
    "How was work?",
    "It is raining again.",
    "I am so tired today.",
    "Did you sleep well?",
    "Dinner was late.",
    "The bus did not come.",
    "I have to call my mother.",
    "Let us talk tomorrow.",
    "The meeting went on for ages.",
    "I had soup for lunch.",
    "See you soon!",
    "My knee hurts a little.",
    "The neighbours are loud.",
    "I watched a film.",
    "Good to hear from you.",
    "Nothing new here.",
]
PLACES, COLOURS = (
    ["stairs", "window", "stove", "wardrobe", "garage door"],
    ["green", "yellow", "purple", "orange", "silver"],
)
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
PEOPLE = ["Eve", "Bob", "Ada", "Tom", "Lea", "Max"]
START, K = datetime(2024, 1, 3, 18, tzinfo=UTC), 10


class Talk:
    """A conversation of two people, and questions with the number of the turn that answers."""

    def __init__(self, seed):
        self.rolls = random.Random(seed)
        self.people = self.rolls.sample(PEOPLE, 2)
        self.turns, self.questions = (
            [],
            [],
        )  # (session, who, text, at), (question, turn, names a day)
        for number in range(25):
            self.session(number, START + timedelta(days=9 * number + self.rolls.randrange(9)))

    def session(self, number, at):
        for _ in range(self.rolls.randrange(2, 5)):
            self.chat(number, at, self.rolls.randrange(4))
            self.topic(number, at)
        self.chat(number, at, self.rolls.randrange(4))

    def chat(self, number, at, count):
        for _ in range(count):
            self.say(number, self.rolls.choice(self.people), self.rolls.choice(SMALL), at)

    def say(self, number, who, text, at):
        self.turns.append((f"s{number}", who, text, at))
        return len(self.turns) - 1

    def topic(self, number, at):
        pick = self.rolls.choice
        who, other = self.rolls.sample(self.people, 2)
        thing, later = pick(THINGS), pick(LATER)
        words = {
            "n": self.rolls.randrange(2, 90),
            "place": pick(PLACES),
            "colour": pick(COLOURS),
            "weekday": pick(WEEKDAYS),
        }
        self.say(number, who, pick(OPENINGS).format(owner=pick(OWNERS), thing=thing), at)
        self.say(number, other, pick(REPLIES), at)
        turn = self.say(number, who, later[0].format(**words), at)
        has_day = self.rolls.random() < 0.3
        day = pick((f"on {at.day} {at:%B} {at.year}", f"in {at:%B} {at.year}"))
        self.questions.append(
            (later[1 + has_day].format(p=who, thing=thing, day=day), turn, has_day)
        )


def ours(talk, path):
    """The ranked turns of each question, by a memory."""
    with Memory(path) as memory:
        with memory.batch() as batch:
            ids = [batch.log_turn(*turn) for turn in talk.turns]
        place = {name: number for number, name in enumerate(ids)}
        return [[place[r.id] for r in memory.recall(q, K)] for q, _, _ in talk.questions]


def plain(talk, path):
    """The same by a file of texts "who: text"."""
    turns = enumerate(talk.turns)
    ragfile.build(
        [
            {"id": f"{n:06d}", "text": f"{who}: {text} ({day_words(at)})"}
            for n, (_, who, text, at) in turns
        ],
        path,
    )
    with ragfile.open(path) as rf:
        return [[int(hit.doc_id) for hit in rf.search(q, K)] for q, _, _ in talk.questions]


def measured(found, questions):
    """(R@10, nDCG@10, whether the question names a day) of each question."""
    rows = []
    for ranked, (_, turn, has_day) in zip(found, questions, strict=True):
        place = ranked.index(turn) if turn in ranked else None
        rows.append((place is not None, 0 if place is None else 1 / np.log2(place + 2), has_day))
    return rows


def interval(values, rolls):
    data = np.asarray(values, float)
    means = [data[rolls.integers(0, len(data), len(data))].mean() for _ in range(1000)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{data.mean():.3f} [{low:.3f} {high:.3f}]"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[21, 22, 23, 24, 25, 26])
    rolls, totals = np.random.default_rng(1), {}
    for seed in parser.parse_args().seeds:
        talk = Talk(seed)
        with tempfile.TemporaryDirectory() as folder:
            for name, way in (("who: text (day)", plain), ("log_turn", ours)):
                found = way(talk, Path(folder) / name.replace(" ", "").replace(":", ""))
                totals.setdefault(name, []).extend(measured(found, talk.questions))
    for name, rows in totals.items():
        dated = [r[0] for r in rows if r[2]]
        print(
            f"{name:16} {len(rows)} questions: R@10 {interval([r[0] for r in rows], rolls)}  nDCG@10 "
            f"{interval([r[1] for r in rows], rolls)}  R@10 with a day {interval(dated, rolls)}"
        )


if __name__ == "__main__":
    main()
