/* repeats.c - drop passages that nearly repeat a better one.
 *
 * Passages with vectors are compared by their cosine. Texts without vectors are compared by marks
 * of 64 bits (SimHash): each pair of adjacent words votes with the bits of its hash. Single words
 * would make texts with a common vocabulary alike, triples would separate near copies. */
#include <stdlib.h>
#include <string.h>

#include "fusion/directions.h"
#include "ragfile/machine.h"
#include "ragfile/refinement.h"
#include "shared/array.h"
#include "shared/fail.h"

struct rag_repeats {
    double *units; /* count × dim */
    size_t count, room, dim;
    uint64_t *marks;
    size_t mark_count, mark_room;
};

struct rag_repeats *rag_repeats_new(void) { return calloc(1, sizeof(struct rag_repeats)); }

void rag_repeats_free(struct rag_repeats *kept) {
    if (!kept) return;
    free(kept->units);
    free(kept->marks);
    free(kept);
}

static bool is_repeat(const double *units, size_t count, size_t dim, const double *unit,
                      double same) {
    for (size_t i = 0; i < count; i++)
        if (direction_dot(units + i * dim, unit, dim) >= same) return true;
    return false;
}

/* Add the given vectors that are new to the kept ones, which have room for all of them. */
static size_t add_new(struct rag_repeats *kept, const double *vectors, size_t count, double same,
                      bool *is_new) {
    size_t total = kept->count;
    for (size_t i = 0; i < count; i++) {
        double *unit = kept->units + total * kept->dim;
        direction_of(vectors + i * kept->dim, kept->dim, unit);
        is_new[i] = !is_repeat(kept->units, total, kept->dim, unit, same);
        total += is_new[i];
    }
    return total;
}

enum rag_status rag_repeats_vectors(struct rag_repeats *kept, const double *vectors, size_t count,
                                    size_t dim, double same, bool keeps, bool *is_new,
                                    struct rag_fault *fault) {
    if (kept->dim && kept->dim != dim)
        return rag_fail(fault, RAG_ARGUMENT, dim, "vectors of different lengths do not compare");
    kept->dim = dim;
    if (!rag_grow(&kept->units, &kept->room, kept->count + count + 1,
                  (dim ? dim : 1) * sizeof(double)))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for vectors");
    const size_t total = add_new(kept, vectors, count, same, is_new);
    if (keeps) kept->count = total;
    return RAG_OK;
}

enum rag_status rag_repeats_mark(struct rag_repeats *kept, uint64_t mark, unsigned bits, bool keeps,
                                 bool *is_new, struct rag_fault *fault) {
    *is_new = true;
    for (size_t i = 0; i < kept->mark_count && *is_new; i++)
        *is_new = (unsigned)__builtin_popcountll(mark ^ kept->marks[i]) > bits;
    if (!keeps || !*is_new) return RAG_OK;
    if (!rag_grow(&kept->marks, &kept->mark_room, kept->mark_count + 1, sizeof *kept->marks))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for marks of texts");
    kept->marks[kept->mark_count++] = mark;
    return RAG_OK;
}

/* The end of the word that begins at `at`. */
static size_t word_end(const uint8_t *words, size_t size, size_t at) {
    const uint8_t *blank = at < size ? memchr(words + at, ' ', size - at) : NULL;
    return blank ? (size_t)(blank - words) : size;
}

uint64_t rag_simhash(const uint8_t *words, size_t size) {
    uint32_t votes[64] = {0}, pairs = 0;
    size_t start = 0, middle = word_end(words, size, 0);
    do {
        const size_t end = middle < size ? word_end(words, size, middle + 1) : size;
        const uint64_t hash = rag_hash(words + start, end - start);
        for (int bit = 0; bit < 64; bit++) votes[bit] += hash >> bit & 1;
        pairs++;
        start = middle + 1, middle = end;
    } while (middle < size);
    uint64_t mark = 0;
    for (int bit = 0; bit < 64; bit++) mark |= (uint64_t)(2 * (uint64_t)votes[bit] > pairs) << bit;
    return mark;
}
