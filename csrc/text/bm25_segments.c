/* bm25_segments.c - one query over the lexicons of several segments, as if they were one.
 *
 * The df of each term is first summed over the live rows of all segments. Then the segments are
 * searched in turn, largest first, each from the floor proved so far: once k rows score at least f,
 * later segments skip rows that score less. So a small segment after a large one costs little more
 * than the term lookup. All segments share one scratch: separate ones of 130 KB each would be cold
 * every time. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/bits.h"
#include "ragfile/fusion.h"
#include "ragfile/machine.h"
#include "shared/fail.h"
#include "text/bm25_search.h"

/* ----------------------------------------------------------------------------------- statistics */

/* Set the df of a term. Its entries are kept in `known`, if that is not NULL. */
static enum rag_status count_term(const struct rag_lexical_leg *legs, size_t leg_count,
                                  struct rag_query_term *term, struct rag_bm25_known *known,
                                  struct rag_fault *fault) {
    struct rag_bm25_entry found, *entry = &found;
    term->df = 0;
    for (size_t s = 0; s < leg_count; s++) {
        uint64_t df;
        if (known) entry = &known->entries[s * known->term_count + (size_t)(term - known->terms)];
        enum rag_status status =
            rag_bm25_entry_find(legs[s].lexicon, term->bytes, term->size, entry, fault);
        if (!status)
            status = rag_bm25_entry_count(legs[s].lexicon, entry, legs[s].alive, &df, fault);
        if (status) return status;
        term->df += df;
    }
    term->known = known;
    return RAG_OK;
}

enum rag_status rag_lexicons_count(const struct rag_lexical_leg *legs, size_t leg_count,
                                   struct rag_queries *queries, size_t count,
                                   struct rag_fault *fault) {
    struct rag_bm25_known *known = rag_bm25_queries_know(queries, leg_count);
    for (size_t s = 0; known && s < leg_count; s++) known->opened[s] = legs[s].lexicon->opened;
    for (size_t i = 0; i < count; i++) {
        size_t term_count;
        struct rag_query_term *terms = rag_queries_terms(queries, i, &term_count);
        for (size_t t = 0; t < term_count; t++) {
            const enum rag_status status = count_term(legs, leg_count, &terms[t], known, fault);
            if (status) return status;
        }
    }
    rag_queries_join(queries);
    return RAG_OK;
}

/* --------------------------------------------------------------------------------------- search */

/* The k best scores so far, best first. */
struct floor {
    float *best, *spare;
    size_t count, k;
};

/* Merge the scores of a segment, also best first. */
static void raise_floor(struct floor *floor, const int64_t *rows, const float *scores) {
    size_t found = 0, i = 0, j = 0, to = 0;
    while (found < floor->k && rows[found] >= 0) found++;
    if (found == 0 || (floor->count == floor->k && scores[0] <= floor->best[floor->k - 1])) return;
    while (to < floor->k && (i < floor->count || j < found)) {
        const bool new = i == floor->count || (j < found && scores[j] > floor->best[i]);
        floor->spare[to++] = new ? scores[j++] : floor->best[i++];
    }
    float *before = floor->best;
    floor->best = floor->spare;
    floor->spare = before;
    floor->count = to;
}

struct several {
    const struct rag_lexical_leg *legs;
    size_t leg_count, largest;
    const struct rag_queries *queries;
    const struct rag_lexical_stats *stats;
    const struct rag_filters *filters;
    size_t k;
    int64_t *rows;
    float *scores;
    int lock;
    size_t failed_at; /* the first query that failed, and why */
    struct rag_fault fault;
};

static enum rag_status search_leg(const struct several *all, size_t s, size_t i,
                                  struct rag_bm25_scratch *scratch, struct floor *floor,
                                  struct rag_fault *fault) {
    const struct rag_lexical_leg *leg = &all->legs[s];
    const size_t at = (i * all->leg_count + s) * all->k;
    const float least = floor->count == all->k ? floor->best[all->k - 1] : 0;
    size_t count;
    const struct rag_query_term *terms = rag_queries_terms(all->queries, i, &count);
    const struct rag_filters *filters = all->filters;
    const uint64_t *where =
        filters ? filters->sets[filters->of[i] * all->leg_count + s] : leg->where;
    const enum rag_status status =
        rag_bm25_search(leg->lexicon, scratch, terms, count, all->stats, where, all->k, least,
                        all->rows + at, all->scores + at, fault);
    if (status) return status;
    raise_floor(floor, all->rows + at, all->scores + at);
    for (size_t j = 0; j < all->k && all->rows[at + j] >= 0; j++)
        all->rows[at + j] += (int64_t)leg->base;
    return RAG_OK;
}

static enum rag_status search_query(const struct several *all, size_t i, struct rag_fault *fault) {
    struct rag_lexicon *host = all->legs[0].lexicon;
    float *room = malloc(2 * all->k * sizeof *room);
    struct rag_bm25_scratch *scratch = room ? rag_bm25_scratch_take(&host->scratches) : NULL;
    struct floor floor = {room, room + all->k, 0, all->k};
    enum rag_status status =
        scratch ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    if (!status) status = search_leg(all, all->largest, i, scratch, &floor, fault);
    for (size_t s = 0; s < all->leg_count && !status; s++)
        if (s != all->largest) status = search_leg(all, s, i, scratch, &floor, fault);
    if (scratch) rag_bm25_scratch_give(&host->scratches, scratch);
    free(room);
    return status;
}

static void search_one(void *context, size_t i) {
    struct several *all = context;
    struct rag_fault fault;
    const enum rag_status status = search_query(all, i, &fault);
    if (!status) return;
    /* unreached: two threads that fail in the same instant */
    while (__atomic_exchange_n(&all->lock, 1, __ATOMIC_ACQUIRE)) {
    }
    if (i < all->failed_at) {
        all->failed_at = i;
        all->fault = fault;
        all->fault.status = status;
    }
    __atomic_store_n(&all->lock, 0, __ATOMIC_RELEASE);
}

enum rag_status rag_lexicons_search(const struct rag_lexical_leg *legs, size_t leg_count,
                                    const struct rag_queries *queries, size_t count,
                                    const struct rag_lexical_stats *stats,
                                    const struct rag_filters *filters, size_t k, int threads,
                                    int64_t *rows, float *scores, struct rag_fault *fault) {
    struct several all = {.legs = legs,
                          .leg_count = leg_count,
                          .queries = queries,
                          .stats = stats,
                          .filters = filters,
                          .k = k,
                          .rows = rows,
                          .scores = scores,
                          .failed_at = SIZE_MAX};
    const enum rag_status status = rag_bm25_check_stats(stats, fault);
    if (status || k == 0 || leg_count == 0) return status;
    for (size_t s = 1; s < leg_count; s++)
        if (legs[s].lexicon->info.rows > legs[all.largest].lexicon->info.rows) all.largest = s;
    const size_t worth = count / 8 + 1; /* waking a thread costs as much as some queries */
    rag_parallel(count, (size_t)threads < worth ? threads : (int)worth, search_one, &all);
    if (all.failed_at == SIZE_MAX) return RAG_OK;
    if (fault) *fault = all.fault;
    return all.fault.status;
}

/* --------------------------------------------------------------------------------------- scores */

/* Score the rows of one segment, numbered from its first; ascending. */
static enum rag_status score_leg(const struct rag_lexical_leg *leg,
                                 struct rag_bm25_scratch *scratch,
                                 const struct rag_query_term *terms, size_t count,
                                 const struct rag_lexical_stats *stats, const uint32_t *rows,
                                 size_t row_count, float *scores, struct rag_fault *fault) {
    struct rag_bm25_query query;
    enum rag_status status =
        rag_bm25_query_open(&query, leg->lexicon, scratch, terms, count, stats, SIZE_MAX, fault);
    if (!status) status = rag_bm25_score_rows(&query, rows, row_count, fault);
    for (size_t i = 0; !status && i < row_count; i++) scores[i] = (float)scratch->scores[i];
    return status;
}

enum rag_status rag_lexicons_score(const struct rag_lexical_leg *legs, size_t leg_count,
                                   const struct rag_query_term *terms, size_t count,
                                   const struct rag_lexical_stats *stats, const int64_t *rows,
                                   size_t row_count, float *scores, struct rag_fault *fault) {
    enum rag_status status = rag_bm25_check_stats(stats, fault);
    if (status || row_count == 0 || leg_count == 0) return status;
    for (size_t i = 1; i < row_count; i++)
        if (rows[i] < rows[i - 1])
            return rag_fail(fault, RAG_ARGUMENT, (uint64_t)i, "rows are not in order");
    struct rag_bm25_scratch *scratch = rag_bm25_scratch_take(&legs[0].lexicon->scratches);
    uint32_t *local = malloc(row_count * sizeof *local);
    if (!scratch || !local) status = rag_fail(fault, RAG_MEMORY, 0, "no memory for scores");
    memset(scores, 0, row_count * sizeof *scores);
    size_t first = 0, last;
    for (size_t s = 0; s < leg_count && !status; s++, first = last) {
        const int64_t base = (int64_t)legs[s].base,
                      end = base + (int64_t)legs[s].lexicon->info.rows;
        while (first < row_count && rows[first] < base) first++; /* of no searched segment */
        for (last = first; last < row_count && rows[last] < end; last++)
            local[last] = (uint32_t)(rows[last] - base);
        if (first == last) continue;
        status = score_leg(&legs[s], scratch, terms, count, stats, local + first, last - first,
                           scores + first, fault);
    }
    free(local);
    if (scratch) rag_bm25_scratch_give(&legs[0].lexicon->scratches, scratch);
    return status;
}

/* -------------------------------------------------------------------------------------- ranking */

#define HEAP_ITEM float
#define HEAP_CONTEXT void *
#define HEAP_ABOVE(context, a, b) ((a) < (b))
#include "shared/heap.h"

/* Return the k-th largest score of present rows (>= 0), or -infinity if there are fewer. heap has
 * room for k. */
static float kth_score(const int64_t *rows, const float *scores, size_t count, float *heap,
                       size_t k) {
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i] >= 0) held = heap_offer(NULL, heap, held, k, scores[i]);
    }
    return held == k ? heap[0] : -INFINITY;
}

struct ranked {
    float score;
    int64_t row;
};

static int compare_ranked(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score ? 1 : -1)
                                : (x->row > y->row) - (x->row < y->row);
}

enum rag_status rag_rank(int64_t *rows, float *scores, size_t count, size_t k, size_t *kept,
                         struct rag_fault *fault) {
    *kept = 0;
    if (k == 0 || count == 0) return RAG_OK;
    const size_t least = k < count ? k : count;
    float *heap = malloc(least * sizeof *heap);
    struct ranked *order = malloc(count * sizeof *order);
    if (heap && order) {
        const float bar = kth_score(rows, scores, count, heap, least);
        for (size_t i = 0; i < count; i++)
            if (rows[i] >= 0 && scores[i] >= bar)
                order[(*kept)++] = (struct ranked){scores[i], rows[i]};
        qsort(order, *kept, sizeof *order, compare_ranked);
        for (size_t i = 0; i < *kept; i++) rows[i] = order[i].row, scores[i] = order[i].score;
    }
    const bool fine = heap && order;
    free(order);
    free(heap);
    return fine ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory to rank rows");
}
