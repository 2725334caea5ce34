"""A reader of datasets (part 10), slow and plain, written from the specification alone.

`read(folder, generation=None)` returns a dict of one generation, or raises `reader.Refused`:

    generation, message, config   from the manifest
    documents                     of all shards, in the order of the manifest
    rows                          (document id, chunk index) of each live row
    frequencies                   {term: number of rows}, None in a dataset without BM25
    totals                        (rows, summed length)
    sample                        (document id, chunk index) of the sample's rows

`judge(folder, key, generation=None)` checks whether a public key (32 bytes) signed a generation.
The verdict is `holds`, `stale` (the manifest differs), `altered` (an object or a seal differs), or
`not signed by this key`.

`python spec/dataset_reader.py FOLDER [GENERATION]` prints the dict as JSON, with exit code 0 or 2.
It needs Python and `reader.py` beside it.
"""

import base64
import hashlib
import json
import os
import re
import sys

import reader
import signatures
from reader import Refused, need

LAST = 2**64 - 1


def names(folder):
    """List the manifests of a folder, newest first."""
    found = sorted(os.listdir(os.path.join(folder, "manifests")))
    return [name for name in found if re.fullmatch(r"\d{20}\.json", name)]


def named(stored, kind, generation):
    """Return the path of an object, which ends in the generation that added it unless that is the first."""
    found = re.fullmatch(
        rf"{kind}/{stored['sha256']}(-([1-9][0-9]{{0,19}}))?\.ragfile", stored["path"]
    )
    need(found, 0, "10", f"{stored['path']} is not named by its content")
    added = int(found[2] or 1)
    need(
        (added > 1) == bool(found[1]) and added <= generation,
        0,
        "10",
        f"{stored['path']} is of no generation so far",
    )
    return stored["path"]


def content(folder, stored, kind, generation):
    """Return the bytes of an object that a manifest names."""
    name = named(stored, kind, generation)
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
    """Check that the previous manifest, if it still exists, is the one that this one follows."""
    path = os.path.join(folder, said["name"]) if said else ""
    if said and os.path.exists(path):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        need(digest == said["sha256"], 0, "10.1", "follows another manifest", "corrupt")


def documents_of(found):
    """Return the live documents of a file that was read."""
    listed = [d for segment in found["segments"] for d in segment.get("documents", [])]
    return [document for document in listed if not document["deleted"]]


def rows_of(documents):
    """Return (document id, chunk index) of the rows of some documents."""
    return [
        (document["id"], chunk["index"]) for document in documents for chunk in document["chunks"]
    ]


def read(folder, generation=None):
    said = manifest(folder, generation)
    documents = []
    for shard in said["shards"]:
        found = documents_of(reader.read(content(folder, shard, "shards", said["generation"])))
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
        **({"sample": [], "frequencies": None} if stored is None else statistics(folder, stored, said["generation"], totals)),
    }  # fmt: skip


def statistics(folder, stored, generation, totals):
    """Read the statistics file, which must agree with the manifest's rows."""
    data = content(folder, stored, "statistics", generation)
    found = reader.read(data)
    sample = rows_of(documents_of(found))
    held = found.get("frequencies")
    if held is None:
        return {"sample": sample, "frequencies": None}
    same = (held["rows"], held["total_length"]) == totals
    need(same, 16, "10.2", "the sums are not those of the manifest")
    return {"sample": sample, "frequencies": held["terms"]}


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
    true = all(
        is_signed(folder, *one, found["generation"], predicate["contents"]) for one in objects
    )
    return {"verdict": "holds" if true else "altered", "said": said}


def statement(folder, digits, key):
    """Return the statement of a key about a generation, or None."""
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


def is_signed(folder, stored, kind, generation, contents):
    """Return whether an object and its seal match the signed digest."""
    data = content(folder, stored, kind, generation)
    _, segments, sections = reader.table(data, reader.newest(data, reader.front_page(data))[0])
    listed = [s for s in sections if s["name"] not in signatures.OWN]
    listed.sort(key=lambda s: (s["name"], s["segment"]))
    leaves = [signatures.leaves_of(reader.contents(data, s)) for s in listed]
    rows = [[s[n] for n in ("name", "segment", "flags", "items", "size")] for s in listed]
    parts = [(s["number"], s["rows"], s["live"]) for s in segments]
    text = signatures.content_list([(*r, x) for r, x in zip(rows, leaves, strict=True)], parts)
    with open(
        os.path.join(
            folder, "seals", os.path.basename(stored["path"]).removesuffix(".ragfile") + ".seal"
        ),
        "rb",
    ) as file:
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
