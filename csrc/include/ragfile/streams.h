/* streams.h - long byte strings that are stored in compressed blocks.
 *
 * A writer compresses blocks by compression.h; rag_stream_unpack decompresses them. */
#ifndef RAGFILE_STREAMS_H
#define RAGFILE_STREAMS_H

#include "ragfile/section.h"

/* A stream is cut into blocks of equal raw size, each compressed or not, followed by a table of
 * their ends. Reading a range touches only the blocks that contain it. */
enum { RAG_STREAM_TRAILER = 64 };

struct rag_stream {
    struct rag_guard guard;
    uint64_t raw_size, block_size, blocks, table_at;
};

struct rag_block {
    const uint8_t *bytes; /* NULL from rag_stream_place */
    uint64_t at;          /* in the section */
    size_t size, raw_size;
    bool compressed; /* a zstd frame that decompresses to exactly raw_size bytes; else raw bytes */
};

enum rag_status rag_stream_open(struct rag_stream *stream, struct rag_fault *fault);
enum rag_status rag_stream_block(const struct rag_stream *stream, uint64_t i,
                                 struct rag_block *block, struct rag_fault *fault);

/* Like rag_stream_block, but returns only the range of the block, without reading it. */
enum rag_status rag_stream_place(const struct rag_stream *stream, uint64_t i,
                                 struct rag_block *block, struct rag_fault *fault);

/* Decompress a compressed block from rag_stream_block to raw[block->raw_size]. */
enum rag_status rag_stream_unpack(const struct rag_stream *stream, const struct rag_block *block,
                                  uint8_t *raw, struct rag_fault *fault);

/* For writers. After the blocks: rag_stream_gap zeros, a table with one rag_stream_end per
 * block, and the trailer. */
size_t rag_stream_gap(uint64_t end);
void rag_stream_end(uint8_t out[8], uint64_t end, bool compressed);
void rag_stream_trailer(uint8_t out[RAG_STREAM_TRAILER], uint64_t raw_size, uint64_t block_size,
                        uint64_t blocks, uint64_t table_at);

#endif
