/* planes_build.c - the blocks of rag.planes: rows coded along a rotation's axes, with the errors of
 * their codes.
 *
 * For a row with the unit vector u, let x = u - mean. The point p is x in integers, and y = axes p
 * is exact. Later binary32 arithmetic rounds element by element, and lengths are canonical products
 * in binary64. So the same rows give the same bytes on every machine.
 *
 * A search relies on bounds of norms in the row's own space. Each bound is the computed norm plus
 * the errors of the steps before: the distance of p from x, the skew of the axes (they are only
 * nearly orthonormal), and rounding. spec/parts/vectors.md has the proof.
 *
 * Residuals and tails stay floats until their group is complete and its largest values are known;
 * then they become bytes. A zero row is the point -mean. A row with a norm out of range has the
 * tail TAIL_UNKNOWN: a sweep accepts it, and its 8-bit codes classify it. */
#include <math.h>
#include <stdlib.h>

#include "shadows/shadow.h"

#define ROUNDING 3e-7

struct planes_bench {
    const struct rag_rotation *rotation;
    size_t block_size;
    double skew, reach; /* reach: of the group's longest nibbles */
    double missed[ROWS_AT_ONCE];
    bool special[ROWS_AT_ONCE];
    float *rests, *tails; /* of the group's rows */
    float *inverse;       /* of the steps */
    float *turned, *scaled, *values;
    double *wide, *zeros;
    int16_t *points; /* of ROWS_AT_ONCE rows, like the sums */
    int32_t *sums;
    uint8_t *codes;
    void *memory;
};

static void carve(struct planes_bench *bench, size_t size, size_t group_rows) {
    bench->wide = bench->memory;
    bench->zeros = bench->wide + size;
    bench->turned = (float *)(bench->zeros + size);
    bench->scaled = bench->turned + size;
    bench->values = bench->scaled + size;
    bench->inverse = bench->values + size;
    bench->sums = (int32_t *)(bench->inverse + size);
    bench->points = (int16_t *)(bench->sums + ROWS_AT_ONCE * size);
    bench->codes = (uint8_t *)(bench->points + ROWS_AT_ONCE * size);
    bench->rests = (float *)(bench->codes + size);
    bench->tails = bench->rests + group_rows;
}

struct planes_bench *rag_planes_open(const struct rag_rotation *rotation,
                                     const struct rag_shadow *shadow) {
    const size_t size = align_up(rotation->dim, 64);
    struct planes_bench *bench = calloc(1, sizeof *bench);
    if (!bench) return NULL;
    bench->memory =
        calloc(size * (2 * 8 + 4 * 4 + ROWS_AT_ONCE * (4 + 2) + 1) + 8 * shadow->group_rows, 1);
    if (!bench->memory) {
        free(bench);
        return NULL;
    }
    carve(bench, size, shadow->group_rows);
    bench->rotation = rotation;
    bench->block_size = rag_shadow_block_size(shadow);
    bench->skew = rag_axes_skew((const uint8_t *)rotation->axes, rotation->stride, rotation->kept);
    for (size_t i = 0; i < rotation->kept; i++) bench->inverse[i] = 1.0f / rotation->steps[i];
    return bench;
}

void rag_planes_close(struct planes_bench *bench) {
    if (bench) free(bench->memory);
    free(bench);
}

static double length(const struct planes_bench *bench, const float *values, size_t count) {
    double dot, square;
    rag_kernels()->canonical((const uint8_t *)values, bench->zeros, count, &dot, &square);
    return sqrt(square);
}

/* Record the row's point, and an upper bound of its distance from the row. */
void rag_planes_take(struct planes_bench *bench, size_t place, const double *unit, bool special) {
    const struct rag_rotation *rotation = bench->rotation;
    int16_t *point = bench->points + place * rotation->stride;
    bench->special[place] = special;
    for (uint32_t i = 0; i < rotation->dim; i++) {
        const double x = unit[i] - (double)rotation->mean[i];
        const double whole = (x * (1 << POINT_BITS) + 0x1.8p52) - 0x1.8p52;
        /* unreached: the row has a part in the mean, and is nearer to it than 2 */
        const double near = whole > INT16_MAX ? INT16_MAX : whole < -INT16_MAX ? -INT16_MAX : whole;
        point[i] = (int16_t)near;
        bench->values[i] = (float)(x - near * 0x1p-14);
    }
    bench->missed[place] = length(bench, bench->values, rotation->dim) * (1 + 1e-6) + ROUNDING;
}

/* The norm across the kept axes: |x|^2 less the part along them. */
static float tail_of(const struct planes_bench *bench, const int16_t *point, double missed) {
    const struct rag_rotation *rotation = bench->rotation;
    int64_t square = 0;
    for (uint32_t i = 0; i < rotation->dim; i++) square += (int32_t)point[i] * point[i];
    const double along = length(bench, bench->turned, rotation->kept);
    const double left =
        (double)square * 0x1p-28 - along * along * (1 - ROUNDING) / (1 + bench->skew);
    return (float)((left > 0 ? sqrt(left) : 0) * (1 + 1e-6) + missed + ROUNDING);
}

/* Binary32 to binary16, ties to even, for finite numbers from 0 on; larger values saturate. */
static uint16_t half_of(float value) {
    if (value >= 65504.0f) return 0x7bff;
    if (value < 0x1p-14f) return (uint16_t)((value * 0x1p24f + 12582912.0f) - 12582912.0f);
    uint32_t bits = load_u32(&value);
    bits += 0xfff + (bits >> 13 & 1);
    return (uint16_t)((bits - (112u << 23)) >> 13);
}

static float of_half(uint16_t half) {
    float value;
    uint8_t bytes[2];
    store_u16(bytes, half);
    rag_kernels()->widen_f16(bytes, &value, 1);
    return value;
}

/* Choose the nibbles along the kept axes: of several steps, the one with the least error. Return
 * their length. */
static double code(struct planes_bench *bench) {
    static const float spread[] = {0.28f, 0.33f, 0.38f};
    const size_t kept = bench->rotation->kept;
    float best = INFINITY, best_step = 1;
    for (size_t i = 0; i < kept; i++) bench->scaled[i] = bench->turned[i] * bench->inverse[i];
    const float even = (float)(length(bench, bench->scaled, kept) / sqrt((double)kept));
    for (size_t i = 0; i < 3 && even > 0; i++) {
        const float step = spread[i] * even;
        const float error = rag_kernels()->nibble_error(bench->scaled, kept, step);
        if (error < best) best = error, best_step = step;
    }
    rag_kernels()->encode(bench->scaled, kept, best_step, 7.5f, 15.0f, bench->codes, bench->values);
    return length(bench, bench->values, kept);
}

/* Choose the scale with the least error; rest bounds the residual along the kept axes. */
static uint16_t measure(struct planes_bench *bench, double missed, float *rest) {
    const size_t kept = bench->rotation->kept;
    double dot, square;
    for (size_t i = 0; i < kept; i++) {
        bench->values[i] *= bench->rotation->steps[i];
        bench->wide[i] = bench->turned[i];
    }
    rag_kernels()->canonical((const uint8_t *)bench->values, bench->wide, kept, &dot, &square);
    const uint16_t half = half_of(dot > 0 ? (float)(dot / square) : 0);
    const float scale = of_half(half);
    rag_kernels()->leave(bench->wide, kept, scale, bench->values);
    const double left =
        length(bench, bench->values, kept) + 1.01 * missed + bench->skew * scale * sqrt(square);
    *rest = (float)(left * (1 + bench->skew) * (1 + 1e-6) + ROUNDING);
    return half;
}

static void put_row(struct planes_bench *bench, uint8_t *group, uint64_t row, size_t place) {
    const struct rag_rotation *rotation = bench->rotation;
    uint8_t *block = group + GROUP_HEAD + row / BLOCK_ROWS * bench->block_size;
    uint16_t scale = 0;
    bench->rests[row] = 0;
    bench->tails[row] = INFINITY;
    memset(bench->codes, 8, rotation->kept);
    if (!bench->special[place]) {
        for (size_t j = 0; j < rotation->kept; j++)
            bench->turned[j] = (float)bench->sums[place * rotation->kept + j] * 0x1p-29f;
        bench->tails[row] =
            tail_of(bench, bench->points + place * rotation->stride, bench->missed[place]);
        const double reach = code(bench);
        bench->reach = reach > bench->reach ? reach : bench->reach;
        scale = measure(bench, bench->missed[place], &bench->rests[row]);
    }
    rag_shadow_put_nibbles(block, row % BLOCK_ROWS, rotation->kept, bench->codes);
    store_u16(block + 8 * rotation->kept + 2 * (row % BLOCK_ROWS), scale);
}

void rag_planes_put(struct planes_bench *bench, uint8_t *group, uint64_t first, size_t count) {
    const struct rag_rotation *rotation = bench->rotation;
    rag_kernels()->turn((const uint8_t *)rotation->axes, rotation->kept, rotation->stride / 2,
                        bench->points, rotation->stride, ROWS_AT_ONCE, bench->sums);
    for (size_t i = 0; i < count; i++) put_row(bench, group, first + i, i);
}

/* --------------------------------------------------------------------------------------- groups */

/* The least byte that represents value or more. */
static uint8_t byte_above(float value, float unit, int most) {
    int byte = (int)(value / unit);
    while (byte < most && (double)byte * unit < value) byte++;
    return (uint8_t)(byte > most ? most : byte);
}

static float unit_of(const float *values, uint64_t count, int most) {
    float largest = 0x1p-60f;
    for (uint64_t i = 0; i < count; i++)
        if (values[i] > largest && values[i] < INFINITY) largest = values[i];
    return nextafterf(largest / (float)most, INFINITY);
}

void rag_planes_seal(struct planes_bench *bench, uint8_t *group, uint64_t rows) {
    const float rest_unit = unit_of(bench->rests, rows, 255),
                tail_unit = unit_of(bench->tails, rows, TAIL_UNKNOWN - 1);
    for (uint64_t i = 0; i < rows; i++) {
        uint8_t *meta = group + GROUP_HEAD + i / BLOCK_ROWS * bench->block_size +
                        8 * bench->rotation->kept + 2 * BLOCK_ROWS + i % BLOCK_ROWS;
        meta[0] = byte_above(bench->rests[i], rest_unit, 255);
        meta[BLOCK_ROWS] = bench->tails[i] == INFINITY
                               ? TAIL_UNKNOWN
                               : byte_above(bench->tails[i], tail_unit, TAIL_UNKNOWN - 1);
    }
    store_f32(group + GROUP_AT_REST_UNIT, rest_unit);
    store_f32(group + GROUP_AT_TAIL_UNIT, tail_unit);
    store_f32(group + GROUP_AT_REACH, nextafterf((float)(bench->reach * (1 + 1e-6)), INFINITY));
    bench->reach = 0;
}

/* Write mean, steps and axes, the parts before the first group. */
enum rag_status rag_planes_write_axes(const struct rag_shadow *shadow,
                                      const struct rag_rotation *rotation, rag_write *write,
                                      void *context) {
    const size_t mean = align_up(4 * (size_t)rotation->dim, 64), steps = 4 * rotation->kept;
    const size_t size = (size_t)shadow->groups_at - SHADOW_HEAD;
    uint8_t *bytes = calloc(size, 1);
    if (!bytes) return RAG_MEMORY;
    for (size_t i = 0; i < rotation->dim; i++) store_f32(bytes + 4 * i, rotation->mean[i]);
    for (size_t i = 0; i < rotation->kept; i++) store_f32(bytes + mean + 4 * i, rotation->steps[i]);
    for (size_t i = 0; i < rotation->kept * rotation->stride; i++)
        store_u16(bytes + mean + steps + 2 * i, (uint16_t)rotation->axes[i]);
    const enum rag_status status = write(context, bytes, size);
    free(bytes);
    return status;
}
