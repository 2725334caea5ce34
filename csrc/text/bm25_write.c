/* bm25_write.c - terms in order, with their rows, to the bytes of rag.terms and rag.postings
 * (bm25.h has the table).
 *
 * The builder calls rag_bm25_writer_term once for each term, in ascending order of their bytes,
 * with the rows of the term in ascending order. A term in one row is stored in the dictionary
 * alone. A term in up to LEX_SHORT rows gets a short list of varints. A term in more rows gets a
 * long list: each window of 65536 rows with a match becomes a container, and each row has an 8-bit
 * code that bounds its part of the score.
 *
 * Codes are rounded up, never down, because the search relies on them as upper bounds. m scales
 * them to the largest part of the list, so that a list of small parts uses the full range of codes
 * as well. Where the code does not determine the term frequency, an escape stores it.
 *
 * Lists stream out in pieces of 64 KiB and more. The list of one term is whole in memory until it
 * is written, and so is the dictionary, a few bytes a term, until rag_bm25_writer_finish writes it
 * with the header and the lengths. The dictionary can have almost 4 GiB (RAG_LIMIT above).
 *
 * A buffer that runs out of memory sets `failed`, so the put functions return nothing and the two
 * fallible functions test once (RAG_MEMORY). A sink that does not return 0 ends the work with
 * RAG_OS. The same terms and rows give the same bytes. */
#include <stdlib.h>

#include "shared/fail.h"
#include "text/bm25.h"

/* A container is dense from one row in DENSE on: about there, 8 bits plus 1.4 bytes of group data
 * beat 16 bits a row. */
enum { DENSE = 12, WRITE_CHUNK = 1 << 16 };

static enum rag_status put_out(struct rag_sink sink, const void *bytes, size_t size,
                               struct rag_fault *fault) {
    if (size && sink.write(sink.context, bytes, size) != 0)
        return rag_fail(fault, RAG_OS, 0, "writing a section failed");
    return RAG_OK;
}

static void put_u16(struct rag_bm25_buffer *buffer, uint32_t value) {
    uint8_t *at = rag_bm25_buffer_more(buffer, 2);
    if (at) store_u16(at, (uint16_t)value);
}

static void put_u32(struct rag_bm25_buffer *buffer, uint32_t value) {
    uint8_t *at = rag_bm25_buffer_more(buffer, 4);
    if (at) store_u32(at, value);
}

static void put_u64(struct rag_bm25_buffer *buffer, uint64_t value) {
    uint8_t *at = rag_bm25_buffer_more(buffer, 8);
    if (at) store_u64(at, value);
}

static void put_varint(struct rag_bm25_buffer *buffer, uint64_t value) {
    uint8_t bytes[LEX_VARINT_MAX];
    rag_bm25_buffer_put(buffer, bytes, rag_bm25_varint_put(bytes, value));
}

static void put_zeros(struct rag_bm25_buffer *buffer, size_t size) {
    uint8_t *at = rag_bm25_buffer_more(buffer, size);
    if (at) memset(at, 0, size);
}

/* ---------------------------------------------------------------------------------------- lists */

static void put_short(struct rag_bm25_writer *writer, const struct rag_bm25_posting *postings,
                      size_t df) {
    uint32_t before = 0;
    for (size_t i = 0; i < df; i++) {
        put_varint(&writer->list, (uint64_t)(postings[i].row - before) * 2 + (postings[i].tf > 1));
        if (postings[i].tf > 1) put_varint(&writer->list, postings[i].tf);
        before = postings[i].row;
    }
}

static double part_of(const struct rag_bm25_writer *writer, struct rag_bm25_posting posting,
                      uint32_t tf) {
    return rag_bm25_tf_part(tf, rag_bm25_norm_at(writer->norm, writer->lengths[posting.row]));
}

/* The largest tf part decides m: (m + 1) / 256 is the least such fraction that no part exceeds. */
static uint32_t list_m(const struct rag_bm25_writer *writer,
                       const struct rag_bm25_posting *postings, size_t df) {
    double largest = 0;
    for (size_t i = 0; i < df; i++) {
        const double part = part_of(writer, postings[i], postings[i].tf);
        if (part > largest) largest = part;
    }
    const double m = largest * 256.0;
    const uint32_t whole = (uint32_t)m, up = whole + ((double)whole < m);
    return up < 1 ? 0 : up > 256 ? 255 : up - 1;
}

/* True if the code determines the tf: no smaller tf has as large a code. */
static bool tells_tf(const struct rag_bm25_writer *writer, struct rag_bm25_posting posting,
                     uint32_t code, double scale) {
    if (posting.tf > 255) return false;
    return posting.tf == 1 || rag_bm25_code(part_of(writer, posting, posting.tf - 1), scale) < code;
}

/* Return the code that at least k rows reach, 0 if there are fewer rows. */
static uint8_t kth_code(const size_t counts[256], size_t k) {
    size_t seen = 0;
    for (int code = 255; code > 0; code--)
        if ((seen += counts[code]) >= k) return (uint8_t)code;
    return 0;
}

static void put_sparse(struct rag_bm25_buffer *list, const struct rag_bm25_posting *postings,
                       const uint8_t *codes, size_t count) {
    uint8_t *at = rag_bm25_buffer_more(list, 2 * count);
    for (size_t i = 0; at && i < count; i++)
        store_u16(at + 2 * i, (uint16_t)(postings[i].row % LEX_WINDOW));
    rag_bm25_buffer_put(list, codes, count);
}

static void put_dense(struct rag_bm25_buffer *list, const struct rag_bm25_posting *postings,
                      const uint8_t *codes, size_t count, size_t width) {
    const size_t groups = (width + LEX_GROUP - 1) / LEX_GROUP;
    uint8_t *bits = rag_bm25_buffer_more(list, groups * 11);
    if (!bits) return;
    uint8_t *ranks = bits + 8 * groups, *maxima = ranks + 2 * groups;
    memset(bits, 0, groups * 11);
    for (size_t i = 0, group = 0; group < groups; group++) {
        uint64_t word = 0;
        store_u16(ranks + 2 * group, (uint16_t)i);
        for (; i < count && postings[i].row % LEX_WINDOW / LEX_GROUP == group; i++) {
            word |= (uint64_t)1 << postings[i].row % LEX_GROUP;
            if (codes[i] > maxima[group]) maxima[group] = codes[i];
        }
        store_u64(bits + 8 * group, word);
    }
    rag_bm25_buffer_put(list, codes, count);
}

/* Write the rows of one window: directory entry at `entry` of the list, data at its end. */
static void put_container(struct rag_bm25_writer *writer, const struct rag_bm25_posting *postings,
                          const uint8_t *codes, size_t count, size_t entry, double scale) {
    const uint64_t first = postings[0].row / LEX_WINDOW * (uint64_t)LEX_WINDOW,
                   rest = writer->rows - first;
    const size_t width = rest < LEX_WINDOW ? (size_t)rest : LEX_WINDOW;
    const bool dense = count * DENSE >= width;
    uint32_t escapes = 0;
    uint8_t largest = 0;
    if (dense) put_dense(&writer->list, postings, codes, count, width);
    else put_sparse(&writer->list, postings, codes, count);
    for (size_t i = 0; i < count; i++) {
        if (codes[i] > largest) largest = codes[i];
        if (tells_tf(writer, postings[i], codes[i], scale)) continue;
        put_u16(&writer->list, (uint32_t)i);
        put_u32(&writer->list, postings[i].tf);
        escapes++;
    }
    if (writer->list.failed) return;
    uint8_t *at = writer->list.bytes + entry;
    store_u16(at, (uint16_t)(postings[0].row / LEX_WINDOW));
    store_u16(at + 2, (uint16_t)(count - 1));
    store_u32(at + 4, escapes * 2 + dense);
    at[7] = largest;
}

static size_t window_end(const struct rag_bm25_posting *postings, size_t df, size_t from) {
    const uint32_t window = postings[from].row / LEX_WINDOW;
    size_t low = from + 1, high = df - from > LEX_WINDOW ? from + LEX_WINDOW : df;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (postings[middle].row / LEX_WINDOW == window) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void put_long(struct rag_bm25_writer *writer, const struct rag_bm25_posting *postings,
                     size_t df) {
    const uint32_t m = list_m(writer, postings, df);
    const double scale = rag_bm25_scale(m);
    size_t counts[256] = {0}, containers = 0;
    writer->codes.size = 0;
    uint8_t *codes = rag_bm25_buffer_more(&writer->codes, df);
    for (size_t i = 0; codes && i < df; i++) {
        const uint32_t code = rag_bm25_code(part_of(writer, postings[i], postings[i].tf), scale);
        counts[codes[i] = (uint8_t)(code ? code : 1)]++;
    }
    for (size_t i = 0; i < df; i = window_end(postings, df, i)) containers++;
    const uint8_t head[4] = {(uint8_t)m, kth_code(counts, 10), kth_code(counts, 100), 0};
    rag_bm25_buffer_put(&writer->list, head, sizeof head);
    put_u32(&writer->list, (uint32_t)containers);
    size_t entry = writer->list.size;
    put_zeros(&writer->list, containers * LEX_CONTAINER);
    for (size_t i = 0; codes && !writer->list.failed && i < df; entry += LEX_CONTAINER) {
        const size_t end = window_end(postings, df, i);
        put_container(writer, postings + i, codes + i, end - i, entry, scale);
        i = end;
    }
}

/* ----------------------------------------------------------------------------------- dictionary */

static void start_block(struct rag_bm25_writer *writer, const uint8_t *term, size_t size) {
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++) key = key << 8 | (i < size ? term[i] : 0);
    put_u64(&writer->keys, key);
    put_u32(&writer->starts, (uint32_t)writer->dictionary.size);
    put_u64(&writer->dictionary, writer->postings_at);
    writer->last_size = 0;
}

static void put_term(struct rag_bm25_writer *writer, const uint8_t *term, size_t size) {
    size_t shared = 0;
    while (shared < size && shared < writer->last_size && term[shared] == writer->last[shared])
        shared++;
    const uint8_t sizes[2] = {(uint8_t)shared, (uint8_t)(size - shared)};
    rag_bm25_buffer_put(&writer->dictionary, sizes, 2);
    rag_bm25_buffer_put(&writer->dictionary, term + shared, size - shared);
    memcpy(writer->last, term, size);
    writer->last_size = size;
}

enum rag_status rag_bm25_writer_term(struct rag_bm25_writer *writer, const uint8_t *term,
                                     size_t size, const struct rag_bm25_posting *postings,
                                     size_t df, struct rag_fault *fault) {
    if (writer->terms++ % LEX_BLOCK == 0) start_block(writer, term, size);
    put_term(writer, term, size);
    put_varint(&writer->dictionary, df);
    writer->posting_count += df;
    if (df == 1) {
        put_varint(&writer->dictionary, postings[0].row);
        put_varint(&writer->dictionary, postings[0].tf);
    } else {
        const size_t before = writer->list.size;
        if (df <= LEX_SHORT) put_short(writer, postings, df);
        else put_long(writer, postings, df);
        put_varint(&writer->dictionary, writer->list.size - before);
        writer->postings_at += writer->list.size - before;
    }
    /* unreached: takes a dictionary of 4 GiB */
    if (writer->dictionary.size > UINT32_MAX - 4096)
        return rag_fail(fault, RAG_LIMIT, writer->terms, "the dictionary passes 4 GiB");
    if (writer->list.failed || writer->codes.failed || writer->dictionary.failed ||
        writer->keys.failed || writer->starts.failed)
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a posting list");
    if (writer->list.size < WRITE_CHUNK) return RAG_OK;
    const enum rag_status status =
        put_out(writer->postings, writer->list.bytes, writer->list.size, fault);
    writer->list.size = 0;
    return status;
}

/* --------------------------------------------------------------------------------- the sections */

static void pad_to_8(struct rag_bm25_buffer *buffer) {
    put_zeros(buffer, (size_t)(-buffer->size & 7));
}

struct lengths {
    uint64_t total;
    uint32_t shortest, longest, width;
};

static struct lengths measure(const struct rag_bm25_writer *writer) {
    struct lengths all = {0, writer->rows ? UINT32_MAX : 0, 0, 1};
    for (uint64_t row = 0; row < writer->rows; row++) {
        const uint32_t length = writer->lengths[row];
        all.total += length;
        if (length < all.shortest) all.shortest = length;
        if (length > all.longest) all.longest = length;
    }
    all.width = all.longest < 256 ? 1 : all.longest < 65536 ? 2 : 4;
    return all;
}

static void put_header(struct rag_bm25_buffer *out, const struct rag_bm25_writer *writer,
                       const struct lengths *lengths, double k1, double b, size_t config_size) {
    uint8_t *at = rag_bm25_buffer_more(out, LEX_HEADER);
    if (!at) return;
    memset(at, 0, LEX_HEADER);
    memcpy(at, LEX_MAGIC, 8);
    store_u64(at + LEX_AT_ROWS, writer->rows);
    store_u64(at + LEX_AT_TERMS, writer->terms);
    store_u64(at + LEX_AT_TOTAL_LENGTH, lengths->total);
    store_u64(at + LEX_AT_POSTINGS, writer->posting_count);
    store_u64(at + LEX_AT_POSTINGS_SIZE, writer->postings_at + LEX_SLACK);
    store_f64(at + LEX_AT_K1, k1);
    store_f64(at + LEX_AT_B, b);
    store_u32(at + LEX_AT_CONFIG_SIZE, (uint32_t)config_size);
    store_u32(at + LEX_AT_LENGTH_WIDTH, lengths->width);
    store_u64(at + LEX_AT_DICTIONARY_SIZE, writer->dictionary.size);
    store_u32(at + LEX_AT_SHORTEST, lengths->shortest);
    store_u32(at + LEX_AT_LONGEST, lengths->longest);
}

static enum rag_status put_lengths(const struct rag_bm25_writer *writer, uint32_t width,
                                   struct rag_sink sink, struct rag_fault *fault) {
    uint8_t chunk[4096];
    size_t used = 0;
    for (uint64_t row = 0; row < writer->rows; row++) {
        if (width == 1) chunk[used] = (uint8_t)writer->lengths[row];
        else if (width == 2) store_u16(chunk + used, (uint16_t)writer->lengths[row]);
        else store_u32(chunk + used, writer->lengths[row]);
        used += width;
        if (used < sizeof chunk && row + 1 < writer->rows) continue;
        const enum rag_status status = put_out(sink, chunk, used, fault);
        if (status) return status;
        used = 0;
    }
    memset(chunk, 0, LEX_SLACK + 8);
    return put_out(sink, chunk, (size_t)(-(writer->rows * width) & 7) + LEX_SLACK, fault);
}

enum rag_status rag_bm25_writer_finish(struct rag_bm25_writer *writer, double k1, double b,
                                       const uint8_t *config, size_t config_size,
                                       struct rag_sink terms, struct rag_fault *fault) {
    const struct lengths lengths = measure(writer);
    struct rag_bm25_buffer front = {0};
    put_zeros(&writer->list, LEX_SLACK);
    put_header(&front, writer, &lengths, k1, b, config_size);
    rag_bm25_buffer_put(&front, config, config_size);
    pad_to_8(&front);
    pad_to_8(&writer->starts);
    pad_to_8(&writer->dictionary);
    enum rag_status status = RAG_OK;
    if (writer->list.failed || front.failed || writer->starts.failed || writer->dictionary.failed)
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory for the dictionary");
    if (!status) status = put_out(writer->postings, writer->list.bytes, writer->list.size, fault);
    if (!status) status = put_out(terms, front.bytes, front.size, fault);
    if (!status) status = put_out(terms, writer->keys.bytes, writer->keys.size, fault);
    if (!status) status = put_out(terms, writer->starts.bytes, writer->starts.size, fault);
    if (!status) status = put_out(terms, writer->dictionary.bytes, writer->dictionary.size, fault);
    if (!status) status = put_lengths(writer, lengths.width, terms, fault);
    rag_bm25_buffer_free(&front);
    return status;
}

void rag_bm25_writer_free(struct rag_bm25_writer *writer) {
    rag_bm25_buffer_free(&writer->dictionary);
    rag_bm25_buffer_free(&writer->keys);
    rag_bm25_buffer_free(&writer->starts);
    rag_bm25_buffer_free(&writer->list);
    rag_bm25_buffer_free(&writer->codes);
}
