/* shard.c - reads, writes and computes heads of parity shards.
 *
 * A head describes the section, the protected range, the code, and the end of the commit. Other
 * numbers follow from these, so a head that contradicts itself or its own position is invalid.
 * Readers look at heads only after the newest commit, to detect a later commit whose footer is
 * lost. */
#include <string.h>

#include "ragfile/machine.h"
#include "container/format.h"
#include "container/block_hashes.h"
#include "parity/trailer.h"
#include "parity/shard.h"
#include "shared/bytes.h"

enum { HEAD_HASHED = SHARD_HASH, ROWS_LEAST = 20, SPARE = 16, GROUP_AIM = 16384 };
enum { STEP_BLOCK = 512, STEP_ROWS_LEAST = 5, STEP_MAX = 100 << 10, STEPS_MAX = 1 << 20 };

uint64_t rag_parity_size(const struct parity *p) { return (uint64_t)p->groups * p->rows * p->size; }

static bool follows_commit(const struct parity *p) {
    return p->toc_size >= TOC_HEAD_SIZE && p->toc_size <= TOC_SIZE_MAX && p->from >= FRONT_SIZE &&
           p->from <= p->at && p->previous < p->at && (p->generation == 1) == (p->previous == 0);
}

static bool follows_blocks(const struct parity *p) {
    return p->from >= TRAILER_FROM && p->from < p->previous && p->previous <= p->at &&
           p->at - p->previous < PARITY_BLOCK_MOST;
}

static bool has_bounds(const struct parity *p) {
    return p->block >= PARITY_BLOCK_LEAST && p->block <= PARITY_BLOCK_MOST &&
           (p->block & (p->block - 1)) == 0 && p->groups > 0 && p->rows > 0 &&
           p->rows <= PARITY_ROWS_MAX && p->quorum > 0 && p->quorum <= p->rows &&
           p->at <= FILE_SIZE_MAX && p->at % SECTION_ALIGN == 0 && p->from % SECTION_ALIGN == 0 &&
           p->generation > 0 && p->before < p->at &&
           (rag_parity_is_trailer(p) ? follows_blocks(p) : follows_commit(p));
}

bool rag_parity_measure(struct parity *p) {
    if (!has_bounds(p)) return false;
    p->blocks = (p->at - p->from + p->block - 1) / p->block;
    const uint64_t count = (p->blocks + p->groups - 1) / p->groups;
    if (count > PARITY_GROUP_MAX || (p->groups > 1 && p->groups > p->blocks)) return false;
    p->count = (uint32_t)count;
    p->record = align_up(p->toc_size, 8) + 8 * count;
    p->part = (uint32_t)align_up((p->record + p->quorum - 1) / p->quorum, SECTION_ALIGN);
    p->size = SHARD_HEAD_SIZE + p->part + p->block;
    uint64_t shards = (uint64_t)p->groups * p->rows, size;
    if (shards > UINT32_MAX || mul_overflows(shards, p->size, &size) || size > FILE_SIZE_MAX)
        return false;
    p->toc_at = p->at + (rag_parity_is_trailer(p) ? size : rag_extent(size));
    return true;
}

/* Small files have small blocks, because each damaged block is lost as a whole. Blocks grow from
 * 16 MiB on, because small ones would need many hashes. */
static uint32_t block_for(uint64_t size) {
    return size <= (uint64_t)16 << 20 ? 4096 : size <= (uint64_t)64 << 20 ? 8192 : 16384;
}

bool rag_parity_takes_step(uint64_t at, uint64_t from, uint64_t step_from) {
    return at - from < STEPS_MAX && at - step_from < STEP_MAX;
}

bool rag_parity_is_step(const struct parity *p) { return p->block == STEP_BLOCK; }

static uint32_t rows_for(uint64_t count, unsigned percent, uint32_t least) {
    const uint64_t rows = (count * percent + 99) / 100;
    return rows < least ? least : (uint32_t)rows;
}

/* At least five rows, of which any two can be lost: then any contiguous KiB can be restored. It
 * touches at most four blocks and shares, and at most two shares if anything else. */
static void plan_step(struct parity *p, unsigned percent) {
    p->block = STEP_BLOCK;
    p->groups = 1;
    p->rows = rows_for((p->at - p->from + STEP_BLOCK - 1) / STEP_BLOCK, percent, STEP_ROWS_LEAST);
    p->quorum = (p->rows + 1) / 2;
}

/* At least twenty rows: then any contiguous 64 KiB can be restored. */
static bool plan_whole(struct parity *p, unsigned percent) {
    const uint64_t size = p->at - p->from, most = (uint64_t)PARITY_ROWS_MAX * 100 / percent;
    const uint64_t aim = most < GROUP_AIM ? most : GROUP_AIM;
    p->block = block_for(size);
    const uint64_t blocks = (size + p->block - 1) / p->block;
    p->groups = blocks > aim ? (uint32_t)((blocks + aim - 1) / aim) : 1;
    p->rows = rows_for((blocks + p->groups - 1) / p->groups, percent, ROWS_LEAST);
    const uint32_t third = (p->rows + 2) / 3, spared = p->rows - SPARE;
    p->quorum = third < spared ? third : spared;
    return blocks <= (uint64_t)1 << 40;
}

static uint64_t end_of_commit(const struct parity *p) {
    return p->toc_at + align_up(p->toc_size + 1, SECTION_ALIGN) + FOOTER_SIZE;
}

bool rag_parity_plan(struct parity *p, unsigned percent, bool is_step) {
    if (is_step) plan_step(p, percent);
    /* unreached: takes a file of 2^52 bytes */
    else if (!plan_whole(p, percent)) return false;
    /* unreached: takes a file of 2^52 bytes */
    if (!rag_parity_measure(p)) return false;
    if (!rag_parity_is_trailer(p)) p->end = end_of_commit(p);
    return true;
}

static void read_parity(const uint8_t *head, struct parity *p) {
    *p = (struct parity){.generation = load_u64(head + SHARD_GENERATION),
                         .at = load_u64(head + SHARD_AT),
                         .from = load_u64(head + SHARD_FROM),
                         .before = load_u64(head + SHARD_BEFORE),
                         .end = load_u64(head + SHARD_END),
                         .previous = load_u64(head + SHARD_PREVIOUS),
                         .identity = load_u64(head + SHARD_IDENTITY),
                         .write_features = load_u64(head + SHARD_WRITE_FEATURES),
                         .toc_size = load_u32(head + SHARD_TOC_SIZE),
                         .block = load_u32(head + SHARD_BLOCK),
                         .groups = load_u32(head + SHARD_GROUPS),
                         .rows = load_u32(head + SHARD_ROWS),
                         .quorum = load_u32(head + SHARD_QUORUM)};
    memcpy(p->version, head + SHARD_VERSION, 3);
}

/* The zeros before a trailer's mark end in the room of a block. */
static bool ends_before_block(const struct parity *p) {
    return p->end >= p->toc_at + MARK_SIZE && p->end % SECTION_ALIGN == 0 &&
           p->end - p->toc_at <= PARITY_BLOCK_MOST + MARK_SIZE;
}

bool rag_shard_read(const uint8_t *head, uint64_t at, struct shard *shard) {
    struct parity *p = &shard->parity;
    const bool is_trailer = memcmp(head, TRAILER_MAGIC, 8) == 0;
    if ((!is_trailer && memcmp(head, SHARD_MAGIC, 8) != 0) ||
        load_u64(head + SHARD_HASH) != rag_hash(head, HEAD_HASHED))
        return false;
    read_parity(head, p);
    if (rag_parity_is_trailer(p) != is_trailer) return false;
    shard->number = load_u32(head + SHARD_NUMBER);
    shard->record_hash = load_u64(head + SHARD_RECORD_HASH);
    shard->body_hash = load_u64(head + SHARD_BODY_HASH);
    return rag_parity_measure(p) && head[SHARD_VERSION + 3] == 0 &&
           load_u32(head + SHARD_ZERO) == 0 && shard->number < (uint64_t)p->groups * p->rows &&
           at == p->at + (uint64_t)shard->number * p->size &&
           (is_trailer ? ends_before_block(p) : p->end == end_of_commit(p));
}

void rag_shard_write(uint8_t *out, const struct shard *shard) {
    const struct parity *p = &shard->parity;
    memset(out, 0, SHARD_HEAD_SIZE);
    memcpy(out, rag_parity_is_trailer(p) ? TRAILER_MAGIC : SHARD_MAGIC, 8);
    store_u64(out + SHARD_GENERATION, p->generation);
    store_u64(out + SHARD_AT, p->at);
    store_u64(out + SHARD_FROM, p->from);
    store_u64(out + SHARD_BEFORE, p->before);
    store_u64(out + SHARD_END, p->end);
    store_u64(out + SHARD_PREVIOUS, p->previous);
    store_u64(out + SHARD_IDENTITY, p->identity);
    store_u64(out + SHARD_WRITE_FEATURES, p->write_features);
    store_u32(out + SHARD_TOC_SIZE, p->toc_size);
    memcpy(out + SHARD_VERSION, p->version, 3);
    store_u32(out + SHARD_BLOCK, p->block);
    store_u32(out + SHARD_GROUPS, p->groups);
    store_u32(out + SHARD_ROWS, p->rows);
    store_u32(out + SHARD_QUORUM, p->quorum);
    store_u32(out + SHARD_NUMBER, shard->number);
    store_u64(out + SHARD_RECORD_HASH, shard->record_hash);
}

void rag_shard_close(uint8_t *shard, uint32_t size) {
    store_u64(shard + SHARD_BODY_HASH, rag_hash(shard + SHARD_HEAD_SIZE, size - SHARD_HEAD_SIZE));
    store_u64(shard + SHARD_HASH, rag_hash(shard, HEAD_HASHED));
}

bool rag_parity_same(const struct parity *a, const struct parity *b) {
    uint8_t one[SHARD_HEAD_SIZE], other[SHARD_HEAD_SIZE];
    const struct shard first = {.parity = *a}, second = {.parity = *b};
    rag_shard_write(one, &first);
    rag_shard_write(other, &second);
    return memcmp(one, other, sizeof one) == 0;
}
