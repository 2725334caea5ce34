/* vector_digest.c - one fixed workload over the vector engine, printed as a digest.
 *
 * Except for the target's name, every target on every architecture must print the same line: same
 * rows, same score bits, same shadow bytes. csrc/tests/targets/compare_targets builds and compares.
 * Inputs are ratios of small integers, so they are the same floats everywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile.h"

enum { ROWS = 300, QUERIES = 40, DIM_MAX = 390, K = 7 };

static uint64_t digest = 1;

static void take(const void *bytes, size_t size) {
    uint64_t pair[2] = {digest, rag_hash(bytes, size)};
    digest = rag_hash(pair, sizeof pair);
}

static void must(enum rag_status status, const char *what) {
    if (status == RAG_OK) return;
    fprintf(stderr, "%s failed: status %d\n", what, (int)status);
    exit(1);
}

static float next_float(void) {
    static uint64_t state = 12345;
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (int)(state >> 48) - 32768;
    }
    return (float)sum / 65536.0f;
}

struct sink {
    uint8_t *bytes;
    size_t size;
};

static enum rag_status keep(void *context, const void *bytes, size_t size) {
    struct sink *sink = context;
    memcpy(sink->bytes + sink->size, bytes, size);
    sink->size += size;
    return RAG_OK;
}

static void search(const struct rag_matrix *matrix, const struct rag_shadow *shadow,
                   const float *queries, size_t count) {
    int64_t rows[QUERIES * K], every[ROWS];
    float scores[ROWS > QUERIES * K ? ROWS : QUERIES * K];
    struct rag_fault fault;
    for (int metric = RAG_COSINE; metric <= RAG_L2; metric++) {
        const struct rag_segment segment = {.matrix = matrix, .shadow = shadow};
        struct rag_question question = {.queries = queries,
                                        .count = count,
                                        .dim = matrix->dim,
                                        .metric = (enum rag_metric)metric,
                                        .k = K,
                                        .threads = 1};
        must(rag_nearest(&segment, 1, &question, rows, scores, &fault), "nearest");
        take(rows, count * K * sizeof *rows);
        take(scores, count * K * sizeof *scores);
        float least[QUERIES];
        for (size_t i = 0; i < count; i++) least[i] = scores[i * K + 2];
        question.least = least;
        must(rag_nearest(&segment, 1, &question, rows, scores, &fault), "nearest of least");
        take(scores, count * K * sizeof *scores);
        for (int64_t i = 0; i < ROWS; i++) every[i] = i;
        must(rag_scores(matrix, &question, every, ROWS, scores, &fault), "scores");
        take(scores, sizeof scores[0] * ROWS);
    }
}

static void sample(const float *rows, const float *query, uint32_t dim) {
    static double squares[ROWS];
    struct rag_fault fault;
    for (int metric = RAG_COSINE; metric <= RAG_L2; metric++) {
        struct rag_sample all = {rows, squares, ROWS, dim, (enum rag_metric)metric};
        double moments[2];
        must(rag_sample_squares(&all, &fault), "squares");
        must(rag_sample_moments(&all, query, &moments[0], &moments[1], &fault), "moments");
        take(moments, sizeof moments);
    }
}

static void work(const float *values, const float *queries, uint32_t dim) {
    struct rag_matrix matrix = {
        .guard = {.bytes = (const uint8_t *)values, .size = (size_t)ROWS * dim * 4},
        .stride = 4 * dim,
        .count = ROWS,
        .dim = dim,
        .scalar = RAG_F32};
    struct rag_shadow shadow;
    struct rag_fault fault;
    struct sink sink = {malloc(rag_shadow_size(&matrix, NULL)), 0};
    must(rag_matrix_check(&matrix, &fault), "matrix");
    must(rag_shadow_build(&matrix, NULL, keep, &sink, &fault), "build");
    take(sink.bytes, sink.size);
    const struct rag_guard section = {.bytes = sink.bytes, .size = sink.size};
    must(rag_shadow_open(&shadow, &section, &matrix, &fault), "open");
    for (size_t count = 2; count <= QUERIES; count += 19) {
        search(&matrix, NULL, queries, count);
        search(&matrix, &shadow, queries, count);
    }
    matrix.scalar =
        RAG_F16; /* the same bytes as halves: NaN, infinities and subnormals among them */
    matrix.stride = 2 * dim;
    search(&matrix, NULL, queries, 2);
    matrix.big_endian = true;
    search(&matrix, NULL, queries, 2);
    sample(values, queries, dim);
    free(sink.bytes);
}

/* Rows with dependent dimensions, so that a rotation pays. */
static void work_rotated(void) {
    enum { COUNT = 5003, DIM = 96 };
    static float rows[COUNT * DIM];
    struct rag_matrix matrix = {.guard = {.bytes = (const uint8_t *)rows, .size = sizeof rows},
                                .stride = 4 * DIM,
                                .count = COUNT,
                                .dim = DIM,
                                .scalar = RAG_F32};
    struct rag_rotation *rotation;
    struct rag_shadow shadow;
    struct rag_fault fault;
    int64_t found[QUERIES * K];
    float scores[QUERIES * K];
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < DIM; j++)
            rows[i * DIM + j] = j < 8 ? next_float() + 0.25f
                                      : rows[i * DIM + j % 8] * (float)(j % 5) / 4 +
                                            next_float() * (float)(DIM - j) / 512;
    must(rag_rotation_choose(&matrix, &rotation, &fault), "choose");
    must(rotation ? RAG_OK : RAG_ARGUMENT, "a rotation");
    struct sink sink = {malloc(rag_shadow_size(&matrix, rotation)), 0};
    must(rag_shadow_build(&matrix, rotation, keep, &sink, &fault), "build planes");
    take(sink.bytes, sink.size);
    const struct rag_guard section = {.bytes = sink.bytes, .size = sink.size};
    must(rag_shadow_open(&shadow, &section, &matrix, &fault), "open planes");
    const struct rag_segment segment = {.matrix = &matrix, .shadow = &shadow};
    for (int metric = RAG_COSINE; metric <= RAG_L2; metric++)
        for (size_t count = 2; count <= QUERIES; count += 19) {
            const struct rag_question question = {.queries = rows + 1000 * DIM,
                                                  .count = count,
                                                  .dim = DIM,
                                                  .metric = (enum rag_metric)metric,
                                                  .k = K,
                                                  .threads = 1};
            must(rag_nearest(&segment, 1, &question, found, scores, &fault), "nearest in planes");
            take(found, count * K * sizeof *found);
            take(scores, count * K * sizeof *scores);
        }
    rag_rotation_free(rotation);
    free(sink.bytes);
}

int main(void) {
    static const uint32_t dims[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 70, 127, 129, 384};
    static float values[ROWS * DIM_MAX], queries[QUERIES * DIM_MAX];
    must(rag_init(NULL), "init");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) values[i] = next_float();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) queries[i] = next_float();
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) work(values, queries, dims[i]);
    work_rotated();
    printf("%s %016llx\n", rag_target(), (unsigned long long)digest);
    return 0;
}
