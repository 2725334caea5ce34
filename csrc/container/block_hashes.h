/* block_hashes.h - the hashes of a section's blocks, and the bytes that they take. */
#ifndef RAG_BLOCK_HASHES_H
#define RAG_BLOCK_HASHES_H

#include "ragfile/container.h"

/* The bytes that a section takes with block hashes and padding; 0 if that exceeds 64 bits. */
uint64_t rag_extent(uint64_t size);

/* The hash in a section's entry: xxh3-64 over the xxh3-64 of each block. */
enum rag_status rag_hash_blocks(const uint8_t *bytes, size_t size, uint64_t *hash,
                                struct rag_fault *fault);

/* Writes the hash of each block, eight bytes each, as stored after a section. */
void rag_sum_blocks(const uint8_t *bytes, uint64_t size, uint8_t *sums);

#endif
