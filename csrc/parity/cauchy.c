/* cauchy.c - rows of parity in n log n, and blocks from rows.
 *
 * The sum that cauchy.h defines costs one product for each block and row. The rows are computed
 * with the additive Fourier transform of Lin, Chung and Han instead: the blocks are taken M at a
 * time as values of a polynomial at the points of a coset of V = {0 … M - 1}; the inverse transform
 * gives its coefficients, and the sum of all of them, transformed at V itself, gives the rows. By
 * Lagrange, the polynomial that is d(j) at the points x(j) of a coset is
 *
 *    sum of d(j) * s(x) / ((p + x(j)) * D)
 *
 * at a point p of V, where s is the polynomial whose roots are V, the same number s(x) at every
 * point of the coset, and D the product of all elements of V but 0. So multiplying the coefficients
 * of each coset by D / s(x) leaves Cauchy's sum.
 *
 * A strip of STRIP bytes of every block is done at a time: it stays in the cache, and strips go to
 * threads. Lost blocks come from the inverse of a Cauchy matrix, which is written down directly. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "parity/cauchy.h"
#include "parity/gf16.h"
#include "shared/fail.h"

enum { STRIP = 1024, BITS = 16 };

uint32_t rag_cauchy_base(uint32_t rows) {
    uint32_t base = 1;
    while (base < rows) base *= 2;
    return base;
}

/* ------------------------------------------------------------------------------- the transform */

/* plain[j][i] is the value at 2^i of the polynomial whose roots are 0 … 2^j - 1, unit[j][i] the
 * same divided so that it is 1 at 2^j. Both are linear. */
struct spaces {
    uint16_t plain[BITS + 1][BITS], unit[BITS][BITS];
};

static void make_spaces(struct spaces *s) {
    for (int i = 0; i < BITS; i++) s->plain[0][i] = (uint16_t)(1u << i);
    for (int j = 0; j < BITS; j++) {
        const uint16_t inverse = rag_gf_inverse(s->plain[j][j]);
        for (int i = 0; i < BITS; i++) {
            const uint16_t value = s->plain[j][i];
            s->unit[j][i] = rag_gf_product(value, inverse);
            s->plain[j + 1][i] = rag_gf_product(value, value ^ s->plain[j][j]);
        }
    }
}

static uint16_t value_at(const uint16_t *of_bits, uint32_t point) {
    uint16_t sum = 0;
    for (int i = 0; point; i++, point >>= 1)
        if (point & 1) sum ^= of_bits[i];
    return sum;
}

/* M rows of `width` bytes: coefficients to the values at the points offset … offset + M - 1. */
static void transform(const struct spaces *s, uint8_t *rows, uint32_t base, uint32_t offset,
                      size_t width) {
    int level = 0;
    while (1u << level < base) level++;
    for (uint32_t half = base / 2; half > 0; half /= 2) {
        level--;
        for (uint32_t at = 0; at < base; at += 2 * half) {
            const uint16_t factor = value_at(s->unit[level], at ^ offset);
            for (uint32_t i = at; i < at + half; i++) {
                uint8_t *low = rows + i * width, *high = rows + (i + half) * width;
                rag_gf_add_product(low, high, factor, width);
                rag_gf_add(high, low, width);
            }
        }
    }
}

static void transform_back(const struct spaces *s, uint8_t *rows, uint32_t base, uint32_t offset,
                           size_t width) {
    int level = 0;
    for (uint32_t half = 1; half < base; half *= 2, level++)
        for (uint32_t at = 0; at < base; at += 2 * half) {
            const uint16_t factor = value_at(s->unit[level], at ^ offset);
            for (uint32_t i = at; i < at + half; i++) {
                uint8_t *low = rows + i * width, *high = rows + (i + half) * width;
                rag_gf_add(high, low, width);
                rag_gf_add_product(low, high, factor, width);
            }
        }
}

/* ----------------------------------------------------------------------------------------- rows */

struct strips {
    const struct rag_blocks *blocks;
    struct spaces spaces;
    uint32_t rows, base;
    uint16_t product; /* of all elements of V but 0 */
    uint8_t *out;
    size_t stride;
    bool failed;
};

static void load_strip(const struct rag_blocks *b, uint32_t j, size_t at, uint8_t *out,
                       size_t width) {
    const uint64_t from = b->first + j * b->stride + at;
    memset(out, 0, width);
    if (j >= b->count || from >= b->size || (b->lost && b->lost[j])) return;
    memcpy(out, b->bytes + from, b->size - from < width ? (size_t)(b->size - from) : width);
}

/* The coefficients of the blocks from j on, weighed, are added to sums. */
static void add_coset(const struct strips *s, uint32_t j, size_t at, uint8_t *room, uint8_t *sums,
                      size_t width) {
    const uint32_t offset = s->base + j;
    int level = 0;
    while (1u << level < s->base) level++;
    const uint16_t roots = value_at(s->spaces.plain[level], offset);
    for (uint32_t i = 0; i < s->base; i++)
        load_strip(s->blocks, j + i, at, room + i * width, width);
    transform_back(&s->spaces, room, s->base, offset, width);
    const uint16_t weight = rag_gf_product(s->product, rag_gf_inverse(roots));
    for (uint32_t i = 0; i < s->base; i++)
        rag_gf_add_product(sums + i * width, room + i * width, weight, width);
}

static void do_strip(void *context, size_t number) {
    struct strips *s = context;
    const size_t at = number * STRIP;
    const size_t width = s->blocks->block - at < STRIP ? s->blocks->block - at : STRIP;
    uint8_t *room = malloc(s->base * width), *sums = calloc(s->base, width);
    if (room && sums) {
        for (uint32_t j = 0; j < s->blocks->count; j += s->base)
            add_coset(s, j, at, room, sums, width);
        transform(&s->spaces, sums, s->base, 0, width);
        for (uint32_t p = 0; p < s->rows; p++)
            memcpy(s->out + p * s->stride + at, sums + p * width, width);
    } else {
        __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    }
    free(room);
    free(sums);
}

enum rag_status rag_cauchy_rows(const struct rag_blocks *blocks, uint32_t rows, uint8_t *out,
                                size_t stride, struct rag_fault *fault) {
    struct strips s = {.blocks = blocks, .rows = rows, .out = out, .stride = stride, .product = 1};
    make_spaces(&s.spaces);
    s.base = rag_cauchy_base(rows);
    for (int j = 0; 1u << j < s.base; j++)
        s.product = rag_gf_product(s.product, s.spaces.plain[j][j]);
    rag_parallel((blocks->block + STRIP - 1) / STRIP, rag_cpu_count(), do_strip, &s);
    return s.failed ? rag_fail(fault, RAG_MEMORY, 0, "no memory") : RAG_OK;
}

/* --------------------------------------------------------------------------------- lost blocks */

struct matrix {
    const uint32_t *rows;
    uint32_t *points; /* of the lost blocks */
    uint16_t *of_row, *of_point;
    uint8_t *const *sums;
    uint8_t *out;
    size_t block;
    uint32_t count;
};

/* The product of (at + others[k]) for all k, but for the factor 0 where at is one of them. */
static uint16_t distances(uint32_t at, const uint32_t *others, uint32_t count) {
    uint16_t product = 1;
    for (uint32_t k = 0; k < count; k++)
        if (others[k] != at) product = rag_gf_product(product, (uint16_t)(at ^ others[k]));
    return product;
}

/* The inverse of the matrix 1 / (row j + point i) is
 * of_row[j] * of_point[i] / (row j + point i). */
static void invert(struct matrix *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        const uint32_t row = m->rows[i], point = m->points[i];
        m->of_row[i] = rag_gf_product(distances(row, m->points, m->count),
                                      rag_gf_inverse(distances(row, m->rows, m->count)));
        m->of_point[i] = rag_gf_product(distances(point, m->rows, m->count),
                                        rag_gf_inverse(distances(point, m->points, m->count)));
    }
}

static void solve_one(void *context, size_t i) {
    const struct matrix *m = context;
    uint8_t *out = m->out + i * m->block;
    memset(out, 0, m->block);
    for (uint32_t j = 0; j < m->count; j++) {
        const uint16_t distance = rag_gf_inverse((uint16_t)(m->rows[j] ^ m->points[i]));
        const uint16_t factor =
            rag_gf_product(rag_gf_product(m->of_row[j], m->of_point[i]), distance);
        rag_gf_add_product(out, m->sums[j], factor, m->block);
    }
}

enum rag_status rag_cauchy_solve(uint32_t rows, const uint32_t *lost, const uint32_t *kept,
                                 uint32_t count, uint8_t *const *sums, uint8_t *out, size_t block,
                                 struct rag_fault *fault) {
    struct matrix m = {.rows = kept, .sums = sums, .out = out, .block = block, .count = count};
    m.points = malloc(count * sizeof *m.points + 1);
    m.of_row = malloc(count * sizeof *m.of_row + 1);
    m.of_point = malloc(count * sizeof *m.of_point + 1);
    const bool there = m.points && m.of_row && m.of_point;
    if (there) {
        for (uint32_t i = 0; i < count; i++) m.points[i] = rag_cauchy_base(rows) + lost[i];
        invert(&m);
        rag_parallel(count, rag_cpu_count(), solve_one, &m);
    }
    free(m.points);
    free(m.of_row);
    free(m.of_point);
    return there ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory");
}
