/* pairs.c - a libFuzzer target for everything that reads a 0.1.0 file.
 *
 *     csrc/tests/fuzz/build.sh && fuzz-build/pairs -max_len=4096 csrc/tests/fuzz/corpus_pairs
 *
 * The input ends at an unreadable page, so that an overread by one byte crashes even without a
 * sanitizer. The core must also be consistent: a lookup must find the results of a plain walk, on
 * every target. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ragfile.h"

enum { PAGE = 4096, PAGES = 32 };

static uint8_t *guarded(const uint8_t *data, size_t size) {
    static uint8_t *area;
    if (!area) {
        area = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
        if (area == MAP_FAILED || mprotect(area + PAGES * PAGE, PAGE, PROT_NONE) != 0) abort();
    }
    uint8_t *start = area + PAGES * PAGE - size;
    memcpy(start, data, size);
    return start;
}

static bool walk_finds(const struct rag_pairs *pairs, const uint8_t *key, size_t key_size,
                       struct rag_spans *expected) {
    struct rag_pair pair;
    size_t count = 0;
    for (uint64_t cursor = 0; cursor < pairs->size;) {
        if (rag_pairs_next(pairs, &cursor, &pair, NULL)) return false;
        if (pair.head_size != key_size || memcmp(pairs->bytes + pair.at, key, key_size) != 0)
            continue;
        if (count >= expected->count || expected->items[count].at != pair.content_at ||
            expected->items[count].size != pair.content_size)
            abort();
        count++;
    }
    if (count != expected->count) abort();
    return true;
}

static void try_lookup(const struct rag_pairs *pairs, const uint8_t *key, size_t key_size) {
    static const char *targets[] = {"baseline", "avx2", "avx512"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct rag_spans spans = {0};
        struct rag_fault fault;
        if (rag_init(targets[i])) continue;
        enum rag_status status = rag_pairs_lookup(pairs, key, key_size, &spans, &fault);
        struct rag_spans none = {0};
        if (!status && !walk_finds(pairs, key, key_size, &spans)) abort();
        if (status && key_size && walk_finds(pairs, (const uint8_t *)"\0", 1, &none)) abort();
        rag_spans_free(&spans);
    }
}

static void try_keyword(const struct rag_pairs *pairs, const uint8_t *section, uint64_t size,
                        uint64_t at) {
    uint64_t cursor = 0, count, stride, offsets[16];
    struct rag_fault fault;
    struct rag_pair pair;
    try_lookup(pairs, (const uint8_t *)"AI", 2);
    try_lookup(pairs, (const uint8_t *)"", 0);
    if (pairs->size && !rag_pairs_next(pairs, &cursor, &pair, &fault))
        try_lookup(pairs, pairs->bytes, pair.head_size);
    if (!rag_pairs_walk(pairs, offsets, 16, &count, &stride, &fault) && count < 10000) {
        uint8_t *built = malloc(RAG_KEYS_HEADER + 16 * count);
        struct rag_keys keys;
        if (rag_keys_build(pairs, count, built, &fault) ||
            rag_keys_open(built, RAG_KEYS_HEADER + 16 * count, 0, pairs->big_endian, pairs, &keys,
                          &fault) ||
            rag_keys_verify(&keys, pairs, &fault))
            abort();
        free(built);
    }
    struct rag_keys keys;
    if (section && !rag_keys_open(section, size, at, pairs->big_endian, pairs, &keys, &fault)) {
        struct rag_spans spans = {0};
        rag_keys_lookup(&keys, pairs, (const uint8_t *)"AI", 2, &spans, &fault);
        rag_keys_lookup(&keys, pairs, (const uint8_t *)"long keyword", 12, &spans, &fault);
        rag_spans_free(&spans);
        rag_keys_verify(&keys, pairs, &fault);
    }
}

static void try_vector(struct rag_pairs *pairs) {
    uint32_t dims[16];
    uint64_t count, stride, offsets[16];
    uint8_t rows[16 * 64];
    size_t fitting;
    struct rag_fault fault;
    if (!pairs->dim && (rag_pairs_infer(pairs, dims, 16, &fitting, &fault) || !fitting)) return;
    if (!pairs->dim) rag_pairs_set_dim(pairs, dims[0], &fault);
    rag_pairs_walk(pairs, offsets, 16, &count, &stride, &fault);
    if (pairs->head <= 64) rag_pairs_gather(pairs, NULL, pairs->stride, 16, rows, &fault);
}

static void try_strict(const uint8_t *bytes, size_t size) {
    struct rag_directory directory;
    struct rag_fault fault;
    if (rag_directory_read(bytes, size, &directory, &fault)) return;
    const struct rag_strategy *keys = NULL;
    for (uint32_t i = 0; i < directory.count; i++)
        if (strcmp(directory.entries[i].name, "rag.keys") == 0) keys = &directory.entries[i];
    for (uint32_t i = 0; i < directory.count; i++) {
        const struct rag_strategy *entry = &directory.entries[i];
        const uint8_t *section = bytes + entry->start;
        uint64_t length = entry->end + 1 - entry->start;
        struct rag_pairs pairs;
        if (!rag_keyword_pairs_open(section, length, entry->start, directory.big_endian, &pairs,
                                    &fault))
            try_keyword(&pairs, keys ? bytes + keys->start : NULL,
                        keys ? keys->end + 1 - keys->start : 0, 0);
        if (!rag_vector_pairs_open(section, length, entry->start, directory.big_endian, &pairs,
                                   &fault))
            try_vector(&pairs);
    }
    rag_directory_free(&directory);
}

static void try_reference(const uint8_t *bytes, size_t size) {
    struct rag_directory directory;
    struct rag_fault fault;
    if (rag_directory_read_reference(bytes, size, &directory, &fault)) return;
    for (uint32_t i = 0; i < directory.count; i++) {
        struct rag_pairs pairs;
        struct rag_remnants remnants;
        uint64_t damaged;
        if (rag_reference_open(bytes, size, &directory, i, &pairs, &damaged, &fault)) continue;
        if (!pairs.padding) pairs.padding = 4;
        if (pairs.precision) rag_pairs_set_dim(&pairs, 1 + size % 5, &fault);
        if (!rag_reference_walk(&pairs, damaged, &remnants, &fault)) rag_remnants_free(&remnants);
    }
    rag_directory_free(&directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > PAGES * PAGE) return 0;
    const uint8_t *bytes = guarded(data, size);
    try_strict(bytes, size);
    try_reference(bytes, size);
    for (uint8_t padding = 4; padding <= 16;
         padding *= 2) { /* the pairs alone, which fuzzers reach sooner */
        struct rag_pairs pairs = {.bytes = bytes, .size = size, .padding = padding};
        try_keyword(&pairs, NULL, 0, 0);
        pairs.precision = 32;
        try_vector(&pairs);
    }
    return 0;
}
