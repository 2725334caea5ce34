"""Do memories stay true? Events from the lives of 40 people are stored day by day; then questions are asked.

    python bench/lives.py --seeds 11 12 13

A life has eight matters (home, job, pet …), which change, are corrected, repeated in other words, and
forgotten on request, among events that use the same words. 50 statements a day for a year, one commit a
day. The writer of a revision or a repeat knows the id, as a program that keeps ids does. With --looks-up it
links it only if `recall` about the person shows it among five, as an agent would, and else stores a new memory.

Questions use other words than statements. "found" means the right statement among five:
now, as of a date, since when (with the right date), and the share of all changes in `changes()`.
"stale" and "forgotten" are shares of answers that show such a text. Two rules are compared on the same
hits: `plain` shows the statement that was found, `filter` only statements that hold.
"""

import argparse
import random
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from ragfile.memories.moments import stamp
from ragfile.memory import Memory

PEOPLE = [
    "Alma",
    "Bruno",
    "Clara",
    "Dario",
    "Edda",
    "Fabio",
    "Greta",
    "Henri",
    "Ines",
    "Jonas",
    "Karla",
    "Levin",
    "Mira",
    "Nils",
    "Olga",
    "Pablo",
    "Quinn",
    "Rosa",
    "Samir",
    "Tilda",
    "Ulric",
    "Vera",
    "Wanda",
    "Xaver",
    "Yara",
    "Zeno",
    "Agnes",
    "Boris",
    "Celia",
    "Diego",
    "Elin",
    "Felix",
    "Gisela",
    "Hugo",
    "Irma",
    "Jakob",
    "Kira",
    "Luca",
    "Marta",
    "Noah",
]
CITIES = [
    "Lisbon",
    "Oslo",
    "Vienna",
    "Cork",
    "Turin",
    "Gdansk",
    "Lyon",
    "Porto",
    "Malmo",
    "Ghent",
    "Graz",
    "Bilbao",
    "Tallinn",
    "Split",
]
JOBS = [
    "a nurse",
    "a baker",
    "a pilot",
    "a carpenter",
    "a lawyer",
    "a teacher",
    "a chemist",
    "a plumber",
    "a translator",
    "a surgeon",
]
FIRMS = [
    "Norwick",
    "Halden Works",
    "Blue Ferry",
    "Castell",
    "Ostara",
    "Pinewood",
    "Quarry Lane",
    "Redmill",
    "Sable",
    "Tarn",
]
PETS = [
    "a parrot",
    "a tortoise",
    "a greyhound",
    "two cats",
    "a hamster",
    "a goat",
    "an iguana",
    "a beagle",
    "a pony",
]
HOBBIES = [
    "fencing",
    "pottery",
    "chess",
    "rowing",
    "archery",
    "baking",
    "climbing",
    "knitting",
    "birdwatching",
    "sailing",
]
FOODS = [
    "lasagne",
    "ramen",
    "paella",
    "goulash",
    "falafel",
    "risotto",
    "dumplings",
    "moussaka",
    "curry",
    "tacos",
]
CARS = [
    "a red Fiat",
    "a grey Volvo",
    "an old Saab",
    "a white Dacia",
    "a green Mini",
    "a blue Skoda",
    "a black Seat",
]
PARTNERS = [
    "Robin",
    "Sasha",
    "Alexis",
    "Jules",
    "Kim",
    "Noor",
    "Toni",
    "Andrea",
    "Maxime",
    "Remy",
    "Sidney",
    "Jamie",
]

# matter: (values, statements, questions now, questions of the past, questions since when)
MATTERS = {
    "home": (CITIES, ("{p} lives in {v}.", "{p} has an apartment in {v}.", "{v} is the place where {p} resides.",
                      "{p}'s home is in {v}."),
             ("Where does {p} live?", "In which town is {p} at home?"), "Where did {p} live?",
             "Since when does {p} live there?"),
    "job": (JOBS, ("{p} works as {v}.", "{p} earns a living as {v}.", "By profession {p} is {v}.",
                   "{p} has a position as {v}."),
            ("What is {p}'s profession?", "What work does {p} do?"), "What did {p} work as?",
            "Since when does {p} have this profession?"),
    "firm": (FIRMS, ("{p} is employed by {v}.", "{p}'s employer is {v}.", "{v} is the company that pays {p}.",
                     "{p} is on the staff of {v}."),
             ("Which company employs {p}?", "Who is {p}'s employer?"), "Which company employed {p}?",
             "Since when is {p} employed there?"),
    "pet": (PETS, ("{p} keeps {v} as a pet.", "{p} owns {v}.", "At {p}'s house there is {v}.",
                   "{p} looks after {v} at home."),
            ("Which pet does {p} have?", "What animal does {p} keep?"), "Which pet did {p} have?",
            "Since when does {p} keep that pet?"),
    "hobby": (HOBBIES, ("{p}'s hobby is {v}.", "{p} spends evenings with {v}.", "In spare time {p} enjoys {v}.",
                        "{p} is keen on {v}."),
              ("What is {p}'s hobby?", "What does {p} do in spare time?"), "What hobby did {p} have?",
              "Since when does {p} have this hobby?"),
    "food": (FOODS, ("{p}'s favourite dish is {v}.", "{p} likes {v} best of all food.", "Nothing tastes better to {p} than {v}.",
                     "{p} would eat {v} every day."),
             ("What is {p}'s favourite dish?", "Which food does {p} like best?"), "What was {p}'s favourite dish?",
             "Since when is that {p}'s favourite dish?"),
    "car": (CARS, ("{p} drives {v}.", "{p}'s car is {v}.", "In {p}'s garage stands {v}.", "{p} commutes in {v}."),
            ("Which car does {p} drive?", "What is in {p}'s garage?"), "Which car did {p} drive?",
            "Since when does {p} drive that car?"),
    "partner": (PARTNERS, ("{p} is together with {v}.", "{p}'s partner is {v}.", "{v} and {p} are a couple.",
                           "{p} is in love with {v}."),
                ("Who is {p}'s partner?", "With whom is {p} together?"), "Who was {p}'s partner?",
                "Since when is {p} with that partner?"),
}  # fmt: skip
EVENTS = (
    "{p} took the train to {city} for a weekend.", "{p} tried {food} with {q}.", "{p} met {q} after work.",
    "{p} read an article about {hobby}.", "{p} saw {pet} in the park.", "{q} lent {p} {car} for the day.",
    "{p} talked about {firm} with {q}.", "{p} had a meeting about taxes in {city}.",
    "{p} bought new shoes and a lamp.", "{p} slept badly before the trip to {city}.",
    "{p} watched a film about {job}.", "{p} cooked {food} for {q} and {r}.", "{p} repaired the bicycle of {q}.",
    "{p} phoned {q} about a birthday.", "{p} queued for an hour at the office in {city}.",
    "{p} lost a bet about {hobby} to {q}.", "{p} planted tomatoes on the balcony.", "{p} dreamed of {pet}.",
)  # fmt: skip
START, DAYS, PER_DAY = datetime(2025, 1, 1, 8, tzinfo=UTC), 365, 50
END = START + timedelta(days=DAYS)
CHANGES, CORRECTIONS, REPEATS, REQUESTS = 582, 147, 3044, 87
K = 5


@dataclass
class Fact:
    """One matter of a person: its values with the days since which they were true, and its memories."""

    person: str
    matter: str
    periods: list = field(default_factory=list)  # (since, value, text)
    wordings: list = field(default_factory=list)
    id: str = ""
    is_forgotten: bool = False

    def value(self, when=None):
        """The value at a moment, or the last one."""
        return [p for p in self.periods if when is None or p[0] <= when][-1][1]


class Life:
    """The story of a seed: the statements of each day, and the facts."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.facts = [Fact(p, m) for p in PEOPLE for m in MATTERS]
        self.days = [[] for _ in range(DAYS)]
        order = self.facts[:]
        self.random.shuffle(order)
        for number, fact in enumerate(order):
            self.days[number // 16].append(("fact", fact))
        for kind, count in (
            ("change", CHANGES),
            ("correct", CORRECTIONS),
            ("repeat", REPEATS),
            ("forget", REQUESTS),
        ):
            first = 300 if kind == "forget" else 21
            for _ in range(count):
                self.days[self.random.randrange(first, DAYS)].append(
                    (kind, self.random.choice(self.facts))
                )
        for day in self.days:
            self.random.shuffle(day)
            day.sort(key=lambda item: item[0] == "forget")

    def event(self):
        """A statement about no matter."""
        pick = self.random.choice
        p, q, r = self.random.sample(PEOPLE, 3)
        words = {
            "city": CITIES,
            "food": FOODS,
            "hobby": HOBBIES,
            "pet": PETS,
            "car": CARS,
            "firm": FIRMS,
            "job": JOBS,
        }
        chosen = {name: pick(values) for name, values in words.items()}
        return p, pick(EVENTS).format(p=p, q=q, r=r, **chosen)

    def statement(self, fact, value, but=""):
        """One of the wordings of a value, not the one given."""
        forms = [form.format(p=fact.person, v=value) for form in MATTERS[fact.matter][1]]
        return self.random.choice([form for form in forms if form != but])


class Teller:
    """Stores a life in a memory, one commit a day."""

    def __init__(self, life, memory, has_ids):
        self.life, self.memory, self.has_ids = life, memory, has_ids
        self.linked = self.unlinked = self.joined = 0
        self.changes, self.forgotten = [], []

    def tell(self):
        for number, day in enumerate(self.life.days):
            at = START + timedelta(days=number)
            plans = [plan for item in day if (plan := self._plan(*item, at)) is not None]
            with self.memory.batch() as batch:
                for plan in plans:
                    plan(batch)
                for _ in range(PER_DAY - len(plans)):
                    person, text = self.life.event()
                    batch.remember(text, about=person, at=at)
            for kind, fact in day:
                if kind == "forget" and not fact.is_forgotten and fact.id:
                    self.memory.forget(fact.id)
                    fact.is_forgotten = True
                    self.forgotten += fact.wordings

    def _plan(self, kind, fact, at):
        if fact.is_forgotten or kind == "forget" or (kind != "fact" and not fact.id):
            return None
        return getattr(self, f"_{kind}")(fact, at)

    def _other(self, fact):
        values = MATTERS[fact.matter][0]
        old = fact.value() if fact.periods else None
        return self.life.random.choice([v for v in values if v != old])

    def _fact(self, fact, at):
        value = self._other(fact)
        text = self.life.statement(fact, value)
        fact.periods, fact.wordings, fact.id = [(at, value, text)], [text], "?"
        return lambda batch: setattr(fact, "id", batch.remember(text, about=fact.person, at=at).id)

    def _seen(self, fact, text):
        """Whether a recall about the person shows the fact, as an agent would look before it writes."""
        if self.has_ids:
            return True
        shown = self.memory.recall(text, K, about=fact.person)
        is_seen = fact.id in [one.id for one in shown]
        self.linked, self.unlinked = self.linked + is_seen, self.unlinked + (not is_seen)
        return is_seen

    def _change(self, fact, at, **options):
        if fact.id == "?":
            return None
        value = self._other(fact)
        text = self.life.statement(fact, value)
        is_seen = self._seen(fact, text)
        if options:
            since = fact.periods.pop()[0]
            fact.periods.append((since, value, text))
        else:
            fact.periods.append((at, value, text))
        fact.wordings.append(text)
        self.changes.append((at, fact, text))

        def write(batch):
            if is_seen:
                batch.revise(fact.id, text, at=at, **options)
            else:
                fact.id = batch.remember(text, about=fact.person, at=at).id

        return write

    def _correct(self, fact, at):
        return self._change(fact, at, correction=True)

    def _repeat(self, fact, at):
        if fact.id == "?":
            return None
        said = fact.periods[-1][2]
        is_same = self.life.random.random() < 0.3
        text = f"Remember that {said}" if is_same else self.life.statement(fact, fact.value(), said)
        same_as = None if is_same or not self._seen(fact, text) else fact.id
        fact.wordings.append(text)

        def write(batch):
            made = batch.remember(text, about=fact.person, at=at, same_as=same_as)
            self.joined += is_same and bool(made.joined)

        return write


def shown(memory, question, rule, about, **when):
    """(id, text, since) of the five best under a rule."""
    if rule == "resolved":
        return [(r.id, r.text, r.since) for r in memory.recall(question, K, about=about, **when)]
    where = {"about": about} if about else None
    hits = memory.knowledge.search(question, 40, where=where)
    limit = stamp(when["as_of"]) if when else "9"
    found = []
    for hit in hits:
        said = hit.metadata
        if rule == "filter":
            # a validity range ends where the next statement of the memory begins
            versions = memory.history(hit.doc_id)
            later = [
                stamp(v.since)
                for v in versions
                if v.kind != "repeated" and stamp(v.at) > said["at"]
            ]
            if said["since"] > limit or any(each <= limit for each in later):
                continue
        found.append((hit.doc_id, hit.text, datetime.fromisoformat(said["since"])))
        if len(found) == K:
            break
    return found


def stale_texts(fact, value):
    """Every wording of the fact's other values."""
    forms = MATTERS[fact.matter][1]
    others = {v for _, v, _ in fact.periods if v != value}
    return {form.format(p=fact.person, v=v) for v in others for form in forms}


def has(found, fact, value):
    """Whether a wording of the value is shown."""
    right = {form.format(p=fact.person, v=value) for form in MATTERS[fact.matter][1]}
    return any(text.removeprefix("Remember that ") in right for _, text, _ in found)


def asked(memory, life, rule, is_narrowed):
    """Outcomes by kind of question, one list of 0 and 1 each."""
    rolls = random.Random(7)
    out = {"now": [], "as of": [], "since when": [], "stale": []}
    for fact in life.facts:
        if fact.is_forgotten:
            continue
        about = fact.person if is_narrowed else None
        _, _, questions, past, since = MATTERS[fact.matter]
        value = fact.value()
        for question in questions:
            found = shown(memory, question.format(p=fact.person), rule, about)
            out["now"].append(has(found, fact, value))
            stale = stale_texts(fact, value)
            out["stale"].append(any(t.removeprefix("Remember that ") in stale for _, t, _ in found))
        when = (
            fact.periods[0][0]
            + (START + timedelta(days=DAYS) - fact.periods[0][0]) * rolls.random()
        )
        found = shown(memory, past.format(p=fact.person), rule, about, as_of=when)
        out["as of"].append(has(found, fact, fact.value(when)))
        found = shown(memory, since.format(p=fact.person), rule, about)
        begins = [p[0] for p in fact.periods if p[1] == value]
        out["since when"].append(has([f for f in found if f[2] == begins[-1]], fact, value))
    return out


def of_forgotten(memory, teller, life):
    """Whether an answer about a forgotten fact shows one of its wordings."""
    gone = [fact for fact in life.facts if fact.is_forgotten]
    return [
        any(text in fact.wordings for _, text, _ in shown(memory, q.format(p=fact.person), "resolved", None))
        for fact in gone for q in MATTERS[fact.matter][2]
    ]  # fmt: skip


def of_changes(memory, teller):
    """The share of changes in `changes()`, among the revisions of each person and month."""
    found = []
    for at, fact, text in teller.changes:
        if not fact.is_forgotten:
            listed = memory.changes(
                at - timedelta(days=7), until=at + timedelta(days=7), about=fact.person
            )
            revised = [c.text for c in listed if c.kind != "remembered"]
            found.append(text in revised)
    return found


def cpu(memory, life):
    """Milliseconds of a recall: median and 99th percentile."""
    questions = [MATTERS[f.matter][2][0].format(p=f.person) for f in life.facts]
    spent = []
    for question in [*questions[:20], *questions]:
        began = time.process_time()
        memory.recall(question)
        spent.append((time.process_time() - began) * 1e3)
    return np.percentile(spent[20:], [50, 99])


def interval(values, rolls):
    """Mean and the 95 % interval of its bootstrap."""
    data = np.asarray(values, float)
    means = [data[rolls.integers(0, len(data), len(data))].mean() for _ in range(1000)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{data.mean():.3f} [{low:.3f} {high:.3f}]"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--looks-up", action="store_true", help="link only what recall shows")
    parser.add_argument("--keep", help="keep the file of the last seed under this path")
    given = parser.parse_args()
    seeds = given.seeds
    rolls, totals = np.random.default_rng(1), {}
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "lives.ragfile"
            with Memory(path, clock=lambda: END) as memory:
                life = Life(seed)
                teller = Teller(life, memory, not given.looks_up)
                began = time.process_time()
                teller.tell()
                spent = time.process_time() - began
                rows = memory.knowledge.rows
                print(
                    f"seed {seed}: {rows.live} statements, {len(rows.segments)} segments, "
                    f"{path.stat().st_size / 1e6:.0f} MB, told in {spent:.0f} s; shown to the writer "
                    f"{teller.linked} of {teller.linked + teller.unlinked}, joined by the rule {teller.joined}"
                )
                for rule in ("plain", "filter", "resolved"):
                    for is_narrowed in (False, True):
                        name = rule + (" + about" if is_narrowed else "")
                        for kind, values in asked(memory, life, rule, is_narrowed).items():
                            totals.setdefault(name, {}).setdefault(kind, []).extend(values)
                totals["resolved"].setdefault("changes", []).extend(of_changes(memory, teller))
                totals["resolved"].setdefault("forgotten", []).extend(
                    of_forgotten(memory, teller, life)
                )
                if given.keep:
                    shutil.copy(path, given.keep)
                print(
                    "recall, CPU ms p50 p99:", *(f"{v:.2f}" for v in cpu(memory, life)), flush=True
                )
    for name, kinds in totals.items():
        print(f"{name:18}", "  ".join(f"{kind} {interval(v, rolls)}" for kind, v in kinds.items()))


if __name__ == "__main__":
    main()
