/* shard.h - the shards of a parity section (spec/parts/parity.md) by their numbers.
 *
 * A section is nothing but shards, each with all that is needed to know the section by: its own
 * head, a part of the group's record, and a block of parity.
 *
 *   0      128   head (SHARD_*)
 *   128    part  of the record: any `quorum` parts of a group give its record
 *   …      block of parity: any n of a group give n lost blocks
 *
 * The record of a group is the table of contents of the commit, but for the parity section's own
 * hash, and the hash of each block of the group.
 *
 * A trailer of an encrypted file (spec/parts/encryption.md) has the same shards after a commit,
 * with another magic. It protects encrypted blocks, so its record has no table. */
#ifndef RAG_SHARD_H
#define RAG_SHARD_H

enum {
    SHARD_HEAD_SIZE = 128,
    SHARD_GENERATION = 8,
    SHARD_AT = 16,       /* of the section, and the end of the range that it protects */
    SHARD_FROM = 24,     /* start of the range */
    SHARD_BEFORE = 32,   /* offset of the parity section before, 0 = none */
    SHARD_END = 40,      /* of the commit, after its footer; of the trailer */
    SHARD_PREVIOUS = 48, /* offset of the footer before, 0 for generation 1; end of the blocks */
    SHARD_IDENTITY = 56, /* 0 for generation 1, whose table has it */
    SHARD_WRITE_FEATURES = 64,
    SHARD_TOC_SIZE = 72, /* u32 */
    SHARD_VERSION = 76,  /* major, minor, patch, 0 */
    SHARD_BLOCK = 80,    /* u32 */
    SHARD_GROUPS = 84,   /* u32 */
    SHARD_ROWS = 88,     /* u32: shards of a group */
    SHARD_QUORUM = 92,   /* u32 */
    SHARD_NUMBER = 96,   /* u32: row * groups + group */
    SHARD_ZERO = 100,    /* u32 */
    SHARD_RECORD_HASH = 104,
    SHARD_BODY_HASH = 112,
    SHARD_HASH = 120, /* of the head up to here */

    PARITY_BLOCK_LEAST = 512,
    PARITY_BLOCK_MOST = 65536,
    PARITY_ROWS_MAX = 1024,
    PARITY_GROUP_MAX = 32768, /* blocks */
};

#define SHARD_MAGIC "RAGPAR01"
#define TRAILER_MAGIC "RAGTRL01"
#define PARITY_NAME "rag.parity"
#define PARITY_STEP_NAME "rag.parity.step" /* of a small commit */

/* A parity section as its shards' heads describe it, and the numbers that follow from that. */
struct parity {
    uint64_t generation, at, from, before, end, previous, identity, write_features;
    uint32_t toc_size, block, groups, rows, quorum;
    uint8_t version[3];
    uint64_t blocks; /* of the range */
    uint32_t count;  /* blocks of a group, at most; the last groups can have one less */
    uint64_t record; /* bytes of a group's record */
    uint32_t part;   /* bytes of it in a shard */
    uint32_t size;   /* of a shard */
    uint64_t toc_at;
};

struct shard {
    struct parity parity;
    uint32_t number;
    uint64_t record_hash, body_hash;
};

/* Whether these are the shards of a trailer, which protect no table. */
static inline bool rag_parity_is_trailer(const struct parity *parity) {
    return parity->toc_size == 0;
}

/* Computes the dependent numbers; false if no section can have these. Ignores `end`. */
bool rag_parity_measure(struct parity *parity);

/* Chooses block size, groups, rows and quorum for a range and a percentage, and computes the
 * rest, including `end` but for a trailer. A step has smaller blocks, and fewer of them. */
bool rag_parity_plan(struct parity *parity, unsigned percent, bool is_step);

/* Whether a step may protect a commit that ends with its parity at `at`: `step_from` is the end
 * of the newest parity section, `from` that of the newest one that is not a step. */
bool rag_parity_takes_step(uint64_t at, uint64_t from, uint64_t step_from);

/* Whether a section was planned as a step. */
bool rag_parity_is_step(const struct parity *parity);

/* Whether two heads describe the same section. */
bool rag_parity_same(const struct parity *a, const struct parity *b);

/* The size of the section in bytes. */
uint64_t rag_parity_size(const struct parity *parity);

/* True if the bytes at offset `at` are the head of a shard. Reads the head alone. */
bool rag_shard_read(const uint8_t *head, uint64_t at, struct shard *shard);

/* Writes the head without the last two hashes. */
void rag_shard_write(uint8_t *out, const struct shard *shard);

/* Sets both hashes of a shard that is otherwise complete. */
void rag_shard_close(uint8_t *shard, uint32_t size);

#endif
