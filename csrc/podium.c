/* podium.c - who won: the exact end of a query.
 *
 * Its candidates are scored from the largest upper bound down, until the bounds fall below the floor of the k-th score.
 * Each segment keeps its own k best, so that whoever merges segments may settle ties by a key of their own. */
#include <math.h>
#include <stdlib.h>

#include "scan.h"

/* A candidate of a query: where it was found, and the most that its key can be. */
struct contender {
    float upper;
    uint32_t row;
    uint32_t segment;
};

static int by_upper(const void *a, const void *b) {
    const struct contender *x = a, *y = b;
    return x->upper < y->upper ? 1 : x->upper > y->upper ? -1 : 0;
}

static struct contender *gather(struct search *search, size_t query, size_t *count) {
    size_t room = 0;
    for (size_t s = 0; s < search->slice_count; s++) {
        struct sieve *sieve = &search->slices[s].hunts[query].sieve;
        if (sieve->entries) rag_sieve_tighten(sieve);
        room += sieve->count;
    }
    struct contender *contenders = malloc((room + 1) * sizeof *contenders);
    const float floor = rag_floor_read(&search->floors[query]);
    *count = 0;
    for (size_t s = 0; contenders && s < search->slice_count; s++) {
        const struct slice *slice = &search->slices[s];
        const struct sieve *sieve = &slice->hunts[query].sieve;
        for (size_t i = 0; i < sieve->count; i++)
            if (is_open(&sieve->entries[i]) && sieve->entries[i].upper >= floor)
                contenders[(*count)++] =
                    (struct contender){sieve->entries[i].upper, sieve->entries[i].row, (uint32_t)slice->segment};
    }
    return contenders;
}

void rag_search_bring(struct search *search) {
    struct rag_wants wants = {0};
    struct rag_fault fault;
    bool any = false;
    for (size_t s = 0; s < search->segment_count; s++) any |= search->segments[s].matrix->guard.source != NULL;
    for (size_t q = 0; any && q < search->query_count; q++) {
        size_t count;
        struct contender *contenders = gather(search, q, &count);
        for (size_t i = 0; contenders && i < count; i++)
            rag_matrix_want(search->segments[contenders[i].segment].matrix, contenders[i].row, 1, &wants);
        wants.failed |= !contenders;
        free(contenders);
    }
    rag_search_note(search, rag_wants_ready(&wants, &fault), &fault);
}

/* The best rows of each segment, and the best scores of all, whose worst is the bar. */
struct podium {
    struct best all, *segments;
};

static void podium_offer(struct podium *podium, size_t segment, float score, uint32_t row) {
    if (podium->all.count == podium->all.k && score < podium->all.entries[0].score) return;
    rag_best_offer(&podium->segments[segment], score, row);
    rag_best_offer(&podium->all, score, 0);
}

static void prefetch_row(const struct rag_matrix *matrix, uint64_t row) {
    const uint8_t *at = rag_matrix_row(matrix, row);
    for (size_t i = 0; i < (size_t)matrix->dim * (2u << matrix->scalar); i += 64) __builtin_prefetch(at + i);
}

static void score_contenders(struct search *search, size_t q, struct podium *podium, const struct contender *contenders,
                             size_t count, float *scratch) {
    const struct query *query = &search->queries[q];
    float floor = rag_floor_read(&search->floors[q]), bar = -INFINITY, score;
    for (size_t i = 0; i < count && i < 4; i++)
        prefetch_row(search->segments[contenders[i].segment].matrix, contenders[i].row);
    for (size_t i = 0; i < count && contenders[i].upper >= floor; i++) {
        const struct contender *c = &contenders[i];
        if (i + 4 < count) prefetch_row(search->segments[c[4].segment].matrix, c[4].row);
        if (!rag_search_score(search, query, search->segments[c->segment].matrix, c->row, scratch, &score)) continue;
        podium_offer(podium, c->segment, score, c->row);
        if (podium->all.count < podium->all.k || podium->all.entries[0].score == bar) continue;
        bar = podium->all.entries[0].score;
        floor = fmaxf(floor, rag_floor_of(query, bar));
    }
}

static void take_scored(const struct search *search, size_t q, struct podium *podium) {
    for (size_t s = 0; s < search->slice_count; s++) {
        const struct best *best = &search->slices[s].hunts[q].best;
        for (size_t i = 0; i < best->count; i++)
            podium_offer(podium, search->slices[s].segment, best->entries[i].score, best->entries[i].row);
    }
}

static void put_results(struct search *search, size_t q, struct podium *podium) {
    const struct best *all = &podium->all;
    const float worst = all->count == search->k && all->count > 0 ? all->entries[0].score : -INFINITY;
    const float bar = search->least ? fmaxf(worst, search->least[q]) : worst;
    for (size_t s = 0; s < search->segment_count; s++) {
        struct best *best = &podium->segments[s];
        int64_t *rows = search->rows + (q * search->segment_count + s) * search->width;
        float *scores = search->scores + (q * search->segment_count + s) * search->width;
        rag_best_sort(best);
        for (size_t i = 0; i < search->width; i++) {
            const bool there = i < best->count && best->entries[i].score >= bar;
            rows[i] = there ? (int64_t)best->entries[i].row : -1;
            scores[i] = there ? best->entries[i].score : -INFINITY;
        }
    }
}

static bool podium_open(struct search *search, struct podium *podium) {
    uint64_t total = 0;
    podium->segments = calloc(search->segment_count, sizeof *podium->segments);
    if (!podium->segments) return false;
    for (size_t s = 0; s < search->segment_count; s++) {
        const uint64_t rows = search->segments[s].matrix->count;
        total += rows;
        if (!rag_best_open(&podium->segments[s], search->k < rows ? search->k : rows)) return false;
    }
    return rag_best_open(&podium->all, search->k < total ? search->k : total);
}

static void podium_close(struct search *search, struct podium *podium) {
    for (size_t s = 0; podium->segments && s < search->segment_count; s++) rag_best_close(&podium->segments[s]);
    free(podium->segments);
    rag_best_close(&podium->all);
}

void rag_search_finish(struct search *search, size_t q) {
    struct podium podium = {0};
    size_t count;
    struct contender *contenders = gather(search, q, &count);
    float *scratch = malloc((size_t)search->dim * sizeof *scratch);
    if (contenders && scratch && podium_open(search, &podium)) {
        take_scored(search, q, &podium);
        qsort(contenders, count, sizeof *contenders, by_upper);
        score_contenders(search, q, &podium, contenders, count, scratch);
        put_results(search, q, &podium);
    } else {
        rag_search_note(search, RAG_MEMORY, NULL);
    }
    podium_close(search, &podium);
    free(scratch);
    free(contenders);
}
