/* query_codes.h - the codes of a query for the sweep of a shadow. */
#ifndef RAG_QUERY_CODES_H
#define RAG_QUERY_CODES_H

#include "shadows/shadow.h"

/* With v the part of a row that nibbles give, <q, v> is step * sum(codes * v) but for error times
 * the length of the nibbles. base is <q, mean>; of residuals along and across the kept axes, the
 * query meets so much. A plain shadow needs the codes alone. */
struct query_codes {
    const int8_t *code, *top;
    struct code_scale scale;
    double base, along, across, missed;
};

/* The memory for a query's codes. For planes, the section must be verified up to groups_at
 * before take. */
size_t rag_query_codes_size(const struct rag_shadow *shadow);
void rag_query_codes_take(struct query_codes *codes, void *memory, const struct query *query,
                          const struct rag_shadow *shadow);

#endif
