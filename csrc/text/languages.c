/* languages.c - the language of a text, by its commonest words (spec: L.9).
 *
 * Each language of the table has a list of words. Each different word of a text adds 12 / n to the
 * score of each of the n languages that list it, rounded down: a word of one language counts most.
 * A document has the language with the highest score if that is at least 24, the first of the table
 * among equals; a question, which has one of the languages of a file, needs 12, and twice the score
 * of every other language. Single ASCII letters do not count, since names and code are full of
 * them. A document that is mostly in a script without spaces has number 0, whatever its other words
 * are in.
 *
 * Of a long document 8 windows of 384 bytes are read, at equal distances: time does not grow with
 * the text, and a licence at its start does not decide. A window can cut a word or a character; the
 * analyzer reads any bytes. */
#include "ragfile/languages.h"

#include <string.h>

#include "ragfile/words.h"
#include "text/language_tables.h"

enum { WHOLE_WORD = 12, DOCUMENT_LEAST = 24, WINDOWS = 8, WINDOW = 384 };

const struct rag_language *rag_language_at(size_t number) {
    return number < LANGUAGES ? &languages[number] : NULL;
}

const struct rag_question_words *rag_language_question_words(size_t number) {
    return number < LANGUAGES ? &question_words[number] : NULL;
}

unsigned rag_language_rules(unsigned rules, size_t number) {
    const bool is_stripped = number == 0 || languages[number].accents == RAG_ACCENTS_STRIP;
    return is_stripped ? rules : rules & ~(unsigned)RAG_STRIP_ACCENTS;
}

/* The number of a common word and one, or 0. */
static size_t common_word(const uint8_t *word, size_t size) {
    uint32_t hash = 0x811C9DC5u;
    if (size > COMMON_MOST) return 0;
    for (size_t i = 0; i < size; i++) hash = (hash ^ word[i]) * 0x01000193u;
    for (size_t at = hash % COMMON_SLOTS; common_slots[at]; at = (at + 1) % COMMON_SLOTS) {
        const size_t number = common_slots[at] - 1u;
        const uint8_t *known = common_words + common_starts[number];
        if (known[0] == size && memcmp(known + 1, word, size) == 0) return number + 1;
    }
    return 0;
}

struct scores {
    uint32_t among, of[LANGUAGES];
    size_t words, dense; /* parts; those of scripts without spaces */
    uint8_t seen[sizeof common_starts / sizeof *common_starts / 8 + 1]; /* a bit for each word */
};

static void score_word(void *context, const struct rag_word *word) {
    struct scores *scores = context;
    if (word->kind != RAG_WORD_PART) return;
    scores->words++;
    if (word->bytes[0] >= 0x80) scores->dense += rag_word_is_dense(word->bytes, word->size);
    if (word->size == 1) return;
    const size_t number = common_word(word->bytes, word->size);
    if (!number || (scores->seen[number / 8] >> number % 8 & 1)) return;
    scores->seen[number / 8] |= (uint8_t)(1 << number % 8);
    uint32_t listed = common_languages[number - 1] & scores->among;
    if (!listed) return;
    const uint32_t share = WHOLE_WORD / (uint32_t)__builtin_popcount(listed);
    for (; listed; listed &= listed - 1) scores->of[__builtin_ctz(listed)] += share;
}

static size_t best_of(const struct scores *scores, size_t without) {
    size_t best = without ? 0 : 1;
    for (size_t i = 0; i < LANGUAGES; i++)
        if (i != without && scores->of[i] > scores->of[best]) best = i;
    return best;
}

size_t rag_language_of(const uint8_t *text, size_t size) {
    struct scores scores = {.among = UINT32_MAX};
    if (size <= WINDOWS * WINDOW) {
        rag_analyze(text, size, 0, score_word, &scores);
    } else {
        const size_t last = size - WINDOW;
        for (size_t i = 0; i < WINDOWS; i++)
            rag_analyze(text + last / (WINDOWS - 1) * i, WINDOW, 0, score_word, &scores);
    }
    const size_t best = best_of(&scores, LANGUAGES);
    const bool is_dense = 2 * scores.dense > scores.words;
    return is_dense || scores.of[best] < DOCUMENT_LEAST ? 0 : best;
}

size_t rag_language_asked(const uint8_t *text, size_t size, uint32_t among) {
    struct scores scores = {.among = among};
    rag_analyze(text, size, 0, score_word, &scores);
    const size_t best = best_of(&scores, LANGUAGES), next = best_of(&scores, best);
    const bool is_sure = scores.of[best] >= WHOLE_WORD && scores.of[best] >= 2 * scores.of[next];
    return is_sure ? best : RAG_LANGUAGE_UNSURE;
}

bool rag_language_is_foreign(const uint8_t *text, size_t size) {
    struct scores scores = {.among = UINT32_MAX};
    rag_analyze(text, size, 0, score_word, &scores);
    const uint32_t best = scores.of[best_of(&scores, 0)];
    return best > 0 && best >= 2 * scores.of[0];
}
