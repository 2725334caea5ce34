# The embedded model: tokenize and embed texts with a mapped model file.

from cpython.mem cimport PyMem_Free, PyMem_Malloc


cdef bytes utf8_of(text):
    """Return a text's UTF-8. Lone surrogates become bytes that the core skips."""
    return text if type(text) is bytes else text.encode("utf-8", "surrogatepass")


cdef class StaticModel:
    """A static embedding model over the bytes of its file, which it keeps mapped."""

    cdef rag_model model
    cdef const uint8_t[::1] data
    cdef readonly object owner

    def __init__(self, owner):
        cdef rag_fault fault
        self.owner = owner
        self.data = owner
        check(rag_model_open(&self.data[0] if self.data.shape[0] else NULL, self.data.shape[0],
                             &self.model, &fault), &fault)

    @property
    def name(self):
        return self.model.name.decode("utf-8", "replace")

    @property
    def dims(self):
        return self.model.dims

    @property
    def words(self):
        return self.model.count

    def tokens(self, text):
        """Return the ids of a text's word pieces, including [UNK]."""
        cdef bytes raw = utf8_of(text)
        cdef const char *at = raw
        cdef size_t size = len(raw), capacity = 3 * size + 1, count
        # a byte makes at most one piece, except a Hangul syllable (3 bytes, 3 letters) or a
        # replaced character
        cdef uint32_t *ids = <uint32_t *>PyMem_Malloc(capacity * sizeof(uint32_t))
        if ids == NULL:
            raise MemoryError
        try:
            with nogil:
                count = rag_model_tokens(&self.model, at, size, ids, capacity)
            if count > capacity:
                raise AssertionError("more pieces than any text of this length has")
            return [ids[i] for i in range(count)]
        finally:
            PyMem_Free(ids)

    def known(self, text):
        """Return the share of a text that the model knows, from 0 to 1."""
        cdef bytes raw = utf8_of(text)
        cdef const char *at = raw
        return rag_model_known(&self.model, at, len(raw))

    def embed(self, texts, float[:, ::1] out not None, int threads=1):
        """Write each text's vector into a row of out: length 1, or zeros if no word is known."""
        cdef list raws = [utf8_of(text) for text in texts]
        cdef size_t count = len(raws), i
        if <size_t>out.shape[0] != count or <size_t>out.shape[1] != self.model.dims:
            raise ValueError(f"{count} texts need {count} x {self.model.dims} floats, "
                             f"not {out.shape[0]} x {out.shape[1]}")
        if count == 0:
            return
        cdef const uint8_t **starts = <const uint8_t **>PyMem_Malloc(count * sizeof(uint8_t *))
        cdef size_t *sizes = <size_t *>PyMem_Malloc(count * sizeof(size_t))
        try:
            if starts == NULL or sizes == NULL:
                raise MemoryError
            for i in range(count):
                raw = raws[i]
                starts[i] = <const uint8_t *><const char *>(<bytes>raw)
                sizes[i] = len(raw)
            with nogil:
                rag_model_embed(&self.model, starts, sizes, count, threads, &out[0, 0])
        finally:
            PyMem_Free(starts)
            PyMem_Free(sizes)


def add_context(float[:, ::1] texts not None, const float[:, ::1] paths not None,
                const int64_t[::1] path_of not None, double weight):
    """Add the vector of its path, by path_of (-1: none), to each row of texts, in place.

    The sums are scaled to length 1.
    """
    cdef size_t rows = texts.shape[0], dims = texts.shape[1], i
    if paths.shape[1] != texts.shape[1] or path_of.shape[0] != texts.shape[0]:
        raise ValueError("each text needs the number of its path, and paths are as wide as texts")
    for i in range(rows):
        if not -1 <= path_of[i] < paths.shape[0]:
            raise ValueError(f"there is no path {path_of[i]}")
    if rows == 0 or paths.shape[0] == 0:
        return
    cdef double *room = <double *>PyMem_Malloc(dims * sizeof(double))
    if room == NULL:
        raise MemoryError
    with nogil:
        rag_path_vectors_add(&texts[0, 0], &paths[0, 0], &path_of[0], rows, dims, weight, room)
    PyMem_Free(room)


def write_model(str name, list pieces, const uint8_t[::1] kinds not None,
                const int8_t[:, ::1] rows not None, const int16_t[::1] coefficients not None, *,
                uint32_t unknown, uint32_t bucket_bits):
    """Return the bytes of a model file. pieces are bytes; kinds are 0 start, 1 continuation, 2
    special; rows have components in -8 .. 7."""
    cdef rag_fault fault
    cdef rag_model_source source
    cdef size_t size = 0, i, count = len(pieces)
    cdef bytes raw_name = name.encode()
    cdef bint equal = kinds.shape[0] == rows.shape[0] == coefficients.shape[0] == <Py_ssize_t>count
    if count == 0 or not equal:
        raise ValueError("pieces, kinds, rows and coefficients must be equally many, and some")
    if any(len(piece) > 255 for piece in pieces):
        raise ValueError("a piece has up to 255 bytes")
    cdef const uint8_t[::1] sizes = bytes([len(piece) for piece in pieces])
    cdef const uint8_t **starts = <const uint8_t **>PyMem_Malloc(count * sizeof(uint8_t *))
    if starts == NULL:
        raise MemoryError
    try:
        for i in range(count):
            starts[i] = <const uint8_t *><const char *>(<bytes>pieces[i])
        source.dims, source.count = rows.shape[1], count
        source.bucket_bits, source.unknown = bucket_bits, unknown
        source.name, source.name_size = raw_name, len(raw_name)
        source.pieces, source.sizes, source.kinds = starts, &sizes[0], &kinds[0]
        source.rows, source.coefficients = &rows[0, 0], &coefficients[0]
        check(rag_model_write(&source, NULL, &size, &fault), &fault)
        out = bytearray(size)
        write_into(&source, out, size)
        return bytes(out)
    finally:
        PyMem_Free(starts)


cdef write_into(rag_model_source *source, uint8_t[::1] out, size_t size):
    cdef rag_fault fault
    check(rag_model_write(source, &out[0], &size, &fault), &fault)
