/* bm25.h - BM25: building and searching the lexical sections of a segment. */
#ifndef RAGFILE_BM25_H
#define RAGFILE_BM25_H

#include "ragfile/status.h"

struct rag_filters;
struct rag_guard;
struct rag_vocabulary;

/* The inverse document frequency of a term that df of `rows` rows contain. Uses the four basic
 * operations only, so the bits do not depend on the C library. */
double rag_bm25_idf(uint64_t rows, uint64_t df);

/* Output of a builder, and storage for its sorted runs. A function returns 0, or anything else
 * to stop with RAG_OS. */
struct rag_sink {
    int (*write)(void *context, const void *bytes, size_t size);
    void *context;
};
struct rag_spill {
    int (*write)(void *context, const void *bytes, size_t size); /* appends */
    int (*read)(void *context, uint64_t at, void *bytes, size_t size);
    void *context;
};

/* Builds the sections rag.terms and rag.postings from rows in order. Rows are added in batches:
 * pass the texts of each row and end it; then resolve the pending words of the vocabulary; then
 * commit. Uses about `memory` bytes, plus 4 per row and the final dictionary. The output does
 * not depend on batches or memory. One thread. */
struct rag_lexical_builder;
struct rag_lexical_builder *rag_lexical_builder_new(double k1, double b, unsigned rules,
                                                    size_t memory, struct rag_spill spill);
void rag_lexical_builder_free(struct rag_lexical_builder *builder);
struct rag_vocabulary *rag_lexical_builder_vocabulary(struct rag_lexical_builder *builder);
/* The language of the texts that follow, by its number (languages.h); at first 0. */
void rag_lexical_builder_language(struct rag_lexical_builder *builder, size_t language);
/* Adds a text to the current row; each of its words counts `weight` times. Phrases are found in the
 * placed texts of a row. */
enum rag_status rag_lexical_builder_text(struct rag_lexical_builder *builder, const uint8_t *text,
                                         size_t size, uint32_t weight, bool is_placed,
                                         struct rag_fault *fault);
enum rag_status rag_lexical_builder_end_row(struct rag_lexical_builder *builder,
                                            struct rag_fault *fault);
enum rag_status rag_lexical_builder_commit(struct rag_lexical_builder *builder,
                                           struct rag_fault *fault);
/* The section rag.positions: first all lists, then what precedes them in the section. */
struct rag_position_sinks {
    struct rag_sink lists, front;
};
/* Writes both sections, and rag.positions unless `positions` is NULL; `config` is stored as is.
 * Afterwards the builder can only be freed. */
enum rag_status rag_lexical_builder_finish(struct rag_lexical_builder *builder,
                                           const uint8_t *config, size_t config_size,
                                           struct rag_sink postings, struct rag_sink terms,
                                           const struct rag_position_sinks *positions,
                                           struct rag_fault *fault);

/* The open lexical sections of one segment. Nothing is parsed in advance; the bytes must outlive
 * the lexicon. */
struct rag_lexicon;
struct rag_lexicon_info {
    uint64_t rows, terms, total_length, postings;
    double k1, b;
    const uint8_t *config;
    size_t config_size;
};
enum rag_status rag_lexicon_open(const struct rag_guard *terms, const struct rag_guard *postings,
                                 struct rag_lexicon **lexicon, struct rag_fault *fault);
void rag_lexicon_close(struct rag_lexicon *lexicon);
void rag_lexicon_info(const struct rag_lexicon *lexicon, struct rag_lexicon_info *info);

/* The collection statistics of BM25: live rows of the whole file, their total length, k1 and b. */
struct rag_lexical_stats {
    uint64_t rows, total_length;
    double k1, b;
    /* Weights from 0 to 255, not all 0, that replace those of the build: of the unlisted fields
     * together, then of each field of rag_lexicon_fields. NULL for the build's. total_length
     * must be computed with the same weights. */
    const uint32_t *weights;
    size_t weight_count;
};

/* Attaches the lexicons of single fields, which cover the same rows and remain the caller's.
 * `weights` are those of the build: of the unlisted fields together, then of each field. */
enum rag_status rag_lexicon_fields(struct rag_lexicon *lexicon, struct rag_lexicon *const *fields,
                                   const uint32_t *weights, size_t count, struct rag_fault *fault);
/* The total length of the rows in `where`, or of all. */
enum rag_status rag_lexicon_length(const struct rag_lexicon *lexicon, const uint64_t *where,
                                   uint64_t *total, struct rag_fault *fault);

/* One distinct term of a query, in order of first occurrence. `count` is its frequency in the
 * query, in 1 / RAG_SHARE (words.h); `df` the number of live rows of the whole file that contain
 * it, or 0 to use the segment's own. `known` is set by rag_lexicons_count: where it found the term;
 * NULL otherwise. */
struct rag_query_term {
    const uint8_t *bytes;
    uint32_t size, count;
    uint64_t df;
    const struct rag_bm25_known *known;
};

/* The number of rows that contain a term, optionally only of those in `where`. */
enum rag_status rag_lexicon_df(const struct rag_lexicon *lexicon, const uint8_t *term, size_t size,
                               const uint64_t *where, uint64_t *df, struct rag_fault *fault);
/* The range of a term's list in rag.postings; size 0 if it has none there. */
enum rag_status rag_lexicon_place(const struct rag_lexicon *lexicon, const uint8_t *term,
                                  size_t term_size, uint64_t *at, uint64_t *size,
                                  struct rag_fault *fault);
/* The rows that contain a term, and its frequency in each. Call with capacity 0 for the count;
 * tfs may be NULL. */
enum rag_status rag_lexicon_rows(const struct rag_lexicon *lexicon, const uint8_t *term,
                                 size_t size, uint32_t *rows, uint32_t *tfs, uint64_t capacity,
                                 uint64_t *count, struct rag_fault *fault);
/* The terms of a block of the dictionary in order, each followed by a NUL. RAG_ARGUMENT after
 * the last block. */
enum rag_status rag_lexicon_block(const struct rag_lexicon *lexicon, uint64_t block,
                                  uint8_t out[4096], size_t *size, struct rag_fault *fault);
/* Call sink for each term that begins with a prefix, in order; or for each term within `edits`
 * edits of a word: a code point inserted, deleted or replaced, or two neighbours swapped; the mark
 * of a language is not edited. A term's bytes are valid until sink returns; `rows` is its df,
 * deleted rows included. */
typedef void rag_count_sink(void *context, const uint8_t *term, size_t size, uint64_t rows);
enum rag_status rag_lexicon_beginning(const struct rag_lexicon *lexicon, const uint8_t *prefix,
                                      size_t count, rag_count_sink *sink, void *context,
                                      struct rag_fault *fault);
/* The RAG_COMMONEST of these with the largest df, the first ones of equal df, in any order. */
enum { RAG_COMMONEST = 64 };
enum rag_status rag_lexicon_commonest(const struct rag_lexicon *lexicon, const uint8_t *prefix,
                                      size_t count, rag_count_sink *sink, void *context,
                                      struct rag_fault *fault);
enum rag_status rag_lexicon_near(const struct rag_lexicon *lexicon, const uint8_t *word,
                                 size_t count, unsigned edits, rag_count_sink *sink, void *context,
                                 struct rag_fault *fault);
/* Sets a bit for the number of each language (languages.h) of the rows in `where`, or of all. */
enum rag_status rag_lexicon_languages(const struct rag_lexicon *lexicon, const uint64_t *where,
                                      uint32_t *found, struct rag_fault *fault);
/* Sets the bits of the rows that contain a term. `rows` has a bit for each row. */
enum rag_status rag_lexicon_mark(const struct rag_lexicon *lexicon, const uint8_t *term,
                                 size_t size, uint64_t *rows, struct rag_fault *fault);
/* The lengths of all rows. */
enum rag_status rag_lexicon_lengths(const struct rag_lexicon *lexicon, uint32_t *lengths,
                                    struct rag_fault *fault);

/* Finds the k best of the rows that contain a term of the query and are in `where` (a row set,
 * NULL for all), by score, then by row. Unused entries are row -1, score NaN. The result is
 * exact. */
enum rag_status rag_lexicon_search(struct rag_lexicon *lexicon, const struct rag_query_term *terms,
                                   size_t count, const struct rag_lexical_stats *stats,
                                   const uint64_t *where, size_t k, int64_t *rows, float *scores,
                                   struct rag_fault *fault);
/* Scores the given rows; 0 for a row without any term. RAG_ARGUMENT for a row that does not
 * exist. */
enum rag_status rag_lexicon_score(struct rag_lexicon *lexicon, const struct rag_query_term *terms,
                                  size_t count, const struct rag_lexical_stats *stats,
                                  const int64_t *rows, size_t row_count, float *scores,
                                  struct rag_fault *fault);

/* Queries as terms, which any number of lexicons can be searched with. One thread. */
struct rag_queries;
struct rag_queries *rag_queries_new(void);
void rag_queries_free(struct rag_queries *queries);
/* Adds a query's words. Resolve the pending words of the vocabulary, then call
 * rag_queries_finish. */
enum rag_status rag_queries_add(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                const uint8_t *text, size_t size, unsigned rules,
                                struct rag_fault *fault);
/* Adds the words of the last query again, as those of another language of the file: a term counts
 * as often as in the language where it occurs most. */
enum rag_status rag_queries_also(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                 const uint8_t *text, size_t size, unsigned rules, size_t language,
                                 struct rag_fault *fault);
/* Names the language of the last query, after it was added: its stop words are left out of all
 * languages. */
void rag_queries_sure(struct rag_queries *queries, size_t language);
/* Adds a term, unchanged, to the query that was added last. */
enum rag_status rag_queries_whole(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                  const uint8_t *term, size_t size, struct rag_fault *fault);
enum rag_status rag_queries_finish(struct rag_queries *queries,
                                   const struct rag_vocabulary *vocabulary,
                                   struct rag_fault *fault);
/* The terms of query i, and their number in *count. The caller may set `df` in place. */
struct rag_query_term *rag_queries_terms(const struct rag_queries *queries, size_t i,
                                         size_t *count);

/* Adds to the df of each term those of its word's terms in other languages: rows are in one
 * language, so the sum counts the rows with the word. Call once after df is set; the functions
 * below that count have called it. */
void rag_queries_join(struct rag_queries *queries);

/* Searches one lexicon with all queries on up to `threads` threads; rows and scores are
 * [queries][k]. `filters`, if not NULL, replaces `where`. */
enum rag_status rag_lexicon_search_batch(struct rag_lexicon *lexicon,
                                         const struct rag_queries *queries, size_t count,
                                         const struct rag_lexical_stats *stats,
                                         const uint64_t *where, const struct rag_filters *filters,
                                         size_t k, int threads, int64_t *rows, float *scores,
                                         struct rag_fault *fault);

/* One segment in a search of several: its lexicon, its live rows, those that the search may
 * return (both NULL for all), and the number of its first row in the file. Arrays of them are
 * sorted by base. */
struct rag_lexical_leg {
    struct rag_lexicon *lexicon;
    const uint64_t *alive, *where;
    uint64_t base;
};
/* Sets df of each term of the first `count` queries to the number of live rows in all segments
 * that contain it. */
enum rag_status rag_lexicons_count(const struct rag_lexical_leg *legs, size_t leg_count,
                                   struct rag_queries *queries, size_t count,
                                   struct rag_fault *fault);
/* Like rag_lexicons_count, but ignores fields of weight 0 in stats. */
enum rag_status rag_lexicons_count_fields(const struct rag_lexical_leg *legs, size_t leg_count,
                                          struct rag_queries *queries, size_t count,
                                          const struct rag_lexical_stats *stats,
                                          struct rag_fault *fault);
/* Searches all segments with all queries. rows (numbers in the file) and scores are
 * [queries][legs][k]. Each segment's part lists at least its rows among the k best of all and
 * those that tie with the last of them, best first. Unused entries are row -1, score NaN. */
enum rag_status rag_lexicons_search(const struct rag_lexical_leg *legs, size_t leg_count,
                                    const struct rag_queries *queries, size_t count,
                                    const struct rag_lexical_stats *stats,
                                    const struct rag_filters *filters, size_t k, int threads,
                                    int64_t *rows, float *scores, struct rag_fault *fault);
/* Scores the given rows of the file, which are in ascending order; 0 for a row without any term,
 * or outside of these segments. */
enum rag_status rag_lexicons_score(const struct rag_lexical_leg *legs, size_t leg_count,
                                   const struct rag_query_term *terms, size_t count,
                                   const struct rag_lexical_stats *stats, const int64_t *rows,
                                   size_t row_count, float *scores, struct rag_fault *fault);

/* Build queries from known terms: call term for each term of a query, then end. After the last
 * query, rag_queries_seal makes them searchable. */
enum rag_status rag_queries_term(struct rag_queries *queries, const uint8_t *bytes, size_t size,
                                 uint32_t count, uint64_t df, struct rag_fault *fault);
enum rag_status rag_queries_end(struct rag_queries *queries, struct rag_fault *fault);
void rag_queries_seal(struct rag_queries *queries);

/* Moves the k best of `count` rows, and those that tie with the last of them, to the front, by
 * score, then by row. Row -1 is none. *kept is their number. */
enum rag_status rag_rank(int64_t *rows, float *scores, size_t count, size_t k, size_t *kept,
                         struct rag_fault *fault);

#endif
