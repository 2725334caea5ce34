"""The whole interface of the package against spec/reader.py, over random lives of files, to the bit.

    python tests/checks/differential.py --minutes 60 [--seed S] [--only N]

Each number N of a seed S is the life of one file: how it was made and changed follows from the two. After its commits,
spec/reader.py decodes the file; what it finds must be what the writer was told, and the package must give what it says:
records, vectors, filters, scores, rankings, fusions, samples, old generations, signatures and repairs. The file is read
from the disk, from behind a URL and from a copy out of a pickle.

A failure prints its seed and number, keeps the file in build/differential, and goes on. The exit code is then 1.
"""

import argparse
import collections
import contextlib
import pathlib
import pickle
import random
import sys
import tempfile
import time
import traceback
import warnings
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from checks.random_lives import Life  # noqa: E402
from oracles import comparing_questions, comparing_records, decoded  # noqa: E402
from oracles.answers import Answers  # noqa: E402
from servers.range_server import RangeServer  # noqa: E402

import ragfile  # noqa: E402
from ragfile.file import sample_rows, stored_columns  # noqa: E402
from ragfile.ground.signing_keys import new_key  # noqa: E402

STEPS = 9
WIDE = (
    250  # one life in so many has rows enough for a shadow that is turned, which is slow to check
)
SMALL = {"TAKEN": 1024, "KEPT": 1152, "WORTH": 2}  # samples of files as small as these
SIGNATURES, PARITY = decoded._load("signatures"), decoded._load("parity")


class Trial:
    """One life of a file. `seen` counts what was compared."""

    def __init__(self, seed, number, folder, seen):
        self.rng, self.seen = random.Random(f"{seed}/{number}"), seen
        self.path, self.folder, self.steps = pathlib.Path(folder) / "kb.ragfile", folder, []
        self.key = pathlib.Path(folder) / "key"
        new_key(self.key)
        self.is_wide = number % WIDE == WIDE - 1
        self.life = Life(self.rng, self.path, self.key, self.is_wide)
        self.held, self.living = [], None

    def run(self):
        rows = 0 if self.rng.random() < 0.5 else stored_columns.WORTH
        worth = SMALL if self.rng.random() < 0.5 else {"TAKEN": sample_rows.TAKEN}
        with (
            mock.patch.multiple(sample_rows, **worth), mock.patch.object(stored_columns, "WORTH", rows),
        ):  # fmt: skip
            self.life.create()
            self.steps.append("create")
            self.check()
            for _ in range(self.rng.randrange(2 if self.is_wide else STEPS)):
                self.steps.append(self.life.step())
                if self.rng.random() < 0.6:
                    self.check()
            self.check()
            self.check_the_past()
            self.check_repair()
        self.seen["lives"] += 1

    def answers(self, data):
        found = decoded.Decoded(data)
        slow = Answers(found, comparing_questions.Terms(self.life.analysis), self.life.metric)
        model = found.config.get("model") or {}
        slow.embedder = self.life.embedders.get(model.get("name"))
        return slow

    def check(self):
        """The file as it is, through every way to open it."""
        data = self.path.read_bytes()
        slow = self.answers(data)
        comparing_records.told(slow.file, self.life)
        self.seen["states"] += 1
        with ragfile.open(self.path, embedder=self.life.embedder) as rf:
            self.compare(rf, slow)
            if self.rng.random() < 0.15:
                self.compare(pickle.loads(pickle.dumps(rf)), slow)
        self.follow(slow)
        if self.rng.random() < 0.1:
            self.check_remote(data, slow)
        self.check_signatures(data)
        assert ragfile.verify(self.path)[0] == []

    def compare(self, rf, slow):
        comparing_records.records(rf, slow, self.rng, self.seen)
        comparing_questions.questions(rf, slow, self.rng, self.seen, slow.embedder)

    def follow(self, slow):
        """A reader that stays open and refreshes; sometimes another one, which never does."""
        if self.living is None or self.living.embedder is not slow.embedder:
            self.living = ragfile.open(self.path, embedder=slow.embedder)
        self.living.refresh()
        self.compare(self.living, slow)
        if self.rng.random() < 0.3:
            self.held.append((self.living.at_commit(), slow))

    def check_remote(self, data, slow):
        with RangeServer({"kb": data}) as server, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with ragfile.open(server.url("kb"), embedder=self.life.embedder) as rf:
                self.compare(rf, slow)
        self.seen["behind a URL"] += 1

    def check_the_past(self):
        """Readers that stayed where they were, and every generation that the file still has."""
        for reader, slow in self.held:
            self.compare(reader, slow)
            self.seen["held readers"] += 1
        commits = ragfile.log(self.path)
        ends = self.ends()
        assert len(commits) == len(ends)
        for commit, end in zip(commits, ends, strict=True):
            slow = self.answers(self.path.read_bytes()[:end])
            with ragfile.open(
                self.path, embedder=slow.embedder, generation=commit["generation"]
            ) as rf:
                self.compare(rf, slow)
                assert rf.generation == commit["generation"]
            self.seen["old generations"] += 1

    def ends(self):
        """Where each commit of the file ends, newest first, from the chain of its footers."""
        reader, data = decoded.reader, self.path.read_bytes()
        head = reader.front_page(data)
        found, _ = reader.newest(data, head)
        ends = [found["at"] + 64]
        for about, _ in reader.history(data, head, found):
            ends.append(about["at"] + 64)
        return ends

    def check_signatures(self, data):
        with ragfile.open(self.path) as rf:
            signed = rf.file.signatures
        names = {entry["name"] for entry in decoded.reader.read(data)["sections"]}
        assert bool(signed) == ("rag.signatures" in names)
        if signed and signed[0].is_current:
            public = pathlib.Path(f"{self.key}.pub")
            raw = ragfile.ground.signing_keys.PublicKey.of(public).raw
            assert SIGNATURES.judge(data, raw)["verdict"] == "holds"
            ragfile.open(self.path, trusted=[public]).close()
            self.seen["signatures"] += 1

    def check_repair(self):
        """Some damage to a file with parity: both repairs give its bytes again, or neither does."""
        data = self.path.read_bytes()
        with ragfile.open(self.path) as rf:
            if not rf.info["parity"]:
                return
        at = self.rng.randrange(len(data))
        size = self.rng.choice([1, 64, 4096])
        broken = data[:at] + bytes(255 - b for b in data[at : at + size]) + data[at + size :]
        hurt = pathlib.Path(self.folder) / "hurt.ragfile"
        hurt.write_bytes(broken)
        with contextlib.suppress(ragfile.RagfileError):
            ragfile.repair(hurt)
        slow = PARITY.repaired(broken)
        assert hurt.read_bytes() == (broken if slow is None else slow), "another repair"
        self.seen["repairs"] += 1


def one(seed, number, seen):
    """Whether the two agree on life `number`."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ragfile.errors.FilterWarning)
        trial = Trial(seed, number, folder, seen)
        try:
            trial.run()
        except Exception:  # noqa: BLE001 - whatever it is, the next life goes on
            print(f"seed {seed}, life {number}, after {', '.join(trial.steps)}:", file=sys.stderr)
            traceback.print_exc()
            keep(trial.path, seed, number)
            return False
    return True


def keep(path, seed, number):
    kept = ROOT / "build" / "differential"
    kept.mkdir(parents=True, exist_ok=True)
    if path.exists():
        name = f"{seed.replace('/', '-')}-{number}.ragfile"
        (kept / name).write_bytes(path.read_bytes())


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--lives", type=int, default=1 << 40)
    options.add_argument("--seed", default=str(random.randrange(1 << 30)))
    options.add_argument("--only", type=int)
    chosen = options.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    seen, failed, over = collections.Counter(), [], time.monotonic() + 60 * chosen.minutes
    first = 0 if chosen.only is None else chosen.only
    for number in range(first, first + (chosen.lives if chosen.only is None else 1)):
        if time.monotonic() > over or len(failed) > 9:
            break
        if not one(chosen.seed, number, seen):
            failed.append(number)
    print(", ".join(f"{count:,} {what}" for what, count in sorted(seen.items())))
    print(f"{len(failed)} lives on which the two do not agree: {failed}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
