/* bits.h - row sets in memory and bitmaps in files. */
#ifndef RAGFILE_BITS_H
#define RAGFILE_BITS_H

#include "ragfile/status.h"

/* Row sets: bit i % 64 of word i / 64. pack reads one byte per row, 0 for absent, and clears the
 * bits after count. */
void rag_bits_pack(const uint8_t *bytes, uint64_t count, uint64_t *words);
void rag_bits_unpack(const uint64_t *words, uint64_t count, uint8_t *bytes);
uint64_t rag_bits_count(const uint64_t *words, uint64_t count);

/* Bitmaps in files (rag.tombs, rag.gone): bit i % 8 of byte i / 8. store writes ceil(count / 8)
 * bytes. rest computes the row set of the rows that a bitmap of whole words does not contain. */
void rag_bitmap_store(uint8_t *out, const uint8_t *bytes, uint64_t count);
bool rag_bitmap_has(const uint8_t *bitmap, uint64_t i);
void rag_bitmap_rest(const uint8_t *bitmap, uint64_t count, uint64_t *words);

/* Writes the rows of a row set as a list in a file (rag.deleted): 4 bytes for each. */
void rag_bits_list(const uint64_t *words, uint64_t count, uint8_t *out);

/* Removes the rows of a list in a file (rag.deleted: u32 each) from a row set of `count` rows;
 * false for a row that the set does not have. */
bool rag_bits_clear_listed(const uint8_t *list, uint64_t listed, uint64_t count, uint64_t *words);

/* Filters of the queries of one search. Query i may find the rows of segment s in sets[of[i] *
 * segments + s], a row set, or NULL for all rows. of[i] < count. */
struct rag_filters {
    const uint64_t *const *sets;
    const uint32_t *of;
    size_t count;
};

#endif
