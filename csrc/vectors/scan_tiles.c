/* scan_tiles.c - scanning a shadow's 8-bit rows for many queries.
 *
 * Tiles read six rows at a time, for up to 64 queries each time. The queries are packed once for
 * each slice. Where the queries share a filter, the codes of the rows that pass are put side by
 * side first, so that a tile is full; where each has its own, a pair that reaches the floor is
 * asked. Six rows must be readable, so the last few are copied to a buffer of that size. What
 * reaches the floor goes to the candidates, with bounds that hold for the row itself and not only
 * for its codes: the stored residual norm is part of the error. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/machine.h"
#include "clusters/scan_clusters.h"

enum { TILE_STRETCH = 32 * TILE_ROWS };

/* Tiles read the 8-bit rows, which are three times the blocks of a sweep; but of the rows that a
 * sweep finds each is refined on its codes, and they grow with k. */
bool rag_tiles_pay(const struct search *search, size_t count) {
    const size_t least = search->k < 64 ? 8 : search->k < 512 ? 4 : 2;
    return rag_kernels()->tile && count >= least;
}

static void pack_query(struct tile_query *tile, int8_t *panel, size_t u,
                       const struct query *query) {
    for (size_t i = 0; i < 4 * tile->fours; i++)
        panel[i / 4 * 4 * tile->width + 4 * u + i % 4] = query->code[i];
    tile->start[u] = (int32_t)(-rag_kernels()->code_bias * query->coarse.sum);
    tile->step[u] = (float)query->coarse.step;
    tile->slack[u] = (float)(query->coarse.error + CODE_SLACK);
    tile->spread[u] = (float)(1 + query->coarse.error + 1e-6);
    tile->curve[u] = (float)(query->curve * (1 - 1e-6));
    tile->floor[u] = -INFINITY;
}

struct tiling {
    struct search *search;
    const struct slice *slice;
    const uint32_t *which;
    size_t count, group_count, row_size;
    struct tile_query *groups;
    uint8_t *panels, *tail, *gathered;
    uint32_t rows[TILE_STRETCH]; /* of the gathered codes */
    float *scratch;
};

/* Packs group g into its panel. Nothing reaches the floor of a place without a query. */
static void pack_group(const struct tiling *on, size_t g, int8_t *panel, size_t fours) {
    const uint32_t *which = on->which + g * TILE_QUERIES;
    const size_t left = on->count - g * TILE_QUERIES,
                 count = left < TILE_QUERIES ? left : TILE_QUERIES;
    struct tile_query *tile = &on->groups[g];
    *tile = (struct tile_query){
        .panel = panel, .fours = fours, .count = count, .width = align_up(count, TILE_STEP)};
    for (size_t u = 0; u < TILE_QUERIES; u++) tile->floor[u] = INFINITY;
    for (size_t u = 0; u < count; u++) pack_query(tile, panel, u, &on->search->queries[which[u]]);
    tile->unit = on->search->queries[which[0]].metric == RAG_COSINE;
}

static bool tiling_open(struct tiling *on) {
    const size_t fours = align_up(on->search->dim, GROUP_DIMS) / 4;
    on->group_count = (on->count + TILE_QUERIES - 1) / TILE_QUERIES;
    on->groups = rag_aligned(on->group_count * sizeof *on->groups);
    on->panels = rag_aligned(on->group_count * fours * 256);
    on->tail = calloc(TILE_ROWS, on->row_size);
    on->scratch = rag_search_scratch(on->search);
    if (!on->groups || !on->panels || !on->tail || !on->scratch)
        return rag_search_note(on->search, RAG_MEMORY, NULL);
    memset(on->panels, 0, on->group_count * fours * 256);
    for (size_t g = 0; g < on->group_count; g++)
        pack_group(on, g, (int8_t *)on->panels + g * fours * 256, fours);
    return true;
}

static void tiling_close(struct tiling *on) {
    rag_aligned_free(on->groups);
    rag_aligned_free(on->panels);
    free(on->tail);
    free(on->gathered);
    free(on->scratch);
}

/* Bounds in binary32: the slack has room for that. */
static void offer_tile(const struct tiling *on, struct tile_query *tile, const uint32_t *which,
                       const uint8_t *codes, const uint32_t *rows, uint64_t first,
                       const struct tile_hit *hits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t row;
        const size_t u = hits[i].query;
        const uint8_t *head = codes + hits[i].row * on->row_size;
        const float rest = load_f32(head + 4), weight = tile->unit ? 1.0f : load_f32(head + 8);
        const float error = rest * tile->spread[u] + tile->slack[u], bend = tile->curve[u] * weight;
        struct topk *topk = &on->slice->states[which[u]].topk;
        if (rest == -INFINITY) continue;
        if (rows) row = rows[hits[i].row];
        else if (!rag_search_row(on->search, on->slice->segment, first + hits[i].row, &row)) return;
        if (!has_row(rag_where(on->search, on->slice, which[u]), row)) continue;
        rag_topk_offer(topk, weight * (hits[i].score + error - bend),
                       weight * (hits[i].score - error - bend * (1 + 4e-6f)), row);
        if (topk->count >= TOPK_LARGE + 4 * on->search->k)
            rag_search_settle(on->search, on->slice, which[u], on->scratch);
        tile->floor[u] = topk->floor;
    }
}

static void scan_tile(struct tiling *on, const struct stretch *stretch, size_t g, size_t at) {
    struct tile_hit hits[TILE_ROWS * TILE_QUERIES];
    const size_t rows = stretch->rows - at < TILE_ROWS ? stretch->rows - at : TILE_ROWS;
    const uint8_t *codes = stretch->codes + at * on->row_size;
    if (rows < TILE_ROWS) codes = memcpy(on->tail, codes, rows * on->row_size);
    const size_t found = rag_kernels()->tile(codes, on->row_size, rows, &on->groups[g], hits);
    if (found)
        offer_tile(on, &on->groups[g], on->which + g * TILE_QUERIES, codes,
                   stretch->codes == on->gathered ? on->rows + at : NULL, stretch->first + at, hits,
                   found);
}

static void refresh_floors(const struct tiling *on, size_t g) {
    const size_t left = on->count - g * TILE_QUERIES,
                 queries = left < TILE_QUERIES ? left : TILE_QUERIES;
    for (size_t u = 0; u < queries; u++) {
        struct topk *topk = &on->slice->states[on->which[g * TILE_QUERIES + u]].topk;
        topk->floor = rag_floor_read(topk->shared);
        on->groups[g].floor[u] = topk->floor;
    }
}

static void scan_stretch(struct tiling *on, const struct stretch *stretch) {
    for (size_t g = 0; g < on->group_count; g++) {
        refresh_floors(on, g);
        for (size_t at = 0; at < stretch->rows; at += TILE_ROWS) scan_tile(on, stretch, g, at);
    }
}

/* ------------------------------------------------------------------------------------- filters */

/* The filter that all queries share, if it leaves rows out; NULL where tiles look at every row, as
 * in clusters, where the number of a row is not its place. */
static const uint64_t *shared_filter(const struct tiling *on) {
    if (on->search->segments[on->slice->segment].clusters) return NULL;
    const uint64_t *where = rag_where(on->search, on->slice, on->which[0]);
    for (size_t i = 1; i < on->count; i++)
        if (rag_where(on->search, on->slice, on->which[i]) != where) return NULL;
    return where;
}

/* Packs the codes of the next rows; false at the end, or after a failure (recorded). */
static bool gather(struct tiling *on, struct passing *passing, struct stretch *stretch) {
    const struct rag_shadow *shadow = on->search->segments[on->slice->segment].shadow;
    const size_t count = rag_passing_take(passing, on->rows, TILE_STRETCH);
    struct rag_fault fault;
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = rag_shadow_row_at(shadow, on->rows[i]);
        if (!rag_search_note(on->search, rag_guard_check(&shadow->guard, at, on->row_size, &fault),
                             &fault))
            return false;
        memcpy(on->gathered + i * on->row_size, rag_guard_at(&shadow->guard, at), on->row_size);
    }
    *stretch = (struct stretch){.codes = on->gathered, .rows = count};
    return count > 0;
}

static void scan_passing(struct tiling *on, const uint64_t *where) {
    struct passing passing = rag_passing(where, on->slice->first, on->slice->end);
    struct stretch stretch;
    on->gathered = malloc(TILE_STRETCH * on->row_size);
    if (!on->gathered) rag_search_note(on->search, RAG_MEMORY, NULL);
    while (!rag_search_failed(on->search) && gather(on, &passing, &stretch))
        scan_stretch(on, &stretch);
}

static void scan_every_row(struct tiling *on) {
    struct stretch stretch;
    for (uint64_t row = on->slice->first; row < on->slice->end && !rag_search_failed(on->search);
         row += stretch.rows) {
        if (!rag_stretch_at(on->search, on->slice, row, TILE_STRETCH, true, &stretch)) break;
        scan_stretch(on, &stretch);
    }
}

void rag_scan_tiles(struct search *search, const struct slice *slice, const uint32_t *which,
                    size_t count) {
    struct tiling on = {.search = search, .slice = slice, .which = which, .count = count};
    on.row_size = rag_shadow_row_size(search->segments[slice->segment].shadow);
    if (tiling_open(&on)) {
        const uint64_t *where = shared_filter(&on);
        if (where) scan_passing(&on, where);
        else scan_every_row(&on);
    }
    tiling_close(&on);
}

/* --------------------------------------------------------------------------------- likely floors
 *
 * A scan's floor starts at nothing and rises as rows come, and all rows that reach it on the way
 * have to be kept and sorted out: k times the logarithm of the rows, and more where bounds are
 * wide. For the hundred best of a batch that costs more than the products themselves. So one tile
 * in GUESS_SHARE is looked at first. The key that a few more of its rows reach than should be
 * among the k best is a floor that is rarely too high.
 *
 * A guess is not known to be right while rows are dropped by it. It is once the search has
 * ended: if the floor of the k-th score found is at least the guess, every row that was dropped
 * scores less (exact_scores.c). A query for which it is not is scanned again, so the answer never
 * depends on one. */
enum { GUESS_SHARE = 16, GUESS_ROWS = 4096, GUESS_K = 16, GUESS_PLACES = 1024 };

#define HEAP_ITEM float
#define HEAP_CONTEXT void *
#define HEAP_ABOVE(context, a, b) ((a) < (b))
#include "shared/heap.h"

bool rag_guess_pays(const struct search *search) {
    uint64_t rows = 0;
    if (!rag_tiles_pay(search, search->query_count) || search->filters ||
        search->query_count * search->k < GUESS_PLACES)
        return false;
    for (size_t s = 0; s < search->segment_count; s++) {
        const struct rag_segment *segment = &search->segments[s];
        if (!segment->shadow || segment->where || !segment->shadow->guard.bytes) return false;
        rows += segment->matrix->count;
    }
    return search->k >= GUESS_K && rows >= GUESS_ROWS && rows >= 32 * (uint64_t)search->k;
}

/* Of the k best of all rows a sample has k / GUESS_SHARE, more or less; with this rank rarely
 * more. */
static size_t rank_for(size_t k) {
    const double mean = (double)k / GUESS_SHARE;
    return (size_t)(mean + 3.5 * sqrt(mean) + 3);
}

struct guess {
    struct tiling on;
    size_t rank, held[TILE_QUERIES];
    float *keys; /* [query][rank]: the best of the sample, a heap */
};

static void note_keys(struct guess *guess, const uint8_t *codes, const struct tile_hit *hits,
                      size_t count) {
    struct tile_query *tile = guess->on.groups;
    for (size_t i = 0; i < count; i++) {
        const size_t u = hits[i].query;
        const uint8_t *head = codes + hits[i].row * guess->on.row_size;
        const float weight = tile->unit ? 1.0f : load_f32(head + 8);
        const float key = weight * (hits[i].score - tile->curve[u] * weight);
        float *keys = guess->keys + u * guess->rank;
        if (load_f32(head + 4) == -INFINITY || !(key < INFINITY)) continue;
        guess->held[u] = heap_offer(NULL, keys, guess->held[u], guess->rank, key);
        if (guess->held[u] == guess->rank) tile->floor[u] = keys[0];
    }
}

static void look_at(struct guess *guess, const struct rag_shadow *shadow) {
    struct tile_hit hits[TILE_ROWS * TILE_QUERIES];
    const uint64_t step = (uint64_t)TILE_ROWS * GUESS_SHARE;
    for (uint64_t row = 0; row + TILE_ROWS <= shadow->count; row += step) {
        const uint64_t at = rag_shadow_row_at(shadow, row);
        struct rag_fault fault;
        if (row % shadow->group_rows + TILE_ROWS > shadow->group_rows) continue;
        if (!rag_search_note(
                guess->on.search,
                rag_guard_check(&shadow->guard, at, TILE_ROWS * guess->on.row_size, &fault),
                &fault))
            return;
        const uint8_t *codes = rag_guard_at(&shadow->guard, at);
        note_keys(
            guess, codes, hits,
            rag_kernels()->tile(codes, guess->on.row_size, TILE_ROWS, guess->on.groups, hits));
    }
}

static void guess_floors(struct guess *guess) {
    struct search *search = guess->on.search;
    for (size_t s = 0; s < search->segment_count; s++) look_at(guess, search->segments[s].shadow);
    for (size_t u = 0; u < guess->on.count; u++) {
        const uint32_t q = guess->on.which[u];
        if (guess->held[u] < guess->rank || guess->keys[u * guess->rank] <= search->floors[q])
            continue;
        search->guesses[q] = search->floors[q] = guess->keys[u * guess->rank];
    }
}

/* Sixty-four queries. */
static void guess_task(void *context, size_t g) {
    struct search *search = context;
    const struct slice slice = {0};
    uint32_t which[TILE_QUERIES];
    struct guess guess = {.on = {.search = search, .slice = &slice, .which = which},
                          .rank = rank_for(search->k)};
    const size_t first = g * TILE_QUERIES, left = search->query_count - first;
    for (size_t u = 0; u < TILE_QUERIES && u < left; u++)
        if (!search->queries[first + u].plain) which[guess.on.count++] = (uint32_t)(first + u);
    guess.on.row_size = rag_shadow_row_size(search->segments[0].shadow);
    guess.keys = malloc(TILE_QUERIES * guess.rank * sizeof *guess.keys);
    if (!guess.keys) rag_search_note(search, RAG_MEMORY, NULL);
    rag_float_mode before;
    rag_float_plain(&before);
    if (guess.keys && guess.on.count && tiling_open(&guess.on)) guess_floors(&guess);
    rag_float_back(&before);
    if (guess.on.count) tiling_close(&guess.on);
    free(guess.keys);
}

void rag_guess(struct search *search, int threads) {
    rag_parallel((search->query_count + TILE_QUERIES - 1) / TILE_QUERIES, threads, guess_task,
                 search);
}
