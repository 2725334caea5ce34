/* shadow.h - the layout of the sections rag.shadow and rag.planes, shared by the files that write,
 * open and scan them. shadow.c documents the bytes. */
#ifndef RAG_SHADOW_H
#define RAG_SHADOW_H

#include "shadows/rotation.h"

enum {
    SHADOW_HEAD = 64,
    SHADOW_SLACK = 64,
    GROUP_HEAD = 64,        /* of rag.planes, like the rest here */
    NORMS_SIZE = 64,        /* of each block's rows */
    GROUP_AT_REST_UNIT = 0, /* of a group's head: residual norm and tail are a byte times these */
    GROUP_AT_TAIL_UNIT = 4,
    GROUP_AT_REACH = 8, /* no row's nibbles, less 7.5, are longer */
    GROUP_HEAD_USED = 12,
    TAIL_UNKNOWN = 255, /* as a byte: the row has no bounds */
};

/* Return the layout that a writer gives the shadow of a matrix; kept is 0 for the plain kind. */
struct rag_shadow rag_shadow_layout(uint64_t count, uint32_t dim, uint32_t kept);
void rag_shadow_put_head(const struct rag_shadow *shadow, uint8_t *head);

size_t rag_shadow_block_size(const struct rag_shadow *shadow);
size_t rag_shadow_row_size(const struct rag_shadow *shadow);
uint64_t rag_shadow_group_size(const struct rag_shadow *shadow, uint64_t rows);
uint64_t rag_shadow_section_size(const struct rag_shadow *shadow);

/* Return the section offset of group g's blocks, of its rows' norms, and of its rows of codes. */
uint64_t rag_shadow_blocks_at(const struct rag_shadow *shadow, uint64_t group);
uint64_t rag_shadow_norms_at(const struct rag_shadow *shadow, uint64_t group);
uint64_t rag_shadow_codes_at(const struct rag_shadow *shadow, uint64_t group);

/* Return the offset of a row's codes. */
uint64_t rag_shadow_row_at(const struct rag_shadow *shadow, uint64_t row);

/* Mean, steps and axes of planes in the section, valid once it is checked up to groups_at. */
struct axes {
    const uint8_t *mean, *steps, *axes;
};
struct axes rag_shadow_axes(const struct rag_shadow *shadow);

/* Write row r's dims codes below 16 into a block of interleaved rows. */
void rag_shadow_put_nibbles(uint8_t *block, size_t r, size_t dims, const uint8_t *codes);

/* Builder of planes' blocks (planes_build.c): take records a unit row (zeros for a zero row or one
 * without bounds), put codes the recorded rows, seal completes a group. */
enum { ROWS_AT_ONCE = 4 };
struct planes_bench;
struct planes_bench *rag_planes_open(const struct rag_rotation *rotation,
                                     const struct rag_shadow *shadow);
void rag_planes_close(struct planes_bench *bench);
void rag_planes_take(struct planes_bench *bench, size_t place, const double *unit, bool special);
void rag_planes_put(struct planes_bench *bench, uint8_t *group, uint64_t first, size_t count);
void rag_planes_seal(struct planes_bench *bench, uint8_t *group, uint64_t rows);
enum rag_status rag_planes_write_axes(const struct rag_shadow *shadow,
                                      const struct rag_rotation *rotation, rag_write *write,
                                      void *context);

#endif
