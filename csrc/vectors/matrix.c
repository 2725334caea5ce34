/* matrix.c - rows of vectors, read in place.
 *
 * A matrix is a view on a section. Row i starts at at + i * stride or, in sections whose rows have
 * no constant stride, at offsets[i]. Its components are binary16, binary32 or binary64 in either
 * byte order, at any alignment. So 0.1.0 pairs, 1.0 sections and rows in memory all go through the
 * functions below, and no scan knows how its rows are stored.
 *
 * rag_matrix_check comes first, once for each matrix. It checks the kind of component, 1 to 65536
 * dimensions, row numbers that fit into 32 bits, and every row inside the section. Its sums are
 * checked, because a file chose the numbers. Afterwards the row functions trust the matrix and test
 * no bounds.
 *
 *    touch    checks the checksums of a range of rows: the one call that can fail later
 *    want     adds a range of rows to a plan, where the bytes of the file are not here yet
 *    floats   gives a row as little-endian binary32: in place where it is stored so, else in the
 *             caller's scratch of dim floats
 *
 * A binary64 component counts as the nearest binary32; binary16 is widened by the target's kernel.
 * Nothing looks at the values: a row with a NaN or an infinity is legal, and the scans leave it
 * out. rag_first_not_finite is for callers that must refuse such values, as in queries. */
#include <math.h>

#include "shared/fail.h"
#include "vectors/vectors.h"

static size_t row_size(const struct rag_matrix *matrix) {
    static const uint8_t width[] = {[RAG_F16] = 2, [RAG_F32] = 4, [RAG_F64] = 8};
    return (size_t)matrix->dim * width[matrix->scalar];
}

static enum rag_status check_offsets(const struct rag_matrix *matrix, struct rag_fault *fault) {
    const uint64_t size = row_size(matrix);
    for (uint64_t i = 0; i < matrix->count; i++)
        if (matrix->offsets[i] > matrix->guard.size ||
            matrix->guard.size - matrix->offsets[i] < size)
            return rag_fail(fault, RAG_CORRUPT, matrix->offsets[i],
                            "a vector ends outside its section");
    return RAG_OK;
}

enum rag_status rag_matrix_check(const struct rag_matrix *matrix, struct rag_fault *fault) {
    uint64_t end;
    if (matrix->scalar != RAG_F16 && matrix->scalar != RAG_F32 && matrix->scalar != RAG_F64)
        return rag_fail(fault, RAG_FORMAT, 0,
                        "vector components must be binary16, binary32 or binary64");
    if (matrix->dim < 1 || matrix->dim > RAG_DIM_MAX)
        return rag_fail(fault, RAG_LIMIT, matrix->dim, "a vector has 1 to 65536 dimensions");
    if (matrix->count >= ROW_SCORED)
        return rag_fail(fault, RAG_LIMIT, matrix->count, "too many vectors for one matrix");
    if (matrix->count == 0) return RAG_OK;
    if (matrix->offsets) return check_offsets(matrix, fault);
    if (mul_overflows(matrix->count - 1, matrix->stride, &end) ||
        add_overflows(end, matrix->at, &end) || add_overflows(end, row_size(matrix), &end) ||
        end > matrix->guard.size)
        return rag_fail(fault, RAG_CORRUPT, matrix->at, "the vectors end outside their section");
    return RAG_OK;
}

const uint8_t *rag_matrix_row(const struct rag_matrix *matrix, uint64_t row) {
    return rag_guard_at(&matrix->guard,
                        matrix->offsets ? matrix->offsets[row] : matrix->at + row * matrix->stride);
}

enum rag_status rag_matrix_touch(const struct rag_matrix *matrix, uint64_t row, uint64_t count,
                                 struct rag_fault *fault) {
    if ((!matrix->guard.sums && !matrix->guard.source) || count == 0) return RAG_OK;
    const size_t size = row_size(matrix);
    if (!matrix->offsets)
        return rag_guard_check(&matrix->guard, matrix->at + row * matrix->stride,
                               (count - 1) * matrix->stride + size, fault);
    for (uint64_t i = row; i < row + count; i++) {
        enum rag_status status = rag_guard_check(&matrix->guard, matrix->offsets[i], size, fault);
        if (status != RAG_OK) return status;
    }
    return RAG_OK;
}

void rag_matrix_want(const struct rag_matrix *matrix, uint64_t row, uint64_t count,
                     struct rag_wants *wants) {
    const size_t size = row_size(matrix);
    if (!matrix->guard.source || count == 0) return;
    if (!matrix->offsets) {
        rag_wants_add(wants, &matrix->guard, matrix->at + row * matrix->stride,
                      (count - 1) * matrix->stride + size);
        return;
    }
    for (uint64_t i = row; i < row + count; i++)
        rag_wants_add(wants, &matrix->guard, matrix->offsets[i], size);
}

static void swap_f16(const uint8_t *from, uint16_t *to, size_t dim) {
    for (size_t i = 0; i < dim; i++) to[i] = load_u16_in(true, from + 2 * i);
}

static void swap_f32(const uint8_t *from, float *to, size_t dim) {
    for (size_t i = 0; i < dim; i++) {
        const uint32_t bits = load_u32_in(true, from + 4 * i);
        memcpy(to + i, &bits, sizeof bits);
    }
}

static void narrow_f64(const uint8_t *from, float *to, size_t dim, bool big) {
    for (size_t i = 0; i < dim; i++) {
        const uint64_t bits = load_u64_in(big, from + 8 * i);
        to[i] = (float)load_f64(&bits);
    }
}

/* Converts binary16 to host order in pieces that fit into the L1 cache. */
static void widen_swapped_f16(const uint8_t *from, float *to, size_t dim) {
    uint16_t halves[512];
    for (size_t i = 0; i < dim; i += 512) {
        const size_t count = dim - i < 512 ? dim - i : 512;
        swap_f16(from + 2 * i, halves, count);
        rag_kernels()->widen_f16((const uint8_t *)halves, to + i, count);
    }
}

const uint8_t *rag_matrix_floats(const struct rag_matrix *matrix, uint64_t row, float *scratch) {
    const uint8_t *at = rag_matrix_row(matrix, row);
    if (matrix->scalar == RAG_F32 && !matrix->big_endian) return at;
    if (matrix->scalar == RAG_F32) swap_f32(at, scratch, matrix->dim);
    else if (matrix->scalar == RAG_F64) narrow_f64(at, scratch, matrix->dim, matrix->big_endian);
    else if (matrix->big_endian) widen_swapped_f16(at, scratch, matrix->dim);
    else rag_kernels()->widen_f16(at, scratch, matrix->dim);
    return (const uint8_t *)scratch;
}

/* Scans whole chunks without a branch, then finds the index in the first bad chunk. */
size_t rag_first_not_finite(const float *values, size_t count) {
    enum { STRETCH = 128 };
    for (size_t i = 0; i < count; i += STRETCH) {
        const size_t rest = count - i < STRETCH ? count - i : STRETCH;
        uint32_t bad = 0;
        for (size_t j = 0; j < rest; j++)
            bad |= (load_u32(values + i + j) & 0x7fffffff) + 0x00800000;
        if (!(bad >> 31)) continue;
        for (size_t j = i; j < i + rest; j++)
            if (!isfinite(values[j])) return j;
    }
    return count;
}
