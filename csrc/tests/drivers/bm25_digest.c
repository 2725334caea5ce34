/* bm25_digest.c - build and search a small lexicon, then print a digest of the sections and all
 * results. Every target and architecture must print the same digest. `make -C tests digest` builds
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile.h"

enum { ROWS = 70000, QUERIES = 60, K = 100 };

struct bytes {
    uint8_t *at;
    size_t size, capacity;
};

static int append(void *context, const void *data, size_t size) {
    struct bytes *bytes = context;
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + size);
        bytes->at = realloc(bytes->at, bytes->capacity);
        if (!bytes->at) return -1;
    }
    memcpy(bytes->at + bytes->size, data, size);
    bytes->size += size;
    return 0;
}

static int read_back(void *context, uint64_t at, void *data, size_t size) {
    const struct bytes *bytes = context;
    if (at + size > bytes->size) return -1;
    memcpy(data, bytes->at + at, size);
    return 0;
}

static uint64_t state = 88172645463325252u;
static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) % below);
}

/* Draw words with a steep frequency distribution, some of them not ASCII. */
static size_t draw_text(char *out, size_t words) {
    size_t size = 0;
    for (size_t i = 0; i < words; i++) {
        const uint32_t word = draw(1u << draw(12));
        size += (size_t)sprintf(out + size,
                                word % 7 == 3    ? "\xC3\x89t%u "
                                : word % 11 == 5 ? "\xE6\x9D\xB1\xE4\xBA\xAC%u "
                                                 : "Word_%u ",
                                word);
    }
    return size;
}

/* Every word is its own term. */
static void resolve(struct rag_vocabulary *vocabulary) {
    size_t size;
    const uint8_t *pending = rag_vocabulary_pending(vocabulary, &size);
    uint8_t *terms = malloc(size + 1);
    if (size) memcpy(terms, pending, size);
    if (rag_vocabulary_resolve(vocabulary, terms, size, NULL) != RAG_OK) exit(1);
    free(terms);
}

static void build(struct bytes *terms, struct bytes *postings) {
    struct bytes spilled = {0};
    struct rag_lexical_builder *builder = rag_lexical_builder_new(
        1.2, 0.75, 0, 2 << 20, (struct rag_spill){append, read_back, &spilled});
    char text[4096];
    for (size_t row = 0; row < ROWS; row++) {
        const size_t size = draw_text(text, draw(30));
        if (rag_lexical_builder_text(builder, (uint8_t *)text, size, 1, false, NULL) ||
            rag_lexical_builder_end_row(builder, NULL))
            exit(1);
        if (row % 1000) continue;
        resolve(rag_lexical_builder_vocabulary(builder));
        if (rag_lexical_builder_commit(builder, NULL)) exit(1);
    }
    resolve(rag_lexical_builder_vocabulary(builder));
    const struct rag_sink to_terms = {append, terms}, to_postings = {append, postings};
    if (rag_lexical_builder_finish(builder, NULL, 0, to_postings, to_terms, NULL, NULL)) exit(1);
    rag_lexical_builder_free(builder);
    free(spilled.at);
}

static void ask(const struct bytes *terms, const struct bytes *postings, struct bytes *answers) {
    const struct rag_guard term_guard = {.bytes = terms->at, .size = terms->size},
                           posting_guard = {.bytes = postings->at, .size = postings->size};
    static int64_t rows[QUERIES * K];
    static float scores[QUERIES * K];
    struct rag_lexicon *lexicon;
    struct rag_lexicon_info info;
    char text[4096];
    if (rag_lexicon_open(&term_guard, &posting_guard, &lexicon, NULL)) exit(1);
    rag_lexicon_info(lexicon, &info);
    struct rag_vocabulary *vocabulary = rag_vocabulary_new();
    struct rag_queries *queries = rag_queries_new();
    for (size_t i = 0; i < QUERIES; i++)
        if (rag_queries_add(queries, vocabulary, (uint8_t *)text, draw_text(text, i / 3 + 1), 0,
                            NULL))
            exit(1);
    resolve(vocabulary);
    if (rag_queries_finish(queries, vocabulary, NULL)) exit(1);
    const struct rag_lexical_stats stats = {info.rows, info.total_length, 1.2, 0.75};
    for (size_t k = 1; k <= K; k *= 10) {
        if (rag_lexicon_search_batch(lexicon, queries, QUERIES, &stats, NULL, NULL, k, 2, rows,
                                     scores, NULL))
            exit(1);
        append(answers, rows, QUERIES * k * sizeof *rows);
        append(answers, scores, QUERIES * k * sizeof *scores);
    }
    rag_queries_free(queries);
    rag_vocabulary_free(vocabulary);
    rag_lexicon_close(lexicon);
}

int main(void) {
    struct bytes terms = {0}, postings = {0}, answers = {0};
    if (rag_init(NULL) != RAG_OK) return 1;
    build(&terms, &postings);
    ask(&terms, &postings, &answers);
    printf("%016llx %016llx %016llx %s\n", (unsigned long long)rag_hash(terms.at, terms.size),
           (unsigned long long)rag_hash(postings.at, postings.size),
           (unsigned long long)rag_hash(answers.at, answers.size), rag_target());
    free(terms.at);
    free(postings.at);
    free(answers.at);
    return 0;
}
