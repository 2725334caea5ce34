/* bm25_search.c - exact top k: bound all rows cheaply, score exactly the few that can win.
 *
 * Let the query have n terms in the segment, c_t(r) the contribution of term t to row r (0 if
 * absent), B_t a bound on c_t and q_t(r) the row's code, so that c_t <= B_t q_t / 255. With S > 0
 * and whole weights w_t >= 256 S B_t / 255, sum w_t <= 65535, the scan computes A(r) = sum
 * floor(q_t w_t / 256). Each floor loses less than 1, hence
 *
 *   (1) S score(r) < A(r) + n.
 *
 * From below: codes are rounded up, so c_t > rho B_t (q_t - 1) / 255, where rho <= 1 measures the
 * drift of the statistics since the codes were made (1 if none); weights are rounded up by less
 * than 1, so S B_t / 255 >= (w_t - 1) / 256, and for a row in the sum
 *
 *   (2) S score(r) >= rho sum (w_t - 1)(q_t - 1) / 256 >= rho (A(r) - n - sum w_t / 256).
 *
 * If k rows have A >= a, then k rows have S score >= L = rho (a - n - sum w_t / 256), and a row
 * with A(r) + n + 1 <= L has S score(r) < L - 1: it is worse than all of them by more than 1 /
 * 65535 of the largest possible score, which is hundreds of times the rounding to f32, so not even
 * a tie by row can admit it. Similarly, if k rows of one term's list have a code >= q, their S
 * score >= rho (w_t - 1)(q - 1) / 256; that starts the threshold when no filter is set.
 *
 * rho and B_t follow the statistics: a stored code bounds tf / (tf + K) for the K of the build. For
 * another K', (tf + K) / (tf + K') is between 1 and (1 + K) / (1 + K') for every tf >= 1. That
 * bound is monotonic in the row's length, so the shortest and the longest row give the extremes,
 * `least` and `most`: B_t takes the factor most, and rho = least / most. All of this is computed in
 * binary64, with errors that the 1 above and a factor 1 + 2^-30 on the weights outweigh.
 *
 * The same two factors cover field weights of a query (bm25_fields.c).
 *
 * A row with shares that all round down to 0 would be missed. That requires a weight below 256 and
 * fewer than k rows found; in that case, and for very many terms, the search scores the rows of all
 * lists instead. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/bits.h"
#include "shared/fail.h"
#include "system/system.h"
#include "text/bm25_search.h"

enum {
    SUM_MAX = 65535,
    TERMS_MAX = 2048, /* above it, terms are scored directly: the margin would exceed the sums */
    DIRECT_K = 16384, /* from here on nearly every row is a candidate */
    SCORE_CHUNK = 4096,
    COUNTED_AT_ONCE = 16384, /* rows of a filter */
    SHARED_MOST = 1 << 18,   /* bytes of a scratch that serves every lexicon */
};

/* -------------------------------------------------------------------------------------- scratch */

static struct rag_bm25_scratch *new_scratch(void) {
    struct rag_bm25_scratch *scratch = calloc(1, sizeof *scratch);
    const size_t sums = LEX_WINDOW * sizeof(uint16_t), size = sums + LEX_GROUPS;
    void *block = scratch ? rag_aligned(size) : NULL;
    if (!block) {
        free(scratch);
        return NULL;
    }
    memset(block, 0, size);
    scratch->block = block;
    scratch->scan.sums = block;
    scratch->scan.touched = (uint8_t *)block + sums;
    return scratch;
}

static void free_scratch(struct rag_bm25_scratch *scratch) {
    rag_aligned_free(scratch->block);
    free(scratch->found.rows);
    free(scratch->found.sums);
    free(scratch->containers.items);
    free(scratch->terms);
    free(scratch->sparse);
    free(scratch->dense);
    free(scratch->keys);
    free(scratch->scores);
    free(scratch->norms);
    free(scratch->rows);
    free(scratch->own);
    free(scratch->rest);
    free(scratch->more);
    free(scratch->lengths);
    free(scratch);
}

/* Two kinds of stacks keep scratches between searches. Small ones are those of the process, since
 * it can have thousands of small files open: there are as many as searches ran at a time. Larger
 * ones stay with the lexicon that made them grow, and end with it.
 *
 * Never wait for a stack: a search that finds it locked allocates its own scratch. A child forked
 * while another thread held the lock does so for good. */
static struct rag_bm25_scratches shared;

static struct rag_bm25_scratch *pop(struct rag_bm25_scratches *stack) {
    struct rag_bm25_scratch *top = NULL;
    if (__atomic_exchange_n(&stack->lock, 1, __ATOMIC_ACQUIRE)) return NULL;
    if (stack->first) {
        top = stack->first;
        stack->first = top->next;
    }
    __atomic_store_n(&stack->lock, 0, __ATOMIC_RELEASE);
    return top;
}

static bool push(struct rag_bm25_scratches *stack, struct rag_bm25_scratch *scratch) {
    if (__atomic_exchange_n(&stack->lock, 1, __ATOMIC_ACQUIRE)) return false;
    scratch->next = stack->first;
    stack->first = scratch;
    __atomic_store_n(&stack->lock, 0, __ATOMIC_RELEASE);
    return true;
}

/* Return the bytes of a scratch besides its sums. */
static size_t grown_size(const struct rag_bm25_scratch *s) {
    return s->found.capacity * (sizeof *s->found.rows + sizeof *s->found.sums) +
           s->containers.capacity * sizeof *s->containers.items +
           s->term_capacity * sizeof *s->terms +
           s->window_capacity * (sizeof *s->sparse + sizeof *s->dense) +
           s->key_capacity * sizeof *s->keys + s->score_capacity * sizeof *s->scores +
           s->norm_capacity * sizeof *s->norms + s->row_capacity * sizeof *s->rows +
           s->own_capacity * sizeof *s->own + s->rest_capacity * 2 * sizeof *s->rest +
           s->length_capacity * sizeof *s->lengths;
}

struct rag_bm25_scratch *rag_bm25_scratch_take(struct rag_bm25_scratches *own) {
    struct rag_bm25_scratch *scratch = pop(own);
    if (!scratch) scratch = pop(&shared);
    return scratch ? scratch : new_scratch();
}

void rag_bm25_scratch_give(struct rag_bm25_scratches *own, struct rag_bm25_scratch *scratch) {
    const bool is_small = grown_size(scratch) <= SHARED_MOST;
    if (!push(is_small ? &shared : own, scratch)) free_scratch(scratch);
}

void rag_bm25_scratch_free_all(struct rag_bm25_scratches *own) {
    while (own->first) {
        struct rag_bm25_scratch *next = own->first->next;
        free_scratch(own->first);
        own->first = next;
    }
}

/* ----------------------------------------------------------------------------------- candidates */

uint32_t rag_bm25_kth(const uint16_t *values, size_t n, size_t k) {
    uint32_t high[256] = {0}, low[256] = {0}, top = 256, end = 256;
    size_t seen = 0;
    for (size_t i = 0; i < n; i++) high[values[i] >> 8]++;
    while (top > 0 && seen + high[top - 1] < k) seen += high[--top];
    if (top-- == 0) return 0;
    for (size_t i = 0; i < n; i++)
        if (values[i] >> 8 == top) low[values[i] & 255]++;
    while (end > 0 && seen < k) seen += low[--end];
    return top << 8 | end;
}

static void raise_threshold(struct rag_bm25_candidates *found, double least) {
    const double proved = fmin(floor(least) - found->terms - 1, SUM_MAX);
    if (proved > found->threshold) found->threshold = (uint32_t)proved;
}

/* Keep the candidates with sums above the threshold. */
static void drop_candidates(struct rag_bm25_candidates *found) {
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        found->rows[kept] = found->rows[i];
        found->sums[kept] = found->sums[i];
        kept += found->sums[i] > found->threshold;
    }
    found->count = kept;
}

void rag_bm25_candidates_tighten(struct rag_bm25_candidates *found) {
    if (found->count >= found->k && found->k)
        raise_threshold(found, found->keep * (rag_bm25_kth(found->sums, found->count, found->k) -
                                              found->margin));
    drop_candidates(found);
    const size_t kept = found->count;
    if (2 * kept <= found->limit) return;
    size_t sums_capacity = found->capacity;
    const size_t wanted = 4 * kept + 2 * LEX_GROUP;
    if (!rag_grow(&found->sums, &sums_capacity, wanted, sizeof *found->sums) ||
        !rag_grow(&found->rows, &found->capacity, wanted, sizeof *found->rows)) {
        found->failed = true; /* continue in the room available: the lost rows no longer matter */
        found->count = 0;
        return;
    }
    found->limit = 4 * kept;
}

bool rag_bm25_candidates_start(struct rag_bm25_candidates *found, size_t k) {
    size_t sums_capacity = found->capacity;
    found->limit = 2 * k + 128;
    if (!rag_grow(&found->sums, &sums_capacity, found->limit + 2 * LEX_GROUP,
                  sizeof *found->sums) ||
        !rag_grow(&found->rows, &found->capacity, found->limit + 2 * LEX_GROUP,
                  sizeof *found->rows))
        return false;
    found->count = found->threshold = 0;
    found->k = k;
    found->failed = false;
    return true;
}

/* ------------------------------------------------------------------------------ opening a query */

/* Compute a short list's codes from live statistics: they bound tightly and need no slack. */
static void unpack_short(struct rag_bm25_query *query, struct rag_bm25_query_term *term,
                         const struct rag_bm25_posting *postings, size_t count, size_t k) {
    double parts[LEX_SHORT], largest = 0;
    struct rag_bm25_unpacked *unpacked = &term->unpacked;
    uint8_t counts[256] = {0};
    for (size_t i = 0; i < count; i++) {
        parts[i] = rag_bm25_tf_part(
            postings[i].tf,
            rag_bm25_norm_at(query->upper, rag_bm25_length_at(query->lexicon, postings[i].row)));
        if (parts[i] > largest) largest = parts[i];
        unpacked->rows[i] = (uint16_t)(postings[i].row % LEX_WINDOW);
        unpacked->tfs[i] = postings[i].tf;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t code = rag_bm25_code(parts[i], 255.0 / largest);
        counts[unpacked->codes[i] = (uint8_t)(code ? code : 1)]++;
    }
    term->bound = term->weight * largest;
    for (uint32_t code = 255, seen = 0; code > 0 && count >= k; code--)
        if ((seen += counts[code]) >= k) {
            term->kth = code;
            break;
        }
}

static enum rag_status open_short(struct rag_bm25_query *query, struct rag_bm25_query_term *term,
                                  const struct rag_bm25_entry *entry, size_t k,
                                  struct rag_fault *fault) {
    struct rag_bm25_posting postings[LEX_SHORT];
    size_t count;
    struct rag_bm25_containers *containers = &query->scratch->containers;
    const struct rag_lexicon *lexicon = query->lexicon;
    enum rag_status status = rag_bm25_short_open(lexicon, entry, postings, &count, fault);
    uint32_t rows[LEX_SHORT];
    for (size_t i = 0; !status && i < count; i++) rows[i] = postings[i].row;
    if (!status) status = rag_bm25_bring_lengths(lexicon, rows, count, fault);
    for (size_t i = 0; !status && i < count; i++)
        status =
            rag_guard_check(&lexicon->terms,
                            lexicon->lengths_at + (uint64_t)postings[i].row * lexicon->length_width,
                            lexicon->length_width, fault);
    if (status) return status;
    if (!rag_grow(&containers->items, &containers->capacity, containers->count + count,
                  sizeof *containers->items))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    unpack_short(query, term, postings, count, k);
    const struct rag_bm25_unpacked *unpacked = &term->unpacked;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1;
             end < count && postings[end].row / LEX_WINDOW == postings[i].row / LEX_WINDOW;)
            end++;
        struct rag_bm25_container *container = &containers->items[containers->count++];
        *container = (struct rag_bm25_container){.window = postings[i].row / LEX_WINDOW,
                                                 .count = (uint32_t)(end - i),
                                                 .rows = (const uint8_t *)(unpacked->rows + i),
                                                 .codes = unpacked->codes + i,
                                                 .tfs = unpacked->tfs + i};
        for (size_t j = i; j < end; j++)
            if (unpacked->codes[j] > container->max) container->max = unpacked->codes[j];
    }
    return RAG_OK;
}

/* The range of (tf + K of the build) / (tf + live K); see the head of this file. */
struct drift {
    double least, most;
};

static struct drift drift_of(const struct rag_bm25_query *query) {
    struct drift drift = {1, 1};
    const uint32_t lengths[2] = {query->lexicon->length_min, query->lexicon->length_max};
    for (int i = 0; i < 2; i++) {
        const double build = 1 + rag_bm25_norm_at(query->build, lengths[i]);
        drift.least = fmin(drift.least, build / (1 + rag_bm25_norm_at(query->lower, lengths[i])));
        drift.most = fmax(drift.most, build / (1 + rag_bm25_norm_at(query->upper, lengths[i])));
    }
    if (!query->is_bounded) drift.least = 0;
    return drift;
}

static enum rag_status open_long(struct rag_bm25_query *query, struct rag_bm25_query_term *term,
                                 const struct rag_bm25_entry *entry, struct drift drift, size_t k,
                                 struct rag_fault *fault) {
    struct rag_bm25_list list;
    const enum rag_status status =
        rag_bm25_list_open(query->lexicon, entry, &list, &query->scratch->containers, fault);
    if (status) return status;
    term->bound = term->weight * (list.m + 1) / 256.0 * drift.most;
    term->scale = rag_bm25_scale(list.m);
    term->kth = k <= 10 ? list.tenth : k <= 100 ? list.hundredth : 0;
    return RAG_OK;
}

enum rag_status rag_bm25_query_open(struct rag_bm25_query *query, struct rag_lexicon *lexicon,
                                    struct rag_bm25_scratch *scratch,
                                    const struct rag_query_term *terms, size_t count,
                                    const struct rag_lexical_stats *stats, size_t k,
                                    struct rag_fault *fault) {
    const struct rag_lexicon_info *info = &lexicon->info;
    *query = (struct rag_bm25_query){.lexicon = lexicon, .scratch = scratch};
    query->live = rag_bm25_norm_of(stats->k1, stats->b, stats->rows, stats->total_length);
    query->build = rag_bm25_norm_of(info->k1, info->b, info->rows, info->total_length);
    scratch->containers.count = 0;
    enum rag_status status = rag_bm25_fields_start(query, stats, count, fault);
    if (status) return status;
    if (!rag_grow(&scratch->terms, &scratch->term_capacity, count, sizeof *scratch->terms))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    const struct drift drift = drift_of(query);
    const struct rag_bm25_entry *known = rag_bm25_known_in(lexicon, terms, count);
    for (size_t i = 0; i < count; i++) {
        struct rag_bm25_entry entry;
        struct rag_bm25_query_term *term = &scratch->terms[query->terms];
        if (known && terms[i].known) entry = known[i];
        else status = rag_bm25_entry_find(lexicon, terms[i].bytes, terms[i].size, &entry, fault);
        if (status) return status;
        if (!entry.df || !terms[i].count) continue;
        status = rag_bm25_fields_open(query, query->terms, &terms[i], fault);
        if (status) return status;
        const double idf = rag_bm25_idf(stats->rows, terms[i].df ? terms[i].df : entry.df);
        term->weight = (double)terms[i].count / RAG_SHARE * idf;
        term->kth = 0;
        term->next = term->first = scratch->containers.count;
        status = entry.df <= LEX_SHORT ? open_short(query, term, &entry, k, fault)
                                       : open_long(query, term, &entry, drift, k, fault);
        if (status) return status;
        term->count = scratch->containers.count - term->first;
        query->terms++;
    }
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------- the scan */

/* Choose whole weights and the first threshold; return false if sums cannot bound the scores.
 * Scores below `least` are irrelevant: with S = 255 / 256 scale, (1) holds for these weights, and
 * any sum that it excludes has such a score. */
static bool weigh_terms(struct rag_bm25_query *query, bool filtered, float least) {
    struct rag_bm25_scratch *scratch = query->scratch;
    struct rag_bm25_candidates *found = &scratch->found;
    const struct drift drift = drift_of(query);
    double total = 0, weights = 0;
    if (!query->is_bounded) return false;
    for (size_t t = 0; t < query->terms; t++) total += scratch->terms[t].bound;
    if (!(total > 0) || !isfinite(total) || query->terms > TERMS_MAX) return false;
    const double scale = (SUM_MAX - (double)query->terms - 1) / total * (1 - 0x1p-20);
    for (size_t t = 0; t < query->terms; t++) {
        scratch->terms[t].share = (uint32_t)ceil(scale * scratch->terms[t].bound * (1 + 0x1p-30));
        weights += scratch->terms[t].share;
    }
    found->terms = (uint32_t)query->terms;
    found->keep = drift.least / drift.most;
    found->margin = (double)query->terms + weights / 256;
    found->unit = scale * (255.0 / 256);
    raise_threshold(found, found->unit * (double)least);
    found->floored = found->threshold > 0;
    for (size_t t = 0; t < query->terms && !filtered; t++)
        if (scratch->terms[t].kth)
            raise_threshold(found, found->keep * (scratch->terms[t].share - 1.0) *
                                       (scratch->terms[t].kth - 1.0) / 256);
    return true;
}

/* Return the next window with rows of any term, UINT32_MAX after the last. */
static uint32_t next_window(const struct rag_bm25_query *query) {
    const struct rag_bm25_scratch *scratch = query->scratch;
    uint32_t window = UINT32_MAX;
    for (size_t t = 0; t < query->terms; t++) {
        const struct rag_bm25_query_term *term = &scratch->terms[t];
        if (term->next == term->first + term->count) continue;
        if (scratch->containers.items[term->next].window < window)
            window = scratch->containers.items[term->next].window;
    }
    return window;
}

/* Prefetch the first lines of a container; the hardware follows the sequential rest. */
static void prefetch_container(const struct rag_bm25_container *container) {
    const uint32_t lines = container->dense ? 4 : container->count / 64 + 1;
    for (uint32_t line = 0; line < lines && line < 4; line++) {
        __builtin_prefetch(container->rows + 64 * line);
        __builtin_prefetch(container->codes + 64 * line);
    }
    if (!container->dense) return;
    __builtin_prefetch(container->ranks);
    __builtin_prefetch(container->maxima);
}

/* Gather the window's containers and advance past them; return the largest possible row sum. */
static uint32_t gather_window(const struct rag_bm25_query *query, uint32_t window) {
    struct rag_bm25_scratch *scratch = query->scratch;
    struct rag_bm25_scan *scan = &scratch->scan;
    uint32_t most = 0;
    scan->sparse_count = scan->dense_count = scan->sparse_rows = scan->dense_most = 0;
    for (size_t t = 0; t < query->terms; t++) {
        struct rag_bm25_query_term *term = &scratch->terms[t];
        const struct rag_bm25_container *here = &scratch->containers.items[term->next];
        if (term->next == term->first + term->count || here->window != window) continue;
        term->next++;
        if (term->next < term->first + term->count) prefetch_container(here + 1);
        const uint32_t share = here->max * term->share >> 8;
        most += share;
        if (here->dense) {
            scan->dense_most += share;
            scratch->dense[scan->dense_count++] = (struct rag_bm25_dense){
                here->rows, here->ranks, here->maxima, here->codes, here->count, term->share};
        } else {
            scan->sparse_rows += here->count;
            scratch->sparse[scan->sparse_count++] =
                (struct rag_bm25_sparse){here->rows, here->codes, here->count, term->share};
        }
    }
    return most;
}

static bool start_scan(const struct rag_bm25_query *query) {
    struct rag_bm25_scratch *scratch = query->scratch;
    size_t dense_capacity = scratch->window_capacity;
    if (!rag_grow(&scratch->dense, &dense_capacity, query->terms, sizeof *scratch->dense) ||
        !rag_grow(&scratch->sparse, &scratch->window_capacity, query->terms,
                  sizeof *scratch->sparse))
        return false;
    scratch->scan.sparse = scratch->sparse;
    scratch->scan.dense = scratch->dense;
    scratch->scan.found = &scratch->found;
    return true;
}

static void scan_windows(const struct rag_bm25_query *query, const uint64_t *where) {
    rag_bm25_scan_function *scan_window = rag_bm25_scan_window();
    struct rag_bm25_scan *scan = &query->scratch->scan;
    for (uint32_t window; (window = next_window(query)) != UINT32_MAX;) {
        if (gather_window(query, window) <= query->scratch->found.threshold) continue;
        scan->first_row = window * LEX_WINDOW;
        scan->width = rag_bm25_window_width(query->lexicon, window);
        scan->groups = (scan->width + LEX_GROUP - 1) / LEX_GROUP;
        scan->where = where ? where + (size_t)window * LEX_GROUPS : NULL;
        scan_window(scan);
    }
}

/* ----------------------------------------------------------------------------------- the k best */

/* Keys ascend as results get worse: higher score first, then the lower row. Scores are positive. */
static uint64_t key_of(float score, uint32_t row) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return (uint64_t)~bits << 32 | row;
}

static void insertion_sort(uint64_t *keys, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

/* Merge sort; spare has room for n more. */
static void sort_keys(uint64_t *keys, size_t n, uint64_t *spare) {
    if (n <= 24) {
        insertion_sort(keys, n);
        return;
    }
    const size_t half = n / 2;
    sort_keys(keys, half, spare);
    sort_keys(keys + half, n - half, spare);
    memcpy(spare, keys, half * sizeof *keys);
    for (size_t i = 0, j = half, at = 0; i < half; at++) {
        const bool right = j < n && keys[j] < spare[i];
        keys[at] = right ? keys[j] : spare[i];
        j += right;
        i += !right;
    }
}

/* Move the k least of n keys to the front, unordered. */
static void select_keys(uint64_t *keys, size_t n, size_t k) {
    size_t low = 0, high = n;
    while (high - low > 1 && k > low && k < high) {
        const uint64_t a = keys[low], b = keys[low + (high - low) / 2], c = keys[high - 1];
        const uint64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        size_t below = low, above = high, at = low;
        while (at < above) {
            const uint64_t key = keys[at];
            if (key < pivot) keys[at++] = keys[below], keys[below++] = key;
            else if (key > pivot) keys[at] = keys[--above], keys[above] = key;
            else at++;
        }
        if (k <= below) high = below;
        else if (k >= above) low = above;
        else return;
    }
}

enum rag_status rag_bm25_scores_enter(struct rag_bm25_scratch *scratch, const uint32_t *rows,
                                      size_t count, size_t k, struct rag_fault *fault) {
    if (2 * (scratch->key_count + count) > scratch->key_capacity && scratch->key_count > 2 * k) {
        select_keys(scratch->keys, scratch->key_count, k);
        scratch->key_count = k;
    }
    if (!rag_grow(&scratch->keys, &scratch->key_capacity, 2 * (scratch->key_count + count),
                  sizeof *scratch->keys))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for results");
    for (size_t i = 0; i < count; i++)
        if (scratch->scores[i] > 0)
            scratch->keys[scratch->key_count++] = key_of((float)scratch->scores[i], rows[i]);
    return RAG_OK;
}

/* Score rows (ascending) and enter those that contain a term of the query. */
static enum rag_status enter_rows(const struct rag_bm25_query *query, const uint32_t *rows,
                                  size_t count, size_t k, struct rag_fault *fault) {
    const enum rag_status status = rag_bm25_score_rows(query, rows, count, fault);
    return status ? status : rag_bm25_scores_enter(query->scratch, rows, count, k, fault);
}

/* Sort candidates by row, using the keys. */
bool rag_bm25_rows_sort(struct rag_bm25_scratch *scratch, uint32_t *rows, size_t count) {
    if (!rag_grow(&scratch->keys, &scratch->key_capacity, 2 * count, sizeof *scratch->keys))
        return false;
    for (size_t i = 0; i < count; i++) scratch->keys[i] = rows[i];
    sort_keys(scratch->keys, count, scratch->keys + count);
    for (size_t i = 0; i < count; i++) rows[i] = (uint32_t)scratch->keys[i];
    return true;
}

void rag_bm25_results_put(struct rag_bm25_scratch *scratch, size_t k, int64_t *rows,
                          float *scores) {
    select_keys(scratch->keys, scratch->key_count, k);
    if (scratch->key_count > k) scratch->key_count = k;
    sort_keys(scratch->keys, scratch->key_count, scratch->keys + scratch->key_count);
    for (size_t i = 0; i < k; i++) {
        const bool some = i < scratch->key_count;
        const uint32_t bits = some ? ~(uint32_t)(scratch->keys[i] >> 32) : 0x7FC00000u;
        rows[i] = some ? (int64_t)(uint32_t)scratch->keys[i] : -1;
        memcpy(&scores[i], &bits, sizeof bits);
    }
}

/* ----------------------------------------------------------------------------- scoring directly */

/* Set the bits of the window's rows that are in any list of the query. */
static void union_window(const struct rag_bm25_query *query, uint32_t window, uint64_t *bits) {
    struct rag_bm25_scratch *scratch = query->scratch;
    const size_t groups =
        (rag_bm25_window_width(query->lexicon, window) + LEX_GROUP - 1) / LEX_GROUP;
    for (size_t t = 0; t < query->terms; t++) {
        struct rag_bm25_query_term *term = &scratch->terms[t];
        const struct rag_bm25_container *here = &scratch->containers.items[term->next];
        if (term->next == term->first + term->count || here->window != window) continue;
        term->next++;
        if (here->dense)
            for (size_t group = 0; group < groups; group++)
                bits[group] |= load_u64(here->rows + 8 * group);
        else
            for (size_t i = 0; i < here->count; i++) {
                const uint32_t row = load_u16(here->rows + 2 * i);
                bits[row / LEX_GROUP] |= (uint64_t)1 << row % LEX_GROUP;
            }
    }
}

/* Enter the rows of a window that are set in bits, in chunks. */
static enum rag_status enter_bits(const struct rag_bm25_query *query, uint32_t window,
                                  const uint64_t *bits, size_t k, struct rag_fault *fault) {
    uint32_t rows[SCORE_CHUNK + LEX_GROUP];
    const uint32_t width = rag_bm25_window_width(query->lexicon, window),
                   groups = (width + LEX_GROUP - 1) / LEX_GROUP;
    size_t count = 0;
    enum rag_status status = RAG_OK;
    for (uint32_t group = 0; !status && group < groups; group++) {
        uint64_t some = bits[group];
        if (group + 1 == groups && width % LEX_GROUP)
            some &= ((uint64_t)1 << width % LEX_GROUP) - 1;
        for (; some; some &= some - 1)
            rows[count++] =
                window * LEX_WINDOW + group * LEX_GROUP + (uint32_t)__builtin_ctzll(some);
        if (count < SCORE_CHUNK && group + 1 < groups) continue;
        status = enter_rows(query, rows, count, k, fault);
        count = 0;
    }
    return status;
}

/* Enter every row of every list, under the filter. */
static enum rag_status enter_all(const struct rag_bm25_query *query, const uint64_t *where,
                                 size_t k, struct rag_fault *fault) {
    uint64_t bits[LEX_GROUPS];
    enum rag_status status = RAG_OK;
    for (size_t t = 0; t < query->terms; t++)
        query->scratch->terms[t].next = query->scratch->terms[t].first;
    query->scratch->key_count = 0;
    for (uint32_t window; !status && (window = next_window(query)) != UINT32_MAX;) {
        memset(bits, 0, sizeof bits);
        union_window(query, window, bits);
        const size_t groups =
            (rag_bm25_window_width(query->lexicon, window) + LEX_GROUP - 1) / LEX_GROUP;
        for (size_t group = 0; where && group < groups; group++)
            bits[group] &= where[(size_t)window * LEX_GROUPS + group];
        status = enter_bits(query, window, bits, k, fault);
    }
    return status;
}

/* True if so few rows pass that looking up each of them is cheapest. */
static bool is_narrow(const struct rag_lexicon *lexicon, const uint64_t *where) {
    const uint64_t rows = lexicon->info.rows, limit = 64 + rows / 512;
    uint64_t passing = 0;
    for (uint64_t row = 0; row < rows && passing <= limit; row += COUNTED_AT_ONCE)
        passing += rag_bits_count(where + row / 64,
                                  rows - row < COUNTED_AT_ONCE ? rows - row : COUNTED_AT_ONCE);
    return passing <= limit;
}

static enum rag_status enter_narrow(const struct rag_bm25_query *query, const uint64_t *where,
                                    size_t k, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    query->scratch->key_count = 0;
    for (uint64_t window = 0; !status && window * LEX_WINDOW < query->lexicon->info.rows; window++)
        status = enter_bits(query, (uint32_t)window, where + window * LEX_GROUPS, k, fault);
    return status;
}

/* --------------------------------------------------------------------------------------- public */

/* Query-time field weights loosen the bounds and leave many candidates. Score the likeliest first:
 * the k-th best of them is a floor, as one from other segments would be. */
static enum rag_status settle_candidates(const struct rag_bm25_query *query, size_t k,
                                         struct rag_fault *fault) {
    struct rag_bm25_scratch *scratch = query->scratch;
    struct rag_bm25_candidates *found = &scratch->found;
    size_t likely = 0;
    if (!query->weights || found->count < 4 * k + 64) return RAG_OK;
    const uint32_t bar = rag_bm25_kth(found->sums, found->count, 2 * k);
    if (!rag_grow(&scratch->rows, &scratch->row_capacity, found->count, sizeof *scratch->rows))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for candidates");
    for (size_t i = 0; i < found->count; i++)
        if (found->sums[i] >= bar) scratch->rows[likely++] = found->rows[i];
    if (!rag_bm25_rows_sort(scratch, scratch->rows, likely))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for candidates");
    const enum rag_status status = rag_bm25_score_rows(query, scratch->rows, likely, fault);
    if (status) return status;
    for (size_t i = 0; i < likely; i++)
        scratch->keys[i] = key_of((float)scratch->scores[i], scratch->rows[i]);
    sort_keys(scratch->keys, likely, scratch->keys + likely);
    const uint32_t bits = ~(uint32_t)(scratch->keys[k - 1] >> 32);
    float floor;
    memcpy(&floor, &bits, sizeof floor);
    raise_threshold(found, found->unit * (double)floor);
    drop_candidates(found);
    return RAG_OK;
}

/* Score the scan's candidates. *complete is false if rows may be missing; a row with sum 0 is
 * irrelevant when the minimum score excludes it. */
static enum rag_status enter_scanned(struct rag_bm25_query *query, const uint64_t *where, size_t k,
                                     float least, bool *complete, struct rag_fault *fault) {
    struct rag_bm25_scratch *scratch = query->scratch;
    struct rag_bm25_candidates *found = &scratch->found;
    *complete = false;
    if (k >= DIRECT_K) return RAG_OK;
    if (!rag_bm25_candidates_start(found, k) || !start_scan(query))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    if (!weigh_terms(query, where != NULL, least)) return RAG_OK;
    scan_windows(query, where);
    if (found->failed) return rag_fail(fault, RAG_MEMORY, 0, "no memory for candidates");
    rag_bm25_candidates_tighten(found);
    *complete = found->count >= k || found->floored;
    bool all_weigh = true;
    for (size_t t = 0; t < query->terms; t++)
        all_weigh = all_weigh && scratch->terms[t].share >= 256;
    *complete = *complete || all_weigh;
    if (!*complete) return RAG_OK;
    const enum rag_status settled = settle_candidates(query, k, fault);
    if (settled) return settled;
    if (!rag_bm25_rows_sort(scratch, found->rows, found->count))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for candidates");
    scratch->key_count = 0;
    return enter_rows(query, found->rows, found->count, k, fault);
}

enum rag_status rag_bm25_check_stats(const struct rag_lexical_stats *stats,
                                     struct rag_fault *fault) {
    if (!(stats->k1 >= 0 && stats->k1 <= 1000))
        return rag_fail(fault, RAG_ARGUMENT, 0, "k1 is a number from 0 to 1000");
    if (!(stats->b >= 0 && stats->b <= 1))
        return rag_fail(fault, RAG_ARGUMENT, 0, "b is a number from 0 to 1");
    return RAG_OK;
}

enum rag_status rag_bm25_search(struct rag_lexicon *lexicon, struct rag_bm25_scratch *scratch,
                                const struct rag_query_term *terms, size_t count,
                                const struct rag_lexical_stats *stats, const uint64_t *where,
                                size_t k, float least, int64_t *rows, float *scores,
                                struct rag_fault *fault) {
    struct rag_bm25_query query;
    bool complete = true;
    scratch->key_count = 0;
    enum rag_status status = rag_bm25_query_open(&query, lexicon, scratch, terms, count, stats,
                                                 where ? SIZE_MAX : k, fault);
    if (!status && query.terms) {
        if (where && is_narrow(lexicon, where)) status = enter_narrow(&query, where, k, fault);
        else status = enter_scanned(&query, where, k, least, &complete, fault);
        if (!status && !complete) status = enter_all(&query, where, k, fault);
    }
    if (!status) rag_bm25_results_put(scratch, k, rows, scores);
    return status;
}

enum rag_status rag_lexicon_search(struct rag_lexicon *lexicon, const struct rag_query_term *terms,
                                   size_t count, const struct rag_lexical_stats *stats,
                                   const uint64_t *where, size_t k, int64_t *rows, float *scores,
                                   struct rag_fault *fault) {
    enum rag_status status = rag_bm25_check_stats(stats, fault);
    if (status || k == 0) return status;
    struct rag_bm25_scratch *scratch = rag_bm25_scratch_take(&lexicon->scratches);
    if (!scratch) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    status =
        rag_bm25_search(lexicon, scratch, terms, count, stats, where, k, 0, rows, scores, fault);
    rag_bm25_scratch_give(&lexicon->scratches, scratch);
    return status;
}

enum rag_status rag_lexicon_score(struct rag_lexicon *lexicon, const struct rag_query_term *terms,
                                  size_t count, const struct rag_lexical_stats *stats,
                                  const int64_t *rows, size_t row_count, float *scores,
                                  struct rag_fault *fault) {
    struct rag_bm25_query query;
    enum rag_status status = rag_bm25_check_stats(stats, fault);
    for (size_t i = 0; i < row_count; i++)
        if (rows[i] < 0 || (uint64_t)rows[i] >= lexicon->info.rows)
            return rag_fail(fault, RAG_ARGUMENT, (uint64_t)rows[i], "no such row");
    if (status || row_count == 0) return status;
    struct rag_bm25_scratch *scratch = rag_bm25_scratch_take(&lexicon->scratches);
    uint64_t *order = malloc(2 * row_count * sizeof *order);
    uint32_t *ascending = malloc(row_count * sizeof *ascending);
    if (!scratch || !order || !ascending || row_count > UINT32_MAX)
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory for scores");
    for (size_t i = 0; !status && i < row_count; i++) order[i] = (uint64_t)rows[i] << 32 | i;
    if (!status) sort_keys(order, row_count, order + row_count);
    for (size_t i = 0; !status && i < row_count; i++) ascending[i] = (uint32_t)(order[i] >> 32);
    if (!status)
        status =
            rag_bm25_query_open(&query, lexicon, scratch, terms, count, stats, SIZE_MAX, fault);
    if (!status) status = rag_bm25_score_rows(&query, ascending, row_count, fault);
    for (size_t i = 0; !status && i < row_count; i++)
        scores[(uint32_t)order[i]] = (float)scratch->scores[i];
    free(order);
    free(ascending);
    if (scratch) rag_bm25_scratch_give(&lexicon->scratches, scratch);
    return status;
}
