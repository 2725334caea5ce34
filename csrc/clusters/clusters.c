/* clusters.c - the section "rag.clusters": its layout, and the checks before its use.
 *
 *     0   8  "RAGCLUST"        12  u32 dim     24  u32 clusters, C
 *     8   u32 version, 1       16  u64 rows    28  .. 63  zero
 *     64  C + 1 u32            where each cluster's places start; the last is rows
 *         C f32                radius: no row's direction is farther from the centroid
 *         C f32                spread: the root mean square of these distances
 *         C f32, C f32         the least and the largest norm of its rows
 *         panels               centroids as int16 / 2^15, in panels of 32: first components 0 and 1
 *                              of all 32, then 2 and 3, ...; dim and C are padded to 32
 *         rows u32             the row at each place
 *
 * Each table starts at a multiple of 64. Opening checks all tables except the order, which it would
 * have to read whole; its row numbers are checked at use. A search in few rows needs the inverse
 * table, the place of each row, and reads the order whole once.
 *
 * The companion rag.clustered is a shadow (shadow.c) of the rows at their places. */
#include <math.h>
#include <stdlib.h>

#include "clusters/clusters.h"
#include "shared/fail.h"

static const char magic[8] = {'R', 'A', 'G', 'C', 'L', 'U', 'S', 'T'};
enum {
    CLUSTERS_AT_VERSION = 8,
    CLUSTERS_AT_DIM = 12,
    CLUSTERS_AT_ROWS = 16,
    CLUSTERS_AT_COUNT = 24,
    CLUSTERS_AT_ZERO = 28,
    CLUSTERS_VERSION = 1,
};

/* With rows < 2^32, dim and C <= 2^16 nothing here can overflow. */
struct clusters_places rag_clusters_places(uint64_t rows, uint32_t dim, uint32_t count) {
    struct clusters_places at = {.starts = CLUSTERS_HEAD};
    const uint64_t column = align_up(4 * (uint64_t)count, 64);
    at.radii = at.starts + align_up(4 * ((uint64_t)count + 1), 64);
    at.spreads = at.radii + column;
    at.least = at.spreads + column;
    at.most = at.least + column;
    at.panels = at.most + column;
    at.order = at.panels + panels_of(count) * panel_size(dim);
    at.end = at.order + align_up(4 * rows, 64);
    return at;
}

void rag_clusters_put_head(uint8_t *head, uint64_t rows, uint32_t dim, uint32_t count) {
    memset(head, 0, CLUSTERS_HEAD);
    memcpy(head, magic, sizeof magic);
    store_u32(head + CLUSTERS_AT_VERSION, CLUSTERS_VERSION);
    store_u32(head + CLUSTERS_AT_DIM, dim);
    store_u64(head + CLUSTERS_AT_ROWS, rows);
    store_u32(head + CLUSTERS_AT_COUNT, count);
}

/* ------------------------------------------------------------------------------------- opening */

static enum rag_status read_head(struct rag_clusters *c, const struct rag_matrix *matrix,
                                 struct rag_fault *fault) {
    const struct rag_guard *section = &c->guard;
    if (section->size < CLUSTERS_HEAD) return rag_fail(fault, RAG_FORMAT, 0, "not clusters");
    const enum rag_status status = rag_guard_check(section, 0, CLUSTERS_HEAD, fault);
    if (status != RAG_OK) return status;
    const uint8_t *head = rag_guard_at(section, 0);
    if (memcmp(head, magic, sizeof magic) != 0)
        return rag_fail(fault, RAG_FORMAT, 0, "not clusters");
    if (load_u32(head + CLUSTERS_AT_VERSION) != CLUSTERS_VERSION)
        return rag_fail(fault, RAG_VERSION, CLUSTERS_AT_VERSION, "clusters of an unknown version");
    for (size_t i = CLUSTERS_AT_ZERO; i < CLUSTERS_HEAD; i++)
        if (head[i]) return rag_fail(fault, RAG_FORMAT, i, "reserved bytes are not zero");
    c->rows = load_u64(head + CLUSTERS_AT_ROWS);
    c->dim = load_u32(head + CLUSTERS_AT_DIM);
    c->count = load_u32(head + CLUSTERS_AT_COUNT);
    if (c->rows != matrix->count || c->dim != matrix->dim)
        return rag_fail(fault, RAG_FORMAT, CLUSTERS_AT_DIM, "the clusters of another matrix");
    if (c->dim > CLUSTER_DIM_MAX || c->count == 0 || c->count > CLUSTERS_MAX || c->count > c->rows)
        return rag_fail(fault, RAG_FORMAT, CLUSTERS_AT_COUNT,
                        "there are 1 to 65536 clusters, no more than rows, of up to 4096 "
                        "dimensions");
    if (section->size != rag_clusters_places(c->rows, c->dim, c->count).end)
        return rag_fail(fault, RAG_CORRUPT, section->size,
                        "the size of the clusters is not that of their rows");
    return RAG_OK;
}

static enum rag_status check_starts(const struct rag_clusters *c, uint64_t at,
                                    struct rag_fault *fault) {
    const uint8_t *starts = rag_guard_at(&c->guard, at);
    bool good = load_u32(starts) == 0 && load_u32(starts + 4 * (size_t)c->count) == c->rows;
    for (size_t i = 0; good && i < c->count; i++)
        good = load_u32(starts + 4 * i) < load_u32(starts + 4 * i + 4);
    return good ? RAG_OK
                : rag_fail(fault, RAG_CORRUPT, at, "the clusters' places are not in order");
}

/* Check numbers that bounds depend on: not negative, not NaN. */
static enum rag_status check_numbers(const struct rag_clusters *c, uint64_t from, uint64_t to,
                                     struct rag_fault *fault) {
    const uint8_t *values = rag_guard_at(&c->guard, from);
    for (uint64_t i = 0; i < (to - from) / 4; i++)
        if (!(load_f32(values + 4 * i) >= 0))
            return rag_fail(fault, RAG_CORRUPT, from + 4 * i,
                            "a radius, spread or norm is negative or no number");
    return RAG_OK;
}

enum rag_status rag_clusters_open(struct rag_clusters *c, const struct rag_guard *section,
                                  const struct rag_matrix *matrix, struct rag_fault *fault) {
    *c = (struct rag_clusters){.guard = *section};
    enum rag_status status = read_head(c, matrix, fault);
    if (status != RAG_OK) return status;
    const struct clusters_places at = rag_clusters_places(c->rows, c->dim, c->count);
    c->order_at = at.order;
    status = rag_guard_check(section, 0, at.order, fault);
    if (status == RAG_OK) status = check_starts(c, at.starts, fault);
    return status == RAG_OK ? check_numbers(c, at.radii, at.panels, fault) : status;
}

uint32_t rag_clusters_start(const struct rag_clusters *c, uint32_t cluster) {
    return load_u32(rag_guard_at(&c->guard, CLUSTERS_HEAD + 4 * (uint64_t)cluster));
}

/* ------------------------------------------------------------------------------- places of rows */

static enum rag_status bad_order(const struct rag_clusters *c, uint64_t at, const char *what,
                                 struct rag_fault *fault) {
    rag_fail(fault, RAG_CORRUPT, at, what);
    if (fault) memcpy(fault->section, c->guard.name, sizeof fault->section);
    return RAG_CORRUPT;
}

static enum rag_status turn_order(const struct rag_clusters *c, uint32_t *places,
                                  struct rag_fault *fault) {
    const enum rag_status status = rag_guard_check(&c->guard, c->order_at, 4 * c->rows, fault);
    if (status != RAG_OK) return status;
    const uint8_t *order = rag_guard_at(&c->guard, c->order_at);
    memset(places, 0xff, 4 * c->rows);
    for (uint64_t place = 0; place < c->rows; place++) {
        const uint32_t row = load_u32(order + 4 * place);
        if (row >= c->rows || places[row] != UINT32_MAX)
            return bad_order(c, c->order_at + 4 * place,
                             "a place holds a row that is not there, or has another place", fault);
        places[row] = (uint32_t)place;
    }
    return RAG_OK;
}

/* Threads that need the table at the same time each build one; the first is kept. */
enum rag_status rag_clusters_row_places(const struct rag_clusters *c, const uint32_t **places,
                                        struct rag_fault *fault) {
    uint32_t **kept = (uint32_t **)&c->places, *made, *none = NULL;
    if ((*places = __atomic_load_n(kept, __ATOMIC_ACQUIRE))) return RAG_OK;
    if (!(made = malloc(4 * c->rows + 1)))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for the places of rows");
    const enum rag_status status = turn_order(c, made, fault);
    if (status != RAG_OK ||
        !__atomic_compare_exchange_n(kept, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        free(made);
    *places = status != RAG_OK ? NULL : none ? none : made;
    return status;
}

void rag_clusters_close(struct rag_clusters *c) {
    free(c->places);
    c->places = NULL;
}
