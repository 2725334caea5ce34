/* shortlist.c - what becomes of the rows that a scan of codes could not rule out.
 *
 * A hit is a row whose upper bound reaches the floor. Those that probably beat it are refined soon,
 * on the row's 8-bit codes, because they raise the floor: their loads are started, and one run of
 * the scan later (at once, where the shadow is small) the codes are there. The others wait. When
 * their room is full, and at the end, the k likeliest rows are scored, which makes the floor exact,
 * and only the hits that still reach it are refined. Most hits are dropped without a look at their
 * codes.
 *
 * The floor is low at first, and rows that beat it then seldom stay: for the k best of all it would
 * be k times the logarithm of the rows. So a row that is refined soon must also reach a guess of
 * the final k-th best, made from the rows so far. A guess drops nothing. If it was so high that
 * fewer than k rows are known, those with the largest bounds make up for it.
 *
 * Loads of the others' codes are started AHEAD rows before, except in a shadow that stays in the
 * cache.
 *
 * All of it ends in the candidates, with bounds that hold for the row itself and not only for its
 * codes: the stored residual norm is part of the error. A residual norm of -infinity marks a row
 * that is never ranked. Codes are checked against their checksums before they are read; a failure
 * is noted in the search and ends the scan. */
#include <math.h>
#include <stdlib.h>

#include "clusters/scan_clusters.h"

/* Slack of bounds that are computed in binary64: the rounding of stored norms, and room to
 * spare. */
#define REFINE_SLACK 1e-6

/* --------------------------------------------------------------------------------- where it is */

/* Of planes, the group's head and the norms of the stretch's rows. */
static enum rag_status bring_planes(const struct rag_shadow *shadow, uint64_t group, uint64_t norms,
                                    size_t size, struct stretch *stretch, struct rag_fault *fault) {
    const uint64_t head = rag_shadow_blocks_at(shadow, group) - GROUP_HEAD;
    enum rag_status status = rag_guard_check(&shadow->guard, head, GROUP_HEAD, fault);
    if (status == RAG_OK) status = rag_guard_check(&shadow->guard, norms, size, fault);
    if (status != RAG_OK) return status;
    stretch->head = rag_guard_at(&shadow->guard, head);
    stretch->norms = rag_guard_at(&shadow->guard, norms);
    return RAG_OK;
}

bool rag_stretch_at(struct search *search, const struct slice *slice, uint64_t row, size_t most,
                    bool codes_only, struct stretch *stretch) {
    const struct rag_shadow *shadow = search->segments[slice->segment].shadow;
    const size_t block_size = rag_shadow_block_size(shadow), row_size = rag_shadow_row_size(shadow);
    const uint64_t group = row / shadow->group_rows, inside = row % shadow->group_rows;
    const uint64_t left = shadow->group_rows - inside, block = inside / BLOCK_ROWS,
                   rest = slice->end - row < left ? slice->end - row : left;
    const size_t rows = rest < most ? rest : most, count = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const uint64_t at = codes_only ? rag_shadow_codes_at(shadow, group) + inside * row_size
                                   : rag_shadow_blocks_at(shadow, group) + block * block_size;
    const uint64_t norms = rag_shadow_norms_at(shadow, group) + block * NORMS_SIZE;
    struct rag_fault fault;
    *stretch = (struct stretch){.first = row, .rows = rows};
    enum rag_status status = rag_guard_check(
        &shadow->guard, at, codes_only ? rows * row_size : count * block_size, &fault);
    if (status == RAG_OK && shadow->kept && !codes_only)
        status = bring_planes(shadow, group, norms, count * NORMS_SIZE, stretch, &fault);
    if (!rag_search_note(search, status, &fault)) return false;
    stretch->blocks = stretch->codes = rag_guard_at(&shadow->guard, at);
    return true;
}

static uint64_t codes_at(const struct shortlist *on, uint32_t row) {
    const uint32_t group_rows = (uint32_t)on->shadow->group_rows, group = row / group_rows;
    const uint64_t start =
        group == on->last_group ? on->last_codes_at : on->codes_at + group * on->group_size;
    return start + (uint64_t)(row - group * group_rows) * on->row_size;
}

/* ------------------------------------------------------------------------------------ refining */

/* The most that the keys can be comes first, for all rows: few of them reach the floor. */
void rag_refine_rows(const struct query *query, uint32_t dim, const uint8_t *const *codes,
                     const uint32_t *rows, size_t count, struct topk *topk) {
    const uint8_t *starts[REFINED];
    int64_t sums[2 * REFINED];
    double estimates[REFINED], errors[REFINED];
    size_t kept[REFINED], found = 0;
    for (size_t i = 0; i < count; i++) starts[i] = codes[i] + CODE_HEAD;
    rag_kernels()->refine(starts, count, query->high, query->low, align_up(dim, QUERY_PAD),
                          query->biases, sums);
    for (size_t i = 0; i < count; i++) {
        const double scale = load_f32(codes[i]), rest = load_f32(codes[i] + 4);
        estimates[i] =
            (256.0 * (double)sums[2 * i] + (double)sums[2 * i + 1]) * query->fine.step * scale;
        errors[i] = rest + query->fine.error * (1 + rest) + REFINE_SLACK;
        const double most = rag_key_above(query, estimates[i], errors[i], load_f32(codes[i] + 8));
        kept[found] = i;
        found += !(most < topk->floor) & (rest != -INFINITY); /* which is never ranked */
    }
    for (size_t j = 0; j < found; j++) {
        const size_t i = kept[j];
        float upper, lower;
        rag_key_bounds(query, estimates[i], errors[i], load_f32(codes[i] + 8), &upper, &lower);
        rag_topk_offer(topk, upper, lower, rows[i]);
    }
}

/* A hit with the address of its codes. */
struct looked {
    uint64_t at;
    uint32_t place;
};

static void start_load(const struct shortlist *on, uint64_t at) {
    const uint8_t *codes = rag_guard_at(&on->shadow->guard, at), *end = codes + on->row_size;
    for (codes -= (uintptr_t)codes % 64; codes < end; codes += 64) __builtin_prefetch(codes);
}

/* A shadow that fits into the cache needs no prefetching; in one that is fetched piece by piece,
 * addresses are unknown in advance. */
enum { AHEAD = 2 * REFINED, NEAR_BYTES = 1 << 18, SOON_BYTES = 8 << 20, FEW_QUERIES = 4 };

static bool is_near(const struct shortlist *on) {
    const struct rag_guard *guard = &on->shadow->guard;
    return !guard->bytes || guard->size <= NEAR_BYTES;
}

/* False after a failure (recorded). */
static bool refine_some(const struct shortlist *on, size_t i, const struct looked *hits,
                        size_t count, struct verified *verified) {
    const uint32_t q = on->which[i];
    const uint8_t *codes[REFINED];
    uint32_t rows[REFINED];
    for (size_t j = 0; j < count; j++) {
        if (!rag_search_verify(on->search, &on->shadow->guard, verified, hits[j].at,
                               on->row_size) ||
            !rag_search_row(on->search, on->slice->segment, hits[j].place, &rows[j]))
            return false;
        codes[j] = rag_guard_at(&on->shadow->guard, hits[j].at);
    }
    rag_refine_rows(&on->search->queries[q], on->shadow->dim, codes, rows, count,
                    &on->slice->states[q].topk);
    return true;
}

static void settle(const struct shortlist *on, size_t place) {
    struct topk *topk = &on->slice->states[on->which[place]].topk;
    if (topk->count >= topk->tight + on->search->k / 2 + 1) rag_topk_tighten(topk);
    if (topk->count >= TOPK_LARGE + 4 * on->search->k)
        rag_search_settle(on->search, on->slice, on->which[place], on->scratch);
}

/* The places of the next hits that reach the floor; their loads are started. */
static size_t look_at(const struct shortlist *on, const struct topk *topk, const struct hit *hits,
                      size_t count, bool load, struct looked *looked) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        looked[kept] = (struct looked){codes_at(on, hits[i].row), hits[i].row};
        kept += hits[i].upper >= topk->floor;
    }
    for (size_t i = 0; load && i < kept; i++) start_load(on, looked[i].at);
    return kept;
}

/* Refines hits, REFINED at a time; with load their loads are started two times before. */
static void refine_hits(const struct shortlist *on, size_t place, const struct hit *hits,
                        size_t count, bool load) {
    enum { TURNS = AHEAD / REFINED + 1 };
    const struct topk *topk = &on->slice->states[on->which[place]].topk;
    struct looked looked[TURNS][REFINED];
    size_t counts[TURNS];
    struct verified verified = {0};
    for (size_t turn = 0; turn * REFINED < count + (load ? AHEAD : 0); turn++) {
        const size_t first = turn * REFINED, left = first < count ? count - first : 0;
        const size_t now = turn % TURNS, before = load ? (turn + 1) % TURNS : now;
        counts[now] = look_at(on, topk, hits + (left ? first : 0), left < REFINED ? left : REFINED,
                              load, looked[now]);
        if (load && first < AHEAD) continue;
        if (!refine_some(on, place, looked[before], counts[before], &verified)) return;
    }
    settle(on, place);
}

/* ------------------------------------------------------------------------------------- waiting */

static void refine_likely(struct shortlist *on, size_t place) {
    const size_t count = on->likely_count[place];
    on->likely_count[place] = 0;
    if (count) refine_hits(on, place, on->likely + place * RUN_BLOCKS * BLOCK_ROWS, count, false);
}

/* Scores the likeliest rows, which makes the floor exact. */
static void anchor(struct shortlist *on, size_t place) {
    refine_likely(on, place);
    rag_search_anchor(on->search, on->slice, on->which[place], on->scratch);
}

/* Refines the waiting hits that still reach the floor. */
static void refine_pending(struct shortlist *on, size_t place) {
    const struct topk *topk = &on->slice->states[on->which[place]].topk;
    struct hit *pending = on->pending + place * on->pending_room;
    size_t kept = 0;
    for (size_t j = 0; j < on->pending_count[place]; j++) {
        const struct hit hit = pending[j];
        pending[kept] = hit;
        kept += hit.upper >= topk->floor;
    }
    on->pending_count[place] = 0;
    refine_hits(on, place, pending, kept, !is_near(on));
}

static struct hit *room_for(struct shortlist *on, size_t place, size_t most) {
    if (on->pending_count[place] + most > on->pending_room) {
        anchor(on, place);
        refine_pending(on, place);
    }
    return on->pending + place * on->pending_room + on->pending_count[place];
}

/* About the k-th largest of the noted bounds, from every step-th block; -infinity where there are
 * fewer, and (noted) without memory. */
static float kth_noted(const struct shortlist *on, size_t place, size_t step) {
    const float *uppers = on->uppers + place * on->room;
    const size_t k = on->search->k, rank = step == 1 ? k : (k + k / 4) / step + 4;
    int32_t *keys = malloc(BLOCK_ROWS * on->noted * sizeof *keys + 1);
    size_t there = 0;
    float kth = -INFINITY;
    if (!keys) rag_search_note(on->search, RAG_MEMORY, NULL);
    for (size_t b = 0; keys && b < on->noted; b += step)
        for (size_t i = BLOCK_ROWS * b; i < BLOCK_ROWS * (b + 1); i++) {
            keys[there] = float_order(uppers[i]);
            there += !isnan(uppers[i]);
        }
    if (there >= rank) kth = rag_kth_largest(keys, there, rank);
    free(keys);
    return kth;
}

/* Drops hits whose rows do not match the filter. Returns the number that remains. */
static size_t drop_hits(const struct shortlist *on, struct hit *hits, size_t count) {
    size_t kept = 0;
    uint32_t row;
    if (!on->where) return count;
    for (size_t i = 0; i < count; i++) {
        if (!rag_search_row(on->search, on->slice->segment, hits[i].row, &row)) return 0;
        hits[kept] = hits[i];
        kept += has_row(on->where, row);
    }
    return kept;
}

/* Refines the rows whose noted bounds are at least `least`. */
static void refine_noted(struct shortlist *on, size_t place, float least) {
    float *uppers = on->uppers + place * on->room;
    for (size_t b = 0; b < on->noted && !rag_search_failed(on->search); b += RUN_BLOCKS) {
        const size_t left = on->noted - b, blocks = left < RUN_BLOCKS ? left : RUN_BLOCKS;
        const size_t found =
            rag_kernels()->reach(uppers + BLOCK_ROWS * b, on->firsts + b, blocks, least, on->fresh);
        refine_hits(on, place, on->fresh, drop_hits(on, on->fresh, found), !is_near(on));
    }
    for (size_t i = 0; i < BLOCK_ROWS * on->noted; i++)
        uppers[i] = uppers[i] >= least ? NAN : uppers[i];
    rag_topk_tighten(&on->slice->states[on->which[place]].topk);
}

/* Where a guess was so high that fewer than k rows are known, refines those that can reach it, and
 * if need be those with the largest of the noted bounds. */
static void make_up(struct shortlist *on, size_t place) {
    const struct topk *topk = &on->slice->states[on->which[place]].topk;
    const float guess = on->guesses[place];
    for (size_t turn = 0; turn < 3; turn++) {
        if (topk->count >= on->search->k || !(guess > topk->floor)) return;
        refine_noted(on, place, turn == 0 ? guess : kth_noted(on, place, turn == 1 ? 16 : 1));
    }
}

/* Of the rows whose bounds were noted, those that reach the floor wait from here on. */
static void harvest(struct shortlist *on, size_t place) {
    const struct topk *topk = &on->slice->states[on->which[place]].topk;
    make_up(on, place);
    for (size_t b = 0; b < on->noted; b += RUN_BLOCKS) {
        const size_t left = on->noted - b, blocks = left < RUN_BLOCKS ? left : RUN_BLOCKS;
        struct hit *hits = room_for(on, place, BLOCK_ROWS * blocks);
        const size_t found = rag_kernels()->reach(on->uppers + place * on->room + BLOCK_ROWS * b,
                                                  on->firsts + b, blocks, topk->floor, hits);
        on->pending_count[place] += drop_hits(on, hits, found);
    }
}

void rag_shortlist_room(struct shortlist *on, uint64_t first, size_t blocks) {
    if (BLOCK_ROWS * (on->noted + blocks) > on->room) {
        for (size_t i = 0; i < on->count; i++) harvest(on, i);
        on->noted = 0;
    }
    for (size_t b = 0; b < blocks; b++)
        on->firsts[on->noted + b] = (uint32_t)(first + BLOCK_ROWS * b);
}

void rag_shortlist_take(struct shortlist *on, size_t place, size_t found) {
    const struct topk *topk = &on->slice->states[on->which[place]].topk;
    struct hit *likely = on->likely + place * RUN_BLOCKS * BLOCK_ROWS;
    size_t count = 0;
    refine_likely(on, place);
    found = drop_hits(on, on->fresh, found);
    for (size_t j = 0; j < found; j++) {
        const struct hit *hit = &on->fresh[j];
        if (hit->row >= on->slice->end || !(hit->upper >= topk->floor)) continue;
        if (hit->likely >= topk->floor) {
            if (!is_near(on)) start_load(on, codes_at(on, hit->row));
            likely[count++] = *hit;
        } else {
            *room_for(on, place, 1) = *hit;
            on->pending_count[place]++;
        }
    }
    on->likely_count[place] = count;
    if (on->shadow->guard.size <= SOON_BYTES ||
        (topk->floor == -INFINITY && on->guesses[place] == -INFINITY))
        refine_likely(on, place);
}

/* ------------------------------------------------------------------------------------ guessing */

/* A share s of the rows has about k * s of the k best, and rarely more than this many deviations
 * above that. Many queries leave too little room for the rows that wait for a guess, and the rows
 * noted are a poor sample where the sweep does not know which rows pass. */
#define GUESS_DEVIATIONS 3.5

void rag_shortlist_guess(struct shortlist *on, uint64_t swept) {
    const bool pays = on->count < FEW_QUERIES && !on->where;
    for (size_t i = 0; pays && i < on->count; i++) {
        struct query_state *state = &on->slice->states[on->which[i]];
        struct topk *topk = &state->topk;
        const double part = (double)(state->before + swept) / (double)on->search->row_count,
                     mean = part * (double)on->search->k;
        const size_t rank = (size_t)(mean + GUESS_DEVIATIONS * sqrt(mean) + 3);
        if (rank < on->search->k && topk->count >= rank)
            on->guesses[i] = rag_topk_lower(topk, rank);
    }
}

/* ------------------------------------------------------------------------------------- ending */

void rag_shortlist_flush(struct shortlist *on) {
    for (size_t i = 0; i < on->count; i++) {
        refine_likely(on, i);
        make_up(on, i);
        anchor(on, i);
        harvest(on, i);
        refine_pending(on, i);
    }
    on->noted = 0;
}

/* ------------------------------------------------------------------------------------- opening */

static void find_rows(struct shortlist *on) {
    const struct rag_shadow *shadow = on->shadow;
    on->row_size = rag_shadow_row_size(shadow);
    on->group_size = rag_shadow_group_size(shadow, shadow->group_rows);
    on->last_group = shadow->count ? (shadow->count - 1) / shadow->group_rows : 0;
    on->codes_at = rag_shadow_codes_at(shadow, 0);
    on->last_codes_at = rag_shadow_codes_at(shadow, on->last_group);
}

/* Make room for the bounds of the whole slice if possible: then most are compared once, with the
 * last floor. With many queries, the notes must fit into the cache. */
static void find_rooms(struct shortlist *on) {
    enum { RUN_ROWS = RUN_BLOCKS * BLOCK_ROWS };
    const uint64_t rows = align_up(on->slice->end - on->slice->first, RUN_ROWS);
    const size_t runs = on->count < FEW_QUERIES    ? 128
                        : on->count < TILE_QUERIES ? 8
                                                   : 2,
                 most = rows < runs * RUN_ROWS ? (size_t)rows : runs * RUN_ROWS;
    on->room = most > 2 * RUN_ROWS ? most : 2 * RUN_ROWS;
    on->pending_room = on->room < 32 * RUN_ROWS ? on->room : 32 * RUN_ROWS;
}

bool rag_shortlist_open(struct shortlist *on, struct search *search, const struct slice *slice,
                        const uint32_t *which, size_t count) {
    const struct rag_shadow *shadow = search->segments[slice->segment].shadow;
    const size_t codes_size = rag_query_codes_size(shadow);
    struct rag_fault fault;
    *on = (struct shortlist){
        .search = search, .slice = slice, .shadow = shadow, .which = which, .count = count};
    find_rows(on);
    find_rooms(on);
    on->uppers = rag_aligned(count * on->room * sizeof *on->uppers);
    on->guesses = malloc(count * sizeof *on->guesses);
    on->firsts = malloc((on->room / BLOCK_ROWS) * sizeof *on->firsts);
    on->fresh = malloc(RUN_BLOCKS * BLOCK_ROWS * sizeof *on->fresh);
    on->pending = malloc(count * on->pending_room * sizeof *on->pending);
    on->likely = malloc(count * RUN_BLOCKS * BLOCK_ROWS * sizeof *on->likely);
    on->pending_count = calloc(2 * count, sizeof *on->pending_count);
    on->likely_count = on->pending_count + count;
    on->scratch = rag_search_scratch(search);
    on->codes = malloc(count * sizeof *on->codes);
    on->memory = malloc(count * codes_size + 1);
    if (!on->uppers || !on->guesses || !on->firsts || !on->fresh || !on->pending || !on->likely ||
        !on->pending_count || !on->scratch || !on->codes || !on->memory)
        return rag_search_note(search, RAG_MEMORY, NULL);
    if (!rag_search_note(search, rag_guard_check(&shadow->guard, 0, shadow->groups_at, &fault),
                         &fault))
        return false;
    for (size_t i = 0; i < count; i++) on->guesses[i] = -INFINITY;
    for (size_t i = 0; i < count; i++)
        rag_query_codes_take(&on->codes[i], on->memory + i * codes_size, &search->queries[which[i]],
                             shadow);
    return true;
}

void rag_shortlist_close(struct shortlist *on) {
    free(on->memory);
    free(on->codes);
    free(on->scratch);
    free(on->pending_count);
    free(on->likely);
    free(on->pending);
    free(on->fresh);
    free(on->firsts);
    free(on->guesses);
    rag_aligned_free(on->uppers);
}
