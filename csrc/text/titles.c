/* titles.c - rag.titles: which documents have a title (spec 3.13), and which titles stand in a text
 * (spec 6.3.2).
 *
 *   0     u64 key of each title, ascending       8 n   u32 document of each
 *
 * The upper half of a key is of the first word, the lower half of all words. So a word that begins
 * no title costs one binary search, and only the others are tried with the words after them. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/titles.h"
#include "ragfile/machine.h"
#include "ragfile/records.h"
#include "ragfile/words.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "shared/utf8.h"

enum { ENTRY = 12, TITLE_SIZE = 2000 };
static const uint64_t UPPER = 0xFFFFFFFF00000000u;

/* -------------------------------------------------------------------------------------- section */

static uint64_t key_at(const struct rag_titles *t, uint64_t i) {
    return load_u64(rag_guard_at(&t->guard, 8 * i));
}

static uint32_t document_at(const struct rag_titles *t, uint64_t i) {
    return load_u32(rag_guard_at(&t->guard, 8 * t->count + 4 * i));
}

enum rag_status rag_titles_open(struct rag_titles *t, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    if (t->guard.size == 0 || t->guard.size % ENTRY != 0) {
        status = rag_fail(fault, RAG_FORMAT, 0, "titles of 12 bytes each do not fill the section");
        memcpy(fault->section, t->guard.name, sizeof fault->section);
    }
    t->count = t->guard.size / ENTRY;
    return status;
}

enum rag_status rag_titles_check(const struct rag_titles *t, uint64_t documents,
                                 struct rag_fault *fault) {
    enum rag_status status = rag_guard_check(&t->guard, 0, t->guard.size, fault);
    for (uint64_t i = 0; i < t->count && !status; i++) {
        if (document_at(t, i) >= documents)
            status = rag_fail(fault, RAG_FORMAT, 8 * t->count + 4 * i, "no such document");
        else if (i &&
                 (key_at(t, i - 1) > key_at(t, i) ||
                  (key_at(t, i - 1) == key_at(t, i) && document_at(t, i - 1) >= document_at(t, i))))
            status = rag_fail(fault, RAG_FORMAT, 8 * i, "titles do not ascend");
        if (status) memcpy(fault->section, t->guard.name, sizeof fault->section);
    }
    return status;
}

enum rag_status rag_titles_entry(const struct rag_titles *t, uint64_t i, uint64_t *key,
                                 uint32_t *document, struct rag_fault *fault) {
    enum rag_status status = rag_guard_check(&t->guard, 0, t->guard.size, fault);
    if (status) return status;
    *key = key_at(t, i);
    *document = document_at(t, i);
    return RAG_OK;
}

/* Return the first entry from `from` on whose key is not below `key`. */
static uint64_t lower_bound(const struct rag_titles *t, uint64_t from, uint64_t key) {
    uint64_t to = t->count;
    while (from < to) {
        const uint64_t middle = (from + to) / 2;
        if (key_at(t, middle) < key) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* ---------------------------------------------------------------------------------------- words */

/* A word of a text. The words stand in `joined`, with a blank between them. */
struct word {
    uint32_t from, to; /* in the text */
    uint32_t at, end;  /* in joined */
    bool begins;       /* with a capital or a digit */
};

struct words {
    const uint8_t *text;
    struct word *all;
    size_t count, room;
    uint8_t *joined;
    size_t size, joined_room;
    size_t most; /* words */
    bool is_short_of_memory;
};

/* Return whether a word begins with a digit, or with another character than its folded form. */
static bool begins_name(const uint8_t *raw, const struct rag_word *word) {
    if (raw[0] < 0x80) return raw[0] <= '9' || raw[0] != word->bytes[0];
    size_t size = 1;
    while (size < word->to - word->from && utf8_tail(raw[size])) size++;
    return size > word->size || memcmp(raw, word->bytes, size) != 0;
}

static void take_word(void *context, const struct rag_word *word) {
    struct words *w = context;
    if (word->kind != RAG_WORD_PART || w->count == w->most) return;
    if (!rag_grow(&w->all, &w->room, w->count + 1, sizeof *w->all) ||
        !rag_grow(&w->joined, &w->joined_room, w->size + word->size + 1, 1)) {
        w->is_short_of_memory = true;
        return;
    }
    if (w->count) w->joined[w->size++] = ' ';
    memcpy(w->joined + w->size, word->bytes, word->size);
    w->all[w->count++] =
        (struct word){(uint32_t)word->from, (uint32_t)word->to, (uint32_t)w->size,
                      (uint32_t)(w->size + word->size), begins_name(w->text + word->from, word)};
    w->size += word->size;
}

static void close_words(struct words *w) {
    free(w->all);
    free(w->joined);
}

static uint64_t hash_words(const struct words *w, size_t first, size_t count) {
    const uint32_t at = w->all[first].at;
    return rag_hash(w->joined + at, w->all[first + count - 1].end - at);
}

static uint64_t key_of(uint64_t of_first, uint64_t of_all) {
    return (of_first & UPPER) | (of_all & ~UPPER);
}

static size_t put_key(const uint8_t *title, size_t size, unsigned rules, uint64_t *key) {
    struct words w = {.text = title, .most = RAG_TITLE_WORDS + 1};
    rag_analyze(title, size, rules, take_word, &w);
    const bool fits = w.count && w.count <= RAG_TITLE_WORDS && !w.is_short_of_memory;
    if (fits) *key = key_of(hash_words(&w, 0, 1), hash_words(&w, 0, w.count));
    close_words(&w);
    return fits;
}

/* Return the size of a title before the part in parentheses at its end; 0 without such a part. */
static size_t before_parentheses(const uint8_t *title, size_t size) {
    while (size && (title[size - 1] == ' ' || title[size - 1] == '\t' || title[size - 1] == '\n'))
        size--;
    if (!size || title[size - 1] != ')') return 0;
    while (size > 2 && !(title[size - 2] == ' ' && title[size - 1] == '(')) size--;
    return size > 2 ? size - 2 : 0;
}

size_t rag_title_keys(const uint8_t *title, size_t size, unsigned rules,
                      uint64_t keys[RAG_TITLE_KEYS]) {
    if (size > TITLE_SIZE) return 0;
    size_t count = put_key(title, size, rules, keys);
    const size_t shorter = before_parentheses(title, size);
    if (shorter) count += put_key(title, shorter, rules, keys + count);
    if (count < 2 || keys[0] == keys[1]) return count ? 1 : 0;
    if (keys[0] > keys[1]) {
        const uint64_t first = keys[1];
        keys[1] = keys[0];
        keys[0] = first;
    }
    return 2;
}

/* -------------------------------------------------------------------------------------- writing */

struct entry {
    uint64_t key;
    uint32_t document;
};

struct rag_title_list {
    struct entry *all;
    size_t count, room;
};

struct rag_title_list *rag_title_list_new(void) { return calloc(1, sizeof(struct rag_title_list)); }

void rag_title_list_free(struct rag_title_list *list) {
    if (list) free(list->all);
    free(list);
}

enum rag_status rag_title_list_add(struct rag_title_list *list, const uint64_t *keys, size_t count,
                                   uint32_t document, struct rag_fault *fault) {
    if (!rag_grow(&list->all, &list->room, list->count + count, sizeof *list->all))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for titles");
    for (size_t i = 0; i < count; i++) list->all[list->count++] = (struct entry){keys[i], document};
    return RAG_OK;
}

uint64_t rag_title_list_count(const struct rag_title_list *list) { return list->count; }

static int by_key(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->key != y->key) return x->key > y->key ? 1 : -1;
    return (x->document > y->document) - (x->document < y->document);
}

enum rag_status rag_title_list_write(struct rag_title_list *list, rag_write *write, void *context,
                                     struct rag_fault *fault) {
    uint8_t *bytes = malloc(ENTRY * list->count + 1);
    if (!bytes) return rag_fail(fault, RAG_MEMORY, 0, "no memory for titles");
    if (list->count) qsort(list->all, list->count, sizeof *list->all, by_key);
    for (size_t i = 0; i < list->count; i++) {
        store_u64(bytes + 8 * i, list->all[i].key);
        store_u32(bytes + 8 * list->count + 4 * i, list->all[i].document);
    }
    const enum rag_status status = write(context, bytes, ENTRY * list->count);
    free(bytes);
    return status ? rag_fail(fault, status, 0, "titles could not be written") : RAG_OK;
}

/* ------------------------------------------------------------------------------------- matching */

struct matching {
    const struct words *words;
    struct rag_title_match *all;
    size_t count, room;
};

static bool is_live(const uint64_t *live, uint64_t row) {
    return !live || (live[row / 64] >> row % 64 & 1);
}

/* Add the live documents of a segment with a title, starting at the first entry of the title. */
static enum rag_status add_documents(struct matching *m, const struct rag_title_part *part,
                                     uint64_t at, uint64_t key, struct rag_title_match match,
                                     struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    const struct rag_titles *t = part->titles;
    for (size_t added = 0;
         added <= RAG_TITLE_PAGES && at < t->count && key_at(t, at) == key && !status; at++) {
        struct rag_document document;
        uint64_t id_at;
        status = rag_records_place(part->records, document_at(t, at), &document, &id_at, fault);
        if (status || !document.rows || !is_live(part->live, document.first_row)) continue;
        if (!rag_grow(&m->all, &m->room, m->count + 1, sizeof *m->all))
            return rag_fail(fault, RAG_MEMORY, 0, "no memory for names");
        match.row = (int64_t)(part->base + document.first_row);
        m->all[m->count++] = match;
        added++;
    }
    return status;
}

/* Match the titles that begin with a word. */
static enum rag_status match_word(struct matching *m, const struct rag_title_part *part,
                                  size_t word, uint64_t hash, struct rag_fault *fault) {
    const struct words *w = m->words;
    const struct rag_titles *t = part->titles;
    const uint64_t first = lower_bound(t, 0, hash & UPPER);
    if (first == t->count || (key_at(t, first) & UPPER) != (hash & UPPER)) return RAG_OK;
    enum rag_status status = RAG_OK;
    for (size_t n = 1; n <= RAG_TITLE_WORDS && word + n <= w->count && !status; n++) {
        const uint64_t key = key_of(hash, n == 1 ? hash : hash_words(w, word, n));
        const uint64_t at = lower_bound(t, first, key);
        const struct rag_title_match match = {(uint32_t)word, (uint32_t)n, w->all[word].from,
                                              w->all[word + n - 1].to, 0};
        if (at < t->count && key_at(t, at) == key)
            status = add_documents(m, part, at, key, match, fault);
    }
    return status;
}

static enum rag_status match_words(struct matching *m, const struct rag_title_part *parts,
                                   size_t part_count, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    for (size_t p = 0; p < part_count; p++) {
        const struct rag_guard *guard = &parts[p].titles->guard;
        const enum rag_status one = rag_guard_check(guard, 0, guard->size, fault);
        if (one) status = one;
        if (one && one != RAG_SOURCE) return one;
    }
    for (size_t i = 0; i < m->words->count && !status; i++) {
        if (!m->words->all[i].begins) continue;
        const uint64_t hash = hash_words(m->words, i, 1);
        for (size_t p = 0; p < part_count && !status; p++)
            status = match_word(m, &parts[p], i, hash, fault);
    }
    return status;
}

enum rag_status rag_titles_match(const struct rag_title_part *parts, size_t part_count,
                                 const uint8_t *text, size_t size, unsigned rules,
                                 struct rag_title_match **found, size_t *count,
                                 struct rag_fault *fault) {
    struct words w = {.text = text, .most = SIZE_MAX};
    struct matching m = {.words = &w};
    if (size > RAG_TITLE_TEXT) {
        size = RAG_TITLE_TEXT;
        while (size && utf8_tail(text[size])) size--;
    }
    rag_analyze(text, size, rules & ~(unsigned)RAG_PIECES, take_word, &w);
    enum rag_status status = w.is_short_of_memory
                                 ? rag_fail(fault, RAG_MEMORY, 0, "no memory for names")
                                 : match_words(&m, parts, part_count, fault);
    close_words(&w);
    if (status) free(m.all);
    *found = status ? NULL : m.all;
    *count = status ? 0 : m.count;
    return status;
}

/* ------------------------------------------------------------------------------------- choosing */

static int by_place(const void *a, const void *b) {
    const struct rag_title_match *x = a, *y = b;
    if (x->word != y->word) return x->word > y->word ? 1 : -1;
    if (x->words != y->words) return x->words < y->words ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

size_t rag_titles_choose(struct rag_title_match *all, size_t count) {
    size_t kept = 0, names = 0;
    uint32_t next = 0;
    if (count) qsort(all, count, sizeof *all, by_place);
    for (size_t i = 0, end; i < count && names < RAG_TITLE_NAMES; i = end) {
        for (end = i;
             end < count && all[end].word == all[i].word && all[end].words == all[i].words;)
            end++;
        if (all[i].word < next || end - i > RAG_TITLE_PAGES) continue;
        next = all[i].word + all[i].words;
        memmove(all + kept, all + i, (end - i) * sizeof *all);
        kept += end - i;
        names++;
    }
    return kept;
}
