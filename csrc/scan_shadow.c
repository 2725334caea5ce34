/* scan_shadow.c - scanning a shadow instead of its matrix: a few queries by 4-bit sweeps, many by
 * 8-bit tiles.
 *
 * A sweep reads the 4-bit blocks in runs: 32 rows at first, while the floor is low, then up to
 * 1024. The kernel appends the rows whose upper bound reaches the floor. Those that probably beat
 * it are refined at once on their 8-bit codes, because they raise the floor. The others wait as
 * pending hits. When their room is full, and at the end, the k likeliest rows are scored, which
 * makes the floor exact, and only the hits that still reach it are refined. Most hits are dropped
 * without a look at their codes.
 *
 * Loads of 8-bit rows are started twelve rows ahead, except in a shadow that stays in the cache.
 *
 * Tiles read only the 8-bit rows, six at a time, for 64 queries each time. The queries are packed
 * once for each slice. Six rows must be readable, so the last few are copied to a buffer of that
 * size.
 *
 * Both end in the sieve, with bounds that hold for the row itself and not only for its codes: the
 * stored residual norm is part of the error. A residual norm of -infinity marks a row that is never
 * ranked. Blocks and codes are checked against their checksums before they are read; a failure is
 * noted in the search and ends the scan. */
#include <math.h>
#include <stdlib.h>

#include "scan.h"

/* Slack of bounds that are computed in binary64: the rounding of stored norms, and room to
 * spare. */
#define REFINE_SLACK 1e-6

/* Offers a row to the sieve with the bounds of its 8-bit codes. */
static void refine_row(const struct query *query, uint32_t dim, const uint8_t *codes, uint32_t row,
                       struct sieve *sieve) {
    const double scale = load_f32(codes), rest = load_f32(codes + 4), norm = load_f32(codes + 8);
    int64_t sums[2];
    float upper, lower;
    if (rest == -INFINITY) return; /* a row that is never ranked */
    rag_kernels()->refine(codes + CODE_HEAD, query->high, query->low, align_up(dim, QUERY_PAD),
                          query->biases, sums);
    const double estimate = (256.0 * (double)sums[0] + (double)sums[1]) * query->fine.step * scale;
    const double error = rest + query->fine.error * (1 + rest) + REFINE_SLACK;
    if (rag_key_above(query, estimate, error, norm) < sieve->floor) return;
    rag_key_bounds(query, estimate, error, norm, &upper, &lower);
    rag_sieve_offer(sieve, upper, lower, row);
}

/* ------------------------------------------------------------------------------------- sweeping */

/* A stretch of one group: blocks and rows of codes beside one another. */
struct stretch {
    const uint8_t *blocks, *codes;
    uint64_t first;
    size_t rows;
};

static bool stretch_at(struct search *search, const struct slice *slice, uint64_t row, size_t most,
                       bool codes_only, struct stretch *stretch) {
    const struct rag_shadow *shadow = search->segments[slice->segment].shadow;
    const size_t block_size = rag_shadow_block_size(shadow->dim),
                 row_size = rag_shadow_row_size(shadow->dim);
    const uint64_t group = row / shadow->group_rows, inside = row % shadow->group_rows;
    const uint64_t left = shadow->group_rows - inside,
                   rest = slice->end - row < left ? slice->end - row : left;
    const uint64_t blocks = rag_shadow_blocks_at(shadow, group) + inside / BLOCK_ROWS * block_size;
    const uint64_t codes = rag_shadow_codes_at(shadow, group) + inside * row_size;
    struct rag_fault fault;
    stretch->first = row;
    stretch->rows = rest < most ? rest : most;
    const uint64_t at = codes_only ? codes : blocks;
    const size_t size = codes_only ? stretch->rows * row_size
                                   : (stretch->rows + BLOCK_ROWS - 1) / BLOCK_ROWS * block_size;
    if (!rag_search_note(search, rag_guard_check(&shadow->guard, at, size, &fault), &fault))
        return false;
    stretch->blocks = rag_guard_at(&shadow->guard, blocks);
    stretch->codes = rag_guard_at(&shadow->guard, codes);
    return true;
}

struct sweeping {
    struct search *search;
    const struct slice *slice;
    const struct rag_shadow *shadow;
    size_t row_size, room;
    struct hit *pending; /* room hits for each query ... */
    size_t *pending_count;
    float *scratch;
};

/* Where a row's 8-bit codes lie in the shadow. */
static uint64_t codes_at(const struct sweeping *on, uint32_t row) {
    const uint32_t group_rows = (uint32_t)on->shadow->group_rows, group = row / group_rows;
    return rag_shadow_codes_at(on->shadow, group) +
           (uint64_t)(row - group * group_rows) * on->row_size;
}

/* Refines rows whose loads have been started; a shadow that stays in the cache needs no start. */
static void refine_hits(const struct sweeping *on, uint32_t q, const struct hit *hits,
                        size_t count) {
    struct sieve *sieve = &on->slice->hunts[q].sieve;
    struct rag_fault fault;
    enum { AHEAD = 12, NEAR_BYTES = 1 << 18 };
    const struct rag_guard *guard = &on->shadow->guard;
    const size_t ahead = guard->bytes && guard->size > NEAR_BYTES ? AHEAD : 0;
    for (size_t i = 0; i < count + ahead; i++) {
        if (ahead && i < count) {
            const uint8_t *codes = rag_guard_at(guard, codes_at(on, hits[i].row));
            for (size_t line = 0; line < on->row_size; line += 64) __builtin_prefetch(codes + line);
        }
        if (i < ahead || !(hits[i - ahead].upper >= sieve->floor)) continue;
        const uint64_t at = codes_at(on, hits[i - ahead].row);
        if (!rag_search_note(on->search, rag_guard_check(guard, at, on->row_size, &fault), &fault))
            return;
        refine_row(&on->search->queries[q], on->shadow->dim, rag_guard_at(guard, at),
                   hits[i - ahead].row, sieve);
    }
    if (sieve->count >= sieve->tight + on->search->k / 8 + 1) rag_sieve_tighten(sieve);
    if (sieve->count >= SIEVE_LARGE + 4 * on->search->k)
        rag_search_settle(on->search, on->slice, q, on->scratch);
}

/* Looks at the rows that a sweep appended: rows that probably beat the floor are refined at once,
 * for they will raise it; the others wait until it is as high as it gets, and most are forgotten
 * then. */
static void sort_hits(const struct sweeping *on, size_t i, uint32_t q, size_t found, uint64_t end) {
    const struct sieve *sieve = &on->slice->hunts[q].sieve;
    struct hit *pending = on->pending + i * on->room, likely[RUN_BLOCKS * BLOCK_ROWS];
    size_t kept = on->pending_count[i], likely_count = 0;
    for (size_t j = kept, stop = kept + found; j < stop; j++) {
        if (pending[j].row >= end) continue;
        if (pending[j].likely >= sieve->floor) likely[likely_count++] = pending[j];
        else pending[kept++] = pending[j];
    }
    on->pending_count[i] = kept;
    if (likely_count) refine_hits(on, q, likely, likely_count);
}

/* Scores the k likeliest rows, so that the floor is as high as it can be, and refines the rows that
 * still reach it. */
static void flush_pending(const struct sweeping *on, size_t i, uint32_t q) {
    struct sieve *sieve = &on->slice->hunts[q].sieve;
    struct hit *pending = on->pending + i * on->room;
    size_t kept = 0;
    rag_search_anchor(on->search, on->slice, q, on->scratch);
    for (size_t j = 0; j < on->pending_count[i]; j++)
        if (pending[j].upper >= sieve->floor) pending[kept++] = pending[j];
    on->pending_count[i] = 0;
    refine_hits(on, q, pending, kept);
}

static struct sweep_query sweep_query_of(const struct query *query, uint32_t dim) {
    return (struct sweep_query){
        .codes = query->code,
        .groups = (dim + GROUP_DIMS - 1) / GROUP_DIMS,
        .bias = 7.5f * (float)query->coarse.sum,
        .step = (float)query->coarse.step,
        .slack = (float)(query->coarse.error + CODE_SLACK),
        .curve = (float)(query->curve * (1 - 1e-6)),
        .unit = query->metric == RAG_COSINE,
    };
}

static bool sweeping_open(struct sweeping *on, size_t count) {
    on->row_size = rag_shadow_row_size(on->search->dim);
    on->room = RUN_BLOCKS * BLOCK_ROWS * (count < 64 ? 8 : 2);
    on->pending = malloc(count * on->room * sizeof *on->pending);
    on->pending_count = calloc(count, sizeof *on->pending_count);
    on->scratch = malloc((size_t)on->search->dim * sizeof(float));
    return (on->pending && on->pending_count && on->scratch) ||
           rag_search_note(on->search, RAG_MEMORY, NULL);
}

static void sweep_stretch(const struct sweeping *on, const struct stretch *stretch,
                          const uint32_t *which, size_t count) {
    const uint64_t *where = on->search->segments[on->slice->segment].where;
    const uint8_t *bits = where ? (const uint8_t *)where + stretch->first / 8 : NULL;
    const size_t blocks = (stretch->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (size_t i = 0; i < count; i++) {
        const struct sweep_query sweep =
            sweep_query_of(&on->search->queries[which[i]], on->search->dim);
        struct sieve *sieve = &on->slice->hunts[which[i]].sieve;
        if (on->pending_count[i] + RUN_BLOCKS * BLOCK_ROWS > on->room)
            flush_pending(on, i, which[i]);
        sieve->floor = rag_floor_read(sieve->shared);
        struct hit *hits = on->pending + i * on->room + on->pending_count[i];
        const size_t found = rag_kernels()->sweep(stretch->blocks, blocks, (uint32_t)stretch->first,
                                                  bits, &sweep, sieve->floor, hits);
        if (found) sort_hits(on, i, which[i], found, on->slice->end);
    }
}

void rag_scan_sweep(struct search *search, const struct slice *slice, const uint32_t *which,
                    size_t count) {
    struct sweeping on = {
        .search = search, .slice = slice, .shadow = search->segments[slice->segment].shadow};
    struct stretch stretch;
    size_t run = 2 * BLOCK_ROWS; /* short runs first: the floor is not yet worth much */
    if (sweeping_open(&on, count)) {
        for (uint64_t row = slice->first; row < slice->end && !rag_search_failed(search);
             row += stretch.rows) {
            if (!stretch_at(search, slice, row, run, false, &stretch)) break;
            sweep_stretch(&on, &stretch, which, count);
            run = 2 * run < RUN_BLOCKS * BLOCK_ROWS ? 2 * run : RUN_BLOCKS * BLOCK_ROWS;
        }
        for (size_t i = 0; i < count; i++) flush_pending(&on, i, which[i]);
    }
    free(on.scratch);
    free(on.pending_count);
    free(on.pending);
}

/* --------------------------------------------------------------------------------------- tiling */

enum { TILE_STRETCH = 32 * TILE_ROWS };

static void pack_query(struct tile_query *tile, int8_t *panel, size_t u,
                       const struct query *query) {
    for (size_t i = 0; i < 4 * tile->fours; i++)
        panel[i / 4 * 256 + 4 * u + i % 4] = query->code[i];
    tile->bias[u] = (int32_t)(128 * query->coarse.sum);
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
    uint8_t *panels, *tail;
    float *scratch;
};

static bool tiling_open(struct tiling *on) {
    const size_t fours = align_up(on->search->dim, GROUP_DIMS) / 4;
    on->group_count = (on->count + TILE_QUERIES - 1) / TILE_QUERIES;
    on->groups = aligned_alloc(64, align_up(on->group_count * sizeof *on->groups, 64));
    on->panels = aligned_alloc(64, on->group_count * fours * 256);
    on->tail = calloc(TILE_ROWS, on->row_size);
    on->scratch = malloc((size_t)on->search->dim * sizeof(float));
    if (!on->groups || !on->panels || !on->tail || !on->scratch)
        return rag_search_note(on->search, RAG_MEMORY, NULL);
    memset(on->panels, 0, on->group_count * fours * 256);
    for (size_t g = 0; g < on->group_count; g++) {
        struct tile_query *tile = &on->groups[g];
        int8_t *panel = (int8_t *)on->panels + g * fours * 256;
        *tile = (struct tile_query){.panel = panel, .fours = fours};
        for (size_t u = 0; u < TILE_QUERIES; u++)
            tile->floor[u] = INFINITY; /* unused places: nothing reaches it */
        for (size_t u = 0; u < TILE_QUERIES && g * TILE_QUERIES + u < on->count; u++)
            pack_query(tile, panel, u, &on->search->queries[on->which[g * TILE_QUERIES + u]]);
        tile->unit = on->search->queries[on->which[0]].metric == RAG_COSINE;
    }
    return true;
}

static void tiling_close(struct tiling *on) {
    free(on->groups);
    free(on->panels);
    free(on->tail);
    free(on->scratch);
}

/* Bounds in binary32: the slack has room for that. */
static void offer_tile(const struct tiling *on, struct tile_query *tile, const uint32_t *which,
                       const uint8_t *codes, uint64_t first, const struct tile_hit *hits,
                       size_t count) {
    const uint64_t *where = on->search->segments[on->slice->segment].where;
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = first + hits[i].row;
        const size_t u = hits[i].query;
        const uint8_t *head = codes + hits[i].row * on->row_size;
        const float rest = load_f32(head + 4), weight = tile->unit ? 1.0f : load_f32(head + 8);
        const float error = rest * tile->spread[u] + tile->slack[u], bend = tile->curve[u] * weight;
        struct sieve *sieve = &on->slice->hunts[which[u]].sieve;
        if (rest == -INFINITY || !has_row(where, row)) continue;
        rag_sieve_offer(sieve, weight * (hits[i].score + error - bend),
                        weight * (hits[i].score - error - bend * (1 + 4e-6f)), (uint32_t)row);
        if (sieve->count >= SIEVE_LARGE + 4 * on->search->k)
            rag_search_settle(on->search, on->slice, which[u], on->scratch);
        tile->floor[u] = sieve->floor;
    }
}

static void scan_tile(struct tiling *on, const struct stretch *stretch, size_t g, size_t at) {
    struct tile_hit hits[TILE_ROWS * TILE_QUERIES];
    const size_t rows = stretch->rows - at < TILE_ROWS ? stretch->rows - at : TILE_ROWS;
    const uint8_t *codes = stretch->codes + at * on->row_size;
    if (rows < TILE_ROWS) codes = memcpy(on->tail, codes, rows * on->row_size);
    const size_t found = rag_kernels()->tile(codes, on->row_size, rows, &on->groups[g], hits);
    if (found)
        offer_tile(on, &on->groups[g], on->which + g * TILE_QUERIES, codes, stretch->first + at,
                   hits, found);
}

static void refresh_floors(const struct tiling *on, size_t g) {
    const size_t left = on->count - g * TILE_QUERIES,
                 queries = left < TILE_QUERIES ? left : TILE_QUERIES;
    for (size_t u = 0; u < queries; u++) {
        struct sieve *sieve = &on->slice->hunts[on->which[g * TILE_QUERIES + u]].sieve;
        sieve->floor = rag_floor_read(sieve->shared);
        on->groups[g].floor[u] = sieve->floor;
    }
}

void rag_scan_tiles(struct search *search, const struct slice *slice, const uint32_t *which,
                    size_t count) {
    struct tiling on = {.search = search, .slice = slice, .which = which, .count = count};
    struct stretch stretch;
    on.row_size = rag_shadow_row_size(search->dim);
    if (tiling_open(&on))
        for (uint64_t row = slice->first; row < slice->end && !rag_search_failed(search);
             row += stretch.rows) {
            if (!stretch_at(search, slice, row, TILE_STRETCH, true, &stretch)) break;
            for (size_t g = 0; g < on.group_count; g++) {
                refresh_floors(&on, g);
                for (size_t at = 0; at < stretch.rows; at += TILE_ROWS)
                    scan_tile(&on, &stretch, g, at);
            }
        }
    tiling_close(&on);
}
