/* clusters.h - the section rag.clusters, shared by the files that choose, write, open and visit
 * clusters. clusters.c documents the bytes.
 *
 * Nearby rows form a cluster, and the places of a shadow are ordered by cluster: a search begins
 * with the most promising clusters and skips those that cannot hold any result. The rows of the
 * file keep their numbers; `order` maps a place to its row. */
#ifndef RAG_CLUSTERS_H
#define RAG_CLUSTERS_H

#include "ragfile/clusters.h"
#include "shadows/rotation.h"

enum {
    CLUSTERS_HEAD = 64,
    CLUSTERS_MAX = 65536,
    CLUSTER_DIM_MAX = 4096, /* products of int16 up to this width fit 32 bits */
    PANEL_COLUMNS = 32,     /* interleaved centroids, for the kernel `turn` */
};

/* The offsets of the tables. A centroid has stride components, in pairs: 2 p and 2 p + 1 of
 * centroid c are at panels + 4 (panel_pairs (c / 32) + 32 p + c % 32), panel_pairs = 32 stride
 * / 2. */
struct clusters_places {
    uint64_t starts, radii, spreads, least, most, panels, order, end;
};
struct clusters_places rag_clusters_places(uint64_t rows, uint32_t dim, uint32_t count);
void rag_clusters_put_head(uint8_t *head, uint64_t rows, uint32_t dim, uint32_t count);

static inline size_t cluster_stride(uint32_t dim) { return (size_t)align_up(dim, AXIS_PAD); }
static inline size_t panel_size(uint32_t dim) { return 2 * PANEL_COLUMNS * cluster_stride(dim); }
static inline size_t panels_of(size_t count) { return (count + PANEL_COLUMNS - 1) / PANEL_COLUMNS; }

/* Store a centroid of int16 components, zero-padded to the stride, in its panel. */
static inline void put_centroid(uint8_t *panels, size_t c, const int16_t *centroid, size_t stride) {
    uint8_t *at =
        panels + c / PANEL_COLUMNS * (2 * PANEL_COLUMNS * stride) + 4 * (c % PANEL_COLUMNS);
    for (size_t p = 0; p < stride / 2; p++) {
        store_u16(at + 4 * PANEL_COLUMNS * p, (uint16_t)centroid[2 * p]);
        store_u16(at + 4 * PANEL_COLUMNS * p + 2, (uint16_t)centroid[2 * p + 1]);
    }
}

/* Return the place of each row: built from the whole order by the first search that needs it, then
 * kept. */
enum rag_status rag_clusters_row_places(const struct rag_clusters *clusters,
                                        const uint32_t **places, struct rag_fault *fault);

/* Compute a row's direction as int16 of 2^-14; zeros if it has none that bounds can cover. Return
 * whether it has one. */
bool rag_cluster_point(const struct rag_matrix *matrix, uint64_t row, int16_t *point, double *unit,
                       float *scratch, double *norm);

#endif
