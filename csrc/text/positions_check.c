/* positions_check.c - whether each word of each text is in exactly one list of rag.positions.
 *
 * A search trusts the lists of its own words alone. This reads all of them: a bit for each word of
 * all texts is set when a list has it, and must not be set before. Counts of words that no lists of
 * this size can have (positions_read.c) are refused before the bits are allocated. */
#include <stdlib.h>

#include "shared/fail.h"
#include "text/positions_read.h"

struct seen {
    const struct rag_positions *positions;
    uint64_t *starts; /* of the rows' words among all */
    uint64_t *bits;
    uint64_t total, count;
    bool is_twice;
    struct rag_fault *fault;
    enum rag_status status;
};

static void mark(void *context, uint32_t row, const uint32_t *at, uint32_t count) {
    struct seen *seen = context;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t word = seen->starts[row] + at[i], bit = (uint64_t)1 << word % 64;
        seen->is_twice |= (seen->bits[word / 64] & bit) != 0;
        seen->bits[word / 64] |= bit;
    }
    seen->count += count;
}

static void mark_word(struct seen *seen, const uint8_t *bytes, size_t size, bool is_stop) {
    const struct rag_place_word word = {bytes, size, is_stop};
    if (!seen->status)
        seen->status = rag_positions_list(seen->positions, &word, mark, seen, seen->fault);
}

static void mark_stop(void *context, const uint8_t *word, size_t size) {
    mark_word(context, word, size, true);
}

static enum rag_status mark_terms(struct seen *seen) {
    const struct rag_lexicon *lexicon = seen->positions->lexicon;
    uint8_t block[4096];
    for (uint64_t i = 0; !seen->status && i < lexicon->blocks; i++) {
        size_t size = 0;
        seen->status = rag_lexicon_block(lexicon, i, block, &size, seen->fault);
        for (size_t at = 0; !seen->status && at < size;) {
            const size_t length = strlen((const char *)block + at);
            mark_word(seen, block + at, length, false);
            at += length + 1;
        }
    }
    return seen->status;
}

static enum rag_status count_words(struct seen *seen, struct rag_fault *fault) {
    const struct rag_positions *p = seen->positions;
    for (uint64_t row = 0; row < p->rows; row++) {
        uint32_t words;
        const enum rag_status status = rag_positions_words(p, row, &words, fault);
        if (status) return status;
        seen->starts[row] = seen->total;
        seen->total += words;
    }
    return seen->total / 512 > p->lists_size
               ? rag_fail(fault, RAG_CORRUPT, p->words_at, "rows have more words than positions")
               : RAG_OK;
}

enum rag_status rag_positions_check(const struct rag_positions *positions,
                                    struct rag_fault *fault) {
    struct seen seen = {.positions = positions, .fault = fault};
    enum rag_status status = RAG_OK;
    seen.starts = calloc((size_t)positions->rows + 1, sizeof *seen.starts);
    if (seen.starts) status = count_words(&seen, fault);
    if (seen.starts && !status)
        seen.bits = calloc((size_t)(seen.total / 64) + 1, sizeof *seen.bits);
    if (!status && !seen.bits)
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory to check positions");
    if (!status) status = mark_terms(&seen);
    if (!status) status = rag_positions_stops(positions, mark_stop, &seen, fault);
    if (!status) status = seen.status;
    if (!status && (seen.is_twice || seen.count != seen.total))
        status = rag_fail(fault, RAG_CORRUPT, positions->lists_at,
                          "a word of a text is in two lists or in none");
    free(seen.starts);
    free(seen.bits);
    return status;
}
