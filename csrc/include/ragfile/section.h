/* section.h - sections of a file: ranges of bytes with lazy checksums.
 *
 * A section can be mapped, or its bytes can come from a source that fetches them on demand. Either
 * way, code that reads a section first checks a range through its guard, then reads it. */
#ifndef RAGFILE_SECTION_H
#define RAGFILE_SECTION_H

#include "ragfile/status.h"

/* A range of a file's bytes, and its xxh3-64 if known. */
struct rag_piece {
    uint64_t at, size, hash;
    bool hashed;
    bool lenient; /* looked at, and checked by hashes of its own: damage is no error */
};

struct rag_want;
struct rag_guard;

/* Provides the bytes of a file that is not mapped. There are two kinds of sources.
 *
 * A map that fills up as it is read sets `bytes`. fetch returns once the pieces are present; it may
 * be called from any thread. With `cached`, it only looks for hashed pieces in its cache, and never
 * fails; `kept` means that the cache may have some. Bytes do not change once they are present.
 *
 * A file that is larger than memory leaves `bytes` NULL. Then hold loads and checks ranges of
 * sections, each contiguous in memory, and lend returns the address of byte `at` of a section,
 * followed by the rest of the longest held range there. whole returns unchecked bytes outside of
 * sections. Lent bytes stay valid until the caller releases them. One thread. */
struct rag_source {
    const uint8_t *bytes; /* of the whole file, or NULL */
    enum rag_status (*fetch)(void *context, const struct rag_piece *pieces, size_t count,
                             bool cached, struct rag_fault *fault);
    void *context;
    bool kept;
    bool is_near; /* fetching is cheap, so an open may look at the whole file */
    enum rag_status (*hold)(void *context, const struct rag_want *wants, size_t count,
                            struct rag_fault *fault);
    const uint8_t *(*lend)(void *context, const struct rag_guard *guard, uint64_t at);
    enum rag_status (*whole)(void *context, uint64_t at, uint64_t size, const uint8_t **bytes,
                             struct rag_fault *fault);
};

/* The lazy checksums of one section: block i covers bytes [i * RAG_BLOCK, ...). A block is
 * hashed when it is first read, and never again. sums is NULL for bytes without checksums (a
 * 0.1.0 file, memory). */
struct rag_guard {
    const uint8_t *bytes; /* use rag_guard_at to read; NULL if a source lends ranges */
    uint64_t size;
    const uint64_t *sums; /* little-endian, one per block, maybe unaligned: read with load_u64 */
    /* one bit per block, set atomically after its hash was verified, and one more for sums */
    uint8_t *seen;
    const struct rag_source *source; /* NULL if all bytes are present */
    uint64_t sums_hash;              /* xxh3-64 of sums, for bytes of a source */
    uint64_t at;                     /* of the section in its file */
    char name[65];                   /* the section's name, for faults; may be empty */
    const uint8_t *leaves;           /* RAG_LEAF bytes per block, from a trusted seal; or NULL */
};

enum { RAG_LEAF = 32 };

#define RAG_BLOCK ((size_t)65536)

/* Verifies the checksums of [at, at + size). On RAG_CORRUPT, the fault names the section and the
 * offset of the block in it. If all blocks were verified before, this costs one load per block. */
enum rag_status rag_guard_check(const struct rag_guard *guard, uint64_t at, uint64_t size,
                                struct rag_fault *fault);

/* Verifies all blocks again that were verified before. */
enum rag_status rag_guard_recheck(const struct rag_guard *guard, struct rag_fault *fault);

/* The address of byte `at` of the section, after rag_guard_check of a range that contains it.
 * The rest of that range follows. */
static inline const uint8_t *rag_guard_at(const struct rag_guard *guard, uint64_t at) {
    if (guard->bytes || !guard->source) return guard->bytes + at;
    return guard->source->lend(guard->source->context, guard, at);
}

/* Fetches the missing bytes of several ranges in as few requests as possible; call it before a
 * scan. Parts beyond a section's end are ignored; an empty range fetches the section's block
 * hashes. Guards without a source are skipped, those of several maps are fetched one map after the
 * other; a source that lends is the only one. Fetched bytes are verified when they are read. */
struct rag_want {
    const struct rag_guard *guard;
    uint64_t at, size;
};
enum rag_status rag_ready(const struct rag_want *wants, size_t count, struct rag_fault *fault);

/* Receives the bytes of a section that is being built. Returns RAG_OK, or the status to stop
 * with. */
typedef enum rag_status rag_write(void *context, const void *bytes, size_t size);

#endif
