"""A second reader of .ragmd, written from spec/ragmd.md alone: slow, short, sharing nothing with the package."""

import base64
import json
import re
import struct

import numpy as np
import yaml

TITLES = {"Documents", "Chunks", "Document Metadata", "Vectors", "Origin"}


class Refused(Exception):
    """The file breaks a rule."""


def need(condition, rule):
    if not condition:
        raise Refused(rule)


def read(data):
    """{"front", "refs", "documents", "index", "vectors"} of the bytes of a file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("UTF-8") from error
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    need(lines[0].rstrip(" \t") == "---" and len(lines) > 1, "frontmatter")
    ends = [n for n, line in enumerate(lines[1:], 1) if line.rstrip(" \t") in ("---", "...")]
    need(ends and len("\n".join(lines[: ends[0]]).encode()) <= 65536, "frontmatter ends")
    front = frontmatter("\n".join(lines[1 : ends[0]]) + "\n")
    sections = split(lines[ends[0] + 1 :])
    need({"Chunks", "Document Metadata", "Vectors"} <= set(sections), "three sections")
    refs, documents = references(sections["Chunks"]), metadata(sections["Document Metadata"])
    if "Origin" in sections:
        need(isinstance(parsed(sections["Origin"]), dict), "origin")
    found = {
        "front": front,
        "refs": refs,
        "documents": documents,
        **vectors(sections["Vectors"], front),
    }
    check(found)
    return found


class PlainLoader(yaml.SafeLoader):
    """Dates stay text."""


PlainLoader.yaml_implicit_resolvers = {
    first: [rule for rule in rules if "timestamp" not in rule[0]]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def frontmatter(text):
    try:
        need(
            not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)), "no aliases"
        )
        node = yaml.compose(text, PlainLoader)
        need(isinstance(node, yaml.MappingNode) and not node.flow_style, "a block of keys")
        keys = [key.value for key, _ in node.value]
        need(all(isinstance(key, str) for key in keys) and len(keys) == len(set(keys)), "keys")
        loader = PlainLoader(text)
        front = {
            key.value: loader.construct_object(value, deep=True)
            for key, value in loader.get_single_node().value
        }
    except (
        yaml.YAMLError,
        ValueError,
        AttributeError,
        LookupError,
        OverflowError,
        TypeError,
    ) as error:
        raise Refused("YAML") from error
    need({"format_version", "embedding_dim"} <= set(front), "keys")
    version = front["format_version"]
    need(
        type(version) in (str, int, float)
        and re.fullmatch(r"[0-9]+(\.[0-9]+){0,2}", str(version), re.ASCII),
        "version",
    )
    need(int(str(version).split(".")[0]) == 1, "version 1")
    for key in ("model_name", "created_at", "updated_at"):
        need(front.get(key) is None or isinstance(front[key], str), "text")
    return front


def split(lines):
    """The body of each section: what its fence holds, or everything when it has none."""
    sections, fence, title = {}, None, None
    for line in lines:
        opening = re.match(r"(`{3,})[^`]*$|(~{3,})", line)
        if fence:
            if re.fullmatch(f"{re.escape(fence[0])}{{{len(fence)},}}[ \t\r]*", line):
                fence = None
                sections[title].append(("close", line))
            else:
                sections[title].append(("inside", line))
        elif line.startswith("## "):
            title = {"Vectors (Base64)": "Vectors"}.get(line[3:].strip(), line[3:].strip())
            need(title not in sections, "no section twice")
            sections[title] = []
        elif opening:
            fence = opening[1] or opening[2]
            sections.setdefault(title, []).append(("open", line))
        else:
            sections.setdefault(title, []).append(("outside", line))
    need(fence is None, "fences close")
    return {
        title: body(rows) for title, rows in sections.items() if title in TITLES - {"Documents"}
    }


def body(rows):
    kinds = [kind for kind, _ in rows]
    if "open" not in kinds:
        return "\n".join(line for _, line in rows)
    need(kinds.count("open") == 1, "one fence")
    need(
        not any(line.strip() for kind, line in rows if kind == "outside"),
        "nothing beside the fence",
    )
    return "\n".join(line for kind, line in rows if kind == "inside")


def parsed(text):
    depth = 0
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*(?:"|\\?$)|([\[{])|([\]}])', text, re.DOTALL):
        depth = max(0, depth + bool(bracket[0]) - bool(bracket[1]))
        need(depth <= 128, "depth")
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refused("JSON") from error


def references(text):
    refs = parsed(text)
    need(isinstance(refs, list) and all(isinstance(ref, dict) for ref in refs), "references")
    need(all(type(ref.get("faiss_id")) is int for ref in refs), "faiss_id")
    need(sorted(ref["faiss_id"] for ref in refs) == list(range(len(refs))), "dense")
    refs.sort(key=lambda ref: ref["faiss_id"])
    return [{key: value for key, value in ref.items() if key != "faiss_id"} for ref in refs]


def metadata(text):
    found = parsed(text)
    if isinstance(found, list):
        need(all(isinstance(d, dict) and isinstance(d.get("id"), str) for d in found), "ids")
        need(len({d["id"] for d in found}) == len(found), "ids differ")
        return {d["id"]: d for d in found}
    need(isinstance(found, dict), "documents")
    return found


def vectors(text, front):
    text = re.sub(r"[ \t\r\n]", "", text)
    try:
        index = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Refused("base64") from error
    need(base64.b64encode(index).decode() == text, "canonical base64")
    need(len(index) >= 37, "head")
    kind, dim, count, _, _, _, metric = struct.unpack("<4sIQQQBI", index[:37])
    need(kind[:1] == b"I" and kind[1:2] != b"B" and 1 <= dim <= 65536 and count <= 1 << 48, "index")
    found = {"index": index, "dim": dim, "count": count, "kind": kind, "vectors": None}
    if kind in (b"IxFI", b"IxF2"):
        need(len(index) >= 45 and struct.unpack("<Q", index[37:45])[0] == dim * count, "floats")
        need(
            len(index) == 45 + 4 * dim * count and metric == {b"IxFI": 0, b"IxF2": 1}[kind], "size"
        )
        found["vectors"] = np.frombuffer(index[45:], "<f4").reshape(count, dim)
    if front.get("vectors_checksum") is not None:
        import xxhash

        need(front["vectors_checksum"] == f"xxh3-64:{xxhash.xxh3_64_hexdigest(index)}", "checksum")
    return found


def framed(texts):
    """Each text after its length, as UTF-8."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join(struct.pack("<Q", len(one)) + one for one in encoded)


def indexed(name, document):
    """The texts that a document's checksum covers."""
    full, texts = document.get("full_text") or "", []
    for key, chunk in (document.get("chunks") or {}).items():
        text = (document.get("content") or {}).get(key)
        if chunk.get("i_start") is not None:
            text = full[chunk["i_start"] : chunk["i_end"]]
        texts += [key, text if isinstance(text, str) else ""]
    return framed([name, full, *texts])


def check_texts(front, documents):
    import xxhash

    stated = front.get("document_checksums")
    if stated is None:
        return
    every = {name: indexed(name, document) for name, document in documents.items()}
    if isinstance(stated, str):
        every, stated = {"": b"".join(every.values())}, {"": stated}
    need(isinstance(stated, dict), "checksums are a mapping")
    for name, one in stated.items():
        need(name in every, "a checksum of no document")
        need(one == f"xxh3-64:{xxhash.xxh3_64_hexdigest(every[name])}", f"checksum of {name}")


def check(found):
    front, refs, documents = found["front"], found["refs"], found["documents"]
    names = {b"IxFI": "IndexFlatIP", b"IxF2": "IndexFlatL2", b"IxFl": "IndexFlat"}
    held = {
        "embedding_dim": found["dim"],
        "vector_count": found["count"],
        "document_count": len(documents),
    }
    for key, value in held.items():
        need(type(front.get(key, value)) is int and front.get(key, value) == value, key)
    name = names.get(found["kind"], found["kind"].decode("latin-1"))
    need(front.get("index_type", name) == name, "index_type")
    need(len(refs) == found["count"], "one reference a row")
    need(
        all(isinstance(r.get(k), str) for r in refs for k in ("document_id", "chunk_key")),
        "references are text",
    )
    for name, document in documents.items():
        need(isinstance(document, dict) and document.get("id", name) == name, "id")
        need(isinstance(document.get("chunks"), (dict, type(None))), "chunks")
        need(isinstance(document.get("content"), (dict, type(None))), "content")
        need(isinstance(document.get("full_text"), (str, type(None))), "full_text")
        for chunk in (document.get("chunks") or {}).values():
            need(isinstance(chunk, dict), "chunk")
            row, span = chunk.get("faiss_id"), (chunk.get("i_start"), chunk.get("i_end"))
            need(row is None or (type(row) is int and 0 <= row < found["count"]), "row")
            need(
                span == (None, None)
                or (type(span[0]) is type(span[1]) is int and 0 <= span[0] <= span[1]),
                "span",
            )
    dangling = 0
    for ref in refs:
        document = documents.get(ref["document_id"])
        keys = (
            {}
            if document is None
            else {**(document.get("content") or {}), **(document.get("chunks") or {})}
        )
        dangling += ref["chunk_key"] not in keys
    need(front.get("dangling_count", 0) == dangling, "dangling")
    check_texts(front, documents)
