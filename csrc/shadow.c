/* shadow.c - the section "rag.shadow": its layout, its head's checks, and its building.
 *
 *     0   8  "RAGSHADW"          16  u64 rows             32 .. 63  zero
 *     8   u32 version, 1         24  u32 rows in a group
 *    12   u32 dim                28  u32 zero
 *    64   group 0, group 1, ...  and after the last one 64 zero bytes: wide loads stay inside
 *
 * A group holds its rows twice, both times as unit vectors: first in 4-bit blocks of 16 interleaved
 * rows, then row by row in 8 bits. With D = dim rounded up to 8:
 *
 *     block   8 D bytes   byte 64 g + 4 r + t: components 8 g + t (low nibble) and 8 g + 4 + t of
 *                         row r; a nibble c stands for c - 7.5
 *             3 * 64      16 scales, 16 residual norms, 16 row norms, binary32
 *     row     12          scale, residual norm, row norm, binary32
 *             D           a byte c stands for c - 128
 *
 * scale times codes is the row's unit vector but for a residual no longer than the residual norm
 * says; that is all that a search relies on, so a shadow can always be rebuilt from its matrix, and
 * is the same bytes on every machine. */
#include <math.h>
#include <stdlib.h>

#include "vectors.h"

static const char magic[8] = {'R', 'A', 'G', 'S', 'H', 'A', 'D', 'W'};
enum { SHADOW_AT_VERSION = 8, SHADOW_AT_DIM = 12, SHADOW_AT_ROWS = 16, SHADOW_AT_GROUP_ROWS = 24 };
enum { SHADOW_VERSION = 1, GROUP_BYTES = 4 << 20, GROUP_ROWS_MAX = 4096 };

static uint64_t dims_of(uint32_t dim) { return align_up(dim, GROUP_DIMS); }
size_t rag_shadow_block_size(uint32_t dim) { return 8 * dims_of(dim) + BLOCK_META; }
size_t rag_shadow_row_size(uint32_t dim) { return CODE_HEAD + dims_of(dim); }

static uint64_t blocks_of(uint64_t rows) { return (rows + BLOCK_ROWS - 1) / BLOCK_ROWS; }

static uint64_t group_size(uint32_t dim, uint64_t rows) {
    return blocks_of(rows) * rag_shadow_block_size(dim) + rows * rag_shadow_row_size(dim);
}

static uint64_t group_rows_of(uint32_t dim) {
    const uint64_t rows = GROUP_BYTES / group_size(dim, BLOCK_ROWS) * BLOCK_ROWS;
    return rows < BLOCK_ROWS ? BLOCK_ROWS : rows > GROUP_ROWS_MAX ? GROUP_ROWS_MAX : rows;
}

/* With count < 2^32 and dim <= 2^16 nothing here can overflow. */
static uint64_t size_of(uint64_t count, uint32_t dim, uint64_t group_rows) {
    const uint64_t rest = count % group_rows;
    return SHADOW_HEAD + count / group_rows * group_size(dim, group_rows) + group_size(dim, rest) +
           SHADOW_SLACK;
}

uint64_t rag_shadow_size(uint64_t count, uint32_t dim) {
    return size_of(count, dim, group_rows_of(dim));
}

uint64_t rag_shadow_blocks_at(const struct rag_shadow *shadow, uint64_t group) {
    return SHADOW_HEAD + group * group_size(shadow->dim, shadow->group_rows);
}

uint64_t rag_shadow_codes_at(const struct rag_shadow *shadow, uint64_t group) {
    const uint64_t first = group * shadow->group_rows, rest = shadow->count - first;
    const uint64_t rows = rest < shadow->group_rows ? rest : shadow->group_rows;
    return rag_shadow_blocks_at(shadow, group) +
           blocks_of(rows) * rag_shadow_block_size(shadow->dim);
}

enum rag_status rag_shadow_open(struct rag_shadow *shadow, const struct rag_guard *section,
                                const struct rag_matrix *matrix, struct rag_fault *fault) {
    if (section->size < SHADOW_HEAD + SHADOW_SLACK)
        return rag_fail(fault, RAG_FORMAT, 0, "not a shadow of vectors");
    enum rag_status status = rag_guard_check(section, 0, SHADOW_HEAD, fault);
    if (status != RAG_OK) return status;
    const uint8_t *head = rag_guard_at(section, 0);
    if (memcmp(head, magic, sizeof magic) != 0)
        return rag_fail(fault, RAG_FORMAT, 0, "not a shadow of vectors");
    if (load_u32(head + SHADOW_AT_VERSION) != SHADOW_VERSION)
        return rag_fail(fault, RAG_VERSION, SHADOW_AT_VERSION, "a shadow of an unknown version");
    *shadow =
        (struct rag_shadow){*section, load_u64(head + SHADOW_AT_ROWS),
                            load_u32(head + SHADOW_AT_GROUP_ROWS), load_u32(head + SHADOW_AT_DIM)};
    if (shadow->dim != matrix->dim || shadow->count != matrix->count)
        return rag_fail(fault, RAG_FORMAT, 12, "the shadow is that of another matrix");
    if (shadow->group_rows < BLOCK_ROWS || shadow->group_rows > 16 * GROUP_ROWS_MAX ||
        shadow->group_rows % BLOCK_ROWS)
        return rag_fail(fault, RAG_FORMAT, 24,
                        "a shadow's groups hold a multiple of 16 rows, up to 65536");
    if (section->size != size_of(shadow->count, shadow->dim, shadow->group_rows))
        return rag_fail(fault, RAG_CORRUPT, section->size,
                        "the shadow's size is not that of its rows");
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- building */

/* The room for one row on its way, each array padded to a multiple of 16 components. */
struct bench {
    float *floats, *unit, *values;
    double *wide, *zeros;
    uint8_t *codes;
    void *memory;
};

static bool bench_open(struct bench *bench, uint32_t dim) {
    const size_t size = align_up(dim, 64);
    bench->memory = calloc(size, 3 * sizeof(float) + 2 * sizeof(double) + 1);
    if (!bench->memory) return false;
    bench->wide = bench->memory;
    bench->zeros = bench->wide + size;
    bench->floats = (float *)(bench->zeros + size);
    bench->unit = bench->floats + size;
    bench->values = bench->unit + size;
    bench->codes = (uint8_t *)(bench->values + size);
    return true;
}

struct coded {
    float scale, rest, norm;
};

/* How far scale * values is from unit, not less than the truth: rounding of unit itself is 2^-24 at
 * most. */
static float residual(struct bench *bench, uint32_t dim, float scale) {
    double dot, square;
    rag_kernels()->leave(bench->wide, dim, scale, bench->values);
    rag_kernels()->canonical((const uint8_t *)bench->values, bench->zeros, dim, &dot, &square);
    return (float)(sqrt(square) * (1 + 1e-6) + 1e-7);
}

/* 4 bits: of some steps the one that errs least, then the scale that errs least for its codes,
 * which leaves the residual orthogonal to the part that is kept. Steps suit a normal distribution,
 * and a few heavy tails. */
static struct coded encode_nibbles(struct bench *bench, uint32_t dim, float largest) {
    static const float spread[] = {0.28f, 0.32f, 0.36f, 0.42f}, peak[] = {0.7f, 1.0f};
    const struct kernels *kernels = rag_kernels();
    const float even = (float)(1 / sqrt(dim)), padding = 0.25f * (float)(align_up(dim, 16) - dim);
    float best = INFINITY, best_step = 1;
    for (size_t i = 0; i < 6; i++) {
        const float step = i < 4 ? spread[i] * even : peak[i - 4] * largest / 7.5f;
        const float error = kernels->nibble_error(bench->unit, dim, step) - padding * step * step;
        if (error < best) best = error, best_step = step;
    }
    double dot, square;
    kernels->encode(bench->unit, dim, best_step, 7.5f, 15.0f, bench->codes, bench->values);
    kernels->canonical((const uint8_t *)bench->values, bench->wide, dim, &dot, &square);
    const float scale = (float)(dot / square);
    return (struct coded){.scale = scale, .rest = residual(bench, dim, scale)};
}

static struct coded encode_bytes(struct bench *bench, uint32_t dim, float largest) {
    const float scale = largest / 127.0f;
    rag_kernels()->encode(bench->unit, dim, scale, 128.0f, 255.0f, bench->codes, bench->values);
    return (struct coded){.scale = scale, .rest = residual(bench, dim, scale)};
}

static void put_nibbles(uint8_t *block, size_t r, uint32_t dim, const uint8_t *codes,
                        struct coded coded) {
    const size_t groups = dims_of(dim) / GROUP_DIMS;
    for (size_t g = 0; g < groups; g++)
        for (size_t t = 0; t < 4; t++)
            block[64 * g + 4 * r + t] = (uint8_t)(codes[8 * g + t] | codes[8 * g + 4 + t] << 4);
    uint8_t *meta = block + 64 * groups + 4 * r;
    store_f32(meta, coded.scale);
    store_f32(meta + 64, coded.rest);
    store_f32(meta + 128, coded.norm);
}

static void put_bytes(uint8_t *row, uint32_t dim, const uint8_t *codes, struct coded coded) {
    store_f32(row, coded.scale);
    store_f32(row + 4, coded.rest);
    store_f32(row + 8, coded.norm);
    memcpy(row + CODE_HEAD, codes, dims_of(dim));
}

/* A row without a direction that codes could hold. rest decides its fate: infinity always scores it
 * exactly, -infinity never ranks it (it holds a NaN or an infinity), 0 is the zero vector. */
static void put_special(uint8_t *block, size_t r, uint8_t *row, struct bench *bench, uint32_t dim,
                        double square) {
    struct coded coded = {0, isfinite(square) ? INFINITY : -INFINITY, 1};
    if (square == 0) coded = (struct coded){0, 0, 0};
    memset(bench->codes, 8, dims_of(dim));
    put_nibbles(block, r, dim, bench->codes, coded);
    memset(bench->codes, 128, dims_of(dim));
    put_bytes(row, dim, bench->codes, coded);
}

static void put_row(const struct rag_matrix *matrix, uint64_t index, uint8_t *block, uint8_t *row,
                    struct bench *bench) {
    const uint32_t dim = matrix->dim;
    const uint8_t *floats = rag_matrix_floats(matrix, index, bench->floats);
    double dot, square;
    rag_kernels()->canonical(floats, bench->zeros, dim, &dot, &square);
    if (!(square >= 0x1p-200 && square <= 0x1p200)) {
        put_special(block, index % BLOCK_ROWS, row, bench, dim, square);
        return;
    }
    const double norm = sqrt(square);
    const float largest = rag_kernels()->scale_row(floats, dim, 1 / norm, bench->unit, bench->wide);
    struct coded nibbles = encode_nibbles(bench, dim, largest);
    nibbles.norm = (float)norm;
    put_nibbles(block, index % BLOCK_ROWS, dim, bench->codes, nibbles);
    struct coded bytes = encode_bytes(bench, dim, largest);
    bytes.norm = (float)norm;
    put_bytes(row, dim, bench->codes, bytes);
}

static enum rag_status write_groups(const struct rag_matrix *matrix, struct bench *bench,
                                    uint8_t *group, rag_write *write, void *context,
                                    struct rag_fault *fault) {
    const uint32_t dim = matrix->dim;
    const uint64_t group_rows = group_rows_of(dim);
    const size_t block_size = rag_shadow_block_size(dim), row_size = rag_shadow_row_size(dim);
    for (uint64_t first = 0; first < matrix->count; first += group_rows) {
        const uint64_t rows =
            matrix->count - first < group_rows ? matrix->count - first : group_rows;
        enum rag_status status = rag_matrix_touch(matrix, first, rows, fault);
        if (status != RAG_OK) return status;
        uint8_t *codes = group + blocks_of(rows) * block_size;
        rag_float_mode before;
        memset(group, 0, (size_t)(codes - group));
        rag_float_plain(&before);
        for (uint64_t i = 0; i < rows; i++)
            put_row(matrix, first + i, group + i / BLOCK_ROWS * block_size, codes + i * row_size,
                    bench);
        rag_float_back(&before);
        status = write(context, group, group_size(dim, rows));
        if (status != RAG_OK) return status;
    }
    return RAG_OK;
}

static void put_head(uint8_t *head, const struct rag_matrix *matrix) {
    memcpy(head, magic, sizeof magic);
    store_u32(head + SHADOW_AT_VERSION, SHADOW_VERSION);
    store_u32(head + SHADOW_AT_DIM, matrix->dim);
    store_u64(head + SHADOW_AT_ROWS, matrix->count);
    store_u32(head + SHADOW_AT_GROUP_ROWS, (uint32_t)group_rows_of(matrix->dim));
}

enum rag_status rag_shadow_build(const struct rag_matrix *matrix, rag_write *write, void *context,
                                 struct rag_fault *fault) {
    uint8_t head[SHADOW_HEAD] = {0}, slack[SHADOW_SLACK] = {0};
    struct bench bench = {0};
    enum rag_status status = RAG_MEMORY;
    uint8_t *group = malloc(group_size(matrix->dim, group_rows_of(matrix->dim)));
    put_head(head, matrix);
    if (group && bench_open(&bench, matrix->dim)) {
        status = write(context, head, sizeof head);
        if (status == RAG_OK) status = write_groups(matrix, &bench, group, write, context, fault);
        if (status == RAG_OK) status = write(context, slack, sizeof slack);
    }
    free(bench.memory);
    free(group);
    return status == RAG_MEMORY ? rag_fail(fault, RAG_MEMORY, 0, "no memory to build a shadow")
                                : status;
}
