"""Vectors: matrices where they lie, their shadows, and the exact search over them."""

from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free

from ragfile.errors import ModelError

METRICS = {"cosine": RAG_COSINE, "ip": RAG_IP, "l2": RAG_L2}
SCALARS = {"f16": RAG_F16, "f32": RAG_F32, "f64": RAG_F64}
WIDTHS = {"f16": 2, "f32": 4, "f64": 8}


cdef void *address_of(array) except? NULL:
    """Where an array's bytes lie; the caller keeps the array alive."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_ANY_CONTIGUOUS)
    cdef void *at = view.buf
    PyBuffer_Release(&view)
    return at


cdef checked_queries(queries, Py_ssize_t dim):
    """The queries as finite native binary32 rows, checked once."""
    import numpy

    array = numpy.asarray(queries)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"queries must be numbers, not {array.dtype}")
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2:
        raise ValueError(f"queries must be one vector or a matrix of them, not an array of {array.ndim} axes")
    if array.shape[1] != dim:
        raise ModelError(f"queries have {array.shape[1]} dimensions, the vectors have {dim}")
    if array.dtype.char != "f" or not array.dtype.isnative or not array.flags.c_contiguous:
        with numpy.errstate(over="ignore"):
            array = numpy.ascontiguousarray(array, dtype=numpy.float32)
    cdef size_t count = array.size
    cdef size_t bad = rag_first_not_finite(<const float *>address_of(array), count) if count else 0
    if bad < count:
        raise ValueError(f"query {bad // dim} is not finite at component {bad % dim}")
    return array


def row_set(rows, Py_ssize_t count):
    """Rows as words of 64 bits: from a bool for each row, or checked if they are words already."""
    import numpy

    array = numpy.ascontiguousarray(rows)
    if array.ndim == 1 and array.dtype == numpy.uint64 and array.size == (count + 63) // 64:
        return array
    if array.dtype != numpy.bool_ or array.shape != (count,):
        raise ValueError(
            f"a row set is {count} bools or {(count + 63) // 64} uint64 words, not {array.dtype}{list(array.shape)}"
        )
    words = numpy.empty((count + 63) // 64, dtype=numpy.uint64)
    if count:
        rag_bits_pack(<const uint8_t *>address_of(array), count, <uint64_t *>address_of(words))
    return words


cdef class Matrix:
    """Vectors in a section or any buffer, searched in place.

    Row i starts at byte `at + i * stride`, or at `offsets[i]`; stride defaults to dim components. `shadow` is the section
    that build_shadow wrote for these rows.
    """

    cdef rag_matrix matrix
    cdef rag_shadow shadowed
    cdef bint has_shadow
    cdef readonly str metric
    cdef object owners

    def __init__(self, section, rows, dim, stride=None, dtype="f32", *, big_endian=False, at=0, offsets=None,
                 metric="cosine", shadow=None):
        cdef rag_fault fault
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, not {metric!r}")
        if dtype not in SCALARS:
            raise ValueError(f"dtype must be one of {', '.join(SCALARS)}, not {dtype!r}")
        cdef Section bytes = as_section(section), shade = None if shadow is None else as_section(shadow)
        self.metric = metric
        self.matrix.guard = bytes.guard
        self.matrix.at = at
        self.matrix.count = rows
        self.matrix.dim = dim
        self.matrix.stride = dim * WIDTHS[dtype] if stride is None else stride
        self.matrix.scalar = SCALARS[dtype]
        self.matrix.big_endian = big_endian
        if offsets is not None:
            offsets = checked_offsets(offsets, rows)
            self.matrix.offsets = <const uint64_t *>address_of(offsets)
        self.owners = (bytes, shade, offsets)
        check(rag_matrix_check(&self.matrix, &fault), &fault)
        if shade is not None:
            check(rag_shadow_open(&self.shadowed, &shade.guard, &self.matrix, &fault), &fault)
            self.has_shadow = True

    def __len__(self):
        return self.matrix.count

    @property
    def dim(self):
        return self.matrix.dim

    @property
    def shadow_size(self):
        """How many bytes build_shadow writes."""
        return rag_shadow_size(self.matrix.count, self.matrix.dim)

    def nearest(self, queries, k, where=None, threads=None):
        """The k best rows for each query, exactly: (rows int64[m, k], scores float32[m, k]), best first, ties by row.

        Where fewer than k rows can be found, the rest is row -1 with score -inf.
        """
        rows, scores = nearest((self,), queries, k, None if where is None else (where,), threads)
        return rows[:, 0], scores[:, 0]

    def scores(self, rows, query):
        """The canonical scores of given rows for one query; a row with a NaN or an infinity scores NaN."""
        import numpy

        cdef rag_question question
        cdef rag_fault fault
        cdef rag_status status
        array = checked_queries(query, self.matrix.dim)
        if array.shape[0] != 1:
            raise ValueError(f"scores takes one query, not {array.shape[0]}")
        wanted = numpy.ascontiguousarray(rows, dtype=numpy.int64).reshape(-1)
        found = numpy.empty(wanted.size, dtype=numpy.float32)
        if wanted.size == 0:
            return found
        cdef const int64_t *from_ = <const int64_t *>address_of(wanted)
        cdef float *to = <float *>address_of(found)
        cdef size_t count = wanted.size
        question.queries = <const float *>address_of(array)
        question.count = 1
        question.dim = self.matrix.dim
        question.metric = METRICS[self.metric]
        with nogil:
            status = rag_scores(&self.matrix, &question, from_, count, to, &fault)
        check(status, &fault)
        return found


cdef Section as_section(source):
    if isinstance(source, Section):
        return source
    view = memoryview(source)
    return Section.over(view.cast("B") if view.nbytes else b"")


cdef checked_offsets(offsets, count):
    import numpy

    array = numpy.ascontiguousarray(offsets, dtype=numpy.uint64)
    if array.shape != (count,):
        raise ValueError(f"{count} rows need {count} offsets, not {list(array.shape)}")
    return array


cdef rag_status search(segments, wheres, rag_segment *legs, rag_question *question, int64_t *rows, float *scores,
                       rag_fault *fault):
    cdef size_t count = len(segments)
    cdef Matrix matrix
    for i, matrix in enumerate(segments):
        legs[i].matrix = &matrix.matrix
        legs[i].shadow = &matrix.shadowed if matrix.has_shadow else NULL
        legs[i].where = <const uint64_t *>address_of(wheres[i]) if wheres[i] is not None else NULL
    with nogil:
        return rag_nearest(legs, count, question, rows, scores, fault)


def nearest(segments, queries, k, where=None, threads=None):
    """The k best rows of several matrices together, exactly: (rows int64[m, s, k], scores float32[m, s, k]).

    Each segment's part lists its own rows among the k best of all, and those that tie with the last of them, best first
    and ties by row: merging the parts by score and by any key of the caller's own gives the exact answer. What is left
    over is row -1 with score -inf. `where` is a row set (or None) for each segment.
    """
    import numpy

    cdef rag_question question
    cdef rag_fault fault
    cdef Matrix first = segments[0]
    cdef Matrix matrix
    if k < 0:
        raise ValueError(f"k must not be negative, but is {k}")
    for matrix in segments:
        if matrix.metric != first.metric or matrix.matrix.dim != first.matrix.dim:
            raise ValueError("segments must have the same metric and dimensions")
    array = checked_queries(queries, first.matrix.dim)
    wheres = [None] * len(segments)
    if where is not None:
        wheres = [None if w is None else row_set(w, len(s)) for w, s in zip(where, segments, strict=True)]
    shape = (array.shape[0], len(segments), k)
    rows, scores = numpy.empty(shape, dtype=numpy.int64), numpy.empty(shape, dtype=numpy.float32)
    if array.shape[0] == 0 or k == 0:
        return rows, scores
    question.queries = <const float *>address_of(array)
    question.count = array.shape[0]
    question.dim = first.matrix.dim
    question.metric = METRICS[first.metric]
    question.k = k
    question.threads = 0 if threads is None else max(1, threads)
    cdef rag_segment *legs = <rag_segment *>calloc(len(segments), sizeof(rag_segment))
    if legs == NULL:
        raise MemoryError
    try:
        check(search(segments, wheres, legs, &question, <int64_t *>address_of(rows), <float *>address_of(scores),
                     &fault), &fault)
    finally:
        free(legs)
    return rows, scores


cdef class Outlet:
    """A Python callable that takes what the core writes, and the exception that it raised."""

    cdef object write
    cdef object error


cdef rag_status write_out(void *context, const void *bytes, size_t size) noexcept with gil:
    cdef Outlet outlet = <Outlet>context
    try:
        outlet.write(PyBytes_FromStringAndSize(<const char *>bytes, size))
    except BaseException as error:
        outlet.error = error
        return RAG_OS
    return RAG_OK


def build_shadow(Matrix matrix not None, write):
    """Writes the shadow of a matrix: calls write(bytes) for one piece after the other, in bounded memory."""
    cdef Outlet outlet = Outlet.__new__(Outlet)
    cdef rag_fault fault
    cdef rag_status status
    outlet.write = write
    with nogil:
        status = rag_shadow_build(&matrix.matrix, write_out, <void *>outlet, &fault)
    if outlet.error is not None:
        raise outlet.error
    check(status, &fault)
