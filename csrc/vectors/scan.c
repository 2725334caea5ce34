/* scan.c - exact top k over matrices: cuts the work and chooses the way of scanning.
 *
 * rag_nearest takes the queries in chunks, whose candidates fit into CHUNK_BYTES, and cuts the
 * segments into slices of rows, about two for each thread. Slices are scanned in parallel; then the
 * queries are finished in parallel (exact_scores.c). Where questions have filters of their own, a
 * slice is scanned once for each filter (scan_by_filter.c). Each slice takes one of seven ways:
 *
 *    exhaustive  few rows pass the filter, or the query has no usable norm: score each row
 *    estimates   the matrix has no shadow, or too few rows for one to pay: a binary32
 *                estimate rules out most rows
 *    products    the same for many queries: a matrix product in binary32 (scan_products.c)
 *    sweep       few queries: 4-bit blocks, then 8-bit rows (scan_sweep.c)
 *    gather      few queries, and few of the slice's rows pass: their 8-bit rows (scan_gather.c)
 *    tiles       two to eight queries or more, by k: 8-bit rows only, where the target has the
 *                kernel (scan_tiles.c)
 *    clusters    an effort below 1, and a shadow in the order of clusters: sweeps of the most
 *                promising ones, query by query (scan_clusters.c)
 *
 * However a slice is scanned, it ends as rows with bounds (the candidates) and rows with scores
 * (the best). Slices share their floors: the floor of a query is an atomic number, and a slice
 * starts from the lower bounds of the slices before it.
 *
 * The floors of a batch begin with guesses (scan_tiles.c). Queries whose guess turns out to be too
 * high are scanned again.
 *
 * The result is the one that scoring every row would give, to the bit, for any number of threads
 * and any cut. All arithmetic runs in the default floating-point mode, whatever mode the host
 * program has set.
 *
 * The first failure is noted in the search, and slices that have not begun then do nothing. Besides
 * wrong arguments only two things can fail: memory, and bytes whose checksum is wrong or that
 * cannot be fetched. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/clusters.h"
#include "ragfile/machine.h"
#include "clusters/scan_clusters.h"
#include "shared/fail.h"

enum { EXPECTED_ABOVE_FLOOR = 4 };
enum { PRODUCT_QUERIES = 12, CHUNK_QUERIES = 1024, SLICE_ROWS_MIN = 4096, CHUNK_BYTES = 64 << 20 };

/* -------------------------------------------------------------------------------------- failing */

bool rag_search_note(struct search *search, enum rag_status status, const struct rag_fault *fault) {
    enum rag_status none = RAG_OK;
    if (status == RAG_OK) return true;
    if (__atomic_compare_exchange_n(&search->status, &none, status, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        if (fault && search->fault) *search->fault = *fault;
        else rag_fail(search->fault, status, 0, "no memory for a search");
    }
    return false;
}

bool rag_search_failed(const struct search *search) {
    return __atomic_load_n(&search->status, __ATOMIC_RELAXED) != RAG_OK;
}

/* -------------------------------------------------------------------------------------- scoring */

/* Scored rows keep raising the floor, now with exact keys. */
static void count_scored(struct search *search, const struct slice *slice, size_t query) {
    struct query_state *state = &slice->states[query];
    for (size_t i = 0; i < state->best.count; i++)
        rag_topk_count(&state->topk,
                       rag_floor_of(&search->queries[query], state->best.entries[i].score),
                       ROW_SCORED);
    rag_topk_tighten(&state->topk);
}

/* Drops the entries of rows that are scored from here on. */
static void forget(struct topk *topk, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < topk->count; i++)
        if (topk->entries[i].row == ROW_ELSEWHERE || (i >= count && is_open(&topk->entries[i])))
            topk->entries[kept++] = topk->entries[i];
    topk->count = topk->tight = kept;
}

static void score_first(struct search *search, const struct slice *slice, size_t query,
                        size_t count, float *scratch) {
    struct topk *topk = &slice->states[query].topk;
    uint32_t rows[RAG_OFFERED];
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_open(&topk->entries[i])) rows[wanted++] = topk->entries[i].row;
        if (wanted < RAG_OFFERED && i + 1 < count) continue;
        rag_search_offer(search, slice, query, rows, wanted, scratch);
        wanted = 0;
    }
    forget(topk, count);
    count_scored(search, slice, query);
}

void rag_search_settle(struct search *search, const struct slice *slice, size_t query,
                       float *scratch) {
    score_first(search, slice, query, slice->states[query].topk.count, scratch);
}

void rag_search_anchor(struct search *search, const struct slice *slice, size_t query,
                       float *scratch) {
    struct topk *topk = &slice->states[query].topk;
    rag_topk_tighten(topk);
    if (search->segments[slice->segment].matrix->guard.source)
        return; /* rows far away are read once, together, at the end */
    score_first(search, slice, query, rag_topk_front(topk), scratch);
}

/* The slices of a query share their bounds: each starts from the bounds of those before it.
 * Alone, its floor would be that of a smaller collection. */
static void recall(struct search *search, const struct slice *slice, const uint32_t *which,
                   size_t count) {
    rag_mutex_lock(&search->lock);
    for (size_t i = 0; search->slice_count > 1 && i < count; i++) {
        const struct best *known = &search->known[which[i]];
        slice->states[which[i]].before = search->learned[which[i]];
        for (size_t j = 0; j < known->count; j++)
            rag_topk_count(&slice->states[which[i]].topk, known->entries[j].score, ROW_ELSEWHERE);
    }
    rag_mutex_unlock(&search->lock);
}

static void learn(struct search *search, const struct slice *slice, const uint32_t *which,
                  size_t count) {
    rag_mutex_lock(&search->lock);
    for (size_t i = 0; search->slice_count > 1 && i < count; i++) {
        struct best *known = &search->known[which[i]];
        const struct topk *topk = &slice->states[which[i]].topk;
        search->learned[which[i]] += slice->end - slice->first;
        if (!known->entries && !rag_best_open(known, search->k))
            rag_search_note(search, RAG_MEMORY, NULL);
        for (size_t j = 0; known->entries && j < topk->count; j++)
            if (topk->entries[j].row != ROW_ELSEWHERE)
                rag_best_offer(known, topk->entries[j].lower, 0);
    }
    rag_mutex_unlock(&search->lock);
}

/* ------------------------------------------------------------------------------------- scanning */

/* Rows of a slice that a scan can be expected to refine: few, if the query has a floor. */
static uint64_t expected(const struct search *search, const float *floors) {
    const bool is_bound = search->query_count == 1 && floors && floors[0] > -INFINITY;
    return is_bound && search->k > EXPECTED_ABOVE_FLOOR ? EXPECTED_ABOVE_FLOOR : search->k;
}

/* With few rows for one query, most would be refined; reading the rows is faster. The answer must
 * not change while a chunk is searched: queries are prepared for shadows once. */
static bool shadow_pays(const struct search *search, const struct rag_segment *segment) {
    return segment->shadow && (search->query_count > 1 ||
                               segment->matrix->count > 8 * expected(search, search->least) + 48);
}

static void want_shadow(const struct rag_segment *segment, struct rag_wants *wants) {
    rag_wants_add(wants, &segment->shadow->guard, 0, segment->shadow->guard.size);
    if (segment->clusters)
        rag_wants_add(wants, &segment->clusters->guard, 0, segment->clusters->guard.size);
}

/* Fetches the bytes that a scan of the slice reads: the matching rows, if they are few; the
 * complete shadow; or all rows. */
static bool bring(struct search *search, const struct slice *slice, const uint64_t *where, bool few,
                  bool shadow) {
    const struct rag_segment *segment = &search->segments[slice->segment];
    struct rag_wants wants = {0};
    struct rag_fault fault;
    if (!segment->matrix->guard.source) return true;
    for (uint64_t row = slice->first; few && row < slice->end; row++)
        if (has_row(where, row)) rag_matrix_want(segment->matrix, row, 1, &wants);
    if (!few && shadow) want_shadow(segment, &wants);
    else if (!few)
        rag_matrix_want(segment->matrix, slice->first, slice->end - slice->first, &wants);
    return rag_search_note(search, rag_wants_ready(&wants, &fault), &fault);
}

/* With few rows for one query, reading them is faster than filtering them. */
static bool is_few(const struct search *search, uint64_t passing) {
    return passing <= 4 * expected(search, search->floors) + 32;
}

/* If few of a slice's rows match, gather their codes: reading one code takes as long as sweeping
 * over GATHER_SHARE. */
enum { GATHER_SHARE = 8 };

/* If the shadow has another order, gathering needs the place of each row, which does not pay for
 * a file that is fetched on demand. */
static bool gathering_pays(const struct search *search, const struct slice *whole,
                           uint64_t passing) {
    const struct rag_segment *segment = &search->segments[whole->segment];
    return passing * GATHER_SHARE <= whole->end - whole->first &&
           !(segment->clusters && !segment->clusters->guard.bytes);
}

static void scan_shadow(struct search *search, const struct slice *slice, const uint32_t *which,
                        size_t count, bool mixed, bool gathering) {
    if (mixed || rag_tiles_pay(search, count)) rag_scan_tiles(search, slice, which, count);
    else if (gathering) rag_scan_gather(search, slice, which, count);
    else rag_scan_sweep(search, slice, which, count);
}

/* Whether an effort below 1 skips rows. */
static bool is_visited(const struct search *search, const struct rag_segment *segment) {
    return search->effort < 1 && segment->clusters && shadow_pays(search, segment);
}

/* If few rows match, scanning all of them is faster than the clusters that contain enough. */
static bool all_pay(const struct search *search, uint64_t rows, uint64_t passing) {
    const double count = (double)passing, least = 4 * (double)search->k + 32,
                 wanted = fmax(search->effort * count, least);
    return GATHER_SHARE * count * count <= (double)rows * wanted;
}

/* All slices of one segment must be scanned in the same way if its shadow has another order:
 * some methods take ranges of rows, others ranges of places. */
static struct slice whole_of(const struct search *search, const struct slice *slice) {
    const struct rag_segment *segment = &search->segments[slice->segment];
    if (!segment->clusters) return *slice;
    return (struct slice){.segment = slice->segment, .end = segment->matrix->count};
}

static void scan_as_fits(struct search *search, const struct slice *slice, const uint32_t *which,
                         size_t count, bool mixed) {
    const struct rag_segment *segment = &search->segments[slice->segment];
    const uint64_t *where = mixed ? NULL : rag_where(search, slice, which[0]);
    const struct slice whole = whole_of(search, slice);
    const uint64_t passing = rag_passing_count(where, whole.first, whole.end);
    const bool few = !mixed && is_few(search, passing);
    if (passing == 0 || !bring(search, slice, where, few, shadow_pays(search, segment))) return;
    if (few) {
        rag_scan_exhaustive(search, slice, which, count);
        for (size_t i = 0; search->slice_count > 1 && i < count; i++)
            count_scored(search, slice, which[i]);
    } else if (is_visited(search, segment) && !all_pay(search, whole.end, passing)) {
        for (size_t i = 0; i < count; i++) rag_scan_clusters(search, slice, which[i], passing);
    } else if (!shadow_pays(search, segment) && count >= PRODUCT_QUERIES &&
               4 * passing >= whole.end - whole.first)
        rag_scan_products(search, slice, which, count);
    else if (!shadow_pays(search, segment)) rag_scan_estimates(search, slice, which, count);
    else scan_shadow(search, slice, which, count, mixed, gathering_pays(search, &whole, passing));
}

/* Scans queries without bounds, one by one if their filters differ. */
static void scan_plain(struct search *search, const struct slice *slice, const uint32_t *which,
                       size_t count, bool mixed) {
    const size_t step = mixed ? 1 : count;
    for (size_t i = 0; i < count; i += step) {
        const uint64_t *where = rag_where(search, slice, which[i]);
        const bool few = is_few(search, rag_passing_count(where, slice->first, slice->end));
        if (!bring(search, slice, where, few, false)) return;
        rag_scan_exhaustive(search, slice, which + i, step);
    }
}

static void scan_slice(struct search *search, const struct slice *slice, const struct part *part) {
    uint32_t which[CHUNK_QUERIES], plain[CHUNK_QUERIES];
    const uint32_t *order = search->order + part->first;
    size_t count = 0, plain_count = 0;
    for (size_t i = 0; i < part->count; i++) {
        const uint32_t q = order[i];
        if (search->queries[q].plain) plain[plain_count++] = q;
        else if (rag_topk_open(&slice->states[q].topk, search->k, &search->queries[q],
                               &search->floors[q]))
            which[count++] = q;
        else rag_search_note(search, RAG_MEMORY, NULL);
    }
    if (rag_search_failed(search)) return;
    if (plain_count) scan_plain(search, slice, plain, plain_count, part->mixed);
    if (count) {
        recall(search, slice, which, count);
        scan_as_fits(search, slice, which, count, part->mixed);
        learn(search, slice, which, count);
    }
    for (size_t i = 0; i < part->count; i++)
        if (slice->states[order[i]].topk.failed) rag_search_note(search, RAG_MEMORY, NULL);
}

static void scan_task(void *context, size_t i) {
    struct search *search = context;
    const struct slice *slice = &search->slices[i / search->part_count];
    rag_float_mode before;
    if (is_visited(search, &search->segments[slice->segment])) return;
    rag_float_plain(&before);
    scan_slice(search, slice, &search->parts[i % search->part_count]);
    rag_float_back(&before);
}

/* Visits are tasks by query, after all other slices, one segment after the other. */
static void visit_task(void *context, size_t i) {
    struct search *search = context;
    const struct part alone = {.first = i, .count = 1};
    rag_float_mode before;
    rag_float_plain(&before);
    for (size_t s = 0; s < search->slice_count; s++)
        if (is_visited(search, &search->segments[search->slices[s].segment]))
            scan_slice(search, &search->slices[s], &alone);
    rag_float_back(&before);
}

static bool any_clusters(const struct search *search) {
    bool any = false;
    for (size_t s = 0; s < search->segment_count; s++) any |= search->segments[s].clusters != NULL;
    return any;
}

static bool any_visited(const struct search *search) {
    bool any = false;
    for (size_t s = 0; s < search->segment_count; s++)
        any |= is_visited(search, &search->segments[s]);
    return any;
}

/* -------------------------------------------------------------------------------------- cutting */

static void finish_task(void *context, size_t i) {
    struct search *search = context;
    rag_float_mode before;
    rag_float_plain(&before);
    rag_search_finish(search, search->order[i]);
    rag_float_back(&before);
}

static size_t cut(struct search *search, uint64_t slice_rows, struct slice *slices) {
    size_t count = 0;
    for (size_t s = 0; s < search->segment_count; s++) {
        const uint64_t rows = search->segments[s].matrix->count;
        const bool whole = search->effort < 1 && search->segments[s].clusters;
        const uint64_t step = whole ? UINT32_MAX - 63 : slice_rows;
        for (uint64_t first = 0; first < rows; first += step, count++) {
            if (!slices) continue;
            const uint64_t end = rows - first < step ? rows : first + step;
            slices[count] = (struct slice){.segment = s, .first = first, .end = end};
        }
    }
    return count;
}

static uint64_t slice_rows_for(const struct search *search, int threads) {
    if (threads <= 1) return UINT32_MAX - 63;
    const uint64_t rows = align_up(search->row_count / (2 * (uint64_t)threads) + 1, 64);
    return rows < SLICE_ROWS_MIN ? SLICE_ROWS_MIN : rows;
}

/* The initial floor of a query. */
static float least_key(const struct search *search, size_t q) {
    if (!search->least || search->queries[q].plain) return -INFINITY;
    return rag_floor_of(&search->queries[q], search->least[q]);
}

/* Scans the queries of all parts and finishes them. */
static void run_parts(struct search *search, int threads) {
    const struct part *last = &search->parts[search->part_count - 1];
    rag_parallel(search->slice_count * search->part_count, threads, scan_task, search);
    if (any_visited(search) && !rag_search_failed(search))
        rag_parallel(last->first + last->count, threads, visit_task, search);
    if (!rag_search_failed(search)) rag_search_bring(search);
    if (!rag_search_failed(search))
        rag_parallel(last->first + last->count, threads, finish_task, search);
}

static void forget_query(struct search *search, size_t q) {
    for (size_t s = 0; s < search->slice_count; s++) {
        struct query_state *state = &search->slices[s].states[q];
        rag_topk_close(&state->topk);
        rag_best_close(&state->best);
        *state = (struct query_state){0};
    }
    rag_best_close(&search->known[q]);
    search->known[q] = (struct best){0};
    search->learned[q] = 0;
    search->guesses[q] = -INFINITY;
    search->floors[q] = least_key(search, q);
}

/* The queries whose guesses were too high, once more without. */
static void run_again(struct search *search, int threads) {
    size_t count = 0;
    for (size_t q = 0; q < search->query_count; q++)
        if (search->again[q]) {
            forget_query(search, q);
            search->order[count++] = (uint32_t)q;
        }
    search->part_count = 1;
    search->parts[0] = (struct part){.count = count};
    if (count) run_parts(search, threads);
}

static void run_chunk(struct search *search, int threads) {
    struct query_state *states = calloc(search->slice_count * search->query_count, sizeof *states);
    if (!states && search->slice_count) {
        rag_search_note(search, RAG_MEMORY, NULL);
        return;
    }
    for (size_t s = 0; s < search->slice_count; s++)
        search->slices[s].states = states + s * search->query_count;
    const bool guessed = !any_clusters(search) && rag_guess_pays(search);
    if (guessed) rag_guess(search, threads);
    if (rag_search_divide(search)) run_parts(search, threads);
    if (guessed && !rag_search_failed(search)) run_again(search, threads);
    for (size_t q = 0; search->recall && q < search->query_count; q++)
        search->recall[q] = rag_search_recall(search, q);
    for (size_t i = 0; i < search->slice_count * search->query_count; i++) {
        free(states[i].early);
        rag_topk_close(&states[i].topk);
        rag_best_close(&states[i].best);
    }
    for (size_t q = 0; q < search->query_count; q++) rag_best_close(&search->known[q]);
    free(states);
}

static size_t chunk_queries(const struct search *search, size_t count) {
    const size_t each = (search->slice_count + 1) * (4 * search->k + 64) * TOPK_ENTRY;
    const size_t most = CHUNK_BYTES / each + 1;
    return count < most ? (count < CHUNK_QUERIES ? count : CHUNK_QUERIES)
                        : (most < CHUNK_QUERIES ? most : CHUNK_QUERIES);
}

static bool any_shadow(const struct search *search) {
    bool any = false;
    for (size_t s = 0; s < search->segment_count; s++)
        any |= shadow_pays(search, &search->segments[s]);
    return any;
}

static void run(struct search *search, const struct rag_question *question, uint8_t *memory,
                int threads) {
    const size_t chunk = chunk_queries(search, question->count),
                 stride = search->segment_count * search->width;
    const size_t query_size = align_up(rag_query_size(search->dim), 64);
    for (size_t first = 0; first < question->count && !rag_search_failed(search); first += chunk) {
        search->query_count = question->count - first < chunk ? question->count - first : chunk;
        for (size_t q = 0; q < search->query_count; q++) {
            const float *values = question->queries + (first + q) * search->dim;
            rag_query_prepare(&search->queries[q], memory + q * query_size, values, search->dim,
                              question->metric, any_shadow(search));
            search->floors[q] = least_key(search, q);
            search->known[q] = (struct best){0};
            search->learned[q] = 0;
            search->guesses[q] = -INFINITY;
            search->again[q] = false;
        }
        run_chunk(search, threads);
        if (search->least) search->least += search->query_count;
        if (search->recall) search->recall += search->query_count;
        if (search->filter_of) search->filter_of += search->query_count;
        search->rows += search->query_count * stride;
        search->scores += search->query_count * stride;
    }
}

/* How many threads pay: one below a third of a millisecond of scanning, else as many as asked for,
 * or all. */
static int threads_for(const struct rag_segment *segments, size_t count,
                       const struct rag_question *question) {
    uint64_t work = 0;
    if (question->threads > 0) return question->threads;
    for (size_t s = 0; s < count; s++) work += segments[s].matrix->count * question->dim;
    return work * question->count < UINT64_C(64000000) ? 1 : rag_cpu_count();
}

enum rag_status rag_nearest(const struct rag_segment *segments, size_t segment_count,
                            const struct rag_question *question, int64_t *rows, float *scores,
                            struct rag_fault *fault) {
    struct search search = {.segments = segments,
                            .segment_count = segment_count,
                            .width = question->k,
                            .dim = question->dim,
                            .effort = question->effort > 0 ? question->effort : 1,
                            .recall = question->recall,
                            .least = question->least,
                            .filters = question->filters,
                            .filter_of = question->filters ? question->filters->of : NULL,
                            .rows = rows,
                            .scores = scores,
                            .fault = fault,
                            .lock = RAG_MUTEX};
    for (size_t s = 0; s < segment_count; s++) {
        search.row_count += segments[s].matrix->count;
        if (segments[s].matrix->dim != question->dim)
            return rag_fail(fault, RAG_ARGUMENT, segments[s].matrix->dim,
                            "queries and vectors differ in dimensions");
    }
    if (question->k == 0 || question->count == 0) return RAG_OK;
    search.k = question->k < search.row_count ? question->k : search.row_count;
    const int threads = threads_for(segments, segment_count, question);
    const uint64_t slice_rows = slice_rows_for(&search, threads);
    search.slice_count = cut(&search, slice_rows, NULL);
    const size_t chunk = chunk_queries(&search, question->count);
    search.slices = malloc((search.slice_count + 1) * sizeof *search.slices);
    search.queries = malloc(chunk * sizeof *search.queries);
    search.floors = malloc(chunk * sizeof *search.floors);
    search.known = malloc(chunk * sizeof *search.known);
    search.learned = malloc(chunk * sizeof *search.learned);
    search.guesses = malloc(chunk * sizeof *search.guesses);
    search.again = malloc(chunk * sizeof *search.again);
    search.parts = malloc(chunk * sizeof *search.parts);
    search.order = malloc(chunk * sizeof *search.order);
    uint8_t *memory = malloc(chunk * align_up(rag_query_size(question->dim), 64));
    if (search.slices && search.queries && search.floors && search.known && search.learned &&
        search.parts && search.order && search.guesses && search.again && memory) {
        rag_float_mode before;
        rag_float_plain(&before);
        cut(&search, slice_rows, search.slices);
        run(&search, question, memory, threads);
        rag_float_back(&before);
    } else {
        rag_search_note(&search, RAG_MEMORY, NULL);
    }
    free(memory);
    free(search.order);
    free(search.again);
    free(search.guesses);
    free(search.parts);
    free(search.learned);
    free(search.known);
    free(search.floors);
    free(search.queries);
    free(search.slices);
    return search.status;
}
