/* scan_clusters.h - places of a shadow and the rows that stand there, for the files that scan
 * shadows. */
#ifndef RAG_SCAN_CLUSTERS_H
#define RAG_SCAN_CLUSTERS_H

#include "vectors/shortlist.h"

/* The row at a place of a segment's shadow. False (noted) where there is none. */
bool rag_search_row(struct search *search, size_t segment, uint64_t place, uint32_t *row);

/* Takes what a stretch's blocks give to the shortlist; bits: two bytes for each block, or NULL for
 * all rows. */
void rag_sweep_stretch(struct shortlist *on, const struct stretch *stretch, const uint8_t *bits);

/* Visits clusters for one query; passing: how many of the segment's rows pass the filter. */
void rag_scan_clusters(struct search *search, const struct slice *slice, size_t q,
                       uint64_t passing);

/* The share of the k best that the answer to a query of the chunk has, once it is written. */
double rag_search_recall(const struct search *search, size_t q);

#endif
