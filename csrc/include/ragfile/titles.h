/* titles.h - the titles of a segment's documents, and the titles that stand in a text. */
#ifndef RAGFILE_TITLES_H
#define RAGFILE_TITLES_H

#include "ragfile/section.h"

struct rag_records;

/* The section rag.titles. Set guard; open checks the size and sets count. */
struct rag_titles {
    struct rag_guard guard;
    uint64_t count;
};
enum rag_status rag_titles_open(struct rag_titles *titles, struct rag_fault *fault);

/* Checks the order of the keys and the numbers of the documents, of which there are `documents`. */
enum rag_status rag_titles_check(const struct rag_titles *titles, uint64_t documents,
                                 struct rag_fault *fault);

/* Key and document of entry i < count. */
enum rag_status rag_titles_entry(const struct rag_titles *titles, uint64_t i, uint64_t *key,
                                 uint32_t *document, struct rag_fault *fault);

/* Whether a document has a key. The section was checked. */
bool rag_titles_has(const struct rag_titles *titles, uint64_t key, uint32_t document);

/* The keys of a title, ascending: none, one, or two if it ends with a part in parentheses. rules
 * are those of rag_analyze. */
enum { RAG_TITLE_KEYS = 2 };
size_t rag_title_keys(const uint8_t *title, size_t size, unsigned rules,
                      uint64_t keys[RAG_TITLE_KEYS]);

/* For writers: adds the keys of titles in order of document, then writes the section. One
 * thread. */
struct rag_title_list;
struct rag_title_list *rag_title_list_new(void); /* NULL if out of memory */
void rag_title_list_free(struct rag_title_list *list);
enum rag_status rag_title_list_add(struct rag_title_list *list, const uint64_t *keys, size_t count,
                                   uint32_t document, struct rag_fault *fault);
uint64_t rag_title_list_count(const struct rag_title_list *list);
enum rag_status rag_title_list_write(struct rag_title_list *list, rag_write *write, void *context,
                                     struct rag_fault *fault);

/* A segment whose titles a text may have: live has a bit for each live row, or is NULL for all;
 * base is the number of its first row in the file. */
struct rag_title_part {
    const struct rag_titles *titles;
    const struct rag_records *records;
    const uint64_t *live;
    uint64_t base;
};

/* A title in a text: bytes [from, to), where its last word begins, and the first row of a document
 * with that title. Words of scripts without spaces can overlap. */
struct rag_title_match {
    uint32_t from, to, last;
    int64_t row;
};

/* Which words may begin a title, and which may be one: most words of a text cost one load. It takes
 * 2 to 4 bytes a title, 1 MiB at most. All bytes of the sections must be at hand. */
struct rag_title_filter;
enum rag_status rag_title_filter_new(const struct rag_title_part *parts, size_t part_count,
                                     struct rag_title_filter **filter, struct rag_fault *fault);
void rag_title_filter_free(struct rag_title_filter *filter);

/* Finds the titles that begin with a capital or a digit in the first RAG_TITLE_TEXT bytes of a
 * text: all of them, also those that overlap, and of each up to RAG_TITLE_PAGES + 1 live documents
 * in a segment. filter is that of the parts, or NULL; the matches are the same. *found is for the
 * caller to free. */
enum { RAG_TITLE_TEXT = 16384, RAG_TITLE_PAGES = 4, RAG_TITLE_WORDS = 10 };
enum rag_status rag_titles_match(const struct rag_title_part *parts, size_t part_count,
                                 const struct rag_title_filter *filter, const uint8_t *text,
                                 size_t size, unsigned rules, struct rag_title_match **found,
                                 size_t *count, struct rag_fault *fault);

/* Sorts the matches of one text and keeps its names: the longest from left to right, with at most
 * RAG_TITLE_PAGES documents, the first RAG_TITLE_NAMES of them. The matches of a name are side by
 * side, by row. Returns how many matches are left. */
enum { RAG_TITLE_NAMES = 64 };
size_t rag_titles_choose(struct rag_title_match *matches, size_t count);

#endif
