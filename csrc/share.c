/* share.c - the head of a share of parity, read, written and worked out.
 *
 * A head says where the section lies, what it protects and how, and where the commit ends. Other
 * numbers follow from these, so a head that contradicts itself or its own place is not one. Readers
 * look at heads only after the newest commit, to see whether a commit follows whose footer is gone.
 */
#include <string.h>

#include "bytes.h"
#include "format.h"
#include "share.h"

enum { HEAD_HASHED = SHARE_HASH, ROWS_LEAST = 20, SPARE = 16, GROUP_AIM = 16384 };

uint64_t rag_parity_size(const struct parity *p) { return (uint64_t)p->groups * p->rows * p->size; }

static bool has_bounds(const struct parity *p) {
    return p->block >= PARITY_BLOCK_LEAST && p->block <= PARITY_BLOCK_MOST &&
           (p->block & (p->block - 1)) == 0 && p->groups > 0 && p->rows > 0 &&
           p->rows <= PARITY_ROWS_MAX && p->quorum > 0 && p->quorum <= p->rows &&
           p->toc_size >= TOC_HEAD_SIZE && p->toc_size <= TOC_SIZE_MAX && p->at <= FILE_SIZE_MAX &&
           p->at % SECTION_ALIGN == 0 && p->from % SECTION_ALIGN == 0 && p->from >= FRONT_SIZE &&
           p->from <= p->at && p->generation > 0 && p->before < p->at && p->previous < p->at &&
           (p->generation == 1) == (p->previous == 0);
}

bool rag_parity_measure(struct parity *p) {
    if (!has_bounds(p)) return false;
    p->blocks = (p->at - p->from + p->block - 1) / p->block;
    const uint64_t count = (p->blocks + p->groups - 1) / p->groups;
    if (count > PARITY_GROUP_MAX || (p->groups > 1 && p->groups > p->blocks)) return false;
    p->count = (uint32_t)count;
    p->record = align_up(p->toc_size, 8) + 8 * count;
    p->part = (uint32_t)align_up((p->record + p->quorum - 1) / p->quorum, SECTION_ALIGN);
    p->size = SHARE_HEAD_SIZE + p->part + p->block;
    uint64_t shares = (uint64_t)p->groups * p->rows, size;
    if (shares > UINT32_MAX || mul_overflows(shares, p->size, &size) || size > FILE_SIZE_MAX)
        return false;
    p->toc_at = p->at + rag_extent(rag_parity_size(p));
    return true;
}

/* Small blocks where they are few: less is lost with each. Larger ones from 16 MiB on, for the
 * hashes of small ones would be many. */
static uint32_t block_for(uint64_t size) {
    return size <= (uint64_t)16 << 20 ? 4096 : size <= (uint64_t)64 << 20 ? 8192 : 16384;
}

/* At least twenty rows: then 64 KiB in one stretch come back, wherever they begin. */
bool rag_parity_plan(struct parity *p, unsigned percent) {
    const uint64_t size = p->at - p->from, most = (uint64_t)PARITY_ROWS_MAX * 100 / percent;
    const uint64_t aim = most < GROUP_AIM ? most : GROUP_AIM;
    p->block = block_for(size);
    const uint64_t blocks = (size + p->block - 1) / p->block;
    p->groups = blocks > aim ? (uint32_t)((blocks + aim - 1) / aim) : 1;
    const uint64_t count = (blocks + p->groups - 1) / p->groups,
                   rows = (count * percent + 99) / 100;
    p->rows = rows < ROWS_LEAST ? ROWS_LEAST : (uint32_t)rows;
    const uint32_t third = (p->rows + 2) / 3, spared = p->rows - SPARE;
    p->quorum = third < spared ? third : spared;
    /* unreached: takes a file of 2^52 bytes */
    if (blocks > (uint64_t)1 << 40 || !rag_parity_measure(p)) return false;
    p->end = p->toc_at + align_up(p->toc_size + 1, SECTION_ALIGN) + FOOTER_SIZE;
    return true;
}

static void read_parity(const uint8_t *head, struct parity *p) {
    *p = (struct parity){.generation = load_u64(head + SHARE_GENERATION),
                         .at = load_u64(head + SHARE_AT),
                         .from = load_u64(head + SHARE_FROM),
                         .before = load_u64(head + SHARE_BEFORE),
                         .end = load_u64(head + SHARE_END),
                         .previous = load_u64(head + SHARE_PREVIOUS),
                         .identity = load_u64(head + SHARE_IDENTITY),
                         .write_features = load_u64(head + SHARE_WRITE_FEATURES),
                         .toc_size = load_u32(head + SHARE_TOC_SIZE),
                         .block = load_u32(head + SHARE_BLOCK),
                         .groups = load_u32(head + SHARE_GROUPS),
                         .rows = load_u32(head + SHARE_ROWS),
                         .quorum = load_u32(head + SHARE_QUORUM)};
    memcpy(p->version, head + SHARE_VERSION, 3);
}

bool rag_share_read(const uint8_t *head, uint64_t at, struct share *share) {
    struct parity *p = &share->parity;
    if (memcmp(head, SHARE_MAGIC, 8) != 0 ||
        load_u64(head + SHARE_HASH) != rag_hash(head, HEAD_HASHED))
        return false;
    read_parity(head, p);
    share->number = load_u32(head + SHARE_NUMBER);
    share->record_hash = load_u64(head + SHARE_RECORD_HASH);
    share->body_hash = load_u64(head + SHARE_BODY_HASH);
    return rag_parity_measure(p) && head[SHARE_VERSION + 3] == 0 &&
           load_u32(head + SHARE_ZERO) == 0 && share->number < (uint64_t)p->groups * p->rows &&
           at == p->at + (uint64_t)share->number * p->size &&
           p->end == p->toc_at + align_up(p->toc_size + 1, SECTION_ALIGN) + FOOTER_SIZE;
}

void rag_share_write(uint8_t *out, const struct share *share) {
    const struct parity *p = &share->parity;
    memset(out, 0, SHARE_HEAD_SIZE);
    memcpy(out, SHARE_MAGIC, 8);
    store_u64(out + SHARE_GENERATION, p->generation);
    store_u64(out + SHARE_AT, p->at);
    store_u64(out + SHARE_FROM, p->from);
    store_u64(out + SHARE_BEFORE, p->before);
    store_u64(out + SHARE_END, p->end);
    store_u64(out + SHARE_PREVIOUS, p->previous);
    store_u64(out + SHARE_IDENTITY, p->identity);
    store_u64(out + SHARE_WRITE_FEATURES, p->write_features);
    store_u32(out + SHARE_TOC_SIZE, p->toc_size);
    memcpy(out + SHARE_VERSION, p->version, 3);
    store_u32(out + SHARE_BLOCK, p->block);
    store_u32(out + SHARE_GROUPS, p->groups);
    store_u32(out + SHARE_ROWS, p->rows);
    store_u32(out + SHARE_QUORUM, p->quorum);
    store_u32(out + SHARE_NUMBER, share->number);
    store_u64(out + SHARE_RECORD_HASH, share->record_hash);
}

void rag_share_close(uint8_t *share, uint32_t size) {
    store_u64(share + SHARE_BODY_HASH, rag_hash(share + SHARE_HEAD_SIZE, size - SHARE_HEAD_SIZE));
    store_u64(share + SHARE_HASH, rag_hash(share, HEAD_HASHED));
}

bool rag_parity_same(const struct parity *a, const struct parity *b) {
    uint8_t one[SHARE_HEAD_SIZE], other[SHARE_HEAD_SIZE];
    const struct share first = {.parity = *a}, second = {.parity = *b};
    rag_share_write(one, &first);
    rag_share_write(other, &second);
    return memcmp(one, other, sizeof one) == 0;
}
