/* container.h - reading a file: its header, its commits, their sections, and verification. */
#ifndef RAGFILE_CONTAINER_H
#define RAGFILE_CONTAINER_H

#include "ragfile/files.h"
#include "ragfile/section.h"

/* Reads version and byte order from the first 11 bytes. RAG_NOT_RAGFILE without the magic;
 * RAG_VERSION for an unsupported major version. */
struct rag_header {
    uint8_t major, minor, patch;
    bool big_endian;
};
enum rag_status rag_header_read(const uint8_t *bytes, size_t size, struct rag_header *header,
                                struct rag_fault *fault);

/* An open commit (generation) of a 1.0 file. It borrows bytes, which must outlive it. Any number
 * of threads may use it. */
struct rag_reader;

struct rag_commit {
    uint64_t generation, created; /* created: ns since 1970, 0 = not recorded */
    uint64_t identity;            /* hash of the first commit's table of contents */
    uint64_t start, end; /* the commit's own bytes: first extent to the end of its footer */
    uint64_t previous;   /* offset of the previous footer, 0 for generation 1 */
    uint64_t tail;       /* bytes after the newest commit, which belong to none */
    /* the next generation, which was committed but is damaged; 0 = none */
    uint64_t lost_generation;
    uint32_t entries, segments, next_segment;
    bool read_only; /* has a feature that this build must not write */
    const char *message;
    size_t message_size;
};

struct rag_entry {
    const char *name;
    uint32_t segment, flags;
    uint64_t generation, at, size, items;
    uint64_t extent; /* bytes on disk with block hashes and padding */
};

struct rag_segment_record {
    uint32_t number;
    uint64_t rows, live, generation;
};

/* Opens the newest commit, or the given generation if it is not 0. Validates everything that
 * later calls rely on, but reads no section. Entries are in file order. */
enum rag_status rag_reader_open(const uint8_t *bytes, size_t size, uint64_t generation,
                                struct rag_reader **reader, struct rag_fault *fault);
/* The same through a source: fetches the front page, footers and the table of contents, in a
 * window at the file's end that doubles until it contains a commit. */
enum rag_status rag_reader_open_source(const struct rag_source *source, uint64_t size,
                                       uint64_t generation, struct rag_reader **reader,
                                       struct rag_fault *fault);
/* Maps a file and opens its newest commit over the map. *reader is NULL if that fails: then
 * rag_reader_open says why. */
enum rag_status rag_reader_open_file(const char *path, struct rag_map *map,
                                     struct rag_reader **reader, struct rag_fault *fault);
/* Opens the commit before that of `later`, over the same bytes: a walk through all of them takes
 * one step each. */
enum rag_status rag_reader_open_previous(const struct rag_reader *later, struct rag_reader **reader,
                                         struct rag_fault *fault);
void rag_reader_close(struct rag_reader *reader);
void rag_reader_commit(const struct rag_reader *reader, struct rag_commit *commit);
void rag_reader_entry(const struct rag_reader *reader, uint32_t i, struct rag_entry *entry);
void rag_reader_segment(const struct rag_reader *reader, uint32_t i,
                        struct rag_segment_record *segment);

/* Sets kept[i] for each segment i whose record and sections are those that `older`, a generation of
 * the same file, has, byte for byte by their hashes. */
void rag_reader_kept(const struct rag_reader *reader, const struct rag_reader *older, bool *kept);

/* Index of the entry with this name and segment, or -1. */
int64_t rag_reader_find(const struct rag_reader *reader, const char *name, uint32_t segment);

/* Entries in the order of segments, then names: the file's own are group 0, those of segment i
 * group i + 1. Returns the places of a group, and whether the group before is known to have the
 * same names; and the entry at a place. */
bool rag_reader_group(const struct rag_reader *reader, uint32_t group, uint32_t *start,
                      uint32_t *end);
uint32_t rag_reader_in_order(const struct rag_reader *reader, uint32_t at);

/* A guard for section i. Verifies its block hashes now, and each block when it is first read;
 * with a source, both when first read. */
enum rag_status rag_reader_guard(struct rag_reader *reader, uint32_t i, struct rag_guard *guard,
                                 struct rag_fault *fault);

/* Requires that the section's blocks match these leaves, too (spec/parts/signatures.md): one for
 * each block, valid until the reader is closed. Blocks that were already verified are verified
 * again. Call it before rag_reader_guard. */
enum rag_status rag_reader_seal(struct rag_reader *reader, uint32_t i, const uint8_t *leaves,
                                struct rag_fault *fault);

/* Verifies the blocks again that were verified when they were read, against their hashes and
 * leaves: for a mapped file that another process may have changed since. */
enum rag_status rag_reader_recheck(struct rag_reader *reader, struct rag_fault *fault);

/* Computes the leaf of a block. */
void rag_seal_leaf(const uint8_t *bytes, size_t size, uint8_t out[RAG_LEAF]);

/* Verifies every byte of this commit: blocks, hashes, zero padding, front page. With `full`,
 * verifies all older commits, too. Reports each fault and continues where possible. `abandoned`
 * counts bytes between commits, `padding` the zeros that end them: in an encrypted file, they are
 * no remains. */
struct rag_verdict {
    uint64_t sections, blocks, commits, abandoned, padding, faults;
};
void rag_reader_verify(struct rag_reader *reader, bool full,
                       void (*report)(void *context, const struct rag_fault *fault), void *context,
                       struct rag_verdict *verdict);

/* The section rag.fine: checksums of small blocks (grains) of some sections of a segment. Set
 * guard, then call open. For i < count, entry returns a range of the file and the offset of its
 * checksums in the section. */
struct rag_small_blocks {
    struct rag_guard guard;
    uint32_t grain, count;
};
enum rag_status rag_small_blocks_open(struct rag_small_blocks *blocks, struct rag_fault *fault);
void rag_small_blocks_entry(const struct rag_small_blocks *blocks, uint32_t i, uint64_t *at,
                            uint64_t *size, uint64_t *sums_at);

#endif
