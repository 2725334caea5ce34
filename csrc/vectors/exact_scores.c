/* exact_scores.c - turns the candidates of a query into its exact result.
 *
 * After all slices are scanned, a query has two kinds of rows: candidates, known by an upper and a
 * lower bound of their keys, and rows that the scan has already scored. This file scores the
 * candidates from the largest upper bound down. Each score can raise the floor, the key that a row
 * needs to be among the k best. The loop ends when the next upper bound is below the floor.
 *
 * Each segment keeps its own k best, and a common list of k scores determines the floor. Rows that
 * tie with the last of the k are kept, too, up to k in each segment, so that a caller that merges
 * segments can break ties. Unused entries are row -1, score -infinity.
 *
 * The result does not depend on slices or thread timing: scores are canonical, the order (score,
 * then row) is total, and bounds only decide which rows are not scored.
 *
 * rag_search_bring serves files that are fetched on demand: it requests the rows of all queries
 * of a chunk at once, before the first is scored. Failures are recorded in the search
 * (rag_search_note). */
#include <math.h>
#include <stdlib.h>

#include "vectors/scan.h"

enum { SOME = 4, MANY = 64 };

/* A candidate of a query, with its segment and the upper bound of its key. */
struct contender {
    float upper;
    uint32_t row;
    uint32_t segment;
};

/* The candidates of a query that can still win, followed by space for as many again and for as
 * many keys. */
static struct contender *gather(struct search *search, size_t query, size_t *count) {
    size_t room = 1;
    for (size_t s = 0; s < search->slice_count; s++) {
        struct topk *topk = &search->slices[s].states[query].topk;
        if (topk->entries) rag_topk_tighten(topk);
        room += topk->count;
    }
    struct contender *contenders = malloc(room * (2 * sizeof *contenders + sizeof(int32_t)));
    const float floor = rag_floor_read(&search->floors[query]);
    *count = 0;
    for (size_t s = 0; contenders && s < search->slice_count; s++) {
        const struct slice *slice = &search->slices[s];
        const struct topk *topk = &slice->states[query].topk;
        for (size_t i = 0; i < topk->count; i++) {
            const struct candidate *entry = &topk->entries[i];
            contenders[*count] =
                (struct contender){entry->upper, entry->row, (uint32_t)slice->segment};
            *count += is_open(entry) & (entry->upper >= floor);
        }
    }
    return contenders;
}

/* Moves the contenders with the k largest upper bounds to the front, sorted. */
static const struct contender *by_upper(struct contender *all, size_t count, size_t k) {
    struct contender *front = all + count, *back = front + count;
    int32_t *keys = (int32_t *)back;
    if (count <= k || k == 0) return all;
    for (size_t i = 0; i < count; i++) keys[i] = float_order(all[i].upper);
    const float least = rag_kth_largest(keys, count, k);
    for (size_t i = 0; i < count; i++) {
        const bool first = all[i].upper >= least;
        *(first ? front : back - 1) = all[i];
        front += first;
        back -= !first;
    }
    return all + count;
}

void rag_search_bring(struct search *search) {
    struct rag_wants wants = {0};
    struct rag_fault fault;
    bool any = false;
    for (size_t s = 0; s < search->segment_count; s++)
        any |= search->segments[s].matrix->guard.source != NULL;
    for (size_t q = 0; any && q < search->query_count; q++) {
        size_t count;
        struct contender *contenders = gather(search, q, &count);
        for (size_t i = 0; contenders && i < count; i++)
            rag_matrix_want(search->segments[contenders[i].segment].matrix, contenders[i].row, 1,
                            &wants);
        wants.failed |= !contenders;
        free(contenders);
    }
    rag_search_note(search, rag_wants_ready(&wants, &fault), &fault);
}

/* The best rows of each segment, and the best scores of all, whose worst is the bar. For one
 * segment they are the same. */
struct ranking {
    struct best *segments, *all, apart;
};

static void ranking_offer(struct ranking *ranking, size_t segment, float score, uint32_t row) {
    struct best *all = ranking->all;
    if (all->count == all->k && score < all->entries[0].score) return;
    rag_best_offer(&ranking->segments[segment], score, row);
    if (all == &ranking->apart) rag_best_offer(all, score, 0);
}

static struct place place_of(const struct search *search, const struct contender *c) {
    return (struct place){search->segments[c->segment].matrix, c->row};
}

/* Takes the next contenders that reach the floor: many while k scores are missing, because none
 * of those can be skipped; then few, because each can raise the floor. Prefetches later ones. */
static size_t take_next(const struct search *search, const struct ranking *ranking, float floor,
                        const struct contender *contenders, size_t count, size_t *at,
                        const struct contender **taken, struct place *places) {
    const size_t missing = ranking->all->k - ranking->all->count,
                 most = missing > SOME ? (missing < MANY ? missing : MANY) : SOME;
    size_t found = 0;
    for (; *at < count && found < most; ++*at) {
        const struct contender *c = &contenders[*at];
        if (*at + SOME < count && most == SOME && c[SOME].upper >= floor)
            rag_search_start(place_of(search, c + SOME));
        if (c->upper < floor) continue;
        taken[found] = c;
        places[found++] = place_of(search, c);
    }
    return found;
}

static void score_contenders(struct search *search, size_t q, struct ranking *ranking,
                             const struct contender *contenders, size_t count, float *scratch) {
    const struct query *query = &search->queries[q];
    const struct contender *taken[MANY];
    struct place places[MANY];
    float floor = rag_floor_read(&search->floors[q]), bar = -INFINITY, scores[MANY];
    for (size_t i = 0, found; i < count;) {
        found = take_next(search, ranking, floor, contenders, count, &i, taken, places);
        if (!rag_search_scores(search, query, places, found, scratch, scores)) return;
        for (size_t j = 0; j < found; j++)
            if (!isnan(scores[j]))
                ranking_offer(ranking, taken[j]->segment, scores[j], taken[j]->row);
        if (ranking->all->count < ranking->all->k || ranking->all->entries[0].score == bar)
            continue;
        bar = ranking->all->entries[0].score;
        floor = fmaxf(floor, rag_floor_of(query, bar));
    }
}

static void take_scored(const struct search *search, size_t q, struct ranking *ranking) {
    for (size_t s = 0; s < search->slice_count; s++) {
        const struct best *best = &search->slices[s].states[q].best;
        for (size_t i = 0; i < best->count; i++)
            ranking_offer(ranking, search->slices[s].segment, best->entries[i].score,
                          best->entries[i].row);
    }
}

static void put_results(struct search *search, size_t q, struct ranking *ranking) {
    const struct best *all = ranking->all;
    const float worst =
        all->count == search->k && all->count > 0 ? all->entries[0].score : -INFINITY;
    const float bar = search->least ? fmaxf(worst, search->least[q]) : worst;
    for (size_t s = 0; s < search->segment_count; s++) {
        struct best *best = &ranking->segments[s];
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

/* Whether every row that a guess dropped scores less than the k best. */
static bool is_proven(const struct search *search, size_t q, const struct ranking *ranking) {
    const struct best *all = ranking->all;
    if (!search->guesses || search->guesses[q] == -INFINITY) return true;
    return all->count == all->k && all->k > 0 &&
           rag_floor_of(&search->queries[q], all->entries[0].score) >= search->guesses[q];
}

static bool ranking_open(struct search *search, struct ranking *ranking) {
    uint64_t total = 0;
    ranking->segments = calloc(search->segment_count, sizeof *ranking->segments);
    if (!ranking->segments) return false;
    for (size_t s = 0; s < search->segment_count; s++) {
        const uint64_t rows = search->segments[s].matrix->count;
        total += rows;
        if (!rag_best_open(&ranking->segments[s], search->k < rows ? search->k : rows))
            return false;
    }
    ranking->all = search->segment_count == 1 ? ranking->segments : &ranking->apart;
    return rag_best_open(&ranking->apart, search->k < total ? search->k : total);
}

static void ranking_close(struct search *search, struct ranking *ranking) {
    for (size_t s = 0; ranking->segments && s < search->segment_count; s++)
        rag_best_close(&ranking->segments[s]);
    free(ranking->segments);
    rag_best_close(&ranking->apart);
}

void rag_search_finish(struct search *search, size_t q) {
    struct ranking ranking = {0};
    size_t count;
    struct contender *contenders = gather(search, q, &count);
    float *scratch = rag_search_scratch(search);
    if (contenders && scratch && ranking_open(search, &ranking)) {
        take_scored(search, q, &ranking);
        score_contenders(search, q, &ranking, by_upper(contenders, count, ranking.all->k), count,
                         scratch);
        if (is_proven(search, q, &ranking)) put_results(search, q, &ranking);
        else search->again[q] = true;
    } else {
        rag_search_note(search, RAG_MEMORY, NULL);
    }
    ranking_close(search, &ranking);
    free(scratch);
    free(contenders);
}
