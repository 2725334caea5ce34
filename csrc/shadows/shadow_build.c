/* shadow_build.c - build a section of codes: the parts common to both kinds, and the 4-bit blocks
 * of the plain one.
 *
 * Both kinds hold unit rows in 8 bits. The plain one, rag.shadow, has them in 4 bits too;
 * planes_build.c makes the blocks of the other. Each row is coded independently, with the same
 * arithmetic on every machine, and a full group is written at once, so memory is bounded. */
#include <math.h>
#include <stdlib.h>

#include "shadows/shadow.h"
#include "shared/fail.h"

static size_t padded(uint32_t dim) { return (size_t)align_up(dim, GROUP_DIMS); }

/* Scratch memory for one row, each array padded to a multiple of 16 components. */
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

/* An upper bound of the distance between scale * values and unit; the rounding of unit itself is
 * 2^-24 at most. */
static float residual(struct bench *bench, uint32_t dim, float scale) {
    double dot, square;
    rag_kernels()->leave(bench->wide, dim, scale, bench->values);
    rag_kernels()->canonical((const uint8_t *)bench->values, bench->zeros, dim, &dot, &square);
    return (float)(sqrt(square) * (1 + 1e-6) + 1e-7);
}

/* 4 bits: choose the step with the least error, then the best scale for its codes, which makes
 * the residual orthogonal to the coded part. Steps suit a normal distribution, and a few heavy
 * tails. */
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

void rag_shadow_put_nibbles(uint8_t *block, size_t r, size_t dims, const uint8_t *codes) {
    for (size_t g = 0; g < dims / GROUP_DIMS; g++)
        for (size_t t = 0; t < 4; t++)
            block[64 * g + 4 * r + t] = (uint8_t)(codes[8 * g + t] | codes[8 * g + 4 + t] << 4);
}

static void put_nibbles(uint8_t *block, size_t r, uint32_t dim, const uint8_t *codes,
                        struct coded coded) {
    uint8_t *meta = block + 8 * padded(dim) + 4 * r;
    rag_shadow_put_nibbles(block, r, padded(dim), codes);
    store_f32(meta, coded.scale);
    store_f32(meta + 64, coded.rest);
    store_f32(meta + 128, coded.norm);
}

static void put_bytes(uint8_t *row, uint32_t dim, const uint8_t *codes, struct coded coded) {
    store_f32(row, coded.scale);
    store_f32(row + 4, coded.rest);
    store_f32(row + 8, coded.norm);
    memcpy(row + CODE_HEAD, codes, padded(dim));
}

/* Code a row without a usable direction. rest classifies it: infinity always scores it exactly,
 * -infinity never ranks it (it holds a NaN or an infinity), 0 is the zero vector. */
/* A group being written, with the offsets of its parts. */
struct group {
    const struct rag_shadow *shadow;
    struct planes_bench *planes; /* or NULL */
    uint8_t *bytes, *norms, *codes;
    size_t block_size, row_size;
};

static void put_special(const struct group *group, uint64_t i, struct bench *bench, uint32_t dim,
                        double square) {
    struct coded coded = {0, isfinite(square) ? INFINITY : -INFINITY, 1};
    if (square == 0) coded = (struct coded){0, 0, 0};
    memset(bench->codes, 8, padded(dim));
    if (!group->planes)
        put_nibbles(group->bytes + i / BLOCK_ROWS * group->block_size, i % BLOCK_ROWS, dim,
                    bench->codes, coded);
    else store_f32(group->norms + 4 * i, coded.norm);
    memset(bench->codes, 128, padded(dim));
    put_bytes(group->codes + i * group->row_size, dim, bench->codes, coded);
}

static void put_usual(const struct group *group, uint64_t i, struct bench *bench, uint32_t dim,
                      float norm, float largest) {
    if (!group->planes) {
        struct coded nibbles = encode_nibbles(bench, dim, largest);
        nibbles.norm = norm;
        put_nibbles(group->bytes + i / BLOCK_ROWS * group->block_size, i % BLOCK_ROWS, dim,
                    bench->codes, nibbles);
    } else store_f32(group->norms + 4 * i, norm);
    struct coded bytes = encode_bytes(bench, dim, largest);
    bytes.norm = norm;
    put_bytes(group->codes + i * group->row_size, dim, bench->codes, bytes);
}

static void put_row(const struct rag_matrix *matrix, uint64_t row, const struct group *group,
                    uint64_t i, struct bench *bench) {
    const uint32_t dim = matrix->dim;
    const uint8_t *floats = rag_matrix_floats(matrix, row, bench->floats);
    double dot, square;
    rag_kernels()->canonical(floats, bench->zeros, dim, &dot, &square);
    const bool usual = square >= 0x1p-200 && square <= 0x1p200;
    if (usual) {
        const double norm = sqrt(square);
        const float largest =
            rag_kernels()->scale_row(floats, dim, 1 / norm, bench->unit, bench->wide);
        put_usual(group, i, bench, dim, (float)norm, largest);
    } else put_special(group, i, bench, dim, square);
    if (group->planes)
        rag_planes_take(group->planes, i % ROWS_AT_ONCE, usual ? bench->wide : bench->zeros,
                        !usual && square != 0);
}

static void put_group(const struct rag_matrix *matrix, uint64_t first, uint64_t rows,
                      struct group *group, struct bench *bench) {
    const size_t blocks = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    group->norms = group->bytes + blocks * group->block_size + (group->planes ? GROUP_HEAD : 0);
    group->codes = group->norms + (group->planes ? blocks * NORMS_SIZE : 0);
    memset(group->bytes, 0, (size_t)(group->codes - group->bytes));
    for (uint64_t i = 0; i < rows; i++) {
        put_row(matrix, first + i, group, i, bench);
        const size_t count = i % ROWS_AT_ONCE + 1;
        if (group->planes && (count == ROWS_AT_ONCE || i + 1 == rows))
            rag_planes_put(group->planes, group->bytes, i + 1 - count, count);
    }
    if (group->planes) rag_planes_seal(group->planes, group->bytes, rows);
}

static enum rag_status write_groups(const struct rag_matrix *matrix, struct group *group,
                                    struct bench *bench, rag_write *write, void *context,
                                    struct rag_fault *fault) {
    const uint64_t group_rows = group->shadow->group_rows;
    for (uint64_t first = 0; first < matrix->count; first += group_rows) {
        const uint64_t left = matrix->count - first, rows = left < group_rows ? left : group_rows;
        enum rag_status status = rag_matrix_touch(matrix, first, rows, fault);
        if (status != RAG_OK) return status;
        rag_float_mode before;
        rag_float_plain(&before);
        put_group(matrix, first, rows, group, bench);
        rag_float_back(&before);
        status = write(context, group->bytes, rag_shadow_group_size(group->shadow, rows));
        if (status != RAG_OK) return status;
    }
    return RAG_OK;
}

static enum rag_status write_all(const struct rag_matrix *matrix, const struct rag_shadow *shadow,
                                 const struct rag_rotation *rotation, rag_write *write,
                                 void *context, struct rag_fault *fault) {
    struct bench bench = {0};
    struct group group = {.shadow = shadow,
                          .bytes = malloc(rag_shadow_group_size(shadow, shadow->group_rows)),
                          .planes = rotation ? rag_planes_open(rotation, shadow) : NULL,
                          .block_size = rag_shadow_block_size(shadow),
                          .row_size = rag_shadow_row_size(shadow)};
    enum rag_status status = RAG_MEMORY;
    if (group.bytes && !rotation == !group.planes && bench_open(&bench, matrix->dim))
        status = write_groups(matrix, &group, &bench, write, context, fault);
    free(bench.memory);
    rag_planes_close(group.planes);
    free(group.bytes);
    return status;
}

uint64_t rag_shadow_size(const struct rag_matrix *matrix, const struct rag_rotation *rotation) {
    const struct rag_shadow shadow =
        rag_shadow_layout(matrix->count, matrix->dim, rotation ? rotation->kept : 0);
    return rag_shadow_section_size(&shadow);
}

enum rag_status rag_shadow_build(const struct rag_matrix *matrix,
                                 const struct rag_rotation *rotation, rag_write *write,
                                 void *context, struct rag_fault *fault) {
    uint8_t head[SHADOW_HEAD], slack[SHADOW_SLACK] = {0};
    const struct rag_shadow shadow =
        rag_shadow_layout(matrix->count, matrix->dim, rotation ? rotation->kept : 0);
    rag_shadow_put_head(&shadow, head);
    enum rag_status status = write(context, head, sizeof head);
    if (status == RAG_OK && rotation)
        status = rag_planes_write_axes(&shadow, rotation, write, context);
    if (status == RAG_OK) status = write_all(matrix, &shadow, rotation, write, context, fault);
    if (status == RAG_OK) status = write(context, slack, sizeof slack);
    return status == RAG_MEMORY ? rag_fail(fault, RAG_MEMORY, 0, "no memory to build a shadow")
                                : status;
}
