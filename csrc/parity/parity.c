/* parity.c - computes and writes the shards of parity sections.
 *
 * The blocks of a range are assigned to groups round-robin, and the shards of the groups are
 * interleaved in the same way, so that all groups share a burst of damage. One group is computed
 * at a time, which limits memory to the shards of one group. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "parity/parity.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "system/files.h"

struct rag_blocks rag_parity_blocks(const struct parity *p, const uint8_t *bytes, uint32_t group) {
    return (struct rag_blocks){.bytes = bytes,
                               .size = p->at,
                               .first = rag_parity_block_at(p, group, 0),
                               .stride = (uint64_t)p->groups * p->block,
                               .block = p->block,
                               .count = p->count};
}

uint64_t rag_parity_block_at(const struct parity *p, uint32_t group, uint32_t j) {
    return p->from + ((uint64_t)j * p->groups + group) * p->block;
}

uint32_t rag_parity_block_size(const struct parity *p, uint32_t group, uint32_t j) {
    const uint64_t at = rag_parity_block_at(p, group, j);
    if (at >= p->at) return 0;
    return p->at - at < p->block ? (uint32_t)(p->at - at) : p->block;
}

struct hashing {
    const struct parity *parity;
    const uint8_t *bytes;
    uint32_t group;
    uint8_t *out;
};

enum { HASHED_AT_ONCE = 256 };

static void hash_some(void *context, size_t number) {
    const struct hashing *h = context;
    const struct parity *p = h->parity;
    const uint32_t from = (uint32_t)number * HASHED_AT_ONCE;
    for (uint32_t j = from; j < from + HASHED_AT_ONCE && j < p->count; j++) {
        const uint32_t size = rag_parity_block_size(p, h->group, j);
        const uint8_t *block = h->bytes + rag_parity_block_at(p, h->group, j);
        store_u64(h->out + 8 * (size_t)j, size ? rag_hash(block, size) : 0);
    }
}

void rag_parity_hashes(const struct parity *p, const uint8_t *bytes, uint32_t group, uint8_t *out) {
    struct hashing h = {p, bytes, group, out};
    rag_parallel((p->count + HASHED_AT_ONCE - 1) / HASHED_AT_ONCE, rag_cpu_count(), hash_some, &h);
}

void rag_parity_record(const struct parity *p, const uint8_t *bytes, uint32_t group,
                       const uint8_t *toc, uint8_t *record) {
    if (p->toc_size) memcpy(record, toc, p->toc_size);
    rag_parity_hashes(p, bytes, group, record + rag_parity_hash_at(p, 0));
}

enum rag_status rag_parity_shards(const struct parity *p, const uint8_t *bytes, uint32_t group,
                                  const uint8_t *record, uint8_t *shards, struct rag_fault *fault) {
    const struct rag_blocks blocks = rag_parity_blocks(p, bytes, group);
    const struct rag_blocks parts = {.bytes = record,
                                     .size = rag_parity_room(p),
                                     .stride = p->part,
                                     .block = p->part,
                                     .count = p->quorum};
    uint8_t *body = shards + SHARD_HEAD_SIZE;
    enum rag_status status = rag_cauchy_rows(&parts, p->rows, body, p->size, fault);
    if (status == RAG_OK)
        status = rag_cauchy_rows(&blocks, p->rows, body + p->part, p->size, fault);
    const uint64_t hash = rag_hash(record, (size_t)p->record);
    for (uint32_t row = 0; status == RAG_OK && row < p->rows; row++) {
        const struct shard shard = {*p, row * p->groups + group, hash, 0};
        rag_shard_write(shards + (size_t)row * p->size, &shard);
        rag_shard_close(shards + (size_t)row * p->size, p->size);
    }
    return status;
}

static enum rag_status write_group(struct rag_file *file, const struct parity *p,
                                   const uint8_t *bytes, uint32_t group, const uint8_t *toc,
                                   uint8_t *record, uint8_t *shards, struct rag_fault *fault) {
    memset(record, 0, (size_t)rag_parity_room(p));
    rag_parity_record(p, bytes, group, toc, record);
    enum rag_status status = rag_parity_shards(p, bytes, group, record, shards, fault);
    const bool is_stored = rag_parity_is_trailer(p);
    for (uint32_t row = 0; status == RAG_OK && row < p->rows; row++)
        status = (is_stored ? rag_file_write_stored : rag_file_write)(
            file, p->at + ((uint64_t)row * p->groups + group) * p->size,
            shards + (size_t)row * p->size, p->size, fault);
    return status;
}

enum rag_status rag_parity_write(struct rag_file *file, const struct parity *p, const uint8_t *toc,
                                 struct rag_fault *fault) {
    struct rag_map map;
    uint8_t *record = malloc((size_t)rag_parity_room(p)),
            *shards = malloc((size_t)p->rows * p->size);
    enum rag_status status =
        record && shards ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory");
    if (status == RAG_OK)
        status = rag_parity_is_trailer(p) ? rag_file_map_stored(file, &map, fault)
                                          : rag_file_map(file, &map, fault);
    if (status == RAG_OK) {
        for (uint32_t group = 0; status == RAG_OK && group < p->groups; group++)
            status = write_group(file, p, map.bytes, group, toc, record, shards, fault);
        rag_map_close(&map);
    }
    free(record);
    free(shards);
    return status;
}
