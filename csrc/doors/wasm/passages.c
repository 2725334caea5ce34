/* passages.c - read rows: chunk and document records, ids, and unpacked stretches of the text and
 * metadata streams. */
#include <stdlib.h>
#include <string.h>

#include "doors/wasm/wasm.h"
#include "ragfile/fusion.h"
#include "shared/fail.h"

enum { UNPACKED_MOST = 4 << 20 };

/* ------------------------------------------------------------------------------------- unpacked */

/* The most recently unpacked blocks: texts shown together often share them. */
struct unpacked {
    const struct rag_stream *stream;
    uint64_t block, used;
    uint8_t *bytes;
    size_t size;
};
enum { UNPACKED_COUNT = 32 };
static struct unpacked unpacked[UNPACKED_COUNT];
static uint64_t uses;

static struct unpacked *find_unpacked(const struct rag_stream *stream, uint64_t block) {
    for (size_t i = 0; i < UNPACKED_COUNT; i++)
        if (unpacked[i].bytes && unpacked[i].stream == stream && unpacked[i].block == block) {
            unpacked[i].used = ++uses;
            return &unpacked[i];
        }
    return NULL;
}

/* Return the least recently used slot; free further slots while all of them take too much
 * memory. */
static struct unpacked *free_place(size_t size) {
    struct unpacked *oldest = NULL;
    for (size_t total = UNPACKED_MOST + 1; total > UNPACKED_MOST;) {
        oldest = &unpacked[0];
        total = size;
        for (size_t i = 0; i < UNPACKED_COUNT; i++) {
            total += unpacked[i].size;
            const bool better =
                oldest->bytes && (!unpacked[i].bytes || unpacked[i].used < oldest->used);
            if (better) oldest = &unpacked[i];
        }
        if (!oldest->bytes) break;
        total -= oldest->size;
        free(oldest->bytes);
        *oldest = (struct unpacked){0};
    }
    return oldest;
}

static enum rag_status block_of(const struct rag_stream *stream, uint64_t i, const uint8_t **bytes,
                                size_t *size) {
    struct rag_block block;
    const struct unpacked *known = find_unpacked(stream, i);
    if (known) {
        *bytes = known->bytes, *size = known->size;
        return RAG_OK;
    }
    enum rag_status status = rag_stream_block(stream, i, &block, &fault);
    *bytes = block.bytes, *size = block.raw_size;
    if (status != RAG_OK || !block.compressed) return status;
    struct unpacked *place = free_place(block.raw_size);
    uint8_t *out = malloc(block.raw_size + 1);
    if (!out) return rag_fail(&fault, RAG_MEMORY, 0, "no memory for a text");
    status = rag_stream_unpack(stream, &block, out, &fault);
    if (status != RAG_OK) free(out);
    else *place = (struct unpacked){stream, i, ++uses, out, block.raw_size};
    *bytes = out;
    return status;
}

static uint8_t *text;
static size_t text_room;

static enum rag_status make_room(size_t size) {
    if (size <= text_room) return RAG_OK;
    uint8_t *more = realloc(text, size + size / 2);
    if (!more) return rag_fail(&fault, RAG_MEMORY, size, "no memory for a text");
    text = more, text_room = size + size / 2;
    return RAG_OK;
}

/* Fetch the blocks of a stretch in one request. */
static enum rag_status bring(const struct rag_stream *stream, uint64_t first, uint64_t last) {
    enum rag_status status = RAG_OK;
    struct rag_block block;
    for (uint64_t i = first; i <= last; i++) {
        if (find_unpacked(stream, i)) continue;
        const enum rag_status one = rag_stream_block(stream, i, &block, &fault);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
    }
    return status;
}

static enum rag_status read_stream(const struct rag_stream *stream, uint64_t at, uint64_t size) {
    if (at > stream->raw_size || size > stream->raw_size - at)
        return rag_fail(&fault, RAG_CORRUPT, at, "a stretch after the end of its stream");
    if (size == 0) return make_room(1);
    const uint64_t first = at / stream->block_size, last = (at + size - 1) / stream->block_size;
    enum rag_status status = bring(stream, first, last);
    if (status == RAG_OK) status = make_room((size_t)size);
    uint64_t done = 0, from = at - first * stream->block_size;
    for (uint64_t i = first; status == RAG_OK && i <= last; i++, from = 0) {
        const uint8_t *bytes;
        size_t block;
        status = block_of(stream, i, &bytes, &block);
        const uint64_t left = size - done, part = block - from < left ? block - from : left;
        if (status == RAG_OK) memcpy(text + done, bytes + from, (size_t)part);
        done += part;
    }
    return status;
}

enum rag_status segment_metadata(struct segment *segment, uint64_t at, uint64_t size,
                                 const uint8_t **bytes) {
    const enum rag_status status = read_stream(&segment->meta, at, size);
    *bytes = text;
    return status;
}

/* Read bytes [at, at + size) of a segment's texts, or of its metadata; *bytes is valid until the
 * next call. */
EXPORT(stream_read)
int stream_read(uint32_t segment, int is_meta, double at, double size, const uint8_t **bytes) {
    struct segment *one = &file.segments[segment];
    enum rag_status status = segment_streams(one);
    if (status == RAG_OK)
        status = read_stream(is_meta ? &one->meta : &one->texts, (uint64_t)at, (uint64_t)size);
    *bytes = text;
    return (int)status;
}

/* ------------------------------------------------------------------------------------- records */

/* out: document, index, start, size, char start (-1 for none), char size, meta at, meta size. */
EXPORT(record_chunk) int record_chunk(uint32_t segment, double row, double *out) {
    struct rag_chunk c;
    enum rag_status status = segment_records(&file.segments[segment]);
    if (status == RAG_OK)
        status = rag_records_chunk(&file.segments[segment].records, (uint64_t)row, &c, &fault);
    if (status != RAG_OK) return (int)status;
    const double told[] = {c.document,
                           c.index,
                           c.start,
                           c.size,
                           c.char_start == RAG_NO_SPAN ? -1 : (double)c.char_start,
                           c.char_size,
                           (double)c.meta_at,
                           c.meta_size};
    memcpy(out, told, sizeof told);
    return RAG_OK;
}

/* out: id and its size, blob at, text size, blob size, text characters, has text, meta at, meta
 * size, first row, rows. */
EXPORT(record_document) int record_document(uint32_t segment, double number, double *out) {
    struct rag_document d;
    enum rag_status status = segment_records(&file.segments[segment]);
    if (status == RAG_OK)
        status =
            rag_records_document(&file.segments[segment].records, (uint64_t)number, &d, &fault);
    if (status != RAG_OK) return (int)status;
    const double told[] = {(double)(uintptr_t)d.id,
                           d.id_size,
                           (double)d.blob_at,
                           d.text_size,
                           d.blob_size,
                           d.text_chars,
                           d.has_text,
                           (double)d.meta_at,
                           d.meta_size,
                           (double)d.first_row,
                           d.rows};
    memcpy(out, told, sizeof told);
    return RAG_OK;
}

EXPORT(record_count) double record_count(uint32_t segment) {
    return (double)file.segments[segment].records.count;
}

/* Return the number of the document with an id, or -1. */
EXPORT(record_find)
int record_find(uint32_t segment, const uint8_t *id, size_t size, double *number) {
    uint64_t i = 0;
    struct segment *one = &file.segments[segment];
    enum rag_status status = segment_records(one);
    if (status == RAG_OK) status = rag_records_find(&one->records, id, size, &i, &fault);
    *number = status == RAG_OK && i < one->records.count ? (double)i : -1;
    return (int)status;
}

/* Return the row of a document's chunk, or -1. */
EXPORT(record_row) int record_row(uint32_t segment, double document, double index, double *row) {
    uint64_t i = 0;
    struct segment *one = &file.segments[segment];
    enum rag_status status = segment_records(one);
    if (status == RAG_OK)
        status = rag_records_row(&one->records, (uint64_t)document, (uint32_t)index, &i, &fault);
    *row = status == RAG_OK && i < one->records.rows ? (double)i : -1;
    return (int)status;
}

/* ---------------------------------------------------------------------------------------- plans */

/* Fetch a row's document, its id and its blocks of the streams. */
static enum rag_status bring_document(const struct segment *segment, uint64_t row) {
    const struct rag_records *records = &segment->records;
    struct rag_chunk c;
    struct rag_document d;
    uint64_t id_at;
    enum rag_status status = rag_records_chunk(records, row, &c, &fault);
    if (status == RAG_OK) status = rag_records_place(records, c.document, &d, &id_at, &fault);
    if (status != RAG_OK) return status;
    struct rag_block block;
    const uint64_t texts = segment->texts.block_size, metas = segment->meta.block_size;
    enum rag_status each = RAG_OK;
    if (c.size)
        each = rag_stream_place(&segment->texts, (d.blob_at + c.start) / texts, &block, &fault);
    if (each != RAG_OK) status = each;
    if (d.meta_size) each = rag_stream_place(&segment->meta, d.meta_at / metas, &block, &fault);
    if (each != RAG_OK) status = each;
    if (c.meta_size) each = rag_stream_place(&segment->meta, c.meta_at / metas, &block, &fault);
    return each != RAG_OK ? each : status;
}

static enum rag_status bring_contents(const struct segment *segment, uint64_t row) {
    const struct rag_records *records = &segment->records;
    struct rag_chunk c;
    struct rag_document d;
    uint64_t id_at;
    enum rag_status status = rag_records_chunk(records, row, &c, &fault);
    if (status == RAG_OK) status = rag_records_place(records, c.document, &d, &id_at, &fault);
    if (status != RAG_OK) return status;
    const struct rag_stream *const streams[] = {&segment->texts, &segment->meta, &segment->meta};
    const uint64_t at[] = {d.blob_at + c.start, d.meta_at, c.meta_at};
    const uint32_t size[] = {c.size, d.meta_size, c.meta_size};
    if (d.id_size) status = rag_guard_check(&records->ids, id_at, d.id_size, &fault);
    for (int i = 0; i < 3; i++) {
        const struct rag_stream *s = streams[i];
        if (size[i] == 0 || at[i] > s->raw_size || size[i] > s->raw_size - at[i]) continue;
        const enum rag_status one =
            bring(s, at[i] / s->block_size, (at[i] + size[i] - 1) / s->block_size);
        if (one != RAG_OK) status = one;
    }
    return status;
}

/* Fetch all parts of the passages of rows in three requests: records with the streams' ends,
 * documents with id offsets and the streams' tables, ids with texts and metadata. */
EXPORT(passages_ready) int passages_ready(const int64_t *rows, size_t count) {
    for (int round = 0; round < 2; round++) {
        enum rag_status status = RAG_OK;
        for (size_t i = 0; i < count; i++) {
            struct segment *segment = segment_of((uint64_t)rows[i]);
            if (!segment) continue;
            const uint64_t row = (uint64_t)rows[i] - segment->base;
            const enum rag_status streams = segment_streams(segment);
            enum rag_status one = segment_records(segment);
            if (one == RAG_OK && streams != RAG_OK) {
                struct rag_chunk c;
                one = rag_records_chunk(&segment->records, row, &c, &fault);
                one = one == RAG_OK ? streams : one;
            } else if (one == RAG_OK)
                one = round == 0 ? bring_document(segment, row) : bring_contents(segment, row);
            if (one != RAG_OK && one != RAG_SOURCE) return (int)one;
            if (one != RAG_OK) status = one;
        }
        if (status != RAG_OK) return (int)status;
    }
    return RAG_OK;
}
