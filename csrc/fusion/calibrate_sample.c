/* calibrate_sample.c - mean and deviation of a query's canonical scores over a sample of rows.
 *
 * The sample has its rows as native binary32 at one distance, with their squares, which do not
 * depend on the query; a query costs one product per row and two sums. The square of a row with a
 * NaN or an infinity is not finite; such a row does not count. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/sample.h"
#include "shared/fail.h"
#include "vectors/vectors.h"

static size_t row_size(const struct rag_sample *sample) {
    return sample->stride ? sample->stride : (size_t)sample->dim * sizeof(float);
}

enum rag_status rag_sample_squares(struct rag_sample *sample, struct rag_fault *fault) {
    double *zeros = calloc(align_up(sample->dim, 16), sizeof *zeros), dot;
    rag_float_mode before;
    if (!zeros) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a sample");
    rag_float_plain(&before);
    for (size_t i = 0; i < sample->count; i++) {
        const uint8_t *row = (const uint8_t *)sample->rows + i * row_size(sample);
        rag_kernels()->canonical(row, zeros, sample->dim, &dot, &sample->squares[i]);
    }
    rag_float_back(&before);
    free(zeros);
    return RAG_OK;
}

static void score_all(const struct rag_sample *sample, const struct query *query, double *dots,
                      float *scores) {
    rag_kernels()->dots((const uint8_t *)sample->rows, row_size(sample), sample->count, query->wide,
                        sample->dim, dots);
    for (size_t i = 0; i < sample->count; i++)
        scores[i] =
            isfinite(sample->squares[i]) ? rag_score(query, dots[i], sample->squares[i]) : NAN;
}

enum rag_status rag_sample_moments(const struct rag_sample *sample, const float *query,
                                   double *mean, double *deviation, struct rag_fault *fault) {
    struct query prepared;
    void *memory = malloc(rag_query_size(sample->dim));
    double *dots = malloc((sample->count + 1) * sizeof *dots);
    float *scores = malloc((sample->count + 1) * sizeof *scores);
    const bool is_ready = memory && dots && scores;
    if (is_ready) {
        rag_float_mode before;
        rag_float_plain(&before);
        rag_query_prepare(&prepared, memory, query, sample->dim, sample->metric, false);
        score_all(sample, &prepared, dots, scores);
        rag_moments(scores, dots, sample->count, mean, deviation);
        rag_float_back(&before);
    }
    free(scores);
    free(dots);
    free(memory);
    return is_ready ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory for a sample");
}
