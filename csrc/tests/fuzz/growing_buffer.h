/* growing_buffer.h - what a fuzz target writes, in a block of exactly its size, and MUST. */
#ifndef FUZZ_GROWING_BUFFER_H
#define FUZZ_GROWING_BUFFER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile/status.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

struct buffer {
    uint8_t *bytes;
    size_t size;
};

/* Append bytes to a struct buffer, as a rag_write. */
static enum rag_status append(void *context, const void *bytes, size_t size) {
    struct buffer *buffer = context;
    uint8_t *grown = realloc(buffer->bytes, buffer->size + size + 1);
    MUST(grown);
    if (size) memcpy(grown + buffer->size, bytes, size);
    buffer->bytes = grown;
    buffer->size += size;
    return RAG_OK;
}

#endif
