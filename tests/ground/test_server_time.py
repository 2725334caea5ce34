"""One question waits for its servers as long as it may, however many requests it makes."""

import pytest

from ragfile.ground import server_time
from ragfile.ground.server_time import ServerTime, one_question, waiting_for_server


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until a test moves it."""
    now = [1000.0]
    monkeypatch.setattr(server_time.time, "monotonic", lambda: now[0])
    return now


def test_only_waiting_counts(clock):
    with one_question():
        for _ in range(10):
            clock[0] += 60
            with waiting_for_server() as limit:
                assert not limit.is_over
                clock[0] += 2.9
        with waiting_for_server() as limit:
            clock[0] += 1.1
            assert limit.is_over


def test_requests_and_their_bytes_add_time(clock):
    limit = ServerTime()
    with limit.waiting():
        limit.allow(10 * server_time.SLOWEST)
        clock[0] += server_time.SECONDS + 10
        assert not limit.is_over
        clock[0] += server_time.ROUND_TRIP
        assert limit.is_over


def test_what_threads_wait_for_together_counts_once(clock):
    limit = ServerTime()
    with limit.waiting():
        with limit.waiting():
            clock[0] += server_time.SECONDS / 2
        clock[0] += 1
    with limit.waiting():
        assert limit.seconds(100) == server_time.SECONDS / 2 - 1


def test_an_inner_block_has_the_limit_of_the_outer_one(clock):
    with one_question():
        with one_question(), waiting_for_server():
            clock[0] += server_time.SECONDS + 1
        with waiting_for_server() as limit:
            assert limit.is_over


def test_without_a_question_each_wait_has_its_own_limit(clock):
    for _ in range(2):
        with waiting_for_server() as limit:
            assert not limit.is_over
            clock[0] += server_time.SECONDS + 1
