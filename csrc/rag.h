/* rag.h - the public interface of the C core.
 *
 * Everything that ragfile puts on disk or takes from it passes through these functions, and every
 * scan runs here. Nothing in csrc/ knows of Python. Conventions:
 *
 *   - A function that can fail returns enum rag_status and fills a struct rag_fault when one is
 *     given (never NULL-checked by the caller: pass a real one where the reason matters, NULL where
 *     it does not).
 *   - Results leave through pointers. Lengths are called size, numbers of things count, file
 *     offsets at.
 *   - Bytes from a file are hostile until a reader has validated them; after that, scans cannot
 *     fail on them.
 *   - Functions are thread-safe unless their contract says "one thread".
 */
#ifndef RAG_H
#define RAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --------------------------------------------------------------------------------------- status */

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
    RAG_SOURCE,      /* bytes could not be fetched: at is the source's own number for the reason */
    RAG_STATUS_COUNT
};

/* Why a call failed. The field what is a static sentence naming the rule; section can be empty. */
struct rag_fault {
    enum rag_status status;
    int os_error;
    uint64_t at; /* file offset of the offence, or the offending value for RAG_ARGUMENT */
    const char *what;
    char section[65];
};

/* --------------------------------------------------------------------------------- this machine */

/* Picks kernels for this machine. Call once before anything else (the Python module does so at
 * import); target NULL reads RAGFILE_TARGET from the environment, which can only narrow:
 * "baseline", "avx2", "avx512", "avx512vnni", "neon", "neondot", "simd128". Returns RAG_ARGUMENT
 * for a name that this build does not have or this machine cannot run. */
enum rag_status rag_init(const char *target);

/* The target in use, e.g. "avx512vnni". */
const char *rag_target(void);

/* ----------------------------------------------------------------------------------------- hash */

/* XXH3-64 with seed 0, the checksum of every part of the format. */
uint64_t rag_hash(const void *bytes, size_t size);

/* -------------------------------------------------------------------------------------- threads */

/* Runs task(context, i) for i in 0 .. count-1 on up to threads threads, the caller's among them,
 * and returns when all are done. threads <= 1 or count <= 1 runs on the caller alone. Workers start
 * on first use, survive for later calls and are started anew after a fork. */
void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context);

/* How many threads threads=None means: the processors that this process is allowed to use. */
int rag_cpu_count(void);

/* ------------------------------------------------------------------- files: container, sections */
/* A run of a file's bytes, and its xxh3-64 where that is known. */
struct rag_piece {
    uint64_t at, size, hash;
    bool hashed;
};

struct rag_want;
struct rag_guard;

/* Where the bytes of a file come from that is elsewhere. A source is one of two kinds.
 *
 * A map that is filled as it is read has bytes. fetch returns when the pieces are there; any
 * thread. With near it only looks for hashed pieces among those kept from earlier, and never fails;
 * kept says that there might be some. Bytes that are there never change.
 *
 * A file that is larger than memory has no bytes. Then hold makes each stretch lie somewhere in one
 * run, checked, and lend says where the byte at `at` of a section is, with as many bytes after it
 * as any stretch held there has; whole is for bytes of no section, which are not checked. What was
 * lent stays until the caller lets the source forget. One thread. */
struct rag_source {
    const uint8_t *bytes; /* of the whole file, or NULL */
    enum rag_status (*fetch)(void *context, const struct rag_piece *pieces, size_t count, bool near,
                             struct rag_fault *fault);
    void *context;
    bool kept;
    enum rag_status (*hold)(void *context, const struct rag_want *wants, size_t count,
                            struct rag_fault *fault);
    const uint8_t *(*lend)(void *context, const struct rag_guard *guard, uint64_t at);
    enum rag_status (*whole)(void *context, uint64_t at, uint64_t size, const uint8_t **bytes,
                             struct rag_fault *fault);
};

/* The lazy checksums of one section: block i covers bytes [i * RAG_BLOCK, ...). A block is hashed
 * when first touched and never again. sums is NULL for bytes that have none (a 0.1.0 file,
 * memory). */
struct rag_guard {
    const uint8_t *bytes; /* read through rag_guard_at; NULL where a source lends stretches */
    uint64_t size;
    const uint64_t *sums; /* little-endian, one per block, maybe unaligned: read with load_u64 */
    /* one bit per block, set atomically once its hash was found right; one more for sums */
    uint8_t *seen;
    const struct rag_source *source; /* NULL where all bytes are there */
    uint64_t sums_hash;              /* xxh3-64 of sums, for bytes of a source */
    uint64_t at;                     /* of the section in its file */
    char name[65];                   /* the section's, for faults; can be empty */
    const uint8_t *leaves; /* of a seal that is trusted, RAG_LEAF bytes a block; or NULL */
};

enum { RAG_LEAF = 32 };

#define RAG_BLOCK ((size_t)65536)

/* Makes sure that [at, at + size) of the section holds the bytes that were written. RAG_CORRUPT
 * names the section, and the block's offset within it. The common case, everything seen before,
 * costs one load per block. */
enum rag_status rag_guard_check(const struct rag_guard *guard, uint64_t at, uint64_t size,
                                struct rag_fault *fault);

/* Where the byte at `at` of the section is, once a stretch that has it was checked. The bytes of
 * that stretch follow it. */
static inline const uint8_t *rag_guard_at(const struct rag_guard *guard, uint64_t at) {
    if (guard->bytes || !guard->source) return guard->bytes + at;
    return guard->source->lend(guard->source->context, guard, at);
}

/* Fetches the missing bytes of several stretches in as few requests as their source can make of
 * them: a plan before a scan. Parts that lie after a section's end are left out; an empty stretch
 * fetches the section's block hashes. All guards with a source have the same one; guards without
 * one are passed over. Fetched bytes are checked when they are touched. */
struct rag_want {
    const struct rag_guard *guard;
    uint64_t at, size;
};
enum rag_status rag_ready(const struct rag_want *wants, size_t count, struct rag_fault *fault);

/* A file mapped for reading, or (from rag_map_stat) only its size and identity: bytes is NULL. */
struct rag_map {
    const uint8_t *bytes;
    size_t size;
    uint64_t device, inode;
};

/* Up to where the bytes of a writer that is at work begin (map.c): a file as that writer found
 * it. */
enum rag_status rag_map_open(const char *path, struct rag_map *map, struct rag_fault *fault);
enum rag_status rag_map_stat(const char *path, struct rag_map *map, struct rag_fault *fault);

/* Maps an open file, or maps it in the place of the bytes that map holds: every pointer into the
 * map stays good. */
enum rag_status rag_map_descriptor(int fd, struct rag_map *map, struct rag_fault *fault);
enum rag_status rag_map_exchange(int fd, const struct rag_map *map, struct rag_fault *fault);
void rag_map_close(struct rag_map *map);

/* A copy of a file in memory that can be written to, of at least `room` bytes, zero after the
 * file's end. Only pages that are written take memory. map->bytes may be written through. */
enum rag_status rag_map_copy(const char *path, uint64_t room, struct rag_map *map,
                             struct rag_fault *fault);

/* A file that is made beside `path` and takes its name when it is whole. Until then it is the lock
 * of that name: a second writer fails with RAG_LOCKED. It has the owner, group and mode of the file
 * that it will replace before the first byte is written to it. Only a regular file is replaced. */
struct rag_file;
enum rag_status rag_file_create(const char *path, struct rag_file **file, struct rag_fault *fault);
enum rag_status rag_file_write(struct rag_file *file, uint64_t at, const void *bytes, size_t size,
                               struct rag_fault *fault);
enum rag_status rag_file_truncate(struct rag_file *file, uint64_t size, struct rag_fault *fault);
enum rag_status rag_file_map(struct rag_file *file, struct rag_map *map, struct rag_fault *fault);

/* Makes it durable under its final name. replace_own: the caller holds the lock of the file that is
 * replaced. */
enum rag_status rag_file_publish(struct rag_file *file, bool replace_own, struct rag_fault *fault);

/* An old file, held by its writer's lock; nothing of it is read. */
enum rag_status rag_file_edit(const char *path, struct rag_file **file, struct rag_fault *fault);

/* Closes the file, and removes it unless it was published. */
void rag_file_discard(struct rag_file *file);

/* The process that writes to path now, or 0 when none does or the system cannot say. */
int64_t rag_writer_pid(const char *path);

/* Reads the claim of the first bytes: RAG_NOT_RAGFILE, RAG_VERSION for a major version that this
 * build does not read, else RAG_OK with the version and byte order. */
struct rag_header {
    uint8_t major, minor, patch;
    bool big_endian;
};
enum rag_status rag_header_read(const uint8_t *bytes, size_t size, struct rag_header *header,
                                struct rag_fault *fault);

/* One generation of a 1.0 file. Borrows bytes: they outlive it. Any number of threads. */
struct rag_reader;

struct rag_commit {
    uint64_t generation, created; /* created: ns since 1970, 0 = not recorded */
    uint64_t identity;            /* the base commit's table hash */
    uint64_t start, end; /* the commit's own bytes: first extent to the end of its footer */
    uint64_t previous;   /* offset of the footer before, 0 for generation 1 */
    uint64_t tail;       /* bytes after the newest commit that belong to none */
    /* the generation after this one, which was committed and is damaged; 0 = none */
    uint64_t lost_generation;
    uint32_t entries, segments, next_segment;
    bool read_only; /* a part that this build must not write */
    const char *message;
    size_t message_size;
};

struct rag_entry {
    const char *name;
    uint32_t segment, flags;
    uint64_t generation, at, size, items;
    uint64_t extent; /* bytes on disk with block hashes and padding */
};

struct rag_segment_record {
    uint32_t number;
    uint64_t rows, live, generation;
};

/* Opens the newest commit, or the one numbered generation when that is not 0. Everything that later
 * calls rely on is checked here; section contents are not touched. Entries come in file order. */
enum rag_status rag_reader_open(const uint8_t *bytes, size_t size, uint64_t generation,
                                struct rag_reader **reader, struct rag_fault *fault);
/* The same over bytes that are elsewhere: front page, footers and table are fetched, in a window at
 * the file's end that doubles until a commit is found. */
enum rag_status rag_reader_open_source(const struct rag_source *source, uint64_t size,
                                       uint64_t generation, struct rag_reader **reader,
                                       struct rag_fault *fault);
void rag_reader_close(struct rag_reader *reader);
void rag_reader_commit(const struct rag_reader *reader, struct rag_commit *commit);
void rag_reader_entry(const struct rag_reader *reader, uint32_t i, struct rag_entry *entry);
void rag_reader_segment(const struct rag_reader *reader, uint32_t i,
                        struct rag_segment_record *segment);

/* Index of the entry with this name and segment, or -1. */
int64_t rag_reader_find(const struct rag_reader *reader, const char *name, uint32_t segment);

/* The section's bytes under lazy checksums. Its block hashes are checked here, its blocks when
 * touched; of a source, both when touched. */
enum rag_status rag_reader_guard(struct rag_reader *reader, uint32_t i, struct rag_guard *guard,
                                 struct rag_fault *fault);

/* From now on blocks of the section must also have these leaves (spec/parts/signatures.md), one for
 * each block, which stay where they are while the reader is open. Blocks that were found right
 * before are looked at again. Called before guards are handed out. */
enum rag_status rag_reader_seal(struct rag_reader *reader, uint32_t i, const uint8_t *leaves,
                                struct rag_fault *fault);

/* The leaf of a block. */
void rag_seal_leaf(const uint8_t *bytes, size_t size, uint8_t out[RAG_LEAF]);

/* Checks every byte of this generation: blocks, hashes, zero padding, front page. full walks every
 * older commit too. Each fault found goes to report; the walk goes on where it can. abandoned
 * counts bytes between commits that belong to none. */
struct rag_verdict {
    uint64_t sections, blocks, commits, abandoned, faults;
};
void rag_reader_verify(struct rag_reader *reader, bool full,
                       void (*report)(void *context, const struct rag_fault *fault), void *context,
                       struct rag_verdict *verdict);

/* A file in the making (one thread). After a failed call only discard is of use; nothing that was
 * committed before is touched by any failure. */
struct rag_writer;

/* A new file at path: made under a temporary name beside it, renamed at commit. */
enum rag_status rag_writer_create(const char *path, struct rag_writer **writer,
                                  struct rag_fault *fault);

/* The next commit of the file at path. Takes the writer's lock (RAG_LOCKED: fault->at is the
 * holder's pid) and opens the newest commit. */
enum rag_status rag_writer_edit(const char *path, struct rag_writer **writer,
                                struct rag_fault *fault);

/* Hands over the reader of that commit and the map that it reads; the reader is closed first. */
struct rag_reader *rag_writer_take_reader(struct rag_writer *writer);
struct rag_map rag_writer_take_map(struct rag_writer *writer);

/* A new file to be renamed over the one that editor holds locked: compaction. */
enum rag_status rag_writer_replace(struct rag_writer *editor, struct rag_writer **writer,
                                   struct rag_fault *fault);

/* Gives out a segment number. */
enum rag_status rag_writer_segment(struct rag_writer *writer, uint32_t *number,
                                   struct rag_fault *fault);

/* Records how many rows a segment has and how many of them live; or that it is gone (its
 * sections are dropped first). */
enum rag_status rag_writer_rows(struct rag_writer *writer, uint32_t segment, uint64_t rows,
                                uint64_t live, struct rag_fault *fault);
void rag_writer_forget(struct rag_writer *writer, uint32_t segment);

/* A section is begun, written in any pieces, ended. at tells where its bytes will lie in the file.
 * An older section of the same name and segment is dropped. */
enum rag_status rag_section_begin(struct rag_writer *writer, const char *name, uint32_t segment,
                                  uint32_t flags, uint64_t *at, struct rag_fault *fault);
enum rag_status rag_section_write(struct rag_writer *writer, const void *bytes, size_t size,
                                  struct rag_fault *fault);
enum rag_status rag_section_end(struct rag_writer *writer, uint64_t items, struct rag_fault *fault);

/* Leaves a section out of the next commit. RAG_ARGUMENT when there is none. */
enum rag_status rag_section_drop(struct rag_writer *writer, const char *name, uint32_t segment,
                                 struct rag_fault *fault);

/* From now on, sums of blocks of `grain` bytes are taken of each section that is begun; 0: no more.
 * fine writes those that were taken as the segment's rag.fine, and forgets them. */
void rag_writer_grain(struct rag_writer *writer, uint32_t grain);
enum rag_status rag_writer_fine(struct rag_writer *writer, uint32_t segment,
                                struct rag_fault *fault);

/* The commit protects its bytes by so many per cent of parity (spec/parts/parity.md), 1 … 100; 0:
 * it does not. What an older parity section protects is left to it, unless anew. */
void rag_writer_parity(struct rag_writer *writer, unsigned percent, bool anew);

/* Makes everything durable and visible, all or nothing. The writer is spent afterwards: discard
 * it. */
enum rag_status rag_writer_commit(struct rag_writer *writer, uint64_t created, const char *message,
                                  size_t message_size, struct rag_fault *fault);
void rag_writer_discard(struct rag_writer *writer);

/* --------------------------------------------------------------------------------------- repair */

/* What the parity sections of a damaged file can do (one thread). open looks for them in the bytes
 * and fails with RAG_CORRUPT where there are none. */
struct rag_repair;
enum rag_status rag_repair_open(const uint8_t *bytes, uint64_t size, struct rag_repair **repair,
                                struct rag_fault *fault);

/* The size of the file when it is whole, and the number of parity sections that are used. */
uint64_t rag_repair_size(const struct rag_repair *repair);
uint32_t rag_repair_sections(const struct rag_repair *repair);

/* Puts right what can be put right, in a copy of the file with room for that size, zero after the
 * file's own. Each stretch that is changed, or that stays damaged, goes to report. With check,
 * parity that looks good is compared with what it protects, too. */
struct rag_mended {
    uint64_t at, size;
    bool lost; /* it stays damaged */
};
enum rag_status rag_repair_run(struct rag_repair *repair, uint8_t *bytes, bool check,
                               void (*report)(void *context, const struct rag_mended *mended),
                               void *context, struct rag_fault *fault);
void rag_repair_close(struct rag_repair *repair);

/* -------------------------------------------------------------------------------------- records */

/* The four tables of a segment, each a section; bytes of a file, checked where they are used. Any
 * number of threads. */
struct rag_records {
    struct rag_guard chunks, documents, ids;
    uint64_t rows, count; /* chunks, documents */
};

struct rag_document {
    const uint8_t *id;
    uint32_t id_size;
    uint64_t blob_at; /* in the text stream */
    uint32_t text_size,
        blob_size;       /* bytes: the document's own text, and that plus texts outside it */
    uint32_t text_chars; /* code points of the text */
    bool has_text;       /* false: it was added as loose chunks */
    uint64_t meta_at;    /* in the metadata stream */
    uint32_t meta_size;
    uint64_t first_row;
    uint32_t rows;
};

struct rag_chunk {
    uint32_t document, index;
    uint32_t start, size;           /* bytes of the document's blob */
    uint32_t char_start, char_size; /* code points of the document's text; char_start RAG_NO_SPAN:
                                       not a span of it */
    uint64_t meta_at;
    uint32_t meta_size;
};

#define RAG_NO_SPAN UINT32_MAX
enum { RAG_CHUNK_SIZE = 32, RAG_DOCUMENT_SIZE = 64 };

/* Checks that the sections' sizes belong together. */
enum rag_status rag_records_open(struct rag_records *records, struct rag_fault *fault);
enum rag_status rag_records_chunk(const struct rag_records *records, uint64_t row,
                                  struct rag_chunk *chunk, struct rag_fault *fault);
enum rag_status rag_records_document(const struct rag_records *records, uint64_t i,
                                     struct rag_document *document, struct rag_fault *fault);

/* The same without the bytes of the id, which are not looked at: *id_at is where they lie in
 * records->ids. */
enum rag_status rag_records_place(const struct rag_records *records, uint64_t i,
                                  struct rag_document *document, uint64_t *id_at,
                                  struct rag_fault *fault);

/* The document with this id, or count when there is none. */
enum rag_status rag_records_find(const struct rag_records *records, const uint8_t *id, size_t size,
                                 uint64_t *i, struct rag_fault *fault);

/* The row of a document's chunk with this index, or rows when there is none. */
enum rag_status rag_records_row(const struct rag_records *records, uint64_t document,
                                uint32_t index, uint64_t *row, struct rag_fault *fault);

/* The hash that a bottom-k sample goes by: xxh3-64 of the id followed by the index,
 * little-endian. */
enum rag_status rag_records_sample(const struct rag_records *records, const uint64_t *live,
                                   uint64_t *hashes, uint64_t *rows, size_t k, size_t *found,
                                   struct rag_fault *fault);

/* Mean and population deviation of finite scores, each from a sum that is rounded once; 0 and 0 of
 * none. room is for count numbers. */
void rag_moments(const float *scores, double *room, size_t count, double *mean, double *deviation);

void rag_chunk_store(uint8_t *out, const struct rag_chunk *chunk);
void rag_document_store(uint8_t *out, const struct rag_document *document);

/* A list of byte strings: u64 count, count + 1 u64 offsets from the end of the offsets, the
 * bytes. Before these lie RAG_STRINGS_HEAD + 8 * count bytes. The offset of string i lies at byte
 * rag_strings_offset(i), its end in the eight bytes that follow. */
enum { RAG_STRINGS_HEAD = 16 };
uint64_t rag_strings_offset(uint64_t i);

/* Writes out bytes of a section that is being built. Returns RAG_OK, or the status to give up
 * with. */
typedef enum rag_status rag_write(void *context, const void *bytes, size_t size);

/* Distinct ids of a segment in the making, numbered from 0 in order of arrival. A few bytes each
 * beside their own. One thread. */
struct rag_ids;
struct rag_ids *rag_ids_new(void); /* NULL without memory */
void rag_ids_free(struct rag_ids *ids);
uint32_t rag_ids_count(const struct rag_ids *ids);

/* The number of an id, which is new where it is the count before. An empty id is RAG_ARGUMENT. */
enum rag_status rag_ids_number(struct rag_ids *ids, const uint8_t *bytes, size_t size,
                               uint32_t *number, struct rag_fault *fault);
bool rag_ids_find(const struct rag_ids *ids, const uint8_t *bytes, size_t size, uint32_t *number);

/* The bytes of a number's id; they stay until the next id is numbered. */
const uint8_t *rag_ids_at(const struct rag_ids *ids, uint32_t number, size_t *size);

/* All numbers in the order of their ids' bytes. */
enum rag_status rag_ids_order(const struct rag_ids *ids, uint32_t *order, struct rag_fault *fault);

/* The ids in an order as a list of byte strings, in pieces. */
enum rag_status rag_ids_write(const struct rag_ids *ids, const uint32_t *order, rag_write *write,
                              void *context, struct rag_fault *fault);

/* ------------------------------------------------------------- metadata as columns: rag.columns */

/* A JSON value as bytes that compare as values do (values.h). Each returns how many there are; a
 * text takes at most 2 * size + 2. floor is the largest binary64 not above a number, rest what it
 * exceeds that by. */
enum { RAG_VALUE_NUMBER = 11 };
size_t rag_value_integer(uint8_t *out, int64_t integer);
size_t rag_value_number(uint8_t *out, double floor, uint16_t rest);
size_t rag_value_text(uint8_t *out, const uint8_t *raw, size_t size);

/* What a builder stores: values of at most so many bytes; of one path so many; of all paths, with
 * what is kept on the way, so many; and in a column free_bytes + bytes_a_row of texts, lists and
 * objects for each row. The paths that go beyond are listed without their values. */
struct rag_columns_limits {
    uint32_t value, bytes_a_row;
    uint64_t values, held, free_bytes;
};

/* Takes the metadata of a segment's rows in their order, as JSON that is well-formed UTF-8 but for
 * lone surrogates: a document's, then that of its rows, as many at once as say the same. decimal
 * reads a number with a fraction or an exponent. finish writes the section, unless it is spoilt:
 * the JSON is damaged, or nobody's. */
struct rag_columns_builder;
enum rag_status rag_columns_new(const struct rag_columns_limits *limits,
                                double (*decimal)(void *context, const char *digits, size_t size),
                                void *context, struct rag_columns_builder **builder,
                                struct rag_fault *fault);
enum rag_status rag_columns_document(struct rag_columns_builder *builder, const uint8_t *json,
                                     size_t size, struct rag_fault *fault);
enum rag_status rag_columns_rows(struct rag_columns_builder *builder, const uint8_t *json,
                                 size_t size, uint64_t count, struct rag_fault *fault);

/* Whether JSON is that of a document, with metadata, tags and a source alone; nothing is kept. For
 * a builder that is used for nothing else. */
bool rag_columns_are_plain(struct rag_columns_builder *builder, const uint8_t *json, size_t size);
void rag_columns_spoil(struct rag_columns_builder *builder);
bool rag_columns_are_spoilt(const struct rag_columns_builder *builder);
enum rag_status rag_columns_finish(struct rag_columns_builder *builder,
                                   enum rag_status (*write)(void *context, const void *bytes,
                                                            size_t size),
                                   void *context, struct rag_fault *fault);
void rag_columns_free(struct rag_columns_builder *builder);

/* The section of a file. find gives the number of a path, or of the tags, or -1; where is_partial
 * is false, a path that is not found is one that no row has. place says where a column lies. */
struct rag_columns {
    struct rag_guard guard;
    uint64_t rows, data;
    uint32_t count;
    bool is_partial;
};
enum rag_status rag_columns_open(struct rag_columns *columns, uint64_t rows,
                                 struct rag_fault *fault);
int64_t rag_columns_find(const struct rag_columns *columns, const uint8_t *name, size_t size,
                         bool is_tags);
bool rag_columns_has_values(const struct rag_columns *columns, uint32_t i);
void rag_columns_name(const struct rag_columns *columns, uint32_t i, const uint8_t **name,
                      size_t *size, bool *is_tags);
void rag_columns_place(const struct rag_columns *columns, uint32_t i, uint64_t *at, uint64_t *size);

/* One column, checked: code 0 is no value, 1 to values are the distinct values in their order. */
struct rag_column {
    uint64_t rows;
    uint32_t width, special, numbers, texts, lists, objects, values;
    const uint8_t *zones, *codes, *floors, *rests, *offsets, *blob;
};
enum rag_status rag_column_open(const struct rag_columns *columns, uint32_t i,
                                struct rag_column *column, struct rag_fault *fault);

/* The codes [low, high) of the values that equal one: none, or one; and of those of a kind: null,
 * bool, number, text, list, object. */
enum rag_status rag_column_find(const struct rag_column *column, const uint8_t *value, size_t size,
                                uint32_t *low, uint32_t *high, struct rag_fault *fault);
void rag_column_kind(const struct rag_column *column, int kind, uint32_t *low, uint32_t *high);

/* The rows whose code is in [low, high), or chosen: a byte for each code. words is a row set. */
void rag_column_rows(const struct rag_column *column, uint32_t low, uint32_t high, uint64_t *words);
void rag_column_rows_of(const struct rag_column *column, const uint8_t *chosen, uint32_t count,
                        uint64_t *words);

/* Sets chosen[code] of the lists that hold a value, and of the texts of which another is a part. */
void rag_column_holding(const struct rag_column *column, const uint8_t *value, size_t size,
                        uint8_t *chosen);
void rag_column_containing(const struct rag_column *column, const uint8_t *part, size_t size,
                           uint8_t *chosen);

/* Text, list or object i of a column, as its blob has it. */
const uint8_t *rag_column_text(const struct rag_column *column, uint32_t i, size_t *size);

/* The bytes of the value of a code in 1 … values; how many there are at most, where out is NULL. */
size_t rag_column_value(const struct rag_column *column, uint32_t code, uint8_t *out);

/* ----------------------------------------------------------------- streams of compressed blocks */

/* A long run of bytes cut into blocks of equal raw size, each compressed or not by the caller, with
 * a table after them: random access to any stretch costs the blocks it touches. */
enum { RAG_STREAM_TRAILER = 64 };

struct rag_stream {
    struct rag_guard guard;
    uint64_t raw_size, block_size, blocks, table_at;
};

struct rag_block {
    const uint8_t *bytes; /* NULL from rag_stream_place */
    uint64_t at;          /* in the section */
    size_t size, raw_size;
    bool compressed; /* one zstd frame that unpacks to exactly raw_size bytes; else the raw bytes
                        themselves */
};

enum rag_status rag_stream_open(struct rag_stream *stream, struct rag_fault *fault);
enum rag_status rag_stream_block(const struct rag_stream *stream, uint64_t i,
                                 struct rag_block *block, struct rag_fault *fault);

/* The same without looking at the block's bytes: only where they lie. */
enum rag_status rag_stream_place(const struct rag_stream *stream, uint64_t i,
                                 struct rag_block *block, struct rag_fault *fault);

/* A writer ends a stream with zeros up to the table, the table, which says where each block ends
 * and whether it is compressed, and the trailer. */
size_t rag_stream_gap(uint64_t end);
void rag_stream_end(uint8_t out[8], uint64_t end, bool compressed);
void rag_stream_trailer(uint8_t out[RAG_STREAM_TRAILER], uint64_t raw_size, uint64_t block_size,
                        uint64_t blocks, uint64_t table_at);

/* ------------------------------------------------------------------------- vectors in 1.0 files */

enum { RAG_VECTOR_HEAD = 64, RAG_REFERENCE_SIZE = 16 };

/* The first 64 bytes of a 1.0 vector section at file offset at: the 0.1.0 preamble and extension
 * for rows of a constant stride of dim * bits / 8 + 16. */
void rag_vector_head(uint8_t out[RAG_VECTOR_HEAD], uint64_t at, uint32_t dim, uint32_t bits,
                     uint64_t rows);

/* Writes rows into pairs: component bytes, '-', "c" and ten digits of first + i, four NULs. */
void rag_vector_rows(uint8_t *out, const uint8_t *components, size_t row_size, uint64_t first,
                     size_t rows);

struct rag_vectors {
    uint32_t dim, bits;
    uint64_t rows, stride, at; /* at: of the first row, from the start of the section */
};
enum rag_status rag_vector_open(const struct rag_guard *guard, uint64_t section_at,
                                struct rag_vectors *vectors, struct rag_fault *fault);

/* -------------------------------------------------------------------------- 0.1.0 and its pairs */
/* (pairs) */

/* A file opens with 11 bytes (magic, version, byte order) and a textual directory of its sections,
 * name-(start,end), in which end is the last byte. spec/ has the grammar; these are its limits. */
enum {
    RAG_HEADER_SIZE = 11,
    RAG_NAME_MAX = 64,
    RAG_DIRECTORY_MAX = 65536,
    RAG_ENTRIES_MAX = 1024,
    RAG_KEYWORD_PREAMBLE = 17,
    RAG_VECTOR_PREAMBLE = 18,
    RAG_EXTENSION_SIZE = 32, /* RXV1, right after the vector preamble */
    RAG_KEYS_HEADER = 32,    /* of a rag.keys section */
};

struct rag_strategy {
    uint64_t start, end; /* absolute; end is the last byte, start - 1 when the section is empty */
    char name[RAG_NAME_MAX + 1];
};

struct rag_directory {
    uint8_t major, minor, patch;
    bool big_endian;
    uint32_t size; /* bytes from offset 11 through the last entry, NULs between them included */
    uint32_t count;
    struct rag_strategy *entries; /* in the order of the file; rag_directory_free */
};

/* Reads the front of a file, strictly: entries adjacent and in order, inside the file, names
 * unique. Versions 0.x and 1.x. On failure nothing needs freeing. */
enum rag_status rag_directory_read(const uint8_t *bytes, uint64_t size,
                                   struct rag_directory *directory, struct rag_fault *fault);

/* The same for the dialect of the 2025 reference script: a NUL after every entry, ends exclusive
 * (turned into inclusive ones here), start at the first pair instead of the preamble. size counts
 * the last NUL too. */
enum rag_status rag_directory_read_reference(const uint8_t *bytes, uint64_t size,
                                             struct rag_directory *directory,
                                             struct rag_fault *fault);
void rag_directory_free(struct rag_directory *directory);

/* Sets the first entry's start so that it lies right after the directory and its closing NUL, and
 * returns it. */
uint64_t rag_directory_place(struct rag_directory *directory, int digits);

/* Writes header, directory and closing NUL; *size gets the bytes used. Offsets have at least
 * `digits` digits (1.0 pads them to 20). RAG_LIMIT when they do not fit into capacity. */
enum rag_status rag_directory_write(const struct rag_directory *directory, int digits, uint8_t *out,
                                    size_t capacity, size_t *size, struct rag_fault *fault);

/* The pairs of one keyword or vector section. bytes[0] is the first pair's first byte, bytes[size -
 * 1] the last pair's last; nothing outside is ever read. */
struct rag_pairs {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t at;       /* file offset of bytes[0], for faults */
    uint8_t padding;   /* NULs between pairs: 4, 8 or 16 */
    uint8_t precision; /* bits of a component; 0 for keyword pairs */
    bool big_endian;
    bool extended;   /* the next five fields come from an RXV1 block */
    uint32_t dim;    /* 0: not known */
    uint32_t stride; /* bytes from pair to pair; 0: varies or not known */
    uint32_t flags;  /* RAG_EXTENSION_* */
    uint64_t count;
    uint64_t hash; /* XXH3-64 of the pairs, when RAG_EXTENSION_HASHED */
    uint64_t head; /* bytes that a pair's first half takes by width: dim * precision / 8; 0 for
                      keyword pairs */
};

enum { RAG_EXTENSION_HASHED = 1u };

/* Opens the section that starts at file offset `at`. Checks the preamble and the extension; the
 * pairs are checked as they are walked. A vector section without extension has dim 0:
 * rag_pairs_set_dim before walking it. */
enum rag_status rag_keyword_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                       bool big_endian, struct rag_pairs *pairs,
                                       struct rag_fault *fault);
enum rag_status rag_vector_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                      bool big_endian, struct rag_pairs *pairs,
                                      struct rag_fault *fault);
enum rag_status rag_pairs_set_dim(struct rag_pairs *pairs, uint64_t dim, struct rag_fault *fault);

/* The dimension of a vector section that does not say: tries every one for a clean parse of all
 * pairs with finite components and UTF-8 contents, and puts up to `capacity` that fit into dims,
 * smallest first. RAG_LIMIT when that would take more work than a file deserves. */
enum rag_status rag_pairs_infer(const struct rag_pairs *pairs, uint32_t *dims, size_t capacity,
                                size_t *count, struct rag_fault *fault);

struct rag_pair {
    uint64_t at; /* from pairs->bytes, as content_at */
    uint64_t head_size;
    uint64_t content_at, content_size;
};

/* Reads the pair at *cursor and moves *cursor to the next, or to pairs->size after the last. The
 * caller starts at 0 and goes on while *cursor < pairs->size. */
enum rag_status rag_pairs_next(const struct rag_pairs *pairs, uint64_t *cursor,
                               struct rag_pair *pair, struct rag_fault *fault);

/* Walks all pairs. Writes the first `capacity` offsets when offsets is given; *stride gets the
 * distance between neighbours when it is the same for all (and a lone pair's own size plus
 * padding), else 0. */
enum rag_status rag_pairs_walk(const struct rag_pairs *pairs, uint64_t *offsets, uint64_t capacity,
                               uint64_t *count, uint64_t *stride, struct rag_fault *fault);

/* Copies the vectors of `count` pairs at the given offsets (NULL: row i at i * stride) to out,
 * row-major, in this host's byte order. RAG_ARGUMENT when one would leave the section. */
enum rag_status rag_pairs_gather(const struct rag_pairs *pairs, const uint64_t *offsets,
                                 uint64_t stride, uint64_t count, uint8_t *out,
                                 struct rag_fault *fault);

/* Where contents lie: at is an offset from pairs->bytes. */
struct rag_spans {
    struct rag_span {
        uint64_t at, size;
    } *items;
    size_t count, capacity;
};
void rag_spans_free(struct rag_spans *spans);

/* The contents of every pair with this keyword, in file order: the answer, or the fault, of a walk
 * over all pairs, at the speed of memory. */
enum rag_status rag_pairs_lookup(const struct rag_pairs *pairs, const uint8_t *key, size_t key_size,
                                 struct rag_spans *spans, struct rag_fault *fault);

/* rag.keys: the sorted companion of a keyword section. */
struct rag_keys {
    const uint8_t *entries; /* 16 bytes each: 8 of the keyword, u64 offset of its pair */
    uint64_t count;
    bool big_endian;
    uint64_t at; /* file offset of entries */
    uint64_t hash;
};
enum rag_status rag_keys_open(const uint8_t *section, uint64_t size, uint64_t at, bool big_endian,
                              const struct rag_pairs *pairs, struct rag_keys *keys,
                              struct rag_fault *fault);
enum rag_status rag_keys_lookup(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                const uint8_t *key, size_t key_size, struct rag_spans *spans,
                                struct rag_fault *fault);
/* Checks that lookups find everything: every pair once, ascending by (keyword, offset). */
enum rag_status rag_keys_verify(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                struct rag_fault *fault);
/* Builds the section, RAG_KEYS_HEADER + 16 * count bytes, for `count` pairs (from rag_pairs_walk)
 * into section. */
enum rag_status rag_keys_build(const struct rag_pairs *pairs, uint64_t count, uint8_t *section,
                               struct rag_fault *fault);

/* Writing: the fixed parts, byte for byte. Pairs themselves are head, '-', content, with `padding`
 * NULs in between. */
void rag_keyword_preamble_write(const struct rag_pairs *pairs, uint8_t out[RAG_KEYWORD_PREAMBLE]);
/* Preamble and, when pairs->extended, the extension block after it. */
void rag_vector_preamble_write(const struct rag_pairs *pairs,
                               uint8_t out[RAG_VECTOR_PREAMBLE + RAG_EXTENSION_SIZE]);
/* Whether text can be a keyword (no '-' and no NUL) or content (no NUL): fault->at is the first bad
 * byte. */
enum rag_status rag_keyword_check(const uint8_t *text, size_t size, struct rag_fault *fault);
enum rag_status rag_content_check(const uint8_t *text, size_t size, struct rag_fault *fault);
/* Stores a row of this host's order in the file's; RAG_ARGUMENT when a component is NaN or infinite
 * and must not be. */
enum rag_status rag_row_write(const uint8_t *row, uint32_t dim, uint8_t precision, bool big_endian,
                              bool allow_nonfinite, uint8_t *out, struct rag_fault *fault);

/* The records that survive in a file of the reference script. Its writer rounds records up to a
 * multiple of the padding, so a record that needs no NUL runs into the next, and it puts the
 * directory over the first records. */
enum rag_survival {
    RAG_RECORD_CERTAIN,   /* the one reading of these bytes */
    RAG_RECORD_AMBIGUOUS, /* whole, but they could be one record or several */
    RAG_RECORD_DAMAGED    /* partly overwritten, or no record at all */
};
struct rag_remnants {
    struct rag_remnant {
        enum rag_survival kind;
        uint64_t at, size;    /* from pairs->bytes, without the NULs after */
        struct rag_pair pair; /* CERTAIN only */
    } *items;
    size_t count, capacity;
    bool clean; /* every byte that survives belongs to some record: padding and dim are plausible */
};

/* Opens a section of that dialect; index is its entry in the directory from
 * rag_directory_read_reference. *damaged gets how many bytes of the pairs lie under the directory.
 * Padding and precision are 0 where the directory lies over them too. */
enum rag_status rag_reference_open(const uint8_t *bytes, uint64_t size,
                                   const struct rag_directory *directory, uint32_t index,
                                   struct rag_pairs *pairs, uint64_t *damaged,
                                   struct rag_fault *fault);
/* Sorts all bytes of a section into remnants, in file order. Padding and (for vectors) precision
 * and dim must be set. */
enum rag_status rag_reference_walk(const struct rag_pairs *pairs, uint64_t damaged,
                                   struct rag_remnants *remnants, struct rag_fault *fault);
void rag_remnants_free(struct rag_remnants *remnants);

/* ----------------------------------------------------------------------------- .ragmd and FAISS */

/* Where lines begin besides every 64 characters: at byte head and every row bytes after it, each
 * moved back to a multiple of 3 so that groups of four characters stay whole. row below 48 means
 * nowhere. */
struct rag_base64_rows {
    size_t head, row;
};

/* Writes bytes [*at, size) as whole lines with their line feeds while room (at least 65) lasts;
 * *at, a multiple of 3 unless all is written, moves on. Returns the characters written. */
size_t rag_base64_wrap(const struct rag_base64_rows *rows, const uint8_t *in, size_t size,
                       size_t *at, char *out, size_t room);

/* Base64 with any white space between characters to bytes. out has room for size / 4 * 3 + 3.
 * RAG_FORMAT names the offset of the first character that is not base64; padding is required, and
 * bits beyond the last byte must be zero. */
enum rag_status rag_base64_unwrap(const uint8_t *text, size_t size, uint8_t *out, size_t *written,
                                  struct rag_fault *fault);

/* The dividing lines of a markdown text, one after the other. Start with all zero; [at, end) is the
 * line without its line feed, next the start of the following one. length is not 0 while a fence is
 * open. */
enum rag_mark { RAG_MARK_HEADING = 1, RAG_MARK_OPEN, RAG_MARK_CLOSE };

struct rag_marks {
    enum rag_mark kind;
    size_t at, end, next;
    uint8_t fence;
    size_t length;
};

bool rag_marks_next(const uint8_t *text, size_t size, struct rag_marks *marks);

/* How deep arrays and objects of a JSON text are nested; stops at the first bracket beyond limit,
 * which *at then names. */
size_t rag_json_depth(const uint8_t *text, size_t size, size_t limit, size_t *at);

#define RAG_FAISS_FLAT_HEAD 45

/* The head of a FAISS index. rows_at is where the floats of a flat index start, 0 for any other. */
struct rag_faiss {
    char kind[5];
    uint32_t dim, metric;
    uint64_t count;
    size_t rows_at;
};

/* For a flat index everything is checked: the floats are there, and nothing follows them. */
enum rag_status rag_faiss_read(const uint8_t *bytes, size_t size, struct rag_faiss *index,
                               struct rag_fault *fault);

/* The 45 bytes before the floats of an IndexFlatIP or IndexFlatL2. */
void rag_faiss_flat_head(uint32_t dim, uint64_t count, bool inner_product, uint8_t *head);

/* -------------------------------------------------------------------------------------- vectors */
/* A matrix of vectors where it lies: row i starts at at + i * stride of the section or, with
 * offsets, at offsets[i]. Components are IEEE binary16, 32 or 64 in either byte order; one wider
 * than binary32 counts as its nearest binary32. A row with a NaN or an infinity is legal and never
 * ranked. */
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

/* The order in which rows are ranked. Scores are canonical (spec/parts/vectors.md): the same bits
 * on every machine. Larger is better for all three: l2 scores are negated squared distances. A
 * score beyond binary32 is its largest value. */
enum rag_metric { RAG_COSINE, RAG_IP, RAG_L2 };

/* The shadow of a matrix: small integer copies of its rows with error bounds, which let an exact
 * search leave most rows unread. choose looks for axes along which they are shorter, and gives NULL
 * where there are none worth having: the section is rag.planes with a rotation, rag.shadow without.
 * build streams it out in one pass; open checks its head against the matrix that it belongs to, and
 * knows either kind. */
struct rag_rotation;

struct rag_shadow {
    struct rag_guard guard;
    uint64_t count, group_rows, groups_at;
    uint32_t dim, kept; /* kept: the axes that are swept; 0 for rag.shadow */
};

enum rag_status rag_rotation_choose(const struct rag_matrix *matrix, struct rag_rotation **rotation,
                                    struct rag_fault *fault);
void rag_rotation_free(struct rag_rotation *rotation);
uint64_t rag_shadow_size(const struct rag_matrix *matrix, const struct rag_rotation *rotation);
enum rag_status rag_shadow_build(const struct rag_matrix *matrix,
                                 const struct rag_rotation *rotation, rag_write *write,
                                 void *context, struct rag_fault *fault);
enum rag_status rag_shadow_open(struct rag_shadow *shadow, const struct rag_guard *section,
                                const struct rag_matrix *matrix, struct rag_fault *fault);

/* Checks that what an open shadow says is true of every row: RAG_CORRUPT names the first place that
 * is not, within the section. A search believes the shadow; this is for those who do not. */
enum rag_status rag_shadow_check(const struct rag_shadow *shadow, const struct rag_matrix *matrix,
                                 struct rag_fault *fault);

/* Filters of the questions of one search: question i has number of[i], below count, whose rows of
 * segment s are sets[number * segments + s]: bits as in where of a segment, NULL for all rows. */
struct rag_filters {
    const uint64_t *const *sets;
    const uint32_t *of;
    size_t count;
};

/* Rows that lie close together, as clusters: the section rag.clusters. With it, a shadow holds the
 * rows in another order, cluster by cluster, and is the section rag.clustered. open checks all but
 * the order, whose row numbers are checked when they are used. */
struct rag_clusters {
    struct rag_guard guard;
    uint64_t rows, order_at;
    uint32_t dim, count;
    uint32_t *places; /* of rows, once a search needed them; or NULL */
};

/* close frees what searches keep in clusters. */
void rag_clusters_close(struct rag_clusters *clusters);
enum rag_status rag_clusters_open(struct rag_clusters *clusters, const struct rag_guard *section,
                                  const struct rag_matrix *matrix, struct rag_fault *fault);

/* Where a cluster's places start; of `count`, where the last one's end. */
uint32_t rag_clusters_start(const struct rag_clusters *clusters, uint32_t cluster);

/* Checks that clusters, and the shadow in their order, are true of every row. */
enum rag_status rag_clusters_check(const struct rag_clusters *clusters,
                                   const struct rag_shadow *shadow, const struct rag_matrix *matrix,
                                   struct rag_fault *fault);

/* Clusters in the making. choose gives about `wanted` clusters, or NULL where there can be none;
 * then the row at each place is known. measure wants the matrix with its rows in that order; after
 * it, write puts the section out. The bytes are the same for any number of threads. */
struct rag_clustering;
enum rag_status rag_clustering_choose(const struct rag_matrix *matrix, uint64_t wanted, int threads,
                                      struct rag_clustering **clustering, struct rag_fault *fault);
void rag_clustering_free(struct rag_clustering *clustering);
uint32_t rag_clustering_count(const struct rag_clustering *clustering);
const uint32_t *rag_clustering_order(const struct rag_clustering *clustering);
enum rag_status rag_clustering_measure(struct rag_clustering *clustering,
                                       const struct rag_matrix *placed, struct rag_fault *fault);
uint64_t rag_clustering_size(const struct rag_clustering *clustering);
enum rag_status rag_clustering_write(const struct rag_clustering *clustering, rag_write *write,
                                     void *context);

/* One matrix of a search: its shadow (or NULL), the rows that it searches (or NULL for all): bit
 * i % 64 of word i / 64; and the clusters in whose order the shadow is (or NULL). */
struct rag_segment {
    const struct rag_matrix *matrix;
    const struct rag_shadow *shadow;
    const uint64_t *where;
    const struct rag_clusters *clusters;
};

/* The queries of a search: count times dim finite floats. A row that scores less than its query's
 * least (a number below infinity; NULL for none) is not found. A caller that knows such a limit
 * saves most of the work. Queries can have filters of their own, in the place of where of the
 * segments. */
struct rag_question {
    const float *queries;
    size_t count;
    uint32_t dim;
    enum rag_metric metric;
    uint64_t k;
    int threads;
    const float *least;
    const struct rag_filters *filters;
    double effort; /* the share of a segment's rows, in clusters, that is visited; 0 or 1: all */
    /* for each query, or NULL: the share of the k best rows that the answer has. 1 is proved; what
       is below 1 is an estimate. */
    double *recall;
};

/* The k best rows of all segments together: exactly, but where an effort below 1 leaves clusters
 * out that might hold some. rows and scores are [query][segment][k]: each
 * segment's part lists, best first and equal scores by row, those of its rows that belong to the k
 * best of all or tie with the last of them (so that a caller can settle ties between segments by a
 * key of its own); the rest is row -1, score -infinity. */
enum rag_status rag_nearest(const struct rag_segment *segments, size_t segment_count,
                            const struct rag_question *question, int64_t *rows, float *scores,
                            struct rag_fault *fault);

/* The canonical scores of given rows of one matrix for one query; a row with a NaN or an infinity
 * scores NaN. */
enum rag_status rag_scores(const struct rag_matrix *matrix, const struct rag_question *question,
                           const int64_t *rows, size_t row_count, float *scores,
                           struct rag_fault *fault);

/* Between which scores the 8-bit codes of a shadow put given rows for one query: NaN for a row that
 * is never ranked. */
struct rag_bounds {
    float lower, upper;
};
enum rag_status rag_shadow_bounds(const struct rag_shadow *shadow,
                                  const struct rag_question *question, const int64_t *rows,
                                  size_t row_count, struct rag_bounds *bounds,
                                  struct rag_fault *fault);

/* Vectors kept together, of which a query asks how it scores in general: count rows of dim floats
 * and their canonical squares, which rag_sample_squares computes. */
struct rag_sample {
    const float *rows;
    double *squares;
    size_t count;
    uint32_t dim;
    enum rag_metric metric;
};
enum rag_status rag_sample_squares(struct rag_sample *sample, struct rag_fault *fault);

/* Mean and population deviation of a query's canonical scores over the sample, each from a sum that
 * is rounded once; scores that are not finite are left out. */
enum rag_status rag_sample_moments(const struct rag_sample *sample, const float *query,
                                   double *mean, double *deviation, struct rag_fault *fault);

/* rag.sample: entries of (hash, row) in order, with the rows' vectors at byte `at`, components
 * alone. open wants guard, and what the segment's vectors are; entry is for i < count. */
enum { RAG_SAMPLE_HEAD = 64 };
struct rag_stored_sample {
    struct rag_guard guard;
    uint64_t count, at;
};
enum rag_status rag_stored_sample_open(struct rag_stored_sample *sample, uint64_t rows,
                                       uint32_t dim, uint32_t bits, struct rag_fault *fault);
void rag_stored_sample_entry(const struct rag_stored_sample *sample, uint64_t i, uint64_t *hash,
                             uint64_t *row);

/* A writer puts the head, the hashes, the rows, zeros up to vectors(count), and the vectors. */
void rag_stored_sample_head(uint8_t out[RAG_SAMPLE_HEAD], uint64_t count, uint32_t dim,
                            uint32_t bits);
uint64_t rag_stored_sample_vectors(uint64_t count);

/* rag.fine: sums of smaller blocks (grains) of some sections of a segment. open wants guard; entry
 * is for i < count, and says which bytes of the file it covers and where its sums lie in the
 * section. */
struct rag_fine {
    struct rag_guard guard;
    uint32_t grain, count;
};
enum rag_status rag_fine_open(struct rag_fine *fine, struct rag_fault *fault);
void rag_fine_entry(const struct rag_fine *fine, uint32_t i, uint64_t *at, uint64_t *size,
                    uint64_t *sums_at);

/* The position of the first value that is not finite, or count. */
size_t rag_first_not_finite(const float *values, size_t count);

/* Row sets: bit i % 64 of word i / 64. pack reads one byte a row, 0 for absent; bits past count are
 * zero. */
void rag_bits_pack(const uint8_t *bytes, uint64_t count, uint64_t *words);
void rag_bits_unpack(const uint64_t *words, uint64_t count, uint8_t *bytes);
uint64_t rag_bits_count(const uint64_t *words, uint64_t count);

/* Bitmaps in files, rag.tombs and rag.gone: bit i % 8 of byte i / 8. store writes ceil(count / 8)
 * bytes; rest is the row set of those that a bitmap of whole words does not name. */
void rag_bitmap_store(uint8_t *out, const uint8_t *bytes, uint64_t count);
bool rag_bitmap_has(const uint8_t *bitmap, uint64_t i);
void rag_bitmap_rest(const uint8_t *bitmap, uint64_t count, uint64_t *words);

/* --------------------------------------------------------------------------------------- fusion */
/* Calibrated fusion of two exact scores: the best BM25 score of all rows, and how the question's
 * dense scores lie. */
struct rag_calibration {
    double best, mean, deviation, weight;
};

/* The fused score of a row. */
double rag_calibrated_score(const struct rag_calibration *by, float bm25, float dense);

/* Ranks rows by their fused scores, equal ones by ties: where each place's row stands, and its
 * score. */
enum rag_status rag_calibrated_rank(const struct rag_calibration *by, const float *bm25,
                                    const float *dense, const int64_t *ties, size_t count,
                                    int64_t *order, double *scores, struct rag_fault *fault);

/* The dense score that a row whose BM25 score is at most rest needs to be one of the k best, when
 * these rows are candidates; -infinity where any score will do. */
float rag_calibrated_least(const struct rag_calibration *by, const float *bm25, const float *dense,
                           size_t count, size_t k, float rest);

/* A segment where answers of several are made one: the number in the file of its first row, its
 * rows, who they are (for ties between segments; NULL where there is one segment alone) and its
 * vectors, or NULL. Parts lie in order of base. */
struct rag_part {
    uint64_t base, rows;
    const struct rag_records *records;
    const struct rag_matrix *matrix;
};

/* The k best of what the parts found for each question: rows (of the file, -1 is none) and scores
 * are [questions][parts][k] and are spent, to and best are [questions][k], best first, ties by
 * (document id, chunk index); the rest is row -1 and score -infinity. */
enum rag_status rag_merge(const struct rag_part *parts, size_t part_count, int64_t *rows,
                          float *scores, size_t count, size_t k, int threads, int64_t *to,
                          float *best, struct rag_fault *fault);

/* How the ranked rows of two retrievers become one ranking (fuse.c has the formulas); parameter is
 * the weight, the constant of ranks, or the share of vectors. */
enum rag_method { RAG_CALIBRATED, RAG_RRF, RAG_BLEND };

struct rag_lexical_leg;
struct rag_lexical_stats;
struct rag_queries;

/* Questions that are asked of words and vectors. The rows of both come in [questions][depth] with
 * their scores, best first, row -1 where they end. sample is needed by RAG_CALIBRATED alone. */
struct rag_fusion {
    enum rag_method method;
    double parameter;
    const struct rag_part *parts;
    size_t part_count;
    const struct rag_lexical_leg *legs;
    size_t leg_count;
    const struct rag_lexical_stats *stats;
    const struct rag_queries *queries;
    const float *vectors;
    uint32_t dim;
    enum rag_metric metric;
    const struct rag_sample *sample;
    size_t count, depth;
    int threads;
};

/* After the words, before the vectors. near ([questions][depth]): the vector scores of the rows
 * that words found; RAG_CALIBRATED takes the mean for a row whose vector has none. moments
 * ([questions][2]) and, where least is not NULL, what a further row's vector must score to be one
 * of the k best: both of RAG_CALIBRATED alone. */
enum rag_status rag_fusion_near(const struct rag_fusion *fusion, const int64_t *rows,
                                const float *bm25, size_t k, float *near, double *moments,
                                float *least, struct rag_fault *fault);

/* What both found, ranked: rows, fused scores and each row's scores by words and by vector, all
 * [questions][width], best first, ties by key. What is left over is row -1, score -infinity and
 * parts NaN. */
struct rag_fused {
    int64_t *rows;
    double *scores;
    float *bm25, *near;
    size_t width;
};
enum rag_status rag_fusion_rank(const struct rag_fusion *fusion, const int64_t *word_rows,
                                const float *bm25, const float *near, const double *moments,
                                const int64_t *dense_rows, const float *dense,
                                const struct rag_fused *out, struct rag_fault *fault);

/* Questions to words and vectors of one segment alone, from terms to the ranking. fusion has one
 * part and one leg; segment.where, or filters, are the rows that words and vectors may find. k is
 * how many rows the answers have; with wants_least (RAG_CALIBRATED alone), rows that cannot be
 * among them are left out, so no row after the k-th may matter. */
struct rag_hybrid {
    struct rag_fusion fusion;
    struct rag_segment segment;
    const struct rag_filters *filters;
    size_t k;
    bool wants_least;
};

/* Milliseconds. */
struct rag_spent {
    double words, fusing, vectors;
};
enum rag_status rag_hybrid_answer(const struct rag_hybrid *asked, const struct rag_fused *out,
                                  struct rag_spent *spent, struct rag_fault *fault);

/* -------------------------------------------------------------------------------- text and BM25 */
/* (bm25) */
/* A word of a text. Wholes (snake_case, v0.1.0, c++) come besides their parts: they are found as
 * written, never stemmed, and add nothing to a row's length. */
enum { RAG_WORD_PART = 0, RAG_WORD_WHOLE = 1 };
struct rag_word {
    const uint8_t *bytes; /* folded UTF-8 of 1 to 255 bytes, valid for any input */
    size_t size;
    int kind;
    size_t from, to; /* the bytes of the text that it was made of */
};
typedef void rag_word_sink(void *context, const struct rag_word *word);

/* What a file's analysis does besides: rules are any of these together. RAG_PIECES is rag-words-2:
 * a part such as getPodStatus also gives get, pod and status, parts as well. */
enum { RAG_STRIP_ACCENTS = 1, RAG_PIECES = 2 };

/* Calls sink with each word of a text, in order of where their parts begin: a whole comes after its
 * parts. A word's bytes are valid until sink returns. */
void rag_analyze(const uint8_t *text, size_t size, unsigned rules, rag_word_sink *sink,
                 void *context);

/* Calls sink with each word of a text in lower case whose first two bytes (the second 0 where there
 * is one) are wanted: heads has a bit for each of 65,536 pairs, the first byte the higher. number
 * counts all words from 0. What a word is: ragfile.text.words. */
typedef void rag_mention_sink(void *context, size_t number, const uint8_t *word, size_t size);
void rag_mentions(const uint8_t *text, size_t size, const uint8_t *heads, rag_mention_sink *sink,
                  void *context);

/* The weight of a term that df of so many rows hold, from the four operations alone: the same bits
 * whatever the C library. */
double rag_bm25_idf(uint64_t rows, uint64_t df);

/* The Unicode version of the analyzer's tables. */
const char *rag_unicode_version(void);

/* Words, numbered as they appear, and the terms that stand for them. The core does not know how a
 * word becomes a term (stemming, stop words): it hands out the new words, and takes their terms in
 * the same order. One thread. */
struct rag_vocabulary;
struct rag_vocabulary *rag_vocabulary_new(void);
void rag_vocabulary_free(struct rag_vocabulary *vocabulary);
/* The words that have no term yet, each followed by a NUL; valid until the next call. */
const uint8_t *rag_vocabulary_pending(const struct rag_vocabulary *vocabulary, size_t *size);
/* Their terms, each followed by a NUL; an empty one drops the word. RAG_ARGUMENT when their number
 * differs or a term has more than 255 bytes. */
enum rag_status rag_vocabulary_resolve(struct rag_vocabulary *vocabulary, const uint8_t *terms,
                                       size_t size, struct rag_fault *fault);
size_t rag_vocabulary_size(const struct rag_vocabulary *vocabulary);

/* Where built bytes go and where spilled runs wait. A function returns 0, or anything else to stop:
 * RAG_OS. */
struct rag_sink {
    int (*write)(void *context, const void *bytes, size_t size);
    void *context;
};
struct rag_spill {
    int (*write)(void *context, const void *bytes, size_t size); /* appends */
    int (*read)(void *context, uint64_t at, void *bytes, size_t size);
    void *context;
};

/* Builds the sections rag.terms and rag.postings from rows in order. A batch is any number of rows:
 * give each row's texts and end it, then resolve the vocabulary's pending words, then commit.
 * Memory stays near `memory` bytes, plus 4 a row and the finished dictionary. The same rows give
 * the same bytes, whatever the batches and the memory. One thread. */
struct rag_lexical_builder;
struct rag_lexical_builder *rag_lexical_builder_new(double k1, double b, unsigned rules,
                                                    size_t memory, struct rag_spill spill);
void rag_lexical_builder_free(struct rag_lexical_builder *builder);
struct rag_vocabulary *rag_lexical_builder_vocabulary(struct rag_lexical_builder *builder);
/* A text of the current row; each of its words counts `weight` times. */
enum rag_status rag_lexical_builder_text(struct rag_lexical_builder *builder, const uint8_t *text,
                                         size_t size, uint32_t weight, struct rag_fault *fault);
enum rag_status rag_lexical_builder_end_row(struct rag_lexical_builder *builder,
                                            struct rag_fault *fault);
enum rag_status rag_lexical_builder_commit(struct rag_lexical_builder *builder,
                                           struct rag_fault *fault);
/* Writes both sections; config is kept as it is. The builder can only be freed afterwards. */
enum rag_status rag_lexical_builder_finish(struct rag_lexical_builder *builder,
                                           const uint8_t *config, size_t config_size,
                                           struct rag_sink postings, struct rag_sink terms,
                                           struct rag_fault *fault);

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

/* The statistics that scores depend on besides the segment: the live rows and their summed length
 * over the whole file, k1 and b. */
struct rag_lexical_stats {
    uint64_t rows, total_length;
    double k1, b;
    /* Of the rest and of each field of rag_lexicon_fields, 0 to 255 and not all 0, where they are
     * others than the build's, or NULL. Then total_length is the one by these weights. */
    const uint32_t *weights;
    size_t weight_count;
};

/* Tells a lexicon the fields that have lists of their own: a lexicon of the same rows each, which
 * it does not own. weights are those of the build: of the rest, then of each field. */
enum rag_status rag_lexicon_fields(struct rag_lexicon *lexicon, struct rag_lexicon *const *fields,
                                   const uint32_t *weights, size_t count, struct rag_fault *fault);
/* The summed length of the rows in `where`, or of all. */
enum rag_status rag_lexicon_length(const struct rag_lexicon *lexicon, const uint64_t *where,
                                   uint64_t *total, struct rag_fault *fault);

/* One distinct term of a query, in the order of first occurrence. df counts live rows of the whole
 * file, 0 meaning the segment's own df. */
struct rag_query_term {
    const uint8_t *bytes;
    uint32_t size, count;
    uint64_t df;
};

/* How many rows hold a term, of those in `where` when that is given. */
enum rag_status rag_lexicon_df(const struct rag_lexicon *lexicon, const uint8_t *term, size_t size,
                               const uint64_t *where, uint64_t *df, struct rag_fault *fault);
/* Where a term's list lies in rag.postings; size 0 where it has none there. */
enum rag_status rag_lexicon_place(const struct rag_lexicon *lexicon, const uint8_t *term,
                                  size_t term_size, uint64_t *at, uint64_t *size,
                                  struct rag_fault *fault);
/* The rows and frequencies of a term: call with capacity 0 for the count; tfs can be NULL. */
enum rag_status rag_lexicon_rows(const struct rag_lexicon *lexicon, const uint8_t *term,
                                 size_t size, uint32_t *rows, uint32_t *tfs, uint64_t capacity,
                                 uint64_t *count, struct rag_fault *fault);
/* The terms of a block of the dictionary in order, each followed by a NUL; RAG_ARGUMENT past the
 * last block. */
enum rag_status rag_lexicon_block(const struct rag_lexicon *lexicon, uint64_t block,
                                  uint8_t out[4096], size_t *size, struct rag_fault *fault);
/* Calls sink with each term that begins with prefix, in order; or with each that is `edits` or
 * fewer code points away from a word, inserted, deleted, replaced, or two neighbours swapped. A
 * term's bytes are valid until sink returns. */
typedef void rag_term_sink(void *context, const uint8_t *term, size_t size);
enum rag_status rag_lexicon_beginning(const struct rag_lexicon *lexicon, const uint8_t *prefix,
                                      size_t count, rag_term_sink *sink, void *context,
                                      struct rag_fault *fault);
enum rag_status rag_lexicon_near(const struct rag_lexicon *lexicon, const uint8_t *word,
                                 size_t count, unsigned edits, rag_term_sink *sink, void *context,
                                 struct rag_fault *fault);
/* The lengths of all rows. */
enum rag_status rag_lexicon_lengths(const struct rag_lexicon *lexicon, uint32_t *lengths,
                                    struct rag_fault *fault);

/* The k best rows of those that hold a term of the query and are in `where` (one bit a row, NULL
 * for all), best first, ties by row; places without a row hold row -1 and score NaN. Exact: the
 * result depends on nothing but the arguments. */
enum rag_status rag_lexicon_search(struct rag_lexicon *lexicon, const struct rag_query_term *terms,
                                   size_t count, const struct rag_lexical_stats *stats,
                                   const uint64_t *where, size_t k, int64_t *rows, float *scores,
                                   struct rag_fault *fault);
/* The scores of given rows, 0 for one that holds no term; RAG_ARGUMENT for a row that does not
 * exist. */
enum rag_status rag_lexicon_score(struct rag_lexicon *lexicon, const struct rag_query_term *terms,
                                  size_t count, const struct rag_lexical_stats *stats,
                                  const int64_t *rows, size_t row_count, float *scores,
                                  struct rag_fault *fault);

/* Queries analysed into terms, for any number of lexicons. One thread. */
struct rag_queries;
struct rag_queries *rag_queries_new(void);
void rag_queries_free(struct rag_queries *queries);
/* Notes a query's words; call rag_queries_finish once the vocabulary has terms for all of them. */
enum rag_status rag_queries_add(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                const uint8_t *text, size_t size, unsigned rules,
                                struct rag_fault *fault);
/* Adds a term as it stands to the query that was added last. */
enum rag_status rag_queries_whole(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                  const uint8_t *term, size_t size, struct rag_fault *fault);
enum rag_status rag_queries_finish(struct rag_queries *queries,
                                   const struct rag_vocabulary *vocabulary,
                                   struct rag_fault *fault);
/* The terms of query i, their number in *count; they stay the queries' own; the caller can set
 * df. */
struct rag_query_term *rag_queries_terms(const struct rag_queries *queries, size_t i,
                                         size_t *count);

/* All queries over one lexicon on up to `threads` threads; rows and scores are [queries][k]. A
 * query finds the rows of where, or with filters those of its own. */
enum rag_status rag_lexicon_search_batch(struct rag_lexicon *lexicon,
                                         const struct rag_queries *queries, size_t count,
                                         const struct rag_lexical_stats *stats,
                                         const uint64_t *where, const struct rag_filters *filters,
                                         size_t k, int threads, int64_t *rows, float *scores,
                                         struct rag_fault *fault);

/* The lexicon of one segment of a file: its live rows, those of them that a search can return (both
 * NULL for all), and the number in the file of its first row. Legs lie in order of base. */
struct rag_lexical_leg {
    struct rag_lexicon *lexicon;
    const uint64_t *alive, *where;
    uint64_t base;
};
/* Gives each term of the first count queries its df over the live rows of all legs. */
enum rag_status rag_lexicons_count(const struct rag_lexical_leg *legs, size_t leg_count,
                                   struct rag_queries *queries, size_t count,
                                   struct rag_fault *fault);
/* The same by the weights of stats: a row in which a term stands in fields of weight 0 alone does
 * not count. */
enum rag_status rag_lexicons_count_fields(const struct rag_lexical_leg *legs, size_t leg_count,
                                          struct rag_queries *queries, size_t count,
                                          const struct rag_lexical_stats *stats,
                                          struct rag_fault *fault);
/* All queries over all legs; rows (of the file) and scores are [queries][legs][k]. Each leg's part
 * lists at least those of its rows that belong to the k best of all or tie with the last of them,
 * best first; the rest is row -1 and score NaN. */
enum rag_status rag_lexicons_search(const struct rag_lexical_leg *legs, size_t leg_count,
                                    const struct rag_queries *queries, size_t count,
                                    const struct rag_lexical_stats *stats,
                                    const struct rag_filters *filters, size_t k, int threads,
                                    int64_t *rows, float *scores, struct rag_fault *fault);
/* The scores of given rows of the file, in ascending order; 0 for one that holds no term or is not
 * in these segments. */
enum rag_status rag_lexicons_score(const struct rag_lexical_leg *legs, size_t leg_count,
                                   const struct rag_query_term *terms, size_t count,
                                   const struct rag_lexical_stats *stats, const int64_t *rows,
                                   size_t row_count, float *scores, struct rag_fault *fault);

/* Queries whose terms are known: each term of the next query, then its end; after the last query
 * rag_queries_seal makes them ready to be searched with. */
enum rag_status rag_queries_term(struct rag_queries *queries, const uint8_t *bytes, size_t size,
                                 uint32_t count, uint64_t df, struct rag_fault *fault);
enum rag_status rag_queries_end(struct rag_queries *queries, struct rag_fault *fault);
void rag_queries_seal(struct rag_queries *queries);

/* The section rag.frequencies, opened: in how many rows of a collection each term occurs. */
struct rag_frequencies {
    struct rag_guard guard;
    struct rag_lexical_stats stats; /* of the collection */
    uint64_t terms, blocks, keys_at, blocks_at;
    const uint8_t *config;
    size_t config_size;
};
enum rag_status rag_frequencies_open(const struct rag_guard *guard,
                                     struct rag_frequencies *frequencies, struct rag_fault *fault);
/* How many rows have a term. */
enum rag_status rag_frequencies_find(const struct rag_frequencies *frequencies, const uint8_t *term,
                                     size_t size, uint64_t *rows, struct rag_fault *fault);
/* The bytes of the section that a look-up of the term most likely reads; 0 bytes for none. */
enum rag_status rag_frequencies_place(const struct rag_frequencies *frequencies,
                                      const uint8_t *term, size_t size, uint64_t *at,
                                      uint64_t *bytes);
/* As the same of a lexicon, with how many rows have each term. A term's bytes are valid until sink
 * returns. */
typedef void rag_count_sink(void *context, const uint8_t *term, size_t size, uint64_t rows);
enum rag_status rag_frequencies_beginning(const struct rag_frequencies *frequencies,
                                          const uint8_t *prefix, size_t count, rag_count_sink *sink,
                                          void *context, struct rag_fault *fault);
enum rag_status rag_frequencies_near(const struct rag_frequencies *frequencies, const uint8_t *word,
                                     size_t count, unsigned edits, rag_count_sink *sink,
                                     void *context, struct rag_fault *fault);
/* Gives each term of the first count queries its df. */
enum rag_status rag_frequencies_set(const struct rag_frequencies *frequencies,
                                    struct rag_queries *queries, size_t count,
                                    struct rag_fault *fault);

/* A part of a collection: the rows of a lexicon that live (alive NULL for all), or a section that
 * counts rows. */
struct rag_frequency_part {
    const struct rag_lexicon *lexicon;
    const uint64_t *alive;
    const struct rag_frequencies *frequencies; /* where lexicon is NULL */
    bool is_taken_away;
};
/* Writes the section of all parts together; stats are those of the result. RAG_CORRUPT where more
 * is taken away than there is. */
enum rag_status rag_frequencies_merge(const struct rag_frequency_part *parts, size_t part_count,
                                      const struct rag_lexical_stats *stats, const uint8_t *config,
                                      size_t config_size, struct rag_sink sink,
                                      struct rag_fault *fault);

/* Moves the k best of count rows (row -1 is none), and those that tie with the last of them, to the
 * front: best first, ties by row. *kept says how many they are. */
enum rag_status rag_rank(int64_t *rows, float *scores, size_t count, size_t k, size_t *kept,
                         struct rag_fault *fault);

/* ------------------------------------------------------------------------ the embedded embedder */
/* (wordpiece) */

enum { RAG_MODEL_SPECIALS = 16 };

/* A static embedding model in a mapped file: a WordPiece vocabulary and one 4-bit row for each
 * piece. Its fields are for reading only; the file's bytes stay where they are for as long as the
 * model is used. */
struct rag_model {
    uint32_t dims, count, bucket_bits, unknown, longest;
    const char *name; /* ends with a NUL */
    const uint8_t *rows, *coefficients, *buckets, *words;
    const uint8_t *specials[RAG_MODEL_SPECIALS];
    size_t special_count;
};

/* Checks a model file, all of it, and takes it into use. */
enum rag_status rag_model_open(const void *file, size_t size, struct rag_model *model,
                               struct rag_fault *fault);

/* The ids of a text's word pieces: writes up to capacity of them and returns how many there are.
 * Any bytes are a text; bytes that are not UTF-8 are skipped. */
size_t rag_model_tokens(const struct rag_model *model, const void *text, size_t size, uint32_t *ids,
                        size_t capacity);

/* The vectors of texts, count * dims floats, each of length 1, or all zeros for a text without a
 * known word. The same bits for any number of threads, any batch and any target. */
void rag_model_embed(const struct rag_model *model, const uint8_t *const *texts,
                     const size_t *sizes, size_t count, int threads, float *out);

/* context.c: each of `rows` unit vectors of texts becomes the direction of text + weight * path,
 * where path_of names the row of `paths`, or -1 for a text without one. `room` holds dims
 * numbers. */
void rag_context_add(float *texts, const float *paths, const int64_t *path_of, size_t rows,
                     size_t dims, double weight, double *room);

/* The parts of a model file. Piece i has id i; kinds are 0 for the start of a word, 1 for a
 * continuation (without its marks), 2 for a special piece, which begins with "[". rows are count *
 * dims components of -8 .. 7. */
struct rag_model_source {
    uint32_t dims, count, bucket_bits, unknown;
    const char *name;
    size_t name_size;
    const uint8_t *const *pieces;
    const uint8_t *sizes, *kinds;
    const int8_t *rows;
    const int16_t *coefficients;
};

/* Lays out a model file in out, which has *size bytes; with out NULL, only says in *size how many
 * it takes. */
enum rag_status rag_model_write(const struct rag_model_source *source, uint8_t *out, size_t *size,
                                struct rag_fault *fault);

#endif
