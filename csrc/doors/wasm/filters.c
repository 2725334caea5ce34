/* filters.c - the rows that a filter on metadata or tags passes.
 *
 * The columns of a path are those of rag.columns, of which only the needed ones are fetched.
 * Segments without the section, and paths without stored values, have columns that are made from
 * the metadata. Where metadata have no key "doc_id" or "id" of their own, these names mean the
 * ids. */
#include <stdlib.h>
#include <string.h>

#include "doors/wasm/wasm.h"
#include "shared/fail.h"

/* --------------------------------------------------------------------------- a filter's columns */

/* The segment of a filter, and the stored column of its current condition. */
struct asked {
    struct segment *segment;
    struct rag_column stored;
};

static enum rag_status own_column(struct asked *asked, const uint8_t *path, size_t size,
                                  bool is_tags, const struct rag_column **own) {
    struct rag_columns columns = {0};
    bool found;
    const struct rag_segment_record *record = &asked->segment->record;
    enum rag_status status = section_guard("rag.columns", record->number, &columns.guard, &found);
    if (status == RAG_OK && found) status = rag_columns_open(&columns, record->rows, &fault);
    if (status != RAG_OK) return status;
    if (found && !is_tags && rag_columns_may_enter_lists(&columns, path, size))
        return made_column(asked->segment, path, size, is_tags, false, own);
    const int64_t number = found ? rag_columns_find(&columns, path, size, is_tags) : -1;
    if (number >= 0 && rag_columns_has_values(&columns, (uint32_t)number)) {
        *own = &asked->stored;
        return rag_column_open(&columns, (uint32_t)number, &asked->stored, &fault);
    }
    if (found && number < 0 && !columns.is_partial) return RAG_OK;
    return made_column(asked->segment, path, size, is_tags, false, own);
}

static enum rag_status column_of(void *context, const uint8_t *path, size_t size, bool is_tags,
                                 const struct rag_column **own, const struct rag_column **other,
                                 struct rag_fault *to) {
    struct asked *asked = context;
    const bool is_id =
        (size == 2 && memcmp(path, "id", 2) == 0) || (size == 6 && memcmp(path, "doc_id", 6) == 0);
    (void)to; /* is the fault of this module */
    *own = *other = NULL;
    const enum rag_status status = own_column(asked, path, size, is_tags, own);
    if (status != RAG_OK || is_tags || !is_id) return status;
    return made_column(asked->segment, path, size, false, true, other);
}

/* -------------------------------------------------------------------------------------- exports */

/* JSON of a filter, or of a list of tags; NULL for none. */
struct condition {
    const uint8_t *json;
    size_t size;
};

static enum rag_status apply(struct segment *segment, const struct condition conditions[3],
                             uint64_t *words) {
    struct asked asked = {.segment = segment};
    const struct rag_filter_columns columns = {column_of, &asked, segment->record.rows};
    const size_t count = (size_t)((segment->record.rows + 63) / 64);
    uint64_t *more = malloc(8 * count + 8);
    enum rag_status status = more ? RAG_OK : rag_fail(&fault, RAG_MEMORY, 0, "no memory to filter");
    memset(words, 0xFF, 8 * count);
    for (int i = 0; i < 3 && (status == RAG_OK || status == RAG_SOURCE); i++) {
        const uint8_t *value;
        size_t size;
        struct rag_columns_builder *parser = NULL;
        if (!conditions[i].size) continue;
        enum rag_status one = columns_builder(&parser);
        if (one == RAG_OK)
            one = rag_value_of_json(parser, conditions[i].json, conditions[i].size, &value, &size,
                                    &fault);
        if (one == RAG_OK)
            one = i == 0 ? rag_filter_rows(&columns, value, size, more, &fault)
                         : rag_filter_tags(&columns, value, size, i == 2, more, &fault);
        rag_columns_free(parser);
        for (size_t w = 0; one == RAG_OK && w < count; w++) words[w] &= more[w];
        if (one != RAG_OK) status = one;
    }
    free(more);
    return status;
}

/* Write a byte for each row of the file: 1 if it passes a filter, has one of some tags and all of
 * others; a size of 0 asks nothing. */
EXPORT(filter_rows)
int filter_rows(const uint8_t *where, size_t where_size, const uint8_t *any, size_t any_size,
                const uint8_t *every, size_t every_size, uint8_t *mask) {
    const struct condition conditions[] = {
        {where, where_size}, {any, any_size}, {every, every_size}};
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < file.count; i++) {
        struct segment *segment = &file.segments[i];
        const uint64_t rows = segment->record.rows;
        uint64_t *words = malloc((size_t)(rows + 63) / 64 * 8 + 8);
        if (!words) return (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory to filter");
        const enum rag_status one = apply(segment, conditions, words);
        for (uint64_t row = 0; one == RAG_OK && row < rows; row++)
            mask[segment->base + row] = words[row / 64] >> row % 64 & 1;
        free(words);
        if (one != RAG_OK && one != RAG_SOURCE) return (int)one;
        if (one != RAG_OK) status = one;
    }
    return (int)status;
}
