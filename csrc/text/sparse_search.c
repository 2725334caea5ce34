/* sparse_search.c - exact top k by dot product: bound all rows cheaply, score exactly the few that
 * can win (spec 14.3 and 14.4).
 *
 * Let q_t be the question's weight of term t and m_t the largest weight of its list. With S =
 * (65535 - n - 1) / sum q_t m_t, the scan of bm25_kernel.h adds s = floor(S q_t w_t) + 1 for each
 * weight, where S q_t is rounded up to f32 by a factor of 1 + 2^-20, which outweighs both roundings
 * of f32. Hence S score < A < 65536, and A <= S score + n + 1: the sums of a row are its score to
 * 16 bits. If k rows have A >= a, then a row with A <= a - n - 2 is worse than all of them by more
 * than a unit of A, which no rounding to f32 makes equal.
 *
 * Very long questions, very many results and few rows that pass are summed in binary64 at once.
 * Either way a score is the sum of products in the order of the question's terms. */
#include <math.h>
#include <stdlib.h>

#include "container/wants.h"
#include "shared/fail.h"
#include "text/sparse.h"

enum {
    SPARSE_SUM_MAX = 65535,
    SPARSE_TERMS_MAX = 2048, /* above it, the margin would exceed the sums */
    SPARSE_DIRECT_K = 16384, /* from here on nearly every row is a candidate */
};

struct question_term {
    double weight;
    float scale;
    size_t first, count, next; /* containers */
    uint32_t largest;
};

struct question {
    const struct rag_sparse *sparse;
    struct rag_bm25_scratch *scratch;
    struct question_term *terms;
    size_t count;
    struct rag_sparse_container *containers;
    size_t container_count, container_capacity;
    struct rag_bm25_weighed *weighed;
};

static enum rag_status no_memory(struct rag_fault *fault) {
    return rag_fail(fault, RAG_MEMORY, 0, "no memory for a question");
}

static void close_question(struct question *question) {
    free(question->terms);
    free(question->containers);
    free(question->weighed);
}

/* ------------------------------------------------------------------------------------- opening */

static enum rag_status open_list(struct question *question, struct rag_sparse_list list,
                                 float weight, struct rag_fault *fault) {
    const struct rag_guard *guard = &question->sparse->guard;
    const uint64_t at = question->sparse->lists_at + SPARSE_WORD * list.at;
    const enum rag_status status = rag_guard_check(guard, at, SPARSE_WORD * list.size, fault);
    if (status) return status;
    const uint8_t *bytes = rag_guard_at(guard, at);
    struct question_term *term = &question->terms[question->count++];
    *term = (struct question_term){.weight = weight,
                                   .first = question->container_count,
                                   .next = question->container_count,
                                   .largest = load_u16(bytes)};
    struct rag_sparse_walk walk;
    struct rag_sparse_container container;
    bool is_broken = true;
    for (rag_sparse_walk_start(&walk, bytes, list.size);
         rag_sparse_walk_next(&walk, &container, &is_broken); term->count++) {
        if (!rag_grow(&question->containers, &question->container_capacity,
                      question->container_count + 1, sizeof container))
            return no_memory(fault);
        question->containers[question->container_count++] = container;
    }
    if (is_broken) {
        rag_fail(fault, RAG_FORMAT, at, "containers do not fill their list");
        if (fault) memcpy(fault->section, guard->name, sizeof fault->section);
        return RAG_FORMAT;
    }
    return RAG_OK;
}

/* Fetch the lists of a remote file in one request. */
static enum rag_status bring_lists(const struct rag_sparse *sparse,
                                   const struct rag_sparse_list *lists, size_t count,
                                   struct rag_fault *fault) {
    struct rag_wants wants = {0};
    if (!sparse->guard.source) return RAG_OK;
    for (size_t i = 0; i < count; i++)
        if (lists[i].size)
            rag_wants_add(&wants, &sparse->guard, sparse->lists_at + SPARSE_WORD * lists[i].at,
                          SPARSE_WORD * lists[i].size);
    return rag_wants_ready(&wants, fault);
}

static enum rag_status open_question(struct question *question, const struct rag_sparse *sparse,
                                     struct rag_bm25_scratch *scratch,
                                     const struct rag_sparse_term *terms, size_t count,
                                     struct rag_fault *fault) {
    *question = (struct question){.sparse = sparse, .scratch = scratch};
    enum rag_status status = rag_sparse_directory(sparse, fault);
    if (status) return status;
    struct rag_sparse_list *lists = malloc((count + 1) * sizeof *lists);
    question->terms = malloc((count + 1) * sizeof *question->terms);
    question->weighed = malloc((count + 1) * sizeof *question->weighed);
    if (!lists || !question->terms || !question->weighed) status = no_memory(fault);
    for (size_t i = 0; i < count && !status; i++)
        lists[i] = rag_sparse_find(sparse, terms[i].bytes, terms[i].size);
    if (!status) status = bring_lists(sparse, lists, count, fault);
    for (size_t i = 0; i < count && !status; i++)
        if (lists[i].size) status = open_list(question, lists[i], terms[i].weight, fault);
    free(lists);
    return status;
}

/* --------------------------------------------------------------------------------------- scores */

/* The index of a row (in window) in a container, from *at on, or UINT32_MAX. Rows of hostile bytes
 * may be in any order, which finds any of them or none. */
static uint32_t find_row(const struct rag_sparse_container *container, uint32_t row, uint32_t *at) {
    uint32_t low = *at, high = container->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (load_u16(container->rows + 2 * (size_t)middle) < row) low = middle + 1;
        else high = middle;
    }
    *at = low;
    const bool is_there =
        low < container->count && load_u16(container->rows + 2 * (size_t)low) == row;
    return is_there ? low : UINT32_MAX;
}

static double weight_at(const struct rag_sparse_container *container, uint32_t index) {
    return (double)rag_sparse_weight(load_u16(container->codes + 2 * (size_t)index));
}

static void add_term(const struct question *question, const struct question_term *term,
                     const uint32_t *rows, size_t count) {
    const struct rag_sparse_container *container = question->containers + term->first,
                                      *end = container + term->count;
    double *scores = question->scratch->scores;
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t window = rows[i] / LEX_WINDOW;
        for (; container < end && container->window < window; at = 0) container++;
        if (container == end) return;
        if (container->window > window) continue;
        const uint32_t index = find_row(container, rows[i] % LEX_WINDOW, &at);
        if (index != UINT32_MAX) scores[i] += term->weight * weight_at(container, index);
    }
}

/* Compute exact scores of ascending rows into scratch->scores. */
static enum rag_status score_rows(const struct question *question, const uint32_t *rows,
                                  size_t count, struct rag_fault *fault) {
    struct rag_bm25_scratch *scratch = question->scratch;
    if (!rag_grow(&scratch->scores, &scratch->score_capacity, count + 1, sizeof *scratch->scores))
        return no_memory(fault);
    memset(scratch->scores, 0, count * sizeof *scratch->scores);
    for (size_t t = 0; t < question->count; t++)
        add_term(question, &question->terms[t], rows, count);
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- the scan */

static uint32_t window_width(const struct rag_sparse *sparse, uint32_t window) {
    const uint64_t first = (uint64_t)window * LEX_WINDOW;
    const uint64_t rest = sparse->info.rows > first ? sparse->info.rows - first : 0;
    return rest < LEX_WINDOW ? (uint32_t)rest : LEX_WINDOW;
}

/* Return the next window with rows of any term, UINT32_MAX after the last. */
static uint32_t next_window(const struct question *question) {
    uint32_t window = UINT32_MAX;
    for (size_t t = 0; t < question->count; t++) {
        const struct question_term *term = &question->terms[t];
        if (term->next == term->first + term->count) continue;
        if (question->containers[term->next].window < window)
            window = question->containers[term->next].window;
    }
    return window;
}

/* The container of a term in a window, which is the next of those with rows; NULL without one. */
static const struct rag_sparse_container *take_container(const struct question *question,
                                                         struct question_term *term,
                                                         uint32_t window) {
    if (term->next == term->first + term->count) return NULL;
    const struct rag_sparse_container *here = &question->containers[term->next];
    if (here->window != window) return NULL;
    term->next++;
    return here;
}

/* Choose the scale of the sums, and the first threshold from a score below which none matters. */
static void weigh_terms(struct question *question, float least) {
    struct rag_bm25_candidates *found = &question->scratch->found;
    double total = 0;
    for (size_t t = 0; t < question->count; t++)
        total += question->terms[t].weight * (double)rag_sparse_weight(question->terms[t].largest);
    const double scale = (SPARSE_SUM_MAX - (double)question->count - 1) / total * (1 - 0x1p-16);
    for (size_t t = 0; t < question->count; t++)
        question->terms[t].scale = (float)(scale * question->terms[t].weight * (1 + 0x1p-20));
    found->terms = (uint32_t)question->count;
    found->keep = found->margin = 1;
    found->unit = scale;
    found->floored = false;
    const double sum = floor(scale * (double)least * (1 - 0x1p-20)) - 1;
    if (sum > 0) found->threshold = sum < SPARSE_SUM_MAX ? (uint32_t)sum : SPARSE_SUM_MAX;
}

static void scan_windows(struct question *question, const uint64_t *where) {
    rag_bm25_scan_function *scan_weights = rag_bm25_scan_weights();
    struct rag_bm25_scan *scan = &question->scratch->scan;
    scan->found = &question->scratch->found;
    scan->weighed = question->weighed;
    for (uint32_t window; (window = next_window(question)) != UINT32_MAX;) {
        scan->weighed_count = scan->sparse_rows = 0;
        scan->first_row = window * LEX_WINDOW;
        scan->width = window_width(question->sparse, window);
        scan->groups = (scan->width + LEX_GROUP - 1) / LEX_GROUP;
        scan->where = where ? where + (size_t)window * LEX_GROUPS : NULL;
        for (size_t t = 0; t < question->count; t++) {
            struct question_term *term = &question->terms[t];
            const struct rag_sparse_container *here = take_container(question, term, window);
            if (!here || !scan->width) continue;
            scan->sparse_rows += here->count;
            question->weighed[scan->weighed_count++] =
                (struct rag_bm25_weighed){here->rows, here->codes, here->count, term->scale};
        }
        if (scan->weighed_count) scan_weights(scan);
    }
}

static enum rag_status enter_scanned(struct question *question, const uint64_t *where, size_t k,
                                     float least, struct rag_fault *fault) {
    struct rag_bm25_scratch *scratch = question->scratch;
    struct rag_bm25_candidates *found = &scratch->found;
    if (!rag_bm25_candidates_start(found, k)) return no_memory(fault);
    weigh_terms(question, least);
    scan_windows(question, where);
    if (found->failed) return no_memory(fault);
    rag_bm25_candidates_tighten(found);
    if (!rag_bm25_rows_sort(scratch, found->rows, found->count)) return no_memory(fault);
    scratch->key_count = 0;
    const enum rag_status status = score_rows(question, found->rows, found->count, fault);
    return status ? status : rag_bm25_scores_enter(scratch, found->rows, found->count, k, fault);
}

/* ----------------------------------------------------------------------------- summing directly */

/* Add up a window in binary64; return whether it has rows. */
static bool sum_window(struct question *question, uint32_t window, double *sums) {
    const uint32_t width = window_width(question->sparse, window);
    bool has_any = false;
    memset(sums, 0, LEX_WINDOW * sizeof *sums);
    for (size_t t = 0; t < question->count; t++) {
        struct question_term *term = &question->terms[t];
        const struct rag_sparse_container *here = take_container(question, term, window);
        for (uint32_t i = 0; here && i < here->count; i++) {
            const uint32_t row = load_u16(here->rows + 2 * (size_t)i);
            if (row >= width) continue;
            sums[row] += term->weight * weight_at(here, i);
            has_any = true;
        }
    }
    return has_any;
}

static enum rag_status enter_window(struct question *question, uint32_t window, const double *sums,
                                    const uint64_t *where, size_t k, struct rag_fault *fault) {
    struct rag_bm25_scratch *scratch = question->scratch;
    const uint32_t width = window_width(question->sparse, window);
    size_t count = 0;
    if (!rag_grow(&scratch->rows, &scratch->row_capacity, LEX_WINDOW, sizeof *scratch->rows) ||
        !rag_grow(&scratch->scores, &scratch->score_capacity, LEX_WINDOW, sizeof *scratch->scores))
        return no_memory(fault);
    for (uint32_t i = 0; i < width; i++) {
        const uint64_t row = (uint64_t)window * LEX_WINDOW + i;
        if (!(sums[i] > 0) || (where && !(where[row / 64] >> row % 64 & 1))) continue;
        scratch->scores[count] = sums[i];
        scratch->rows[count++] = (uint32_t)row;
    }
    return rag_bm25_scores_enter(scratch, scratch->rows, count, k, fault);
}

static enum rag_status enter_all(struct question *question, const uint64_t *where, size_t k,
                                 struct rag_fault *fault) {
    double *sums = malloc(LEX_WINDOW * sizeof *sums);
    enum rag_status status = sums ? RAG_OK : no_memory(fault);
    question->scratch->key_count = 0;
    for (uint32_t window; !status && (window = next_window(question)) != UINT32_MAX;)
        if (sum_window(question, window, sums))
            status = enter_window(question, window, sums, where, k, fault);
    free(sums);
    return status;
}

/* --------------------------------------------------------------------------------------- public */

static enum rag_status search_leg(const struct rag_sparse_leg *leg,
                                  struct rag_bm25_scratch *scratch,
                                  const struct rag_sparse_term *terms, size_t count, size_t k,
                                  float least, int64_t *rows, float *scores,
                                  struct rag_fault *fault) {
    struct question question;
    scratch->key_count = 0;
    enum rag_status status = open_question(&question, leg->sparse, scratch, terms, count, fault);
    const bool is_direct = k >= SPARSE_DIRECT_K || question.count > SPARSE_TERMS_MAX;
    if (!status && question.count)
        status = is_direct ? enter_all(&question, leg->where, k, fault)
                           : enter_scanned(&question, leg->where, k, least, fault);
    if (!status) rag_bm25_results_put(scratch, k, rows, scores);
    close_question(&question);
    return status;
}

/* The segment with the most rows, whose k-th score is the likeliest floor of the others. */
static size_t largest_leg(const struct rag_sparse_leg *legs, size_t count) {
    size_t found = 0;
    for (size_t i = 1; i < count; i++)
        if (legs[i].sparse->info.rows > legs[found].sparse->info.rows) found = i;
    return found;
}

enum rag_status rag_sparse_search(const struct rag_sparse_leg *legs, size_t leg_count,
                                  const struct rag_sparse_term *terms, size_t count, size_t k,
                                  int64_t *rows, float *scores, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    float least = 0;
    if (!k || !leg_count) return RAG_OK;
    const size_t first = largest_leg(legs, leg_count);
    struct rag_bm25_scratches *own = &legs[first].sparse->scratches;
    struct rag_bm25_scratch *scratch = rag_bm25_scratch_take(own);
    if (!scratch) return no_memory(fault);
    for (size_t i = 0; i < leg_count && !status; i++) {
        const size_t leg = i == 0 ? first : i <= first ? i - 1 : i;
        status = search_leg(&legs[leg], scratch, terms, count, k, least, rows + leg * k,
                            scores + leg * k, fault);
        const size_t last = leg * k + k - 1;
        if (!status && rows[last] >= 0 && scores[last] > least) least = scores[last];
    }
    rag_bm25_scratch_give(own, scratch);
    return status;
}

enum rag_status rag_sparse_score(struct rag_sparse *sparse, const struct rag_sparse_term *terms,
                                 size_t count, const int64_t *rows, size_t row_count, float *scores,
                                 struct rag_fault *fault) {
    struct question question;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i] < 0 || (uint64_t)rows[i] >= sparse->info.rows || (i && rows[i] < rows[i - 1]))
            return rag_fail(fault, RAG_ARGUMENT, (uint64_t)rows[i], "no such row, or out of order");
    if (!row_count) return RAG_OK;
    struct rag_bm25_scratch *scratch = rag_bm25_scratch_take(&sparse->scratches);
    uint32_t *local = malloc(row_count * sizeof *local);
    enum rag_status status = scratch && local ? RAG_OK : no_memory(fault);
    for (size_t i = 0; i < row_count && !status; i++) local[i] = (uint32_t)rows[i];
    if (!status) {
        status = open_question(&question, sparse, scratch, terms, count, fault);
        if (!status) status = score_rows(&question, local, row_count, fault);
        for (size_t i = 0; i < row_count && !status; i++) scores[i] = (float)scratch->scores[i];
        close_question(&question);
    }
    free(local);
    if (scratch) rag_bm25_scratch_give(&sparse->scratches, scratch);
    return status;
}
