/* bm25_kernel.h - the scan of one window, included once per target by bm25_kernels.c, which defines
 *
 *   TARGET(name)                     the name with the target's suffix
 *   TARGET_CODE                      its attribute
 *   ABOVE(sums, threshold)           one bit for each of 64 sums that is above
 *   SUM_GROUP(out, sums, scan, g)    the 64 sums of a group plus the shares of its dense containers
 *   SHARES(out, codes, n, weight)    the shares of n <= 64 codes; out has room for 64
 *
 * A share is (code * weight) >> 8. Sums cannot wrap: the weights of a query add up to at most
 * 65535. */

static inline TARGET_CODE uint32_t TARGET(peak)(const uint16_t *sums) {
    uint16_t most = 0;
    for (size_t i = 0; i < LEX_GROUP; i++) most = sums[i] > most ? sums[i] : most;
    return most;
}

/* The rows of a group that pass the filter. */
static inline TARGET_CODE uint64_t TARGET(passing)(const struct rag_bm25_scan *scan,
                                                   uint32_t group) {
    return scan->where ? scan->where[group] : ~(uint64_t)0;
}

enum { TARGET(FEW) = 4 };

/* The largest of a group's sums, of the rows that pass if these are few. */
static inline TARGET_CODE uint16_t TARGET(peak_passing)(const struct rag_bm25_scan *scan,
                                                        uint32_t group) {
    const uint16_t *sums = scan->sums + (size_t)group * LEX_GROUP;
    uint64_t rows = TARGET(passing)(scan, group);
    uint16_t most = 0;
    if (__builtin_popcountll(rows) > TARGET(FEW)) return TARGET(peak)(sums);
    for (; rows; rows &= rows - 1) {
        const uint16_t sum = sums[__builtin_ctzll(rows)];
        most = sum > most ? sum : most;
    }
    return most;
}

static inline TARGET_CODE void TARGET(keep_rows)(struct rag_bm25_scan *scan, uint32_t group,
                                                 const uint16_t *sums, uint64_t rows) {
    struct rag_bm25_candidates *found = scan->found;
    if (group + 1 == scan->groups && scan->width % LEX_GROUP)
        rows &= ((uint64_t)1 << scan->width % LEX_GROUP) - 1;
    for (; rows; rows &= rows - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(rows);
        found->rows[found->count] = scan->first_row + group * LEX_GROUP + i;
        found->sums[found->count++] = sums[i];
    }
    if (found->count >= found->limit) rag_bm25_candidates_tighten(found);
}

static inline TARGET_CODE void TARGET(visit_group)(struct rag_bm25_scan *scan, uint32_t group) {
    uint16_t sums[LEX_GROUP] __attribute__((aligned(64)));
    SUM_GROUP(sums, scan->sums + (size_t)group * LEX_GROUP, scan, group);
    const uint64_t rows = ABOVE(sums, scan->found->threshold) & TARGET(passing)(scan, group);
    if (rows) TARGET(keep_rows)(scan, group, sums, rows);
}

enum { TARGET(STEP) = 64, TARGET(AHEAD) = 256 };

/* Compute shares and rows of the next count <= STEP rows; a hostile row past the window's end is
 * clamped to its last. */
static inline TARGET_CODE void TARGET(weigh)(const struct rag_bm25_sparse *sparse, uint32_t from,
                                             uint32_t count, uint16_t last, uint16_t *shares,
                                             uint16_t *rows) {
    SHARES(shares, sparse->codes + from, count, (uint16_t)sparse->weight);
    memcpy(rows, sparse->rows + 2 * (size_t)from, 2 * (size_t)count);
    for (uint32_t i = 0; i < count; i++) rows[i] = rows[i] < last ? rows[i] : last;
}

/* Prefetch explicitly: a list is read in order, but the hardware prefetcher stops at each page. */
static inline TARGET_CODE void TARGET(prefetch)(const struct rag_bm25_sparse *sparse, uint32_t at) {
    __builtin_prefetch(sparse->codes + at);
    __builtin_prefetch(sparse->rows + 2 * (size_t)at);
    __builtin_prefetch(sparse->rows + 2 * (size_t)at + 64);
}

static TARGET_CODE void TARGET(add_sparse)(struct rag_bm25_scan *scan, bool track) {
    const uint16_t last = (uint16_t)(scan->groups * LEX_GROUP - 1);
    uint16_t shares[TARGET(STEP)] __attribute__((aligned(64))),
        rows[TARGET(STEP)] __attribute__((aligned(64)));
    uint16_t *sums = scan->sums;
    for (size_t t = 0; t < scan->sparse_count; t++) {
        const struct rag_bm25_sparse *sparse = &scan->sparse[t];
        for (uint32_t from = 0; from < sparse->count; from += TARGET(STEP)) {
            const uint32_t rest = sparse->count - from,
                           count = rest < TARGET(STEP) ? rest : TARGET(STEP);
            if (rest > TARGET(AHEAD)) TARGET(prefetch)(sparse, from + TARGET(AHEAD));
            if (count == TARGET(STEP))
                TARGET(weigh)(sparse, from, TARGET(STEP), last, shares, rows);
            else TARGET(weigh)(sparse, from, count, last, shares, rows);
            for (uint32_t i = 0; i < count; i++)
                sums[rows[i]] = (uint16_t)(sums[rows[i]] + shares[i]);
            for (uint32_t i = 0; track && i < count; i++) scan->touched[rows[i] / LEX_GROUP] = 1;
        }
    }
}

/* Without dense containers the sums are final: test and clear them in one pass. */
static TARGET_CODE void TARGET(sweep_group)(struct rag_bm25_scan *scan, uint32_t group) {
    uint16_t *sums = scan->sums + (size_t)group * LEX_GROUP;
    const uint64_t passing = TARGET(passing)(scan, group);
    const uint64_t rows = passing ? ABOVE(sums, scan->found->threshold) & passing : 0;
    if (rows) TARGET(keep_rows)(scan, group, sums, rows);
    memset(sums, 0, LEX_GROUP * sizeof *sums);
}

static TARGET_CODE void TARGET(sweep)(struct rag_bm25_scan *scan, bool track) {
    if (!track) {
        for (uint32_t group = 0; group < scan->groups; group++) TARGET(sweep_group)(scan, group);
        return;
    }
    for (uint32_t at = 0; at < scan->groups; at += 8) {
        for (uint64_t some = load_u64(scan->touched + at); some; some &= some - 1)
            TARGET(sweep_group)(scan, at + (uint32_t)__builtin_ctzll(some) / 8);
        memset(scan->touched + at, 0, 8);
    }
}

/* Bound the sums that a group's rows can get from the dense containers. */
static TARGET_CODE void TARGET(add_dense_bounds)(uint16_t *bounds,
                                                 const struct rag_bm25_dense *dense,
                                                 size_t groups) {
    uint16_t shares[TARGET(STEP)] __attribute__((aligned(64)));
    for (size_t from = 0; from < groups; from += TARGET(STEP)) {
        const size_t rest = groups - from, count = rest < TARGET(STEP) ? rest : TARGET(STEP);
        SHARES(shares, dense->maxima + from, count, (uint16_t)dense->weight);
        for (size_t i = 0; i < count; i++)
            bounds[from + i] = (uint16_t)(bounds[from + i] + shares[i]);
    }
}

static inline TARGET_CODE uint16_t TARGET(bound)(const struct rag_bm25_scan *scan, uint32_t group,
                                                 uint32_t dense) {
    const uint32_t bound = TARGET(peak_passing)(scan, group) + dense;
    return bound < 65535 ? (uint16_t)bound : 65535;
}

/* If the dense containers alone cannot pass the threshold, visit only groups with sparse rows; if
 * those are few, the dense containers' own maxima are a sufficient bound. */
static TARGET_CODE void TARGET(bound_touched)(const struct rag_bm25_scan *scan, uint16_t *bounds,
                                              const uint16_t *dense) {
    memset(bounds, 0, LEX_GROUPS * sizeof *bounds);
    for (uint32_t at = 0; at < scan->groups; at += 8)
        for (uint64_t some = load_u64(scan->touched + at); some; some &= some - 1) {
            const uint32_t group = at + (uint32_t)__builtin_ctzll(some) / 8;
            if (!TARGET(passing)(scan, group)) continue;
            bounds[group] = TARGET(bound)(scan, group, dense ? dense[group] : scan->dense_most);
        }
}

/* Bound each group's sums from above; 0 for a group without a row that passes the filter. */
static TARGET_CODE void TARGET(bound_groups)(const struct rag_bm25_scan *scan, bool track,
                                             uint16_t *bounds) {
    uint16_t dense[LEX_GROUPS] __attribute__((aligned(64)));
    const bool only_touched = track && scan->dense_most <= scan->found->threshold;
    if (only_touched && scan->sparse_rows * 4 < scan->groups) {
        TARGET(bound_touched)(scan, bounds, NULL);
        return;
    }
    memset(dense, 0, scan->groups * sizeof *dense);
    for (size_t t = 0; t < scan->dense_count; t++)
        TARGET(add_dense_bounds)(dense, &scan->dense[t], scan->groups);
    if (only_touched) {
        TARGET(bound_touched)(scan, bounds, dense);
        return;
    }
    for (uint32_t group = 0; group < scan->groups; group++)
        bounds[group] = !TARGET(passing)(scan, group)    ? 0
                        : track && !scan->touched[group] ? dense[group]
                                                         : TARGET(bound)(scan, group, dense[group]);
}

/* Visit the most promising groups first while fewer than k rows are known; this raises the
 * threshold early. */
static TARGET_CODE void TARGET(visit_best)(struct rag_bm25_scan *scan, uint16_t *bounds) {
    struct rag_bm25_candidates *found = scan->found;
    const size_t half = found->k / 2 + 12, wanted = half < scan->groups ? half : scan->groups;
    uint32_t least = rag_bm25_kth(bounds, scan->groups, wanted);
    if (least < 1) least = 1;
    size_t visited = 0;
    for (uint32_t group = 0; group < scan->groups && visited < 2 * wanted; group++) {
        if (bounds[group] < least || bounds[group] <= found->threshold) continue;
        TARGET(visit_group)(scan, group);
        bounds[group] = 0;
        visited++;
    }
    if (found->count >= found->k) rag_bm25_candidates_tighten(found);
}

static TARGET_CODE void TARGET(clear)(struct rag_bm25_scan *scan, bool track) {
    if (!track) {
        memset(scan->sums, 0, (size_t)scan->groups * LEX_GROUP * sizeof *scan->sums);
        return;
    }
    for (uint32_t at = 0; at < scan->groups; at += 8) {
        for (uint64_t some = load_u64(scan->touched + at); some; some &= some - 1)
            memset(scan->sums + (at + (size_t)__builtin_ctzll(some) / 8) * LEX_GROUP, 0,
                   LEX_GROUP * sizeof *scan->sums);
        memset(scan->touched + at, 0, 8);
    }
}

static TARGET_CODE void TARGET(scan_window)(struct rag_bm25_scan *scan) {
    const bool track = scan->sparse_rows < scan->groups;
    uint16_t bounds[LEX_GROUPS] __attribute__((aligned(64)));
    TARGET(add_sparse)(scan, track);
    if (!scan->dense_count) {
        TARGET(sweep)(scan, track);
        return;
    }
    TARGET(bound_groups)(scan, track, bounds);
    if (scan->found->count < scan->found->k) TARGET(visit_best)(scan, bounds);
    for (uint32_t group = 0; group < scan->groups; group++)
        if (bounds[group] > scan->found->threshold) TARGET(visit_group)(scan, group);
    if (scan->sparse_count) TARGET(clear)(scan, track);
}

/* Compute the shares of the next count <= STEP weights; see struct rag_bm25_weighed. A hostile code
 * is clamped to the largest sum. */
static inline TARGET_CODE void TARGET(share_weights)(const struct rag_bm25_weighed *list,
                                                     uint32_t from, uint32_t count,
                                                     uint16_t *shares) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bits =
            ((uint32_t)load_u16(list->codes + 2 * (size_t)(from + i)) << RAG_BM25_WEIGHT_SHIFT) +
            RAG_BM25_WEIGHT_BASE;
        float weight;
        memcpy(&weight, &bits, sizeof weight);
        weight *= list->scale;
        shares[i] = (uint16_t)((int32_t)(weight < 65534.0f ? weight : 65534.0f) + 1);
    }
}

static TARGET_CODE void TARGET(add_weights)(struct rag_bm25_scan *scan,
                                            const struct rag_bm25_weighed *list, bool track) {
    const uint16_t last = (uint16_t)(scan->groups * LEX_GROUP - 1);
    uint16_t shares[TARGET(STEP)] __attribute__((aligned(64))),
        rows[TARGET(STEP)] __attribute__((aligned(64)));
    uint16_t *sums = scan->sums;
    for (uint32_t from = 0; from < list->count; from += TARGET(STEP)) {
        const uint32_t rest = list->count - from, count = rest < TARGET(STEP) ? rest : TARGET(STEP);
        if (count == TARGET(STEP)) TARGET(share_weights)(list, from, TARGET(STEP), shares);
        else TARGET(share_weights)(list, from, count, shares);
        memcpy(rows, list->rows + 2 * (size_t)from, 2 * (size_t)count);
        for (uint32_t i = 0; i < count; i++) rows[i] = rows[i] < last ? rows[i] : last;
        for (uint32_t i = 0; i < count; i++) sums[rows[i]] = (uint16_t)(sums[rows[i]] + shares[i]);
        for (uint32_t i = 0; track && i < count; i++) scan->touched[rows[i] / LEX_GROUP] = 1;
    }
}

static TARGET_CODE void TARGET(scan_weights)(struct rag_bm25_scan *scan) {
    const bool track = scan->sparse_rows < scan->groups;
    for (size_t t = 0; t < scan->weighed_count; t++)
        TARGET(add_weights)(scan, &scan->weighed[t], track);
    TARGET(sweep)(scan, track);
}
