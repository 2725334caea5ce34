/* scan_products.c - scanning rows themselves for many queries: a matrix product with bounds.
 *
 * It serves batches where there is no shadow. Sixty-four queries are packed side by side, component
 * by component; the kernel multiplies four rows with them at a time in registers. Strips of
 * STRIP_ROWS rows are taken for all queries in turn, so that the packed queries stay in the cache.
 *
 * A product is a sum of dim terms one after the other in binary32. Its error is below PRODUCT_SLACK
 * |q||row|, and so a bound rules most rows out; the rest go to the candidates, and are scored when
 * the query is finished, as in scan_rows.c. */
#include <math.h>
#include <stdlib.h>

#include "vectors/scan.h"

enum { STRIP_ROWS = 64 };
#define PRODUCT_SLACK(dim) (1.01 * (double)(dim) * 0x1p-24 + 96 * 0x1p-24)

/* Sixty-four queries, packed. */
struct packed {
    float *panel; /* [dim][PANEL_QUERIES] */
    float floor[PANEL_QUERIES], curve[PANEL_QUERIES];
};

/* Rows as binary32, and what turns their products into bounds: the key is at most
 * product * factor + rise - curve * bend. */
struct strip {
    const uint8_t *rows;
    size_t stride, count;
    uint64_t first;
    float squares[STRIP_ROWS], factor[STRIP_ROWS], rise[STRIP_ROWS], bend[STRIP_ROWS];
};

struct products {
    struct search *search;
    const struct slice *slice;
    const uint32_t *which;
    size_t count, group_count;
    struct packed *groups;
    float *panels, *copies, *zeros, *scratch;
};

static void pack(struct products *on, size_t g) {
    struct packed *packed = &on->groups[g];
    const size_t dim = on->search->dim, first = g * PANEL_QUERIES;
    packed->panel = on->panels + g * dim * PANEL_QUERIES;
    for (size_t u = 0; u < PANEL_QUERIES; u++) {
        const bool used = first + u < on->count;
        const struct query *query = used ? &on->search->queries[on->which[first + u]] : NULL;
        packed->floor[u] = used ? -INFINITY : INFINITY; /* nothing reaches an unused place */
        packed->curve[u] = used ? (float)(query->curve * (1 - 1e-6 - PRODUCT_SLACK(dim))) : 0;
        for (size_t i = 0; i < dim; i++)
            packed->panel[i * PANEL_QUERIES + u] = used ? query->unit[i] : 0;
    }
}

static bool products_open(struct products *on) {
    const size_t dim = on->search->dim;
    on->group_count = (on->count + PANEL_QUERIES - 1) / PANEL_QUERIES;
    on->groups = malloc(on->group_count * sizeof *on->groups);
    on->panels = rag_aligned(on->group_count * dim * PANEL_QUERIES * sizeof(float));
    on->copies = calloc(STRIP_ROWS * dim, sizeof(float));
    on->zeros = calloc(align_up(dim, 64), sizeof(float));
    on->scratch = rag_search_scratch(on->search);
    if (!on->groups || !on->panels || !on->copies || !on->zeros || !on->scratch)
        return rag_search_note(on->search, RAG_MEMORY, NULL);
    for (size_t g = 0; g < on->group_count; g++) pack(on, g);
    return true;
}

static void products_close(struct products *on) {
    free(on->groups);
    rag_aligned_free(on->panels);
    free(on->copies);
    free(on->zeros);
    free(on->scratch);
}

static void load_strip(const struct products *on, const struct rag_matrix *matrix, uint64_t first,
                       struct strip *strip) {
    const uint64_t left = on->slice->end - first;
    strip->first = first;
    strip->count = left < STRIP_ROWS ? left : STRIP_ROWS;
    strip->rows = (const uint8_t *)on->copies;
    strip->stride = (size_t)matrix->dim * sizeof(float);
    if (matrix->scalar == RAG_F32 && !matrix->big_endian && !matrix->offsets &&
        strip->count % PANEL_ROWS == 0) {
        strip->rows = rag_matrix_row(matrix, first);
        strip->stride = matrix->stride;
        return;
    }
    for (size_t i = 0; i < strip->count; i++) {
        float *to = on->copies + i * matrix->dim;
        const uint8_t *at = rag_matrix_floats(matrix, first + i, to);
        if (at != (const uint8_t *)to) memcpy(to, at, strip->stride);
    }
}

static bool is_sound(float square) { return square >= 0x1p-80f && square <= 0x1p80f; }

static void bound_strip(const struct products *on, struct strip *strip) {
    const bool cosine = on->search->queries[on->which[0]].metric == RAG_COSINE;
    const float slack = (float)(2 * PRODUCT_SLACK(on->search->dim));
    float dots[STRIP_ROWS];
    rag_kernels()->estimate(strip->rows, strip->stride, strip->count, on->zeros, on->search->dim,
                            dots, strip->squares);
    for (size_t i = 0; i < strip->count; i++) {
        const float norm = sqrtf(strip->squares[i]);
        strip->factor[i] = cosine ? 1 / norm : 1;
        strip->rise[i] = cosine ? slack : norm * slack;
        strip->bend[i] = norm * norm;
    }
}

static void offer(struct products *on, struct packed *packed, size_t g, size_t u, float dot,
                  const struct strip *strip, size_t r) {
    struct search *search = on->search;
    const size_t q = on->which[g * PANEL_QUERIES + u];
    const struct query *query = &search->queries[q];
    struct topk *topk = &on->slice->states[q].topk;
    const double slack = PRODUCT_SLACK(search->dim), norm = sqrt(strip->squares[r]);
    float upper, lower;
    rag_key_bounds(query, dot / norm, slack + slack * query->curve * norm, norm, &upper, &lower);
    rag_topk_offer(topk, upper, lower, (uint32_t)(strip->first + r));
    if (topk->count >= TOPK_LARGE + 4 * search->k)
        rag_search_settle(search, on->slice, q, on->scratch);
    packed->floor[u] = topk->floor;
}

/* One row's products with 64 queries: first whether any reaches its floor, in a loop without a
 * branch. */
static void offer_row(struct products *on, size_t g, const float *dots, const struct strip *strip,
                      size_t r) {
    struct packed *packed = &on->groups[g];
    const float factor = strip->factor[r], rise = strip->rise[r], bend = strip->bend[r];
    float upper[PANEL_QUERIES];
    int any = 0;
    for (size_t u = 0; u < PANEL_QUERIES; u++) {
        upper[u] = dots[u] * factor + rise - packed->curve[u] * bend;
        any |= upper[u] >= packed->floor[u];
    }
    for (size_t u = 0; any && u < PANEL_QUERIES; u++)
        if (upper[u] >= packed->floor[u]) offer(on, packed, g, u, dots[u], strip, r);
}

/* A row that is not sound: its products can be anything. */
static void score_row(struct products *on, size_t g, const struct strip *strip, size_t r) {
    const size_t left = on->count - g * PANEL_QUERIES;
    const uint32_t row = (uint32_t)(strip->first + r);
    for (size_t u = 0; u < PANEL_QUERIES && u < left; u++)
        rag_search_offer(on->search, on->slice, on->which[g * PANEL_QUERIES + u], &row, 1,
                         on->scratch);
}

static void scan_group(struct products *on, size_t g, const struct strip *strip) {
    const uint64_t *where = rag_where(on->search, on->slice, on->which[0]);
    float dots[PANEL_ROWS * PANEL_QUERIES];
    for (size_t r = 0; r < strip->count; r += PANEL_ROWS) {
        rag_kernels()->multiply(strip->rows + r * strip->stride, strip->stride, on->groups[g].panel,
                                on->search->dim, dots);
        for (size_t i = r; i < r + PANEL_ROWS && i < strip->count; i++) {
            if (!has_row(where, strip->first + i)) continue;
            if (!is_sound(strip->squares[i])) score_row(on, g, strip, i);
            else offer_row(on, g, dots + (i - r) * PANEL_QUERIES, strip, i);
        }
    }
}

static void refresh(struct products *on, size_t g) {
    for (size_t u = 0; u < PANEL_QUERIES && g * PANEL_QUERIES + u < on->count; u++) {
        struct topk *topk = &on->slice->states[on->which[g * PANEL_QUERIES + u]].topk;
        topk->floor = rag_floor_read(topk->shared);
        on->groups[g].floor[u] = topk->floor;
    }
}

static bool is_wanted(const uint64_t *where, uint64_t first) {
    return !where || first % 64 || where[first / 64];
}

static void scan_strips(struct products *on) {
    const struct rag_segment *segment = &on->search->segments[on->slice->segment];
    struct rag_fault fault;
    struct strip strip;
    for (uint64_t row = on->slice->first; row < on->slice->end && !rag_search_failed(on->search);
         row += STRIP_ROWS) {
        const uint64_t left = on->slice->end - row, rows = left < STRIP_ROWS ? left : STRIP_ROWS;
        if (!is_wanted(rag_where(on->search, on->slice, on->which[0]), row)) continue;
        if (!rag_search_note(on->search, rag_matrix_touch(segment->matrix, row, rows, &fault),
                             &fault))
            break;
        load_strip(on, segment->matrix, row, &strip);
        bound_strip(on, &strip);
        for (size_t g = 0; g < on->group_count; g++) {
            refresh(on, g);
            scan_group(on, g, &strip);
        }
    }
}

void rag_scan_products(struct search *search, const struct slice *slice, const uint32_t *which,
                       size_t count) {
    struct products on = {.search = search, .slice = slice, .which = which, .count = count};
    if (products_open(&on)) scan_strips(&on);
    products_close(&on);
}
