/* wants.h - ranges of sections to fetch before a scan (guard.c). */
#ifndef RAG_WANTS_H
#define RAG_WANTS_H

#include "ragfile/section.h"

/* Ranges that a scan will read, collected in advance. rag_wants_ready fetches and clears them;
 * an empty list costs nothing. */
struct rag_wants {
    struct rag_want *items;
    size_t count, room;
    bool failed; /* no memory: ready reports it */
};
void rag_wants_add(struct rag_wants *wants, const struct rag_guard *guard, uint64_t at,
                   uint64_t size);
enum rag_status rag_wants_ready(struct rag_wants *wants, struct rag_fault *fault);

#endif
