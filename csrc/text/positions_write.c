/* positions_write.c - the positions of words in the texts of rows, to the bytes of rag.positions
 * (positions.h).
 *
 * The caller passes the list of each term in the order of the dictionary, then those of stop words.
 * Lists stream out in blocks of 16 terms; all that precedes them is written at the end, so a caller
 * keeps the lists in a file of its own until then.
 *
 * The positions of a row are coded from the middle out: once the middle of t positions in [lo, hi)
 * is known, the first half is before it and the second after it. Each is one of hi - lo - t + 1
 * numbers, and takes the bits of that range (truncated binary code, the shorter codes in the
 * middle). This is within 2 % of the bits that a set of t numbers needs at least, and every code
 * decodes to ascending positions in range.
 *
 * A buffer that runs out of memory sets `failed`; each function tests once (RAG_MEMORY). */
#include "text/positions.h"

#include <stdlib.h>

#include "shared/fail.h"

bool rag_places_row(struct rag_places *places, uint32_t row) {
    if (!rag_grow(&places->rows, &places->row_capacity, places->count + 1, sizeof *places->rows) ||
        !rag_grow(&places->counts, &places->count_capacity, places->count + 1,
                  sizeof *places->counts))
        return false;
    places->rows[places->count] = row;
    places->counts[places->count++] = 0;
    return true;
}

bool rag_places_add(struct rag_places *places, uint32_t position) {
    if (!rag_grow(&places->positions, &places->capacity, places->total + 1,
                  sizeof *places->positions))
        return false;
    places->positions[places->total++] = position;
    places->counts[places->count - 1]++;
    return true;
}

void rag_places_free(struct rag_places *places) {
    free(places->rows);
    free(places->counts);
    free(places->positions);
    *places = (struct rag_places){0};
}

/* ----------------------------------------------------------------------------------------- bits */

struct bit_writer {
    struct rag_bm25_buffer *out;
    uint64_t word; /* its lowest `used` bits are waiting */
    unsigned used;
};

/* Append the lowest `width` (up to 32) bits of a value. */
static void put_bits(struct bit_writer *bits, uint64_t value, unsigned width) {
    bits->word = bits->word << width | value;
    for (bits->used += width; bits->used >= 8;) {
        bits->used -= 8;
        const uint8_t byte = (uint8_t)(bits->word >> bits->used);
        rag_bm25_buffer_put(bits->out, &byte, 1);
    }
}

static void end_byte(struct bit_writer *bits) {
    if (bits->used) put_bits(bits, 0, 8 - bits->used);
}

/* value >> rice zeros, a one, then the `rice` lowest bits. */
static void put_rice(struct bit_writer *bits, uint32_t value, unsigned rice) {
    for (uint32_t zeros = value >> rice; zeros;) {
        const unsigned some = zeros < 32 ? zeros : 32;
        put_bits(bits, 0, some);
        zeros -= some;
    }
    put_bits(bits, 1, 1);
    put_bits(bits, value & (((uint64_t)1 << rice) - 1), rice);
}

/* A value below `range`, in the bits of range - 1, or in one bit less for those in the middle. */
static void put_below(struct bit_writer *bits, uint32_t value, uint32_t range) {
    if (range < 2) return;
    const unsigned width = 32 - (unsigned)__builtin_clz(range - 1);
    const uint64_t shorter = ((uint64_t)1 << width) - range, low = (range - shorter) / 2;
    if (value >= low && value - low < shorter) put_bits(bits, value - low, width - 1);
    else put_bits(bits, value < low ? value + 2 * shorter : value + shorter, width);
}

static void put_positions(struct bit_writer *bits, const uint32_t *positions, uint32_t count,
                          uint32_t from, uint32_t to) {
    while (count) {
        const uint32_t half = count / 2, middle = positions[half];
        put_below(bits, middle - from - half, to - from - count + 1);
        put_positions(bits, positions, half, from, middle);
        positions += half + 1;
        count -= half + 1;
        from = middle + 1;
    }
}

/* ---------------------------------------------------------------------------------------- lists */

static void put_varint(struct rag_bm25_buffer *buffer, uint64_t value) {
    uint8_t bytes[LEX_VARINT_MAX];
    rag_bm25_buffer_put(buffer, bytes, rag_bm25_varint_put(bytes, value));
}

static uint8_t head_of(const struct rag_places *places) {
    const size_t mean = places->total / places->count;
    const unsigned rice = mean > 1 ? 63 - (unsigned)__builtin_clzll(mean) : 0;
    uint8_t head = rice < PLACE_RICE_MAX ? (uint8_t)rice : PLACE_RICE_MAX;
    for (size_t i = 0; i < places->count; i++)
        if (!places->counts[i]) return head | PLACE_CAN_LACK;
    return head;
}

/* Append the rows [first, end) as one group; return how many positions they have. */
static size_t put_group(const struct rag_places_writer *writer, struct rag_bm25_buffer *out,
                        const struct rag_places *places, size_t first, size_t end,
                        const uint32_t *positions, uint8_t head, bool has_rows) {
    struct bit_writer bits = {out, 0, 0};
    const unsigned rice = rag_places_gap_rice(writer->rows, places->count);
    for (size_t i = first + 1; has_rows && i < end; i++)
        put_rice(&bits, places->rows[i] - places->rows[i - 1] - 1, rice);
    const uint32_t *at = positions;
    for (size_t i = first; i < end; i++) {
        const uint32_t count = places->counts[i];
        put_rice(&bits, count - !(head & PLACE_CAN_LACK), head & 7);
        put_positions(&bits, at, count, 0, writer->words[places->rows[i]]);
        at += count;
    }
    end_byte(&bits);
    return (size_t)(at - positions);
}

/* Append a list to `out`; nothing if the word has no position. */
static void put_list(struct rag_places_writer *writer, struct rag_bm25_buffer *out,
                     const struct rag_places *places, bool has_rows) {
    if (!places->total) return;
    const uint8_t head = head_of(places);
    const uint32_t *positions = places->positions;
    uint32_t before = 0;
    writer->list.size = 0;
    rag_bm25_buffer_put(out, &head, 1);
    for (size_t i = 0; i < places->count; i += PLACE_GROUP) {
        const size_t end = places->count - i < PLACE_GROUP ? places->count : i + PLACE_GROUP;
        const size_t from = writer->list.size;
        positions += put_group(writer, &writer->list, places, i, end, positions, head, has_rows);
        if (has_rows) put_varint(out, places->rows[i] - before);
        before = places->rows[i];
        if (end < places->count) put_varint(out, writer->list.size - from);
    }
    rag_bm25_buffer_put(out, writer->list.bytes, writer->list.size);
    if (writer->list.failed) out->failed = true;
}

static enum rag_status put_out(struct rag_sink sink, const void *bytes, size_t size,
                               struct rag_fault *fault) {
    if (size && sink.write(sink.context, bytes, size) != 0)
        return rag_fail(fault, RAG_OS, 0, "writing a section failed");
    return RAG_OK;
}

static enum rag_status no_memory(struct rag_fault *fault) {
    return rag_fail(fault, RAG_MEMORY, 0, "no memory for the positions of a word");
}

static enum rag_status put_block(struct rag_places_writer *writer, struct rag_fault *fault) {
    if (writer->sizes.failed || writer->block.failed || writer->starts.failed)
        return no_memory(fault);
    enum rag_status status = put_out(writer->lists, writer->sizes.bytes, writer->sizes.size, fault);
    if (!status) status = put_out(writer->lists, writer->block.bytes, writer->block.size, fault);
    writer->at += writer->sizes.size + writer->block.size;
    writer->sizes.size = writer->block.size = 0;
    return status;
}

enum rag_status rag_places_writer_term(struct rag_places_writer *writer,
                                       const struct rag_places *places, struct rag_fault *fault) {
    if (writer->terms++ % LEX_BLOCK == 0) {
        const enum rag_status status = put_block(writer, fault);
        if (status) return status;
        uint8_t *start = rag_bm25_buffer_more(&writer->starts, 8);
        if (start) store_u64(start, writer->at);
    }
    const size_t before = writer->block.size;
    put_list(writer, &writer->block, places, false);
    put_varint(&writer->sizes, writer->block.size - before);
    return writer->block.failed || writer->sizes.failed ? no_memory(fault) : RAG_OK;
}

enum rag_status rag_places_writer_stop(struct rag_places_writer *writer, const uint8_t *word,
                                       size_t size, const struct rag_places *places,
                                       struct rag_fault *fault) {
    if (!places->total) return RAG_OK;
    enum rag_status status = put_block(writer, fault);
    if (status) return status;
    if (!writer->stops++) writer->stops_at = writer->at;
    put_list(writer, &writer->block, places, true);
    const uint8_t length = (uint8_t)size;
    rag_bm25_buffer_put(&writer->dictionary, &length, 1);
    rag_bm25_buffer_put(&writer->dictionary, word, size);
    put_varint(&writer->dictionary, places->count);
    put_varint(&writer->dictionary, writer->block.size);
    return put_block(writer, fault);
}

/* ---------------------------------------------------------------------------------- the section */

static void pad_to_8(struct rag_bm25_buffer *buffer) {
    const size_t size = (size_t)(-buffer->size & 7);
    uint8_t *at = rag_bm25_buffer_more(buffer, size);
    if (at) memset(at, 0, size);
}

static void put_words(struct rag_bm25_buffer *out, const struct rag_places_writer *writer,
                      uint32_t width) {
    for (uint64_t row = 0; row < writer->rows; row++) {
        uint8_t bytes[4];
        store_u32(bytes, writer->words[row]);
        rag_bm25_buffer_put(out, bytes, width);
    }
}

enum rag_status rag_places_writer_finish(struct rag_places_writer *writer, struct rag_sink front,
                                         struct rag_fault *fault) {
    static const uint8_t slack[PLACE_SLACK] = {0};
    struct rag_bm25_buffer out = {0};
    uint32_t most = 0;
    enum rag_status status = put_block(writer, fault);
    if (status) return status;
    if (!writer->stops) writer->stops_at = writer->at;
    for (uint64_t row = 0; row < writer->rows; row++)
        if (writer->words[row] > most) most = writer->words[row];
    const uint32_t width = most < 256 ? 1 : most < 65536 ? 2 : 4;
    uint8_t *at = rag_bm25_buffer_more(&out, PLACE_HEADER);
    if (!at) return no_memory(fault);
    memset(at, 0, PLACE_HEADER);
    memcpy(at, PLACE_MAGIC, 8);
    store_u64(at + PLACE_AT_ROWS, writer->rows);
    store_u64(at + PLACE_AT_TERMS, writer->terms);
    store_u64(at + PLACE_AT_LISTS_SIZE, writer->at);
    store_u64(at + PLACE_AT_STOPS_AT, writer->stops_at);
    store_u32(at + PLACE_AT_STOPS, writer->stops);
    store_u32(at + PLACE_AT_WIDTH, width);
    store_u64(at + PLACE_AT_DICTIONARY_SIZE, writer->dictionary.size);
    rag_bm25_buffer_put(&out, writer->starts.bytes, writer->starts.size);
    put_words(&out, writer, width);
    pad_to_8(&out);
    rag_bm25_buffer_put(&out, writer->dictionary.bytes, writer->dictionary.size);
    pad_to_8(&out);
    if (out.failed || writer->dictionary.failed) status = no_memory(fault);
    if (!status) status = put_out(front, out.bytes, out.size, fault);
    if (!status) status = put_out(writer->lists, slack, sizeof slack, fault);
    rag_bm25_buffer_free(&out);
    return status;
}

void rag_places_writer_free(struct rag_places_writer *writer) {
    rag_bm25_buffer_free(&writer->starts);
    rag_bm25_buffer_free(&writer->sizes);
    rag_bm25_buffer_free(&writer->block);
    rag_bm25_buffer_free(&writer->list);
    rag_bm25_buffer_free(&writer->dictionary);
}
