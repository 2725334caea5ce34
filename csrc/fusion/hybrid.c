/* hybrid.c - hybrid queries, from terms and vectors to the ranking, in one call.
 *
 *   words -> their vectors' scores -> minimum vector score of further rows -> near rows
 *         -> ranking
 *
 * The lists of several segments are merged in between, so the answer is that of one segment with
 * the same rows. No intermediate array leaves the core, so a query pays for one language crossing.
 * The steps are those of bm25_queries.c, bm25_segments.c, ties.c, fuse.c and scan.c, and give the
 * same bits. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/bm25.h"
#include "fusion/rankings.h"
#include "shared/fail.h"
#include "system/system.h"

/* Intermediate results, [queries][depth] each except the last two. */
struct legs {
    int64_t *word_rows, *dense_rows;
    float *bm25, *near, *dense;
    double *moments;
    float *least;
    int64_t *part_rows; /* [queries][parts][depth], what each segment found; or NULL */
    float *part_scores;
    struct rag_lexical_leg *words; /* of each segment, with its row set */
    struct rag_segment *vectors;
};

/* Copies what is searched of each segment, with its row set. */
static bool open_parts(struct legs *legs, const struct rag_hybrid *asked) {
    const size_t count = asked->fusion.part_count;
    legs->words = malloc(count * sizeof *legs->words);
    legs->vectors = malloc(count * sizeof *legs->vectors);
    if (!legs->words || !legs->vectors) return false;
    memcpy(legs->words, asked->fusion.legs, count * sizeof *legs->words);
    memcpy(legs->vectors, asked->segments, count * sizeof *legs->vectors);
    for (size_t s = 0; asked->wheres && s < count; s++)
        legs->words[s].where = legs->vectors[s].where = asked->wheres[s];
    return true;
}

/* parts is 0 where no lists are merged. */
static bool open_legs(struct legs *legs, size_t count, size_t depth, size_t parts) {
    const size_t cells = count * depth + 1;
    legs->part_rows = parts ? malloc(cells * parts * sizeof *legs->part_rows) : NULL;
    legs->part_scores = parts ? malloc(cells * parts * sizeof *legs->part_scores) : NULL;
    if (parts && (!legs->part_rows || !legs->part_scores)) return false;
    legs->word_rows = malloc(2 * cells * sizeof *legs->word_rows);
    legs->bm25 = malloc((3 * cells + count) * sizeof *legs->bm25);
    legs->moments = calloc(2 * count + 1, sizeof *legs->moments);
    if (!legs->word_rows || !legs->bm25 || !legs->moments) return false;
    legs->dense_rows = legs->word_rows + cells;
    legs->near = legs->bm25 + cells;
    legs->dense = legs->near + cells;
    legs->least = legs->dense + cells;
    for (size_t i = 0; i < cells; i++) legs->near[i] = NAN;
    return true;
}

static void close_legs(struct legs *legs) {
    free(legs->word_rows);
    free(legs->bm25);
    free(legs->moments);
    free(legs->part_rows);
    free(legs->part_scores);
    free(legs->words);
    free(legs->vectors);
}

/* Return the milliseconds since the last call. */
static double lap(uint64_t *last) {
    const uint64_t now = rag_nanoseconds();
    const double spent = (double)(now - *last) / 1e6;
    *last = now;
    return spent;
}

/* Whether the file is one segment of live rows: its lists need no merge. */
static bool is_alone(const struct rag_fusion *f) {
    return f->part_count == 1 && f->parts[0].base == 0 && !f->legs[0].alive;
}

/* Merges what the parts found into the lists of all. */
static enum rag_status merge(const struct rag_fusion *f, struct legs *legs, int64_t *rows,
                             float *scores, struct rag_fault *fault) {
    return rag_merge(f->parts, f->part_count, legs->part_rows, legs->part_scores, f->count,
                     f->depth, f->threads, rows, scores, fault);
}

static enum rag_status find_words(const struct rag_hybrid *asked, struct legs *legs,
                                  struct rag_fault *fault) {
    const struct rag_fusion *f = &asked->fusion;
    if (is_alone(f))
        return rag_lexicon_search_batch(f->legs[0].lexicon, f->queries, f->count, f->stats,
                                        legs->words[0].where, asked->filters, f->depth, f->threads,
                                        legs->word_rows, legs->bm25, fault);
    const enum rag_status status = rag_lexicons_search(
        legs->words, f->leg_count, f->queries, f->count, f->stats, asked->filters, f->depth,
        f->threads, legs->part_rows, legs->part_scores, fault);
    return status ? status : merge(f, legs, legs->word_rows, legs->bm25, fault);
}

/* Gives the rows of all parts their numbers in the file. */
static void number_rows(const struct rag_fusion *f, int64_t *rows) {
    for (size_t i = 0; i < f->count; i++)
        for (size_t s = 0; s < f->part_count; s++, rows += f->depth)
            for (size_t j = 0; j < f->depth && rows[j] >= 0; j++)
                rows[j] += (int64_t)f->parts[s].base;
}

static enum rag_status find_near(const struct rag_hybrid *asked, struct legs *legs,
                                 struct rag_fault *fault) {
    const struct rag_fusion *f = &asked->fusion;
    const bool alone = is_alone(f);
    const struct rag_question question = {.queries = f->vectors,
                                          .count = f->count,
                                          .dim = f->dim,
                                          .metric = f->metric,
                                          .k = f->depth,
                                          .threads = f->threads,
                                          .least = asked->wants_least ? legs->least : NULL,
                                          .filters = asked->filters};
    const enum rag_status status = rag_nearest(legs->vectors, f->part_count, &question,
                                               alone ? legs->dense_rows : legs->part_rows,
                                               alone ? legs->dense : legs->part_scores, fault);
    if (status || alone) return status;
    number_rows(f, legs->part_rows);
    return merge(f, legs, legs->dense_rows, legs->dense, fault);
}

static enum rag_status answer(const struct rag_hybrid *asked, struct legs *legs,
                              const struct rag_fused *out, struct rag_spent *spent,
                              struct rag_fault *fault) {
    uint64_t last = rag_nanoseconds();
    enum rag_status status = find_words(asked, legs, fault);
    spent->words = lap(&last);
    if (!status)
        status = rag_fusion_near(&asked->fusion, legs->word_rows, legs->bm25, asked->k, legs->near,
                                 legs->moments, asked->wants_least ? legs->least : NULL, fault);
    spent->fusing = lap(&last);
    if (!status) status = find_near(asked, legs, fault);
    spent->vectors = lap(&last);
    if (!status)
        status = rag_fusion_rank(&asked->fusion, legs->word_rows, legs->bm25, legs->near,
                                 legs->moments, legs->dense_rows, legs->dense, out, fault);
    spent->fusing += lap(&last);
    return status;
}

/* Every part needs words and vectors. */
static bool are_whole(const struct rag_hybrid *asked) {
    const struct rag_fusion *f = &asked->fusion;
    bool found = f->part_count > 0 && f->leg_count == f->part_count;
    for (size_t s = 0; found && s < f->part_count; s++)
        found = f->legs[s].base == f->parts[s].base && asked->segments[s].matrix;
    return found;
}

enum rag_status rag_hybrid_answer(const struct rag_hybrid *asked, const struct rag_fused *out,
                                  struct rag_spent *spent, struct rag_fault *fault) {
    const struct rag_fusion *f = &asked->fusion;
    struct legs legs = {0};
    if (!are_whole(asked))
        return rag_fail(fault, RAG_ARGUMENT, f->part_count, "words and vectors of each segment");
    const size_t parts = is_alone(f) ? 0 : f->part_count;
    if (f->count >= SIZE_MAX / 64 || f->depth >= SIZE_MAX / 64 / (f->count + 1) / (parts + 1))
        return rag_fail(fault, RAG_LIMIT, f->depth, "more rows than memory has");
    enum rag_status status = open_parts(&legs, asked) && open_legs(&legs, f->count, f->depth, parts)
                                 ? answer(asked, &legs, out, spent, fault)
                                 : rag_fail(fault, RAG_MEMORY, 0, "no memory for a question");
    close_legs(&legs);
    return status;
}
