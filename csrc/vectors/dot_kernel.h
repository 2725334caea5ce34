/* dot_kernel.h - the kernels, written once; dot.c includes this once per target.
 *
 * The including paragraph defines
 *   NAME(x)            x with the target's suffix
 *   KERNEL             storage class and target attribute of every function here
 *   WIDTH              floats in a vector: 4, 8 or 16
 *   FMADD(a, b, c)     a * b + c, fused or not
 *   MASK_GE(a, b)      bit i set where a[i] >= b[i], never for NaN
 *   HALF(p)            WIDTH binary16 at p as floats
 *   BYTES(p)           WIDTH bytes at p as int32
 *   FLIP(x), CODE_BIAS how an 8-bit code enters DOT4: as it is, so that sums are 128 a component
 *                      too high, or as code - 128 and a bias of 0
 *   DOT4(s, x, q)      s[i] + the four products of codes and signed query bytes 4i..4i+3, exact
 *   DOT4N(s, x, q)     the same for codes below 16 << HIGH_SHIFT
 *   MADD16(s, x, y)    s[i] + the two products of int16 2i, 2i+1 of x and y, modulo 2^32
 *   HIGH_NIBBLES(x)    the high nibbles, times 1 << HIGH_SHIFT
 *   PAIR_MOST          the most that the magnitudes of a query's codes 2i, 2i + 1 may add up to
 * and, where the target has tiles (tile_kernel.h),
 *   TILE_DOT(s, x, q)  DOT4 for queries within PAIR_MOST
 *   TILE_ABREAST       vectors of queries whose sums for six rows fit into registers: 2 or 4
 *   HALF_DOT(s, x, q)  TILE_DOT for vectors of eight sums, where that takes less time
 * and gets back one struct kernels named NAME(kernels). */

typedef float NAME(vf) __attribute__((vector_size(4 * WIDTH)));
typedef int32_t NAME(vi) __attribute__((vector_size(4 * WIDTH)));
typedef uint8_t NAME(vb) __attribute__((vector_size(4 * WIDTH)));
typedef uint32_t NAME(vu) __attribute__((vector_size(4 * WIDTH)));
typedef uint16_t NAME(vs) __attribute__((vector_size(4 * WIDTH)));
typedef float NAME(vh) __attribute__((vector_size(2 * WIDTH)));
typedef double NAME(vd) __attribute__((vector_size(4 * WIDTH)));
#define vf NAME(vf)
#define vi NAME(vi)
#define vb NAME(vb)
#define vu NAME(vu)
#define vs NAME(vs)
#define vh NAME(vh)
#define vd NAME(vd)
#define INLINE KERNEL inline __attribute__((always_inline))

/* ---------------------------------------------------------------------------------- f32 and f64 */

INLINE vf NAME(choose)(vi mask, vf yes, vf no) { return (vf)(((vi)yes & mask) | ((vi)no & ~mask)); }

INLINE void NAME(add_products)(const uint8_t *x, const double *q, vd *dots, vd *squares) {
    for (int j = 0; j < 32 / WIDTH; j++) {
        vh half;
        vd wide;
        memcpy(&half, x + 2 * WIDTH * j, sizeof half);
        memcpy(&wide, q + WIDTH / 2 * j, sizeof wide);
        vd v = __builtin_convertvector(half, vd);
        dots[j] += wide * v;
        squares[j] += v * v;
    }
}

/* Lanes are summed 8, 4, 2, 1 apart: vectors first, then the halves of the rest. */
INLINE double NAME(sum_lanes)(const vd *lanes) {
    vd sums[32 / WIDTH];
    for (int j = 0; j < 32 / WIDTH; j++) sums[j] = lanes[j];
#pragma GCC unroll 3
    for (int count = 16 / WIDTH; count > 0; count /= 2)
        for (int j = 0; j < count; j++) sums[j] += sums[j + count];
#if WIDTH == 16
    const two_doubles two = FOLD(four_doubles, two_doubles, FOLD(vd, four_doubles, sums[0]));
#elif WIDTH == 8
    const two_doubles two = FOLD(vd, two_doubles, sums[0]);
#else
    const two_doubles two = sums[0];
#endif
    return two[0] + two[1];
}

KERNEL void NAME(canonical)(const uint8_t *row, const double *q, size_t dim, double *dot,
                            double *square) {
    vd dots[32 / WIDTH], squares[32 / WIDTH];
    for (int j = 0; j < 32 / WIDTH; j++) dots[j] = squares[j] = (vd){0};
    size_t i = 0;
    for (; i + 16 <= dim; i += 16) NAME(add_products)(row + 4 * i, q + i, dots, squares);
    if (i < dim) {
        uint8_t tail[64] = {0};
        memcpy(tail, row + 4 * i, 4 * (dim - i));
        NAME(add_products)(tail, q + i, dots, squares);
    }
    *dot = NAME(sum_lanes)(dots);
    *square = NAME(sum_lanes)(squares);
}

/* Several rows at a time, because the additions of one row depend on one another. The components
 * of q are binary32 numbers here, so products are exact, and fusing the addition gives the same
 * sum. */
#ifdef EIGHT_SUMS
enum { NAME(BESIDE) = 4, NAME(TOGETHER) = 8 };
#else
enum { NAME(BESIDE) = 1, NAME(TOGETHER) = WIDTH / 4 };
#endif

INLINE void NAME(add_row)(const uint8_t *x, vd wide, vd *dot, vd *square) {
    vh half;
    memcpy(&half, x, sizeof half);
    const vd v = __builtin_convertvector(half, vd);
    *dot = FMADD64(wide, v, *dot);
    if (square) *square = FMADD64(v, v, *square);
}

/* Sixteen components of some rows, and of their squares where these are wanted. */
INLINE void NAME(add_rows)(const uint8_t *const *rows, size_t at, int count, const double *q,
                           vd (*dots)[32 / WIDTH], vd (*squares)[32 / WIDTH]) {
    for (int j = 0; j < 32 / WIDTH; j++) {
        vd wide;
        memcpy(&wide, q + WIDTH / 2 * j, sizeof wide);
        for (int r = 0; r < count; r++)
            NAME(add_row)(rows[r] + at + 2 * WIDTH * j, wide, &dots[r][j],
                          squares ? &squares[r][j] : NULL);
    }
}

/* The last dim % 16 components of the rows. */
INLINE void NAME(add_tails)(const uint8_t *const *rows, size_t dim, int count, const double *q,
                            vd (*dots)[32 / WIDTH], vd (*squares)[32 / WIDTH]) {
    const size_t rest = dim % 16, from = dim - rest;
    for (int r = 0; rest && r < count; r++) {
        uint8_t tail[64] = {0};
        const uint8_t *at = tail;
        memcpy(tail, rows[r] + 4 * from, 4 * rest);
        NAME(add_rows)(&at, 0, 1, q + from, dots + r, squares ? squares + r : NULL);
    }
}

/* Sums of lanes, in the order of sum_lanes. */
INLINE void NAME(sum_pairs)(vd (*dots)[32 / WIDTH], vd (*squares)[32 / WIDTH], double *products) {
#ifdef EIGHT_SUMS
    EIGHT_SUMS(dots[0], dots[1], dots[2], dots[3], squares[0], squares[1], squares[2], squares[3],
               products);
#else
    products[0] = NAME(sum_lanes)(dots[0]);
    products[1] = NAME(sum_lanes)(squares[0]);
#endif
}

INLINE void NAME(sum_dots)(vd (*sums)[32 / WIDTH], double *dots) {
#ifdef EIGHT_SUMS
    EIGHT_SUMS(sums[0], sums[2], sums[4], sums[6], sums[1], sums[3], sums[5], sums[7], dots);
#else
    for (int r = 0; r < NAME(TOGETHER); r++) dots[r] = NAME(sum_lanes)(sums[r]);
#endif
}

KERNEL void NAME(canonical_rows)(const uint8_t *const *rows, size_t count, const double *q,
                                 size_t dim, double *products) {
    enum { N = NAME(BESIDE) };
    for (size_t i = 0; i < count; i += N) {
        const uint8_t *at[N];
        double found[2 * N];
        vd dots[N][32 / WIDTH], squares[N][32 / WIDTH];
        for (size_t r = 0; r < N; r++) at[r] = rows[i + r < count ? i + r : count - 1];
        for (int r = 0; r < N; r++)
            for (int j = 0; j < 32 / WIDTH; j++) dots[r][j] = squares[r][j] = (vd){0};
        for (size_t c = 0; c + 16 <= dim; c += 16)
            NAME(add_rows)(at, 4 * c, N, q + c, dots, squares);
        NAME(add_tails)(at, dim, N, q, dots, squares);
        NAME(sum_pairs)(dots, squares, found);
        memcpy(products + 2 * i, found, 2 * (count - i < N ? count - i : N) * sizeof *found);
    }
}

KERNEL void NAME(dots)(const uint8_t *rows, size_t stride, size_t count, const double *q,
                       size_t dim, double *dots) {
    enum { N = NAME(TOGETHER) };
    for (size_t i = 0; i < count; i += N) {
        const uint8_t *at[N];
        double found[N];
        vd sums[N][32 / WIDTH];
        for (size_t r = 0; r < N; r++) at[r] = rows + (i + r < count ? i + r : count - 1) * stride;
        for (int r = 0; r < N; r++)
            for (int j = 0; j < 32 / WIDTH; j++) sums[r][j] = (vd){0};
        for (size_t c = 0; c + 16 <= dim; c += 16) NAME(add_rows)(at, 4 * c, N, q + c, sums, NULL);
        NAME(add_tails)(at, dim, N, q, sums, NULL);
        NAME(sum_dots)(sums, found);
        memcpy(dots + i, found, (count - i < N ? count - i : N) * sizeof *found);
    }
}

INLINE float NAME(sum_floats)(vf v) {
#if WIDTH == 16
    const four_floats four = FOLD(eight_floats, four_floats, FOLD(vf, eight_floats, v));
#elif WIDTH == 8
    const four_floats four = FOLD(vf, four_floats, v);
#else
    const four_floats four = v;
#endif
    return (four[0] + four[2]) + (four[1] + four[3]);
}

INLINE void NAME(estimate_row)(const uint8_t *row, const float *q, size_t dim, float *dot,
                               float *square) {
    vf d0 = {0}, d1 = {0}, d2 = {0}, d3 = {0}, s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    vf x0, x1, x2, x3, q0, q1, q2, q3;
    size_t i = 0;
    for (; i + 4 * WIDTH <= dim; i += 4 * WIDTH) {
        const uint8_t *x = row + 4 * i;
        for (int line = 0; line < 16 * WIDTH; line += 64) __builtin_prefetch(x + 4096 + line);
        memcpy(&x0, x, sizeof x0), memcpy(&x1, x + 4 * WIDTH, sizeof x1);
        memcpy(&x2, x + 8 * WIDTH, sizeof x2), memcpy(&x3, x + 12 * WIDTH, sizeof x3);
        memcpy(&q0, q + i, sizeof q0), memcpy(&q1, q + i + WIDTH, sizeof q1);
        memcpy(&q2, q + i + 2 * WIDTH, sizeof q2), memcpy(&q3, q + i + 3 * WIDTH, sizeof q3);
        d0 = FMADD(x0, q0, d0), d1 = FMADD(x1, q1, d1), d2 = FMADD(x2, q2, d2),
        d3 = FMADD(x3, q3, d3);
        s0 = FMADD(x0, x0, s0), s1 = FMADD(x1, x1, s1), s2 = FMADD(x2, x2, s2),
        s3 = FMADD(x3, x3, s3);
    }
    for (; i < dim; i += WIDTH) {
        size_t rest = dim - i < WIDTH ? dim - i : WIDTH;
        x0 = (vf){0};
        if (rest == WIDTH) memcpy(&x0, row + 4 * i, sizeof x0);
        else memcpy(&x0, row + 4 * i, 4 * rest);
        memcpy(&q0, q + i, sizeof q0);
        d0 = FMADD(x0, q0, d0), s0 = FMADD(x0, x0, s0);
    }
    *dot = NAME(sum_floats)((d0 + d1) + (d2 + d3));
    *square = NAME(sum_floats)((s0 + s1) + (s2 + s3));
}

KERNEL void NAME(estimate)(const uint8_t *rows, size_t stride, size_t count, const float *q,
                           size_t dim, float *dots, float *squares) {
    for (size_t i = 0; i < count; i++)
        NAME(estimate_row)(rows + i * stride, q, dim, dots + i, squares + i);
}

/* As many queries at a time as the registers hold sums for. */
enum { NAME(ABREAST) = WIDTH == 16 ? 4 : 2 };

INLINE void NAME(multiply_some)(const uint8_t *rows, size_t stride, const float *panel, size_t dim,
                                float *dots) {
    vf sums[PANEL_ROWS][NAME(ABREAST)];
    for (int r = 0; r < PANEL_ROWS; r++)
        for (int j = 0; j < NAME(ABREAST); j++) sums[r][j] = (vf){0};
    for (size_t i = 0; i < dim; i++) {
        vf q[NAME(ABREAST)];
        for (int j = 0; j < NAME(ABREAST); j++)
            memcpy(&q[j], panel + PANEL_QUERIES * i + (size_t)(WIDTH * j), sizeof q[j]);
        for (int r = 0; r < PANEL_ROWS; r++) {
            const vf x = (vf){0} + load_f32(rows + (size_t)r * stride + 4 * i);
            for (int j = 0; j < NAME(ABREAST); j++) sums[r][j] = FMADD(x, q[j], sums[r][j]);
        }
    }
    for (int r = 0; r < PANEL_ROWS; r++)
        for (int j = 0; j < NAME(ABREAST); j++)
            memcpy(dots + PANEL_QUERIES * r + WIDTH * j, &sums[r][j], sizeof sums[r][j]);
}

KERNEL void NAME(multiply)(const uint8_t *rows, size_t stride, const float *panel, size_t dim,
                           float *dots) {
    for (int u = 0; u < PANEL_QUERIES; u += NAME(ABREAST) * WIDTH)
        NAME(multiply_some)(rows, stride, panel + u, dim, dots + u);
}

KERNEL void NAME(widen_f16)(const uint8_t *from, float *to, size_t dim) {
    size_t i = 0;
    for (; i + WIDTH <= dim; i += WIDTH) {
        vf v = HALF(from + 2 * i);
        memcpy(to + i, &v, sizeof v);
    }
    for (; i < dim; i++) to[i] = half_to_float(load_u16(from + 2 * i));
}

/* ------------------------------------------------------------------------------ the 4-bit plane */

INLINE vb NAME(four)(const int8_t *q) {
    int32_t v;
    memcpy(&v, q, sizeof v);
    vi all = (vi){0} + v;
    return (vb)all;
}

/* Adds one group of a block: lane r of low and high is row r, whose even and odd fours they
 * take. */
INLINE void NAME(add_group)(const uint8_t *group, vb ql, vb qh, vi *low, vi *high) {
    const vb mask = (vb){0} + 15;
    /* unreached: in the copy for planes, whose number of groups is even */
    for (int j = 0; j < 16 / WIDTH; j++) {
        vb x;
        memcpy(&x, group + 4 * WIDTH * j, sizeof x);
        low[j] = DOT4N(low[j], x & mask, ql);
        high[j] = DOT4N(high[j], HIGH_NIBBLES(x), qh);
    }
}

/* The distance from a block to the data to prefetch: `left` bytes of the sweep remain after it,
 * and then it continues at next. */
INLINE size_t NAME(ahead_of)(const uint8_t *block, size_t left, const uint8_t *next) {
    if (!next || left > PREFETCH) return PREFETCH;
    return (size_t)((uintptr_t)next - (uintptr_t)block) + PREFETCH - left;
}

/* Integer sums of two blocks that share the loads of the query. Groups alternate between two sets
 * of sums: eight chains hide the latency of the products. */
INLINE void NAME(sum_blocks)(const uint8_t *a, const uint8_t *b, const int8_t *codes, size_t groups,
                             size_t ahead, vi *sums) {
    const uintptr_t load_a = (uintptr_t)a + ahead, load_b = (uintptr_t)b + ahead;
    vi low[4][16 / WIDTH], high[4][16 / WIDTH];
    for (int c = 0; c < 4; c++)
        for (int j = 0; j < 16 / WIDTH; j++) low[c][j] = high[c][j] = (vi){0};
    size_t g = 0;
    for (; g + 2 <= groups; g += 2) {
        const vb q0 = NAME(four)(codes + 8 * g), q1 = NAME(four)(codes + 8 * g + 4);
        const vb q2 = NAME(four)(codes + 8 * g + 8), q3 = NAME(four)(codes + 8 * g + 12);
        __builtin_prefetch((const void *)(load_a + 64 * g));
        __builtin_prefetch((const void *)(load_a + 64 * g + 64));
        __builtin_prefetch((const void *)(load_b + 64 * g));
        __builtin_prefetch((const void *)(load_b + 64 * g + 64));
        NAME(add_group)(a + 64 * g, q0, q1, low[0], high[0]);
        NAME(add_group)(b + 64 * g, q0, q1, low[1], high[1]);
        NAME(add_group)(a + 64 * g + 64, q2, q3, low[2], high[2]);
        NAME(add_group)(b + 64 * g + 64, q2, q3, low[3], high[3]);
    }
    /* unreached: in the copy for planes, whose number of groups is even */
    if (g < groups) {
        const vb q0 = NAME(four)(codes + 8 * g), q1 = NAME(four)(codes + 8 * g + 4);
        NAME(add_group)(a + 64 * g, q0, q1, low[0], high[0]);
        NAME(add_group)(b + 64 * g, q0, q1, low[1], high[1]);
    }
    for (int j = 0; j < 16 / WIDTH; j++) {
        sums[j] = low[0][j] + low[2][j] + ((high[0][j] + high[2][j]) >> HIGH_SHIFT);
        sums[16 / WIDTH + j] = low[1][j] + low[3][j] + ((high[1][j] + high[3][j]) >> HIGH_SHIFT);
    }
}

/* Adds the contribution of the first groups' second codes. */
INLINE void NAME(add_top)(const uint8_t *a, const uint8_t *b, const int8_t *top, vi *sums) {
    vi low[2][16 / WIDTH], high[2][16 / WIDTH];
    for (int c = 0; c < 2; c++)
        for (int j = 0; j < 16 / WIDTH; j++) low[c][j] = high[c][j] = (vi){0};
    for (int g = 0; g < TOP_GROUPS; g++) {
        const vb q0 = NAME(four)(top + 8 * g), q1 = NAME(four)(top + 8 * g + 4);
        NAME(add_group)(a + 64 * g, q0, q1, low[0], high[0]);
        NAME(add_group)(b + 64 * g, q0, q1, low[1], high[1]);
    }
    for (int j = 0; j < 16 / WIDTH; j++) {
        sums[j] += (low[0][j] + (high[0][j] >> HIGH_SHIFT)) << TOP_SHIFT;
        sums[16 / WIDTH + j] += (low[1][j] + (high[1][j] >> HIGH_SHIFT)) << TOP_SHIFT;
    }
}

/* Appends the rows of WIDTH whose bit is set in keep. */
INLINE size_t NAME(append)(vf upper, vf likely, unsigned keep, uint32_t first, struct hit *hits) {
    size_t found = 0;
    if (__builtin_expect(keep == 0, 1)) return 0;
    float uppers[WIDTH], centres[WIDTH];
    memcpy(uppers, &upper, sizeof uppers);
    memcpy(centres, &likely, sizeof centres);
    for (; keep; keep &= keep - 1) {
        int r = __builtin_ctz(keep);
        hits[found++] = (struct hit){first + (uint32_t)r, uppers[r], centres[r]};
    }
    return found;
}

/* Appends the wanted rows of WIDTH that probably beat the floor, and notes the bounds of the other
 * wanted ones. */
INLINE size_t NAME(divide)(vf upper, vf likely, float floor, unsigned wanted, uint32_t first,
                           float *uppers, struct hit *hits) {
    const vf never = (vf){0} + __builtin_nanf(""), least = (vf){0} + floor;
    vf rest = NAME(choose)((vi)(likely >= least), never, upper);
    if (__builtin_expect((~wanted & ((1u << WIDTH) - 1)) != 0, 0)) {
        vi bits;
        memcpy(&bits, lane_bits, sizeof bits);
        rest = NAME(choose)((vi)((bits & (int32_t)wanted) != 0), rest, never);
    }
    memcpy(uppers, &rest, sizeof rest);
    return NAME(append)(upper, likely, MASK_GE(likely, least) & wanted, first, hits);
}

/* The wanted rows of one block, divided. What of q points along the
 * codes cannot also point along the residual, which is orthogonal to them: that leaves sqrt(1 - x)
 * of it, at most 1 - x / 2 - x^2 / 8. */
INLINE size_t NAME(keep_rows)(const uint8_t *meta, const vi *sums, const struct sweep_query *query,
                              float floor, unsigned wanted, uint32_t first, float *uppers,
                              struct hit *hits) {
    const vf zero = {0};
    size_t found = 0;
    for (int j = 0; j < 16 / WIDTH; j++) {
        vf scale, rest, norm;
        memcpy(&scale, meta + 4 * WIDTH * j, sizeof scale);
        memcpy(&rest, meta + 64 + 4 * WIDTH * j, sizeof rest);
        memcpy(&norm, meta + 128 + 4 * WIDTH * j, sizeof norm);
        if (query->unit) norm = zero + 1.0f;
        const vf score =
            (__builtin_convertvector(sums[j], vf) - query->bias) * (scale * query->step);
        const vf size = (vf)((vi)score & 0x7fffffff) - query->slack;
        const vf along = NAME(choose)((vi)(size > zero), size, zero), x = along * along;
        const vf across = 1.0f - x * (0.5f + 0.125f * x),
                 likely = norm * (score - query->curve * norm);
        const vf upper = norm * (score + rest * across + query->slack - query->curve * norm);
        found += NAME(divide)(upper, likely, floor, wanted >> WIDTH * j,
                              first + (uint32_t)(WIDTH * j), uppers + WIDTH * j, hits + found);
    }
    return found;
}

/* The same for a block of planes: the error is a sum of the row's numbers. A tail that is unknown
 * reaches any floor. */
INLINE size_t NAME(keep_planes)(const uint8_t *meta, const uint8_t *norms, const vi *sums,
                                const struct planes_query *query, float floor, unsigned wanted,
                                uint32_t first, float *uppers, struct hit *hits) {
    size_t found = 0;
    for (int j = 0; j < 16 / WIDTH; j++) {
        vf norm = (vf){0} + 1.0f;
        const vf scale = HALF(meta + 2 * WIDTH * j);
        const vf rest = __builtin_convertvector(BYTES(meta + 32 + WIDTH * j), vf);
        const vf tail = __builtin_convertvector(BYTES(meta + 48 + WIDTH * j), vf);
        if (norms) memcpy(&norm, norms + 4 * WIDTH * j, sizeof norm);
        const vf score = query->base + (__builtin_convertvector(sums[j], vf) - query->bias) *
                                           (scale * query->step);
        const vf error = rest * query->within + tail * query->beyond + scale * query->reach;
        const vf bend = query->curve * norm, likely = norm * (score - bend);
        const vf upper = norm * (score + error + query->slack - bend);
        const vf bound = NAME(choose)((vi)(tail == 255.0f), (vf){0} + __builtin_inff(), upper);
        found += NAME(divide)(bound, likely, floor, wanted >> WIDTH * j,
                              first + (uint32_t)(WIDTH * j), uppers + WIDTH * j, hits + found);
    }
    return found;
}

INLINE void NAME(pass_over)(float *uppers, size_t blocks) {
    const vf never = (vf){0} + __builtin_nanf("");
    for (size_t i = 0; i < BLOCK_ROWS * blocks; i += WIDTH)
        memcpy(uppers + i, &never, sizeof never);
}

KERNEL size_t NAME(sweep)(const uint8_t *blocks, size_t count, uint32_t first_row,
                          const uint8_t *where, const struct sweep_query *query, float floor,
                          float *uppers, struct hit *hits) {
    const size_t groups = query->groups, size = 64 * groups + BLOCK_META;
    size_t found = 0;
    for (size_t b = 0; b < count; b += 2, uppers += 2 * BLOCK_ROWS) {
        const bool two = b + 1 < count;
        const uint8_t *first = blocks + b * size, *second = two ? first + size : first;
        const unsigned wanted = where ? load_u16(where + 2 * b) : 0xffff;
        const unsigned wanted2 = !two ? 0 : where ? load_u16(where + 2 * b + 2) : 0xffff;
        if (!(wanted | wanted2)) {
            NAME(pass_over)(uppers, 1 + two);
            continue;
        }
        vi sums[32 / WIDTH];
        const size_t ahead = NAME(ahead_of)(first, (count - b) * size, query->next);
        NAME(sum_blocks)(first, second, query->codes, groups, ahead, sums);
        const uint32_t row = first_row + (uint32_t)(BLOCK_ROWS * b);
        found += NAME(keep_rows)(first + 64 * groups, sums, query, floor, wanted, row, uppers,
                                 hits + found);
        if (two)
            found += NAME(keep_rows)(second + 64 * groups, sums + 16 / WIDTH, query, floor, wanted2,
                                     row + BLOCK_ROWS, uppers + BLOCK_ROWS, hits + found);
    }
    return found;
}

KERNEL size_t NAME(sweep_planes)(const uint8_t *blocks, size_t count, uint32_t first_row,
                                 const uint8_t *where, const struct planes_query *query,
                                 float floor, float *uppers, struct hit *hits) {
    const size_t groups = query->groups, size = 64 * groups + PLANES_META;
    size_t found = 0;
    for (size_t b = 0; b < count; b += 2, uppers += 2 * BLOCK_ROWS) {
        const bool two = b + 1 < count;
        const uint8_t *first = blocks + b * size, *second = two ? first + size : first;
        const uint8_t *norms = query->norms ? query->norms + 64 * b : NULL;
        const unsigned wanted = where ? load_u16(where + 2 * b) : 0xffff;
        const unsigned wanted2 = !two ? 0 : where ? load_u16(where + 2 * b + 2) : 0xffff;
        if (!(wanted | wanted2)) {
            NAME(pass_over)(uppers, 1 + two);
            continue;
        }
        vi sums[32 / WIDTH];
        const size_t ahead = NAME(ahead_of)(first, (count - b) * size, query->next);
        NAME(sum_blocks)(first, second, query->codes, groups, ahead, sums);
        NAME(add_top)(first, second, query->top, sums);
        const uint32_t row = first_row + (uint32_t)(BLOCK_ROWS * b);
        found += NAME(keep_planes)(first + 64 * groups, norms, sums, query, floor, wanted, row,
                                   uppers, hits + found);
        if (two)
            found += NAME(keep_planes)(second + 64 * groups, norms ? norms + 64 : norms,
                                       sums + 16 / WIDTH, query, floor, wanted2, row + BLOCK_ROWS,
                                       uppers + BLOCK_ROWS, hits + found);
    }
    return found;
}

/* Find candidate vectors without a branch, which would mispredict. */
KERNEL size_t NAME(reach)(const float *uppers, const uint32_t *firsts, size_t blocks, float floor,
                          struct hit *hits) {
    enum { PARTS = BLOCK_ROWS / WIDTH };
    const vf least = (vf){0} + floor;
    uint16_t parts[RUN_BLOCKS * PARTS], masks[RUN_BLOCKS * PARTS];
    size_t count = 0, found = 0;
    for (size_t i = 0; i < blocks * PARTS; i++) {
        vf upper;
        memcpy(&upper, uppers + WIDTH * i, sizeof upper);
        parts[count] = (uint16_t)i;
        masks[count] = (uint16_t)MASK_GE(upper, least);
        count += masks[count] != 0;
    }
    for (size_t i = 0; i < count; i++) {
        const float *part = uppers + WIDTH * (size_t)parts[i];
        const uint32_t first = firsts[parts[i] / PARTS] + parts[i] % PARTS * WIDTH;
        for (unsigned mask = masks[i]; mask; mask &= mask - 1) {
            const int r = __builtin_ctz(mask);
            hits[found++] = (struct hit){first + (uint32_t)r, part[r], part[r]};
        }
    }
    return found;
}

/* ------------------------------------------------------------------------------ the 8-bit plane */

INLINE int32_t NAME(sum_ints)(vi v) {
#if WIDTH == 16
    const four_ints four = FOLD(eight_ints, four_ints, FOLD(vi, eight_ints, v));
#elif WIDTH == 8
    const four_ints four = FOLD(vi, four_ints, v);
#else
    const four_ints four = v;
#endif
    return (four[0] + four[2]) + (four[1] + four[3]);
}

INLINE void NAME(refine_row)(const uint8_t *codes, const int8_t *high, const int8_t *low,
                             size_t size, const int64_t *biases, int64_t *sums) {
    vi h = {0}, l = {0};
    for (size_t i = 0; i < size; i += 4 * WIDTH) {
        vb x, qh, ql;
        memcpy(&x, codes + i, sizeof x);
        memcpy(&qh, high + i, sizeof qh);
        memcpy(&ql, low + i, sizeof ql);
        h = DOT4(h, FLIP(x), qh);
        l = DOT4(l, FLIP(x), ql);
    }
    sums[0] = NAME(sum_ints)(h) - (CODE_BIAS ? biases[0] : 0);
    sums[1] = NAME(sum_ints)(l) - (CODE_BIAS ? biases[1] : 0);
}

KERNEL void NAME(refine)(const uint8_t *const *codes, size_t count, const int8_t *high,
                         const int8_t *low, size_t size, const int64_t *biases, int64_t *sums) {
    for (size_t i = 0; i < count; i++)
        NAME(refine_row)(codes[i], high, low, size, biases, sums + 2 * i);
}

/* Two vectors of columns against some points at a time: even and odd pairs have sums of their own
 * where points are few, for the products of one chain wait for one another. */
INLINE void NAME(turn_columns)(const uint8_t *pairs, size_t columns, size_t count, int points,
                               int chains, const int16_t *x, size_t stride, int32_t *sums) {
    vi all[8][2];
    for (int c = 0; c < points * chains; c++) all[c][0] = all[c][1] = (vi){0};
    for (size_t p = 0; p < count; p += (size_t)chains)
        for (int c = 0; c < chains; c++) {
            vb a, b;
            memcpy(&a, pairs + 4 * (p + (size_t)c) * columns, sizeof a);
            memcpy(&b, pairs + 4 * (p + (size_t)c) * columns + 4 * WIDTH, sizeof b);
            for (int i = 0; i < points; i++) {
                const int16_t *at = x + (size_t)i * stride + 2 * (p + (size_t)c);
                const vb both = NAME(four)((const int8_t *)at);
                all[c * points + i][0] = MADD16(all[c * points + i][0], a, both);
                all[c * points + i][1] = MADD16(all[c * points + i][1], b, both);
            }
        }
    for (int i = 0; i < points; i++)
        for (int j = 0; j < 2; j++) {
            vi sum = all[i][j];
            if (chains == 2) sum = (vi)((vu)sum + (vu)all[points + i][j]);
            memcpy(sums + (size_t)i * columns + (size_t)(WIDTH * j), &sum, sizeof sum);
        }
}

KERNEL void NAME(turn)(const uint8_t *pairs, size_t columns, size_t count, const int16_t *x,
                       size_t stride, size_t points, int32_t *sums) {
    for (size_t j = 0; j < columns; j += 2 * WIDTH) {
        const uint8_t *at = pairs + 4 * j;
        if (points == 4) NAME(turn_columns)(at, columns, count, 4, 1, x, stride, sums + j);
        else if (points == 2) NAME(turn_columns)(at, columns, count, 2, 2, x, stride, sums + j);
        else NAME(turn_columns)(at, columns, count, 1, 2, x, stride, sums + j);
    }
}

/* ------------------------------------------------------------------------------------- encoding */

/* Rounds to the nearest integer, ties to even, for |v| < 2^22: the same on machines with and
 * without an instruction. */
INLINE vf NAME(round)(vf v) { return (v + 12582912.0f) - 12582912.0f; }

INLINE vf NAME(clamp)(vf v, float least, float most) {
    const vf a = (vf){0} + least, b = (vf){0} + most;
    v = NAME(choose)((vi)(v < a), a, v);
    return NAME(choose)((vi)(v > b), b, v);
}

/* Plain loops that the compiler turns into this target's vectors; each element is rounded by
 * itself. */
KERNEL float NAME(scale_row)(const uint8_t *row, size_t dim, double factor, float *unit,
                             double *wide) {
    uint32_t largest = 0; /* magnitudes of floats order as integers */
    for (size_t i = 0; i < dim; i++) unit[i] = (float)((double)load_f32(row + 4 * i) * factor);
    for (size_t i = 0; i < dim; i++) wide[i] = unit[i];
    for (size_t i = 0; i < dim; i++) {
        const uint32_t size = load_u32(unit + i) & 0x7fffffff;
        largest = size > largest ? size : largest;
    }
    return load_f32(&largest);
}

KERNEL void NAME(leave)(const double *wide, size_t dim, float scale, float *values) {
    for (size_t i = 0; i < dim; i++)
        values[i] = (float)(wide[i] - (double)scale * (double)values[i]);
}

KERNEL float NAME(nibble_error)(const float *unit, size_t dim, float step) {
    vf sums[16 / WIDTH];
    const float inverse = 1.0f / step;
    for (int j = 0; j < 16 / WIDTH; j++) sums[j] = (vf){0};
    for (size_t i = 0; i < dim; i += 16)
        for (int j = 0; j < 16 / WIDTH; j++) {
            vf v;
            memcpy(&v, unit + i + WIDTH * j, sizeof v);
            vf error =
                v - (NAME(clamp)(NAME(round)(v * inverse + 7.5f), 0.0f, 15.0f) - 7.5f) * step;
            sums[j] += error * error;
        }
#pragma GCC unroll 3
    for (int count = 8 / WIDTH; count > 0; count /= 2)
        for (int j = 0; j < count; j++) sums[j] += sums[j + count];
    return NAME(sum_floats)(sums[0]);
}

KERNEL void NAME(encode)(const float *unit, size_t dim, float step, float half, float most,
                         uint8_t *codes, float *values) {
    const float inverse = 1.0f / step;
    for (size_t i = 0; i < ((dim + 15) & ~(size_t)15); i += WIDTH) {
        vf v;
        memcpy(&v, unit + i, sizeof v);
        v = NAME(clamp)(NAME(round)(v * inverse + half), 0.0f, most);
        for (int j = 0; j < WIDTH; j++) codes[i + j] = (uint8_t)(int)v[j];
        v -= half;
        memcpy(values + i, &v, sizeof v);
    }
}

/* ------------------------------------------------------------------- the 8-bit plane in batches */

#ifdef TILE_DOT
#include "vectors/tile_kernel.h"
#endif

static const struct kernels NAME(kernels) = {
    .canonical = NAME(canonical),
    .canonical_rows = NAME(canonical_rows),
    .dots = NAME(dots),
    .estimate = NAME(estimate),
    .multiply = NAME(multiply),
    .widen_f16 = NAME(widen_f16),
    .sweep = NAME(sweep),
    .sweep_planes = NAME(sweep_planes),
    .reach = NAME(reach),
    .turn = NAME(turn),
    .refine = NAME(refine),
#ifdef TILE_DOT
    .tile = NAME(tile),
#endif
    .pair_most = PAIR_MOST,
    .code_bias = CODE_BIAS,
    .scale_row = NAME(scale_row),
    .leave = NAME(leave),
    .nibble_error = NAME(nibble_error),
    .encode = NAME(encode),
};

#undef vf
#undef vi
#undef vb
#undef vu
#undef vs
#undef vh
#undef vd
#undef INLINE
#undef NAME
#undef KERNEL
#undef WIDTH
#undef FMADD
#undef FMADD64
#undef EIGHT_SUMS
#undef MASK_GE
#undef HALF
#undef BYTES
#undef FLIP
#undef CODE_BIAS
#undef DOT4
#undef DOT4N
#undef MADD16
#undef HIGH_NIBBLES
#undef HIGH_SHIFT
#undef TILE_DOT
#undef HALF_DOT
#undef TILE_ABREAST
#undef PAIR_MOST
