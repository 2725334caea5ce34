/* code.h - the words and the factor of a source file by its path, for code_rank.c. */
#ifndef RAG_CODE_H
#define RAG_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of a text, in the text: runs of lower-case letters, with a capital before them if there
 * is one, of capitals, or of digits. Bytes of characters beyond ASCII count as lower-case letters.
 * Only the first RAG_CODE_WORDS words are taken. */
enum { RAG_CODE_WORDS = 64 };
struct rag_code_word {
    const uint8_t *at;
    size_t size;
};
struct rag_code_words {
    struct rag_code_word all[RAG_CODE_WORDS];
    size_t count;
};

/* The words of a question: distinct, two bytes or more, without those that every question has. */
void rag_code_question(const uint8_t *text, size_t size, struct rag_code_words *words);

/* The share of a question's words that the name of a file has, or the name of its folder. Two words
 * are alike if they are equal, if one of three bytes or more begins the other, or if they share
 * four bytes or more and all of the shorter one except its last. */
double rag_code_share(const struct rag_code_words *asked, const uint8_t *id, size_t size);

/* The factor of a file that seldom is the answer: RAG_CODE_ASIDE for tests, examples, generated and
 * vendored files, unless the question names them, and RAG_CODE_BARREL for files that only export or
 * declare the definitions of others; else 1. */
#define RAG_CODE_ASIDE 0.3
#define RAG_CODE_BARREL 0.75
double rag_code_prior(const struct rag_code_words *asked, const uint8_t *id, size_t size);

#endif
