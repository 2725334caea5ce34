/* mutate.c - a container-aware mutator, so that the fuzzer's files pass the checksums.
 *
 * Make one change (set a number in a table, footer or superblock to a boundary value; change bytes
 * of a section; move, double or cut a block of 64). Then, seven times in eight, recompute every
 * hash of the file: block hashes, section hashes, tables, footers, identity, front page. The repair
 * follows the changed bytes by plain rules and skips numbers that point outside the file. */
#include <stdlib.h>
#include <string.h>

#include "ragfile.h"
#include "shared/bytes.h"
#include "container/format.h"
#include "container/block_hashes.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static uint64_t state;
static uint64_t chance(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return below ? (state >> 8) % below : 0;
}

/* --------------------------------------------------------------------------------------- repair */

static bool inside(size_t size, uint64_t at, uint64_t count) {
    return at <= size && count <= size - at;
}

static void repair_section(uint8_t *data, size_t size, uint8_t *entry) {
    const uint64_t at = load_u64(entry + ENTRY_AT), bytes = load_u64(entry + ENTRY_BYTES),
                   extent = rag_extent(bytes);
    if (extent == 0 || !inside(size, at, extent) || at < FRONT_SIZE) return;
    uint8_t *sums = data + at + align_up(bytes, 8);
    const uint64_t blocks = (bytes + RAG_BLOCK - 1) / RAG_BLOCK;
    for (uint64_t i = 0; i < blocks; i++) {
        const uint64_t rest = bytes - i * RAG_BLOCK;
        store_u64(sums + 8 * i,
                  rag_hash(data + at + i * RAG_BLOCK, rest < RAG_BLOCK ? rest : RAG_BLOCK));
    }
    store_u64(entry + ENTRY_HASH, rag_hash(sums, 8 * blocks));
}

static void repair_table(uint8_t *data, size_t size, uint8_t *footer) {
    const uint64_t at = load_u64(footer + FOOTER_TOC_AT),
                   bytes = load_u64(footer + FOOTER_TOC_SIZE);
    if (!inside(size, at, bytes) || bytes < TOC_HEAD_SIZE || at < FRONT_SIZE) return;
    const uint64_t entries = load_u32(data + at + TOC_ENTRIES),
                   room = (bytes - TOC_HEAD_SIZE) / ENTRY_SIZE;
    for (uint64_t i = 0; i < entries && i < room; i++)
        repair_section(data, size, data + at + TOC_HEAD_SIZE + i * ENTRY_SIZE);
    store_u64(footer + FOOTER_TOC_HASH, rag_hash(data + at, bytes));
}

static void repair(uint8_t *data, size_t size) {
    uint64_t identity = 0;
    if (size < FRONT_SIZE + FOOTER_SIZE) return;
    for (size_t at = FRONT_SIZE; at + FOOTER_SIZE <= size; at += FOOTER_SIZE) {
        uint8_t *footer = data + at;
        if (memcmp(footer, FOOTER_MAGIC, 8) != 0) continue;
        repair_table(data, size, footer);
        if (identity == 0 || load_u64(data + SUPER_AT + SUPER_FOOTER_AT) == at)
            identity = load_u64(footer + FOOTER_TOC_HASH);
    }
    for (size_t at = FRONT_SIZE; at + FOOTER_SIZE <= size; at += FOOTER_SIZE) {
        uint8_t *footer = data + at;
        if (memcmp(footer, FOOTER_MAGIC, 8) != 0) continue;
        store_u64(footer + FOOTER_IDENTITY, identity);
        store_u64(footer + FOOTER_HASH, rag_hash(footer, FOOTER_HASH));
    }
    store_u64(data + SUPER_AT + SUPER_TOC_HASH, identity);
    store_u64(data + SUPER_AT + SUPER_HASH, rag_hash(data, SUPER_AT + SUPER_HASH));
}

/* --------------------------------------------------------------------------------------- change */

/* Return the offset of a footer, or 0. */
static size_t some_footer(const uint8_t *data, size_t size) {
    size_t found = 0, seen = 0;
    for (size_t at = FRONT_SIZE; at + FOOTER_SIZE <= size; at += FOOTER_SIZE)
        if (memcmp(data + at, FOOTER_MAGIC, 8) == 0 && chance(++seen) == 0) found = at;
    return found;
}

static uint64_t tempting(const uint8_t *data, size_t size, uint64_t old) {
    switch (chance(10)) {
        case 0:
            return chance(5);
        case 1:
            return UINT64_MAX - chance(130);
        case 2:
            return old + 1;
        case 3:
            return old - 1;
        case 4:
            return (uint64_t)1 << chance(64);
        case 5:
            return size - chance(130);
        case 6:
            return size / 64 * 64 - 64 * chance(size / 64 + 1);
        case 7:
            return load_u64(data + chance(size / 8) * 8);
        case 8:
            return old ^ (uint64_t)1 << chance(64);
        default:
            return old + 64 * (chance(9) - 4);
    }
}

static void change_number(uint8_t *data, size_t size, uint64_t from, uint64_t bytes) {
    if (!inside(size, from, bytes) || bytes < 8) return;
    uint8_t *at = data + from;
    if (chance(3) == 0) {
        at += chance(bytes / 4) * 4;
        store_u32(at, (uint32_t)tempting(data, size, load_u32(at)));
    } else {
        at += chance(bytes / 8) * 8;
        store_u64(at, tempting(data, size, load_u64(at)));
    }
}

/* Change a footer except its hash, a table of contents, or the superblock. */
static void change_structure(uint8_t *data, size_t size) {
    const size_t footer = some_footer(data, size);
    const uint64_t kind = chance(8);
    if (kind == 0 || footer == 0) change_number(data, size, SUPER_AT, SUPER_HASH);
    else if (kind < 3) change_number(data, size, footer + 8, FOOTER_SIZE - 16);
    else
        change_number(data, size, load_u64(data + footer + FOOTER_TOC_AT),
                      load_u64(data + footer + FOOTER_TOC_SIZE));
}

/* Cut, double or copy one run of 64-byte units behind the front page. */
static size_t change_layout(uint8_t *data, size_t size, size_t max) {
    const size_t units = (size - FRONT_SIZE) / 64, first = chance(units),
                 count = 1 + chance(units - first < 8 ? units - first : 8);
    uint8_t *from = data + FRONT_SIZE + 64 * first;
    const size_t bytes = 64 * (first + count <= units ? count : units - first);
    const size_t behind = (size_t)(data + size - from) - bytes;
    if (bytes == 0) return size;
    switch (chance(4)) {
        case 0:
            memmove(from, from + bytes, behind);
            return size - bytes;
        case 1:
            if (size + bytes > max) return size;
            memmove(from + bytes, from, behind + bytes);
            return size + bytes;
        case 2:
            memmove(data + FRONT_SIZE + 64 * chance(units - bytes / 64 + 1), from, bytes);
            return size;
        default:
            if (size + bytes > max) return size;
            memmove(data + size, from, bytes);
            return size + bytes;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    state = seed * 0x9E3779B97F4A7C15u + 1;
    chance(2);
    if (size < FRONT_SIZE + FOOTER_SIZE + 64 || chance(16) == 0)
        return LLVMFuzzerMutate(data, size, max);
    for (uint64_t times = 1 + chance(3); times > 0; times--) {
        const uint64_t kind = chance(8);
        if (kind < 5) change_structure(data, size);
        else if (kind == 5 && size > FRONT_SIZE + FOOTER_SIZE + 64)
            size = change_layout(data, size, max);
        else if (kind == 6)
            size = FRONT_SIZE +
                   LLVMFuzzerMutate(data + FRONT_SIZE, size - FRONT_SIZE, max - FRONT_SIZE);
        else LLVMFuzzerMutate(data, HEADER_SIZE + 200, HEADER_SIZE + 200);
        if (size < FRONT_SIZE + FOOTER_SIZE + 64) return size;
    }
    if (chance(8) != 0) repair(data, size);
    return size;
}
