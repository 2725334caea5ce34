/* refinement.c - the steps after fusion, over arrays that JavaScript holds. */
#include <math.h>
#include <stdlib.h>

#include "doors/wasm/wasm.h"
#include "ragfile/refinement.h"
#include "shared/fail.h"

/* Fuse lists that follow one another in `from` and `by`; counts[i] is the length of each. `is_rrf`
 * chooses the method. *found gets the number of rows. */
EXPORT(lists_fuse)
int lists_fuse(int is_rrf, double constant, const int64_t *from, const double *by,
               const uint32_t *counts, const double *weights, size_t count, int64_t *rows,
               double *scores, size_t *found) {
    struct rag_list *lists = malloc((count + 1) * sizeof *lists);
    if (!lists) return (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory to fuse");
    for (size_t i = 0, at = 0; i < count; at += counts[i++])
        lists[i] = (struct rag_list){from + at, by + at, counts[i], weights[i]};
    const enum rag_status status = rag_lists_fuse(is_rrf ? RAG_RRF : RAG_BLEND, constant, lists,
                                                  count, rows, scores, found, &fault);
    free(lists);
    return (int)status;
}

/* Return a date as days since 1970, NaN for another text. */
EXPORT(date_days) double date_days(const uint8_t *text, size_t size) {
    double days;
    return rag_date_days(text, size, &days) ? days : NAN;
}

EXPORT(boosts_rank)
int boosts_rank(const struct rag_boost *boosts, size_t boost_count, const double *values,
                double *scores, size_t count, int64_t *order) {
    return (int)rag_boosts_rank(boosts, boost_count, values, scores, count, order, &fault);
}

EXPORT(diverse)
int diverse(const double *scores, const double *vectors, size_t count, size_t dim, size_t k,
            double share, int64_t *order) {
    return (int)rag_diverse(scores, vectors, count, dim, k, share, order, &fault);
}

EXPORT(repeats_new) struct rag_repeats *repeats_new(void) { return rag_repeats_new(); }

EXPORT(repeats_free) void repeats_free(struct rag_repeats *kept) { rag_repeats_free(kept); }

EXPORT(repeats_vectors)
int repeats_vectors(struct rag_repeats *kept, const double *vectors, size_t count, size_t dim,
                    double same, bool *is_new) {
    return (int)rag_repeats_vectors(kept, vectors, count, dim, same, true, is_new, &fault);
}

/* Keep the mark of a text, given by its words, unless it repeats one. */
EXPORT(repeats_text)
int repeats_text(struct rag_repeats *kept, const uint8_t *words, size_t size, unsigned bits,
                 bool *is_new) {
    return (int)rag_repeats_mark(kept, rag_simhash(words, size), bits, true, is_new, &fault);
}
