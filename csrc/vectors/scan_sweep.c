/* scan_sweep.c - scanning a shadow's 4-bit blocks for a few queries.
 *
 * The blocks are read in runs: 32 rows at first, while the floor is low, then up to 1024. The
 * kernel picks the rows that probably beat the floor, and notes the bounds of the others;
 * shortlist.c takes them further. A plain shadow's blocks hold unit rows, those of planes their
 * places along the kept axes; each has a kernel of its own.
 *
 * The kernel knows a filter by its bits. Where the blocks are in the order of clusters, the bits of
 * sixteen places would have to be looked for one by one, so it is asked about hits alone. */
#include <math.h>

#include "clusters/scan_clusters.h"

static size_t sweep_plain(const struct shortlist *on, const struct query_codes *codes,
                          const struct query *query, const struct stretch *stretch,
                          const uint8_t *bits, float floor, float *uppers, struct hit *hits) {
    const struct sweep_query sweep = {
        .codes = codes->code,
        .groups = (on->shadow->dim + GROUP_DIMS - 1) / GROUP_DIMS,
        .bias = 7.5f * (float)codes->scale.sum,
        .step = (float)codes->scale.step,
        .slack = (float)(codes->scale.error + CODE_SLACK),
        .curve = (float)(query->curve * (1 - 1e-6)),
        .unit = query->metric == RAG_COSINE,
        .next = on->next,
    };
    return rag_kernels()->sweep(stretch->blocks, (stretch->rows + BLOCK_ROWS - 1) / BLOCK_ROWS,
                                (uint32_t)stretch->first, bits, &sweep, floor, uppers, hits);
}

/* The nibbles restore a vector of length 2.2 at most, which `missed` can move; the spec has the
 * sum. */
static size_t sweep_planes(const struct shortlist *on, const struct query_codes *codes,
                           const struct query *query, const struct stretch *stretch,
                           const uint8_t *bits, float floor, float *uppers, struct hit *hits) {
    const uint8_t *head = stretch->head;
    const double room = 1 + 1e-6, reach = load_f32(head + GROUP_AT_REACH);
    const struct planes_query sweep = {
        .codes = codes->code,
        .top = codes->top,
        .groups = on->shadow->kept / GROUP_DIMS,
        .bias = 7.5f * (float)codes->scale.sum,
        .step = (float)codes->scale.step,
        .base = (float)codes->base,
        .slack = (float)(2.2 * codes->missed + CODE_SLACK),
        .reach = (float)(codes->scale.error * reach * room),
        .within = (float)(codes->along * load_f32(head + GROUP_AT_REST_UNIT) * room),
        .beyond = (float)(codes->across * load_f32(head + GROUP_AT_TAIL_UNIT) * room),
        .curve = (float)(query->curve * (1 - 1e-6)),
        .norms = query->metric == RAG_COSINE ? NULL : stretch->norms,
        .next = on->next,
    };
    return rag_kernels()->sweep_planes(stretch->blocks,
                                       (stretch->rows + BLOCK_ROWS - 1) / BLOCK_ROWS,
                                       (uint32_t)stretch->first, bits, &sweep, floor, uppers, hits);
}

void rag_sweep_stretch(struct shortlist *on, const struct stretch *stretch, const uint8_t *bits) {
    const size_t blocks = (stretch->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    rag_shortlist_room(on, stretch->first, blocks);
    for (size_t i = 0; i < on->count; i++) {
        const struct query *query = &on->search->queries[on->which[i]];
        struct topk *topk = &on->slice->states[on->which[i]].topk;
        topk->floor = rag_floor_read(topk->shared);
        float *bounds = rag_shortlist_bounds(on, i);
        const size_t found = (on->shadow->kept ? sweep_planes : sweep_plain)(
            on, &on->codes[i], query, stretch, bits, fmaxf(topk->floor, on->guesses[i]), bounds,
            on->fresh);
        for (size_t r = stretch->rows; r < BLOCK_ROWS * blocks; r++) bounds[r] = NAN;
        rag_shortlist_take(on, i, found);
    }
    on->noted += blocks;
}

/* Guesses anew each time that half as many rows more were swept. */
static void guess_after(struct shortlist *on, uint64_t end, uint64_t *guess_at) {
    if (end < *guess_at || end >= on->slice->end) return;
    rag_shortlist_guess(on, end - on->slice->first);
    *guess_at = end + (end - on->slice->first) / 2;
}

void rag_scan_sweep(struct search *search, const struct slice *slice, const uint32_t *which,
                    size_t count) {
    struct shortlist on;
    struct stretch stretch;
    const uint64_t *where = rag_where(search, slice, which[0]);
    const bool is_placed = search->segments[slice->segment].clusters != NULL;
    size_t run = 2 * BLOCK_ROWS; /* short runs first: the floor is not yet worth much */
    uint64_t guess_at = slice->first + run;
    if (rag_shortlist_open(&on, search, slice, which, count)) {
        on.where = is_placed ? where : NULL;
        for (uint64_t row = slice->first; row < slice->end && !rag_search_failed(search);
             row += stretch.rows) {
            if (!rag_stretch_at(search, slice, row, run, false, &stretch)) break;
            rag_sweep_stretch(&on, &stretch,
                              where && !is_placed ? (const uint8_t *)where + row / 8 : NULL);
            guess_after(&on, row + stretch.rows, &guess_at);
            run = 2 * run < RUN_BLOCKS * BLOCK_ROWS ? 2 * run : RUN_BLOCKS * BLOCK_ROWS;
        }
        rag_shortlist_flush(&on);
    }
    rag_shortlist_close(&on);
}
