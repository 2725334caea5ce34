/* verify.c - verify every byte of a file that is entirely in memory, with the container's own
 * verification. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile/bits.h"
#include "ragfile/titles.h"
#include "ragfile/words.h"
#include "container/format.h"
#include "doors/wasm/wasm.h"
#include "shared/fail.h"
#include "vectors/vectors.h"

static struct rag_fault *faults;
static size_t fault_count, fault_room;

static void keep(void *context, const struct rag_fault *found) {
    enum { MOST = 1000 };
    (void)context;
    if (fault_count == fault_room && fault_room < MOST) {
        struct rag_fault *more = realloc(faults, (fault_room + 50) * sizeof *more);
        if (more) faults = more, fault_room += 50;
    }
    if (fault_count < fault_room) faults[fault_count++] = *found;
}

/* Check the newest commit of a file's bytes; with full, every older one too. *count gets the number
 * of faults; check_fault selects each. */
EXPORT(check) int check(const uint8_t *bytes, size_t size, int full, uint32_t *count) {
    struct rag_reader *reader;
    struct rag_verdict verdict;
    fault_count = 0;
    const enum rag_status status = rag_reader_open(bytes, size, 0, &reader, &fault);
    if (status != RAG_OK) return (int)status;
    rag_reader_verify(reader, full != 0, keep, NULL, &verdict);
    rag_reader_close(reader);
    *count = (uint32_t)fault_count;
    return RAG_OK;
}

/* Select fault i for fault_what and its like; return its status. */
EXPORT(check_fault) int check_fault(uint32_t i) {
    fault = faults[i];
    return (int)fault.status;
}

static enum rag_status bad_bare(uint64_t at, const char *what) {
    rag_fail(&fault, RAG_CORRUPT, at, what);
    memcpy(fault.section, BARE_NAME, sizeof BARE_NAME);
    return RAG_CORRUPT;
}

/* Check that exactly the named rows are NaN. */
static enum rag_status check_rows(const struct segment *segment, const uint8_t *bits) {
    const struct rag_matrix *matrix = &segment->matrix;
    float *scratch = malloc(4 * (size_t)matrix->dim + 8);
    enum rag_status status = rag_matrix_touch(matrix, 0, matrix->count, &fault);
    if (!scratch) status = rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    for (uint64_t row = 0; status == RAG_OK && row < matrix->count; row++) {
        memcpy(scratch, rag_matrix_floats(matrix, row, scratch), 4 * (size_t)matrix->dim);
        size_t numbers = 0;
        for (uint32_t i = 0; i < matrix->dim; i++) numbers += !isnan(scratch[i]);
        const bool is_finite = rag_first_not_finite(scratch, matrix->dim) == matrix->dim;
        if (rag_bitmap_has(bits, row) ? numbers > 0 : !is_finite)
            status = bad_bare(row, "a row and rag.bare disagree on its vector");
    }
    free(scratch);
    return status;
}

static enum rag_status check_bits(const uint8_t *bits, uint64_t size, uint64_t rows, uint64_t items,
                                  bool has_vectors) {
    uint64_t count = 0, past = 0;
    if (size != (rows + 63) / 64 * 8) return bad_bare(size, "a bitmap of another size");
    for (uint64_t i = 0; i < 8 * size; i++)
        if (rag_bitmap_has(bits, i)) (*(i < rows ? &count : &past))++;
    if (past) return bad_bare(rows, "a bit after the last row");
    if (count == 0 || count != items) return bad_bare(count, "not as many bits as items");
    if (!has_vectors && count != rows) return bad_bare(count, "a row whose vector is not there");
    return RAG_OK;
}

/* Check a segment's rag.bare, if it has one. */
EXPORT(check_bare) int check_bare(uint32_t i) {
    struct segment *segment = &file.segments[i];
    const uint32_t number = segment->record.number;
    struct rag_guard guard;
    struct rag_entry entry;
    bool found;
    enum rag_status status = section_guard(BARE_NAME, number, &guard, &found);
    if (status == RAG_OK && found) status = rag_guard_check(&guard, 0, guard.size, &fault);
    if (status != RAG_OK || !found) return (int)status;
    rag_reader_entry(file.reader, (uint32_t)rag_reader_find(file.reader, BARE_NAME, number),
                     &entry);
    const uint8_t *bits = rag_guard_at(&guard, 0);
    const bool has_vectors = rag_reader_find(file.reader, "vector", number) >= 0;
    status = check_bits(bits, guard.size, segment->record.rows, entry.items, has_vectors);
    if (status == RAG_OK && segment->has_matrix) status = check_rows(segment, bits);
    return (int)status;
}

static enum rag_status check_picked(const struct segment *segment) {
    struct rag_guard guard;
    bool found;
    const enum rag_status status = section_guard(BARE_NAME, segment->record.number, &guard, &found);
    for (uint64_t i = 0; status == RAG_OK && found && i < segment->sample.count; i++) {
        uint64_t hash, row;
        rag_stored_sample_entry(&segment->sample, i, &hash, &row);
        if (rag_bitmap_has(rag_guard_at(&guard, 0), row))
            return bad_bare(row, "a sample with a row without a vector");
    }
    return status;
}

/* ----------------------------------------------------------------------------------- the sample */

static enum rag_status bad_sample(uint64_t at, const char *what) {
    rag_fail(&fault, RAG_CORRUPT, at, what);
    strcpy(fault.section, "rag.sample");
    return RAG_CORRUPT;
}

/* Check that the entries still eligible are the first of all eligible rows, in order: no eligible
 * row outside the section precedes its last entry. Has room for one more than the entries. */
static enum rag_status compare_first(struct segment *segment, uint64_t *hashes, uint64_t *rows) {
    const struct rag_stored_sample *stored = &segment->sample;
    const uint64_t *can = segment_sampled(segment);
    uint64_t hash = 0, row = 0;
    size_t found, next = 0;
    const enum rag_status status = rag_records_sample(&segment->records, can, hashes, rows,
                                                      (size_t)stored->count + 1, &found, &fault);
    if (status != RAG_OK) return status;
    for (uint64_t i = 0; i < stored->count; i++) {
        rag_stored_sample_entry(stored, i, &hash, &row);
        if (can && !rag_bitmap_has((const uint8_t *)can, row)) continue;
        if (next >= found || hashes[next] != hash || rows[next] != row)
            return bad_sample(row, "the sample has other rows than those with the smallest hashes");
        next++;
    }
    if (stored->count && next < found &&
        (hashes[next] < hash || (hashes[next] == hash && rows[next] < row)))
        return bad_sample(rows[next], "the sample leaves out a row with a smaller hash");
    return RAG_OK;
}

static enum rag_status check_first(struct segment *segment) {
    const size_t room = 8 * ((size_t)segment->sample.count + 1);
    uint64_t *hashes = malloc(room), *rows = malloc(room);
    enum rag_status status = segment_records_whole(segment);
    if (!hashes || !rows) status = rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    if (status == RAG_OK) status = compare_first(segment, hashes, rows);
    free(hashes);
    free(rows);
    return status;
}

/* Check the hashes of the entries' row keys, deleted rows included. */
static enum rag_status check_hash(const struct segment *segment, uint64_t row, uint64_t hash) {
    uint64_t only[1], there[1];
    size_t found = 0;
    const size_t words = (size_t)(segment->record.rows + 63) / 64;
    uint64_t *one = calloc(words + 1, 8);
    if (!one) return rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    one[row / 64] = (uint64_t)1 << row % 64;
    const enum rag_status status =
        rag_records_sample(&segment->records, one, only, there, 1, &found, &fault);
    free(one);
    if (status != RAG_OK || (found == 1 && only[0] == hash)) return status;
    return bad_sample(row, "the sample has another hash of a row");
}

static enum rag_status check_vector(const struct segment *segment, uint64_t i, uint64_t row) {
    const struct rag_matrix *matrix = &segment->matrix;
    const struct rag_stored_sample *stored = &segment->sample;
    const size_t width = (size_t)matrix->dim * (matrix->scalar == RAG_F16 ? 2 : 4);
    const enum rag_status status = rag_matrix_touch(matrix, row, 1, &fault);
    if (status != RAG_OK) return status;
    const uint8_t *there = rag_guard_at(&matrix->guard, matrix->at + row * matrix->stride);
    if (memcmp(there, rag_guard_at(&stored->guard, stored->at + i * width), width) == 0)
        return RAG_OK;
    return bad_sample(row, "the sample has another vector of a row");
}

static enum rag_status check_entries(const struct segment *segment) {
    enum rag_status status = RAG_OK;
    for (uint64_t i = 0; status == RAG_OK && i < segment->sample.count; i++) {
        uint64_t hash, row;
        rag_stored_sample_entry(&segment->sample, i, &hash, &row);
        const uint64_t *can = segment_sampled(segment);
        if (can && !rag_bitmap_has((const uint8_t *)can, row))
            status = check_hash(segment, row, hash); /* the others were compared */
        if (status == RAG_OK) status = check_vector(segment, i, row);
    }
    return status;
}

/* Check a segment's rag.sample, if it has one; call after check_bare. */
EXPORT(check_sample) int check_sample(uint32_t i) {
    struct segment *segment = &file.segments[i];
    bool found;
    if (!segment->has_matrix) return RAG_OK;
    enum rag_status status =
        section_guard("rag.sample", segment->record.number, &segment->sample.guard, &found);
    if (status != RAG_OK || !found) return (int)status;
    status = rag_stored_sample_open(&segment->sample, segment->record.rows, segment->matrix.dim,
                                    segment->matrix.scalar == RAG_F16 ? 16 : 32, &fault);
    if (status == RAG_OK) status = check_picked(segment);
    if (status == RAG_OK) status = check_first(segment);
    return status == RAG_OK ? (int)check_entries(segment) : (int)status;
}

/* ----------------------------------------------------------------------------------- the titles */

static struct rag_titles titles; /* of the segment being checked */
static uint64_t titles_met;

static enum rag_status bad_titles(uint64_t at, const char *what) {
    rag_fail(&fault, RAG_CORRUPT, at, what);
    strcpy(fault.section, "rag.titles");
    return RAG_CORRUPT;
}

/* Check the entries of a segment's rag.titles; *found is 0 without the section. Pass each document
 * with rows to check_title, then call check_titles_end. */
EXPORT(check_titles) int check_titles(uint32_t i, uint32_t *found) {
    const struct segment *segment = &file.segments[i];
    struct rag_entry entry;
    bool has;
    const uint32_t number = segment->record.number;
    enum rag_status status = section_guard("rag.titles", number, &titles.guard, &has);
    *found = status == RAG_OK && has;
    if (!*found) return (int)status;
    rag_reader_entry(file.reader, (uint32_t)rag_reader_find(file.reader, "rag.titles", number),
                     &entry);
    titles_met = 0;
    status = rag_titles_open(&titles, &fault);
    if (status == RAG_OK) status = rag_titles_check(&titles, segment->records.count, &fault);
    if (status == RAG_OK && entry.items != titles.count)
        status = bad_titles(0, "not as many titles as items");
    return (int)status;
}

/* Check that a document has the keys of its title; rules are those of rag_analyze. */
EXPORT(check_title)
int check_title(uint32_t document, const uint8_t *title, size_t size, unsigned rules) {
    uint64_t keys[RAG_TITLE_KEYS];
    const size_t count = rag_title_keys(title, size, rules & RAG_STRIP_ACCENTS, keys);
    for (size_t i = 0; i < count; i++)
        if (!rag_titles_has(&titles, keys[i], document))
            return (int)bad_titles(document, "a document has another title");
    titles_met += count;
    return RAG_OK;
}

EXPORT(check_titles_end) int check_titles_end(void) {
    return titles_met == titles.count ? RAG_OK
                                      : (int)bad_titles(0, "a title that its document lacks");
}

/* Check that the bounds of a segment's shadow hold for every row; call after vectors_open. */
EXPORT(check_shadow) int check_shadow(uint32_t i) {
    const struct segment *segment = &file.segments[i];
    if (!segment->has_shadow) return RAG_OK;
    return (int)rag_shadow_check(&segment->shadow, &segment->matrix, &fault);
}
