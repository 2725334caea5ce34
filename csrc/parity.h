/* parity.h - groups of a parity section: their records and their shares. */
#ifndef RAG_PARITY_H
#define RAG_PARITY_H

#include "cauchy.h"
#include "share.h"

/* The blocks that a group protects. `bytes` is the file, of at least p->at bytes. */
struct rag_blocks rag_parity_blocks(const struct parity *p, const uint8_t *bytes, uint32_t group);

/* Where block j of them begins in the file, and its bytes: fewer at the range's end, 0 after it. */
uint64_t rag_parity_block_at(const struct parity *p, uint32_t group, uint32_t j);
uint32_t rag_parity_block_size(const struct parity *p, uint32_t group, uint32_t j);

/* The hash of each block, eight bytes each, as the record holds them: 0 where there is none. */
void rag_parity_hashes(const struct parity *p, const uint8_t *bytes, uint32_t group, uint8_t *out);

/* Where a group's record has the hash of block j. */
static inline uint64_t rag_parity_hash_at(const struct parity *p, uint32_t j) {
    return p->record - 8 * (uint64_t)(p->count - j);
}

/* Room for a record: its parts, one after the other. */
static inline uint64_t rag_parity_room(const struct parity *p) {
    return (uint64_t)p->quorum * p->part;
}

/* A group's record, into rag_parity_room bytes that are zero. toc is the table of contents whose
 * entry of the parity section has no hash. */
void rag_parity_record(const struct parity *p, const uint8_t *bytes, uint32_t group,
                       const uint8_t *toc, uint8_t *record);

/* All shares of a group, row by row, each p->size bytes. */
enum rag_status rag_parity_shares(const struct parity *p, const uint8_t *bytes, uint32_t group,
                                  const uint8_t *record, uint8_t *shares, struct rag_fault *fault);

/* Writes the section where p says, in a file that has everything before it. */
enum rag_status rag_parity_write(struct rag_file *file, const struct parity *p, const uint8_t *toc,
                                 struct rag_fault *fault);

#endif
