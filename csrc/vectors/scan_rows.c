/* scan_rows.c - scanning rows themselves: all of them by canonical score, or most of them by a
 * binary32 estimate.
 *
 * rag_scan_exhaustive scores each row that passes the filter. It serves searches in few rows, where
 * bounds would cost more than they save, and queries that have no bounds.
 *
 * rag_scan_estimates serves matrices without a shadow: 0.1.0 pairs, foreign byte orders, odd widths
 * and strides. It takes strips of sixteen rows. Each strip is read once for all queries of the
 * slice, at the speed of memory, and copied first where its rows are not little-endian binary32 at
 * one stride. A quick bound with twice the slack rules most rows out; the rest go to the candidates
 * with tight bounds and are scored when the query is finished.
 *
 * The slack holds only while squares stay in 2^-80 .. 2^80. A row outside this range, or with a
 * value that is not finite, is scored at once; its score decides whether it is ranked at all. A
 * candidate set that grows too large is turned into scores on the way.
 *
 * Checksums are checked strip by strip. A failure ends the scan and is noted in the search. */
#include <math.h>
#include <stdlib.h>

#include "vectors/scan.h"

void rag_scan_exhaustive(struct search *search, const struct slice *slice, const uint32_t *which,
                         size_t count) {
    struct passing passing =
        rag_passing(rag_where(search, slice, which[0]), slice->first, slice->end);
    uint32_t rows[RAG_OFFERED];
    size_t found;
    float *scratch = rag_search_scratch(search);
    if (!scratch) rag_search_note(search, RAG_MEMORY, NULL);
    while (!rag_search_failed(search) &&
           (found = rag_passing_take(&passing, rows, RAG_OFFERED)) > 0)
        for (size_t q = 0; q < count; q++)
            rag_search_offer(search, slice, which[q], rows, found, scratch);
    free(scratch);
}

/* Sixteen rows at a time. */
struct strip {
    const uint8_t *rows; /* binary32, stride apart */
    size_t stride, count;
    uint64_t first;
    float *scratch;
};

static void strip_load(struct strip *strip, const struct rag_matrix *matrix, uint64_t first,
                       uint64_t end) {
    strip->first = first;
    strip->count = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
    if (matrix->scalar == RAG_F32 && !matrix->big_endian && !matrix->offsets) {
        strip->rows = rag_matrix_row(matrix, first);
        strip->stride = matrix->stride;
        return;
    }
    strip->rows = (const uint8_t *)strip->scratch;
    strip->stride = (size_t)matrix->dim * sizeof(float);
    for (size_t i = 0; i < strip->count; i++) {
        float *to = strip->scratch + i * matrix->dim;
        const uint8_t *at = rag_matrix_floats(matrix, first + i, to);
        if (at != (const uint8_t *)to) memcpy(to, at, strip->stride);
    }
}

/* Upper bounds of the keys in binary32, good enough to rule rows out; NaN where there is no
 * bound. */
static void bound_strip(const struct query *query, const float *dots, const float *squares,
                        float slack, float *upper) {
    const float curve = (float)query->curve * (1 - 1e-6f - slack);
    for (size_t i = 0; i < BLOCK_ROWS; i++) {
        const float norm = sqrtf(squares[i]);
        upper[i] = query->metric == RAG_COSINE ? dots[i] / norm + slack
                                               : dots[i] + norm * (slack - curve * norm);
    }
}

/* Rows whose squares left the range where estimates are sound are scored at once. */
static void offer_row(struct search *search, const struct slice *slice, uint32_t q, uint64_t row,
                      float dot, float square, float *scratch) {
    const struct query *query = &search->queries[q];
    struct query_state *state = &slice->states[q];
    float upper, lower;
    if (!(square >= 0x1p-80f && square <= 0x1p80f)) {
        const uint32_t alone = (uint32_t)row;
        rag_search_offer(search, slice, q, &alone, 1, scratch);
        return;
    }
    const double norm = sqrt(square), slack = ESTIMATE_SLACK(search->dim);
    rag_key_bounds(query, dot / norm, slack + slack * query->curve * norm, norm, &upper, &lower);
    rag_topk_offer(&state->topk, upper, lower, (uint32_t)row);
    if (state->topk.count >= TOPK_LARGE + 4 * search->k)
        rag_search_settle(search, slice, q, scratch);
}

static void scan_strip(struct search *search, const struct slice *slice, uint32_t q,
                       const struct strip *strip, float *scratch) {
    const struct query *query = &search->queries[q];
    const uint64_t *where = rag_where(search, slice, q);
    const struct topk *topk = &slice->states[q].topk;
    float dots[BLOCK_ROWS] = {0}, squares[BLOCK_ROWS] = {0}, upper[BLOCK_ROWS];
    rag_kernels()->estimate(strip->rows, strip->stride, strip->count, query->unit, search->dim,
                            dots, squares);
    bound_strip(query, dots, squares, (float)(2 * ESTIMATE_SLACK(search->dim)), upper);
    for (size_t i = 0; i < strip->count; i++) {
        const bool sound = squares[i] >= 0x1p-80f && squares[i] <= 0x1p80f;
        if ((sound && upper[i] < topk->floor) || !has_row(where, strip->first + i)) continue;
        offer_row(search, slice, q, strip->first + i, dots[i], squares[i], scratch);
    }
}

static bool strip_wanted(const uint64_t *where, uint64_t first) {
    return !where || (where[first / 64] >> first % 64 & 0xffff);
}

void rag_scan_estimates(struct search *search, const struct slice *slice, const uint32_t *which,
                        size_t count) {
    const struct rag_segment *segment = &search->segments[slice->segment];
    struct strip strip = {.scratch = malloc((size_t)search->dim * BLOCK_ROWS * sizeof(float))};
    struct rag_fault fault;
    float *scratch = rag_search_scratch(search);
    if (!strip.scratch || !scratch) rag_search_note(search, RAG_MEMORY, NULL);
    for (uint64_t row = slice->first; row < slice->end && !rag_search_failed(search);
         row += BLOCK_ROWS) {
        if (!strip_wanted(rag_where(search, slice, which[0]), row)) continue;
        const uint64_t rows = slice->end - row < BLOCK_ROWS ? slice->end - row : BLOCK_ROWS;
        if (!rag_search_note(search, rag_matrix_touch(segment->matrix, row, rows, &fault), &fault))
            break;
        strip_load(&strip, segment->matrix, row, slice->end);
        for (size_t q = 0; q < count; q++) scan_strip(search, slice, which[q], &strip, scratch);
    }
    free(scratch);
    free(strip.scratch);
}
