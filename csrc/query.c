/* query.c - what a search needs to know about its query, and the way between scores and keys.
 *
 * All of this runs once per query or per surviving row, in binary64. Codes need not be the same on every machine, only
 * their errors must be true. */
#include <float.h>
#include <math.h>

#include "vectors.h"

static size_t padded(uint32_t dim) { return (size_t)align_up(dim, QUERY_PAD); }

size_t rag_query_size(uint32_t dim) { return padded(dim) * (sizeof(double) + sizeof(float) + 3) + 64; }

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

/* Quantises unit components to integers of size up to most; both halves of 16-bit codes are signed bytes. */
static struct query_codes quantise(const struct query *query, uint32_t dim, double most, int8_t *high, int8_t *low) {
    double largest = 0, error = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < dim; i++) largest = fabs(query->wide[i]) > largest ? fabs(query->wide[i]) : largest;
    const double step = largest / most, scale = 1 / step;
    for (uint32_t i = 0; i < dim; i++) {
        const int code = (int)rint(query->wide[i] * scale);
        const double rest = query->wide[i] - code * step;
        error += rest * rest;
        sum += code;
        if (low) {
            high[i] = (int8_t)((code + 128) >> 8);
            low[i] = (int8_t)(code - 256 * high[i]);
        } else {
            high[i] = (int8_t)code;
        }
    }
    return (struct query_codes){sum, step / query->norm, sqrt(error) / query->norm * (1 + 1e-9)};
}

void rag_query_prepare(struct query *query, void *memory, const float *values, uint32_t dim, enum rag_metric metric,
                       bool coded) {
    const size_t size = padded(dim);
    double dot;
    double *wide = (double *)align_up((uintptr_t)memory, 64);
    float *unit = (float *)(wide + size);
    int8_t *codes = (int8_t *)(unit + size);
    memset(wide, 0, size * (sizeof(double) + sizeof(float) + (coded ? 3 : 0)));
    for (uint32_t i = 0; i < dim; i++) wide[i] = values[i];
    *query = (struct query){.wide = wide, .unit = unit, .code = codes, .high = codes + size, .low = codes + 2 * size};
    query->metric = metric;
    rag_kernels()->canonical((const uint8_t *)values, wide, dim, &dot, &query->square);
    query->norm = sqrt(query->square);
    query->plain = !(query->norm > 0x1p-100 && query->norm < 0x1p100);
    if (query->plain) return;
    query->curve = metric == RAG_L2 ? 0.5 / query->norm : 0;
    const double inverse = 1 / query->norm;
    for (uint32_t i = 0; i < dim; i++) unit[i] = (float)(wide[i] * inverse);
    if (!coded) return;
    query->coarse = quantise(query, dim, 127, codes, NULL);
    query->fine = quantise(query, dim, 32000, codes + size, codes + 2 * size);
    for (uint32_t i = 0; i < dim; i++)
        query->biases[0] += 128 * query->high[i], query->biases[1] += 128 * query->low[i];
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
    if (query->metric == RAG_L2) value = (value + query->square) / (2 * query->norm) - 1e-14 * query->norm;
    value -= fabs(value) * 1e-14;
    return value < -0x1p127 ? -INFINITY : value > FLT_MAX ? FLT_MAX : float_below(value);
}

float rag_floor_at(const struct query *query, float key) {
    double value = (double)key - fabs((double)key) * 1e-14;
    if (query->metric == RAG_IP) value *= query->norm;
    if (query->metric == RAG_L2) value = fmin(2 * query->norm * value - query->square * (1 + 1e-14), 0);
    return key == -INFINITY ? key : rag_floor_of(query, saturate(value));
}

void rag_key_bounds(const struct query *query, double estimate, double error, double norm, float *upper, float *lower) {
    const double weight = query->metric == RAG_COSINE ? 1 : norm, bend = query->curve * weight;
    const double most = rag_key_above(query, estimate, error, norm);
    const double least = weight * (estimate - error - bend * (1 + 1e-6));
    *upper = isnan(most) ? INFINITY : float_above(most);
    *lower = isnan(least) ? -INFINITY : least < -0x1p127 ? -INFINITY : float_below(least);
}
