/* sight.h - a query as a shadow sees it, for scan_shadow.c. */
#ifndef RAG_SIGHT_H
#define RAG_SIGHT_H

#include "shadow.h"

/* With v the part of a row that nibbles give, <q, v> is step * sum(codes * v) but for error times
 * the length of the nibbles. base is <q, mean>; of residuals along and across the kept axes, the
 * query meets so much. A plain shadow needs the codes alone. */
struct sight {
    const int8_t *code, *top;
    struct query_codes codes;
    double base, along, across, missed;
};

/* The memory that a sight of this shadow needs. Of planes, take needs the section to be checked up
 * to groups_at. */
size_t rag_sight_size(const struct rag_shadow *shadow);
void rag_sight_take(struct sight *sight, void *memory, const struct query *query,
                    const struct rag_shadow *shadow);

#endif
