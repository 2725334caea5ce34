/* pairs_keys.c - rag.keys, the sorted companion that makes keyword lookups logarithmic.
 *
 *     0   4  "RXK1"
 *     4   4  u32 bytes of an entry, 16
 *     8   8  u64 count, one entry per pair of the keyword section
 *     16  8  u64 bytes of the pairs it was made for, end + 1 - start
 *     24  8  u64 XXH3-64 of the entries
 *     32     entries: 8 bytes, the keyword's first, NUL-filled
 *                     u64 offset of the pair from the keyword section's start
 *
 * Entries ascend by keyword, compared as bytes, then by offset. The eight bytes decide most
 * comparisons without touching the keyword section. Keywords have no NUL, so the filling keeps the
 * order.
 *
 * Hostile entries are harmless: an offset counts only if a pair starts there (by the walk's own
 * rules) with the requested keyword, and equal keywords must have ascending offsets. A wrong entry
 * can only hide a pair, which verify detects. */
#include <stdlib.h>

#include "ragfile/machine.h"
#include "formats/pairs.h"
#include "shared/bytes.h"
#include "shared/fail.h"

enum { ENTRY = 16, PREFIX = 8 };

static const uint8_t magic[4] = {'R', 'X', 'K', '1'};

enum rag_status rag_keys_open(const uint8_t *section, uint64_t size, uint64_t at, bool big_endian,
                              const struct rag_pairs *pairs, struct rag_keys *keys,
                              struct rag_fault *fault) {
    uint64_t bytes;
    if (size < RAG_KEYS_HEADER || memcmp(section, magic, sizeof magic) != 0)
        return rag_fail(fault, RAG_FORMAT, at, "a rag.keys section must start with RXK1");
    if (load_u32_in(big_endian, section + 4) != ENTRY)
        return rag_fail(fault, RAG_FORMAT, at + 4, "an entry of rag.keys has 16 bytes");
    keys->count = load_u64_in(big_endian, section + 8);
    if (mul_overflows(keys->count, ENTRY, &bytes) || bytes > size - RAG_KEYS_HEADER)
        return rag_fail(fault, RAG_FORMAT, at + 8, "rag.keys has more entries than bytes");
    if (load_u64_in(big_endian, section + 16) != pairs->size)
        return rag_fail(fault, RAG_FORMAT, at + 16, "rag.keys was made for other keyword pairs");
    keys->entries = section + RAG_KEYS_HEADER;
    keys->hash = load_u64_in(big_endian, section + 24);
    keys->big_endian = big_endian;
    keys->at = at + RAG_KEYS_HEADER;
    return RAG_OK;
}

static uint64_t entry_offset(const struct rag_keys *keys, uint64_t i) {
    return load_u64_in(keys->big_endian, keys->entries + i * ENTRY + PREFIX);
}

static enum rag_status fail_entry(const struct rag_keys *keys, uint64_t i, const char *what,
                                  struct rag_fault *fault) {
    return rag_fail(fault, RAG_FORMAT, keys->at + i * ENTRY, what);
}

static void fill_prefix(uint8_t prefix[PREFIX], const uint8_t *key, size_t size) {
    memset(prefix, 0, PREFIX);
    if (size) memcpy(prefix, key, size < PREFIX ? size : PREFIX);
}

/* Open the pair of entry i if one starts at its offset: at the start, or after a gap. */
static enum rag_status read_pair(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                 uint64_t i, struct rag_pair *pair, struct rag_fault *fault) {
    static const uint8_t nuls[16];
    uint64_t at = entry_offset(keys, i), cursor = at;
    bool starts = at == 0
                      ? pairs->size > 0
                      : at < pairs->size && at > pairs->padding && pairs->bytes[at] != 0 &&
                            memcmp(pairs->bytes + at - pairs->padding, nuls, pairs->padding) == 0;
    if (!starts)
        return fail_entry(keys, i, "this entry of rag.keys points where no pair starts", fault);
    return rag_pairs_next(pairs, &cursor, pair, fault);
}

/* Compare the keyword of entry i with key, as memcmp does. Reads at most key_size + 1 bytes of any
 * pair. */
static enum rag_status compare_pair(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                    uint64_t i, const uint8_t *key, size_t key_size, int *order,
                                    struct rag_fault *fault) {
    uint64_t at = entry_offset(keys, i);
    if (at >= pairs->size)
        return fail_entry(keys, i, "this entry of rag.keys points outside the pairs", fault);
    const uint8_t *text = pairs->bytes + at;
    uint64_t rest = pairs->size - at, n = 0;
    while (n < key_size && n < rest && text[n] == key[n]) n++;
    int mine = n < key_size ? key[n] : 0, its = n < rest && text[n] != '-' ? text[n] : 0;
    *order = its - mine;
    return RAG_OK;
}

static enum rag_status compare(const struct rag_keys *keys, const struct rag_pairs *pairs,
                               uint64_t i, const uint8_t prefix[PREFIX], const uint8_t *key,
                               size_t key_size, int *order, struct rag_fault *fault) {
    *order = memcmp(keys->entries + i * ENTRY, prefix, PREFIX);
    if (*order || key_size < PREFIX) return RAG_OK; /* a NUL-filled prefix is the whole keyword */
    return compare_pair(keys, pairs, i, key, key_size, order, fault);
}

/* Return the first entry that is not below key. */
static enum rag_status lower_bound(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                   const uint8_t prefix[PREFIX], const uint8_t *key,
                                   size_t key_size, uint64_t *found, struct rag_fault *fault) {
    uint64_t low = 0, high = keys->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int order;
        enum rag_status status = compare(keys, pairs, middle, prefix, key, key_size, &order, fault);
        if (status) return status;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    *found = low;
    return RAG_OK;
}

enum rag_status rag_keys_lookup(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                const uint8_t *key, size_t key_size, struct rag_spans *spans,
                                struct rag_fault *fault) {
    uint8_t prefix[PREFIX];
    uint64_t i, before = 0;
    if (key_size && (memchr(key, '-', key_size) || memchr(key, 0, key_size)))
        return RAG_OK; /* no keyword contains these */
    fill_prefix(prefix, key, key_size);
    enum rag_status status = lower_bound(keys, pairs, prefix, key, key_size, &i, fault);
    for (bool first = true; !status && i < keys->count; i++, first = false) {
        struct rag_pair pair;
        if (memcmp(keys->entries + i * ENTRY, prefix, PREFIX) != 0) break;
        if ((status = read_pair(keys, pairs, i, &pair, fault))) break;
        if (pair.head_size != key_size || memcmp(pairs->bytes + pair.at, key, key_size) != 0) break;
        if (!first && pair.at <= before)
            return fail_entry(keys, i, "entries of rag.keys with one keyword must ascend by offset",
                              fault);
        before = pair.at;
        status = rag_spans_add(spans, pair.content_at, pair.content_size, fault);
    }
    return status;
}

enum rag_status rag_keys_verify(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                struct rag_fault *fault) {
    uint64_t count, stride;
    struct rag_pair pair, before = {0};
    enum rag_status status = rag_pairs_walk(pairs, NULL, 0, &count, &stride, fault);
    if (status) return status;
    const uint64_t head = keys->at - RAG_KEYS_HEADER;
    if (count != keys->count)
        return rag_fail(fault, RAG_FORMAT, head + 8, "rag.keys must have one entry for each pair");
    if (rag_hash(keys->entries, count * ENTRY) != keys->hash)
        return rag_fail(fault, RAG_CORRUPT, head + 24, "the checksum of rag.keys does not match");
    for (uint64_t i = 0; i < count; i++, before = pair) {
        uint8_t prefix[PREFIX];
        if ((status = read_pair(keys, pairs, i, &pair, fault))) return status;
        fill_prefix(prefix, pairs->bytes + pair.at, pair.head_size);
        if (memcmp(prefix, keys->entries + i * ENTRY, PREFIX) != 0)
            return fail_entry(keys, i, "an entry of rag.keys must hold its keyword's first bytes",
                              fault);
        uint64_t common = pair.head_size < before.head_size ? pair.head_size : before.head_size;
        int order = i == 0 ? -1 : memcmp(pairs->bytes + before.at, pairs->bytes + pair.at, common);
        if (i && order == 0)
            order = before.head_size < pair.head_size ? -1 : before.head_size > pair.head_size;
        if (order > 0 || (order == 0 && pair.at <= before.at))
            return fail_entry(keys, i, "entries of rag.keys must ascend by keyword and offset",
                              fault);
    }
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- building */

struct item {
    uint64_t prefix; /* big-endian value of the first eight bytes: sorts as they do */
    uint64_t offset;
};

/* Compare two accepted pairs: both keywords end in '-'. */
static bool follows(const struct rag_pairs *pairs, const struct item *a, const struct item *b) {
    if (a->prefix != b->prefix) return a->prefix > b->prefix;
    const uint8_t *x = pairs->bytes + a->offset, *y = pairs->bytes + b->offset;
    while (*x == *y && *x != '-') x++, y++;
    return (*x == '-' ? 0 : *x) > (*y == '-' ? 0 : *y);
}

static void merge(const struct rag_pairs *pairs, const struct item *from, struct item *to,
                  uint64_t low, uint64_t middle, uint64_t high) {
    for (uint64_t a = low, b = middle, out = low; out < high; out++) {
        bool right = a == middle || (b < high && follows(pairs, &from[a], &from[b]));
        to[out] = right ? from[b++] : from[a++];
    }
}

/* Bottom-up merge sort: stable, so equal keywords stay in file order. Return the array that holds
 * the result. */
static struct item *sort(const struct rag_pairs *pairs, struct item *items, struct item *other,
                         uint64_t count) {
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t low = 0; low < count; low += 2 * width) {
            uint64_t middle = low + width < count ? low + width : count;
            uint64_t high = low + 2 * width < count ? low + 2 * width : count;
            merge(pairs, items, other, low, middle, high);
        }
        struct item *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

static enum rag_status list_items(const struct rag_pairs *pairs, struct item *items, uint64_t count,
                                  struct rag_fault *fault) {
    uint64_t cursor = 0, rows = 0;
    while (cursor < pairs->size && rows < count) {
        uint8_t prefix[PREFIX];
        struct rag_pair pair;
        enum rag_status status = rag_pairs_next(pairs, &cursor, &pair, fault);
        if (status) return status;
        fill_prefix(prefix, pairs->bytes + pair.at, pair.head_size);
        items[rows++] = (struct item){load_u64_in(true, prefix), pair.at};
    }
    if (rows != count || cursor < pairs->size)
        return rag_fail(fault, RAG_ARGUMENT, count, "count is not that of the pairs");
    return RAG_OK;
}

static void write_section(const struct rag_pairs *pairs, const struct item *items, uint64_t count,
                          uint8_t *section) {
    bool big = pairs->big_endian;
    uint8_t *entries = section + RAG_KEYS_HEADER;
    for (uint64_t i = 0; i < count; i++) {
        store_u64_in(true, entries + i * ENTRY, items[i].prefix);
        store_u64_in(big, entries + i * ENTRY + PREFIX, items[i].offset);
    }
    memcpy(section, magic, sizeof magic);
    store_u32_in(big, section + 4, ENTRY);
    store_u64_in(big, section + 8, count);
    store_u64_in(big, section + 16, pairs->size);
    store_u64_in(big, section + 24, rag_hash(entries, count * ENTRY));
}

enum rag_status rag_keys_build(const struct rag_pairs *pairs, uint64_t count, uint8_t *section,
                               struct rag_fault *fault) {
    struct item *items = malloc((2 * count + 1) * sizeof *items);
    if (!items) return rag_fail(fault, RAG_MEMORY, 0, "no memory to sort the keywords");
    enum rag_status status = list_items(pairs, items, count, fault);
    if (!status) write_section(pairs, sort(pairs, items, items + count, count), count, section);
    free(items);
    return status;
}
