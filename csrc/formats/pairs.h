/* pairs.h - declarations shared by the files about pairs. */
#ifndef RAG_PAIRS_H
#define RAG_PAIRS_H

#include "ragfile/pairs.h"

enum rag_status rag_spans_add(struct rag_spans *spans, uint64_t at, uint64_t size,
                              struct rag_fault *fault);

/* Return whether text is well-formed UTF-8: no overlong forms, no surrogates, nothing above
 * U+10FFFF. */
bool rag_is_utf8(const uint8_t *text, uint64_t size);

#endif
