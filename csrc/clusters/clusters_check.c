/* clusters_check.c - check that the bounds of clusters hold for their rows.
 *
 * A search trusts them: a radius that is too small would drop a cluster with one of the best rows,
 * and a row without a place would never be found. So each row must have exactly one place, a
 * direction within the radius of its cluster's centroid, and a norm within the cluster's norms. The
 * bounds of the shadow in that order must hold for the rows at its places. */
#include <math.h>
#include <stdlib.h>

#include "clusters/clusters.h"
#include "shared/fail.h"

#define TRUE_ENOUGH 1e-9

struct audit {
    const struct rag_clusters *clusters;
    const struct rag_matrix *matrix;
    struct clusters_places at;
    const uint8_t *base;
    uint64_t *offsets; /* of the rows at each place */
    uint8_t *seen;
    double *unit, *centroid;
    float *scratch;
    int16_t *point;
};

static bool audit_open(struct audit *on) {
    const size_t stride = cluster_stride(on->clusters->dim);
    on->offsets = malloc((on->clusters->rows + 1) * sizeof *on->offsets);
    on->seen = calloc(on->clusters->rows / 8 + 1, 1);
    on->unit = malloc(2 * stride * sizeof *on->unit);
    on->scratch = malloc(stride * sizeof *on->scratch);
    on->point = malloc(stride * sizeof *on->point);
    on->centroid = on->unit + stride;
    return on->offsets && on->seen && on->unit && on->scratch && on->point;
}

static void audit_close(struct audit *on) {
    free(on->offsets);
    free(on->seen);
    free(on->unit);
    free(on->scratch);
    free(on->point);
}

static uint32_t row_at(const struct audit *on, uint64_t place) {
    return load_u32(on->base + on->at.order + 4 * place);
}

static enum rag_status check_order(struct audit *on, struct rag_fault *fault) {
    for (uint64_t place = 0; place < on->clusters->rows; place++) {
        const uint32_t row = row_at(on, place);
        const uint64_t at = on->at.order + 4 * place;
        if (row >= on->clusters->rows)
            return rag_fail(fault, RAG_CORRUPT, at, "a place holds a row that is not there");
        if (on->seen[row / 8] >> row % 8 & 1)
            return rag_fail(fault, RAG_CORRUPT, at, "a row has two places");
        on->seen[row / 8] |= (uint8_t)(1 << row % 8);
        on->offsets[place] = on->matrix->at + row * on->matrix->stride;
    }
    return RAG_OK;
}

static void take_centroid(const struct audit *on, size_t c) {
    const uint8_t *at =
        on->base + on->at.panels + c / PANEL_COLUMNS * panel_size(on->clusters->dim);
    for (size_t i = 0; i < on->clusters->dim; i++)
        on->centroid[i] =
            0x1p-15 *
            (int16_t)load_u16(at + 4 * (PANEL_COLUMNS * (i / 2) + c % PANEL_COLUMNS) + 2 * (i % 2));
}

static enum rag_status check_row(const struct audit *on, size_t c, uint32_t row,
                                 struct rag_fault *fault) {
    const float radius = load_f32(on->base + on->at.radii + 4 * c);
    const float least = load_f32(on->base + on->at.least + 4 * c),
                most = load_f32(on->base + on->at.most + 4 * c);
    double norm, square = 0;
    enum rag_status status = rag_matrix_touch(on->matrix, row, 1, fault);
    if (status != RAG_OK) return status;
    const bool plain = rag_cluster_point(on->matrix, row, on->point, on->unit, on->scratch, &norm);
    if (!isfinite(norm)) return RAG_OK; /* never ranked */
    for (size_t i = 0; i < on->clusters->dim; i++) {
        const double rest = on->unit[i] - on->centroid[i];
        square += rest * rest;
    }
    if (!(plain ? sqrt(square) <= radius + TRUE_ENOUGH : isinf(radius)))
        return rag_fail(fault, RAG_CORRUPT, on->at.radii + 4 * c,
                        "a row lies outside the radius of its cluster");
    if (norm < least * (1 - TRUE_ENOUGH) || norm > most * (1 + TRUE_ENOUGH))
        return rag_fail(fault, RAG_CORRUPT, on->at.least + 4 * c,
                        "the norm of a row lies outside those of its cluster");
    return RAG_OK;
}

static enum rag_status check_clusters(struct audit *on, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    rag_float_mode before;
    rag_float_plain(&before);
    for (size_t c = 0; c < on->clusters->count && status == RAG_OK; c++) {
        const uint8_t *starts = on->base + on->at.starts + 4 * c;
        take_centroid(on, c);
        for (uint64_t place = load_u32(starts); place < load_u32(starts + 4) && status == RAG_OK;
             place++)
            status = check_row(on, c, row_at(on, place), fault);
    }
    rag_float_back(&before);
    return status;
}

static enum rag_status audit(struct audit *on, const struct rag_shadow *shadow,
                             struct rag_fault *fault) {
    const struct rag_guard *section = &on->clusters->guard;
    enum rag_status status = rag_guard_check(section, 0, section->size, fault);
    on->base = rag_guard_at(section, 0);
    if (status == RAG_OK) status = check_order(on, fault);
    if (status == RAG_OK) status = check_clusters(on, fault);
    if (status != RAG_OK) {
        if (fault->section[0] == 0) memcpy(fault->section, section->name, sizeof fault->section);
        return status;
    }
    struct rag_matrix placed = *on->matrix;
    placed.offsets = on->offsets;
    return rag_shadow_check(shadow, &placed, fault);
}

enum rag_status rag_clusters_check(const struct rag_clusters *clusters,
                                   const struct rag_shadow *shadow, const struct rag_matrix *matrix,
                                   struct rag_fault *fault) {
    struct audit on = {.clusters = clusters, .matrix = matrix};
    on.at = rag_clusters_places(clusters->rows, clusters->dim, clusters->count);
    if (matrix->offsets)
        return rag_fail(fault, RAG_ARGUMENT, 0, "clusters are those of rows at one stride");
    const enum rag_status status = audit_open(&on)
                                       ? audit(&on, shadow, fault)
                                       : rag_fail(fault, RAG_MEMORY, 0, "no memory for a check");
    audit_close(&on);
    return status;
}
