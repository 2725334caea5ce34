/* ids.c - distinct byte strings, numbered in order of arrival, for a segment that is being built.
 *
 * The strings are stored one after the other, with their ends. An open hash table of their numbers
 * finds them again. It is at most half full and stores no hashes, so a string costs its bytes plus
 * 16 to 24. Sorting merges runs: strings that arrive in order cost one comparison each.
 *
 * rag_ids_write writes the list of strings that records.c reads (rag.ids), in pieces, without
 * holding all of it in memory. */
#include <stdlib.h>

#include "ragfile/machine.h"
#include "ragfile/records.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

enum { SLOTS_LEAST = 64, PIECE = 1 << 16 };

struct rag_ids {
    uint8_t *bytes;
    uint64_t *ends;
    uint32_t *slots; /* number + 1 */
    size_t size, room, ends_room, count, slot_count;
};

struct rag_ids *rag_ids_new(void) { return calloc(1, sizeof(struct rag_ids)); }

void rag_ids_free(struct rag_ids *ids) {
    if (!ids) return;
    free(ids->bytes);
    free(ids->ends);
    free(ids->slots);
    free(ids);
}

uint32_t rag_ids_count(const struct rag_ids *ids) { return (uint32_t)ids->count; }

const uint8_t *rag_ids_at(const struct rag_ids *ids, uint32_t number, size_t *size) {
    const uint64_t from = number ? ids->ends[number - 1] : 0;
    *size = (size_t)(ids->ends[number] - from);
    return ids->bytes + from;
}

/* ----------------------------------------------------------------------------------- numbering */

/* The slot of a string, or the empty slot where it belongs. The table is never full. */
static size_t slot_of(const struct rag_ids *ids, const uint8_t *bytes, size_t size) {
    const size_t mask = ids->slot_count - 1;
    size_t at = rag_hash(bytes, size) & mask;
    for (; ids->slots[at]; at = (at + 1) & mask) {
        size_t there_size;
        const uint8_t *there = rag_ids_at(ids, ids->slots[at] - 1, &there_size);
        if (there_size == size && memcmp(there, bytes, size) == 0) return at;
    }
    return at;
}

static bool grow_slots(struct rag_ids *ids) {
    if (ids->slot_count >= 2 * (ids->count + 1)) return true;
    const size_t wanted = ids->slot_count ? 2 * ids->slot_count : SLOTS_LEAST;
    uint32_t *slots = calloc(wanted, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < ids->count; i++) {
        size_t size;
        const uint8_t *bytes = rag_ids_at(ids, i, &size);
        size_t at = rag_hash(bytes, size) & (wanted - 1);
        while (slots[at]) at = (at + 1) & (wanted - 1);
        slots[at] = i + 1;
    }
    free(ids->slots);
    ids->slots = slots;
    ids->slot_count = wanted;
    return true;
}

bool rag_ids_find(const struct rag_ids *ids, const uint8_t *bytes, size_t size, uint32_t *number) {
    if (ids->count == 0 || size == 0) return false;
    const uint32_t found = ids->slots[slot_of(ids, bytes, size)];
    *number = found - 1;
    return found != 0;
}

enum rag_status rag_ids_number(struct rag_ids *ids, const uint8_t *bytes, size_t size,
                               uint32_t *number, struct rag_fault *fault) {
    if (size == 0) return rag_fail(fault, RAG_ARGUMENT, 0, "an id is not empty");
    if (rag_ids_find(ids, bytes, size, number)) return RAG_OK;
    if (ids->count >= UINT32_MAX - 1)
        return rag_fail(fault, RAG_LIMIT, ids->count, "a segment has fewer than 2^32 documents");
    if (!grow_slots(ids) || !rag_grow(&ids->bytes, &ids->room, ids->size + size, 1) ||
        !rag_grow(&ids->ends, &ids->ends_room, ids->count + 1, sizeof *ids->ends))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for ids");
    const size_t slot = slot_of(ids, bytes, size);
    memcpy(ids->bytes + ids->size, bytes, size);
    ids->ends[ids->count] = ids->size += size;
    *number = (uint32_t)ids->count;
    ids->slots[slot] = (uint32_t)++ids->count;
    return RAG_OK;
}

/* --------------------------------------------------------------------------------------- order */

static bool is_above(const struct rag_ids *ids, uint32_t a, uint32_t b) {
    size_t a_size, b_size;
    const uint8_t *x = rag_ids_at(ids, a, &a_size), *y = rag_ids_at(ids, b, &b_size);
    const int order = memcmp(x, y, a_size < b_size ? a_size : b_size);
    return order ? order > 0 : a_size > b_size;
}

/* Merges the sorted ranges [first, middle) and [middle, end); `room` has space for the first. */
static void merge(const struct rag_ids *ids, uint32_t *order, size_t first, size_t middle,
                  size_t end, uint32_t *room) {
    size_t left = 0, right = middle, to = first;
    if (!is_above(ids, order[middle - 1], order[middle])) return;
    memcpy(room, order + first, (middle - first) * sizeof *room);
    while (left < middle - first && right < end)
        order[to++] = is_above(ids, room[left], order[right]) ? order[right++] : room[left++];
    memcpy(order + to, room + left, (middle - first - left) * sizeof *room);
}

enum rag_status rag_ids_order(const struct rag_ids *ids, uint32_t *order, struct rag_fault *fault) {
    const size_t count = ids->count;
    uint32_t *room = malloc((count + 1) * sizeof *room);
    if (!room) return rag_fail(fault, RAG_MEMORY, 0, "no memory to sort ids");
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t width = 1; width < count; width *= 2)
        for (size_t first = 0; first + width < count; first += 2 * width)
            merge(ids, order, first, first + width,
                  count - first < 2 * width ? count : first + 2 * width, room);
    free(room);
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- writing */

struct piece {
    rag_write *write;
    void *context;
    enum rag_status status;
    size_t used;
    uint8_t bytes[PIECE];
};

static void flush(struct piece *piece) {
    if (piece->status == RAG_OK && piece->used > 0)
        piece->status = piece->write(piece->context, piece->bytes, piece->used);
    piece->used = 0;
}

static void put(struct piece *piece, const void *bytes, size_t size) {
    if (piece->used + size > PIECE) flush(piece);
    if (size > PIECE) {
        if (piece->status == RAG_OK) piece->status = piece->write(piece->context, bytes, size);
        return;
    }
    memcpy(piece->bytes + piece->used, bytes, size);
    piece->used += size;
}

static void put_u64(struct piece *piece, uint64_t value) {
    uint8_t raw[8];
    store_u64(raw, value);
    put(piece, raw, sizeof raw);
}

enum rag_status rag_ids_write(const struct rag_ids *ids, const uint32_t *order, rag_write *write,
                              void *context, struct rag_fault *fault) {
    struct piece *piece = malloc(sizeof *piece);
    uint64_t end = 0;
    size_t size;
    if (!piece) return rag_fail(fault, RAG_MEMORY, 0, "no memory to write ids");
    piece->write = write;
    piece->context = context;
    piece->status = RAG_OK;
    piece->used = 0;
    put_u64(piece, ids->count);
    put_u64(piece, 0);
    for (size_t i = 0; i < ids->count && piece->status == RAG_OK; i++) {
        rag_ids_at(ids, order[i], &size);
        put_u64(piece, end += size);
    }
    for (size_t i = 0; i < ids->count && piece->status == RAG_OK; i++) {
        const uint8_t *bytes = rag_ids_at(ids, order[i], &size);
        put(piece, bytes, size);
    }
    flush(piece);
    const enum rag_status status = piece->status;
    free(piece);
    return status == RAG_OK ? RAG_OK : rag_fail(fault, status, 0, "ids were not written");
}
