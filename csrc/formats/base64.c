/* base64.c - decode base64 text of any wrapping; encode bytes as lines of 64 columns.
 *
 * The kernels process full lines of 64 characters for 48 bytes: four registers of 16 characters, or
 * 12 bytes, each. They are plain vector expressions, compiled once with byte shuffles (pshufb, tbl)
 * and once without, for the x86 floor, which swaps words one by one. The alphabet is computed, not
 * looked up: five compares find the range of a character, hence its value and its validity.
 *
 * The writer can break lines where rows begin (struct rag_base64_rows), so that a row of a matrix
 * is whole lines and a changed row changes its own lines only. Readers ignore white space, so they
 * accept any row layout. */
#include <string.h>

#include "ragfile/formats.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"

enum { LINE = 64, LINE_BYTES = 48, LANE = 16, LANE_BYTES = 12 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t signs16 __attribute__((vector_size(16)));
typedef uint32_t words4 __attribute__((vector_size(16)));

/* ---------------------------------------------------------------------------------- the kernels */

/* Load bytes 12i .. 12i+11 of a line as four numbers of 24 bits. The last lane loads early, to stay
 * within the line. shuffle is a constant: whether the target moves bytes within a register. */
static inline __attribute__((always_inline)) words4 load_24s(const uint8_t *in, bool last,
                                                             bool shuffle) {
    bytes16 v;
    const bytes16 zero = {0};
    if (!shuffle) {
        const uint32_t tail = __builtin_bswap32(load_u32(in + 8)) & 0xffffff;
        return (words4){__builtin_bswap32(load_u32(in)) >> 8,
                        __builtin_bswap32(load_u32(in + 3)) >> 8,
                        __builtin_bswap32(load_u32(in + 6)) >> 8, tail};
    }
    memcpy(&v, last ? in - 4 : in, sizeof v);
    if (last)
        return (words4)__builtin_shufflevector(v, zero, 6, 5, 4, 16, 9, 8, 7, 16, 12, 11, 10, 16,
                                               15, 14, 13, 16);
    return (words4)__builtin_shufflevector(v, zero, 2, 1, 0, 16, 5, 4, 3, 16, 8, 7, 6, 16, 11, 10,
                                           9, 16);
}

/* Split the 24 bits of each word into four values of six bits, the first in the lowest byte, and
 * map them to letters. */
static inline __attribute__((always_inline)) bytes16 letters(words4 w) {
    signs16 v = (signs16)((w >> 18 & 0x3f) | (w >> 4 & 0x3f00) | (w << 10 & 0x3f0000) |
                          (w << 24 & 0x3f000000));
    return (bytes16)(v + 65 + ((v > 25) & 6) - ((v > 51) & 75) - ((v > 61) & 15) + ((v > 62) & 3));
}

static inline __attribute__((always_inline)) void encode_line(const uint8_t *in, char *out,
                                                              bool shuffle) {
    for (int lane = 0; lane < 4; lane++) {
        bytes16 v = letters(load_24s(in + lane * LANE_BYTES, lane == 3, shuffle));
        memcpy(out + lane * LANE, &v, sizeof v);
    }
}

/* Map sixteen characters to six-bit values; *bad collects characters outside the alphabet. Bytes
 * above 127 are negative and so in no range. */
static inline __attribute__((always_inline)) bytes16 values(signs16 c, signs16 *bad) {
    const signs16 upper = (c > 64) & (c < 91), lower = (c > 96) & (c < 123),
                  digit = (c > 47) & (c < 58);
    const signs16 plus = c == 43, slash = c == 47;
    *bad |= ~(upper | lower | digit | plus | slash);
    return (bytes16)(c - (upper & 65) - (lower & 71) + (digit & 4) + (plus & 19) + (slash & 16));
}

/* Pack four groups of four values into twelve bytes; all but the last lane of a line may write
 * sixteen. */
static inline __attribute__((always_inline)) void store_24s(bytes16 v, uint8_t *out, bool last,
                                                            bool shuffle) {
    const words4 w = (words4)v;
    const words4 bits = (w & 0x3f) << 18 | (w & 0x3f00) << 4 | (w >> 10 & 0xfc0) | w >> 24;
    if (!shuffle) {
        for (int i = 0; i < 3; i++) store_u32(out + 3 * i, __builtin_bswap32(bits[i] << 8));
        const uint32_t tail = __builtin_bswap32(bits[3] << 8);
        memcpy(out + 9, &tail, 3);
        return;
    }
    const bytes16 b = (bytes16)bits;
    const bytes16 packed =
        __builtin_shufflevector(b, b, 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 7, 11, 15);
    memcpy(out, &packed, last ? LANE_BYTES : LANE);
}

/* Decode a line of 64 characters to 48 bytes. On a character outside the alphabet, return false;
 * the output is then undefined. */
static inline __attribute__((always_inline)) bool decode_line(const uint8_t *in, uint8_t *out,
                                                              bool shuffle) {
    signs16 c[4], bad = {0};
    memcpy(c, in, sizeof c);
    for (int lane = 0; lane < 4; lane++)
        store_24s(values(c[lane], &bad), out + lane * LANE_BYTES, lane == 3, shuffle);
    uint64_t wrong[2];
    memcpy(wrong, &bad, sizeof wrong);
    return (wrong[0] | wrong[1]) == 0;
}

/* Encode count lines of 48 bytes, each with its line feed. */
static inline __attribute__((always_inline)) void encode_lines(const uint8_t *in, size_t count,
                                                               char *out, bool shuffle) {
    for (; count; count--, in += LINE_BYTES, out += LINE + 1) {
        encode_line(in, out, shuffle);
        out[LINE] = '\n';
    }
}

/* Decode consecutive runs of 64 characters, allowing single line feeds between them. Return the
 * bytes written and advance *at past the characters read. */
static inline __attribute__((always_inline)) size_t decode_lines(const uint8_t *text, size_t size,
                                                                 size_t *at, uint8_t *out,
                                                                 bool shuffle) {
    size_t from = *at, written = 0;
    while (size - from > LINE && decode_line(text + from, out + written, shuffle)) {
        written += LINE_BYTES;
        from += LINE;
        from += text[from] == '\n';
    }
    *at = from;
    return written;
}

static void encode_lines_baseline(const uint8_t *in, size_t count, char *out) {
    encode_lines(in, count, out, false);
}
static size_t decode_lines_baseline(const uint8_t *text, size_t size, size_t *at, uint8_t *out) {
    return decode_lines(text, size, at, out, false);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void encode_lines_avx2(const uint8_t *in, size_t count,
                                                              char *out) {
    encode_lines(in, count, out, true);
}
__attribute__((target("avx2"))) static size_t decode_lines_avx2(const uint8_t *text, size_t size,
                                                                size_t *at, uint8_t *out) {
    return decode_lines(text, size, at, out, true);
}
#elif defined(__aarch64__)
static void encode_lines_neon(const uint8_t *in, size_t count, char *out) {
    encode_lines(in, count, out, true);
}
static size_t decode_lines_neon(const uint8_t *text, size_t size, size_t *at, uint8_t *out) {
    return decode_lines(text, size, at, out, true);
}
#endif

/* ------------------------------------------------------------------------------------- encoding */

static char *encode_plain(const uint8_t *in, size_t size, char *out) {
    for (; size >= 3; size -= 3, in += 3) {
        uint32_t w = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        for (int shift = 18; shift >= 0; shift -= 6) *out++ = alphabet[w >> shift & 63];
    }
    if (size) {
        uint32_t w = (uint32_t)in[0] << 16 | (size > 1 ? (uint32_t)in[1] << 8 : 0);
        *out++ = alphabet[w >> 18];
        *out++ = alphabet[w >> 12 & 63];
        *out++ = size > 1 ? alphabet[w >> 6 & 63] : '=';
        *out++ = '=';
    }
    return out;
}

static void encode_full_lines(const uint8_t *in, size_t count, char *out) {
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX2) encode_lines_avx2(in, count, out);
    else
#elif defined(__aarch64__)
    if (rag_cpu & RAG_CPU_NEON) encode_lines_neon(in, count, out);
    else
#endif
        encode_lines_baseline(in, count, out);
}

/* Return the end of the group that contains byte at (a multiple of 3). Group i starts at the last
 * multiple of 3 not after head + i * row, and at >= 3 * floor(x / 3) exactly if at + 2 >= x: hence
 * the closed form. */
static size_t group_end(const struct rag_base64_rows *rows, size_t size, size_t at) {
    if (rows->row < LINE_BYTES) return size;
    const size_t groups = at + 2 < rows->head ? 0 : (at + 2 - rows->head) / rows->row + 1;
    if (groups > (size - (size < rows->head ? size : rows->head)) / rows->row) return size;
    const size_t end = rows->head + groups * rows->row;
    return end < size ? end - end % 3 : size;
}

size_t rag_base64_wrap(const struct rag_base64_rows *rows, const uint8_t *in, size_t size,
                       size_t *at, char *out, size_t room) {
    const char *const start = out, *const limit = out + room - (LINE + 1);
    while (*at < size && out <= limit) {
        const size_t end = group_end(rows, size, *at);
        size_t full = (end - *at) / LINE_BYTES;
        const size_t fits = (size_t)(limit - out) / (LINE + 1) + 1;
        if (full > fits) full = fits;
        encode_full_lines(in + *at, full, out);
        *at += full * LINE_BYTES;
        out += full * (LINE + 1);
        if (end - *at >= LINE_BYTES || end == *at || out > limit) continue;
        out = encode_plain(in + *at, end - *at, out);
        *out++ = '\n';
        *at = end;
    }
    return (size_t)(out - start);
}

/* ------------------------------------------------------------------------------------- decoding */

enum { BLANK = 64, PAD = 65, OTHER = 66 };

static inline unsigned value_of(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26u;
    if (c >= '0' && c <= '9') return c - '0' + 52u;
    if (c == '+') return 62;
    if (c == '/') return 63;
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') return BLANK;
    return c == '=' ? PAD : OTHER;
}

/* Read the next four characters that are not white space. count is the number found before the end,
 * pads the number of '='. Return false at any other byte, or at a letter after a '=', with *at
 * there. */
struct quantum {
    uint32_t bits;
    unsigned count, pads;
};

static bool next_quantum(const uint8_t *text, size_t size, size_t *at, struct quantum *q) {
    *q = (struct quantum){0, 0, 0};
    for (; *at < size && q->count < 4; ++*at) {
        const unsigned v = value_of(text[*at]);
        if (v == BLANK) continue;
        if (v == OTHER || (v < BLANK && q->pads)) return false;
        q->pads += v == PAD;
        q->bits = q->bits << 6 | (v == PAD ? 0 : v);
        q->count++;
    }
    return true;
}

static bool only_blanks(const uint8_t *text, size_t size, size_t *at) {
    while (*at < size && value_of(text[*at]) == BLANK) ++*at;
    return *at == size;
}

static size_t decode_runs(const uint8_t *text, size_t size, size_t *at, uint8_t *out) {
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX2) return decode_lines_avx2(text, size, at, out);
#elif defined(__aarch64__)
    if (rag_cpu & RAG_CPU_NEON) return decode_lines_neon(text, size, at, out);
#endif
    return decode_lines_baseline(text, size, at, out);
}

/* Decode one quantum to one, two or three bytes. */
static enum rag_status put_quantum(const struct quantum *q, size_t at, uint8_t **out,
                                   struct rag_fault *fault) {
    static const char cut[] = "base64 ends inside a group of four characters",
                      bits[] = "base64 has bits beyond its last byte";
    if (q->count != 4 || q->pads > 2) return rag_fail(fault, RAG_FORMAT, at, cut);
    if (q->pads && q->bits & (q->pads == 2 ? 0xffff : 0xff))
        return rag_fail(fault, RAG_FORMAT, at, bits);
    for (unsigned i = 0; i < 3 - q->pads; i++) *(*out)++ = (uint8_t)(q->bits >> (16 - 8 * i));
    return RAG_OK;
}

/* After a failed run, decode single quanta up to the next line, where runs may align again; this
 * limit serves texts of one long line with a space in it. */
enum { QUANTA_BETWEEN_RUNS = 32 };

static enum rag_status decode_quanta(const uint8_t *text, size_t size, size_t *at, uint8_t **out,
                                     struct rag_fault *fault) {
    struct quantum q;
    for (int i = 0; i < QUANTA_BETWEEN_RUNS && !only_blanks(text, size, at); i++) {
        if (i && text[*at - 1] == '\n') break;
        if (!next_quantum(text, size, at, &q))
            return rag_fail(fault, RAG_FORMAT, *at, "not a base64 character");
        enum rag_status status = put_quantum(&q, *at, out, fault);
        if (status != RAG_OK) return status;
        if (q.pads && !only_blanks(text, size, at))
            return rag_fail(fault, RAG_FORMAT, *at, "base64 goes on after its end");
    }
    return RAG_OK;
}

enum rag_status rag_base64_unwrap(const uint8_t *text, size_t size, uint8_t *out, size_t *written,
                                  struct rag_fault *fault) {
    uint8_t *const start = out;
    size_t at = 0;
    *written = 0;
    while (!only_blanks(text, size, &at)) {
        out += decode_runs(text, size, &at, out);
        enum rag_status status = decode_quanta(text, size, &at, &out, fault);
        if (status != RAG_OK) return status;
    }
    *written = (size_t)(out - start);
    return RAG_OK;
}
