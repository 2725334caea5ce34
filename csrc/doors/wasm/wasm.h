/* wasm.h - shared by the files of the WebAssembly build: the file as a source of stretches, its
 * segments, and the results for JavaScript.
 *
 * A call into the core never waits. When it needs missing bytes, it requests them from the host
 * (host_read) and ends with RAG_SOURCE. The host fetches all of them at once and repeats the call.
 * So every function here can be repeated with the same arguments. */
#ifndef RAG_WASM_H
#define RAG_WASM_H

#include "ragfile/bm25.h"
#include "ragfile/columns.h"
#include "ragfile/container.h"
#include "ragfile/records.h"
#include "ragfile/sample.h"
#include "ragfile/shadows.h"
#include "ragfile/streams.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* Copy [at, at + size) of the file to `to` if the host has all of it. Otherwise, or if `to` is NULL
 * and some is missing, the host records the stretch as wanted; return 0. */
__attribute__((import_module("host"), import_name("read"))) int host_read(double at, double size,
                                                                          void *to);

/* Parse a decimal number, as JavaScript does. */
__attribute__((import_module("host"), import_name("number"))) double host_number(const char *digits,
                                                                                 size_t size);

/* ---------------------------------------------------------------------------------------- pages */

/* The file as a source that lends stretches (pages.c). */
extern const struct rag_source rag_pages;

/* Use finer checksums of a section (rag.fine): its blocks have `grain` bytes, and the sums begin at
 * byte `at` of the section that `sums` guards. */
void rag_pages_fine(uint64_t section_at, uint64_t size, uint32_t grain,
                    const struct rag_guard *sums, uint64_t at);

/* Release all lent bytes; keep the most recently used stretches, up to `most` bytes. */
void rag_pages_forget(uint64_t most);
uint64_t rag_pages_size(void);

/* ------------------------------------------------------------------------------------- segments */

struct segment {
    struct rag_segment_record record;
    uint64_t base;        /* its first row's number in the file */
    uint64_t *alive;      /* rows that are not deleted, or NULL for all */
    uint64_t *where;      /* the segment's own rows that a query can find, or NULL for all */
    uint64_t *embedded;   /* live rows with a vector, or NULL for all live rows */
    uint64_t with_vector; /* their count; valid when knows_bare is set */
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

/* The open file: one per instance. */
struct file {
    struct rag_reader *reader;
    struct rag_commit commit;
    struct segment *segments;
    size_t count;
    enum rag_metric metric;
};
extern struct file file;
extern struct rag_fault fault; /* of the last call that failed */

/* The array of numbers that a call leaves for JavaScript. */
double *door_answer(void);

/* Return the guard of a segment's section; false without a fault if there is none. */
enum rag_status section_guard(const char *name, uint32_t segment, struct rag_guard *guard,
                              bool *found);

/* Open a segment's tables and streams on first use. */
enum rag_status segment_records(struct segment *segment);
enum rag_status segment_streams(struct segment *segment);

/* Read chunks, documents and ids sequentially. */
enum rag_status segment_records_whole(struct segment *segment);

/* Read a stretch of a segment's metadata; *bytes is valid until the next call. */
enum rag_status segment_metadata(struct segment *segment, uint64_t at, uint64_t size,
                                 const uint8_t **bytes);

/* Return a column of a segment's path or tags, or of its ids, as filters.c describes; NULL if no
 * row has a value. */
enum rag_status made_column(struct segment *segment, const uint8_t *path, size_t size, bool is_tags,
                            bool is_of_ids, const struct rag_column **column);

/* Return a builder of columns without limits. */
enum rag_status columns_builder(struct rag_columns_builder **builder);

/* Return the rows eligible for a sample: live ones with a vector; NULL for all. */
const uint64_t *segment_sampled(const struct segment *segment);

/* Return the segment of a row of the file, or NULL. */
struct segment *segment_of(uint64_t row);

/* Order runs of equal scores by (document id, chunk index). */
enum rag_status order_ties(int64_t *rows, const float *scores, size_t count);

#endif
