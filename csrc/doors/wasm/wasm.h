/* wasm.h - what the files of the WebAssembly build share: the file as a source of stretches, its
 * segments, and how a caller in JavaScript is answered.
 *
 * A call into the core runs without waiting. Where it meets bytes that are not here, it notes them
 * with the host (host_read), and ends with RAG_SOURCE. The host fetches them, all at once, and
 * calls again. So every function here can be called again with the same arguments. */
#ifndef RAG_WASM_H
#define RAG_WASM_H

#include "ragfile/bm25.h"
#include "ragfile/container.h"
#include "ragfile/records.h"
#include "ragfile/sample.h"
#include "ragfile/shadows.h"
#include "ragfile/streams.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* Copies [at, at + size) of the file to `to`, if the host has all of it; if not, or where to is
 * NULL and some is missing, the host notes the stretch as wanted and returns 0. */
__attribute__((import_module("host"), import_name("read"))) int host_read(double at, double size,
                                                                          void *to);

/* ---------------------------------------------------------------------------------------- pages */

/* The file as a source that lends stretches (pages.c). */
extern const struct rag_source rag_pages;

/* Finer checksums of a section (rag.fine): its blocks have `grain` bytes, and the sums begin at
 * byte `at` of the section that `sums` guards. */
void rag_pages_fine(uint64_t section_at, uint64_t size, uint32_t grain,
                    const struct rag_guard *sums, uint64_t at);

/* Ends what was lent; keeps the stretches that were used last, up to `most` bytes. */
void rag_pages_forget(uint64_t most);
uint64_t rag_pages_size(void);

/* ------------------------------------------------------------------------------------- segments */

struct segment {
    struct rag_segment_record record;
    uint64_t base;      /* the number in the file of its first row */
    uint64_t *alive;    /* rows that are not deleted, or NULL for all */
    uint64_t *where;    /* rows that a question can find, or NULL for all; the segment's own */
    uint64_t *embedded; /* rows that are alive and have a vector, or NULL for all that are alive */
    uint64_t with_vector; /* how many those are; known when knows_bare is set */
    bool knows_bare;
    bool has_records, has_streams, has_matrix, has_shadow;
    struct rag_records records;
    struct rag_stream texts, meta;
    struct rag_lexicon *lexicon;
    struct rag_matrix matrix;
    struct rag_shadow shadow;
    struct rag_stored_sample sample;
    struct rag_small_blocks fine;
    uint64_t live_length; /* summed lengths of live rows */
};

/* What is open: one file an instance. */
struct file {
    struct rag_reader *reader;
    struct rag_commit commit;
    struct segment *segments;
    size_t count;
    enum rag_metric metric;
};
extern struct file file;
extern struct rag_fault fault; /* of the last call that failed */

/* The guard of a segment's section; false without a fault where there is none. */
enum rag_status section_guard(const char *name, uint32_t segment, struct rag_guard *guard,
                              bool *found);

/* Opens a segment's tables, its streams, when they are first asked for. */
enum rag_status segment_records(struct segment *segment);
enum rag_status segment_streams(struct segment *segment);

/* Brings chunks, documents and ids from one end to the other. */
enum rag_status segment_records_whole(struct segment *segment);

/* The rows that a sample can have: live ones with a vector; NULL for all. */
const uint64_t *segment_sampled(const struct segment *segment);

/* The segment of a row of the file, or NULL. */
struct segment *segment_of(uint64_t row);

/* Puts runs of equal scores in order of (document id, chunk index). */
enum rag_status order_ties(int64_t *rows, const float *scores, size_t count);

#endif
