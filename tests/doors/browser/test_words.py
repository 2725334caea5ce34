"""Words and terms in node, against the analyzer and PyStemmer: for every language, on words of that
language's letters and endings."""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest
import Stemmer
from doors.browser.node import Reader, node

import ragfile
from ragfile import _core
from ragfile.ingest.analysis import Analysis

WEB = Path(__file__).parents[3] / "ragfile/doors/browser"
EACH = int(os.environ.get("RAGFILE_WORDS", "600"))
STEM = """
import { createInterface } from "node:readline";
const { default: Stemmer } = await import(process.argv[1]);
const one = new Stemmer();
for await (const line of createInterface({ input: process.stdin })) console.log(one.stem(line));
"""


def words_of(source, rng, count):
    """Words made of what an algorithm looks for, with letters of its own and of no language."""
    parts = re.findall(r'"((?:[^"\\\\]|\\\\.){1,12})"', source)
    parts = [part for part in parts if part.isalpha() or "'" in part] or ["a"]
    letters = [*sorted({letter for part in parts for letter in part}), "x", "é", "\U0001d49c"]
    for _ in range(count):
        stem = "".join(rng.choices(letters, k=rng.randint(0, 7)))
        yield stem + "".join(rng.choices(parts, k=rng.randint(0, 2)))


@pytest.mark.parametrize("language", Stemmer.algorithms())
def test_stems_are_those_of_snowball(language):
    module = WEB / f"stemmers/{language}.js"
    found = words_of(module.read_text(encoding="utf-8"), random.Random(language), EACH)
    words = [word for word in found if word]
    run = subprocess.run(
        [node(), "--input-type=module", "-e", STEM, module.as_uri()],
        input="\n".join(words), capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    assert run.stdout.split("\n")[:-1] == Stemmer.Stemmer(language).stemWords(words)


@pytest.mark.parametrize(
    "analysis",
    [Analysis(), Analysis(pieces=False), Analysis(clusters=False), Analysis(accents="keep")],
)
def test_words_and_their_places_are_those_of_the_core(tmp_path, analysis):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, analysis=analysis) as w:
        w.add_documents([{"id": "a", "text": "nothing much"}])
    rng = random.Random(3)
    alphabet = "abZ Yß.é_-+1,2'東京にほ\U0001f600\U0001d49c\n\u0301\u200dİı"
    with Reader(path) as there:
        there("open")
        for _ in range(200):
            text = "".join(rng.choices(alphabet, k=rng.randint(0, 60)))
            answer = [(w["word"], w["whole"], w["start"], w["end"]) for w in there("words", text)]
            assert answer == _core.word_places(
                text,
                strip_accents=analysis.strip_accents,
                pieces=analysis.pieces,
                clusters=analysis.clusters,
            )
