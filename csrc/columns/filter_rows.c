/* filter_rows.c - the rows that a filter passes: conditions on metadata, over columns.
 *
 *   {"year": {"$gte": 2020}, "$or": [{"lang": "en"}, {"lang": {"$exists": false}}]}
 *
 * The filter is an encoded value (values.h), whose members are walked. Each condition is decided
 * for the distinct values of its column, as a range of codes or as a flag for each code, and
 * spread over the rows. A row passes or it does not: without a value, or with one of another kind,
 * it fails every positive condition, and $ne, $nin and $not are exact complements.
 * ragfile/file/filters.py has the same operators, with messages that name the mistake. */
#include <stdlib.h>
#include <string.h>

#include "columns/columns.h"
#include "shared/fail.h"

enum { LEVELS_MAX = 32, NUMBERS = 2, TEXTS = 3, LISTS = 4 };

struct evaluation {
    const struct rag_filter_columns *columns;
    size_t words; /* of a row set */
    struct rag_fault *fault;
};

/* An encoded value, or a member of one. */
struct value {
    const uint8_t *at;
    size_t size;
};

struct member {
    struct value name, value; /* name without 05 and 00 */
};

static enum rag_status refuse(const struct evaluation *e, const char *what) {
    return rag_fail(e->fault, RAG_ARGUMENT, 0, what);
}

/* Take the value at *at before the end of a list or object; false after the last. */
static bool take_value(const uint8_t **at, const uint8_t *end, struct value *value) {
    if (*at >= end || **at == VALUE_END) return false;
    const size_t size = rag_value_size(*at, end);
    *value = (struct value){*at, size};
    *at += size;
    return size > 0;
}

static bool take_member(const uint8_t **at, const uint8_t *end, struct member *member) {
    struct value name;
    if (!take_value(at, end, &name)) return false;
    member->name = (struct value){name.at + 1, name.size - 2};
    return take_value(at, end, &member->value);
}

/* Bytes that are missing are requested by all conditions, so that one fetch brings them. */
static bool goes_on(enum rag_status one, enum rag_status *status) {
    if (one != RAG_OK) *status = one;
    return one == RAG_OK || one == RAG_SOURCE;
}

static bool is_named(const struct value *name, const char *wanted) {
    return name->size == strlen(wanted) && memcmp(name->at, wanted, name->size) == 0;
}

/* ------------------------------------------------------------------------------------- row sets */

static void fill(const struct evaluation *e, uint64_t *words, bool is_all) {
    if (e->words == 0) return;
    memset(words, is_all ? 0xFF : 0, e->words * sizeof *words);
    if (is_all && e->columns->rows % 64)
        words[e->words - 1] = ((uint64_t)1 << e->columns->rows % 64) - 1;
}

static void complement(const struct evaluation *e, uint64_t *words) {
    for (size_t i = 0; i < e->words; i++) words[i] = ~words[i];
    if (e->words && e->columns->rows % 64)
        words[e->words - 1] &= ((uint64_t)1 << e->columns->rows % 64) - 1;
}

static void join(const struct evaluation *e, uint64_t *words, const uint64_t *more, bool is_and) {
    for (size_t i = 0; i < e->words; i++)
        words[i] = is_and ? words[i] & more[i] : words[i] | more[i];
}

static uint64_t *row_set(const struct evaluation *e) { return malloc((e->words + 1) * 8); }

static enum rag_status no_memory(const struct evaluation *e) {
    return rag_fail(e->fault, RAG_MEMORY, 0, "no memory for a filter");
}

/* ------------------------------------------------------------------------------------ operators */

enum operator { EQUAL, GREATER, AT_LEAST, LESS, AT_MOST, IN, EXISTS, CONTAINS, ANY, ALL };

static const struct {
    const char *name;
    enum operator operator;
    bool is_complement;
} OPERATORS[] = {
    {"$eq", EQUAL, false},      {"$ne", EQUAL, true},
    {"$gt", GREATER, false},    {"$gte", AT_LEAST, false},
    {"$lt", LESS, false},       {"$lte", AT_MOST, false},
    {"$in", IN, false},         {"$nin", IN, true},
    {"$exists", EXISTS, false}, {"$contains", CONTAINS, false},
    {"$any", ANY, false},       {"$all", ALL, false},
};

/* Whether an operand is of the kind that its operator takes. */
static bool fits(enum operator operator, const struct value *operand) {
    const uint8_t kind = *operand->at;
    if (operator == IN || operator == ANY || operator == ALL) return kind == VALUE_LIST;
    if (operator == EXISTS) return kind == VALUE_FALSE || kind == VALUE_TRUE;
    if (operator >= GREATER && operator <= AT_MOST)
        return kind == VALUE_NUMBER || kind == VALUE_TEXT;
    return true;
}

/* Codes [low, high) of an operator that is decided by the order of values. */
static enum rag_status find_range(const struct evaluation *e, const struct rag_column *c,
                                  enum operator operator, const struct value *operand,
                                  uint32_t *low, uint32_t *high) {
    uint32_t first, end;
    const enum rag_status status =
        rag_column_find(c, operand->at, operand->size, low, high, e->fault);
    rag_column_kind(c, *operand->at == VALUE_TEXT ? TEXTS : NUMBERS, &first, &end);
    if (operator == GREATER) *low = *high, *high = end;
    if (operator == AT_LEAST) *high = end;
    if (operator == LESS) *high = *low, *low = first;
    if (operator == AT_MOST) *low = first;
    return status;
}

static enum rag_status choose_equal(const struct evaluation *e, const struct rag_column *c,
                                    const struct value *value, uint8_t *chosen) {
    uint32_t low, high;
    const enum rag_status status =
        rag_column_find(c, value->at, value->size, &low, &high, e->fault);
    for (uint32_t code = low; status == RAG_OK && code < high; code++) chosen[code] = 1;
    return status;
}

/* Choose the lists that hold a value, and the texts that contain it if it is one. */
static enum rag_status choose_containing(const struct evaluation *e, const struct rag_column *c,
                                         const struct value *value, uint8_t *chosen) {
    rag_column_holding(c, value->at, value->size, chosen);
    if (*value->at != VALUE_TEXT) return RAG_OK;
    uint8_t *raw = malloc(value->size);
    if (!raw) return no_memory(e);
    rag_column_containing(c, raw, rag_text_raw(raw, value->at + 1, value->size - 2), chosen);
    free(raw);
    return RAG_OK;
}

/* Keep the chosen codes of which the list holds a value, too. */
static enum rag_status keep_holding(const struct evaluation *e, const struct rag_column *c,
                                    const struct value *value, uint8_t *chosen) {
    uint8_t *some = calloc((size_t)c->values + 1, 1);
    if (!some) return no_memory(e);
    rag_column_holding(c, value->at, value->size, some);
    for (uint32_t code = 0; code <= c->values; code++) chosen[code] &= some[code];
    free(some);
    return RAG_OK;
}

static enum rag_status choose_element(const struct evaluation *e, const struct rag_column *c,
                                      enum operator operator, const struct value *value,
                                      uint8_t *chosen) {
    if (operator == IN) return choose_equal(e, c, value, chosen);
    if (operator == ALL) return keep_holding(e, c, value, chosen);
    rag_column_holding(c, value->at, value->size, chosen);
    return RAG_OK;
}

static enum rag_status choose(const struct evaluation *e, const struct rag_column *c,
                              enum operator operator, const struct value *operand,
                              uint8_t *chosen) {
    if (operator == CONTAINS) return choose_containing(e, c, operand, chosen);
    uint32_t low, high;
    rag_column_kind(c, LISTS, &low, &high);
    for (uint32_t code = low; operator == ALL && code < high; code++) chosen[code] = 1;
    struct value element;
    enum rag_status status = RAG_OK;
    const uint8_t *at = operand->at + 1, *end = operand->at + operand->size;
    while (status == RAG_OK && take_value(&at, end, &element))
        status = choose_element(e, c, operator, &element, chosen);
    return status;
}

/* The rows of one column that pass a positive condition. */
static enum rag_status rows_of_column(const struct evaluation *e, const struct rag_column *c,
                                      enum operator operator, const struct value *operand,
                                      uint64_t *words) {
    uint32_t low = 1, high = c->values + 1;
    if (operator == EXISTS && *operand->at == VALUE_FALSE) low = 0, high = 1;
    enum rag_status status = RAG_OK;
    if (operator <= AT_MOST) status = find_range(e, c, operator, operand, &low, &high);
    if (operator <= AT_MOST || operator == EXISTS) {
        if (status == RAG_OK) rag_column_rows(c, low, high, words);
        return status;
    }
    uint8_t *chosen = calloc((size_t)c->values + 1, 1);
    if (!chosen) return no_memory(e);
    status = choose(e, c, operator, operand, chosen);
    if (status == RAG_OK) rag_column_rows_of(c, chosen, c->values + 1, words);
    free(chosen);
    return status;
}

/* The rows of a column, or of no column. */
static enum rag_status rows_of(const struct evaluation *e, const struct rag_column *c,
                               enum operator operator, const struct value *operand,
                               uint64_t *words) {
    fill(e, words, !c && operator == EXISTS && *operand->at == VALUE_FALSE);
    return c ? rows_of_column(e, c, operator, operand, words) : RAG_OK;
}

/* Where a column has no value, another one decides. */
static enum rag_status rows_of_both(const struct evaluation *e, const struct rag_column *own,
                                    const struct rag_column *other, enum operator operator,
                                    const struct value *operand, uint64_t *words) {
    enum rag_status status = rows_of(e, own, operator, operand, words);
    if (status != RAG_OK || !other) return status;
    uint64_t *more = row_set(e), *absent = row_set(e);
    if (!more || !absent) status = no_memory(e);
    if (status == RAG_OK) status = rows_of(e, other, operator, operand, more);
    if (status == RAG_OK) {
        fill(e, absent, true);
        if (own) rag_column_rows(own, 0, 1, absent);
        for (size_t i = 0; i < e->words; i++)
            words[i] = (words[i] & ~absent[i]) | (more[i] & absent[i]);
    }
    free(more);
    free(absent);
    return status;
}

/* ----------------------------------------------------------------------------------- conditions */

struct columns_of_path {
    const struct rag_column *own, *other;
};

static enum rag_status test_all(const struct evaluation *e, const struct columns_of_path *c,
                                const struct value *operators, int level, uint64_t *words);

static enum rag_status test(const struct evaluation *e, const struct columns_of_path *c,
                            const struct member *asked, int level, uint64_t *words) {
    if (is_named(&asked->name, "$not")) {
        const enum rag_status status = test_all(e, c, &asked->value, level + 1, words);
        complement(e, words);
        return status;
    }
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (!is_named(&asked->name, OPERATORS[i].name)) continue;
        if (!fits(OPERATORS[i].operator, &asked->value))
            return refuse(e, "an operator of a filter takes another kind of value");
        const enum rag_status status =
            rows_of_both(e, c->own, c->other, OPERATORS[i].operator, &asked->value, words);
        if (OPERATORS[i].is_complement) complement(e, words);
        return status;
    }
    return refuse(e, "a filter has an unknown operator");
}

/* The rows that pass all operators of an object. */
static enum rag_status test_all(const struct evaluation *e, const struct columns_of_path *c,
                                const struct value *operators, int level, uint64_t *words) {
    if (*operators->at != VALUE_OBJECT || operators->size == 2 || level > LEVELS_MAX)
        return refuse(e, "$not below a field takes an object of operators, up to 32 levels");
    uint64_t *more = row_set(e);
    enum rag_status status = more ? RAG_OK : no_memory(e);
    struct member asked;
    const uint8_t *at = operators->at + 1, *end = operators->at + operators->size;
    fill(e, words, true);
    while (status == RAG_OK && take_member(&at, end, &asked)) {
        status = test(e, c, &asked, level, more);
        if (status == RAG_OK) join(e, words, more, true);
    }
    free(more);
    return status;
}

static bool has_operators(const struct value *value) {
    struct member member;
    const uint8_t *at = value->at + 1, *end = value->at + value->size;
    if (*value->at != VALUE_OBJECT) return false;
    while (take_member(&at, end, &member))
        if (member.name.size && *member.name.at == '$') return true;
    return false;
}

static enum rag_status open_path(const struct evaluation *e, const struct value *name,
                                 struct columns_of_path *found) {
    uint8_t *path = malloc(name->size + 1);
    if (!path) return no_memory(e);
    const size_t size = rag_text_raw(path, name->at, name->size);
    const enum rag_status status = e->columns->column(e->columns->context, path, size, false,
                                                      &found->own, &found->other, e->fault);
    free(path);
    return status;
}

static enum rag_status test_field(const struct evaluation *e, const struct member *field, int level,
                                  uint64_t *words) {
    struct columns_of_path found = {0};
    const enum rag_status status = open_path(e, &field->name, &found);
    if (status != RAG_OK) return fill(e, words, false), status;
    return has_operators(&field->value)
               ? test_all(e, &found, &field->value, level, words)
               : rows_of_both(e, found.own, found.other, EQUAL, &field->value, words);
}

static enum rag_status test_object(const struct evaluation *e, const struct value *object,
                                   int level, uint64_t *words);

/* The rows that pass all, or any, of a list of filters. */
static enum rag_status test_list(const struct evaluation *e, const struct value *list, bool is_and,
                                 int level, uint64_t *words) {
    if (*list->at != VALUE_LIST || list->size == 2)
        return refuse(e, "$and and $or take a list of one or more filters");
    uint64_t *more = row_set(e);
    enum rag_status status = more ? RAG_OK : no_memory(e);
    struct value one;
    const uint8_t *at = list->at + 1, *end = list->at + list->size;
    fill(e, words, is_and);
    while (more && take_value(&at, end, &one)) {
        if (!goes_on(test_object(e, &one, level + 1, more), &status)) break;
        join(e, words, more, is_and);
    }
    free(more);
    return status;
}

static enum rag_status test_member(const struct evaluation *e, const struct member *member,
                                   int level, uint64_t *words) {
    const bool is_and = is_named(&member->name, "$and");
    if (is_and || is_named(&member->name, "$or"))
        return test_list(e, &member->value, is_and, level, words);
    if (is_named(&member->name, "$not")) {
        const enum rag_status status = test_object(e, &member->value, level + 1, words);
        complement(e, words);
        return status;
    }
    if (member->name.size && *member->name.at == '$')
        return refuse(e, "a filter has an unknown operator");
    return test_field(e, member, level, words);
}

static enum rag_status test_object(const struct evaluation *e, const struct value *object,
                                   int level, uint64_t *words) {
    if (*object->at != VALUE_OBJECT || level > LEVELS_MAX)
        return refuse(e, "a filter is an object, and nests 32 levels deep at most");
    uint64_t *more = row_set(e);
    enum rag_status status = more ? RAG_OK : no_memory(e);
    struct member member;
    const uint8_t *at = object->at + 1, *end = object->at + object->size;
    fill(e, words, true);
    while (more && take_member(&at, end, &member)) {
        if (!goes_on(test_member(e, &member, level, more), &status)) break;
        join(e, words, more, true);
    }
    free(more);
    return status;
}

static struct evaluation evaluation_of(const struct rag_filter_columns *columns,
                                       struct rag_fault *fault) {
    return (struct evaluation){columns, (size_t)((columns->rows + 63) / 64), fault};
}

enum rag_status rag_filter_rows(const struct rag_filter_columns *columns, const uint8_t *filter,
                                size_t size, uint64_t *words, struct rag_fault *fault) {
    const struct evaluation e = evaluation_of(columns, fault);
    const struct value object = {filter, size};
    return test_object(&e, &object, 0, words);
}

enum rag_status rag_filter_tags(const struct rag_filter_columns *columns, const uint8_t *tags,
                                size_t size, bool wants_all, uint64_t *words,
                                struct rag_fault *fault) {
    const struct evaluation e = evaluation_of(columns, fault);
    const struct value list = {tags, size};
    struct columns_of_path found = {0};
    if (*tags != VALUE_LIST) return refuse(&e, "tags are a list");
    const enum rag_status status =
        columns->column(columns->context, NULL, 0, true, &found.own, &found.other, fault);
    return status ? status : rows_of(&e, found.own, wants_all ? ALL : ANY, &list, words);
}
