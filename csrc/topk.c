/* topk.c - the k best of many: a heap of exact scores, and a sieve of rows known only by bounds.
 *
 * The heap (struct best) holds up to k scored rows with the worst on top, so an offer that cannot
 * win costs one comparison. The order is total (score, then row), so the result does not depend on
 * the order in which rows are offered.
 *
 * The sieve is for rows whose keys lie between a lower and an upper bound. When k of its rows have
 * lower bounds of at least f, no row with an upper bound below f can be among the k best.
 * rag_sieve_tighten finds the largest such f, by moving the k largest lower bounds to the front,
 * and drops the rows below it. Equal scores must stay together, for their rows decide: rag_floor_at
 * turns f into a floor that keeps every row that could tie.
 *
 * All sieves of a query share its floor, an atomic number that only rises. A thread that reads an
 * old value keeps a few rows too many and loses none.
 *
 * A sieve starts with room for 4 k + 24 rows. When it is full it is tightened, and it doubles only
 * if more than three quarters remain. Without memory for that it sets `failed`, and the search
 * reports RAG_MEMORY: a row is never dropped silently. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "vectors.h"

/* ----------------------------------------------------------------------------------------- heap */

static inline bool worse(struct scored a, struct scored b) {
    return a.score < b.score || (a.score == b.score && a.row > b.row);
}

#define HEAP_ITEM struct scored
#define HEAP_CONTEXT void *
#define HEAP_ABOVE(context, a, b) worse(a, b)
#include "heap.h"

bool rag_best_open(struct best *best, size_t k) {
    *best = (struct best){malloc((k ? k : 1) * sizeof *best->entries), 0, k};
    return best->entries != NULL;
}

void rag_best_close(struct best *best) { free(best->entries); }

/* Apart, so that the common case, a row that is not among the best, saves no registers. */
static __attribute__((noinline)) void take(struct best *best, struct scored entry) {
    best->count = heap_offer(NULL, best->entries, best->count, best->k, entry);
}

void rag_best_offer(struct best *best, float score, uint32_t row) {
    const struct scored entry = {score, row};
    if (best->count < best->k || (best->k > 0 && worse(best->entries[0], entry))) take(best, entry);
}

void rag_best_sort(struct best *best) { heap_sort(NULL, best->entries, best->count); }

/* ---------------------------------------------------------------------------------------- sieve */

static void raise_floor(float *shared, float value) {
    float seen = rag_floor_read(shared);
    while (value > seen && !__atomic_compare_exchange(shared, &seen, &value, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
    }
}

bool rag_sieve_open(struct sieve *sieve, size_t k, const struct query *query, float *shared) {
    const size_t room = 4 * k + 24;
    *sieve = (struct sieve){
        .room = room, .k = k, .floor = rag_floor_read(shared), .shared = shared, .query = query};
    sieve->entries = malloc(room * sizeof *sieve->entries);
    return sieve->entries != NULL;
}

void rag_sieve_close(struct sieve *sieve) { free(sieve->entries); }

/* Moves the k entries with the largest lower bounds to the front. */
static void select_by_lower(struct candidate *entries, size_t count, size_t k) {
    size_t from = 0, to = count - 1;
    while (from < to) {
        const float pivot = entries[from + (to - from) / 2].lower;
        size_t i = from, j = to;
        for (;;) {
            while (entries[i].lower > pivot) i++;
            while (entries[j].lower < pivot) j--;
            if (i >= j) break;
            const struct candidate swap = entries[i];
            entries[i++] = entries[j];
            entries[j--] = swap;
        }
        const size_t right =
            i == j ? i + 1 : i; /* before i: at least pivot; from right on: at most */
        if (k < i) to = i - 1;
        else if (k > right) from = right;
        else return;
    }
}

static float smallest_lower(const struct candidate *entries, size_t count) {
    float least = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (entries[i].lower < least) least = entries[i].lower;
    return least;
}

void rag_sieve_tighten(struct sieve *sieve) {
    if (sieve->k > 0 && sieve->count >= sieve->k) {
        select_by_lower(sieve->entries, sieve->count, sieve->k);
        raise_floor(sieve->shared,
                    rag_floor_at(sieve->query, smallest_lower(sieve->entries, sieve->k)));
    }
    const float floor = rag_floor_read(sieve->shared);
    size_t kept = 0;
    for (size_t i = 0; i < sieve->count; i++)
        if (sieve->entries[i].upper >= floor) sieve->entries[kept++] = sieve->entries[i];
    sieve->count = sieve->tight = kept;
    sieve->floor = floor;
}

void rag_sieve_offer_full(struct sieve *sieve, struct candidate entry) {
    rag_sieve_tighten(sieve);
    if (sieve->count > sieve->room - sieve->room / 4) {
        const bool grown =
            rag_grow(&sieve->entries, &sieve->room, 2 * sieve->room, sizeof *sieve->entries);
        sieve->failed = !grown && sieve->count == sieve->room;
        if (sieve->failed) return;
    }
    if (entry.upper >= sieve->floor) sieve->entries[sieve->count++] = entry;
}
