/* misuse.c - calls that break the contract of ragfile.h: each must be refused, with and without a
 * fault record, and must leave earlier work intact.
 *
 *    misuse FOLDER
 *
 * The Python bindings check many arguments first, so only C callers reach most of these
 * refusals. */
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ragfile.h"
#include "container/format.h"
#include "system/files.h"
#include "model/wordpiece.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

/* Check that the call, which names its fault f, returns this status. */
#define REFUSED(expected, call)                                 \
    do {                                                        \
        struct rag_fault fault = {0}, *f = &fault;              \
        MUST((call) == (expected));                             \
        MUST(fault.status == (expected) && fault.what != NULL); \
        f = NULL;                                               \
        MUST((call) == (expected));                             \
        refusals++;                                             \
    } while (0)

static int refusals;
static char path[4096];

static void put(struct rag_writer *w, const char *name, uint32_t segment, size_t size,
                uint64_t items) {
    static const uint8_t bytes[4096];
    uint64_t at;
    MUST(rag_section_begin(w, name, segment, 0, &at, NULL) == RAG_OK);
    MUST(rag_section_write(w, bytes, size, NULL) == RAG_OK);
    MUST(rag_section_end(w, items, NULL) == RAG_OK);
}

/* A writer refuses invalid requests and continues. */
static void misuse_writer(void) {
    struct rag_writer *w;
    uint32_t segment;
    uint64_t at;
    static char message[MESSAGE_MAX_SIZE + 1];
    MUST(rag_writer_create(path, &w, NULL) == RAG_OK);
    MUST(rag_writer_segment(w, &segment, NULL) == RAG_OK && segment == 1);
    REFUSED(RAG_ARGUMENT, rag_writer_rows(w, 0, 1, 1, f));
    REFUSED(RAG_ARGUMENT, rag_writer_rows(w, 2, 1, 1, f));
    REFUSED(RAG_ARGUMENT, rag_writer_rows(w, 1, 1, 2, f));
    REFUSED(RAG_ARGUMENT, rag_writer_rows(w, 1, UINT64_MAX, 2, f));
    REFUSED(RAG_ARGUMENT, rag_section_write(w, message, 1, f));
    REFUSED(RAG_ARGUMENT, rag_section_end(w, 1, f));
    REFUSED(RAG_ARGUMENT, rag_section_drop(w, "rag.docs", 1, f));
    REFUSED(RAG_ARGUMENT, rag_section_begin(w, "not a name", 1, 0, &at, f));
    REFUSED(RAG_ARGUMENT, rag_section_begin(w, "", 1, 0, &at, f));
    REFUSED(RAG_ARGUMENT, rag_section_begin(w, "rag.docs", 1, 1u << 31, &at, f));
    put(w, "rag.docs", 1, 10, 3);
    REFUSED(RAG_ARGUMENT, rag_section_drop(w, "rag.docs", 1, f));
    REFUSED(RAG_ARGUMENT, rag_section_drop(w, "rag.docs", 2, f));
    REFUSED(RAG_ARGUMENT, rag_writer_commit(w, 1, "", 0, f)); /* without any rows */
    MUST(rag_section_begin(w, "rag.ids", 1, 0, &at, NULL) == RAG_OK);
    REFUSED(RAG_ARGUMENT, rag_section_begin(w, "rag.meta", 1, 0, &at, f));
    REFUSED(RAG_ARGUMENT, rag_section_end(w, UINT64_MAX, f));
    REFUSED(RAG_ARGUMENT, rag_writer_commit(w, 1, "", 0, f));
    MUST(rag_section_end(w, 1, NULL) == RAG_OK);
    MUST(rag_writer_rows(w, 1, 3, 2, NULL) == RAG_OK); /* without a bitmap of the dead row */
    REFUSED(RAG_ARGUMENT, rag_writer_commit(w, 1, "", 0, f));
    MUST(rag_writer_rows(w, 1, 3, 3, NULL) == RAG_OK);
    REFUSED(RAG_ARGUMENT, rag_writer_commit(w, 1, message, sizeof message, f));
    MUST(rag_writer_commit(w, 1, "first", 5, NULL) == RAG_OK);
    REFUSED(RAG_ARGUMENT, rag_writer_commit(w, 1, "again", 5, f));
    REFUSED(RAG_ARGUMENT, rag_section_begin(w, "rag.more", 1, 0, &at, f));
    REFUSED(RAG_ARGUMENT, rag_section_write(w, message, 1, f));
    REFUSED(RAG_ARGUMENT, rag_section_end(w, 1, f));
    rag_writer_discard(w);
    rag_writer_discard(NULL);
}

/* Inconsistent deletions: a bitmap of another size, or of another count. */
static void misuse_tombs(size_t size, uint64_t items) {
    struct rag_writer *w;
    MUST(rag_writer_edit(path, NULL, NULL, &w, NULL) == RAG_OK);
    MUST(rag_writer_rows(w, 1, 3, 2, NULL) == RAG_OK);
    put(w, TOMBS_NAME, 1, size, items);
    REFUSED(RAG_ARGUMENT, rag_writer_commit(w, 1, "", 0, f));
    rag_writer_discard(w);
}

/* Exceed the limit of segments per file. */
static void too_many_segments(void) {
    struct rag_writer *w;
    uint32_t segment = 0;
    MUST(rag_writer_edit(path, NULL, NULL, &w, NULL) == RAG_OK);
    for (uint32_t i = 1; i < SEGMENTS_MAX; i++) {
        MUST(rag_writer_segment(w, &segment, NULL) == RAG_OK && segment == i + 1);
        MUST(rag_writer_rows(w, segment, 1, 1, NULL) == RAG_OK);
    }
    REFUSED(RAG_LIMIT, rag_writer_segment(w, &segment, f));
    rag_writer_forget(w, segment);
    MUST(rag_writer_segment(w, &segment, NULL) == RAG_OK && segment == SEGMENTS_MAX + 1);
    rag_writer_discard(w);
}

/* Check that the file still equals the first commit. */
static void check_file(void) {
    struct rag_map map;
    struct rag_reader *reader;
    struct rag_commit commit;
    struct rag_fault fault;
    MUST(rag_map_open(path, &map, &fault) == RAG_OK);
    MUST(rag_reader_open(map.bytes, map.size, 0, &reader, &fault) == RAG_OK);
    rag_reader_commit(reader, &commit);
    MUST(commit.generation == 1 && commit.entries == 2 && commit.message_size == 5);
    rag_reader_close(reader);
    rag_map_close(&map);
    struct rag_file *made;
    REFUSED(RAG_OS, rag_file_create("no/such/folder/file", &made, f));
    REFUSED(RAG_OS, rag_file_edit("no/such/folder/file", NULL, &made, f));
    REFUSED(RAG_OS, rag_map_open("", &map, f));
    REFUSED(RAG_OS, rag_map_stat("", &map, f));
    REFUSED(RAG_OS, rag_map_descriptor(-1, &map, f));
    REFUSED(RAG_OS, rag_map_copy("", 1, &map, f));
    REFUSED(RAG_OS, rag_map_copy(".", 1, &map, f));
    MUST(rag_writer_pid("") == 0);
}

/* ------------------------------------------------------------------------------ files and forks */

/* A forked child inherits its parent's writers, but can neither write with them nor end them. */
static void write_in_child(const char *folder) {
    struct rag_writer *w;
    struct rag_file *file;
    char name[4200];
    snprintf(name, sizeof name, "%s/parents", folder);
    MUST(rag_file_create(name, &file, NULL) == RAG_OK);
    MUST(rag_file_write(file, 0, "one", 3, NULL) == RAG_OK);
    MUST(rag_writer_edit(path, NULL, NULL, &w, NULL) == RAG_OK);
    const pid_t child = fork();
    if (child == 0) {
        uint64_t at;
        REFUSED(RAG_ARGUMENT, rag_file_write(file, 0, "two", 3, f));
        REFUSED(RAG_ARGUMENT, rag_file_truncate(file, 1, f));
        REFUSED(RAG_ARGUMENT, rag_writer_commit(w, 1, "", 0, f));
        REFUSED(RAG_ARGUMENT, rag_section_begin(w, "own", 0, 0, &at, f));
        rag_file_settled(file, FRONT_SIZE);
        rag_writer_discard(w);
        rag_file_discard(file);
        exit(0);
    }
    int status = -1;
    MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    MUST(rag_writer_pid(path) == getpid()); /* the parent still holds the lock */
    put(w, "own", 0, 10, 0);
    MUST(rag_writer_commit(w, 1, "", 0, NULL) == RAG_OK);
    rag_writer_discard(w);
    MUST(rag_file_publish(file, false, NULL) == RAG_OK);
    rag_file_discard(file);
}

/* A map replaces another, and a copy begins with a file, which may be empty. */
static void exchange_maps(const char *folder) {
    struct rag_map map, none = {0};
    struct rag_file *file;
    MUST(chdir(folder) == 0);
    MUST(rag_file_create("empty", &file, NULL) == RAG_OK);
    MUST(rag_file_publish(file, false, NULL) == RAG_OK);
    rag_file_discard(file);
    MUST(rag_map_copy("empty", 0, &map, NULL) == RAG_OK && map.size == 0);
    rag_map_close(&map);
    MUST(rag_map_copy("empty", 10, &map, NULL) == RAG_OK && map.size == 10 && !map.bytes[9]);
    rag_map_close(&map);
    MUST(rag_map_copy("parents", 10, &map, NULL) == RAG_OK && memcmp(map.bytes, "one", 4) == 0);
    rag_map_close(&map);
    MUST(rag_map_open("misused", &map, NULL) == RAG_OK);
    const int fd = open("parents", O_RDONLY);
    MUST(fd >= 0);
    REFUSED(RAG_OS, rag_map_exchange(-1, &map, f));
    MUST(rag_map_exchange(fd, &none, NULL) == RAG_OK);
    MUST(rag_map_exchange(fd, &map, NULL) == RAG_OK && memcmp(map.bytes, "one", 3) == 0);
    close(fd);
    rag_map_close(&map);
}

/* ---------------------------------------------------------------------------- tables and blocks */

static struct rag_guard over(const void *bytes, size_t size) {
    return (struct rag_guard){.bytes = bytes, .size = size};
}

static void misuse_tables(void) {
    uint8_t ids[16] = {0}, out[64];
    struct rag_records records = {.ids = over(ids, 16)};
    struct rag_chunk chunk;
    struct rag_document document;
    struct rag_fault fault;
    uint64_t at;
    MUST(rag_records_open(&records, &fault) == RAG_OK && records.rows == 0);
    REFUSED(RAG_ARGUMENT, rag_records_chunk(&records, 0, &chunk, f));
    REFUSED(RAG_ARGUMENT, rag_records_document(&records, 0, &document, f));
    REFUSED(RAG_ARGUMENT, rag_records_place(&records, 0, &document, &at, f));

    uint8_t trailer[RAG_STREAM_TRAILER];
    struct rag_stream stream = {.guard = over(trailer, sizeof trailer)};
    struct rag_block block;
    rag_stream_trailer(trailer, 0, 65536, 0, 0);
    MUST(rag_stream_open(&stream, &fault) == RAG_OK && stream.blocks == 0);
    REFUSED(RAG_CORRUPT, rag_stream_block(&stream, 0, &block, f));
    REFUSED(RAG_CORRUPT, rag_stream_place(&stream, 0, &block, f));

    struct rag_strategy entry = {.start = 0, .end = 9, .name = "vector"};
    struct rag_directory directory = {.count = 1, .entries = &entry};
    size_t size;
    rag_directory_place(&directory, 20);
    REFUSED(RAG_LIMIT, rag_directory_write(&directory, 20, out, 20, &size, f));
    directory.count = RAG_ENTRIES_MAX + 1;
    struct rag_strategy *many = calloc(directory.count, sizeof *many);
    MUST(many);
    directory.entries = many;
    REFUSED(RAG_LIMIT, rag_directory_write(&directory, 0, out, sizeof out, &size, f));
    free(many);
    directory.count = 0;
    MUST(rag_directory_place(&directory, 20) == RAG_HEADER_SIZE + 1);
}

/* -------------------------------------------------------------------------------------- vectors */

enum { DIM = 8, ROWS = 20 };
static float rows[ROWS][DIM];

static enum rag_status fill(void *context, const void *bytes, size_t size) {
    uint8_t **at = context;
    memcpy(*at, bytes, size);
    *at += size;
    return RAG_OK;
}

static enum rag_status refuse(void *context, const void *bytes, size_t size) {
    (void)bytes, (void)size;
    int *left = context;
    return (*left)-- > 0 ? RAG_OK : RAG_OS;
}

static void misuse_matrix(struct rag_matrix good) {
    struct rag_matrix bad = good;
    const uint64_t offsets[2] = {0, UINT64_MAX};
    bad.dim = 0;
    REFUSED(RAG_LIMIT, rag_matrix_check(&bad, f));
    bad.dim = RAG_DIM_MAX + 1;
    REFUSED(RAG_LIMIT, rag_matrix_check(&bad, f));
    bad = good, bad.scalar = (enum rag_scalar)7;
    REFUSED(RAG_FORMAT, rag_matrix_check(&bad, f));
    bad = good, bad.count = UINT64_MAX;
    REFUSED(RAG_LIMIT, rag_matrix_check(&bad, f));
    bad = good, bad.stride = UINT64_MAX / 2;
    REFUSED(RAG_CORRUPT, rag_matrix_check(&bad, f));
    bad = good, bad.at = UINT64_MAX;
    REFUSED(RAG_CORRUPT, rag_matrix_check(&bad, f));
    bad = good, bad.at = UINT64_MAX - (ROWS - 1) * sizeof rows[0];
    REFUSED(RAG_CORRUPT, rag_matrix_check(&bad, f));
    bad = good, bad.at = 4;
    REFUSED(RAG_CORRUPT, rag_matrix_check(&bad, f));
    bad = good, bad.offsets = offsets, bad.count = 2;
    REFUSED(RAG_CORRUPT, rag_matrix_check(&bad, f));
}

/* Scores beyond binary32 saturate; bounds stay on either side of them. */
static void bounds_beyond_binary32(const struct rag_shadow *shadow,
                                   const struct rag_matrix *matrix) {
    const int64_t row[] = {3};
    for (int side = -1; side <= 1; side += 2) {
        const float by = (float)side * 1e38f;
        float query[DIM], score;
        struct rag_bounds bound;
        const struct rag_question question = {
            .queries = query, .count = 1, .dim = DIM, .metric = RAG_IP, .k = 1, .threads = 1};
        for (int i = 0; i < DIM; i++) query[i] = rows[3][i] < 0 ? -by : by;
        MUST(rag_scores(matrix, &question, row, 1, &score, NULL) == RAG_OK);
        MUST(fabsf(score) == FLT_MAX && (score > 0) == (by > 0));
        MUST(rag_shadow_bounds(shadow, &question, row, 1, &bound, NULL) == RAG_OK);
        MUST(bound.lower <= score && score <= bound.upper);
    }
}

static void misuse_search(const struct rag_matrix *matrix, const struct rag_shadow *shadow) {
    const struct rag_segment segment = {matrix, shadow, NULL, NULL};
    struct rag_question question = {
        .queries = rows[3], .count = 1, .dim = DIM, .metric = RAG_COSINE, .k = 3, .threads = 1};
    struct rag_fault fault;
    struct rag_bounds bounds[2];
    const int64_t good[] = {3, 4}, outside[] = {3, ROWS}, negative[] = {-1, 2};
    int64_t found[3];
    float scores[3];
    REFUSED(RAG_ARGUMENT, rag_scores(matrix, &question, outside, 2, scores, f));
    REFUSED(RAG_ARGUMENT, rag_scores(matrix, &question, negative, 2, scores, f));
    REFUSED(RAG_ARGUMENT, rag_shadow_bounds(shadow, &question, outside, 2, bounds, f));
    REFUSED(RAG_ARGUMENT, rag_shadow_bounds(shadow, &question, negative, 2, bounds, f));
    MUST(rag_scores(matrix, &question, good, 2, scores, &fault) == RAG_OK);
    MUST(rag_shadow_bounds(shadow, &question, good, 2, bounds, &fault) == RAG_OK);
    for (int i = 0; i < 2; i++) MUST(bounds[i].lower <= scores[i] && scores[i] <= bounds[i].upper);
    bounds_beyond_binary32(shadow, matrix);
    question.dim = DIM + 1;
    REFUSED(RAG_ARGUMENT, rag_nearest(&segment, 1, &question, found, scores, f));
    REFUSED(RAG_ARGUMENT, rag_scores(matrix, &question, good, 2, scores, f));
    REFUSED(RAG_ARGUMENT, rag_shadow_bounds(shadow, &question, good, 2, bounds, f));
    question.dim = DIM;
    question.k = 0;
    MUST(rag_nearest(&segment, 1, &question, found, scores, &fault) == RAG_OK);
    question.k = 3, question.count = 0;
    MUST(rag_nearest(&segment, 1, &question, found, scores, &fault) == RAG_OK);
    question.count = 1;
    MUST(rag_nearest(&segment, 1, &question, found, scores, &fault) == RAG_OK && found[0] == 3);
}

static void misuse_vectors(void) {
    for (int i = 0; i < ROWS * DIM; i++) rows[i / DIM][i % DIM] = sinf((float)(i * i));
    const struct rag_matrix matrix = {.guard = over(rows, sizeof rows),
                                      .stride = sizeof rows[0],
                                      .count = ROWS,
                                      .dim = DIM,
                                      .scalar = RAG_F32};
    struct rag_fault fault;
    struct rag_shadow shadow;
    MUST(rag_matrix_check(&matrix, &fault) == RAG_OK);
    misuse_matrix(matrix);
    const uint64_t size = rag_shadow_size(&matrix, NULL);
    uint8_t *made = malloc(size), *at = made;
    MUST(made && rag_shadow_build(&matrix, NULL, fill, &at, &fault) == RAG_OK);
    MUST(at == made + size);
    for (int left = 0; left < 3; left++) {
        int until = left;
        MUST(rag_shadow_build(&matrix, NULL, refuse, &until, NULL) == RAG_OS || until >= 0);
    }
    const struct rag_guard section = over(made, size);
    MUST(rag_shadow_open(&shadow, &section, &matrix, &fault) == RAG_OK);
    misuse_search(&matrix, &shadow);
    free(made);
}

/* ---------------------------------------------------------------------------------------- words */

static int keep(void *context, const void *bytes, size_t size) {
    uint8_t **at = context;
    memcpy(*at, bytes, size);
    *at += size;
    return 0;
}

static void resolve(struct rag_vocabulary *words) {
    size_t size;
    uint8_t terms[4096];
    const uint8_t *pending = rag_vocabulary_pending(words, &size);
    MUST(size < sizeof terms);
    memcpy(terms, pending, size);
    MUST(rag_vocabulary_resolve(words, terms, size, NULL) == RAG_OK);
}

static struct rag_lexical_builder *three_words(void) {
    const struct rag_spill none = {0};
    struct rag_lexical_builder *b = rag_lexical_builder_new(1.2, 0.75, 0, 1 << 20, none);
    MUST(b && rag_lexical_builder_text(b, (const uint8_t *)"one two three", 13, 1, false, NULL) ==
                  RAG_OK);
    return b;
}

/* Terms that are too long, too few or too many. */
static void misuse_terms(void) {
    static uint8_t terms[400];
    struct rag_lexical_builder *b = three_words();
    struct rag_vocabulary *words = rag_lexical_builder_vocabulary(b);
    memset(terms, 'x', sizeof terms - 1);
    REFUSED(RAG_ARGUMENT, rag_lexical_builder_text(b, terms, 0, 0, false, f));
    REFUSED(RAG_ARGUMENT, rag_lexical_builder_text(b, terms, 0, 256, false, f));
    REFUSED(RAG_ARGUMENT, rag_lexical_builder_commit(b, f)); /* words without their terms */
    REFUSED(RAG_ARGUMENT, rag_vocabulary_resolve(words, terms, 3, f));
    REFUSED(RAG_ARGUMENT, rag_vocabulary_resolve(words, terms, sizeof terms, f));
    REFUSED(RAG_ARGUMENT, rag_vocabulary_resolve(words, (const uint8_t *)"one", 4, f));
    REFUSED(RAG_ARGUMENT, rag_vocabulary_resolve(words, (const uint8_t *)"a\0b\0c\0d", 8, f));
    rag_lexical_builder_free(b);
}

static void misuse_builder(struct rag_lexical_builder *b) {
    static uint8_t config[UINT16_MAX + 1];
    const struct rag_sink nowhere = {keep, NULL};
    resolve(rag_lexical_builder_vocabulary(b));
    REFUSED(RAG_ARGUMENT, rag_lexical_builder_commit(b, f)); /* the row is still open */
    MUST(rag_lexical_builder_end_row(b, NULL) == RAG_OK);
    MUST(rag_lexical_builder_commit(b, NULL) == RAG_OK);
    REFUSED(RAG_LIMIT,
            rag_lexical_builder_finish(b, config, sizeof config, nowhere, nowhere, NULL, f));
}

static void misuse_queries(void) {
    struct rag_queries *queries = rag_queries_new();
    struct rag_vocabulary *words = rag_vocabulary_new();
    uint8_t term[300] = {0};
    MUST(queries && words);
    REFUSED(RAG_ARGUMENT, rag_queries_whole(queries, words, term, 1, f));
    REFUSED(RAG_ARGUMENT, rag_queries_term(queries, term, 0, 1, 1, f));
    REFUSED(RAG_ARGUMENT, rag_queries_term(queries, term, 256, 1, 1, f));
    rag_queries_free(queries);
    rag_vocabulary_free(words);
}

static void misuse_lexicon(struct rag_lexicon *lexicon) {
    const struct rag_query_term term = {(const uint8_t *)"two", 3, 1, 0, NULL};
    struct rag_lexical_stats stats = {.rows = 1, .total_length = 3, .k1 = 1.2, .b = 0.75};
    const uint32_t weights[] = {0, 0}, heavy[] = {1, 256};
    const int64_t outside[] = {1}, row[] = {0};
    int64_t found[1];
    float score[1];
    uint8_t out[4096];
    size_t size;
    MUST(rag_lexicon_search(lexicon, &term, 1, &stats, NULL, 1, found, score, NULL) == RAG_OK);
    MUST(found[0] == 0 && score[0] > 0);
    REFUSED(RAG_ARGUMENT, rag_lexicon_score(lexicon, &term, 1, &stats, outside, 1, score, f));
    REFUSED(RAG_ARGUMENT, rag_lexicon_block(lexicon, 9, out, &size, f));
    REFUSED(RAG_ARGUMENT, rag_lexicon_fields(lexicon, &lexicon, weights, 1, f));
    REFUSED(RAG_ARGUMENT, rag_lexicon_fields(lexicon, &lexicon, heavy, 1, f));
    stats.weights = weights, stats.weight_count = 2; /* of a lexicon without fields */
    REFUSED(RAG_ARGUMENT, rag_lexicon_score(lexicon, &term, 1, &stats, row, 1, score, f));
    stats = (struct rag_lexical_stats){.rows = 1, .total_length = 3, .k1 = NAN, .b = 0.75};
    REFUSED(RAG_ARGUMENT, rag_lexicon_search(lexicon, &term, 1, &stats, NULL, 1, found, score, f));
    stats.k1 = 1.2, stats.b = 1.5;
    REFUSED(RAG_ARGUMENT, rag_lexicon_search(lexicon, &term, 1, &stats, NULL, 1, found, score, f));
}

static void misuse_words(void) {
    static uint8_t postings[65536], terms[65536];
    uint8_t *to_postings = postings, *to_terms = terms;
    struct rag_lexical_builder *b = three_words();
    struct rag_lexicon *lexicon;
    struct rag_fault fault;
    misuse_terms();
    misuse_builder(b);
    MUST(rag_lexical_builder_finish(b, (const uint8_t *)"{}", 2,
                                    (struct rag_sink){keep, &to_postings},
                                    (struct rag_sink){keep, &to_terms}, NULL, &fault) == RAG_OK);
    rag_lexical_builder_free(b);
    misuse_queries();
    const struct rag_guard t = over(terms, (size_t)(to_terms - terms)),
                           p = over(postings, (size_t)(to_postings - postings));
    MUST(rag_lexicon_open(&t, &p, &lexicon, &fault) == RAG_OK);
    misuse_lexicon(lexicon);
    rag_lexicon_close(lexicon);
}

/* -------------------------------------------------------------------------------- models, pairs */

static void misuse_model(void) {
    static const uint8_t one[] = "one", *pieces[] = {one}, sizes[] = {3}, kinds[] = {0};
    static const int8_t parts[32];
    static const int16_t coefficients[1];
    const struct rag_model_source good = {32,     1,     1,     0,     "name",      4,
                                          pieces, sizes, kinds, parts, coefficients};
    struct rag_model_source bad = good;
    static char name[MODEL_NAME_SIZE];
    size_t size;
    for (uint32_t dims = 0; dims <= 2048; dims += dims ? 2016 : 16) {
        bad.dims = dims;
        REFUSED(RAG_ARGUMENT, rag_model_write(&bad, NULL, &size, f));
    }
    bad = good, bad.count = 0;
    REFUSED(RAG_ARGUMENT, rag_model_write(&bad, NULL, &size, f));
    bad.count = 65536;
    REFUSED(RAG_ARGUMENT, rag_model_write(&bad, NULL, &size, f));
    bad = good, bad.bucket_bits = 0;
    REFUSED(RAG_ARGUMENT, rag_model_write(&bad, NULL, &size, f));
    bad.bucket_bits = 21;
    REFUSED(RAG_ARGUMENT, rag_model_write(&bad, NULL, &size, f));
    bad = good, bad.unknown = 1;
    REFUSED(RAG_ARGUMENT, rag_model_write(&bad, NULL, &size, f));
    bad = good, bad.name = name, bad.name_size = sizeof name;
    REFUSED(RAG_ARGUMENT, rag_model_write(&bad, NULL, &size, f));
    MUST(rag_model_write(&good, NULL, &size, NULL) == RAG_OK);
    uint8_t *out = malloc(size + 1);
    MUST(out);
    size++;
    REFUSED(RAG_ARGUMENT, rag_model_write(&good, out, &size, f));
    free(out);
}

/* One call serves segments that have words and vectors, within available memory. */
static void misuse_hybrid(void) {
    struct rag_part parts[2] = {{.base = 0}, {.base = 9}};
    struct rag_lexical_leg legs[2] = {{.base = 0}, {.base = 9}};
    const struct rag_matrix matrix = {.count = 0};
    struct rag_segment segments[2] = {{.matrix = &matrix}, {.matrix = &matrix}};
    const struct rag_fused out = {0};
    struct rag_spent spent;
    struct rag_hybrid asked = {
        .fusion =
            {.parts = parts, .part_count = 1, .legs = legs, .leg_count = 2, .count = 1, .depth = 1},
        .segments = segments};
    REFUSED(RAG_ARGUMENT, rag_hybrid_answer(&asked, &out, &spent, f));
    asked.fusion.leg_count = asked.fusion.part_count = 0;
    REFUSED(RAG_ARGUMENT, rag_hybrid_answer(&asked, &out, &spent, f));
    asked.fusion.leg_count = asked.fusion.part_count = 2, legs[1].base = 7;
    REFUSED(RAG_ARGUMENT, rag_hybrid_answer(&asked, &out, &spent, f));
    legs[1].base = 9, segments[1].matrix = NULL;
    REFUSED(RAG_ARGUMENT, rag_hybrid_answer(&asked, &out, &spent, f));
    segments[1].matrix = &matrix, asked.fusion.count = SIZE_MAX;
    REFUSED(RAG_LIMIT, rag_hybrid_answer(&asked, &out, &spent, f));
    asked.fusion.count = 1, asked.fusion.depth = SIZE_MAX / 256;
    REFUSED(RAG_LIMIT, rag_hybrid_answer(&asked, &out, &spent, f));
    asked.fusion.leg_count = asked.fusion.part_count = 1, asked.fusion.depth = SIZE_MAX / 64;
    REFUSED(RAG_LIMIT, rag_hybrid_answer(&asked, &out, &spent, f));
}

static void misuse_pairs(void) {
    static const uint8_t content[] = "a-b\0\0\0\0";
    struct rag_pairs pairs = {.bytes = content, .size = 3, .padding = 5};
    struct rag_remnants remnants;
    REFUSED(RAG_ARGUMENT, rag_reference_walk(&pairs, 0, &remnants, f));
    REFUSED(RAG_ARGUMENT, rag_keyword_check(content, 2, f));
    REFUSED(RAG_ARGUMENT, rag_keyword_check(content + 2, 2, f));
    REFUSED(RAG_ARGUMENT, rag_content_check(content, 5, f));
    MUST(rag_content_check(content, 0, NULL) == RAG_OK);
}

/* --------------------------------------------------------------------------------------- limits */

static void count_task(void *context, size_t i) {
    (void)i;
    __atomic_fetch_add((int *)context, 1, __ATOMIC_RELAXED);
}

/* With more threads than the pool has room for, every task still runs once. */
static void too_many_threads(void) {
    int done = 0;
    rag_parallel(500, 400, count_task, &done);
    rag_parallel(0, 400, count_task, &done);
    rag_parallel(3, -1, count_task, &done);
    MUST(done == 503);
}

/* With more writers than the process's lock table remembers, the rest still hold their locks. */
static void too_many_writers(const char *folder) {
    enum { WRITERS = 300 };
    static struct rag_file *files[WRITERS];
    static char names[WRITERS][4200];
    struct rag_file *second;
    for (int i = 0; i < WRITERS; i++) {
        snprintf(names[i], sizeof names[i], "%s/writer%d", folder, i);
        MUST(rag_file_create(names[i], &files[i], NULL) == RAG_OK);
    }
    REFUSED(RAG_LOCKED, rag_file_create(names[0], &second, f));
    REFUSED(RAG_LOCKED, rag_file_create(names[WRITERS - 1], &second, f));
    for (int i = 0; i < WRITERS; i++) rag_file_discard(files[i]);
    rag_file_discard(NULL);
    MUST(rag_file_create(names[WRITERS - 1], &second, NULL) == RAG_OK);
    rag_file_discard(second);
}

static void misuse_compressor(void) {
    static const uint8_t raw[1000] = {1};
    uint8_t frame[1100];
    size_t made = 0;
    struct rag_compressor *c = NULL;
    struct rag_fault fault;
    MUST(rag_frame_bound(sizeof raw) <= sizeof frame);
    REFUSED(RAG_ARGUMENT, rag_compressor_open(4, &c, f));
    rag_compressor_close(c);
    MUST(rag_compressor_open(RAG_LEVEL_FAST, &c, &fault) == RAG_OK);
    REFUSED(RAG_ARGUMENT, rag_frame_compress(c, raw, sizeof raw, frame, 5, &made, f));
    MUST(rag_frame_compress(c, raw, sizeof raw, frame, sizeof frame, &made, &fault) == RAG_OK);
    uint8_t back[sizeof raw];
    REFUSED(RAG_CORRUPT, rag_frame_decompress(frame, made, back, sizeof back - 1, f));
    REFUSED(RAG_CORRUPT, rag_frame_decompress(frame, 0, back, 0, f));
    MUST(rag_frame_decompress(frame, made, back, sizeof back, &fault) == RAG_OK);
    MUST(memcmp(raw, back, sizeof raw) == 0);
    rag_compressor_close(c);
}

int main(int count, char **arguments) {
    MUST(count == 2 && rag_init(NULL) == RAG_OK);
    MUST(rag_init("nothing that exists") == RAG_ARGUMENT);
    snprintf(path, sizeof path, "%s/misused", arguments[1]);
    misuse_writer();
    misuse_tombs(16, 1);
    misuse_tombs(8, 2);
    too_many_segments();
    check_file();
    write_in_child(arguments[1]);
    exchange_maps(arguments[1]);
    misuse_tables();
    misuse_compressor();
    misuse_vectors();
    misuse_words();
    misuse_model();
    misuse_pairs();
    misuse_hybrid();
    too_many_threads();
    too_many_writers(".");
    printf("%d refusals\n", refusals);
    return 0;
}
