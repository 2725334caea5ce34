/* ranked_lists.c - make one ranking of several, by ranks or by scaled scores.
 *
 * fuse.c has the same formulas for the two lists of a search in a file, where scores are completed.
 * Here are any number of lists with rows alone: those of rewritten questions and of shards, and
 * lists of programs. The parts of a row are added in the order of the lists. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/refinement.h"
#include "shared/fail.h"

/* What one list adds to the score of a row. */
struct part {
    int64_t row;
    size_t list;
    double score;
};

static int by_row_and_list(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->row != y->row) return x->row > y->row ? 1 : -1;
    return (x->list > y->list) - (x->list < y->list);
}

static int by_score_and_row(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Whether the scores are finite; sets their least and their largest. */
static bool find_range(const double *scores, size_t count, double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(scores[i])) return false;
        *low = scores[i] < *low ? scores[i] : *low;
        *high = scores[i] > *high ? scores[i] : *high;
    }
    return true;
}

static double scaled(double score, double low, double high) {
    return high > low ? (score - low) / (high - low) : 1.0;
}

void rag_unit_range(double *scores, size_t count) {
    double low, high;
    find_range(scores, count, &low, &high);
    for (size_t i = 0; i < count; i++) scores[i] = scaled(scores[i], low, high);
}

static bool add_list(enum rag_method method, double constant, const struct rag_list *list,
                     size_t number, struct part *parts) {
    double low = 0, high = 0;
    if (method == RAG_BLEND && !find_range(list->scores, list->count, &low, &high)) return false;
    for (size_t i = 0; i < list->count; i++) {
        const double score = method == RAG_BLEND ? list->weight * scaled(list->scores[i], low, high)
                                                 : 1.0 / (constant + (double)(i + 1));
        parts[i] = (struct part){list->rows[i], number, score};
    }
    return true;
}

/* Add up the parts of each row, which are adjacent. Return the number of rows, or SIZE_MAX if a
 * list has a row twice. */
static size_t sum_parts(struct part *parts, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; found++) {
        const struct part *first = &parts[i];
        struct part sum = *first;
        for (i++; i < count && parts[i].row == sum.row; i++) {
            if (parts[i].list == parts[i - 1].list) return SIZE_MAX;
            sum.score += parts[i].score;
        }
        parts[found] = sum;
    }
    return found;
}

static enum rag_status fuse(struct part *parts, size_t total, int64_t *rows, double *scores,
                            size_t *found, struct rag_fault *fault) {
    qsort(parts, total, sizeof *parts, by_row_and_list);
    *found = sum_parts(parts, total);
    if (*found == SIZE_MAX)
        return rag_fail(fault, RAG_ARGUMENT, 0, "a list for fusion contains a row twice");
    qsort(parts, *found, sizeof *parts, by_score_and_row);
    for (size_t i = 0; i < *found; i++) rows[i] = parts[i].row, scores[i] = parts[i].score;
    return RAG_OK;
}

enum rag_status rag_lists_fuse(enum rag_method method, double constant,
                               const struct rag_list *lists, size_t count, int64_t *rows,
                               double *scores, size_t *found, struct rag_fault *fault) {
    size_t total = 0, at = 0;
    *found = 0;
    for (size_t i = 0; i < count; i++) total += lists[i].count;
    struct part *parts = malloc((total + 1) * sizeof *parts);
    if (!parts) return rag_fail(fault, RAG_MEMORY, 0, "no memory to fuse");
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count && !status; at += lists[i++].count)
        if (!add_list(method, constant, &lists[i], i, parts + at))
            status = rag_fail(fault, RAG_ARGUMENT, i, "scores must be finite numbers");
    if (!status) status = fuse(parts, total, rows, scores, found, fault);
    free(parts);
    return status;
}
