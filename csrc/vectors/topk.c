/* topk.c - the k best of many: a heap of exact scores, and candidates known only by bounds.
 *
 * The heap (struct best) holds up to k scored rows with the worst on top, so an offer that cannot
 * win costs one comparison. It is a heap from the k-th row on; until then rows are only put side by
 * side. The order is total (score, then row), so the result does not depend on the order in which
 * rows are offered.
 *
 * The candidate set is for rows whose keys have a lower and an upper bound. When k of its
 * rows have lower bounds of at least f, no row with an upper bound below f can be among the k best.
 * rag_topk_tighten finds the largest such f, the k-th lower bound, and drops the rows below it.
 * Equal scores must stay together, for their rows decide: rag_floor_at turns f into a floor that
 * keeps every row that could tie.
 *
 * All candidate sets of a query share its floor, an atomic number that only rises. A thread that
 * reads an old value keeps a few rows too many and loses none.
 *
 * The k-th of many numbers is found by halving the range that contains it and counting: a pass
 * takes a fraction of a cycle a number, as nothing in it depends on their order, and a dozen passes
 * are faster than moving entries in an order that the processor cannot predict.
 *
 * A candidate set starts with room for 4 k + 24 rows. When it is full it is tightened, and it
 * doubles only if more than three quarters remain. Without memory for that it sets `failed`, and
 * the search reports RAG_MEMORY: a row is never dropped silently. */
#include <math.h>
#include <stdlib.h>

#include "shared/array.h"
#include "vectors/vectors.h"

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
#include "shared/heap.h"

bool rag_best_open(struct best *best, size_t k) {
    *best = (struct best){malloc((k ? k : 1) * sizeof *best->entries), 0, k};
    return best->entries != NULL;
}

void rag_best_close(struct best *best) { free(best->entries); }

/* Not inlined: the common case, a row that is not among the best, then saves no registers. */
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

/* --------------------------------------------------------------------------------------- top k */

static void raise_floor(float *shared, float value) {
    float seen = rag_floor_read(shared);
    while (value > seen && !__atomic_compare_exchange(shared, &seen, &value, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
    }
}

bool rag_topk_open(struct topk *topk, size_t k, const struct query *query, float *shared) {
    const size_t room = 4 * k + 24;
    *topk = (struct topk){
        .room = room, .k = k, .floor = rag_floor_read(shared), .shared = shared, .query = query};
    topk->entries = malloc(room * TOPK_ENTRY);
    return topk->entries != NULL;
}

void rag_topk_close(struct topk *topk) { free(topk->entries); }

float rag_topk_lower(struct topk *topk, size_t k) {
    int32_t *keys = (int32_t *)(topk->entries + topk->room);
    for (size_t i = 0; i < topk->count; i++) keys[i] = float_order(topk->entries[i].lower);
    return rag_kth_largest(keys, topk->count, k);
}

void rag_topk_tighten(struct topk *topk) {
    if (topk->k > 0 && topk->count >= topk->k)
        raise_floor(topk->shared, rag_floor_at(topk->query, rag_topk_lower(topk, topk->k)));
    const float floor = rag_floor_read(topk->shared);
    size_t kept = 0;
    for (size_t i = 0; i < topk->count; i++) {
        const struct candidate entry = topk->entries[i];
        topk->entries[kept] = entry;
        kept += entry.upper >= floor;
    }
    topk->count = topk->tight = kept;
    topk->floor = floor;
}

/* Moves the wanted entries to the front. */
static size_t move_front(struct topk *topk, size_t place, size_t most, float above, float to) {
    for (size_t i = place; i < topk->count && place < most; i++) {
        const struct candidate entry = topk->entries[i];
        if (!(entry.lower >= above && entry.lower <= to)) continue;
        topk->entries[i] = topk->entries[place];
        topk->entries[place++] = entry;
    }
    return place;
}

size_t rag_topk_front(struct topk *topk) {
    if (topk->count <= topk->k) return topk->count;
    const float lower = rag_topk_lower(topk, topk->k);
    const size_t place = move_front(topk, 0, topk->k, nextafterf(lower, INFINITY), INFINITY);
    return move_front(topk, place, topk->k, lower, lower);
}

void rag_topk_offer_full(struct topk *topk, struct candidate entry) {
    rag_topk_tighten(topk);
    if (topk->count > topk->room - topk->room / 4) {
        const bool grown = rag_grow(&topk->entries, &topk->room, 2 * topk->room, TOPK_ENTRY);
        topk->failed = !grown && topk->count == topk->room;
        if (topk->failed) return;
    }
    if (entry.upper >= topk->floor) topk->entries[topk->count++] = entry;
}
