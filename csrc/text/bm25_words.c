/* bm25_words.c - numbered strings, the vocabulary over them, and the builder's buffers.
 *
 * A string table gives each distinct string a number, in the order of arrival. The bytes live in
 * chunks that never move, each string after one byte with its size, so strings have at most 255
 * bytes. An open-addressing table maps a string to its number; a slot holds the hash and the first
 * eight bytes, which for most words is the whole word, so a lookup seldom leaves the table.
 *
 * The vocabulary is two such tables, words and terms, and an array from word to term. Its new words
 * wait in `pending` until rag_vocabulary_resolve brings their terms in the same order. A whole
 * (RAG_WORD_WHOLE) is its own term and is never pending. An empty term drops its word.
 *
 * `memory` counts the bytes of a table, for the builder's limit. Out of memory shows as
 * LEX_NO_STRING or as `failed`, which the public functions turn into RAG_MEMORY.
 * Single-threaded. */
#include <stdlib.h>

#include "ragfile/languages.h"
#include "ragfile/machine.h"
#include "shared/fail.h"
#include "text/bm25.h"

enum { FIRST_CHUNK = 1 << 9, CHUNK = 1 << 18, FIRST_SLOTS = 1 << 6 };

struct rag_bm25_chunk {
    struct rag_bm25_chunk *next;
    size_t used, room;
    uint8_t bytes[];
};

/* -------------------------------------------------------------------------------------- buffers */

uint8_t *rag_bm25_buffer_more(struct rag_bm25_buffer *buffer, size_t size) {
    if (buffer->failed || !rag_grow(&buffer->bytes, &buffer->capacity, buffer->size + size, 1)) {
        buffer->failed = true;
        return NULL;
    }
    buffer->size += size;
    return buffer->bytes + buffer->size - size;
}

void rag_bm25_buffer_put(struct rag_bm25_buffer *buffer, const void *bytes, size_t size) {
    uint8_t *at = rag_bm25_buffer_more(buffer, size);
    if (at && size) memcpy(at, bytes, size);
}

void rag_bm25_buffer_free(struct rag_bm25_buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct rag_bm25_buffer){0};
}

/* -------------------------------------------------------------------------------- string tables */

/* The first eight bytes, zero-padded: together with the size they identify most words within the
 * slot. */
static inline uint64_t head_of(const uint8_t *bytes, size_t size) {
    if (size >= 8) return load_u64(bytes);
    if (size >= 4) return load_u32(bytes) | (uint64_t)load_u32(bytes + size - 4) << 8 * (size - 4);
    return bytes[0] | (uint64_t)bytes[size / 2] << 8 * (size / 2) |
           (uint64_t)bytes[size - 1] << 8 * (size - 1);
}

static inline uint32_t hash_of(const uint8_t *bytes, size_t size, uint64_t head) {
    if (size > 16) return (uint32_t)rag_hash(bytes, size);
    const uint64_t tail = size > 8 ? load_u64(bytes + size - 8) : 0;
    const unsigned __int128 mixed =
        (unsigned __int128)(head ^ 0x9E3779B97F4A7C15u) * (tail ^ size ^ 0xD6E8FEB86659FD93u);
    const uint64_t folded = (uint64_t)mixed ^ (uint64_t)(mixed >> 64);
    return (uint32_t)(folded ^ folded >> 32);
}

static bool grow_slots(struct rag_bm25_strings *strings) {
    const size_t count = strings->slot_count ? 2 * strings->slot_count : FIRST_SLOTS;
    struct rag_bm25_slot *slots = calloc(count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < strings->slot_count; i++) {
        if (!strings->slots[i].id_and_one) continue;
        size_t at = strings->slots[i].hash & (count - 1);
        while (slots[at].id_and_one) at = (at + 1) & (count - 1);
        slots[at] = strings->slots[i];
    }
    free(strings->slots);
    strings->memory += (count - strings->slot_count) * sizeof *slots;
    strings->slots = slots;
    strings->slot_count = count;
    return true;
}

/* Each chunk is twice the one before, up to CHUNK: most vocabularies are those of a few questions,
 * and a process can have ten thousand of them. */
static struct rag_bm25_chunk *new_chunk(struct rag_bm25_strings *strings) {
    size_t room = strings->chunks ? 2 * strings->chunks->room : FIRST_CHUNK;
    if (room > CHUNK) room = CHUNK;
    struct rag_bm25_chunk *chunk = malloc(sizeof *chunk + room);
    if (!chunk) return NULL;
    chunk->next = strings->chunks;
    chunk->used = 0;
    chunk->room = room;
    strings->chunks = chunk;
    strings->memory += sizeof *chunk + room;
    return chunk;
}

static uint8_t *store_string(struct rag_bm25_strings *strings, const uint8_t *bytes, size_t size) {
    struct rag_bm25_chunk *chunk = strings->chunks;
    if (!chunk || chunk->used + size + 1 > chunk->room) chunk = new_chunk(strings);
    if (!chunk) return NULL;
    uint8_t *at = chunk->bytes + chunk->used;
    chunk->used += size + 1;
    at[0] = (uint8_t)size;
    memcpy(at + 1, bytes, size);
    return at;
}

static uint32_t append_string(struct rag_bm25_strings *strings, struct rag_bm25_slot *slot,
                              uint64_t head, uint32_t hash, const uint8_t *bytes, size_t size) {
    const size_t before = strings->text_capacity;
    /* unreached: takes 2^31 different words */
    if (strings->count >= LEX_DROPPED - 1) return LEX_NO_STRING;
    if (!rag_grow(&strings->texts, &strings->text_capacity, strings->count + 1,
                  sizeof *strings->texts))
        return LEX_NO_STRING;
    strings->memory += (strings->text_capacity - before) * sizeof *strings->texts;
    uint8_t *text = store_string(strings, bytes, size);
    if (!text) return LEX_NO_STRING;
    strings->texts[strings->count++] = text;
    *slot = (struct rag_bm25_slot){head, hash, (uint32_t)strings->count};
    return (uint32_t)strings->count - 1;
}

static uint32_t strings_add(struct rag_bm25_strings *strings, const uint8_t *bytes, size_t size,
                            bool *is_new) {
    *is_new = false;
    if (2 * (strings->count + 1) > strings->slot_count && !grow_slots(strings))
        return LEX_NO_STRING;
    const uint64_t head = head_of(bytes, size);
    const uint32_t hash = hash_of(bytes, size, head);
    size_t at = hash & (strings->slot_count - 1);
    for (; strings->slots[at].id_and_one; at = (at + 1) & (strings->slot_count - 1)) {
        const struct rag_bm25_slot *slot = &strings->slots[at];
        if (slot->hash != hash || slot->head != head) continue;
        if (size < 8)
            return slot->id_and_one - 1; /* no word contains NUL, so the head implies the size */
        const uint8_t *text = strings->texts[slot->id_and_one - 1];
        if (text[0] == size && memcmp(text + 1, bytes, size) == 0) return slot->id_and_one - 1;
    }
    *is_new = true;
    return append_string(strings, &strings->slots[at], head, hash, bytes, size);
}

static void strings_free(struct rag_bm25_strings *strings) {
    for (struct rag_bm25_chunk *chunk = strings->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(strings->slots);
    free(strings->texts);
    *strings = (struct rag_bm25_strings){0};
}

/* ----------------------------------------------------------------------------------- vocabulary */

struct rag_vocabulary *rag_vocabulary_new(void) { return calloc(1, sizeof(struct rag_vocabulary)); }

void rag_bm25_vocabulary_clear(struct rag_vocabulary *vocabulary) {
    strings_free(&vocabulary->words);
    strings_free(&vocabulary->terms);
    rag_bm25_buffer_free(&vocabulary->pending);
    free(vocabulary->term_of);
    *vocabulary = (struct rag_vocabulary){0};
}

void rag_vocabulary_free(struct rag_vocabulary *vocabulary) {
    if (vocabulary) rag_bm25_vocabulary_clear(vocabulary);
    free(vocabulary);
}

size_t rag_vocabulary_size(const struct rag_vocabulary *vocabulary) {
    return vocabulary->words.count;
}

/* Enter a new word: a whole is its own term, a part is pending. */
static bool enter_word(struct rag_vocabulary *vocabulary, uint32_t id, const uint8_t *word,
                       size_t size, int kind) {
    bool is_new;
    if (!rag_grow(&vocabulary->term_of, &vocabulary->term_capacity, (size_t)id + 1,
                  sizeof *vocabulary->term_of))
        return false;
    if (kind == RAG_WORD_WHOLE) {
        const uint32_t term = strings_add(&vocabulary->terms, word, size, &is_new);
        vocabulary->term_of[id] = term | LEX_WHOLE;
        return term != LEX_NO_STRING;
    }
    vocabulary->term_of[id] = LEX_DROPPED;
    rag_bm25_buffer_put(&vocabulary->pending, word, size);
    rag_bm25_buffer_put(&vocabulary->pending, "", 1);
    return !vocabulary->pending.failed;
}

uint32_t rag_bm25_vocabulary_word(struct rag_vocabulary *vocabulary, const uint8_t *word,
                                  size_t size, int kind) {
    bool is_new;
    const uint32_t id = strings_add(&vocabulary->words, word, size, &is_new);
    if (id == LEX_NO_STRING || (is_new && !enter_word(vocabulary, id, word, size, kind))) {
        vocabulary->failed = true;
        return LEX_NO_STRING;
    }
    return id;
}

struct rag_bm25_mark rag_bm25_mark_of(size_t language) {
    struct rag_bm25_mark mark = {{0}, 0};
    const struct rag_language *known = language ? rag_language_at(language) : NULL;
    if (!known) return mark;
    for (; known->code[mark.size]; mark.size++)
        mark.bytes[mark.size] = (uint8_t)known->code[mark.size];
    mark.bytes[mark.size++] = ':';
    return mark;
}

uint32_t rag_bm25_vocabulary_marked(struct rag_vocabulary *vocabulary, struct rag_bm25_mark mark,
                                    const struct rag_word *word) {
    uint8_t marked[LEX_TERM_MAX];
    /* A cluster has one term, alone and beside pairs, whichever of them comes first. */
    const int kind = word->share == RAG_CLUSTER_SHARE ? RAG_WORD_WHOLE : word->kind;
    if (!mark.size || kind == RAG_WORD_WHOLE || mark.size + word->size > LEX_TERM_MAX ||
        rag_word_is_dense(word->bytes, word->size))
        return rag_bm25_vocabulary_word(vocabulary, word->bytes, word->size, kind);
    memcpy(marked, mark.bytes, mark.size);
    memcpy(marked + mark.size, word->bytes, word->size);
    return rag_bm25_vocabulary_word(vocabulary, marked, mark.size + word->size, word->kind);
}

/* Store terms with a byte 1 before them: no text contains such a word. */
uint32_t rag_bm25_vocabulary_term(struct rag_vocabulary *vocabulary, const uint8_t *term,
                                  size_t size) {
    uint8_t marked[LEX_TERM_MAX + 1] = {1};
    bool is_new, is_new_term;
    if (size == 0 || size >= LEX_TERM_MAX) return LEX_NO_STRING;
    memcpy(marked + 1, term, size);
    const uint32_t id = strings_add(&vocabulary->words, marked, size + 1, &is_new);
    if (id == LEX_NO_STRING || !is_new) return id;
    if (!rag_grow(&vocabulary->term_of, &vocabulary->term_capacity, (size_t)id + 1,
                  sizeof *vocabulary->term_of))
        return LEX_NO_STRING;
    const uint32_t number = strings_add(&vocabulary->terms, term, size, &is_new_term);
    vocabulary->term_of[id] = number == LEX_NO_STRING ? LEX_DROPPED : number | LEX_WHOLE;
    return number == LEX_NO_STRING ? LEX_NO_STRING : id;
}

const uint8_t *rag_vocabulary_pending(const struct rag_vocabulary *vocabulary, size_t *size) {
    *size = vocabulary->pending.size;
    return vocabulary->pending.bytes;
}

/* Assign `term` to the next pending word; return false if none is pending or memory is out. */
static bool resolve_next(struct rag_vocabulary *vocabulary, const uint8_t *term, size_t size) {
    size_t *id = &vocabulary->resolved;
    while (*id < vocabulary->words.count && (vocabulary->term_of[*id] & LEX_WHOLE)) ++*id;
    if (*id >= vocabulary->words.count) return false;
    bool is_new;
    const uint32_t number =
        size ? strings_add(&vocabulary->terms, term, size, &is_new) : LEX_DROPPED;
    if (number == LEX_NO_STRING) vocabulary->failed = true;
    vocabulary->term_of[(*id)++] = number == LEX_NO_STRING ? LEX_DROPPED : number;
    return !vocabulary->failed;
}

enum rag_status rag_vocabulary_resolve(struct rag_vocabulary *vocabulary, const uint8_t *terms,
                                       size_t size, struct rag_fault *fault) {
    const uint8_t *at = terms, *end = terms + size;
    while (at < end) {
        const uint8_t *stop = memchr(at, 0, (size_t)(end - at));
        if (!stop) return rag_fail(fault, RAG_ARGUMENT, size, "the last term has no NUL");
        if (stop - at > LEX_TERM_MAX)
            return rag_fail(fault, RAG_ARGUMENT, (uint64_t)(stop - at),
                            "a term is longer than 255 bytes");
        if (!resolve_next(vocabulary, at, (size_t)(stop - at)))
            return vocabulary->failed
                       ? rag_fail(fault, RAG_MEMORY, 0, "no memory for terms")
                       : rag_fail(fault, RAG_ARGUMENT, size, "more terms than words");
        at = stop + 1;
    }
    size_t *id = &vocabulary->resolved;
    while (*id < vocabulary->words.count && (vocabulary->term_of[*id] & LEX_WHOLE)) ++*id;
    if (*id < vocabulary->words.count)
        return rag_fail(fault, RAG_ARGUMENT, *id, "fewer terms than words");
    vocabulary->pending.size = 0;
    return RAG_OK;
}
