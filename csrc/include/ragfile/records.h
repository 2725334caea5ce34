/* records.h - documents and chunks of a segment, and the ids of a segment that is being written. */
#ifndef RAGFILE_RECORDS_H
#define RAGFILE_RECORDS_H

#include "ragfile/section.h"

/* The record sections of a segment. Bytes are checked when they are used. Any number of threads. */
struct rag_records {
    struct rag_guard chunks, documents, ids;
    uint64_t rows, count; /* chunks, documents */
};

struct rag_document {
    const uint8_t *id;
    uint32_t id_size;
    uint64_t blob_at; /* in the text stream */
    uint32_t text_size,
        blob_size; /* bytes of the document's own text, and of that plus the texts outside it */
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

/* Checks that the sizes of the sections agree, and sets rows and count. */
enum rag_status rag_records_open(struct rag_records *records, struct rag_fault *fault);
enum rag_status rag_records_chunk(const struct rag_records *records, uint64_t row,
                                  struct rag_chunk *chunk, struct rag_fault *fault);
enum rag_status rag_records_document(const struct rag_records *records, uint64_t i,
                                     struct rag_document *document, struct rag_fault *fault);

/* Like rag_records_document, but does not read the id: *id_at is its offset in records->ids. */
enum rag_status rag_records_place(const struct rag_records *records, uint64_t i,
                                  struct rag_document *document, uint64_t *id_at,
                                  struct rag_fault *fault);

/* Finds the document with an id; *i is count if there is none. */
enum rag_status rag_records_find(const struct rag_records *records, const uint8_t *id, size_t size,
                                 uint64_t *i, struct rag_fault *fault);

/* Finds the row of a document's chunk; *row is rows if there is none. */
enum rag_status rag_records_row(const struct rag_records *records, uint64_t document,
                                uint32_t index, uint64_t *row, struct rag_fault *fault);

/* Finds the k live rows with the smallest hashes, a bottom-k sample. A row's hash is the xxh3-64
 * of its document id followed by the chunk index, little-endian. */
enum rag_status rag_records_sample(const struct rag_records *records, const uint64_t *live,
                                   uint64_t *hashes, uint64_t *rows, size_t k, size_t *found,
                                   struct rag_fault *fault);

void rag_chunk_store(uint8_t *out, const struct rag_chunk *chunk);
void rag_document_store(uint8_t *out, const struct rag_document *document);

/* A list of byte strings is stored as u64 count, count + 1 u64 offsets from the end of the
 * offsets, then the bytes, RAG_STRINGS_HEAD + 8 * count bytes after the start.
 * rag_strings_offset(i) is the position of the start of string i; the next eight bytes hold its
 * end. */
enum { RAG_STRINGS_HEAD = 16 };
uint64_t rag_strings_offset(uint64_t i);

/* The distinct ids of a segment that is being built, numbered from 0 in order of first use.
 * Needs a few bytes more than the ids themselves. One thread. */
struct rag_ids;
struct rag_ids *rag_ids_new(void); /* NULL if out of memory */
void rag_ids_free(struct rag_ids *ids);
uint32_t rag_ids_count(const struct rag_ids *ids);

/* Gets or assigns the number of an id; a new id gets rag_ids_count as its number. RAG_ARGUMENT
 * for an empty id. */
enum rag_status rag_ids_number(struct rag_ids *ids, const uint8_t *bytes, size_t size,
                               uint32_t *number, struct rag_fault *fault);
bool rag_ids_find(const struct rag_ids *ids, const uint8_t *bytes, size_t size, uint32_t *number);

/* The id of a number; valid until the next rag_ids_number. */
const uint8_t *rag_ids_at(const struct rag_ids *ids, uint32_t number, size_t *size);

/* Sorts the numbers by their ids' bytes. */
enum rag_status rag_ids_order(const struct rag_ids *ids, uint32_t *order, struct rag_fault *fault);

/* Writes the ids in the given order as a list of byte strings. */
enum rag_status rag_ids_write(const struct rag_ids *ids, const uint32_t *order, rag_write *write,
                              void *context, struct rag_fault *fault);

#endif
