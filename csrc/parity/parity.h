/* parity.h - groups of a parity section: their records and their shards. */
#ifndef RAG_PARITY_H
#define RAG_PARITY_H

#include "ragfile/files.h"
#include "parity/cauchy.h"
#include "parity/shard.h"

/* The blocks that a group protects. `bytes` is the file, at least p->at bytes of it. */
struct rag_blocks rag_parity_blocks(const struct parity *p, const uint8_t *bytes, uint32_t group);

/* The file offset of block j, and its size: smaller at the end of the range, 0 after it. */
uint64_t rag_parity_block_at(const struct parity *p, uint32_t group, uint32_t j);
uint32_t rag_parity_block_size(const struct parity *p, uint32_t group, uint32_t j);

/* Computes the hash of each block, eight bytes each, as in the record: 0 for missing blocks. */
void rag_parity_hashes(const struct parity *p, const uint8_t *bytes, uint32_t group, uint8_t *out);

/* The offset of block j's hash in a group's record. */
static inline uint64_t rag_parity_hash_at(const struct parity *p, uint32_t j) {
    return p->record - 8 * (uint64_t)(p->count - j);
}

/* The size of a record: its parts, one after the other. */
static inline uint64_t rag_parity_room(const struct parity *p) {
    return (uint64_t)p->quorum * p->part;
}

/* Writes a group's record to rag_parity_room zeroed bytes. `toc` is the table of contents
 * without the hash in the entry of the parity section. */
void rag_parity_record(const struct parity *p, const uint8_t *bytes, uint32_t group,
                       const uint8_t *toc, uint8_t *record);

/* Computes all shards of a group, row by row, p->size bytes each. */
enum rag_status rag_parity_shards(const struct parity *p, const uint8_t *bytes, uint32_t group,
                                  const uint8_t *record, uint8_t *shards, struct rag_fault *fault);

/* Writes the section or the shards of a trailer at p->at, after everything else was written. A
 * trailer has no table. */
enum rag_status rag_parity_write(struct rag_file *file, const struct parity *p, const uint8_t *toc,
                                 struct rag_fault *fault);

#endif
