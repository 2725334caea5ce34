"""A reader of datasets (part 10): slow, plain, whole, written from the page alone. It needs `reader.py` beside it and Python.

`read(folder, generation=None)` gives a dict of one generation, or raises `reader.Refused`:

    generation, message, config   as the manifest says
    documents                     of all shards, in the order of the manifest
    rows                          (document id, chunk index) of each live row
    frequencies                   {term: number of rows}, None in a dataset without BM25
    totals                        (rows, summed length)
    sample                        (document id, chunk index) of the sample's rows

`python spec/dataset_reader.py FOLDER [GENERATION]` prints it as JSON; the exit code is 0 or 2.
"""

import hashlib
import json
import os
import re
import sys

import reader
from reader import Refused, align, need, number

LAST, BLOCK = 2**64 - 1, 4096


def names(folder):
    """The manifests of a folder, the newest first."""
    found = sorted(os.listdir(os.path.join(folder, "manifests")))
    return [name for name in found if re.fullmatch(r"\d{20}\.json", name)]


def content(folder, stored, kind):
    """The bytes of an object that a manifest names."""
    name = f"{kind}/{stored['sha256']}.ragfile"
    need(stored["path"] == name, 0, "10", f"{stored['path']} is not named by its content")
    with open(os.path.join(folder, name), "rb") as file:
        data = file.read()
    need(len(data) == stored["bytes"], 0, "10.1", f"{name} has another size", "corrupt")
    digest = hashlib.sha256(data).hexdigest()
    need(digest == stored["sha256"], 0, "10", f"{name} has another content", "corrupt")
    return data


def manifest(folder, generation):
    listed = names(folder)
    need(listed, 0, "10", "no manifest")
    name = listed[0] if generation is None else f"{LAST - generation:020}.json"
    with open(os.path.join(folder, "manifests", name), "rb") as file:
        raw = file.read()
    said = json.loads(raw)
    need(said["format"] == "ragfile-dataset", 0, "10.1", "not a dataset")
    need(said["version"][0] == 1, 0, "10.1", "a newer dataset", "version")
    need(said["reader_flags"] == [], 0, "10.1", "flags that are not known", "version")
    need(said["generation"] == LAST - int(name[:20]), 0, "10.1", "the name says another generation")
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":")).encode("ascii")
    need(raw == canonical, 0, "10.1", "not canonical JSON")
    previous(folder, said["previous"])
    return said


def previous(folder, said):
    """The manifest before, where it is still there, is the one that this one follows."""
    path = os.path.join(folder, said["name"]) if said else ""
    if said and os.path.exists(path):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        need(digest == said["sha256"], 0, "10.1", "follows another manifest", "corrupt")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def frequencies(part):
    """({term: rows}, rows, summed length) of rag.frequencies."""
    need(part[:8] == b"RAGFREQ1", 0, "10.2", "not frequencies")
    terms, rows, length = (number(part, at) for at in (8, 16, 24))
    blocks, config = number(part, 48), number(part, 56, 4)
    keys_at = align(64 + config, 8)
    at, found = align(keys_at + 8 * blocks, BLOCK), {}
    need(at + blocks * BLOCK == len(part), 0, "10.2", "the parts do not fill the section")
    for block in range(blocks):
        one = block_terms(part[at + block * BLOCK : at + (block + 1) * BLOCK], rows)
        key = int.from_bytes(one[0][0][:8].ljust(8, b"\0"), "big")
        need(number(part, keys_at + 8 * block) == key, keys_at, "10.2", "another key")
        found.update(one)
    need(list(found) == sorted(found), at, "10.2", "terms are not in order")
    need(len(found) == terms, 8, "10.2", "another number of terms")
    return {term.decode(): count for term, count in found.items()}, rows, length


def block_terms(block, rows):
    """[(term, rows)] of one block."""
    at, last, found = 0, b"", []
    while at + 2 <= BLOCK and block[at + 1]:
        shared, further = block[at], block[at + 1]
        last = last[:shared] + block[at + 2 : at + 2 + further]
        count, at = varint(block, at + 2 + further)
        need(0 < count <= rows, at, "10.2", "more rows than there are")
        found.append((last, count))
    need(not any(block[at:]), at, "10.2", "the rest of a block is not zero")
    return found


def documents_of(found):
    """The live documents of a file that was read."""
    listed = [d for segment in found["segments"] for d in segment.get("documents", [])]
    return [document for document in listed if not document["deleted"]]


def rows_of(documents):
    """(document id, chunk index) of the rows of some documents."""
    return [
        (document["id"], chunk["index"]) for document in documents for chunk in document["chunks"]
    ]


def read(folder, generation=None):
    said = manifest(folder, generation)
    documents = []
    for shard in said["shards"]:
        found = documents_of(reader.read(content(folder, shard, "shards")))
        ids = sorted(document["id"] for document in found)
        need((shard["first"], shard["last"]) == (ids[0], ids[-1]), 0, "10.1", "other ids")
        need(shard["live"] == len(rows_of(found)), 0, "10.1", "another number of rows")
        documents += found
    rows = rows_of(documents)
    need(len(set(rows)) == len(rows), 0, "10.1", "a row is in two shards")
    totals = said["statistics"]["rows"], said["statistics"]["total_length"]
    need(totals[0] == len(rows), 0, "10.1", "the rows do not add up")
    stored = said["statistics"]["file"]
    return {
        "generation": said["generation"], "message": said["message"], "config": said["config"],
        "documents": documents, "rows": rows, "totals": totals,
        **({"sample": [], "frequencies": None} if stored is None else statistics(folder, stored, totals)),
    }  # fmt: skip


def statistics(folder, stored, totals):
    """What the statistics file holds, which must be about the manifest's rows."""
    data = content(folder, stored, "statistics")
    found = reader.read(data)
    sample = rows_of(documents_of(found))
    places = [s for s in found["sections"] if s["name"] == "rag.frequencies"]
    if not places:
        return {"sample": sample, "frequencies": None}
    at = places[0]["at"]
    terms, rows, length = frequencies(data[at : at + places[0]["size"]])
    need((rows, length) == totals, 16, "10.2", "the sums are not those of the manifest")
    return {"sample": sample, "frequencies": terms}


def main(arguments):
    try:
        found = read(arguments[0], int(arguments[1]) if len(arguments) > 1 else None)
    except Refused as refused:
        print(json.dumps({"refused": str(refused)}))
        return 2
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
