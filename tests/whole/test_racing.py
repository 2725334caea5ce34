"""A round of what `make -C tests race-module` does under ThreadSanitizer: every answer is the one of a single thread."""

from checks import racing


def test_threads_that_share_everything_get_the_answers_of_one():
    racing.trial(rounds=1, seed=3)
