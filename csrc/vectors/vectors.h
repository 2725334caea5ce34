/* vectors.h - shared by the files of the vector engine: rows, queries with their bounds, candidate
 * sets, the k best.
 *
 * A search ranks by a *key*, a number that orders rows as the score does and is cheap to bound.
 * With N = |row| and t = <q, row> / (|q| N) it is
 *
 *   cosine  t
 *   ip      N t
 *   l2      N t - N^2 / (2 |q|)
 *
 * that is w (t - curve w) with w = N, or 1 for cosine. matrix.c reads rows, query.c turns queries
 * into codes and scores into keys, shadow.c knows the planes, topk.c keeps candidates; scan.c,
 * scan_rows.c and scan_shadow.c drive them. */
#ifndef RAG_VECTORS_H
#define RAG_VECTORS_H

#if defined __x86_64__
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#include "ragfile/matrix.h"
#include "container/wants.h"
#include "shared/bytes.h"
#include "vectors/kernels.h"

/* A host program may have set its thread to flush subnormals to zero or to round otherwise,
 * which would change score bits: arithmetic that must be exact runs between these two. */
#if defined __x86_64__
typedef unsigned rag_float_mode; /* MXCSR: all arithmetic here is SSE's, and a whole fenv_t takes
                                    ten times as long */
enum { MXCSR_PLAIN = 0x1f80 };
static inline void rag_float_plain(rag_float_mode *before) {
    *before = _mm_getcsr();
    if ((*before & 0xffc0) != MXCSR_PLAIN) _mm_setcsr(MXCSR_PLAIN);
}
static inline void rag_float_back(const rag_float_mode *before) {
    if ((*before & 0xffc0) != MXCSR_PLAIN) _mm_setcsr(*before);
}
#else
typedef fenv_t rag_float_mode;
static inline void rag_float_plain(rag_float_mode *before) {
    fegetenv(before);
    fesetenv(FE_DFL_ENV);
}
static inline void rag_float_back(const rag_float_mode *before) { fesetenv(before); }
#endif

/* ----------------------------------------------------------------------------------------- rows */

/* The stored bytes of a row. */
const uint8_t *rag_matrix_row(const struct rag_matrix *matrix, uint64_t row);

/* The row as little-endian binary32: in place if stored so, else in scratch (dim floats). */
const uint8_t *rag_matrix_floats(const struct rag_matrix *matrix, uint64_t row, float *scratch);

/* Checks the checksums of a range of rows. */
enum rag_status rag_matrix_touch(const struct rag_matrix *matrix, uint64_t row, uint64_t count,
                                 struct rag_fault *fault);

/* Adds a range of rows to those to be fetched, where the matrix's bytes are elsewhere. */
void rag_matrix_want(const struct rag_matrix *matrix, uint64_t row, uint64_t count,
                     struct rag_wants *wants);

/* -------------------------------------------------------------------------------------- queries */

/* A quantised unit query: <q, v> is within error |v| of step * sum(codes * v). */
struct code_scale {
    int64_t sum;
    double step, error;
};

struct query {
    const double *wide;       /* the query, zero-padded to a multiple of 16 */
    const float *unit;        /* the query over its norm, zero-padded likewise */
    const int8_t *code;       /* the unit query in 8 bits ... */
    const int8_t *high, *low; /* ... and in 16: 256 * high + low */
    struct code_scale coarse, fine;
    int64_t biases[2]; /* 128 times the sums of high and of low */
    double norm, square, curve;
    enum rag_metric metric;
    bool plain; /* a norm of zero, or one so far from 1 that bounds are not worth having: score
                   every row */
};

/* Slack for arithmetic in binary32, relative to |q||v|, with room for the rounding of scores; see
 * the spec's proof. */
#define ESTIMATE_SLACK(dim) (((double)(dim) / 8 + 48) * 0x1p-24)
#define CODE_SLACK 1e-5

size_t rag_query_size(uint32_t dim);
/* coded: its codes will be needed. */
void rag_query_prepare(struct query *query, void *memory, const float *values, uint32_t dim,
                       enum rag_metric metric, bool coded);

/* Codes a query of this norm, or of unit norm in another basis, whose components are padded to a
 * multiple of 8: in 8 bits (up to 127, the magnitudes of codes 2i and 2i + 1 together up to
 * pair_most), and in 16 (up to 32000) as signed halves. biases: 128 times the sums of the
 * halves. */
struct code_scale rag_code_coarse(const double *values, size_t count, double norm,
                                  int32_t pair_most, int8_t *codes);
struct code_scale rag_code_fine(const double *values, size_t count, double norm, int8_t *high,
                                int8_t *low, int64_t *biases);

/* The canonical score from canonical products, and the key below which nothing scores as high as
 * score. */
float rag_score(const struct query *query, double dot, double square);
float rag_floor_of(const struct query *query, float score);

/* The same for the score that a row has at least when its key is at least key: keys that differ can
 * round to one score, and such rows tie. */
float rag_floor_at(const struct query *query, float key);

/* Bounds of the key of a row whose norm is norm, when t is within error of estimate. */
void rag_key_bounds(const struct query *query, double estimate, double error, double norm,
                    float *upper, float *lower);

/* The upper one alone, not rounded. */
static inline double rag_key_above(const struct query *query, double estimate, double error,
                                   double norm) {
    const double weight = query->metric == RAG_COSINE ? 1 : norm;
    return weight * (estimate + error - query->curve * weight * (1 - 1e-6));
}

/* -------------------------------------------------------------------------------- the best rows */

/* Numbers as integers of the same order (-0 before 0), and back. */
static inline int32_t float_order(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

static inline float ordered_float(int32_t order) {
    const int32_t bits = order ^ (int32_t)((uint32_t)(order >> 31) >> 1);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The number of which k of count (1 to 2^31) are as large or larger, and fewer are larger. */
float rag_kth_largest(const int32_t *orders, size_t count, size_t k);

struct scored {
    float score;
    uint32_t row;
};

/* The k best of the rows offered: larger scores first, equal ones by row. */
struct best {
    struct scored *entries; /* once there are k: a heap, the worst on top */
    size_t count, k;
};

bool rag_best_open(struct best *best, size_t k);
void rag_best_offer(struct best *best, float score, uint32_t row);
void rag_best_sort(struct best *best);
void rag_best_close(struct best *best);

/* A row that can be among the k best: its key is between lower and upper. Some entries stand for
 * rows that are accounted for elsewhere and only count towards the floor: rows of finished slices,
 * and rows that have been scored. */
struct candidate {
    float upper, lower;
    uint32_t row;
};
#define ROW_ELSEWHERE UINT32_MAX
#define ROW_SCORED (UINT32_MAX - 1)
static inline bool is_open(const struct candidate *entry) { return entry->row < ROW_SCORED; }

/* Keeps every offered row that can be among the k best. floor rises as rows come: k rows are known
 * to have keys of at least floor, so rows whose upper bound is below it are dropped. shared carries
 * the floor between the candidate sets of one query, in other threads and segments. */
struct topk {
    struct candidate *entries; /* room for so many, and after them for as many keys */
    size_t count, room, k;
    size_t tight; /* the count when last tightened */
    float floor;
    float *shared;
    const struct query *query;
    bool failed; /* no memory: the search must report it */
};

#define TOPK_ENTRY (sizeof(struct candidate) + sizeof(int32_t))

bool rag_topk_open(struct topk *topk, size_t k, const struct query *query, float *shared);
void rag_topk_close(struct topk *topk);
void rag_topk_offer_full(struct topk *topk, struct candidate entry);
void rag_topk_tighten(struct topk *topk);

/* The k-th largest lower bound of at least k entries. */
float rag_topk_lower(struct topk *topk, size_t k);

/* Moves the k entries with the largest lower bounds to the front. Returns how many: k, or all. */
size_t rag_topk_front(struct topk *topk);

/* The common case of an offer is one compare and one store. */
static inline void rag_topk_offer(struct topk *topk, float upper, float lower, uint32_t row) {
    const struct candidate entry = {upper, lower, row};
    if (!(upper >= topk->floor)) return;
    if (topk->count == topk->room) rag_topk_offer_full(topk, entry);
    else topk->entries[topk->count++] = entry;
}

/* Counts a row that is accounted for elsewhere, whose key is at least lower. */
static inline void rag_topk_count(struct topk *topk, float lower, uint32_t kind) {
    rag_topk_offer(topk, lower, lower, kind);
}

/* Reads a floor that several threads raise. */
static inline float rag_floor_read(const float *shared) {
    float value;
    __atomic_load(shared, &value, __ATOMIC_RELAXED);
    return value;
}

#endif
