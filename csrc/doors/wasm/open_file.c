/* open_file.c - open a file: the commit, its sections, its segments, and the causes of failures.
 *
 * JavaScript receives numbers. A call returns a status and leaves further results in `answer`, an
 * array of numbers; each function documents its layout. Offsets and sizes are doubles, exact up to
 * 2^53. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/bits.h"
#include "ragfile/machine.h"
#include "container/format.h"
#include "doors/wasm/wasm.h"
#include "shared/bytes.h"
#include "shared/fail.h"

struct file file;
struct rag_fault fault;
static double answer[16];

EXPORT(answer) double *door_answer(void) { return answer; }
EXPORT(allocate) void *door_allocate(size_t size) {
    return aligned_alloc(64, align_up(size + 1, 64));
}
EXPORT(release) void door_release(void *bytes) { free(bytes); }
EXPORT(fault_what) const char *door_fault_what(void) { return fault.what ? fault.what : ""; }
EXPORT(fault_section) const char *door_fault_section(void) { return fault.section; }
EXPORT(fault_at) double door_fault_at(void) { return (double)fault.at; }
EXPORT(forget) void door_forget(double most) { rag_pages_forget((uint64_t)most); }
EXPORT(kept) double door_kept(void) { return (double)rag_pages_size(); }

/* Parse the first eleven bytes. answer: major, minor, patch, whether big-endian. */
EXPORT(header) int door_header(const uint8_t *bytes, size_t size) {
    struct rag_header header;
    const enum rag_status status = rag_header_read(bytes, size, &header, &fault);
    if (status != RAG_OK) return (int)status;
    answer[0] = header.major, answer[1] = header.minor, answer[2] = header.patch;
    answer[3] = header.big_endian;
    return RAG_OK;
}

/* Release everything built from another generation before opening the next one. */
static void let_go(void) {
    for (size_t i = 0; file.segments && i < file.count; i++) {
        free(file.segments[i].alive);
        free(file.segments[i].embedded);
    }
    free(file.segments);
    rag_reader_close(file.reader);
    file = (struct file){0};
}

/* Open a generation by the container's own number, or the newest for 0. */
EXPORT(open) int door_open(double size, double generation) {
    struct rag_reader *reader;
    rag_init(NULL);
    const enum rag_status status =
        rag_reader_open_source(&rag_pages, (uint64_t)size, (uint64_t)generation, &reader, &fault);
    if (status != RAG_OK) return (int)status;
    let_go();
    file.reader = reader;
    rag_reader_commit(file.reader, &file.commit);
    return RAG_OK;
}

/* answer: generation, created in seconds and nanoseconds, halves of the identity, end, tail, lost
 * generation, entries, segments, read-only, message and its size. */
EXPORT(commit) int door_commit(void) {
    const struct rag_commit *c = &file.commit;
    const double told[] = {(double)c->generation,
                           (double)(c->created / 1000000000),
                           (double)(c->created % 1000000000),
                           (double)(c->identity >> 32),
                           (double)(c->identity & UINT32_MAX),
                           (double)c->end,
                           (double)c->tail,
                           (double)c->lost_generation,
                           c->entries,
                           c->segments,
                           c->read_only,
                           (double)(uintptr_t)c->message,
                           (double)c->message_size};
    memcpy(answer, told, sizeof told);
    return RAG_OK;
}

/* answer: name, segment, flags, generation, at, size, items, extent. */
EXPORT(entry) int door_entry(uint32_t i) {
    struct rag_entry e;
    rag_reader_entry(file.reader, i, &e);
    const double told[] = {(double)(uintptr_t)e.name, e.segment,       e.flags,
                           (double)e.generation,      (double)e.at,    (double)e.size,
                           (double)e.items,           (double)e.extent};
    memcpy(answer, told, sizeof told);
    return RAG_OK;
}

enum rag_status section_guard(const char *name, uint32_t segment, struct rag_guard *guard,
                              bool *found) {
    const int64_t i = rag_reader_find(file.reader, name, segment);
    *found = i >= 0;
    return *found ? rag_reader_guard(file.reader, (uint32_t)i, guard, &fault) : RAG_OK;
}

/* Read and check a whole section. answer: its address, its size. */
EXPORT(section) int door_section(const char *name, uint32_t segment) {
    struct rag_guard guard;
    bool found;
    enum rag_status status = section_guard(name, segment, &guard, &found);
    if (status == RAG_OK && !found)
        status = rag_fail(&fault, RAG_ARGUMENT, 0, "there is no such section");
    if (status == RAG_OK) status = rag_guard_check(&guard, 0, guard.size, &fault);
    if (status != RAG_OK) return (int)status;
    answer[0] = guard.size ? (double)(uintptr_t)rag_guard_at(&guard, 0) : 0;
    answer[1] = (double)guard.size;
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- segments */

/* Reads and checks a section of deleted rows, if the segment has it. */
static enum rag_status read_whole(const struct segment *segment, const char *name,
                                  struct rag_guard *guard, bool *found) {
    enum rag_status status = section_guard(name, segment->record.number, guard, found);
    return status == RAG_OK && *found ? rag_guard_check(guard, 0, guard->size, &fault) : status;
}

static enum rag_status read_tombs(struct segment *segment) {
    const uint64_t rows = segment->record.rows;
    const size_t size = (size_t)((rows + 63) / 64 * 8);
    struct rag_guard bitmap, list;
    bool has_bitmap, has_list;
    if (segment->record.live == rows || segment->alive) return RAG_OK;
    enum rag_status status = read_whole(segment, TOMBS_NAME, &bitmap, &has_bitmap),
                    other = read_whole(segment, DELETED_NAME, &list, &has_list);
    if (status != RAG_OK || other != RAG_OK) return status != RAG_OK ? status : other;
    if ((!has_bitmap && !has_list) || (has_bitmap && bitmap.size < size))
        return rag_fail(&fault, RAG_CORRUPT, rows, "a bitmap is too small for its rows");
    uint64_t *alive = malloc(size + 8);
    uint8_t *none = has_bitmap ? NULL : calloc(size + 8, 1);
    if (!alive || (!has_bitmap && !none)) {
        free(alive);
        return rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    }
    rag_bitmap_rest(has_bitmap ? rag_guard_at(&bitmap, 0) : none, rows, alive);
    free(none);
    if (has_list && !rag_bits_clear_listed(rag_guard_at(&list, 0), list.size / 4, rows, alive)) {
        free(alive);
        return rag_fail(&fault, RAG_CORRUPT, rows, "a deleted row that the segment does not have");
    }
    segment->alive = alive;
    return RAG_OK;
}

/* Open the segments of the commit, with their deleted rows. */
EXPORT(open_segments) int door_open_segments(int metric) {
    enum rag_status status = RAG_OK, each;
    uint64_t base = 0;
    file.metric = (enum rag_metric)metric;
    if (!file.segments) file.segments = calloc(file.commit.segments + 1, sizeof *file.segments);
    if (!file.segments) return (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    file.count = file.commit.segments;
    for (uint32_t i = 0; i < file.count; i++) {
        struct segment *segment = &file.segments[i];
        rag_reader_segment(file.reader, i, &segment->record);
        segment->base = base;
        base += segment->record.rows;
        each = read_tombs(segment);
        if (each != RAG_OK && each != RAG_SOURCE) return (int)each;
        if (each != RAG_OK) status = each;
    }
    return (int)status;
}

/* answer: number, rows, live rows, base. */
EXPORT(segment) int door_segment(uint32_t i) {
    const struct segment *segment = &file.segments[i];
    answer[0] = segment->record.number, answer[1] = (double)segment->record.rows;
    answer[2] = (double)segment->record.live, answer[3] = (double)segment->base;
    return RAG_OK;
}

/* Return the bitmap of live rows, or NULL. */
EXPORT(alive) const uint64_t *door_alive(uint32_t i) { return file.segments[i].alive; }

/* Restrict later queries to rows of the mask: one byte per row of the file, or NULL for all live
 * rows. */
EXPORT(filter) int door_filter(const uint8_t *mask) {
    for (size_t i = 0; i < file.count; i++) {
        struct segment *segment = &file.segments[i];
        const size_t words = (size_t)(segment->record.rows + 63) / 64;
        free(segment->where);
        segment->where = malloc(8 * words + 8);
        if (!segment->where) return (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory");
        if (!mask && segment->alive) memcpy(segment->where, segment->alive, 8 * words);
        if (!mask && !segment->alive) free(segment->where), segment->where = NULL;
        if (!mask) continue;
        rag_bits_pack(mask + segment->base, segment->record.rows, segment->where);
        for (size_t w = 0; segment->alive && w < words; w++) segment->where[w] &= segment->alive[w];
    }
    return RAG_OK;
}

struct segment *segment_of(uint64_t row) {
    size_t low = 0, high = file.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (file.segments[middle].base <= row) low = middle + 1;
        else high = middle;
    }
    while (low > 0 && row - file.segments[low - 1].base >= file.segments[low - 1].record.rows)
        low--;
    return low > 0 ? &file.segments[low - 1] : NULL;
}

static enum rag_status need_section(const char *name, uint32_t segment, struct rag_guard *guard) {
    bool found;
    const enum rag_status status = section_guard(name, segment, guard, &found);
    if (status != RAG_OK || found) return status;
    rag_fail(&fault, RAG_CORRUPT, segment, "a segment lacks a section");
    strncpy(fault.section, name, sizeof fault.section - 1);
    return RAG_CORRUPT;
}

enum rag_status segment_records(struct segment *segment) {
    const uint32_t number = segment->record.number;
    if (segment->has_records) return RAG_OK;
    enum rag_status status = need_section("rag.chunks", number, &segment->records.chunks);
    if (status == RAG_OK)
        status = need_section("rag.documents", number, &segment->records.documents);
    if (status == RAG_OK) status = need_section("rag.ids", number, &segment->records.ids);
    if (status == RAG_OK) status = rag_records_open(&segment->records, &fault);
    if (status == RAG_OK && segment->records.rows != segment->record.rows)
        status = rag_fail(&fault, RAG_CORRUPT, segment->records.rows,
                          "a segment has another number of rows than of chunk records");
    segment->has_records = status == RAG_OK;
    return status;
}

enum rag_status segment_streams(struct segment *segment) {
    const uint32_t number = segment->record.number;
    enum rag_status status = RAG_OK, other;
    if (segment->has_streams) return RAG_OK;
    status = need_section("rag.text", number, &segment->texts.guard);
    if (status == RAG_OK) status = need_section("rag.meta", number, &segment->meta.guard);
    if (status != RAG_OK) return status;
    status = rag_stream_open(&segment->texts, &fault);
    if (status != RAG_OK && status != RAG_SOURCE) return status;
    other = rag_stream_open(&segment->meta, &fault);
    if (other != RAG_OK) return other;
    segment->has_streams = status == RAG_OK;
    return status;
}

/* --------------------------------------------------------------------------------- finer sums */

/* True if the table of contents has a section at these bytes: sums of a rewritten section are
 * useless. */
static bool is_section(uint64_t at, uint64_t size, uint32_t segment) {
    for (uint32_t i = 0; i < file.commit.entries; i++) {
        struct rag_entry e;
        rag_reader_entry(file.reader, i, &e);
        if (e.at == at) return e.size == size && e.segment == segment;
    }
    return false;
}

static enum rag_status take_fine(struct segment *segment) {
    const uint32_t number = segment->record.number;
    struct rag_small_blocks *fine = &segment->fine;
    bool found;
    enum rag_status status = section_guard(FINE_NAME, number, &fine->guard, &found);
    if (status == RAG_OK && found) status = rag_small_blocks_open(fine, &fault);
    for (uint32_t i = 0; status == RAG_OK && found && i < fine->count; i++) {
        uint64_t at, size, sums_at;
        rag_small_blocks_entry(fine, i, &at, &size, &sums_at);
        if (is_section(at, size, number))
            rag_pages_fine(at, size, fine->grain, &fine->guard, sums_at);
    }
    return status;
}

/* Enable the finer sums of all segments; call before reading anything else of them. */
EXPORT(fine_open) int door_fine_open(void) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < file.count; i++) {
        const enum rag_status one = take_fine(&file.segments[i]);
        if (one != RAG_OK && one != RAG_SOURCE) return (int)one;
        if (one != RAG_OK) status = one;
    }
    return (int)status;
}
