/* frequencies.c - document frequencies of a collection, stored apart from its rows: with the
 * section rag.frequencies, one file of many can be searched with the statistics of all.
 *
 * rag.frequencies, little-endian:
 *      0   8  magic "RAGFREQ1"
 *      8   8  terms, above 0 only with rows
 *     16   8  rows                       24   8  total length
 *     32   8  k1, f64                    40   8  b, f64
 *     48   8  blocks, B                  56   4  size of the configuration, C    60   4  zero
 *     64   C  configuration (text), then zeros to a multiple of 8
 *          8B keys: the first 8 bytes of each block's first term, a big-endian number, zero-padded
 *             zeros to a multiple of 4096
 *       4096B blocks
 * A block holds whole entries: u8 bytes shared with the term before, u8 further bytes, these,
 * varint number of rows; then zeros. An entry opens a new block where it has no room in the last
 * one, so the same numbers make the same bytes.
 *
 * A lookup finds the block by its key and walks it, so a remote file fetches the keys once and one
 * block per term.
 *
 * Several parts are summed by a merge in term order: a heap holds the next term of each part, and
 * only the result is in memory. A part is the live rows of a lexicon, or another rag.frequencies
 * section, and can be subtracted instead of added. */
#include <stdlib.h>

#include "ragfile/fusion.h"
#include "shared/fail.h"
#include "text/bm25.h"

enum {
    FREQ_HEADER = 64,
    FREQ_AT_TERMS = 8,
    FREQ_AT_ROWS = 16,
    FREQ_AT_TOTAL_LENGTH = 24,
    FREQ_AT_K1 = 32,
    FREQ_AT_B = 40,
    FREQ_AT_BLOCKS = 48,
    FREQ_AT_CONFIG_SIZE = 56,
    FREQ_BLOCK = 4096,
    FREQ_DICTIONARY_BLOCK = 4096, /* maximum output of rag_lexicon_block */
};
#define FREQ_MAGIC "RAGFREQ1"

static uint64_t key_of(const uint8_t *term, size_t size) {
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++) key = key << 8 | (i < size ? term[i] : 0);
    return key;
}

static int compare_terms(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : a_size < b_size ? -1 : a_size > b_size;
}

static enum rag_status broken(struct rag_fault *fault, uint64_t at, const char *what) {
    return rag_fail(fault, RAG_FORMAT, at, what);
}

/* -------------------------------------------------------------------------------------- opening */

static enum rag_status read_header(struct rag_frequencies *f, struct rag_fault *fault) {
    const uint8_t *at = f->guard.bytes;
    if (memcmp(at, FREQ_MAGIC, 7) != 0) return broken(fault, 0, "not a section of frequencies");
    if (memcmp(at, FREQ_MAGIC, 8) != 0)
        return rag_fail(fault, RAG_VERSION, 7, "a section of frequencies of a newer version");
    f->terms = load_u64(at + FREQ_AT_TERMS);
    f->stats = (struct rag_lexical_stats){load_u64(at + FREQ_AT_ROWS),
                                          load_u64(at + FREQ_AT_TOTAL_LENGTH),
                                          load_f64(at + FREQ_AT_K1),
                                          load_f64(at + FREQ_AT_B),
                                          NULL,
                                          0};
    f->blocks = load_u64(at + FREQ_AT_BLOCKS);
    f->config_size = load_u32(at + FREQ_AT_CONFIG_SIZE);
    if (load_u32(at + 60) != 0) return broken(fault, 60, "the header does not end with zero");
    if (!(f->stats.k1 >= 0 && f->stats.k1 <= 1000) || !(f->stats.b >= 0 && f->stats.b <= 1))
        return broken(fault, FREQ_AT_K1, "k1 or b out of range");
    if (f->config_size > UINT16_MAX)
        return broken(fault, FREQ_AT_CONFIG_SIZE, "the configuration is too long");
    if (f->blocks > f->terms || f->blocks > f->guard.size / FREQ_BLOCK || (f->terms && !f->blocks))
        return broken(fault, FREQ_AT_BLOCKS, "the number of blocks is not that of the terms");
    return RAG_OK;
}

enum rag_status rag_frequencies_open(const struct rag_guard *guard, struct rag_frequencies *f,
                                     struct rag_fault *fault) {
    *f = (struct rag_frequencies){.guard = *guard};
    if (guard->size < FREQ_HEADER) return broken(fault, 0, "frequencies have at least a header");
    enum rag_status status = rag_guard_check(guard, 0, FREQ_HEADER, fault);
    if (!status) status = read_header(f, fault);
    if (status) return status;
    f->keys_at = align_up(FREQ_HEADER + f->config_size, 8);
    f->blocks_at = align_up(f->keys_at + 8 * f->blocks, FREQ_BLOCK);
    if (f->blocks_at + f->blocks * FREQ_BLOCK != guard->size)
        return broken(fault, 0, "the parts do not fill the section");
    f->config = guard->bytes + FREQ_HEADER;
    return rag_guard_check(guard, 0, f->blocks_at, fault);
}

/* -------------------------------------------------------------------------------------- walking */

/* The current term in a block and its row count; rows is 0 after the last. */
struct entry {
    const uint8_t *at, *end;
    uint64_t rows;
    size_t size;
    uint8_t term[LEX_TERM_MAX];
};

static enum rag_status open_block(const struct rag_frequencies *f, uint64_t block,
                                  struct entry *entry, struct rag_fault *fault) {
    const uint64_t at = f->blocks_at + block * FREQ_BLOCK;
    entry->at = f->guard.bytes + at;
    entry->end = entry->at + FREQ_BLOCK;
    entry->size = 0;
    return rag_guard_check(&f->guard, at, FREQ_BLOCK, fault);
}

static enum rag_status next_entry(const struct rag_frequencies *f, struct entry *entry,
                                  struct rag_fault *fault) {
    const uint64_t here = (uint64_t)(entry->at - f->guard.bytes);
    entry->rows = 0;
    if (entry->end - entry->at < 2 || entry->at[1] == 0) return RAG_OK;
    const size_t shared = entry->at[0], rest = entry->at[1];
    if (shared > entry->size || shared + rest > LEX_TERM_MAX ||
        (size_t)(entry->end - entry->at) < 2 + rest)
        return broken(fault, here, "a term is cut short");
    memcpy(entry->term + shared, entry->at + 2, rest);
    entry->size = shared + rest;
    entry->at += 2 + rest;
    entry->rows = rag_bm25_varint_get(&entry->at, entry->end);
    if (entry->rows == 0 || entry->rows > f->stats.rows)
        return broken(fault, here, "a term has more rows than there are");
    return RAG_OK;
}

/* ----------------------------------------------------------------------------------- looking up */

static uint64_t block_key(const struct rag_frequencies *f, uint64_t block) {
    return load_u64(f->guard.bytes + f->keys_at + 8 * block);
}

/* Count the leading blocks with a key below `key`, or not above it. */
static uint64_t blocks_below(const struct rag_frequencies *f, uint64_t key, bool or_equal) {
    uint64_t low = 0, high = f->blocks;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2, there = block_key(f, middle);
        if (there < key || (or_equal && there == key)) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Find the last block that begins at or before the term; first terms decide between equal keys. */
static enum rag_status find_block(const struct rag_frequencies *f, const uint8_t *term, size_t size,
                                  uint64_t *block, struct rag_fault *fault) {
    uint64_t low = blocks_below(f, key_of(term, size), false),
             high = blocks_below(f, key_of(term, size), true);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        struct entry first;
        enum rag_status status = open_block(f, middle, &first, fault);
        if (!status) status = next_entry(f, &first, fault);
        if (status) return status;
        if (compare_terms(first.term, first.size, term, size) <= 0) low = middle + 1;
        else high = middle;
    }
    *block = low; /* the number of blocks that begin at or before the term */
    return RAG_OK;
}

enum rag_status rag_frequencies_place(const struct rag_frequencies *f, const uint8_t *term,
                                      size_t size, uint64_t *at, uint64_t *bytes) {
    const uint64_t before = blocks_below(f, key_of(term, size), true);
    *at = before ? f->blocks_at + (before - 1) * FREQ_BLOCK : 0;
    *bytes = before ? FREQ_BLOCK : 0;
    return RAG_OK;
}

enum rag_status rag_frequencies_find(const struct rag_frequencies *f, const uint8_t *term,
                                     size_t size, uint64_t *rows, struct rag_fault *fault) {
    uint64_t block;
    struct entry entry;
    *rows = 0;
    enum rag_status status = find_block(f, term, size, &block, fault);
    if (status || block == 0) return status;
    status = open_block(f, block - 1, &entry, fault);
    while (!status) {
        status = next_entry(f, &entry, fault);
        if (status || entry.rows == 0) return status;
        const int order = compare_terms(entry.term, entry.size, term, size);
        if (order == 0) *rows = entry.rows;
        if (order >= 0) return RAG_OK;
    }
    return status;
}

enum rag_status rag_frequencies_set(const struct rag_frequencies *f, struct rag_queries *queries,
                                    size_t count, struct rag_fault *fault) {
    for (size_t i = 0; i < count; i++) {
        size_t term_count;
        struct rag_query_term *terms = rag_queries_terms(queries, i, &term_count);
        for (size_t t = 0; t < term_count; t++) {
            const enum rag_status status =
                rag_frequencies_find(f, terms[t].bytes, terms[t].size, &terms[t].df, fault);
            if (status) return status;
        }
    }
    rag_queries_join(queries);
    return RAG_OK;
}

enum rag_status rag_bm25_frequencies_walk(const struct rag_frequencies *f, const uint8_t *first,
                                          size_t size, rag_bm25_visitor *visit, void *context,
                                          struct rag_fault *fault) {
    uint64_t block;
    struct entry entry;
    enum rag_status status = find_block(f, first, size, &block, fault);
    for (block -= block > 0; !status && block < f->blocks; block++) {
        status = open_block(f, block, &entry, fault);
        if (!status) status = next_entry(f, &entry, fault);
        for (; !status && entry.rows; status = next_entry(f, &entry, fault))
            if (!visit(context, entry.term, entry.size, entry.rows)) return RAG_OK;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- writing */

struct writing {
    struct rag_bm25_buffer keys, blocks;
    uint64_t terms, block_count;
    size_t room; /* left in the last block */
    uint8_t last[LEX_TERM_MAX];
    size_t last_size;
};

static size_t shared_with(const struct writing *writing, const uint8_t *term, size_t size) {
    size_t shared = 0;
    while (shared < size && shared < writing->last_size && term[shared] == writing->last[shared])
        shared++;
    return shared;
}

static void begin_block(struct writing *writing, const uint8_t *term, size_t size) {
    uint8_t key[8];
    uint8_t *rest = rag_bm25_buffer_more(&writing->blocks, writing->room);
    if (rest) memset(rest, 0, writing->room);
    store_u64(key, key_of(term, size));
    rag_bm25_buffer_put(&writing->keys, key, sizeof key);
    writing->block_count++;
    writing->room = FREQ_BLOCK;
    writing->last_size = 0;
}

static void write_entry(struct writing *writing, const uint8_t *term, size_t size, uint64_t rows) {
    uint8_t number[LEX_VARINT_MAX], head[2];
    const size_t number_size = rag_bm25_varint_put(number, rows);
    size_t shared = shared_with(writing, term, size);
    if (writing->room < 2 + size - shared + number_size) {
        begin_block(writing, term, size);
        shared = 0;
    }
    head[0] = (uint8_t)shared;
    head[1] = (uint8_t)(size - shared);
    rag_bm25_buffer_put(&writing->blocks, head, 2);
    rag_bm25_buffer_put(&writing->blocks, term + shared, size - shared);
    rag_bm25_buffer_put(&writing->blocks, number, number_size);
    writing->room -= 2 + size - shared + number_size;
    memcpy(writing->last, term, size);
    writing->last_size = size;
    writing->terms++;
}

static bool put(const struct rag_sink *sink, const void *bytes, size_t size) {
    return size == 0 || sink->write(sink->context, bytes, size) == 0;
}

static enum rag_status finish(struct writing *writing, const struct rag_lexical_stats *stats,
                              const uint8_t *config, size_t config_size, struct rag_sink sink,
                              struct rag_fault *fault) {
    static const uint8_t zeros[FREQ_BLOCK];
    uint8_t header[FREQ_HEADER] = FREQ_MAGIC;
    uint8_t *rest = rag_bm25_buffer_more(&writing->blocks, writing->room);
    if (rest) memset(rest, 0, writing->room);
    if (writing->blocks.failed || writing->keys.failed)
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for frequencies");
    store_u64(header + FREQ_AT_TERMS, writing->terms);
    store_u64(header + FREQ_AT_ROWS, stats->rows);
    store_u64(header + FREQ_AT_TOTAL_LENGTH, stats->total_length);
    store_f64(header + FREQ_AT_K1, stats->k1);
    store_f64(header + FREQ_AT_B, stats->b);
    store_u64(header + FREQ_AT_BLOCKS, writing->block_count);
    store_u32(header + FREQ_AT_CONFIG_SIZE, (uint32_t)config_size);
    const size_t keys_at = align_up(FREQ_HEADER + config_size, 8),
                 keys_end = keys_at + writing->keys.size;
    const bool fine = put(&sink, header, sizeof header) && put(&sink, config, config_size) &&
                      put(&sink, zeros, keys_at - FREQ_HEADER - config_size) &&
                      put(&sink, writing->keys.bytes, writing->keys.size) &&
                      put(&sink, zeros, align_up(keys_end, FREQ_BLOCK) - keys_end) &&
                      put(&sink, writing->blocks.bytes, writing->blocks.size);
    return fine ? RAG_OK : rag_fail(fault, RAG_OS, 0, "frequencies could not be written");
}

/* -------------------------------------------------------------------------------------- merging */

/* The position in a part: its current term, or done. */
struct cursor {
    const struct rag_frequency_part *part;
    struct entry entry; /* of a section; a lexicon's term is copied into it */
    uint64_t block, blocks;
    uint8_t *dictionary; /* of a lexicon: the terms of a block, each with a NUL */
    size_t at, size;
    bool is_done;
};

static enum rag_status next_of_section(struct cursor *cursor, struct rag_fault *fault) {
    const struct rag_frequencies *f = cursor->part->frequencies;
    for (;;) {
        enum rag_status status = RAG_OK;
        if (cursor->block) status = next_entry(f, &cursor->entry, fault);
        if (status || (cursor->block && cursor->entry.rows)) return status;
        cursor->is_done = cursor->block == cursor->blocks;
        if (cursor->is_done) return RAG_OK;
        status = open_block(f, cursor->block++, &cursor->entry, fault);
        if (status) return status;
    }
}

/* Advance to the lexicon's next term that occurs in a live row. */
static enum rag_status next_of_lexicon(struct cursor *cursor, struct rag_fault *fault) {
    struct entry *entry = &cursor->entry;
    const struct rag_lexicon *lexicon = cursor->part->lexicon;
    for (entry->rows = 0; entry->rows == 0;) {
        enum rag_status status = RAG_OK;
        if (cursor->at == cursor->size) {
            cursor->is_done = cursor->block == cursor->blocks;
            if (cursor->is_done) return RAG_OK;
            cursor->at = 0;
            status = rag_lexicon_block(lexicon, cursor->block++, cursor->dictionary, &cursor->size,
                                       fault);
            if (status) return status;
            continue;
        }
        const uint8_t *term = cursor->dictionary + cursor->at,
                      *end = memchr(term, 0, cursor->size - cursor->at);
        entry->size = end ? (size_t)(end - term) : cursor->size - cursor->at;
        cursor->at += entry->size + (end != NULL);
        if (entry->size == 0 || entry->size > LEX_TERM_MAX) continue;
        memcpy(entry->term, term, entry->size);
        status = rag_lexicon_df(lexicon, entry->term, entry->size, cursor->part->alive,
                                &entry->rows, fault);
        if (status) return status;
    }
    return RAG_OK;
}

static enum rag_status advance(struct cursor *cursor, struct rag_fault *fault) {
    return cursor->part->lexicon ? next_of_lexicon(cursor, fault) : next_of_section(cursor, fault);
}

static enum rag_status start(struct cursor *cursor, const struct rag_frequency_part *part,
                             struct rag_fault *fault) {
    cursor->part = part;
    if (part->lexicon) {
        cursor->blocks = (part->lexicon->info.terms + LEX_BLOCK - 1) / LEX_BLOCK;
        cursor->dictionary = malloc(FREQ_DICTIONARY_BLOCK);
        if (!cursor->dictionary) return rag_fail(fault, RAG_MEMORY, 0, "no memory to merge");
    } else cursor->blocks = part->frequencies->blocks;
    return advance(cursor, fault);
}

static bool is_before(const struct cursor *cursors, size_t a, size_t b) {
    const struct entry *x = &cursors[a].entry, *y = &cursors[b].entry;
    return compare_terms(x->term, x->size, y->term, y->size) < 0;
}

#define HEAP_ITEM size_t
#define HEAP_CONTEXT const struct cursor *
#define HEAP_ABOVE(context, a, b) is_before(context, a, b)
#include "shared/heap.h"

/* Sum the term at the top of the heap and advance every part that has it. */
static enum rag_status take_term(struct cursor *cursors, size_t *heap, size_t *count,
                                 struct writing *writing, uint64_t rows, struct rag_fault *fault) {
    const struct entry first = cursors[heap[0]].entry;
    uint64_t plus = 0, minus = 0;
    while (*count) {
        struct cursor *cursor = &cursors[heap[0]];
        const struct entry *entry = &cursor->entry;
        if (compare_terms(entry->term, entry->size, first.term, first.size) != 0) break;
        *(cursor->part->is_taken_away ? &minus : &plus) += entry->rows;
        const enum rag_status status = advance(cursor, fault);
        if (status) return status;
        const struct entry *next = &cursor->entry;
        if (!cursor->is_done && compare_terms(next->term, next->size, first.term, first.size) <= 0)
            return rag_fail(fault, RAG_CORRUPT, 0, "terms are not in order");
        if (cursor->is_done) heap[0] = heap[--*count];
        if (*count) heap_down(cursors, heap, *count, 0);
    }
    if (minus > plus || plus - minus > rows)
        return rag_fail(fault, RAG_CORRUPT, 0, "the frequencies of the parts do not add up");
    if (plus > minus) write_entry(writing, first.term, first.size, plus - minus);
    return writing->blocks.failed ? rag_fail(fault, RAG_MEMORY, 0, "no memory to merge") : RAG_OK;
}

enum rag_status rag_frequencies_merge(const struct rag_frequency_part *parts, size_t part_count,
                                      const struct rag_lexical_stats *stats, const uint8_t *config,
                                      size_t config_size, struct rag_sink sink,
                                      struct rag_fault *fault) {
    struct cursor *cursors = calloc(part_count + 1, sizeof *cursors);
    size_t *heap = malloc((part_count + 1) * sizeof *heap), count = 0;
    struct writing writing = {0};
    enum rag_status status = RAG_OK;
    if (!cursors || !heap) status = rag_fail(fault, RAG_MEMORY, 0, "no memory to merge");
    for (size_t i = 0; i < part_count && !status; i++) {
        status = start(&cursors[i], &parts[i], fault);
        if (!status && !cursors[i].is_done) heap[count++] = i;
    }
    if (!status) heap_make(cursors, heap, count);
    while (count && !status)
        status = take_term(cursors, heap, &count, &writing, stats->rows, fault);
    if (!status) status = finish(&writing, stats, config, config_size, sink, fault);
    for (size_t i = 0; cursors && i < part_count; i++) free(cursors[i].dictionary);
    rag_bm25_buffer_free(&writing.keys);
    rag_bm25_buffer_free(&writing.blocks);
    free(heap);
    free(cursors);
    return status;
}
