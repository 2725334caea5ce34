/* reconstruct.h - repair with one parity section, for repair_file.c. */
#ifndef RAG_RECONSTRUCT_H
#define RAG_RECONSTRUCT_H

#include "ragfile/parity.h"
#include "parity/parity.h"

/* A copy of a damaged file that is being repaired, with room after the file's own bytes. */
struct reconstruction {
    uint8_t *bytes;
    uint64_t size; /* of the file as it was */
    bool check;    /* shards that look good are made again too */
    void (*report)(void *context, const struct rag_damage *damage);
    void *context;
};

/* Writes the correct bytes if the present ones differ, and reports the change. */
void rag_reconstruct_put(const struct reconstruction *m, uint64_t at, const uint8_t *bytes,
                         uint64_t size);

/* Repairs, as far as possible, the bytes that a section protects, then the section, its commit's
 * table and its footer. The copy extends to p->end. */
enum rag_status rag_reconstruct_section(const struct reconstruction *m, const struct parity *p,
                                        struct rag_fault *fault);

#endif
