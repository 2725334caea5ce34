/* columns_open.c - opens and validates rag.columns, and finds paths and values in it.
 *
 * Opening reads the head, the entries and the names, which determine the position of everything
 * else, to the byte. A column's data are validated when it is first used, except for their
 * contents (codes, zones, the order of values): an invalid code matches only conditions on
 * missing values, and a search among unsorted values ends at some value. So forged contents give
 * wrong answers, as a forged posting does, and verify finds them. */
#include <stdlib.h>

#include "columns/columns.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static bool add_part(uint64_t *at, uint64_t count, uint64_t width) {
    uint64_t size;
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    if (mul_overflows(count, width, &size) || add_overflows(*at, size, at) || *at >> 62)
        return false;
    *at = align_up(*at, 8);
    return true;
}

bool rag_column_parts(struct rag_column_parts *parts, uint64_t rows, uint32_t width,
                      uint64_t numbers, bool has_rests, uint64_t others, uint64_t blob) {
    uint64_t at = 0;
    *parts = (struct rag_column_parts){0};
    bool fits = add_part(&at, rows / ZONE_ROWS + (rows % ZONE_ROWS > 0), ZONE_SIZE);
    parts->codes = at;
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    fits = fits && add_part(&at, rows, width);
    parts->numbers = at;
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    fits = fits && add_part(&at, numbers, 8);
    parts->rests = at;
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    fits = fits && add_part(&at, has_rests ? numbers : 0, 2);
    parts->offsets = at;
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    fits = fits && add_part(&at, others + 1, 4);
    parts->blob = at;
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    fits = fits && add_part(&at, blob, 1);
    parts->end = align_up(at, 64);
    return fits;
}

static const uint8_t *entry_of(const struct rag_columns *c, uint32_t i) {
    return rag_guard_at(&c->guard, 0) + COLUMNS_HEAD + (uint64_t)COLUMN_ENTRY * i;
}

static const uint8_t *names_of(const struct rag_columns *c) { return entry_of(c, c->count); }

static uint32_t special_count(const uint8_t *entry) {
    return (uint32_t)__builtin_popcount(load_u32(entry + COLUMN_SPECIAL));
}

static uint64_t value_count(const uint8_t *entry) {
    uint64_t count = special_count(entry);
    for (int at = COLUMN_NUMBERS; at <= COLUMN_OBJECTS; at += 4) count += load_u32(entry + at);
    return count;
}

static bool parts_of(const uint8_t *entry, uint64_t rows, struct rag_column_parts *parts) {
    const uint64_t others = (uint64_t)load_u32(entry + COLUMN_TEXTS) +
                            load_u32(entry + COLUMN_LISTS) + load_u32(entry + COLUMN_OBJECTS);
    return rag_column_parts(
        parts, rows, load_u32(entry + COLUMN_WIDTH), load_u32(entry + COLUMN_NUMBERS),
        load_u32(entry + COLUMN_FLAGS) & COLUMN_HAS_RESTS, others, load_u64(entry + COLUMN_BLOB));
}

/* ------------------------------------------------------------------------------------- checking */

static enum rag_status check_head(struct rag_columns *c, uint64_t rows, uint64_t *names,
                                  struct rag_fault *fault) {
    if (c->guard.size < COLUMNS_HEAD) return rag_fail(fault, RAG_FORMAT, 0, "no RAGCOLS1");
    const uint8_t *head = rag_guard_at(&c->guard, 0);
    if (memcmp(head, COLUMNS_MAGIC, 8) != 0) return rag_fail(fault, RAG_FORMAT, 0, "no RAGCOLS1");
    c->rows = load_u64(head + COLUMNS_ROWS);
    c->count = load_u32(head + COLUMNS_COUNT);
    c->is_partial = load_u32(head + COLUMNS_FLAGS) & COLUMNS_PARTIAL;
    *names = load_u64(head + COLUMNS_NAMES);
    /* unreached: a segment has fewer rows */
    if (c->rows != rows || rows > UINT32_MAX)
        return rag_fail(fault, RAG_FORMAT, COLUMNS_ROWS, "columns of another number of rows");
    if (c->count > COLUMNS_MAX)
        return rag_fail(fault, RAG_FORMAT, COLUMNS_COUNT, "more columns than a section can have");
    if (load_u32(head + COLUMNS_FLAGS) > COLUMNS_PARTIAL)
        return rag_fail(fault, RAG_FORMAT, COLUMNS_FLAGS, "a flag of a newer version");
    for (int at = COLUMNS_ZERO; at < COLUMNS_HEAD; at++)
        if (head[at]) return rag_fail(fault, RAG_FORMAT, at, "reserved bytes are not zero");
    const uint64_t before = COLUMNS_HEAD + (uint64_t)COLUMN_ENTRY * c->count;
    if (before > c->guard.size || *names > c->guard.size - before)
        return rag_fail(fault, RAG_FORMAT, COLUMNS_NAMES, "columns lie outside their section");
    c->data = align_up(before + *names, 64);
    return RAG_OK;
}

/* Whether an entry is in order: tags first, then names by their bytes. */
static bool is_after(const struct rag_columns *c, uint32_t i) {
    if (i == 0) return true;
    const uint8_t *a = entry_of(c, i - 1), *b = entry_of(c, i);
    if (load_u32(b + COLUMN_FLAGS) & COLUMN_IS_TAGS) return false;
    if (load_u32(a + COLUMN_FLAGS) & COLUMN_IS_TAGS) return true;
    const uint32_t x = load_u32(a + COLUMN_NAME_SIZE), y = load_u32(b + COLUMN_NAME_SIZE);
    const int order = memcmp(names_of(c) + load_u32(a + COLUMN_NAME),
                             names_of(c) + load_u32(b + COLUMN_NAME), x < y ? x : y);
    return order < 0 || (order == 0 && x < y);
}

static bool is_absent_sane(const uint8_t *entry) {
    for (int at = COLUMN_WIDTH; at < COLUMN_ENTRY; at++)
        if (entry[at]) return false;
    return true;
}

/* Checks that a stored column begins at the end of the previous one, and that its codes are wide
 * enough for its values. */
static bool is_stored_sane(const struct rag_columns *c, const uint8_t *entry, uint64_t *at) {
    const uint32_t width = load_u32(entry + COLUMN_WIDTH);
    const uint64_t values = value_count(entry);
    struct rag_column_parts parts;
    if (width != 1 && width != 2 && width != 4) return false;
    if (values > UINT32_MAX - 1 || values >> 8 * width) return false;
    if (load_u32(entry + COLUMN_SPECIAL) > 7 || load_u32(entry + COLUMN_ZERO) ||
        load_u64(entry + COLUMN_ZERO_2) || load_u64(entry + COLUMN_BLOB) > UINT32_MAX)
        return false;
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    if (load_u64(entry + COLUMN_AT) != *at || !parts_of(entry, c->rows, &parts)) return false;
    if (parts.end > c->guard.size || *at > c->guard.size - parts.end) return false;
    *at += parts.end;
    return true;
}

static enum rag_status check_entries(const struct rag_columns *c, uint64_t names,
                                     struct rag_fault *fault) {
    uint64_t name = 0, at = c->data;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint8_t *entry = entry_of(c, i);
        const uint64_t place = COLUMNS_HEAD + (uint64_t)COLUMN_ENTRY * i;
        const uint32_t flags = load_u32(entry + COLUMN_FLAGS),
                       size = load_u32(entry + COLUMN_NAME_SIZE);
        if (load_u32(entry + COLUMN_NAME) != name || size > names - name)
            return rag_fail(fault, RAG_FORMAT, place, "the names of columns do not follow");
        if (flags > (COLUMN_IS_TAGS | COLUMN_IS_ABSENT | COLUMN_HAS_RESTS) ||
            ((flags & COLUMN_IS_TAGS) && size) || !is_after(c, i))
            return rag_fail(fault, RAG_FORMAT, place, "columns out of order, or a newer flag");
        if (flags & COLUMN_IS_ABSENT ? !is_absent_sane(entry) || flags & COLUMN_HAS_RESTS
                                     : !is_stored_sane(c, entry, &at))
            return rag_fail(fault, RAG_FORMAT, place, "a column's entry does not add up");
        name += size;
    }
    return name == names && at == c->guard.size
               ? RAG_OK
               : rag_fail(fault, RAG_FORMAT, COLUMNS_NAMES, "columns of another size");
}

static enum rag_status named(const struct rag_guard *guard, enum rag_status status,
                             struct rag_fault *fault) {
    if (status != RAG_OK && fault->section[0] == 0)
        memcpy(fault->section, guard->name, sizeof fault->section);
    return status;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

enum rag_status rag_columns_open(struct rag_columns *c, uint64_t rows, struct rag_fault *fault) {
    uint64_t names = 0;
    enum rag_status status =
        rag_guard_check(&c->guard, 0, least(c->guard.size, COLUMNS_HEAD), fault);
    if (status == RAG_OK) status = check_head(c, rows, &names, fault);
    if (status == RAG_OK)
        status = rag_guard_check(&c->guard, 0, least(c->data, c->guard.size), fault);
    if (status == RAG_OK) status = check_entries(c, names, fault);
    return named(&c->guard, status, fault);
}

/* -------------------------------------------------------------------------------------- finding */

static int compare_texts(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    const size_t both = a_size < b_size ? a_size : b_size;
    const int order = both ? memcmp(a, b, both) : 0;
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

int64_t rag_columns_find(const struct rag_columns *c, const uint8_t *name, size_t size,
                         bool is_tags) {
    uint32_t low = 0, high = c->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint8_t *entry = entry_of(c, middle);
        const bool has_tags = load_u32(entry + COLUMN_FLAGS) & COLUMN_IS_TAGS;
        int order = is_tags ? (has_tags ? 0 : 1) : -1;
        if (!is_tags && !has_tags)
            order = compare_texts(names_of(c) + load_u32(entry + COLUMN_NAME),
                                  load_u32(entry + COLUMN_NAME_SIZE), name, size);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

bool rag_columns_has_values(const struct rag_columns *c, uint32_t i) {
    return !(load_u32(entry_of(c, i) + COLUMN_FLAGS) & COLUMN_IS_ABSENT);
}

bool rag_columns_may_enter_lists(const struct rag_columns *c, const uint8_t *path, size_t size) {
    for (size_t i = 1; i < size; i++) {
        if (path[i] != '.') continue;
        const int64_t found = rag_columns_find(c, path, i, false);
        if (found < 0) continue;
        const uint8_t *entry = entry_of(c, (uint32_t)found);
        if (!rag_columns_has_values(c, (uint32_t)found) || load_u32(entry + COLUMN_LISTS))
            return true;
    }
    return false;
}

void rag_columns_name(const struct rag_columns *c, uint32_t i, const uint8_t **name, size_t *size,
                      bool *is_tags) {
    const uint8_t *entry = entry_of(c, i);
    *name = names_of(c) + load_u32(entry + COLUMN_NAME);
    *size = load_u32(entry + COLUMN_NAME_SIZE);
    *is_tags = load_u32(entry + COLUMN_FLAGS) & COLUMN_IS_TAGS;
}

void rag_columns_place(const struct rag_columns *c, uint32_t i, uint64_t *at, uint64_t *size) {
    struct rag_column_parts parts;
    *at = load_u64(entry_of(c, i) + COLUMN_AT);
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    *size = parts_of(entry_of(c, i), c->rows, &parts) ? parts.end : 0;
}

static enum rag_status check_offsets(const struct rag_column *column, uint64_t blob, uint64_t at,
                                     struct rag_fault *fault) {
    const uint64_t others = (uint64_t)column->texts + column->lists + column->objects;
    uint32_t before = load_u32(column->offsets);
    bool is_good = before == 0;
    for (uint64_t i = 1; i <= others; i++) {
        const uint32_t next = load_u32(column->offsets + 4 * i);
        is_good &= before <= next;
        before = next;
    }
    return is_good && before == blob
               ? RAG_OK
               : rag_fail(fault, RAG_FORMAT, at, "the values of a column do not follow");
}

enum rag_status rag_column_open(const struct rag_columns *c, uint32_t i, struct rag_column *column,
                                struct rag_fault *fault) {
    const uint8_t *entry = entry_of(c, i);
    struct rag_column_parts parts;
    const uint64_t at = load_u64(entry + COLUMN_AT);
    /* unreached: no count has more than 32 bits, and each takes some bytes: the sum fits */
    if (!parts_of(entry, c->rows, &parts)) return rag_fail(fault, RAG_FORMAT, at, "no column");
    enum rag_status status = rag_guard_check(&c->guard, at, parts.end, fault);
    if (status != RAG_OK) return status;
    const uint8_t *data = rag_guard_at(&c->guard, at);
    *column = (struct rag_column){
        .rows = c->rows,
        .width = load_u32(entry + COLUMN_WIDTH),
        .special = load_u32(entry + COLUMN_SPECIAL),
        .numbers = load_u32(entry + COLUMN_NUMBERS),
        .texts = load_u32(entry + COLUMN_TEXTS),
        .lists = load_u32(entry + COLUMN_LISTS),
        .objects = load_u32(entry + COLUMN_OBJECTS),
        .values = (uint32_t)value_count(entry),
        .zones = data,
        .codes = data + parts.codes,
        .floors = data + parts.numbers,
        .rests = load_u32(entry + COLUMN_FLAGS) & COLUMN_HAS_RESTS ? data + parts.rests : NULL,
        .offsets = data + parts.offsets,
        .blob = data + parts.blob,
    };
    status = check_offsets(column, load_u64(entry + COLUMN_BLOB), at + parts.offsets, fault);
    return named(&c->guard, status, fault);
}

/* --------------------------------------------------------------------------------------- values */

/* The code of the first value of a kind of values.h. */
static uint32_t first_code(const struct rag_column *c, int kind) {
    uint32_t code = 1;
    for (int special = VALUE_NULL; special <= VALUE_TRUE && special < kind; special++)
        code += c->special >> (special - VALUE_NULL) & 1;
    if (kind > VALUE_NUMBER) code += c->numbers;
    if (kind > VALUE_TEXT) code += c->texts;
    if (kind > VALUE_LIST) code += c->lists;
    if (kind > VALUE_OBJECT) code += c->objects;
    return code;
}

/* The kinds in a filter's order, from 0 for null; false and true are one kind. */
void rag_column_kind(const struct rag_column *c, int kind, uint32_t *low, uint32_t *high) {
    static const int first[] = {VALUE_NULL, VALUE_FALSE,  VALUE_NUMBER,    VALUE_TEXT,
                                VALUE_LIST, VALUE_OBJECT, VALUE_OBJECT + 1};
    *low = first_code(c, first[kind]);
    *high = first_code(c, first[kind + 1]);
}

const uint8_t *rag_column_text(const struct rag_column *c, uint32_t i, size_t *size) {
    const uint32_t from = load_u32(c->offsets + 4 * (uint64_t)i);
    *size = load_u32(c->offsets + 4 * ((uint64_t)i + 1)) - from;
    return c->blob + from;
}

static struct rag_number number_at(const struct rag_column *c, uint32_t i) {
    return (struct rag_number){load_f64(c->floors + 8 * (uint64_t)i),
                               c->rests ? load_u16(c->rests + 2 * (uint64_t)i) : 0};
}

/* The target of a search: a number, or the bytes of a value in the blob. */
struct wanted {
    bool is_number;
    struct rag_number number;
    const uint8_t *bytes;
    size_t size;
    uint32_t base; /* of the kind, among its like */
};

static int compare_value(const struct rag_column *c, const struct wanted *wanted, uint32_t i) {
    if (wanted->is_number) return number_compare(number_at(c, i), wanted->number);
    size_t size;
    const uint8_t *bytes = rag_column_text(c, wanted->base + i, &size);
    return compare_texts(bytes, size, wanted->bytes, wanted->size);
}

static void bisect(const struct rag_column *c, const struct wanted *wanted, uint32_t count,
                   uint32_t first, uint32_t *low, uint32_t *high) {
    uint32_t from = 0, to = count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (compare_value(c, wanted, middle) < 0) from = middle + 1;
        else to = middle;
    }
    *low = *high = first + from;
    if (from < count && compare_value(c, wanted, from) == 0) ++*high;
}

enum rag_status rag_column_find(const struct rag_column *c, const uint8_t *value, size_t size,
                                uint32_t *low, uint32_t *high, struct rag_fault *fault) {
    const int kind = *value;
    const uint32_t first = first_code(c, kind),
                   counts[] = {c->numbers, c->texts, c->lists, c->objects};
    if (kind < VALUE_NUMBER) {
        *low = first;
        *high = first + (c->special >> (kind - VALUE_NULL) & 1);
        return RAG_OK;
    }
    struct wanted wanted = {.is_number = kind == VALUE_NUMBER, .bytes = value, .size = size};
    uint8_t *raw = NULL;
    if (kind == VALUE_NUMBER) wanted.number = rag_number_load(value);
    if (kind == VALUE_TEXT) {
        if (!(raw = malloc(size))) return rag_fail(fault, RAG_MEMORY, 0, "no memory to look up");
        wanted.size = rag_text_raw(raw, value + 1, size - 2);
        wanted.bytes = raw;
    }
    if (kind > VALUE_TEXT) wanted.base = c->texts;
    if (kind > VALUE_LIST) wanted.base += c->lists;
    bisect(c, &wanted, counts[kind - VALUE_NUMBER], first, low, high);
    free(raw);
    return RAG_OK;
}

static int kind_of(const struct rag_column *c, uint32_t code) {
    int kind = VALUE_NULL;
    while (kind < VALUE_OBJECT && code >= first_code(c, kind + 1)) kind++;
    return kind;
}

size_t rag_column_value(const struct rag_column *c, uint32_t code, uint8_t *out) {
    const int kind = kind_of(c, code);
    if (kind < VALUE_NUMBER) return out ? *out = (uint8_t)kind, 1 : 1;
    if (kind == VALUE_NUMBER) {
        if (out) rag_number_store(out, number_at(c, code - first_code(c, VALUE_NUMBER)));
        return NUMBER_SIZE;
    }
    size_t size;
    const uint8_t *bytes = rag_column_text(c, code - first_code(c, VALUE_TEXT), &size);
    if (kind == VALUE_TEXT) return out ? rag_value_text(out, bytes, size) : 2 * size + 2;
    if (out) memcpy(out, bytes, size);
    return size;
}
