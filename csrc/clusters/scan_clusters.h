/* scan_clusters.h - places of a shadow and their rows, for the files that scan shadows. */
#ifndef RAG_SCAN_CLUSTERS_H
#define RAG_SCAN_CLUSTERS_H

#include "vectors/shortlist.h"

/* Return the row at a place of a segment's shadow, or false (recorded) if there is none. */
bool rag_search_row(struct search *search, size_t segment, uint64_t place, uint32_t *row);

/* Add a stretch's matching blocks to the shortlist; bits: two bytes for each block, or NULL for all
 * rows. */
void rag_sweep_stretch(struct shortlist *on, const struct stretch *stretch, const uint8_t *bits);

/* Visit clusters for one query; passing is the number of the segment's rows that pass the
 * filter. */
void rag_scan_clusters(struct search *search, const struct slice *slice, size_t q,
                       uint64_t passing);

/* Return the share of the k best in the finished answer to a query of the chunk. */
double rag_search_recall(const struct search *search, size_t q);

#endif
