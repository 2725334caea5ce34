/* clusters.h - vectors grouped by direction, for searches that skip part of them. */
#ifndef RAGFILE_CLUSTERS_H
#define RAGFILE_CLUSTERS_H

#include "ragfile/section.h"

struct rag_matrix;
struct rag_shadow;

/* Clusters of rows that point in similar directions (section rag.clusters). The shadow then
 * holds the rows cluster by cluster, in the section rag.clustered. open checks all but the
 * order; row numbers in it are checked when they are used. */
struct rag_clusters {
    struct rag_guard guard;
    uint64_t rows, order_at;
    uint32_t dim, count;
    uint32_t
        *places; /* the place of each row, computed by the first search that needs it; or NULL */
};

/* Frees `places`. */
void rag_clusters_close(struct rag_clusters *clusters);
enum rag_status rag_clusters_open(struct rag_clusters *clusters, const struct rag_guard *section,
                                  const struct rag_matrix *matrix, struct rag_fault *fault);

/* The first place of a cluster; for `count`, the end of the last one. */
uint32_t rag_clusters_start(const struct rag_clusters *clusters, uint32_t cluster);

/* Checks the clusters, and the shadow in their order, against every row. */
enum rag_status rag_clusters_check(const struct rag_clusters *clusters,
                                   const struct rag_shadow *shadow, const struct rag_matrix *matrix,
                                   struct rag_fault *fault);

/* Builds clusters. choose makes about `wanted` clusters, or returns NULL if the rows allow none;
 * order then maps places to rows. measure takes the matrix with its rows in that order. Then
 * write writes the section. The bytes do not depend on the number of threads. */
struct rag_clustering;
enum rag_status rag_clustering_choose(const struct rag_matrix *matrix, uint64_t wanted, int threads,
                                      struct rag_clustering **clustering, struct rag_fault *fault);
void rag_clustering_free(struct rag_clustering *clustering);
uint32_t rag_clustering_count(const struct rag_clustering *clustering);
const uint32_t *rag_clustering_order(const struct rag_clustering *clustering);
enum rag_status rag_clustering_measure(struct rag_clustering *clustering,
                                       const struct rag_matrix *placed, struct rag_fault *fault);
uint64_t rag_clustering_size(const struct rag_clustering *clustering);
enum rag_status rag_clustering_write(const struct rag_clustering *clustering, rag_write *write,
                                     void *context);

#endif
