/* bm25_rows.c - count and list the rows that contain a term, with term frequencies.
 *
 * A search over several segments needs the document frequency (df) of each term among the live rows
 * of all of them. The dictionary stores the df over all rows of one segment, including deleted
 * ones. So rag_lexicon_df counts the rows of a list that are in `where`, in one of two ways:
 *
 *    visit   walks the list and tests the bit of each row
 *    absent  looks up the few rows that `where` leaves out and subtracts those that the list holds
 *
 * A lookup takes about as long as LOOKUP steps along a list, and that decides between the two.
 * After a few deletions in a large segment the second way is far cheaper.
 *
 * rag_lexicon_rows lists rows and term frequencies. The frequency follows from the row's code and
 * its length, or from an escape (bm25.h has the rule), by the statistics of the segment itself.
 *
 * Both return checksum faults and RAG_MEMORY. Opening a list checks its structure but not its row
 * numbers: rows past the segment's end are skipped, so a hostile list gives a wrong count but never
 * a read outside the section. */
#include <stdlib.h>

#include "ragfile/bits.h"
#include "text/bm25.h"

struct visit {
    const struct rag_lexicon *lexicon;
    const uint64_t *where;
    uint32_t *rows, *tfs;
    uint64_t capacity, count;
    struct rag_bm25_norm norm;
    double scale;
};

/* Count a row of a container, and record it while there is room. */
static enum rag_status visit_row(struct visit *visit, const struct rag_bm25_container *container,
                                 uint32_t row, uint32_t index, struct rag_fault *fault) {
    if (row >= visit->lexicon->info.rows ||
        (visit->where && !(visit->where[row / 64] >> row % 64 & 1)))
        return RAG_OK;
    const uint64_t at = visit->count++;
    if (at >= visit->capacity) return RAG_OK;
    visit->rows[at] = row;
    if (!visit->tfs) return RAG_OK;
    const uint32_t width = visit->lexicon->length_width;
    const enum rag_status status = rag_guard_check(
        &visit->lexicon->terms, visit->lexicon->lengths_at + (uint64_t)row * width, width, fault);
    if (status) return status;
    const double norm = rag_bm25_norm_at(visit->norm, rag_bm25_length_at(visit->lexicon, row));
    visit->tfs[at] = rag_bm25_container_tf(container, index, norm, visit->scale);
    return RAG_OK;
}

static enum rag_status visit_container(struct visit *visit,
                                       const struct rag_bm25_container *container,
                                       struct rag_fault *fault) {
    const uint32_t base = container->window * LEX_WINDOW;
    enum rag_status status = RAG_OK;
    if (!container->dense) {
        for (uint32_t i = 0; !status && i < container->count; i++)
            status = visit_row(visit, container, base + load_u16(container->rows + 2 * (size_t)i),
                               i, fault);
        return status;
    }
    const uint32_t groups =
        (rag_bm25_window_width(visit->lexicon, container->window) + LEX_GROUP - 1) / LEX_GROUP;
    uint32_t index = 0;
    for (uint32_t group = 0; group < groups; group++)
        for (uint64_t bits = load_u64(container->rows + 8 * (size_t)group); bits && !status;
             bits &= bits - 1, index++)
            if (index < container->count)
                status = visit_row(visit, container,
                                   base + group * LEX_GROUP + (uint32_t)__builtin_ctzll(bits),
                                   index, fault);
    return status;
}

static enum rag_status visit_short(struct visit *visit, const struct rag_bm25_entry *entry,
                                   struct rag_fault *fault) {
    struct rag_bm25_posting postings[LEX_SHORT];
    size_t count;
    enum rag_status status = rag_bm25_short_open(visit->lexicon, entry, postings, &count, fault);
    for (size_t i = 0; !status && i < count; i++) {
        const struct rag_bm25_container one = {.tfs = &postings[i].tf};
        status = visit_row(visit, &one, postings[i].row, 0, fault);
    }
    return status;
}

static enum rag_status visit_rows(struct visit *visit, const struct rag_bm25_entry *entry,
                                  struct rag_fault *fault) {
    struct rag_bm25_containers containers = {0};
    struct rag_bm25_list list;
    if (entry->df == 0) return RAG_OK;
    if (entry->df <= LEX_SHORT) return visit_short(visit, entry, fault);
    enum rag_status status = rag_bm25_list_open(visit->lexicon, entry, &list, &containers, fault);
    if (!status) visit->scale = rag_bm25_scale(list.m);
    for (size_t i = 0; !status && i < containers.count; i++)
        status = visit_container(visit, &containers.items[i], fault);
    free(containers.items);
    return status;
}

/* Count the listed rows missing from `where`: looking up a few rows is faster than walking a long
 * list. */
static enum rag_status count_absent(const struct rag_lexicon *lexicon,
                                    const struct rag_bm25_entry *entry, const uint64_t *where,
                                    uint64_t *absent, struct rag_fault *fault) {
    struct rag_bm25_containers containers = {0};
    struct rag_bm25_list list;
    const uint64_t rows = lexicon->info.rows;
    const enum rag_status status = rag_bm25_list_open(lexicon, entry, &list, &containers, fault);
    uint32_t from = 0;
    *absent = 0;
    for (uint64_t word = 0, i = 0; !status && word < (rows + 63) / 64; word++) {
        const uint32_t window = (uint32_t)(word * 64 / LEX_WINDOW);
        for (; i < containers.count && containers.items[i].window < window; i++) from = 0;
        if (i == containers.count) break;
        if (containers.items[i].window != window) continue;
        uint64_t bits = ~where[word];
        if (rows - word * 64 < 64) bits &= ((uint64_t)1 << (rows - word * 64)) - 1;
        for (; bits; bits &= bits - 1) {
            const uint32_t row =
                (uint32_t)(word * 64 % LEX_WINDOW) + (uint32_t)__builtin_ctzll(bits);
            *absent += rag_bm25_container_find(&containers.items[i], row, &from) != UINT32_MAX;
        }
    }
    free(containers.items);
    return status;
}

enum rag_status rag_lexicon_df(const struct rag_lexicon *lexicon, const uint8_t *term, size_t size,
                               const uint64_t *where, uint64_t *df, struct rag_fault *fault) {
    struct rag_bm25_entry entry;
    const enum rag_status status = rag_bm25_entry_find(lexicon, term, size, &entry, fault);
    *df = 0;
    return status ? status : rag_bm25_entry_count(lexicon, &entry, where, df, fault);
}

enum rag_status rag_bm25_entry_count(const struct rag_lexicon *lexicon,
                                     const struct rag_bm25_entry *entry, const uint64_t *where,
                                     uint64_t *df, struct rag_fault *fault) {
    enum { LOOKUP = 8 }; /* cost of one lookup, in steps along a list */
    struct visit visit = {.lexicon = lexicon, .where = where};
    enum rag_status status;
    *df = entry->df;
    if (!where || !entry->df) return RAG_OK;
    const uint64_t absent_rows = lexicon->info.rows - rag_bits_count(where, lexicon->info.rows);
    if (entry->df > LEX_SHORT && absent_rows < entry->df / LOOKUP) {
        uint64_t absent;
        status = count_absent(lexicon, entry, where, &absent, fault);
        *df = absent < entry->df ? entry->df - absent : 0;
        return status;
    }
    status = visit_rows(&visit, entry, fault);
    *df = visit.count;
    return status;
}

static void mark_row(const struct rag_lexicon *lexicon, uint32_t row, uint64_t *rows) {
    if (row < lexicon->info.rows) rows[row / 64] |= (uint64_t)1 << row % 64;
}

static void mark_container(const struct rag_lexicon *lexicon,
                           const struct rag_bm25_container *container, uint64_t *rows) {
    const uint32_t base = container->window * LEX_WINDOW;
    if (!container->dense) {
        for (uint32_t i = 0; i < container->count; i++)
            mark_row(lexicon, base + load_u16(container->rows + 2 * (size_t)i), rows);
        return;
    }
    const uint32_t width = rag_bm25_window_width(lexicon, container->window);
    for (uint32_t group = 0; group < (width + LEX_GROUP - 1) / LEX_GROUP; group++) {
        uint64_t bits = load_u64(container->rows + 8 * (size_t)group);
        const uint32_t left = width - group * LEX_GROUP;
        if (left < LEX_GROUP) bits &= ((uint64_t)1 << left) - 1;
        rows[base / LEX_GROUP + group] |= bits;
    }
}

enum rag_status rag_lexicon_mark(const struct rag_lexicon *lexicon, const uint8_t *term,
                                 size_t size, uint64_t *rows, struct rag_fault *fault) {
    struct rag_bm25_containers containers = {0};
    struct rag_bm25_posting few[LEX_SHORT];
    struct rag_bm25_entry entry;
    struct rag_bm25_list list;
    size_t count = 0;
    enum rag_status status = rag_bm25_entry_find(lexicon, term, size, &entry, fault);
    if (status || !entry.df) return status;
    if (entry.df <= LEX_SHORT) {
        status = rag_bm25_short_open(lexicon, &entry, few, &count, fault);
        for (size_t i = 0; !status && i < count; i++) mark_row(lexicon, few[i].row, rows);
        return status;
    }
    status = rag_bm25_list_open(lexicon, &entry, &list, &containers, fault);
    for (size_t i = 0; !status && i < containers.count; i++)
        mark_container(lexicon, &containers.items[i], rows);
    free(containers.items);
    return status;
}

enum rag_status rag_lexicon_rows(const struct rag_lexicon *lexicon, const uint8_t *term,
                                 size_t size, uint32_t *rows, uint32_t *tfs, uint64_t capacity,
                                 uint64_t *count, struct rag_fault *fault) {
    const struct rag_lexicon_info *info = &lexicon->info;
    struct rag_bm25_entry entry;
    struct visit visit = {
        .lexicon = lexicon,
        .rows = rows,
        .tfs = tfs,
        .capacity = capacity,
        .norm = rag_bm25_norm_of(info->k1, info->b, info->rows, info->total_length)};
    enum rag_status status = rag_bm25_entry_find(lexicon, term, size, &entry, fault);
    if (!status) status = visit_rows(&visit, &entry, fault);
    *count = visit.count;
    return status;
}
