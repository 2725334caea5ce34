/* words.h - words of a text, and the vocabulary that maps words to terms. */
#ifndef RAGFILE_WORDS_H
#define RAGFILE_WORDS_H

#include "ragfile/status.h"

/* A word of a text. Wholes (snake_case, v0.1.0, c++) are emitted in addition to their parts: they
 * match as written, are never stemmed, and do not count towards a row's length. Pieces of parts
 * (RAG_PIECES) are like parts, but have no place of their own between the words of a phrase. */
enum { RAG_WORD_PART = 0, RAG_WORD_WHOLE = 1, RAG_WORD_PIECE = 2 };
struct rag_word {
    const uint8_t *bytes; /* folded UTF-8 of 1 to 255 bytes, valid for any input */
    size_t size;
    int kind;
    uint16_t share;  /* its weight in a question, in 1 / RAG_SHARE */
    size_t from, to; /* the range of the text that it was made from */
};
typedef void rag_word_sink(void *context, const struct rag_word *word);

/* Optional rules of the analysis, combined with |. RAG_PIECES (rag-words-2) splits a part such
 * as getPodStatus, and emits get, pod and status as parts, too. RAG_CLUSTERS (rag-words-3) also
 * gives the single characters of scripts without spaces, as wholes, and lets these and their pairs
 * count less in questions than words. */
enum { RAG_STRIP_ACCENTS = 1, RAG_PIECES = 2, RAG_CLUSTERS = 4 };
enum { RAG_SHARE = 256, RAG_CLUSTER_SHARE = 85, RAG_PAIR_SHARE = 32 };

/* Calls sink for each word of a text, in the order in which their parts begin; a whole follows
 * its parts. A word's bytes are valid until sink returns. */
void rag_analyze(const uint8_t *text, size_t size, unsigned rules, rag_word_sink *sink,
                 void *context);

/* True for a word of a script without spaces. */
bool rag_word_is_dense(const uint8_t *word, size_t size);

/* Calls sink for each word of a lower-case text whose first two bytes are set in `heads`, a bit
 * map of 65,536 pairs: bit 256 * first + second, where second is 0 for a word of one byte.
 * `number` counts all words from 0. Words are those of ragfile.text.words. */
typedef void rag_match_sink(void *context, size_t number, const uint8_t *word, size_t size);
void rag_match_spans(const uint8_t *text, size_t size, const uint8_t *heads, rag_match_sink *sink,
                     void *context);

/* The Unicode version of the analyzer's tables. */
const char *rag_unicode_version(void);

/* Maps words to terms. The library does not stem and has no stop words: it returns the new words
 * (pending), and the caller supplies their terms in the same order (resolve). One thread. */
struct rag_vocabulary;
struct rag_vocabulary *rag_vocabulary_new(void);
void rag_vocabulary_free(struct rag_vocabulary *vocabulary);
/* The words without a term so far, each followed by a NUL; valid until the next call. */
const uint8_t *rag_vocabulary_pending(const struct rag_vocabulary *vocabulary, size_t *size);
/* Supplies their terms, each followed by a NUL; an empty term drops the word. RAG_ARGUMENT if
 * the number of terms differs or a term has more than 255 bytes. */
enum rag_status rag_vocabulary_resolve(struct rag_vocabulary *vocabulary, const uint8_t *terms,
                                       size_t size, struct rag_fault *fault);
size_t rag_vocabulary_size(const struct rag_vocabulary *vocabulary);

/* Finds the texts that have the words of a phrase side by side, compared by their terms; stop
 * words, which have none, by themselves. Texts are read as those of a language (languages.h). Pass
 * the words of the phrase, folded as rag_analyze returns them, with the mark of the language; then,
 * batch by batch, pass texts, resolve the pending words of the vocabulary, and find sets one byte
 * for each text of the batch. One thread. */
struct rag_phrase;
struct rag_phrase *rag_phrase_new(unsigned rules, size_t language);
void rag_phrase_free(struct rag_phrase *phrase);
struct rag_vocabulary *rag_phrase_vocabulary(struct rag_phrase *phrase);
enum rag_status rag_phrase_word(struct rag_phrase *phrase, const uint8_t *bytes, size_t size,
                                struct rag_fault *fault);
enum rag_status rag_phrase_text(struct rag_phrase *phrase, const uint8_t *text, size_t size,
                                struct rag_fault *fault);
void rag_phrase_find(struct rag_phrase *phrase, uint8_t *found);

#endif
