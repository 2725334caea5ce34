/* rag.h - the public interface of the C core.
 *
 * Everything that ragfile puts on disk or takes from it passes through these functions, and every scan runs here.
 * Nothing in csrc/ knows of Python. Conventions:
 *
 *   - A function that can fail returns enum rag_status and fills a struct rag_fault when one is given (never NULL-checked
 *     by the caller: pass a real one where the reason matters, NULL where it does not).
 *   - Results leave through pointers. Lengths are called size, numbers of things count, file offsets at.
 *   - Bytes from a file are hostile until a reader has validated them; after that, scans cannot fail on them.
 *   - Functions are thread-safe unless their contract says "one thread".
 */
#ifndef RAG_H
#define RAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------- status --- */

enum rag_status {
    RAG_OK = 0,
    RAG_NOT_RAGFILE, /* the first bytes are not those of a RAGFile */
    RAG_FORMAT,      /* a rule of the format is broken */
    RAG_VERSION,     /* written by a newer version, or needs a part that we do not know */
    RAG_CORRUPT,     /* a checksum, or a length against the file's own size, does not hold */
    RAG_LIMIT,       /* a limit of the format is exceeded */
    RAG_ARGUMENT,    /* the caller's value is out of its domain */
    RAG_LOCKED,      /* another writer holds the file */
    RAG_MEMORY,      /* no memory */
    RAG_OS,          /* the operating system said no: os_error holds errno */
    RAG_STATUS_COUNT
};

/* Why a call failed. what is a static sentence naming the rule; section may be empty. */
struct rag_fault {
    enum rag_status status;
    int os_error;
    uint64_t at;       /* file offset of the offence, or the offending value for RAG_ARGUMENT */
    const char *what;
    char section[65];
};

/* --------------------------------------------------------------------------------------------------- this machine --- */

/* Picks kernels for this machine. Call once before anything else (the Python module does so at import); target NULL
 * reads RAGFILE_TARGET from the environment, which may only narrow: "baseline", "avx2", "avx512", "avx512vnni", "neon",
 * "neondot". Returns RAG_ARGUMENT for a name that this build does not have or this machine cannot run. */
enum rag_status rag_init(const char *target);

/* The target in use, e.g. "avx512vnni". */
const char *rag_target(void);

/* ---------------------------------------------------------------------------------------------------------- hash --- */

/* XXH3-64 with seed 0, the checksum of every part of the format. */
uint64_t rag_hash(const void *bytes, size_t size);

/* --------------------------------------------------------------------------------------------------------- threads --- */

/* Runs task(context, i) for i in 0 .. count-1 on up to threads threads, the caller's among them, and returns when all
 * are done. threads <= 1 or count <= 1 runs on the caller alone. Workers start on first use, survive for later calls and
 * are started anew after a fork. */
void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context);

/* How many threads threads=None means: the processors this process may run on. */
int rag_cpu_count(void);

/* ------------------------------------------------------------------------------------- files: container, sections --- */
/* The lazy checksums of one section: block i covers bytes [i * RAG_BLOCK, ...). A block is hashed when first touched and
 * never again. sums is NULL for bytes that have none (a 0.1.0 file, memory). */
struct rag_guard {
    const uint8_t *bytes;
    size_t size;
    const uint64_t *sums; /* little-endian, one per block, maybe unaligned: read with load_u64 */
    uint8_t *seen;        /* one bit per block, set atomically once its hash was found right */
};

#define RAG_BLOCK ((size_t)65536)

/* Makes sure that [at, at + size) of the section holds what was written. RAG_CORRUPT names the block's offset within the
 * section. The common case, everything seen before, costs one load per block. */
enum rag_status rag_guard_check(const struct rag_guard *guard, size_t at, size_t size, struct rag_fault *fault);

/* (container) */

/* --------------------------------------------------------------------------------------------- 0.1.0 and its pairs --- */
/* (pairs) */

/* --------------------------------------------------------------------------------------------------------- vectors --- */
/* (vectors) */

/* ------------------------------------------------------------------------------------------------- text and BM25 --- */
/* (bm25) */
/* A word of a text. Wholes (snake_case, v0.1.0, c++) come besides their parts: they are found as written, never stemmed,
 * and add nothing to a row's length. */
enum { RAG_WORD_PART = 0, RAG_WORD_WHOLE = 1 };
typedef void rag_word_sink(void *context, const uint8_t *word, size_t size, int kind);

/* Calls sink with each word of a text, in order; words are folded UTF-8 of 1 to 255 bytes, valid for any input. */
void rag_analyze(const uint8_t *text, size_t size, bool strip_accents, rag_word_sink *sink, void *context);

/* The Unicode version of the analyzer's tables. */
const char *rag_unicode_version(void);

/* Words, numbered as they appear, and the terms that stand for them. The core does not know how a word becomes a term
 * (stemming, stop words): it hands out what is new, and takes the answers in the same order. One thread. */
struct rag_vocabulary;
struct rag_vocabulary *rag_vocabulary_new(void);
void rag_vocabulary_free(struct rag_vocabulary *vocabulary);
/* The words that have no term yet, each followed by a NUL; valid until the next call. */
const uint8_t *rag_vocabulary_pending(const struct rag_vocabulary *vocabulary, size_t *size);
/* Their terms, each followed by a NUL; an empty one drops the word. RAG_ARGUMENT when their number differs or a term has
 * more than 255 bytes. */
enum rag_status rag_vocabulary_resolve(struct rag_vocabulary *vocabulary, const uint8_t *terms, size_t size,
                                       struct rag_fault *fault);
size_t rag_vocabulary_size(const struct rag_vocabulary *vocabulary);

/* Where built bytes go and where spilled runs wait. A function returns 0, or anything else to stop: RAG_OS. */
struct rag_sink {
    int (*write)(void *context, const void *bytes, size_t size);
    void *context;
};
struct rag_spill {
    int (*write)(void *context, const void *bytes, size_t size); /* appends */
    int (*read)(void *context, uint64_t at, void *bytes, size_t size);
    void *context;
};

/* Builds the sections rag.terms and rag.postings from rows in order. A batch is any number of rows: give each row's
 * texts and end it, then resolve the vocabulary's pending words, then commit. Memory stays near `memory` bytes, plus 4 a
 * row and the finished dictionary. The same rows give the same bytes, whatever the batches and the memory. One thread. */
struct rag_lexical_builder;
struct rag_lexical_builder *rag_lexical_builder_new(double k1, double b, bool strip_accents, size_t memory,
                                                    struct rag_spill spill);
void rag_lexical_builder_free(struct rag_lexical_builder *builder);
struct rag_vocabulary *rag_lexical_builder_vocabulary(struct rag_lexical_builder *builder);
/* A text of the current row; each of its words counts `weight` times. */
enum rag_status rag_lexical_builder_text(struct rag_lexical_builder *builder, const uint8_t *text, size_t size,
                                         uint32_t weight, struct rag_fault *fault);
enum rag_status rag_lexical_builder_end_row(struct rag_lexical_builder *builder, struct rag_fault *fault);
enum rag_status rag_lexical_builder_commit(struct rag_lexical_builder *builder, struct rag_fault *fault);
/* Writes both sections; config is kept as it is. The builder can only be freed afterwards. */
enum rag_status rag_lexical_builder_finish(struct rag_lexical_builder *builder, const uint8_t *config, size_t config_size,
                                           struct rag_sink postings, struct rag_sink terms, struct rag_fault *fault);

/* The lexical sections of one segment, opened: nothing is parsed, the bytes must outlive it. */
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

/* What scores depend on besides the segment: the live rows and their summed length over the whole file, k1 and b. */
struct rag_lexical_stats {
    uint64_t rows, total_length;
    double k1, b;
};

/* One distinct term of a query, in the order of first occurrence. df counts live rows of the whole file, 0 meaning what
 * the segment itself says. */
struct rag_query_term {
    const uint8_t *bytes;
    uint32_t size, count;
    uint64_t df;
};

/* How many rows hold a term, of those in `where` when that is given. */
enum rag_status rag_lexicon_df(const struct rag_lexicon *lexicon, const uint8_t *term, size_t size, const uint64_t *where,
                               uint64_t *df, struct rag_fault *fault);
/* The rows and frequencies of a term: call with capacity 0 for the count; tfs may be NULL. */
enum rag_status rag_lexicon_rows(const struct rag_lexicon *lexicon, const uint8_t *term, size_t size, uint32_t *rows,
                                 uint32_t *tfs, uint64_t capacity, uint64_t *count, struct rag_fault *fault);
/* The terms of a block of the dictionary in order, each followed by a NUL; RAG_ARGUMENT past the last block. */
enum rag_status rag_lexicon_block(const struct rag_lexicon *lexicon, uint64_t block, uint8_t out[4096], size_t *size,
                                  struct rag_fault *fault);
/* The lengths of all rows. */
enum rag_status rag_lexicon_lengths(const struct rag_lexicon *lexicon, uint32_t *lengths, struct rag_fault *fault);

/* The k best rows of those that hold a term of the query and are in `where` (one bit a row, NULL for all), best first,
 * ties by row; what is missing is row -1 and score NaN. Exact: the result depends on nothing but the arguments. */
enum rag_status rag_lexicon_search(struct rag_lexicon *lexicon, const struct rag_query_term *terms, size_t count,
                                   const struct rag_lexical_stats *stats, const uint64_t *where, size_t k, int64_t *rows,
                                   float *scores, struct rag_fault *fault);
/* The scores of given rows, 0 for one that holds no term; RAG_ARGUMENT for a row that is none. */
enum rag_status rag_lexicon_score(struct rag_lexicon *lexicon, const struct rag_query_term *terms, size_t count,
                                  const struct rag_lexical_stats *stats, const int64_t *rows, size_t row_count,
                                  float *scores, struct rag_fault *fault);

/* Queries analysed into terms, for any number of lexicons. One thread. */
struct rag_queries;
struct rag_queries *rag_queries_new(void);
void rag_queries_free(struct rag_queries *queries);
/* Notes a query's words; call rag_queries_finish once the vocabulary has terms for all of them. */
enum rag_status rag_queries_add(struct rag_queries *queries, struct rag_vocabulary *vocabulary, const uint8_t *text,
                                size_t size, bool strip_accents, struct rag_fault *fault);
enum rag_status rag_queries_finish(struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                                   struct rag_fault *fault);
/* The terms of query i, their number in *count; they stay the queries' own, df may be set. */
struct rag_query_term *rag_queries_terms(const struct rag_queries *queries, size_t i, size_t *count);

/* All queries over one lexicon on up to `threads` threads; rows and scores are [queries][k]. */
enum rag_status rag_lexicon_search_batch(struct rag_lexicon *lexicon, const struct rag_queries *queries, size_t count,
                                         const struct rag_lexical_stats *stats, const uint64_t *where, size_t k,
                                         int threads, int64_t *rows, float *scores, struct rag_fault *fault);

/* ------------------------------------------------------------------------------------------- the embedded embedder --- */
/* (wordpiece) */

#endif
