/* moments.c - mean and deviation of a sample's scores, each from a sum that is rounded once, so that neither the order of the
 * sample nor the machine matters.
 *
 * A sum is kept as parts that do not overlap (Shewchuk): their exact sum is the exact sum of what was added. The parts of
 * binary64 numbers span 2^-1074 … 2^1023, so 40 of them hold anything; squares of binary32 scores need three or four. */
#include <math.h>

#include "internal.h"

enum { PARTS = 40 };

struct exact {
    double parts[PARTS]; /* by size, the smallest first */
    size_t count;
};

/* Not inlined: a product in the caller must be rounded before it is added, even where a fused multiply-add would be faster. */
__attribute__((noinline)) static void exact_add(struct exact *sum, double value) {
    size_t kept = 0;
    for (size_t i = 0; i < sum->count; i++) {
        const double part = sum->parts[i];
        const double large = fabs(value) < fabs(part) ? part : value, small = fabs(value) < fabs(part) ? value : part;
        const double high = large + small, low = small - (high - large);
        if (low != 0.0) sum->parts[kept++] = low;
        value = high;
    }
    sum->parts[kept++] = value;
    sum->count = kept;
}

/* The parts as one number, half to even: the first part that does not fit decides the rounding, unless it is just half a
 * unit; then the sign of the next one does. */
static double exact_value(const struct exact *sum) {
    size_t n = sum->count;
    double high = n ? sum->parts[--n] : 0.0, low = 0.0;
    while (n > 0 && low == 0.0) {
        const double before = high, part = sum->parts[--n];
        high = before + part;
        low = part - (high - before);
    }
    if (n == 0 || low == 0.0 || (low < 0.0) != (sum->parts[n - 1] < 0.0)) return high;
    const double twice = 2.0 * low, moved = high + twice;
    return moved - high == twice ? moved : high;
}

void rag_moments(const float *values, size_t count, double *mean, double *deviation) {
    struct exact sum = {{0}, 0}, squares = {{0}, 0};
    *mean = *deviation = 0.0;
    if (count == 0) return;
    for (size_t i = 0; i < count; i++) exact_add(&sum, values[i]);
    *mean = exact_value(&sum) / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double away = values[i] - *mean;
        exact_add(&squares, away * away);
    }
    *deviation = sqrt(exact_value(&squares) / (double)count);
}
