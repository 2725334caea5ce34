/* repair.c - puts damaged bytes right with what parity sections say.
 *
 * Nothing of a damaged file is needed to find its parity: shares are looked for everywhere, and
 * each says where its section lies and what it protects. The newest section is the one that the
 * newest table lists; where no commit opens, or one is lost, it is the last whose commit ends in
 * the file. Each section names the one before.
 *
 * A section is put right group by group. Any quorum of good shares gives the group's record, the
 * record tells which blocks are damaged, and as many good shares as there are damaged blocks give
 * these back. Shares are made again from the blocks, then the section's block hashes from the
 * shares, the table from the record and these hashes, and the footer from the table. The front page
 * follows from the first commit's table.
 *
 * A block that comes back has the hash that its record has, or it is not written. Shares that lie
 * can only make wrong bytes of what has no other checksum; whoever repairs verifies the result. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bytes.h"
#include "format.h"
#include "gf16.h"
#include "parity.h"
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
    void (*report)(void *context, const struct rag_mended *mended);
    void *context;
    uint8_t *bytes;
    bool check; /* shares that look good are made again too */
};

/* -------------------------------------------------------------------------------------- finding */

static bool is_same(const struct parity *a, const struct parity *b) {
    uint8_t one[SHARE_HEAD_SIZE], other[SHARE_HEAD_SIZE];
    const struct share first = {.parity = *a}, second = {.parity = *b};
    rag_share_write(one, &first);
    rag_share_write(other, &second);
    return memcmp(one, other, sizeof one) == 0;
}

/* Every section of which a share is left, by its first one. */
static enum rag_status scan(struct rag_repair *r, const uint8_t *bytes, struct rag_fault *fault) {
    struct share share;
    for (uint64_t at = FRONT_SIZE; at + SHARE_HEAD_SIZE <= r->size; at += SECTION_ALIGN) {
        if (memcmp(bytes + at, SHARE_MAGIC, 8) != 0 || !rag_share_read(bytes + at, at, &share))
            continue;
        if (r->count && is_same(&r->found[r->count - 1], &share.parity)) continue;
        if (r->count == SECTIONS_MAX)
            return rag_fail(fault, RAG_LIMIT, at, "too many parity sections");
        if (!rag_grow(&r->found, &r->room, r->count + 1, sizeof *r->found))
            return rag_fail(fault, RAG_MEMORY, 0, "no memory");
        r->found[r->count++] = share.parity;
    }
    return RAG_OK;
}

/* The section that the table lists. */
static int64_t found_entry(const struct rag_repair *r, const struct rag_entry *e) {
    for (size_t i = r->count; i > 0; i--) {
        const struct parity *p = &r->found[i - 1];
        if (p->at == e->at && p->generation == e->generation && rag_parity_size(p) == e->size)
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
        if (p->at == later->before && p->toc_at == later->from) return i - 1;
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

/* -------------------------------------------------------------------------------------- mending */

static void tell(const struct rag_repair *r, uint64_t at, uint64_t size, bool lost) {
    const struct rag_mended mended = {at, size, lost};
    if (size) r->report(r->context, &mended);
}

/* Writes what belongs there, where something else is. */
static void put(const struct rag_repair *r, uint64_t at, const uint8_t *bytes, uint64_t size) {
    if (memcmp(r->bytes + at, bytes, (size_t)size) == 0 && at + size <= r->size) return;
    memcpy(r->bytes + at, bytes, (size_t)size);
    tell(r, at, size, false);
}

/* A group while it is mended. */
struct group {
    struct rag_repair *repair;
    const struct parity *parity;
    uint32_t number, good, damaged;
    uint64_t record_hash;
    bool known;              /* the hash of the record is */
    bool is_mended;          /* what was cut off is there again */
    bool *is_good;           /* of each share */
    bool *lost;              /* of each block */
    uint32_t *rows, *blocks; /* good shares, damaged blocks, by their numbers */
    uint8_t *record, *shares, *hashes;
    uint8_t **sums;
};

static uint64_t share_at(const struct group *g, uint32_t row) {
    const struct parity *p = g->parity;
    return p->at + ((uint64_t)row * p->groups + g->number) * p->size;
}

/* Which shares are there, whole. */
static void look_at_shares(struct group *g) {
    const struct parity *p = g->parity;
    struct share share;
    for (uint32_t row = 0; row < p->rows; row++) {
        const uint64_t at = share_at(g, row);
        const uint8_t *bytes = g->repair->bytes + at;
        if (at + SHARE_HEAD_SIZE > g->repair->size || !rag_share_read(bytes, at, &share) ||
            !is_same(&share.parity, p) || (g->known && share.record_hash != g->record_hash))
            continue;
        g->record_hash = share.record_hash;
        g->known = true;
        if (at + p->size > g->repair->size ||
            share.body_hash != rag_hash(bytes + SHARE_HEAD_SIZE, p->size - SHARE_HEAD_SIZE))
            continue;
        g->is_good[row] = true;
        g->rows[g->good++] = row;
    }
}

static bool is_record(const struct group *g) {
    return g->known && rag_hash(g->record, (size_t)g->parity->record) == g->record_hash;
}

/* The record from a quorum of shares. */
static enum rag_status read_record(struct group *g, struct rag_fault *fault) {
    const struct parity *p = g->parity;
    for (uint32_t i = 0; i < p->quorum; i++) {
        g->blocks[i] = i;
        g->sums[i] = g->repair->bytes + share_at(g, g->rows[i]) + SHARE_HEAD_SIZE;
    }
    return rag_cauchy_solve(p->rows, g->blocks, g->rows, p->quorum, g->sums, g->record, p->part,
                            fault);
}

/* The record from the file itself, where too few shares are left: right if all it tells of is. */
static void make_record(struct group *g) {
    const struct parity *p = g->parity;
    const uint8_t *toc = g->repair->bytes + p->toc_at;
    const uint32_t entries = load_u32(toc + TOC_ENTRIES);
    const uint64_t hash_at =
        TOC_HEAD_SIZE + (uint64_t)entries * ENTRY_SIZE - ENTRY_SIZE + ENTRY_HASH;
    if (p->toc_at + p->toc_size > g->repair->size || entries == 0 || hash_at + 8 > p->toc_size)
        return;
    memset(g->record, 0, (size_t)rag_parity_room(p));
    rag_parity_record(p, g->repair->bytes, g->number, toc, g->record);
    store_u64(g->record + hash_at, 0);
}

/* Which blocks are not what the record says. */
static void look_at_blocks(struct group *g) {
    const struct parity *p = g->parity;
    const uint8_t *wanted = g->record + rag_parity_hash_at(p, 0);
    rag_parity_hashes(p, g->repair->bytes, g->number, g->hashes);
    g->damaged = 0;
    for (uint32_t j = 0; j < p->count; j++) {
        const uint32_t size = rag_parity_block_size(p, g->number, j);
        const uint64_t end = rag_parity_block_at(p, g->number, j) + size;
        const bool is_cut = size > 0 && end > g->repair->size && !g->is_mended;
        g->lost[j] = is_cut || load_u64(g->hashes + 8 * j) != load_u64(wanted + 8 * j);
        if (g->lost[j]) g->blocks[g->damaged++] = j;
    }
}

static void tell_lost(const struct group *g) {
    for (uint32_t i = 0; i < g->damaged; i++)
        tell(g->repair, rag_parity_block_at(g->parity, g->number, g->blocks[i]),
             rag_parity_block_size(g->parity, g->number, g->blocks[i]), true);
}

/* A block that came back: only what its hash says is written. */
static void take_back(struct group *g, uint32_t i, const uint8_t *block) {
    const struct parity *p = g->parity;
    const uint32_t j = g->blocks[i], size = rag_parity_block_size(p, g->number, j);
    const uint64_t at = rag_parity_block_at(p, g->number, j);
    if (rag_hash(block, size) != load_u64(g->record + rag_parity_hash_at(p, j)))
        tell(g->repair, at, size, true);
    else put(g->repair, at, block, size);
}

/* Rows of what is left, taken from the stored ones, are rows of what is lost. */
static enum rag_status mend_blocks(struct group *g, struct rag_fault *fault) {
    const struct parity *p = g->parity;
    struct rag_blocks blocks = rag_parity_blocks(p, g->repair->bytes, g->number);
    blocks.lost = g->lost;
    uint8_t *out = malloc((size_t)g->damaged * p->block);
    if (!out) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    enum rag_status status = rag_cauchy_rows(&blocks, p->rows, g->shares, p->block, fault);
    for (uint32_t i = 0; i < g->damaged; i++) {
        const uint64_t stored = share_at(g, g->rows[i]) + SHARE_HEAD_SIZE + p->part;
        g->sums[i] = g->shares + (size_t)g->rows[i] * p->block;
        rag_gf_add(g->sums[i], g->repair->bytes + stored, p->block);
    }
    if (status == RAG_OK)
        status = rag_cauchy_solve(p->rows, g->blocks, g->rows, g->damaged, g->sums, out, p->block,
                                  fault);
    for (uint32_t i = 0; status == RAG_OK && i < g->damaged; i++)
        take_back(g, i, out + (size_t)i * p->block);
    free(out);
    return status;
}

static enum rag_status mend_shares(struct group *g, struct rag_fault *fault) {
    const struct parity *p = g->parity;
    if (g->good == p->rows && !g->repair->check) return RAG_OK;
    const enum rag_status status =
        rag_parity_shares(p, g->repair->bytes, g->number, g->record, g->shares, fault);
    for (uint32_t row = 0; status == RAG_OK && row < p->rows; row++)
        if (!g->is_good[row] || g->repair->check)
            put(g->repair, share_at(g, row), g->shares + (size_t)row * p->size, p->size);
    return status;
}

static enum rag_status mend_group(struct group *g, bool *whole, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    look_at_shares(g);
    if (g->good >= g->parity->quorum) status = read_record(g, fault);
    if (status == RAG_OK && g->known && !is_record(g)) make_record(g);
    *whole = status == RAG_OK && is_record(g);
    if (!*whole) {
        tell(g->repair, g->parity->at, rag_parity_size(g->parity), true);
        return status;
    }
    look_at_blocks(g);
    if (g->damaged > g->good) {
        tell_lost(g);
        *whole = false;
        return RAG_OK;
    }
    if (g->damaged) status = mend_blocks(g, fault);
    if (g->damaged) {
        g->is_mended = true;
        look_at_blocks(g);
    }
    *whole = g->damaged == 0;
    return status == RAG_OK && *whole ? mend_shares(g, fault) : status;
}

static bool make_group(struct group *g) {
    const struct parity *p = g->parity;
    const uint32_t most = p->count > p->rows ? p->count : p->rows;
    g->is_good = calloc(p->rows, sizeof *g->is_good);
    g->lost = calloc(p->count + 1, sizeof *g->lost);
    g->rows = calloc(p->rows, sizeof *g->rows);
    g->blocks = calloc(most + 1, sizeof *g->blocks);
    g->record = calloc((size_t)rag_parity_room(p), 1);
    g->shares = malloc((size_t)p->rows * p->size);
    g->hashes = calloc(p->count + 1, 8);
    g->sums = calloc(p->rows, sizeof *g->sums);
    return g->is_good && g->lost && g->rows && g->blocks && g->record && g->shares && g->hashes &&
           g->sums;
}

static void free_group(struct group *g) {
    free(g->is_good);
    free(g->lost);
    free(g->rows);
    free(g->blocks);
    free(g->record);
    free(g->shares);
    free(g->hashes);
    free(g->sums);
}

/* ----------------------------------------------------------- what follows from a whole section */

/* The hashes and zeros after the section; returns the hash of these hashes. */
static enum rag_status mend_sums(const struct rag_repair *r, const struct parity *p, uint64_t *hash,
                                 struct rag_fault *fault) {
    const uint64_t size = rag_parity_size(p), rest = rag_extent(size) - size;
    uint8_t *sums = calloc((size_t)rest, 1);
    if (!sums) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    rag_sum_blocks(r->bytes + p->at, size, sums);
    *hash = rag_hash(sums, (size_t)(8 * ((size + RAG_BLOCK - 1) / RAG_BLOCK)));
    put(r, p->at + size, sums, rest);
    free(sums);
    return RAG_OK;
}

/* The entry of the parity section is the last of its table, which has no other without a hash. */
static bool complete_toc(uint8_t *toc, uint64_t size, uint64_t hash) {
    const uint64_t entries = load_u32(toc + TOC_ENTRIES),
                   end = TOC_HEAD_SIZE + entries * ENTRY_SIZE;
    if (entries == 0 || end > size) return false;
    store_u64(toc + end - ENTRY_SIZE + ENTRY_HASH, hash);
    return true;
}

static void mend_footer(const struct rag_repair *r, const struct parity *p, uint64_t toc_hash) {
    uint8_t footer[FOOTER_SIZE];
    const struct rag_footing footing = {p->generation, p->toc_at,   p->toc_size,
                                        toc_hash,      p->previous, p->identity};
    rag_footer_write(footer, &footing);
    put(r, p->end - FOOTER_SIZE, footer, sizeof footer);
}

static enum rag_status mend_end(const struct rag_repair *r, const struct parity *p,
                                const uint8_t *record, struct rag_fault *fault) {
    uint64_t hash;
    uint8_t *toc = calloc((size_t)(p->end - FOOTER_SIZE - p->toc_at), 1);
    if (!toc) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    memcpy(toc, record, p->toc_size);
    const enum rag_status status = mend_sums(r, p, &hash, fault);
    if (status == RAG_OK && complete_toc(toc, p->toc_size, hash)) {
        put(r, p->toc_at, toc, p->end - FOOTER_SIZE - p->toc_at);
        mend_footer(r, p, rag_hash(toc, p->toc_size));
    }
    free(toc);
    return status;
}

static enum rag_status mend_section(struct rag_repair *r, const struct parity *p,
                                    struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    bool all = true, whole;
    for (uint32_t number = 0; status == RAG_OK && number < p->groups; number++) {
        struct group g = {.repair = r, .parity = p, .number = number};
        status = make_group(&g) ? mend_group(&g, &whole, fault)
                                : rag_fail(fault, RAG_MEMORY, 0, "no memory");
        all = status == RAG_OK && all && whole;
        if (all && number + 1 == p->groups) status = mend_end(r, p, g.record, fault);
        free_group(&g);
    }
    return status;
}

/* ----------------------------------------------------------------------------- the front page */

/* The footer of the first commit, through the chain. */
static bool find_first(const struct rag_repair *r, const struct parity *newest, uint64_t *identity,
                       struct footer *footer) {
    uint64_t at = newest->end - FOOTER_SIZE;
    *identity = newest->identity ? newest->identity : load_u64(r->bytes + at + FOOTER_TOC_HASH);
    for (;;) { /* ends: each footer lies before the one that names it */
        if (!rag_footer_read(r->bytes + at, at, *identity, footer)) return false;
        if (footer->generation == 1) return true;
        at = footer->previous;
    }
}

static enum rag_status mend_front(const struct rag_repair *r, const struct parity *newest,
                                  struct rag_fault *fault) {
    struct rag_reader first = {.bytes = r->bytes, .size = rag_repair_size(r)};
    struct footer footer;
    uint8_t front[FRONT_SIZE];
    if (!find_first(r, newest, &first.commit.identity, &footer)) return RAG_OK;
    if (rag_hash(r->bytes + footer.toc_at, (size_t)footer.toc_size) != footer.toc_hash)
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
        put(r, 0, front, sizeof front);
    }
    free(entries);
    rag_reader_clear(&first);
    return status == RAG_MEMORY ? status : RAG_OK;
}

enum rag_status rag_repair_run(struct rag_repair *r, uint8_t *bytes, bool check,
                               void (*report)(void *context, const struct rag_mended *mended),
                               void *context, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    r->bytes = bytes;
    r->check = check;
    r->report = report;
    r->context = context;
    for (int64_t i = r->newest; status == RAG_OK && i >= 0; r->used++) {
        const struct parity *p = &r->found[i];
        status = mend_section(r, p, fault);
        /* ends: each section lies before the one that names it */
        i = found_before(r, i);
    }
    return status == RAG_OK && !r->opens ? mend_front(r, &r->found[r->newest], fault) : status;
}
