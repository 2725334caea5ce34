"""Other processes and engines carry the same tasks: the same bits, whoever dies meanwhile. `make -C tests engines` installs the engines."""

import os
import signal
import threading
import time

import pytest
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.shards import task_runner
from ragfile.shards.executors import executor_of
from ragfile.shards.executors.processes import Processes
from ragfile.write.builder import PAGES

QUESTIONS, told = collections.QUESTIONS, collections.told
OPTIONS = [
    {}, {"fusion": "rrf"}, {"fusion": "blend"}, {"mode": "bm25"}, {"mode": "vector"},
    {"where": {"year": {"$gte": 2010}}}, {"drop_repeats": True},
]  # fmt: skip


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return collections.write(tmp_path_factory.mktemp("sources"), 36)


@pytest.fixture(scope="module")
def kb(sources, tmp_path_factory):
    out = tmp_path_factory.mktemp("kb")
    dataset.build(sources, out, shards=7, by="hash")
    return out


def same(rf, one):
    for options in OPTIONS:
        mine = rf.search_batch(QUESTIONS, 6, **options)
        theirs = one.search_batch(QUESTIONS, 6, **options)
        assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]
        assert told(rf.search(QUESTIONS[0], 4, **options)) == told(
            one.search(QUESTIONS[0], 4, **options)
        )


def content(folder):
    """All objects. What a worker was writing when it was killed has a name that begins with a dot, and nobody reads it."""
    found = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


def test_a_pool_of_processes_gives_the_bits_of_one_file(kb, one):
    with ragfile.open(kb, executor="process", workers=2) as rf:
        same(rf, one)


def kill_now(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_loses_no_answer(kb, one):
    pool = Processes(2)
    with ragfile.open(kb, executor=pool) as rf:
        rf.search("pod")
        (victim, *_) = [p.pid for p in pool.pool._processes.values()]
        os.kill(victim, signal.SIGKILL)
        same(rf, one)


def test_a_pool_that_is_known_to_be_broken_is_made_anew(kb, one):
    pool = Processes(2)
    with ragfile.open(kb, executor=pool) as rf:
        rf.search("pod")
        (victim, *_) = [p.pid for p in pool.pool._processes.values()]
        os.kill(victim, signal.SIGKILL)
        while not pool.pool._broken:  # Python has noticed before anybody asks
            time.sleep(0.01)
        same(rf, one)


def test_a_task_that_always_kills_its_worker_ends_as_an_error():
    pool = Processes(1)
    with pytest.raises(Exception, match=r"(?i)process pool"):
        list(pool.map(kill_now, [0]))
    pool.close()


def test_an_executor_of_ones_own_is_taken(kb, one):
    class Mine:
        asked = 0

        def run(self, tasks):
            self.asked += len(tasks)
            return [task_runner.attempt(task) for task in tasks]

        def close(self):
            pass

    mine = Mine()
    with ragfile.open(kb, executor=mine) as rf:
        same(rf, one)
    assert mine.asked > 7
    assert executor_of(mine) is mine


# ------------------------------------------------------------------------------------------ Ray


@pytest.fixture(scope="module")
def ray():
    """Ray on this machine, with three simulated nodes: once for all tests, for it takes seconds and a gigabyte."""
    pytest.importorskip("ray", reason="ray is not installed: `make -C tests engines`")
    import ray as module
    from ray.cluster_utils import Cluster

    from ragfile.shards.executors.ray_cluster import environment

    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "object_store_memory": 100 << 20,
            "include_dashboard": False,
        },
    )
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=100 << 20) for _ in range(2)]
    module.init(
        address=cluster.address, runtime_env={"env_vars": environment()}, logging_level="error"
    )
    module.cluster_of_tests, module.nodes_of_tests = cluster, nodes
    yield module
    module.shutdown()
    cluster.shutdown()


def test_ray_gives_the_bits_of_one_file(ray, kb, one):
    with ragfile.open(kb, executor="ray", workers=2) as rf:
        same(rf, one)


def test_ray_builds_the_bytes_that_one_process_builds(ray, sources, tmp_path):
    dataset.build(sources, tmp_path / "a", shards=4)
    dataset.build(sources, tmp_path / "b", shards=4, executor="ray", workers=2)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    (sources / "a/late.md").write_text("a late pod")
    dataset.sync(tmp_path / "a", sources, created=0)
    dataset.sync(tmp_path / "b", sources, created=0, executor="ray", workers=2)
    (sources / "a/late.md").unlink()
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_an_actor_that_is_killed_loses_no_answer(ray, kb, one):
    with ragfile.open(kb, executor="ray", workers=2) as rf:
        rf.search("pod")
        pid = ray.get(rf.rows._executor.actors[0].process.remote())
        os.kill(pid, signal.SIGKILL)
        same(rf, one)
        assert rf.rows._executor.healthy() == 2


def test_an_actor_that_dies_while_it_writes_loses_nothing(ray, sources, tmp_path):
    from ragfile.shards.executors.ray_cluster import OnRay

    dataset.build(sources, tmp_path / "a", shards=6)
    engine = OnRay(2)
    pids = ray.get([actor.process.remote() for actor in engine.actors])
    killer = threading.Timer(0.5, lambda: os.kill(pids[0], signal.SIGKILL))
    killer.start()
    dataset.build(sources, tmp_path / "b", shards=6, executor=engine)
    killer.join()
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_an_actor_that_says_nothing_is_hedged(ray, kb, one):
    """It is stopped, not dead: only time tells. Whoever has the shard as well answers."""
    from ragfile.shards.executors.ray_cluster import OnRay

    engine = OnRay(2, hedge=1, replicas=2)
    with ragfile.open(kb, executor=engine) as rf:
        rf.search("pod")
        pid = ray.get(engine.actors[0].process.remote())
        os.kill(pid, signal.SIGSTOP)
        try:
            wanted = told(one.search("pod drain"))
            assert told(rf.search("pod drain")) == wanted
            assert engine.healthy(timeout=1) == 1
        finally:
            os.kill(pid, signal.SIGCONT)
        same(rf, one)
        assert engine.healthy() == 2


def test_a_shard_is_asked_of_the_least_busy_of_its_actors(ray):
    from ragfile.shards.executors.ray_cluster import OnRay

    engine = OnRay(4, replicas=2)
    assert [engine._chosen(4, place, 0) for place in range(5)] == [0, 1, 2, 3, 0]
    engine._busy[1] += 3
    assert [engine._chosen(4, place, 0) for place in range(4)] == [0, 2, 2, 3]
    assert engine._chosen(4, 0, 1) == 1
    engine._avoid(2)
    assert engine._chosen(4, 1, 0) == 3
    with pytest.raises(ValueError, match="at least one actor"):
        OnRay(2, replicas=0)


def test_questions_in_batches_flow_through_ray(ray, kb, one):
    found = dataset.map_batches(kb, QUESTIONS * 3, k=4, batch=5, workers=2)
    assert [[(hit["id"], hit["score"]) for hit in hits] for hits in found] == [
        [(hit.id, hit.score) for hit in hits] for hits in one.search_batch(QUESTIONS * 3, 4)
    ]


def test_ids_and_scores_flow_without_texts(ray, kb, one):
    questions = ray.data.from_items([{"question": text} for text in QUESTIONS])
    rows = dataset.ask(questions, kb, k=4, texts=False).take_all()
    wanted = dict(zip(QUESTIONS, one.search_batch(QUESTIONS, 4), strict=True))
    assert len(rows) == len(QUESTIONS)
    for row in rows:
        hits = wanted[row["question"]]
        assert list(row["ids"]) == [hit.id for hit in hits]
        assert list(row["scores"]) == [hit.score for hit in hits]


def test_chunks_and_vectors_are_a_source_and_a_sink_of_ray_data(ray, kb, one, tmp_path):
    rows = dataset.read_ragfile(kb).take_all()
    assert sorted(row["node_id"] for row in rows) == sorted(
        one.hit(row).id for row in range(len(one))
    )
    assert len(rows[0]["embedding"]) == one.rows.dim
    again = dataset.read_ragfile(kb)
    dataset.write_ragfile(again, tmp_path / "sunk", shards=3, analysis=PAGES)
    with ragfile.open(tmp_path / "sunk") as rf:
        assert len(rf) == len(one)
        for question in QUESTIONS:
            for mode in ("bm25", "hybrid"):
                mine, theirs = rf.search(question, mode=mode), one.search(question, mode=mode)
                assert mine.degraded == theirs.degraded == ""
                assert [(hit.id, hit.score) for hit in mine] == [(h.id, h.score) for h in theirs]


def test_a_node_that_is_removed_loses_no_answer(ray, kb, one):
    """The last test on Ray: the cluster is one node smaller afterwards."""
    from ragfile.shards.executors.ray_cluster import OnRay

    with ragfile.open(kb, executor=OnRay(3, hedge=2)) as rf:
        rf.search("pod")
        ray.cluster_of_tests.remove_node(ray.nodes_of_tests[0])
        same(rf, one)


# ----------------------------------------------------------------------------------------- Dask


@pytest.fixture(scope="module")
def dask():
    pytest.importorskip("distributed", reason="dask is not installed: `make -C tests engines`")
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_dask_gives_the_bits_of_one_file(dask, kb, one):
    with ragfile.open(kb, executor="dask") as rf:
        same(rf, one)


def test_dask_builds_the_bytes_that_one_process_builds(dask, sources, tmp_path):
    dataset.build(sources, tmp_path / "a", shards=3)
    dataset.build(sources, tmp_path / "b", shards=3, executor="dask")
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_a_dask_worker_that_is_killed_loses_no_answer(dask, kb, one):
    with ragfile.open(kb, executor="dask") as rf:
        rf.search("pod")
        pid = next(iter(dask.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        same(rf, one)
