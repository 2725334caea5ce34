/* positions.h - where the words of a segment's texts are, and which rows have a phrase. */
#ifndef RAGFILE_POSITIONS_H
#define RAGFILE_POSITIONS_H

#include "ragfile/status.h"

struct rag_guard;
struct rag_lexicon;

/* The open section rag.positions of a lexicon's segment, which must outlive it. Opening checks the
 * header and copies nothing; each list is checked as it is read. Any number of threads may share
 * one. */
struct rag_positions;
enum rag_status rag_positions_open(const struct rag_guard *section,
                                   const struct rag_lexicon *lexicon,
                                   struct rag_positions **positions, struct rag_fault *fault);
void rag_positions_close(struct rag_positions *positions);

/* A word of a phrase: a term, or the word itself if it has no term (a stop word). */
struct rag_place_word {
    const uint8_t *bytes;
    size_t size;
    bool is_stop;
};

/* Sets the bits of the rows that have the words side by side, in order. `rows` has a bit for each
 * row of the segment; the others stay as they are. RAG_ARGUMENT without words. */
enum rag_status rag_positions_phrase(const struct rag_positions *positions,
                                     const struct rag_place_word *words, size_t count,
                                     uint64_t *rows, struct rag_fault *fault);

/* Calls sink for each row of a word in order, with its positions in order, ascending; they are
 * valid until sink returns. A term can have rows without a position. */
typedef void rag_place_sink(void *context, uint32_t row, const uint32_t *at, uint32_t count);
enum rag_status rag_positions_list(const struct rag_positions *positions,
                                   const struct rag_place_word *word, rag_place_sink *sink,
                                   void *context, struct rag_fault *fault);
/* Calls sink for each stop word in order. */
typedef void rag_stop_sink(void *context, const uint8_t *word, size_t size);
enum rag_status rag_positions_stops(const struct rag_positions *positions, rag_stop_sink *sink,
                                    void *context, struct rag_fault *fault);
/* Checks all lists: each word of each text is in exactly one (RAG_CORRUPT). */
enum rag_status rag_positions_check(const struct rag_positions *positions, struct rag_fault *fault);
/* How many words the text of a row has. */
enum rag_status rag_positions_words(const struct rag_positions *positions, uint64_t row,
                                    uint32_t *words, struct rag_fault *fault);
/* The range of a word's list in the section, and where the lists start; size 0 if it has none. */
enum rag_status rag_positions_place(const struct rag_positions *positions,
                                    const struct rag_place_word *word, uint64_t *at, uint64_t *size,
                                    struct rag_fault *fault);
uint64_t rag_positions_lists_at(const struct rag_positions *positions);

#endif
