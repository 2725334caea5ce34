/* trailer.h - the parity of an encrypted file, after a commit's blocks (spec/parts/encryption.md).
 *
 *   at      shards, as in a parity section, over the bytes of the file as they are stored
 *   …       zero
 *   end-64  mark: "RAGTRAIL", at u64, end of the blocks u64, zero, xxh3-64 of the mark so far
 *
 * `at` and `end` are places where a block could begin. The bytes in between are no blocks, and
 * belong to no commit: a reader that does not look for the mark reads them as zeros, and steps over
 * them. */
#ifndef RAG_TRAILER_H
#define RAG_TRAILER_H

#include "ragfile/encryption.h"
#include "ragfile/files.h"
#include "parity/shard.h"

enum {
    TRAILER_FROM = RAG_CRYPT_HEADER, /* the first byte that a trailer protects */
    MARK_SIZE = 64,
    MARK_AT = 8,
    MARK_BLOCKS = 16, /* end of the last block */
    MARK_ZERO = 24,
    MARK_HASH = 56,
};

#define MARK_MAGIC "RAGTRAIL"

/* The size of a file without the trailer that ends it; `size` if none does. `ending` are its last
 * MARK_SIZE bytes. */
uint64_t rag_trailer_start(const uint8_t *ending, uint64_t size, uint32_t stride);

/* The place of the next block. */
uint64_t rag_trailer_place(uint64_t at, uint32_t stride);

/* Whether a file ends with a mark; sets where its shards begin (at), and the end of the blocks
 * (previous). */
bool rag_trailer_read(const uint8_t *ending, uint64_t size, uint32_t stride,
                      struct parity *trailer);

void rag_trailer_mark(const struct parity *trailer, uint8_t *mark);

/* Protects the blocks of a file whose newest commit is durable, and syncs. `before` is the size
 * that the file had before the commit, which can end with a trailer: blocks from there on are
 * protected, or all blocks if it does not. */
enum rag_status rag_trailer_write(struct rag_file *file, const struct rag_crypt_header *header,
                                  uint64_t before, unsigned percent, struct rag_fault *fault);

#endif
