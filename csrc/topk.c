/* topk.c - the k best of many: a heap of exact scores, and a sieve of rows known only by bounds.
 *
 * The heap (struct best) holds up to k scored rows with the worst on top, so an offer that cannot
 * win costs one comparison. It is a heap from the k-th row on; until then rows are only put side by
 * side. The order is total (score, then row), so the result does not depend on the order in which
 * rows are offered.
 *
 * The sieve is for rows whose keys lie between a lower and an upper bound. When k of its rows have
 * lower bounds of at least f, no row with an upper bound below f can be among the k best.
 * rag_sieve_tighten finds the largest such f, the k-th lower bound, and drops the rows below it.
 * Equal scores must stay together, for their rows decide: rag_floor_at turns f into a floor that
 * keeps every row that could tie.
 *
 * All sieves of a query share its floor, an atomic number that only rises. A thread that reads an
 * old value keeps a few rows too many and loses none.
 *
 * The k-th of many numbers is found by halving the range that it lies in and counting: a pass takes
 * a fraction of a cycle a number, as nothing in it depends on how they lie, and a dozen passes are
 * faster than moving entries whose order the processor cannot foresee.
 *
 * A sieve starts with room for 4 k + 24 rows. When it is full it is tightened, and it doubles only
 * if more than three quarters remain. Without memory for that it sets `failed`, and the search
 * reports RAG_MEMORY: a row is never dropped silently. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "vectors.h"

/* --------------------------------------------------------------------------------------- orders */

static size_t count_from(const int32_t *keys, size_t count, int32_t least) {
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += keys[i] >= least;
    return sum;
}

static int32_t smallest_from(const int32_t *keys, size_t count, int32_t least) {
    int32_t smallest = INT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const int32_t key = keys[i] >= least ? keys[i] : INT32_MAX;
        smallest = key < smallest ? key : smallest;
    }
    return smallest;
}

static int32_t largest_of(const int32_t *keys, size_t count) {
    int32_t largest = INT32_MIN;
    for (size_t i = 0; i < count; i++) largest = keys[i] > largest ? keys[i] : largest;
    return largest;
}

float rag_kth_largest(const int32_t *keys, size_t count, size_t k) {
    int64_t low = smallest_from(keys, count, INT32_MIN), high = largest_of(keys, count);
    while (low < high) { /* k keys are low or more, fewer are above high */
        const int64_t middle = low + (high - low + 1) / 2;
        const size_t found = count_from(keys, count, (int32_t)middle);
        if (found == k) return ordered_float(smallest_from(keys, count, (int32_t)middle));
        if (found > k) low = middle;
        else high = middle - 1;
    }
    return ordered_float((int32_t)low);
}

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
    if (best->count == best->k) {
        best->entries[0] = entry;
        heap_down(NULL, best->entries, best->count, 0);
        return;
    }
    best->entries[best->count++] = entry;
    if (best->count == best->k) heap_make(NULL, best->entries, best->count);
}

void rag_best_offer(struct best *best, float score, uint32_t row) {
    const struct scored entry = {score, row};
    if (best->count < best->k || (best->k > 0 && worse(best->entries[0], entry))) take(best, entry);
}

/* Few entries find their places by counting those before them, which takes n^2 comparisons that
 * nothing waits for. Equal scores stand side by side then, and are put in order of rows. */
enum { COUNTED_MAX = 256 };

static void sort_by_counts(struct scored *entries, size_t count) {
    int32_t keys[COUNTED_MAX];
    struct scored sorted[COUNTED_MAX];
    bool taken[COUNTED_MAX + 1] = {false};
    for (size_t i = 0; i < count; i++) keys[i] = float_order(entries[i].score + 0.0f);
    for (size_t i = 0; i < count; i++) {
        size_t place = keys[i] < INT32_MAX ? count_from(keys, count, keys[i] + 1) : 0;
        while (taken[place]) place++;
        taken[place] = true;
        sorted[place] = entries[i];
    }
    for (size_t i = 0; i < count; i++) {
        size_t place = i;
        for (; place > 0 && worse(entries[place - 1], sorted[i]); place--)
            entries[place] = entries[place - 1];
        entries[place] = sorted[i];
    }
}

void rag_best_sort(struct best *best) {
    if (best->count <= COUNTED_MAX) {
        sort_by_counts(best->entries, best->count);
        return;
    }
    if (best->count < best->k) heap_make(NULL, best->entries, best->count);
    heap_sort(NULL, best->entries, best->count);
}

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
    sieve->entries = malloc(room * SIEVE_ENTRY);
    return sieve->entries != NULL;
}

void rag_sieve_close(struct sieve *sieve) { free(sieve->entries); }

float rag_sieve_lower(struct sieve *sieve, size_t k) {
    int32_t *keys = (int32_t *)(sieve->entries + sieve->room);
    for (size_t i = 0; i < sieve->count; i++) keys[i] = float_order(sieve->entries[i].lower);
    return rag_kth_largest(keys, sieve->count, k);
}

void rag_sieve_tighten(struct sieve *sieve) {
    if (sieve->k > 0 && sieve->count >= sieve->k)
        raise_floor(sieve->shared, rag_floor_at(sieve->query, rag_sieve_lower(sieve, sieve->k)));
    const float floor = rag_floor_read(sieve->shared);
    size_t kept = 0;
    for (size_t i = 0; i < sieve->count; i++) {
        const struct candidate entry = sieve->entries[i];
        sieve->entries[kept] = entry;
        kept += entry.upper >= floor;
    }
    sieve->count = sieve->tight = kept;
    sieve->floor = floor;
}

/* Moves the entries that stay in front of place and are wanted there. */
static size_t move_front(struct sieve *sieve, size_t place, size_t most, float above, float to) {
    for (size_t i = place; i < sieve->count && place < most; i++) {
        const struct candidate entry = sieve->entries[i];
        if (!(entry.lower >= above && entry.lower <= to)) continue;
        sieve->entries[i] = sieve->entries[place];
        sieve->entries[place++] = entry;
    }
    return place;
}

size_t rag_sieve_front(struct sieve *sieve) {
    if (sieve->count <= sieve->k) return sieve->count;
    const float lower = rag_sieve_lower(sieve, sieve->k);
    const size_t place = move_front(sieve, 0, sieve->k, nextafterf(lower, INFINITY), INFINITY);
    return move_front(sieve, place, sieve->k, lower, lower);
}

void rag_sieve_offer_full(struct sieve *sieve, struct candidate entry) {
    rag_sieve_tighten(sieve);
    if (sieve->count > sieve->room - sieve->room / 4) {
        const bool grown = rag_grow(&sieve->entries, &sieve->room, 2 * sieve->room, SIEVE_ENTRY);
        sieve->failed = !grown && sieve->count == sieve->room;
        if (sieve->failed) return;
    }
    if (entry.upper >= sieve->floor) sieve->entries[sieve->count++] = entry;
}
