/* columns_paths.c - the paths and values that a builder of columns has seen.
 *
 * A path has its distinct values, found by hash, and runs of rows with the same value. Rows of a
 * document, and neighbouring documents, share most values, so runs are few. If the values of a
 * path exceed the limits, the path is listed without them, and filters read them from the
 * metadata. Paths beyond COLUMNS_MAX are not even listed, and the section records that. */
#include <stdlib.h>

#include "ragfile/machine.h"
#include "columns/columns.h"
#include "shared/array.h"
#include "shared/bytes.h"

enum { NAME_MAX = 1000, SLOTS_LEAST = 16 };

/* Doubles a table of slots when it is half full. place(i) is the slot of item i. */
static bool grow_slots(uint32_t **slots, size_t *count, size_t items,
                       uint64_t (*hash)(const void *of, size_t i), const void *of) {
    if (*count >= 2 * (items + 1)) return true;
    const size_t wanted = *count ? 2 * *count : SLOTS_LEAST;
    uint32_t *grown = calloc(wanted, sizeof *grown);
    if (!grown) return false;
    for (size_t i = 0; i < items; i++) {
        size_t at = hash(of, i) & (wanted - 1);
        while (grown[at]) at = (at + 1) & (wanted - 1);
        grown[at] = (uint32_t)i + 1;
    }
    free(*slots);
    *slots = grown;
    *count = wanted;
    return true;
}

static uint64_t path_hash(const void *of, size_t i) {
    const struct column_path *path = (const struct column_path *)of + i;
    return rag_hash(path->name, path->name_size) ^ path->is_tags;
}

static uint64_t value_hash(const void *of, size_t i) {
    const struct column_path *path = of;
    return rag_hash(path->values.bytes + path->value[i].at, path->value[i].size);
}

static bool is_path(const struct column_path *path, const uint8_t *name, size_t size,
                    bool is_tags) {
    return path->is_tags == is_tags && path->name_size == size &&
           (size == 0 || memcmp(path->name, name, size) == 0);
}

static uint32_t add_path(struct rag_columns_builder *b, const uint8_t *name, size_t size,
                         bool is_tags) {
    uint8_t *kept = malloc(size + 1);
    if (!kept || !rag_grow(&b->paths, &b->path_room, b->path_count + 1, sizeof *b->paths)) {
        free(kept);
        b->has_no_memory = true;
        return NO_PATH;
    }
    if (size) memcpy(kept, name, size);
    b->paths[b->path_count] =
        (struct column_path){.name = kept, .name_size = size, .is_tags = is_tags};
    return (uint32_t)b->path_count++;
}

/* Whether a path is kept: without a choice all are; else the wanted one, and its parents. */
static bool is_kept(const struct rag_columns_builder *b, const uint8_t *name, size_t size,
                    bool is_tags) {
    const struct rag_buffer *wanted = &b->wanted;
    if (!b->is_of_one_path) return true;
    if (is_tags || !wanted->bytes) return is_tags && !wanted->bytes;
    const bool is_begun = size <= wanted->size && memcmp(name, wanted->bytes, size) == 0;
    return is_begun && (size == wanted->size || wanted->bytes[size] == '.');
}

uint32_t rag_column_path_of(struct rag_columns_builder *b, const uint8_t *name, size_t size,
                            bool is_tags) {
    if (!is_kept(b, name, size, is_tags)) return NO_PATH;
    if (!grow_slots(&b->slots, &b->slot_count, b->path_count, path_hash, b->paths)) {
        b->has_no_memory = true;
        return NO_PATH;
    }
    size_t at = (rag_hash(name, size) ^ is_tags) & (b->slot_count - 1);
    for (; b->slots[at]; at = (at + 1) & (b->slot_count - 1))
        if (is_path(&b->paths[b->slots[at] - 1], name, size, is_tags)) return b->slots[at] - 1;
    if (b->path_count == COLUMNS_MAX || (size > NAME_MAX && !b->is_of_one_path)) {
        b->is_partial = true;
        return NO_PATH;
    }
    const uint32_t found = add_path(b, name, size, is_tags);
    if (found != NO_PATH) b->slots[at] = found + 1;
    return found;
}

void rag_column_give_up(struct rag_columns_builder *b, struct column_path *path) {
    b->held -= path->values.size + path->value_count * sizeof *path->value +
               path->run_count * sizeof *path->runs;
    free(path->values.bytes);
    free(path->value);
    free(path->slots);
    free(path->runs);
    *path = (struct column_path){.name = path->name,
                                 .name_size = path->name_size,
                                 .is_tags = path->is_tags,
                                 .is_given_up = true};
}

/* Accounts for memory that the builder holds for a path. */
static bool is_too_much(struct rag_columns_builder *b, struct column_path *path, size_t more) {
    b->held += more;
    if (path->values.size <= b->limits.values && b->held <= b->limits.held) return false;
    rag_column_give_up(b, path);
    return true;
}

static uint32_t add_value(struct rag_columns_builder *b, struct column_path *path,
                          const uint8_t *value, size_t size, size_t at) {
    const uint64_t place = path->values.size;
    rag_buffer_put(&path->values, value, size);
    /* unreached: takes 2^32 different values */
    if (path->values.failed || path->value_count >= UINT32_MAX - 2 ||
        !rag_grow(&path->value, &path->value_room, path->value_count + 1, sizeof *path->value)) {
        b->has_no_memory = true;
        return 0;
    }
    path->value[path->value_count] = (struct column_value){place, (uint32_t)size, 0};
    path->slots[at] = (uint32_t)++path->value_count;
    const uint32_t number = (uint32_t)path->value_count;
    return is_too_much(b, path, size + sizeof *path->value) ? 0 : number;
}

uint32_t rag_column_code_of(struct rag_columns_builder *b, struct column_path *path,
                            const uint8_t *value, size_t size) {
    if (!grow_slots(&path->slots, &path->slot_count, path->value_count, value_hash, path)) {
        b->has_no_memory = true;
        return 0;
    }
    size_t at = rag_hash(value, size) & (path->slot_count - 1);
    for (; path->slots[at]; at = (at + 1) & (path->slot_count - 1)) {
        const struct column_value *there = &path->value[path->slots[at] - 1];
        if (there->size == size && memcmp(path->values.bytes + there->at, value, size) == 0)
            return path->slots[at];
    }
    return add_value(b, path, value, size, at);
}

static void add_run(struct rag_columns_builder *b, struct column_path *path, uint32_t first,
                    uint32_t code) {
    if (path->is_given_up) return;
    if (!rag_grow(&path->runs, &path->run_room, path->run_count + 1, sizeof *path->runs)) {
        b->has_no_memory = true;
        return;
    }
    path->runs[path->run_count++] = (struct column_run){first, code};
    (void)is_too_much(b, path, sizeof *path->runs);
}

void rag_column_append(struct rag_columns_builder *b, struct column_path *path, uint64_t first,
                       uint64_t count, uint32_t code) {
    if (path->is_given_up || code == 0 || count == 0) return;
    if (path->end < first) add_run(b, path, path->end, 0);
    const bool goes_on =
        path->run_count > 0 && path->end == first && path->runs[path->run_count - 1].code == code;
    if (!goes_on) add_run(b, path, (uint32_t)first, code);
    path->end = (uint32_t)(first + count);
}
