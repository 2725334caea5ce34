# The steps after fusion: lists as one, boosts, repeats, diversity.


def fuse_lists(list rows not None, list scores, list weights, double constant):
    """Return (rows, scores) of several ranked lists as one: by weighted scores scaled to 0..1, or by
    ranks with a constant if `scores` is None. rows are int64 arrays, scores float64 arrays."""
    import numpy

    cdef rag_fault fault
    cdef size_t found = 0, count = len(rows), i
    cdef const int64_t[::1] row_view
    cdef const double[::1] score_view
    if scores is not None and not len(scores) == len(weights) == len(rows):
        raise ValueError(f"{len(rows)} lists need as many weights, not {len(weights)}")
    cdef rag_list *lists = <rag_list *>calloc(count + 1, sizeof(rag_list))
    if lists is NULL:
        raise MemoryError()
    total = sum(map(len, rows))
    out_rows, out_scores = numpy.empty(total, numpy.int64), numpy.empty(total)
    try:
        for i in range(count):
            row_view = rows[i]
            lists[i].count = row_view.shape[0]
            lists[i].rows = &row_view[0] if row_view.shape[0] else NULL
            if scores is not None:
                score_view = scores[i]
                if score_view.shape[0] != row_view.shape[0]:
                    raise ValueError("every row has a score")
                lists[i].scores = &score_view[0] if score_view.shape[0] else NULL
                lists[i].weight = weights[i]
        check(rag_lists_fuse(RAG_RRF if scores is None else RAG_BLEND, constant, lists, count,
                             <int64_t *>address_of(out_rows), <double *>address_of(out_scores),
                             &found, &fault), &fault)
    finally:
        free(lists)
    return out_rows[:found], out_scores[:found]


def date_days(str text not None):
    """Return a date of ISO 8601 as days since 1970, or None for another text."""
    cdef double days
    cdef bytes raw = text.encode("utf-8", "surrogatepass")
    return days if rag_date_days(raw, len(raw), &days) else None


def boosts_rank(const double[:, ::1] boosts not None, const double[:, ::1] values not None,
                const double[::1] scores not None):
    """Return (order, scores) of rows after their boosts, which are (weight, reference, half_life).
    values has a row for each of the ranking, with the value of each boost or NaN."""
    import numpy

    cdef rag_fault fault
    cdef size_t count = scores.shape[0]
    if boosts.shape[1] != 3 or values.shape[0] != <Py_ssize_t>count or values.shape[1] != boosts.shape[0]:
        raise ValueError("every row has a value for each boost")
    order, raised = numpy.empty(count, numpy.int64), numpy.array(scores)
    if count and boosts.shape[0]:
        check(rag_boosts_rank(<const rag_boost *>&boosts[0, 0], boosts.shape[0], &values[0, 0],
                              <double *>address_of(raised), count, <int64_t *>address_of(order),
                              &fault), &fault)
    else:
        order[:] = numpy.arange(count)
    return order, raised


cdef class Repeats:
    """Passages of which none nearly repeats another."""

    cdef rag_repeats *kept

    def __cinit__(self):
        self.kept = rag_repeats_new()
        if self.kept is NULL:
            raise MemoryError()

    def __dealloc__(self):
        rag_repeats_free(self.kept)

    def vectors(self, const double[:, ::1] vectors not None, double same, bint keeps):
        """Return a bool for each vector: whether none before it, kept or given, is as near as `same`."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef size_t count = vectors.shape[0], dim = vectors.shape[1]
        is_new = numpy.ones(count, numpy.bool_)
        cdef cbool *flags = <cbool *>address_of(is_new)
        if count and dim:
            with nogil:
                status = rag_repeats_vectors(self.kept, &vectors[0, 0], count, dim, same, keeps,
                                             flags, &fault)
            check(status, &fault)
        return is_new

    def mark(self, uint64_t mark, unsigned int bits, bint keeps):
        """Return whether no kept mark differs in at most `bits` bits."""
        cdef rag_fault fault
        cdef cbool is_new = True
        check(rag_repeats_mark(self.kept, mark, bits, keeps, &is_new, &fault), &fault)
        return bool(is_new)


def simhash(bytes words not None):
    """Return the mark of a text, given its words with one blank between them."""
    return rag_simhash(words, len(words))


def diverse(const double[::1] scores not None, const double[:, ::1] vectors not None, size_t k,
            double share):
    """Return the positions of the first k rows by maximal marginal relevance, or of all."""
    import numpy

    cdef rag_fault fault
    cdef rag_status status = RAG_OK
    cdef size_t count = scores.shape[0], dim = vectors.shape[1]
    if vectors.shape[0] != scores.shape[0]:
        raise ValueError("every row has a vector")
    order = numpy.empty(min(k, count), numpy.int64)
    cdef int64_t *to = <int64_t *>address_of(order)
    cdef const double *directions = &vectors[0, 0] if count and dim else NULL
    if count and k:
        with nogil:
            status = rag_diverse(&scores[0], directions, count, dim, k, share, to, &fault)
        check(status, &fault)
    return order
