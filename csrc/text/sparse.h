/* sparse.h - the bytes of rag.sparse, shared by its writer, its reader and its search.
 *
 * Little-endian:
 *      0   8  magic "RAGSPW1\0"
 *      8   8  rows                       16   8  terms T
 *     24   8  weights                    32   8  N, bytes of names
 *     40   8  L, words of lists          48  16  zero
 *     64  4T  where each name ends
 *         4T  where each list ends, in words
 *          N  names, then zeros to a multiple of 4
 *         4L  lists
 *         64  zeros of slack
 *
 * A list: u16 largest code, u16 containers - 1; each container: u16 window, u16 rows - 1, u16 row
 * in window each, u16 code each. */
#ifndef RAG_SPARSE_H
#define RAG_SPARSE_H

#include "ragfile/sparse.h"
#include "text/bm25_search.h"

#define SPARSE_MAGIC "RAGSPW1"
enum {
    SPARSE_HEADER = 64,
    SPARSE_AT_ROWS = 8,
    SPARSE_AT_TERMS = 16,
    SPARSE_AT_WEIGHTS = 24,
    SPARSE_AT_NAMES = 32,
    SPARSE_AT_LISTS = 40,
    SPARSE_AT_ZERO = 48,
    SPARSE_WORD = 4,
    SPARSE_SLACK = 64,
};

struct rag_sparse {
    struct rag_guard guard;
    struct rag_sparse_info info;
    uint64_t ends_at, lists_end_at, names_at, lists_at; /* in the section */
    struct rag_bm25_scratches scratches;
};

/* A term's list in words of the lists; size is 0 for a term that the segment lacks. */
struct rag_sparse_list {
    uint64_t at, size;
};
/* Finds a term's list. The directory must be checked: rag_sparse_directory. */
struct rag_sparse_list rag_sparse_find(const struct rag_sparse *sparse, const uint8_t *term,
                                       size_t size);
enum rag_status rag_sparse_directory(const struct rag_sparse *sparse, struct rag_fault *fault);

/* Rows of one term in one window. Every member has been checked against the list. */
struct rag_sparse_container {
    uint32_t window, count;
    const uint8_t *rows, *codes;
};
/* A walk through a list's containers, whose bytes have been checked by their guard. */
struct rag_sparse_walk {
    const uint8_t *at, *end;
    uint32_t left, window; /* containers; the least window of the next */
};
bool rag_sparse_walk_start(struct rag_sparse_walk *walk, const uint8_t *list, uint64_t words);
/* The next container. False after the last, with *broken if the list is not filled by them. */
bool rag_sparse_walk_next(struct rag_sparse_walk *walk, struct rag_sparse_container *container,
                          bool *broken);

#endif
