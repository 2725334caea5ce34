/* pairs_infer.c - infer the dimension of embeddings in files that do not store it.
 *
 * Try each dimension with a '-' at the end of the first embedding. A dimension fits if all pairs
 * parse, all components are finite and all contents are UTF-8. Random files show that more than one
 * can fit, so all of them are listed and the caller chooses. Work is bounded: wrong dimensions
 * nearly always fail at the second pair, and a file built to defeat that is refused. */
#include "ragfile/matrix.h"
#include "formats/pairs.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "shared/utf8.h"

/* The limit of bytes walked in total: TIMES the size of the pairs, and at least AT_LEAST. */
enum { TIMES = 64, AT_LEAST = 64 << 20 };

bool rag_is_utf8(const uint8_t *text, uint64_t size) {
    const uint8_t *at = text, *end = text + size;
    while (at < end)
        if (utf8_next(&at, end) == UTF8_BROKEN) return false;
    return true;
}

static bool is_finite(const uint8_t *row, uint64_t dim, uint8_t precision, bool big_endian) {
    unsigned bad = 0;
    for (uint64_t i = 0; i < dim && precision == 16; i++)
        bad |= (load_u16_in(big_endian, row + 2 * i) & 0x7c00u) == 0x7c00u;
    for (uint64_t i = 0; i < dim && precision == 32; i++)
        bad |= (load_u32_in(big_endian, row + 4 * i) & 0x7f800000u) == 0x7f800000u;
    for (uint64_t i = 0; i < dim && precision == 64; i++)
        bad |= (load_u64_in(big_endian, row + 8 * i) & 0x7ff0000000000000u) == 0x7ff0000000000000u;
    return !bad;
}

/* True if all pairs parse with pairs' dimension; work grows by the bytes read. */
static bool fits(const struct rag_pairs *pairs, uint64_t *work) {
    struct rag_pair pair;
    uint64_t cursor = 0;
    while (cursor < pairs->size) {
        uint64_t from = cursor;
        enum rag_status status = rag_pairs_next(pairs, &cursor, &pair, NULL);
        if (status) { /* the walk may have read as far as the next NUL */
            const uint8_t *nul = memchr(pairs->bytes + from, 0, pairs->size - from);
            *work += nul ? (uint64_t)(nul - pairs->bytes) - from + pairs->head : pairs->size - from;
            return false;
        }
        *work += cursor - from;
        if (!is_finite(pairs->bytes + pair.at, pairs->dim, pairs->precision, pairs->big_endian))
            return false;
        if (!rag_is_utf8(pairs->bytes + pair.content_at, pair.content_size)) return false;
    }
    return true;
}

enum rag_status rag_pairs_infer(const struct rag_pairs *pairs, uint32_t *dims, size_t capacity,
                                size_t *count, struct rag_fault *fault) {
    struct rag_pairs trial = *pairs;
    uint64_t width = pairs->precision / 8, work = 0, budget;
    if (mul_overflows(pairs->size, TIMES, &budget) || budget < AT_LEAST) budget = AT_LEAST;
    trial.extended = false;
    *count = 0;
    for (uint64_t dim = 1; dim <= RAG_DIM_MAX && dim * width < pairs->size && *count < capacity;
         dim++) {
        if (pairs->bytes[dim * width] != '-') continue;
        if (work > budget)
            return rag_fail(fault, RAG_LIMIT, pairs->at,
                            "working out the dimension takes too long: pass dim");
        rag_pairs_set_dim(&trial, dim, NULL);
        if (fits(&trial, &work)) dims[(*count)++] = (uint32_t)dim;
    }
    return RAG_OK;
}
