"""Sections rag.shadow, rag.planes and rag.clusters for the vectors, from the specification alone.

They use choices of their own (steps, axes, groups of 16 rows), on which a reader must not rely;
only the guarantees hold.
"""

import struct

import numpy as np

ZERO_ROW, TINY_ROW = 3, 5


def rows_of(count, dim, fall=0.97, bits=32):
    """Vectors that fill their space unevenly; one is zero, one too short for bounds."""
    state, made = 12345, []
    for row in range(count):
        values = []
        for i in range(dim):
            state = (1103515245 * state + 12345) % 2**31
            values.append(round(((state >> 11) % 256 - 128) * fall**i) / 256 + (i == 1))
        made.append(values)
        if row == ZERO_ROW:
            made[-1] = [0.0] * dim
        if row == TINY_ROW and bits == 32:
            made[-1] = [x * 2.0**-110 for x in values]
    return made


def unit_of(row):
    """(u, norm as it is stored, whether it has a direction)"""
    row = np.array(row, float)
    norm = float(np.sqrt(row @ row))
    usual = 2.0**-100 <= norm <= 2.0**100
    return row / norm if usual else 0 * row, norm if usual or not norm else 1.0, usual


def above(length):
    return float(np.float32(length * (1 + 1e-5) + 1e-6))


def eight_bits(row):
    u, norm, usual = unit_of(row)
    wide = -(-len(u) // 8) * 8
    codes, scale, rest = np.full(wide, 128, np.uint8), 0.0, float("inf") if norm else 0.0
    if usual:
        scale = float(np.float32(np.abs(u).max() / 127))
        codes[: len(u)] = np.rint(u / scale) + 128
        rest = above(np.linalg.norm(u - scale * (codes[: len(u)] - 128.0)))
    return struct.pack("<3f", scale, rest, norm) + codes.tobytes()


def interleaved(codes):
    """16 rows of 4-bit codes in the layout of a block."""
    block = bytearray(8 * codes.shape[1])
    for r, row in enumerate(codes.tolist()):
        for i, code in enumerate(row):
            block[64 * (i // 8) + 4 * r + i % 4] |= code << (4 if i % 8 >= 4 else 0)
    return bytes(block)


def padded(rows, width):
    return np.pad(np.array(rows), ((0, 16 - len(rows)), (0, width - len(rows[0]))))


def head(magic, dim, rows, kept=0):
    return struct.pack("<8sIIQII32x", magic, 1, dim, rows, 16, kept)


# ------------------------------------------------------------------------------------------------------------ rag.shadow


def plain_row(row):
    """(codes, scale, residual norm, norm)"""
    u, norm, usual = unit_of(row)
    wide = -(-len(u) // 8) * 8
    codes = np.full(wide, 8)
    if not usual:
        return codes, 0.0, float("inf") if norm else 0.0, norm
    codes[: len(u)] = np.clip(np.rint(u / (np.abs(u).max() / 7.5) + 7.5), 0, 15)
    c = codes[: len(u)] - 7.5
    scale = float(np.float32((u @ c) / (c @ c)))
    return codes, scale, above(np.linalg.norm(u - scale * c)), norm


def shadow(rows):
    made = head(b"RAGSHADW", len(rows[0]), len(rows))
    for first in range(0, len(rows), 16):
        some = [plain_row(row) for row in rows[first : first + 16]]
        made += interleaved(padded([codes for codes, *_ in some], len(some[0][0])))
        for i in (1, 2, 3):
            made += struct.pack("<16f", *([row[i] for row in some] + [0.0] * (16 - len(some))))
        made += b"".join(map(eight_bits, rows[first : first + 16]))
    return made + bytes(64)


# ------------------------------------------------------------------------------------------------------------ rag.planes

KEPT = 64


def axes_of(dim):
    """64 nearly orthonormal axes times 2^15: Walsh's, with one slightly tilted."""
    signs = [[1 - 2 * ((i & j).bit_count() & 1) for j in range(KEPT)] for i in range(KEPT)]
    axes = np.zeros((KEPT, dim), np.int64)
    axes[:, 6 : 6 + KEPT] = 4096 * np.array(signs)
    axes[2, :5] = (60, -33, 20, 7, 1)
    axes[9, 20] += 25
    return axes


class Planes:
    def __init__(self, rows):
        self.rows, self.dim = rows, len(rows[0])
        units = np.array([unit_of(row)[0] for row in rows])
        self.mean = np.rint(units.mean(0) * 1024) / 1024
        self.axes = axes_of(self.dim)
        self.steps = np.array([(3 + i % 5) / 32 for i in range(KEPT)])

    def bytes(self):
        stride = -(-self.dim // 32) * 32
        wide = np.zeros((KEPT, stride), "<i2")
        wide[:, : self.dim] = self.axes
        mean = self.mean.astype("<f4").tobytes()
        made = head(b"RAGPLANE", self.dim, len(self.rows), KEPT) + mean + bytes(-len(mean) % 64)
        made += self.steps.astype("<f4").tobytes()
        made += wide.reshape(KEPT, stride // 2, 2).transpose(1, 0, 2).tobytes()
        groups = range(0, len(self.rows), 16)
        return made + b"".join(self.group(self.rows[i : i + 16]) for i in groups) + bytes(64)

    def group(self, rows):
        made = [self.row(row) for row in rows]
        rest_unit, tail_unit = (
            float(np.float32(max(row[i] for row in made if row[i] < np.inf) / most * 1.0001))
            for i, most in ((2, 255), (3, 254))
        )
        reach = above(max(np.linalg.norm(row[0] - 7.5) for row in made))
        rests = bytes(min(255, int(np.ceil(row[2] / rest_unit))) for row in made)
        tails = bytes(255 if row[3] == np.inf else int(np.ceil(row[3] / tail_unit)) for row in made)
        none = 16 - len(rows)
        scales = np.array([row[1] for row in made] + [0] * none, "<f2").tobytes()
        block = interleaved(padded([row[0] for row in made], KEPT)) + scales
        norms = [unit_of(row)[1] for row in rows] + [0] * none
        return (
            struct.pack("<3f52x", rest_unit, tail_unit, reach)
            + block + rests + bytes(none) + tails + bytes(none)
            + struct.pack("<16f", *norms) + b"".join(map(eight_bits, rows))
        )  # fmt: skip

    def row(self, row):
        """(codes, scale, rest, tail)"""
        u, norm, usual = unit_of(row)
        if norm and not usual:
            return np.full(KEPT, 8), 0.0, 0.0, np.inf
        axes, x = self.axes / 32768, u - self.mean
        turned = axes @ x
        places = turned / self.steps
        scale = float(np.float16(np.abs(places).max() / 7.5))
        codes = np.clip(np.rint(places / scale + 7.5), 0, 15).astype(int)
        v = (scale * self.steps * (codes - 7.5)) @ axes
        basis = np.linalg.qr(axes.T)[0]
        rest = np.linalg.norm((x - v) @ basis)
        tail = np.linalg.norm(x - basis @ (basis.T @ x))
        return codes, scale, above(rest), above(tail)


# ---------------------------------------------------------------------------------------------------------- rag.clusters


class Clusters:
    """Rows assigned round robin by their numbers, which no good writer would do."""

    def __init__(self, rows, count):
        self.rows, self.dim, self.count = rows, len(rows[0]), count
        self.members = [list(range(c, len(rows), count)) for c in range(count)]
        self.order = [row for rows in self.members for row in rows]
        self.placed = [rows[row] for row in self.order]

    @property
    def starts(self):
        return [0, *np.cumsum([len(rows) for rows in self.members]).tolist()]

    def numbers(self, members):
        """(centroid times 2^15, radius, spread, least norm, largest norm)"""
        units = [unit_of(self.rows[row]) for row in members]
        centroid = np.rint(np.mean([u for u, *_ in units], axis=0) * 32768)
        far = [float(np.linalg.norm(u - centroid / 32768)) for u, *_ in units]
        norms = [float(np.linalg.norm(np.array(self.rows[row], float))) for row in members]
        bounded = all(usual or not norm for _, norm, usual in units)
        radius = above(max(far)) if bounded else np.inf
        return centroid, radius, float(np.mean(far)), min(norms) * 0.999, above(max(norms))

    def bytes(self):
        made = [self.numbers(members) for members in self.members]
        stride = -(-self.dim // 32) * 32
        panels = np.zeros((-(-self.count // 32), stride // 2, 32, 2), "<i2")
        for c, (centroid, *_) in enumerate(made):
            wide = np.pad(centroid, (0, stride - self.dim)).reshape(-1, 2)
            panels[c // 32, :, c % 32] = wide
        tables = [np.array(self.starts, "<u4")]
        tables += [np.array([row[i] for row in made], "<f4") for i in (1, 2, 3, 4)]
        tables += [panels, np.array(self.order, "<u4")]
        head = struct.pack("<8sIIQI36x", b"RAGCLUST", 1, self.dim, len(self.rows), self.count)
        return head + b"".join(t.tobytes() + bytes(-t.nbytes % 64) for t in tables)
