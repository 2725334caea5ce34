/* centroids.h - centroids under construction, shared by clusters_train.c and
 * clusters_build.c. */
#ifndef RAG_CENTROIDS_H
#define RAG_CENTROIDS_H

#include "clusters/clusters.h"

/* Centroids in panels, and half of each one's square in the scale of products (2^-29). */
struct centroids {
    uint8_t *panels;
    int32_t *halves;
    size_t count, stride;
};
bool rag_centroids_open(struct centroids *c, size_t count, size_t stride);
void rag_centroids_close(struct centroids *c);
void rag_centroids_put(struct centroids *c, size_t place, const int16_t *centroid);
void rag_centroid_of(const int64_t *sums, uint64_t count, size_t stride, int16_t *centroid);

/* The best centroid offered to a point so far; ties keep the first. */
struct nearest {
    int32_t score;
    uint32_t place;
};
#define NEAREST_NONE ((struct nearest){INT32_MIN, 0})

/* Offer centroids, numbered from first on, to up to 4 points; arrays have room for 4. */
void rag_centroids_nearest(const struct centroids *c, const int16_t *points, size_t count,
                           uint32_t first, struct nearest *best);

/* Clusters in groups: those of group g have numbers from firsts[g] on. */
struct tree {
    struct centroids groups, *parts;
    uint32_t *firsts;
    size_t count;
};
bool rag_tree_train(struct tree *tree, const int16_t *points, size_t count, size_t stride,
                    size_t wanted, int threads);
void rag_tree_close(struct tree *tree);

#endif
