/* stored_sample.c - rag.sample: the rows of a segment that calibrate fusion, with their vectors
 * side by side, so that the first hybrid query reads one megabyte instead of all ids and a thousand
 * scattered rows.
 *
 *   0   "RAGSAMP1"      8  u64 entries        16 u32 dim        20 u32 bits        24 zero
 *   64  u64 hash of each entry's key          …  u64 row of each entry
 *   …   zero to 64      …  the vectors, components alone
 *
 * Entries ascend by (hash, row). There are more than a sample takes, so that some rows can be
 * deleted before it becomes too small; spec/parts/container.md defines that limit. Opening checks
 * everything but the vectors, which may hold any numbers, as in `vector`. */
#include <stdlib.h>

#include "ragfile/sample.h"
#include "container/format.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static uint64_t hashes_end(uint64_t count) { return SAMPLE_HEAD_SIZE + 16 * count; }

uint64_t rag_stored_sample_vectors(uint64_t count) {
    return align_up(hashes_end(count), SECTION_ALIGN);
}

void rag_stored_sample_head(uint8_t out[RAG_SAMPLE_HEAD], uint64_t count, uint32_t dim,
                            uint32_t bits) {
    memset(out, 0, SAMPLE_HEAD_SIZE);
    memcpy(out, SAMPLE_MAGIC, 8);
    store_u64(out + SAMPLE_COUNT, count);
    store_u32(out + SAMPLE_DIM, dim);
    store_u32(out + SAMPLE_BITS, bits);
}

static bool is_zero(const uint8_t *bytes, uint64_t from, uint64_t to) {
    for (; from < to; from++)
        if (bytes[from]) return false;
    return true;
}

static uint64_t hash_of(const struct rag_stored_sample *s, uint64_t i) {
    return load_u64(rag_guard_at(&s->guard, SAMPLE_HEAD_SIZE + 8 * i));
}

static uint64_t row_of(const struct rag_stored_sample *s, uint64_t i) {
    return load_u64(rag_guard_at(&s->guard, SAMPLE_HEAD_SIZE + 8 * (s->count + i)));
}

/* Check the head and the section size it implies: at most SAMPLE_MAX entries, so nothing
 * overflows. */
static enum rag_status check_head(struct rag_stored_sample *s, uint64_t rows, uint32_t dim,
                                  uint32_t bits, struct rag_fault *fault) {
    const uint8_t *head = rag_guard_at(&s->guard, 0);
    if (s->guard.size < SAMPLE_HEAD_SIZE || memcmp(head, SAMPLE_MAGIC, 8) != 0)
        return rag_fail(fault, RAG_FORMAT, 0, "no RAGSAMP1");
    s->count = load_u64(head + SAMPLE_COUNT);
    if (s->count > SAMPLE_MAX || s->count > rows)
        return rag_fail(fault, RAG_FORMAT, SAMPLE_COUNT, "a sample of more rows than there can be");
    if (load_u32(head + SAMPLE_DIM) != dim || load_u32(head + SAMPLE_BITS) != bits)
        return rag_fail(fault, RAG_FORMAT, SAMPLE_DIM, "a sample of other vectors");
    if (!is_zero(head, SAMPLE_ZERO, SAMPLE_HEAD_SIZE))
        return rag_fail(fault, RAG_FORMAT, SAMPLE_ZERO, "reserved bytes are not zero");
    s->at = rag_stored_sample_vectors(s->count);
    if (s->guard.size != s->at + s->count * ((uint64_t)dim * bits / 8))
        return rag_fail(fault, RAG_FORMAT, SAMPLE_COUNT, "a sample of another size than its rows");
    if (!is_zero(head, hashes_end(s->count), s->at))
        return rag_fail(fault, RAG_FORMAT, hashes_end(s->count), "padding is not zero");
    return RAG_OK;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Check that no row occurs twice, which the (hash, row) order does not imply. */
static enum rag_status check_distinct(const struct rag_stored_sample *s, struct rag_fault *fault) {
    uint64_t *rows = malloc((s->count + 1) * sizeof *rows);
    if (!rows) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a sample");
    for (uint64_t i = 0; i < s->count; i++) rows[i] = row_of(s, i);
    qsort(rows, s->count, sizeof *rows, by_number);
    bool is_twice = false;
    for (uint64_t i = 1; i < s->count; i++) is_twice |= rows[i] == rows[i - 1];
    free(rows);
    return is_twice ? rag_fail(fault, RAG_FORMAT, SAMPLE_HEAD_SIZE, "a row is in the sample twice")
                    : RAG_OK;
}

static enum rag_status check_entries(const struct rag_stored_sample *s, uint64_t rows,
                                     struct rag_fault *fault) {
    for (uint64_t i = 0; i < s->count; i++) {
        const uint64_t at = SAMPLE_HEAD_SIZE + 8 * i;
        if (row_of(s, i) >= rows)
            return rag_fail(fault, RAG_FORMAT, at + 8 * s->count, "a row that is not there");
        if (i > 0 && (hash_of(s, i - 1) > hash_of(s, i) ||
                      (hash_of(s, i - 1) == hash_of(s, i) && row_of(s, i - 1) >= row_of(s, i))))
            return rag_fail(fault, RAG_FORMAT, at, "the entries of a sample do not ascend");
    }
    return check_distinct(s, fault);
}

enum rag_status rag_stored_sample_open(struct rag_stored_sample *s, uint64_t rows, uint32_t dim,
                                       uint32_t bits, struct rag_fault *fault) {
    enum rag_status status = rag_guard_check(&s->guard, 0, s->guard.size, fault);
    if (status == RAG_OK) status = check_head(s, rows, dim, bits, fault);
    if (status == RAG_OK) status = check_entries(s, rows, fault);
    if (status != RAG_OK && fault->section[0] == 0)
        memcpy(fault->section, s->guard.name, sizeof fault->section);
    return status;
}

void rag_stored_sample_entry(const struct rag_stored_sample *s, uint64_t i, uint64_t *hash,
                             uint64_t *row) {
    *hash = hash_of(s, i);
    *row = row_of(s, i);
}
