/* embed_write.c - write a model file: the vocabulary, the rows and their coefficients.
 *
 * embed.c opens this file; wordpiece.h has the table of its bytes. It holds a head and four
 * sections, each 64-aligned: rows of 4-bit components, one coefficient for each row, the buckets,
 * and the pieces of the vocabulary. The pieces are ordered by bucket and, within a bucket, by id: a
 * counting sort over the tokeniser's hash, so a lookup reads one bucket and stops.
 *
 * Call rag_model_write twice. With out NULL it returns the size of the file; the second call fills
 * exactly that many bytes. Unassigned bytes are zero, and the last step stores the hash of
 * everything from the name on. The same source gives the same bytes on every machine.
 *
 * The counts, kinds and sizes of the source are checked: RAG_ARGUMENT names the first that is out
 * of range. RAG_MEMORY is the only other failure. Components outside -8 .. 7 are not checked: they
 * lose their upper bits. The caller must round and clip them first. */
#include <stdlib.h>

#include "ragfile/machine.h"
#include "model/wordpiece.h"
#include "shared/fail.h"

static uint32_t bucket_of(const struct rag_model_source *source, size_t i) {
    uint8_t bytes[256 + MODEL_SLACK] = {0};
    memcpy(bytes, source->pieces[i], source->sizes[i]);
    return piece_bucket(piece_key(bytes, source->sizes[i]), source->sizes[i], source->kinds[i],
                        source->bucket_bits);
}

/* Compute the offsets of the sections; return the size of the file. */
static uint64_t place(const struct rag_model_source *source, uint64_t at[4]) {
    uint64_t words = 0;
    for (size_t i = 0; i < source->count; i++) words += PIECE_HEAD + source->sizes[i];
    at[0] = align_up(MODEL_HEAD, 64);
    at[1] = align_up(at[0] + (uint64_t)source->count * source->dims / 2, 64);
    at[2] = align_up(at[1] + (uint64_t)source->count * 2, 64);
    at[3] = align_up(at[2] + (((uint64_t)1 << source->bucket_bits) + 1) * 4, 64);
    return align_up(at[3] + words + MODEL_SLACK, 64);
}

static enum rag_status check_source(const struct rag_model_source *source,
                                    struct rag_fault *fault) {
    if (source->dims < 32 || source->dims > MODEL_DIMS_MAX || source->dims % 32 != 0)
        return rag_fail(fault, RAG_ARGUMENT, source->dims,
                        "dims must be a multiple of 32 up to 1024");
    if (source->count < 1 || source->count > MODEL_WORDS_MAX)
        return rag_fail(fault, RAG_ARGUMENT, source->count, "a model has 1 to 65535 words");
    if (source->bucket_bits < 1 || source->bucket_bits > MODEL_BUCKET_BITS_MAX)
        return rag_fail(fault, RAG_ARGUMENT, source->bucket_bits, "bucket bits are 1 to 20");
    if (source->unknown >= source->count)
        return rag_fail(fault, RAG_ARGUMENT, source->unknown,
                        "the unknown word is not in the vocabulary");
    if (source->name_size >= MODEL_NAME_SIZE)
        return rag_fail(fault, RAG_ARGUMENT, source->name_size,
                        "a model's name has up to 63 bytes");
    for (size_t i = 0; i < source->count; i++)
        if (source->sizes[i] < 1 || source->kinds[i] >= PIECE_KINDS ||
            (source->kinds[i] == PIECE_SPECIAL && source->pieces[i][0] != '['))
            return rag_fail(fault, RAG_ARGUMENT, i,
                            "a piece is empty, of no kind, or special without a bracket");
    return RAG_OK;
}

static void write_head(const struct rag_model_source *source, const uint64_t at[4], uint64_t size,
                       uint8_t *out) {
    uint32_t longest = 0;
    for (size_t i = 0; i < source->count; i++)
        if (source->sizes[i] > longest) longest = source->sizes[i];
    memcpy(out, "RAGMODEL", 8);
    store_u32(out + MODEL_VERSION_AT, MODEL_VERSION);
    store_u32(out + MODEL_DIMS_AT, source->dims);
    store_u32(out + MODEL_WORDS_AT, source->count);
    store_u32(out + MODEL_BUCKET_BITS_AT, source->bucket_bits);
    store_u32(out + MODEL_UNKNOWN_AT, source->unknown);
    store_u32(out + MODEL_LONGEST_AT, longest);
    for (int i = 0; i < 4; i++) store_u64(out + MODEL_SECTIONS_AT + 8 * i, at[i]);
    store_u64(out + MODEL_SIZE_AT, size);
    memcpy(out + MODEL_NAME_AT, source->name, source->name_size);
}

/* Store component j in the low half of byte j, component j + dims/2 in the high one, each plus
 * 8. */
static void write_rows(const struct rag_model_source *source, uint8_t *rows) {
    const size_t half = source->dims / 2;
    for (size_t i = 0; i < source->count; i++)
        for (size_t j = 0; j < half; j++) {
            const int8_t *row = source->rows + i * source->dims;
            rows[i * half + j] =
                (uint8_t)((row[j] + 8) & 15) | (uint8_t)(((row[half + j] + 8) & 15) << 4);
        }
}

/* Pieces by bucket, and by id within one: count, sum up, fill in. */
static enum rag_status write_words(const struct rag_model_source *source, uint8_t *buckets,
                                   uint8_t *words, struct rag_fault *fault) {
    const size_t count = (size_t)1 << source->bucket_bits;
    uint32_t *next = calloc(count + 1, sizeof *next);
    if (!next) return rag_fail(fault, RAG_MEMORY, 0, "out of memory");
    for (size_t i = 0; i < source->count; i++)
        next[bucket_of(source, i) + 1] += PIECE_HEAD + source->sizes[i];
    for (size_t b = 0; b < count; b++) next[b + 1] += next[b];
    for (size_t b = 0; b <= count; b++) store_u32(buckets + 4 * b, next[b]);
    for (size_t i = 0; i < source->count; i++) {
        uint32_t *at = &next[bucket_of(source, i)];
        store_u16(words + *at, (uint16_t)i);
        words[*at + 2] = source->sizes[i];
        words[*at + 3] = source->kinds[i];
        memcpy(words + *at + PIECE_HEAD, source->pieces[i], source->sizes[i]);
        *at += PIECE_HEAD + source->sizes[i];
    }
    free(next);
    return RAG_OK;
}

enum rag_status rag_model_write(const struct rag_model_source *source, uint8_t *out, size_t *size,
                                struct rag_fault *fault) {
    uint64_t at[4];
    enum rag_status status = check_source(source, fault);
    if (status != RAG_OK) return status;
    const uint64_t whole = place(source, at);
    if (out && *size != whole)
        return rag_fail(fault, RAG_ARGUMENT, *size, "the buffer is not as large as the model");
    *size = whole;
    if (!out) return RAG_OK;
    memset(out, 0, whole);
    write_head(source, at, whole, out);
    write_rows(source, out + at[0]);
    for (size_t i = 0; i < source->count; i++)
        store_u16(out + at[1] + 2 * i, (uint16_t)source->coefficients[i]);
    status = write_words(source, out + at[2], out + at[3], fault);
    store_u64(out + MODEL_HASH_AT, rag_hash(out + MODEL_NAME_AT, whole - MODEL_NAME_AT));
    return status;
}
