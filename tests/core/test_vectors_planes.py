"""Planes along principal axes (rag.planes): written only where they pay, with error bounds that hold, checked when
opened, and without any effect on an answer."""

from contextlib import suppress

import numpy as np
import pytest
from effort import few
from oracles.vectors import METRICS, assert_same, exact, shadow_of

import ragfile
from ragfile import _core
from ragfile.errors import CorruptError, FormatError, VersionError


def uneven(count, dim, seed=0, fall=0.96):
    """Rows that fill their space unevenly, along axes of no coordinate, around a point that is not zero."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((dim, dim)))[0] * fall ** np.arange(dim)[:, None]
    rows = rng.standard_normal((count, dim)) @ axes + 2 * axes[1]
    return rows.astype(np.float32)


class Planes:
    """A second reader of the section, from its description."""

    def __init__(self, data):
        assert data[:8] == b"RAGPLANE"
        version, self.dim = np.frombuffer(data, "<u4", 2, 8)
        self.count = int(np.frombuffer(data, "<u8", 1, 16)[0])
        self.group_rows, self.kept = map(int, np.frombuffer(data, "<u4", 2, 24))
        assert version == 1
        assert not any(data[32:64])
        dim, kept, stride = int(self.dim), self.kept, -(-int(self.dim) // 32) * 32
        at = 64
        self.mean = np.frombuffer(data, "<f4", dim, at).astype(float)
        at += -(-4 * dim // 64) * 64
        self.steps = np.frombuffer(data, "<f4", kept, at).astype(float)
        at += 4 * kept
        pairs = np.frombuffer(data, "<i2", kept * stride, at).reshape(stride // 2, kept, 2)
        self.axes = pairs.transpose(1, 0, 2).reshape(kept, stride)[:, :dim] / 2.0**15
        at += 2 * kept * stride
        parts = [self.group(data, at, first) for first in range(0, self.count, self.group_rows)]
        self.codes, self.scale, self.rest, self.tail, self.reach, self.norm = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )

    def group(self, data, at, first):
        kept, rows = self.kept, min(self.group_rows, self.count - first)
        row_size = 12 + -(-int(self.dim) // 8) * 8
        full = -(-self.group_rows // 16) * (8 * kept + 128) + 64 + self.group_rows * row_size
        at += first // self.group_rows * full
        rest_unit, tail_unit, reach = np.frombuffer(data, "<f4", 3, at).astype(float)
        blocks = -(-rows // 16)
        block = np.frombuffer(data, np.uint8, blocks * (8 * kept + 64), at + 64).reshape(blocks, -1)
        cells = block[:, : 8 * kept].reshape(blocks, kept // 8, 16, 4).transpose(0, 2, 1, 3)
        codes = np.stack([cells & 15, cells >> 4], 3).reshape(blocks * 16, kept)[:rows] - 7.5
        meta = np.ascontiguousarray(block[:, 8 * kept :])
        scale = meta[:, :32].copy().view("<f2").reshape(-1)[:rows].astype(float)
        rest, tail = (meta[:, i : i + 16].reshape(-1)[:rows].astype(float) for i in (32, 48))
        tail = np.where(tail == 255, np.inf, tail * tail_unit)
        norms = at + 64 + blocks * (8 * kept + 64)
        norm = np.frombuffer(data, "<f4", rows, norms).astype(float)
        return codes, scale, rest * rest_unit, tail, np.full(rows, reach), norm


def planes_of(rows, **options):
    matrix = _core.Matrix(rows, *rows.shape, **options)
    assert _core.Shadow(matrix).name == "rag.planes"
    return shadow_of(matrix)


@pytest.mark.parametrize(("count", "dim"), [(4096, 96), (5003, 109), (9001, 256), (4100, 500)])
def test_no_row_leaves_more_than_its_numbers_say(count, dim):
    rows = uneven(count, dim, fall=0.93 if dim < 120 else 0.97)
    rows[::9] *= np.float32(1e-15)
    rows[5] = 0
    planes = Planes(planes_of(rows))
    assert (planes.count, planes.dim) == (count, dim)
    norms = np.linalg.norm(rows.astype(float), axis=1)
    np.testing.assert_allclose(planes.norm, norms, rtol=1e-7)
    x = rows / np.where(norms > 0, norms, 1)[:, None] - planes.mean
    basis = np.linalg.qr(planes.axes.T)[0]
    kept = (planes.codes * planes.steps * planes.scale[:, None]) @ planes.axes
    along = np.linalg.norm((x - kept) @ basis, axis=1)
    across = np.linalg.norm(x - (x @ basis) @ basis.T, axis=1)
    assert (along <= planes.rest).all()
    assert (across <= planes.tail).all()
    assert (np.linalg.norm(planes.codes, axis=1) <= planes.reach).all()
    assert (planes.rest <= along * 1.05 + planes.rest.max() / 200 + 0.01).all()
    assert (planes.tail <= across * 1.05 + planes.tail.max() / 200 + 0.05).all()


@pytest.mark.parametrize("dim", [96, 128, 256, 384])
def test_the_axes_are_nearly_orthonormal_and_hold_most_of_the_rows(dim):
    rows = uneven(5000, dim, fall=0.93 if dim < 120 else 0.97)
    planes = Planes(planes_of(rows))
    skew = planes.axes @ planes.axes.T - np.eye(planes.kept)
    assert np.linalg.norm(skew) < 2**-8
    x = rows / np.linalg.norm(rows, axis=1)[:, None]
    x -= x.mean(0)
    spectrum = np.sort(np.linalg.eigvalsh(np.cov(x.T)))[::-1]
    held = ((x @ planes.axes.T) ** 2).sum() / (x**2).sum()
    assert held > spectrum[: planes.kept].sum() / spectrum.sum() - 0.01


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("count", "dim"), [(4096, 96), (6001, 100), (5000, 256)])
def test_answers_are_those_of_every_row_scored(count, dim, metric):
    rng = np.random.default_rng(dim)
    rows = uneven(count, dim, fall=0.93 if dim < 120 else 0.97)
    rows *= rng.uniform(0.1, 3, (count, 1)).astype(np.float32)
    rows[50:60] = rows[49]
    rows[60], rows[61, 3], rows[62], rows[63] = 0, np.nan, 1e35, 1e-35
    queries = np.concatenate(
        [rows[40:60:4] + np.float32(0.2), rng.standard_normal((3, dim)).astype(np.float32)]
    )
    queries = np.concatenate([queries, rows[60:61], 1e-30 * rows[:1], np.eye(1, dim)]).astype("f4")
    matrix = _core.Matrix(rows, count, dim, metric=metric, shadow=planes_of(rows))
    where = rng.random(count) < 0.3
    for k in (1, 10, 200):
        assert_same(matrix.nearest(queries, k), exact(queries, rows, k, metric))
        one = [matrix.nearest(query, k, threads=2) for query in queries]
        assert_same([np.concatenate(each) for each in zip(*one, strict=True)],
                    exact(queries, rows, k, metric))  # fmt: skip
        assert_same(matrix.nearest(queries, k, where=where), exact(queries, rows, k, metric, where))


def test_many_rows_that_all_reach_the_floor_are_settled_on_the_way():
    rows = uneven(40000, 96, fall=0.93)
    rows = rows[:4096][np.random.default_rng(1).integers(0, 300, 40000)] + 1e-4 * rows
    matrix = _core.Matrix(rows, *rows.shape, shadow=planes_of(rows))
    plain = _core.Matrix(rows, *rows.shape)
    for k in (10, 3000):
        assert_same(matrix.nearest(rows[:3], k), plain.nearest(rows[:3], k))


def test_independent_noise_few_rows_and_strange_dimensions_keep_the_plain_shadow():
    noise = np.random.default_rng(0).standard_normal((5000, 256)).astype(np.float32)
    wide = np.zeros((4096, 513), np.float32)
    wide[:, 0] = 1
    for rows in (noise, uneven(4095, 128), uneven(5000, 85), wide):
        shadow = _core.Shadow(_core.Matrix(rows, *rows.shape))
        assert shadow.name == "rag.shadow"
    assert (
        _core.Shadow(_core.Matrix(uneven(5000, 128), 5000, 128), rotate=False).name == "rag.shadow"
    )


def test_planes_depend_on_the_values_alone():
    rows = uneven(5000, 99, fall=0.93)
    planes = planes_of(rows)
    assert planes == planes_of(rows.astype(">f4"), big_endian=True, metric="l2")
    assert planes == planes_of(rows.astype("f8"), dtype="f64")


@pytest.mark.parametrize(
    "rows", [np.ones((4096, 96), np.float32), np.eye(96, dtype="f4")[np.arange(4096) % 2]]
)
def test_rows_that_are_all_alike_are_found(rows):
    shadow = shadow_of(_core.Matrix(rows, *rows.shape))
    matrix = _core.Matrix(rows, *rows.shape, shadow=shadow)
    assert_same(matrix.nearest(rows[:2], 20), exact(rows[:2], rows, 20, "cosine"))


AT = {"version": 8, "dim": 12, "rows": 16, "group_rows": 24, "kept": 28}


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("version", 2, VersionError),
        ("dim", 104, FormatError),
        ("rows", 99, FormatError),
        ("group_rows", 8, FormatError),
        ("kept", 0, FormatError),
        ("kept", 32, FormatError),
        ("kept", 320, FormatError),
        ("kept", 0xFFFFFFC0, FormatError),
    ],
)
def test_a_head_that_does_not_fit_is_refused(field, value, error):
    rows = uneven(4096, 96, fall=0.93)
    planes = bytearray(planes_of(rows))
    planes[AT[field] : AT[field] + 4] = value.to_bytes(4, "little")
    with pytest.raises(error):
        _core.Matrix(rows, *rows.shape, shadow=planes)


@pytest.mark.parametrize("what", ["mean", "step", "axis longer", "axis twice", "axis gone"])
def test_axes_that_bounds_cannot_rest_on_are_refused(what):
    rows = uneven(4096, 100, fall=0.93)
    planes = bytearray(planes_of(rows))
    kept = Planes(bytes(planes)).kept
    steps, axes = 64 + 448, 64 + 448 + 4 * kept
    if what == "mean":
        planes[64:68] = np.float32("nan").tobytes()
    elif what == "step":
        planes[steps : steps + 4] = np.float32("inf").tobytes()
    else:
        pairs = np.frombuffer(planes, "<i2", kept * 128, axes).reshape(64, kept, 2)
        pairs[:, 1] = {"axis longer": pairs[:, 1] // 8 * 9, "axis twice": pairs[:, 0]}.get(what, 0)
    with pytest.raises(CorruptError):
        _core.Matrix(rows, *rows.shape, shadow=planes)


def test_planes_of_another_size_are_refused():
    rows = uneven(4096, 96, fall=0.93)
    planes = planes_of(rows)
    for cut in (0, 63, 127, 128, 5000, len(planes) - 1):
        with pytest.raises((FormatError, CorruptError)):
            _core.Matrix(rows, *rows.shape, shadow=planes[:cut])
    with pytest.raises(CorruptError):
        _core.Matrix(rows, *rows.shape, shadow=planes + bytes(64))


def plain_shadow_of(rows):
    parts: list[bytes] = []
    _core.Shadow(_core.Matrix(rows, *rows.shape), rotate=False).write(
        lambda part: parts.append(bytes(part))
    )
    return b"".join(parts)


@pytest.mark.parametrize("rotate", [True, False])
@pytest.mark.parametrize(("count", "dim"), [(4096, 96), (5003, 109), (6001, 256), (4100, 500)])
def test_what_is_written_is_true_of_every_row(count, dim, rotate):
    rows = uneven(count, dim, fall=0.93 if dim < 120 else 0.97)
    rows[::9] *= np.float32(1e-15)
    rows[5], rows[7, 3], rows[8, 4] = 0, np.nan, -np.inf
    rows[6] *= np.float32(1e-18)
    made = planes_of(rows) if rotate else plain_shadow_of(rows)
    _core.Matrix(rows, count, dim, shadow=made).check_shadow()


@pytest.mark.parametrize("rotate", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_a_shadow_that_passes_its_check_answers_as_every_row_scored(seed, rotate):
    """Bytes are changed at random: the check may let a harmless change pass, and no other."""
    rng = np.random.default_rng(seed)
    rows = uneven(4200, 96, seed=seed % 3, fall=0.93)
    rows[60], rows[61, 3], rows[62] = 0, np.nan, 1e35
    good = planes_of(rows) if rotate else plain_shadow_of(rows)
    made = bytearray(good)
    start = 64 + 384 + Planes(good).kept * (4 + 2 * 96) if rotate else 64
    size = (4, 40, 4000)[seed % 3]
    at = rng.integers(start, len(made) - 64, size)
    step = rng.integers(1, 256, size) if seed % 2 else 1 << rng.integers(0, 8, size)
    lies = np.frombuffer(made, np.uint8)
    lies[at] ^= step.astype(np.uint8)
    matrix = _core.Matrix(rows, *rows.shape, shadow=made)
    with suppress(CorruptError):
        matrix.check_shadow()
        queries = np.concatenate([rows[40:44], rng.standard_normal((12, 96)).astype("f4")])
        assert_same(matrix.nearest(queries, 10), exact(queries, rows, 10, "cosine"))


@pytest.mark.parametrize("rotate", [True, False])
def test_every_number_of_a_shadow_that_hides_a_row_is_noticed(rotate):
    """Numbers that make a row look worse than it is: an answer would miss it."""
    rows = uneven(4200, 96, fall=0.93)
    good = planes_of(rows) if rotate else plain_shadow_of(rows)
    matrix = _core.Matrix(rows, *rows.shape, shadow=good)
    row = 37
    if rotate:
        kept = Planes(good).kept
        group = 64 + 384 + kept * (4 + 2 * 96)
        block = group + 64 + row // 16 * (8 * kept + 64)
        rows_at = group + 64 + 4096 // 16 * (8 * kept + 128) + row * (12 + 96)
        rest, tail = block + 8 * kept + 32 + row % 16, block + 8 * kept + 48 + row % 16
        places = {"rest": (rest, b"\0"), "tail": (tail, b"\0"), "reach": (group + 8, bytes(4))}
    else:
        block = 64 + row // 16 * (8 * 96 + 192) + 8 * 96 + row % 16 * 4
        rows_at = 64 + 4096 // 16 * (8 * 96 + 192) + row * (12 + 96)
        places = {"rest": (block + 64, bytes(4)), "norm": (block + 128, bytes(4))}
    places |= {"bytes": (rows_at + 4, bytes(4)), "hidden": (rows_at + 4, np.float32(-np.inf))}
    for place, lie in places.values():
        made = bytearray(good)
        made[place : place + len(bytes(lie))] = bytes(lie)
        assert made != good
        with pytest.raises(CorruptError) as raised:
            _core.Matrix(rows, *rows.shape, shadow=made).check_shadow()
        assert raised.value.section == ("rag.planes" if rotate else "rag.shadow")
    matrix.check_shadow()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(6))
def test_lying_planes_give_wrong_rows_at_worst(metric, seed):
    rng = np.random.default_rng(seed)
    rows = uneven(4500, 96, fall=0.93)
    planes = bytearray(planes_of(rows))
    kept = Planes(bytes(planes)).kept
    start = 64 + 384 + 4 * kept + 2 * kept * 96
    share = (0.001, 0.05, 1)[seed % 3]
    lies = np.frombuffer(planes, np.uint8)[start:]
    kinds = rng.integers(0, 3, len(lies))
    lie = np.choose(kinds, [rng.integers(0, 256, len(lies)), 0xFF, 0x7F])
    lies[:] = np.where(rng.random(len(lies)) < share, lie, lies)
    matrix = _core.Matrix(rows, *rows.shape, metric=metric, shadow=planes)
    for queries in (rows[:2], rows[:80]):
        found, scores = matrix.nearest(queries, 5)
        assert ((found >= -1) & (found < len(rows))).all()
        assert (np.diff(scores.astype(float), axis=1) <= 0)[np.isfinite(scores[:, 1:])].all()


def test_a_file_holds_planes_where_they_pay_and_damage_in_them_is_noticed(tmp_path):
    path, rows = tmp_path / "a.ragfile", uneven(5000, 96, fall=0.93)
    with ragfile.create(path, dim=96) as writer:
        chunks = [{"doc_id": f"{i:05}", "chunk_index": 0, "content": "x"} for i in range(5000)]
        writer.add(chunks, vectors=rows)
    with ragfile.open(path) as archive:
        names = [entry["name"] for entry in archive.file.entries]
        assert "rag.planes" in names
        assert "rag.shadow" not in names
        assert_same(archive.nearest(rows[:3], 4), exact(rows[:3], rows, 4, "cosine"))
        entry = next(e for e in archive.file.entries if e["name"] == "rag.planes")
    ragfile.verify(path)
    with open(path, "r+b") as file:
        file.seek(entry["at"] + 64 + 384 + 196 * 64 + 100)  # in the first blocks, or the axes
        flipped = bytes([file.read(1)[0] ^ 1])
        file.seek(-1, 1)
        file.write(flipped)
    with ragfile.open(path) as archive, pytest.raises(CorruptError, match="checksum"):
        archive.nearest(rows[7], 4, threads=1)


@pytest.mark.parametrize("near", few([*range(1, 34), 200], 3))
def test_any_number_of_rows_that_reach_the_floor_is_refined(near):
    """They are taken in groups, the last of which is seldom full."""
    rows = uneven(4096, 256, seed=near)
    rng = np.random.default_rng(near)
    query = rows[7:8].copy()
    places = rng.choice(len(rows), near, replace=False)
    rows[places] = query + rng.standard_normal((near, 256)).astype(np.float32) * np.float32(1e-3)
    matrix = _core.Matrix(rows, *rows.shape, metric="cosine", shadow=planes_of(rows))
    for k in {1, near, near + 1}:
        assert_same(matrix.nearest(query, k), exact(query, rows, k, "cosine"))


@pytest.mark.parametrize("metric", few(METRICS, 3))
@pytest.mark.parametrize("order", [1, 0, -1])
@pytest.mark.parametrize("rotate", [True, False])
def test_the_order_of_rows_is_never_seen_in_an_answer(metric, order, rotate):
    """A sweep guesses from the rows so far how good the best of all are: too well where the best come first."""
    rows = uneven(9001, 256, seed=3)
    queries = uneven(3, 256, seed=4)
    if order:
        rows = np.ascontiguousarray(rows[np.argsort(rows @ queries[0])[::order]])
        rows[200:260] = rows[100:160]
    else:  # the first are far better than all others
        rows[:40] = queries[0] + np.float32(1e-3) * rows[40:80]
    shadow = shadow_of(_core.Matrix(rows, *rows.shape), rotate=rotate)
    matrix = _core.Matrix(rows, *rows.shape, metric=metric, shadow=shadow)
    some = np.random.default_rng(5).random(len(rows)) < 0.5
    for k in (1, 10, 100, 700):
        for asked in (queries[:1], queries):
            assert_same(matrix.nearest(asked, k), exact(asked, rows, k, metric))
        found = matrix.nearest(queries[:1], k, where=some, threads=2)
        assert_same(found, exact(queries[:1], rows, k, metric, some))
