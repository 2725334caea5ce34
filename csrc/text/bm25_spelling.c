/* bm25_spelling.c - dictionary terms that begin with a word, or are within a few edits of it.
 *
 * The dictionary is in order of its bytes, 16 terms a block, and a block can be unpacked alone. So
 * terms with a common prefix form one range, which a binary search finds. Terms near a word can be
 * anywhere: all blocks are unpacked, and their size rules out nearly every term. The terms of many
 * files together, rag.frequencies, are walked in the same two ways.
 *
 * An edit inserts, deletes or replaces one code point, or swaps two neighbours (the restricted
 * distance: no stretch is edited twice). */
#include <stdlib.h>

#include "shared/utf8.h"
#include "text/bm25.h"

enum { BLOCK_SIZE = 4096, POINTS_MAX = LEX_TERM_MAX };

/* --------------------------------------------------------------------------------------- prefix */

static bool begins_with(const uint8_t *term, size_t size, const uint8_t *prefix, size_t count) {
    return size >= count && memcmp(term, prefix, count) == 0;
}

/* Find the last block before the prefix or at it: the first that can contain matching terms. */
static enum rag_status find_block(const struct rag_lexicon *lexicon, const uint8_t *prefix,
                                  size_t count, uint64_t *found, struct rag_fault *fault) {
    uint8_t block[BLOCK_SIZE];
    size_t size;
    uint64_t low = 0, high = (lexicon->info.terms + LEX_BLOCK - 1) / LEX_BLOCK;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const enum rag_status status = rag_lexicon_block(lexicon, middle, block, &size, fault);
        if (status) return status;
        const size_t length = strnlen((const char *)block, size);
        const int order = memcmp(block, prefix, length < count ? length : count);
        if (order < 0 || (order == 0 && length < count)) low = middle + 1;
        else high = middle;
    }
    *found = low ? low - 1 : 0;
    return RAG_OK;
}

enum rag_status rag_lexicon_beginning(const struct rag_lexicon *lexicon, const uint8_t *prefix,
                                      size_t count, rag_term_sink *sink, void *context,
                                      struct rag_fault *fault) {
    uint8_t block[BLOCK_SIZE];
    size_t size;
    uint64_t i = 0;
    enum rag_status status = find_block(lexicon, prefix, count, &i, fault);
    for (bool is_past = false; !status && !is_past && i * LEX_BLOCK < lexicon->info.terms; i++) {
        status = rag_lexicon_block(lexicon, i, block, &size, fault);
        for (size_t at = 0, length; !status && at < size; at += length + 1) {
            length = strnlen((const char *)block + at, size - at);
            if (begins_with(block + at, length, prefix, count)) sink(context, block + at, length);
            else is_past = memcmp(block + at, prefix, length < count ? length : count) > 0;
        }
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- edits */

struct points {
    uint32_t of[POINTS_MAX];
    size_t count;
};

static void take_points(struct points *points, const uint8_t *text, size_t size) {
    const uint8_t *at = text, *end = text + size;
    points->count = 0;
    while (at < end && points->count < POINTS_MAX) {
        const uint8_t *before = at;
        points->of[points->count] = utf8_next(&at, end);
        if (at == before) at++;
        points->count++;
    }
}

static unsigned least_of(unsigned a, unsigned b, unsigned c) {
    const unsigned less = a < b ? a : b;
    return less < c ? less : c;
}

/* Compute the distances of the first i + 1 points of a to all prefixes of b from the two rows
 * before. Return the least. */
static unsigned next_row(const struct points *a, const struct points *b, size_t i,
                         const unsigned *before, const unsigned *last, unsigned *row) {
    unsigned least = row[0] = (unsigned)i + 1;
    for (size_t j = 0; j < b->count; j++) {
        const bool is_same = a->of[i] == b->of[j];
        row[j + 1] = least_of(last[j + 1] + 1, row[j] + 1, last[j] + !is_same);
        const bool is_swap =
            i && j && a->of[i] == b->of[j - 1] && a->of[i - 1] == b->of[j] && !is_same;
        if (is_swap && before[j - 1] + 1 < row[j + 1]) row[j + 1] = before[j - 1] + 1;
        if (row[j + 1] < least) least = row[j + 1];
    }
    return least;
}

static bool is_near(const struct points *a, const struct points *b, unsigned edits) {
    unsigned rows[3][POINTS_MAX + 1];
    const size_t apart = a->count > b->count ? a->count - b->count : b->count - a->count;
    if (apart > edits) return false;
    for (size_t j = 0; j <= b->count; j++) rows[2][j] = (unsigned)j;
    unsigned least_before = 0;
    for (size_t i = 0; i < a->count; i++) {
        const unsigned least = next_row(a, b, i, rows[(i + 1) % 3], rows[(i + 2) % 3], rows[i % 3]);
        if (least > edits && least_before > edits) return false;
        least_before = least;
    }
    return rows[(a->count + 2) % 3][b->count] <= edits;
}

/* True if a term is within the distance; terms of a very different size are not decoded. */
static bool is_spelled(const struct points *wanted, const uint8_t *term, size_t size,
                       unsigned edits) {
    struct points points;
    if (size > 4 * (wanted->count + edits) || size + edits < wanted->count) return false;
    take_points(&points, term, size);
    return is_near(wanted, &points, edits);
}

enum rag_status rag_lexicon_near(const struct rag_lexicon *lexicon, const uint8_t *word,
                                 size_t count, unsigned edits, rag_term_sink *sink, void *context,
                                 struct rag_fault *fault) {
    uint8_t block[BLOCK_SIZE];
    struct points wanted;
    size_t size;
    enum rag_status status = RAG_OK;
    take_points(&wanted, word, count);
    for (uint64_t i = 0; !status && i * LEX_BLOCK < lexicon->info.terms; i++) {
        status = rag_lexicon_block(lexicon, i, block, &size, fault);
        for (size_t at = 0, length; !status && at < size; at += length + 1) {
            length = strnlen((const char *)block + at, size - at);
            if (is_spelled(&wanted, block + at, length, edits)) sink(context, block + at, length);
        }
    }
    return status;
}

/* --------------------------------------------------------------------- of many files together */

/* A spelling query and the sink for its matches. */
struct asking {
    rag_count_sink *sink;
    void *context;
    const uint8_t *prefix;
    size_t count;
    struct points wanted;
    unsigned edits;
};

static bool take_beginning(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    const struct asking *asking = context;
    const size_t shared = size < asking->count ? size : asking->count;
    const int order = memcmp(term, asking->prefix, shared);
    if (order == 0 && size >= asking->count) asking->sink(asking->context, term, size, rows);
    return order <= 0;
}

static bool take_near(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    const struct asking *asking = context;
    if (is_spelled(&asking->wanted, term, size, asking->edits))
        asking->sink(asking->context, term, size, rows);
    return true;
}

enum rag_status rag_frequencies_beginning(const struct rag_frequencies *frequencies,
                                          const uint8_t *prefix, size_t count, rag_count_sink *sink,
                                          void *context, struct rag_fault *fault) {
    struct asking asking = {.sink = sink, .context = context, .prefix = prefix, .count = count};
    return rag_bm25_frequencies_walk(frequencies, prefix, count, take_beginning, &asking, fault);
}

enum rag_status rag_frequencies_near(const struct rag_frequencies *frequencies, const uint8_t *word,
                                     size_t count, unsigned edits, rag_count_sink *sink,
                                     void *context, struct rag_fault *fault) {
    struct asking asking = {.sink = sink, .context = context, .edits = edits};
    take_points(&asking.wanted, word, count);
    return rag_bm25_frequencies_walk(frequencies, word, 0, take_near, &asking, fault);
}
