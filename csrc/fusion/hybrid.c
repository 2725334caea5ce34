/* hybrid.c - hybrid queries, from terms and vectors to the ranking, in one call.
 *
 *   words -> their vectors' scores -> minimum vector score of further rows -> near rows
 *         -> ranking
 *
 * This path serves a single segment; for several, the caller runs the same steps and merges the
 * segments' results in between. No intermediate array leaves the core, so a query pays for one
 * language crossing. The steps are those of bm25_queries.c, fuse.c and scan.c, and give the same
 * bits. */
#include <stdlib.h>

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
};

static bool open_legs(struct legs *legs, size_t count, size_t depth) {
    const size_t cells = count * depth + 1;
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
}

/* Return the milliseconds since the last call. */
static double lap(uint64_t *last) {
    const uint64_t now = rag_nanoseconds();
    const double spent = (double)(now - *last) / 1e6;
    *last = now;
    return spent;
}

static enum rag_status find_words(const struct rag_hybrid *asked, struct legs *legs,
                                  struct rag_fault *fault) {
    const struct rag_fusion *f = &asked->fusion;
    return rag_lexicon_search_batch(f->legs[0].lexicon, f->queries, f->count, f->stats,
                                    asked->segment.where, asked->filters, f->depth, f->threads,
                                    legs->word_rows, legs->bm25, fault);
}

static enum rag_status find_near(const struct rag_hybrid *asked, struct legs *legs,
                                 struct rag_fault *fault) {
    const struct rag_fusion *f = &asked->fusion;
    const struct rag_question question = {.queries = f->vectors,
                                          .count = f->count,
                                          .dim = f->dim,
                                          .metric = f->metric,
                                          .k = f->depth,
                                          .threads = f->threads,
                                          .least = asked->wants_least ? legs->least : NULL,
                                          .filters = asked->filters};
    return rag_nearest(&asked->segment, 1, &question, legs->dense_rows, legs->dense, fault);
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

enum rag_status rag_hybrid_answer(const struct rag_hybrid *asked, const struct rag_fused *out,
                                  struct rag_spent *spent, struct rag_fault *fault) {
    const struct rag_fusion *f = &asked->fusion;
    struct legs legs = {0};
    const bool is_alone = f->leg_count == 1 && f->part_count == 1 && f->parts[0].base == 0;
    enum rag_status status =
        is_alone ? RAG_OK : rag_fail(fault, RAG_ARGUMENT, f->part_count, "one segment alone");
    if (!status && (f->count >= SIZE_MAX / 64 || f->depth >= SIZE_MAX / 64 / (f->count + 1)))
        status = rag_fail(fault, RAG_LIMIT, f->depth, "more rows than memory has");
    if (!status && !open_legs(&legs, f->count, f->depth))
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory for a question");
    if (!status) status = answer(asked, &legs, out, spent, fault);
    close_legs(&legs);
    return status;
}
