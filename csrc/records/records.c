/* records.c - the tables that map a row to its document and a stretch of it.
 *
 *   rag.chunks     32 bytes a row, rows ordered by (document id, chunk index)
 *     0 u32 document     4 u32 index        8 u32 start        12 u32 size
 *     16 u32 char start  20 u32 char size   24 u64 meta
 *   rag.documents  64 bytes a document, ordered by id
 *     0 u64 blob at      8 u32 text size    12 u32 blob size   16 u64 meta at
 *     24 u32 meta size   28 u32 flags       32 u64 first row   40 u32 rows
 *     44 u32 text chars  48 zero
 *   rag.ids        their ids, as a list of strings
 *
 * A chunk's meta is at << 24 | size, into the metadata stream, as a document's is. Nothing is
 * validated beforehand but the sections' sizes: a record is checked when it is read, so that
 * opening a file of a hundred million rows costs nothing. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "ragfile/records.h"
#include "container/format.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static enum rag_status checked(const struct rag_guard *guard, uint64_t at, size_t size,
                               struct rag_fault *fault) {
    return rag_guard_check(guard, at, size, fault);
}

/* -------------------------------------------------------------------------------------- strings */

uint64_t rag_strings_offset(uint64_t i) { return STRINGS_OFFSETS + 8 * i; }

static bool strings_count(const struct rag_guard *guard, uint64_t *count) {
    if (guard->size < 16) return false;
    *count = load_u64(rag_guard_at(guard, 0));
    return *count <= (guard->size - 16) / 8;
}

/* The range of a string in its section, without reading the string. */
static enum rag_status place_string(const struct rag_guard *guard, uint64_t i, uint64_t *at,
                                    size_t *size, struct rag_fault *fault) {
    uint64_t count;
    enum rag_status status = guard->size < 16 ? RAG_OK : checked(guard, 0, 8, fault);
    if (status != RAG_OK) return status;
    if (!strings_count(guard, &count) || i >= count)
        return rag_fail(fault, RAG_CORRUPT, i, "no such string");
    const uint64_t base = rag_strings_offset(count + 1), entry = rag_strings_offset(i);
    status = checked(guard, entry, 16, fault);
    if (status != RAG_OK) return status;
    const uint8_t *ends = rag_guard_at(guard, entry);
    const uint64_t from = load_u64(ends), to = load_u64(ends + 8);
    if (from > to || to > guard->size - base)
        return rag_fail(fault, RAG_CORRUPT, entry, "a string lies outside its section");
    *at = base + from;
    *size = to - from;
    return RAG_OK;
}

static const uint8_t nothing[1]; /* where an empty string is */

static enum rag_status strings_get(const struct rag_guard *guard, uint64_t i, const uint8_t **bytes,
                                   size_t *size, struct rag_fault *fault) {
    uint64_t at;
    enum rag_status status = place_string(guard, i, &at, size, fault);
    if (status != RAG_OK) return status;
    status = checked(guard, at, *size, fault);
    *bytes = status == RAG_OK && *size > 0 ? rag_guard_at(guard, at) : nothing;
    return status;
}

/* -------------------------------------------------------------------------------------- records */

enum rag_status rag_records_open(struct rag_records *r, struct rag_fault *fault) {
    uint64_t ids = 0;
    enum rag_status status = checked(&r->ids, 0, r->ids.size < 8 ? r->ids.size : 8, fault);
    if (status != RAG_OK) return status;
    r->rows = r->chunks.size / RAG_CHUNK_SIZE;
    r->count = r->documents.size / RAG_DOCUMENT_SIZE;
    if (r->chunks.size % RAG_CHUNK_SIZE != 0)
        return rag_fail(fault, RAG_FORMAT, r->chunks.size, "half a chunk record");
    if (r->documents.size % RAG_DOCUMENT_SIZE != 0)
        return rag_fail(fault, RAG_FORMAT, r->documents.size, "half a document record");
    if (!strings_count(&r->ids, &ids) || ids != r->count)
        return rag_fail(fault, RAG_FORMAT, ids, "as many ids as documents are needed");
    return RAG_OK;
}

enum rag_status rag_records_chunk(const struct rag_records *r, uint64_t row,
                                  struct rag_chunk *chunk, struct rag_fault *fault) {
    if (row >= r->rows) return rag_fail(fault, RAG_ARGUMENT, row, "no such row");
    const uint64_t at = row * RAG_CHUNK_SIZE;
    enum rag_status status = checked(&r->chunks, at, RAG_CHUNK_SIZE, fault);
    if (status != RAG_OK) return status;
    const uint8_t *c = rag_guard_at(&r->chunks, at);
    const uint64_t meta = load_u64(c + CHUNK_META);
    *chunk = (struct rag_chunk){
        load_u32(c + CHUNK_DOCUMENT), load_u32(c + CHUNK_INDEX),
        load_u32(c + CHUNK_START),    load_u32(c + CHUNK_BYTES),
        load_u32(c + CHUNK_CHAR),     load_u32(c + CHUNK_CHARS),
        meta >> META_SIZE_BITS,       (uint32_t)(meta & ((1u << META_SIZE_BITS) - 1))};
    if (chunk->document >= r->count)
        return rag_fail(fault, RAG_CORRUPT, at, "a chunk of a document that is not there");
    return RAG_OK;
}

enum rag_status rag_records_place(const struct rag_records *r, uint64_t i, struct rag_document *d,
                                  uint64_t *id_at, struct rag_fault *fault) {
    if (i >= r->count) return rag_fail(fault, RAG_ARGUMENT, i, "no such document");
    const uint64_t at = i * RAG_DOCUMENT_SIZE;
    size_t id_size;
    enum rag_status status = checked(&r->documents, at, RAG_DOCUMENT_SIZE, fault);
    if (status == RAG_OK) status = place_string(&r->ids, i, id_at, &id_size, fault);
    if (status != RAG_OK) return status;
    d->id = NULL;
    const uint8_t *b = rag_guard_at(&r->documents, at);
    d->id_size = (uint32_t)id_size;
    d->blob_at = load_u64(b + DOCUMENT_BLOB);
    d->text_size = load_u32(b + DOCUMENT_TEXT_BYTES);
    d->blob_size = load_u32(b + DOCUMENT_BLOB_BYTES);
    d->meta_at = load_u64(b + DOCUMENT_META);
    d->meta_size = load_u32(b + DOCUMENT_META_BYTES);
    d->has_text = load_u32(b + DOCUMENT_FLAGS) & DOCUMENT_HAS_TEXT;
    d->first_row = load_u64(b + DOCUMENT_ROW);
    d->rows = load_u32(b + DOCUMENT_ROWS);
    d->text_chars = load_u32(b + DOCUMENT_CHARS);
    if ((load_u32(b + DOCUMENT_FLAGS) & ~(uint32_t)DOCUMENT_HAS_TEXT) != 0 ||
        (load_u64(b + DOCUMENT_ZERO) | load_u64(b + DOCUMENT_ZERO + 8)) != 0)
        return rag_fail(fault, RAG_FORMAT, at, "a document's record has bits of a newer version");
    /* unreached: takes an id of 4 GiB */
    if (d->text_size > d->blob_size || d->blob_at >> 63 || id_size > UINT32_MAX ||
        d->rows > r->rows || d->first_row > r->rows - d->rows)
        return rag_fail(fault, RAG_CORRUPT, at, "a document's record does not add up");
    return RAG_OK;
}

static enum rag_status id_of(const struct rag_records *r, uint64_t id_at, struct rag_document *d,
                             struct rag_fault *fault) {
    const enum rag_status status = checked(&r->ids, id_at, d->id_size, fault);
    d->id = status == RAG_OK && d->id_size > 0 ? rag_guard_at(&r->ids, id_at) : nothing;
    return status;
}

enum rag_status rag_records_document(const struct rag_records *r, uint64_t i,
                                     struct rag_document *d, struct rag_fault *fault) {
    uint64_t id_at;
    const enum rag_status status = rag_records_place(r, i, d, &id_at, fault);
    if (status == RAG_OK) return id_of(r, id_at, d, fault);
    return status;
}

static int compare_ids(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    const size_t both = a_size < b_size ? a_size : b_size;
    const int order = both ? memcmp(a, b, both) : 0;
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

enum rag_status rag_records_find(const struct rag_records *r, const uint8_t *id, size_t size,
                                 uint64_t *i, struct rag_fault *fault) {
    uint64_t low = 0, high = r->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint8_t *there;
        size_t there_size;
        enum rag_status status = strings_get(&r->ids, middle, &there, &there_size, fault);
        if (status != RAG_OK) return status;
        const int order = compare_ids(there, there_size, id, size);
        if (order == 0) {
            *i = middle;
            return RAG_OK;
        }
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    *i = r->count;
    return RAG_OK;
}

enum rag_status rag_records_row(const struct rag_records *r, uint64_t document, uint32_t index,
                                uint64_t *row, struct rag_fault *fault) {
    struct rag_document d = {0};
    struct rag_chunk c = {0};
    enum rag_status status = rag_records_document(r, document, &d, fault);
    uint64_t low = d.first_row, high = d.first_row + d.rows;
    *row = r->rows;
    while (status == RAG_OK && low < high) {
        const uint64_t middle = low + (high - low) / 2;
        status = rag_records_chunk(r, middle, &c, fault);
        if (status == RAG_OK && c.index == index) {
            *row = middle;
            return RAG_OK;
        }
        if (c.index < index) low = middle + 1;
        else high = middle;
    }
    return status;
}

void rag_chunk_store(uint8_t *out, const struct rag_chunk *c) {
    store_u32(out + CHUNK_DOCUMENT, c->document);
    store_u32(out + CHUNK_INDEX, c->index);
    store_u32(out + CHUNK_START, c->start);
    store_u32(out + CHUNK_BYTES, c->size);
    store_u32(out + CHUNK_CHAR, c->char_start);
    store_u32(out + CHUNK_CHARS, c->char_size);
    store_u64(out + CHUNK_META, c->meta_at << META_SIZE_BITS | c->meta_size);
}

void rag_document_store(uint8_t *out, const struct rag_document *d) {
    memset(out, 0, RAG_DOCUMENT_SIZE);
    store_u64(out + DOCUMENT_BLOB, d->blob_at);
    store_u32(out + DOCUMENT_TEXT_BYTES, d->text_size);
    store_u32(out + DOCUMENT_BLOB_BYTES, d->blob_size);
    store_u64(out + DOCUMENT_META, d->meta_at);
    store_u32(out + DOCUMENT_META_BYTES, d->meta_size);
    store_u32(out + DOCUMENT_FLAGS, d->has_text ? DOCUMENT_HAS_TEXT : 0);
    store_u64(out + DOCUMENT_ROW, d->first_row);
    store_u32(out + DOCUMENT_ROWS, d->rows);
    store_u32(out + DOCUMENT_CHARS, d->text_chars);
}

/* --------------------------------------------------------------------------------------- sample */

struct hashed {
    uint64_t hash, row;
};

/* A heap with the largest (hash, row) on top. */
#define HEAP_ITEM struct hashed
#define HEAP_CONTEXT void *
#define HEAP_ABOVE(context, a, b) ((a).hash != (b).hash ? (a).hash > (b).hash : (a).row > (b).row)
#include "shared/heap.h"

/* Ids are a few kilobytes at most in ordinary files; longer ones are hashed on the heap. */
static enum rag_status chunk_hash(const struct rag_document *d, uint32_t index, uint64_t *hash,
                                  struct rag_fault *fault) {
    uint8_t small[512], *key = small;
    if (d->id_size + 4 > sizeof small) key = malloc((size_t)d->id_size + 4);
    if (!key) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    memcpy(key, d->id, d->id_size);
    store_u32(key + d->id_size, index);
    *hash = rag_hash(key, (size_t)d->id_size + 4);
    if (key != small) free(key);
    return RAG_OK;
}

/* Finds the k live rows with the smallest hashes, as a heap with the largest on top. */
static enum rag_status sample(const struct rag_records *r, const uint64_t *live,
                              struct hashed *heap, size_t k, size_t *found,
                              struct rag_fault *fault) {
    struct rag_document d = {0};
    uint32_t document = UINT32_MAX;
    for (uint64_t row = 0; k > 0 && row < r->rows; row++) {
        struct rag_chunk c;
        struct hashed here = {.row = row};
        if (live && !(live[row / 64] >> row % 64 & 1)) continue;
        enum rag_status status = rag_records_chunk(r, row, &c, fault);
        if (status == RAG_OK && c.document != document)
            status = rag_records_document(r, document = c.document, &d, fault);
        if (status == RAG_OK) status = chunk_hash(&d, c.index, &here.hash, fault);
        if (status != RAG_OK) return status;
        *found = heap_offer(NULL, heap, *found, k, here);
    }
    return RAG_OK;
}

enum rag_status rag_records_sample(const struct rag_records *r, const uint64_t *live,
                                   uint64_t *hashes, uint64_t *rows, size_t k, size_t *found,
                                   struct rag_fault *fault) {
    struct hashed *heap = calloc(k ? k : 1, sizeof *heap);
    *found = 0;
    if (!heap) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a sample");
    const enum rag_status status = sample(r, live, heap, k, found, fault);
    if (status == RAG_OK) heap_sort(NULL, heap, *found);
    for (size_t i = 0; i < *found; i++) hashes[i] = heap[i].hash, rows[i] = heap[i].row;
    free(heap);
    return status;
}
