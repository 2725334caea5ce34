# rag.h in Cython's words: declarations only, in the order of the header.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t, int64_t


cdef extern from "rag.h" nogil:
    # status
    enum rag_status:
        RAG_OK, RAG_NOT_RAGFILE, RAG_FORMAT, RAG_VERSION, RAG_CORRUPT, RAG_LIMIT
        RAG_ARGUMENT, RAG_LOCKED, RAG_MEMORY, RAG_OS, RAG_STATUS_COUNT

    struct rag_fault:
        rag_status status
        int os_error
        uint64_t at
        const char *what
        char section[65]

    # this machine
    rag_status rag_init(const char *target)
    const char *rag_target()

    # hash
    uint64_t rag_hash(const void *bytes, size_t size)

    # threads
    int rag_cpu_count()

    # sections
    struct rag_guard:
        const uint8_t *bytes
        size_t size
        const uint64_t *sums
        uint8_t *seen

    rag_status rag_guard_check(const rag_guard *guard, size_t at, size_t size, rag_fault *fault)

    # (container)

    # (pairs)

    # (vectors)
    enum rag_scalar:
        RAG_F16, RAG_F32, RAG_F64

    enum rag_metric:
        RAG_COSINE, RAG_IP, RAG_L2

    struct rag_matrix:
        rag_guard guard
        uint64_t at, stride, count
        const uint64_t *offsets
        uint32_t dim
        rag_scalar scalar
        bint big_endian

    struct rag_shadow:
        pass

    struct rag_segment:
        const rag_matrix *matrix
        const rag_shadow *shadow
        const uint64_t *where

    struct rag_question:
        const float *queries
        size_t count
        uint32_t dim
        rag_metric metric
        uint64_t k
        int threads

    ctypedef rag_status (*rag_write)(void *context, const void *bytes, size_t size)
    rag_status rag_matrix_check(const rag_matrix *matrix, rag_fault *fault)
    uint64_t rag_shadow_size(uint64_t count, uint32_t dim)
    rag_status rag_shadow_build(const rag_matrix *matrix, rag_write write, void *context, rag_fault *fault)
    rag_status rag_shadow_open(rag_shadow *shadow, const rag_guard *section, const rag_matrix *matrix, rag_fault *fault)
    rag_status rag_nearest(const rag_segment *segments, size_t segment_count, const rag_question *question,
                           int64_t *rows, float *scores, rag_fault *fault)
    rag_status rag_scores(const rag_matrix *matrix, const rag_question *question, const int64_t *rows,
                          size_t row_count, float *scores, rag_fault *fault)
    size_t rag_first_not_finite(const float *values, size_t count)
    void rag_bits_pack(const uint8_t *bytes, uint64_t count, uint64_t *words)

    # (bm25)

    # (wordpiece)
