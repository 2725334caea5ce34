/* sparse_write.c - rows of weights to the lists of rag.sparse, in two passes and bounded memory.
 *
 * The first pass counts rows and windows of each term, which fixes the size and place of every
 * list. The lists are then made part by part: consecutive lists that fit into the memory, or one
 * that does not. Each part reads all rows again and puts every weight into its place. So nothing is
 * sorted, and the bytes do not depend on the memory. */
#include <stdlib.h>

#include "shared/fail.h"
#include "text/sparse.h"

struct term_count {
    uint64_t at, size;   /* of the list, in words of all lists */
    uint64_t rows;       /* that have the term */
    uint32_t containers; /* windows with such a row */
    uint32_t last_window, last_row;
    uint32_t largest;
    uint32_t part;
    uint64_t head, next; /* of the container being filled, in bytes of the part */
    uint32_t filled;
};

struct rag_sparse_builder {
    size_t memory;
    struct rag_vocabulary *vocabulary; /* its words are the terms */
    struct term_count *terms;          /* by number in the vocabulary */
    size_t capacity;
    uint32_t *order; /* numbers by bytes */
    uint64_t rows, weights, parts, words, names;
    uint64_t part, row;   /* being put */
    uint8_t *bytes;       /* of the part */
    uint64_t first, last; /* words of the part */
};

struct rag_sparse_builder *rag_sparse_builder_new(size_t memory) {
    struct rag_sparse_builder *builder = calloc(1, sizeof *builder);
    if (!builder) return NULL;
    builder->memory = memory;
    builder->vocabulary = rag_vocabulary_new();
    if (builder->vocabulary) return builder;
    free(builder);
    return NULL;
}

void rag_sparse_builder_free(struct rag_sparse_builder *builder) {
    if (!builder) return;
    rag_vocabulary_free(builder->vocabulary);
    free(builder->terms);
    free(builder->order);
    free(builder->bytes);
    free(builder);
}

static enum rag_status no_memory(struct rag_fault *fault) {
    return rag_fail(fault, RAG_MEMORY, 0, "no memory for weights of terms");
}

/* A weight of a packed row. */
struct packed {
    const uint8_t *term;
    size_t size;
    uint32_t code;
};

/* Read the next weight of a packed row; false at its end or if it is malformed. */
static bool next_packed(const uint8_t **at, const uint8_t *end, struct packed *found) {
    if (*at == end) return false;
    const size_t size = **at, room = (size_t)(end - *at);
    if (size < 1 || room < size + 3) return false;
    *found = (struct packed){*at + 1, size, load_u16(*at + 1 + size)};
    *at += size + 3;
    return true;
}

/* ------------------------------------------------------------------------------------- counting */

static struct term_count *term_of(struct rag_sparse_builder *builder, const struct packed *one) {
    const uint32_t number =
        rag_bm25_vocabulary_word(builder->vocabulary, one->term, one->size, RAG_WORD_WHOLE);
    const size_t before = builder->capacity;
    if (number == LEX_NO_STRING ||
        !rag_grow(&builder->terms, &builder->capacity, (size_t)number + 1, sizeof *builder->terms))
        return NULL;
    if (builder->capacity > before)
        memset(builder->terms + before, 0, (builder->capacity - before) * sizeof *builder->terms);
    return &builder->terms[number];
}

enum rag_status rag_sparse_builder_count(struct rag_sparse_builder *builder, const uint8_t *packed,
                                         size_t size, struct rag_fault *fault) {
    const uint8_t *at = packed, *end = packed + size;
    struct packed one;
    /* unreached: takes 2^32 rows */
    if (builder->rows >= LEX_ROWS_MAX - 2)
        return rag_fail(fault, RAG_LIMIT, builder->rows, "a segment has fewer than 2^32 - 1 rows");
    const uint32_t row = (uint32_t)builder->rows, window = row / LEX_WINDOW;
    while (next_packed(&at, end, &one)) {
        struct term_count *term = term_of(builder, &one);
        if (!term) return no_memory(fault);
        if (term->rows && term->last_row == row)
            return rag_fail(fault, RAG_ARGUMENT, row, "a row has a term twice");
        if (!term->rows || term->last_window != window) term->containers++;
        term->last_window = window;
        term->last_row = row;
        term->rows++;
        if (one.code > term->largest) term->largest = one.code;
        builder->weights++;
    }
    if (at != end) return rag_fail(fault, RAG_ARGUMENT, row, "a row of weights is malformed");
    builder->rows++;
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- planning */

static const uint8_t *name_of(const struct rag_sparse_builder *builder, uint32_t number) {
    return builder->vocabulary->words.texts[number];
}

static bool is_before(const uint8_t *a, const uint8_t *b) {
    const int order = memcmp(a + 1, b + 1, a[0] < b[0] ? a[0] : b[0]);
    return order ? order < 0 : a[0] < b[0];
}

/* Merge sort of numbers by their names; spare has as much room. */
static void sort_names(const struct rag_sparse_builder *builder, uint32_t *numbers, size_t count,
                       uint32_t *spare) {
    if (count < 2) return;
    const size_t half = count / 2;
    sort_names(builder, numbers, half, spare);
    sort_names(builder, numbers + half, count - half, spare);
    memcpy(spare, numbers, half * sizeof *numbers);
    for (size_t i = 0, j = half, at = 0; i < half; at++) {
        const bool right =
            j < count && is_before(name_of(builder, numbers[j]), name_of(builder, spare[i]));
        numbers[at] = right ? numbers[j] : spare[i];
        j += right;
        i += !right;
    }
}

static size_t term_count_of(const struct rag_sparse_builder *builder) {
    return builder->vocabulary->words.count;
}

/* Place the lists one after the other, in parts that fit into the memory. */
static void place_lists(struct rag_sparse_builder *builder) {
    uint64_t begun = 0;
    builder->words = builder->names = 0;
    builder->parts = term_count_of(builder) ? 1 : 0;
    for (size_t i = 0; i < term_count_of(builder); i++) {
        struct term_count *term = &builder->terms[builder->order[i]];
        term->at = builder->words;
        term->size = 1 + term->containers + term->rows;
        builder->words += term->size;
        builder->names += name_of(builder, builder->order[i])[0];
        if (term->at > begun && (builder->words - begun) * SPARSE_WORD > builder->memory) {
            builder->parts++;
            begun = term->at;
        }
        term->part = (uint32_t)(builder->parts - 1);
    }
}

enum rag_status rag_sparse_builder_plan(struct rag_sparse_builder *builder, uint64_t *weights,
                                        uint64_t *parts, struct rag_fault *fault) {
    const size_t count = term_count_of(builder);
    uint32_t *spare = malloc((count + 1) * sizeof *spare);
    builder->order = malloc((count + 1) * sizeof *builder->order);
    if (!spare || !builder->order) {
        free(spare);
        return no_memory(fault);
    }
    for (size_t i = 0; i < count; i++) builder->order[i] = (uint32_t)i;
    sort_names(builder, builder->order, count, spare);
    free(spare);
    place_lists(builder);
    /* unreached: takes 2^32 words of lists or bytes of names */
    if (builder->words > UINT32_MAX || builder->names > UINT32_MAX)
        return rag_fail(fault, RAG_LIMIT, builder->words, "weights of a segment pass 16 GiB");
    *weights = builder->weights;
    *parts = builder->parts;
    return RAG_OK;
}

/* -------------------------------------------------------------------------------------- writing */

static void put_front(const struct rag_sparse_builder *builder, struct rag_bm25_buffer *out) {
    const size_t count = term_count_of(builder);
    uint8_t head[SPARSE_HEADER] = {0}, word[SPARSE_WORD] = {0};
    memcpy(head, SPARSE_MAGIC, 8);
    store_u64(head + SPARSE_AT_ROWS, builder->rows);
    store_u64(head + SPARSE_AT_TERMS, count);
    store_u64(head + SPARSE_AT_WEIGHTS, builder->weights);
    store_u64(head + SPARSE_AT_NAMES, builder->names);
    store_u64(head + SPARSE_AT_LISTS, builder->words);
    rag_bm25_buffer_put(out, head, sizeof head);
    uint32_t names = 0;
    for (size_t i = 0; i < count; i++) {
        store_u32(word, names += name_of(builder, builder->order[i])[0]);
        rag_bm25_buffer_put(out, word, sizeof word);
    }
    for (size_t i = 0; i < count; i++) {
        const struct term_count *term = &builder->terms[builder->order[i]];
        store_u32(word, (uint32_t)(term->at + term->size));
        rag_bm25_buffer_put(out, word, sizeof word);
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *name = name_of(builder, builder->order[i]);
        rag_bm25_buffer_put(out, name + 1, name[0]);
    }
    memset(word, 0, sizeof word);
    rag_bm25_buffer_put(out, word, (size_t)(-builder->names & (SPARSE_WORD - 1)));
}

/* Find the words of a part, and put the heads of its lists. */
static enum rag_status start_part(struct rag_sparse_builder *builder, struct rag_fault *fault) {
    builder->first = UINT64_MAX;
    builder->last = 0;
    for (size_t i = 0; i < term_count_of(builder); i++) {
        const struct term_count *term = &builder->terms[builder->order[i]];
        if (term->part != builder->part) continue;
        if (builder->first == UINT64_MAX) builder->first = term->at;
        builder->last = term->at + term->size;
    }
    free(builder->bytes);
    builder->bytes = malloc((builder->last - builder->first) * SPARSE_WORD);
    if (!builder->bytes) return no_memory(fault);
    for (size_t i = 0; i < term_count_of(builder); i++) {
        struct term_count *term = &builder->terms[builder->order[i]];
        if (term->part != builder->part) continue;
        uint8_t *at = builder->bytes + (term->at - builder->first) * SPARSE_WORD;
        store_u16(at, (uint16_t)term->largest);
        store_u16(at + 2, (uint16_t)(term->containers - 1));
        term->next = (term->at - builder->first + 1) * SPARSE_WORD;
        term->filled = 0;
    }
    return RAG_OK;
}

enum rag_status rag_sparse_builder_begin(struct rag_sparse_builder *builder, uint64_t part,
                                         rag_write *write, void *context, struct rag_fault *fault) {
    struct rag_bm25_buffer front = {0};
    builder->part = part;
    builder->row = 0;
    if (part == 0) {
        put_front(builder, &front);
        enum rag_status status =
            front.failed ? no_memory(fault) : write(context, front.bytes, front.size);
        rag_bm25_buffer_free(&front);
        if (status == RAG_OS) rag_fail(fault, RAG_OS, 0, "weights of terms cannot be written");
        if (status) return status;
    }
    return start_part(builder, fault);
}

/* End the container that a term has begun: its codes wait at the end of the room of its rows. */
static void end_container(struct rag_sparse_builder *builder, struct term_count *term) {
    if (!term->filled) return;
    uint8_t *pairs = builder->bytes + term->head + SPARSE_WORD;
    store_u16(pairs - 2, (uint16_t)(term->filled - 1));
    term->filled = 0;
}

/* Put a weight as a pair of row and code; the pairs of a container are split when it is
 * complete. */
static void put_weight(struct rag_sparse_builder *builder, struct term_count *term, uint32_t row,
                       uint32_t code) {
    const uint32_t window = row / LEX_WINDOW;
    if (!term->filled || term->last_window != window) {
        end_container(builder, term);
        term->head = term->next;
        store_u16(builder->bytes + term->head, (uint16_t)window);
        term->next += SPARSE_WORD;
        term->last_window = window;
    }
    store_u16(builder->bytes + term->next, (uint16_t)(row % LEX_WINDOW));
    store_u16(builder->bytes + term->next + 2, (uint16_t)code);
    term->next += SPARSE_WORD;
    term->filled++;
}

enum rag_status rag_sparse_builder_put(struct rag_sparse_builder *builder, const uint8_t *packed,
                                       size_t size, struct rag_fault *fault) {
    const uint8_t *at = packed, *end = packed + size;
    struct packed one;
    while (next_packed(&at, end, &one)) {
        struct term_count *term = term_of(builder, &one);
        if (!term) return no_memory(fault);
        if (term->part != builder->part) continue;
        const uint64_t limit = (term->at + term->size - builder->first) * SPARSE_WORD;
        if (!term->rows || term->next + SPARSE_WORD > limit)
            return rag_fail(fault, RAG_ARGUMENT, builder->row, "another row than was counted");
        put_weight(builder, term, (uint32_t)builder->row, one.code);
    }
    builder->row++;
    return RAG_OK;
}

/* Turn the pairs of a container into its rows and its codes. */
static void split_pairs(uint8_t *pairs, uint32_t count, uint8_t *spare) {
    for (uint32_t i = 0; i < count; i++) {
        memcpy(spare + 2 * (size_t)i, pairs + 4 * (size_t)i + 2, 2);
        memmove(pairs + 2 * (size_t)i, pairs + 4 * (size_t)i, 2);
    }
    memcpy(pairs + 2 * (size_t)count, spare, 2 * (size_t)count);
}

static void split_list(struct rag_sparse_builder *builder, struct term_count *term,
                       uint8_t *spare) {
    end_container(builder, term);
    uint64_t at = (term->at - builder->first + 1) * SPARSE_WORD;
    for (uint32_t i = 0; i < term->containers; i++) {
        const uint32_t count = load_u16(builder->bytes + at + 2) + 1u;
        split_pairs(builder->bytes + at + SPARSE_WORD, count, spare);
        at += (uint64_t)SPARSE_WORD * (1 + count);
    }
}

enum rag_status rag_sparse_builder_end(struct rag_sparse_builder *builder, rag_write *write,
                                       void *context, struct rag_fault *fault) {
    const uint8_t slack[SPARSE_SLACK] = {0};
    uint8_t *spare = malloc(2 * LEX_WINDOW);
    if (!spare) return no_memory(fault);
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < term_count_of(builder) && !status; i++) {
        struct term_count *term = &builder->terms[builder->order[i]];
        if (term->part != builder->part) continue;
        if (term->next != (term->at + term->size - builder->first) * SPARSE_WORD)
            status = rag_fail(fault, RAG_ARGUMENT, i, "fewer rows than were counted");
        else split_list(builder, term, spare);
    }
    free(spare);
    if (status) return status;
    status = write(context, builder->bytes, (builder->last - builder->first) * SPARSE_WORD);
    if (!status && builder->part + 1 == builder->parts)
        status = write(context, slack, sizeof slack);
    return status ? rag_fail(fault, status, 0, "weights of terms cannot be written") : RAG_OK;
}
