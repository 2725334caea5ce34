"""Vectors: matrices in place, their shadows, and exact search over them."""

from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release
from cpython.buffer cimport PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free

from ragfile.errors import ModelError

METRICS = {"cosine": RAG_COSINE, "ip": RAG_IP, "l2": RAG_L2}
SCALARS = {"f16": RAG_F16, "f32": RAG_F32, "f64": RAG_F64}
WIDTHS = {"f16": 2, "f32": 4, "f64": 8}


cdef bint is_plain(queries, Py_buffer *view):
    """Return whether queries are native binary32 rows already; then view holds them. This saves
    half a microsecond over numpy."""
    if not PyObject_CheckBuffer(queries):
        return False
    try:
        PyObject_GetBuffer(queries, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    except (BufferError, ValueError):
        return False
    cdef const char *kind = view.format
    if view.ndim in (1, 2) and kind != NULL and kind[0] == c"f" and kind[1] == 0:
        return True
    PyBuffer_Release(view)
    return False


cdef plain_array(queries):
    """Convert other numbers to native binary32 rows."""
    import numpy

    array = numpy.asarray(queries)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"queries must be numbers, not {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError("queries must be one vector or a matrix of them, "
                         f"not an array of {array.ndim} axes")
    state = numpy.errstate(over="ignore")
    state.__enter__()
    try:
        return numpy.ascontiguousarray(array, dtype=numpy.float32)
    finally:
        state.__exit__(None, None, None)


cdef int take_queries(queries, rag_question *question, Py_buffer *view) except -1:
    """Set a question's queries, checked once as finite binary32 rows. The caller releases view,
    which holds them."""
    if not is_plain(queries, view):
        PyObject_GetBuffer(plain_array(queries), view, PyBUF_C_CONTIGUOUS)
    cdef size_t dim = view.shape[view.ndim - 1], bad
    cdef size_t count = view.shape[0] if view.ndim == 2 else 1
    try:
        if dim != question.dim:
            raise ModelError(f"queries have {dim} dimensions, the vectors have {question.dim}")
        bad = rag_first_not_finite(<const float *>view.buf, count * dim) if count else 0
        if bad < count * dim:
            raise ValueError(f"query {bad // dim} is not finite at component {bad % dim}")
    except BaseException:
        PyBuffer_Release(view)
        raise
    question.queries = <const float *>view.buf
    question.count = count
    return 0


cdef class Matrix:
    """Vectors in a section or any buffer, searched in place.

    Row i starts at byte `at + i * stride`, or at `offsets[i]`; stride defaults to dim components.
    `shadow` is the section written by a Shadow of these rows; with `clusters`, the section written
    by a Clustering, the shadow's rows are in that order.
    """

    cdef rag_matrix matrix
    cdef rag_shadow shadowed
    cdef rag_clusters clustered
    cdef bint has_shadow, has_clusters
    cdef rag_metric ranking
    cdef readonly str metric
    cdef object owners
    cdef object empty, int64, float32  # of numpy, imported once

    def __init__(self, section, rows, dim, stride=None, dtype="f32", *, big_endian=False, at=0,
                 offsets=None,
                 metric="cosine", shadow=None, clusters=None):
        cdef rag_fault fault
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, not {metric!r}")
        if dtype not in SCALARS:
            raise ValueError(f"dtype must be one of {', '.join(SCALARS)}, not {dtype!r}")
        cdef Section bytes = as_section(section)
        cdef Section shade = None if shadow is None else as_section(shadow)
        cdef Section cells = None if clusters is None else as_section(clusters)
        import numpy

        self.empty = numpy.empty
        self.int64, self.float32 = numpy.dtype("int64"), numpy.dtype("float32")
        self.metric, self.ranking = metric, METRICS[metric]
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
        self.owners = (bytes, shade, cells, offsets)
        check(rag_matrix_check(&self.matrix, &fault), &fault)
        if shade is not None:
            check(rag_shadow_open(&self.shadowed, &shade.guard, &self.matrix, &fault), &fault)
            self.has_shadow = True
        if cells is not None:
            check(rag_clusters_open(&self.clustered, &cells.guard, &self.matrix, &fault), &fault)
            self.has_clusters = True

    def __dealloc__(self):
        rag_clusters_close(&self.clustered)

    def __len__(self):
        return self.matrix.count

    @property
    def dim(self):
        return self.matrix.dim

    @property
    def kept(self):
        """The number of axes that its shadow keeps; 0 for a plain shadow or none."""
        return self.shadowed.kept if self.has_shadow else 0

    @property
    def group_rows(self):
        """The number of rows in a group of its shadow; 0 without one."""
        return self.shadowed.group_rows if self.has_shadow else 0

    def check_shadow(self):
        """Raise CorruptError unless the bounds of its shadow and clusters, which searches trust,
        hold for every row."""
        cdef rag_fault fault
        cdef rag_status status = RAG_OK
        if self.has_shadow and self.has_clusters:
            with nogil:
                status = rag_clusters_check(&self.clustered, &self.shadowed, &self.matrix, &fault)
        elif self.has_shadow:
            with nogil:
                status = rag_shadow_check(&self.shadowed, &self.matrix, &fault)
        check(status, &fault)

    @property
    def clusters(self):
        """The number of clusters that order its shadow; 0 for none."""
        return self.clustered.count if self.has_clusters else 0

    def places_of(self, rows):
        """Return the places of rows in cluster order, int64."""
        import numpy

        order = numpy.concatenate([numpy.empty(0, numpy.int64), *self.cluster_rows()])
        places = numpy.full(self.matrix.count, -1, numpy.int64)
        places[order] = numpy.arange(order.size)
        return places[rows]

    def cluster_rows(self):
        """Return the rows of each cluster, in the order of places."""
        cdef rag_fault fault
        cdef uint32_t i
        if not self.has_clusters:
            return []
        check(rag_guard_check(&self.clustered.guard, 0, self.clustered.guard.size, &fault), &fault)
        import numpy

        cdef const uint32_t *at = <const uint32_t *>rag_guard_at(&self.clustered.guard,
                                                                 self.clustered.order_at)
        order = numpy.asarray(<const uint32_t[:self.matrix.count]>at)
        starts = [rag_clusters_start(&self.clustered, i) for i in range(self.clustered.count + 1)]
        return [order[a:b].tolist() for a, b in zip(starts, starts[1:])]

    def nearest(self, queries, k, where=None, threads=None, least=None, effort=1.0, recall=None):
        """Return the exact k best rows for each query: (rows int64[m, k], scores float32[m, k]),
        best first, ties by row.

        Rows that score below least, one number per query, are omitted. Missing results are row -1
        with score -inf. `where` is a row set, or the queries' own Filters.

        With an effort below 1, only that share of the rows is visited, the most promising clusters
        first; recall, float64[m], then gets the share of the k best in each result: 1 if proved,
        else an estimate.
        """
        if where is not None and not isinstance(where, Filters):
            where = row_set(where, self.matrix.count)
        return answer(self, None, queries, k, where, threads, least, effort, recall)

    def scores(self, rows, query):
        """Return the canonical scores of given rows for one query; NaN for a row with a NaN or an
        infinity."""
        import numpy

        cdef rag_question question
        cdef rag_fault fault
        cdef rag_status status
        cdef Py_buffer view
        wanted = numpy.ascontiguousarray(rows, dtype=numpy.int64).reshape(-1)
        found = self.empty(wanted.size, self.float32)
        cdef const int64_t *from_ = <const int64_t *>address_of(wanted)
        cdef float *to = <float *>address_of(found)
        cdef size_t count = wanted.size
        question.dim = self.matrix.dim
        question.metric = self.ranking
        take_queries(query, &question, &view)
        try:
            if question.count != 1:
                raise ValueError(f"scores takes one query, not {question.count}")
            with nogil:
                status = rag_scores(&self.matrix, &question, from_, count, to, &fault)
        finally:
            PyBuffer_Release(&view)
        check(status, &fault)
        return found


    def bounds(self, rows, query):
        """Return the shadow's lower and upper bounds of given rows' scores for one query,
        float32[n, 2]; None without a shadow."""
        import numpy

        cdef rag_question question
        cdef rag_fault fault
        cdef rag_status status
        cdef Py_buffer view
        if not self.has_shadow:
            return None
        wanted = numpy.ascontiguousarray(rows, dtype=numpy.int64).reshape(-1)
        if self.has_clusters:
            wanted = self.places_of(wanted)
        found = numpy.empty((wanted.size, 2), numpy.float32)
        cdef const int64_t *from_ = <const int64_t *>address_of(wanted)
        cdef rag_bounds *to = <rag_bounds *>address_of(found)
        cdef size_t count = wanted.size
        question.dim = self.matrix.dim
        question.metric = self.ranking
        take_queries(query, &question, &view)
        try:
            if question.count != 1:
                raise ValueError(f"bounds takes one query, not {question.count}")
            status = rag_shadow_bounds(&self.shadowed, &question, from_, count, to, &fault)
        finally:
            PyBuffer_Release(&view)
        check(status, &fault)
        return found


cdef class Sample:
    """Sample vectors as binary32, for the mean and deviation of a query's scores. They are copied,
    or read where they are if `copy` is false and their components are without gaps."""

    cdef rag_sample sample
    cdef object owners

    def __init__(self, vectors, metric="cosine", *, bint copy=True):
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        rows = vectors
        if copy or vectors.dtype != numpy.float32 or vectors.strides[1] != 4:
            rows = numpy.array(vectors, dtype=numpy.float32, order="C", ndmin=2)
        squares = numpy.empty(len(rows))
        self.owners = (rows, squares)
        self.sample.rows = <const float *><size_t>rows.__array_interface__["data"][0]
        self.sample.stride = rows.strides[0]
        self.sample.squares = <double *>address_of(squares)
        self.sample.count, self.sample.dim = rows.shape[0], rows.shape[1]
        self.sample.metric = METRICS[metric]
        with nogil:
            status = rag_sample_squares(&self.sample, &fault)
        check(status, &fault)

    def __len__(self):
        return self.sample.count

    def moments(self, query):
        """Return (mean, deviation) of the query's canonical scores, each from a sum rounded
        once."""
        cdef rag_question question
        cdef rag_fault fault
        cdef rag_status status
        cdef Py_buffer view
        cdef double mean = 0, deviation = 0
        question.dim = self.sample.dim
        take_queries(query, &question, &view)
        try:
            if question.count != 1:
                raise ValueError(f"moments takes one query, not {question.count}")
            with nogil:
                status = rag_sample_moments(&self.sample, question.queries, &mean, &deviation,
                                            &fault)
        finally:
            PyBuffer_Release(&view)
        check(status, &fault)
        return mean, deviation


cdef class StoredSample:
    """The section rag.sample: the rows of a segment that calibrate fusion, with their vectors."""

    cdef rag_stored_sample sample
    cdef Section owner
    cdef readonly uint32_t dim, bits

    def __cinit__(self, Section section not None, uint64_t rows, uint32_t dim, uint32_t bits):
        cdef rag_fault fault
        self.owner, self.dim, self.bits = section, dim, bits
        self.sample.guard = section.guard
        check(rag_stored_sample_open(&self.sample, rows, dim, bits, &fault), &fault)

    def __len__(self):
        return self.sample.count

    def pairs(self):
        """Return [(hash, row)] in order."""
        cdef uint64_t i, hash_ = 0, row = 0
        found = []
        for i in range(self.sample.count):
            rag_stored_sample_entry(&self.sample, i, &hash_, &row)
            found.append((hash_, row))
        return found

    @property
    def vectors(self):
        """The vectors as stored, in the order of pairs()."""
        import numpy

        kind = numpy.dtype("<f4" if self.bits == 32 else "<f2")
        return numpy.ndarray((self.sample.count, self.dim), kind,
                             buffer=memoryview(Bare(self.owner)), offset=self.sample.at)


def stored_sample(pairs, vectors):
    """Return the bytes of rag.sample for [(hash, row)] in order and their vectors as stored."""
    cdef uint8_t head[64]
    cdef uint64_t count = len(pairs)
    rag_stored_sample_head(head, count, vectors.shape[1], 8 * vectors.itemsize)
    hashes, rows = array("Q", [h for h, _ in pairs]), array("Q", [row for _, row in pairs])
    made = (<const char *>head)[:RAG_SAMPLE_HEAD] + hashes.tobytes() + rows.tobytes()
    return made.ljust(rag_stored_sample_vectors(count), b"\0") + vectors.tobytes()


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


cdef void fill_leg(rag_segment *leg, Matrix matrix, where) except *:
    leg.matrix = &matrix.matrix
    leg.shadow = &matrix.shadowed if matrix.has_shadow else NULL
    leg.clusters = &matrix.clustered if matrix.has_clusters else NULL
    leg.where = <const uint64_t *>address_of(where) if where is not None else NULL


cdef rag_status search(Matrix first, segments, wheres, rag_question *question, int64_t *rows,
                       float *scores,
                       rag_fault *fault) except *:
    """Search one matrix (segments is None, wheres its row set) or several."""
    cdef rag_segment leg
    cdef rag_segment *legs = &leg
    cdef size_t count = 1 if segments is None else len(segments)
    if segments is None:
        fill_leg(&leg, first, wheres)
        with nogil:
            return rag_nearest(legs, 1, question, rows, scores, fault)
    legs = <rag_segment *>calloc(count, sizeof(rag_segment))
    if legs == NULL:
        raise MemoryError
    try:
        for i in range(count):
            fill_leg(&legs[i], segments[i], wheres[i])
        with nogil:
            return rag_nearest(legs, count, question, rows, scores, fault)
    finally:
        free(legs)


cdef answer(Matrix first, segments, queries, k, wheres, threads, least, effort, recall):
    """Return (rows, scores) of one matrix, shaped [m, k], or of several, shaped [m, s, k]."""
    cdef rag_question question
    cdef rag_fault fault
    cdef Py_buffer view
    cdef rag_status status = RAG_OK
    if k < 0:
        raise ValueError(f"k must not be negative, but is {k}")
    question.dim = first.matrix.dim
    question.metric = first.ranking
    question.k = k
    question.threads = 0 if threads is None else max(1, threads)
    question.filters = NULL
    question.effort = checked_effort(effort)
    question.recall = NULL
    take_queries(queries, &question, &view)
    try:
        if recall is not None:
            question.recall = recall_of(recall, question.count)
        if isinstance(wheres, Filters):
            question.filters = (<Filters>wheres).fitting(
                [first] if segments is None else segments, question.count)
            wheres = None if segments is None else [None] * len(segments)
        least = None if least is None else least_scores(least, question.count)
        question.least = <const float *>address_of(least) if least is not None else NULL
        shape = (question.count, k) if segments is None else (question.count, len(segments), k)
        rows, scores = first.empty(shape, first.int64), first.empty(shape, first.float32)
        if question.count and question.k:
            status = search(first, segments, wheres, &question, <int64_t *>address_of(rows),
                            <float *>address_of(scores), &fault)
    finally:
        PyBuffer_Release(&view)
    check(status, &fault)
    return rows, scores


cdef double checked_effort(effort) except? -1:
    cdef double share = effort
    if not 0 < share <= 1:
        raise ValueError(f"effort is a share of the rows above 0, up to 1, not {effort!r}")
    return share


cdef double *recall_of(recall, size_t count) except NULL:
    """Set recall, one number per query, to 1 and return its address."""
    cdef double[::1] view = recall
    if <size_t>view.shape[0] != count:
        raise ValueError(f"recall is a number for each of {count} queries")
    recall[:] = 1.0
    return <double *>address_of(recall)


cdef least_scores(least, count):
    """Return a finite binary32 minimum score for each query, or -inf for no minimum."""
    import numpy

    array = numpy.ascontiguousarray(least, dtype=numpy.float32).reshape(-1)
    if array.size != count or not (array < numpy.inf).all():
        raise ValueError(f"least is a number for each of {count} queries, not {least!r:.80}")
    return array


def nearest(segments, queries, k, where=None, threads=None, least=None, effort=1.0, recall=None):
    """Return the exact k best rows of several matrices together: (rows int64[m, s, k], scores
    float32[m, s, k]).

    Each segment's part lists its own rows among the k best overall, and those that tie with the
    last, best first and ties by row: a merge of the parts by score and any key of the caller gives
    the exact result. Missing results are row -1 with score -inf. `where` is a row set (or None) for
    each segment, or the queries' own Filters. effort and recall are as in Matrix.nearest.
    """
    cdef Matrix first = segments[0], matrix
    for matrix in segments:
        if matrix.ranking != first.ranking or matrix.matrix.dim != first.matrix.dim:
            raise ValueError("segments must have the same metric and dimensions")
    wheres = [None] * len(segments)
    if isinstance(where, Filters):
        wheres = where
    elif where is not None:
        wheres = [None if w is None else row_set(w, len(s))
                  for w, s in zip(where, segments, strict=True)]
    return answer(first, segments, queries, k, wheres, threads, least, effort, recall)


cdef class Shadow:
    """An unwritten shadow of a matrix, with the section's name and size. rotate=False keeps the
    shadow plain. `placed` is the matrix with its rows in the shadow's order; the axes are chosen
    from the matrix itself."""

    cdef Matrix matrix
    cdef rag_rotation *rotation
    cdef bint is_placed

    def __init__(self, Matrix matrix not None, *, rotate=True, Matrix placed=None):
        cdef rag_fault fault
        cdef rag_status status = RAG_OK
        self.matrix = matrix
        if rotate and self.rotation == NULL:
            with nogil:
                status = rag_rotation_choose(&matrix.matrix, &self.rotation, &fault)
        check(status, &fault)
        if placed is not None:
            self.matrix, self.is_placed = placed, True

    def __dealloc__(self):
        rag_rotation_free(self.rotation)

    @property
    def name(self):
        if self.is_placed:
            return "rag.clustered"
        return "rag.shadow" if self.rotation == NULL else "rag.planes"

    @property
    def size(self):
        return rag_shadow_size(&self.matrix.matrix, self.rotation)

    def write(self, write):
        """Write the section piece by piece through write(bytes), in bounded memory."""
        cdef Outlet outlet = Outlet.__new__(Outlet)
        cdef rag_fault fault
        cdef rag_status status
        outlet.write = write
        with nogil:
            status = rag_shadow_build(&self.matrix.matrix, self.rotation, write_out,
                                      <void *>outlet, &fault)
        if outlet.error is not None:
            raise outlet.error
        check(status, &fault)


cdef class Clustering:
    """Unwritten clusters of a matrix's rows. len() is 0 without rows, or if they are too wide."""

    cdef rag_clustering *clustering
    cdef uint64_t rows
    cdef bint is_measured

    def __init__(self, Matrix matrix not None, wanted, threads=1):
        cdef rag_fault fault
        cdef rag_status status
        cdef uint64_t count = wanted
        cdef int workers = threads
        if self.clustering != NULL:
            raise RuntimeError("clusters are chosen once")
        self.rows = matrix.matrix.count
        with nogil:
            status = rag_clustering_choose(&matrix.matrix, count, workers, &self.clustering, &fault)
        check(status, &fault)

    def __dealloc__(self):
        rag_clustering_free(self.clustering)

    def __len__(self):
        return 0 if self.clustering == NULL else rag_clustering_count(self.clustering)

    @property
    def order(self):
        """A copy of the row at each place, uint32."""
        import numpy

        if not len(self):
            return numpy.empty(0, numpy.uint32)
        cdef const uint32_t *at = rag_clustering_order(self.clustering)
        return numpy.asarray(<const uint32_t[:self.rows]>at).copy()

    def measure(self, Matrix placed not None):
        """Compute centroids and radii from the rows in that order. Call before write."""
        cdef rag_fault fault
        cdef rag_status status
        if not len(self):
            raise ValueError("there are no clusters to measure")
        with nogil:
            status = rag_clustering_measure(self.clustering, &placed.matrix, &fault)
        check(status, &fault)
        self.is_measured = True

    @property
    def size(self):
        return rag_clustering_size(self.clustering) if len(self) else 0

    def write(self, write):
        """Write the section rag.clusters piece by piece through write(bytes)."""
        if not self.is_measured:
            raise ValueError("clusters are measured before they are written")
        cdef Outlet outlet = Outlet.__new__(Outlet)
        cdef rag_fault fault
        cdef rag_status status
        outlet.write = write
        with nogil:
            status = rag_clustering_write(self.clustering, write_out, <void *>outlet)
        if outlet.error is not None:
            raise outlet.error
        check(status, &fault)


VECTOR_HEAD = RAG_VECTOR_HEAD
VectorLayout = namedtuple("VectorLayout", "dim bits rows stride at", module=__name__)


def moments(const float[::1] values not None):
    """Return (mean, deviation) of a sample's scores, each sum rounded once."""
    cdef double mean = 0, deviation = 0
    cdef size_t count = values.shape[0]
    cdef double[::1] room
    if count:
        room = array("d", bytes(8 * count))
        rag_moments(&values[0], &room[0], count, &mean, &deviation)
    return mean, deviation


def vector_head(uint64_t at, uint32_t dim, uint32_t bits, uint64_t rows):
    """Return the first 64 bytes of a 1.0 vector section at file offset `at`."""
    cdef uint8_t head[64]
    rag_vector_head(head, at, dim, bits, rows)
    return (<const char *>head)[:64]


def vector_rows(const uint8_t[:, ::1] components not None, uint64_t first):
    """Encode rows of component bytes as pairs that refer to c<first>, c<first + 1>, …"""
    cdef size_t rows = components.shape[0], size = components.shape[1]
    out = bytearray(rows * (size + RAG_REFERENCE_SIZE))
    cdef uint8_t[::1] view = out
    if rows:
        with nogil:
            rag_vector_rows(&view[0], &components[0, 0], size, first, rows)
    return out


def vector_layout(Section section not None, uint64_t section_at):
    """Check a 1.0 vector section and return its VectorLayout; `at` is the offset of the first
    row."""
    cdef rag_fault fault
    cdef rag_vectors v
    check(rag_vector_open(&section.guard, section_at, &v, &fault), &fault)
    return VectorLayout(v.dim, v.bits, v.rows, v.stride, v.at)
