/* clusters_build.c - assign rows to clusters and measure the clusters.
 *
 * choose trains centroids on a sample of evenly spaced rows (clusters_train.c), then assigns each
 * row to the nearest cluster within the GROUPS_ASKED nearest groups. Empty clusters are dropped.
 * The order is by (cluster, row).
 *
 * measure takes the rows in that order. A centroid becomes the mean of its rows, rounded to
 * integers; radius, spread and norms are measured against the centroid as it is stored, and rounded
 * so that bounds hold. A row with a norm out of range has no direction: its cluster's radius is
 * infinite. A row with a NaN or an infinity is never ranked, and is ignored.
 *
 * All arithmetic is in integers, or in binary64 row by row in one order, so the section is the same
 * on every machine and for any number of threads. Rows are taken in chunks, so memory is bounded: 8
 * bytes a row, the sample, and the centroids. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/machine.h"
#include "clusters/centroids.h"
#include "shared/fail.h"

enum { SAMPLE_EACH = 48, SAMPLE_MOST = 1 << 20, CHUNK_ROWS = 2048, GROUPS_ASKED = 8 };

struct rag_clustering {
    uint64_t rows;
    uint32_t dim, count;
    size_t stride;
    uint32_t *order, *starts;
    float *radii, *spreads, *least, *most;
    uint8_t *panels;
};

void rag_clustering_free(struct rag_clustering *c) {
    if (!c) return;
    free(c->order);
    free(c->starts);
    free(c->radii);
    free(c->panels);
    free(c);
}

const uint32_t *rag_clustering_order(const struct rag_clustering *c) { return c->order; }
uint32_t rag_clustering_count(const struct rag_clustering *c) { return c->count; }
uint64_t rag_clustering_size(const struct rag_clustering *c) {
    return rag_clusters_places(c->rows, c->dim, c->count).end;
}

/* --------------------------------------------------------------------------------------- points */

static inline double nearest_whole(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

/* A plain sum in order is as reproducible as the canonical sums. */
static double norm_of(const uint8_t *floats, uint32_t dim) {
    double square = 0;
    for (uint32_t i = 0; i < dim; i++) {
        const double value = load_f32(floats + 4 * i);
        square += value * value;
    }
    return sqrt(square);
}

bool rag_cluster_point(const struct rag_matrix *matrix, uint64_t row, int16_t *point, double *unit,
                       float *scratch, double *norm) {
    const uint8_t *floats = rag_matrix_floats(matrix, row, scratch);
    *norm = norm_of(floats, matrix->dim);
    const bool plain = *norm == 0 || (*norm >= 0x1p-100 && *norm <= 0x1p100);
    const double inverse = plain && *norm > 0 ? 1 / *norm : 0;
    for (uint32_t i = 0; i < matrix->dim; i++) {
        unit[i] = inverse > 0 ? (double)load_f32(floats + 4 * i) * inverse : 0;
        point[i] = (int16_t)nearest_whole(unit[i] * (1 << POINT_BITS));
    }
    return plain;
}

/* Scratch memory for one row. */
struct desk {
    double *unit;
    float *scratch;
    int16_t *points;
};

static bool desk_open(struct desk *desk, uint32_t dim, size_t points) {
    const size_t stride = cluster_stride(dim);
    desk->unit = calloc(stride, sizeof *desk->unit);
    desk->scratch = calloc(stride, sizeof *desk->scratch);
    desk->points = calloc(points * stride, sizeof *desk->points);
    return desk->unit && desk->scratch && desk->points;
}

static void desk_close(struct desk *desk) {
    free(desk->unit);
    free(desk->scratch);
    free(desk->points);
}

static enum rag_status take_sample(const struct rag_matrix *matrix, size_t count, size_t stride,
                                   int16_t *points, struct rag_fault *fault) {
    struct desk desk;
    enum rag_status status = desk_open(&desk, matrix->dim, 0) ? RAG_OK : RAG_MEMORY;
    for (size_t i = 0; i < count && status == RAG_OK; i++) {
        double norm;
        const uint64_t row = i * matrix->count / count;
        status = rag_matrix_touch(matrix, row, 1, fault);
        if (status == RAG_OK)
            rag_cluster_point(matrix, row, points + i * stride, desk.unit, desk.scratch, &norm);
    }
    desk_close(&desk);
    return status;
}

/* ------------------------------------------------------------------------------------ assigning */

struct assigning {
    const struct rag_matrix *matrix;
    const struct tree *tree;
    uint32_t *to;
    enum rag_status status;
    struct rag_fault *fault;
};

/* A chunk of rows, the groups that each row considers, and these pairs sorted by group. */
struct chunk {
    struct desk desk;
    size_t rows, stride, asked;
    uint32_t *groups, *pairs, *starts;
    struct nearest *best;
    int16_t four[4 * CLUSTER_DIM_MAX];
};

static void chunk_close(struct chunk *chunk) {
    if (!chunk) return;
    desk_close(&chunk->desk);
    free(chunk->groups);
    free(chunk->best);
    free(chunk);
}

static struct chunk *chunk_open(uint32_t dim, size_t groups) {
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    const size_t pairs = (size_t)CHUNK_ROWS * GROUPS_ASKED;
    chunk->stride = cluster_stride(dim);
    chunk->asked = groups < GROUPS_ASKED ? groups : GROUPS_ASKED;
    chunk->groups = malloc((2 * pairs + groups + 2) * sizeof *chunk->groups);
    chunk->best = malloc(CHUNK_ROWS * sizeof *chunk->best);
    if (chunk->groups && chunk->best && desk_open(&chunk->desk, dim, CHUNK_ROWS)) {
        chunk->pairs = chunk->groups + pairs;
        chunk->starts = chunk->pairs + pairs;
        return chunk;
    }
    chunk_close(chunk);
    return NULL;
}

/* Find the nearest groups of a row, by insertion: they are few. */
static void ask_groups(const struct centroids *groups, const int16_t *point, size_t asked,
                       uint32_t *out) {
    int32_t sums[PANEL_COLUMNS], scores[GROUPS_ASKED];
    size_t count = 0;
    for (size_t g = 0; g < groups->count; g++) {
        if (g % PANEL_COLUMNS == 0)
            rag_kernels()->turn(
                groups->panels + g / PANEL_COLUMNS * 2 * PANEL_COLUMNS * groups->stride,
                PANEL_COLUMNS, groups->stride / 2, point, groups->stride, 1, sums);
        const int32_t score = sums[g % PANEL_COLUMNS] - groups->halves[g];
        if (count == asked && score <= scores[count - 1]) continue;
        size_t at = count < asked ? count++ : count - 1;
        for (; at > 0 && scores[at - 1] < score; at--) {
            scores[at] = scores[at - 1];
            out[at] = out[at - 1];
        }
        scores[at] = score;
        out[at] = (uint32_t)g;
    }
}

static void sort_pairs(struct chunk *chunk, size_t groups) {
    const size_t pairs = chunk->rows * chunk->asked;
    memset(chunk->starts, 0, (groups + 2) * sizeof *chunk->starts);
    for (size_t i = 0; i < pairs; i++) chunk->starts[chunk->groups[i] + 2]++;
    for (size_t g = 0; g < groups; g++) chunk->starts[g + 2] += chunk->starts[g + 1];
    for (size_t i = 0; i < pairs; i++)
        chunk->pairs[chunk->starts[chunk->groups[i] + 1]++] = (uint32_t)(i / chunk->asked);
}

/* Offer the clusters of one group to the rows that consider it. */
static void serve_group(struct chunk *chunk, const struct centroids *part, uint32_t first,
                        size_t from, size_t to) {
    for (; from < to; from += 4) {
        const size_t count = to - from < 4 ? to - from : 4;
        struct nearest best[4];
        for (size_t p = 0; p < count; p++) {
            best[p] = chunk->best[chunk->pairs[from + p]];
            memcpy(chunk->four + p * chunk->stride,
                   chunk->desk.points + chunk->pairs[from + p] * chunk->stride,
                   chunk->stride * sizeof *chunk->four);
        }
        rag_centroids_nearest(part, chunk->four, count, first, best);
        for (size_t p = 0; p < count; p++) chunk->best[chunk->pairs[from + p]] = best[p];
    }
}

static void assign_chunk(const struct assigning *on, struct chunk *chunk, uint64_t first) {
    const struct tree *tree = on->tree;
    for (size_t i = 0; i < chunk->rows; i++) {
        double norm;
        int16_t *point = chunk->desk.points + i * chunk->stride;
        rag_cluster_point(on->matrix, first + i, point, chunk->desk.unit, chunk->desk.scratch,
                          &norm);
        ask_groups(&tree->groups, point, chunk->asked, chunk->groups + i * chunk->asked);
        chunk->best[i] = NEAREST_NONE;
    }
    sort_pairs(chunk, tree->count);
    for (size_t g = 0; g < tree->count; g++)
        serve_group(chunk, &tree->parts[g], tree->firsts[g], chunk->starts[g],
                    chunk->starts[g + 1]);
    for (size_t i = 0; i < chunk->rows; i++) on->to[first + i] = chunk->best[i].place;
}

static void note(struct assigning *on, enum rag_status status, const struct rag_fault *fault) {
    enum rag_status none = RAG_OK;
    if (status != RAG_OK &&
        __atomic_compare_exchange_n(&on->status, &none, status, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) &&
        on->fault && status != RAG_MEMORY)
        *on->fault = *fault;
}

static void assign_task(void *context, size_t i) {
    struct assigning *on = context;
    struct rag_fault fault;
    rag_float_mode before;
    const uint64_t first = (uint64_t)i * CHUNK_ROWS, left = on->matrix->count - first;
    struct chunk *chunk = chunk_open(on->matrix->dim, on->tree->count);
    enum rag_status status = chunk ? RAG_OK : RAG_MEMORY;
    if (chunk) {
        chunk->rows = left < CHUNK_ROWS ? left : CHUNK_ROWS;
        status = rag_matrix_touch(on->matrix, first, chunk->rows, &fault);
    }
    rag_float_plain(&before);
    if (status == RAG_OK) assign_chunk(on, chunk, first);
    rag_float_back(&before);
    note(on, status, &fault);
    chunk_close(chunk);
}

/* ------------------------------------------------------------------------------------- choosing */

static struct rag_clustering *clustering_new(const struct rag_matrix *matrix, size_t most) {
    struct rag_clustering *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->rows = matrix->count;
    c->dim = matrix->dim;
    c->stride = cluster_stride(matrix->dim);
    c->order = malloc(matrix->count * sizeof *c->order);
    c->starts = calloc(most + 2, sizeof *c->starts);
    if (c->order && c->starts) return c;
    rag_clustering_free(c);
    return NULL;
}

/* Compute order and starts from the clusters of rows; number has room for most clusters. */
static void sort_rows(struct rag_clustering *c, const uint32_t *to, size_t most, uint32_t *number) {
    memset(number, 0, most * sizeof *number);
    for (uint64_t i = 0; i < c->rows; i++) number[to[i]]++;
    for (size_t k = 0; k < most; k++) { /* row counts become cluster numbers */
        if (!number[k]) continue;
        c->starts[c->count + 2] = c->starts[c->count + 1] + number[k];
        number[k] = c->count++;
    }
    for (uint64_t i = 0; i < c->rows; i++) c->order[c->starts[number[to[i]] + 1]++] = (uint32_t)i;
}

static enum rag_status assign_rows(const struct rag_matrix *matrix, const struct tree *tree,
                                   int threads, struct rag_clustering **out,
                                   struct rag_fault *fault) {
    const size_t most = tree->firsts[tree->count];
    struct rag_clustering *c = clustering_new(matrix, most);
    uint32_t *to = malloc((matrix->count + most) * sizeof *to);
    struct assigning on = {matrix, tree, to, RAG_OK, fault};
    if (!c || !to) on.status = RAG_MEMORY;
    else rag_parallel((matrix->count + CHUNK_ROWS - 1) / CHUNK_ROWS, threads, assign_task, &on);
    if (on.status == RAG_OK) sort_rows(c, to, most, to + matrix->count);
    else rag_clustering_free(c);
    free(to);
    if (on.status == RAG_OK) *out = c;
    return on.status;
}

enum rag_status rag_clustering_choose(const struct rag_matrix *matrix, uint64_t wanted, int threads,
                                      struct rag_clustering **out, struct rag_fault *fault) {
    const size_t stride = cluster_stride(matrix->dim);
    *out = NULL;
    if (wanted > CLUSTERS_MAX) wanted = CLUSTERS_MAX;
    if (wanted > matrix->count) wanted = matrix->count;
    if (wanted == 0 || matrix->dim > CLUSTER_DIM_MAX) return RAG_OK;
    uint64_t sample = SAMPLE_EACH * wanted < SAMPLE_MOST ? SAMPLE_EACH * wanted : SAMPLE_MOST;
    if (sample > matrix->count) sample = matrix->count;
    int16_t *points = calloc(sample * stride, sizeof *points);
    struct tree tree = {0};
    rag_float_mode before;
    enum rag_status status = points ? RAG_OK : RAG_MEMORY;
    rag_float_plain(&before);
    if (status == RAG_OK) status = take_sample(matrix, sample, stride, points, fault);
    rag_float_back(&before);
    if (status == RAG_OK && !rag_tree_train(&tree, points, sample, stride, wanted, threads))
        status = RAG_MEMORY;
    free(points);
    if (status == RAG_OK) status = assign_rows(matrix, &tree, threads, out, fault);
    rag_tree_close(&tree);
    return status == RAG_MEMORY ? rag_fail(fault, RAG_MEMORY, 0, "no memory to build clusters")
                                : status;
}

/* ------------------------------------------------------------------------------------ measuring */

/* One cluster's measurements, accumulated row by row. */
struct gauge {
    struct desk desk;
    int64_t *sums;
    int16_t *centroid;
    double squares;
};

static float above(double value) {
    float f = (float)value;
    return (double)f < value ? nextafterf(f, INFINITY) : f;
}

static float below(double value) {
    float f = (float)value;
    return (double)f > value ? nextafterf(f, 0) : f;
}

static void take_mean(struct rag_clustering *c, const struct rag_matrix *placed, size_t k,
                      struct gauge *gauge) {
    const uint32_t first = c->starts[k], end = c->starts[k + 1];
    double norm;
    memset(gauge->sums, 0, c->stride * sizeof *gauge->sums);
    for (uint32_t i = first; i < end; i++) {
        rag_cluster_point(placed, i, gauge->desk.points, gauge->desk.unit, gauge->desk.scratch,
                          &norm);
        for (size_t j = 0; j < c->stride; j++) gauge->sums[j] += gauge->desk.points[j];
    }
    rag_centroid_of(gauge->sums, end - first, c->stride, gauge->centroid);
    put_centroid(c->panels, k, gauge->centroid, c->stride);
}

/* Add a row to its cluster's numbers. */
static void measure_row(struct rag_clustering *c, const struct rag_matrix *placed, size_t k,
                        uint64_t place, struct gauge *gauge) {
    double norm, square = 0;
    const bool plain = rag_cluster_point(placed, place, gauge->desk.points, gauge->desk.unit,
                                         gauge->desk.scratch, &norm);
    if (!isfinite(norm)) return;
    if (!plain) {
        c->radii[k] = c->most[k] = INFINITY;
        c->least[k] = 0;
        return;
    }
    for (uint32_t i = 0; i < c->dim; i++) {
        const double rest = gauge->desk.unit[i] - gauge->centroid[i] * 0x1p-15;
        square += rest * rest;
    }
    gauge->squares += square;
    c->radii[k] = fmaxf(c->radii[k], above(sqrt(square) * (1 + 1e-9) + 1e-9));
    c->most[k] = fmaxf(c->most[k], above(norm * (1 + 1e-9)));
    c->least[k] = fminf(c->least[k], below(norm * (1 - 1e-9)));
}

static void measure_cluster(struct rag_clustering *c, const struct rag_matrix *placed, size_t k,
                            struct gauge *gauge) {
    take_mean(c, placed, k, gauge);
    gauge->squares = 0;
    c->least[k] = INFINITY;
    for (uint32_t i = c->starts[k]; i < c->starts[k + 1]; i++) measure_row(c, placed, k, i, gauge);
    c->spreads[k] = (float)sqrt(gauge->squares / (c->starts[k + 1] - c->starts[k]));
    c->least[k] = fminf(c->least[k], c->most[k]);
}

static bool make_room(struct rag_clustering *c, struct gauge *gauge) {
    free(c->radii);
    free(c->panels);
    c->radii = calloc(c->count, 4 * sizeof *c->radii);
    c->panels = calloc(panels_of(c->count), panel_size(c->dim));
    gauge->sums = malloc(c->stride * sizeof *gauge->sums);
    gauge->centroid = calloc(c->stride, sizeof *gauge->centroid);
    if (!desk_open(&gauge->desk, c->dim, 1) || !c->radii || !c->panels || !gauge->sums ||
        !gauge->centroid)
        return false;
    c->spreads = c->radii + c->count;
    c->least = c->spreads + c->count;
    c->most = c->least + c->count;
    return true;
}

enum rag_status rag_clustering_measure(struct rag_clustering *c, const struct rag_matrix *placed,
                                       struct rag_fault *fault) {
    struct gauge gauge = {0};
    enum rag_status status = RAG_OK;
    if (placed->count != c->rows || placed->dim != c->dim)
        return rag_fail(fault, RAG_ARGUMENT, placed->count, "the rows of another matrix");
    if (!make_room(c, &gauge)) status = rag_fail(fault, RAG_MEMORY, 0, "no memory for clusters");
    for (size_t k = 0; k < c->count && status == RAG_OK; k++) {
        rag_float_mode before;
        status = rag_matrix_touch(placed, c->starts[k], c->starts[k + 1] - c->starts[k], fault);
        if (status != RAG_OK) break;
        rag_float_plain(&before);
        measure_cluster(c, placed, k, &gauge);
        rag_float_back(&before);
    }
    free(gauge.sums);
    free(gauge.centroid);
    desk_close(&gauge.desk);
    return status;
}

/* -------------------------------------------------------------------------------------- writing */

/* Write a table, then zeros up to the next multiple of 64. */
static enum rag_status put(rag_write *write, void *context, const void *bytes, uint64_t size) {
    static const uint8_t zeros[64] = {0};
    enum rag_status status = write(context, bytes, size);
    if (status == RAG_OK && size % 64) status = write(context, zeros, 64 - size % 64);
    return status;
}

enum rag_status rag_clustering_write(const struct rag_clustering *c, rag_write *write,
                                     void *context) {
    const uint64_t column = 4 * (uint64_t)c->count;
    uint8_t head[CLUSTERS_HEAD];
    rag_clusters_put_head(head, c->rows, c->dim, c->count);
    enum rag_status status = put(write, context, head, sizeof head);
    if (status == RAG_OK) status = put(write, context, c->starts, column + 4);
    const float *const tables[] = {c->radii, c->spreads, c->least, c->most};
    for (size_t i = 0; i < 4 && status == RAG_OK; i++)
        status = put(write, context, tables[i], column);
    if (status == RAG_OK)
        status = put(write, context, c->panels, panels_of(c->count) * panel_size(c->dim));
    return status == RAG_OK ? put(write, context, c->order, 4 * c->rows) : status;
}
