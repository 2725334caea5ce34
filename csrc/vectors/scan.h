/* scan.h - the state of one search, shared by scan.c, shortlist.c, scan_sweep.c,
 * scan_tiles.c, scan_rows.c, scan_products.c, scan_scores.c and exact_scores.c.
 *
 * A search takes its queries in chunks, cuts the segments into slices, and gives each pair of slice
 * and query a state. Slices are scanned in parallel, then queries are finished in parallel. */
#ifndef RAG_SCAN_H
#define RAG_SCAN_H

#include "ragfile/bits.h"
#include "ragfile/search.h"
#include "system/system.h"
#include "vectors/vectors.h"

/* The yield of one slice for one query: rows known by bounds, and rows already scored. */
struct query_state {
    struct topk topk;
    struct best best;
    uint64_t before; /* rows of the slices from which bounds were recalled */
    /* of a visit to clusters: the shares of rows seen, when candidates were noted and in the end;
       the candidates; and the largest possible key of the other rows */
    double half, share;
    uint32_t *early;
    size_t early_count;
    float beyond;
};

struct slice {
    size_t segment;
    uint64_t first, end;        /* rows; first is a multiple of BLOCK_ROWS */
    struct query_state *states; /* one per query of the chunk */
};

/* Questions that are scanned together: they share a filter, or (mixed) each has its own. */
struct part {
    size_t first, count; /* in the search's order */
    bool mixed;
};

struct search {
    const struct rag_segment *segments;
    size_t segment_count, query_count, slice_count;
    uint64_t row_count; /* of all segments */
    size_t k, width;    /* how many are looked for, and how many places each result has */
    uint32_t dim;
    double effort; /* below 1 where clusters are visited */
    struct query *queries;
    float *floors;      /* per query, shared by all slices */
    const float *least; /* of this chunk: the score that a row needs to be found; or NULL */
    const struct rag_filters *filters; /* or NULL: where of each segment */
    const uint32_t *filter_of;         /* of each query of this chunk */
    size_t part_count;
    float *guesses; /* of each query: a floor that is only likely, or -infinity */
    bool *again;    /* of each query: its guess was too high */
    struct part *parts;
    uint32_t *order;    /* the queries of this chunk, part by part */
    struct best *known; /* per query: the k largest lower bounds of keys in finished slices, under
                           the lock */
    uint64_t *learned;  /* per query: the rows of these slices, under the lock */
    rag_mutex lock;
    struct slice *slices;
    int64_t *rows; /* of this chunk: [query][segment][width] */
    float *scores;
    double *recall; /* of this chunk, or NULL */
    struct rag_fault *fault;
    enum rag_status status; /* the first that went wrong, in any thread */
};

/* Records the first failure; returns false for a status that is one. */
bool rag_search_note(struct search *search, enum rag_status status, const struct rag_fault *fault);
bool rag_search_failed(const struct search *search);

/* A stretch of a section that is verified, around the bytes of the last look. */
struct verified {
    uint64_t first, end;
};

/* As rag_guard_check. A row costs two comparisons while its bytes are in the stretch. */
static inline bool rag_search_verify(struct search *search, const struct rag_guard *guard,
                                     struct verified *near, uint64_t at, uint64_t size) {
    struct rag_fault fault;
    if (at >= near->first && at + size <= near->end) return true;
    if (!rag_search_note(search, rag_guard_check(guard, at, size, &fault), &fault)) return false;
    if (guard->bytes) /* blocks that a source lends are not kept */
        *near = (struct verified){at - at % RAG_BLOCK, align_up(at + size, RAG_BLOCK)};
    return true;
}

/* A row of one of the segments. */
struct place {
    const struct rag_matrix *matrix;
    uint64_t row;
};

/* The canonical scores of rows, NaN for those that are never ranked. False (noted) where one could
 * not be read. */
bool rag_search_scores(struct search *search, const struct query *query, const struct place *places,
                       size_t count, float *scratch, float *scores);

/* Starts the loads of a row that is scored soon. */
void rag_search_start(struct place place);

/* Memory for rows that are scored together, to be freed; every `scratch` here is such. */
float *rag_search_scratch(const struct search *search);

/* Scores at most RAG_OFFERED rows of the slice and offers them to the query state's best. */
enum { RAG_OFFERED = 512 };
void rag_search_offer(struct search *search, const struct slice *slice, size_t query,
                      const uint32_t *rows, size_t count, float *scratch);

/* Turns a candidate set that grew too large into scores. */
void rag_search_settle(struct search *search, const struct slice *slice, size_t query,
                       float *scratch);
enum { TOPK_LARGE = 1 << 16 };

/* Scores the k rows of a candidate set that have the largest lower bounds, which makes the floor
 * exact. */
void rag_search_anchor(struct search *search, const struct slice *slice, size_t query,
                       float *scratch);

/* Fetches, at once, the rows that can still win, where their bytes are elsewhere. */
void rag_search_bring(struct search *search);

/* Scores the rows of all slices that can still win for query q, and writes its results. */
void rag_search_finish(struct search *search, size_t q);

static inline bool has_row(const uint64_t *where, uint64_t row) {
    return !where || (where[row / 64] >> row % 64 & 1);
}

/* The rows of a segment that query q can find; NULL for all. */
static inline const uint64_t *rag_where(const struct search *search, const struct slice *slice,
                                        size_t q) {
    if (!search->filters) return search->segments[slice->segment].where;
    return search->filters->sets[search->filter_of[q] * search->segment_count + slice->segment];
}

/* Whether tiles take less time than sweeps for this many queries. */
bool rag_tiles_pay(const struct search *search, size_t count);

/* Where it pays, gives queries likely floors; `again` has the wrong ones in the end. */
bool rag_guess_pays(const struct search *search);
void rag_guess(struct search *search, int threads);

/* Divides the chunk's queries into parts; false (noted) without memory. */
bool rag_search_divide(struct search *search);

/* The rows from first to end that pass, one after the other. */
struct passing {
    const uint64_t *where;
    uint64_t next, end, word;
};
struct passing rag_passing(const uint64_t *where, uint64_t first, uint64_t end);
size_t rag_passing_take(struct passing *passing, uint32_t *rows, size_t most);
uint64_t rag_passing_count(const uint64_t *where, uint64_t first, uint64_t end);

/* The ways to scan a slice for the queries listed in which. They share a filter, but for tiles. */
void rag_scan_exhaustive(struct search *search, const struct slice *slice, const uint32_t *which,
                         size_t count);
void rag_scan_estimates(struct search *search, const struct slice *slice, const uint32_t *which,
                        size_t count);
void rag_scan_products(struct search *search, const struct slice *slice, const uint32_t *which,
                       size_t count);
void rag_scan_sweep(struct search *search, const struct slice *slice, const uint32_t *which,
                    size_t count);
void rag_scan_gather(struct search *search, const struct slice *slice, const uint32_t *which,
                     size_t count);
void rag_scan_tiles(struct search *search, const struct slice *slice, const uint32_t *which,
                    size_t count);

#endif
