/* made_columns.c - columns of metadata and of ids that a file does not store, made on first use,
 * one path at a time, and kept. */
#include <stdlib.h>
#include <string.h>

#include "doors/wasm/wasm.h"
#include "shared/array.h"
#include "shared/fail.h"

/* ------------------------------------------------------------------------ columns from metadata */

/* A column that was made, of a segment and a path. */
struct made {
    struct made *next;
    const struct segment *segment;
    uint8_t *path;
    size_t size;
    bool is_tags, is_of_ids, has_values;
    struct rag_column column;
};
static struct made *all_made;

struct bytes {
    uint8_t *at;
    size_t size, room;
};

static enum rag_status append(void *context, const void *bytes, size_t size) {
    struct bytes *to = context;
    if (!rag_grow(&to->at, &to->room, to->size + size, 1)) return RAG_MEMORY;
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
    return RAG_OK;
}

static double decimal_of(void *context, const char *digits, size_t size) {
    (void)context;
    return host_number(digits, size);
}

enum rag_status columns_builder(struct rag_columns_builder **builder) {
    static const struct rag_columns_limits LIMITS = {
        .value = UINT32_MAX, .values = UINT32_MAX, .held = UINT32_MAX, .free_bytes = UINT32_MAX};
    return rag_columns_new(&LIMITS, decimal_of, NULL, builder, &fault);
}

static enum rag_status spoilt(void) {
    rag_fail(&fault, RAG_CORRUPT, 0, "metadata are not JSON of at most 64 levels");
    strcpy(fault.section, "rag.meta");
    return RAG_CORRUPT;
}

static int by_place(const void *a, const void *b) {
    const struct rag_piece *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/* Refuse stretches over one another: they make a reader parse the same bytes again and again. */
static enum rag_status check_overlap(const struct segment *segment, struct rag_piece *all,
                                     size_t count) {
    uint64_t sum = 0;
    qsort(all, count, sizeof *all, by_place);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_place(&all[i - 1], &all[i])) sum += all[i].size;
    if (sum <= 2 * segment->meta.raw_size + (1 << 20)) return RAG_OK;
    rag_fail(&fault, RAG_CORRUPT, 0,
             "metadata overlap: they add up to more than 2 times their section");
    strcpy(fault.section, "rag.meta");
    return RAG_CORRUPT;
}

static enum rag_status check_stretches(const struct segment *segment) {
    const struct rag_records *r = &segment->records;
    struct rag_piece *all = malloc((r->rows + r->count + 1) * sizeof *all);
    enum rag_status status = all ? RAG_OK : rag_fail(&fault, RAG_MEMORY, 0, "no memory to filter");
    struct rag_document d;
    struct rag_chunk c;
    size_t count = 0;
    for (uint64_t i = 0; status == RAG_OK && i < r->count; i++) {
        status = rag_records_document(r, i, &d, &fault);
        all[count++] = (struct rag_piece){.at = d.meta_at, .size = d.meta_size};
    }
    for (uint64_t i = 0; status == RAG_OK && i < r->rows; i++) {
        status = rag_records_chunk(r, i, &c, &fault);
        all[count++] = (struct rag_piece){.at = c.meta_at, .size = c.meta_size};
    }
    if (status == RAG_OK) status = check_overlap(segment, all, count);
    free(all);
    return status;
}

/* Add the rows of a document, those with the same stretch of metadata at once. */
static enum rag_status add_rows(struct rag_columns_builder *builder, struct segment *segment,
                                const struct rag_document *document) {
    const uint64_t end = document->first_row + document->rows;
    struct rag_chunk c, next;
    enum rag_status status = RAG_OK;
    for (uint64_t row = document->first_row, count; status == RAG_OK && row < end; row += count) {
        const uint8_t *json = NULL;
        status = rag_records_chunk(&segment->records, row, &c, &fault);
        for (count = 1; status == RAG_OK && row + count < end; count++) {
            status = rag_records_chunk(&segment->records, row + count, &next, &fault);
            if (next.meta_size != c.meta_size || (c.meta_size && next.meta_at != c.meta_at)) break;
        }
        if (status == RAG_OK && c.meta_size)
            status = segment_metadata(segment, c.meta_at, c.meta_size, &json);
        if (status == RAG_OK) status = rag_columns_rows(builder, json, c.meta_size, count, &fault);
    }
    return status;
}

static enum rag_status add_metadata(struct rag_columns_builder *builder, struct segment *segment) {
    struct rag_document d;
    enum rag_status status = check_stretches(segment);
    for (uint64_t i = 0; status == RAG_OK && i < segment->records.count; i++) {
        const uint8_t *json = NULL;
        status = rag_records_document(&segment->records, i, &d, &fault);
        if (status == RAG_OK && d.meta_size)
            status = segment_metadata(segment, d.meta_at, d.meta_size, &json);
        if (status == RAG_OK) status = rag_columns_document(builder, json, d.meta_size, &fault);
        if (status == RAG_OK) status = add_rows(builder, segment, &d);
    }
    return status;
}

/* ------------------------------------------------------------------------------ columns of ids */

static enum rag_status append_text(struct bytes *to, const uint8_t *text, size_t size) {
    static const char HEX[] = "0123456789abcdef";
    enum rag_status status = RAG_OK;
    for (size_t i = 0; status == RAG_OK && i < size; i++) {
        const char escape[] = {'\\', 'u', '0', '0', HEX[text[i] >> 4 & 15], HEX[text[i] & 15]};
        const bool is_plain = text[i] >= 0x20 && text[i] != '"' && text[i] != '\\';
        status = is_plain ? append(to, &text[i], 1) : append(to, escape, sizeof escape);
    }
    return status;
}

/* Write {"metadata":{NAME:ID}}, the id with the number of a chunk after it if `chunk` is not
 * negative. */
static enum rag_status put_id(struct bytes *to, const struct made *one,
                              const struct rag_document *document, int64_t chunk) {
    char digits[24] = "", *at = digits + sizeof digits - 1;
    to->size = 0;
    enum rag_status status = append(to, "{\"metadata\":{\"", 14);
    if (status == RAG_OK) status = append_text(to, one->path, one->size);
    if (status == RAG_OK) status = append(to, "\":\"", 3);
    if (status == RAG_OK) status = append_text(to, document->id, document->id_size);
    for (int64_t left = chunk; chunk >= 0 && (left || !*at); left /= 10)
        *--at = (char)('0' + left % 10);
    if (status == RAG_OK && chunk >= 0) status = append(to, "#", 1);
    if (status == RAG_OK && chunk >= 0) status = append(to, at, strlen(at));
    return status == RAG_OK ? append(to, "\"}}", 3) : status;
}

static enum rag_status add_ids_of(struct rag_columns_builder *builder, const struct made *one,
                                  const struct rag_document *d, struct bytes *json) {
    struct rag_chunk c;
    enum rag_status status = RAG_OK;
    const bool is_of_chunks = one->size == 2; /* "id", not "doc_id" */
    if (!is_of_chunks) {
        status = put_id(json, one, d, -1);
        return status ? status : rag_columns_rows(builder, json->at, json->size, d->rows, &fault);
    }
    for (uint64_t row = d->first_row; status == RAG_OK && row < d->first_row + d->rows; row++) {
        status = rag_records_chunk(&one->segment->records, row, &c, &fault);
        if (status == RAG_OK) status = put_id(json, one, d, c.index);
        if (status == RAG_OK) status = rag_columns_rows(builder, json->at, json->size, 1, &fault);
    }
    return status;
}

static enum rag_status add_ids(struct rag_columns_builder *builder, const struct made *one) {
    struct bytes json = {0};
    struct rag_document d;
    enum rag_status status = rag_columns_document(builder, NULL, 0, &fault);
    for (uint64_t i = 0; status == RAG_OK && i < one->segment->records.count; i++) {
        status = rag_records_document(&one->segment->records, i, &d, &fault);
        if (status == RAG_OK) status = add_ids_of(builder, one, &d, &json);
    }
    free(json.at);
    return status;
}

/* ------------------------------------------------------------------------------- making columns */

/* Bring everything that is parsed, in one request. */
static enum rag_status bring_metadata(struct segment *segment, bool is_of_ids) {
    enum rag_status status = segment_records_whole(segment), streams = segment_streams(segment);
    if (status == RAG_OK) status = streams;
    if (status == RAG_OK && !is_of_ids)
        status = rag_guard_check(&segment->meta.guard, 0, segment->meta.guard.size, &fault);
    return status;
}

/* Open the column in the bytes of a section, which stay. */
static enum rag_status open_made(struct made *one, struct bytes *section) {
    struct rag_columns columns = {.guard = {.bytes = section->at, .size = section->size}};
    enum rag_status status = rag_columns_open(&columns, one->segment->record.rows, &fault);
    if (status != RAG_OK) return status;
    const int64_t found = rag_columns_find(&columns, one->path, one->size, one->is_tags);
    if (found < 0) return RAG_OK;
    one->has_values = true;
    if (!rag_columns_has_values(&columns, (uint32_t)found))
        return rag_fail(&fault, RAG_MEMORY, 0, "the metadata are too large to filter");
    return rag_column_open(&columns, (uint32_t)found, &one->column, &fault);
}

static enum rag_status make_column(struct segment *segment, struct made *one) {
    struct rag_columns_builder *builder = NULL;
    struct bytes section = {0};
    enum rag_status status = bring_metadata(segment, one->is_of_ids);
    if (status == RAG_OK) status = columns_builder(&builder);
    if (status == RAG_OK)
        status = rag_columns_only(builder, one->path, one->size, one->is_tags, &fault);
    if (status == RAG_OK)
        status = one->is_of_ids ? add_ids(builder, one) : add_metadata(builder, segment);
    if (status == RAG_OK && rag_columns_are_spoilt(builder)) status = spoilt();
    if (status == RAG_OK) status = rag_columns_finish(builder, append, &section, &fault);
    if (status == RAG_OK) status = open_made(one, &section);
    if (status != RAG_OK || !one->has_values) free(section.at);
    rag_columns_free(builder);
    return status;
}

static bool is_made(const struct made *one, const struct segment *segment, const uint8_t *path,
                    size_t size, bool is_tags, bool is_of_ids) {
    return one->segment == segment && one->is_tags == is_tags && one->is_of_ids == is_of_ids &&
           one->size == size && (size == 0 || memcmp(one->path, path, size) == 0);
}

enum rag_status made_column(struct segment *segment, const uint8_t *path, size_t size, bool is_tags,
                            bool is_of_ids, const struct rag_column **column) {
    struct made *one = all_made;
    while (one && !is_made(one, segment, path, size, is_tags, is_of_ids)) one = one->next;
    if (!one) {
        one = calloc(1, sizeof *one);
        uint8_t *kept = malloc(size + 1);
        enum rag_status status =
            one && kept ? RAG_OK : rag_fail(&fault, RAG_MEMORY, 0, "no memory to filter");
        if (status == RAG_OK) {
            if (size) memcpy(kept, path, size);
            *one = (struct made){NULL, segment, kept, size, is_tags, is_of_ids, false, {0}};
            status = make_column(segment, one);
        }
        if (status != RAG_OK) {
            free(kept);
            free(one);
            return status;
        }
        one->next = all_made;
        all_made = one;
    }
    *column = one->has_values ? &one->column : NULL;
    return RAG_OK;
}
