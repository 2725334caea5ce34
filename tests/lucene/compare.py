"""Compares our BM25 with Lucene's, score by score: `make -C tests lucene`, or with text and questions of your own:

    python tests/lucene/compare.py --jar lucene.jar [--passages passages.jsonl.xz --questions questions.txt ...]

Both get the same tokens: the parts of our analyzer, stemmed and without stop words, so that only scoring is compared.
Rows without a token are left out, for Lucene counts the rows of a field and we count rows.

Lucene keeps a row's length in a byte, which is exact below 40 tokens. So there are two comparisons:

- **exact lengths**: the passages cut into rows of less than 40 tokens. Rows and scores must be ours, but for the order of
  rows whose scores lie within TOLERANCE (Lucene's terms are binary32, ours binary64).
- **lossy lengths**: the passages as they are. Each score of Lucene must be our formula with the length that Lucene's byte
  stands for, and no row may be missing that the formula ranks higher. How many of Lucene's rows are among ours is
  printed: what exact lengths change. Lucene computes a term as w - w / (1 + tf / K) in binary32, so that a row much
  longer than the average keeps fewer digits than TOLERANCE asks for; ROUNDING of the weights w is allowed besides.

Lucene 9.9.1 is the one that was compared; its formula is that of every version since 8.0. Without a jar pip is asked
for pyserini's, which contains one (165 MB, into build/). Java 17 is needed.

Where bm25s is installed, the scores of its method "lucene" for all rows are compared too: its lengths are exact.
"""

import argparse
import importlib.util
import json
import lzma
import math
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np

from ragfile import _core
from ragfile.ingest.analysis import Analysis

TOLERANCE = 1e-6
ROUNDING = 2.0**-23
EXACT_BELOW = 40
PYSERINI = "pyserini==1.6.0"
BUILD = Path(__file__).parents[2] / "build" / "lucene"
PLAIN = Analysis(stemmer="none", stop_words="none")


def fetched_jar():
    """Lucene's classes, from the Python registry, once."""
    jar = BUILD / "lucene.jar"
    if not jar.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", BUILD, PYSERINI],
            check=True,
        )
        archive = next(BUILD.glob("pyserini-*.tar.gz"))
        with tarfile.open(archive) as files:
            member = next(file for file in files if file.name.endswith("fatjar.jar"))
            jar.with_suffix(".part").write_bytes(files.extractfile(member).read())
        jar.with_suffix(".part").rename(jar)
        archive.unlink()
    return jar


# --------------------------------------------------------------------------------------------------- tokens of both sides


def tokens(texts):
    """Our words of each text, without wholes."""
    reduce, known, found = Analysis().reducer(), {}, []
    for text in texts:
        parts = [word for word, whole in _core.words(text) if not whole]
        new = [word for word in dict.fromkeys(parts) if word not in known]
        known.update(zip(new, reduce(new), strict=True))
        found.append([known[part] for part in parts if known[part]])
    return found


def stable(rows):
    """Rows of those tokens that our analyzer leaves as they are, so that both sides count the same."""
    known = {
        token: [word for word, _ in _core.words(token)] == [token] for row in rows for token in row
    }
    return [row for row in ([token for token in row if known[token]] for row in rows) if row]


def cut(rows):
    """The same tokens in rows of 1 to 39, whatever the size of the rows before."""
    random, pieces = np.random.default_rng(4), []
    for row in rows:
        at = 0
        while at < len(row):
            size = int(random.integers(1, EXACT_BELOW))
            pieces.append(row[at : at + size])
            at += size
    return pieces


def generated(count=5000):
    """Rows of Zipf-distributed words with a few of every length up to 20,000, and questions."""
    random = np.random.default_rng(1)
    lengths = [*random.integers(1, 200, count), 255, 256, 257, 1000, 20_000]
    rows = [
        [f"w{word}" for word in np.minimum(random.zipf(1.25, length), 5000)] for length in lengths
    ]
    asked = [
        [f"w{word}" for word in np.minimum(random.zipf(1.3, 1 + i % 20), 5000)] for i in range(300)
    ]
    return rows, asked


def read(passages, questions):
    with (lzma.open if passages.suffix == ".xz" else open)(
        passages, "rt", encoding="utf-8"
    ) as lines:
        rows = stable(tokens(json.loads(line)["text"] for line in lines))
    asked = [line for path in questions for line in path.read_text(encoding="utf-8").splitlines()]
    return rows, stable(tokens(asked))


# -------------------------------------------------------------------------------------------------------------- both sides


def lucene(jar, rows, asked, ks):
    """Its version, and by k the (rows, scores) of each question."""
    command = ["java", "-Xmx4g", "-cp", jar, Path(__file__).with_name("Scores.java")]
    joined = "\n".join(map(" ".join, asked))
    requests = [f"ask {len(asked)} {k}\n{joined}" for k in ks]
    text = "\n".join([f"rows {len(rows)}", *map(" ".join, rows), *requests, ""])
    lines = subprocess.run(
        command, input=text, capture_output=True, encoding="utf-8", check=True
    ).stdout.splitlines()
    pairs = [[pair.split(":") for pair in line.split()] for line in lines[1:]]
    answers = [
        ([int(row) for row, _ in line], np.array([score for _, score in line], np.float32))
        for line in pairs
    ]
    return lines[0], {k: answers[i * len(asked) : (i + 1) * len(asked)] for i, k in enumerate(ks)}


def opened(rows):
    builder = _core.LexicalBuilder(PLAIN)
    builder.add([" ".join(row) for row in rows])
    postings, terms = bytearray(), bytearray()
    builder.finish(postings.extend, terms.extend)
    lexicon = _core.Lexicon(_core.Section.over(terms), _core.Section.over(postings))
    if lexicon.lengths().tolist() != [len(row) for row in rows]:
        raise SystemExit("the two sides do not count the same tokens")
    return lexicon


def kept_length(length):
    """The length that Lucene's byte stands for: a number of four significant bits beyond the first 24."""
    if length < 24:
        return length
    rest = length - 24
    lost = max(rest.bit_length() - 4, 0)
    return 24 + (rest >> lost << lost)


class Formula:
    """BM25 of all rows in binary64 with lengths that are given, idf and average of the true ones."""

    def __init__(self, lexicon, lengths, k1=1.2, b=0.75):
        self.lexicon, self.count, self.k1 = lexicon, len(lexicon), k1
        average = lexicon.total_length / self.count
        self.norms, self.terms = k1 * (1 - b + b * np.asarray(lengths) / average), {}

    def term(self, term):
        if term not in self.terms:
            rows, tf = self.lexicon.rows(term)
            idf = math.log(1 + (self.count - len(rows) + 0.5) / (len(rows) + 0.5))
            self.terms[term] = rows, idf * tf / (tf + self.norms[rows])
        return self.terms[term]

    def rounding(self, asked):
        """How far Lucene's scores may be off for its subtraction."""
        dfs = [self.lexicon.df(term) for term in asked]
        return ROUNDING * sum(math.log(1 + (self.count - df + 0.5) / (df + 0.5)) for df in dfs)

    def scores(self, asked):
        scores = np.zeros(self.count)
        for term in dict.fromkeys(asked):
            rows, parts = self.term(term)
            scores[rows] += asked.count(term) * parts
        return scores


# ------------------------------------------------------------------------------------------------------------- comparisons


def same_but_for_ties(theirs, ours):
    """Whether the scores are equal place by place, and the rows too except among equal scores."""
    (their_rows, their_scores), (our_rows, our_scores) = theirs, ours
    if len(their_rows) != len(our_rows) or not np.allclose(
        their_scores, our_scores, rtol=TOLERANCE, atol=0
    ):
        return False
    scored = dict(zip(our_rows, our_scores, strict=True))
    last = (
        our_scores[-1] if len(our_scores) else 0
    )  # a row that just missed may tie with the last one
    return all(
        np.isclose(score, scored.get(row, last), rtol=TOLERANCE, atol=0)
        for row, score in zip(their_rows, their_scores, strict=True)
    )


def compare_exact(jar, name, rows, asked, ks):
    lexicon = opened(rows)
    version, answers = lucene(jar, rows, asked, ks)
    failures = scores = swapped = 0
    worst = 0.0
    for k in ks:
        found, found_scores = lexicon.match([" ".join(question) for question in asked], k)
        for theirs, row, score in zip(answers[k], found, found_scores, strict=True):
            ours = row[row >= 0].tolist(), score[row >= 0]
            failures += not same_but_for_ties(theirs, ours)
            scores += len(ours[0])
            swapped += sum(a != b for a, b in zip(theirs[0], ours[0], strict=False))
            if len(theirs[1]) == len(ours[1]) and len(ours[1]):
                worst = max(worst, float(np.max(np.abs(theirs[1] / ours[1] - 1))))
    print(
        f"{name}, exact lengths: Lucene {version}, {len(rows):,} rows, {len(asked)} questions, k {ks}: {scores:,} scores, "
        f"largest relative difference {worst:.1e}, {swapped} rows in another order among equal scores, "
        f"{failures} answers differ",
        flush=True,
    )
    return failures


def compare_lossy(jar, name, rows, asked, ks):
    lexicon = opened(rows)
    _, answers = lucene(jar, rows, asked, ks)
    formula = Formula(lexicon, [kept_length(len(row)) for row in rows])
    recomputed = [(formula.scores(question), formula.rounding(question)) for question in asked]
    failures = scores = shared = 0
    worst = 0.0
    for k in ks:
        ours = lexicon.match([" ".join(question) for question in asked], k)[0]
        for (their_rows, their_scores), (expected, off), own in zip(
            answers[k], recomputed, ours, strict=True
        ):
            best = -np.sort(-expected[expected > 0])[:k]
            failures += len(best) != len(their_rows) or not all(
                np.allclose(their_scores, wanted, rtol=TOLERANCE, atol=off)
                for wanted in (expected[their_rows], best)
            )
            scores += len(their_rows)
            shared += len(set(their_rows) & set(own.tolist()))
            if len(their_rows):
                worst = max(worst, float(np.max(np.abs(their_scores / expected[their_rows] - 1))))
    print(
        f"{name}, lossy lengths: {len(rows):,} rows, {len(asked)} questions, k {ks}: {scores:,} scores, "
        f"largest relative difference {worst:.1e}, {failures} answers differ; "
        f"{100 * shared / scores:.1f} % of Lucene's rows are among ours",
        flush=True,
    )
    return failures


def compare_bm25s(name, rows, asked):
    import bm25s

    lexicon, every = opened(rows), np.arange(len(rows))
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(rows, show_progress=False)
    failures = scores = 0
    worst = 0.0
    for question in asked:
        known = [token for token in question if lexicon.df(token)]
        ours = lexicon.score(every, " ".join(question))
        theirs = index.get_scores(known) if known else np.zeros(len(rows), np.float32)
        hit = ours > 0
        failures += not np.allclose(theirs, ours, rtol=TOLERANCE, atol=0)
        scores += int(hit.sum())
        if hit.any():
            worst = max(worst, float(np.max(np.abs(theirs[hit] / ours[hit] - 1))))
    print(
        f"{name}, bm25s {bm25s.__version__}: {len(rows):,} rows, {len(asked)} questions: {scores:,} scores, "
        f"largest relative difference {worst:.1e}, {failures} answers differ",
        flush=True,
    )
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jar", type=Path)
    parser.add_argument("--passages", type=Path)
    parser.add_argument("--questions", type=Path, nargs="+", default=[])
    given = parser.parse_args()
    jar, ks, failures = given.jar or fetched_jar(), (1, 10, 100, 1000), 0
    corpora = [("generated", *generated())]
    if given.passages:
        corpora.append((given.passages.name, *read(given.passages, given.questions)))
    for name, rows, asked in corpora:
        failures += compare_exact(jar, name, cut(rows), asked, ks)
        failures += compare_lossy(jar, name, rows, asked, ks)
        if importlib.util.find_spec("bm25s"):
            failures += compare_bm25s(name, rows, asked)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
