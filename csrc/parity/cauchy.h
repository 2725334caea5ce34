/* cauchy.h - the code of parity: rows of sums over blocks, and blocks from rows.
 *
 * Block j of a run has the point M + j, row p the point p, where M is the smallest power of two
 * that is not below the number of rows. Row p is the sum of block j / (p + M + j) over all j, word
 * by word. Any n rows give any n blocks back when the others are there. */
#ifndef RAG_CAUCHY_H
#define RAG_CAUCHY_H

#include "ragfile/status.h"

/* Blocks of a run of bytes: block j begins at first + j * stride and has `block` bytes, a
 * multiple of 64. Bytes after the run's end count as zero, and so does a lost block. */
struct rag_blocks {
    const uint8_t *bytes;
    uint64_t size, first, stride;
    uint32_t block, count;
    const bool *lost; /* one for each block, or NULL */
};

/* Computes row p into out + p * stride, for p = 0 … rows - 1. */
enum rag_status rag_cauchy_rows(const struct rag_blocks *blocks, uint32_t rows, uint8_t *out,
                                size_t stride, struct rag_fault *fault);

/* Reconstructs `count` lost blocks from as many rows over the lost blocks alone: sums[i] is row
 * kept[i], `block` bytes each. Block lost[i] is written to out + i * block. */
enum rag_status rag_cauchy_solve(uint32_t rows, const uint32_t *lost, const uint32_t *kept,
                                 uint32_t count, uint8_t *const *sums, uint8_t *out, size_t block,
                                 struct rag_fault *fault);

/* The smallest power of two that is not below the number of rows. */
uint32_t rag_cauchy_base(uint32_t rows);

#endif
