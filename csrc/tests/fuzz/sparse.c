/* sparse.c - libFuzzer target: any bytes as a section of weights of terms, searched and written
 * again.
 *
 * The buffers have exactly the sizes of their contents, so that a sanitizer sees an access by one
 * byte too many. A search may find anything in bytes that break a rule, but stays inside of them.
 * In a section that keeps all rules, scores found are those of the rows, and its rows make the same
 * section again, whose padding a reader ignores. */
#include "growing_buffer.h"
#include "ragfile/sparse.h"

enum { ROWS = 70000, K = 5, TERMS = 8, PACKED = 3 + RAG_SPARSE_TERM };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first terms of the section as a question. */
static size_t ask(const struct rag_sparse *sparse, struct rag_sparse_term terms[TERMS]) {
    struct rag_sparse_info info;
    struct rag_fault fault;
    rag_sparse_info(sparse, &info);
    size_t count = 0;
    for (; count < TERMS && count < info.terms; count++) {
        size_t size;
        MUST(!rag_sparse_term(sparse, count, &terms[count].bytes, &size, &fault));
        terms[count].size = (uint32_t)size;
        terms[count].weight = 1.0f + (float)count;
    }
    return count;
}

static void search(struct rag_sparse *sparse, bool is_whole) {
    struct rag_sparse_term terms[TERMS];
    struct rag_fault fault;
    struct rag_sparse_info info;
    const struct rag_sparse_leg leg = {sparse, NULL};
    int64_t rows[K], many[20000];
    float scores[K], of_many[20000], score;
    const size_t count = ask(sparse, terms);
    rag_sparse_info(sparse, &info);
    const enum rag_status fast = rag_sparse_search(&leg, 1, terms, count, K, rows, scores, &fault);
    const enum rag_status direct =
        rag_sparse_search(&leg, 1, terms, count, 20000, many, of_many, &fault);
    MUST(!is_whole || (fast == RAG_OK && direct == RAG_OK));
    for (size_t i = 0; i < K && fast == RAG_OK; i++) {
        if (rows[i] < 0) continue;
        MUST((uint64_t)rows[i] < info.rows);
        if (!is_whole) continue;
        MUST(rows[i] == many[i] && scores[i] == of_many[i]);
        MUST(!rag_sparse_score(sparse, terms, count, &rows[i], 1, &score, &fault));
        MUST(score == scores[i]);
    }
}

/* Pack a row of the section for its builder. */
static void pack(const struct rag_sparse *sparse, const uint32_t *terms, const uint16_t *codes,
                 uint64_t from, uint64_t to, struct buffer *out) {
    struct rag_fault fault;
    const uint8_t *name;
    size_t size;
    out->size = 0;
    for (uint64_t i = from; i < to; i++) {
        uint8_t one[PACKED];
        MUST(!rag_sparse_term(sparse, terms[i], &name, &size, &fault));
        one[0] = (uint8_t)size;
        memcpy(one + 1, name, size);
        one[size + 1] = (uint8_t)codes[i];
        one[size + 2] = (uint8_t)(codes[i] >> 8);
        append(out, one, size + 3);
    }
}

static void write_again(const struct rag_sparse *sparse, size_t size) {
    struct rag_fault fault;
    struct rag_sparse_info info;
    struct buffer row = {NULL, 0}, made = {NULL, 0};
    uint64_t weights, parts;
    rag_sparse_info(sparse, &info);
    uint64_t *starts = calloc(info.rows + 1, sizeof *starts);
    uint32_t *terms = calloc(info.weights + 1, sizeof *terms);
    uint16_t *codes = calloc(info.weights + 1, sizeof *codes);
    struct rag_sparse_builder *builder = rag_sparse_builder_new(64);
    MUST(starts && terms && codes && builder);
    MUST(!rag_sparse_by_row(sparse, starts, terms, codes, &fault));
    for (uint64_t i = 0; i < info.rows; i++) {
        pack(sparse, terms, codes, starts[i], starts[i + 1], &row);
        MUST(!rag_sparse_builder_count(builder, row.bytes, row.size, &fault));
    }
    MUST(!rag_sparse_builder_plan(builder, &weights, &parts, &fault) && weights == info.weights);
    for (uint64_t part = 0; part < parts; part++) {
        MUST(!rag_sparse_builder_begin(builder, part, append, &made, &fault));
        for (uint64_t i = 0; i < info.rows; i++) {
            pack(sparse, terms, codes, starts[i], starts[i + 1], &row);
            MUST(!rag_sparse_builder_put(builder, row.bytes, row.size, &fault));
        }
        MUST(!rag_sparse_builder_end(builder, append, &made, &fault));
    }
    MUST(parts == 0 || made.size == size);
    const struct rag_guard section = {.bytes = made.bytes, .size = made.size};
    struct rag_sparse *again;
    if (parts) {
        MUST(!rag_sparse_open(&section, &again, &fault) && !rag_sparse_check(again, &fault));
        rag_sparse_close(again);
    }
    rag_sparse_builder_free(builder);
    free(starts);
    free(terms);
    free(codes);
    free(row.bytes);
    free(made.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rag_fault fault;
    struct rag_sparse *sparse;
    struct rag_sparse_info info;
    uint8_t *copy = malloc(size ? size : 1);
    MUST(copy);
    if (size) memcpy(copy, data, size);
    const struct rag_guard section = {.bytes = copy, .size = size};
    if (rag_sparse_open(&section, &sparse, &fault) == RAG_OK) {
        const bool is_whole = rag_sparse_check(sparse, &fault) == RAG_OK;
        rag_sparse_info(sparse, &info);
        if (info.rows <= ROWS) search(sparse, is_whole);
        if (is_whole && info.rows <= 64) write_again(sparse, size);
        rag_sparse_close(sparse);
    }
    free(copy);
    return 0;
}
