/* share.h - the shares of a parity section (spec/parts/parity.md) by their numbers.
 *
 * A section is nothing but shares, each with all that is needed to know the section by: its own
 * head, a part of the group's record, and a block of parity.
 *
 *   0      128   head (SHARE_*)
 *   128    part  of the record: any `quorum` parts of a group give its record
 *   …      block of parity: any n of a group give n lost blocks
 *
 * The record of a group is the table of contents of the commit, but for the parity section's own
 * hash, and the hash of each block of the group. */
#ifndef RAG_SHARE_H
#define RAG_SHARE_H

#include "internal.h"

enum {
    SHARE_HEAD_SIZE = 128,
    SHARE_GENERATION = 8,
    SHARE_AT = 16,       /* of the section, and the end of the range that it protects */
    SHARE_FROM = 24,     /* start of the range */
    SHARE_BEFORE = 32,   /* offset of the parity section before, 0 = none */
    SHARE_END = 40,      /* of the commit, after its footer */
    SHARE_PREVIOUS = 48, /* offset of the footer before, 0 for generation 1 */
    SHARE_IDENTITY = 56, /* 0 for generation 1, whose table says it */
    SHARE_WRITE_FEATURES = 64,
    SHARE_TOC_SIZE = 72, /* u32 */
    SHARE_VERSION = 76,  /* major, minor, patch, 0 */
    SHARE_BLOCK = 80,    /* u32 */
    SHARE_GROUPS = 84,   /* u32 */
    SHARE_ROWS = 88,     /* u32: shares of a group */
    SHARE_QUORUM = 92,   /* u32 */
    SHARE_NUMBER = 96,   /* u32: row * groups + group */
    SHARE_ZERO = 100,    /* u32 */
    SHARE_RECORD_HASH = 104,
    SHARE_BODY_HASH = 112,
    SHARE_HASH = 120, /* of the head up to here */

    PARITY_BLOCK_LEAST = 4096,
    PARITY_BLOCK_MOST = 65536,
    PARITY_ROWS_MAX = 1024,
    PARITY_GROUP_MAX = 32768, /* blocks */
};

#define SHARE_MAGIC "RAGPAR01"
#define PARITY_NAME "rag.parity"

/* A section of parity, as the heads of its shares tell of it, and what follows from that. */
struct parity {
    uint64_t generation, at, from, before, end, previous, identity, write_features;
    uint32_t toc_size, block, groups, rows, quorum;
    uint8_t version[3];
    uint64_t blocks; /* of the range */
    uint32_t count;  /* blocks of a group, at most; the last groups can have one less */
    uint64_t record; /* bytes of a group's record */
    uint32_t part;   /* bytes of it in a share */
    uint32_t size;   /* of a share */
    uint64_t toc_at;
};

struct share {
    struct parity parity;
    uint32_t number;
    uint64_t record_hash, body_hash;
};

/* Works out what follows; false for numbers that no section can have. end is not looked at. */
bool rag_parity_measure(struct parity *parity);

/* Block size, groups, rows and quorum for a range that is protected by so many per cent, and all
 * that follows, end included. */
bool rag_parity_plan(struct parity *parity, unsigned percent);

/* Whether two are the same section. */
bool rag_parity_same(const struct parity *a, const struct parity *b);

/* Bytes of the section. */
uint64_t rag_parity_size(const struct parity *parity);

/* True when the bytes at `at` of a file are the head of a share. Nothing else is looked at. */
bool rag_share_read(const uint8_t *head, uint64_t at, struct share *share);

/* The head, all but for the two last hashes. */
void rag_share_write(uint8_t *out, const struct share *share);

/* Sets both hashes of a share that is whole otherwise. */
void rag_share_close(uint8_t *share, uint32_t size);

#endif
