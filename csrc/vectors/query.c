/* query.c - prepares a query for a search, and converts between scores and keys.
 *
 * All of this runs once for each query or for each row that survives, in binary64.
 *
 * rag_query_prepare fills memory that the caller provides (rag_query_size bytes): the components as
 * binary64 for canonical scores, the unit vector as binary32 for estimates and, for scans of a
 * shadow, two sets of integer codes. Coarse codes have 8 bits and go up to 127; fine ones go up to
 * 32000 and are stored as a high and a low byte, because kernels multiply bytes. All arrays are
 * padded with zeros to a multiple of QUERY_PAD. Each set carries its step and a bound on its error.
 * Codes can differ between machines; their errors must be true.
 *
 * A query whose norm is zero, or outside 2^-100 .. 2^100, is plain: bounds are not worth having,
 * and every row is scored.
 *
 * rag_score makes the canonical score of two canonical products. The other direction must never
 * lose a row: rag_floor_of gives a key that every row with at least this score reaches, and
 * rag_key_bounds rounds its bounds outwards. The factors 1e-14 and 1e-6 are room for the rounding
 * of these conversions; spec/parts/vectors.md has the proof. */
#include <float.h>
#include <math.h>

#include "vectors/vectors.h"

static size_t padded(uint32_t dim) { return (size_t)align_up(dim, QUERY_PAD); }

size_t rag_query_size(uint32_t dim) {
    return padded(dim) * (sizeof(double) + sizeof(float) + 3) + 64;
}

/* Rounds up, or down, to binary32. */
static float float_above(double value) {
    float f = (float)value;
    uint32_t bits;
    if (!((double)f < value)) return f;
    memcpy(&bits, &f, sizeof bits);
    bits = f == 0 ? 1 : f > 0 ? bits + 1 : bits - 1;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float float_below(double value) { return -float_above(-value); }

/* rint() for magnitudes below 2^31, without a call: adding a large number removes the fraction. */
static inline double rounded(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

enum {
    LANES = 4
}; /* sums in lanes: one chain of additions would take longer than the scan of a small collection */

static double largest_of(const double *values, size_t count) {
    double most[LANES] = {0};
    for (size_t i = 0; i < count; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            const double value = fabs(values[i + j]);
            most[j] = value > most[j] ? value : most[j];
        }
    return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

/* The squared norm of the error of rounding `count` components, a multiple of LANES, to
 * multiples of step. */
static double rounding_error(const double *values, size_t count, double step, double scale) {
    double sums[LANES] = {0};
    for (size_t i = 0; i < count; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            const double rest = values[i + j] - rounded(values[i + j] * scale) * step;
            sums[j] += rest * rest;
        }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/* The largest sum of the magnitudes of a pair of neighbours. */
static double largest_pair(const double *values, size_t count) {
    double most[LANES] = {0};
    for (size_t i = 0; i < count; i += 2 * LANES)
        for (size_t j = 0; j < LANES; j++) {
            const double value = fabs(values[i + 2 * j]) + fabs(values[i + 2 * j + 1]);
            most[j] = value > most[j] ? value : most[j];
        }
    return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

/* Rounding adds at most one half to each of a pair. */
struct code_scale rag_code_coarse(const double *values, size_t count, double norm,
                                  int32_t pair_most, int8_t *codes) {
    const double largest = largest_of(values, count),
                 widest = fmax(largest / 127, largest_pair(values, count) / (pair_most - 1));
    const double step = largest > 0 ? widest : norm / 127, scale = 1 / step;
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t code = (int32_t)rounded(values[i] * scale);
        codes[i] = (int8_t)code;
        sum += code;
    }
    const double error = rounding_error(values, count, step, scale);
    return (struct code_scale){sum, step / norm, sqrt(error) / norm * (1 + 1e-9)};
}

/* The sum of 65,536 codes fits in 32 bits. */
struct code_scale rag_code_fine(const double *values, size_t count, double norm, int8_t *high,
                                int8_t *low, int64_t *biases) {
    const double largest = largest_of(values, count);
    const double step = (largest > 0 ? largest : norm) / 32000, scale = 1 / step;
    int32_t sum = 0, upper_sum = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t code = (int32_t)rounded(values[i] * scale), upper = (code + 128) >> 8;
        high[i] = (int8_t)upper;
        low[i] = (int8_t)(code - 256 * upper);
        sum += code;
        upper_sum += upper;
    }
    const double error = rounding_error(values, count, step, scale);
    biases[0] = 128 * (int64_t)upper_sum;
    biases[1] = 128 * ((int64_t)sum - 256 * (int64_t)upper_sum);
    return (struct code_scale){sum, step / norm, sqrt(error) / norm * (1 + 1e-9)};
}

void rag_query_prepare(struct query *query, void *memory, const float *values, uint32_t dim,
                       enum rag_metric metric, bool coded) {
    const size_t size = padded(dim);
    double dot;
    double *wide = (double *)align_up((uintptr_t)memory, 64);
    float *unit = (float *)(wide + size);
    int8_t *codes = (int8_t *)(unit + size);
    memset(wide, 0, size * (sizeof(double) + sizeof(float) + (coded ? 3 : 0)));
    for (uint32_t i = 0; i < dim; i++) wide[i] = values[i];
    *query = (struct query){
        .wide = wide, .unit = unit, .code = codes, .high = codes + size, .low = codes + 2 * size};
    query->metric = metric;
    rag_kernels()->canonical((const uint8_t *)values, wide, dim, &dot, &query->square);
    query->norm = sqrt(query->square);
    query->plain = !(query->norm > 0x1p-100 && query->norm < 0x1p100);
    if (query->plain) return;
    query->curve = metric == RAG_L2 ? 0.5 / query->norm : 0;
    const double inverse = 1 / query->norm;
    for (uint32_t i = 0; i < dim; i++) unit[i] = (float)(wide[i] * inverse);
    if (!coded) return;
    query->coarse = rag_code_coarse(wide, size, query->norm, rag_kernels()->pair_most, codes);
    query->fine =
        rag_code_fine(wide, size, query->norm, codes + size, codes + 2 * size, query->biases);
}

static float saturate(double value) {
    if (value > FLT_MAX) return FLT_MAX;
    if (value < -FLT_MAX) return -FLT_MAX;
    return (float)value;
}

float rag_score(const struct query *query, double dot, double square) {
    if (query->metric == RAG_IP) return saturate(dot);
    if (query->metric == RAG_L2) return saturate(fmin(2 * dot - (query->square + square), 0));
    const double norms = query->norm * sqrt(square);
    return norms > 0 ? (float)(dot / norms) : 0;
}

float rag_floor_of(const struct query *query, float score) {
    const double below = nextafterf(score, -INFINITY);
    double value = below > -FLT_MAX ? ((double)score + below) / 2 : -INFINITY;
    if (query->metric == RAG_IP) value /= query->norm;
    if (query->metric == RAG_L2)
        value = (value + query->square) / (2 * query->norm) - 1e-14 * query->norm;
    value -= fabs(value) * 1e-14;
    return value < -0x1p127 ? -INFINITY : value > FLT_MAX ? FLT_MAX : float_below(value);
}

float rag_floor_at(const struct query *query, float key) {
    double value = (double)key - fabs((double)key) * 1e-14;
    if (query->metric == RAG_IP) value *= query->norm;
    if (query->metric == RAG_L2)
        value = fmin(2 * query->norm * value - query->square * (1 + 1e-14), 0);
    return key == -INFINITY ? key : rag_floor_of(query, saturate(value));
}

void rag_key_bounds(const struct query *query, double estimate, double error, double norm,
                    float *upper, float *lower) {
    const double weight = query->metric == RAG_COSINE ? 1 : norm, bend = query->curve * weight;
    const double most = rag_key_above(query, estimate, error, norm);
    const double least = weight * (estimate - error - bend * (1 + 1e-6));
    *upper = isnan(most) ? INFINITY : float_above(most);
    *lower = isnan(least) ? -INFINITY : least < -0x1p127 ? -INFINITY : float_below(least);
}
