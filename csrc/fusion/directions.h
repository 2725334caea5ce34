/* directions.h - cosines of vectors in binary64, summed in a fixed order that compilers vectorise.
 */
#ifndef RAG_DIRECTIONS_H
#define RAG_DIRECTIONS_H

#include <math.h>
#include <stddef.h>

enum { DIRECTION_LANES = 8 };

/* Lane i sums the products i, i + 8, i + 16 …; then the lanes are added in order. */
static inline double direction_dot(const double *a, const double *b, size_t dim) {
    double lanes[DIRECTION_LANES] = {0}, sum = 0.0;
    size_t i = 0;
    for (; i + DIRECTION_LANES <= dim; i += DIRECTION_LANES)
        for (size_t lane = 0; lane < DIRECTION_LANES; lane++)
            lanes[lane] += a[i + lane] * b[i + lane];
    for (size_t lane = 0; i < dim; i++, lane++) lanes[lane] += a[i] * b[i];
    for (size_t lane = 0; lane < DIRECTION_LANES; lane++) sum += lanes[lane];
    return sum;
}

/* Write the vector of length 1 in the direction of another; zeros for one without a direction. */
static inline void direction_of(const double *vector, size_t dim, double *unit) {
    const double norm = sqrt(direction_dot(vector, vector, dim));
    const int has_direction = norm > 0 && isfinite(norm);
    for (size_t i = 0; i < dim; i++) unit[i] = has_direction ? vector[i] / norm : 0.0;
}

#endif
