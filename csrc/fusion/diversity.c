/* diversity.c - maximal marginal relevance: passages that are relevant and unlike those before
 * them. */
#include <stdlib.h>

#include "fusion/directions.h"
#include "ragfile/refinement.h"
#include "shared/fail.h"

/* The rows that are left, in any order of `left`, with relevance and likeness of each. */
struct spread {
    double *units, *relevance, *likeness;
    bool *is_chosen;
    size_t count, dim;
};

static size_t best_left(const struct spread *all, double share) {
    size_t best = SIZE_MAX;
    double most = -INFINITY;
    for (size_t i = 0; i < all->count; i++) {
        if (all->is_chosen[i]) continue;
        const double gain = all->relevance[i] - share * all->likeness[i];
        if (best == SIZE_MAX || gain > most) best = i, most = gain;
    }
    return best;
}

static void add_likeness(const struct spread *all, size_t chosen, bool is_first) {
    const double *unit = all->units + chosen * all->dim;
    for (size_t i = 0; i < all->count; i++) {
        if (all->is_chosen[i]) continue;
        const double near = direction_dot(all->units + i * all->dim, unit, all->dim);
        if (is_first || near > all->likeness[i]) all->likeness[i] = near;
    }
}

static void choose(const struct spread *all, size_t k, double share, int64_t *order) {
    for (size_t i = 0; i < k && i < all->count; i++) {
        const size_t best = best_left(all, share);
        all->is_chosen[best] = true;
        order[i] = (int64_t)best;
        add_likeness(all, best, i == 0);
    }
}

enum rag_status rag_diverse(const double *scores, const double *vectors, size_t count, size_t dim,
                            size_t k, double share, int64_t *order, struct rag_fault *fault) {
    struct spread all = {.count = count, .dim = dim};
    all.units = malloc((count * dim + 1) * sizeof *all.units);
    all.relevance = malloc((count + 1) * sizeof *all.relevance);
    all.likeness = calloc(count + 1, sizeof *all.likeness);
    all.is_chosen = calloc(count + 1, sizeof *all.is_chosen);
    const bool is_ready = all.units && all.relevance && all.likeness && all.is_chosen;
    if (is_ready) {
        for (size_t i = 0; i < count; i++) {
            all.relevance[i] = scores[i];
            direction_of(vectors + i * dim, dim, all.units + i * dim);
        }
        rag_unit_range(all.relevance, count);
        for (size_t i = 0; i < count; i++) all.relevance[i] *= 1 - share;
        choose(&all, k, share, order);
    }
    free(all.units);
    free(all.relevance);
    free(all.likeness);
    free(all.is_chosen);
    return is_ready ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory to diversify");
}
