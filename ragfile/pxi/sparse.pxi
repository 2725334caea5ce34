# Weights of terms that a writer brings: the section rag.sparse.




cdef bytes sparse_name(term):
    """Return the UTF-8 of a term, or raise an error that names it."""
    if not isinstance(term, str):
        raise TypeError(f"a term of sparse weights is a str, not {type(term).__name__}")
    try:
        raw = term.encode()
    except UnicodeEncodeError:
        raise ValueError(f"the term {term!r:.80} has a lone surrogate") from None
    if not 1 <= len(raw) <= RAG_SPARSE_TERM or b"\0" in raw:
        raise ValueError(f"a term of sparse weights has 1 to {RAG_SPARSE_TERM} bytes of UTF-8 and "
                         f"no NUL, not {term!r:.80}")
    return raw


cdef double sparse_value(term, weight) except -1:
    """Return a weight, 0 for one that is left out."""
    cdef double value = weight
    if not 0 <= value <= RAG_SPARSE_MOST:
        raise ValueError(f"the weight of {term!r:.80} is not between 0 and {RAG_SPARSE_MOST:,}: "
                         f"{weight!r}")
    return value if value >= 2.0 ** -17 else 0


cdef list sparse_items(weights):
    """Return (UTF-8, weight) of a mapping, ascending, without the weights that are left out."""
    if not hasattr(weights, "items"):
        raise TypeError("sparse weights are a mapping from terms to numbers, not "
                        f"{type(weights).__name__}")
    found = [(sparse_name(term), value) for term, weight in weights.items()
             if (value := sparse_value(term, weight))]
    found.sort()
    return found


def sparse_packed(weights):
    """Return the weights of a row as SparseBuilder takes them, empty for none."""
    cdef bytearray packed = bytearray()
    cdef uint8_t[2] code
    cdef uint32_t found
    for name, value in sparse_items(weights):
        found = rag_sparse_code(value)
        code[0], code[1] = found & 255, found >> 8
        packed.append(len(name))
        packed += name
        packed += (<const char *>code)[:2]
    return bytes(packed)


def sparse_rounded(double weight):
    """Return a weight as a file stores it; 0 for one that is left out."""
    cdef uint32_t code = rag_sparse_code(weight)
    return 0.0 if code == RAG_SPARSE_NONE else rag_sparse_weight(code)


cdef class SparseBuilder:
    """Builds rag.sparse: count all rows, plan, then begin, put all rows and end for each part."""

    cdef rag_sparse_builder *builder

    def __cinit__(self, size_t memory):
        self.builder = rag_sparse_builder_new(memory)
        if self.builder == NULL:
            raise MemoryError

    def __dealloc__(self):
        rag_sparse_builder_free(self.builder)

    def count(self, bytes packed not None):
        """Count the next row."""
        cdef rag_fault fault
        cdef const uint8_t *at = packed
        check(rag_sparse_builder_count(self.builder, at, len(packed), &fault), &fault)

    def plan(self):
        """Return the number of all weights, and of parts."""
        cdef rag_fault fault
        cdef uint64_t weights = 0, parts = 0
        check(rag_sparse_builder_plan(self.builder, &weights, &parts, &fault), &fault)
        return weights, parts

    def begin(self, uint64_t part, write):
        """Begin a part."""
        cdef rag_fault fault
        cdef Outlet outlet = Outlet.__new__(Outlet)
        outlet.write = write
        cdef rag_status status = rag_sparse_builder_begin(self.builder, part, write_out,
                                                          <void *>outlet, &fault)
        if outlet.error is not None:
            raise outlet.error
        check(status, &fault)

    def put(self, bytes packed not None):
        """Put the next row into the part."""
        cdef rag_fault fault
        cdef const uint8_t *at = packed
        check(rag_sparse_builder_put(self.builder, at, len(packed), &fault), &fault)

    def end(self, write):
        """Write the part."""
        cdef rag_fault fault
        cdef Outlet outlet = Outlet.__new__(Outlet)
        outlet.write = write
        cdef rag_status status = rag_sparse_builder_end(self.builder, write_out, <void *>outlet,
                                                        &fault)
        if outlet.error is not None:
            raise outlet.error
        check(status, &fault)


cdef class SparseQuestion:
    """The weights of a question. `pairs` are its terms, ascending by bytes, each with its weight."""

    cdef readonly tuple pairs
    cdef list names
    cdef rag_sparse_term *terms
    cdef size_t count

    def __cinit__(self, weights):
        cdef size_t i
        cdef bytes name
        items = sparse_items(weights)
        self.count = len(items)
        self.terms = <rag_sparse_term *>calloc(self.count + 1, sizeof(rag_sparse_term))
        if self.terms == NULL:
            raise MemoryError
        self.names = [name for name, _ in items]
        pairs = []
        for i in range(self.count):
            name = self.names[i]
            self.terms[i].bytes, self.terms[i].size = name, len(name)
            self.terms[i].weight = items[i][1]
            pairs.append((name.decode(), self.terms[i].weight))
        self.pairs = tuple(pairs)

    def __dealloc__(self):
        free(self.terms)

    def __len__(self):
        return self.count

    def __reduce__(self):
        return SparseQuestion, (dict(self.pairs),)


cdef class SparseWeights:
    """The section rag.sparse of a segment."""

    cdef rag_sparse *sparse
    cdef rag_sparse_info info
    cdef Section owner

    def __cinit__(self, Section section not None):
        cdef rag_fault fault
        self.owner = section
        check(rag_sparse_open(&section.guard, &self.sparse, &fault), &fault)
        sparse_info(self.sparse, &self.info)

    def __dealloc__(self):
        rag_sparse_close(self.sparse)

    @property
    def rows(self):
        return self.info.rows

    @property
    def terms(self):
        return self.info.terms

    def __len__(self):
        """Return the number of weights."""
        return self.info.weights

    def check_all(self):
        """Raise FormatError unless everything is as the specification demands."""
        cdef rag_fault fault
        cdef rag_status status
        with nogil:
            status = rag_sparse_check(self.sparse, &fault)
        check(status, &fault)

    def term(self, uint64_t number):
        """Return a term by its number."""
        cdef rag_fault fault
        cdef const uint8_t *at = NULL
        cdef size_t size = 0
        check(sparse_term(self.sparse, number, &at, &size, &fault), &fault)
        return (<const char *>at)[:size].decode("utf-8", "replace")

    def by_row(self, uint64_t rows):
        """Return the weights by row, in a segment of so many rows."""
        return SparseRows(self, rows)

    def score(self, const int64_t[::1] rows not None, SparseQuestion question not None):
        """Return the score of each row, float32; rows are in ascending order."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef size_t count = rows.shape[0]
        found = numpy.zeros(count, numpy.float32)
        cdef float *to = <float *>address_of(found)
        if count:
            with nogil:
                status = rag_sparse_score(self.sparse, question.terms, question.count, &rows[0],
                                          count, to, &fault)
            check(status, &fault)
        return found


cdef class SparseRows:
    """The weights of a segment by row, in 6 bytes a weight of memory."""

    cdef SparseWeights owner
    cdef uint64_t *starts
    cdef uint32_t *terms
    cdef uint16_t *codes
    cdef dict names

    def __cinit__(self, SparseWeights owner not None, uint64_t rows):
        cdef rag_fault fault
        cdef rag_status status
        cdef uint64_t weights = owner.info.weights
        self.owner, self.names = owner, {}
        if rows != owner.info.rows:
            raise FormatError(f"rag.sparse is of {owner.info.rows} rows, its segment has {rows}")
        if weights > owner.owner.guard.size:
            raise FormatError("rag.sparse has more weights than bytes")
        self.starts = <uint64_t *>calloc(rows + 1, sizeof(uint64_t))
        self.terms = <uint32_t *>calloc(weights + 1, sizeof(uint32_t))
        self.codes = <uint16_t *>calloc(weights + 1, sizeof(uint16_t))
        if self.starts == NULL or self.terms == NULL or self.codes == NULL:
            raise MemoryError
        with nogil:
            status = rag_sparse_by_row(owner.sparse, self.starts, self.terms, self.codes, &fault)
        check(status, &fault)

    def __dealloc__(self):
        free(self.starts)
        free(self.terms)
        free(self.codes)

    cdef bytes name(self, uint32_t term):
        found = self.names.get(term)
        if found is None:
            found = self.names[term] = self.owner.term(term).encode()
        return found

    def weights(self, uint64_t row):
        """Return {term: weight} of a row."""
        cdef uint64_t i
        if row >= self.owner.info.rows:
            raise IndexError(f"row {row} of {self.owner.info.rows}")
        return {self.name(self.terms[i]).decode(): rag_sparse_weight(self.codes[i])
                for i in range(self.starts[row], self.starts[row + 1])}

    def packed(self, uint64_t row):
        """Return the weights of a row as SparseBuilder takes them."""
        cdef uint64_t i
        cdef uint8_t[2] code
        cdef bytearray packed = bytearray()
        if row >= self.owner.info.rows:
            raise IndexError(f"row {row} of {self.owner.info.rows}")
        for i in range(self.starts[row], self.starts[row + 1]):
            name = self.name(self.terms[i])
            code[0], code[1] = self.codes[i] & 255, self.codes[i] >> 8
            packed.append(len(name))
            packed += name
            packed += (<const char *>code)[:2]
        return bytes(packed)


def sparse_search(legs, questions, size_t k):
    """Return (rows int64[m, s, k], scores float32[m, s, k]) of the questions in segments: each
    segment's rows among the k best of all, by their numbers there. legs are (SparseWeights, words of
    the rows that may be found or None). Missing results are row -1."""
    import numpy

    cdef SparseWeights weights
    cdef SparseQuestion question
    cdef const uint64_t[::1] words
    cdef rag_fault fault
    cdef rag_status status = RAG_OK
    cdef size_t count = len(legs), i = 0
    found = numpy.full((len(questions), count, k), -1, numpy.int64)
    best = numpy.full((len(questions), count, k), -INFINITY, numpy.float32)
    cdef int64_t *to = <int64_t *>address_of(found)
    cdef float *of = <float *>address_of(best)
    cdef rag_sparse_leg *asked = <rag_sparse_leg *>calloc(count + 1, sizeof(rag_sparse_leg))
    if asked == NULL:
        raise MemoryError
    try:
        for weights, where in legs:
            asked[i].sparse = weights.sparse
            if where is not None:
                words = where
                if <uint64_t>words.shape[0] * 64 < weights.info.rows:
                    raise ValueError("the rows to search have fewer bits than there are rows")
                asked[i].where = &words[0] if words.shape[0] else NULL
            i += 1
        for i, question in enumerate(questions):
            with nogil:
                status = rag_sparse_search(asked, count, question.terms, question.count, k,
                                           to + i * count * k, of + i * count * k, &fault)
            check(status, &fault)
    finally:
        free(asked)
    best[found < 0] = -INFINITY
    return found, best
