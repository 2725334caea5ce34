/* bounds.c - the range of scores that a shadow allows for a row, without reading the row.
 *
 * A search refines a row on its 8-bit codes, as shortlist.c does, and gets bounds of its key.
 * Here the bounds are converted to scores and rounded outwards, to explain why a row was read.
 * They hold for the canonical score. A row that is never ranked has NaN; a row without usable
 * codes has infinities. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "ragfile/bits.h"
#include "ragfile/search.h"
#include "shadows/shadow.h"
#include "shared/fail.h"
#include "vectors/vectors.h"

/* The same slack as in shortlist.c. */
#define REFINE_SLACK 1e-6

static double score_of(const struct query *query, double key, double away) {
    double value = key + fabs(key) * 1e-14 * away;
    if (query->metric == RAG_IP) value *= query->norm;
    if (query->metric == RAG_L2)
        value = 2 * query->norm * value - query->square * (1 - 1e-14 * away);
    return value + fabs(value) * 0x1p-24 * away; /* the score is rounded to binary32 */
}

static float outwards(double value, double away) {
    if (value > FLT_MAX || value < -FLT_MAX) return value > 0 ? INFINITY : -INFINITY;
    return nextafterf((float)value, away > 0 ? INFINITY : -INFINITY);
}

static void bound_row(const struct query *query, uint32_t dim, const uint8_t *codes,
                      struct rag_bounds *bounds) {
    const double scale = load_f32(codes), rest = load_f32(codes + 4), norm = load_f32(codes + 8);
    int64_t sums[2];
    float upper, lower;
    *bounds = (struct rag_bounds){NAN, NAN};
    if (rest == -INFINITY) return;
    *bounds = (struct rag_bounds){-INFINITY, INFINITY};
    if (!isfinite(rest) || query->plain) return;
    const uint8_t *row = codes + CODE_HEAD;
    rag_kernels()->refine(&row, 1, query->high, query->low, align_up(dim, QUERY_PAD), query->biases,
                          sums);
    const double estimate = (256.0 * (double)sums[0] + (double)sums[1]) * query->fine.step * scale;
    const double error = rest + query->fine.error * (1 + rest) + REFINE_SLACK;
    rag_key_bounds(query, estimate, error, norm, &upper, &lower);
    bounds->lower = outwards(score_of(query, lower, -1), -1);
    bounds->upper = outwards(score_of(query, upper, 1), 1);
}

static enum rag_status bound_at(const struct rag_shadow *shadow, const struct query *query,
                                uint64_t row, struct rag_bounds *bounds, struct rag_fault *fault) {
    const size_t size = rag_shadow_row_size(shadow);
    const uint64_t at =
        rag_shadow_codes_at(shadow, row / shadow->group_rows) + row % shadow->group_rows * size;
    const enum rag_status status = rag_guard_check(&shadow->guard, at, size, fault);
    if (status == RAG_OK) bound_row(query, shadow->dim, rag_guard_at(&shadow->guard, at), bounds);
    return status;
}

enum rag_status rag_shadow_bounds(const struct rag_shadow *shadow,
                                  const struct rag_question *question, const int64_t *rows,
                                  size_t row_count, struct rag_bounds *bounds,
                                  struct rag_fault *fault) {
    struct query query;
    enum rag_status status = RAG_OK;
    if (shadow->dim != question->dim)
        return rag_fail(fault, RAG_ARGUMENT, shadow->dim,
                        "queries and vectors differ in dimensions");
    void *memory = malloc(rag_query_size(question->dim));
    if (!memory) return rag_fail(fault, RAG_MEMORY, 0, "no memory for bounds");
    rag_float_mode before;
    rag_float_plain(&before);
    rag_query_prepare(&query, memory, question->queries, question->dim, question->metric, true);
    for (size_t i = 0; i < row_count && status == RAG_OK; i++)
        status = rows[i] < 0 || (uint64_t)rows[i] >= shadow->count
                     ? rag_fail(fault, RAG_ARGUMENT, (uint64_t)rows[i], "no such row")
                     : bound_at(shadow, &query, (uint64_t)rows[i], &bounds[i], fault);
    rag_float_back(&before);
    free(memory);
    return status;
}
