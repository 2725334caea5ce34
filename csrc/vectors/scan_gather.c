/* scan_gather.c - scans the rows that a selective filter passes.
 *
 * A sweep reads blocks of sixteen rows. If one row in a hundred matches, it would read a block
 * for one row and stall, because the next block is unpredictable. So matching rows are scanned
 * one by one on their 8-bit codes, which are prefetched AHEAD rows in advance. Bounds from 8
 * bits leave few more than the k best rows to score at the end of the query. */
#include <stdlib.h>

#include "clusters/clusters.h"
#include "vectors/shortlist.h"

enum { AHEAD = 16, CHUNK = 256 };

struct gathering {
    struct search *search;
    const struct slice *slice;
    const struct rag_shadow *shadow;
    const uint32_t *which;
    const uint32_t *places; /* of rows in the shadow; NULL: their numbers */
    size_t count, row_size;
    uint64_t first_at, group_size, last_at, last_group; /* offsets of the codes of groups */
    uint32_t rows[CHUNK];
    uint64_t codes[CHUNK]; /* offsets of the rows' codes */
    struct verified verified;
};

static bool find_places(struct gathering *on) {
    const struct rag_clusters *clusters = on->search->segments[on->slice->segment].clusters;
    const struct rag_shadow *shadow = on->shadow;
    struct rag_fault fault;
    on->row_size = rag_shadow_row_size(shadow);
    on->group_size = rag_shadow_group_size(shadow, shadow->group_rows);
    on->last_group = (shadow->count - 1) / shadow->group_rows;
    on->first_at = rag_shadow_codes_at(shadow, 0);
    on->last_at = rag_shadow_codes_at(shadow, on->last_group);
    return !clusters ||
           rag_search_note(on->search, rag_clusters_row_places(clusters, &on->places, &fault),
                           &fault);
}

static uint64_t codes_at(const struct gathering *on, uint32_t number) {
    const uint32_t row = on->places ? on->places[number] : number;
    const uint32_t group_rows = (uint32_t)on->shadow->group_rows, group = row / group_rows;
    const uint64_t start =
        group == on->last_group ? on->last_at : on->first_at + group * on->group_size;
    return start + (uint64_t)(row - group * group_rows) * on->row_size;
}

static void start_load(const struct gathering *on, size_t i) {
    const uint8_t *codes = rag_guard_at(&on->shadow->guard, on->codes[i]);
    for (size_t at = 0; at < on->row_size; at += 64) __builtin_prefetch(codes + at);
    __builtin_prefetch(codes + on->row_size - 1);
}

/* Raises the floors from the rows that were found. */
static void settle(const struct gathering *on, float *scratch) {
    const size_t k = on->search->k;
    for (size_t place = 0; place < on->count; place++) {
        struct topk *topk = &on->slice->states[on->which[place]].topk;
        if (topk->count >= topk->tight + k / 4 + 4) rag_topk_tighten(topk);
        if (topk->count >= TOPK_LARGE + 4 * k)
            rag_search_settle(on->search, on->slice, on->which[place], scratch);
    }
}

/* The codes of the rows from `first` on, with the loads of later ones started. */
static bool take_codes(struct gathering *on, size_t first, size_t some, size_t count,
                       const uint8_t **codes) {
    for (size_t i = first; i < first + some; i++) {
        if (i + AHEAD < count && on->shadow->guard.bytes) start_load(on, i + AHEAD);
        if (!rag_search_verify(on->search, &on->shadow->guard, &on->verified, on->codes[i],
                               on->row_size))
            return false;
        codes[i - first] = rag_guard_at(&on->shadow->guard, on->codes[i]);
    }
    return true;
}

static void refine_chunk(struct gathering *on, size_t count, float *scratch) {
    const uint8_t *codes[REFINED];
    for (size_t i = 0; i < count; i++) on->codes[i] = codes_at(on, on->rows[i]);
    for (size_t i = 0; on->shadow->guard.bytes && i < AHEAD && i < count; i++) start_load(on, i);
    for (size_t i = 0, some; i < count; i += some) {
        some = count - i < REFINED ? count - i : REFINED;
        if (!take_codes(on, i, some, count, codes)) return;
        for (size_t place = 0; place < on->count; place++) {
            const uint32_t q = on->which[place];
            rag_refine_rows(&on->search->queries[q], on->search->dim, codes, on->rows + i, some,
                            &on->slice->states[q].topk);
        }
        settle(on, scratch);
    }
}

void rag_scan_gather(struct search *search, const struct slice *slice, const uint32_t *which,
                     size_t count) {
    struct gathering on = {.search = search,
                           .slice = slice,
                           .shadow = search->segments[slice->segment].shadow,
                           .which = which,
                           .count = count};
    struct passing passing =
        rag_passing(rag_where(search, slice, which[0]), slice->first, slice->end);
    float *scratch = rag_search_scratch(search);
    if (!scratch) rag_search_note(search, RAG_MEMORY, NULL);
    const bool is_ready = scratch && find_places(&on);
    while (is_ready && !rag_search_failed(search)) {
        const size_t found = rag_passing_take(&passing, on.rows, CHUNK);
        if (!found) break;
        refine_chunk(&on, found, scratch);
    }
    free(scratch);
}
