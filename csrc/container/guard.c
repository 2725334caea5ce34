/* guard.c - lazy checksums of sections, and fetching of bytes on demand.
 *
 * A block is hashed when it is first read. Afterwards its bit in `seen` is set, and checking it
 * costs one load. Only a block without its bit can lead to the file's source, if there is one: the
 * block and the section's block hashes are fetched, the hashes are verified against the table of
 * contents (once; they have a bit of their own), and the block against its hash.
 *
 * Before a scan, a plan lists all ranges that it will read, so that a source can combine them
 * into few requests. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/container.h"
#include "ragfile/machine.h"
#include "container/wants.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static size_t block_count(const struct rag_guard *guard) {
    return (size_t)((guard->size + RAG_BLOCK - 1) / RAG_BLOCK);
}

static bool has_bit(const struct rag_guard *guard, size_t i) {
    return __atomic_load_n(&guard->seen[i / 8], __ATOMIC_ACQUIRE) & (1u << i % 8);
}

static void set_bit(const struct rag_guard *guard, size_t i) {
#ifdef RAGFILE_PLANTS_RACES /* where ThreadSanitizer is to show that it would see one */
    if (getenv("RAGFILE_PLANTED_RACE")) {
        guard->seen[i / 8] |= (uint8_t)(1u << i % 8);
        return;
    }
#endif
    __atomic_fetch_or(&guard->seen[i / 8], (uint8_t)(1u << i % 8), __ATOMIC_RELEASE);
}

static size_t block_size(const struct rag_guard *guard, size_t block) {
    const uint64_t rest = guard->size - (uint64_t)block * RAG_BLOCK;
    return rest < RAG_BLOCK ? (size_t)rest : RAG_BLOCK;
}

/* Without trusted keys there are no leaves, and every block passes. */
static bool is_sealed(const struct rag_guard *guard, size_t block) {
    uint8_t leaf[RAG_LEAF];
    if (!guard->leaves) return true;
    rag_seal_leaf(guard->bytes + block * RAG_BLOCK, block_size(guard, block), leaf);
    return memcmp(leaf, guard->leaves + block * RAG_LEAF, RAG_LEAF) == 0;
}

static enum rag_status look(const struct rag_guard *guard, size_t block, struct rag_fault *fault) {
    const size_t start = block * RAG_BLOCK;
    const size_t size = block_size(guard, block);
    const bool is_whole = rag_hash(guard->bytes + start, size) == load_u64(guard->sums + block);
    if (is_whole && is_sealed(guard, block)) {
        set_bit(guard, block);
        return RAG_OK;
    }
    rag_fail(
        fault, RAG_CORRUPT, start,
        is_whole ? "the block is not the one that was signed" : "block checksum does not match");
    if (fault) memcpy(fault->section, guard->name, sizeof fault->section);
    return RAG_CORRUPT;
}

static bool is_lent(const struct rag_guard *guard) {
    return guard->source && !guard->source->bytes;
}

enum rag_status rag_guard_check(const struct rag_guard *guard, uint64_t at, uint64_t size,
                                struct rag_fault *fault) {
    if (size == 0) return RAG_OK;
    if (is_lent(guard)) {
        const struct rag_want want = {guard, at, size};
        return guard->source->hold(guard->source->context, &want, 1, fault);
    }
    if (!guard->sums) return RAG_OK;
    bool there = !guard->source;
    const size_t last = (size_t)((at + size - 1) / RAG_BLOCK);
    for (size_t block = (size_t)(at / RAG_BLOCK); block <= last; block++) {
        if (has_bit(guard, block)) continue;
        enum rag_status status = RAG_OK;
        const struct rag_want rest = {guard, block * RAG_BLOCK, at + size - block * RAG_BLOCK};
        if (!there) status = rag_ready(&rest, 1, fault);
        if (status == RAG_OK) status = look(guard, block, fault);
        if (status != RAG_OK) return status;
        there = true;
    }
    return RAG_OK;
}

enum rag_status rag_guard_recheck(const struct rag_guard *guard, struct rag_fault *fault) {
    for (size_t block = 0; block < block_count(guard); block++) {
        const enum rag_status status = has_bit(guard, block) ? look(guard, block, fault) : RAG_OK;
        if (status != RAG_OK) return status;
    }
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- bringing */

struct pieces {
    struct rag_piece *items;
    size_t count, room;
};

/* Merges adjacent ranges without a hash. */
static bool add_piece(struct pieces *pieces, const struct rag_source *source, const uint8_t *bytes,
                      size_t size, const uint64_t *hash) {
    struct rag_piece *last = pieces->count ? &pieces->items[pieces->count - 1] : NULL;
    if (last && !hash && !last->hashed &&
        last->at + last->size == (uint64_t)(bytes - source->bytes)) {
        last->size += size;
        return true;
    }
    if (!rag_grow(&pieces->items, &pieces->room, pieces->count + 1, sizeof *pieces->items))
        return false;
    pieces->items[pieces->count++] = (struct rag_piece){
        (uint64_t)(bytes - source->bytes), size, hash ? load_u64(hash) : 0, hash != NULL, false};
    return true;
}

/* Verifies a section's block hashes against its entry, until that succeeded once. */
static bool sums_hold(const struct rag_guard *guard) {
    const size_t blocks = block_count(guard);
    if (has_bit(guard, blocks)) return true;
    if (rag_hash(guard->sums, 8 * blocks) != guard->sums_hash) return false;
    set_bit(guard, blocks);
    return true;
}

/* Once for all adjacent wants of one section. */
static bool add_sums(struct pieces *pieces, const struct rag_want *wants, size_t i) {
    const struct rag_guard *guard = wants[i].guard;
    if (has_bit(guard, block_count(guard)) || (i > 0 && wants[i - 1].guard->sums == guard->sums))
        return true;
    return add_piece(pieces, guard->source, (const uint8_t *)guard->sums, 8 * block_count(guard),
                     &guard->sums_hash);
}

static bool add_blocks(struct pieces *pieces, const struct rag_want *want) {
    const struct rag_guard *guard = want->guard;
    const bool known = guard->source->kept && has_bit(guard, block_count(guard));
    if (want->at >= guard->size || want->size == 0) return true;
    const uint64_t end = want->size < guard->size - want->at ? want->at + want->size : guard->size;
    for (size_t block = want->at / RAG_BLOCK; block <= (end - 1) / RAG_BLOCK; block++) {
        if (has_bit(guard, block)) continue;
        if (!add_piece(pieces, guard->source, guard->bytes + block * RAG_BLOCK,
                       block_size(guard, block), known ? guard->sums + block : NULL))
            return false;
    }
    return true;
}

static bool is_of(const struct rag_want *want, const struct rag_source *source) {
    return want->guard->source == source && want->guard->sums && want->guard->size > 0;
}

static enum rag_status bring(const struct rag_source *source, const struct pieces *pieces,
                             bool near, struct rag_fault *fault) {
    return pieces->count ? source->fetch(source->context, pieces->items, pieces->count, near, fault)
                         : RAG_OK;
}

/* Look for cached blocks only if their hashes were cached. */
static enum rag_status look_for_sums(const struct rag_source *source, const struct rag_want *wants,
                                     size_t count, struct pieces *pieces, struct rag_fault *fault) {
    for (size_t i = 0; source->kept && i < count; i++)
        if (is_of(&wants[i], source) && !add_sums(pieces, wants, i))
            return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    const enum rag_status status = bring(source, pieces, true, fault);
    for (size_t i = 0; source->kept && i < count; i++)
        if (is_of(&wants[i], source)) (void)sums_hold(wants[i].guard);
    pieces->count = 0;
    return status;
}

static enum rag_status bring_all(const struct rag_source *source, const struct rag_want *wants,
                                 size_t count, struct pieces *pieces, struct rag_fault *fault) {
    enum rag_status status = look_for_sums(source, wants, count, pieces, fault);
    for (size_t i = 0; status == RAG_OK && i < count; i++)
        if (is_of(&wants[i], source) &&
            (!add_sums(pieces, wants, i) || !add_blocks(pieces, &wants[i])))
            status = rag_fail(fault, RAG_MEMORY, 0, "no memory");
    if (status == RAG_OK) status = bring(source, pieces, false, fault);
    for (size_t i = 0; status == RAG_OK && i < count; i++)
        if (is_of(&wants[i], source) && !sums_hold(wants[i].guard))
            status = rag_fail(fault, RAG_CORRUPT,
                              (uint64_t)((const uint8_t *)wants[i].guard->sums - source->bytes),
                              "the section's block hashes do not match");
    return status;
}

static bool is_first_of_source(const struct rag_want *wants, size_t i) {
    size_t before = 0;
    while (wants[before].guard->source != wants[i].guard->source) before++;
    return before == i;
}

enum rag_status rag_ready(const struct rag_want *wants, size_t count, struct rag_fault *fault) {
    const struct rag_source *last = NULL;
    enum rag_status status = RAG_OK;
    for (size_t i = 0; status == RAG_OK && i < count; i++) {
        const struct rag_source *source = wants[i].guard->source;
        struct pieces pieces = {0};
        if (source == last || !source || !is_first_of_source(wants, i)) continue;
        if (!source->bytes) return source->hold(source->context, wants, count, fault);
        status = bring_all(source, wants, count, &pieces, fault);
        free(pieces.items);
        last = source;
    }
    return status;
}

void rag_wants_add(struct rag_wants *wants, const struct rag_guard *guard, uint64_t at,
                   uint64_t size) {
    if (!guard->source || wants->failed) return;
    if (rag_grow(&wants->items, &wants->room, wants->count + 1, sizeof *wants->items))
        wants->items[wants->count++] = (struct rag_want){guard, at, size};
    else wants->failed = true;
}

enum rag_status rag_wants_ready(struct rag_wants *wants, struct rag_fault *fault) {
    enum rag_status status = wants->failed ? rag_fail(fault, RAG_MEMORY, 0, "no memory") : RAG_OK;
    if (status == RAG_OK) status = rag_ready(wants->items, wants->count, fault);
    free(wants->items);
    *wants = (struct rag_wants){0};
    return status;
}
