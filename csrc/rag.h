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
/* A matrix of vectors where it lies: row i starts at at + i * stride of the section or, with offsets, at offsets[i].
 * Components are IEEE binary16, 32 or 64 in either byte order; one wider than binary32 counts as its nearest binary32.
 * A row with a NaN or an infinity is legal and never ranked. */
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

/* Makes sure that every row lies inside the section; the scans below rely on it. */
enum rag_status rag_matrix_check(const struct rag_matrix *matrix, struct rag_fault *fault);

/* The order in which rows are ranked. Scores are canonical (spec/parts/vectors.md): the same bits on every machine.
 * Larger is better for all three: l2 scores are negated squared distances. A score beyond binary32 is its largest value. */
enum rag_metric { RAG_COSINE, RAG_IP, RAG_L2 };

/* Writes out bytes of a section that is being built. Returns RAG_OK, or what to give up with. */
typedef enum rag_status rag_write(void *context, const void *bytes, size_t size);

/* The shadow of a matrix: small integer copies of its rows with error bounds, which let an exact search leave most rows
 * unread. build streams it out in one pass; open checks its head against the matrix that it belongs to. */
struct rag_shadow {
    struct rag_guard guard;
    uint64_t count, group_rows;
    uint32_t dim;
};

uint64_t rag_shadow_size(uint64_t count, uint32_t dim);
enum rag_status rag_shadow_build(const struct rag_matrix *matrix, rag_write *write, void *context,
                                 struct rag_fault *fault);
enum rag_status rag_shadow_open(struct rag_shadow *shadow, const struct rag_guard *section,
                                const struct rag_matrix *matrix, struct rag_fault *fault);

/* One matrix of a search: its shadow (or NULL) and the rows that may be found (or NULL for all): bit i % 64 of word
 * i / 64. */
struct rag_segment {
    const struct rag_matrix *matrix;
    const struct rag_shadow *shadow;
    const uint64_t *where;
};

/* What is asked: count queries of dim finite floats, one after the other. */
struct rag_question {
    const float *queries;
    size_t count;
    uint32_t dim;
    enum rag_metric metric;
    uint64_t k;
    int threads;
};

/* The k best rows of all segments together, exactly. rows and scores are [query][segment][k]: each segment's part lists,
 * best first and equal scores by row, those of its rows that belong to the k best of all or tie with the last of them
 * (so that a caller may settle ties between segments by a key of its own); the rest is row -1, score -infinity. */
enum rag_status rag_nearest(const struct rag_segment *segments, size_t segment_count,
                            const struct rag_question *question, int64_t *rows, float *scores, struct rag_fault *fault);

/* The canonical scores of given rows of one matrix for one query; a row with a NaN or an infinity scores NaN. */
enum rag_status rag_scores(const struct rag_matrix *matrix, const struct rag_question *question, const int64_t *rows,
                           size_t row_count, float *scores, struct rag_fault *fault);

/* The position of the first value that is not finite, or count. */
size_t rag_first_not_finite(const float *values, size_t count);

/* Row sets: bit i % 64 of word i / 64. pack reads one byte a row, 0 for absent; bits past count are zero. */
void rag_bits_pack(const uint8_t *bytes, uint64_t count, uint64_t *words);
uint64_t rag_bits_count(const uint64_t *words, uint64_t count);

/* ------------------------------------------------------------------------------------------------- text and BM25 --- */
/* (bm25) */

/* ------------------------------------------------------------------------------------------- the embedded embedder --- */
/* (wordpiece) */

#endif
