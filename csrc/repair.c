/* repair.c - puts damaged bytes right with what parity sections say.
 *
 * Nothing of a damaged file is needed to find its parity: shares are looked for everywhere, and
 * each says where its section lies and what it protects. The newest section is the one that the
 * newest table lists; where no commit opens, or one is lost, it is the last whose commit ends in
 * the file. Each section names the one before.
 *
 * Each section is put right by mend.c, then the front page from the first commit's table. Shares
 * that lie can only make wrong bytes of what has no other checksum: the result is verified before
 * it replaces anything. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bytes.h"
#include "format.h"
#include "mend.h"
#include "reader.h"

enum { SECTIONS_MAX = 65536 };

struct rag_repair {
    uint64_t size;        /* of the file as it is */
    struct parity *found; /* in order of place */
    size_t count, room;
    int64_t newest; /* of those */
    bool opens;     /* its newest commit does, and none is lost after it */
    bool lists;     /* the newest commit that opens has a parity section */
    uint32_t used;
};

/* -------------------------------------------------------------------------------------- finding */

/* Every section of which a share is left, by its first one. */
static enum rag_status scan(struct rag_repair *r, const uint8_t *bytes, struct rag_fault *fault) {
    struct share share;
    for (uint64_t at = FRONT_SIZE; at + SHARE_HEAD_SIZE <= r->size; at += SECTION_ALIGN) {
        if (memcmp(bytes + at, SHARE_MAGIC, 8) != 0 || !rag_share_read(bytes + at, at, &share))
            continue;
        if (r->count && rag_parity_same(&r->found[r->count - 1], &share.parity)) continue;
        if (r->count == SECTIONS_MAX)
            return rag_fail(fault, RAG_LIMIT, at, "too many parity sections");
        if (!rag_grow(&r->found, &r->room, r->count + 1, sizeof *r->found))
            return rag_fail(fault, RAG_MEMORY, 0, "no memory");
        r->found[r->count++] = share.parity;
    }
    return RAG_OK;
}

/* The section that the table of a commit that opens lists. */
static int64_t found_entry(const struct rag_repair *r, const struct rag_entry *e) {
    for (size_t i = r->count; i > 0; i--) {
        const struct parity *p = &r->found[i - 1];
        if (p->at == e->at && p->generation == e->generation && rag_parity_size(p) == e->size &&
            p->end <= r->size)
            return (int64_t)i - 1;
    }
    return -1;
}

/* The section before another one, which protects what lies before its range. So ranges do not
 * overlap, and nothing is read twice. */
static int64_t found_before(const struct rag_repair *r, int64_t i) {
    const struct parity *later = &r->found[i];
    for (; later->before && i > 0; i--) {
        const struct parity *p = &r->found[i - 1];
        if (p->at == later->before && p->toc_at == later->from && p->end <= later->at) return i - 1;
    }
    return -1;
}

/* A size that the shares which are there can be of: nobody makes a repair reserve more. */
static bool is_plausible(const struct rag_repair *r, const struct parity *p) {
    return p->at <= r->size && p->end - p->at <= 2 * r->size;
}

/* The last section of a commit after `generation` that ends in the file. A commit that ends after
 * it was cut, which only shows where there is no other. */
static int64_t last_after(const struct rag_repair *r, uint64_t generation) {
    for (size_t i = r->count; i > 0; i--)
        if (r->found[i - 1].end <= r->size && r->found[i - 1].generation > generation)
            return (int64_t)i - 1;
    for (size_t i = r->count; generation == 0 && i > 0; i--)
        if (is_plausible(r, &r->found[i - 1])) return (int64_t)i - 1;
    return -1;
}

static void choose(struct rag_repair *r, const uint8_t *bytes) {
    struct rag_reader *reader = NULL;
    uint64_t generation = 0;
    int64_t listed = -1;
    if (rag_reader_open(bytes, (size_t)r->size, 0, &reader, NULL) == RAG_OK) {
        struct rag_entry e;
        const int64_t i = rag_reader_find(reader, PARITY_NAME, 0);
        if (i >= 0) rag_reader_entry(reader, (uint32_t)i, &e);
        listed = i >= 0 ? found_entry(r, &e) : -1;
        r->lists = i >= 0;
        generation = reader->commit.generation;
        r->opens = reader->commit.lost_generation == 0;
        rag_reader_close(reader);
    }
    r->newest = r->opens ? listed : last_after(r, generation);
    if (r->newest < 0) r->newest = listed;
}

static enum rag_status fail_without(const struct rag_repair *r, struct rag_fault *fault) {
    rag_fail(fault, RAG_CORRUPT, r->size,
             r->lists ? "no share of the parity section is as its commit wrote it"
                      : "the file has no parity");
    if (fault && r->lists) strcpy(fault->section, PARITY_NAME);
    return RAG_CORRUPT;
}

enum rag_status rag_repair_open(const uint8_t *bytes, uint64_t size, struct rag_repair **out,
                                struct rag_fault *fault) {
    struct rag_repair *r = calloc(1, sizeof *r);
    if (!r) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    r->size = size;
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

/* The footer of the first commit, through the chain. */
static bool find_first(const uint8_t *bytes, const struct parity *newest, uint64_t *identity,
                       struct footer *footer) {
    uint64_t at = newest->end - FOOTER_SIZE;
    *identity = newest->identity ? newest->identity : load_u64(bytes + at + FOOTER_TOC_HASH);
    for (;;) { /* ends: each footer lies before the one that names it */
        if (!rag_footer_read(bytes + at, at, *identity, footer)) return false;
        if (footer->generation == 1) return true;
        at = footer->previous;
    }
}

static enum rag_status mend_front(const struct mending *m, uint64_t size,
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
        rag_mend_put(m, 0, front, sizeof front);
    }
    free(entries);
    rag_reader_clear(&first);
    return status == RAG_MEMORY ? status : RAG_OK;
}

enum rag_status rag_repair_run(struct rag_repair *r, uint8_t *bytes, bool check,
                               void (*report)(void *context, const struct rag_mended *mended),
                               void *context, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    const struct mending m = {bytes, r->size, check, report, context};
    for (int64_t i = r->newest; status == RAG_OK && i >= 0; r->used++) {
        const struct parity *p = &r->found[i];
        status = rag_mend_section(&m, p, fault);
        /* ends: each section lies before the one that names it */
        i = found_before(r, i);
    }
    return status == RAG_OK && !r->opens
               ? mend_front(&m, rag_repair_size(r), &r->found[r->newest], fault)
               : status;
}
