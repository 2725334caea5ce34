/* bm25_search.h - the interface between a query and the kernels that scan windows of rows.
 *
 * The scan adds up, for each row of a window, a 16-bit sum that bounds the row's score from above
 * (bm25_search.c has the proof), and keeps the rows with a sum above a threshold that rises as good
 * rows arrive. */
#ifndef RAG_BM25_SEARCH_H
#define RAG_BM25_SEARCH_H

#include "text/bm25.h"

/* Rows that may be among the k best, with room for a whole group beyond the limit. */
struct rag_bm25_candidates {
    uint32_t *rows;
    uint16_t *sums;
    size_t count, limit, capacity, k;
    uint32_t threshold; /* only sums above it matter */
    double keep,
        margin;  /* a k-th best sum A proves the threshold keep * (A - margin) - terms - 1 */
    double unit; /* a score of 1 in sums: a score below a floor has a sum below it */
    uint32_t terms;
    bool floored; /* the threshold began above 0, from a minimum score */
    bool failed;  /* no memory */
};

/* Raise the threshold as far as the k best sums prove it and drop the rows below. */
void rag_bm25_candidates_tighten(struct rag_bm25_candidates *found);

struct rag_bm25_sparse {
    const uint8_t *rows, *codes;
    uint32_t count, weight;
};
struct rag_bm25_dense {
    const uint8_t *bits, *ranks, *maxima, *codes;
    uint32_t count, weight;
};

/* Rows with weights of their own in a window (rag.sparse): u16 row each, u16 code each. The share
 * of a row is its weight times scale, rounded up by at most 1. */
struct rag_bm25_weighed {
    const uint8_t *rows, *codes;
    uint32_t count;
    float scale;
};
/* A code becomes the bits of its weight as f32 by a shift and a sum. */
#define RAG_BM25_WEIGHT_BASE 0x37800000u
enum { RAG_BM25_WEIGHT_SHIFT = 12 };

/* One window with the query's containers in it. sums and touched are zero before and after. */
struct rag_bm25_scan {
    uint16_t *sums;        /* LEX_WINDOW */
    uint8_t *touched;      /* LEX_GROUPS: groups with a sparse row, when those are tracked */
    const uint64_t *where; /* the window's part of the filter, or NULL */
    uint32_t first_row, width, groups;
    const struct rag_bm25_sparse *sparse;
    const struct rag_bm25_dense *dense;
    size_t sparse_count, dense_count;
    const struct rag_bm25_weighed *weighed; /* the only containers of a scan of weights */
    size_t weighed_count;
    uint32_t sparse_rows,
        dense_most; /* rows in sparse containers; sum of the dense containers' largest shares */
    struct rag_bm25_candidates *found;
};
typedef void rag_bm25_scan_function(struct rag_bm25_scan *scan);
/* Return the scan for this machine. */
rag_bm25_scan_function *rag_bm25_scan_window(void);
rag_bm25_scan_function *rag_bm25_scan_weights(void);

/* Return the k-th best of n (> 0) values, or 0 when k > n. */
uint32_t rag_bm25_kth(const uint16_t *values, size_t n, size_t k);

/* The scratch memory of a search, kept between searches. */
struct rag_bm25_scratch {
    struct rag_bm25_scratch *next;
    void *block; /* sums and touched */
    struct rag_bm25_scan scan;
    struct rag_bm25_candidates found;
    struct rag_bm25_containers containers;
    struct rag_bm25_query_term *terms;
    size_t term_capacity;
    struct rag_bm25_sparse *sparse;
    struct rag_bm25_dense *dense;
    size_t window_capacity;
    uint64_t *keys; /* score and row, sorted so that the best come first */
    size_t key_count, key_capacity;
    double *scores; /* by candidate */
    struct rag_bm25_norms {
        double live, build;
    } *norms;
    uint32_t *rows;
    size_t score_capacity, norm_capacity, row_capacity;
    struct rag_bm25_own *own; /* by term, then by field */
    int64_t *rest, *more;     /* by row scored with other weights */
    uint32_t *lengths;        /* by field, then by row */
    size_t own_capacity, rest_capacity, length_capacity;
};

/* `own` is the stack of what is searched, for scratches that it made grow. */
struct rag_bm25_scratch *rag_bm25_scratch_take(struct rag_bm25_scratches *own);
void rag_bm25_scratch_give(struct rag_bm25_scratches *own, struct rag_bm25_scratch *scratch);
void rag_bm25_scratch_free_all(struct rag_bm25_scratches *own);

/* Begin with no candidates; false without memory. */
bool rag_bm25_candidates_start(struct rag_bm25_candidates *found, size_t k);
/* Sort candidates by row; false without memory. */
bool rag_bm25_rows_sort(struct rag_bm25_scratch *scratch, uint32_t *rows, size_t count);
/* Enter rows with the scores of scratch->scores, unless those are 0. */
enum rag_status rag_bm25_scores_enter(struct rag_bm25_scratch *scratch, const uint32_t *rows,
                                      size_t count, size_t k, struct rag_fault *fault);
/* The k best of all that was entered. */
void rag_bm25_results_put(struct rag_bm25_scratch *scratch, size_t k, int64_t *rows, float *scores);

/* A short list unpacked to look like a sparse container; its window's rows are a slice of it. */
struct rag_bm25_unpacked {
    uint16_t rows[LEX_SHORT];
    uint8_t codes[LEX_SHORT];
    uint32_t tfs[LEX_SHORT];
};

/* A query term that the segment contains. Its containers are items[first .. first + count) of the
 * scratch. */
struct rag_bm25_query_term {
    double weight;  /* occurrences in the query * idf */
    double bound;   /* upper bound of any row's contribution */
    double scale;   /* of its codes */
    uint32_t kth;   /* a code that k rows reach, 0 unknown */
    uint32_t share; /* the integer weight of the scan */
    size_t first, count, next;
    struct rag_bm25_unpacked unpacked;
};

/* A term's list in one field, like a query term's; a short one is unpacked. */
struct rag_bm25_own {
    double scale;
    size_t first, count;
    uint16_t rows[LEX_SHORT];
    uint32_t tfs[LEX_SHORT];
};

struct rag_bm25_query {
    struct rag_lexicon *lexicon;
    struct rag_bm25_norm live, build;
    struct rag_bm25_norm lower, upper; /* bounds of live scores, by stored numbers */
    const uint32_t *weights;           /* of fields, where they differ from the build's */
    bool is_bounded;                   /* whether lower is a bound */
    struct rag_bm25_scratch *scratch;
    size_t terms;
};

/* Compute exact scores of rows in ascending order into scratch->scores. */
enum rag_status rag_bm25_bring_lengths(const struct rag_lexicon *lexicon, const uint32_t *rows,
                                       size_t count, struct rag_fault *fault);
enum rag_status rag_bm25_score_rows(const struct rag_bm25_query *query, const uint32_t *rows,
                                    size_t count, struct rag_fault *fault);

/* Read their lengths as K into scratch->norms, with room for their scores. */
enum rag_status rag_bm25_norms_read(const struct rag_bm25_query *query, const uint32_t *rows,
                                    size_t count, struct rag_fault *fault);

/* Query-time field weights (bm25_fields.c). start sets a query's bounds; open looks up term t in
 * the fields; norms computes the rows' K by the weights; tfs computes the weighted tf of term t in
 * each row; score adds the scores. */
enum rag_status rag_bm25_fields_start(struct rag_bm25_query *query,
                                      const struct rag_lexical_stats *stats, size_t terms,
                                      struct rag_fault *fault);
enum rag_status rag_bm25_fields_open(struct rag_bm25_query *query, size_t t,
                                     const struct rag_query_term *term, struct rag_fault *fault);
enum rag_status rag_bm25_fields_norms(const struct rag_bm25_query *query, const uint32_t *rows,
                                      size_t count, struct rag_fault *fault);
void rag_bm25_fields_tfs(const struct rag_bm25_query *query, size_t t, const uint32_t *rows,
                         size_t count);
double rag_bm25_fields_tf(const struct rag_bm25_query *query, size_t i);
void rag_bm25_fields_score(const struct rag_bm25_query *query, size_t t, const uint32_t *rows,
                           size_t count);

/* Look up the query's terms; drop those that the segment lacks. */
enum rag_status rag_bm25_query_open(struct rag_bm25_query *query, struct rag_lexicon *lexicon,
                                    struct rag_bm25_scratch *scratch,
                                    const struct rag_query_term *terms, size_t count,
                                    const struct rag_lexical_stats *stats, size_t k,
                                    struct rag_fault *fault);

enum rag_status rag_bm25_check_stats(const struct rag_lexical_stats *stats,
                                     struct rag_fault *fault);

/* Search as rag_lexicon_search does, with checked statistics and k > 0; rows below `least` may be
 * missing. */
enum rag_status rag_bm25_search(struct rag_lexicon *lexicon, struct rag_bm25_scratch *scratch,
                                const struct rag_query_term *terms, size_t count,
                                const struct rag_lexical_stats *stats, const uint64_t *where,
                                size_t k, float least, int64_t *rows, float *scores,
                                struct rag_fault *fault);

#endif
