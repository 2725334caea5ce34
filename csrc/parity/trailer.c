/* trailer.c - writes the parity of an encrypted file, and finds it.
 *
 * The blocks of an encrypted file are protected as they are stored, so they are repaired without a
 * key. A commit is durable before its trailer is written, and shards are durable before the mark: a
 * writer that dies leaves a commit without parity, which the next trailer protects, too. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "container/format.h"
#include "parity/parity.h"
#include "parity/trailer.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "system/files.h"

/* The trailer whose shards begin at an offset, by its first shard. */
static bool read_trailer(const struct rag_map *map, uint64_t at, struct parity *p) {
    struct shard shard;
    if (at > map->size - SHARD_HEAD_SIZE || !rag_shard_read(map->bytes + at, at, &shard) ||
        !rag_parity_is_trailer(&shard.parity) || shard.parity.at != at)
        return false;
    *p = shard.parity;
    return true;
}

/* Chooses the range of a trailer after those that the file has. Returns whether it is a step. */
static bool plan_range(const struct rag_map *map, uint64_t size, uint32_t stride,
                       struct parity *p) {
    struct parity newest, whole;
    p->from = TRAILER_FROM;
    p->generation = 1;
    if (size < MARK_SIZE ||
        !rag_trailer_read(map->bytes + size - MARK_SIZE, size, stride, &newest) ||
        !read_trailer(map, newest.at, &newest))
        return false;
    whole = newest;
    /* ends: each trailer is before the one that names it */
    while (rag_parity_is_step(&whole))
        if (!read_trailer(map, whole.before, &whole)) return false;
    const bool is_step = rag_parity_takes_step(p->at, whole.toc_at, newest.toc_at);
    const struct parity *before = is_step ? &newest : &whole;
    p->from = before->toc_at;
    p->before = before->at;
    p->generation = newest.generation + 1;
    return is_step;
}

static enum rag_status write_mark(struct rag_file *file, const struct parity *p,
                                  struct rag_fault *fault) {
    uint8_t mark[MARK_SIZE];
    rag_trailer_mark(p, mark);
    enum rag_status status = rag_file_sync(file, fault);
    if (status == RAG_OK)
        status = rag_file_write_stored(file, p->end - MARK_SIZE, mark, sizeof mark, fault);
    return status == RAG_OK ? rag_file_sync(file, fault) : status;
}

/* Fills the last block's room, which the file has from now on. */
static enum rag_status fill(struct rag_file *file, const struct parity *p,
                            struct rag_fault *fault) {
    const size_t size = (size_t)(p->at - p->previous);
    uint8_t *zeros = calloc(size + 1, 1);
    if (!zeros) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    const enum rag_status status = rag_file_write_stored(file, p->previous, zeros, size, fault);
    free(zeros);
    return status;
}

enum rag_status rag_trailer_write(struct rag_file *file, const struct rag_crypt_header *header,
                                  uint64_t before, unsigned percent, struct rag_fault *fault) {
    struct rag_map map;
    enum rag_status status = rag_file_map_stored(file, &map, fault);
    if (status != RAG_OK) return status;
    struct parity p = {.previous = map.size, .at = rag_trailer_place(map.size, header->stride)};
    p.identity = load_u64(header->id);
    const bool is_step = plan_range(&map, before, header->stride, &p);
    rag_map_close(&map);
    /* unreached: takes a file of 2^52 bytes */
    if (!rag_parity_plan(&p, percent, is_step))
        return rag_fail(fault, RAG_LIMIT, p.at, "the file is too large for parity");
    p.end = rag_trailer_place(p.toc_at + MARK_SIZE, header->stride);
    status = fill(file, &p, fault);
    if (status == RAG_OK) status = rag_parity_write(file, &p, NULL, fault);
    return status == RAG_OK ? write_mark(file, &p, fault) : status;
}
