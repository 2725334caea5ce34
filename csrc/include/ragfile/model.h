/* model.h - the embedded static embedding model. */
#ifndef RAGFILE_MODEL_H
#define RAGFILE_MODEL_H

#include "ragfile/status.h"

enum { RAG_MODEL_SPECIALS = 16 };

/* A static embedding model in a mapped file: a WordPiece vocabulary and one 4-bit row per piece.
 * Fields are read-only; the file must stay mapped while the model is in use. */
struct rag_model {
    uint32_t dims, count, bucket_bits, unknown, longest;
    const char *name; /* NUL-terminated */
    const uint8_t *rows, *coefficients, *buckets, *words;
    const uint8_t *specials[RAG_MODEL_SPECIALS];
    size_t special_count;
};

/* Validates a complete model file and opens it. */
enum rag_status rag_model_open(const void *file, size_t size, struct rag_model *model,
                               struct rag_fault *fault);

/* Splits a text into word pieces: writes up to `capacity` ids and returns their total number.
 * Bytes that are not UTF-8 are skipped. */
size_t rag_model_tokens(const struct rag_model *model, const void *text, size_t size, uint32_t *ids,
                        size_t capacity);

/* The share of a text that the model knows, from 0 to 1: the mean over the bytes of its words, of 1
 * divided by the number of the word's pieces. Pieces of one character that is not ASCII count as
 * unknown. 1 for a text without words. */
double rag_model_known(const struct rag_model *model, const void *text, size_t size);

/* Embeds texts: writes count * dims floats, vectors of length 1, or zeros for a text without a
 * known word. The bits do not depend on threads, batch or target. */
void rag_model_embed(const struct rag_model *model, const uint8_t *const *texts,
                     const size_t *sizes, size_t count, int threads, float *out);

/* Replaces each of `rows` unit vectors by the direction of text + weight * path. path_of[i] is a
 * row of `paths`, or -1 for none. `room` holds dims numbers. */
void rag_path_vectors_add(float *texts, const float *paths, const int64_t *path_of, size_t rows,
                          size_t dims, double weight, double *room);

/* The input of rag_model_write. Piece i has id i. Its kind is 0 for the start of a word, 1 for a
 * continuation (without ##), 2 for a special piece, which begins with "[". rows are count * dims
 * components from -8 to 7. */
struct rag_model_source {
    uint32_t dims, count, bucket_bits, unknown;
    const char *name;
    size_t name_size;
    const uint8_t *const *pieces;
    const uint8_t *sizes, *kinds;
    const int8_t *rows;
    const int16_t *coefficients;
};

/* Writes a model file to `out`, which has *size bytes. With out NULL, only sets *size to the
 * size that is needed. */
enum rag_status rag_model_write(const struct rag_model_source *source, uint8_t *out, size_t *size,
                                struct rag_fault *fault);

#endif
