/* values.h - JSON values as bytes that compare as the values do: what columns are made of.
 *
 *   null 01   false 02   true 03
 *   number 04, the largest binary64 not above it as eight bytes that ascend, and what it exceeds
 *          that by as two: 1 and 1.0 are the same bytes, 2^53 + 1 and 2^53 are not
 *   text   05, its UTF-8 with 00 as 01 01 and 01 as 01 02, 00
 *   list   06, its elements, 00
 *   object 07, its members in order of their keys, each a text and a value, 00
 *
 * The order of these bytes is that of spec/parts/pipeline.md 6.4, and equal values are equal bytes.
 * No value is the beginning of another. */
#ifndef RAG_VALUES_H
#define RAG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VALUE_END = 0,
    VALUE_NULL = 1,
    VALUE_FALSE = 2,
    VALUE_TRUE = 3,
    VALUE_NUMBER = 4,
    VALUE_TEXT = 5,
    VALUE_LIST = 6,
    VALUE_OBJECT = 7,
    NUMBER_SIZE = 11, /* with its kind */
};

/* A number in two parts. */
struct rag_number {
    double floor;
    uint16_t rest;
};

struct rag_number rag_number_of_integer(int64_t integer);
struct rag_number rag_number_load(const uint8_t encoded[NUMBER_SIZE]);
void rag_number_store(uint8_t out[NUMBER_SIZE], struct rag_number number);

static inline int number_compare(struct rag_number a, struct rag_number b) {
    if (a.floor != b.floor) return a.floor < b.floor ? -1 : 1;
    return (a.rest > b.rest) - (a.rest < b.rest);
}

/* A growing byte buffer. `failed` means that memory ran out; later bytes are dropped. */
struct rag_buffer {
    uint8_t *bytes;
    size_t size, room;
    bool failed;
};
void rag_buffer_put(struct rag_buffer *buffer, const void *bytes, size_t size);
static inline void buffer_byte(struct rag_buffer *buffer, uint8_t byte) {
    rag_buffer_put(buffer, &byte, 1);
}

/* The bytes of a text inside its 05 and 00, and back; raw returns how many there are in out, which
 * has room for size, and can be where they are. */
void rag_text_escape(struct rag_buffer *out, const uint8_t *raw, size_t size);
size_t rag_text_raw(uint8_t *out, const uint8_t *escaped, size_t size);

/* The size of the value at `at`, or 0 if no complete value ends before `end`. */
size_t rag_value_size(const uint8_t *at, const uint8_t *end);

#endif
