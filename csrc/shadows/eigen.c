/* eigen.c - eigenvectors of a symmetric matrix, the same to the bit on every machine.
 *
 * Householder reflections make the matrix tridiagonal, QL steps with implicit shifts diagonalise
 * that, and the reflections transform the vectors back. All of it is binary64 with + - * / and
 * sqrt, which IEEE 754 rounds in one way, in an order that the loops below fix: sums run over
 * vectors that are added element by element, or over LANES sums that are added at the end. The
 * build disables fused operations, and no library is called.
 *
 * Vectors are rows, so that each step works on memory in order. Values come in falling order. A
 * matrix that does not converge is refused; callers proceed without a rotation. */
#include <math.h>
#include <stdlib.h>

#include "shadows/rotation.h"

enum { LANES = 4, QL_STEPS = 60 };

static double dot(const double *a, const double *b, size_t count) {
    double sums[LANES] = {0}, rest = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t j = 0; j < LANES; j++) sums[j] += a[i + j] * b[i + j];
    for (; i < count; i++) rest += a[i] * b[i];
    return ((sums[0] + sums[2]) + (sums[1] + sums[3])) + rest;
}

static void add_times(double *to, double factor, const double *from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] += factor * from[i];
}

/* The unit vector v for which I - 2 v v^T turns x into (result, 0, 0, ...). */
static double reflection(const double *x, size_t count, double *v) {
    const double size = sqrt(dot(x, x, count)), to = x[0] > 0 ? -size : size;
    for (size_t i = 0; i < count; i++) v[i] = x[i];
    v[0] -= to;
    const double length = sqrt(dot(v, v, count));
    for (size_t i = 0; i < count; i++) v[i] = length > 0 ? v[i] / length : 0;
    return to;
}

/* A <- H A H on the rows and columns from `from` on, H = I - 2 v v^T; scratch: n numbers. */
static void reflect_both(double *matrix, size_t n, size_t from, const double *v, double *scratch) {
    const size_t count = n - from;
    for (size_t i = 0; i < count; i++) scratch[i] = 0;
    for (size_t i = 0; i < count; i++)
        add_times(scratch, v[i], matrix + (from + i) * n + from, count);
    add_times(scratch, -dot(v, scratch, count), v, count);
    for (size_t i = 0; i < count; i++) {
        double *row = matrix + (from + i) * n + from;
        add_times(row, -2 * v[i], scratch, count);
        add_times(row, -2 * scratch[i], v, count);
    }
}

/* Leave the diagonal in values, the off-diagonal in beside, and the reflections in the matrix rows,
 * right of the diagonal. */
static void tridiagonalise(double *matrix, size_t n, double *values, double *beside,
                           double *scratch) {
    double *v = scratch + n;
    for (size_t k = 0; k + 1 < n; k++) {
        double *row = matrix + k * n + k + 1;
        beside[k] = reflection(row, n - k - 1, v);
        reflect_both(matrix, n, k + 1, v, scratch);
        for (size_t i = 0; i < n - k - 1; i++) row[i] = v[i];
    }
    for (size_t k = 0; k < n; k++) values[k] = matrix[k * n + k];
    beside[n - 1] = 0;
}

static void rotate_rows(double *a, double *b, size_t n, double c, double s) {
    for (size_t i = 0; i < n; i++) {
        const double x = a[i], y = b[i];
        b[i] = s * x + c * y;
        a[i] = c * x - s * y;
    }
}

/* One implicit QL step on the block from first to last. */
static void ql_step(double *values, double *beside, double *vectors, size_t n, size_t first,
                    size_t last) {
    double g = (values[first + 1] - values[first]) / (2 * beside[first]);
    const double root = sqrt(g * g + 1);
    g = values[last] - values[first] + beside[first] / (g + (g < 0 ? -root : root));
    double s = 1, c = 1, p = 0;
    for (size_t i = last; i-- > first;) {
        const double f = s * beside[i], b = c * beside[i], r = sqrt(f * f + g * g);
        beside[i + 1] = r;
        if (r == 0) {
            values[i + 1] -= p;
            beside[last] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = values[i + 1] - p;
        const double t = (values[i] - g) * s + 2 * c * b;
        p = s * t;
        values[i + 1] = g + p;
        g = c * t - b;
        rotate_rows(vectors + i * n, vectors + (i + 1) * n, n, c, s);
    }
    values[first] -= p;
    beside[first] = g;
    beside[last] = 0;
}

/* Return the end of the block that starts at first: the next negligible off-diagonal. */
static size_t block_end(const double *values, const double *beside, size_t n, size_t first) {
    size_t last = first;
    for (; last + 1 < n; last++) {
        const double size = fabs(values[last]) + fabs(values[last + 1]);
        if (fabs(beside[last]) <= 0x1p-52 * size) break;
    }
    return last;
}

static bool diagonalise(double *values, double *beside, double *vectors, size_t n) {
    for (size_t first = 0; first < n; first++) {
        size_t steps = 0, last;
        while ((last = block_end(values, beside, n, first)) != first) {
            /* unreached: no matrix is known that takes so many steps */
            if (steps++ == QL_STEPS) return false;
            ql_step(values, beside, vectors, n, first, last);
        }
    }
    return true;
}

/* Transform vectors of the tridiagonal matrix to those of the original. */
static void reflect_back(const double *matrix, size_t n, double *vectors) {
    for (size_t k = n - 1; k-- > 0;) {
        const double *v = matrix + k * n + k + 1;
        for (size_t i = 0; i < n; i++) {
            double *row = vectors + i * n + k + 1;
            add_times(row, -2 * dot(v, row, n - k - 1), v, n - k - 1);
        }
    }
}

static void sort_falling(double *values, double *vectors, size_t n) {
    for (size_t i = 0; i + 1 < n; i++) {
        size_t most = i;
        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[most]) most = j;
        if (most == i) continue;
        const double value = values[i];
        values[i] = values[most];
        values[most] = value;
        for (size_t j = 0; j < n; j++) {
            const double x = vectors[i * n + j];
            vectors[i * n + j] = vectors[most * n + j];
            vectors[most * n + j] = x;
        }
    }
}

bool rag_eigen(double *matrix, size_t n, double *values, double *vectors) {
    double *scratch = malloc(3 * n * sizeof *scratch);
    if (!scratch) return false;
    for (size_t i = 0; i < n * n; i++) vectors[i] = 0;
    for (size_t i = 0; i < n; i++) vectors[i * n + i] = 1;
    tridiagonalise(matrix, n, values, scratch + 2 * n, scratch);
    const bool done = diagonalise(values, scratch + 2 * n, vectors, n);
    if (done) {
        reflect_back(matrix, n, vectors);
        sort_falling(values, vectors, n);
    }
    free(scratch);
    return done;
}
