/* positions_search.c - the rows that have the words of a phrase side by side, by their positions.
 *
 * The word with the fewest rows leads: its rows are looked up in the lists of the others, the
 * rarest first, and only a row that all of them have is decoded. Lists are read in ascending order
 * of rows, so each group is entered once at most.
 *
 * A word that occurs several times in the phrase has one list. In a row, the words' positions are
 * compared by a merge: the starts that the rarest word allows are narrowed by each other word.
 *
 * One call uses memory for the open lists and the positions of one row. */
#include <stdlib.h>

#include "shared/fail.h"
#include "text/positions_read.h"

struct step {
    struct rag_place_list *list;
    uint32_t offset; /* of the word in the phrase */
};

struct phrase {
    struct rag_place_list *lists;
    size_t list_count;
    struct step *steps; /* a word of the phrase each */
    size_t count;
    uint32_t *starts;
    size_t capacity;
};

static bool is_same(const struct rag_place_word *a, const struct rag_place_word *b) {
    return a->is_stop == b->is_stop && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* Open a list for each different word; *is_empty if one has none. */
static enum rag_status open_lists(struct phrase *phrase, const struct rag_positions *positions,
                                  const struct rag_place_word *words, bool *is_empty,
                                  struct rag_fault *fault) {
    *is_empty = false;
    for (size_t i = 0; i < phrase->count && !*is_empty; i++) {
        size_t same = 0;
        while (!is_same(&words[same], &words[i])) same++;
        phrase->steps[i].offset = (uint32_t)i;
        phrase->steps[i].list = same < i ? phrase->steps[same].list : NULL;
        if (same < i) continue;
        struct rag_place_list *list = &phrase->lists[phrase->list_count++];
        const enum rag_status status = rag_place_list_open(positions, &words[i], list, fault);
        if (status) return status;
        phrase->steps[i].list = list;
        *is_empty = !list->count;
    }
    return RAG_OK;
}

static int fewer_rows(const void *left, const void *right) {
    const struct step *a = left, *b = right;
    if (a->list->count != b->list->count) return a->list->count < b->list->count ? -1 : 1;
    return a->offset < b->offset ? -1 : 1;
}

/* Keep the starts of the phrase that a word allows; return how many are left. */
static size_t narrow(uint32_t *starts, size_t count, const struct step *step) {
    const struct rag_place_list *list = step->list;
    size_t left = 0;
    for (uint32_t i = 0, j = 0; i < count; i++) {
        const uint64_t wanted = (uint64_t)starts[i] + step->offset;
        while (j < list->found_count && list->found[j] < wanted) j++;
        if (j == list->found_count) break;
        if (list->found[j] == wanted) starts[left++] = starts[i];
    }
    return left;
}

/* Compare the decoded positions of all words in a row. */
static enum rag_status compare(struct phrase *phrase, bool *found, struct rag_fault *fault) {
    const struct step *first = &phrase->steps[0];
    if (!rag_grow(&phrase->starts, &phrase->capacity, (size_t)first->list->found_count + 1,
                  sizeof *phrase->starts))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for the positions of a phrase");
    size_t count = 0;
    for (uint32_t i = 0; i < first->list->found_count; i++)
        if (first->list->found[i] >= first->offset)
            phrase->starts[count++] = first->list->found[i] - first->offset;
    for (size_t i = 1; i < phrase->count && count; i++)
        count = narrow(phrase->starts, count, &phrase->steps[i]);
    *found = count > 0;
    return RAG_OK;
}

/* Look a row up in all lists but the leading one, then decode and compare. */
static enum rag_status try_row(struct phrase *phrase, uint32_t row, uint64_t index, bool *found,
                               uint64_t *places, struct rag_fault *fault) {
    struct rag_place_list *lead = phrase->steps[0].list;
    enum rag_status status = RAG_OK;
    *found = false;
    for (size_t i = 1; i < phrase->count; i++) {
        struct rag_place_list *list = phrase->steps[i].list;
        places[i] = index;
        if (list == lead) continue;
        status = rag_place_list_find(list, row, &places[i], fault);
        if (status || places[i] == UINT64_MAX) return status;
    }
    places[0] = index;
    for (size_t i = 0; !status && i < phrase->count; i++)
        status = rag_place_list_read(phrase->steps[i].list, places[i], fault);
    return status ? status : compare(phrase, found, fault);
}

static enum rag_status find_rows(struct phrase *phrase, uint64_t *rows, uint64_t *places,
                                 struct rag_fault *fault) {
    struct rag_place_list *lead = phrase->steps[0].list;
    enum rag_status status = RAG_OK;
    for (uint64_t index = 0; !status && index < lead->count; index++) {
        bool found = false;
        if (index % PLACE_GROUP == 0)
            status = rag_place_list_group(lead, index / PLACE_GROUP, fault);
        const uint32_t row = lead->rows[index % PLACE_GROUP];
        if (!status) status = try_row(phrase, row, index, &found, places, fault);
        if (!status && found) rows[row / 64] |= (uint64_t)1 << row % 64;
    }
    return status;
}

enum rag_status rag_positions_phrase(const struct rag_positions *positions,
                                     const struct rag_place_word *words, size_t count,
                                     uint64_t *rows, struct rag_fault *fault) {
    if (!count) return rag_fail(fault, RAG_ARGUMENT, 0, "a phrase has a word at least");
    struct phrase phrase = {.lists = calloc(count, sizeof *phrase.lists),
                            .steps = calloc(count, sizeof *phrase.steps),
                            .count = count};
    uint64_t *places = calloc(count, sizeof *places);
    bool is_empty = false;
    enum rag_status status = RAG_OK;
    if (!phrase.lists || !phrase.steps || !places)
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory for a phrase");
    if (!status) status = open_lists(&phrase, positions, words, &is_empty, fault);
    if (!status && !is_empty) {
        qsort(phrase.steps, count, sizeof *phrase.steps, fewer_rows);
        status = find_rows(&phrase, rows, places, fault);
    }
    for (size_t i = 0; i < phrase.list_count; i++) rag_place_list_close(&phrase.lists[i]);
    free(phrase.lists);
    free(phrase.steps);
    free(phrase.starts);
    free(places);
    return status;
}
