# rag.h in Cython's words: declarations only, in the order of the header.
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t, uint32_t, uint64_t, int64_t


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

    # (bm25)

    # (wordpiece)
    struct rag_model:
        uint32_t dims, count, unknown
        const char *name

    rag_status rag_model_open(const void *file, size_t size, rag_model *model, rag_fault *fault)
    size_t rag_model_tokens(const rag_model *model, const void *text, size_t size, uint32_t *ids, size_t capacity)
    void rag_model_embed(
        const rag_model *model, const uint8_t **texts, const size_t *sizes, size_t count, int threads, float *out
    )

    struct rag_model_source:
        uint32_t dims, count, bucket_bits, unknown
        const char *name
        size_t name_size
        const uint8_t **pieces
        const uint8_t *sizes
        const uint8_t *kinds
        const int8_t *rows
        const int16_t *coefficients

    rag_status rag_model_write(const rag_model_source *source, uint8_t *out, size_t *size, rag_fault *fault)
