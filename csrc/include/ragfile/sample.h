/* sample.h - a fixed sample of rows, which calibrates the vector scores of a query for fusion. */
#ifndef RAGFILE_SAMPLE_H
#define RAGFILE_SAMPLE_H

#include "ragfile/matrix.h"

/* Mean and population standard deviation of finite scores, each from a sum that is rounded once;
 * 0 and 0 for no scores. `room` holds count numbers. */
void rag_moments(const float *scores, double *room, size_t count, double *mean, double *deviation);

/* A sample of vectors: count rows of dim floats, and their canonical squares, which
 * rag_sample_squares computes. Rows may be where a file stores them, which need not be aligned. */
struct rag_sample {
    const float *rows;
    double *squares;
    size_t count;
    uint32_t dim;
    enum rag_metric metric;
    size_t stride; /* bytes from row to row; 0 for rows without gaps */
};
enum rag_status rag_sample_squares(struct rag_sample *sample, struct rag_fault *fault);

/* Mean and population standard deviation of a query's canonical scores over the sample, each
 * from a sum that is rounded once. Scores that are not finite are ignored. */
enum rag_status rag_sample_moments(const struct rag_sample *sample, const float *query,
                                   double *mean, double *deviation, struct rag_fault *fault);

/* The section rag.sample: entries of (hash, row), sorted, and the rows' components at byte `at`.
 * Set guard and pass the shape of the segment's vectors to open. entry takes i < count. */
enum { RAG_SAMPLE_HEAD = 64 };
struct rag_stored_sample {
    struct rag_guard guard;
    uint64_t count, at;
};
enum rag_status rag_stored_sample_open(struct rag_stored_sample *sample, uint64_t rows,
                                       uint32_t dim, uint32_t bits, struct rag_fault *fault);
void rag_stored_sample_entry(const struct rag_stored_sample *sample, uint64_t i, uint64_t *hash,
                             uint64_t *row);

/* For writers. The section is the head, the hashes, the rows, zeros up to
 * rag_stored_sample_vectors(count), and the vectors. */
void rag_stored_sample_head(uint8_t out[RAG_SAMPLE_HEAD], uint64_t count, uint32_t dim,
                            uint32_t bits);
uint64_t rag_stored_sample_vectors(uint64_t count);

#endif
