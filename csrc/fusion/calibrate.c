/* calibrate.c - calibrated fusion: combine a row's two exact scores and rank rows by the sum.
 *
 *     bm25 / best + (dense - mean) / deviation / weight
 *
 * all in binary64 and in this order, so that every machine gives the same bits. An undefined term
 * (no word found anywhere, a sample without spread) is 0. A row without a vector has a dense score
 * of NaN, which counts as the mean. An infinite weight leaves the order to the words.
 * ragfile/search/fusion.py has a numpy implementation of the same formula. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "ragfile/fusion.h"
#include "shared/fail.h"

double rag_calibrated_weight(double recorded, double counted, double known) {
    const double share = 1 - counted * (1 - known);
    return share > 0 ? recorded / share : INFINITY;
}

double rag_calibrated_score(const struct rag_calibration *by, float bm25, float dense) {
    const double words = by->best > 0 ? (double)bm25 / by->best : 0;
    const double near = isnan(dense) ? (double)(float)by->mean : (double)dense;
    const double sigmas = by->deviation > 0 ? (near - by->mean) / by->deviation : 0;
    return words + sigmas / by->weight;
}

struct ranked {
    double score;
    int64_t tie;
    uint32_t at;
};

static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

enum rag_status rag_calibrated_rank(const struct rag_calibration *by, const float *bm25,
                                    const float *dense, const int64_t *ties, size_t count,
                                    int64_t *order, double *scores, struct rag_fault *fault) {
    struct ranked *all = malloc((count + 1) * sizeof *all);
    if (!all) return rag_fail(fault, RAG_MEMORY, 0, "no memory to rank");
    for (size_t i = 0; i < count; i++)
        all[i] = (struct ranked){rag_calibrated_score(by, bm25[i], dense[i]), ties[i], (uint32_t)i};
    qsort(all, count, sizeof *all, by_rank);
    for (size_t i = 0; i < count; i++) {
        order[i] = all[i].at;
        scores[i] = all[i].score;
    }
    free(all);
    return RAG_OK;
}

static int falling(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Return the score that a row needs to be evidence, given some of the rows in descending order.
 * Further rows can only raise it. */
static double evidence_bar(const double *all, size_t count) {
    const double near = RAG_EVIDENCE_NEAR * (all[0] > 0 ? all[0] : 0);
    const double last = count < RAG_EVIDENCE_ROWS ? near : all[RAG_EVIDENCE_ROWS - 1];
    return last > near ? last : near;
}

/* Return the k-th best of the rows, or less if rows below it are evidence; NaN without memory: then
 * no row is excluded. */
static double bar_of(const struct rag_calibration *by, const float *bm25, const float *dense,
                     size_t count, size_t k, bool has_evidence) {
    double *all = malloc(count * sizeof *all), bar = NAN;
    if (!all) return bar;
    for (size_t i = 0; i < count; i++) all[i] = rag_calibrated_score(by, bm25[i], dense[i]);
    qsort(all, count, sizeof *all, falling);
    bar = all[k - 1];
    const double low = has_evidence ? evidence_bar(all, count) : bar;
    free(all);
    return low < bar ? low : bar;
}

/* A fused score is monotonic in each of its parts under any rounding: if one dense score misses the
 * bar, all smaller ones do. So a guess suffices once it is verified. */
float rag_calibrated_least(const struct rag_calibration *by, const float *bm25, const float *dense,
                           size_t count, size_t k, float rest, bool has_evidence) {
    if (k == 0 || k > count || !(by->best > 0) || !(by->deviation > 0)) return -INFINITY;
    const double bar = bar_of(by, bm25, dense, count, k, has_evidence);
    if (isinf(by->weight)) return (double)rest / by->best < bar ? FLT_MAX : -INFINITY;
    const double wanted = by->mean + (bar - (double)rest / by->best) * by->weight * by->deviation;
    if (!(fabs(wanted) < 1e38)) return -INFINITY;
    const float least = nextafterf((float)wanted, -INFINITY);
    return rag_calibrated_score(by, rest, nextafterf(least, -INFINITY)) < bar ? least : -INFINITY;
}
