/* scan_clusters.c - visit clusters, most promising first, until enough rows are seen.
 *
 * A query with an effort below 1 sweeps only part of a shadow. A cluster's promise is the query's
 * product with its centroid, plus a multiple of its spread. Clusters are visited by descending
 * promise until they cover the share `effort` of all rows that pass the filter (at least ROWS_LEAST
 * rows and CLUSTERS_LEAST clusters). A visit sweeps the cluster's blocks and collects candidates as
 * any sweep does.
 *
 * Bounds can prove that a skipped cluster holds no result: no direction u in a cluster is farther
 * than its radius from the centroid c, so <q, u> <= <q, c> + radius, and norms bound the key. A
 * cluster with a bound below the floor is skipped. If all unvisited clusters are below it, the
 * answer is exact.
 *
 * Otherwise the recall is estimated from the answer itself. The scan records the candidates after
 * half of the rows; the additions of the second half show how fast new ones become rare. Measured
 * misses after a share f of the rows fall as f^-ESTIMATE_POWER. So if the part d of an answer was
 * added between shares h and f, it misses d (f^-p - 1) / (h^-p - f^-p).
 *
 * Promises are integers and binary32 in a fixed order, so every machine visits the same clusters
 * and gives the same answer. */
#include <math.h>
#include <stdlib.h>

#include "clusters/clusters.h"
#include "clusters/scan_clusters.h"
#include "shared/fail.h"

enum { ROWS_LEAST = 32, CLUSTERS_LEAST = 4, RADIX_BITS = 8 };
#define PROMISE_SPREAD 6.4 /* of a direction's spread along a query, which is 1.6 / sqrt(dim) */
#define ESTIMATE_POWER 0.75
#define ESTIMATE_PRIOR 0.05

struct visit {
    struct search *search;
    const struct slice *slice;
    const struct rag_segment *segment;
    const struct rag_clusters *clusters;
    struct clusters_places at;
    const uint8_t *base; /* the section's tables */
    const struct query *query;
    const uint64_t *where; /* rows that pass, or NULL */
    struct query_state *state;
    struct shortlist shortlist;
    float *products;                   /* of the query with each centroid */
    uint32_t *ranks, *order, *scratch; /* order: clusters, the most promising first */
    double missed;                     /* norm of the query's rounding error in integers */
    uint64_t seen;                     /* rows that pass, in visited clusters */
    size_t run;                        /* rows of the next sweep */
    void *memory;
};

static uint32_t start_of(const struct visit *on, size_t c) {
    return load_u32(on->base + on->at.starts + 4 * c);
}

static float number_of(const struct visit *on, uint64_t table, size_t c) {
    return load_f32(on->base + table + 4 * c);
}

/* ------------------------------------------------------------------------------------- promises */

/* Round the query to int16 of 2^-14, zero-padded; return the norm of the error. */
static double point_of(const struct query *query, uint32_t dim, int16_t *point) {
    const double inverse = 1 / query->norm;
    double square = 0;
    for (uint32_t i = 0; i < dim; i++) {
        const double value = query->wide[i] * inverse;
        const double whole = (value * (1 << POINT_BITS) + 0x1.8p52) - 0x1.8p52;
        const double rest = value - whole * 0x1p-14;
        point[i] = (int16_t)whole;
        square += rest * rest;
    }
    return sqrt(square) * (1 + 1e-6) + 1e-9;
}

/* Map promises to integers that ascend as promises fall: a centroid and a useful spread are each at
 * most 2 long. */
static uint32_t rank_of(float promise) {
    const float bounded = promise < -4 ? -4 : promise > 4 ? 4 : promise;
    return (uint32_t)((4 - bounded) * 0x1p28f);
}

static void take_products(struct visit *on, const int16_t *point) {
    const size_t count = on->clusters->count, stride = cluster_stride(on->clusters->dim);
    const float gain = (float)(PROMISE_SPREAD / sqrt((double)on->clusters->dim));
    int32_t sums[PANEL_COLUMNS];
    for (size_t c = 0; c < count; c++) {
        if (c % PANEL_COLUMNS == 0)
            rag_kernels()->turn(
                on->base + on->at.panels + c / PANEL_COLUMNS * panel_size(on->clusters->dim),
                PANEL_COLUMNS, stride / 2, point, stride, 1, sums);
        on->products[c] = (float)sums[c % PANEL_COLUMNS] * 0x1p-29f;
        on->ranks[c] = rank_of(on->products[c] + gain * number_of(on, on->at.spreads, c));
    }
}

/* Sorts clusters by rank, equal ones by number: four counting sorts of 8 bits each. More bits at a
 * time would clear and add up more bins than most files have clusters. */
static void sort_ranks(struct visit *on) {
    enum { BINS = 1 << RADIX_BITS };
    const size_t count = on->clusters->count;
    const uint32_t *ranks = on->ranks;
    for (size_t c = 0; c < count; c++) on->order[c] = (uint32_t)c;
    for (int shift = 0; shift < 32; shift += RADIX_BITS) {
        uint32_t places[BINS + 1] = {0};
        for (size_t c = 0; c < count; c++) places[(ranks[c] >> shift & (BINS - 1)) + 1]++;
        for (size_t b = 0; b < BINS; b++) places[b + 1] += places[b];
        for (size_t i = 0; i < count; i++)
            on->scratch[places[ranks[on->order[i]] >> shift & (BINS - 1)]++] = on->order[i];
        uint32_t *swap = on->order;
        on->order = on->scratch;
        on->scratch = swap;
    }
}

/* Upper bound of the key of a cluster's rows. */
static double most_of(const struct visit *on, size_t c) {
    const double along = (double)on->products[c] + 2.1 * on->missed + 1e-6;
    const double t = along + number_of(on, on->at.radii, c);
    const double least = number_of(on, on->at.least, c), most = number_of(on, on->at.most, c);
    if (on->query->metric == RAG_COSINE) return t;
    if (on->query->metric == RAG_IP) return t > 0 ? t * most : t * least;
    const double curve = on->query->curve * (1 - 1e-6), top = t / (2 * curve);
    const double norm = top < least ? least : top > most ? most : top;
    return isfinite(norm) ? norm * (t - curve * norm) : INFINITY;
}

static bool is_hopeless(const struct visit *on, size_t c) {
    const double most = most_of(on, c);
    return most + fabs(most) * 1e-6 < (double)rag_floor_read(on->state->topk.shared);
}

/* --------------------------------------------------------------------------------------- visits */

bool rag_search_row(struct search *search, size_t segment, uint64_t place, uint32_t *row) {
    const struct rag_clusters *clusters = search->segments[segment].clusters;
    struct rag_fault fault;
    *row = (uint32_t)place;
    if (!clusters) return true;
    const uint64_t at = clusters->order_at + 4 * place;
    if (!rag_search_note(search, rag_guard_check(&clusters->guard, at, 4, &fault), &fault))
        return false;
    *row = load_u32(rag_guard_at(&clusters->guard, at));
    if (*row < clusters->rows) return true;
    rag_fail(&fault, RAG_CORRUPT, at, "a place holds a row that is not there");
    memcpy(fault.section, clusters->guard.name, sizeof fault.section);
    return rag_search_note(search, RAG_CORRUPT, &fault);
}

/* Set all places from .. to of a stretch. */
static uint64_t set_range(const struct stretch *stretch, uint64_t from, uint64_t to,
                          uint8_t *bits) {
    const uint64_t end = stretch->first + stretch->rows,
                   first = from > stretch->first ? from - stretch->first : 0;
    const uint64_t last = (to < end ? to : end) - stretch->first;
    memset(bits, 0, first / 8);
    memset(bits + first / 8, 0xff, (last + 7) / 8 - first / 8);
    memset(bits + (last + 7) / 8, 0, align_up(stretch->rows, BLOCK_ROWS) / 8 - (last + 7) / 8);
    bits[first / 8] &= (uint8_t)(0xff << first % 8);
    if (last % 8) bits[last / 8] &= (uint8_t)(0xff >> (8 - last % 8));
    return last - first;
}

/* Return the rows at places from .. to; NULL (recorded) if they cannot be read. */
static const uint8_t *rows_at(const struct visit *on, uint64_t from, uint64_t to) {
    const uint64_t at = on->clusters->order_at + 4 * from;
    struct rag_fault fault;
    if (!rag_search_note(
            on->search, rag_guard_check(&on->clusters->guard, at, 4 * (to - from), &fault), &fault))
        return NULL;
    return rag_guard_at(&on->clusters->guard, at);
}

/* True if the row at a place passes the filter; an invalid row is recorded. */
static bool is_passing(const struct visit *on, const uint8_t *at, uint64_t place) {
    uint32_t row = load_u32(at);
    return row < on->clusters->rows ? has_row(on->where, row)
                                    : rag_search_row(on->search, on->slice->segment, place, &row);
}

/* Write two bytes for each block of a stretch: the places from .. to with rows that pass, which
 * count as seen. */
static bool find_bits(struct visit *on, const struct stretch *stretch, uint64_t from, uint64_t to,
                      uint8_t *bits) {
    const uint64_t count = set_range(stretch, from, to, bits);
    const uint8_t *rows = NULL;
    uint64_t dropped = 0;
    if (on->where && !(rows = rows_at(on, stretch->first, stretch->first + stretch->rows)))
        return false;
    for (size_t i = 0; rows && i < stretch->rows; i++) {
        if (!(bits[i / 8] >> i % 8 & 1) || is_passing(on, rows + 4 * i, stretch->first + i))
            continue;
        bits[i / 8] &= (uint8_t)~(1u << i % 8);
        dropped++;
    }
    on->seen += count - dropped;
    return !rag_search_failed(on->search);
}

/* Return the blocks of the cluster after the i-th, to prefetch before their sweep. */
static const uint8_t *blocks_after(const struct visit *on, size_t i) {
    const struct rag_shadow *shadow = on->segment->shadow;
    if (i + 1 >= on->clusters->count || !shadow->guard.bytes) return NULL;
    const uint64_t place = start_of(on, on->order[i + 1]), group = place / shadow->group_rows;
    return shadow->guard.bytes + rag_shadow_blocks_at(shadow, group) +
           place % shadow->group_rows / BLOCK_ROWS * rag_shadow_block_size(shadow);
}

/* Sweep the places from .. to of the shadow: short runs first, while the floor is low. */
static bool sweep_places(struct visit *on, uint64_t from, uint64_t to, const uint8_t *next) {
    uint8_t bits[2 * RUN_BLOCKS];
    struct stretch stretch;
    for (uint64_t at = from / BLOCK_ROWS * BLOCK_ROWS; at < to; at += stretch.rows) {
        const uint64_t left = align_up(to - at, BLOCK_ROWS), before = on->seen;
        if (!rag_stretch_at(on->search, on->slice, at, left < on->run ? left : on->run, false,
                            &stretch) ||
            !find_bits(on, &stretch, from, to, bits))
            return false;
        on->shortlist.next = at + stretch.rows < to ? NULL : next;
        if (on->seen > before) rag_sweep_stretch(&on->shortlist, &stretch, bits);
        on->run = 2 * on->run < RUN_BLOCKS * BLOCK_ROWS ? 2 * on->run : RUN_BLOCKS * BLOCK_ROWS;
    }
    return !rag_search_failed(on->search);
}

static bool count_places(const struct visit *on, uint64_t from, uint64_t to, uint64_t *count) {
    const uint8_t *rows = rows_at(on, from, to);
    *count = 0;
    for (uint64_t place = from; rows && place < to; place++)
        *count += is_passing(on, rows + 4 * (place - from), place);
    return rows && !rag_search_failed(on->search);
}

/* Record the candidates at the halfway point. */
static bool note_early(struct visit *on, double share) {
    struct query_state *state = on->state;
    rag_shortlist_flush(&on->shortlist);
    state->early = malloc((state->topk.count + state->best.count + 1) * sizeof *state->early);
    if (!state->early) return rag_search_note(on->search, RAG_MEMORY, NULL);
    for (size_t i = 0; i < state->topk.count; i++)
        if (is_open(&state->topk.entries[i]))
            state->early[state->early_count++] = state->topk.entries[i].row;
    for (size_t i = 0; i < state->best.count; i++)
        state->early[state->early_count++] = state->best.entries[i].row;
    state->half = share;
    return true;
}

/* Sweep a cluster, or skip it if bounds exclude it. Its rows count as seen in either case, so that
 * the visits do not depend on floors, which threads raise. */
static bool visit_cluster(struct visit *on, size_t i) {
    const uint32_t c = on->order[i], from = start_of(on, c), to = start_of(on, c + 1);
    uint64_t passing = to - from;
    if (!is_hopeless(on, c)) return sweep_places(on, from, to, blocks_after(on, i));
    if (on->where && !count_places(on, from, to, &passing)) return false;
    on->seen += passing;
    return true;
}

/* Upper bound of the keys in unvisited clusters. */
static float most_beyond(const struct visit *on, size_t visited) {
    double most = -INFINITY;
    for (size_t i = visited; i < on->clusters->count; i++)
        most = fmax(most, most_of(on, on->order[i]));
    return nextafterf((float)(most + fabs(most) * 1e-6), INFINITY);
}

/* True if candidates are recorded before the i-th visit: half is seen, or it may be the last
 * visit. */
static bool is_half(const struct visit *on, size_t i, double wanted) {
    const uint32_t c = on->order[i], rows = start_of(on, c + 1) - start_of(on, c);
    if (on->state->early || i < CLUSTERS_LEAST / 2 || on->seen == 0) return false;
    return 2 * (double)on->seen >= wanted || (double)(on->seen + rows) >= wanted;
}

static void visit_all(struct visit *on, uint64_t passing, double effort) {
    const size_t count = on->clusters->count;
    const double least = (double)(4 * on->search->k + ROWS_LEAST),
                 wanted = fmax(effort * (double)passing, least);
    size_t i = 0;
    for (; i < count && on->seen < passing; i++) {
        if (i >= CLUSTERS_LEAST && (double)on->seen >= wanted) break;
        if (is_half(on, i, wanted) && !note_early(on, (double)on->seen / (double)passing)) return;
        if (!visit_cluster(on, i)) return;
    }
    rag_shortlist_flush(&on->shortlist);
    on->state->share = (double)on->seen / (double)passing;
    on->state->beyond = on->seen < passing ? most_beyond(on, i) : -INFINITY;
}

/* -------------------------------------------------------------------------------------- opening */

static bool visit_open(struct visit *on, const uint32_t *which) {
    const size_t count = on->clusters->count, stride = cluster_stride(on->clusters->dim);
    struct rag_fault fault;
    int16_t *point;
    on->at = rag_clusters_places(on->clusters->rows, on->clusters->dim, on->clusters->count);
    on->memory = calloc(1, 16 * count + stride * sizeof *point);
    if (!on->memory) return rag_search_note(on->search, RAG_MEMORY, NULL);
    if (!rag_search_note(on->search, rag_guard_check(&on->clusters->guard, 0, on->at.order, &fault),
                         &fault))
        return false;
    on->base = rag_guard_at(&on->clusters->guard, 0);
    on->products = on->memory;
    on->ranks = (uint32_t *)(on->products + count);
    on->order = on->ranks + count;
    on->scratch = on->order + count;
    point = (int16_t *)(on->scratch + count);
    on->missed = point_of(on->query, on->clusters->dim, point);
    take_products(on, point);
    sort_ranks(on);
    on->run = 2 * BLOCK_ROWS;
    return rag_shortlist_open(&on->shortlist, on->search, on->slice, which, 1);
}

void rag_scan_clusters(struct search *search, const struct slice *slice, size_t q,
                       uint64_t passing) {
    const uint32_t which[] = {(uint32_t)q};
    struct visit on = {.search = search,
                       .slice = slice,
                       .segment = &search->segments[slice->segment],
                       .query = &search->queries[q],
                       .where = rag_where(search, slice, q),
                       .state = &slice->states[q]};
    on.clusters = on.segment->clusters;
    if (visit_open(&on, which)) visit_all(&on, passing, search->effort);
    rag_shortlist_close(&on.shortlist);
    free(on.memory);
}

/* ------------------------------------------------------------------------------------- estimate */

static bool is_early(const struct query_state *state, int64_t row) {
    for (size_t i = 0; i < state->early_count; i++)
        if (state->early[i] == (uint32_t)row) return true;
    return false;
}

/* Estimate the part of the k best among a segment's unseen rows. */
static double missed_of(const struct query_state *state, const int64_t *rows, size_t count,
                        double k) {
    double late = ESTIMATE_PRIOR;
    if (!state->early || state->share <= state->half) return 1;
    for (size_t i = 0; i < count && rows[i] >= 0; i++) late += !is_early(state, rows[i]);
    const double end = pow(state->share, -ESTIMATE_POWER), half = pow(state->half, -ESTIMATE_POWER);
    return late / (k + 1) * (end - 1) / (half - end);
}

/* Return the score of the last of the k best, or -infinity if there are fewer. */
static float last_score(const struct search *search, size_t q) {
    const size_t places = search->segment_count * search->width;
    const float *scores = search->scores + q * places;
    float last = INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < places; i++) {
        if (search->rows[q * places + i] < 0) continue;
        last = fminf(last, scores[i]);
        count++;
    }
    if (search->least && count < search->k) return search->least[q];
    return count < search->k ? -INFINITY : last;
}

double rag_search_recall(const struct search *search, size_t q) {
    double recall = 1;
    const float floor = rag_floor_of(&search->queries[q], last_score(search, q));
    for (size_t s = 0; s < search->slice_count; s++) {
        const struct slice *slice = &search->slices[s];
        const struct query_state *state = &slice->states[q];
        if (state->share == 0 || state->beyond < floor || state->beyond == -INFINITY) continue;
        const int64_t *rows =
            search->rows + (q * search->segment_count + slice->segment) * search->width;
        recall =
            fmin(recall, 0x1.ffffp-1) - missed_of(state, rows, search->width, (double)search->k);
    }
    return recall < 0 ? 0 : recall;
}
