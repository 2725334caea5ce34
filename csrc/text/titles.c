/* titles.c - rag.titles: which documents have a title (spec 3.13), and which titles stand in a text
 * (spec 6.3.2).
 *
 *   0     u64 key of each title, ascending       8 n   u32 document of each
 *
 * The upper half of a key is of the first word, the lower half of all words. So a word that begins
 * no title costs one binary search, and only the others are tried with the words after them.
 *
 * A filter, made when a file is first asked, answers most of these searches: a Bloom filter of
 * first words and of whole titles, with 16 bits for each title. */
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
#include "text/ascii_words.h"

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

/* Return the first entry of [from, to) whose key is not below `key`, else `to`. */
static uint64_t lower_bound(const struct rag_titles *t, uint64_t from, uint64_t to, uint64_t key) {
    while (from < to) {
        const uint64_t middle = (from + to) / 2;
        if (key_at(t, middle) < key) from = middle + 1;
        else to = middle;
    }
    return from;
}

bool rag_titles_has(const struct rag_titles *t, uint64_t key, uint32_t document) {
    uint64_t at = lower_bound(t, 0, t->count, key);
    while (at < t->count && key_at(t, at) == key && document_at(t, at) < document) at++;
    return at < t->count && key_at(t, at) == key && document_at(t, at) == document;
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
    size_t text_size, next; /* text[next] is the first byte that was not read */
    size_t run;             /* where the run begins that is being read */
    unsigned rules;
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

/* Make room for a word of this size and return where its bytes go, or NULL. */
static inline uint8_t *add_word(struct words *w, size_t size, size_t from, size_t to, bool begins) {
    if ((w->count == w->room && !rag_grow(&w->all, &w->room, w->count + 1, sizeof *w->all)) ||
        (w->size + size >= w->joined_room &&
         !rag_grow(&w->joined, &w->joined_room, w->size + size + 1, 1))) {
        w->is_short_of_memory = true;
        return NULL;
    }
    if (w->count) w->joined[w->size++] = ' ';
    uint8_t *bytes = w->joined + w->size;
    w->all[w->count++] = (struct word){(uint32_t)from, (uint32_t)to, (uint32_t)w->size,
                                       (uint32_t)(w->size + size), begins};
    w->size += size;
    return bytes;
}

static void take_word(void *context, const struct rag_word *word) {
    struct words *w = context;
    if (word->kind != RAG_WORD_PART || w->count == w->most) return;
    const size_t from = w->run + word->from;
    uint8_t *bytes =
        add_word(w, word->size, from, w->run + word->to, begins_name(w->text + from, word));
    if (bytes) memcpy(bytes, word->bytes, word->size);
}

/* --------------------------------------------------------------------------------------- filter */

enum { FILTER_BITS = 16, FILTER_LEAST = 6, FILTER_MOST = 23 }; /* a title; 2^6 to 2^23 of them */

struct rag_title_filter {
    unsigned shift; /* of a hash, to a bit */
    uint64_t bits[];
};

/* The bit of a first word is its hash's upper bits; the bit of a title mixes the whole key. */
static uint64_t title_bits(uint64_t key) { return key * 0x9E3779B97F4A7C15u; }

static bool filter_has(const struct rag_title_filter *filter, uint64_t bits) {
    const uint64_t bit = bits >> filter->shift;
    return filter->bits[bit / 64] >> bit % 64 & 1;
}

static void filter_set(struct rag_title_filter *filter, uint64_t bits) {
    const uint64_t bit = bits >> filter->shift;
    filter->bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

static enum rag_status check_titles(const struct rag_title_part *parts, size_t part_count,
                                    struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    for (size_t p = 0; p < part_count; p++) {
        const struct rag_guard *guard = &parts[p].titles->guard;
        const enum rag_status one = rag_guard_check(guard, 0, guard->size, fault);
        if (one) status = one;
        if (one && one != RAG_SOURCE) return one;
    }
    return status;
}

enum rag_status rag_title_filter_new(const struct rag_title_part *parts, size_t part_count,
                                     struct rag_title_filter **filter, struct rag_fault *fault) {
    uint64_t titles = 0;
    unsigned width = FILTER_LEAST;
    *filter = NULL;
    const enum rag_status status = check_titles(parts, part_count, fault);
    if (status) return status;
    for (size_t p = 0; p < part_count; p++) titles += parts[p].titles->count;
    while (width < FILTER_MOST && (uint64_t)1 << width < titles * FILTER_BITS) width++;
    struct rag_title_filter *made = calloc(1, sizeof *made + ((size_t)1 << (width - 3)));
    if (!made) return rag_fail(fault, RAG_MEMORY, 0, "no memory for titles");
    made->shift = 64 - width;
    for (size_t p = 0; p < part_count; p++) {
        for (uint64_t i = 0; i < parts[p].titles->count; i++) {
            filter_set(made, key_at(parts[p].titles, i) & UPPER);
            filter_set(made, title_bits(key_at(parts[p].titles, i)));
        }
    }
    *filter = made;
    return RAG_OK;
}

void rag_title_filter_free(struct rag_title_filter *filter) { free(filter); }

/* -------------------------------------------------------------------------------- runs of words */

enum { IS_SPACE = 1, MAY_BEGIN = 2, IS_WIDE = 4, PLAIN_MAX = 63 };

/* What a byte is before its word is read: a space, the first byte of a word that may begin with a
 * capital or a digit, or a byte of another script. */
#define S IS_SPACE
#define B MAY_BEGIN
#define WIDE_8 W, W, W, W, W, W, W, W
#define W (MAY_BEGIN | IS_WIDE)
/* clang-format off */
static const uint8_t kind_of[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, S, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    S, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    B, B, B, B, B, B, B, B, B, B, 0, 0, 0, 0, 0, 0,
    0, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
    B, B, B, B, B, B, B, B, B, B, B, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8,
    WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8, WIDE_8,
};
/* clang-format on */
#undef S
#undef B
#undef W
#undef WIDE_8

/* Return the end of the run without a space that begins at `at`; *kinds has what its bytes are. */
static size_t end_of_bytes(const struct words *w, size_t at, unsigned *kinds) {
    *kinds = 0;
    for (unsigned kind; at < w->text_size; at++) {
        if ((kind = kind_of[w->text[at]]) == IS_SPACE) break;
        *kinds |= kind;
    }
    return at;
}

static size_t end_of_spaces(const struct words *w, size_t at) {
    while (at < w->text_size && kind_of[w->text[at]] == IS_SPACE) at++;
    return at;
}

/* Add a stretch of ASCII letters and digits as the word that it is. */
static inline void add_stretch(struct words *w, size_t from, size_t to) {
    const uint8_t *text = w->text;
    uint8_t *bytes = add_word(w, to - from, from, to, text[from] <= 'Z');
    for (size_t i = from; bytes && i < to; i++) *bytes++ = ascii_word[text[i]];
}

/* Return whether the byte after a stretch may join it to the next one: as an apostrophe, or as a
 * dot of an acronym. */
static inline bool may_join(const uint8_t *text, size_t at, size_t to, size_t size) {
    if (at + 1 >= to || !ascii_word[text[at + 1]]) return false;
    return text[at] == '\'' || (text[at] == '.' && size == 1);
}

/* Add the words of a run of ASCII, in which each stretch of letters and digits is a part
 * (analyze.c).
 * If one is too long or may be joined to the next, add nothing and return false. */
static bool add_plain(struct words *w, size_t from, size_t to) {
    const size_t count = w->count, size = w->size;
    for (size_t at = from; at < to; at++) {
        const size_t first = at;
        while (at < to && ascii_word[w->text[at]]) at++;
        if (at == first) continue;
        if (at - first > PLAIN_MAX || may_join(w->text, at, to, at - first)) {
            w->count = count;
            w->size = size;
            return false;
        }
        add_stretch(w, first, at);
    }
    return true;
}

/* Read the words of a run, which no word crosses. */
static void read_run(struct words *w, size_t from, size_t to, unsigned kinds) {
    w->run = from;
    w->next = to;
    if (kinds & IS_WIDE || !add_plain(w, from, to))
        rag_analyze(w->text + from, to - from, w->rules, take_word, w);
}

/* Read the next run, or the next in which a title may begin. Return whether there is one. */
static bool read_next(struct words *w, bool is_at_name) {
    while (w->next < w->text_size) {
        unsigned kinds;
        const size_t from = end_of_spaces(w, w->next), to = end_of_bytes(w, from, &kinds);
        w->next = to;
        if (from == to || (is_at_name && !(kinds & MAY_BEGIN))) continue;
        read_run(w, from, to, kinds);
        return true;
    }
    return false;
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
    const struct rag_title_filter *filter; /* or NULL */
    struct words *words;
    struct rag_title_match *all;
    size_t count, room;
};

static bool may_have(const struct matching *m, uint64_t bits) {
    return !m->filter || filter_has(m->filter, bits);
}

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

/* Return the entry after those whose first word has this hash, the first of which is `first`. */
static uint64_t end_of_run(const struct rag_titles *t, uint64_t first, uint64_t hash) {
    uint64_t step = 1, last = first; /* an entry of the run */
    while (last + step < t->count && (key_at(t, last + step) & UPPER) == (hash & UPPER)) {
        last += step;
        step *= 2;
    }
    if (hash >= UPPER) return t->count;
    const uint64_t stop = last + step < t->count ? last + step : t->count;
    return lower_bound(t, last, stop, (hash | ~UPPER) + 1);
}

/* Match the titles that begin with a word. */
static enum rag_status match_word(struct matching *m, const struct rag_title_part *part,
                                  size_t word, uint64_t hash, struct rag_fault *fault) {
    struct words *w = m->words;
    const struct rag_titles *t = part->titles;
    uint64_t first = 0, end = t->count;
    if (!m->filter) {
        first = lower_bound(t, 0, t->count, hash & UPPER);
        if (first == t->count || (key_at(t, first) & UPPER) != (hash & UPPER)) return RAG_OK;
        end = end_of_run(t, first, hash);
    }
    while (w->count < word + RAG_TITLE_WORDS && read_next(w, false)) {
    }
    enum rag_status status = RAG_OK;
    for (size_t n = 1; n <= RAG_TITLE_WORDS && word + n <= w->count && !status; n++) {
        const uint64_t key = key_of(hash, n == 1 ? hash : hash_words(w, word, n));
        if (!may_have(m, title_bits(key))) continue;
        const uint64_t at = lower_bound(t, first, end, key);
        const struct word *last = &w->all[word + n - 1];
        const struct rag_title_match match = {w->all[word].from, last->to, last->from, 0};
        if (at < end && key_at(t, at) == key)
            status = add_documents(m, part, at, key, match, fault);
    }
    return status;
}

/* Match the titles of all segments. Words are read when a title needs them. */
static enum rag_status match_words(struct matching *m, const struct rag_title_part *parts,
                                   size_t part_count, struct rag_fault *fault) {
    struct words *w = m->words;
    enum rag_status status = RAG_OK;
    size_t done = 0;
    do {
        for (; done < w->count && !status; done++) {
            if (!w->all[done].begins) continue;
            const uint64_t hash = hash_words(w, done, 1);
            if (!may_have(m, hash & UPPER)) continue;
            for (size_t p = 0; p < part_count && !status; p++)
                status = match_word(m, &parts[p], done, hash, fault);
        }
    } while (!status && read_next(w, true));
    return status;
}

enum rag_status rag_titles_match(const struct rag_title_part *parts, size_t part_count,
                                 const struct rag_title_filter *filter, const uint8_t *text,
                                 size_t size, unsigned rules, struct rag_title_match **found,
                                 size_t *count, struct rag_fault *fault) {
    if (size > RAG_TITLE_TEXT) {
        size = RAG_TITLE_TEXT;
        while (size && utf8_tail(text[size])) size--;
    }
    struct words w = {.text = text, .text_size = size, .most = SIZE_MAX};
    struct matching m = {.filter = filter, .words = &w};
    w.rules = rules & ~(unsigned)RAG_PIECES;
    enum rag_status status = filter ? RAG_OK : check_titles(parts, part_count, fault);
    if (!status) status = match_words(&m, parts, part_count, fault);
    if (!status && w.is_short_of_memory)
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory for names");
    close_words(&w);
    if (status) free(m.all);
    *found = status ? NULL : m.all;
    *count = status ? 0 : m.count;
    return status;
}

/* ------------------------------------------------------------------------------------- choosing */

static int by_place(const void *a, const void *b) {
    const struct rag_title_match *x = a, *y = b;
    if (x->from != y->from) return x->from > y->from ? 1 : -1;
    if (x->last != y->last) return x->last < y->last ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

size_t rag_titles_choose(struct rag_title_match *all, size_t count) {
    size_t kept = 0, names = 0;
    uint32_t next = 0;
    if (count) qsort(all, count, sizeof *all, by_place);
    for (size_t i = 0, end; i < count && names < RAG_TITLE_NAMES; i = end) {
        for (end = i; end < count && all[end].from == all[i].from && all[end].last == all[i].last;)
            end++;
        if (all[i].from < next || end - i > RAG_TITLE_PAGES) continue;
        next = all[i].last + 1;
        memmove(all + kept, all + i, (end - i) * sizeof *all);
        kept += end - i;
        names++;
    }
    return kept;
}
