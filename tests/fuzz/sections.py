"""Files whose every checksum holds and whose sections lie: mutated, sealed again, and put through all that a user may call.

    python tests/fuzz/sections.py COUNT [FIRST_SEED]

Each seed makes one file, the same on every machine. Whatever the sections say, a call ends in an answer or in one of
ragfile's own errors; anything else is printed with its seed. A call that does not end, or a crash, leaves the seed in the
last line printed to standard error.
"""

import contextlib
import faulthandler
import functools
import json
import os
import random
import resource
import struct
import sys
import tempfile
import traceback
import warnings
from unittest import mock

import numpy as np
import zstandard
from oracles.handmade import Entry, Image, Table
from oracles.streams import blocks_of, stream_of
from sanitizers import SANITIZED

import ragfile
from ragfile import Analysis, _core
from ragfile.errors import LockedError, RagfileError
from ragfile.file import sample_rows, stored_columns
from ragfile.file.arrow import ArrowFields
from ragfile.opener import verify

DIM, LIMIT_SECONDS, LIMIT_MEMORY = 8, 60, 1 << 30
CUT = "characters:60/10"
QUERY = np.linspace(-1, 1, DIM, dtype=np.float32)


# ------------------------------------------------------------------------------------------------------------ good files


def _document(i):
    text = (
        f"Document {i} tells of pods, köln and {'mist ' * (i % 7)}v0.{i}.0.\n\nA second part of it {i * 7}. "
        + "x y z " * 8
    )
    return {
        "id": f"d{i:03d}", "text": text, "source": f"/s/{i}", "tags": ["even", "all"] if i % 2 == 0 else ["all"],
        "metadata": {"year": 2000 + i, "keywords": ["pod", f"k{i}"], "checksum": f"c{i}", "deep": {"a": [1, None]}},
    }  # fmt: skip


class Hashed:
    """An embedder of a line: letters counted."""

    from ragfile.embedding.protocol import Model

    model = Model("hashed", DIM)

    def embed(self, texts, role="document"):
        rows = [[sum(map(ord, text[i::DIM])) % 97 - 48 for i in range(DIM)] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), DIM)


@functools.cache
@mock.patch.multiple(sample_rows, TAKEN=6, KEPT=8, WORTH=4)
@mock.patch.object(stored_columns, "WORTH", 0)
def good_files():
    """(sections of a plain file, and of one with a history): [(name, segment, flags, items, bytes, offset)], segments."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kb")
        made = []
        for options in (
            {"portable": True},
            {"precision": 16, "metric": "ip"},
            {"embedder": None, "chunking": "words:12/2"},
        ):
            chosen = {"embedder": Hashed(), "chunking": CUT, "created": 1, **options}
            # Seeds are known by what they do to the bytes of these files.
            with ragfile.create(path, analysis=Analysis(), **chosen) as w:
                w.add_documents([_document(i) for i in range(12)])
                w.add(
                    [
                        {
                            "doc_id": "loose",
                            "chunk_index": 2**32 - 2,
                            "content": "a loose chunk",
                            "tags": ["t"],
                            "metadata": {"z": 1},
                        }
                    ]
                )
                w.add_documents([{"id": "empty", "text": ""}])
            made.append(_taken_apart(path))
            embedder = options.get("embedder", Hashed())
            with ragfile.edit(path, embedder=embedder, chunking="characters:80/10", created=2) as w:
                w.add_documents([_document(i) for i in range(20, 26)])
                w.delete(["d003", "empty"])
                w.add_section("own", b"bytes of my own")
            made.append(_taken_apart(path))
        return made


def _taken_apart(path):
    reader = _core.Reader(_core.Map(path))
    parts = [
        (
            e["name"],
            e["segment"],
            e["flags"],
            e["items"],
            bytes(reader.section(e["name"], e["segment"])),
            e["at"],
        )
        for e in reader.entries
    ]
    return parts, reader.segments


def sealed(parts, segments):
    """The bytes of a file of these sections, in one commit, every checksum right."""
    image, table = Image(), Table(segments=[(n, rows, live, 1) for n, rows, live, _ in segments])
    table.next_segment = max((s[0] for s in segments), default=0) + 1
    for name, segment, flags, items, data, before in parts:
        at, size, digest = image.put(_moved(name, data, len(image.data) - before))
        table.entries.append(Entry(name, at, size, digest, segment, flags, items))
    return image.seal(table).bytes()


def _moved(name, data, by):
    """Sections of pairs know their offsets: they are moved as far as the section was."""
    first = {"vector": 1, "keyword": 0}.get(name)
    if first is None or len(data) < first + 16:
        return data
    offsets = struct.unpack_from("<QQ", data, first)
    return (
        data[:first] + struct.pack("<QQ", *((o + by) % 2**64 for o in offsets)) + data[first + 16 :]
    )


# -------------------------------------------------------------------------------------------------------------- mutations

NUMBERS = [0, 1, 2, 7, 8, 63, 64, 255, 2**15, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63,
           2**64 - 1, 2**64 - 8, 2**64 - 64]  # fmt: skip
ODD_JSON = [
    None, True, False, 0, -1, 1.5, float("nan"), float("inf"), -float("inf"), 10**30, 10**400, "", "x", "\ud800", "\0", "cosine", "ip", [],
    {}, [[]], [1], ["a", "a"], [None], {"": ""}, {"a": {"b": 1}}, "l2", 2**63, 2**64, "none", "default", "st:x", {"kind": "chars"}, -0.0,
]  # fmt: skip


def _nest(depth, kind):
    return "[" * depth + "]" * depth if kind else '{"a":' * depth + "1" + "}" * depth


def _odd_value(rng):
    """JSON text that is rarely what is expected."""
    if rng.random() < 0.1:
        return _nest(rng.choice([40, 300, 900, 990, 5000, 100_000]), rng.random() < 0.5)
    if rng.random() < 0.03:
        return "9" * 5000
    return json.dumps(rng.choice(ODD_JSON))


def _json_changed(text, rng):
    """A JSON text with one of its values replaced, taken out, or doubled."""
    mark = f"@{rng.random()}"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _odd_value(rng)
    places = list(_places(value, []))
    if not places or rng.random() < 0.1:
        return _odd_value(rng)
    path = rng.choice(places)
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    if rng.random() < 0.2:
        del holder[path[-1]]
        return json.dumps(value)
    holder[path[-1]] = mark
    return json.dumps(value).replace(json.dumps(mark), _odd_value(rng))


def _places(value, path):
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield [*path, key]
            yield from _places(inner, [*path, key])


def _number(data, rng):
    width = rng.choice([1, 2, 4, 4, 8, 8, 8])
    if len(data) < width:
        return
    at = rng.randrange(len(data) - width + 1)
    at -= at % width
    old = int.from_bytes(data[at : at + width], "little")
    new = rng.choice(
        [*NUMBERS, old + 1, old - 1, old * 2, old + 64, len(data), len(data) - at, at]
    ) % (1 << 8 * width)
    data[at : at + width] = new.to_bytes(width, "little")


def _bytes_changed(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        kind, at, size = (
            rng.randrange(10),
            rng.randrange(len(data) + 1),
            rng.choice([1, 4, 8, 16, 32, 64]),
        )
        if kind <= 3:
            _number(data, rng)
        elif kind == 4 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 5:
            data[at : at + size] = rng.randbytes(len(data[at : at + size]))
        elif kind == 6:
            source = rng.randrange(len(data) + 1)
            data[at : at + size] = data[source : source + len(data[at : at + size])].ljust(
                len(data[at : at + size]), b"\xff"
            )
        elif kind == 7 and rng.random() < 0.4:
            del data[at : at + size]
        elif kind == 8 and rng.random() < 0.4:
            data[at:at] = rng.choice([bytes(size), rng.randbytes(size)])
        elif kind == 9 and rng.random() < 0.3:
            del data[at:]
        else:  # numbers stand at heads and tails
            window = data[:256] if rng.random() < 0.7 else data[-64:]
            here = 0 if window == data[:256] else len(data) - len(window)
            _number(window, rng)
            data[here : here + len(window)] = window
    return bytes(data)


def _unpacked(data):
    """The raw bytes of a stream and the size of its blocks."""
    blocks, block = blocks_of(data)
    if not 64 <= block <= 1 << 24:  # a mutation came before
        raise ValueError(block)
    raw = b"".join(zstandard.decompress(part) if is_frame else part for part, is_frame in blocks)
    return raw[: struct.unpack("<Q", data[-56:-48])[0]], block


def _packed(raw, block, rng):
    level = zstandard.ZstdCompressor(
        level=1, write_checksum=rng.random() < 0.5, write_content_size=rng.random() < 0.9
    )

    def pack(part):
        kind = rng.randrange(12)
        if kind == 0:
            return _bytes_changed(level.compress(part), rng)
        if kind == 1:
            return b"\x50\x2a\x4d\x18\4\0\0\0abcd" + level.compress(part)
        if kind == 2:
            return level.compress(part + b"longer")
        return level.compress(part)

    pieces = [raw[at : at + block] for at in range(0, len(raw), block)]
    made = [(pack(piece), piece) for piece in pieces]
    return stream_of(
        [(f, True) if len(f) < len(p) else (p, False) for f, p in made], len(raw), block
    )


def _stream_changed(name, data, rng):
    raw, block = _unpacked(data)
    if name == "rag.text" or not raw or rng.random() < 0.3:
        raw = _bytes_changed(raw, rng)
    else:  # one of the objects that lie one after the other, in as many bytes as it had
        text, decoder, at, spans = raw.decode(), json.JSONDecoder(), 0, []
        while at < len(text):
            _, end = decoder.raw_decode(text, at)
            spans.append((at, end))
            at = end
        at, end = rng.choice(spans)
        new, room = _json_changed(text[at:end], rng), len(text[at:end].encode())
        new = new.encode("utf-8", "surrogatepass")
        before = len(text[:at].encode())
        if len(new) <= room:
            raw = raw[:before] + new.ljust(room) + raw[before + room :]
        else:
            raw = raw[:before] + new + raw[before + room :]
    return _packed(raw, block if rng.random() < 0.8 else rng.choice([64, 1000, 4096, 1 << 24]), rng)


JSON_SECTIONS = ("rag.config", "rag.stale", "rag.origin")


def _changed(name, data, rng):
    if name in JSON_SECTIONS and rng.random() < 0.85:
        return _json_changed(data.decode("utf-8", "replace"), rng).encode("utf-8", "surrogatepass")
    if name in ("rag.text", "rag.meta") and rng.random() < 0.6:
        with contextlib.suppress(
            ValueError, OverflowError, MemoryError, struct.error, zstandard.ZstdError
        ):
            return _stream_changed(name, data, rng)
    if name == "rag.terms" and rng.random() < 0.2:  # the record of the analysis is text
        at = data.find(b"analyzer=")
        end = data.find(b"fields=", at)
        lines = bytearray(data)
        if 0 <= at < end:
            where = rng.randrange(at, end + 12)
            lines[where] = rng.choice(b"=:,\n0az\xff\0 ")
        return bytes(lines)
    return _bytes_changed(data, rng)


def hostile(seed):
    """The file of a seed."""
    rng = random.Random(seed)
    parts, segments = rng.choice(good_files())
    parts = list(parts)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        i = rng.randrange(len(parts))
        name, segment, flags, items, data, at = parts[i]
        kind = rng.random()
        if kind < 0.93:
            parts[i] = name, segment, flags, items, _changed(name, data, rng), at
        elif kind < 0.96:
            del parts[i]
        elif kind < 0.98:  # another segment's, or another section's bytes
            parts[i] = name, segment, flags, items, rng.choice(parts)[4], at
        else:
            number = rng.randrange(len(segments))
            n, rows, live, made = segments[number]
            segments = list(segments)
            segments[number] = n, rng.choice([rows + 1, max(rows - 1, 1), rows * 2, 1]), live, made
    return sealed(parts, segments)


# ---------------------------------------------------------------------------------------------------------------- calls

OWN = (
    "has no vectors", "has no section", "a JSON value in metadata", "NaN is not a JSON value", "Out of range float values are not JSON",
    "cannot hold a lone surrogate", "has NUL at character", "that is not finite as", "was added twice", "unknown chunk policy",
    "chunk overlap must be", "unknown fusion", "was written before by this same edit", "only the program that wrote it",
)  # fmt: skip
REWRITING = (
    "convert",
    "edit",
    "chunks",
    "reindex",
)  # with values of the caller, or for another format


def calls(path):
    """(name, function of nothing) of what a user may do with a file, reading first."""
    kb = ragfile.open(path, embedder=None)
    some = kb.live_rows()[:2000].tolist()
    yield "info", lambda: json.dumps(kb.info, default=str)
    yield (
        "attributes",
        lambda: (
            kb.file.config,
            kb.file.strategies,
            len(kb),
            kb.file.entries,
            kb.file.stale_records,
            kb.rows.dim,
            kb.file.compaction,
        ),
    )
    for row in some:
        yield "hit", lambda row=row: kb.row(kb.hit(row).id)
        yield "vector", lambda row=row: kb.vector(row)
    yield "documents", lambda: [kb.document(d.id) for d in kb.documents()]
    for document in ("d001", "loose", "empty", ""):
        yield "document", lambda document=document: (kb.document(document), kb.row(f"{document}#0"))
    yield "context", lambda: kb.row("d001#0") is not None and kb.context("d001#0")
    yield "sources", lambda: kb.sources(["d001#0", "d002#1", "nowhere#0"])
    for mode in ("hybrid", "vector", "bm25", "keyword"):
        yield mode, lambda mode=mode: kb.search("pod", 5, mode=mode)
        yield (
            mode,
            lambda mode=mode: kb.search(
                "köln v0.2.0 mist", 50, mode=mode, vector=QUERY, cache=False
            ),
        )
        yield (
            mode,
            lambda mode=mode: kb.search(
                "mist d001", 3, mode=mode, vector=QUERY, drop_repeats=True, tags_any=["even"]
            ),
        )
    for fusion in ("calibrated", "rrf", "blend"):
        yield fusion, lambda fusion=fusion: kb.search("pods", 5, vector=QUERY, fusion=fusion)
    for where in (
        {"year": {"$gt": 2003}},
        {"deep.a": {"$exists": True}},
        {"keywords": {"$contains": "pod"}},
        {"keywords": {"$any": ["pod", "k3"]}, "deep": {"$ne": 1}},
        {"$not": {"year": {"$in": [2001, 2002, 2003, 2004, "x"]}}},
        {"checksum": {"$contains": "c"}, "doc_id": {"$gte": "d"}},
    ):
        yield "filter", lambda where=where: kb.search("pods", 5, mode="bm25", where=where)
    yield "tags", lambda: kb.rows.mask(tags_any=["even"], tags_all=["all"])
    for k in (1, 7, 1000):
        yield "nearest", lambda k=k: kb.nearest(np.stack([QUERY, -QUERY]), k)
        yield "match", lambda k=k: kb.match(["pods mist", "part"], k)
    yield "nearest of some", lambda: kb.nearest(QUERY, 3, where=np.array(some[::3], dtype=np.int64))
    yield "score", lambda: (kb.score(list(some), text="pods"), kb.score(list(some), vector=QUERY))
    for options in (
        {"query_syntax": True}, {"group": 2}, {"diversity": 0.5}, {"rerank": "default"},
        {"effort": 0.5}, {"fields": {"text": 2}},
        {"boost": [{"field": "year", "weight": 1, "reference": 2010, "half_life": 3}]},
    ):  # fmt: skip
        yield "options", lambda options=options: kb.search('pods "mist mist" -v0', 5, vector=QUERY, cache=False, **options)  # fmt: skip
    yield "rewrites", lambda: kb.search("pods", 5, rewrites=["mist", "v0.2.0"], cache=False)
    yield "similar", lambda: some and kb.search("", 5, similar_to=some[0])
    yield "batch", lambda: kb.search_batch(["pods", "mist"], vectors=[QUERY, -QUERY], columns=True)
    yield "ask", lambda: kb.ask("What do pods tell of mist?")
    yield "explain", lambda: some and kb.explain("pods", some[0], vector=QUERY)
    yield (
        "excerpt",
        lambda: some and (kb.excerpt("pods", some[-1]), kb.highlights("pods", some[-1])),
    )
    yield "neighbours", lambda: [hit.context(before=1, after=1) for hit in kb.search("pods", 5, mode="bm25")]  # fmt: skip
    yield "arrow", lambda: _arrow(kb)
    yield "vectors", lambda: (kb.vectors(), kb.vector_mask(), kb.document_ids())
    yield "pairs", lambda: (list(kb.file.pairs("keyword")), kb.file.lookup("c0000000001"))
    yield "pairs", lambda: list(kb.file.pairs("vector"))
    yield "rows_in", lambda: kb.file.rows_in(0, 1 << 62)
    yield "verify", lambda: verify(path)
    yield "log", lambda: ragfile.log(path)
    yield "stale", lambda: ragfile.stale(path)
    yield "convert", lambda: ragfile.convert(path, path + ".ragmd")
    yield "convert", lambda: ragfile.convert(path, path + ".out.ragfile")
    yield "convert", lambda: ragfile.convert(path, (path + ".faiss", path + ".json"))
    yield "repair", lambda: ragfile.repair(path, dry_run=True)
    yield "edit", lambda: _edit(path)
    yield "chunks", lambda: _edit_chunks(path)
    yield "compact", lambda: ragfile.compact(path)
    yield "reindex", lambda: ragfile.reindex(path, chunking="characters:50/5", embedder=Hashed())


def _edit(path):
    with ragfile.edit(path, embedder=Hashed()) as w:
        w.upsert([_document(1) | {"text": "pods are new"}, _document(2)])
        w.delete(["d004"], checksums=["c5"], where={"year": 2006})
        w.add([{"doc_id": "d007", "chunk_index": 90, "content": "one more"}])


def _edit_chunks(path):
    with ragfile.edit(path, embedder=Hashed()) as w:
        w.delete_chunks(["d008#0", "d009#1"])
        w.upsert([{"doc_id": "d010", "chunk_index": 0, "content": "other words"}])


def _arrow(kb):
    fields = ArrowFields(kb.rows)
    for name in fields.by_name:  # a wrong one keeps the others from being read
        try:
            list(fields._batches([fields.by_name[name]], kb.live_rows()))
        except RagfileError as error:
            wrong = error
        else:
            continue
        raise wrong


def is_ours(error, name=""):
    """Whether an error is one that a caller is told to expect."""
    if isinstance(error, RagfileError) and not isinstance(error, LockedError):
        return True
    allowed = OWN if name in REWRITING else OWN[-1:] if name == "compact" else OWN[:2]
    return type(error) is ValueError and any(part in str(error) for part in allowed)


def attack(path, data, report):
    """Puts a file through all calls; report(name, error) hears of what should not have come out."""
    with open(path, "wb") as file:
        file.write(data)
    todo = calls(path)
    while True:
        try:
            name, call = next(todo, (None, None))
        except Exception as error:  # noqa: BLE001 - all of them are what is looked for
            if not is_ours(error):
                report("open", error)
            return
        if call is None:
            return
        try:
            call()
        except Exception as error:  # noqa: BLE001 - all of them are what is looked for
            if not is_ours(error, name):
                report(name, error)


def run(seeds, report):
    """Attacks with each seed's file; report(seed, call, error)."""
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=folder) as home:
        path = os.path.join(home, "kb.ragfile")
        for seed in seeds:
            faulthandler.dump_traceback_later(LIMIT_SECONDS, exit=True, file=sys.__stderr__)
            with open(os.path.join(home, "seed"), "w") as now:
                now.write(str(seed))
            attack(path, hostile(seed), lambda name, error, seed=seed: report(seed, name, error))
            faulthandler.cancel_dump_traceback_later()


def main():
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    faulthandler.enable()
    if not SANITIZED:  # which maps terabytes of shadow
        resource.setrlimit(resource.RLIMIT_AS, (_mapped_now() + LIMIT_MEMORY, -1))
    seen = {}

    def report(seed, name, error):
        frames = traceback.extract_tb(error.__traceback__)
        key = (
            f"{type(error).__name__} in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"
        )
        if key not in seen:
            print(f"seed {seed}, {name}: {key}: {str(error)[:200]}", flush=True)
            if os.environ.get("TRACE"):
                traceback.print_exception(error)
        seen[key] = seen.get(key, 0) + 1

    run(range(first, first + count), report)
    print(f"{count} files, {len(seen)} kinds of leaks: {seen}")
    return bool(seen)


def _mapped_now():
    with open("/proc/self/statm") as sizes:
        return int(sizes.read().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main())
