/* internal.h - shared by the .c files of the core; nobody outside needs it. */
#ifndef RAG_INTERNAL_H
#define RAG_INTERNAL_H

#include "rag.h"

/* Records a fault and returns its status, so that a check reads: return rag_fail(fault, RAG_FORMAT,
 * at, "..."). */
static inline enum rag_status rag_fail(struct rag_fault *fault, enum rag_status status, uint64_t at,
                                       const char *what) {
    if (fault) {
        fault->status = status;
        fault->at = at;
        fault->what = what;
        fault->section[0] = 0;
        fault->os_error = 0;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------ cpu */

enum {
    RAG_CPU_AVX2 = 1u << 0,       /* AVX2, FMA, BMI2, F16C */
    RAG_CPU_AVX512 = 1u << 1,     /* AVX-512 F, BW, DQ, VL */
    RAG_CPU_AVX512VNNI = 1u << 2, /* + VNNI, VBMI2 */
    RAG_CPU_NEON = 1u << 3,
    RAG_CPU_NEONDOT = 1u << 4, /* + dotprod */
};

/* The features in use: those of the machine, less those that rag_init was told to leave out. */
extern unsigned rag_cpu;

/* --------------------------------------------------------------------- bytes to fetch (guard.c) */

/* Stretches that a scan will touch, collected before it. ready brings and forgets them; an empty
 * list costs nothing. */
struct rag_wants {
    struct rag_want *items;
    size_t count, room;
    bool failed; /* no memory: ready reports it */
};
void rag_wants_add(struct rag_wants *wants, const struct rag_guard *guard, uint64_t at,
                   uint64_t size);
enum rag_status rag_wants_ready(struct rag_wants *wants, struct rag_fault *fault);

/* ----------------------------------------------------------------------- files to write (map.c) */

const char *rag_file_path(const struct rag_file *file);

/* Tells readers that bytes from `end` on are not committed, so that they need not look there; 0:
 * they must look. */
void rag_file_settled(struct rag_file *file, uint64_t end);

/* RAG_OK while the file's path still names it: readers will see what is written now. */
enum rag_status rag_file_named(struct rag_file *file, struct rag_fault *fault);
enum rag_status rag_file_sync(struct rag_file *file, struct rag_fault *fault);

/* Gives the room of all bytes from `from` on back to the disk, if the system can: they become zero,
 * and the file keeps its size, so no map of it loses pages. */
void rag_file_release(struct rag_file *file, uint64_t from);

/* ----------------------------------------------------------- the container (reader.c, writer.c) */

/* Bytes of a section with its block hashes and padding; 0 when that does not fit into 64 bits. */
uint64_t rag_extent(uint64_t size);

/* xxh3-64 of the xxh3-64 of each block, as a section's entry holds it. */
enum rag_status rag_hash_blocks(const uint8_t *bytes, size_t size, uint64_t *hash,
                                struct rag_fault *fault);

/* The hashes of the blocks alone, eight bytes each, as they follow a section. */
void rag_sum_blocks(const uint8_t *bytes, uint64_t size, uint8_t *sums);

/* The characters of names of sections and strategies, in 0.1.0 and in 1.0: [A-Za-z0-9_.+@/] */
static inline bool is_name_byte(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '+' || c == '@' || c == '/';
}

/* [A-Za-z0-9_.+@/]{1,64} */
bool rag_name_valid(const char *name, size_t size);

/* The directory of the front page: as many entries, in file order, as fit. Returns its size. */
size_t rag_front_directory(uint8_t *out, const struct rag_entry *entries, size_t count,
                           uint64_t toc_at, uint64_t footer_at);

/* All of the front page, from what it says: FRONT_SIZE bytes. */
struct front_page {
    const uint8_t *version; /* major, minor, patch */
    uint64_t write_features, toc_at, toc_size, toc_hash, footer_at, created;
    const struct rag_entry *entries;
    size_t count;
};
void rag_front_page(uint8_t *out, const struct front_page *page);

#endif
