/* query_codes.h - the codes of a query for the sweep of a shadow. */
#ifndef RAG_QUERY_CODES_H
#define RAG_QUERY_CODES_H

#include "shadows/shadow.h"

/* With v the nibble part of a row, <q, v> is step * sum(codes * v) within error times the length of
 * the nibbles. base is <q, mean>; along and across bound the query's product with residuals of unit
 * length along and across the kept axes. A plain shadow needs the codes alone. */
struct query_codes {
    const int8_t *code, *top;
    struct code_scale scale;
    double base, along, across, missed;
};

/* Return the memory size of a query's codes. For planes, the section must be verified up to
 * groups_at before take. */
size_t rag_query_codes_size(const struct rag_shadow *shadow);
void rag_query_codes_take(struct query_codes *codes, void *memory, const struct query *query,
                          const struct rag_shadow *shadow);

#endif
