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

    # (bm25)
    void rag_analyze(const uint8_t *text, size_t size, bint strip_accents,
                     void (*sink)(void *context, const uint8_t *word, size_t size, int kind) noexcept nogil,
                     void *context)
    const char *rag_unicode_version()

    struct rag_vocabulary:
        pass
    rag_vocabulary *rag_vocabulary_new()
    void rag_vocabulary_free(rag_vocabulary *vocabulary)
    const uint8_t *rag_vocabulary_pending(const rag_vocabulary *vocabulary, size_t *size)
    rag_status rag_vocabulary_resolve(rag_vocabulary *vocabulary, const uint8_t *terms, size_t size, rag_fault *fault)
    size_t rag_vocabulary_size(const rag_vocabulary *vocabulary)

    struct rag_sink:
        int (*write)(void *context, const void *bytes, size_t size) noexcept nogil
        void *context
    struct rag_spill:
        int (*write)(void *context, const void *bytes, size_t size) noexcept nogil
        int (*read)(void *context, uint64_t at, void *bytes, size_t size) noexcept nogil
        void *context

    struct rag_lexical_builder:
        pass
    rag_lexical_builder *rag_lexical_builder_new(double k1, double b, bint strip_accents, size_t memory, rag_spill spill)
    void rag_lexical_builder_free(rag_lexical_builder *builder)
    rag_vocabulary *rag_lexical_builder_vocabulary(rag_lexical_builder *builder)
    rag_status rag_lexical_builder_text(rag_lexical_builder *builder, const uint8_t *text, size_t size,
                                        uint32_t weight, rag_fault *fault)
    rag_status rag_lexical_builder_end_row(rag_lexical_builder *builder, rag_fault *fault)
    rag_status rag_lexical_builder_commit(rag_lexical_builder *builder, rag_fault *fault)
    rag_status rag_lexical_builder_finish(rag_lexical_builder *builder, const uint8_t *config, size_t config_size,
                                          rag_sink postings, rag_sink terms, rag_fault *fault)

    struct rag_lexicon:
        pass
    struct rag_lexicon_info:
        uint64_t rows, terms, total_length, postings
        double k1, b
        const uint8_t *config
        size_t config_size
    rag_status rag_lexicon_open(const rag_guard *terms, const rag_guard *postings, rag_lexicon **lexicon,
                                rag_fault *fault)
    void rag_lexicon_close(rag_lexicon *lexicon)
    # the function shares its name with the struct
    void lexicon_info "rag_lexicon_info"(const rag_lexicon *lexicon, rag_lexicon_info *info)

    struct rag_lexical_stats:
        uint64_t rows, total_length
        double k1, b
    struct rag_query_term:
        const uint8_t *bytes
        uint32_t size, count
        uint64_t df
    rag_status rag_lexicon_df(const rag_lexicon *lexicon, const uint8_t *term, size_t size, const uint64_t *where,
                              uint64_t *df, rag_fault *fault)
    rag_status rag_lexicon_rows(const rag_lexicon *lexicon, const uint8_t *term, size_t size, uint32_t *rows,
                                uint32_t *tfs, uint64_t capacity, uint64_t *count, rag_fault *fault)
    rag_status rag_lexicon_block(const rag_lexicon *lexicon, uint64_t block, uint8_t *out, size_t *size,
                                 rag_fault *fault)
    rag_status rag_lexicon_lengths(const rag_lexicon *lexicon, uint32_t *lengths, rag_fault *fault)
    rag_status rag_lexicon_score(rag_lexicon *lexicon, const rag_query_term *terms, size_t count,
                                 const rag_lexical_stats *stats, const int64_t *rows, size_t row_count, float *scores,
                                 rag_fault *fault)

    struct rag_queries:
        pass
    rag_queries *rag_queries_new()
    void rag_queries_free(rag_queries *queries)
    rag_status rag_queries_add(rag_queries *queries, rag_vocabulary *vocabulary, const uint8_t *text, size_t size,
                               bint strip_accents, rag_fault *fault)
    rag_status rag_queries_finish(rag_queries *queries, const rag_vocabulary *vocabulary, rag_fault *fault)
    rag_query_term *rag_queries_terms(const rag_queries *queries, size_t i, size_t *count)
    rag_status rag_lexicon_search_batch(rag_lexicon *lexicon, const rag_queries *queries, size_t count,
                                        const rag_lexical_stats *stats, const uint64_t *where, size_t k, int threads,
                                        int64_t *rows, float *scores, rag_fault *fault)

    # (wordpiece)
