/* fail.h - rag_fail, which records a fault. */
#ifndef RAG_FAIL_H
#define RAG_FAIL_H

#include "ragfile/status.h"

/* Records a fault and returns its status, for use as: return rag_fail(fault, RAG_FORMAT, at,
 * "..."). */
static inline enum rag_status rag_fail(struct rag_fault *fault, enum rag_status status, uint64_t at,
                                       const char *what) {
    if (fault) {
        fault->status = status;
        fault->at = at;
        fault->what = what;
        fault->section[0] = 0;
        fault->os_error = 0;
        fault->has = fault->wants = 0;
    }
    return status;
}

#endif
