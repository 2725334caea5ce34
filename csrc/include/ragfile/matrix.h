/* matrix.h - vectors in a file, and the scores that rank them. */
#ifndef RAGFILE_MATRIX_H
#define RAGFILE_MATRIX_H

#include "ragfile/section.h"

enum { RAG_VECTOR_HEAD = 64, RAG_REFERENCE_SIZE = 16 };

/* Writes the first 64 bytes of a 1.0 vector section at file offset `at`: preamble and extension
 * of 0.1.0, for rows with a constant stride of dim * bits / 8 + 16. */
void rag_vector_head(uint8_t out[RAG_VECTOR_HEAD], uint64_t at, uint32_t dim, uint32_t bits,
                     uint64_t rows);

/* Writes rows as pairs: the components' bytes, '-', "c" and ten digits of first + i, four NULs. */
void rag_vector_rows(uint8_t *out, const uint8_t *components, size_t row_size, uint64_t first,
                     size_t rows);

struct rag_vectors {
    uint32_t dim, bits;
    uint64_t rows, stride, at; /* at: of the first row, in the section */
};
enum rag_status rag_vector_open(const struct rag_guard *guard, uint64_t section_at,
                                struct rag_vectors *vectors, struct rag_fault *fault);

/* A matrix of vectors in a section. Row i starts at byte at + i * stride or, with offsets, at
 * offsets[i]. Components are IEEE binary16, 32 or 64 in either byte order; binary64 is rounded
 * to binary32. Rows may contain NaN or infinity; they are never ranked. */
enum rag_scalar { RAG_F16, RAG_F32, RAG_F64 };

struct rag_matrix {
    struct rag_guard guard;
    uint64_t at, stride, count;
    const uint64_t *offsets; /* or NULL; aligned, host order */
    uint32_t dim;
    enum rag_scalar scalar;
    bool big_endian;
};

enum { RAG_DIM_MAX = 65536 };

/* Checks that every row is inside the section. Required before any scan. */
enum rag_status rag_matrix_check(const struct rag_matrix *matrix, struct rag_fault *fault);

/* The metric that ranks rows. Scores are canonical (spec/parts/vectors.md): the same bits on
 * every machine. Larger is better for all three; l2 scores are negated squared distances. Scores
 * beyond binary32 are clamped to its largest value. */
enum rag_metric { RAG_COSINE, RAG_IP, RAG_L2 };

/* The index of the first value that is not finite, or count. */
size_t rag_first_not_finite(const float *values, size_t count);

#endif
