/* frames.c - libFuzzer target: any bytes as a compressed block, and any bytes compressed.
 *
 * The buffers have exactly the sizes of their contents, so that a sanitizer sees an access by one
 * byte too many. The target also asserts that frames give back their content, that a wrong
 * size is refused, and that a refused frame does not spoil the next one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "ragfile/compression.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

enum { LARGEST = 1 << 20 };

static enum rag_status read_frame(const uint8_t *frame, size_t size, const uint8_t *expected,
                                  size_t raw_size) {
    struct rag_fault fault;
    uint8_t *raw = malloc(raw_size);
    MUST(raw || raw_size == 0);
    const enum rag_status status = rag_frame_decompress(frame, size, raw, raw_size, &fault);
    MUST(status == RAG_OK || (status == RAG_CORRUPT && fault.status == status && fault.what));
    if (status == RAG_OK && expected && raw_size) MUST(memcmp(raw, expected, raw_size) == 0);
    free(raw);
    return status;
}

static void read_any(const uint8_t *frame, size_t size) {
    const unsigned long long stated = ZSTD_getFrameContentSize(frame, size);
    if (stated <= LARGEST) read_frame(frame, size, NULL, (size_t)stated);
    if (stated != size) MUST(read_frame(frame, size, NULL, size) == RAG_CORRUPT);
}

static void write_and_read(const uint8_t *raw, size_t size, int level) {
    struct rag_compressor *compressor = NULL;
    struct rag_fault fault;
    size_t made = 0;
    const size_t room = rag_frame_bound(size);
    uint8_t *frame = malloc(room);
    MUST(frame && rag_compressor_open(level, &compressor, &fault) == RAG_OK);
    MUST(rag_frame_compress(compressor, raw, size, frame, room, &made, &fault) == RAG_OK);
    MUST(made <= room && read_frame(frame, made, raw, size) == RAG_OK);
    MUST(read_frame(frame, made, NULL, size + 1) == RAG_CORRUPT);
    MUST(read_frame(frame, made - 1, NULL, size) == RAG_CORRUPT);
    rag_compressor_close(compressor);
    free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *input = malloc(size + (size == 0));
    MUST(input);
    if (size) memcpy(input, data, size);
    read_any(input, size);
    write_and_read(input, size, RAG_LEVEL_FAST);
    write_and_read(input, size, RAG_LEVEL_DENSE);
    free(input);
    return 0;
}
