/* lent.c - compare a file read from lent stretches, as in a browser, with the same file in memory:
 * results must match bit for bit, and a call must report a stretch that cannot be fetched.
 *
 *    lent MOST FILE...
 *
 * For each file, run every reader call on its bytes, then on a source that lends them, then
 * repeatedly on a source that refuses its n-th stretch: MOST refusals, spread over all. A refused
 * call must end in the source's status, and nothing else may change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile.h"
#include "container/format.h"
#include "shared/fail.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

/* --------------------------------------------------------------------------------------- source */

static const uint8_t *file;
static long asked, refused; /* stretches requested; number of the refused one, or 0 */

static enum rag_status refuse_or(struct rag_fault *fault) {
    if (++asked != refused) return RAG_OK;
    return rag_fail(fault, RAG_SOURCE, 0, "refused");
}

static enum rag_status hold(void *context, const struct rag_want *wants, size_t count,
                            struct rag_fault *fault) {
    (void)context, (void)wants, (void)count;
    return refuse_or(fault);
}

static const uint8_t *lend(void *context, const struct rag_guard *guard, uint64_t at) {
    (void)context;
    return file + guard->at + at;
}

static enum rag_status whole(void *context, uint64_t at, uint64_t size, const uint8_t **bytes,
                             struct rag_fault *fault) {
    (void)context, (void)size;
    *bytes = file + at;
    return refuse_or(fault);
}

static const struct rag_source lender = {.hold = hold, .lend = lend, .whole = whole};

/* ------------------------------------------------------------------------------------- answers */

/* The hash of all answers; the status of the first call that failed. */
static uint64_t digest;
static enum rag_status failed;

static void note(const void *bytes, size_t size) {
    const uint64_t both[2] = {digest, rag_hash(bytes, size)};
    digest = rag_hash(both, sizeof both);
}

/* Check a call's status. Only the source's refusal may fail it. */
static bool well(enum rag_status status) {
    if (status == RAG_OK) return true;
    MUST(refused ? status == RAG_SOURCE : status != RAG_SOURCE);
    if (!failed) failed = status;
    return false;
}

struct opened {
    struct rag_reader *reader;
    struct rag_commit commit;
    uint32_t segment;
};

static bool guard_of(const struct opened *o, const char *name, struct rag_guard *guard) {
    struct rag_fault fault;
    const int64_t i = rag_reader_find(o->reader, name, o->segment);
    return i >= 0 && well(rag_reader_guard(o->reader, (uint32_t)i, guard, &fault));
}

static void ask_records(const struct opened *o) {
    struct rag_records r = {0};
    struct rag_fault fault;
    struct rag_document d;
    struct rag_chunk c;
    uint64_t found, hashes[8], rows[8];
    size_t kept;
    if (!guard_of(o, "rag.chunks", &r.chunks) || !guard_of(o, "rag.documents", &r.documents) ||
        !guard_of(o, "rag.ids", &r.ids) || !well(rag_records_open(&r, &fault)))
        return;
    for (uint64_t i = 0; i < r.rows && i < 20; i++) {
        if (well(rag_records_chunk(&r, i, &c, &fault))) note(&c.index, sizeof c.index);
        if (well(rag_records_row(&r, i % r.count, 1, &found, &fault))) note(&found, 8);
    }
    for (uint64_t i = 0; i < r.count && i < 20; i++) {
        if (!well(rag_records_document(&r, i, &d, &fault))) continue;
        note(d.id, d.id_size);
        uint8_t id[256];
        const size_t size = d.id_size < sizeof id ? d.id_size : sizeof id;
        memcpy(id, d.id, size);
        if (well(rag_records_find(&r, id, size, &found, &fault))) note(&found, 8);
    }
    if (well(rag_records_sample(&r, NULL, hashes, rows, 8, &kept, &fault))) note(rows, 8 * kept);
}

static void ask_stream(const struct opened *o, const char *name) {
    struct rag_stream s;
    struct rag_block block;
    struct rag_fault fault;
    if (!guard_of(o, name, &s.guard) || !well(rag_stream_open(&s, &fault))) return;
    for (uint64_t i = 0; i < s.blocks; i++)
        if (well(rag_stream_block(&s, i, &block, &fault))) note(block.bytes, block.size);
}

static void ask_sample(const struct opened *o, const struct rag_vectors *v) {
    struct rag_stored_sample s;
    struct rag_fault fault;
    struct rag_small_blocks fine;
    if (guard_of(o, "rag.sample", &s.guard) &&
        well(rag_stored_sample_open(&s, v->rows, v->dim, v->bits, &fault)))
        note(&s.count, sizeof s.count);
    if (guard_of(o, "rag.fine", &fine.guard) && well(rag_small_blocks_open(&fine, &fault)))
        note(&fine.count, sizeof fine.count);
}

/* ------------------------------------------------------------------------------------- vectors */

enum { QUERIES = 20, K = 5 };

static void ask_nearest(const struct rag_segment *segment, const float *queries, uint32_t count,
                        double effort, uint64_t k) {
    static int64_t rows[QUERIES * 200];
    static float scores[QUERIES * 200];
    double recall[QUERIES];
    struct rag_fault fault;
    for (int metric = RAG_COSINE; metric <= RAG_L2; metric++) {
        const struct rag_question question = {.queries = queries,
                                              .count = count,
                                              .dim = segment->matrix->dim,
                                              .metric = (enum rag_metric)metric,
                                              .k = k,
                                              .threads = 1,
                                              .effort = effort,
                                              .recall = recall};
        if (!well(rag_nearest(segment, 1, &question, rows, scores, &fault))) continue;
        note(rows, count * k * sizeof *rows);
        note(scores, count * k * sizeof *scores);
    }
}

static void ask_rows(const struct rag_matrix *matrix, const struct rag_shadow *shadow,
                     const float *query) {
    const int64_t rows[] = {0, 1, (int64_t)matrix->count - 1};
    const struct rag_question question = {
        .queries = query, .count = 1, .dim = matrix->dim, .k = K, .threads = 1};
    struct rag_bounds bounds[3];
    struct rag_fault fault;
    float scores[3];
    if (well(rag_scores(matrix, &question, rows, 3, scores, &fault))) note(scores, sizeof scores);
    if (shadow && !shadow->kept &&
        well(rag_shadow_bounds(shadow, &question, rows, 3, bounds, &fault)))
        note(bounds, sizeof bounds);
}

static const struct rag_shadow *open_shadow(const struct opened *o, const struct rag_matrix *matrix,
                                            struct rag_shadow *shadow) {
    static const char *const names[] = {"rag.shadow", "rag.planes", "rag.clustered"};
    struct rag_guard section;
    struct rag_fault fault;
    for (size_t i = 0; i < 3; i++)
        if (guard_of(o, names[i], &section) &&
            well(rag_shadow_open(shadow, &section, matrix, &fault)))
            return shadow;
    return NULL;
}

static void ask_checks(const struct rag_segment *s) {
    struct rag_fault fault;
    if (s->clusters) (void)well(rag_clusters_check(s->clusters, s->shadow, s->matrix, &fault));
    else if (s->shadow) (void)well(rag_shadow_check(s->shadow, s->matrix, &fault));
}

/* Search a matrix in every way: all rows, few, most; one query, some, many. */
static void ask_matrix(const struct opened *o, const struct rag_matrix *matrix) {
    struct rag_shadow shadow;
    struct rag_clusters clusters;
    struct rag_guard section;
    struct rag_fault fault;
    static float queries[QUERIES * 1024];
    uint64_t few[64] = {0}, most[64];
    struct rag_segment s = {.matrix = matrix, .shadow = open_shadow(o, matrix, &shadow)};
    MUST(matrix->dim <= 1024 && matrix->count >= 3 && matrix->count <= 64 * 64);
    for (uint32_t i = 0; i < QUERIES * matrix->dim; i++)
        queries[i] = (float)((i * 2654435761u >> 8) % 2001) / 1000.0f - 1.0f;
    if (s.shadow && guard_of(o, "rag.clusters", &section) &&
        well(rag_clusters_open(&clusters, &section, matrix, &fault)))
        s.clusters = &clusters;
    memset(most, 0xf7, sizeof most);
    few[matrix->count / 128] = 9;
    for (int part = 0; part < 6; part++) {
        s.where = part % 3 == 0 ? NULL : part % 3 == 1 ? few : most;
        s.shadow = part < 3 ? s.shadow : NULL;
        s.clusters = part < 3 ? s.clusters : NULL;
        ask_nearest(&s, queries, 1, 0, K);
        ask_nearest(&s, queries, 3, 0, 40);
        ask_nearest(&s, queries, QUERIES, 0, K);
        if (s.clusters) ask_nearest(&s, queries, 2, 0.2, K);
        if (part == 0) ask_rows(matrix, s.shadow, queries);
        if (part == 0) ask_checks(&s);
    }
}

static void ask_vectors(const struct opened *o) {
    struct rag_matrix matrix = {.scalar = RAG_F32};
    struct rag_vectors v;
    struct rag_fault fault;
    if (!guard_of(o, "vector", &matrix.guard) ||
        !well(rag_vector_open(&matrix.guard, matrix.guard.at, &v, &fault)))
        return;
    matrix.at = v.at, matrix.stride = v.stride, matrix.count = v.rows, matrix.dim = v.dim;
    matrix.scalar = v.bits == 16 ? RAG_F16 : v.bits == 32 ? RAG_F32 : RAG_F64;
    if (well(rag_matrix_check(&matrix, &fault)) && v.rows >= 3) ask_matrix(o, &matrix);
    ask_sample(o, &v);
}

/* --------------------------------------------------------------------------------------- words */

static void see(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    (void)context;
    (void)rows;
    note(term, size);
}

static void ask_term(struct rag_lexicon *l, const uint8_t *term, uint32_t size) {
    const uint64_t where[64] = {~(uint64_t)5};
    uint32_t rows[8], tfs[8];
    uint64_t n, at;
    struct rag_fault fault;
    if (well(rag_lexicon_df(l, term, size, NULL, &n, &fault))) note(&n, 8);
    if (well(rag_lexicon_df(l, term, size, where, &n, &fault))) note(&n, 8);
    if (well(rag_lexicon_rows(l, term, size, rows, tfs, 8, &n, &fault))) note(&n, 8);
    if (well(rag_lexicon_place(l, term, size, &at, &n, &fault))) note(&n, 8);
    (void)well(rag_lexicon_beginning(l, term, 1, see, NULL, &fault));
    (void)well(rag_lexicon_near(l, term, size, 1, see, NULL, &fault));
}

static void ask_ranking(struct rag_lexicon *l, const struct rag_query_term *terms, size_t count) {
    const struct rag_lexical_stats stats = {
        .rows = 100, .total_length = 1000, .k1 = 1.2, .b = 0.75};
    const int64_t some[] = {0, 1, 2};
    const struct rag_lexical_leg leg = {l, NULL, NULL, 0};
    int64_t rows[K];
    float scores[K];
    struct rag_fault fault;
    if (well(rag_lexicon_search(l, terms, count, &stats, NULL, K, rows, scores, &fault)))
        note(rows, sizeof rows);
    if (well(rag_lexicon_score(l, terms, count, &stats, some, 3, scores, &fault)))
        note(scores, 3 * sizeof *scores);
    if (well(rag_lexicons_score(&leg, 1, terms, count, &stats, some, 3, scores, &fault)))
        note(scores, 3 * sizeof *scores);
}

static void ask_batch(struct rag_lexicon *l, const struct rag_query_term *terms, size_t count) {
    const struct rag_lexical_stats stats = {
        .rows = 100, .total_length = 1000, .k1 = 1.2, .b = 0.75};
    const struct rag_lexical_leg leg = {l, NULL, NULL, 0};
    int64_t rows[2 * K];
    float scores[2 * K];
    struct rag_fault fault, *told = refused % 2 ? &fault : NULL;
    struct rag_queries *queries = rag_queries_new();
    MUST(queries);
    for (int q = 0; q < 2; q++) {
        for (size_t i = q; i < count; i++)
            MUST(!rag_queries_term(queries, terms[i].bytes, terms[i].size, 1, 1, &fault));
        MUST(!rag_queries_end(queries, &fault));
    }
    rag_queries_seal(queries);
    if (well(rag_lexicon_search_batch(l, queries, 2, &stats, NULL, NULL, K, 1, rows, scores, told)))
        note(rows, sizeof rows);
    if (well(rag_lexicons_count(&leg, 1, queries, 2, &fault)) &&
        well(rag_lexicons_search(&leg, 1, queries, 2, &stats, NULL, K, 1, rows, scores, told)))
        note(rows, sizeof rows);
    rag_queries_free(queries);
}

static void ask_words(const struct opened *o) {
    struct rag_guard terms, postings;
    struct rag_lexicon *l;
    struct rag_fault fault;
    static uint32_t lengths[64 * 64];
    uint8_t block[4096];
    size_t size, at = 0;
    struct rag_query_term query[4] = {0};
    struct rag_lexicon_info info;
    if (!guard_of(o, "rag.terms", &terms) || !guard_of(o, "rag.postings", &postings) ||
        !well(rag_lexicon_open(&terms, &postings, &l, &fault)))
        return;
    rag_lexicon_info(l, &info);
    if (well(rag_lexicon_block(l, 0, block, &size, &fault))) {
        size_t count = 0;
        for (; count < 4 && at < size; at += query[count++].size + 1)
            query[count] = (struct rag_query_term){block + at, (uint32_t)strlen((char *)block + at),
                                                   RAG_SHARE, 0, NULL};
        for (size_t i = 0; i < count; i++) ask_term(l, query[i].bytes, query[i].size);
        ask_ranking(l, query, count);
        ask_batch(l, query, count);
    }
    if (info.rows <= 64 * 64 && well(rag_lexicon_lengths(l, lengths, &fault)))
        note(lengths, info.rows * sizeof *lengths);
    rag_lexicon_close(l);
}

/* ----------------------------------------------------------------------------------------- all */

static void ask_all(struct rag_reader *reader) {
    struct opened o = {.reader = reader};
    rag_reader_commit(reader, &o.commit);
    for (uint32_t i = 0; i < o.commit.segments; i++) {
        struct rag_segment_record record;
        rag_reader_segment(reader, i, &record);
        o.segment = record.number;
        ask_records(&o);
        ask_stream(&o, "rag.text");
        ask_stream(&o, "rag.meta");
        ask_vectors(&o);
        ask_words(&o);
    }
}

static void run(size_t size, const struct rag_source *source) {
    struct rag_reader *reader = NULL;
    struct rag_fault fault;
    digest = 0, failed = RAG_OK, asked = 0;
    const enum rag_status status = source ? rag_reader_open_source(source, size, 0, &reader, &fault)
                                          : rag_reader_open(file, size, 0, &reader, &fault);
    if (well(status)) ask_all(reader);
    rag_reader_close(reader);
}

static long try_file(const char *path, long most) {
    struct rag_map map;
    struct rag_fault fault;
    MUST(rag_map_open(path, &map, &fault) == RAG_OK);
    file = map.bytes, refused = 0;
    run(map.size, NULL);
    const uint64_t wanted = digest;
    MUST(!failed && wanted);
    run(map.size, &lender);
    MUST(!failed && digest == wanted);
    const long count = asked, step = count / most + 1;
    for (refused = 1; refused <= count; refused += step) {
        run(map.size, &lender);
        MUST(failed == RAG_SOURCE);
    }
    rag_map_close(&map);
    return count;
}

int main(int count, char **arguments) {
    MUST(count > 2 && rag_init(NULL) == RAG_OK);
    for (int i = 2; i < count; i++)
        printf("%ld stretches lent\n", try_file(arguments[i], atol(arguments[1])));
    return 0;
}
