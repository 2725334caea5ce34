/* vector_queries.c - queries by vector: matrices, the embedded model, the sample that calibrates
 * fusion. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile/bits.h"
#include "ragfile/fusion.h"
#include "ragfile/model.h"
#include "container/format.h"
#include "doors/wasm/wasm.h"
#include "shared/fail.h"
#include "vectors/vectors.h"

enum { SAMPLE = 1024 };

static struct rag_model model;
static struct rag_segment *legs;
static struct segment **searched;
static size_t leg_count;
static uint32_t dim;
static struct rag_sample sample;
static float *sample_rows;

/* ------------------------------------------------------------------------------------- matrices */

static enum rag_status open_matrix(struct segment *segment) {
    const uint32_t number = segment->record.number;
    struct rag_guard guard;
    struct rag_vectors head;
    struct rag_entry entry;
    bool found;
    if (segment->has_matrix) return RAG_OK;
    enum rag_status status = section_guard("vector", number, &guard, &found);
    if (status == RAG_OK && !found)
        status = rag_fail(&fault, RAG_ARGUMENT, 0, "a segment has no vectors");
    if (status != RAG_OK) return status;
    rag_reader_entry(file.reader, (uint32_t)rag_reader_find(file.reader, "vector", number), &entry);
    status = rag_vector_open(&guard, entry.at, &head, &fault);
    if (status == RAG_OK && head.rows != segment->record.rows)
        status = rag_fail(&fault, RAG_CORRUPT, head.rows,
                          "a segment has another number of rows than of vectors");
    if (status != RAG_OK) return status;
    segment->matrix = (struct rag_matrix){.guard = guard,
                                          .at = head.at,
                                          .stride = head.stride,
                                          .count = head.rows,
                                          .dim = head.dim,
                                          .scalar = head.bits == 16 ? RAG_F16 : RAG_F32};
    status = rag_matrix_check(&segment->matrix, &fault);
    segment->has_matrix = status == RAG_OK;
    return status;
}

static enum rag_status open_shadow(struct segment *segment) {
    struct rag_guard guard;
    bool found;
    if (segment->has_shadow) return RAG_OK;
    enum rag_status status = section_guard("rag.planes", segment->record.number, &guard, &found);
    if (status == RAG_OK && !found)
        status = section_guard("rag.shadow", segment->record.number, &guard, &found);
    if (status != RAG_OK || !found) return status;
    status = rag_shadow_open(&segment->shadow, &guard, &segment->matrix, &fault);
    segment->has_shadow = status == RAG_OK;
    return status;
}

/* Read the rows without a vector: none, those of rag.bare, or all of a segment without vectors. */
static enum rag_status read_bare(struct segment *segment) {
    const uint64_t rows = segment->record.rows, words = (rows + 63) / 64;
    struct rag_guard guard;
    bool found;
    if (segment->knows_bare) return RAG_OK;
    enum rag_status status = section_guard(BARE_NAME, segment->record.number, &guard, &found);
    if (status == RAG_OK && found && guard.size < 8 * words)
        status = rag_fail(&fault, RAG_CORRUPT, rows, "a bitmap is too small for its rows");
    if (status == RAG_OK && found) status = rag_guard_check(&guard, 0, guard.size, &fault);
    if (status != RAG_OK) return status;
    segment->with_vector = segment->record.live;
    if (found) {
        if (!segment->embedded) segment->embedded = malloc((size_t)(8 * words) + 8);
        if (!segment->embedded) return rag_fail(&fault, RAG_MEMORY, 0, "no memory");
        rag_bitmap_rest(rag_guard_at(&guard, 0), rows, segment->embedded);
        for (uint64_t w = 0; segment->alive && w < words; w++)
            segment->embedded[w] &= segment->alive[w];
        segment->with_vector = rag_bits_count(segment->embedded, rows);
    }
    segment->knows_bare = true;
    return RAG_OK;
}

const uint64_t *segment_sampled(const struct segment *segment) {
    return segment->embedded ? segment->embedded : segment->alive;
}

static enum rag_status add_leg(struct segment *segment) {
    enum rag_status status = read_bare(segment);
    if (status != RAG_OK || segment->with_vector == 0) return status;
    status = open_matrix(segment);
    if (status == RAG_OK) status = open_shadow(segment);
    if (status != RAG_OK) return status;
    if (leg_count == 0) dim = segment->matrix.dim;
    if (segment->matrix.dim != dim)
        return rag_fail(&fault, RAG_ARGUMENT, segment->matrix.dim,
                        "segments must have the same metric and dimensions");
    legs[leg_count] = (struct rag_segment){.matrix = &segment->matrix,
                                           .shadow = segment->has_shadow ? &segment->shadow : NULL};
    searched[leg_count++] = segment;
    return RAG_OK;
}

/* Open the vectors of all segments with live rows that have some; *dimension gets their
 * dimension. */
EXPORT(vectors_open) int vectors_open(uint32_t *dimension) {
    enum rag_status status = RAG_OK;
    if (!legs) legs = calloc(file.count + 1, sizeof *legs);
    if (!searched) searched = calloc(file.count + 1, sizeof *searched);
    if (!legs || !searched) return (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    leg_count = 0;
    for (size_t i = 0; i < file.count; i++) {
        if (file.segments[i].record.live == 0) continue;
        const enum rag_status one = add_leg(&file.segments[i]);
        if (one != RAG_OK && one != RAG_SOURCE) return (int)one;
        if (one != RAG_OK) status = one;
    }
    *dimension = dim;
    return (int)status;
}

EXPORT(vectors_segments) size_t vectors_segments(void) { return leg_count; }

/* Return the bytes that a search must hold at once: the shadows, and vectors without a shadow. */
EXPORT(vectors_size) double vectors_size(void) {
    double size = 0;
    for (size_t i = 0; i < leg_count; i++)
        size += (double)(legs[i].shadow ? legs[i].shadow->guard.size : legs[i].matrix->guard.size);
    return size;
}

static enum rag_status check_query(const float *query, size_t size) {
    if (size != dim)
        return rag_fail(&fault, RAG_ARGUMENT, size,
                        "the query has another dimension than the vectors");
    const size_t bad = rag_first_not_finite(query, size);
    if (bad < size)
        return rag_fail(&fault, RAG_ARGUMENT, bad, "a query's component is not a finite number");
    return RAG_OK;
}

/* Find the k best rows of the file; *kept gets their count. Rows and scores have room for k per
 * segment. */
EXPORT(vectors_nearest)
int vectors_nearest(const float *query, size_t size, size_t k, float least, int64_t *rows,
                    float *scores, size_t *kept) {
    enum rag_status status = check_query(query, size);
    for (size_t i = 0; i < leg_count; i++)
        legs[i].where = searched[i]->where ? searched[i]->where : searched[i]->alive;
    const struct rag_question ask = {.queries = query,
                                     .count = 1,
                                     .dim = dim,
                                     .metric = file.metric,
                                     .k = k,
                                     .threads = 1,
                                     .least = least > -INFINITY ? &least : NULL};
    *kept = 0;
    if (status == RAG_OK && k > 0)
        status = rag_nearest(legs, leg_count, &ask, rows, scores, &fault);
    if (status != RAG_OK || k == 0) return (int)status;
    for (size_t i = 0; i < leg_count * k; i++)
        if (rows[i] >= 0) rows[i] += (int64_t)searched[i / k]->base;
    status = rag_rank(rows, scores, k * leg_count, k, kept, &fault);
    if (status == RAG_OK && leg_count > 1) status = order_ties(rows, scores, *kept);
    if (status == RAG_OK && *kept > k) *kept = k;
    return (int)status;
}

static enum rag_status want_row(uint64_t row) {
    const struct segment *segment = segment_of(row);
    if (!segment || !segment->has_matrix) return RAG_OK;
    return rag_matrix_touch(&segment->matrix, row - segment->base, 1, &fault);
}

static enum rag_status bring_rows(const int64_t *rows, size_t count) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count; i++) {
        const enum rag_status one = want_row((uint64_t)rows[i]);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
    }
    return status;
}

/* Compute the canonical scores of rows of the file; NaN for one without a vector. */
EXPORT(vectors_score)
int vectors_score(const float *query, size_t size, const int64_t *rows, size_t count,
                  float *scores) {
    enum rag_status status = check_query(query, size);
    const struct rag_question ask = {
        .queries = query, .count = 1, .dim = dim, .metric = file.metric, .threads = 1};
    if (status == RAG_OK) status = bring_rows(rows, count);
    for (size_t i = 0; status == RAG_OK && i < count; i++) {
        const struct segment *segment = segment_of((uint64_t)rows[i]);
        scores[i] = NAN;
        if (!segment || !segment->has_matrix) continue;
        const int64_t row = rows[i] - (int64_t)segment->base;
        status = rag_scores(&segment->matrix, &ask, &row, 1, &scores[i], &fault);
    }
    return (int)status;
}

/* Copy a row's stored vector as floats; NaN for a row of a segment that is not searched. */
EXPORT(vectors_row) int vectors_row(double row, float *out) {
    const struct segment *segment = segment_of((uint64_t)row);
    if (!segment) return (int)rag_fail(&fault, RAG_ARGUMENT, (uint64_t)row, "no such vector");
    for (uint32_t i = 0; !segment->has_matrix && i < dim; i++) out[i] = NAN;
    if (!segment->has_matrix) return RAG_OK;
    const uint64_t local = (uint64_t)row - segment->base;
    const enum rag_status status = rag_matrix_touch(&segment->matrix, local, 1, &fault);
    if (status != RAG_OK) return (int)status;
    memcpy(out, rag_matrix_floats(&segment->matrix, local, out), 4 * (size_t)segment->matrix.dim);
    return RAG_OK;
}

/* ------------------------------------------------------------------------------------ the model */

/* Open a model file; its bytes must stay in place. answer: dimensions, the name. */
EXPORT(model_open)
int model_open(const void *bytes, size_t size, uint32_t *dims, const char **name) {
    const enum rag_status status = rag_model_open(bytes, size, &model, &fault);
    *dims = model.dims, *name = model.name;
    return (int)status;
}

EXPORT(model_embed) void model_embed(const uint8_t *text, size_t size, float *out) {
    rag_model_embed(&model, &text, &size, 1, 1, out);
}

EXPORT(model_known) double model_known(const uint8_t *text, size_t size) {
    return rag_model_known(&model, text, size);
}

/* ----------------------------------------------------------------------------------- the sample */

struct picked {
    uint64_t hash;
    int64_t row;
    const struct rag_stored_sample *stored; /* the section that also stores its vector, or NULL */
    uint64_t place;
};

static int by_hash(const void *a, const void *b) {
    const struct picked *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool can_be_picked(const struct segment *segment, uint64_t row) {
    const uint64_t *rows = segment_sampled(segment);
    return !rows || (rows[row / 64] >> row % 64 & 1);
}

/* Pick the live entries of rag.sample; *enough is set if they suffice for a sample. */
static enum rag_status pick_stored(struct segment *segment, struct picked *out, size_t *count,
                                   bool *enough) {
    struct rag_stored_sample *stored = &segment->sample;
    const size_t before = *count;
    const uint64_t wanted = segment->with_vector < SAMPLE ? segment->with_vector : SAMPLE;
    enum rag_status status =
        section_guard("rag.sample", segment->record.number, &stored->guard, enough);
    if (status != RAG_OK || !*enough) return status;
    status = rag_stored_sample_open(stored, segment->record.rows, segment->matrix.dim,
                                    segment->matrix.scalar == RAG_F16 ? 16 : 32, &fault);
    for (uint64_t i = 0; status == RAG_OK && i < stored->count && *count - before < SAMPLE; i++) {
        uint64_t hash, row;
        rag_stored_sample_entry(stored, i, &hash, &row);
        if (can_be_picked(segment, row))
            out[(*count)++] = (struct picked){hash, (int64_t)(segment->base + row), stored, i};
    }
    *enough = *count - before >= wanted;
    if (!*enough) *count = before;
    return status;
}

/* Chunks, documents and ids are read sequentially. */
enum rag_status segment_records_whole(struct segment *segment) {
    enum rag_status status = segment_records(segment);
    if (status != RAG_OK) return status;
    const struct rag_records *r = &segment->records;
    const struct rag_want wants[] = {{&r->chunks, 0, r->chunks.size},
                                     {&r->documents, 0, r->documents.size},
                                     {&r->ids, 0, r->ids.size}};
    return rag_ready(wants, 3, &fault);
}

static enum rag_status pick_in(struct segment *segment, struct picked *out, size_t *count) {
    static uint64_t hashes[SAMPLE], rows[SAMPLE];
    size_t found = 0;
    bool enough = false;
    enum rag_status status = RAG_OK;
    if (!segment->has_matrix) return RAG_OK;
    status = pick_stored(segment, out, count, &enough);
    if (status != RAG_OK || enough) return status;
    status = segment_records_whole(segment);
    if (status == RAG_OK)
        status = rag_records_sample(&segment->records, segment_sampled(segment), hashes, rows,
                                    SAMPLE, &found, &fault);
    for (size_t i = 0; status == RAG_OK && i < found; i++)
        out[(*count)++] = (struct picked){hashes[i], (int64_t)(segment->base + rows[i]), NULL, 0};
    return status;
}

static enum rag_status pick(struct picked *all, size_t *count) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < file.count; i++) {
        const enum rag_status one = pick_in(&file.segments[i], all, count);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
    }
    qsort(all, *count, sizeof *all, by_hash);
    if (*count > SAMPLE) *count = SAMPLE;
    return status;
}

/* Copy the vector from rag.sample, or the row's own. */
static enum rag_status copy_vector(const struct picked *one, float *out) {
    if (!one->stored) return (enum rag_status)vectors_row((double)one->row, out);
    const struct rag_guard *guard = &one->stored->guard;
    const uint64_t width = (guard->size - one->stored->at) / one->stored->count;
    const uint8_t *bytes = rag_guard_at(guard, one->stored->at + one->place * width);
    if (width == 4 * (uint64_t)dim) memcpy(out, bytes, 4 * (size_t)dim);
    else rag_kernels()->widen_f16(bytes, out, dim);
    return RAG_OK;
}

static enum rag_status bring_vectors(const struct picked *all, size_t count) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count; i++) {
        if (all[i].stored) continue;
        const enum rag_status one = want_row((uint64_t)all[i].row);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
    }
    return status;
}

static enum rag_status copy_sample(const struct picked *all, size_t count) {
    float *rows = malloc(count * dim * sizeof(float) + 64);
    double *squares = malloc(count * sizeof(double) + 64);
    enum rag_status status = bring_vectors(all, count);
    if (!rows || !squares) status = rag_fail(&fault, RAG_MEMORY, 0, "no memory for a sample");
    for (size_t i = 0; status == RAG_OK && i < count; i++)
        status = copy_vector(&all[i], rows + i * dim);
    const struct rag_sample made = {rows, squares, count, dim, file.metric};
    if (status == RAG_OK) sample = made, sample_rows = rows;
    if (status == RAG_OK) status = rag_sample_squares(&sample, &fault);
    if (status == RAG_OK) return status;
    free(rows);
    free(squares);
    sample_rows = NULL;
    return status;
}

static enum rag_status make_sample(void) {
    struct picked *all = malloc(file.count * SAMPLE * sizeof *all + 64);
    size_t count = 0;
    if (!all) return rag_fail(&fault, RAG_MEMORY, 0, "no memory for a sample");
    enum rag_status status = pick(all, &count);
    if (status == RAG_OK) status = copy_sample(all, count);
    free(all);
    return status;
}

/* Compute mean and deviation of a query's scores over the file's sample. */
EXPORT(sample_moments) int sample_moments(const float *query, size_t size, double *moments) {
    enum rag_status status = check_query(query, size);
    if (status == RAG_OK && !sample_rows) status = make_sample();
    if (status == RAG_OK)
        status = rag_sample_moments(&sample, query, &moments[0], &moments[1], &fault);
    return (int)status;
}

/* -------------------------------------------------------------------------------------- fusion */

/* by: best, mean, deviation, weight. */
EXPORT(fusion_rank)
int fusion_rank(const struct rag_calibration *by, const float *bm25, const float *dense,
                const int64_t *ties, size_t count, int64_t *order, double *scores) {
    return (int)rag_calibrated_rank(by, bm25, dense, ties, count, order, scores, &fault);
}

EXPORT(fusion_weight) double fusion_weight(double recorded, double counted, double known) {
    return rag_calibrated_weight(recorded, counted, known);
}

EXPORT(fusion_least)
float fusion_least(const struct rag_calibration *by, const float *bm25, const float *dense,
                   size_t count, size_t k, float rest, int has_evidence) {
    return rag_calibrated_least(by, bm25, dense, count, k, rest, has_evidence);
}
