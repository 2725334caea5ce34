"""The package and spec/reader.py agree on the whole life of a file. `make -C tests differential` does this for an hour."""

import collections

from checks import differential


def test_random_lives_answer_as_the_second_reader_says(capsys):
    seen = collections.Counter()
    disagreements = [n for n in range(6) if not differential.one("suite", n, seen)]
    assert disagreements == [], capsys.readouterr().err
    assert seen["questions"] > 50
