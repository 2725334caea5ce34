"""Vacuum beside a sync that brings a document back, in two processes: the newest generation must stay readable.

    vacuum_races.py disk --rounds 200 --leftovers 20000
    vacuum_races.py s3 --rounds 20 --leftovers 2000 --delay 0.01      (needs moto[server], boto3, obstore)

Prints the number of rounds that lost an object.
"""

import argparse
import contextlib
import glob
import hashlib
import logging
import multiprocessing
import os
import pathlib
import random
import sys
import tempfile
import time

import ragfile
from ragfile import dataset

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from servers import buckets

LONG_AGO = 9 * 86400.0


class Disk:
    """A dataset in a folder; every object is made nine days old."""

    days = 7.0

    def __init__(self, folder):
        self.url = str(folder / "kb")

    def leave(self, count):
        """Write leftovers."""
        shards = os.path.join(self.url, "shards")
        first = os.path.join(shards, leftover(0))
        with open(first, "xb"):
            pass
        for number in range(1, count):  # links have one time together
            os.link(first, os.path.join(shards, leftover(number)))
        then = time.time() - LONG_AGO
        for path in glob.glob(f"{self.url}/[ms]*/*[0-9a-f].[jr]*"):
            if path == first or os.stat(path).st_nlink == 1:
                os.utime(path, (then, then))


class S3:
    """A dataset on an S3 server, where age cannot be set: every object counts as old."""

    days = 0.0

    def __init__(self, client, number):
        self.client, self.bucket = client, f"races-{number}"
        client.create_bucket(Bucket=self.bucket)
        self.url = f"s3://{self.bucket}/kb/"

    def leave(self, count):
        """Write leftovers."""
        for number in range(count):
            self.client.put_object(
                Bucket=self.bucket, Key=f"kb/shards/{leftover(number)}", Body=b""
            )


def leftover(number):
    """Return the name of a shard that no manifest lists."""
    return hashlib.sha256(str(number).encode()).hexdigest() + ".ragfile"


def sweep(url, days, delay, ready):
    """Remove all generations but the newest."""
    from ragfile.shards import stores

    store = type(stores.place(url))
    delete = store.delete

    def slowly(self, name):
        time.sleep(delay)
        delete(self, name)

    if delay:
        store.delete = slowly
    ready.wait()
    dataset.vacuum(url, days=days, keep=1, dry_run=False)


def write(path, text):
    """Write a source with a time that never changes."""
    path.write_text(text)
    os.utime(path, (1_700_000_000, 1_700_000_000))


def lost_in(place, folder, leftovers, delay, rng):
    """Play one round; return the faults of the newest generation."""
    sources = folder / "sources"
    sources.mkdir()
    for number in range(6):
        write(sources / f"d{number}.md", f"# Title {number}\n\nA pod on node {number}.\n")
    dataset.build(sources, place.url, shards=3)
    text = (sources / "d3.md").read_text()
    (sources / "d3.md").unlink()
    dataset.sync(place.url, sources)
    place.leave(leftovers)
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(2)
    sweeper = context.Process(target=sweep, args=(place.url, place.days, delay, ready))
    sweeper.start()
    write(sources / "d3.md", text)
    ready.wait()
    time.sleep(rng.uniform(0, 0.3 + leftovers * delay))
    dataset.sync(place.url, sources)
    sweeper.join()
    assert sweeper.exitcode == 0
    return faults_of(place.url)


def faults_of(url):
    """Return what is wrong with the newest generation."""
    faults = [str(fault) for fault in ragfile.verify(url)[0]]
    try:
        with ragfile.open(url) as rf:
            if not any(hit.doc_id == "d3.md" for hit in rf.search("node 3", mode="bm25")):
                faults.append("d3.md is not found")
    except (OSError, ValueError) as error:
        faults.append(str(error))
    return faults


def races(kind, rounds, leftovers, delay, seed):
    """Play rounds; return the number of those with a fault."""
    rng, lost = random.Random(seed), 0
    with places(kind) as make:
        for number in range(rounds):
            with tempfile.TemporaryDirectory(prefix="ragfile-races-") as name:
                folder = pathlib.Path(name)
                faults = lost_in(make(folder, number), folder, leftovers, delay, rng)
            lost += bool(faults)
            for fault in faults[:1]:
                print(f"round {number}: {fault}", flush=True)
    return lost


@contextlib.contextmanager
def places(kind):
    """Yield a function from (folder, round) to a place."""
    if kind == "disk":
        yield lambda folder, _: Disk(folder)
        return
    import boto3

    with buckets.served() as endpoint:
        os.environ.update({"AWS_ENDPOINT_URL": endpoint, **buckets.ENVIRONMENT})
        client = boto3.client("s3", endpoint_url=endpoint)
        yield lambda _, number: S3(client, number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["disk", "s3"])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--leftovers", type=int, default=200)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logging.disable()
    began = time.monotonic()
    lost = races(given.kind, given.rounds, given.leftovers, given.delay, given.seed)
    seconds = time.monotonic() - began
    print(
        f"{given.kind}: {given.rounds} rounds, {given.leftovers} leftovers: {lost} lost, {seconds:.0f} s"
    )
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
