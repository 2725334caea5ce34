/* phrases.c - which of many texts have the words of a phrase side by side.
 *
 * Words are compared by their marks: a word's term, or the word itself if it is a stop word and has
 * no term. The texts of a batch are analysed first, into one array of word numbers; the caller
 * brings the terms of new words (rag_vocabulary_resolve), each once for all texts; then the numbers
 * become marks, and the phrase is looked for among those of each text. The parts of wholes are
 * neighbours (v0.1.0 is v0, 1 and 0), and wholes are left out.
 *
 * One thread. Without memory, the function that noticed it returns RAG_MEMORY. */
#include <stdlib.h>

#include "ragfile/languages.h"
#include "shared/fail.h"
#include "text/bm25.h"

struct rag_phrase {
    struct rag_vocabulary vocabulary;
    unsigned rules;
    struct rag_bm25_mark mark; /* of the language */
    uint32_t *wanted, *marks;  /* the words of the phrase, and their marks */
    size_t size, wanted_capacity, mark_capacity;
    uint32_t *words; /* of the texts of the batch */
    size_t count, word_capacity;
    size_t *ends; /* of the texts, in words */
    size_t texts, end_capacity;
};

struct rag_phrase *rag_phrase_new(unsigned rules, size_t language) {
    struct rag_phrase *phrase = calloc(1, sizeof *phrase);
    if (phrase) {
        phrase->rules = rag_language_rules(rules, language);
        phrase->mark = rag_bm25_mark_of(language);
    }
    return phrase;
}

void rag_phrase_free(struct rag_phrase *phrase) {
    if (!phrase) return;
    rag_bm25_vocabulary_clear(&phrase->vocabulary);
    free(phrase->wanted);
    free(phrase->marks);
    free(phrase->words);
    free(phrase->ends);
    free(phrase);
}

struct rag_vocabulary *rag_phrase_vocabulary(struct rag_phrase *phrase) {
    return &phrase->vocabulary;
}

static void append_word(void *context, const struct rag_word *word) {
    struct rag_phrase *phrase = context;
    if (word->kind != RAG_WORD_PART) return;
    const uint32_t id = rag_bm25_vocabulary_marked(&phrase->vocabulary, phrase->mark, word);
    if (id == LEX_NO_STRING) return;
    if (!rag_grow(&phrase->words, &phrase->word_capacity, phrase->count + 1,
                  sizeof *phrase->words)) {
        phrase->vocabulary.failed = true;
        return;
    }
    phrase->words[phrase->count++] = id;
}

static enum rag_status no_memory(struct rag_fault *fault) {
    return rag_fail(fault, RAG_MEMORY, 0, "no memory for the words of a text");
}

enum rag_status rag_phrase_word(struct rag_phrase *phrase, const uint8_t *bytes, size_t size,
                                struct rag_fault *fault) {
    if (size < 1 || size > LEX_TERM_MAX)
        return rag_fail(fault, RAG_ARGUMENT, size, "a word has 1 to 255 bytes");
    const size_t wanted = phrase->size + 1;
    if (!rag_grow(&phrase->wanted, &phrase->wanted_capacity, wanted, sizeof *phrase->wanted) ||
        !rag_grow(&phrase->marks, &phrase->mark_capacity, wanted, sizeof *phrase->marks))
        return no_memory(fault);
    const uint32_t id = rag_bm25_vocabulary_word(&phrase->vocabulary, bytes, size, RAG_WORD_PART);
    if (id == LEX_NO_STRING) return no_memory(fault);
    phrase->wanted[phrase->size++] = id;
    return RAG_OK;
}

enum rag_status rag_phrase_text(struct rag_phrase *phrase, const uint8_t *text, size_t size,
                                struct rag_fault *fault) {
    if (!rag_grow(&phrase->ends, &phrase->end_capacity, phrase->texts + 1, sizeof *phrase->ends))
        return no_memory(fault);
    rag_analyze(text, size, phrase->rules, append_word, phrase);
    phrase->ends[phrase->texts++] = phrase->count;
    return phrase->vocabulary.failed ? no_memory(fault) : RAG_OK;
}

static uint32_t mark_of(const struct rag_phrase *phrase, uint32_t word) {
    const uint32_t term = phrase->vocabulary.term_of[word];
    return term == LEX_DROPPED ? word | LEX_WHOLE : term;
}

static bool is_in(const struct rag_phrase *phrase, size_t from, size_t end) {
    for (size_t i = from; i + phrase->size <= end; i++) {
        size_t j = 0;
        while (j < phrase->size && phrase->words[i + j] == phrase->marks[j]) j++;
        if (j == phrase->size) return true;
    }
    return false;
}

void rag_phrase_find(struct rag_phrase *phrase, uint8_t *found) {
    for (size_t i = 0; i < phrase->size; i++) phrase->marks[i] = mark_of(phrase, phrase->wanted[i]);
    for (size_t i = 0; i < phrase->count; i++) phrase->words[i] = mark_of(phrase, phrase->words[i]);
    for (size_t i = 0, from = 0; i < phrase->texts; from = phrase->ends[i++])
        found[i] = is_in(phrase, from, phrase->ends[i]);
    phrase->count = phrase->texts = 0;
}
