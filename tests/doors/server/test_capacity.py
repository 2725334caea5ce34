"""Memory and threads are shared fairly: in order, by key, and never more than there is."""

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers.built_files import build_pages

from ragfile.doors.server.capacity import ReadBudget, Room, Shares, Turns
from ragfile.doors.server.failures import HttpFailure

TEXT = "A line of a large document about keys.\n\n" * 20_000


@given(
    st.integers(1, 100),
    st.lists(st.tuples(st.integers(0, 150), st.integers(0, 3), st.booleans()), max_size=30),
)
def test_memory_is_never_exceeded_and_all_is_returned(limit, requests):
    async def run():
        memory, held, most = ReadBudget(limit), [0], [0]

        async def request(size, rounds):
            taken = await memory.take(size)
            held[0] += taken
            most[0] = max(most[0], held[0])
            try:
                for _ in range(rounds):
                    await asyncio.sleep(0)
            finally:
                held[0] -= taken
                memory.give_back(taken)

        tasks = []
        for size, rounds, is_cancelled in requests:
            tasks.append(asyncio.create_task(request(size, rounds)))
            await asyncio.sleep(0)
            if is_cancelled:
                tasks[-1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert held == [0]
        assert most[0] <= limit
        assert await asyncio.wait_for(memory.take(limit), 5) == limit

    asyncio.run(run())


def test_memory_is_given_in_order():
    async def run():
        memory, order = ReadBudget(10), []

        async def request(name, size):
            taken = await memory.take(size)
            order.append(name)
            await asyncio.sleep(0)
            memory.give_back(taken)

        first = await memory.take(6)
        tasks = [asyncio.create_task(request(n, s)) for n, s in (("large", 8), ("small", 1))]
        await asyncio.sleep(0)
        assert order == []
        memory.give_back(first)
        await asyncio.gather(*tasks)
        assert order == ["large", "small"]

    asyncio.run(run())


def test_one_key_uses_half_of_the_threads():
    async def run():
        running, most, lock = [0], [0], threading.Lock()
        free = threading.Event()

        def slow():
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            free.wait(20)
            with lock:
                running[0] -= 1

        with ThreadPoolExecutor(4) as threads:
            turns = Turns(threads, 4)
            tasks = [asyncio.create_task(turns.run("greedy", slow)) for _ in range(10)]
            await asyncio.sleep(0)
            assert await asyncio.wait_for(turns.run("other", lambda: "answered"), 10) == "answered"
            assert await asyncio.wait_for(turns.run("", lambda: "as well"), 10) == "as well"
            tasks[0].cancel()
            tasks[-1].cancel()
            free.set()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert most[0] == 2
            assert await asyncio.wait_for(turns.run("greedy", lambda: "again"), 10) == "again"

    asyncio.run(run())


def test_a_key_has_a_share_of_a_room():
    async def run():
        room = Room(4, "answers")
        works = [asyncio.get_running_loop().create_future() for _ in range(4)]
        for work in works[:2]:
            room.check("one")
            room.keep(work, "one")
        with pytest.raises(HttpFailure, match="this key has 2 answers") as refused:
            room.check("one")
        assert refused.value.status == 429
        for work in works[2:]:
            room.check("")
            room.keep(work, "")
        with pytest.raises(HttpFailure, match="the limit of 4") as full:
            room.check("two")
        assert full.value.status == 503
        for work in works:
            work.set_result(None)
        await asyncio.sleep(0)
        room.check("one")
        assert room.inside == 0

    asyncio.run(run())


def test_shares_without_a_key_are_not_limited():
    shares = Shares(0, "requests")
    for _ in range(9):
        shares.check("")
        shares.enter("")
    shares.enter("one")
    with pytest.raises(HttpFailure):
        shares.check("one")
    shares.leave("one")
    shares.check("one")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return build_pages(tmp_path_factory.mktemp("large"), {"large.md": TEXT, "small.md": "Keys."})


def test_readers_of_large_documents_take_turns(serving, large):
    """With memory for one, eight are read one after another, and small ones between them."""
    server = serving(large, read_memory=len(TEXT) * 5)
    found = []
    paths = ["large.md", "small.md"] * 4
    read = lambda name: found.append(server.get(f"/v1/collections/kb/documents/{name}"))  # noqa: E731
    threads = [threading.Thread(target=read, args=(name,)) for name in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [answer.status for answer in found] == [200] * 8
    assert sorted(len(answer.json["text"]) for answer in found)[-1] > 700_000
    content = server.get("/v1/vector_stores/kb/files/large.md/content")
    assert len(content.json["data"][0]["text"]) > 700_000
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "read", "arguments": {"id": "large.md#0"}},
    }  # fmt: skip
    for doc_id in ("large.md", "large.md#0", "absent", 7):
        message["params"]["arguments"]["id"] = doc_id
        answer = server.post("/mcp", message)
        assert answer.status == 200
        assert ("isError" in answer.json.get("result", {"isError": 1})) is True


def test_a_reader_that_reads_slowly_holds_its_memory_until_it_leaves(serving, large):
    server = serving(large, read_memory=len(TEXT) * 4, answer_seconds=1.0)
    host, _, port = server.address.rpartition(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(
            b"GET /v1/collections/kb/documents/large.md HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        slow.recv(1)
        time.sleep(0.2)
        assert server.search({"query": "keys"}).status == 200
    until_free = time.monotonic() + 30
    while server.get("/v1/collections/kb/documents/large.md").status != 200:
        assert time.monotonic() < until_free
