/* frequencies.h - document frequencies of a whole collection (section rag.frequencies). */
#ifndef RAGFILE_FREQUENCIES_H
#define RAGFILE_FREQUENCIES_H

#include "ragfile/section.h"
#include "ragfile/bm25.h"

struct rag_queries;

/* An open section rag.frequencies: the number of rows of a collection that contain each term. */
struct rag_frequencies {
    struct rag_guard guard;
    struct rag_lexical_stats stats; /* of the collection */
    uint64_t terms, blocks, keys_at, blocks_at;
    const uint8_t *config;
    size_t config_size;
};
enum rag_status rag_frequencies_open(const struct rag_guard *guard,
                                     struct rag_frequencies *frequencies, struct rag_fault *fault);
/* The number of rows that contain a term. */
enum rag_status rag_frequencies_find(const struct rag_frequencies *frequencies, const uint8_t *term,
                                     size_t size, uint64_t *rows, struct rag_fault *fault);
/* The range of the section that a lookup of the term most likely reads; 0 bytes for none. */
enum rag_status rag_frequencies_place(const struct rag_frequencies *frequencies,
                                      const uint8_t *term, size_t size, uint64_t *at,
                                      uint64_t *bytes);
/* Of the whole collection; like rag_lexicon_languages, rag_lexicon_beginning and
 * rag_lexicon_near. */
enum rag_status rag_frequencies_languages(const struct rag_frequencies *frequencies,
                                          uint32_t *found, struct rag_fault *fault);
enum rag_status rag_frequencies_beginning(const struct rag_frequencies *frequencies,
                                          const uint8_t *prefix, size_t count, rag_count_sink *sink,
                                          void *context, struct rag_fault *fault);
enum rag_status rag_frequencies_near(const struct rag_frequencies *frequencies, const uint8_t *word,
                                     size_t count, unsigned edits, rag_count_sink *sink,
                                     void *context, struct rag_fault *fault);
/* Sets df of each term of the first `count` queries. */
enum rag_status rag_frequencies_set(const struct rag_frequencies *frequencies,
                                    struct rag_queries *queries, size_t count,
                                    struct rag_fault *fault);

/* A part of a collection: the live rows of a lexicon (alive NULL for all), or the counts of a
 * section. is_taken_away subtracts it. */
struct rag_frequency_part {
    const struct rag_lexicon *lexicon;
    const uint64_t *alive;
    const struct rag_frequencies *frequencies; /* where lexicon is NULL */
    bool is_taken_away;
};
/* Writes the sum of the parts as a section, with the statistics of the result. RAG_CORRUPT if a
 * count becomes negative. */
enum rag_status rag_frequencies_merge(const struct rag_frequency_part *parts, size_t part_count,
                                      const struct rag_lexical_stats *stats, const uint8_t *config,
                                      size_t config_size, struct rag_sink sink,
                                      struct rag_fault *fault);

#endif
