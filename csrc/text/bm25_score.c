/* bm25_score.c - the canonical score, the only one that the lexical engine returns.
 *
 *   score(row) = sum over the query's distinct terms, in order of first occurrence, of
 *                (times in the query * idf) * (tf / (tf + K))
 *   K          = k1 (1 - b) + (k1 b / average) * length
 *   idf        = ln(1 + (N - df + 0.5) / (df + 0.5))
 *
 * in binary64, rounded once to f32. Nothing here is vectorised or reordered, so every target gives
 * the same bits. */
#include <math.h>
#include <stdlib.h>

#include "container/wants.h"
#include "shared/log_exp.h"
#include "shared/fail.h"
#include "text/bm25_search.h"

double rag_bm25_idf(uint64_t rows, uint64_t df) {
    if (df > rows) df = rows;
    return rag_natural_log(1.0 + ((double)(rows - df) + 0.5) / ((double)df + 0.5));
}

/* Add the contribution of one term to rows [from, to) of one window. */
static void score_window(const struct rag_bm25_query *query, const struct rag_bm25_query_term *term,
                         const struct rag_bm25_container *container, const uint32_t *rows,
                         size_t from, size_t to) {
    const struct rag_bm25_scratch *scratch = query->scratch;
    uint32_t at = 0;
    for (size_t i = from; i < to; i++) {
        const uint32_t index = rag_bm25_container_find(container, rows[i] % LEX_WINDOW, &at);
        if (index == UINT32_MAX) continue;
        const uint32_t tf =
            rag_bm25_container_tf(container, index, scratch->norms[i].build, term->scale);
        scratch->scores[i] += term->weight * rag_bm25_tf_part(tf, scratch->norms[i].live);
    }
}

static void score_term(const struct rag_bm25_query *query, const struct rag_bm25_query_term *term,
                       const uint32_t *rows, size_t count) {
    const struct rag_bm25_container *container = query->scratch->containers.items + term->first,
                                    *end = container + term->count;
    for (size_t i = 0; i < count;) {
        const uint32_t window = rows[i] / LEX_WINDOW;
        size_t to = i + 1;
        while (to < count && rows[to] / LEX_WINDOW == window) to++;
        while (container < end && container->window < window) container++;
        if (container == end) return;
        if (container->window == window) score_window(query, term, container, rows, i, to);
        i = to;
    }
}

/* Fetch the lengths of rows of a remote file in one request. */
enum rag_status rag_bm25_bring_lengths(const struct rag_lexicon *lexicon, const uint32_t *rows,
                                       size_t count, struct rag_fault *fault) {
    const uint64_t width = lexicon->length_width;
    struct rag_wants wants = {0};
    if (!lexicon->terms.source) return RAG_OK;
    for (size_t i = 0; i < count; i++)
        rag_wants_add(&wants, &lexicon->terms, lexicon->lengths_at + rows[i] * width, width);
    return rag_wants_ready(&wants, fault);
}

enum rag_status rag_bm25_norms_read(const struct rag_bm25_query *query, const uint32_t *rows,
                                    size_t count, struct rag_fault *fault) {
    const struct rag_lexicon *lexicon = query->lexicon;
    struct rag_bm25_scratch *scratch = query->scratch;
    if (!rag_grow(&scratch->scores, &scratch->score_capacity, count, sizeof *scratch->scores) ||
        !rag_grow(&scratch->norms, &scratch->norm_capacity, count, sizeof *scratch->norms))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for scores");
    const enum rag_status there = rag_bm25_bring_lengths(lexicon, rows, count, fault);
    if (there) return there;
    for (size_t i = 0; i < count; i++) {
        const uint32_t width = lexicon->length_width;
        const enum rag_status status = rag_guard_check(
            &lexicon->terms, lexicon->lengths_at + (uint64_t)rows[i] * width, width, fault);
        if (status) return status;
        const uint32_t length = rag_bm25_length_at(lexicon, rows[i]);
        scratch->norms[i] = (struct rag_bm25_norms){rag_bm25_norm_at(query->live, length),
                                                    rag_bm25_norm_at(query->build, length)};
        scratch->scores[i] = 0.0;
    }
    return query->weights ? rag_bm25_fields_norms(query, rows, count, fault) : RAG_OK;
}

enum rag_status rag_bm25_score_rows(const struct rag_bm25_query *query, const uint32_t *rows,
                                    size_t count, struct rag_fault *fault) {
    const enum rag_status status = rag_bm25_norms_read(query, rows, count, fault);
    for (size_t t = 0; !status && t < query->terms; t++)
        if (query->weights) rag_bm25_fields_score(query, t, rows, count);
        else score_term(query, &query->scratch->terms[t], rows, count);
    return status;
}
