/* repair_section.c - repairs the bytes that one parity section protects, and the section itself.
 *
 * Groups are repaired one by one. Any quorum of intact shards yields the group's record; the record
 * identifies the damaged blocks; and as many intact shards as there are damaged blocks restore
 * them. Shards are then recomputed from the blocks, the section's block hashes from the shards, the
 * table of contents from the record and these hashes, and the footer from the table.
 *
 * A restored block is written only if it matches its hash in the record. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "container/format.h"
#include "container/block_hashes.h"
#include "container/reader.h"
#include "parity/gf16.h"
#include "parity/reconstruct.h"
#include "parity/trailer.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static void tell(const struct reconstruction *m, uint64_t at, uint64_t size, bool lost) {
    const struct rag_damage damage = {at, size, lost};
    if (size) m->report(m->context, &damage);
}

/* Writes the correct bytes if the present ones differ. */
void rag_reconstruct_put(const struct reconstruction *m, uint64_t at, const uint8_t *bytes,
                         uint64_t size) {
    if (memcmp(m->bytes + at, bytes, (size_t)size) == 0 && at + size <= m->size) return;
    memcpy(m->bytes + at, bytes, (size_t)size);
    tell(m, at, size, false);
}

/* A group during reconstruction. */
struct group {
    const struct reconstruction *run;
    const struct parity *parity;
    uint32_t number, good, damaged;
    uint64_t record_hash;
    bool known;              /* the hash of the record is */
    bool is_restored;        /* the bytes that were cut off are back */
    bool *is_good;           /* of each shard */
    bool *lost;              /* of each block */
    uint32_t *rows, *blocks; /* good shards, damaged blocks, by their numbers */
    uint8_t *record, *shards, *hashes;
    uint8_t **sums;
};

static uint64_t shard_at(const struct group *g, uint32_t row) {
    const struct parity *p = g->parity;
    return p->at + ((uint64_t)row * p->groups + g->number) * p->size;
}

/* Finds the intact shards. */
static void check_shards(struct group *g) {
    const struct parity *p = g->parity;
    struct shard shard;
    for (uint32_t row = 0; row < p->rows; row++) {
        const uint64_t at = shard_at(g, row);
        const uint8_t *bytes = g->run->bytes + at;
        if (at + SHARD_HEAD_SIZE > g->run->size || !rag_shard_read(bytes, at, &shard) ||
            !rag_parity_same(&shard.parity, p) || (g->known && shard.record_hash != g->record_hash))
            continue;
        g->record_hash = shard.record_hash;
        g->known = true;
        if (at + p->size > g->run->size ||
            shard.body_hash != rag_hash(bytes + SHARD_HEAD_SIZE, p->size - SHARD_HEAD_SIZE))
            continue;
        g->is_good[row] = true;
        g->rows[g->good++] = row;
    }
}

static bool is_record(const struct group *g) {
    return g->known && rag_hash(g->record, (size_t)g->parity->record) == g->record_hash;
}

/* Decodes the record from a quorum of shards. */
static enum rag_status read_record(struct group *g, struct rag_fault *fault) {
    const struct parity *p = g->parity;
    for (uint32_t i = 0; i < p->quorum; i++) {
        g->blocks[i] = i;
        g->sums[i] = g->run->bytes + shard_at(g, g->rows[i]) + SHARD_HEAD_SIZE;
    }
    return rag_cauchy_solve(p->rows, g->blocks, g->rows, p->quorum, g->sums, g->record, p->part,
                            fault);
}

/* Rebuilds the record from the file if too few shards are left. It is correct only if all that
 * it covers is intact. */
static void make_record(struct group *g) {
    const struct parity *p = g->parity;
    const uint8_t *toc = g->run->bytes + p->toc_at;
    if (rag_parity_is_trailer(p)) {
        memset(g->record, 0, (size_t)rag_parity_room(p));
        if (p->at <= g->run->size) rag_parity_record(p, g->run->bytes, g->number, NULL, g->record);
        return;
    }
    const uint32_t entries = load_u32(toc + TOC_ENTRIES);
    const uint64_t hash_at =
        TOC_HEAD_SIZE + (uint64_t)entries * ENTRY_SIZE - ENTRY_SIZE + ENTRY_HASH;
    if (p->toc_at + p->toc_size > g->run->size || entries == 0 || hash_at + 8 > p->toc_size) return;
    memset(g->record, 0, (size_t)rag_parity_room(p));
    rag_parity_record(p, g->run->bytes, g->number, toc, g->record);
    store_u64(g->record + hash_at, 0);
}

/* Finds the blocks that differ from the record. */
static void look_at_blocks(struct group *g) {
    const struct parity *p = g->parity;
    const uint8_t *wanted = g->record + rag_parity_hash_at(p, 0);
    rag_parity_hashes(p, g->run->bytes, g->number, g->hashes);
    g->damaged = 0;
    for (uint32_t j = 0; j < p->count; j++) {
        const uint32_t size = rag_parity_block_size(p, g->number, j);
        const uint64_t end = rag_parity_block_at(p, g->number, j) + size;
        const bool is_cut = size > 0 && end > g->run->size && !g->is_restored;
        g->lost[j] = is_cut || load_u64(g->hashes + 8 * j) != load_u64(wanted + 8 * j);
        if (g->lost[j]) g->blocks[g->damaged++] = j;
    }
}

static void tell_lost(const struct group *g) {
    for (uint32_t i = 0; i < g->damaged; i++)
        tell(g->run, rag_parity_block_at(g->parity, g->number, g->blocks[i]),
             rag_parity_block_size(g->parity, g->number, g->blocks[i]), true);
}

/* Writes a restored block if it matches its hash. */
static void take_back(struct group *g, uint32_t i, const uint8_t *block) {
    const struct parity *p = g->parity;
    const uint32_t j = g->blocks[i], size = rag_parity_block_size(p, g->number, j);
    const uint64_t at = rag_parity_block_at(p, g->number, j);
    if (rag_hash(block, size) != load_u64(g->record + rag_parity_hash_at(p, j)))
        tell(g->run, at, size, true);
    else rag_reconstruct_put(g->run, at, block, size);
}

/* Stored rows minus the rows of the intact blocks are the rows of the lost blocks. */
static enum rag_status restore_blocks(struct group *g, struct rag_fault *fault) {
    const struct parity *p = g->parity;
    struct rag_blocks blocks = rag_parity_blocks(p, g->run->bytes, g->number);
    blocks.lost = g->lost;
    uint8_t *out = malloc((size_t)g->damaged * p->block);
    if (!out) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    enum rag_status status = rag_cauchy_rows(&blocks, p->rows, g->shards, p->block, fault);
    for (uint32_t i = 0; i < g->damaged; i++) {
        const uint64_t stored = shard_at(g, g->rows[i]) + SHARD_HEAD_SIZE + p->part;
        g->sums[i] = g->shards + (size_t)g->rows[i] * p->block;
        rag_gf_add(g->sums[i], g->run->bytes + stored, p->block);
    }
    if (status == RAG_OK)
        status = rag_cauchy_solve(p->rows, g->blocks, g->rows, g->damaged, g->sums, out, p->block,
                                  fault);
    for (uint32_t i = 0; status == RAG_OK && i < g->damaged; i++)
        take_back(g, i, out + (size_t)i * p->block);
    free(out);
    return status;
}

static enum rag_status restore_shards(struct group *g, struct rag_fault *fault) {
    const struct parity *p = g->parity;
    if (g->good == p->rows && !g->run->check) return RAG_OK;
    const enum rag_status status =
        rag_parity_shards(p, g->run->bytes, g->number, g->record, g->shards, fault);
    for (uint32_t row = 0; status == RAG_OK && row < p->rows; row++)
        if (!g->is_good[row] || g->run->check)
            rag_reconstruct_put(g->run, shard_at(g, row), g->shards + (size_t)row * p->size,
                                p->size);
    return status;
}

static enum rag_status restore_group(struct group *g, bool *whole, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    check_shards(g);
    if (g->good >= g->parity->quorum) status = read_record(g, fault);
    if (status == RAG_OK && g->known && !is_record(g)) make_record(g);
    *whole = status == RAG_OK && is_record(g);
    if (!*whole) {
        tell(g->run, g->parity->at, rag_parity_size(g->parity), true);
        return status;
    }
    look_at_blocks(g);
    if (g->damaged > g->good) {
        tell_lost(g);
        *whole = false;
        return RAG_OK;
    }
    if (g->damaged) status = restore_blocks(g, fault);
    if (g->damaged) {
        g->is_restored = true;
        look_at_blocks(g);
    }
    *whole = g->damaged == 0;
    return status == RAG_OK && *whole ? restore_shards(g, fault) : status;
}

static bool make_group(struct group *g) {
    const struct parity *p = g->parity;
    const uint32_t most = p->count > p->rows ? p->count : p->rows;
    g->is_good = calloc(p->rows, sizeof *g->is_good);
    g->lost = calloc(p->count + 1, sizeof *g->lost);
    g->rows = calloc(p->rows, sizeof *g->rows);
    g->blocks = calloc(most + 1, sizeof *g->blocks);
    g->record = calloc((size_t)rag_parity_room(p), 1);
    g->shards = malloc((size_t)p->rows * p->size);
    g->hashes = calloc(p->count + 1, 8);
    g->sums = calloc(p->rows, sizeof *g->sums);
    return g->is_good && g->lost && g->rows && g->blocks && g->record && g->shards && g->hashes &&
           g->sums;
}

static void free_group(struct group *g) {
    free(g->is_good);
    free(g->lost);
    free(g->rows);
    free(g->blocks);
    free(g->record);
    free(g->shards);
    free(g->hashes);
    free(g->sums);
}

/* ----------------------------------------------------------- what follows from a whole section */

/* Restores block hashes and padding after the section, and returns the hash of these hashes. */
static enum rag_status restore_sums(const struct reconstruction *m, const struct parity *p,
                                    uint64_t *hash, struct rag_fault *fault) {
    const uint64_t size = rag_parity_size(p), rest = rag_extent(size) - size;
    uint8_t *sums = calloc((size_t)rest, 1);
    if (!sums) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    rag_sum_blocks(m->bytes + p->at, size, sums);
    *hash = rag_hash(sums, (size_t)(8 * ((size + RAG_BLOCK - 1) / RAG_BLOCK)));
    rag_reconstruct_put(m, p->at + size, sums, rest);
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

static void restore_footer(const struct reconstruction *m, const struct parity *p,
                           uint64_t toc_hash) {
    uint8_t footer[FOOTER_SIZE];
    const struct rag_footing footing = {p->generation, p->toc_at,   p->toc_size,
                                        toc_hash,      p->previous, p->identity};
    rag_footer_write(footer, &footing);
    rag_reconstruct_put(m, p->end - FOOTER_SIZE, footer, sizeof footer);
}

/* The zeros and the mark that end a trailer. */
static enum rag_status restore_mark(const struct reconstruction *m, const struct parity *p,
                                    struct rag_fault *fault) {
    const size_t size = (size_t)(p->end - p->toc_at);
    uint8_t *end = calloc(size, 1);
    if (!end) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    rag_trailer_mark(p, end + size - MARK_SIZE);
    rag_reconstruct_put(m, p->toc_at, end, size);
    free(end);
    return RAG_OK;
}

static enum rag_status restore_end(const struct reconstruction *m, const struct parity *p,
                                   const uint8_t *record, struct rag_fault *fault) {
    uint64_t hash;
    if (rag_parity_is_trailer(p)) return restore_mark(m, p, fault);
    uint8_t *toc = calloc((size_t)(p->end - FOOTER_SIZE - p->toc_at), 1);
    if (!toc) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    memcpy(toc, record, p->toc_size);
    const enum rag_status status = restore_sums(m, p, &hash, fault);
    if (status == RAG_OK && complete_toc(toc, p->toc_size, hash)) {
        rag_reconstruct_put(m, p->toc_at, toc, p->end - FOOTER_SIZE - p->toc_at);
        restore_footer(m, p, rag_hash(toc, p->toc_size));
    }
    free(toc);
    return status;
}

enum rag_status rag_reconstruct_section(const struct reconstruction *m, const struct parity *p,
                                        struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    bool all = true, whole;
    for (uint32_t number = 0; status == RAG_OK && number < p->groups; number++) {
        struct group g = {.run = m, .parity = p, .number = number};
        status = make_group(&g) ? restore_group(&g, &whole, fault)
                                : rag_fail(fault, RAG_MEMORY, 0, "no memory");
        all = status == RAG_OK && all && whole;
        if (all && number + 1 == p->groups) status = restore_end(m, p, g.record, fault);
        free_group(&g);
    }
    return status;
}
