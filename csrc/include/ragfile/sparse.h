/* sparse.h - weights of terms that a writer brings: building, reading and searching rag.sparse. */
#ifndef RAGFILE_SPARSE_H
#define RAGFILE_SPARSE_H

#include "ragfile/section.h"

/* The code of a weight, from 0 to 65535: the nearest that a section can hold. Below 2^-17 it is
 * RAG_SPARSE_NONE. The weight is at most RAG_SPARSE_MOST. */
enum { RAG_SPARSE_NONE = 65536, RAG_SPARSE_MOST = 65520, RAG_SPARSE_TERM = 255 };
uint32_t rag_sparse_code(double weight);
float rag_sparse_weight(uint32_t code);

/* The open section of one segment. `check` looks only at what a search relies on at once; lists are
 * checked when they are used. The bytes must outlive it. */
struct rag_sparse;
struct rag_sparse_info {
    uint64_t rows, terms, weights;
};
enum rag_status rag_sparse_open(const struct rag_guard *section, struct rag_sparse **sparse,
                                struct rag_fault *fault);
void rag_sparse_close(struct rag_sparse *sparse);
void rag_sparse_info(const struct rag_sparse *sparse, struct rag_sparse_info *info);
/* Checks every MUST of the section. */
enum rag_status rag_sparse_check(const struct rag_sparse *sparse, struct rag_fault *fault);

/* The bytes of a term, valid as long as those of the section. */
enum rag_status rag_sparse_term(const struct rag_sparse *sparse, uint64_t term,
                                const uint8_t **bytes, size_t *size, struct rag_fault *fault);
/* All weights by row: those of row r are [starts[r], starts[r + 1]), in the order of terms.
 * starts has a place for each row and one more; terms and codes one for each weight. */
enum rag_status rag_sparse_by_row(const struct rag_sparse *sparse, uint64_t *starts,
                                  uint32_t *terms, uint16_t *codes, struct rag_fault *fault);

/* A term of a question. The terms of a question are in ascending order of bytes, each once, and
 * weights are positive, at most RAG_SPARSE_MOST. */
struct rag_sparse_term {
    const uint8_t *bytes;
    uint32_t size;
    float weight;
};
/* One segment of a search, and the rows of it that may be found (NULL for all). */
struct rag_sparse_leg {
    struct rag_sparse *sparse;
    const uint64_t *where;
};
/* Finds the best rows of all segments for a question, as numbers in their segments; rows and
 * scores are [legs][k]. Each segment's part lists at least its rows among the k best of all and
 * those that tie with the last of them, best first. Unused entries are row -1, score NaN. */
enum rag_status rag_sparse_search(const struct rag_sparse_leg *legs, size_t leg_count,
                                  const struct rag_sparse_term *terms, size_t count, size_t k,
                                  int64_t *rows, float *scores, struct rag_fault *fault);
/* Scores the given rows of a segment, in ascending order; 0 for one without any of the terms.
 * RAG_ARGUMENT for a row that does not exist. */
enum rag_status rag_sparse_score(struct rag_sparse *sparse, const struct rag_sparse_term *terms,
                                 size_t count, const int64_t *rows, size_t row_count, float *scores,
                                 struct rag_fault *fault);

/* Builds a section in two passes over the rows, with `memory` bytes for lists and some for each
 * term. First every row is counted; then, part by part, every row is put again and the part
 * written. A row is packed: for each of its terms, in any order, u8 size, the bytes, u16 code. */
struct rag_sparse_builder;
struct rag_sparse_builder *rag_sparse_builder_new(size_t memory);
void rag_sparse_builder_free(struct rag_sparse_builder *builder);
/* Counts the next row. RAG_ARGUMENT for malformed bytes or a term that occurs twice. */
enum rag_status rag_sparse_builder_count(struct rag_sparse_builder *builder, const uint8_t *packed,
                                         size_t size, struct rag_fault *fault);
/* Ends counting: the number of all weights, and of the parts to write. */
enum rag_status rag_sparse_builder_plan(struct rag_sparse_builder *builder, uint64_t *weights,
                                        uint64_t *parts, struct rag_fault *fault);
/* Begins a part: 0 first, then the others in order. Writes what precedes it in the section. */
enum rag_status rag_sparse_builder_begin(struct rag_sparse_builder *builder, uint64_t part,
                                         rag_write *write, void *context, struct rag_fault *fault);
/* Puts the next row into the part: the same bytes in the same order as when they were counted. */
enum rag_status rag_sparse_builder_put(struct rag_sparse_builder *builder, const uint8_t *packed,
                                       size_t size, struct rag_fault *fault);
/* Writes the part, after the last one also the end of the section. */
enum rag_status rag_sparse_builder_end(struct rag_sparse_builder *builder, rag_write *write,
                                       void *context, struct rag_fault *fault);

#endif
