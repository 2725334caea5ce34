/* further_passages.c - further passages of a document raise its best one.
 *
 *   raised = best + share * top * ln(sum over the document's candidates of exp(4 (s - best)))
 *
 * top is the best fused score, and the candidates are the rows that score at least
 * RAG_EVIDENCE_NEAR of it, RAG_EVIDENCE_ROWS at most, best first. A document with one candidate
 * keeps its score to the bit. A search stays exact without the rows after the candidates: they
 * count for no document, and as scores only rise, none of them passes a candidate. So a vector
 * scan can skip them, which it could not if every row were evidence (calibrate.c).
 *
 * Documents themselves are ranked by a second formula, which does not favour long ones:
 *
 *   best + 2 share * top * (ln(sum) - ln(chunks of the document) / 2)
 *
 * binary64, summed in the order of the ranking. tests/oracles/evidence.py has the same formulas. */
#include <stdlib.h>

#include "ragfile/fusion.h"
#include "shared/log_exp.h"
#include "shared/fail.h"

size_t rag_evidence_count(const double *scores, size_t count) {
    size_t counted = 0;
    if (!count || !(scores[0] > 0)) return 0;
    const double least = RAG_EVIDENCE_NEAR * scores[0];
    while (counted < count && counted < RAG_EVIDENCE_ROWS && scores[counted] >= least) counted++;
    return counted;
}

/* Return ln(sum) of the document whose best candidate is `first`. */
static double weigh_document(const double *scores, const int64_t *documents, size_t count,
                             size_t first) {
    double sum = 1.0;
    bool is_alone = true;
    for (size_t i = first + 1; i < count; i++) {
        if (documents[i] != documents[first]) continue;
        sum += rag_falling_exp(4.0 * (scores[i] - scores[first]));
        is_alone = false;
    }
    return is_alone ? 0.0 : rag_natural_log(sum);
}

static bool has_earlier(const int64_t *documents, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (documents[j] == documents[i]) return true;
    return false;
}

void rag_evidence_weigh(const double *scores, const int64_t *documents, size_t count,
                        double *weights) {
    for (size_t i = 0; i < count; i++)
        weights[i] = has_earlier(documents, i) ? 0.0 : weigh_document(scores, documents, count, i);
}

double rag_evidence_raised(double score, double top, double share, double weight) {
    return weight > 0 && top > 0 ? score + share * top * weight : score;
}

double rag_evidence_of_document(double score, double top, double share, double weight,
                                uint64_t chunks) {
    if (!(top > 0) || chunks == 0) return score;
    const double length = rag_natural_log((double)chunks) / 2.0;
    return score + 2.0 * share * top * (weight - length);
}

struct raised {
    double score;
    int64_t tie;
    size_t at;
};

static int by_rank(const void *a, const void *b) {
    const struct raised *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

enum rag_status rag_evidence_rank(double *scores, const int64_t *documents, const int64_t *ties,
                                  size_t count, double share, int64_t *order,
                                  struct rag_fault *fault) {
    double *weights = malloc((count + 1) * sizeof *weights);
    struct raised *all = malloc((count + 1) * sizeof *all);
    const bool is_ready = weights && all;
    if (is_ready) rag_evidence_weigh(scores, documents, count, weights);
    for (size_t i = 0; is_ready && i < count; i++)
        all[i] = (struct raised){rag_evidence_raised(scores[i], scores[0], share, weights[i]),
                                 ties[i], i};
    if (is_ready) qsort(all, count, sizeof *all, by_rank);
    for (size_t i = 0; is_ready && i < count; i++) {
        order[i] = (int64_t)all[i].at;
        scores[i] = all[i].score;
    }
    free(all);
    free(weights);
    return is_ready ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory to rank");
}
