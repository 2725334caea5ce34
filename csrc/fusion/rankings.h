/* rankings.h - shared by the files that merge rankings: parts of a file, ranked rows, and the first
 * failure among tasks. */
#ifndef RAG_RANKINGS_H
#define RAG_RANKINGS_H

#include <math.h>

#include "ragfile/fusion.h"

/* A row with its score; `at` is its original position. */
struct rag_ranked {
    double score;
    int64_t row;
    uint32_t at;
};

/* Return the part, in order of base, that contains a row. */
size_t rag_part_of(const struct rag_part *parts, size_t count, int64_t row);

/* Order ties by key. all is sorted by descending score, then row. Only the first `wanted` elements
 * of `all` are final afterwards: runs of equal scores are merged up to there, even if a run
 * extends past it. */
enum rag_status rag_ties_settle(const struct rag_part *parts, size_t part_count,
                                struct rag_ranked *all, size_t count, size_t wanted,
                                struct rag_fault *fault);

/* The first failed task in task order, with its fault. */
struct rag_failure {
    int lock;
    size_t at;
    struct rag_fault fault;
};
#define RAG_NO_FAILURE ((struct rag_failure){.at = SIZE_MAX})

static inline void rag_failure_note(struct rag_failure *failure, size_t i, enum rag_status status,
                                    const struct rag_fault *fault) {
    /* unreached: two threads that fail in the same instant */
    while (__atomic_exchange_n(&failure->lock, 1, __ATOMIC_ACQUIRE)) {
    }
    if (i < failure->at) {
        failure->at = i;
        failure->fault = *fault;
        failure->fault.status = status;
    }
    __atomic_store_n(&failure->lock, 0, __ATOMIC_RELEASE);
}

static inline enum rag_status rag_failure_of(const struct rag_failure *failure,
                                             struct rag_fault *fault) {
    if (failure->at == SIZE_MAX) return RAG_OK;
    if (fault) *fault = failure->fault;
    return failure->fault.status;
}

/* Limit the threads: waking one costs as much as a few queries. */
static inline int rag_worth(size_t count, int threads) {
    const size_t worth = count / 4 + 1;
    return (size_t)threads < worth ? threads : (int)worth;
}

#endif
