/* exact_sum.c - mean and deviation of a sample's scores, each from a sum that is rounded once, so
 * that neither the order of the sample nor the machine matters. Scores that are not finite (of a
 * row with a NaN, or too large for binary32) are left out: they have no finite parts.
 *
 * A sum is kept as parts that do not overlap (Shewchuk): their exact sum is the exact sum of the
 * numbers that were added. The parts of binary64 numbers span 2^-1074 … 2^1023, so 40 of them hold
 * any sum. Nearly always a compensated sum with an error bound proves its own last bit, and the
 * parts are not needed. Products are stored before they are added, and the adders are not inlined
 * into the code that makes products: a fused multiply-add would round once where two roundings are
 * defined. */
#include <math.h>
#include <stdbool.h>

#include "ragfile/sample.h"

enum { PARTS = 40 };

struct exact {
    double parts[PARTS]; /* by size, the smallest first */
    size_t count;
};

static void exact_add(struct exact *sum, double value) {
    size_t kept = 0;
    for (size_t i = 0; i < sum->count; i++) {
        const double part = sum->parts[i];
        const double large = fabs(value) < fabs(part) ? part : value,
                     small = fabs(value) < fabs(part) ? value : part;
        const double high = large + small, low = small - (high - large);
        if (low != 0.0) sum->parts[kept++] = low;
        value = high;
    }
    sum->parts[kept++] = value;
    sum->count = kept;
}

/* Round the parts to one number, half to even: the first part that does not fit decides the
 * rounding, unless it is exactly half a unit; then the sign of the next one decides. */
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

/* The same sum by error-free additions in four lanes: total + rest is exact but for the rounding of
 * rest, which has a known bound. If both ends of the range of rest give the same number, it is the
 * sum; otherwise return false. */
enum { LANES = 4 };

__attribute__((noinline)) static bool quick_sum(const double *values, size_t count, double *out) {
    double sums[LANES] = {0}, rests[LANES] = {0}, sizes[LANES] = {0}, total = 0.0, rest = 0.0,
           size = 0.0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            const double sum = sums[lane] + values[i + lane], back = sum - sums[lane];
            const double lost = (sums[lane] - (sum - back)) + (values[i + lane] - back);
            sums[lane] = sum;
            rests[lane] += lost;
            sizes[lane] += fabs(lost);
        }
    }
    for (size_t lane = 0; lane < LANES + (count - i); lane++) {
        const double value = lane < LANES ? sums[lane] : values[i + lane - LANES],
                     sum = total + value, back = sum - total;
        const double lost = (total - (sum - back)) + (value - back);
        total = sum;
        rest += lost + (lane < LANES ? rests[lane] : 0.0);
        size += fabs(lost) + (lane < LANES ? sizes[lane] : 0.0);
    }
    const double bound = size * (double)(count + 16) * 0x1p-52;
    *out = total + (rest + bound);
    return *out == total + (rest - bound);
}

static double sum_of(const double *values, size_t count) {
    struct exact sum = {{0}, 0};
    double quick;
    if (quick_sum(values, count, &quick)) return quick;
    for (size_t i = 0; i < count; i++) exact_add(&sum, values[i]);
    return exact_value(&sum);
}

void rag_moments(const float *scores, double *room, size_t count, double *mean, double *deviation) {
    *mean = *deviation = 0.0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(scores[i])) room[kept++] = scores[i];
    if (kept == 0) return;
    *mean = sum_of(room, kept) / (double)kept;
    kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(scores[i])) room[kept++] = (scores[i] - *mean) * (scores[i] - *mean);
    *deviation = sqrt(sum_of(room, kept) / (double)kept);
}
