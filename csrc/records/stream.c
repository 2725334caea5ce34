/* stream.c - streams of blocks (texts, metadata) and the pair layout of vectors in 1.0 files.
 *
 *  A stream section:   block 0 | block 1 | … | zero to 8 | table | trailer
 *    table    one u64 a block: where it ends in the section; bit 63 set when it is a zstd frame
 *    trailer  0  "RAGBLK01"       8  u64 raw size             16  u64 raw size of a block (the last
 *             24 u64 blocks       32 u64 offset of the table  40  zero        can be shorter)
 *
 * The table is after the blocks so that a writer can stream.
 *
 * Opening checks the trailer alone: the sizes must add up, and a block has at most 16 MiB. Each
 * block is checked when it is read: it ends before the table, plain bytes have the right size,
 * and packed ones unpack to at most 1000 times theirs, so a small file cannot ask for much memory.
 *
 * The vectors of a 1.0 file are 0.1.0 pairs of a constant stride, so old readers find them: the
 * head is a 0.1.0 preamble and extension, and each row is its components, '-', "c" with ten digits
 * of its number, and four NULs. rag_vector_open compares the head with the one it would write and
 * accepts no other. */
#include <string.h>

#include "ragfile/compression.h"
#include "ragfile/matrix.h"
#include "ragfile/streams.h"
#include "container/format.h"
#include "shared/bytes.h"
#include "shared/fail.h"

#define BLOCK_RAW_MAX ((uint64_t)16 << 20)
#define RATIO_MAX 1000

/* The table has one u64 per block, so that a writer can append it as soon as the block is
 * written. */
void rag_stream_end(uint8_t out[8], uint64_t end, bool compressed) {
    store_u64(out, end | (compressed ? STREAM_COMPRESSED : 0));
}

size_t rag_stream_gap(uint64_t end) { return (size_t)(align_up(end, STREAM_ALIGN) - end); }

void rag_stream_trailer(uint8_t out[RAG_STREAM_TRAILER], uint64_t raw_size, uint64_t block_size,
                        uint64_t blocks, uint64_t table_at) {
    memset(out, 0, RAG_STREAM_TRAILER);
    memcpy(out, STREAM_MAGIC, 8);
    store_u64(out + STREAM_RAW_SIZE, raw_size);
    store_u64(out + STREAM_BLOCK_SIZE, block_size);
    store_u64(out + STREAM_BLOCKS, blocks);
    store_u64(out + STREAM_TABLE_AT, table_at);
}

enum rag_status rag_stream_open(struct rag_stream *s, struct rag_fault *fault) {
    if (s->guard.size < RAG_STREAM_TRAILER)
        return rag_fail(fault, RAG_FORMAT, 0, "a stream without its trailer");
    const uint64_t at = s->guard.size - RAG_STREAM_TRAILER;
    enum rag_status status = rag_guard_check(&s->guard, at, RAG_STREAM_TRAILER, fault);
    if (status != RAG_OK) return status;
    const uint8_t *t = rag_guard_at(&s->guard, at);
    s->raw_size = load_u64(t + STREAM_RAW_SIZE);
    s->block_size = load_u64(t + STREAM_BLOCK_SIZE);
    s->blocks = load_u64(t + STREAM_BLOCKS);
    s->table_at = load_u64(t + STREAM_TABLE_AT);
    if (memcmp(t, STREAM_MAGIC, 8) != 0)
        return rag_fail(fault, RAG_FORMAT, at, "a stream without its trailer");
    for (size_t i = STREAM_ZERO; i < RAG_STREAM_TRAILER; i += 8)
        if (load_u64(t + i) != 0)
            return rag_fail(fault, RAG_FORMAT, at + i, "reserved bytes are not zero");
    if (s->block_size == 0 || s->block_size > BLOCK_RAW_MAX)
        return rag_fail(fault, RAG_LIMIT, at + STREAM_BLOCK_SIZE, "a block of more than 16 MiB");
    if (s->table_at > at || s->table_at % STREAM_ALIGN != 0 || at - s->table_at != 8 * s->blocks ||
        (at - s->table_at) / 8 != s->blocks)
        return rag_fail(fault, RAG_FORMAT, at + STREAM_BLOCKS, "a stream's table does not add up");
    if (s->raw_size / s->block_size + (s->raw_size % s->block_size != 0) != s->blocks)
        return rag_fail(fault, RAG_FORMAT, at + STREAM_RAW_SIZE, "a stream's size does not add up");
    return RAG_OK;
}

enum rag_status rag_stream_place(const struct rag_stream *s, uint64_t i, struct rag_block *block,
                                 struct rag_fault *fault) {
    if (i >= s->blocks)
        return rag_fail(fault, RAG_CORRUPT, i, "a stretch after the end of its stream");
    const uint64_t entry = s->table_at + 8 * i, before = i ? 8 : 0;
    enum rag_status status = rag_guard_check(&s->guard, entry - before, 8 + before, fault);
    if (status != RAG_OK) return status;
    const uint8_t *ends = rag_guard_at(&s->guard, entry - before);
    const uint64_t from = i ? load_u64(ends) & ~STREAM_COMPRESSED : 0,
                   mark = load_u64(ends + before);
    const uint64_t to = mark & ~STREAM_COMPRESSED, last = s->raw_size - i * s->block_size;
    if (from > to || to > s->table_at)
        return rag_fail(fault, RAG_CORRUPT, entry, "a block lies outside its stream");
    *block = (struct rag_block){NULL, from, (size_t)(to - from),
                                (size_t)(last < s->block_size ? last : s->block_size),
                                (mark & STREAM_COMPRESSED) != 0};
    if (!block->compressed && block->size != block->raw_size)
        return rag_fail(fault, RAG_CORRUPT, entry, "a plain block of the wrong size");
    if ((block->raw_size + RATIO_MAX - 1) / RATIO_MAX > block->size)
        return rag_fail(fault, RAG_LIMIT, entry, "a block packed more than 1000 to 1");
    return RAG_OK;
}

enum rag_status rag_stream_block(const struct rag_stream *s, uint64_t i, struct rag_block *block,
                                 struct rag_fault *fault) {
    enum rag_status status = rag_stream_place(s, i, block, fault);
    if (status == RAG_OK) status = rag_guard_check(&s->guard, block->at, block->size, fault);
    if (status == RAG_OK) block->bytes = rag_guard_at(&s->guard, block->at);
    return status;
}

enum rag_status rag_stream_unpack(const struct rag_stream *s, const struct rag_block *block,
                                  uint8_t *raw, struct rag_fault *fault) {
    enum rag_status status =
        rag_frame_decompress(block->bytes, block->size, raw, block->raw_size, fault);
    if (status == RAG_OK || !fault) return status;
    fault->at = block->at;
    memcpy(fault->section, s->guard.name, sizeof fault->section);
    return status;
}

/* ----------------------------------------------------------------------------- vectors as pairs */

enum { PREAMBLE = 18, PADDING = 4 };
#define EXTENSION_MAGIC "RXV1"

void rag_vector_head(uint8_t out[RAG_VECTOR_HEAD], uint64_t at, uint32_t dim, uint32_t bits,
                     uint64_t rows) {
    const uint64_t stride = (uint64_t)dim * bits / 8 + RAG_REFERENCE_SIZE,
                   start = at + RAG_VECTOR_HEAD;
    uint8_t *ext = out + PREAMBLE;
    memset(out, 0, RAG_VECTOR_HEAD);
    out[0] = (uint8_t)bits;
    store_u64(out + 1, start);
    store_u64(out + 9, rows ? start + rows * stride - PADDING - 1 : start - 1);
    out[17] = PADDING;
    memcpy(ext, EXTENSION_MAGIC, 4);
    store_u32(ext + 4, dim);
    store_u64(ext + 8, rows);
    store_u32(ext + 16, (uint32_t)stride);
}

void rag_vector_rows(uint8_t *out, const uint8_t *components, size_t row_size, uint64_t first,
                     size_t rows) {
    for (size_t i = 0; i < rows; i++) {
        uint64_t number = first + i;
        memcpy(out, components + i * row_size, row_size);
        out += row_size;
        *out++ = '-', *out++ = 'c';
        for (int digit = 9; digit >= 0; digit--, number /= 10)
            out[digit] = (uint8_t)('0' + number % 10);
        memset(out + 10, 0, PADDING);
        out += 10 + PADDING;
    }
}

enum rag_status rag_vector_open(const struct rag_guard *guard, uint64_t section_at,
                                struct rag_vectors *v, struct rag_fault *fault) {
    uint8_t head[RAG_VECTOR_HEAD];
    if (guard->size < RAG_VECTOR_HEAD)
        return rag_fail(fault, RAG_FORMAT, section_at, "a vector section without its head");
    enum rag_status status = rag_guard_check(guard, 0, RAG_VECTOR_HEAD, fault);
    if (status != RAG_OK) return status;
    const uint8_t *there = rag_guard_at(guard, 0);
    *v = (struct rag_vectors){load_u32(there + PREAMBLE + 4), there[0],
                              load_u64(there + PREAMBLE + 8), 0, RAG_VECTOR_HEAD};
    v->stride = (uint64_t)v->dim * v->bits / 8 + RAG_REFERENCE_SIZE;
    if (v->dim == 0 || v->dim > 65536 || (v->bits != 16 && v->bits != 32))
        return rag_fail(fault, RAG_LIMIT, section_at + PREAMBLE + 4,
                        "a dimension is 1 to 65,536, a component 16 or 32 bits");
    if (v->rows != (guard->size - RAG_VECTOR_HEAD) / v->stride ||
        (guard->size - RAG_VECTOR_HEAD) % v->stride != 0)
        return rag_fail(fault, RAG_FORMAT, section_at + PREAMBLE + 8,
                        "the vector section's size and count contradict each other");
    rag_vector_head(head, section_at, v->dim, v->bits, v->rows);
    if (memcmp(head, there, RAG_VECTOR_HEAD) != 0)
        return rag_fail(fault, RAG_FORMAT, section_at,
                        "the head of the vector section is not that of a 1.0 file");
    return RAG_OK;
}
