"""Questions that are awaited: the same answers, cancelled ones never asked, and a loop that goes on."""

import asyncio
import inspect
import os
import threading

import pytest

from ragfile.answer import async_api
from ragfile.ground.cancellation import current
from ragfile.knowledge_base import KnowledgeBase


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
    with pytest.raises(ValueError, match="mode is one of"):
        asyncio.run(asked_file.asearch("waa", mode="wrong"))


def test_a_question_cancelled_before_its_turn_is_never_asked():
    begun, go, calls = threading.Event(), threading.Event(), []

    def slow():
        begun.set()
        assert go.wait(30)

    async def main():
        count = async_api._pool.threads()._max_workers
        busy = [asyncio.ensure_future(async_api.asked(slow)) for _ in range(count)]
        waiting = asyncio.ensure_future(async_api.asked(calls.append, 1))
        while not begun.is_set():
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go.set()
        await asyncio.gather(*busy)
        await async_api.asked(calls.append, 2)

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


class Spoken:
    """A chat model that says some words."""

    name = "spoken"

    def __init__(self, words):
        self.words = words

    def chat(self, messages, **settings):
        yield from self.words


class Slow:
    """A chat model that says a word at a time, and knows whether it was hung up on."""

    name = "slow"

    def __init__(self, words=("Rotate", " them", " [1]", ".")):
        self.words, self.said, self.is_closed = words, 0, threading.Event()

    def chat(self, messages, **settings):
        try:
            for word in self.words:
                self.said += 1
                if self.said == 2:  # as a call to a server, which leaving breaks off
                    current().sleep(30)
                yield word
        finally:
            self.is_closed.set()


def test_an_answer_streams_the_same_events(asked_file):
    async def told(model):
        found = await asked_file.aask("waa wab", stream=True, model=model)
        return [event async for event in found]

    for words in (("One ", "two [1].", " Three."), ("", "four")):
        expected = list(asked_file.ask("waa wab", stream=True, model=Spoken(words)))
        events = asyncio.run(told(Spoken(words)))
        assert [e.kind for e in events] == [e.kind for e in expected]
        assert [e.data for e in events[:-1]] == [e.data for e in expected[:-1]]
        assert events[-1].data.text == expected[-1].data.text
    kinds = [event.kind for event in asyncio.run(told(None))]
    assert (kinds[0], kinds[-1]) == ("sources", "done")


def test_wrong_options_are_raised_before_a_stream_begins(asked_file):
    with pytest.raises(ValueError, match="the question is empty"):
        asyncio.run(asked_file.aask(" ", stream=True))


@pytest.mark.parametrize("way", ["cancel", "close", "with"])
def test_a_stream_that_is_left_hangs_up_on_the_model(asked_file, way):
    model = Slow()

    async def main():
        events = await asked_file.aask("waa", stream=True, model=model)
        if way == "with":
            async with events:
                async for event in events:
                    if event.kind == "delta":
                        break
        else:
            async for event in events:
                if event.kind == "delta":
                    break
            if way == "close":
                await events.aclose()
            else:
                step = asyncio.ensure_future(anext(events))
                while model.said < 2:
                    await asyncio.sleep(0.001)
                step.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await step
        assert await asyncio.to_thread(model.is_closed.wait, 20)
        await events.aclose()  # again

    asyncio.run(asyncio.wait_for(main(), 60))
    assert model.said <= 2


def test_one_event_is_awaited_at_a_time(asked_file):
    async def main():
        events = await asked_file.aask("waa", stream=True)
        first = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="one at a time"):
            await anext(events)
        assert (await first).kind == "sources"
        await events.aclose()

    asyncio.run(main())
