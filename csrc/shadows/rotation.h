/* rotation.h - the axes of a shadow's planes: chosen from a matrix's rows (rotation.c, eigen.c), or
 * read from the section. */
#ifndef RAG_ROTATION_H
#define RAG_ROTATION_H

#include "ragfile/shadows.h"
#include "vectors/vectors.h"

enum {
    AXIS_BITS = 15,  /* an axis is int16 / 2^15 */
    POINT_BITS = 14, /* a row less the mean, with components in -2 .. 2, is int16 / 2^14 */
    AXIS_PAD = 32,   /* axes are zero-padded to a multiple of this many components */
    KEPT_MAX = 256,
    ROTATED_DIM_MAX = 512,
};

/* How far the kept axes may be from orthonormal: the Frobenius norm of their products less the
 * identity. A reader checks it in integers, and its bounds allow for it. */
#define SKEW 0x1p-8

/* The axes, the mean, and a code's step along each axis. */
struct rag_rotation {
    uint32_t dim, kept;
    size_t stride; /* components of an axis, with padding */
    int16_t *axes; /* in pairs: components 2 p and 2 p + 1 of axis i are at 2 (p kept + i) */
    float *mean, *steps;
};

/* Values (falling) and unit vectors (rows) of a symmetric n x n matrix, which is overwritten.
 * Deterministic to the bit. Returns false without memory, or where it does not converge. */
bool rag_eigen(double *matrix, size_t n, double *values, double *vectors);

/* Return the Frobenius norm of the axes' products less the identity; infinity if an axis is far
 * from unit length. Exact up to the last rounding. */
double rag_axes_skew(const uint8_t *axes, size_t stride, size_t kept);

#endif
