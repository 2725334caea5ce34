/* columns_json.c - parses the JSON of a document or chunk into paths and values.
 *
 * A value is encoded (values.h) into one buffer, from the inside out; members of an object are
 * sorted by key. Every member that a path can name is recorded with its value's number in the
 * column of that path. A value that has no encoding (an integer of more than 64 bits, NaN) prevents
 * all paths that contain it from being stored.
 *
 * JSON that Python's parser would reject, a duplicate key, and more than DEPTH_MAX levels spoil
 * the section: it is not written, and filters read the metadata instead. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns/columns.h"
#include "shared/array.h"
#include "shared/fail.h"
#include "shared/utf8.h"

enum { DEPTH_MAX = 64, FILTER_DEPTH = 256, WORDS_MAX = 8 * COLUMNS_MAX };

/* What the elements of a list have at the wanted path, as the inside of a list; `depth` is that of
 * the current element's value, NO_DEPTH without one. */
struct gathered {
    struct rag_buffer list, element;
    uint32_t depth;
    bool has_any;
};
enum { NO_DEPTH = UINT32_MAX };

struct parser {
    struct rag_columns_builder *builder;
    const uint8_t *at, *end;
    struct column_words *words;
    struct rag_buffer *out;  /* values */
    struct rag_buffer *name; /* of the path that leads here, with a dot after it */
    uint32_t top;
    bool has_more;             /* than metadata, tags and a source */
    struct gathered *gathered; /* in a list that the wanted path enters, else NULL */
};

/* How a member is reached; is_named is false if no path can name it. */
struct way {
    bool is_named;
    uint32_t depth;
};

static bool spoil(struct parser *p) {
    p->builder->is_spoilt = true;
    return false;
}

static void skip_blanks(struct parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

static bool take(struct parser *p, uint8_t byte) {
    skip_blanks(p);
    if (p->at == p->end || *p->at != byte) return false;
    p->at++;
    return true;
}

static bool take_word(struct parser *p, const char *word) {
    const size_t size = strlen(word);
    if ((size_t)(p->end - p->at) < size || memcmp(p->at, word, size) != 0) return false;
    p->at += size;
    return true;
}

/* ---------------------------------------------------------------------------------------- texts */

static int hex4(const struct parser *p, const uint8_t *at) {
    int code = 0;
    if (p->end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const uint8_t c = at[i], lower = c | 0x20;
        if (c >= '0' && c <= '9') code = code * 16 + (c - '0');
        else if (lower >= 'a' && lower <= 'f') code = code * 16 + (lower - 'a' + 10);
        else return -1;
    }
    return code;
}

/* Encodes as UTF-8; a lone surrogate takes three bytes, as everywhere in the format. */
static void put_character(struct rag_buffer *out, uint32_t c) {
    uint8_t raw[4];
    size_t size = 1;
    if (c < 0x80) raw[0] = (uint8_t)c;
    else if (c < 0x800) raw[0] = (uint8_t)(0xC0 | c >> 6), size = 2;
    else if (c < 0x10000) raw[0] = (uint8_t)(0xE0 | c >> 12), size = 3;
    else raw[0] = (uint8_t)(0xF0 | c >> 18), size = 4;
    for (size_t i = 1; i < size; i++) raw[i] = (uint8_t)(0x80 | (c >> 6 * (size - 1 - i) & 0x3F));
    rag_text_escape(out, raw, size);
}

/* After \u: two escapes that form a surrogate pair are one character. */
static bool put_code_unit(struct parser *p, struct rag_buffer *out) {
    const int first = hex4(p, p->at);
    if (first < 0) return spoil(p);
    p->at += 4;
    uint32_t c = (uint32_t)first;
    if (c >= 0xD800 && c < 0xDC00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u') {
        const int second = hex4(p, p->at + 2);
        if (second >= 0xDC00 && second < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + ((uint32_t)second - 0xDC00);
            p->at += 6;
        }
    }
    put_character(out, c);
    return true;
}

static bool put_escape(struct parser *p, struct rag_buffer *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p->at == p->end) return spoil(p);
    const uint8_t c = *p->at++;
    if (c == 'u') return put_code_unit(p, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found) return spoil(p);
    rag_text_escape(out, (const uint8_t *)&to[found - from], 1);
    return true;
}

/* Parses the text after a quote into the inside of a text's encoding. */
static bool put_text(struct parser *p, struct rag_buffer *out) {
    for (;;) {
        const uint8_t *plain = p->at;
        while (p->at < p->end && *p->at != '"' && *p->at != '\\' && *p->at >= 0x20) p->at++;
        rag_buffer_put(out, plain, (size_t)(p->at - plain)); /* nothing here needs an escape */
        if (p->at == p->end || *p->at < 0x20) return spoil(p);
        if (*p->at++ == '"') return true;
        if (!put_escape(p, out)) return false;
    }
}

/* -------------------------------------------------------------------------------------- numbers */

static void skip_digits(struct parser *p) {
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
}

static bool put_number(struct parser *p, bool *is_odd) {
    const uint8_t *first = p->at, *digits;
    bool is_integer = true;
    if (*p->at == '-') p->at++;
    digits = p->at;
    skip_digits(p);
    if (p->at == digits || (*digits == '0' && p->at - digits > 1)) return spoil(p);
    if (p->end - p->at >= 2 && *p->at == '.' && p->at[1] >= '0' && p->at[1] <= '9')
        p->at++, skip_digits(p), is_integer = false;
    if (p->at < p->end && (*p->at | 0x20) == 'e') {
        const uint8_t *before = p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        digits = p->at;
        skip_digits(p);
        if (p->at == digits) p->at = before;
        else is_integer = false;
    }
    const size_t size = (size_t)(p->at - first);
    struct rag_number number = {0, 0};
    char room[24] = {0};
    if (!is_integer) {
        number.floor = p->builder->decimal(p->builder->context, (const char *)first, size);
        *is_odd |= !isfinite(number.floor);
    } else if (size < 19) { /* 18 digits and a sign fit */
        memcpy(room, first, size);
        number = rag_number_of_integer(strtoll(room, NULL, 10));
    } else {
        number = (struct rag_number){0, 0};
        int64_t value = 0;
        const bool is_negative = *first == '-';
        bool is_long = false;
        for (const uint8_t *d = first + is_negative; d < p->at; d++)
            is_long |= __builtin_mul_overflow(value, 10, &value) ||
                       __builtin_sub_overflow(value, *d - '0', &value); /* towards INT64_MIN */
        is_long |= !is_negative && value == INT64_MIN;
        *is_odd |= is_long;
        if (!is_long) number = rag_number_of_integer(is_negative ? value : -value);
        else number.floor = p->builder->decimal(p->builder->context, (const char *)first, size);
    }
    uint8_t encoded[NUMBER_SIZE];
    rag_number_store(encoded, number);
    rag_buffer_put(p->out, encoded, sizeof encoded);
    return true;
}

/* ------------------------------------------------------------------------------ lists, objects */

static bool put_value(struct parser *p, struct way way, int level, bool *is_odd);

static bool put_elements(struct parser *p, struct way way, int level, bool *is_odd) {
    buffer_byte(p->out, VALUE_LIST);
    if (!take(p, ']')) {
        do {
            skip_blanks(p);
            const bool is_object = p->at < p->end && *p->at == '{';
            struct gathered *to = way.is_named ? p->gathered : NULL;
            if (to) to->depth = NO_DEPTH, to->element.size = 0;
            const struct way inner = {way.is_named && is_object, way.depth};
            if (!put_value(p, inner, level + 1, is_odd)) return false;
            if (!to || to->depth == NO_DEPTH) continue;
            rag_buffer_put(&to->list, to->element.bytes, to->element.size);
            to->has_any = true;
        } while (take(p, ','));
        if (!take(p, ']')) return spoil(p);
    }
    buffer_byte(p->out, VALUE_END);
    return true;
}

/* Takes the value at the wanted path of an element; the one with fewer keys on its way counts, and
 * a list adds its elements. */
static void gather(struct gathered *to, uint32_t depth, const uint8_t *value, size_t size) {
    const bool is_list = *value == VALUE_LIST;
    if (depth >= to->depth) return;
    to->depth = depth;
    to->element.size = 0;
    rag_buffer_put(&to->element, value + is_list, size - 2 * is_list);
}

static void note(struct parser *p, uint32_t path, uint32_t depth, size_t from, bool is_odd);

/* Hands on what the elements of a list have: as a list of the wanted path, or to the list
 * around. */
static void note_gathered(struct parser *p, uint32_t depth, const struct gathered *found) {
    struct rag_columns_builder *b = p->builder;
    const size_t from = p->out->size;
    buffer_byte(p->out, VALUE_LIST);
    rag_buffer_put(p->out, found->list.bytes, found->list.size);
    buffer_byte(p->out, VALUE_END);
    if (p->out->failed || found->list.failed || found->element.failed) b->has_no_memory = true;
    else if (p->gathered) gather(p->gathered, depth, p->out->bytes + from, p->out->size - from);
    else note(p, rag_column_path_of(b, b->wanted.bytes, b->wanted.size, false), depth, from, false);
    p->out->size = from;
}

/* A list, whose objects a wanted path enters. */
static bool put_list(struct parser *p, struct way way, int level, bool *is_odd) {
    if (!way.is_named || !p->builder->is_of_one_path)
        return put_elements(p, (struct way){false, 0}, level, is_odd);
    struct gathered own = {.depth = NO_DEPTH}, *outer = p->gathered;
    p->gathered = &own;
    const bool is_good = put_elements(p, way, level, is_odd);
    p->gathered = outer;
    if (is_good && own.has_any) note_gathered(p, way.depth, &own);
    free(own.list.bytes);
    free(own.element.bytes);
    return is_good;
}

/* Records the value at an offset of the buffer for a path. */
static void note(struct parser *p, uint32_t path, uint32_t depth, size_t from, bool is_odd) {
    struct rag_columns_builder *b = p->builder;
    if (path == NO_PATH || b->is_dry) return;
    b->is_spoilt |= p->words->count == WORDS_MAX; /* keys twice: an object has no more paths */
    if (b->is_spoilt) return;
    struct column_path *column = &b->paths[path];
    const size_t size = p->out->size - from;
    if ((is_odd && !b->is_of_one_path) || size > b->limits.value) rag_column_give_up(b, column);
    const uint32_t code =
        column->is_given_up ? 0 : rag_column_code_of(b, column, p->out->bytes + from, size);
    if (!rag_grow(&p->words->items, &p->words->room, p->words->count + 1,
                  sizeof *p->words->items)) {
        b->has_no_memory = true;
        return;
    }
    p->words->items[p->words->count++] = (struct column_said){path, p->top, depth, code};
}

/* The value of a member whose key is at [key, end) of the buffer, inside 05 … 00; key without
 * escapes is the last part of a path. */
static bool put_member(struct parser *p, struct way way, size_t key, int level, bool *is_odd) {
    struct rag_columns_builder *b = p->builder;
    const size_t before = p->name->size, key_size = p->out->size - key - 2;
    bool is_last = true, is_value_odd = false;
    uint32_t path = NO_PATH;
    size_t name_size = 0;
    if (p->out->failed) return b->has_no_memory = true, spoil(p);
    if (way.is_named) {
        rag_buffer_put(p->name, p->out->bytes + key + 1, key_size);
        if (p->name->failed) return b->has_no_memory = true, spoil(p);
        uint8_t *name = p->name->bytes + before;
        p->name->size = before + rag_text_raw(name, name, key_size);
        is_last = p->name->size > before && memchr(name, '.', p->name->size - before);
        name_size = p->name->size;
        path = rag_column_path_of(b, p->name->bytes, name_size, false);
        if (way.depth == 1) p->top = path;
        buffer_byte(p->name, '.');
    }
    const size_t from = p->out->size;
    skip_blanks(p);
    const bool is_good = put_value(p, (struct way){!is_last, way.depth + 1}, level, &is_value_odd);
    const bool is_wanted = path != NO_PATH && name_size == b->wanted.size;
    if (is_good && !p->gathered) note(p, path, way.depth, from, is_value_odd);
    else if (is_good && is_wanted && !p->out->failed)
        gather(p->gathered, way.depth, p->out->bytes + from, p->out->size - from);
    *is_odd |= is_value_odd;
    p->name->size = before;
    return is_good;
}

struct member {
    size_t at, size;
    const uint8_t *bytes;
};

static int by_key(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    const size_t both = x->size < y->size ? x->size : y->size;
    const int order = memcmp(x->bytes, y->bytes, both);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static size_t text_size(const uint8_t *text) { return strlen((const char *)text) + 1; }

/* Sorts the members of an object, which begin at `from`, by key. Fails on a duplicate key. */
static bool order_members(struct parser *p, size_t from, struct member *members, size_t count) {
    struct rag_buffer *out = p->out;
    const size_t size = out->size - from;
    uint8_t *copy = malloc(size + 1);
    if (!copy || out->failed) {
        free(copy);
        return p->builder->has_no_memory = true, spoil(p);
    }
    memcpy(copy, out->bytes + from, size);
    for (size_t i = 0; i < count; i++) members[i].bytes = copy + (members[i].at - from);
    qsort(members, count, sizeof *members, by_key);
    out->size = from;
    bool is_twice = false;
    for (size_t i = 0; i < count; i++) {
        const size_t key = text_size(members[i].bytes);
        is_twice |= i > 0 && key == text_size(members[i - 1].bytes) &&
                    memcmp(members[i].bytes, members[i - 1].bytes, key) == 0;
        rag_buffer_put(out, members[i].bytes, members[i].size);
    }
    free(copy);
    return is_twice ? spoil(p) : true;
}

static bool put_members(struct parser *p, struct way way, int level, bool *is_odd,
                        struct member **members, size_t *count) {
    size_t room = 0;
    if (take(p, '}')) return true;
    do {
        const size_t key = p->out->size;
        buffer_byte(p->out, VALUE_TEXT);
        if (!take(p, '"') || !put_text(p, p->out)) return spoil(p);
        buffer_byte(p->out, VALUE_END);
        if (!take(p, ':') || !put_member(p, way, key, level + 1, is_odd)) return spoil(p);
        if (!rag_grow(members, &room, *count + 1, sizeof **members))
            return p->builder->has_no_memory = true, spoil(p);
        (*members)[(*count)++] = (struct member){key, p->out->size - key, NULL};
    } while (take(p, ','));
    return take(p, '}') ? true : spoil(p);
}

static bool put_object(struct parser *p, struct way way, int level, bool *is_odd) {
    struct member *members = NULL;
    size_t count = 0;
    buffer_byte(p->out, VALUE_OBJECT);
    const size_t from = p->out->size;
    bool is_good = put_members(p, way, level, is_odd, &members, &count);
    /* The metadata as a whole is no value; a key that it has twice is seen by its path. */
    const bool is_whole = way.is_named && way.depth == 1;
    if (is_good && count > 1 && !is_whole) is_good = order_members(p, from, members, count);
    free(members);
    buffer_byte(p->out, VALUE_END);
    return is_good;
}

static bool put_constant(struct parser *p, bool *is_odd) {
    if (take_word(p, "null")) return buffer_byte(p->out, VALUE_NULL), true;
    if (take_word(p, "false")) return buffer_byte(p->out, VALUE_FALSE), true;
    if (take_word(p, "true")) return buffer_byte(p->out, VALUE_TRUE), true;
    if (take_word(p, "NaN") || take_word(p, "Infinity") || take_word(p, "-Infinity"))
        return buffer_byte(p->out, VALUE_NULL), *is_odd = true;
    return false;
}

static bool put_value(struct parser *p, struct way way, int level, bool *is_odd) {
    skip_blanks(p);
    if (p->at == p->end || level > DEPTH_MAX) return spoil(p);
    const uint8_t c = *p->at;
    if (c == '"') {
        p->at++;
        buffer_byte(p->out, VALUE_TEXT);
        if (!put_text(p, p->out)) return false;
        buffer_byte(p->out, VALUE_END);
        return true;
    }
    if (c == '[') return p->at++, put_list(p, way, level, is_odd);
    if (c == '{') return p->at++, put_object(p, way, level, is_odd);
    if (put_constant(p, is_odd)) return true;
    return c == '-' || (c >= '0' && c <= '9') ? put_number(p, is_odd) : spoil(p);
}

/* ---------------------------------------------------------------------------- the whole object */

static bool is_key(const struct parser *p, size_t from, const char *key) {
    const size_t size = strlen(key);
    return p->out->size - from == size && memcmp(p->out->bytes + from, key, size) == 0;
}

static bool is_list_of_texts(const uint8_t *at, size_t size) {
    for (size_t i = 1; i + 1 < size; i += rag_value_size(at + i, at + size))
        if (at[i] != VALUE_TEXT) return false;
    return *at == VALUE_LIST;
}

/* Parses the value of a member of the outermost object. */
static bool put_field(struct parser *p, size_t key) {
    const bool is_metadata = is_key(p, key, "metadata"), is_tags = is_key(p, key, "tags"),
               is_source = is_key(p, key, "source");
    bool is_odd = false;
    const size_t from = p->out->size;
    p->top = NO_TOP;
    p->name->size = 0;
    skip_blanks(p);
    if (is_metadata && (p->at == p->end || *p->at != '{')) return spoil(p);
    const bool is_named = is_metadata && !p->builder->is_dry;
    if (!put_value(p, (struct way){is_named, 1}, 1, &is_odd)) return false;
    if (p->out->failed) return p->builder->has_no_memory = true, spoil(p);
    const uint8_t *value = p->out->bytes + from;
    const size_t size = p->out->size - from;
    p->top = NO_TOP;
    if (is_tags && !is_list_of_texts(value, size)) return spoil(p);
    if (is_source && *value != VALUE_TEXT) return spoil(p);
    if (p->builder->is_dry) return true;
    if (is_tags) note(p, rag_column_path_of(p->builder, NULL, 0, true), 1, from, false);
    if (is_source && size > 2)
        note(p, rag_column_path_of(p->builder, (const uint8_t *)"source", 6, false),
             DEPTH_OF_SOURCE, from, false);
    return true;
}

static bool put_fields(struct parser *p) {
    unsigned seen = 0;
    if (!take(p, '{')) return spoil(p);
    if (!take(p, '}')) {
        do {
            p->out->size = 0;
            if (!take(p, '"') || !put_text(p, p->out) || p->out->failed) return spoil(p);
            const unsigned field = is_key(p, 0, "metadata") ? 1
                                   : is_key(p, 0, "tags")   ? 2
                                   : is_key(p, 0, "source") ? 4
                                                            : 0;
            if (seen & field) return spoil(p);
            seen |= field;
            p->has_more |= is_key(p, 0, "body") || is_key(p, 0, "original");
            if (!take(p, ':') || !put_field(p, 0)) return spoil(p);
        } while (take(p, ','));
        if (!take(p, '}')) return spoil(p);
    }
    skip_blanks(p);
    return p->at == p->end ? true : spoil(p);
}

bool rag_column_words_of(struct rag_columns_builder *b, const uint8_t *json, size_t size,
                         struct column_words *words) {
    struct parser p = {b, json, json + size, words, &b->scratch, &b->name, NO_TOP, false, NULL};
    words->count = 0;
    b->scratch.size = b->name.size = 0;
    return size == 0 || put_fields(&p);
}

enum rag_status rag_value_of_json(struct rag_columns_builder *b, const uint8_t *json, size_t size,
                                  const uint8_t **value, size_t *value_size,
                                  struct rag_fault *fault) {
    struct parser p = {b, json, json + size, &b->own, &b->scratch, &b->name, NO_TOP, false, NULL};
    bool is_odd = false;
    b->scratch.size = b->name.size = 0;
    const int first_level = DEPTH_MAX - FILTER_DEPTH;
    const bool is_good = put_value(&p, (struct way){false, 0}, first_level, &is_odd);
    skip_blanks(&p);
    if (b->scratch.failed || b->has_no_memory)
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a value");
    if (!is_good || p.at < p.end)
        return rag_fail(fault, RAG_ARGUMENT, (uint64_t)(p.at - json), "not a JSON value");
    *value = b->scratch.bytes, *value_size = b->scratch.size;
    return RAG_OK;
}

bool rag_columns_are_plain(struct rag_columns_builder *b, const uint8_t *json, size_t size) {
    struct parser p = {b, json, json + size, &b->own, &b->scratch, &b->name, NO_TOP, false, NULL};
    b->scratch.size = b->name.size = 0;
    b->is_dry = true;
    b->is_spoilt = false;
    return size == 0 || (put_fields(&p) && !p.has_more);
}
