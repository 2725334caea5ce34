/* search.h - exact nearest-neighbour search. */
#ifndef RAGFILE_SEARCH_H
#define RAGFILE_SEARCH_H

#include "ragfile/matrix.h"

struct rag_clusters;
struct rag_filters;
struct rag_shadow;

/* One matrix of a search, with its shadow (or NULL), the row set to search (or NULL for all
 * rows), and the clusters in whose order the shadow is (or NULL). */
struct rag_segment {
    const struct rag_matrix *matrix;
    const struct rag_shadow *shadow;
    const uint64_t *where;
    const struct rag_clusters *clusters;
};

/* The queries of a search: count * dim finite floats. `least`, if not NULL, is the minimum score
 * for each query, below infinity; a tight minimum saves most of the work. `filters`, if not
 * NULL, replaces `where` of the segments. */
struct rag_question {
    const float *queries;
    size_t count;
    uint32_t dim;
    enum rag_metric metric;
    uint64_t k;
    int threads;
    const float *least;
    const struct rag_filters *filters;
    double effort; /* the share of each segment's rows, in whole clusters, to visit; 0 or 1: all */
    /* if not NULL: for each query, the share of the true k best rows in the answer. 1 is proven;
     * a lower number is an estimate. */
    double *recall;
};

/* Finds the k best rows of all segments together: exactly, unless an effort below 1 skips
 * clusters. rows and scores are [query][segment][k]. Each segment's part lists its rows among
 * the k best of all, and those that tie with the last of them, so that the caller can break ties
 * between segments. Rows are ordered by score, then by row number; unused entries are row -1,
 * score -infinity. */
enum rag_status rag_nearest(const struct rag_segment *segments, size_t segment_count,
                            const struct rag_question *question, int64_t *rows, float *scores,
                            struct rag_fault *fault);

/* Computes the canonical scores of the given rows for one query. A row with NaN or infinity
 * scores NaN. */
enum rag_status rag_scores(const struct rag_matrix *matrix, const struct rag_question *question,
                           const int64_t *rows, size_t row_count, float *scores,
                           struct rag_fault *fault);

/* The bounds that a shadow's 8-bit codes give for the scores of the given rows for one query;
 * NaN for a row that is never ranked. */
struct rag_bounds {
    float lower, upper;
};
enum rag_status rag_shadow_bounds(const struct rag_shadow *shadow,
                                  const struct rag_question *question, const int64_t *rows,
                                  size_t row_count, struct rag_bounds *bounds,
                                  struct rag_fault *fault);

#endif
