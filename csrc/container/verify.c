/* verify.c - verifies every byte of a 1.0 file.
 *
 * A generation is correct if its front page, its table and each of its sections are. The full
 * walk verifies every older commit, too, so that superseded sections and tables are covered. It
 * also accounts for all bytes: commits tile the file, and bytes between two commits are remains
 * of a writer that died, counted as abandoned. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/bits.h"
#include "ragfile/machine.h"
#include "container/format.h"
#include "container/block_hashes.h"
#include "container/front_page.h"
#include "container/reader.h"
#include "shared/bytes.h"
#include "shared/fail.h"

struct walk {
    struct rag_reader *reader;
    void (*report)(void *context, const struct rag_fault *fault);
    void *context;
    struct rag_verdict *verdict;
    uint32_t left; /* entries of the generation whose commits were not met yet */
};

static void found(struct walk *walk, enum rag_status status, uint64_t at, const char *what,
                  const char *section) {
    struct rag_fault fault;
    rag_fail(&fault, status, at, what);
    memset(fault.section, 0, sizeof fault.section);
    memcpy(fault.section, section, strnlen(section, sizeof fault.section - 1));
    walk->verdict->faults++;
    walk->report(walk->context, &fault);
}

static void check_zero(struct walk *walk, uint64_t from, uint64_t to, const char *section) {
    for (uint64_t at = from; at < to; at++)
        if (walk->reader->bytes[at] != 0) {
            found(walk, RAG_CORRUPT, at, "padding is not zero", section);
            return;
        }
}

/* ------------------------------------------------------------------------------------ directory */

/* Writes "name-(start,end)" with 20-digit numbers; returns the number of bytes. */
static size_t put_entry(uint8_t *out, const char *name, uint64_t start, uint64_t end) {
    const size_t size = strlen(name);
    uint8_t *at = out + size;
    memcpy(out, name, size);
    *at++ = '-', *at++ = '(';
    for (int number = 0; number < 2; number++) {
        uint64_t rest = number == 0 ? start : end;
        for (int digit = 19; digit >= 0; digit--, rest /= 10)
            at[digit] = (uint8_t)('0' + rest % 10);
        at[20] = number == 0 ? ',' : ')';
        at += 21;
    }
    return (size_t)(at - out);
}

enum { ENTRY_TEXT = 44, DIRECTORY_MAX = SUPER_AT - HEADER_SIZE - 1 };

static bool listed_before(const struct rag_entry *entries, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (strcmp(entries[i].name, entries[j].name) == 0) return true;
    return strcmp(entries[i].name, HEAD_NAME) == 0 || strcmp(entries[i].name, TOC_NAME) == 0;
}

size_t rag_front_directory(uint8_t *out, const struct rag_entry *entries, size_t count,
                           uint64_t toc_at, uint64_t footer_at) {
    size_t size = strlen(HEAD_NAME) + ENTRY_TEXT, listed = 0;
    for (; listed < count && !listed_before(entries, listed); listed++) {
        const size_t more = 1 + strlen(entries[listed].name) + ENTRY_TEXT;
        if (size + more > DIRECTORY_MAX) break;
        size += more;
    }
    const size_t toc = 1 + strlen(TOC_NAME) + ENTRY_TEXT;
    const bool whole = listed == count && size + toc <= DIRECTORY_MAX;
    if (whole) size += toc;
    size_t at = put_entry(out, HEAD_NAME, HEADER_SIZE + size + 1, FRONT_SIZE - 2);
    for (size_t i = 0; i < listed; i++) {
        out[at++] = 0;
        at += put_entry(out + at, entries[i].name, entries[i].at,
                        entries[i].at + entries[i].extent - 2);
    }
    if (whole) {
        out[at++] = 0;
        at += put_entry(out + at, TOC_NAME, toc_at, footer_at - 2);
    }
    return at;
}

void rag_front_page(uint8_t *out, const struct front_page *page) {
    uint8_t *super = out + SUPER_AT;
    memset(out, 0, FRONT_SIZE);
    memcpy(out, "RAGFILE", VERSION_AT);
    memcpy(out + VERSION_AT, page->version, 3);
    rag_front_directory(out + HEADER_SIZE, page->entries, page->count, page->toc_at,
                        page->footer_at);
    memcpy(super, SUPER_MAGIC, 8);
    store_u64(super + SUPER_WRITE_FEATURES, page->write_features);
    store_u64(super + SUPER_TOC_AT, page->toc_at);
    store_u64(super + SUPER_TOC_SIZE, page->toc_size);
    store_u64(super + SUPER_TOC_HASH, page->toc_hash);
    store_u64(super + SUPER_FOOTER_AT, page->footer_at);
    store_u64(super + SUPER_CREATED, page->created);
    store_u64(super + SUPER_HASH, rag_hash(out, SUPER_AT + SUPER_HASH));
}

/* Checks the front page against the first commit. */
static void check_front(struct walk *walk, const struct rag_reader *first, uint64_t footer_at) {
    const uint8_t *bytes = walk->reader->bytes, *super = bytes + SUPER_AT;
    uint8_t expected[FRONT_SIZE] = {0};
    struct rag_entry *entries = calloc(first->commit.entries + 1, sizeof *entries);
    if (!entries) {
        found(walk, RAG_MEMORY, 0, "no memory", HEAD_NAME);
        return;
    }
    for (uint32_t i = 0; i < first->commit.entries; i++) rag_reader_entry(first, i, &entries[i]);
    rag_front_directory(expected + HEADER_SIZE, entries, first->commit.entries, first->toc_at,
                        footer_at);
    free(entries);
    for (size_t at = HEADER_SIZE; at < SUPER_AT; at++)
        if (bytes[at] != expected[at]) {
            found(walk, RAG_FORMAT, at, "the directory contradicts the table of contents",
                  HEAD_NAME);
            break;
        }
    const uint8_t *footer = bytes + footer_at;
    if (load_u64(super + SUPER_TOC_AT) != first->toc_at ||
        load_u64(super + SUPER_FOOTER_AT) != footer_at ||
        load_u64(super + SUPER_TOC_SIZE) != load_u64(footer + FOOTER_TOC_SIZE) ||
        load_u64(super + SUPER_CREATED) != first->commit.created)
        found(walk, RAG_FORMAT, SUPER_AT, "the superblock contradicts the first commit", HEAD_NAME);
}

/* ------------------------------------------------------------------------------------- sections */

/* Checks that a bitmap has as many bits as its entry counts, and none after the segment's last
 * row. */
static void check_tombs(struct walk *walk, const struct rag_reader *r, const struct rag_entry *e) {
    struct rag_segment_record s;
    uint64_t dead = 0;
    rag_reader_segment(r, (uint32_t)rag_segment_index(r, e->segment), &s);
    for (uint64_t at = 0; at < e->size; at += 8) {
        const uint64_t bits = load_u64(r->bytes + e->at + at), first = at * 8;
        if (s.rows - first < 64 && bits >> (s.rows - first))
            found(walk, RAG_FORMAT, e->at + at, "a deleted row that the segment does not have",
                  e->name);
        dead += (uint64_t)__builtin_popcountll(bits);
    }
    if (dead != e->items)
        found(walk, RAG_FORMAT, e->at, "the bitmap has not as many rows as its entry says",
              e->name);
}

/* Checks that a list of deleted rows ascends and has only rows of the segment that the bitmap, if
 * there is one, has not. */
static void check_deleted(struct walk *walk, const struct rag_reader *r,
                          const struct rag_entry *e) {
    struct rag_segment_record s;
    struct rag_entry tombs = {0};
    rag_reader_segment(r, (uint32_t)rag_segment_index(r, e->segment), &s);
    const int64_t bitmap = rag_reader_find(r, TOMBS_NAME, e->segment);
    if (bitmap >= 0) rag_reader_entry(r, (uint32_t)bitmap, &tombs);
    uint64_t least = 0;
    for (uint64_t i = 0; i < e->items; i++) {
        const uint64_t at = e->at + 4 * i, row = load_u32(r->bytes + at);
        if (row < least || row >= s.rows)
            found(walk, RAG_FORMAT, at, "a deleted row that does not ascend, or does not exist",
                  e->name);
        else if (bitmap >= 0 && rag_bitmap_has(r->bytes + tombs.at, row))
            found(walk, RAG_FORMAT, at, "a deleted row that the bitmap has, too", e->name);
        least = row + 1;
    }
}

static void check_section(struct walk *walk, struct rag_reader *r, uint32_t i) {
    struct rag_guard guard;
    struct rag_fault fault;
    struct rag_entry e;
    rag_reader_entry(r, i, &e);
    walk->verdict->sections++;
    if (rag_reader_guard(r, i, &guard, &fault) != RAG_OK) {
        found(walk, RAG_CORRUPT, e.at, fault.what, e.name);
        return;
    }
    for (size_t at = 0; at < e.size; at += RAG_BLOCK) {
        const size_t size = e.size - at < RAG_BLOCK ? e.size - at : RAG_BLOCK;
        walk->verdict->blocks++;
        if (rag_hash(guard.bytes + at, size) != load_u64(guard.sums + at / RAG_BLOCK))
            found(walk, RAG_CORRUPT, e.at + at, "block checksum does not match", e.name);
    }
    const uint64_t end = e.at + e.size, sums = align_up(end, 8);
    check_zero(walk, end, sums, e.name);
    check_zero(walk, sums + 8 * ((e.size + RAG_BLOCK - 1) / RAG_BLOCK), e.at + e.extent, e.name);
    if (e.segment != 0 && strcmp(e.name, TOMBS_NAME) == 0) check_tombs(walk, r, &e);
    if (e.segment != 0 && strcmp(e.name, DELETED_NAME) == 0) check_deleted(walk, r, &e);
}

/* ------------------------------------------------------------------------------------ the chain */

/* Checks that a commit's extents fill its bytes from start to its table. */
static void check_tiling(struct walk *walk, const struct rag_reader *r, uint64_t footer_at,
                         uint64_t toc_size) {
    uint64_t at = r->commit.start;
    for (uint32_t i = 0; i < r->commit.entries; i++) {
        struct rag_entry e;
        rag_reader_entry(r, i, &e);
        if (e.generation != r->commit.generation) continue;
        if (e.at != at) found(walk, RAG_FORMAT, at, "a hole before the section", e.name);
        at = e.at + e.extent;
    }
    if (at != r->toc_at)
        found(walk, RAG_FORMAT, at, "a hole before the table of contents", TOC_NAME);
    check_zero(walk, r->toc_at + toc_size, footer_at, TOC_NAME);
}

static uint64_t ending_zeros(const uint8_t *bytes, uint64_t size) {
    uint64_t count = 0;
    while (count < size && bytes[size - 1 - count] == 0) count++;
    return count;
}

/* No reader uses the bytes that a dead writer left, but a flipped bit in them reveals a failing
 * disk. */
static void check_abandoned(struct walk *walk, const struct rag_reader *r,
                            const struct footer *footer) {
    const uint64_t before = footer->previous ? footer->previous + FOOTER_SIZE : FRONT_SIZE,
                   size = r->commit.start - before;
    uint64_t hash = 0;
    walk->verdict->abandoned += size;
    walk->verdict->padding += ending_zeros(r->bytes + before, size);
    if (size > 0 && rag_hash_blocks(r->bytes + before, size, &hash, NULL) != RAG_OK)
        found(walk, RAG_MEMORY, before, "no memory", "");
    else if (hash != load_u64(r->bytes + footer->toc_at + TOC_ABANDONED))
        found(walk, RAG_CORRUPT, before, "abandoned bytes have changed", "");
}

static bool is_same_section(const struct rag_reader *a, uint32_t i, const struct rag_reader *b,
                            uint32_t j) {
    struct rag_entry one, other;
    rag_reader_entry(a, i, &one);
    rag_reader_entry(b, j, &other);
    return one.at == other.at && one.size == other.size && one.items == other.items &&
           one.flags == other.flags &&
           load_u64(a->entries + (size_t)i * ENTRY_SIZE + ENTRY_HASH) ==
               load_u64(b->entries + (size_t)j * ENTRY_SIZE + ENTRY_HASH);
}

/* A section that is still listed unchanged was verified with the newest generation. */
static bool is_live(const struct walk *walk, const struct rag_reader *r, uint32_t i) {
    struct rag_entry e;
    rag_reader_entry(r, i, &e);
    const int64_t now = rag_reader_find(walk->reader, e.name, e.segment);
    return now >= 0 && is_same_section(r, i, walk->reader, (uint32_t)now);
}

/* Whether the newest generation lists a section exactly as the commit that wrote it. Commits are
 * visited newest first and entries are in file order, so one pass from the last entry to the
 * first finds them all. */
static void check_kept(struct walk *walk, const struct rag_reader *r) {
    for (; walk->left > 0; walk->left--) {
        struct rag_entry e;
        rag_reader_entry(walk->reader, walk->left - 1, &e);
        if (e.generation != r->commit.generation) return;
        const int64_t i = rag_reader_find(r, e.name, e.segment);
        if (i < 0 || !is_same_section(walk->reader, walk->left - 1, r, (uint32_t)i))
            found(walk, RAG_FORMAT, rag_entry_place(walk->reader, walk->left - 1),
                  "the section is not the one that its commit wrote", e.name);
    }
}

static bool check_commit(struct walk *walk, const struct footer *footer, bool newest, bool full) {
    struct rag_fault fault;
    struct rag_reader r = {.bytes = walk->reader->bytes, .size = walk->reader->size};
    r.commit.identity = walk->reader->commit.identity;
    walk->verdict->commits++;
    bool good = rag_hash(r.bytes + footer->toc_at, footer->toc_size) == footer->toc_hash;
    if (!good)
        found(walk, RAG_CORRUPT, footer->toc_at, "table of contents checksum does not match",
              TOC_NAME);
    if (good && rag_toc_read(&r, footer, &fault) != RAG_OK) {
        found(walk, fault.status, fault.at, fault.what,
              fault.section[0] ? fault.section : TOC_NAME);
        good = false;
    }
    if (good) {
        for (uint32_t i = 0; i < r.commit.entries; i++) {
            struct rag_entry e;
            rag_reader_entry(&r, i, &e);
            if (newest || (e.generation == r.commit.generation && !is_live(walk, &r, i)))
                check_section(walk, &r, i);
        }
        if (full) check_tiling(walk, &r, footer->at, footer->toc_size);
        if (full) check_kept(walk, &r);
        if (footer->generation == 1) check_front(walk, &r, footer->at);
        check_abandoned(walk, &r, footer);
    }
    rag_reader_clear(&r);
    return good;
}

void rag_reader_verify(struct rag_reader *reader, bool full,
                       void (*report)(void *context, const struct rag_fault *fault), void *context,
                       struct rag_verdict *verdict) {
    struct walk walk = {reader, report, context, verdict, reader->commit.entries};
    struct footer footer;
    const uint64_t newest = reader->commit.generation, identity = reader->commit.identity;
    uint64_t at = reader->commit.end - FOOTER_SIZE;
    bool good = true;
    memset(verdict, 0, sizeof *verdict);
    for (uint64_t generation = newest; generation > 0;
         generation--) { /* ends: each footer is before the one that names it */
        if (!rag_footer_read(reader->bytes + at, at, identity, &footer) ||
            footer.generation != generation) {
            found(&walk, RAG_CORRUPT, at, "the chain of commits is broken", TOC_NAME);
            good = false;
            break;
        }
        if (generation == newest || full || generation == 1)
            good &= check_commit(&walk, &footer, generation == newest, full);
        at = footer.previous;
    }
    if (full && good && walk.left > 0)
        found(&walk, RAG_FORMAT, reader->toc_at + TOC_HEAD_SIZE,
              "a section of a commit that is not in the chain", TOC_NAME);
    if (reader->commit.tail > 0)
        found(&walk, RAG_CORRUPT, reader->size - reader->commit.tail,
              "bytes after the newest commit belong to none", "");
}
