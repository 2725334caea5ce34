"""Those who wait can go: what is open for them is shut, and nothing of others is.

Also through chat (a loopback server), the async API and searches of a built file.
"""

import asyncio
import threading
import time

import pytest
from servers.chat_servers import Server, event, hang

import ragfile
from ragfile.answer import async_api
from ragfile.chat.protocol import open_chat
from ragfile.errors import ProviderError
from ragfile.ground.cancellation import Waiter, WaiterLeft, current, steps, waiting
from ragfile.search import query_syntax

MESSAGES = [{"role": "user", "content": "keys?"}]


def begins_and_stalls(handler, question):
    handler.begin()
    raw = event("First").encode()
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
    handler.wfile.flush()
    time.sleep(60)


def test_what_is_open_is_shut_once_and_what_comes_later_at_once():
    waiter, shut = Waiter(), []
    with waiter.shutting(lambda: shut.append("past")):
        pass
    with waiter.shutting(lambda: shut.append("open")):
        waiter.leave()
        waiter.leave()
        assert shut == ["open"]
        with waiter.shutting(lambda: shut.append("later")):
            assert shut == ["open", "later"]
    assert waiter.has_left


def test_nobody_waits_outside():
    waiter = Waiter()
    with waiting(waiter):
        assert current() is waiter
    assert current() is None


@pytest.mark.parametrize("script", [hang(60), begins_and_stalls], ids=["at once", "in the middle"])
@pytest.mark.parametrize("scheme", ["openai", "ollama"])
def test_a_model_that_stalls_is_hung_up_on(script, scheme):
    with Server() as server:
        server.script = [script, script]
        model, waiter, ends = open_chat(server.model(scheme, timeout=50)), Waiter(), []

        def ask():
            with waiting(waiter):
                try:
                    list(model.chat(MESSAGES))
                except ProviderError as error:
                    ends.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        time.sleep(0.2)  # the stall begins
        waiter.leave()
        thread.join(20)
        assert not thread.is_alive()
        assert len(ends) == 1
        assert len(server.requests) == 1, "nobody asks again for one who has left"


def test_the_call_of_another_goes_on_beside_it():
    with Server(["One", " two."]) as server:
        model, waiter = open_chat(server.model(timeout=50)), Waiter()
        with waiting(Waiter()):
            goes_on = iter(model.chat(MESSAGES))
            assert next(goes_on) == "One"
        server.script = [begins_and_stalls]
        with waiting(waiter):
            stops = iter(model.chat(MESSAGES))
            assert next(stops) == "First"
            waiter.leave()
            with pytest.raises(ProviderError):
                list(stops)
        assert next(goes_on) == " two."
        assert next(goes_on).reason == "stop"
        assert [str(piece) for piece in model.chat(MESSAGES)][:2] == ["One", " two."]


def test_a_cancelled_await_frees_its_thread():
    with Server() as server:
        model = open_chat(server.model(timeout=50))
        count = async_api._pool.threads()._max_workers
        server.script = [hang(60)] * count

        async def main():
            stuck = [
                asyncio.ensure_future(async_api.asked(lambda: list(model.chat(MESSAGES))))
                for _ in range(count)
            ]
            while len(server.requests) < count:
                await asyncio.sleep(0.01)
            for one in stuck:
                one.cancel()
            async with asyncio.timeout(20):
                assert await async_api.asked(lambda: "free") == "free"

        asyncio.run(main())


def test_a_loop_ends_before_its_next_step():
    waiter, seen = Waiter(), []
    with waiting(waiter), pytest.raises(WaiterLeft):
        for step in steps(range(10)):
            seen.append(step)
            if step == 3:
                waiter.leave()
    assert seen == [0, 1, 2, 3]
    assert list(steps(range(3))) == [0, 1, 2]


OPTIONS = {
    "phrases": {"query": '"key word"', "query_syntax": True},
    "questions with signs": {"query": "key -w3", "query_syntax": True},
    "repeats": {"query": "key", "drop_repeats": True},
    "diversity": {"query": "key", "diversity": 0.5, "vector": [1.0, 0.5]},
    "boosts": {
        "query": "key",
        "boost": {"field": "n", "weight": 1.0, "reference": 1, "half_life": 2},
    },
    "drop repeats": {"query": "key", "drop_repeats": True},
    "rewrites": {"query": "key", "rewrites": ["word"]},
    "groups": {"query": "key", "group": 2},
}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "kb"
    with ragfile.create(path) as w:
        for i in range(40):
            chunk = {"doc_id": f"d{i}", "chunk_index": 0, "content": f"key word w{i}"}
            w.add([{**chunk, "metadata": {"n": i}}], [[1.0, float(i)]])
    with ragfile.open(path) as rf:
        yield rf


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_search_whose_client_has_left_ends_early(many, options):
    assert many.search(**options, mode="bm25", cache=False)
    waiter = Waiter()
    waiter.leave()
    with waiting(waiter), pytest.raises(WaiterLeft):
        list(many.search(**options, mode="bm25", cache=False))


def test_a_phrase_reads_no_more_texts_once_its_client_has_left(many, monkeypatch):
    waiter, read, folded = Waiter(), [], query_syntax.folded

    def leaving(*args):
        read.append(args)
        waiter.leave()
        return folded(*args)

    with waiting(waiter), pytest.raises(WaiterLeft):
        monkeypatch.setattr(query_syntax, "folded", leaving)
        many.search('"word key"', query_syntax=True, mode="bm25", cache=False)
    assert len(read) <= 2


def test_documents_are_read_until_the_client_leaves(many):
    waiter = Waiter()
    with waiting(waiter), pytest.raises(WaiterLeft):
        for _ in many.documents():
            waiter.leave()
