/* languages.h - the languages whose words have rules of their own, and which one a text is in. */
#ifndef RAGFILE_LANGUAGES_H
#define RAGFILE_LANGUAGES_H

#include "ragfile/status.h"

/* What happens to accents: rag_analyze leaves them out; nothing; terms lose them; or words lose
 * them before they are stemmed. */
enum { RAG_ACCENTS_STRIP, RAG_ACCENTS_KEEP, RAG_ACCENTS_FOLD, RAG_ACCENTS_FOREIGN };
struct rag_language {
    const char *code, *stemmer;
    const char *letters; /* letters that keep their accents */
    int accents;
    const char *stop_words; /* separated by spaces, in byte order */
};

/* Words of questions, separated by spaces, in byte order. */
struct rag_question_words {
    const char *function_words; /* that claim nothing */
    const char *asking;         /* that mark a question */
};

/* NULL after the last language. */
const struct rag_question_words *rag_language_question_words(size_t number);

/* Language number 0 is English, with the rules of all texts whose language is not in the table.
 * NULL after the last language. */
const struct rag_language *rag_language_at(size_t number);

/* The rules of rag_analyze for the texts of a language, from those of language 0. */
unsigned rag_language_rules(unsigned rules, size_t number);

/* The number of the language of a document. */
size_t rag_language_of(const uint8_t *text, size_t size);

enum { RAG_LANGUAGE_UNSURE = 255 };
/* The number of the language of a question, one of those whose bits are set in `among`, or
 * RAG_LANGUAGE_UNSURE. */
size_t rag_language_asked(const uint8_t *text, size_t size, uint32_t among);

/* Whether the common words of a question are those of a language other than English. */
bool rag_language_is_foreign(const uint8_t *text, size_t size);

#endif
