/* tile_kernel.h - six coded rows against 16 to 64 queries in registers, the inner loop of a batch.
 *
 * dot_kernel.h includes this once for each target with a TILE_DOT. Sums of up to TILE_ABREAST
 * vectors of queries for each row stay in registers; each step takes four dimensions: a load of
 * packed queries for each vector, six broadcasts of four codes, and a product for each sum. The
 * sums become bounds and are compared at once, so that only the few pairs that can matter leave the
 * tile. All six rows must be readable, however few count. */

/* The sums of `abreast` vectors of queries. It is a constant wherever this is inlined, so that all
 * loops over rows and vectors are unrolled. No address of a sum is taken: gcc would keep all of
 * them in memory. They are stored without the checks of _FORTIFY_SOURCE, which are 24 calls. */
INLINE void NAME(tile_sums)(const uint8_t *rows, size_t stride, const struct tile_query *queries,
                            size_t at, int abreast, int32_t *sums) {
    const uint8_t *rows3 = rows + 3 * stride;
    const int8_t *panel = queries->panel + 4 * at;
    const uint8_t *ahead = rows + TILE_AHEAD;
    const size_t next = 4 * queries->width;
    vi s[TILE_ROWS][TILE_ABREAST];
    for (int j = 0; j < abreast; j++) {
        vi start;
        memcpy(&start, queries->start + at + WIDTH * j, sizeof start);
        for (int r = 0; r < TILE_ROWS; r++) s[r][j] = start;
    }
    for (size_t fours = queries->fours; fours > 0; fours--, panel += next, rows += 4, rows3 += 4) {
        vb q[TILE_ABREAST];
        __builtin_prefetch(ahead);
        ahead += 4 * TILE_ROWS;
        for (int j = 0; j < abreast; j++) memcpy(&q[j], panel + 4 * WIDTH * j, sizeof q[j]);
        for (int r = 0; r < TILE_ROWS; r++) {
            const uint8_t *row =
                r < 3 ? rows + (size_t)r * stride : rows3 + (size_t)(r - 3) * stride;
            const vb x = FLIP(NAME(four)((const int8_t *)row));
            for (int j = 0; j < abreast; j++) s[r][j] = TILE_DOT(s[r][j], x, q[j]);
        }
    }
    for (int r = 0; r < TILE_ROWS; r++)
        for (int j = 0; j < abreast; j++) {
            const vi sum = s[r][j];
            __builtin_memcpy(sums + TILE_QUERIES * r + at + WIDTH * j, &sum, sizeof sum);
        }
}

#ifdef HALF_DOT
/* The same for the first eight queries of a vector of sixteen. */
INLINE void NAME(tile_half)(const uint8_t *rows, size_t stride, const struct tile_query *queries,
                            int32_t *sums) {
    const uint8_t *ahead = rows + TILE_AHEAD;
    const int8_t *panel = queries->panel;
    const size_t next = 4 * queries->width;
    eight_ints s[TILE_ROWS], q, start;
    memcpy(&start, queries->start, sizeof start);
    for (int r = 0; r < TILE_ROWS; r++) s[r] = start;
    for (size_t i = 0; i < 4 * queries->fours; i += 4, panel += next) {
        memcpy(&q, panel, sizeof q);
        __builtin_prefetch(ahead + TILE_ROWS * i);
        for (int r = 0; r < TILE_ROWS; r++) {
            const eight_ints x = (eight_ints){0} + (int32_t)load_u32(rows + (size_t)r * stride + i);
            s[r] = HALF_DOT(s[r], x, q);
        }
    }
    for (int r = 0; r < TILE_ROWS; r++, sums += TILE_QUERIES) {
        const eight_ints sum = s[r], none = {0};
        __builtin_memcpy(sums, &sum, sizeof sum);
        __builtin_memcpy(sums + 8, &none, sizeof none);
    }
}
#endif

/* What of a row's bounds is the same for all queries. */
struct NAME(tile_row) {
    vf scale, rest, norm;
};

/* Which of a vector of queries have floors that the row can reach. With unit the norm is 1, and
 * nothing bends. */
INLINE unsigned NAME(tile_reach)(const struct NAME(tile_row) * row, const int32_t *sums,
                                 const struct tile_query *queries, int j, bool unit) {
    vi sum;
    vf step, spread, slack, floor, curve;
    memcpy(&sum, sums + j, sizeof sum);
    memcpy(&step, queries->step + j, sizeof step);
    memcpy(&spread, queries->spread + j, sizeof spread);
    memcpy(&slack, queries->slack + j, sizeof slack);
    memcpy(&floor, queries->floor + j, sizeof floor);
    vf upper =
        FMADD(__builtin_convertvector(sum, vf) * row->scale, step, FMADD(row->rest, spread, slack));
    if (!unit) {
        memcpy(&curve, queries->curve + j, sizeof curve);
        upper = row->norm * (upper - curve * row->norm);
    }
    return MASK_GE(upper, floor);
}

KERNEL size_t NAME(tile_hits)(uint8_t row, float scale, const int32_t *sums,
                              const struct tile_query *queries, uint64_t keep,
                              struct tile_hit *hits) {
    size_t found = 0;
    for (; keep; keep &= keep - 1) {
        const int q = __builtin_ctzll(keep);
        const float score = (float)sums[q] * scale * queries->step[q];
        hits[found++] = (struct tile_hit){row, (uint8_t)q, score};
    }
    return found;
}

INLINE size_t NAME(tile_rows)(const uint8_t *rows, size_t stride, size_t count, const int32_t *sums,
                              const struct tile_query *queries, int width, struct tile_hit *hits,
                              bool unit) {
    const vf zero = {0};
    size_t found = 0;
    for (size_t r = 0; r < count; r++, rows += stride, sums += TILE_QUERIES) {
        const struct NAME(tile_row)
            row = {zero + load_f32(rows), zero + load_f32(rows + 4), zero + load_f32(rows + 8)};
        uint64_t keep = 0;
        for (int j = 0; j < width; j += WIDTH)
            keep |= (uint64_t)NAME(tile_reach)(&row, sums, queries, j, unit) << j;
        if (__builtin_expect(keep != 0, 0))
            found += NAME(tile_hits)((uint8_t)r, load_f32(rows), sums, queries, keep, hits + found);
    }
    return found;
}

/* As many queries at a time as the registers have room for, and half as many and a quarter at the
 * end. */
INLINE void NAME(tile_all)(const uint8_t *rows, size_t stride, const struct tile_query *queries,
                           int32_t *sums) {
#ifdef HALF_DOT
    if (queries->count <= 8) {
        NAME(tile_half)(rows, stride, queries, sums);
        return;
    }
#endif
    for (size_t at = 0, left; (left = (queries->width - at) / WIDTH) > 0;) {
        if (left >= 4 && TILE_ABREAST >= 4) {
            NAME(tile_sums)(rows, stride, queries, at, 4, sums);
            at += 4 * WIDTH;
        } else if (left >= 2) {
            NAME(tile_sums)(rows, stride, queries, at, 2, sums);
            at += 2 * WIDTH;
        } else {
            NAME(tile_sums)(rows, stride, queries, at, 1, sums);
            at += WIDTH;
        }
    }
}

KERNEL size_t NAME(tile)(const uint8_t *rows, size_t stride, size_t count,
                         const struct tile_query *queries, struct tile_hit *hits) {
    _Alignas(64) int32_t sums[TILE_ROWS * TILE_QUERIES];
    const int width = (int)queries->width;
    NAME(tile_all)(rows + CODE_HEAD, stride, queries, sums);
    if (!queries->unit)
        return NAME(tile_rows)(rows, stride, count, sums, queries, width, hits, false);
    if (width < TILE_QUERIES)
        return NAME(tile_rows)(rows, stride, count, sums, queries, width, hits, true);
    return NAME(tile_rows)(rows, stride, count, sums, queries, TILE_QUERIES, hits, true);
}
