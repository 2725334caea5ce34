/* shadow.c - the sections "rag.shadow" and "rag.planes": their layout, and the checks of their
 * heads.
 *
 *     0   8  "RAGSHADW" or "RAGPLANE"   16  u64 rows             28  u32 kept axes, or 0
 *     8   u32 version, 1                24  u32 rows in a group  32  .. 63  zero
 *    12   u32 dim
 *
 * A group holds its rows twice: first in 4-bit blocks of 16 interleaved rows, then row by row in 8
 * bits. 64 zero bytes after the last group keep wide loads inside.
 *
 * rag.shadow codes unit rows as they are. Groups start at 64. With D = dim rounded up to 8:
 *
 *     block   8 D bytes   byte 64 g + 4 r + t: components 8 g + t (low nibble) and 8 g + 4 + t of
 *                         row r; a nibble c stands for c - 7.5
 *             3 * 64      16 scales, 16 residual norms, 16 row norms, binary32
 *     row     12          scale, residual norm, row norm, binary32
 *             D           a byte c stands for c - 128
 *
 * rag.planes has other blocks. They hold the rows' differences from a mean along K axes that the
 * section defines. After the head come the mean (dim binary32, padded to 64 bytes), the K steps
 * (binary32) and the axes (int16, S = dim rounded up to 32 components each: first components 0 and
 * 1 of all K axes, then 2 and 3, ...). Each group is
 *
 *     head    64          3 binary32: the units of the two bytes below, reach of nibbles; zeros
 *     blocks  8 K bytes   as above, of K components
 *             64          16 scales in binary16, 16 bytes: residual norms, 16 bytes: tails
 *     norms   64          16 row norms, binary32, for each block
 *     rows                as above
 *
 * The codes approximate a row's unit vector within the stored residual norm; a search relies on
 * nothing else (spec/parts/vectors.md). So a shadow can always be rebuilt from its matrix, with the
 * same bytes on every machine. shadow_build.c and planes_build.c write them. */
#include <math.h>

#include "shadows/shadow.h"
#include "shared/fail.h"

static const char plain_magic[8] = {'R', 'A', 'G', 'S', 'H', 'A', 'D', 'W'};
static const char planes_magic[8] = {'R', 'A', 'G', 'P', 'L', 'A', 'N', 'E'};
enum {
    SHADOW_AT_VERSION = 8,
    SHADOW_AT_DIM = 12,
    SHADOW_AT_ROWS = 16,
    SHADOW_AT_GROUP_ROWS = 24,
    SHADOW_AT_KEPT = 28,
};
enum { SHADOW_VERSION = 1, GROUP_BYTES = 4 << 20, GROUP_ROWS_MAX = 4096 };

static uint64_t blocks_of(uint64_t rows) { return (rows + BLOCK_ROWS - 1) / BLOCK_ROWS; }

size_t rag_shadow_block_size(const struct rag_shadow *shadow) {
    return shadow->kept ? 8 * shadow->kept + PLANES_META
                        : 8 * align_up(shadow->dim, GROUP_DIMS) + BLOCK_META;
}

size_t rag_shadow_row_size(const struct rag_shadow *shadow) {
    return CODE_HEAD + align_up(shadow->dim, GROUP_DIMS);
}

uint64_t rag_shadow_group_size(const struct rag_shadow *shadow, uint64_t rows) {
    const uint64_t block = rag_shadow_block_size(shadow) + (shadow->kept ? NORMS_SIZE : 0);
    if (rows == 0) return 0;
    return (shadow->kept ? GROUP_HEAD : 0) + blocks_of(rows) * block +
           rows * rag_shadow_row_size(shadow);
}

/* The offsets of the mean, the steps, the axes, and the first group. */
struct places {
    uint64_t mean, steps, axes, groups;
};

static struct places places_of(uint32_t dim, uint32_t kept) {
    struct places at = {.mean = SHADOW_HEAD};
    at.steps = at.mean + align_up(4 * (uint64_t)dim, 64);
    at.axes = at.steps + 4 * (uint64_t)kept;
    at.groups = kept ? at.axes + 2 * kept * align_up(dim, AXIS_PAD) : SHADOW_HEAD;
    return at;
}

/* With count < 2^32 and dim <= 2^16 nothing here can overflow. */
uint64_t rag_shadow_section_size(const struct rag_shadow *shadow) {
    return shadow->groups_at +
           shadow->count / shadow->group_rows * rag_shadow_group_size(shadow, shadow->group_rows) +
           rag_shadow_group_size(shadow, shadow->count % shadow->group_rows) + SHADOW_SLACK;
}

struct rag_shadow rag_shadow_layout(uint64_t count, uint32_t dim, uint32_t kept) {
    struct rag_shadow shadow = {
        .count = count, .dim = dim, .kept = kept, .groups_at = places_of(dim, kept).groups};
    const uint64_t rows = GROUP_BYTES / rag_shadow_group_size(&shadow, BLOCK_ROWS) * BLOCK_ROWS;
    shadow.group_rows = rows < BLOCK_ROWS       ? BLOCK_ROWS
                        : rows > GROUP_ROWS_MAX ? GROUP_ROWS_MAX
                                                : rows;
    return shadow;
}

uint64_t rag_shadow_blocks_at(const struct rag_shadow *shadow, uint64_t group) {
    return shadow->groups_at + group * rag_shadow_group_size(shadow, shadow->group_rows) +
           (shadow->kept ? GROUP_HEAD : 0);
}

static uint64_t group_blocks(const struct rag_shadow *shadow, uint64_t group) {
    const uint64_t rest = shadow->count - group * shadow->group_rows;
    return blocks_of(rest < shadow->group_rows ? rest : shadow->group_rows);
}

uint64_t rag_shadow_norms_at(const struct rag_shadow *shadow, uint64_t group) {
    return rag_shadow_blocks_at(shadow, group) +
           group_blocks(shadow, group) * rag_shadow_block_size(shadow);
}

uint64_t rag_shadow_codes_at(const struct rag_shadow *shadow, uint64_t group) {
    return rag_shadow_norms_at(shadow, group) +
           (shadow->kept ? NORMS_SIZE * group_blocks(shadow, group) : 0);
}

uint64_t rag_shadow_row_at(const struct rag_shadow *shadow, uint64_t row) {
    return rag_shadow_codes_at(shadow, row / shadow->group_rows) +
           row % shadow->group_rows * rag_shadow_row_size(shadow);
}

void rag_shadow_put_head(const struct rag_shadow *shadow, uint8_t *head) {
    memset(head, 0, SHADOW_HEAD);
    memcpy(head, shadow->kept ? planes_magic : plain_magic, 8);
    store_u32(head + SHADOW_AT_VERSION, SHADOW_VERSION);
    store_u32(head + SHADOW_AT_DIM, shadow->dim);
    store_u64(head + SHADOW_AT_ROWS, shadow->count);
    store_u32(head + SHADOW_AT_GROUP_ROWS, (uint32_t)shadow->group_rows);
    store_u32(head + SHADOW_AT_KEPT, shadow->kept);
}

/* ------------------------------------------------------------------------------------- opening */

static enum rag_status read_head(struct rag_shadow *shadow, const struct rag_guard *section,
                                 struct rag_fault *fault) {
    if (section->size < SHADOW_HEAD + SHADOW_SLACK)
        return rag_fail(fault, RAG_FORMAT, 0, "not a shadow of vectors");
    const enum rag_status status = rag_guard_check(section, 0, SHADOW_HEAD, fault);
    if (status != RAG_OK) return status;
    const uint8_t *head = rag_guard_at(section, 0);
    const bool planes = memcmp(head, planes_magic, sizeof planes_magic) == 0;
    if (!planes && memcmp(head, plain_magic, sizeof plain_magic) != 0)
        return rag_fail(fault, RAG_FORMAT, 0, "not a shadow of vectors");
    if (load_u32(head + SHADOW_AT_VERSION) != SHADOW_VERSION)
        return rag_fail(fault, RAG_VERSION, SHADOW_AT_VERSION, "a shadow of an unknown version");
    *shadow = (struct rag_shadow){.guard = *section,
                                  .count = load_u64(head + SHADOW_AT_ROWS),
                                  .group_rows = load_u32(head + SHADOW_AT_GROUP_ROWS),
                                  .dim = load_u32(head + SHADOW_AT_DIM),
                                  .kept = planes ? load_u32(head + SHADOW_AT_KEPT) : 0};
    if (planes &&
        (shadow->kept < QUERY_PAD || shadow->kept % QUERY_PAD || shadow->kept > KEPT_MAX ||
         shadow->kept > shadow->dim || shadow->dim > ROTATED_DIM_MAX))
        return rag_fail(fault, RAG_FORMAT, SHADOW_AT_KEPT,
                        "planes keep 64, 128, 192 or 256 of at most 512 dimensions");
    return RAG_OK;
}

struct axes rag_shadow_axes(const struct rag_shadow *shadow) {
    const struct places at = places_of(shadow->dim, shadow->kept);
    const uint8_t *bytes = rag_guard_at(&shadow->guard, 0);
    return (struct axes){bytes + at.mean, bytes + at.steps, bytes + at.axes};
}

/* Check the numbers that every bound depends on: finite, moderate, and axes nearly orthonormal. */
static enum rag_status read_axes(struct rag_shadow *shadow, struct rag_fault *fault) {
    const struct places at = places_of(shadow->dim, shadow->kept);
    const enum rag_status status = rag_guard_check(&shadow->guard, 0, at.groups, fault);
    if (status != RAG_OK) return status;
    const struct axes axes = rag_shadow_axes(shadow);
    double square = 0;
    for (uint32_t i = 0; i < shadow->dim; i++) {
        const double value = load_f32(axes.mean + 4 * i);
        square += value * value;
    }
    if (!(square <= 1.01))
        return rag_fail(fault, RAG_CORRUPT, at.mean, "the mean of unit vectors is longer than one");
    for (uint32_t i = 0; i < shadow->kept; i++) {
        const float step = load_f32(axes.steps + 4 * i);
        if (!(step >= 0x1p-40f && step <= 4))
            return rag_fail(fault, RAG_CORRUPT, at.steps + 4 * i, "a step is out of range");
    }
    if (!(rag_axes_skew(axes.axes, align_up(shadow->dim, AXIS_PAD), shadow->kept) <= SKEW))
        return rag_fail(fault, RAG_CORRUPT, at.axes, "the axes are not orthonormal");
    return RAG_OK;
}

enum rag_status rag_shadow_open(struct rag_shadow *shadow, const struct rag_guard *section,
                                const struct rag_matrix *matrix, struct rag_fault *fault) {
    enum rag_status status = read_head(shadow, section, fault);
    if (status != RAG_OK) return status;
    if (shadow->dim != matrix->dim || shadow->count != matrix->count)
        return rag_fail(fault, RAG_FORMAT, SHADOW_AT_DIM, "the shadow is that of another matrix");
    if (shadow->group_rows < BLOCK_ROWS || shadow->group_rows > 16 * GROUP_ROWS_MAX ||
        shadow->group_rows % BLOCK_ROWS)
        return rag_fail(fault, RAG_FORMAT, SHADOW_AT_GROUP_ROWS,
                        "a shadow's groups hold a multiple of 16 rows, up to 65536");
    shadow->groups_at = places_of(shadow->dim, shadow->kept).groups;
    if (section->size != rag_shadow_section_size(shadow))
        return rag_fail(fault, RAG_CORRUPT, section->size,
                        "the shadow's size is not that of its rows");
    return shadow->kept ? read_axes(shadow, fault) : RAG_OK;
}
