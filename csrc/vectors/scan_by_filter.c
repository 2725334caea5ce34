/* scan_by_filter.c - groups the queries of a search by filter, and iterates over matching rows.
 *
 * Queries with the same filter are scanned together, and each such part is a separate task.
 * Queries with different unselective filters (one row in WIDE matches, or more) form one part
 * nevertheless if tiles can scan them: a tile takes one product with each row anyway, and only
 * the few pairs that reach a floor are tested against the filter. */
#include <stdlib.h>

#include "ragfile/bits.h"
#include "vectors/scan.h"

enum { WIDE = 16 };

/* ------------------------------------------------------------------------------- rows that pass */

struct passing rag_passing(const uint64_t *where, uint64_t first, uint64_t end) {
    struct passing passing = {.where = where, .next = first, .end = end};
    if (where && first < end) passing.word = where[first / 64] & ~UINT64_C(0) << first % 64;
    return passing;
}

/* Skips to the next word with a row, eight empty words at a time. */
static void next_word(struct passing *passing) {
    const uint64_t *words = passing->where, last = (passing->end + 63) / 64;
    uint64_t i = passing->next / 64 + 1;
    for (; i + 8 <= last; i += 8) {
        uint64_t any = 0;
        for (size_t j = 0; j < 8; j++) any |= words[i + j];
        if (any) break;
    }
    while (i < last && !words[i]) i++;
    passing->next = i * 64;
    passing->word = i < last ? words[i] : 0;
}

static size_t take_all(struct passing *passing, uint32_t *rows, size_t most) {
    size_t count = 0;
    while (count < most && passing->next < passing->end) rows[count++] = (uint32_t)passing->next++;
    return count;
}

size_t rag_passing_take(struct passing *passing, uint32_t *rows, size_t most) {
    size_t count = 0;
    if (!passing->where) return take_all(passing, rows, most);
    while (count < most && passing->next < passing->end) {
        if (!passing->word) {
            next_word(passing);
            continue;
        }
        const uint64_t first = passing->next / 64 * 64;
        for (; passing->word && count < most; passing->word &= passing->word - 1) {
            const uint64_t row = first + (uint64_t)__builtin_ctzll(passing->word);
            if (row >= passing->end) return passing->next = passing->end, count;
            rows[count++] = (uint32_t)row;
        }
    }
    return count;
}

uint64_t rag_passing_count(const uint64_t *where, uint64_t first, uint64_t end) {
    uint64_t sum = 0;
    if (!where) return end - first;
    if (first % 64 == 0) return rag_bits_count(where + first / 64, end - first);
    for (uint64_t row = first; row < end; row++) sum += has_row(where, row);
    return sum;
}

/* ---------------------------------------------------------------------------------------- parts */

static bool is_wide(const struct search *search, uint32_t filter) {
    uint64_t passing = 0, rows = 0;
    for (size_t s = 0; s < search->segment_count; s++) {
        const uint64_t count = search->segments[s].matrix->count;
        rows += count;
        passing +=
            rag_passing_count(search->filters->sets[filter * search->segment_count + s], 0, count);
    }
    return passing * WIDE >= rows;
}

static bool tiles_fit(const struct search *search) {
    for (size_t s = 0; s < search->segment_count; s++)
        if (!search->segments[s].shadow) return false;
    return rag_kernels()->tile != NULL;
}

static void put_part(struct search *search, uint32_t filter, bool mixed, const uint32_t *wide) {
    struct part *part = &search->parts[search->part_count];
    const size_t first = search->part_count ? part[-1].first + part[-1].count : 0;
    *part = (struct part){.first = first, .mixed = mixed};
    for (size_t q = 0; q < search->query_count; q++)
        if (mixed ? wide[search->filter_of[q]] : search->filter_of[q] == filter)
            search->order[first + part->count++] = (uint32_t)q;
    search->part_count += part->count > 0;
}

/* A mixed part pays from half a tile of queries on. */
static void divide(struct search *search, uint32_t *wide, const uint32_t *asked) {
    size_t mixed = 0;
    for (uint32_t f = 0; f < search->filters->count; f++) {
        wide[f] = asked[f] && tiles_fit(search) && is_wide(search, f);
        mixed += wide[f] ? asked[f] : 0;
    }
    if (mixed < TILE_QUERIES / 2) memset(wide, 0, search->filters->count * sizeof *wide);
    else put_part(search, 0, true, wide);
    for (uint32_t f = 0; f < search->filters->count; f++)
        if (asked[f] && !wide[f]) put_part(search, f, false, wide);
}

bool rag_search_divide(struct search *search) {
    search->part_count = 1;
    search->parts[0] = (struct part){.count = search->query_count};
    for (size_t q = 0; q < search->query_count; q++) search->order[q] = (uint32_t)q;
    if (!search->filters) return true;
    uint32_t *wide = calloc(2 * search->filters->count, sizeof *wide);
    if (!wide) return rag_search_note(search, RAG_MEMORY, NULL);
    for (size_t q = 0; q < search->query_count; q++)
        wide[search->filters->count + search->filter_of[q]]++;
    search->part_count = 0;
    divide(search, wide, wide + search->filters->count);
    free(wide);
    return true;
}
