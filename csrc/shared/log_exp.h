/* log_exp.h - ln and exp in binary64, of basic operations in a fixed order.
 *
 * Scores must have the same bits on every machine, and the functions of libm differ between
 * platforms. frexp and ldexp are exact everywhere. Both functions are within two units of the last
 * place. */
#ifndef RAG_LOG_EXP_H
#define RAG_LOG_EXP_H

#include <math.h>

/* x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m - 1) / (m + 1)), with a series
 * truncated below 2^-60. */
static inline double rag_natural_log(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        exponent--;
    }
    const double z = (m - 1.0) / (m + 1.0), z2 = z * z;
    double sum = 0.0;
    for (int n = 23; n > 0; n -= 2) sum = sum * z2 + 1.0 / n;
    return 2.0 * z * sum + (double)exponent * 0.69314718055994530942;
}

static const double INVERSE_FACTORIALS[] = {1.0,
                                            1.0,
                                            1.0 / 2,
                                            1.0 / 6,
                                            1.0 / 24,
                                            1.0 / 120,
                                            1.0 / 720,
                                            1.0 / 5040,
                                            1.0 / 40320,
                                            1.0 / 362880,
                                            1.0 / 3628800,
                                            1.0 / 39916800,
                                            1.0 / 479001600,
                                            1.0 / 6227020800};

/* x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its series, truncated below 2^-57. The first part of
 * ln 2 has few bits, so that its product with n is exact. x is at most 0. */
static inline double rag_falling_exp(double x) {
    if (x < -700.0) return 0.0;
    const double n = floor(x * 1.4426950408889634074 + 0.5);
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double sum = 0.0;
    for (int i = 13; i >= 0; i--) sum = sum * r + INVERSE_FACTORIALS[i];
    return ldexp(sum, (int)n);
}

#endif
