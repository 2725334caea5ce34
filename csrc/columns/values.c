/* values.c - the encoding of values.h. There is no recursion: nesting is counted. */
#include "ragfile/columns.h"
#include "columns/values.h"
#include "shared/array.h"
#include "shared/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* (double)integer is the nearest binary64. If it is above the integer, its predecessor is the
 * floor, and the difference is less than 2^11. */
struct rag_number rag_number_of_integer(int64_t integer) {
    double floor = (double)integer;
    if (floor >= 0x1p63 || (int64_t)floor > integer) floor = nextafter(floor, -INFINITY);
    const uint64_t rest = (uint64_t)integer - (uint64_t)(int64_t)floor;
    return (struct rag_number){floor, (uint16_t)rest};
}

static const uint64_t SIGN = (uint64_t)1 << 63;

void rag_number_store(uint8_t out[NUMBER_SIZE], struct rag_number number) {
    const double floor = number.floor == 0 ? 0 : number.floor; /* -0 is 0 */
    uint64_t bits;
    memcpy(&bits, &floor, sizeof bits);
    bits = bits & SIGN ? ~bits : bits | SIGN;
    out[0] = VALUE_NUMBER;
    store_u64(out + 1, __builtin_bswap64(bits));
    store_u16(out + 9, __builtin_bswap16(number.rest));
}

struct rag_number rag_number_load(const uint8_t encoded[NUMBER_SIZE]) {
    uint64_t bits = __builtin_bswap64(load_u64(encoded + 1));
    bits = bits & SIGN ? bits & ~SIGN : ~bits;
    struct rag_number number = {0, __builtin_bswap16(load_u16(encoded + 9))};
    memcpy(&number.floor, &bits, sizeof bits);
    return number;
}

size_t rag_value_integer(uint8_t *out, int64_t integer) {
    rag_number_store(out, rag_number_of_integer(integer));
    return NUMBER_SIZE;
}

size_t rag_value_number(uint8_t *out, double floor, uint16_t rest) {
    rag_number_store(out, (struct rag_number){floor, rest});
    return NUMBER_SIZE;
}

size_t rag_value_text(uint8_t *out, const uint8_t *raw, size_t size) {
    size_t count = 0;
    out[count++] = VALUE_TEXT;
    for (size_t i = 0; i < size; i++) {
        if (raw[i] <= 1) out[count++] = 1;
        out[count++] = raw[i] <= 1 ? (uint8_t)(raw[i] + 1) : raw[i];
    }
    out[count++] = VALUE_END;
    return count;
}

void rag_buffer_put(struct rag_buffer *buffer, const void *bytes, size_t size) {
    if (buffer->failed || size == 0) return;
    if (!rag_grow(&buffer->bytes, &buffer->room, buffer->size + size, 1)) {
        buffer->failed = true;
        return;
    }
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void rag_text_escape(struct rag_buffer *out, const uint8_t *raw, size_t size) {
    size_t plain = 0;
    for (size_t i = 0; i < size; i++) {
        if (raw[i] > 1) continue;
        const uint8_t escape[2] = {1, (uint8_t)(raw[i] + 1)};
        rag_buffer_put(out, raw + plain, i - plain);
        rag_buffer_put(out, escape, 2);
        plain = i + 1;
    }
    rag_buffer_put(out, raw + plain, size - plain);
}

size_t rag_text_raw(uint8_t *out, const uint8_t *escaped, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        out[count++] = escaped[i] == 1 && i + 1 < size ? (uint8_t)(escaped[++i] - 1) : escaped[i];
    return count;
}

/* Bytes of what begins here: a list's or an object's first, and the last of either, count alone. */
static size_t token_size(const uint8_t *at, const uint8_t *end) {
    const size_t left = (size_t)(end - at);
    if (left == 0 || *at > VALUE_OBJECT) return 0;
    if (*at == VALUE_NUMBER) return left < NUMBER_SIZE ? 0 : NUMBER_SIZE;
    if (*at != VALUE_TEXT) return 1;
    const uint8_t *last = memchr(at, 0, left);
    return last ? (size_t)(last - at) + 1 : 0;
}

size_t rag_value_size(const uint8_t *at, const uint8_t *end) {
    const uint8_t *first = at;
    size_t open = 0, size;
    do {
        size = token_size(at, end);
        if (size == 0 || (*at == VALUE_END && open == 0)) return 0;
        open += *at == VALUE_LIST || *at == VALUE_OBJECT;
        open -= *at == VALUE_END;
        at += size;
    } while (open > 0);
    return (size_t)(at - first);
}
