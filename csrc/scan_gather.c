/* scan_gather.c - scanning the rows that a filter passes, where they are few among many.
 *
 * A sweep reads blocks of sixteen rows. Where one row in a hundred passes, it reads a block for one
 * of them and waits for it, as nothing tells the processor which block is next. So such rows are
 * looked at one by one, on their 8-bit codes: a filter says where they lie, and their loads are
 * started AHEAD rows before. Bounds from 8 bits leave little more than the k best rows to score,
 * and those are scored when the query is finished, as after any other scan. */
#include <stdlib.h>

#include "pursuit.h"

enum { AHEAD = 12, CHUNK = 64 };

struct gathering {
    struct search *search;
    const struct slice *slice;
    const struct rag_shadow *shadow;
    const uint32_t *which;
    size_t count, row_size;
    uint64_t codes[CHUNK]; /* where the codes of the chunk's rows lie */
    uint32_t rows[CHUNK];
};

static void start_load(const struct gathering *on, size_t i) {
    const uint8_t *codes = rag_guard_at(&on->shadow->guard, on->codes[i]);
    for (size_t line = 0; line < on->row_size + 63; line += 64) __builtin_prefetch(codes + line);
}

static void refine(const struct gathering *on, size_t i, size_t place) {
    struct search *search = on->search;
    const uint32_t q = on->which[place];
    const uint8_t *codes = rag_guard_at(&on->shadow->guard, on->codes[i]);
    rag_refine_rows(&search->queries[q], search->dim, &codes, &on->rows[i], 1,
                    &on->slice->hunts[q].sieve);
}

/* Keeps the floors up with what was found. */
static void settle(const struct gathering *on, float *scratch) {
    const size_t k = on->search->k;
    for (size_t place = 0; place < on->count; place++) {
        struct sieve *sieve = &on->slice->hunts[on->which[place]].sieve;
        if (sieve->count >= sieve->tight + k / 4 + 4) rag_sieve_tighten(sieve);
        if (sieve->count >= SIEVE_LARGE + 4 * k)
            rag_search_settle(on->search, on->slice, on->which[place], scratch);
    }
}

static void refine_chunk(struct gathering *on, size_t count, float *scratch) {
    const bool lent = !on->shadow->guard.bytes;
    struct rag_fault fault;
    for (size_t i = 0; i < count; i++) on->codes[i] = rag_shadow_row_at(on->shadow, on->rows[i]);
    for (size_t i = 0; !lent && i < AHEAD && i < count; i++) start_load(on, i);
    for (size_t i = 0; i < count; i++) {
        if (!lent && i + AHEAD < count) start_load(on, i + AHEAD);
        if (!rag_search_note(
                on->search, rag_guard_check(&on->shadow->guard, on->codes[i], on->row_size, &fault),
                &fault))
            return;
        for (size_t place = 0; place < on->count; place++) refine(on, i, place);
        if (i % 16 == 15) settle(on, scratch);
    }
    settle(on, scratch);
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
    on.row_size = rag_shadow_row_size(on.shadow);
    while (!rag_search_failed(search)) {
        const size_t found = rag_passing_take(&passing, on.rows, CHUNK);
        if (!found) break;
        refine_chunk(&on, found, scratch);
    }
    free(scratch);
}
