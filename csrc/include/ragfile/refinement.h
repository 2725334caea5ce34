/* refinement.h - the steps after fusion: several ranked lists as one, boosts by metadata, repeats,
 * diversity. All in binary64 and in a fixed order of operations, so every machine gives the same
 * bits. */
#ifndef RAGFILE_REFINEMENT_H
#define RAGFILE_REFINEMENT_H

#include "ragfile/fusion.h"

/* A ranked list: distinct rows, best first. RAG_BLEND reads scores, which are finite, and the
 * weight; RAG_RRF reads neither. */
struct rag_list {
    const int64_t *rows;
    const double *scores;
    size_t count;
    double weight;
};

/* Fuses lists by RAG_RRF with its constant, or by RAG_BLEND; fuse.c has the formulas. Writes the
 * union of the rows, best first, equal scores by row, and returns its size. rows and scores have
 * room for the rows of all lists. Fails with RAG_ARGUMENT for a row that is twice in a list and for
 * a score that is not finite. */
enum rag_status rag_lists_fuse(enum rag_method method, double constant,
                               const struct rag_list *lists, size_t count, int64_t *rows,
                               double *scores, size_t *found, struct rag_fault *fault);

/* Scales scores to 0..1 by their least and their largest; equal ones become 1. */
void rag_unit_range(double *scores, size_t count);

/* A date or time of ISO 8601 as days since 1970, in UTC unless it names an offset. False for
 * another text. */
bool rag_date_days(const uint8_t *text, size_t size, double *days);

/* weight * 0.5^(|value - reference| / half_life); 0 for a value of NaN. */
struct rag_boost {
    double weight, reference, half_life;
};
double rag_boost_gain(const struct rag_boost *boost, double value);

/* Adds the gains of each row to its score and ranks the rows again: order[i] is the index of the
 * row at rank i, scores[i] its score; equal scores keep their order. values[count][boost_count]
 * has the value of each row for each boost, NaN for none. */
enum rag_status rag_boosts_rank(const struct rag_boost *boosts, size_t boost_count,
                                const double *values, double *scores, size_t count, int64_t *order,
                                struct rag_fault *fault);

/* Passages of which none nearly repeats another, as directions of vectors or as marks of texts. */
struct rag_repeats;
struct rag_repeats *rag_repeats_new(void);
void rag_repeats_free(struct rag_repeats *kept);

/* Sets is_new[i] unless a vector before it, kept or given, has a cosine of at least `same` to it.
 * Keeps the new ones if `keeps`. All vectors of a set have one length. One without a direction is
 * always new. */
enum rag_status rag_repeats_vectors(struct rag_repeats *kept, const double *vectors, size_t count,
                                    size_t dim, double same, bool keeps, bool *is_new,
                                    struct rag_fault *fault);

/* The same for marks of texts, which repeat if they differ in at most `bits` bits. */
enum rag_status rag_repeats_mark(struct rag_repeats *kept, uint64_t mark, unsigned bits, bool keeps,
                                 bool *is_new, struct rag_fault *fault);

/* 64 bits that differ little if texts differ little: a majority vote of the hashes of all pairs of
 * words. The words of the text are separated by one blank. */
uint64_t rag_simhash(const uint8_t *words, size_t size);

/* Maximal marginal relevance: each place takes the row with the most of (1 - share) * relevance -
 * share * likeness. Relevance is the score scaled to 0..1, likeness the largest cosine to a row
 * chosen before. Writes the indices of the first k rows, or of all if there are fewer. */
enum rag_status rag_diverse(const double *scores, const double *vectors, size_t count, size_t dim,
                            size_t k, double share, int64_t *order, struct rag_fault *fault);

#endif
