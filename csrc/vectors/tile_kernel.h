/* tile_kernel.h - six coded rows against 64 queries in registers, the inner loop of a batch.
 *
 * 24 sums live in named registers (gcc 12 spills arrays of them); each step takes four dimensions:
 * four loads of packed queries, six broadcasts of four codes, 24 vpdpbusd. The sums become bounds
 * and are compared at once, so that only the few pairs that can matter leave the tile. All six rows
 * must be readable, however few count. */

#define TILE_SUMS(row) \
    __m512i s##row##0 = zero, s##row##1 = zero, s##row##2 = zero, s##row##3 = zero
#define TILE_STEP(row, from)                                      \
    do {                                                          \
        const __m512i x = _mm512_set1_epi32((int)load_u32(from)); \
        s##row##0 = _mm512_dpbusd_epi32(s##row##0, x, q0);        \
        s##row##1 = _mm512_dpbusd_epi32(s##row##1, x, q1);        \
        s##row##2 = _mm512_dpbusd_epi32(s##row##2, x, q2);        \
        s##row##3 = _mm512_dpbusd_epi32(s##row##3, x, q3);        \
    } while (0)
#define TILE_STORE(row)                                      \
    do {                                                     \
        _mm512_store_si512(sums + 64 * row, s##row##0);      \
        _mm512_store_si512(sums + 64 * row + 16, s##row##1); \
        _mm512_store_si512(sums + 64 * row + 32, s##row##2); \
        _mm512_store_si512(sums + 64 * row + 48, s##row##3); \
    } while (0)

VNNI static inline __attribute__((always_inline)) void tile_sums(const uint8_t *rows, size_t stride,
                                                                 const int8_t *panel, size_t fours,
                                                                 int32_t *sums) {
    const __m512i zero = _mm512_setzero_si512();
    const uint8_t *rows3 = rows + 3 * stride;
    TILE_SUMS(0);
    TILE_SUMS(1);
    TILE_SUMS(2);
    TILE_SUMS(3);
    TILE_SUMS(4);
    TILE_SUMS(5);
    for (; fours > 0; fours--, panel += 256, rows += 4, rows3 += 4) {
        const __m512i q0 = _mm512_load_si512(panel), q1 = _mm512_load_si512(panel + 64);
        const __m512i q2 = _mm512_load_si512(panel + 128), q3 = _mm512_load_si512(panel + 192);
        TILE_STEP(0, rows);
        TILE_STEP(1, rows + stride);
        TILE_STEP(2, rows + 2 * stride);
        TILE_STEP(3, rows3);
        TILE_STEP(4, rows3 + stride);
        TILE_STEP(5, rows3 + 2 * stride);
    }
    TILE_STORE(0);
    TILE_STORE(1);
    TILE_STORE(2);
    TILE_STORE(3);
    TILE_STORE(4);
    TILE_STORE(5);
}

/* What of a row's bounds is the same for all queries. */
struct tile_row {
    __m512 scale, rest, norm;
};

VNNI static inline __m512 tile_score(const struct tile_row *row, const int32_t *sums,
                                     const struct tile_query *queries, int j) {
    const __m512i sum =
        _mm512_sub_epi32(_mm512_load_si512(sums + j), _mm512_loadu_si512(queries->bias + j));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(sum),
                         _mm512_mul_ps(row->scale, _mm512_loadu_ps(queries->step + j)));
}

/* Which of 16 queries have floors that the row can reach. With unit the norm is 1, and nothing
 * bends. */
VNNI static inline __attribute__((always_inline)) __mmask16 tile_reach(
    const struct tile_row *row, __m512 score, const struct tile_query *queries, int j, bool unit) {
    const __m512 error = _mm512_fmadd_ps(row->rest, _mm512_loadu_ps(queries->spread + j),
                                         _mm512_loadu_ps(queries->slack + j));
    __m512 upper = _mm512_add_ps(score, error);
    if (!unit) {
        const __m512 bend = _mm512_mul_ps(_mm512_loadu_ps(queries->curve + j), row->norm);
        upper = _mm512_mul_ps(row->norm, _mm512_sub_ps(upper, bend));
    }
    return _mm512_cmp_ps_mask(upper, _mm512_loadu_ps(queries->floor + j), _CMP_GE_OQ);
}

VNNI static size_t tile_hits(uint8_t r, const __m512 *scores, uint64_t keep,
                             struct tile_hit *hits) {
    float values[TILE_QUERIES];
    size_t found = 0;
    for (int j = 0; j < TILE_QUERIES; j += 16) _mm512_storeu_ps(values + j, scores[j / 16]);
    for (; keep; keep &= keep - 1) {
        const int q = __builtin_ctzll(keep);
        hits[found++] = (struct tile_hit){r, (uint8_t)q, values[q]};
    }
    return found;
}

VNNI static inline __attribute__((always_inline)) size_t
tile_rows(const uint8_t *rows, size_t stride, size_t count, const int32_t *sums,
          const struct tile_query *queries, struct tile_hit *hits, bool unit) {
    size_t found = 0;
    for (size_t r = 0; r < count; r++, rows += stride, sums += TILE_QUERIES) {
        const struct tile_row row = {_mm512_set1_ps(load_f32(rows)),
                                     _mm512_set1_ps(load_f32(rows + 4)),
                                     _mm512_set1_ps(load_f32(rows + 8))};
        __m512 scores[TILE_QUERIES / 16];
        uint64_t keep = 0;
        for (int j = 0; j < TILE_QUERIES; j += 16) {
            scores[j / 16] = tile_score(&row, sums, queries, j);
            keep |= (uint64_t)tile_reach(&row, scores[j / 16], queries, j, unit) << j;
        }
        if (__builtin_expect(keep != 0, 0))
            found += tile_hits((uint8_t)r, scores, keep, hits + found);
    }
    return found;
}

VNNI static size_t tile_avx512vnni(const uint8_t *rows, size_t stride, size_t count,
                                   const struct tile_query *queries, struct tile_hit *hits) {
    _Alignas(64) int32_t sums[TILE_ROWS * TILE_QUERIES];
    for (size_t i = 0; i < TILE_ROWS * stride; i += 64) __builtin_prefetch(rows + PREFETCH + i);
    tile_sums(rows + CODE_HEAD, stride, queries->panel, queries->fours, sums);
    if (queries->unit) return tile_rows(rows, stride, count, sums, queries, hits, true);
    return tile_rows(rows, stride, count, sums, queries, hits, false);
}

#undef TILE_SUMS
#undef TILE_STEP
#undef TILE_STORE
