"""Calls that fail for a moment are repeated, with waits that double or that a server asks for."""

import time
from collections.abc import Callable

import pytest

from ragfile.ground.cancellation import Waiter, waiting
from ragfile.net import retries
from ragfile.net.retries import Retries, TransientError


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the waits, which take no time, without their jitter."""
    waits: list[float] = []
    monkeypatch.setattr(retries.time, "sleep", waits.append)
    monkeypatch.setattr(retries.random, "uniform", lambda low, high: low)
    return waits


def failing(times: int, wait: float | None = None) -> Callable[[], int]:
    """Return a function that fails so often, then returns the number of its calls."""
    calls = []

    def call() -> int:
        calls.append(1)
        if len(calls) <= times:
            raise TransientError("busy", wait)
        return len(calls)

    return call


def test_waits_double_up_to_the_longest(slept: list[float]) -> None:
    assert Retries(6, 1.0, 5.0).call(failing(5)) == 6
    assert slept == [1, 2, 4, 5, 5]


def test_a_wait_that_the_server_asks_for_is_kept(slept: list[float]) -> None:
    assert Retries(3, 1.0, 5.0).call(failing(2, wait=3.0)) == 3
    assert slept == [3, 3]


@pytest.mark.parametrize(
    ("retries", "wait", "attempts"),
    [
        (Retries(4, 1.0, 5.0), None, 4),
        (Retries(4, 1.0, 5.0), 6.0, 1),
        (Retries(4, 1.0, 5.0, until=time.monotonic()), None, 1),
    ],
    ids=["attempts are spent", "the wait is too long", "time is up"],
)
def test_the_last_error_counts_the_attempts(
    slept: list[float], retries: Retries, wait: float | None, attempts: int
) -> None:
    with pytest.raises(TransientError) as caught:
        retries.call(failing(9, wait))
    assert caught.value.attempts == attempts
    assert len(slept) == attempts - 1


def test_jitter_is_at_most_the_first_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(retries.time, "sleep", waits.append)
    Retries(50, 0.5, 2.0).call(failing(49))
    assert all(2.0 <= wait <= 2.5 for wait in waits[2:])
    assert len(set(waits)) == 49


def test_nobody_retries_for_a_waiter_that_left() -> None:
    waiter = Waiter()
    with waiting(waiter), pytest.raises(TransientError) as caught:
        waiter.leave()
        Retries(4, 1.0, 5.0).call(failing(9))
    assert caught.value.attempts == 1


def test_other_errors_are_not_repeated(slept: list[float]) -> None:
    with pytest.raises(ZeroDivisionError):
        Retries(4, 1.0, 5.0).call(lambda: 1 // 0)
    assert slept == []
