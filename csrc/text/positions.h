/* positions.h - the bytes of rag.positions, shared by its writer and its readers.
 *
 * rag.positions, little-endian:
 *      0   8  magic "RAGPOS1\0"
 *      8   8  rows                       16   8  terms, as in rag.terms
 *     24   8  L, size of the lists       32   8  where the lists of stop words start in them
 *     40   4  stop words                 44   4  W, bytes of a number of words: 1, 2 or 4
 *     48   8  D, size of the dictionary  56   8  zero
 *     64  8B  where the lists of each block of 16 terms start
 *          W each row: its number of words, then zeros to a multiple of 8
 *          D  dictionary of stop words, then zeros to a multiple of 8
 *          L  lists
 *         16  zeros of slack
 * with B = ceil(terms / 16). A block of terms: a varint size for each, then their lists. An entry
 * of the dictionary: u8 size, the word, varint rows, varint size of its list.
 *
 * A list: u8 head (rice in bits 0 to 2; bit 3 if a row can have no position), sizes of its groups,
 * then the groups of 64 rows, each from a byte on. The sizes are a varint for each group but the
 * last. In a stop word's list, a varint (first row - first row of the group before) precedes each
 * of them, also for the last group.
 *
 * A group is bits, highest first. A stop word's begins with its rows: for each but the first, the
 * gap - 1 by Rice's code. Then per row its count of positions (less one, unless bit 3 of the head
 * is set) by Rice's code, and the positions: the middle one of those in a range, as one of the
 * numbers that leave room for the others, then those before it, then those after it (L.8). */
#ifndef RAG_POSITIONS_H
#define RAG_POSITIONS_H

#include "text/bm25.h"

enum {
    PLACE_HEADER = 64,
    PLACE_AT_ROWS = 8,
    PLACE_AT_TERMS = 16,
    PLACE_AT_LISTS_SIZE = 24,
    PLACE_AT_STOPS_AT = 32,
    PLACE_AT_STOPS = 40,
    PLACE_AT_WIDTH = 44,
    PLACE_AT_DICTIONARY_SIZE = 48,
    PLACE_SLACK = 16,
    PLACE_GROUP = 64, /* rows */
    PLACE_RICE_MAX = 6,
    PLACE_CAN_LACK = 8, /* bit of a list's head */
};
#define PLACE_MAGIC "RAGPOS1"

/* The positions of one word: rows in order, the count of each, and all positions one after the
 * other. */
struct rag_places {
    uint32_t *rows, *counts, *positions;
    size_t count, total; /* rows; positions */
    size_t row_capacity, count_capacity, capacity;
};
bool rag_places_row(struct rag_places *places, uint32_t row);
bool rag_places_add(struct rag_places *places, uint32_t position);
void rag_places_free(struct rag_places *places);

/* Rice's parameter for the gaps between `count` of `rows` rows. */
static inline unsigned rag_places_gap_rice(uint64_t rows, uint64_t count) {
    const uint64_t mean = count ? rows / count : 0;
    return mean > 1 ? 63 - (unsigned)__builtin_clzll(mean) : 0;
}

/* Writes the lists of terms in the order of the dictionary, then those of stop words in order. */
struct rag_places_writer {
    struct rag_sink lists;
    const uint32_t *words; /* of each row */
    uint64_t rows, at, terms, stops_at;
    uint32_t stops;
    struct rag_bm25_buffer starts, sizes, block, list, dictionary;
};
enum rag_status rag_places_writer_term(struct rag_places_writer *writer,
                                       const struct rag_places *places, struct rag_fault *fault);
enum rag_status rag_places_writer_stop(struct rag_places_writer *writer, const uint8_t *word,
                                       size_t size, const struct rag_places *places,
                                       struct rag_fault *fault);
/* Writes all that precedes the lists. */
enum rag_status rag_places_writer_finish(struct rag_places_writer *writer, struct rag_sink front,
                                         struct rag_fault *fault);
void rag_places_writer_free(struct rag_places_writer *writer);

#endif
