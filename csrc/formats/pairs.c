/* pairs.c - open and walk padded keyword and embedding pairs; write their fixed parts.
 *
 *     keyword section   u64 start, u64 end, u8 padding, slack ... pairs at start through end ...
 *     vector section    u8 precision, u64 start, u64 end, u8 padding, [RXV1 block] slack ... pairs
 *                       ...
 *     pairs             pair ( NUL * padding, pair )*
 *     pair              keyword '-' content   or   dim * precision / 8 bytes '-' content
 *
 * A keyword ends at its first '-', content at its first NUL; an embedding has a fixed width, so its
 * bytes are arbitrary. Opening reads the preamble alone. A walk is safe on any bytes: it never
 * leaves [bytes, bytes + size), each step moves forward, and the first invalid pair ends it with
 * the offset of the violation. */
#include "ragfile/matrix.h"
#include "ragfile/pairs.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static const uint8_t extension_magic[4] = {'R', 'X', 'V', '1'};

/* Read start and end (absolute) of the pairs, at `fields` of the section, and the padding after
 * them. */
static enum rag_status open_range(const uint8_t *section, uint64_t size, uint64_t at,
                                  uint64_t fields, struct rag_pairs *pairs,
                                  struct rag_fault *fault) {
    uint64_t preamble = fields + RAG_KEYWORD_PREAMBLE;
    if (size < preamble)
        return rag_fail(fault, RAG_FORMAT, at + size, "the section is shorter than its preamble");
    uint64_t start = load_u64_in(pairs->big_endian, section + fields);
    uint64_t end = load_u64_in(pairs->big_endian, section + fields + 8);
    pairs->padding = section[fields + 16];
    if (pairs->padding != 4 && pairs->padding != 8 && pairs->padding != 16)
        return rag_fail(fault, RAG_FORMAT, at + fields + 16, "the padding must be 4, 8 or 16");
    if (start < at + preamble || start > at + size)
        return rag_fail(fault, RAG_FORMAT, at + fields,
                        "the pairs must start after the preamble and inside the section");
    if (end + 1 < start || end + 1 > at + size || end == UINT64_MAX)
        return rag_fail(fault, RAG_FORMAT, at + fields + 8,
                        "the pairs must end inside the section");
    pairs->bytes = section + (start - at);
    pairs->size = end + 1 - start;
    pairs->at = start;
    return RAG_OK;
}

enum rag_status rag_keyword_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                       bool big_endian, struct rag_pairs *pairs,
                                       struct rag_fault *fault) {
    *pairs = (struct rag_pairs){.big_endian = big_endian};
    return open_range(section, size, at, 0, pairs, fault);
}

/* A constant stride lets callers address rows without a walk, so it must account for every byte. */
static bool stride_fits(const struct rag_pairs *pairs) {
    uint64_t whole;
    if (pairs->count == 0) return pairs->size == 0;
    if (pairs->stride == 0) return pairs->count <= pairs->size;
    return pairs->stride > pairs->head + pairs->padding &&
           !mul_overflows(pairs->count, pairs->stride, &whole) && whole >= pairs->padding &&
           whole - pairs->padding == pairs->size;
}

static enum rag_status read_extension(const uint8_t *block, uint64_t at, struct rag_pairs *pairs,
                                      struct rag_fault *fault) {
    bool big = pairs->big_endian;
    pairs->extended = true;
    pairs->count = load_u64_in(big, block + 8);
    pairs->stride = load_u32_in(big, block + 16);
    pairs->flags = load_u32_in(big, block + 20);
    pairs->hash = load_u64_in(big, block + 24);
    enum rag_status status = rag_pairs_set_dim(pairs, load_u32_in(big, block + 4), fault);
    if (status) return rag_fail(fault, RAG_LIMIT, at + 4, "the dimension must be 1 to 65536");
    if (!stride_fits(pairs))
        return rag_fail(fault, RAG_FORMAT, at + 8,
                        "count and stride do not fit the size of the pairs");
    return RAG_OK;
}

enum rag_status rag_vector_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                      bool big_endian, struct rag_pairs *pairs,
                                      struct rag_fault *fault) {
    *pairs = (struct rag_pairs){.big_endian = big_endian};
    enum rag_status status = open_range(section, size, at, 1, pairs, fault);
    if (status) return status;
    pairs->precision = section[0];
    if (pairs->precision != 8 && pairs->precision != 16 && pairs->precision != 32 &&
        pairs->precision != 64)
        return rag_fail(fault, RAG_FORMAT, at, "the precision must be 8, 16, 32 or 64");
    const uint8_t *block = section + RAG_VECTOR_PREAMBLE;
    if (pairs->bytes - block < RAG_EXTENSION_SIZE ||
        memcmp(block, extension_magic, sizeof extension_magic) != 0)
        return RAG_OK;
    return read_extension(block, at + RAG_VECTOR_PREAMBLE, pairs, fault);
}

enum rag_status rag_pairs_set_dim(struct rag_pairs *pairs, uint64_t dim, struct rag_fault *fault) {
    if (dim < 1 || dim > RAG_DIM_MAX)
        return rag_fail(fault, RAG_ARGUMENT, dim, "the dimension must be 1 to 65536");
    pairs->dim = (uint32_t)dim;
    pairs->head = dim * (pairs->precision / 8);
    return RAG_OK;
}

static enum rag_status fail_at(const struct rag_pairs *pairs, uint64_t at, const char *what,
                               struct rag_fault *fault) {
    return rag_fail(fault, RAG_FORMAT, pairs->at + at, what);
}

/* Advance from a content's first NUL over the gap to the next pair. */
static enum rag_status cross_gap(const struct rag_pairs *pairs, uint64_t nul, uint64_t *cursor,
                                 struct rag_fault *fault) {
    static const uint8_t nuls[16];
    const uint8_t *gap = pairs->bytes + nul;
    uint64_t rest = pairs->size - nul;
    if (rest <= pairs->padding)
        return fail_at(pairs, nul, "no pair follows these NULs, as one must inside a section",
                       fault);
    if (memcmp(gap, nuls, pairs->padding) != 0)
        return fail_at(pairs, nul, "there are fewer NULs between two pairs than the padding says",
                       fault);
    if (!pairs->precision && gap[pairs->padding] == 0)
        return fail_at(pairs, nul, "there are more NULs between two pairs than the padding says",
                       fault);
    *cursor = nul + pairs->padding;
    return RAG_OK;
}

enum rag_status rag_pairs_next(const struct rag_pairs *pairs, uint64_t *cursor,
                               struct rag_pair *pair, struct rag_fault *fault) {
    const uint8_t *from = pairs->bytes + *cursor;
    uint64_t rest = pairs->size - *cursor, head = pairs->head;
    if (pairs->precision && (rest <= head || from[head] != '-'))
        return fail_at(pairs, *cursor, "no '-' follows the embedding of this pair", fault);
    const uint8_t *nul = memchr(from + head, 0, rest - head);
    uint64_t size = nul ? (uint64_t)(nul - from) : rest;
    if (!pairs->precision) {
        const uint8_t *dash = memchr(from, '-', size);
        if (!dash) return fail_at(pairs, *cursor, "this pair has no '-'", fault);
        head = (uint64_t)(dash - from);
    }
    *pair = (struct rag_pair){*cursor, head, *cursor + head + 1, size - head - 1};
    if (nul) return cross_gap(pairs, *cursor + size, cursor, fault);
    *cursor = pairs->size;
    return RAG_OK;
}

enum rag_status rag_pairs_walk(const struct rag_pairs *pairs, uint64_t *offsets, uint64_t capacity,
                               uint64_t *count, uint64_t *stride, struct rag_fault *fault) {
    struct rag_pair pair;
    uint64_t rows = 0, step = 0;
    for (uint64_t cursor = 0; cursor < pairs->size; rows++) {
        uint64_t from = cursor;
        enum rag_status status = rag_pairs_next(pairs, &cursor, &pair, fault);
        if (status) return status;
        if (offsets && rows < capacity) offsets[rows] = from;
        uint64_t size = (cursor < pairs->size ? cursor : pairs->size + pairs->padding) - from;
        step = rows == 0 || step == size ? size : 0;
    }
    if (pairs->extended &&
        (rows != pairs->count || (pairs->stride && rows && step != pairs->stride)))
        return fail_at(pairs, 0,
                       "the extension block counts or spaces the pairs otherwise than they are",
                       fault);
    *count = rows;
    *stride = step;
    return RAG_OK;
}

/* Copy one row's components, swapping byte order if needed. */
static void copy_row(uint8_t *out, const uint8_t *row, uint64_t dim, uint8_t precision, bool swap) {
    if (!swap || precision == 8) memcpy(out, row, dim * (precision / 8));
    else if (precision == 16)
        for (uint64_t i = 0; i < dim; i++) store_u16(out + 2 * i, load_u16_in(true, row + 2 * i));
    else if (precision == 32)
        for (uint64_t i = 0; i < dim; i++) store_u32(out + 4 * i, load_u32_in(true, row + 4 * i));
    else
        for (uint64_t i = 0; i < dim; i++) store_u64(out + 8 * i, load_u64_in(true, row + 8 * i));
}

enum rag_status rag_pairs_gather(const struct rag_pairs *pairs, const uint64_t *offsets,
                                 uint64_t stride, uint64_t count, uint8_t *out,
                                 struct rag_fault *fault) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = 0;
        if (offsets) at = offsets[i];
        else if (mul_overflows(i, stride, &at)) at = pairs->size;
        if (at > pairs->size || pairs->size - at < pairs->head)
            return rag_fail(fault, RAG_ARGUMENT, i, "this row lies outside the section");
        copy_row(out + i * pairs->head, pairs->bytes + at, pairs->dim, pairs->precision,
                 pairs->big_endian);
    }
    return RAG_OK;
}

/* -------------------------------------------------------------------------------------- writing */

static void write_range(const struct rag_pairs *pairs, uint8_t *out) {
    store_u64_in(pairs->big_endian, out, pairs->at);
    store_u64_in(pairs->big_endian, out + 8, pairs->at + pairs->size - 1);
    out[16] = pairs->padding;
}

void rag_keyword_preamble_write(const struct rag_pairs *pairs, uint8_t out[RAG_KEYWORD_PREAMBLE]) {
    write_range(pairs, out);
}

void rag_vector_preamble_write(const struct rag_pairs *pairs,
                               uint8_t out[RAG_VECTOR_PREAMBLE + RAG_EXTENSION_SIZE]) {
    bool big = pairs->big_endian;
    uint8_t *block = out + RAG_VECTOR_PREAMBLE;
    out[0] = pairs->precision;
    write_range(pairs, out + 1);
    if (!pairs->extended) return;
    memcpy(block, extension_magic, sizeof extension_magic);
    store_u32_in(big, block + 4, pairs->dim);
    store_u64_in(big, block + 8, pairs->count);
    store_u32_in(big, block + 16, pairs->stride);
    store_u32_in(big, block + 20, pairs->flags);
    store_u64_in(big, block + 24, pairs->hash);
}

enum rag_status rag_content_check(const uint8_t *text, size_t size, struct rag_fault *fault) {
    const uint8_t *nul = size ? memchr(text, 0, size) : NULL;
    return nul ? rag_fail(fault, RAG_ARGUMENT, (uint64_t)(nul - text), "NUL") : RAG_OK;
}

enum rag_status rag_keyword_check(const uint8_t *text, size_t size, struct rag_fault *fault) {
    const uint8_t *dash = size ? memchr(text, '-', size) : NULL;
    if (dash) return rag_fail(fault, RAG_ARGUMENT, (uint64_t)(dash - text), "'-'");
    return rag_content_check(text, size, fault);
}

/* NaN and infinity have every exponent bit set. */
static bool is_finite_at(const uint8_t *component, uint8_t precision) {
    if (precision == 16) return (load_u16(component) & 0x7c00u) != 0x7c00u;
    if (precision == 32) return (load_u32(component) & 0x7f800000u) != 0x7f800000u;
    if (precision == 64) return (load_u64(component) & 0x7ff0000000000000u) != 0x7ff0000000000000u;
    return true;
}

enum rag_status rag_row_write(const uint8_t *row, uint32_t dim, uint8_t precision, bool big_endian,
                              bool allow_nonfinite, uint8_t *out, struct rag_fault *fault) {
    for (uint32_t i = 0; i < dim && !allow_nonfinite; i++)
        if (!is_finite_at(row + (size_t)i * (precision / 8), precision))
            return rag_fail(fault, RAG_ARGUMENT, i, "component is NaN or infinite");
    copy_row(out, row, dim, precision, big_endian);
    return RAG_OK;
}
