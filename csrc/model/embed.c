/* embed.c - the embedded model: a mapped file of 4-bit rows, and texts to vectors with it.
 *
 * A text's vector is the sum of its pieces' rows, each times its piece's coefficient (the row's
 * scale times the weight of the piece), divided by its length. The sum is in integers and therefore
 * exact: neither the order of the pieces nor the width of a register can change it. The division is
 * the only rounding: the length is taken in binary64 in 16 lanes and a fixed tree, as every sum of
 * this library is.
 *
 * Rows store each component plus 8 in 4 bits, so 8 times the coefficients' sum is subtracted at the
 * end. */
#include <math.h>

#include "ragfile/machine.h"
#include "model/wordpiece.h"
#include "shared/fail.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"

/* -------------------------------------------------------------------------------------- opening */

struct extents {
    uint64_t at[4], size[4]; /* rows, coefficients, buckets, words */
};

static enum rag_status read_counts(const uint8_t *bytes, struct rag_model *model,
                                   struct rag_fault *fault) {
    model->dims = load_u32(bytes + MODEL_DIMS_AT);
    model->count = load_u32(bytes + MODEL_WORDS_AT);
    model->bucket_bits = load_u32(bytes + MODEL_BUCKET_BITS_AT);
    model->unknown = load_u32(bytes + MODEL_UNKNOWN_AT);
    model->longest = load_u32(bytes + MODEL_LONGEST_AT);
    model->name = (const char *)bytes + MODEL_NAME_AT;
    if (model->dims < 32 || model->dims > MODEL_DIMS_MAX || model->dims % 32 != 0)
        return rag_fail(fault, RAG_LIMIT, MODEL_DIMS_AT,
                        "model: dims must be a multiple of 32 up to 1024");
    if (model->count < 1 || model->count > MODEL_WORDS_MAX)
        return rag_fail(fault, RAG_LIMIT, MODEL_WORDS_AT, "model: between 1 and 65535 words");
    if (model->bucket_bits < 1 || model->bucket_bits > MODEL_BUCKET_BITS_MAX)
        return rag_fail(fault, RAG_LIMIT, MODEL_BUCKET_BITS_AT,
                        "model: between 1 and 20 bucket bits");
    if (model->unknown >= model->count)
        return rag_fail(fault, RAG_FORMAT, MODEL_UNKNOWN_AT,
                        "model: the unknown word is not in the vocabulary");
    if (model->longest < 1 || model->longest > 255)
        return rag_fail(fault, RAG_LIMIT, MODEL_LONGEST_AT,
                        "model: the longest piece has 1 to 255 bytes");
    if (bytes[MODEL_NAME_AT + MODEL_NAME_SIZE - 1] != 0)
        return rag_fail(fault, RAG_FORMAT, MODEL_NAME_AT, "model: the name does not end");
    return RAG_OK;
}

/* Read the four sections, which must be in order inside the file, with the slack after the last. */
static enum rag_status read_extents(const uint8_t *bytes, uint64_t size,
                                    const struct rag_model *model, struct extents *parts,
                                    struct rag_fault *fault) {
    uint64_t end = MODEL_HEAD;
    parts->size[0] = (uint64_t)model->count * model->dims / 2;
    parts->size[1] = (uint64_t)model->count * 2;
    parts->size[2] = (((uint64_t)1 << model->bucket_bits) + 1) * 4;
    for (int i = 0; i < 4; i++) {
        const uint64_t at = parts->at[i] = load_u64(bytes + MODEL_SECTIONS_AT + 8 * i);
        if (at < end || at > size - MODEL_SLACK || at % 64 != 0)
            return rag_fail(fault, RAG_FORMAT, (uint64_t)(MODEL_SECTIONS_AT + 8 * i),
                            "model: a section lies elsewhere");
        if (i == 3) parts->size[3] = load_u32(bytes + parts->at[2] + parts->size[2] - 4);
        if (parts->size[i] > size - MODEL_SLACK - at)
            return rag_fail(fault, RAG_FORMAT, at, "model: a section does not fit");
        end = at + parts->size[i];
    }
    return RAG_OK;
}

/* Check one piece of the word section; return its size in bytes, 0 if it breaks a rule. */
static size_t read_piece(struct rag_model *model, const uint8_t *piece, size_t room) {
    if (room < PIECE_HEAD || piece[2] == 0 || (size_t)PIECE_HEAD + piece[2] > room) return 0;
    if (load_u16(piece) >= model->count || piece[3] >= PIECE_KINDS || piece[2] > model->longest)
        return 0;
    if (piece[3] == PIECE_SPECIAL) {
        if (piece[PIECE_HEAD] != '[' || model->special_count == RAG_MODEL_SPECIALS) return 0;
        model->specials[model->special_count++] = piece;
    }
    return (size_t)PIECE_HEAD + piece[2];
}

/* Check that every bucket consists of whole pieces, end to end, and that all pieces number `words`,
 * so that lookups need no checks. */
static enum rag_status read_words(struct rag_model *model, uint64_t words_size,
                                  struct rag_fault *fault) {
    const size_t buckets = (size_t)1 << model->bucket_bits;
    uint64_t at = 0, pieces = 0;
    if (load_u32(model->buckets) != 0)
        return rag_fail(fault, RAG_FORMAT, 0, "model: the first bucket begins late");
    for (size_t b = 0; b < buckets; b++) {
        const uint64_t end = load_u32(model->buckets + 4 * (b + 1));
        if (end < at || end > words_size)
            return rag_fail(fault, RAG_FORMAT, b, "model: the buckets are out of order");
        while (at < end) {
            const size_t size = read_piece(model, model->words + at, end - at);
            if (size == 0) return rag_fail(fault, RAG_FORMAT, at, "model: a word is malformed");
            at += size;
            pieces++;
        }
    }
    if (pieces != model->count)
        return rag_fail(fault, RAG_FORMAT, MODEL_WORDS_AT, "model: not as many pieces as words");
    return RAG_OK;
}

enum rag_status rag_model_open(const void *file, size_t size, struct rag_model *model,
                               struct rag_fault *fault) {
    const uint8_t *bytes = file;
    struct extents parts;
    memset(model, 0, sizeof *model);
    if (size < MODEL_HEAD + MODEL_SLACK || memcmp(bytes, "RAGMODEL", 8) != 0)
        return rag_fail(fault, RAG_FORMAT, 0, "not a model file");
    if (load_u32(bytes + MODEL_VERSION_AT) != MODEL_VERSION)
        return rag_fail(fault, RAG_VERSION, MODEL_VERSION_AT,
                        "model: a version that this ragfile does not know");
    if (load_u64(bytes + MODEL_SIZE_AT) != size)
        return rag_fail(fault, RAG_CORRUPT, MODEL_SIZE_AT,
                        "model: the file is not as long as it says");
    if (rag_hash(bytes + MODEL_NAME_AT, size - MODEL_NAME_AT) != load_u64(bytes + MODEL_HASH_AT))
        return rag_fail(fault, RAG_CORRUPT, MODEL_HASH_AT, "model: the checksum does not match");
    enum rag_status status = read_counts(bytes, model, fault);
    if (status == RAG_OK) status = read_extents(bytes, size, model, &parts, fault);
    if (status != RAG_OK) return status;
    model->rows = bytes + parts.at[0];
    model->coefficients = bytes + parts.at[1];
    model->buckets = bytes + parts.at[2];
    model->words = bytes + parts.at[3];
    return read_words(model, parts.size[3], fault);
}

/* --------------------------------------------------------------------------------------- tokens */

struct id_list {
    struct id_sink sink;
    uint32_t *out;
    size_t capacity, count;
};

static void list_ids(struct id_sink *sink) {
    struct id_list *list = (struct id_list *)sink;
    for (size_t i = 0; i < sink->count; i++, list->count++)
        if (list->count < list->capacity) list->out[list->count] = sink->ids[i];
    sink->count = 0;
}

size_t rag_model_tokens(const struct rag_model *model, const void *text, size_t size, uint32_t *ids,
                        size_t capacity) {
    struct id_list list = {.sink.flush = list_ids, .out = ids, .capacity = capacity};
    rag_wordpiece_read(model, text, size, &list.sink, NULL);
    return list.count;
}

static void drop_ids(struct id_sink *sink) { sink->count = 0; }

double rag_model_known(const struct rag_model *model, const void *text, size_t size) {
    struct id_sink sink = {.flush = drop_ids};
    struct known known = {0};
    rag_wordpiece_read(model, text, size, &sink, &known);
    return known.bytes ? (double)known.shares / ((double)known.bytes * (1 << KNOWN_BITS)) : 1;
}

/* -------------------------------------------------------------------------------------- pooling */

struct pooling {
    struct id_sink sink;
    const struct rag_model *model;
    void (*add_rows)(const struct rag_model *model, const uint32_t *ids, size_t count,
                     int64_t *sums);
    int64_t coefficients; /* their sum */
    int64_t *sums;
};

static inline int32_t coefficient(const struct rag_model *model, uint32_t id) {
    return (int16_t)load_u16(model->coefficients + 2 * (size_t)id);
}

/* sums[j] += coefficient * (row[j] + 8), for up to IDS_MAX ids: 256 * 2^15 * 15 fits 32 bits.
 * Four rows per step, so that sums are read and written once for four; missing rows have
 * coefficient 0. */
static inline __attribute__((always_inline)) void add_rows(const struct rag_model *model,
                                                           const uint32_t *ids, size_t count,
                                                           int64_t *sums) {
    const size_t half = model->dims / 2;
    int32_t low[MODEL_DIMS_MAX / 2] = {0}, high[MODEL_DIMS_MAX / 2] = {0};
    for (size_t i = 0; i < count; i += 4) {
        const uint8_t *row[4];
        int32_t c[4];
        for (size_t k = 0; k < 4; k++) {
            const uint32_t id = ids[i + k < count ? i + k : i];
            row[k] = model->rows + id * half;
            c[k] = i + k < count ? coefficient(model, id) : 0;
        }
        for (size_t k = i + 8; k < i + 12 && k < count; k++)
            for (size_t at = 0; at < half; at += 64)
                __builtin_prefetch(model->rows + ids[k] * half + at);
        const uint8_t *restrict a = row[0], *restrict b = row[1], *restrict p = row[2],
                                *restrict q = row[3];
        for (size_t j = 0; j < half; j++) {
            low[j] +=
                c[0] * (a[j] & 15) + c[1] * (b[j] & 15) + c[2] * (p[j] & 15) + c[3] * (q[j] & 15);
            high[j] +=
                c[0] * (a[j] >> 4) + c[1] * (b[j] >> 4) + c[2] * (p[j] >> 4) + c[3] * (q[j] >> 4);
        }
    }
    for (size_t j = 0; j < half; j++) sums[j] += low[j], sums[half + j] += high[j];
}

static void add_rows_baseline(const struct rag_model *model, const uint32_t *ids, size_t count,
                              int64_t *sums) {
    add_rows(model, ids, count, sums);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void add_rows_avx2(const struct rag_model *model,
                                                          const uint32_t *ids, size_t count,
                                                          int64_t *sums) {
    add_rows(model, ids, count, sums);
}
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))) static void add_rows_avx512(
    const struct rag_model *model, const uint32_t *ids, size_t count, int64_t *sums) {
    add_rows(model, ids, count, sums);
}
#endif

static void pool_ids(struct id_sink *sink) {
    struct pooling *pooling = (struct pooling *)sink;
    for (size_t i = 0; i < sink->count; i++)
        pooling->coefficients += coefficient(pooling->model, sink->ids[i]);
    pooling->add_rows(pooling->model, sink->ids, sink->count, pooling->sums);
    sink->count = 0;
}

/* Scale the sums to a vector of length 1; zeros if no piece of the text has a weight. */
static void normalise(const int64_t *sums, size_t dims, float *out) {
    double lanes[16] = {0};
    for (size_t j = 0; j < dims; j++) lanes[j % 16] += (double)sums[j] * (double)sums[j];
    for (size_t apart = 8; apart > 0; apart /= 2)
        for (size_t j = 0; j < apart; j++) lanes[j] += lanes[j + apart];
    const double length = sqrt(lanes[0]);
    for (size_t j = 0; j < dims; j++) out[j] = length > 0 ? (float)((double)sums[j] / length) : 0;
}

static void embed_text(const struct rag_model *model, const uint8_t *text, size_t size,
                       float *out) {
    int64_t sums[MODEL_DIMS_MAX] = {0};
    struct pooling pooling = {
        .sink.flush = pool_ids, .model = model, .add_rows = add_rows_baseline, .sums = sums};
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX512) pooling.add_rows = add_rows_avx512;
    else if (rag_cpu & RAG_CPU_AVX2) pooling.add_rows = add_rows_avx2;
#endif
    rag_wordpiece_read(model, text, size, &pooling.sink, NULL);
    for (size_t j = 0; j < model->dims; j++) sums[j] -= 8 * pooling.coefficients;
    normalise(sums, model->dims, out);
}

enum { TEXTS_PER_TASK = 16 };

struct embedding {
    const struct rag_model *model;
    const uint8_t *const *texts;
    const size_t *sizes;
    size_t count;
    float *out;
};

static void embed_some(void *context, size_t task) {
    const struct embedding *all = context;
    const size_t from = task * TEXTS_PER_TASK,
                 to = from + TEXTS_PER_TASK < all->count ? from + TEXTS_PER_TASK : all->count;
    for (size_t i = from; i < to; i++)
        embed_text(all->model, all->texts[i], all->sizes[i], all->out + i * all->model->dims);
}

void rag_model_embed(const struct rag_model *model, const uint8_t *const *texts,
                     const size_t *sizes, size_t count, int threads, float *out) {
    struct embedding all = {model, texts, sizes, count, out};
    rag_parallel((count + TEXTS_PER_TASK - 1) / TEXTS_PER_TASK, threads, embed_some, &all);
}
