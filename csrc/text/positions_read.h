/* positions_read.h - a list of rag.positions as it is read: its groups of rows, and a cursor that
 * decodes the positions of one row after the other. */
#ifndef RAG_POSITIONS_READ_H
#define RAG_POSITIONS_READ_H

#include "ragfile/positions.h"
#include "text/positions.h"

struct rag_positions {
    struct rag_guard guard;
    const struct rag_lexicon *lexicon;
    uint64_t rows, terms, lists_size, stops_at, dictionary_size, words_at, dictionary_at, lists_at;
    uint32_t stops, width;
};

struct rag_place_list {
    const struct rag_positions *positions;
    const uint8_t *bytes; /* of the list */
    uint64_t at, size;    /* in the section */
    uint64_t count;       /* rows */
    unsigned rice, gap_rice;
    bool can_lack, is_stop;
    uint64_t groups, *ends; /* of the groups, in bytes of the list; ends[0] is the first's start */
    uint32_t *firsts;       /* of a stop word: first row of each group */
    /* a term's rows */
    struct rag_bm25_posting few[LEX_SHORT];
    struct rag_bm25_containers containers;
    uint64_t *bases;  /* rows before each container */
    size_t container; /* that the last lookup was in */
    uint32_t from;    /* and where it ended there */
    /* the cursor */
    uint64_t group;      /* UINT64_MAX before the first */
    uint32_t next, some; /* next row of the group to decode, and rows of the group */
    uint32_t rows[PLACE_GROUP], words[PLACE_GROUP];
    uint64_t bit, end; /* in bits of the list */
    uint32_t *found;   /* the positions of the row before `next` */
    uint32_t found_count;
    size_t capacity;
};

/* Find a word's list; count is 0 if it has none. Close it in any case. */
enum rag_status rag_place_list_open(const struct rag_positions *positions,
                                    const struct rag_place_word *word, struct rag_place_list *list,
                                    struct rag_fault *fault);
void rag_place_list_close(struct rag_place_list *list);
/* Make a group current: its rows, and the cursor before the first. */
enum rag_status rag_place_list_group(struct rag_place_list *list, uint64_t group,
                                     struct rag_fault *fault);
/* Find a row, which must not precede the row of the last call; *index is its number in the list,
 * UINT64_MAX if it is not there. */
enum rag_status rag_place_list_find(struct rag_place_list *list, uint32_t row, uint64_t *index,
                                    struct rag_fault *fault);
/* Decode the positions of a row by its number in the list, into found. */
enum rag_status rag_place_list_read(struct rag_place_list *list, uint64_t index,
                                    struct rag_fault *fault);

#endif
