/* faiss_flat.c - read the head of any FAISS index; write that of flat ones.
 *
 *    0   4  four letters: "IxFI" flat, inner product; "IxF2" flat, squared L2; others are classes
 *           that are not flat
 *    4   4  i32 dimension
 *    8   8  i64 number of vectors
 *   16  16  two i64 that FAISS no longer uses, 1 << 20 each
 *   32   1  u8 trained
 *   33   4  i32 metric: 0 inner product, 1 squared L2; an f32 argument follows when it is above 1
 *   37   8  u64 number of floats that follow: dimension * number of vectors  (flat indexes only)
 *   45      the floats, little-endian, row by row, and then the end
 *
 * All little-endian, no padding. This file does not parse indexes of other classes past their
 * head. */
#include <string.h>

#include "ragfile/formats.h"
#include "shared/bytes.h"
#include "shared/fail.h"

enum { HEAD = 37, MAX_DIM = 65536 };
static const uint64_t UNUSED = 1u << 20, MAX_COUNT = 1ull << 48;

static bool is_flat(const char *kind) {
    return memcmp(kind, "IxFI", 4) == 0 || memcmp(kind, "IxF2", 4) == 0;
}

static enum rag_status read_rows(const uint8_t *bytes, size_t size, struct rag_faiss *index,
                                 struct rag_fault *fault) {
    uint64_t floats, body;
    if (size < RAG_FAISS_FLAT_HEAD)
        return rag_fail(fault, RAG_CORRUPT, size, "a FAISS index ends inside its head");
    if ((index->metric == 0) != (index->kind[3] == 'I') || index->metric > 1)
        return rag_fail(fault, RAG_FORMAT, 33,
                        "the metric of a flat FAISS index contradicts its four letters");
    if (mul_overflows(index->dim, index->count, &floats) ||
        mul_overflows(floats, sizeof(float), &body) || floats != load_u64(bytes + HEAD))
        return rag_fail(
            fault, RAG_FORMAT, HEAD,
            "dimension times vectors is not the number of floats of a flat FAISS index");
    if (body != size - RAG_FAISS_FLAT_HEAD)
        return rag_fail(fault, RAG_CORRUPT, HEAD,
                        "a flat FAISS index is longer or shorter than its number of floats");
    index->rows_at = RAG_FAISS_FLAT_HEAD;
    return RAG_OK;
}

enum rag_status rag_faiss_read(const uint8_t *bytes, size_t size, struct rag_faiss *index,
                               struct rag_fault *fault) {
    memset(index, 0, sizeof *index);
    if (size < 4 || bytes[0] != 'I' || bytes[1] == 'B')
        return rag_fail(fault, RAG_FORMAT, 0, "not a FAISS index of float vectors");
    if (size < HEAD)
        return rag_fail(fault, RAG_CORRUPT, size, "a FAISS index ends inside its head");
    memcpy(index->kind, bytes, 4);
    index->dim = load_u32(bytes + 4);
    index->count = load_u64(bytes + 8);
    index->metric = load_u32(bytes + 33);
    if (index->dim < 1 || index->dim > MAX_DIM)
        return rag_fail(fault, RAG_LIMIT, 4, "dimension outside 1 .. 65536");
    if (index->count > MAX_COUNT)
        return rag_fail(fault, RAG_LIMIT, 8, "number of vectors beyond 2^48");
    return is_flat(index->kind) ? read_rows(bytes, size, index, fault) : RAG_OK;
}

void rag_faiss_flat_head(uint32_t dim, uint64_t count, bool inner_product, uint8_t *head) {
    memcpy(head, inner_product ? "IxFI" : "IxF2", 4);
    store_u32(head + 4, dim);
    store_u64(head + 8, count);
    store_u64(head + 16, UNUSED);
    store_u64(head + 24, UNUSED);
    head[32] = 1;
    store_u32(head + 33, inner_product ? 0 : 1);
    store_u64(head + HEAD, (uint64_t)dim * count);
}
