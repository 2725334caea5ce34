"""A file as spec/reader.py decodes it, as rows: what the slow answers of oracles/answers.py are made of.

Nothing here imports the package. Rows have the numbers that the package gives them: segment after segment, deleted
ones included.
"""

import importlib.util
import json
import struct
from dataclasses import dataclass

import numpy as np
from places import ROOT


def _load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "spec" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reader = _load("reader")


def _remembered(function, key, most):
    """The same function, which is asked again for bytes that it has seen: commits share most of theirs."""
    known = {}

    def call(*arguments):
        named = key(*arguments)
        if named not in known:
            if len(known) >= most:
                known.clear()
            known[named] = function(*arguments)
        return known[named]

    return call


reader.xxh3_long = _remembered(reader.xxh3_long, bytes, 512)
for kind in ("shadow", "planes"):
    check = getattr(reader, kind)
    setattr(reader, kind, _remembered(
        check, lambda parts, vectors, name: (bytes(parts[name][0]), str(vectors["pairs"])), 16
    ))  # fmt: skip


@dataclass(slots=True)
class Row:
    number: int
    segment: int
    local: int
    doc_id: str
    index: int
    text: str
    start: int  # -1 where it is not known
    tags: tuple
    metadata: dict
    source: str
    vector: object  # float32 components, or None
    is_live: bool

    @property
    def id(self):
        return f"{self.doc_id}#{self.index}"

    @property
    def key(self):
        return self.doc_id.encode("utf-8", "surrogatepass"), self.index

    @property
    def end(self):
        return self.start + len(self.text) if self.start >= 0 else -1

    @property
    def labels(self):
        """What filters see: the names of a hit's fields, unless the metadata have such a key."""
        return {"doc_id": self.doc_id, "id": self.id, "source": self.source, **self.metadata}


class Decoded:
    """One commit of a file, from its bytes."""

    def __init__(self, data):
        self.data, self.found = data, reader.read(data)
        self.config = json.loads(self.section("rag.config") or b"{}")
        self.rows, self.documents, self.bases = [], {}, {}
        for segment in self.found["segments"]:
            self._take(segment)
        self.live = [row for row in self.rows if row.is_live]
        self.by_id = {row.id: row for row in self.live}
        self.parameters = self._parameters()

    def section(self, name, segment=0):
        """The bytes of a section, or None."""
        for entry in self.found["sections"]:
            if (entry["name"], entry["segment"]) == (name, segment):
                return self.data[entry["at"] : entry["at"] + entry["size"]]
        return None

    def _take(self, segment):
        self.bases[segment["number"]] = len(self.rows)
        pairs = segment.get("vector", {}).get("pairs")
        for document in segment.get("documents", []):
            said = document["meta"] or {}
            if not document["deleted"]:
                self.documents[document["id"]] = {**document, "said": said}
            for chunk in document["chunks"]:
                self.rows.append(self._row(segment, document, said, chunk, pairs))

    def _row(self, segment, document, shared, chunk, pairs):
        own, local = chunk["meta"] or {}, chunk["row"]
        vector = None
        if pairs is not None and local not in segment.get("bare", ()):
            vector = np.array(pairs[local][0], np.float32)
        return Row(
            self.bases[segment["number"]] + local, segment["number"], local,
            document["id"], chunk["index"], chunk["text"],
            -1 if chunk["start"] is None else chunk["start"],
            tuple(own["tags"] if "tags" in own else shared.get("tags", ())),
            {**shared.get("metadata", {}), **own.get("metadata", {})}, shared.get("source", ""),
            vector, local not in segment["tombs"],
        )  # fmt: skip

    # ------------------------------------------------------------------------------------ the words --

    def _parameters(self):
        """(k1, b, [(field, weight)]) of the index (L.3), or None without one."""
        for segment in self.found["segments"]:
            if (part := self.section("rag.terms", segment["number"])) is not None:
                k1, b, size = struct.unpack_from("<2dI", part, 48)
                lines = part[128 : 128 + size].decode().splitlines()
                said = dict(line.split("=", 1) for line in lines)
                fields = [name.rsplit(":", 1) for name in said["fields"].split(",")]
                return k1, b, [(name, int(weight)) for name, weight in fields]
        return None

    def weighed(self, weights=None):
        """(length of each row, {term: {row: tf}}) over the live rows, by the file's weights of fields or others (L.7)."""
        lengths, terms = {}, {}
        for segment in self.found["segments"]:
            base = self.bases[segment["number"]]
            for factor, words in self._parts(segment, weights):
                for local, length in enumerate(words["lengths"]):
                    lengths[base + local] = lengths.get(base + local, 0) + factor * length
                for term, rows in words["terms"].items():
                    found = terms.setdefault(term, {})
                    for local, tf in rows:
                        found[base + local] = found.get(base + local, 0) + factor * tf
        return self._of_live(lengths, terms)

    def _of_live(self, lengths, terms):
        """Without deleted rows, and without what no field that counts has."""
        live = {row.number for row in self.live}
        kept = {
            term: {row: round(tf) for row, tf in rows.items() if row in live and round(tf) > 0}
            for term, rows in terms.items()
        }
        return {row: round(n) for row, n in lengths.items() if row in live}, kept

    def _parts(self, segment, weights):
        """[(factor, the words of a field)], which together are the sums that a question asks for."""
        words = {part["field"]: part for part in segment.get("words", [])}
        if weights is None or not words:
            return [(1, words[None])] if words else []
        fields = self.parameters[2]
        rest = next((i for i, (name, _) in enumerate(fields) if name == "text"), 0)
        ratio = weights.get(fields[rest][0], fields[rest][1]) / fields[rest][1]
        found = [(ratio, words[None])]
        for number, (name, weight) in enumerate(fields):
            if number != rest:
                found.append((weights.get(name, weight) - ratio * weight, words[number]))
        return found
