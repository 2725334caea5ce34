# Calibrated fusion in the core: search/fusion.py's `calibrated` without its dozen small arrays.


def calibrated_weight(double recorded, double counted, double known):
    """Return the weight for a question of which the model knows the share `known`, inf for none."""
    return rag_calibrated_weight(recorded, counted, known)


cdef class Calibration:
    """A query's scale: mean and deviation of its dense scores, and the number of deviations that
    weigh as much as the best lexical match."""

    cdef rag_calibration by

    def __init__(self, double mean, double deviation, double w):
        if not w > 0:
            raise ValueError(f"w must be positive, not {w}")
        self.by.mean, self.by.deviation, self.by.weight = mean, deviation, w

    cdef int find_best(self, const float[::1] bm25, const float[::1] dense) except -1:
        cdef Py_ssize_t i
        if bm25.shape[0] != dense.shape[0]:
            raise ValueError("every row has both scores")
        self.by.best = 0
        for i in range(bm25.shape[0]):
            if bm25[i] - bm25[i] != 0 or (dense[i] == dense[i] and dense[i] - dense[i] != 0):
                raise ValueError("scores must be finite numbers; NaN marks a row without a vector")
            if bm25[i] > self.by.best:
                self.by.best = bm25[i]
        return 0

    def rank(self, const int64_t[::1] ties not None, const float[::1] bm25 not None,
             const float[::1] dense not None):
        """Return (order, scores): the rows' positions, best first, equal scores by `ties`."""
        import numpy

        cdef rag_fault fault
        cdef size_t count = ties.shape[0]
        if <Py_ssize_t>count != bm25.shape[0]:
            raise ValueError("every row has both scores")
        self.find_best(bm25, dense)
        order, scores = numpy.empty(count, numpy.int64), numpy.empty(count)
        if count:
            check(rag_calibrated_rank(&self.by, &bm25[0], &dense[0], &ties[0], count,
                                      <int64_t *>address_of(order),
                                      <double *>address_of(scores), &fault), &fault)
        return order, scores

    def scores(self, const float[::1] bm25 not None, const float[::1] dense not None, double best):
        """Return the fused float64 scores of rows; best is the best BM25 score overall."""
        import numpy

        cdef Py_ssize_t i
        if bm25.shape[0] != dense.shape[0]:
            raise ValueError("every row has both scores")
        found = numpy.empty(bm25.shape[0])
        cdef double[::1] view = found
        self.by.best = best
        for i in range(bm25.shape[0]):
            view[i] = rag_calibrated_score(&self.by, bm25[i], dense[i])
        return found

    def least(self, const float[::1] bm25 not None, const float[::1] dense not None, size_t k,
              float rest, bint has_evidence=False):
        """Return the minimum vector score of a further row that is among the k best or evidence,
        given these rows and a BM25 score of at most rest."""
        self.find_best(bm25, dense)
        if bm25.shape[0] == 0:
            return float("-inf")
        return rag_calibrated_least(&self.by, &bm25[0], &dense[0], bm25.shape[0], k, rest,
                                    has_evidence)


EVIDENCE_ROWS = RAG_EVIDENCE_ROWS


def evidence_count(const double[::1] scores not None):
    """Return how many of the first rows of a ranking count as evidence."""
    return rag_evidence_count(&scores[0], scores.shape[0]) if scores.shape[0] else 0


cdef int check_evidence(const double[::1] scores, const int64_t[::1] documents) except -1:
    if scores.shape[0] != documents.shape[0] or scores.shape[0] > RAG_EVIDENCE_ROWS:
        raise ValueError(f"evidence is of at most {RAG_EVIDENCE_ROWS} rows with a document each")
    return 0


def evidence_rank(const double[::1] scores not None, const int64_t[::1] documents not None,
                  const int64_t[::1] ties not None, double share):
    """Return (order, scores) of a ranking after the evidence of its documents, equal scores by
    `ties`. documents has equal numbers for rows of one document."""
    import numpy

    cdef rag_fault fault
    cdef size_t count = scores.shape[0]
    check_evidence(scores, documents)
    if <Py_ssize_t>count != ties.shape[0]:
        raise ValueError("every row has a tie")
    order, raised = numpy.empty(count, numpy.int64), numpy.array(scores)
    if count:
        check(rag_evidence_rank(<double *>address_of(raised), &documents[0], &ties[0], count,
                                share, <int64_t *>address_of(order), &fault), &fault)
    return order, raised


def evidence_weights(const double[::1] scores not None, const int64_t[::1] documents not None):
    """Return for the first row of each document in a ranking what its further rows weigh, else 0."""
    import numpy

    check_evidence(scores, documents)
    weights = numpy.zeros(scores.shape[0])
    if scores.shape[0]:
        rag_evidence_weigh(&scores[0], &documents[0], scores.shape[0],
                           <double *>address_of(weights))
    return weights


def evidence_of_document(double score, double top, double share, double weight, uint64_t chunks):
    """Return the score that a document is ranked by."""
    return rag_evidence_of_document(score, top, share, weight, chunks)
