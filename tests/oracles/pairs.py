"""A slow reader of 0.1.0 files, byte by byte in plain Python, and a builder of files: what the C core is compared with.

Nothing here is shared with the package; both follow the specification's text.
"""

import math
import re
import struct

ENTRY = re.compile(rb"([A-Za-z0-9_.+@/]{1,64})-\(([0-9]{1,20}),([0-9]{1,20})\)")
FLOATS = {16: "e", 32: "f", 64: "d", 8: "b"}


class Refused(Exception):
    pass


def require(condition, reason):
    if not condition:
        raise Refused(reason)


def read_directory(data):
    require(data[:7] == b"RAGFILE" and len(data) >= 11, "header")
    require(data[7] <= 1, "version")
    require(data[10] <= 1, "byte order")
    entries, at = [], 11
    if len(data) == 11 or data[11] == 0:
        return entries
    while True:
        match = ENTRY.match(data, at)
        require(match, "entry")
        name, start, end = match[1].decode(), int(match[2]), int(match[3])
        at = match.end()
        require(start < 2**64 and end < 2**64, "number")
        require(not entries or start == entries[-1][2] + 2, "adjacent")
        require(start - 1 <= end < len(data), "range")
        require(name not in [n for n, _, _ in entries], "duplicate")
        entries.append((name, start, end))
        require(len(entries) <= 1024 and at - 11 <= 65536, "limit")
        require(data[at : at + 1] == b"\0", "separator")
        at += 1
        require(at <= entries[0][1] <= 11 + 65536 + 1, "first start")
        if at == entries[0][1]:
            break
    require(all(data[end + 1] == 0 for _, _, end in entries[:-1]), "gap")
    return entries


def read_pairs(region, padding, head):
    """(head bytes, content) of each; head is a width, or None for keyword pairs."""
    at, pairs = 0, []
    while at < len(region):
        if head is None:
            dash = at
            while dash < len(region) and region[dash] not in b"-\0":
                dash += 1
        else:
            dash = at + head
        require(dash < len(region) and region[dash] == ord("-"), "dash")
        end = dash + 1
        while end < len(region) and region[end] != 0:
            end += 1
        pairs.append((at, region[at:dash], region[dash + 1 : end]))
        at = end
        if at < len(region):
            require(region[at : at + padding] == bytes(padding), "gap")
            at += padding
            require(at < len(region), "NULs at the end")
            require(head is not None or region[at] != 0, "NUL after gap")
    return pairs


def text(raw):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("utf-8") from None


def is_clean(region, padding, dim, code, order):
    try:
        for _, row, content in read_pairs(region, padding, dim * struct.calcsize(code)):
            text(content)
            require(
                all(math.isfinite(x) for x in struct.unpack(f"{order}{dim}{code}", row)), "finite"
            )
    except Refused:
        return False
    return True


class File:
    def __init__(self, data, dim=None):
        self.entries = read_directory(data)
        self.order = "<>"[data[10]]
        self.keyword = self.vector = self.dim = None
        for name, start, end in self.entries:
            if name == "keyword":
                self.keyword = self._region(data, start, end, 0)
            if name == "vector":
                self.vector = self._region(data, start, end, 1)
                self.precision = data[start]
                require(self.precision in FLOATS, "precision")
                self._extension(data, start)
        if self.vector and self.dim is None:
            self.dim = dim or self._infer()

    def _region(self, data, section, last, fields):
        require(last + 1 - section >= fields + 17, "preamble")
        start, end, padding = struct.unpack_from(self.order + "QQB", data, section + fields)
        require(padding in (4, 8, 16), "padding")
        require(section + fields + 17 <= start <= last + 1, "start")
        require(start - 1 <= end <= last, "end")
        return start, data[start : end + 1], padding

    def _extension(self, data, section):
        self.count = None
        start, region, padding = self.vector
        if start < section + 50 or data[section + 18 : section + 22] != b"RXV1":
            return
        dim, count, stride, _, _ = struct.unpack_from(self.order + "IQIIQ", data, section + 22)
        require(1 <= dim <= 65536, "dim")
        if count == 0:
            require(not region, "count")
        elif stride == 0:
            require(count <= len(region), "count")
        else:
            require(stride > dim * self.precision // 8 + padding, "stride")
            require(count * stride - padding == len(region), "stride")
        self.dim, self.count = dim, count

    def _infer(self):
        _, region, padding = self.vector
        if not region:
            return None
        code = FLOATS[self.precision]
        dims = range(1, min(65536, len(region)) + 1)
        fitting = [d for d in dims if is_clean(region, padding, d, code, self.order)]
        require(len(fitting) == 1, f"dimension {fitting}")
        return fitting[0]

    def keywords(self):
        if not self.keyword:
            return []
        _, region, padding = self.keyword
        return [(text(key), text(content)) for _, key, content in read_pairs(region, padding, None)]

    def lookup(self, keyword):
        if not self.keyword:
            return []
        _, region, padding = self.keyword
        found = [
            content
            for _, key, content in read_pairs(region, padding, None)
            if key == keyword.encode()
        ]
        return [text(content) for content in found]

    def vectors(self):
        if not self.vector or self.dim is None:
            return []
        _, region, padding = self.vector
        code = f"{self.order}{self.dim}{FLOATS[self.precision]}"
        pairs = read_pairs(region, padding, self.dim * self.precision // 8)
        return [(struct.unpack(code, row), text(content)) for _, row, content in pairs]


# ------------------------------------------------------------------------------------------------------------ building


def keyword_section(pairs, padding, order, slack):
    region = bytes(padding).join(k.encode() + b"-" + c.encode() for k, c in pairs)
    return lambda at: (
        struct.pack(order + "QQB", at + 17 + slack, at + 17 + slack + len(region) - 1, padding)
        + bytes(slack)
        + region
    )


def vector_section(pairs, padding, precision, order, slack, extended):
    rows = [
        struct.pack(f"{order}{len(v)}{FLOATS[precision]}", *v) + b"-" + c.encode() for v, c in pairs
    ]
    region = bytes(padding).join(rows)
    sizes = {len(row) + padding for row in rows}
    stride = sizes.pop() if len(sizes) == 1 else 0
    block = b""
    if extended:
        block = b"RXV1" + struct.pack(order + "IQIIQ", len(pairs[0][0]), len(pairs), stride, 0, 0)

    def at_offset(at):
        start = at + 18 + len(block) + slack
        preamble = struct.pack(order + "BQQB", precision, start, start + len(region) - 1, padding)
        return preamble + block + bytes(slack) + region

    return at_offset


def build(sections, order="<", version=(0, 1, 0)):
    """A file of (name, function of the section's offset that returns its bytes)."""
    header = b"RAGFILE" + bytes(version) + bytes([order == ">"])
    first = 12
    for _ in range(30):
        at, bodies, entries = first, [], []
        for name, make in sections:
            body = make(at)
            entries.append(f"{name}-({at},{at + len(body) - 1})".encode())
            bodies.append(body)
            at += len(body) + 1
        directory = b"\0".join(entries)
        if 11 + len(directory) + 1 == first:
            return header + directory + b"\0" + b"\0".join(bodies)
        first = 11 + len(directory) + 1
    raise AssertionError("the directory's size does not settle")
