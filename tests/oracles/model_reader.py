"""A model file read as its specification says, slowly and without the core: the oracle of the embedding tests."""

import numpy as np

START, CONTINUATION, SPECIAL = range(3)


class ModelReader:
    """The parts of a model file: name, dims, vocabulary (text -> id, ## before continuations), rows, coefficients."""

    def __init__(self, data):
        u32 = lambda at: int.from_bytes(data[at : at + 4], "little")  # noqa: E731
        u64 = lambda at: int.from_bytes(data[at : at + 8], "little")  # noqa: E731
        assert data[:8] == b"RAGMODEL"
        assert u32(8) == 1
        self.dims, self.words, self.bits, self.unknown = u32(12), u32(16), u32(20), u32(24)
        self.name = data[80:144].rstrip(b"\0").decode()
        rows_at, coefficients_at, buckets_at, words_at = (u64(32 + 8 * i) for i in range(4))
        packed = np.frombuffer(data, np.uint8, self.words * self.dims // 2, rows_at).reshape(
            self.words, -1
        )
        self.rows = np.hstack([packed & 15, packed >> 4]).astype(np.int64) - 8
        self.coefficients = np.frombuffer(data, "<i2", self.words, coefficients_at).astype(np.int64)
        self.pieces = self._read_pieces(
            data, words_at, words_at + u32(buckets_at + 4 * (1 << self.bits))
        )

    def _read_pieces(self, data, at, end):
        pieces = {}
        while at < end:
            size, kind = data[at + 2], data[at + 3]
            text = data[at + 4 : at + 4 + size].decode()
            pieces["##" + text if kind == CONTINUATION else text] = int.from_bytes(
                data[at : at + 2], "little"
            )
            at += 4 + size
        return pieces

    def specials(self):
        return [piece for piece in self.pieces if piece.startswith("[") and len(piece) > 1]

    def embed(self, ids):
        """The vector of a list of pieces, by the definition."""
        sums = [
            sum(int(self.coefficients[i]) * int(self.rows[i][j]) for i in ids)
            for j in range(self.dims)
        ]
        lanes = [0.0] * 16
        for j, value in enumerate(sums):
            lanes[j % 16] += float(value) * float(value)
        for apart in (8, 4, 2, 1):
            for j in range(apart):
                lanes[j] += lanes[j + apart]
        length = lanes[0] ** 0.5
        return np.array([value / length if length else 0.0 for value in sums], np.float32)
