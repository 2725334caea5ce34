"""A reader of datasets (part 10): slow, plain, whole, written from the page alone. It needs `reader.py` beside it and Python.

`read(folder, generation=None)` gives a dict of one generation, or raises `reader.Refused`:

    generation, message, config   as the manifest says
    documents                     of all shards, in the order of the manifest
    rows                          (document id, chunk index) of each live row
    frequencies                   {term: number of rows}, None in a dataset without BM25
    totals                        (rows, summed length)
    sample                        (document id, chunk index) of the sample's rows

`judge(folder, key, generation=None)` says whether a public key (32 bytes) signed a generation: `holds`, `stale` (the
manifest is another), `altered` (an object or a seal is another), or `not signed by this key`.

`python spec/dataset_reader.py FOLDER [GENERATION]` prints it as JSON; the exit code is 0 or 2.
"""

import base64
import hashlib
import json
import os
import re
import sys

import reader
import signatures
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


def judge(folder, key, generation=None):
    listed = names(folder)
    name = listed[0] if generation is None else f"{LAST - generation:020}.json"
    with open(os.path.join(folder, "manifests", name), "rb") as file:
        raw = file.read()
    stated = statement(folder, name.removesuffix(".json"), key)
    if stated is None:
        return {"verdict": "not signed by this key", "said": None}
    predicate, said = stated["predicate"], stated["predicate"].get("signer", "")
    if stated["subject"][0]["digest"]["sha256"] != hashlib.sha256(raw).hexdigest():
        return {"verdict": "stale", "said": said}
    found = json.loads(raw)
    objects = [(s, "shards") for s in found["shards"]]
    objects += [(found["statistics"]["file"], "statistics")] if found["statistics"]["file"] else []
    true = all(is_signed(folder, *one, predicate["contents"]) for one in objects)
    return {"verdict": "holds" if true else "altered", "said": said}


def statement(folder, digits, key):
    """What a key stated of a generation; None where it did not."""
    path = os.path.join(folder, "signatures", digits, hashlib.sha256(key).hexdigest() + ".json")
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        envelope = json.loads(file.read())
    (only,) = envelope["signatures"]
    payload, signature = (base64.b64decode(x) for x in (envelope["payload"], only["sig"]))
    if not signatures.accepts(key, signature, signatures.encoded(payload)):
        return None
    stated = json.loads(payload)
    named = envelope["payloadType"], stated["_type"], stated["predicateType"]
    ours = signatures.TYPE, "https://in-toto.io/Statement/v1", "urn:ragfile:dataset-signature:1"
    return stated if named == ours and len(stated["subject"]) == 1 else None


def is_signed(folder, stored, kind, contents):
    """Whether an object and its seal are what was signed."""
    data = content(folder, stored, kind)
    _, segments, sections = reader.table(data, reader.newest(data, reader.front_page(data))[0])
    listed = [s for s in sections if s["name"] not in signatures.OWN]
    listed.sort(key=lambda s: (s["name"], s["segment"]))
    leaves = [signatures.leaves_of(reader.contents(data, s)) for s in listed]
    rows = [[s[n] for n in ("name", "segment", "flags", "items", "size")] for s in listed]
    parts = [(s["number"], s["rows"], s["live"]) for s in segments]
    text = signatures.content_list([(*r, x) for r, x in zip(rows, leaves, strict=True)], parts)
    with open(os.path.join(folder, "seals", f"{stored['sha256']}.seal"), "rb") as file:
        seal = file.read()
    digest = hashlib.sha256(text.encode()).hexdigest()
    return seal == b"".join(leaves) and contents.get(stored["path"]) == digest


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
