"""A cache of the values used last, which threads change without a lock."""

import random
import threading

from ragfile.ground.lru import Lru


def test_the_value_used_least_recently_leaves_first():
    cache = Lru(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
    cache.drop("a")
    cache.drop("nothing")
    assert (len(cache), cache.get("a")) == (1, None)
    cache.clear()
    assert len(cache) == 0


def test_threads_that_change_it_together_leave_it_whole():
    cache, failures = Lru(8), []

    def work(seed):
        rolls = random.Random(seed)
        try:
            for _ in range(20_000):
                key = rolls.randrange(20)
                rolls.choice((cache.get, cache.drop, lambda k: cache.put(k, k)))(key)
                if rolls.random() < 0.001:
                    cache.clear()
                assert cache.get(key) in (None, key)
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    threads = [threading.Thread(target=work, args=[n]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(cache) <= 8
