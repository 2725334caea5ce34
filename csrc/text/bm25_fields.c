/* bm25_fields.c - field weights chosen per query instead of at build time.
 *
 * rag.terms and rag.postings store one sum for a row: tf = sum of w_f tf_f over its fields. Every
 * field but the first has its own pair of sections with tf_f and length_f; the first field, 0, is
 * the remainder. So
 *
 *   tf' = w'_0 (tf - sum w_f tf_f) / w_0 + sum w'_f tf_f          f over the fields but the rest, 0
 *
 * equals the tf that a build with the weights w' would have stored, and the length follows
 * likewise. The division is exact and all operands are whole numbers, so scores match such a build
 * bit for bit. Values of a hostile file are clamped to 0 from below.
 *
 * The bounds of bm25_search.c follow. With r and R the least and the largest of w'_f / w_f, r tf <=
 * tf' <= R tf, and the new length is between r and R times the stored one. Hence
 *
 *   tf / (tf + K'(r length) / R)  >=  tf' / (tf' + K')  >=  tf / (tf + K'(R length) / r),
 *
 * which are tf parts of the stored tf for two other K, both linear in the length: the argument on
 * moved statistics holds for each. A weight of 0 makes r = 0 and leaves no lower bound; the search
 * then scores the rows of all lists. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/fusion.h"
#include "shared/fail.h"
#include "text/bm25_search.h"

/* ---------------------------------------------------------------------------------- attaching */

enum rag_status rag_lexicon_fields(struct rag_lexicon *lexicon, struct rag_lexicon *const *fields,
                                   const uint32_t *weights, size_t count, struct rag_fault *fault) {
    for (size_t f = 0; f < count; f++)
        if (fields[f]->info.rows != lexicon->info.rows)
            return rag_fail(fault, RAG_CORRUPT, LEX_AT_ROWS, "a field has another number of rows");
    for (size_t f = 0; f <= count; f++)
        if (weights[f] < 1 || weights[f] > 255)
            return rag_fail(fault, RAG_ARGUMENT, f, "a field's weight is from 1 to 255");
    struct rag_bm25_field *kept = calloc(count + 1, sizeof *kept);
    if (!kept) return rag_fail(fault, RAG_MEMORY, 0, "no memory for fields");
    for (size_t f = 0; f <= count; f++)
        kept[f] = (struct rag_bm25_field){f ? fields[f - 1] : NULL, weights[f]};
    free(lexicon->fields);
    lexicon->fields = kept;
    lexicon->field_count = count;
    return RAG_OK;
}

/* Set the bounds that the head derives; r = 0 gives no lower bound. */
static void set_bounds(struct rag_bm25_query *query, double least, double most) {
    const struct rag_bm25_norm live = query->live;
    query->upper = (struct rag_bm25_norm){live.base / most, live.slope * (least / most)};
    query->is_bounded = least > 0;
    if (query->is_bounded)
        query->lower = (struct rag_bm25_norm){live.base / least, live.slope * (most / least)};
}

enum rag_status rag_bm25_fields_start(struct rag_bm25_query *query,
                                      const struct rag_lexical_stats *stats, size_t terms,
                                      struct rag_fault *fault) {
    const struct rag_lexicon *lexicon = query->lexicon;
    struct rag_bm25_scratch *scratch = query->scratch;
    double least = INFINITY, most = 0;
    query->weights = stats->weights;
    query->lower = query->upper = query->live;
    query->is_bounded = true;
    if (!stats->weights) return RAG_OK;
    if (!lexicon->fields || stats->weight_count != lexicon->field_count + 1)
        return rag_fail(fault, RAG_ARGUMENT, stats->weight_count,
                        "a segment has other fields with lists of their own than weights");
    for (size_t f = 0; f <= lexicon->field_count; f++) {
        least = fmin(least, (double)stats->weights[f] / lexicon->fields[f].weight);
        most = fmax(most, (double)stats->weights[f] / lexicon->fields[f].weight);
        if (stats->weights[f] > 255)
            return rag_fail(fault, RAG_ARGUMENT, f, "a field's weight is from 0 to 255");
    }
    if (!(most > 0)) return rag_fail(fault, RAG_ARGUMENT, 0, "every field has the weight 0");
    set_bounds(query, least, most);
    if (!rag_grow(&scratch->own, &scratch->own_capacity, terms * lexicon->field_count,
                  sizeof *scratch->own))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    return RAG_OK;
}

/* ------------------------------------------------------------------------------- opening lists */

/* Store the rows of a short list as containers, with their tf and without codes. */
static bool put_short(struct rag_bm25_containers *containers, struct rag_bm25_own *own,
                      const struct rag_bm25_posting *postings, size_t count) {
    if (!rag_grow(&containers->items, &containers->capacity, containers->count + count,
                  sizeof *containers->items))
        return false;
    for (size_t i = 0, end; i < count; i = end) {
        const uint32_t window = postings[i].row / LEX_WINDOW;
        for (end = i; end < count && postings[end].row / LEX_WINDOW == window; end++) {
            own->rows[end] = (uint16_t)(postings[end].row % LEX_WINDOW);
            own->tfs[end] = postings[end].tf;
        }
        containers->items[containers->count++] =
            (struct rag_bm25_container){.window = window,
                                        .count = (uint32_t)(end - i),
                                        .rows = (const uint8_t *)(own->rows + i),
                                        .tfs = own->tfs + i};
    }
    return true;
}

static enum rag_status open_own(struct rag_bm25_containers *containers,
                                const struct rag_lexicon *field, const struct rag_query_term *term,
                                struct rag_bm25_own *own, struct rag_fault *fault) {
    struct rag_bm25_posting postings[LEX_SHORT];
    struct rag_bm25_entry entry;
    struct rag_bm25_list list;
    size_t count = 0;
    own->first = containers->count;
    enum rag_status status = rag_bm25_entry_find(field, term->bytes, term->size, &entry, fault);
    if (!status && entry.df > LEX_SHORT) {
        status = rag_bm25_list_open(field, &entry, &list, containers, fault);
        if (!status) own->scale = rag_bm25_scale(list.m);
    } else if (!status && entry.df) {
        status = rag_bm25_short_open(field, &entry, postings, &count, fault);
        if (!status && !put_short(containers, own, postings, count))
            status = rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    }
    own->count = containers->count - own->first;
    return status;
}

enum rag_status rag_bm25_fields_open(struct rag_bm25_query *query, size_t t,
                                     const struct rag_query_term *term, struct rag_fault *fault) {
    const struct rag_lexicon *lexicon = query->lexicon;
    enum rag_status status = RAG_OK;
    if (!query->weights) return RAG_OK;
    for (size_t f = 0; f < lexicon->field_count && !status; f++)
        status = open_own(&query->scratch->containers, lexicon->fields[f + 1].lexicon, term,
                          &query->scratch->own[t * lexicon->field_count + f], fault);
    return status;
}

/* --------------------------------------------------------------------------------- the numbers */

/* Return the tf or length that a build with the query's weights would have stored. */
static double joined(const struct rag_bm25_query *query, int64_t rest, int64_t more) {
    if (rest < 0) rest = 0;
    return (double)(query->weights[0] * (rest / query->lexicon->fields[0].weight) + more);
}

static bool has_room(struct rag_bm25_scratch *scratch, size_t count, size_t fields) {
    size_t more_capacity = scratch->rest_capacity;
    return rag_grow(&scratch->more, &more_capacity, count, sizeof *scratch->more) &&
           rag_grow(&scratch->rest, &scratch->rest_capacity, count, sizeof *scratch->rest) &&
           rag_grow(&scratch->lengths, &scratch->length_capacity, count * fields,
                    sizeof *scratch->lengths);
}

/* Read the lengths of rows in one field. */
static enum rag_status read_lengths(const struct rag_lexicon *field, const uint32_t *rows,
                                    size_t count, uint32_t *lengths, struct rag_fault *fault) {
    const enum rag_status there = rag_bm25_bring_lengths(field, rows, count, fault);
    if (there) return there;
    for (size_t i = 0; i < count; i++) {
        const uint32_t width = field->length_width;
        const enum rag_status status = rag_guard_check(
            &field->terms, field->lengths_at + (uint64_t)rows[i] * width, width, fault);
        if (status) return status;
        lengths[i] = rag_bm25_length_at(field, rows[i]);
    }
    return RAG_OK;
}

enum rag_status rag_bm25_fields_norms(const struct rag_bm25_query *query, const uint32_t *rows,
                                      size_t count, struct rag_fault *fault) {
    const struct rag_lexicon *lexicon = query->lexicon;
    struct rag_bm25_scratch *scratch = query->scratch;
    if (!has_room(scratch, count, lexicon->field_count))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for scores");
    for (size_t i = 0; i < count; i++)
        scratch->rest[i] = rag_bm25_length_at(lexicon, rows[i]), scratch->more[i] = 0;
    for (size_t f = 0; f < lexicon->field_count; f++) {
        uint32_t *lengths = scratch->lengths + f * count;
        const struct rag_bm25_field *field = &lexicon->fields[f + 1];
        const enum rag_status status = read_lengths(field->lexicon, rows, count, lengths, fault);
        if (status) return status;
        for (size_t i = 0; i < count; i++) {
            scratch->rest[i] -= (int64_t)field->weight * lengths[i];
            scratch->more[i] += (int64_t)query->weights[f + 1] * lengths[i];
        }
    }
    for (size_t i = 0; i < count; i++)
        scratch->norms[i].live =
            query->live.base +
            query->live.slope * joined(query, scratch->rest[i], scratch->more[i]);
    return RAG_OK;
}

/* One list of a term, with the factors by which its tf enters the two sums of a row. */
struct counted {
    const struct rag_bm25_container *from, *end;
    double scale;
    int64_t rest, more;
    const uint32_t *lengths; /* of a field; NULL for the whole row's list */
    struct rag_bm25_norm build;
};

static void count_list(const struct rag_bm25_query *query, const struct counted *list,
                       const uint32_t *rows, size_t count) {
    struct rag_bm25_scratch *scratch = query->scratch;
    const struct rag_bm25_container *container = list->from;
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t window = rows[i] / LEX_WINDOW;
        for (; container < list->end && container->window < window; container++) at = 0;
        if (container == list->end) return;
        if (container->window != window) continue;
        const uint32_t index = rag_bm25_container_find(container, rows[i] % LEX_WINDOW, &at);
        if (index == UINT32_MAX) continue;
        const double norm = list->lengths ? rag_bm25_norm_at(list->build, list->lengths[i])
                                          : scratch->norms[i].build;
        const int64_t tf = rag_bm25_container_tf(container, index, norm, list->scale);
        scratch->rest[i] += list->rest * tf;
        scratch->more[i] += list->more * tf;
    }
}

void rag_bm25_fields_tfs(const struct rag_bm25_query *query, size_t t, const uint32_t *rows,
                         size_t count) {
    if (!count) return; /* there is no scratch space yet */
    const struct rag_lexicon *lexicon = query->lexicon;
    struct rag_bm25_scratch *scratch = query->scratch;
    const struct rag_bm25_container *items = scratch->containers.items;
    const struct rag_bm25_query_term *term = &scratch->terms[t];
    const struct counted whole = {
        items + term->first, items + term->first + term->count, term->scale, 1, 0, NULL, {0, 0}};
    memset(scratch->rest, 0, count * sizeof *scratch->rest);
    memset(scratch->more, 0, count * sizeof *scratch->more);
    count_list(query, &whole, rows, count);
    for (size_t f = 0; f < lexicon->field_count; f++) {
        const struct rag_bm25_own *own = &scratch->own[t * lexicon->field_count + f];
        const struct rag_bm25_field *field = &lexicon->fields[f + 1];
        const struct rag_lexicon_info *info = &field->lexicon->info;
        const struct counted part = {
            items + own->first,
            items + own->first + own->count,
            own->scale,
            -(int64_t)field->weight,
            query->weights[f + 1],
            scratch->lengths + f * count,
            rag_bm25_norm_of(info->k1, info->b, info->rows, info->total_length)};
        count_list(query, &part, rows, count);
    }
}

double rag_bm25_fields_tf(const struct rag_bm25_query *query, size_t i) {
    return joined(query, query->scratch->rest[i], query->scratch->more[i]);
}

void rag_bm25_fields_score(const struct rag_bm25_query *query, size_t t, const uint32_t *rows,
                           size_t count) {
    struct rag_bm25_scratch *scratch = query->scratch;
    rag_bm25_fields_tfs(query, t, rows, count);
    for (size_t i = 0; i < count; i++) {
        const double tf = rag_bm25_fields_tf(query, i);
        if (tf > 0)
            scratch->scores[i] +=
                scratch->terms[t].weight * rag_bm25_tf_part(tf, scratch->norms[i].live);
    }
}

/* ---------------------------------------------------------------------------------- statistics */

enum rag_status rag_lexicon_length(const struct rag_lexicon *lexicon, const uint64_t *where,
                                   uint64_t *total, struct rag_fault *fault) {
    const uint64_t rows = lexicon->info.rows;
    *total = lexicon->info.total_length;
    if (!where) return RAG_OK;
    const enum rag_status status =
        rag_guard_check(&lexicon->terms, lexicon->lengths_at, rows * lexicon->length_width, fault);
    if (status) return status;
    *total = 0;
    for (uint64_t row = 0; row < rows; row++)
        if (where[row / 64] >> row % 64 & 1) *total += rag_bm25_length_at(lexicon, row);
    return RAG_OK;
}

/* Count the rows in `where` that contain the query's only term under the weights. */
static enum rag_status count_rows(struct rag_bm25_query *query, const uint32_t *rows, size_t count,
                                  const uint64_t *where, uint64_t *df, struct rag_fault *fault) {
    enum { CHUNK = 4096 };
    enum rag_status status = RAG_OK;
    for (size_t from = 0; from < count && !status; from += CHUNK) {
        const size_t some = count - from < CHUNK ? count - from : CHUNK;
        status = rag_bm25_norms_read(query, rows + from, some, fault);
        if (status) break;
        rag_bm25_fields_tfs(query, 0, rows + from, some);
        for (size_t i = 0; i < some; i++) {
            const uint32_t row = rows[from + i];
            const bool lives = !where || (where[row / 64] >> row % 64 & 1);
            *df += lives && rag_bm25_fields_tf(query, i) > 0;
        }
    }
    return status;
}

/* Add the df of one term in one segment to *df. */
static enum rag_status count_term(const struct rag_lexical_leg *leg,
                                  struct rag_bm25_scratch *scratch,
                                  const struct rag_query_term *term,
                                  const struct rag_lexical_stats *stats, uint64_t *df,
                                  struct rag_fault *fault) {
    struct rag_bm25_query query;
    uint64_t count = 0, again;
    enum rag_status status =
        rag_bm25_query_open(&query, leg->lexicon, scratch, term, 1, stats, SIZE_MAX, fault);
    if (status || !query.terms) return status;
    status = rag_lexicon_rows(leg->lexicon, term->bytes, term->size, NULL, NULL, 0, &count, fault);
    uint32_t *rows = malloc((count + 1) * sizeof *rows);
    if (!rows) return rag_fail(fault, RAG_MEMORY, 0, "no memory for rows");
    if (!status)
        status = rag_lexicon_rows(leg->lexicon, term->bytes, term->size, rows, NULL, count, &again,
                                  fault);
    if (!status) status = count_rows(&query, rows, count, leg->alive, df, fault);
    free(rows);
    return status;
}

enum rag_status rag_lexicons_count_fields(const struct rag_lexical_leg *legs, size_t leg_count,
                                          struct rag_queries *queries, size_t count,
                                          const struct rag_lexical_stats *stats,
                                          struct rag_fault *fault) {
    if (!leg_count) return RAG_OK;
    struct rag_bm25_scratch *scratch = rag_bm25_scratch_take(&legs[0].lexicon->scratches);
    if (!scratch) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count && !status; i++) {
        size_t term_count;
        struct rag_query_term *terms = rag_queries_terms(queries, i, &term_count);
        for (size_t t = 0; t < term_count && !status; t++) {
            uint64_t df = 0;
            for (size_t s = 0; s < leg_count && !status; s++)
                status = count_term(&legs[s], scratch, &terms[t], stats, &df, fault);
            terms[t].df = df;
        }
    }
    rag_queries_join(queries);
    rag_bm25_scratch_give(&legs[0].lexicon->scratches, scratch);
    return status;
}
