/* scan_scores.c - canonical scores of rows anywhere in a matrix.
 *
 * The additions of a canonical score have a fixed order, and each waits for the one before. So rows
 * are scored BUNCH at a time, whose additions do not wait for one another, and the loads of the
 * next bunch are started before. The bits are those of scoring each row alone.
 *
 * Of more rows than are looked for, the k-th score is found first (topk.c), and those below it are
 * not offered: a heap would take most of them and drop them again. */
#include <math.h>
#include <stdlib.h>

#include "shared/fail.h"
#include "vectors/scan.h"

enum { BUNCH = 4, CHUNK = 64 };

float *rag_search_scratch(const struct search *search) {
    return malloc((size_t)search->dim * BUNCH * sizeof(float));
}

/* The address of a row that is lent is unknown beforehand. */
void rag_search_start(struct place place) {
    const struct rag_matrix *matrix = place.matrix;
    const uint8_t *at = matrix->guard.bytes ? rag_matrix_row(matrix, place.row) : NULL;
    for (size_t i = 0; at && i < (size_t)matrix->dim * (2u << matrix->scalar); i += 64)
        __builtin_prefetch(at + i);
}

static bool score_bunch(struct search *search, const struct query *query,
                        const struct place *places, size_t count, float *scratch, float *scores) {
    const uint8_t *rows[BUNCH];
    double products[2 * BUNCH];
    struct rag_fault fault;
    for (size_t i = 0; i < count; i++) {
        const struct rag_matrix *matrix = places[i].matrix;
        if (!rag_search_note(search, rag_matrix_touch(matrix, places[i].row, 1, &fault), &fault))
            return false;
        rows[i] = rag_matrix_floats(matrix, places[i].row, scratch + i * search->dim);
    }
    rag_kernels()->canonical_rows(rows, count, query->wide, search->dim, products);
    for (size_t i = 0; i < count; i++)
        scores[i] = isfinite(products[2 * i + 1])
                        ? rag_score(query, products[2 * i], products[2 * i + 1])
                        : NAN;
    return true;
}

bool rag_search_scores(struct search *search, const struct query *query, const struct place *places,
                       size_t count, float *scratch, float *scores) {
    size_t started = 0;
    for (size_t i = 0, bunch; i < count; i += bunch) {
        const size_t left = count - i;
        bunch = left < BUNCH ? left : BUNCH;
        for (; count > BUNCH && started < count && started < i + 2 * BUNCH; started++)
            rag_search_start(places[started]);
        if (!score_bunch(search, query, places + i, bunch, scratch, scores + i)) return false;
    }
    return true;
}

static bool best_ready(struct search *search, struct best *best, uint64_t rows) {
    if (best->entries || rag_best_open(best, search->k < rows ? search->k : rows)) return true;
    return rag_search_note(search, RAG_MEMORY, NULL);
}

/* The k-th of the scores, where there are more and all places are empty; else less than any. */
static float least_of(const struct best *best, const float *scores, size_t count) {
    int32_t orders[RAG_OFFERED];
    if (best->count > 0 || best->k == 0 || count <= best->k) return -INFINITY;
    for (size_t i = 0; i < count; i++)
        orders[i] = isnan(scores[i]) ? INT32_MIN : float_order(scores[i]);
    const float least = rag_kth_largest(orders, count, best->k);
    return isnan(least) ? -INFINITY : least;
}

void rag_search_offer(struct search *search, const struct slice *slice, size_t query,
                      const uint32_t *rows, size_t count, float *scratch) {
    const struct rag_matrix *matrix = search->segments[slice->segment].matrix;
    struct best *best = &slice->states[query].best;
    struct place places[CHUNK];
    float scores[RAG_OFFERED];
    if (!best_ready(search, best, slice->end - slice->first)) return;
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t some = count - first < CHUNK ? count - first : CHUNK;
        for (size_t i = 0; i < some; i++) places[i] = (struct place){matrix, rows[first + i]};
        if (!rag_search_scores(search, &search->queries[query], places, some, scratch,
                               scores + first))
            return;
    }
    const float least = least_of(best, scores, count);
    for (size_t i = 0; i < count; i++)
        if (scores[i] >= least) rag_best_offer(best, scores[i], rows[i]);
}

/* ------------------------------------------------------------------------------- rows by number */

static enum rag_status score_all(struct search *search, const struct query *query,
                                 const struct rag_matrix *matrix, const int64_t *rows, size_t count,
                                 float *scratch, float *scores) {
    struct place places[CHUNK];
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t some = count - first < CHUNK ? count - first : CHUNK;
        for (size_t i = 0; i < some; i++)
            places[i] = (struct place){matrix, (uint64_t)rows[first + i]};
        if (!rag_search_scores(search, query, places, some, scratch, scores + first)) break;
    }
    return search->status;
}

static enum rag_status bring(const struct rag_matrix *matrix, const int64_t *rows, size_t count,
                             struct rag_fault *fault) {
    struct rag_wants wants = {0};
    for (size_t i = 0; i < count; i++)
        if (rows[i] < 0 || (uint64_t)rows[i] >= matrix->count)
            return rag_fail(fault, RAG_ARGUMENT, (uint64_t)rows[i], "no such row");
    for (size_t i = 0; i < count; i++) rag_matrix_want(matrix, (uint64_t)rows[i], 1, &wants);
    return rag_wants_ready(&wants, fault);
}

enum rag_status rag_scores(const struct rag_matrix *matrix, const struct rag_question *question,
                           const int64_t *rows, size_t row_count, float *scores,
                           struct rag_fault *fault) {
    struct search search = {.dim = question->dim, .fault = fault};
    struct query query;
    if (matrix->dim != question->dim)
        return rag_fail(fault, RAG_ARGUMENT, matrix->dim,
                        "queries and vectors differ in dimensions");
    const enum rag_status status = bring(matrix, rows, row_count, fault);
    if (status != RAG_OK) return status;
    void *memory = malloc(rag_query_size(question->dim));
    float *scratch = rag_search_scratch(&search);
    if (memory && scratch) {
        rag_float_mode before;
        rag_float_plain(&before);
        rag_query_prepare(&query, memory, question->queries, question->dim, question->metric,
                          false);
        score_all(&search, &query, matrix, rows, row_count, scratch, scores);
        rag_float_back(&before);
    } else {
        rag_search_note(&search, RAG_MEMORY, NULL);
    }
    free(scratch);
    free(memory);
    return search.status;
}
