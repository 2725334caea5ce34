# Merge results of several segments, and of words and vectors: whole batches without the GIL.

METHODS = {"calibrated": RAG_CALIBRATED, "rrf": RAG_RRF, "blend": RAG_BLEND}


cdef class Parts:
    """The segments of a file for merging: (first row, rows, Records or None, Matrix or None) of
    each, in order of first row. Several segments need their records, to order ties."""

    cdef rag_part *parts
    cdef size_t count
    cdef list owners

    def __cinit__(self, segments):
        cdef Matrix matrix
        self.owners = []
        self.parts = <rag_part *>calloc(len(segments) or 1, sizeof(rag_part))
        if self.parts == NULL:
            raise MemoryError
        for base, rows, records, matrix in segments:
            self.parts[self.count].base, self.parts[self.count].rows = base, rows
            if records is not None:
                self.parts[self.count].records = <const rag_records *>records_at(records)
            if matrix is not None:
                self.parts[self.count].matrix = &matrix.matrix
            if records is None and len(segments) > 1:
                raise ValueError("several segments need their records")
            self.owners.append((records, matrix))
            self.count += 1

    def __dealloc__(self):
        free(self.parts)

    def __len__(self):
        return self.count

    def first_rows(self, const int64_t[::1] rows not None):
        """Return the first row of the document of each row. Every segment needs its records."""
        import numpy

        cdef rag_fault fault
        found = numpy.empty(rows.shape[0], numpy.int64)
        if rows.shape[0]:
            check(rag_parts_first_rows(self.parts, self.count, &rows[0], rows.shape[0],
                                       <int64_t *>address_of(found), &fault), &fault)
        return found

    def merge(self, rows, scores, size_t k, int threads=1):
        """Return (rows int64[m, k], scores float32[m, k]), the k best of the segments' results.
        Overwrites the given arrays [m, s, k]. Missing results are row -1, score -inf."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef int64_t[:, :, ::1] rows_view = rows
        cdef float[:, :, ::1] scores_view = scores
        cdef size_t m = rows_view.shape[0]
        if (scores_view.shape[0] != rows_view.shape[0] or <size_t>rows_view.shape[1] != self.count
                or <size_t>rows_view.shape[2] != k or scores_view.shape[1] != rows_view.shape[1]
                or scores_view.shape[2] != rows_view.shape[2]):
            raise ValueError("rows and scores are [questions, segments, k]")
        found, best = numpy.empty((m, k), numpy.int64), numpy.empty((m, k), numpy.float32)
        cdef int64_t *to = <int64_t *>address_of(found)
        cdef float *of = <float *>address_of(best)
        if m and k and self.count:
            with nogil:
                status = rag_merge(self.parts, self.count, &rows_view[0, 0, 0],
                                   &scores_view[0, 0, 0], m, k, threads, to, of, &fault)
            check(status, &fault)
        return found, best

    def rank_code(self, texts, rows, scores):
        """Return (order int64[m, k], scores float64[m, k]): the ranking of each text's rows, best
        first, again by the paths of source code. Every segment needs its records. Missing rows, -1,
        stay last."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef const int64_t[:, ::1] rows_view = rows
        cdef const double[:, ::1] scores_view = scores
        cdef size_t count, k = rows_view.shape[1]
        cdef const uint8_t *text_at
        cdef rag_code_score *found = <rag_code_score *>calloc(k + 1, sizeof(rag_code_score))
        if found == NULL:
            raise MemoryError
        try:
            if rows.shape != scores.shape or len(texts) != len(rows):
                raise ValueError("every text has rows with their scores")
            order = numpy.empty(rows.shape, numpy.int64)
            ranked = numpy.full(rows.shape, -numpy.inf)
            for i, text in enumerate(texts):
                raw = text.encode("utf-8", "surrogatepass")
                text_at, size = raw, len(raw)
                count = 0
                while count < k and rows_view[i, count] >= 0:
                    count += 1
                if count:
                    check(rag_code_rank_rows(self.parts, self.count, text_at, size,
                                             &rows_view[i, 0], &scores_view[i, 0], count, found,
                                             &fault), &fault)
                put_ranked(found, count, order[i], ranked[i])
            return order, ranked
        finally:
            free(found)


cdef put_ranked(const rag_code_score *found, size_t count, int64_t[::1] order,
                double[::1] scores):
    """Write the order and the scores of ranked candidates; the places after them keep theirs."""
    cdef size_t i, k = order.shape[0]
    for i in range(k):
        order[i] = found[i].at if i < count else i
        if i < count:
            scores[i] = found[i].score


CodeScore = namedtuple("CodeScore", "at score path file prior discount",
                       module=__name__)


def rank_code(text, ids, scores):
    """Return the CodeScore of each candidate, best first. `ids` has the documents' ids as UTF-8, in the
    order of the scores, which begin with the best one."""
    cdef rag_fault fault
    cdef size_t i, count = len(ids)
    cdef const uint8_t *text_at
    cdef rag_code_candidate *all = <rag_code_candidate *>calloc(count + 1, sizeof(rag_code_candidate))
    cdef rag_code_score *out = <rag_code_score *>calloc(count + 1, sizeof(rag_code_score))
    try:
        if all == NULL or out == NULL:
            raise MemoryError
        if len(scores) != count:
            raise ValueError("every candidate has an id and a score")
        kept = [bytes(one) for one in ids]
        for i in range(count):
            all[i].id, all[i].id_size, all[i].score = kept[i], len(kept[i]), scores[i]
        raw = text.encode("utf-8", "surrogatepass")
        text_at = raw
        check(rag_code_rank(text_at, len(raw), all, count, out, &fault), &fault)
        return [CodeScore(out[i].at, out[i].score, out[i].path, out[i].file, out[i].prior,
                          out[i].discount) for i in range(count)]
    finally:
        free(all)
        free(out)


def is_code(doc_id):
    """Return whether the suffix of a document's id is one of source code."""
    raw = doc_id.encode("utf-8", "surrogatepass")
    cdef const uint8_t *at = raw
    return rag_is_code(at, len(raw))


cdef class Fusion:
    """Hybrid search over a file's segments. `lexicon` is a Lexicon if there is one segment without
    deleted rows, else Lexicons."""

    cdef Parts parts
    cdef object lexicon
    cdef object legs
    cdef rag_fusion fusion
    cdef rag_segment *segments  # the vectors of each part; NULL if one has none
    cdef Matrix matrix

    def __init__(self, Parts parts not None, lexicon, Matrix matrix not None):
        cdef const void *legs
        cdef const void *stats
        cdef size_t i
        self.parts, self.lexicon, self.matrix = parts, lexicon, matrix
        self.fusion.parts, self.fusion.part_count = parts.parts, parts.count
        self.fusion.dim, self.fusion.metric = matrix.matrix.dim, matrix.ranking
        self.legs = legs_of(lexicon, parts.parts[0].base, &legs, &self.fusion.leg_count, &stats)
        self.fusion.legs = <const rag_lexical_leg *>legs
        self.fusion.stats = <const rag_lexical_stats *>stats
        if self.segments != NULL or any(vectors is None for _, vectors in parts.owners):
            return
        self.segments = <rag_segment *>calloc(parts.count + 1, sizeof(rag_segment))
        if self.segments == NULL:
            raise MemoryError
        for i in range(parts.count):
            fill_leg(&self.segments[i], parts.owners[i][1], None)

    def __dealloc__(self):
        free(self.segments)

    @property
    def is_whole(self):
        """Whether answer() works: every segment has words and vectors."""
        return self.segments != NULL

    cdef rag_fusion asked(self, queries, how, Sample sample, size_t count, size_t depth,
                          threads) except *:
        cdef rag_fusion found = self.fusion
        cdef const double[::1] weights
        method, parameter, evidence, given = how
        found.method, found.parameter, found.evidence = METHODS[method], parameter, evidence
        if given is not None:
            weights = given
            if <size_t>weights.shape[0] != count:
                raise ValueError(f"{count} questions have a weight each, not {weights.shape[0]}")
            found.weights = &weights[0] if count else NULL
        cdef const void *stats
        found.queries = <const rag_queries *>queries_at(queries, &stats)
        if stats != NULL:
            found.stats = <const rag_lexical_stats *>stats
        found.count, found.depth = queries.count, depth
        found.sample = &sample.sample if sample is not None else NULL
        found.threads = rag_cpu_count() if threads is None else max(1, threads)
        if method == "calibrated" and sample is None:
            raise ValueError("calibrated fusion needs a sample")
        if sample is not None and sample.sample.dim != found.dim and len(sample):
            raise ModelError("the sample has other dimensions than the vectors")
        if count != found.count:
            raise ValueError(f"{found.count} questions have as many lists, not {count}")
        return found

    def near(self, queries, vectors, words, size_t k, how, Sample sample=None, *,
             bint wants_least=False, threads=None):
        """Return (vector scores float32[m, depth] of the rows found by words, moments float64[m,
        2], the minimum vector scores of further rows among the k best, or None). how is (method,
        parameter, evidence, the weight of each question or None)."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef rag_question question
        cdef Py_buffer view
        cdef const int64_t[:, ::1] rows_view = words[0]
        cdef const float[:, ::1] scores_view = words[1]
        count, depth = words[0].shape
        cdef rag_fusion fusion = self.asked(queries, how, sample, count, depth, threads)
        near = numpy.full(words[0].shape, numpy.nan, numpy.float32)
        moments = numpy.zeros((queries.count, 2))
        least = numpy.empty(queries.count, numpy.float32) if wants_least else None
        cdef float *near_at = <float *>address_of(near)
        cdef double *moments_at = <double *>address_of(moments)
        cdef float *least_at = <float *>address_of(least) if wants_least else NULL
        cdef const int64_t *rows_at = &rows_view[0, 0] if words[0].size else NULL
        cdef const float *scores_at = &scores_view[0, 0] if words[0].size else NULL
        question.dim = fusion.dim
        take_queries(vectors, &question, &view)
        fusion.vectors = question.queries
        try:
            if question.count != queries.count:
                raise ValueError(f"{queries.count} questions have a vector each")
            with nogil:
                status = rag_fusion_near(&fusion, rows_at, scores_at, k, near_at, moments_at,
                                         least_at, &fault)
        finally:
            PyBuffer_Release(&view)
        check(status, &fault)
        return near, moments, least

    def rank(self, queries, words, near, moments, dense, size_t width, how,
             Sample sample=None, *, threads=None):
        """Return the fused results, best first: (rows int64, scores float64, bm25 float32, vector
        float32), each [m, width], and scales float64[m, 3] of calibrated fusion: the best BM25 score, mean,
        deviation. Missing results are row -1, score -inf, parts NaN."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef rag_fused out
        cdef const int64_t[:, ::1] word_rows = words[0], dense_rows = dense[0]
        cdef const float[:, ::1] bm25 = words[1], of_dense = dense[1], near_view = near
        cdef const double[:, ::1] moments_view = moments
        count, depth = words[0].shape
        cdef rag_fusion fusion = self.asked(queries, how, sample, count, depth, threads)
        if not words[0].shape == words[1].shape == near.shape == dense[0].shape == dense[1].shape:
            raise ValueError("words and vectors must have the same number of rows")
        if moments.shape != (queries.count, 2):
            raise ValueError("moments are two numbers for each question")
        found = self.room(&out, queries.count, width if fusion.depth else 0)
        if queries.count and out.width:
            with nogil:
                status = rag_fusion_rank(&fusion, &word_rows[0, 0], &bm25[0, 0], &near_view[0, 0],
                                         &moments_view[0, 0], &dense_rows[0, 0], &of_dense[0, 0],
                                         &out, &fault)
            check(status, &fault)
        return found

    cdef room(self, rag_fused *out, size_t count, size_t width):
        """Allocate (rows, scores, bm25, vector, scales) for the results."""
        empty, float32 = self.matrix.empty, self.matrix.float32
        cdef tuple shape = (count, width)
        cdef tuple found = (empty(shape, self.matrix.int64), empty(shape),
                            empty(shape, float32), empty(shape, float32), empty((count, 3)))
        out.scales = <double *>address_of(found[4])
        out.rows, out.scores = <int64_t *>address_of(found[0]), <double *>address_of(found[1])
        out.bm25, out.nearness = <float *>address_of(found[2]), <float *>address_of(found[3])
        out.width = width
        return found

    def answer(self, queries, vectors, wheres, size_t depth, size_t width, size_t k,
               how, Sample sample=None, *, bint wants_least=False, threads=None):
        """Run match, near, nearest and rank with lists of `depth` rows in one call; requires
        is_whole. Return the result of rank, and the milliseconds of words, fusing and vectors.
        wheres holds uint64 words or None for each segment, or is the queries' own Filters."""
        cdef rag_fault fault
        cdef rag_status status = RAG_OK
        cdef rag_fused out
        cdef rag_spent spent
        cdef rag_question question
        cdef rag_hybrid all
        cdef Py_buffer view
        cdef list kept = []
        if self.segments == NULL:
            raise ValueError("a segment has no vectors")
        all.fusion = self.asked(queries, how, sample, queries.count, depth, threads)
        all.filters, all.k, all.wants_least = NULL, k, wants_least
        all.segments, all.wheres = self.segments, NULL
        if isinstance(wheres, Filters):
            all.filters = (<Filters>wheres).fitting(
                [matrix for _, matrix in self.parts.owners], queries.count)
            wheres = None
        question.dim = all.fusion.dim
        spent.words = spent.fusing = spent.vectors = 0
        found = self.room(&out, queries.count, width if depth else 0)
        cdef const uint64_t **bits = self.row_sets(wheres, kept)
        try:
            all.wheres = bits
            take_queries(vectors, &question, &view)
            all.fusion.vectors = question.queries
            try:
                if question.count != queries.count:
                    raise ValueError(f"{queries.count} questions have a vector each")
                if queries.count and out.width:
                    with nogil:
                        status = rag_hybrid_answer(&all, &out, &spent, &fault)
            finally:
                PyBuffer_Release(&view)
            check(status, &fault)
        finally:
            free(bits)
        return found, (spent.words, spent.fusing, spent.vectors)

    cdef const uint64_t **row_sets(self, wheres, list kept) except? NULL:
        """Return the words of the row set of each segment; NULL without any. The caller frees them."""
        cdef size_t i
        cdef const uint64_t **found
        if wheres is None:
            return NULL
        if <size_t>len(wheres) != self.parts.count:
            raise ValueError(f"{self.parts.count} segments have a row set each")
        found = <const uint64_t **>calloc(self.parts.count + 1, sizeof(uint64_t *))
        if found == NULL:
            raise MemoryError
        try:
            for i in range(self.parts.count):
                found[i] = row_set_bits(wheres[i], self.parts.parts[i].rows, kept)
        except BaseException:
            free(found)
            raise
        return found


cdef const uint64_t *row_set_bits(where, uint64_t rows, list kept) except? NULL:
    """Return the words of a row set; NULL for every row."""
    cdef const uint64_t[::1] view
    if where is None:
        return NULL
    view = where
    if <uint64_t>view.shape[0] * 64 < rows:
        raise ValueError(f"a filter of {view.shape[0]} words is too short for {rows} rows")
    kept.append(view)
    return &view[0] if view.shape[0] else NULL
