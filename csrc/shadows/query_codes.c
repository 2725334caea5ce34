/* query_codes.c - the integer codes of a query along a shadow's axes, and its terms of the bounds.
 *
 * A plain shadow uses the unit query q as query.c codes it. Planes code it along their axes: the
 * query becomes two int16 parts with exact integer products with the axes, and `missed` is the norm
 * of the remainder. The products times the steps become codes.
 *
 * The query's product with a residual is at most `along` times its length along the kept axes, and
 * at most `across` times its length across them. The axes are nearly orthonormal (SKEW), and the
 * bounds allow for that. */
#include <math.h>

#include "shadows/query_codes.h"

size_t rag_query_codes_size(const struct rag_shadow *shadow) {
    return shadow->kept ? shadow->kept + TOP_GROUPS * GROUP_DIMS : 0;
}

/* Split the query into two int16 parts; return the norm of the remainder. */
static double split(const struct query *query, uint32_t dim, int16_t *high, int16_t *low) {
    const double inverse = 1 / query->norm;
    double square = 0;
    for (uint32_t i = 0; i < dim; i++) {
        const double value = query->wide[i] * inverse;
        const double upper = (value * 0x1p14 + 0x1.8p52) - 0x1.8p52, rest = value - upper * 0x1p-14;
        const double lower = (rest * 0x1p22 + 0x1.8p52) - 0x1.8p52, left = rest - lower * 0x1p-22;
        high[i] = (int16_t)upper;
        low[i] = (int16_t)lower;
        square += left * left;
    }
    return sqrt(square) * (1 + 1e-6) + 1e-12;
}

/* Compute g, the query's products with the axes. */
static double products(const struct query *query, const struct rag_shadow *shadow,
                       const uint8_t *axes, double *g) {
    _Alignas(64) int16_t parts[2 * ROTATED_DIM_MAX] = {0};
    _Alignas(64) int32_t sums[2 * KEPT_MAX];
    const size_t stride = align_up(shadow->dim, AXIS_PAD);
    const double missed = split(query, shadow->dim, parts, parts + stride);
    rag_kernels()->turn(axes, shadow->kept, stride / 2, parts, stride, 2, sums);
    for (uint32_t i = 0; i < shadow->kept; i++)
        g[i] = sums[i] * 0x1p-29 + sums[shadow->kept + i] * 0x1p-37;
    return missed;
}

static void bound_sides(struct query_codes *codes, const double *g, uint32_t kept) {
    double square = 0;
    for (uint32_t i = 0; i < kept; i++) square += g[i] * g[i];
    const double length = sqrt(square), error = 1.01 * codes->missed;
    const double least = length > error ? length - error : 0;
    const double left = 1 - least * least / (1 + SKEW);
    codes->along = (length + error) * (1 + SKEW) * (1 + 1e-6) + 1e-6;
    codes->across = (left > 0 ? sqrt(left) : 0) * (1 + 1e-6) + 1e-6;
}

/* The kept products are uneven: one step for all codes would leave most of them few bits. So the
 * largest, which come first, have second codes, each worth 1 << TOP_SHIFT of the others. */
static struct code_scale code_nibbles(const double *values, size_t count, int8_t *codes,
                                      int8_t *top) {
    enum { FIRST = TOP_GROUPS * GROUP_DIMS, MOST = 127 << TOP_SHIFT };
    double largest = 1e-30, square = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(values[i]) / (i < FIRST ? MOST : 127));
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double scaled = values[i] / largest, whole = (scaled + 0x1.8p52) - 0x1.8p52;
        const double rest = values[i] - whole * largest;
        const int32_t code = (int32_t)whole, half = 1 << (TOP_SHIFT - 1);
        const int32_t upper = i < FIRST ? (code + half) >> TOP_SHIFT : 0;
        if (i < FIRST) top[i] = (int8_t)upper;
        codes[i] = (int8_t)(code - upper * (1 << TOP_SHIFT));
        sum += code;
        square += rest * rest;
    }
    return (struct code_scale){sum, largest, sqrt(square) * (1 + 1e-9)};
}

static void code_planes(struct query_codes *codes, int8_t *nibbles, const struct query *query,
                        const struct rag_shadow *shadow) {
    const struct axes axes = rag_shadow_axes(shadow);
    double g[KEPT_MAX];
    codes->code = nibbles;
    codes->top = nibbles + shadow->kept;
    codes->missed = products(query, shadow, axes.axes, g);
    bound_sides(codes, g, shadow->kept);
    for (uint32_t i = 0; i < shadow->kept; i++) g[i] *= (double)load_f32(axes.steps + 4 * i);
    codes->scale = code_nibbles(g, shadow->kept, nibbles, nibbles + shadow->kept);
    for (uint32_t i = 0; i < shadow->dim; i++)
        codes->base += query->wide[i] * (double)load_f32(axes.mean + 4 * i);
    codes->base /= query->norm;
}

void rag_query_codes_take(struct query_codes *codes, void *memory, const struct query *query,
                          const struct rag_shadow *shadow) {
    *codes = (struct query_codes){.code = query->code, .scale = query->coarse};
    if (shadow->kept) code_planes(codes, memory, query, shadow);
}
