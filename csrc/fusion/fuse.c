/* fuse.c - merge the rows found by BM25 and by vectors into one ranking, for batches of queries.
 *
 *   RAG_CALIBRATED  bm25 / best + (dense - mean) / deviation / w   of each row's own two scores
 *   RAG_RRF         sum of 1 / (k + rank) over the lists that have the row, ranks from 1
 *   RAG_BLEND       alpha * dense + (1 - alpha) * bm25, each list brought to 0..1 by its least and
 *                   largest score, 1 where all are equal, 0 for a row that it does not have
 *
 * and, for RAG_CALIBRATED, the evidence of the documents (further_passages.c),
 *
 * all in binary64, vectors before words, in the order of operations written here, so that every
 * machine gives the same bits. calibrate.c has the first formula and derives the minimum vector
 * score that can matter.
 *
 * Each query is a separate task: take the union of its two lists, compute the missing scores (a
 * BM25 row has no vector score yet, and vice versa), and rank. This file holds no lock and is free
 * of Python. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/bm25.h"
#include "ragfile/machine.h"
#include "ragfile/records.h"
#include "ragfile/sample.h"
#include "fusion/rankings.h"
#include "shared/fail.h"

/* --------------------------------------------------------------------------------- given scores */

struct wanted {
    int64_t row;
    uint32_t at;
};

static int by_row(const void *a, const void *b) {
    const struct wanted *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* Room for the scores of count rows: rows in ascending order, as rows of one part, and scores. */
struct room {
    struct wanted *order;
    int64_t *rows;
    float *scores;
};

static bool open_room(struct room *room, const int64_t *rows, size_t count) {
    room->order = malloc((count + 1) * sizeof *room->order);
    room->rows = malloc((count + 1) * sizeof *room->rows);
    room->scores = calloc(count + 1, sizeof *room->scores);
    if (!room->order || !room->rows || !room->scores) return false;
    for (size_t i = 0; i < count; i++) room->order[i] = (struct wanted){rows[i], (uint32_t)i};
    qsort(room->order, count, sizeof *room->order, by_row);
    return true;
}

static void close_room(struct room *room, size_t count, float *scores, enum rag_status status) {
    for (size_t i = 0; !status && i < count; i++) scores[room->order[i].at] = room->scores[i];
    free(room->order);
    free(room->rows);
    free(room->scores);
}

static enum rag_status score_part(const struct rag_part *part, const struct rag_question *asked,
                                  const int64_t *rows, size_t count, float *scores,
                                  struct rag_fault *fault) {
    if (part->matrix) return rag_scores(part->matrix, asked, rows, count, scores, fault);
    for (size_t i = 0; i < count; i++) scores[i] = NAN;
    return RAG_OK;
}

/* Score one query's rows by vector, part by part; NaN for a row without a vector, 0 for a row of no
 * part. */
static enum rag_status score_parts(const struct rag_fusion *f, size_t question, struct room *room,
                                   size_t count, struct rag_fault *fault) {
    const struct rag_question asked = {
        .queries = f->vectors + question * f->dim, .count = 1, .dim = f->dim, .metric = f->metric};
    enum rag_status status = RAG_OK;
    for (size_t i = 0, first; i < count && !status;) {
        const struct rag_part *part =
            &f->parts[rag_part_of(f->parts, f->part_count, room->order[i].row)];
        for (first = i; i < count && room->order[i].row < (int64_t)(part->base + part->rows); i++)
            room->rows[i] = room->order[i].row - (int64_t)part->base;
        if (i == first) i++;
        else if (room->order[first].row >= (int64_t)part->base)
            status = score_part(part, &asked, room->rows + first, i - first, room->scores + first,
                                fault);
    }
    return status;
}

static enum rag_status score_vectors(const struct rag_fusion *f, size_t question,
                                     const int64_t *rows, size_t count, float *scores,
                                     struct rag_fault *fault) {
    struct room room;
    if (count == 0) return RAG_OK;
    enum rag_status status = open_room(&room, rows, count)
                                 ? score_parts(f, question, &room, count, fault)
                                 : rag_fail(fault, RAG_MEMORY, 0, "no memory for scores");
    close_room(&room, count, scores, status);
    return status;
}

static enum rag_status score_words(const struct rag_fusion *f, size_t question, const int64_t *rows,
                                   size_t count, float *scores, struct rag_fault *fault) {
    struct room room;
    size_t term_count;
    if (count == 0) return RAG_OK;
    const struct rag_query_term *terms = rag_queries_terms(f->queries, question, &term_count);
    enum rag_status status = open_room(&room, rows, count)
                                 ? RAG_OK
                                 : rag_fail(fault, RAG_MEMORY, 0, "no memory for scores");
    for (size_t i = 0; !status && i < count; i++) room.rows[i] = room.order[i].row;
    if (!status)
        status = rag_lexicons_score(f->legs, f->leg_count, terms, term_count, f->stats, room.rows,
                                    count, room.scores, fault);
    close_room(&room, count, scores, status);
    return status;
}

/* ---------------------------------------------------------------------------------- calibration */

static size_t length_of(const int64_t *rows, size_t depth) {
    size_t count = 0;
    while (count < depth && rows[count] >= 0) count++;
    return count;
}

/* Compute the query's scale once its rows are known. Infinite scores are excluded. */
static enum rag_status scale_of(const struct rag_fusion *f, size_t question, const double *moments,
                                const float *bm25, const float *dense, size_t count,
                                struct rag_calibration *by, struct rag_fault *fault) {
    const double weight = f->weights ? f->weights[question] : f->parameter;
    *by = (struct rag_calibration){0, moments[0], moments[1], weight};
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(bm25[i]) || isinf(dense[i]))
            return rag_fail(fault, RAG_ARGUMENT, i, "scores must be finite numbers");
        if (bm25[i] > by->best) by->best = bm25[i];
    }
    return RAG_OK;
}

struct nearing {
    const struct rag_fusion *fusion;
    const int64_t *rows;
    const float *bm25;
    size_t k;
    float *near, *least;
    double *moments;
    struct rag_failure failure;
};

static enum rag_status calibrate(const struct nearing *all, size_t i, size_t count,
                                 struct rag_fault *fault) {
    const struct rag_fusion *f = all->fusion;
    const float *bm25 = all->bm25 + i * f->depth;
    float *near = all->near + i * f->depth;
    double *moments = all->moments + 2 * i;
    struct rag_calibration by;
    enum rag_status status =
        rag_sample_moments(f->sample, f->vectors + i * f->dim, &moments[0], &moments[1], fault);
    if (status) return status;
    if (!all->least) return RAG_OK;
    status = scale_of(f, i, moments, bm25, near, count, &by, fault);
    if (status) return status;
    /* a full list may omit rows that score as much as its last one */
    const float rest = count == f->depth && count ? bm25[count - 1] : 0;
    all->least[i] =
        count ? rag_calibrated_least(&by, bm25, near, count, all->k, rest, f->evidence > 0)
              : -INFINITY;
    return RAG_OK;
}

static void near_task(void *context, size_t i) {
    struct nearing *all = context;
    const struct rag_fusion *f = all->fusion;
    struct rag_fault fault;
    const int64_t *rows = all->rows + i * f->depth;
    const size_t count = length_of(rows, f->depth);
    enum rag_status status = score_vectors(f, i, rows, count, all->near + i * f->depth, &fault);
    if (!status && f->method == RAG_CALIBRATED) status = calibrate(all, i, count, &fault);
    if (status) rag_failure_note(&all->failure, i, status, &fault);
}

enum rag_status rag_fusion_near(const struct rag_fusion *fusion, const int64_t *rows,
                                const float *bm25, size_t k, float *near, double *moments,
                                float *least, struct rag_fault *fault) {
    struct nearing all = {fusion, rows, bm25, k, near, least, moments, RAG_NO_FAILURE};
    rag_parallel(fusion->count, rag_worth(fusion->count, fusion->threads), near_task, &all);
    return rag_failure_of(&all.failure, fault);
}

/* ---------------------------------------------------------------------------------------- union */

/* Both lists of one query as one, with room for both: BM25 rows first, then rows found only by
 * vectors. */
struct both {
    size_t word_count, dense_count, count;
    const int64_t *word_rows, *dense_rows;
    const float *word_scores, *dense_scores;
    int64_t *rows;
    float *bm25, *near;
    struct rag_ranked *all;
    uint32_t *dense_at; /* where the union has each vector row */
    struct wanted *order;
};

static bool open_both(struct both *both) {
    const size_t most = both->word_count + both->dense_count + 1;
    both->rows = malloc(most * sizeof *both->rows);
    both->bm25 = malloc(2 * most * sizeof *both->bm25);
    both->near = both->bm25 ? both->bm25 + most : NULL;
    both->all = malloc(most * sizeof *both->all);
    both->dense_at = malloc(most * sizeof *both->dense_at);
    both->order = malloc(most * sizeof *both->order);
    return both->rows && both->bm25 && both->all && both->dense_at && both->order;
}

static void close_both(struct both *both) {
    free(both->rows);
    free(both->bm25);
    free(both->all);
    free(both->dense_at);
    free(both->order);
}

static uint32_t find_row(const struct wanted *order, size_t count, int64_t row) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (order[middle].row == row) return order[middle].at;
        if (order[middle].row < row) low = middle + 1;
        else high = middle;
    }
    return UINT32_MAX;
}

static void unite(struct both *both, const float *near) {
    const size_t words = both->word_count;
    for (size_t i = 0; i < words; i++) {
        both->order[i] = (struct wanted){both->word_rows[i], (uint32_t)i};
        both->rows[i] = both->word_rows[i];
        both->bm25[i] = both->word_scores[i];
        both->near[i] = near[i];
    }
    qsort(both->order, words, sizeof *both->order, by_row);
    both->count = words;
    for (size_t i = 0; i < both->dense_count; i++) {
        both->dense_at[i] = find_row(both->order, words, both->dense_rows[i]);
        if (both->dense_at[i] != UINT32_MAX) continue;
        both->dense_at[i] = (uint32_t)both->count;
        both->rows[both->count] = both->dense_rows[i];
        both->near[both->count++] = both->dense_scores[i];
    }
}

/* -------------------------------------------------------------------------------------- methods */

static void add_ranks(const struct both *both, double constant) {
    for (size_t i = 0; i < both->dense_count; i++)
        both->all[both->dense_at[i]].score += 1.0 / (constant + (double)(i + 1));
    for (size_t i = 0; i < both->word_count; i++)
        both->all[i].score += 1.0 / (constant + (double)(i + 1));
}

/* Normalise a score of a descending list to its range. */
static double share_of(const float *scores, size_t count, size_t i) {
    const double low = scores[count - 1], high = scores[0];
    return high > low ? ((double)scores[i] - low) / (high - low) : 1.0;
}

static void add_shares(const struct both *both, double alpha) {
    for (size_t i = 0; i < both->dense_count; i++)
        both->all[both->dense_at[i]].score +=
            alpha * share_of(both->dense_scores, both->dense_count, i);
    for (size_t i = 0; i < both->word_count; i++)
        both->all[i].score += (1 - alpha) * share_of(both->word_scores, both->word_count, i);
}

static enum rag_status weigh(const struct rag_fusion *f, size_t question, const double *moments,
                             const struct both *both, double *scales, struct rag_fault *fault) {
    struct rag_calibration by;
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < both->count; i++)
        both->all[i] = (struct rag_ranked){0, both->rows[i], (uint32_t)i};
    if (f->method == RAG_RRF) add_ranks(both, f->parameter);
    if (f->method == RAG_BLEND) add_shares(both, f->parameter);
    if (f->method != RAG_CALIBRATED) return RAG_OK;
    status = scale_of(f, question, moments, both->bm25, both->near, both->count, &by, fault);
    for (size_t i = 0; !status && i < both->count; i++)
        both->all[i].score = rag_calibrated_score(&by, both->bm25[i], both->near[i]);
    if (scales && !status) {
        double *scale = scales + 3 * question;
        scale[0] = by.best, scale[1] = by.mean, scale[2] = by.deviation;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- ranking */

static int by_score(const void *a, const void *b) {
    const struct rag_ranked *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Number the documents of the first rows: segment and document make one number. */
static enum rag_status find_documents(const struct rag_fusion *f, const struct rag_ranked *all,
                                      size_t count, int64_t *documents, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const size_t at = rag_part_of(f->parts, f->part_count, all[i].row);
        const struct rag_part *part = &f->parts[at];
        struct rag_chunk chunk = {0};
        if (!part->records) return rag_fail(fault, RAG_ARGUMENT, at, "evidence needs records");
        status = rag_records_chunk(part->records, (uint64_t)all[i].row - part->base, &chunk, fault);
        documents[i] = (int64_t)((uint64_t)at << 32 | chunk.document);
    }
    return status;
}

/* Sort rows of which few are out of order. */
static void sort_raised(struct rag_ranked *all, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct rag_ranked one = all[i];
        size_t at = i;
        for (; at > 0 && by_score(&one, &all[at - 1]) < 0; at--) all[at] = all[at - 1];
        all[at] = one;
    }
}

/* Raise the candidates by the evidence of their documents. Rows after them score no more than any
 * of them, before and after. */
static enum rag_status add_evidence(const struct rag_fusion *f, struct rag_ranked *all,
                                    size_t count, struct rag_fault *fault) {
    double scores[RAG_EVIDENCE_ROWS], weights[RAG_EVIDENCE_ROWS];
    int64_t documents[RAG_EVIDENCE_ROWS];
    for (size_t i = 0; i < count; i++) scores[i] = all[i].score;
    count = rag_evidence_count(scores, count);
    enum rag_status status = find_documents(f, all, count, documents, fault);
    if (status || count < 2) return status;
    rag_evidence_weigh(scores, documents, count, weights);
    for (size_t i = 0; i < count; i++)
        all[i].score = rag_evidence_raised(scores[i], scores[0], f->evidence, weights[i]);
    sort_raised(all, count);
    return rag_ties_settle(f->parts, f->part_count, all, count, count, fault);
}

/* Rank the union by its scores, final up to `wanted` rows. */
static enum rag_status order_rows(const struct rag_fusion *f, struct both *both, size_t wanted,
                                  struct rag_fault *fault) {
    const size_t count = both->count;
    const bool counts = f->method == RAG_CALIBRATED && f->evidence > 0;
    const size_t counted = !counts ? 0 : count < RAG_EVIDENCE_ROWS ? count : RAG_EVIDENCE_ROWS;
    const size_t settled = wanted > counted ? wanted : counted;
    qsort(both->all, count, sizeof *both->all, by_score);
    enum rag_status status =
        rag_ties_settle(f->parts, f->part_count, both->all, count, settled, fault);
    if (!status && counted > 1) status = add_evidence(f, both->all, counted, fault);
    return status;
}

static void put_out(const struct both *both, const struct rag_fused *out, size_t question) {
    const size_t first = question * out->width;
    for (size_t i = 0; i < out->width; i++) {
        const bool is_there = i < both->count;
        const uint32_t at = is_there ? both->all[i].at : 0;
        out->rows[first + i] = is_there ? both->all[i].row : -1;
        out->scores[first + i] = is_there ? both->all[i].score : -INFINITY;
        out->bm25[first + i] = is_there ? both->bm25[at] : NAN;
        out->nearness[first + i] = is_there ? both->near[at] : NAN;
    }
}

struct ranking {
    const struct rag_fusion *fusion;
    const int64_t *word_rows, *dense_rows;
    const float *bm25, *near, *dense;
    const double *moments;
    const struct rag_fused *out;
    struct rag_failure failure;
};

static enum rag_status rank_one(const struct ranking *all, size_t i, struct both *both,
                                struct rag_fault *fault) {
    const struct rag_fusion *f = all->fusion;
    const size_t words = both->word_count;
    if (!open_both(both)) return rag_fail(fault, RAG_MEMORY, 0, "no memory to fuse");
    unite(both, all->near + i * f->depth);
    enum rag_status status =
        score_words(f, i, both->rows + words, both->count - words, both->bm25 + words, fault);
    if (!status)
        status =
            weigh(f, i, all->moments ? all->moments + 2 * i : NULL, both, all->out->scales, fault);
    if (status) return status;
    const size_t wanted = both->count < all->out->width ? both->count : all->out->width;
    status = order_rows(f, both, wanted, fault);
    if (!status) put_out(both, all->out, i);
    return status;
}

static void rank_task(void *context, size_t i) {
    struct ranking *all = context;
    const size_t depth = all->fusion->depth, at = i * depth;
    struct both both = {.word_count = length_of(all->word_rows + at, depth),
                        .dense_count = length_of(all->dense_rows + at, depth),
                        .word_rows = all->word_rows + at,
                        .dense_rows = all->dense_rows + at,
                        .word_scores = all->bm25 + at,
                        .dense_scores = all->dense + at};
    struct rag_fault fault;
    const enum rag_status status = rank_one(all, i, &both, &fault);
    close_both(&both);
    if (status) rag_failure_note(&all->failure, i, status, &fault);
}

enum rag_status rag_fusion_rank(const struct rag_fusion *fusion, const int64_t *word_rows,
                                const float *bm25, const float *near, const double *moments,
                                const int64_t *dense_rows, const float *dense,
                                const struct rag_fused *out, struct rag_fault *fault) {
    struct ranking all = {fusion, word_rows, dense_rows, bm25,          near,
                          dense,  moments,   out,        RAG_NO_FAILURE};
    rag_parallel(fusion->count, rag_worth(fusion->count, fusion->threads), rank_task, &all);
    return rag_failure_of(&all.failure, fault);
}
