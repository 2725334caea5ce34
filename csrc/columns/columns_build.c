/* columns_build.c - builds rag.columns from the metadata of a segment's rows, in order.
 *
 * document() takes the metadata of a document, row() the additional metadata of one of its rows.
 * A row's own keys take precedence over the document's, as in a hit. Consecutive rows without
 * metadata of their own are added together. finish() sorts the values of each path and assigns
 * codes in that order; paths that no row has are dropped. So the same rows give the same bytes. */
#include <stdlib.h>

#include "columns/columns.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

enum rag_status rag_columns_new(const struct rag_columns_limits *limits,
                                double (*decimal)(void *context, const char *digits, size_t size),
                                void *context, struct rag_columns_builder **builder,
                                struct rag_fault *fault) {
    *builder = calloc(1, sizeof **builder);
    if (!*builder) return rag_fail(fault, RAG_MEMORY, 0, "no memory for columns");
    (*builder)->limits = *limits;
    (*builder)->decimal = decimal;
    (*builder)->context = context;
    return RAG_OK;
}

enum rag_status rag_columns_only(struct rag_columns_builder *b, const uint8_t *path, size_t size,
                                 bool is_tags, struct rag_fault *fault) {
    b->is_of_one_path = true;
    b->wanted.size = 0;
    if (is_tags) return RAG_OK;
    rag_buffer_put(&b->wanted, path, size);
    buffer_byte(&b->wanted, 0); /* so that an empty path has bytes, too */
    b->wanted.size = size;
    return b->wanted.failed ? rag_fail(fault, RAG_MEMORY, 0, "no memory for columns") : RAG_OK;
}

void rag_columns_free(struct rag_columns_builder *b) {
    if (!b) return;
    for (size_t i = 0; i < b->path_count; i++) {
        rag_column_give_up(b, &b->paths[i]);
        free(b->paths[i].name);
    }
    free(b->paths);
    free(b->slots);
    free(b->shared.items);
    free(b->own.items);
    free(b->both.items);
    free(b->scratch.bytes);
    free(b->name.bytes);
    free(b->wanted.bytes);
    free(b);
}

/* ----------------------------------------------------------------------------------------- rows */

static void append_words(struct rag_columns_builder *b, const struct column_words *words,
                         uint64_t count) {
    for (size_t i = 0; i < words->count; i++)
        rag_column_append(b, &b->paths[words->items[i].path], b->rows, count, words->items[i].code);
}

static int by_path(const void *a, const void *b) {
    const struct column_said *x = a, *y = b;
    if (x->path != y->path) return x->path < y->path ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Of several ways to a path only the shortest remains. Two of equal length are a duplicate key,
 * of which Python's parser takes the last; writers do not produce them. */
static void settle(struct rag_columns_builder *b, struct column_words *words) {
    size_t kept = 0;
    if (words->count > 1) qsort(words->items, words->count, sizeof *words->items, by_path);
    for (size_t i = 0; i < words->count; i++) {
        const bool is_other = kept == 0 || words->items[kept - 1].path != words->items[i].path;
        if (is_other) words->items[kept++] = words->items[i];
        else if (words->items[kept - 1].depth == words->items[i].depth) b->is_spoilt = true;
    }
    words->count = kept;
}

static bool add_words(struct rag_columns_builder *b, struct column_words *words,
                      const struct column_said *more) {
    if (!rag_grow(&words->items, &words->room, words->count + 1, sizeof *words->items)) {
        b->has_no_memory = true;
        return false;
    }
    words->items[words->count++] = *more;
    return true;
}

static void mark_own(struct rag_columns_builder *b) {
    b->turn++;
    for (size_t i = 0; i < b->own.count; i++) {
        const struct column_said *said = &b->own.items[i];
        b->paths[said->path].said_on = b->turn;
        b->paths[said->path].said_depth = said->depth;
        if (said->top != NO_TOP) b->paths[said->top].top_on = b->turn;
    }
}

/* A row's own key hides everything below the document's key. So do its tags, and its own source. */
static bool is_hidden(const struct rag_columns_builder *b, const struct column_said *said) {
    if (said->top != NO_TOP) return b->paths[said->top].top_on == b->turn;
    const struct column_path *path = &b->paths[said->path];
    return path->said_on == b->turn && path->said_depth == said->depth;
}

/* Adds a row with metadata of its own, and those parts of its document's metadata that it does
 * not hide. */
static void join_words(struct rag_columns_builder *b) {
    b->both.count = 0;
    mark_own(b);
    for (size_t i = 0; i < b->own.count; i++)
        if (!add_words(b, &b->both, &b->own.items[i])) return;
    for (size_t i = 0; i < b->shared.count; i++)
        if (!is_hidden(b, &b->shared.items[i]) && !add_words(b, &b->both, &b->shared.items[i]))
            return;
    settle(b, &b->both);
}

/* Whether the section can still be built. */
static bool is_open(const struct rag_columns_builder *b) {
    return !b->is_spoilt && !b->has_no_memory;
}

/* If a text or a key does not fit, the value that contains it is not stored, either. This is not
 * an error. */
static enum rag_status outcome(struct rag_columns_builder *b, struct rag_fault *fault) {
    b->has_no_memory |= b->scratch.failed || b->name.failed;
    return b->has_no_memory ? rag_fail(fault, RAG_MEMORY, 0, "no memory for columns") : RAG_OK;
}

/* All values of an object in order of appearance, including both ways to a path: a row can hide
 * the shorter one. */
enum rag_status rag_columns_document(struct rag_columns_builder *b, const uint8_t *json,
                                     size_t size, struct rag_fault *fault) {
    if (is_open(b)) (void)rag_column_words_of(b, json, size, &b->shared);
    return outcome(b, fault);
}

enum rag_status rag_columns_rows(struct rag_columns_builder *b, const uint8_t *json, size_t size,
                                 uint64_t count, struct rag_fault *fault) {
    b->is_spoilt |= count > UINT32_MAX - b->rows;
    if (is_open(b) && rag_column_words_of(b, json, size, &b->own)) {
        join_words(b);
        append_words(b, &b->both, count);
    }
    b->rows += count;
    return outcome(b, fault);
}

/* -------------------------------------------------------------------------------------- columns */

struct sorted {
    const uint8_t *bytes;
    uint32_t size, number; /* of arrival */
};

/* A path as it is written. */
struct made {
    struct column_path *path;
    struct sorted *values;
    uint32_t count, width, special, of_kind[VALUE_OBJECT + 1];
    bool has_rests;
    uint64_t blob, at;
    struct rag_column_parts parts;
};

static int by_bytes(const void *a, const void *b) {
    const struct sorted *x = a, *y = b;
    return memcmp(x->bytes, y->bytes, x->size < y->size ? x->size : y->size);
}

/* Sorts the values that occur in some row, and assigns their codes. */
static bool sort_values(struct made *made) {
    struct column_path *path = made->path;
    made->values = malloc((path->value_count + 1) * sizeof *made->values);
    if (!made->values) return false;
    for (size_t i = 0; i < path->value_count; i++) path->value[i].code = 0;
    for (size_t i = 0; i < path->run_count; i++)
        if (path->runs[i].code) path->value[path->runs[i].code - 1].code = 1;
    for (size_t i = 0; i < path->value_count; i++)
        if (path->value[i].code)
            made->values[made->count++] = (struct sorted){path->values.bytes + path->value[i].at,
                                                          path->value[i].size, (uint32_t)i};
    if (made->count > 1) qsort(made->values, made->count, sizeof *made->values, by_bytes);
    for (uint32_t i = 0; i < made->count; i++) path->value[made->values[i].number].code = i + 1;
    return true;
}

/* The bytes of a value in the blob: the content of a text, all of a list or object. */
static size_t blob_size(const struct sorted *value) {
    size_t escapes = 0;
    if (*value->bytes < VALUE_TEXT) return 0;
    if (*value->bytes > VALUE_TEXT) return value->size;
    for (uint32_t i = 1; i + 1 < value->size; i++)
        escapes += value->bytes[i] == 1, i += value->bytes[i] == 1;
    return value->size - 2 - escapes;
}

static bool is_worth_it(const struct rag_columns_builder *b, const struct made *made) {
    return made->blob <= b->limits.free_bytes + b->limits.bytes_a_row * b->rows;
}

static bool make_column(struct rag_columns_builder *b, struct made *made) {
    if (!sort_values(made)) return false;
    for (uint32_t i = 0; i < made->count; i++) {
        const struct sorted *value = &made->values[i];
        made->of_kind[*value->bytes]++;
        made->blob += blob_size(value);
        made->has_rests |= *value->bytes == VALUE_NUMBER && rag_number_load(value->bytes).rest != 0;
    }
    for (uint32_t kind = VALUE_NULL; kind <= VALUE_TRUE; kind++)
        made->special |= made->of_kind[kind] ? 1u << (kind - VALUE_NULL) : 0;
    made->width = made->count < 1u << 8 ? 1 : made->count < 1u << 16 ? 2 : 4;
    const uint64_t others = (uint64_t)made->of_kind[VALUE_TEXT] + made->of_kind[VALUE_LIST] +
                            made->of_kind[VALUE_OBJECT];
    /* unreached: takes 4 GiB of different values */
    if (!is_worth_it(b, made) || made->blob > UINT32_MAX)
        return rag_column_give_up(b, made->path), true;
    return rag_column_parts(&made->parts, b->rows, made->width, made->of_kind[VALUE_NUMBER],
                            made->has_rests, others, made->blob);
}

static int by_name(const void *a, const void *b) {
    const struct column_path *x = a, *y = b;
    if (x->is_tags != y->is_tags) return x->is_tags ? -1 : 1;
    const size_t both = x->name_size < y->name_size ? x->name_size : y->name_size;
    const int order = both ? memcmp(x->name, y->name, both) : 0;
    return order ? order : (x->name_size > y->name_size) - (x->name_size < y->name_size);
}

/* -------------------------------------------------------------------------------------- writing */

/* Collects small values into pieces. */
struct outlet {
    enum rag_status (*write)(void *context, const void *bytes, size_t size);
    void *context;
    enum rag_status status;
    uint64_t at;
    struct rag_buffer piece;
};

static void flush(struct outlet *outlet) {
    if (outlet->status == RAG_OK && outlet->piece.size > 0)
        outlet->status = outlet->write(outlet->context, outlet->piece.bytes, outlet->piece.size);
    outlet->piece.size = 0;
}

static void out(struct outlet *outlet, const void *bytes, size_t size) {
    rag_buffer_put(&outlet->piece, bytes, size);
    outlet->at += size;
    if (outlet->piece.size >= RAG_BLOCK) flush(outlet);
}

static void out_zeros(struct outlet *outlet, uint64_t to) {
    static const uint8_t zeros[64];
    out(outlet, zeros, to - outlet->at);
}

/* The codes of the block of rows from `first` on. *run is the position in the runs. */
static uint32_t codes_of(const struct made *made, uint64_t first, uint32_t count, size_t *run,
                         uint32_t *codes) {
    const struct column_path *path = made->path;
    uint32_t row = 0;
    while (row < count) {
        while (*run < path->run_count && path->runs[*run].first <= first + row) (*run)++;
        const uint32_t number = *run > 0 ? path->runs[*run - 1].code : 0;
        uint64_t next = *run < path->run_count ? path->runs[*run].first : path->end;
        const bool is_after = first + row >= path->end;
        if (is_after) next = first + count;
        const uint32_t code = number && !is_after ? path->value[number - 1].code : 0;
        for (; row < count && first + row < next; row++) codes[row] = code;
    }
    return row;
}

static uint32_t rows_of_block(uint64_t rows, uint64_t first) {
    return rows - first < ZONE_ROWS ? (uint32_t)(rows - first) : ZONE_ROWS;
}

static void out_zones(struct outlet *outlet, const struct made *made, uint64_t rows) {
    uint32_t codes[ZONE_ROWS];
    size_t run = 0;
    for (uint64_t first = 0; first < rows; first += ZONE_ROWS) {
        const uint32_t count = codes_of(made, first, rows_of_block(rows, first), &run, codes);
        uint8_t zone[ZONE_SIZE];
        uint32_t low = codes[0], high = codes[0];
        for (uint32_t i = 1; i < count; i++) {
            low = codes[i] < low ? codes[i] : low;
            high = codes[i] > high ? codes[i] : high;
        }
        store_u32(zone, low);
        store_u32(zone + 4, high);
        out(outlet, zone, sizeof zone);
    }
}

static void out_codes(struct outlet *outlet, const struct made *made, uint64_t rows) {
    uint32_t codes[ZONE_ROWS];
    uint8_t packed[4 * ZONE_ROWS];
    size_t run = 0;
    for (uint64_t first = 0; first < rows; first += ZONE_ROWS) {
        const uint32_t count = codes_of(made, first, rows_of_block(rows, first), &run, codes);
        for (uint32_t i = 0; i < count; i++) {
            if (made->width == 1) packed[i] = (uint8_t)codes[i];
            else if (made->width == 2) store_u16(packed + 2 * i, (uint16_t)codes[i]);
            else store_u32(packed + 4 * i, codes[i]);
        }
        out(outlet, packed, (size_t)count * made->width);
    }
}

static void out_numbers(struct outlet *outlet, const struct made *made, uint64_t base) {
    uint8_t raw[8];
    for (uint32_t i = 0; i < made->count; i++) {
        if (*made->values[i].bytes != VALUE_NUMBER) continue;
        store_f64(raw, rag_number_load(made->values[i].bytes).floor);
        out(outlet, raw, 8);
    }
    out_zeros(outlet, base + made->parts.rests);
    for (uint32_t i = 0; made->has_rests && i < made->count; i++) {
        if (*made->values[i].bytes != VALUE_NUMBER) continue;
        store_u16(raw, rag_number_load(made->values[i].bytes).rest);
        out(outlet, raw, 2);
    }
}

static void out_offsets(struct outlet *outlet, const struct made *made) {
    uint32_t end = 0;
    uint8_t raw[4] = {0};
    out(outlet, raw, 4);
    for (uint32_t i = 0; i < made->count; i++) {
        if (*made->values[i].bytes < VALUE_TEXT) continue;
        end += (uint32_t)blob_size(&made->values[i]);
        store_u32(raw, end);
        out(outlet, raw, 4);
    }
}

static void out_blob(struct rag_columns_builder *b, struct outlet *outlet,
                     const struct made *made) {
    for (uint32_t i = 0; i < made->count; i++) {
        const struct sorted *value = &made->values[i];
        if (*value->bytes > VALUE_TEXT) out(outlet, value->bytes, value->size);
        if (*value->bytes != VALUE_TEXT) continue;
        b->scratch.size = 0;
        rag_buffer_put(&b->scratch, value->bytes, value->size); /* for its room */
        if (b->scratch.failed) return;
        out(outlet, b->scratch.bytes,
            rag_text_raw(b->scratch.bytes, value->bytes + 1, value->size - 2));
    }
}

static void out_column(struct rag_columns_builder *b, struct outlet *outlet,
                       const struct made *made) {
    out_zeros(outlet, made->at);
    out_zones(outlet, made, b->rows);
    out_codes(outlet, made, b->rows);
    out_zeros(outlet, made->at + made->parts.numbers);
    out_numbers(outlet, made, made->at);
    out_zeros(outlet, made->at + made->parts.offsets);
    out_offsets(outlet, made);
    out_zeros(outlet, made->at + made->parts.blob);
    out_blob(b, outlet, made);
    out_zeros(outlet, made->at + made->parts.end);
}

static void out_entry(struct outlet *outlet, const struct made *made, uint64_t name_at) {
    uint8_t entry[COLUMN_ENTRY] = {0};
    const struct column_path *path = made->path;
    store_u32(entry + COLUMN_NAME, (uint32_t)name_at);
    store_u32(entry + COLUMN_NAME_SIZE, (uint32_t)path->name_size);
    uint32_t flags = path->is_tags ? COLUMN_IS_TAGS : 0;
    if (path->is_given_up) flags |= COLUMN_IS_ABSENT;
    else {
        flags |= made->has_rests ? COLUMN_HAS_RESTS : 0;
        store_u32(entry + COLUMN_WIDTH, made->width);
        store_u64(entry + COLUMN_AT, made->at);
        store_u32(entry + COLUMN_SPECIAL, made->special);
        store_u32(entry + COLUMN_NUMBERS, made->of_kind[VALUE_NUMBER]);
        store_u32(entry + COLUMN_TEXTS, made->of_kind[VALUE_TEXT]);
        store_u32(entry + COLUMN_LISTS, made->of_kind[VALUE_LIST]);
        store_u32(entry + COLUMN_OBJECTS, made->of_kind[VALUE_OBJECT]);
        store_u64(entry + COLUMN_BLOB, made->blob);
    }
    store_u32(entry + COLUMN_FLAGS, flags);
    out(outlet, entry, sizeof entry);
}

static void out_head(struct rag_columns_builder *b, struct outlet *outlet, uint32_t count,
                     uint64_t names) {
    uint8_t head[COLUMNS_HEAD] = {0};
    memcpy(head, COLUMNS_MAGIC, 8);
    store_u64(head + COLUMNS_ROWS, b->rows);
    store_u32(head + COLUMNS_COUNT, count);
    store_u32(head + COLUMNS_FLAGS, b->is_partial ? COLUMNS_PARTIAL : 0);
    store_u64(head + COLUMNS_NAMES, names);
    out(outlet, head, sizeof head);
}

/* Computes all positions, and drops the paths that no row has. */
static bool lay_out(struct rag_columns_builder *b, struct made *made, uint32_t *count,
                    uint64_t *names) {
    uint64_t at = 0;
    *count = 0;
    *names = 0;
    if (b->path_count > 1) qsort(b->paths, b->path_count, sizeof *b->paths, by_name);
    for (size_t i = 0; i < b->path_count; i++) {
        struct made *one = &made[*count];
        *one = (struct made){.path = &b->paths[i]};
        if (!one->path->is_given_up && !make_column(b, one)) return false;
        if (!one->path->is_given_up && one->count == 0) {
            free(one->values);
            one->values = NULL;
            continue;
        }
        *names += one->path->name_size;
        (*count)++;
    }
    at = align_up(COLUMNS_HEAD + (uint64_t)COLUMN_ENTRY * *count + *names, 64);
    for (uint32_t i = 0; i < *count; i++)
        if (!made[i].path->is_given_up) {
            made[i].at = at;
            at += made[i].parts.end;
        }
    return true;
}

static void out_all(struct rag_columns_builder *b, struct outlet *outlet, const struct made *made,
                    uint32_t count, uint64_t names) {
    uint64_t at = 0;
    out_head(b, outlet, count, names);
    for (uint32_t i = 0; i < count; i++) {
        out_entry(outlet, &made[i], at);
        at += made[i].path->name_size;
    }
    for (uint32_t i = 0; i < count; i++) out(outlet, made[i].path->name, made[i].path->name_size);
    out_zeros(outlet, align_up(outlet->at, 64));
    for (uint32_t i = 0; i < count; i++)
        if (!made[i].path->is_given_up) out_column(b, outlet, &made[i]);
}

void rag_columns_spoil(struct rag_columns_builder *b) { b->is_spoilt = true; }

bool rag_columns_are_spoilt(const struct rag_columns_builder *b) { return b->is_spoilt; }

enum rag_status rag_columns_finish(struct rag_columns_builder *b,
                                   enum rag_status (*write)(void *context, const void *bytes,
                                                            size_t size),
                                   void *context, struct rag_fault *fault) {
    struct outlet outlet = {.write = write, .context = context, .status = RAG_OK};
    struct made *made = calloc(b->path_count + 1, sizeof *made);
    uint32_t count = 0;
    uint64_t names = 0;
    if (!made || !lay_out(b, made, &count, &names)) b->has_no_memory = true;
    else out_all(b, &outlet, made, count, names);
    flush(&outlet);
    b->has_no_memory |= outlet.piece.failed;
    free(outlet.piece.bytes);
    for (size_t i = 0; made && i <= b->path_count; i++) free(made[i].values);
    free(made);
    if (b->has_no_memory || b->scratch.failed)
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for columns");
    return outlet.status == RAG_OK ? RAG_OK
                                   : rag_fail(fault, outlet.status, 0, "columns were not written");
}
