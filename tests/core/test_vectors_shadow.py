"""The shadow is checked when opened, honest about its errors, and harmless when it lies."""

import numpy as np
import pytest
from oracles.vectors import METRICS, assert_same, matrices, shadow_of

import ragfile
from ragfile import _core
from ragfile.errors import CorruptError, FormatError, VersionError


def rows_of(count, dim, seed=0):
    return np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)


class Shadow:
    """A second reader of the section, from its description."""

    def __init__(self, data):
        assert data[:8] == b"RAGSHADW"
        head = np.frombuffer(data, "<u4", 8)
        assert head[2] == 1
        self.dim, self.count, self.group_rows = (
            int(head[3]),
            int(np.frombuffer(data, "<u8", 1, 16)[0]),
            int(head[6]),
        )
        dims = -(-self.dim // 8) * 8
        block, row = 8 * dims + 192, 12 + dims
        self.nibbles, self.bytes = (
            np.empty((self.count, self.dim)),
            np.empty((self.count, self.dim)),
        )
        self.rest4, self.rest8, self.norm = (np.empty(self.count) for _ in range(3))
        at = 64
        for first in range(0, self.count, self.group_rows):
            rows = min(self.group_rows, self.count - first)
            blocks = -(-rows // 16)
            for i in range(rows):
                cells = np.frombuffer(data, np.uint8, 8 * dims, at + i // 16 * block).reshape(
                    -1, 16, 4
                )[:, i % 16]
                codes = np.stack([cells & 15, cells >> 4], 1).reshape(-1)[: self.dim]
                scale, rest, _ = np.frombuffer(
                    data, "<f4", 48, at + i // 16 * block + 8 * dims
                ).reshape(3, 16)[:, i % 16]
                self.nibbles[first + i] = (codes - 7.5) * np.float64(scale)
                self.rest4[first + i] = rest
                here = at + blocks * block + i * row
                scale, self.rest8[first + i], self.norm[first + i] = np.frombuffer(
                    data, "<f4", 3, here
                )
                codes = np.frombuffer(data, np.uint8, self.dim, here + 12)
                self.bytes[first + i] = (codes.astype(float) - 128) * np.float64(scale)
            at += blocks * block + rows * row
        assert data[at:] == bytes(64)


@pytest.mark.parametrize(
    ("count", "dim"), [(1, 1), (17, 3), (100, 8), (5000, 5), (70, 384), (40, 70)]
)
def test_the_residual_norms_are_not_less_than_the_residuals(count, dim):
    rows = rows_of(count, dim)
    rows[::9] *= np.float32(1e-15)
    rows[1::9] = np.eye(dim, dtype=np.float32)[0] * np.float32(1e12)
    shadow = Shadow(shadow_of(_core.Matrix(rows, count, dim)))
    norms = np.linalg.norm(rows.astype(float), axis=1)
    units = rows / norms[:, None]
    assert (shadow.count, shadow.dim) == (count, dim)
    np.testing.assert_allclose(shadow.norm, norms, rtol=1e-7)
    for kept, rest in ((shadow.nibbles, shadow.rest4), (shadow.bytes, shadow.rest8)):
        true = np.linalg.norm(units - kept, axis=1)
        assert (true <= rest).all()
        assert (rest <= true * 1.00001 + 1e-6).all()
    along = (units * shadow.nibbles).sum(1) - (shadow.nibbles**2).sum(1)
    assert (np.abs(along) < 1e-6).all(), (
        "what the nibbles leave out is orthogonal to what they keep"
    )


def test_the_size_is_known_beforehand_and_the_pieces_are_small():
    matrix = _core.Matrix(rows_of(30000, 64), 30000, 64)
    pieces, shadow = [], _core.Shadow(matrix)
    shadow.write(pieces.append)
    assert sum(map(len, pieces)) == shadow.size
    assert shadow.name == "rag.shadow", "independent noise has no axes worth having"
    assert max(map(len, pieces)) <= 4 << 20


def test_a_shadow_depends_on_the_values_alone():
    rows = rows_of(100, 33)
    swapped = rows.astype(">f4")
    wide = rows.astype("f8")
    shadow = shadow_of(_core.Matrix(rows, 100, 33))
    assert shadow == shadow_of(_core.Matrix(swapped, 100, 33, big_endian=True, metric="l2"))
    assert shadow == shadow_of(_core.Matrix(wide, 100, 33, dtype="f64"))


def test_what_write_raises_comes_out():
    def write(data):
        raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        _core.Shadow(_core.Matrix(rows_of(3, 3), 3, 3)).write(write)


@pytest.mark.parametrize(
    ("at", "value", "error"),
    [
        (0, 0, FormatError),
        (8, 2, VersionError),
        (12, 9, FormatError),
        (16, 99, FormatError),
        (24, 8, FormatError),
        (26, 2, FormatError),
    ],
)
def test_a_head_that_does_not_fit_is_refused(at, value, error):
    rows = rows_of(100, 8)
    shadow = bytearray(shadow_of(_core.Matrix(rows, 100, 8)))
    shadow[at] = value
    with pytest.raises(error):
        _core.Matrix(rows, 100, 8, shadow=shadow)


def test_a_shadow_of_another_size_is_refused():
    rows = rows_of(100, 8)
    shadow = shadow_of(_core.Matrix(rows, 100, 8))
    for cut in (0, 1, 63, 64, 128, len(shadow) - 1):
        with pytest.raises((FormatError, CorruptError)):
            _core.Matrix(rows, 100, 8, shadow=shadow[:cut])
    with pytest.raises(CorruptError):
        _core.Matrix(rows, 100, 8, shadow=shadow + bytes(64))
    with pytest.raises(FormatError):
        _core.Matrix(rows, 99, 8, shadow=shadow)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(20))
def test_a_lying_shadow_gives_wrong_rows_at_worst(metric, seed):
    rng = np.random.default_rng(seed)
    rows = rows_of(333, 20)
    shadow = bytearray(shadow_of(_core.Matrix(rows, 333, 20)))
    share = (0.001, 0.05, 1)[seed % 3]
    for at in np.flatnonzero(rng.random(len(shadow)) < share):
        if at >= 64:
            shadow[at] = (rng.integers(0, 256), 0xFF, 0x7F)[rng.integers(0, 3)]
    matrix = _core.Matrix(rows, 333, 20, metric=metric, shadow=shadow)
    for queries in (rows[:1], rows[:100]):
        found, scores = matrix.nearest(queries, 5)
        assert ((found >= -1) & (found < 333)).all()
        assert (np.diff(scores.astype(float), axis=1) <= 0)[np.isfinite(scores[:, 1:])].all()


def test_clustered_rows_whose_codes_coincide_are_still_told_apart():
    base = rows_of(1, 64, 5)
    rows = np.tile(base, (3000, 1))
    rows[:, 0] += np.arange(3000, dtype=np.float32)[
        np.random.default_rng(1).permutation(3000)
    ] * np.float32(1e-6)
    plain, shadowed = matrices(rows, "ip")
    assert_same(
        shadowed.nearest(np.eye(64, dtype=np.float32)[:1], 50),
        plain.nearest(np.eye(64, dtype=np.float32)[:1], 50),
    )


@pytest.mark.parametrize("name", ["rag.shadow", "vector"])
def test_damage_on_disk_is_noticed_when_a_search_touches_it(tmp_path, name):
    path, rows = tmp_path / "a.ragfile", rows_of(3000, 32)
    with ragfile.create(path, dim=32) as writer:
        chunks = [{"doc_id": f"{i:05}", "chunk_index": 0, "content": "x"} for i in range(3000)]
        writer.add(chunks, vectors=rows)
    with ragfile.open(path) as archive:
        expected = archive.nearest(rows[7], 3, threads=1)
        entry = next(e for e in archive.file.entries if e["name"] == name)
    with open(path, "r+b") as file:
        file.seek(entry["at"] + entry["size"] // 2)
        flipped = bytes([file.read(1)[0] ^ 1])
        file.seek(-1, 1)
        file.write(flipped)
    assert expected[0][0, 0] == 7
    with ragfile.open(path) as archive, pytest.raises(CorruptError, match="checksum"):
        archive.nearest(rows, 2000, threads=2)
        archive.nearest(rows[7], 3, threads=1)
