/* code_rank.c - rank the candidates of a question again where they are source code.
 *
 *   score = (max(fused, 0) + path + file) * prior * discount
 *
 *   path      1.5 top * the share of the question's words in the name of the file or of its folder
 *   file      0.4 top * the sum of the file's fused scores / the largest such sum; for the best
 *             passage of a file only
 *   prior     less than 1 for tests, examples, generated files and lists of exports
 *   discount  0.5 for the second passage of a file, 0.25 for the third, and so on
 *
 * `top` is the best fused score. Candidates of other files keep their scores, and a question
 * without a positive score keeps its ranking. Everything is binary64, in the order written here and
 * summed in the order of the candidates, so every machine gives the same bits. code_files.c reads
 * the paths. */
#include <stdlib.h>
#include <string.h>

#include "fusion/code.h"
#include "fusion/rankings.h"
#include "ragfile/records.h"
#include "shared/fail.h"

static const double PATH = 1.5, FILE_SHARE = 0.4, DISCOUNT = 0.5;

/* A candidate with its place in the question's ranking. */
struct placed {
    struct rag_code_candidate one;
    size_t at;
};

static int compare_ids(const struct rag_code_candidate *a, const struct rag_code_candidate *b) {
    const size_t shorter = a->id_size < b->id_size ? a->id_size : b->id_size;
    const int order = shorter ? memcmp(a->id, b->id, shorter) : 0;
    return order ? order : (a->id_size > b->id_size) - (a->id_size < b->id_size);
}

static int by_file(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    const int order = compare_ids(&x->one, &y->one);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_score(const void *a, const void *b) {
    const struct rag_code_score *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static double positive(double score) { return score > 0 ? score : 0; }

/* The end of the candidates of one file, and the sum of their scores. */
static size_t end_of(const struct placed *all, size_t count, size_t first, double *sum) {
    size_t end = first;
    *sum = 0;
    while (end < count && !compare_ids(&all[first].one, &all[end].one))
        *sum += positive(all[end++].one.score);
    return end;
}

static double largest_sum(const struct placed *all, size_t count) {
    double most = 0, sum;
    for (size_t first = 0; first < count;) {
        first = end_of(all, count, first, &sum);
        if (sum > most) most = sum;
    }
    return most;
}

/* Score the candidates of one file of source code. */
static void score_file(const struct rag_code_words *asked, const struct placed *all, size_t count,
                       double top, double share, struct rag_code_score *out) {
    const struct rag_code_candidate *file = &all->one;
    const double path = top * (PATH * rag_code_share(asked, file->id, file->id_size));
    const double prior = rag_code_prior(asked, file->id, file->id_size);
    double discount = 1;
    for (size_t i = 0; i < count; i++, discount *= DISCOUNT) {
        struct rag_code_score *one = &out[all[i].at];
        one->path = path;
        one->file = i ? 0 : top * (FILE_SHARE * share);
        one->prior = prior;
        one->discount = discount;
        one->score = (positive(all[i].one.score) + (path + one->file)) * prior * discount;
    }
}

static void score_files(const struct rag_code_words *asked, const struct placed *all, size_t count,
                        double top, struct rag_code_score *out) {
    const double most = largest_sum(all, count);
    double sum;
    for (size_t first = 0, end; first < count; first = end) {
        end = end_of(all, count, first, &sum);
        if (rag_is_code(all[first].one.id, all[first].one.id_size))
            score_file(asked, all + first, end - first, top, sum / most, out);
    }
}

enum rag_status rag_code_rank(const uint8_t *text, size_t size,
                              const struct rag_code_candidate *all, size_t count,
                              struct rag_code_score *out, struct rag_fault *fault) {
    struct rag_code_words asked;
    struct placed *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted) return rag_fail(fault, RAG_MEMORY, 0, "no memory to rank source code");
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (struct placed){all[i], i};
        out[i] = (struct rag_code_score){.score = all[i].score, .prior = 1, .discount = 1, .at = i};
    }
    if (count && all[0].score > 0) {
        qsort(sorted, count, sizeof *sorted, by_file);
        rag_code_question(text, size, &asked);
        score_files(&asked, sorted, count, all[0].score, out);
        qsort(out, count, sizeof *out, by_score);
    }
    free(sorted);
    return RAG_OK;
}

/* ------------------------------------------------------------------------------ rows of a file */

static enum rag_status read_id(const struct rag_part *part, int64_t row,
                               struct rag_code_candidate *one, struct rag_fault *fault) {
    struct rag_chunk chunk;
    struct rag_document document;
    if (!part->records || row < (int64_t)part->base || (uint64_t)row - part->base >= part->rows)
        return rag_fail(fault, RAG_ARGUMENT, (uint64_t)row, "a row of no segment");
    enum rag_status status =
        rag_records_chunk(part->records, (uint64_t)row - part->base, &chunk, fault);
    if (!status) status = rag_records_document(part->records, chunk.document, &document, fault);
    if (!status) one->id = document.id, one->id_size = document.id_size;
    return status;
}

enum rag_status rag_code_rank_rows(const struct rag_part *parts, size_t part_count,
                                   const uint8_t *text, size_t size, const int64_t *rows,
                                   const double *scores, size_t count, struct rag_code_score *out,
                                   struct rag_fault *fault) {
    struct rag_code_candidate *all = malloc((count + 1) * sizeof *all);
    if (!all) return rag_fail(fault, RAG_MEMORY, 0, "no memory to rank source code");
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count && !status; i++) {
        all[i].score = scores[i];
        status = read_id(&parts[rag_part_of(parts, part_count, rows[i])], rows[i], &all[i], fault);
    }
    if (!status) status = rag_code_rank(text, size, all, count, out, fault);
    free(all);
    return status;
}
