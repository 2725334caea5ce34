"""Questions that are awaited: the same answers, cancelled ones never asked, and a loop that goes on."""

import asyncio
import inspect
import os
import threading

import pytest

from ragfile.query import awaiting
from ragfile.query.searching import KnowledgeBase


def test_awaited_answers_are_the_same(asked_file):
    async def all_of_them():
        one = asked_file.asearch("waa wab", 5, mode="bm25")
        return await asyncio.gather(
            one, asked_file.asearch("wac"), asked_file.asearch_batch(["waa"], 3)
        )

    first, second, batch = asyncio.run(all_of_them())
    assert first == asked_file.search("waa wab", 5, mode="bm25")
    assert second == asked_file.search("wac")
    assert batch == asked_file.search_batch(["waa"], 3)
    assert inspect.iscoroutinefunction(KnowledgeBase.aask)


def test_errors_come_to_those_who_wait(asked_file):
    with pytest.raises(ValueError, match="unknown mode"):
        asyncio.run(asked_file.asearch("waa", mode="wrong"))


def test_a_question_cancelled_before_its_turn_is_never_asked():
    begun, go, calls = threading.Event(), threading.Event(), []

    def slow():
        begun.set()
        assert go.wait(30)

    async def main():
        count = awaiting._pool.threads()._max_workers
        busy = [asyncio.ensure_future(awaiting.asked(slow)) for _ in range(count)]
        waiting = asyncio.ensure_future(awaiting.asked(calls.append, 1))
        while not begun.is_set():
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go.set()
        await asyncio.gather(*busy)
        await awaiting.asked(calls.append, 2)

    asyncio.run(main())
    assert calls == [2]


def test_a_forked_child_has_threads_of_its_own(asked_file):
    asyncio.run(asked_file.asearch("waa"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if asyncio.run(asyncio.wait_for(asked_file.asearch("waa"), 30)) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
