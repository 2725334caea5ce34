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

/* ------------------------------------------------------------------------------------------- the embedded embedder --- */
/* (wordpiece) */

enum { RAG_MODEL_SPECIALS = 16 };

/* A static embedding model in a mapped file: a WordPiece vocabulary and one 4-bit row for each piece. Its fields are for
 * reading only; the file's bytes stay where they are for as long as the model is used. */
struct rag_model {
    uint32_t dims, count, bucket_bits, unknown, longest;
    const char *name; /* ends with a NUL */
    const uint8_t *rows, *coefficients, *buckets, *words;
    const uint8_t *specials[RAG_MODEL_SPECIALS];
    size_t special_count;
};

/* Checks a model file, all of it, and takes it into use. */
enum rag_status rag_model_open(const void *file, size_t size, struct rag_model *model, struct rag_fault *fault);

/* The ids of a text's word pieces: writes up to capacity of them and returns how many there are. Any bytes are a text;
 * what is not UTF-8 is as if it were not there. */
size_t rag_model_tokens(const struct rag_model *model, const void *text, size_t size, uint32_t *ids, size_t capacity);

/* The vectors of texts, count * dims floats, each of length 1, or all zeros for a text without a known word. The same
 * bits for any number of threads, any batch and any target. */
void rag_model_embed(const struct rag_model *model, const uint8_t *const *texts, const size_t *sizes, size_t count,
                     int threads, float *out);

/* What a model file is made of. Piece i has id i; kinds are 0 for the start of a word, 1 for a continuation (without its
 * marks), 2 for a special piece, which begins with "[". rows are count * dims components of -8 .. 7. */
struct rag_model_source {
    uint32_t dims, count, bucket_bits, unknown;
    const char *name;
    size_t name_size;
    const uint8_t *const *pieces;
    const uint8_t *sizes, *kinds;
    const int8_t *rows;
    const int16_t *coefficients;
};

/* Lays out a model file in out, which has *size bytes; with out NULL, only says in *size how many it takes. */
enum rag_status rag_model_write(const struct rag_model_source *source, uint8_t *out, size_t *size, struct rag_fault *fault);

#endif
