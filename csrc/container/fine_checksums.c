/* fine_checksums.c - rag.fine: checksums of blocks smaller than 64 KiB, for readers that fetch few
 * bytes of a large section.
 *
 *   0   "RAGFINE1"      8  u32 bytes of a grain      12 u32 sections      16 zero
 *   64  for each section, ascending: u64 offset in the file, u64 size, u64 number of its first sum,
 *       u64 zero
 *   …   u64 xxh3-64 of each grain of each section
 *
 * writer.c computes the checksums. Opening validates everything but the checksums; the section
 * has the usual block hashes over itself, so they are as trustworthy as those. */
#include "ragfile/container.h"
#include "container/format.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static enum rag_status broken(const struct rag_small_blocks *small, uint64_t at, const char *what,
                              struct rag_fault *fault) {
    rag_fail(fault, RAG_FORMAT, small->guard.at + at, what);
    if (fault) memcpy(fault->section, small->guard.name, sizeof fault->section);
    return RAG_FORMAT;
}

static bool is_power_of_two(uint32_t n) { return n && (n & (n - 1)) == 0; }

static enum rag_status check_head(struct rag_small_blocks *small, struct rag_fault *fault) {
    const uint8_t *head = rag_guard_at(&small->guard, 0);
    if (memcmp(head, FINE_MAGIC, 8) != 0) return broken(small, 0, "no RAGFINE1", fault);
    small->grain = load_u32(head + FINE_GRAIN);
    small->count = load_u32(head + FINE_COUNT);
    if (!is_power_of_two(small->grain) || small->grain < FINE_LEAST || small->grain > FINE_MOST)
        return broken(small, FINE_GRAIN, "a grain is a power of two from 512 to 32768", fault);
    if (small->count > (small->guard.size - FINE_HEAD_SIZE) / FINE_ENTRY)
        return broken(small, FINE_COUNT, "more sections than there is room for", fault);
    for (size_t at = FINE_ZERO; at < FINE_HEAD_SIZE; at += 8)
        if (load_u64(head + at) != 0)
            return broken(small, at, "reserved bytes are not zero", fault);
    return RAG_OK;
}

/* Every checksum belongs to one section, in order, and the last one ends the section. */
static enum rag_status check_entries(const struct rag_small_blocks *small,
                                     struct rag_fault *fault) {
    const uint64_t sums_at = FINE_HEAD_SIZE + (uint64_t)small->count * FINE_ENTRY,
                   room = (small->guard.size - sums_at) / 8;
    uint64_t end = 0, sums = 0;
    for (uint32_t i = 0; i < small->count; i++) {
        const uint64_t place = FINE_HEAD_SIZE + (uint64_t)i * FINE_ENTRY;
        const uint8_t *entry = rag_guard_at(&small->guard, place);
        const uint64_t at = load_u64(entry), size = load_u64(entry + 8);
        if (at < end || size > FILE_SIZE_MAX || at > FILE_SIZE_MAX)
            return broken(small, place, "the sections of finer sums do not ascend", fault);
        if (load_u64(entry + 16) != sums || load_u64(entry + 24) != 0)
            return broken(small, place + 16, "finer sums do not add up", fault);
        sums += (size + small->grain - 1) / small->grain;
        if (sums > room) return broken(small, place + 8, "finer sums do not add up", fault);
        end = at + size;
    }
    if (small->guard.size != sums_at + 8 * sums)
        return broken(small, FINE_COUNT, "finer sums do not add up", fault);
    return RAG_OK;
}

enum rag_status rag_small_blocks_open(struct rag_small_blocks *small, struct rag_fault *fault) {
    if (small->guard.size < FINE_HEAD_SIZE) return broken(small, 0, "no RAGFINE1", fault);
    enum rag_status status = rag_guard_check(&small->guard, 0, FINE_HEAD_SIZE, fault);
    if (status == RAG_OK) status = check_head(small, fault);
    if (status == RAG_OK && small->count)
        status = rag_guard_check(&small->guard, FINE_HEAD_SIZE, (uint64_t)small->count * FINE_ENTRY,
                                 fault);
    return status == RAG_OK ? check_entries(small, fault) : status;
}

void rag_small_blocks_entry(const struct rag_small_blocks *small, uint32_t i, uint64_t *at,
                            uint64_t *size, uint64_t *sums_at) {
    const uint8_t *entry = rag_guard_at(&small->guard, FINE_HEAD_SIZE + (uint64_t)i * FINE_ENTRY);
    *at = load_u64(entry);
    *size = load_u64(entry + 8);
    *sums_at = FINE_HEAD_SIZE + (uint64_t)small->count * FINE_ENTRY + 8 * load_u64(entry + 16);
}
