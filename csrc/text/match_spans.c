/* match_spans.c - find the words of a text that may match a query's, for re-ranking.
 *
 * Forty passages have thousands of words, and nearly none matches the query. Stemming all of them
 * is too slow. But a stemmer never changes the first two bytes of a word, except for three words
 * that the caller handles. So only words with wanted first two bytes are reported; the caller stems
 * and compares those.
 *
 * Words are those of ragfile.text.words: a single character of a script without spaces, or a
 * maximal run of characters that are neither such characters nor separating marks. The text is in
 * lower case. Bytes that are not UTF-8 belong to words. */
#include "ragfile/words.h"
#include "shared/utf8.h"

struct range {
    uint32_t first, last;
};

/* The ranges of _MARKS above ASCII and of UNSPACED in ragfile/text.py, in order. */
static const struct range marks[] = {
    {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},
    {0xD7, 0xD7},     {0xF7, 0xF7},     {0x2000, 0x200B}, {0x200E, 0x206F},
    {0x2E00, 0x2E7F}, {0x3000, 0x3040}, {0xFF01, 0xFF0F},
};
static const struct range unspaced[] = {
    {0x0E01, 0x0E4E}, {0x3041, 0x30FF}, {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFD},
};

static bool is_in(const struct range *ranges, size_t count, uint32_t point) {
    for (size_t i = 0; i < count && ranges[i].first <= point; i++)
        if (point <= ranges[i].last) return true;
    return false;
}

enum kind { MARK, LETTER, ALONE };

/* True for the ASCII characters of words: digits, a to z (and A to Z), and the underscore. */
static inline bool is_ascii_letter(uint32_t point) {
    return (point | 32) - 'a' < 26 || point - '0' < 10 || point == '_';
}

static enum kind kind_of(uint32_t point) {
    if (point < 0x80) return is_ascii_letter(point) ? LETTER : MARK;
    if (point == UTF8_BROKEN) return LETTER;
    if (is_in(marks, sizeof marks / sizeof *marks, point)) return MARK;
    return is_in(unspaced, sizeof unspaced / sizeof *unspaced, point) ? ALONE : LETTER;
}

static bool is_wanted(const uint8_t *heads, const uint8_t *word, size_t size) {
    const size_t head = (size_t)word[0] << 8 | (size > 1 ? word[1] : 0);
    return heads[head / 8] >> head % 8 & 1;
}

/* Return the end of the word with the first character that ended at `at`. */
static const uint8_t *word_end(const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        if (is_ascii_letter(*at)) {
            at++;
            continue;
        }
        const uint8_t *next = at;
        if (kind_of(utf8_next(&next, end)) != LETTER) break;
        at = next;
    }
    return at;
}

void rag_match_spans(const uint8_t *text, size_t size, const uint8_t *heads, rag_match_sink *sink,
                     void *context) {
    const uint8_t *at = text, *end = text + size;
    for (size_t number = 0; at < end;) {
        const uint8_t *word = at;
        const enum kind kind = kind_of(utf8_next(&at, end));
        if (kind == MARK) continue;
        if (kind == LETTER) at = word_end(at, end);
        if (is_wanted(heads, word, (size_t)(at - word)))
            sink(context, number, word, (size_t)(at - word));
        number++;
    }
}
