/* mend.h - one parity section put to use, for repair.c. */
#ifndef RAG_MEND_H
#define RAG_MEND_H

#include "parity.h"

/* A copy of a damaged file that is put right, with room after the file's own bytes. */
struct mending {
    uint8_t *bytes;
    uint64_t size; /* of the file as it was */
    bool check;    /* shares that look good are made again too */
    void (*report)(void *context, const struct rag_mended *mended);
    void *context;
};

/* Writes what belongs there, where something else is, and reports it. */
void rag_mend_put(const struct mending *m, uint64_t at, const uint8_t *bytes, uint64_t size);

/* Puts right what a section protects, then the section, its commit's table and its footer, as far
 * as that is possible. The copy has room up to p->end. */
enum rag_status rag_mend_section(const struct mending *m, const struct parity *p,
                                 struct rag_fault *fault);

#endif
