/* repair_file.c - repairs a damaged file from its parity sections.
 *
 * No other part of the file is needed to find parity: every aligned offset is searched for shards,
 * and each shard describes its section and the protected range. The newest section is the one in
 * the newest table; if no commit opens, or one is lost, it is the last one whose commit ends inside
 * the file. Each section points to the one before.
 *
 * repair_section.c repairs each section; then the front page is restored from the first commit's
 * table. Forged shards could only produce wrong bytes where there is no other checksum, and the
 * result is verified before it replaces anything.
 *
 * An encrypted file has its parity in trailers, which protect the blocks as they are stored: the
 * repair needs no key. Of the header's two pages, a whole one restores the other. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "container/format.h"
#include "container/front_page.h"
#include "container/reader.h"
#include "parity/reconstruct.h"
#include "parity/trailer.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

enum { SECTIONS_MAX = 1 << 20 };

struct rag_repair {
    uint64_t size;        /* of the file as it is */
    struct parity *found; /* in order of place */
    size_t count, room;
    int64_t newest; /* of those */
    bool is_encrypted;
    bool opens; /* its newest commit does, and none is lost after it */
    bool lists; /* the newest commit that opens has a parity section */
    uint32_t used;
};

/* -------------------------------------------------------------------------------------- finding */

/* Finds every section with at least one shard left. */
static enum rag_status scan(struct rag_repair *r, const uint8_t *bytes, struct rag_fault *fault) {
    struct shard shard;
    const char *magic = r->is_encrypted ? TRAILER_MAGIC : SHARD_MAGIC;
    for (uint64_t at = FRONT_SIZE; at + SHARD_HEAD_SIZE <= r->size; at += SECTION_ALIGN) {
        if (memcmp(bytes + at, magic, 8) != 0 || !rag_shard_read(bytes + at, at, &shard)) continue;
        if (r->count && rag_parity_same(&r->found[r->count - 1], &shard.parity)) continue;
        if (r->count == SECTIONS_MAX)
            return rag_fail(fault, RAG_LIMIT, at, "too many parity sections");
        if (!rag_grow(&r->found, &r->room, r->count + 1, sizeof *r->found))
            return rag_fail(fault, RAG_MEMORY, 0, "no memory");
        r->found[r->count++] = shard.parity;
    }
    return RAG_OK;
}

/* The section in the table of an intact commit. */
static int64_t found_entry(const struct rag_repair *r, const struct rag_entry *e) {
    for (size_t i = r->count; i > 0; i--) {
        const struct parity *p = &r->found[i - 1];
        if (p->at == e->at && p->generation == e->generation && rag_parity_size(p) == e->size &&
            p->end <= r->size)
            return (int64_t)i - 1;
    }
    return -1;
}

/* The previous section, whose range precedes this one's. Ranges do not overlap, so nothing is
 * read twice. */
static int64_t found_before(const struct rag_repair *r, int64_t i) {
    const struct parity *later = &r->found[i];
    for (; later->before && i > 0; i--) {
        const struct parity *p = &r->found[i - 1];
        if (p->at == later->before && p->toc_at == later->from && p->end <= later->at) return i - 1;
    }
    return -1;
}

/* Limits the size to a plausible one for the shards that were found, so that a forged head
 * cannot make a repair allocate more. */
static bool is_plausible(const struct rag_repair *r, const struct parity *p) {
    return p->at <= r->size && p->end - p->at <= 2 * r->size;
}

/* The last section of a commit after `generation` that ends inside the file. A commit that ends
 * after it was truncated, and is used only if there is no other. */
static int64_t last_after(const struct rag_repair *r, uint64_t generation) {
    for (size_t i = r->count; i > 0; i--)
        if (r->found[i - 1].end <= r->size && r->found[i - 1].generation > generation)
            return (int64_t)i - 1;
    for (size_t i = r->count; generation == 0 && i > 0; i--)
        if (is_plausible(r, &r->found[i - 1])) return (int64_t)i - 1;
    return -1;
}

/* The last trailer, also if its end was cut off: it protects a commit that is whole, or can be. */
static int64_t last_trailer(const struct rag_repair *r) {
    size_t i = r->count;
    while (i > 0 && !is_plausible(r, &r->found[i - 1])) i--;
    return (int64_t)i - 1;
}

/* The newest section that an intact commit lists: a step is after the section that it follows. */
static int64_t find_listed(struct rag_repair *r, const struct rag_reader *reader) {
    struct rag_entry e;
    const int64_t whole = rag_reader_find(reader, PARITY_NAME, 0),
                  step = rag_reader_find(reader, PARITY_STEP_NAME, 0);
    const int64_t newest = step > whole ? step : whole;
    r->lists = newest >= 0;
    if (newest < 0) return -1;
    rag_reader_entry(reader, (uint32_t)newest, &e);
    return found_entry(r, &e);
}

static void choose(struct rag_repair *r, const uint8_t *bytes) {
    struct rag_reader *reader = NULL;
    uint64_t generation = 0;
    int64_t listed = -1;
    if (r->is_encrypted) {
        r->newest = last_trailer(r);
        return;
    }
    if (rag_reader_open(bytes, (size_t)r->size, 0, &reader, NULL) == RAG_OK) {
        listed = find_listed(r, reader);
        generation = reader->commit.generation;
        r->opens = reader->commit.lost_generation == 0;
        rag_reader_close(reader);
    }
    r->newest = r->opens ? listed : last_after(r, generation);
    if (r->newest < 0) r->newest = listed;
}

static enum rag_status fail_without(const struct rag_repair *r, struct rag_fault *fault) {
    rag_fail(fault, RAG_CORRUPT, r->size,
             r->lists ? "no shard of the parity section is as its commit wrote it"
                      : "the file has no parity");
    if (fault && r->lists) strcpy(fault->section, PARITY_NAME);
    return RAG_CORRUPT;
}

enum rag_status rag_repair_open(const uint8_t *bytes, uint64_t size, struct rag_repair **out,
                                struct rag_fault *fault) {
    struct rag_repair *r = calloc(1, sizeof *r);
    if (!r) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    r->size = size;
    r->is_encrypted = rag_is_encrypted_in_part(bytes, size);
    enum rag_status status = scan(r, bytes, fault);
    if (status == RAG_OK) choose(r, bytes);
    if (status == RAG_OK && r->newest < 0) status = fail_without(r, fault);
    if (status == RAG_OK) *out = r;
    else rag_repair_close(r);
    return status;
}

uint64_t rag_repair_size(const struct rag_repair *r) {
    const uint64_t end = r->found[r->newest].end;
    return end > r->size ? end : r->size;
}

uint32_t rag_repair_sections(const struct rag_repair *r) { return r->used; }

void rag_repair_close(struct rag_repair *r) {
    if (!r) return;
    free(r->found);
    free(r);
}

/* ----------------------------------------------------------------------------- the front page */

/* Finds the footer of the first commit by following the chain. */
static bool find_first(const uint8_t *bytes, const struct parity *newest, uint64_t *identity,
                       struct footer *footer) {
    uint64_t at = newest->end - FOOTER_SIZE;
    *identity = newest->identity ? newest->identity : load_u64(bytes + at + FOOTER_TOC_HASH);
    for (;;) { /* ends: each footer is before the one that names it */
        if (!rag_footer_read(bytes + at, at, *identity, footer)) return false;
        if (footer->generation == 1) return true;
        at = footer->previous;
    }
}

static enum rag_status restore_front(const struct reconstruction *m, uint64_t size,
                                     const struct parity *newest, struct rag_fault *fault) {
    struct rag_reader first = {.bytes = m->bytes, .size = size};
    struct footer footer;
    uint8_t front[FRONT_SIZE];
    if (!find_first(m->bytes, newest, &first.commit.identity, &footer)) return RAG_OK;
    if (rag_hash(m->bytes + footer.toc_at, (size_t)footer.toc_size) != footer.toc_hash)
        return RAG_OK;
    struct rag_entry *entries = NULL;
    enum rag_status status = rag_toc_read(&first, &footer, NULL);
    if (status == RAG_OK && !(entries = calloc(first.commit.entries + 1, sizeof *entries)))
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory");
    if (status == RAG_OK) {
        for (uint32_t i = 0; i < first.commit.entries; i++)
            rag_reader_entry(&first, i, &entries[i]);
        const struct front_page page = {newest->version,      newest->write_features,
                                        footer.toc_at,        footer.toc_size,
                                        footer.toc_hash,      footer.at,
                                        first.commit.created, entries,
                                        first.commit.entries};
        rag_front_page(front, &page);
        rag_reconstruct_put(m, 0, front, sizeof front);
    }
    free(entries);
    rag_reader_clear(&first);
    return status == RAG_MEMORY ? status : RAG_OK;
}

/* The pages of an encrypted file's header are usually equal: a damaged one becomes like the
 * other. */
static void restore_header(const struct reconstruction *m) {
    const bool first = rag_crypt_page_is_whole(m->bytes, m->size),
               second =
                   rag_crypt_page_is_whole(m->bytes + RAG_CRYPT_PAGE, m->size - RAG_CRYPT_PAGE);
    if (first && !second) rag_reconstruct_put(m, RAG_CRYPT_PAGE, m->bytes, RAG_CRYPT_PAGE);
    if (second && !first) rag_reconstruct_put(m, 0, m->bytes + RAG_CRYPT_PAGE, RAG_CRYPT_PAGE);
    if (!second && !first) m->report(m->context, &(struct rag_damage){0, RAG_CRYPT_HEADER, true});
}

enum rag_status rag_repair_run(struct rag_repair *r, uint8_t *bytes, bool check,
                               void (*report)(void *context, const struct rag_damage *damage),
                               void *context, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    const struct reconstruction m = {bytes, r->size, check, report, context};
    for (int64_t i = r->newest; status == RAG_OK && i >= 0; r->used++) {
        const struct parity *p = &r->found[i];
        status = rag_reconstruct_section(&m, p, fault);
        /* ends: each section is before the one that names it */
        i = found_before(r, i);
    }
    if (r->is_encrypted) {
        restore_header(&m);
        return status;
    }
    return status == RAG_OK && !r->opens
               ? restore_front(&m, rag_repair_size(r), &r->found[r->newest], fault)
               : status;
}
