/* wordpiece.c - text to the ids of word pieces, as BERT's uncased models read it.
 *
 * A character is dropped (controls, combining marks, bytes that are not UTF-8), ends a word (white
 * space), is a word of its own (punctuation, CJK ideographs), or joins the word being gathered, in
 * lower case and without accents; each of these depends on that character alone, so one pass with a
 * table does it. A finished word is split greedily from the left into the longest pieces of the
 * vocabulary; a word that cannot be split, or has more than 100 characters, is [UNK].
 *
 * The reference also puts combining marks in canonical order. That changes no token: the characters
 * that remain after the marks are dropped and could still change places (musical stems, Hangul tone
 * marks) are not in any vocabulary. */
#include "model/wordpiece.h"
#include "shared/utf8.h"
#include "model/wordpiece_tables.h"

enum {
    WORD_CHARS_MAX = 100,
    REPLACEMENT = 0xFFFD,
    IDEOGRAPHS = 0x3400,
    FORMS = 0xFE00,
    PLANE = 0x10000
};

struct word {
    const struct rag_model *model;
    struct id_sink *sink;
    struct known *known; /* or NULL */
    size_t chars;        /* those past WORD_CHARS_MAX are counted but not stored */
    size_t size;
    uint8_t
        bytes[4 * WORD_CHARS_MAX + 16]; /* the last 16 are never written: slack for wide loads */
};

/* --------------------------------------------------------------------------------------- pieces */

static void sink_put(struct id_sink *sink, uint32_t id) {
    sink->ids[sink->count++] = id;
    if (sink->count == IDS_MAX) sink->flush(sink);
}

/* Return the id of a piece, or -1. */
static int32_t find_piece(const struct rag_model *model, const uint8_t *at, size_t size,
                          unsigned kind) {
    const struct piece_key key = piece_key(at, size);
    const uint8_t *bucket =
        model->buckets + 4 * (size_t)piece_bucket(key, size, kind, model->bucket_bits);
    const uint8_t *piece = model->words + load_u32(bucket),
                  *end = model->words + load_u32(bucket + 4);
    for (; piece < end; piece += PIECE_HEAD + piece[2]) {
        if (piece[2] != size || piece[3] != kind) continue;
        const struct piece_key other = piece_key(piece + PIECE_HEAD, size);
        if (key.first != other.first || key.second != other.second) continue;
        if (size <= 16 || memcmp(at + 16, piece + PIECE_HEAD + 16, size - 16) == 0)
            return load_u16(piece);
    }
    return -1;
}

/* Return the size of the longest piece at a position of the word, 0 if there is none. */
static size_t longest_piece(const struct word *word, size_t at, int32_t *id) {
    const struct rag_model *model = word->model;
    const unsigned kind = at ? PIECE_CONTINUATION : PIECE_START;
    size_t size = word->size - at < model->longest ? word->size - at : model->longest;
    for (; size > 0; size--) {
        if (at + size < word->size && (word->bytes[at + size] & 0xC0) == 0x80)
            continue; /* inside a character */
        if ((*id = find_piece(model, word->bytes + at, size, kind)) >= 0) return size;
    }
    return 0;
}

static uint16_t fold_of(uint32_t c) {
    return fold_copies[fold_numbers[c / FOLD_BLOCK] * FOLD_BLOCK + c % FOLD_BLOCK];
}

/* Return the bytes of the first character. */
static size_t first_size(const uint8_t *bytes) {
    return bytes[0] < 0x80 ? 1 : bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
}

static bool is_punctuation(const struct word *word) {
    const uint8_t *at = word->bytes;
    const uint32_t c = utf8_next(&at, at + word->size);
    return word->chars == 1 && fold_of(c) == FOLD_ALONE &&
           (c < IDEOGRAPHS || (c >= FORMS && c < PLANE));
}

/* Count a word and its pieces; none of a word that cannot be split. */
static void count_known(const struct word *word, size_t held, size_t pieces) {
    if (is_punctuation(word)) return;
    word->known->bytes += word->size;
    if (pieces) word->known->shares += ((uint64_t)held << KNOWN_BITS) / pieces;
}

static void end_word(struct word *word) {
    if (word->chars == 0) return;
    uint32_t ids[WORD_CHARS_MAX];
    size_t count = 0, size = 0, held = 0;
    bool whole = word->chars <= WORD_CHARS_MAX;
    for (size_t at = 0; whole && at < word->size; at += size) {
        int32_t id = 0;
        size = longest_piece(word, at, &id);
        if (word->bytes[at] < 0x80 || size > first_size(word->bytes + at)) held += size;
        ids[count++] = (uint32_t)id;
        whole = size > 0;
    }
    if (word->known) count_known(word, held, whole ? count : 0);
    if (!whole) sink_put(word->sink, word->model->unknown);
    else
        for (size_t i = 0; i < count; i++) sink_put(word->sink, ids[i]);
    word->chars = word->size = 0;
}

/* ----------------------------------------------------------------------------------- characters */

static void word_put(struct word *word, const uint8_t *bytes, size_t size) {
    if (word->chars++ >= WORD_CHARS_MAX) return;
    memcpy(word->bytes + word->size, bytes, size);
    word->size += size;
}

/* Decode the next character; U+FFFD for ill-formed bytes. */
static inline uint32_t next_character(const uint8_t **text, const uint8_t *end) {
    const uint32_t c = utf8_next(text, end);
    return c == UTF8_BROKEN ? REPLACEMENT : c;
}

/* Add a character that the table keeps, to its word or as its own. */
static void put_kept(struct word *word, const uint8_t *bytes, size_t size, bool alone) {
    if (alone) end_word(word);
    word_put(word, bytes, size);
    if (alone) end_word(word);
}

static void put_replacement(struct word *word, const uint8_t *entry) {
    for (const uint8_t *at = entry + 1, *end = at + entry[0]; at < end;) {
        const uint8_t *from = at;
        const uint32_t c = next_character(&at, end);
        put_kept(word, from, (size_t)(at - from), fold_of(c) == FOLD_ALONE);
    }
}

static void put_hangul(struct word *word, uint32_t c) {
    const uint32_t syllable = c - 0xAC00, last = syllable % 28;
    const uint32_t letters[3] = {0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28,
                                 0x11A7 + last};
    uint8_t bytes[4];
    for (size_t i = 0; i < (last ? 3 : 2); i++) word_put(word, bytes, utf8_put(letters[i], bytes));
}

static void put_wide(struct word *word, const uint8_t **text, const uint8_t *end) {
    const uint8_t *from = *text;
    const uint32_t c = next_character(text, end);
    const uint16_t fold = fold_of(c);
    if (fold == FOLD_KEEP || fold == FOLD_ALONE)
        put_kept(word, from, (size_t)(*text - from), fold == FOLD_ALONE);
    else if (fold == FOLD_SPACE) end_word(word);
    else if (fold == FOLD_HANGUL) put_hangul(word, c);
    else if (fold >= FOLD_REPLACED) put_replacement(word, fold_pool + (fold - FOLD_REPLACED));
}

/* ---------------------------------------------------------------------------------------- texts */

/* Return the longest special piece at this position, letter by letter, or NULL. */
static const uint8_t *special_at(const struct rag_model *model, const uint8_t *text,
                                 const uint8_t *end) {
    const uint8_t *best = NULL;
    for (size_t i = 0; i < model->special_count; i++) {
        const uint8_t *piece = model->specials[i];
        if ((size_t)(end - text) < piece[2] || memcmp(text, piece + PIECE_HEAD, piece[2]) != 0)
            continue;
        if (!best || piece[2] > best[2]) best = piece;
    }
    return best;
}

/* Handle one-byte punctuation, or a special piece that begins with it; return its end. */
static size_t put_alone(struct word *word, const uint8_t *text, const uint8_t *end) {
    const uint8_t *special = *text == '[' ? special_at(word->model, text, end) : NULL;
    if (!special) {
        put_kept(word, text, 1, true);
        return 1;
    }
    end_word(word);
    sink_put(word->sink, load_u16(special));
    return special[2];
}

/* Append the run of letters at the start of the text, which must not be empty; most words are one
 * run. */
static const uint8_t *put_letters(struct word *word, const uint8_t *text, const uint8_t *end) {
    uint8_t to;
    for (; text < end && (to = fold_ascii[*text]) > FOLD_HANGUL; text++)
        if (word->chars++ < WORD_CHARS_MAX) word->bytes[word->size++] = to;
    return text;
}

void rag_wordpiece_read(const struct rag_model *model, const uint8_t *text, size_t size,
                        struct id_sink *sink, struct known *known) {
    struct word word = {.model = model,
                        .sink = sink,
                        .known = known}; /* all of it zero: loads past a word's end are defined */
    const uint8_t *at = text, *end = text + size;
    while (at < end) {
        const uint8_t fold = fold_ascii[*at];
        if (fold > FOLD_HANGUL) at = put_letters(&word, at, end);
        else if (fold == FOLD_SPACE) end_word(&word), at++;
        else if (fold == FOLD_ALONE) at += put_alone(&word, at, end);
        else if (fold == FOLD_WIDE) put_wide(&word, &at, end);
        else at++;
    }
    end_word(&word);
    sink->flush(sink);
}
