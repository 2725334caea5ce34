/* compression.h - Zstandard frames, which hold the compressed blocks of streams.
 *
 * The library links libzstd. The bytes of a frame depend on libzstd's version, so tools/pinned.py
 * pins it: the same text gives the same frame in every build. */
#ifndef RAGFILE_COMPRESSION_H
#define RAGFILE_COMPRESSION_H

#include "ragfile/status.h"

/* The levels that a compressor takes: one for blocks that are read often, and one for data that is
 * only kept. */
enum { RAG_LEVEL_FAST = 3, RAG_LEVEL_DENSE = 9 };

/* Compresses in one thread at a time; it holds about 1 MB of tables for blocks of 64 KiB. */
struct rag_compressor;

enum rag_status rag_compressor_open(int level, struct rag_compressor **compressor,
                                    struct rag_fault *fault);
void rag_compressor_close(struct rag_compressor *compressor); /* NULL is allowed */

/* The largest frame of `size` bytes. */
size_t rag_frame_bound(size_t size);

/* Write a frame that declares its content size and has no checksum, for sections have their own.
 * `room` must be at least rag_frame_bound(size). */
enum rag_status rag_frame_compress(struct rag_compressor *compressor, const uint8_t *raw,
                                   size_t size, uint8_t *frame, size_t room, size_t *frame_size,
                                   struct rag_fault *fault);

/* Write the content of one frame, without a dictionary, to raw[raw_size]. The frame must declare
 * exactly raw_size bytes, which bounds time and memory, and nothing may follow it. */
enum rag_status rag_frame_decompress(const uint8_t *frame, size_t frame_size, uint8_t *raw,
                                     size_t raw_size, struct rag_fault *fault);

#endif
