/* boosts.c - raise passages whose metadata are near a number or a date.
 *
 *   score + sum of weight * 0.5^(|value - reference| / half_life)
 *
 * The functions of libm differ between platforms, so the power is computed here, in pairs of
 * binary64 whose sum has some 100 bits: the result is the nearest binary64, but for ties that no
 * pair can see. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/refinement.h"
#include "shared/fail.h"

/* --------------------------------------------------------------------------------------- powers */

/* high + low, where low is less than half a unit of high's last place. */
struct pair {
    double high, low;
};

static struct pair exact_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return (struct pair){sum, (a - (sum - part)) + (b - part)};
}

/* Cut a number into two of 26 bits, whose products are exact (Veltkamp). */
static struct pair cut(double a) {
    const double wide = 134217729.0 * a, high = wide - (wide - a);
    return (struct pair){high, a - high};
}

static struct pair exact_product(double a, double b) {
    const struct pair x = cut(a), y = cut(b);
    const double product = a * b;
    const double low =
        ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low;
    return (struct pair){product, low};
}

static struct pair product_of(struct pair a, struct pair b) {
    const struct pair exact = exact_product(a.high, b.high);
    return exact_sum(exact.high, exact.low + (a.high * b.low + a.low * b.high));
}

static struct pair sum_of(struct pair a, struct pair b) {
    const struct pair exact = exact_sum(a.high, b.high);
    return exact_sum(exact.high, exact.low + (a.low + b.low));
}

/* e^x for |x| <= ln 2 / 2 by its series. The terms after x^7 are added up as one number. */
static double exp_of(struct pair x) {
    static const struct pair INVERSE_FACTORIALS[] = {
        {1.0, 0.0},
        {1.0, 0.0},
        {0.5, 0.0},
        {0x1.5555555555555p-3, 0x1.5555555555555p-57},
        {0x1.5555555555555p-5, 0x1.5555555555555p-59},
        {0x1.1111111111111p-7, 0x1.1111111111111p-63},
        {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
        {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    };
    double tail = 1.0;
    for (int n = 18; n > 7; n--) tail = 1.0 + x.high / n * tail;
    struct pair sum = product_of(INVERSE_FACTORIALS[7], (struct pair){tail, 0.0});
    for (int n = 6; n >= 0; n--) sum = sum_of(product_of(sum, x), INVERSE_FACTORIALS[n]);
    return sum.high + sum.low;
}

/* 0.5^x for x >= 0: 2^-n * e^(-r ln 2), where n is the nearest whole number and r the rest. */
static double half_power(double x) {
    static const struct pair LN_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    if (!(x < 1100.0)) return 0.0;
    const double n = floor(x + 0.5), r = n - x;
    return ldexp(exp_of(product_of((struct pair){r, 0.0}, LN_2)), -(int)n);
}

double rag_boost_gain(const struct rag_boost *boost, double value) {
    if (isnan(value)) return 0.0;
    return boost->weight * half_power(fabs(value - boost->reference) / boost->half_life);
}

/* -------------------------------------------------------------------------------------- ranking */

struct boosted {
    double score;
    size_t at;
};

static int by_score(const void *a, const void *b) {
    const struct boosted *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

enum rag_status rag_boosts_rank(const struct rag_boost *boosts, size_t boost_count,
                                const double *values, double *scores, size_t count, int64_t *order,
                                struct rag_fault *fault) {
    struct boosted *all = malloc((count + 1) * sizeof *all);
    if (!all) return rag_fail(fault, RAG_MEMORY, 0, "no memory to rank");
    for (size_t i = 0; i < count; i++) {
        double gain = 0.0;
        for (size_t j = 0; j < boost_count; j++)
            gain += rag_boost_gain(&boosts[j], values[i * boost_count + j]);
        all[i] = (struct boosted){scores[i] + gain, i};
    }
    qsort(all, count, sizeof *all, by_score);
    for (size_t i = 0; i < count; i++) order[i] = (int64_t)all[i].at, scores[i] = all[i].score;
    free(all);
    return RAG_OK;
}
