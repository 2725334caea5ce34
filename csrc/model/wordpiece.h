/* wordpiece.h - the tokeniser of the embedded model and the layout of its file.
 *
 * The model file, little-endian, its offsets from its own start; the sections come in this order,
 * each 64-aligned:
 *
 *     0     8   "RAGMODEL"
 *     8     4   version, 1
 *     12    4   dims: a multiple of 32, 32 .. 1024
 *     16    4   words: entries of the vocabulary and rows of the matrix, 1 .. 65535
 *     20    4   bucket_bits, 1 .. 20
 *     24    4   unknown: the id of [UNK]
 *     28    4   longest: bytes of the longest piece, 1 .. 255
 *     32    8   rows_at           words * dims / 2 bytes; byte j: dim j low, dim j + dims/2 high
 *     40    8   coefficients_at   words * i16
 *     48    8   buckets_at        (2^bucket_bits + 1) * u32: a bucket's first word, from words_at
 *     56    8   words_at          u16 id, u8 size, u8 kind, then size bytes; one after the other
 *     64    8   size of the whole file: the words are followed by at least 16 bytes
 *     72    8   xxh3-64 of everything from byte 80 on
 *     80    64  name: UTF-8, then NULs */
#ifndef RAG_WORDPIECE_H
#define RAG_WORDPIECE_H

#include "ragfile/model.h"
#include "shared/bytes.h"

enum {
    MODEL_VERSION_AT = 8,
    MODEL_DIMS_AT = 12,
    MODEL_WORDS_AT = 16,
    MODEL_BUCKET_BITS_AT = 20,
    MODEL_UNKNOWN_AT = 24,
    MODEL_LONGEST_AT = 28,
    MODEL_SECTIONS_AT = 32, /* four offsets: rows, coefficients, buckets, words */
    MODEL_SIZE_AT = 64,
    MODEL_HASH_AT = 72,
    MODEL_NAME_AT = 80,
    MODEL_NAME_SIZE = 64,
    MODEL_HEAD = 144,
    MODEL_VERSION = 1,
    MODEL_DIMS_MAX = 1024,
    MODEL_WORDS_MAX = 65535,
    MODEL_BUCKET_BITS_MAX = 20,
    MODEL_SLACK = 16, /* after the words: a piece is compared by two loads of eight bytes */
    PIECE_HEAD = 4,   /* id, size and kind before a piece's bytes */
    PIECE_START = 0,
    PIECE_CONTINUATION = 1,
    PIECE_SPECIAL = 2, /* matched in the text verbatim, e.g. [CLS]; begins with "[" */
    PIECE_KINDS = 3
};

/* A piece's first 16 bytes, zeros after its end. */
struct piece_key {
    uint64_t first, second;
};

/* Load a piece's key; at must have at least 16 readable bytes. */
static inline struct piece_key piece_key(const uint8_t *at, size_t size) {
    struct piece_key key = {load_u64(at), size > 8 ? load_u64(at + 8) : 0};
    if (size < 8) key.first &= ~(~0ull << 8 * size);
    else if (size > 8 && size < 16) key.second &= ~(~0ull << 8 * (size - 8));
    return key;
}

/* Return the only bucket that can hold a piece. */
static inline uint32_t piece_bucket(struct piece_key key, size_t size, unsigned kind,
                                    unsigned bucket_bits) {
    uint64_t h = (key.first + key.second * 0x9E3779B97F4A7C15ull + (4 * size + kind)) *
                 0xD6E8FEB86659FD93ull;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
    return (uint32_t)(h >> (64 - bucket_bits));
}

/* The receiver of tokens: ids accumulate here; flush takes them at IDS_MAX ids and at the end of
 * the text. */
enum { IDS_MAX = 256 };
struct id_sink {
    void (*flush)(struct id_sink *sink);
    size_t count;
    uint32_t ids[IDS_MAX];
};

/* The bytes of a text's words, as they are split, and the sum over the words of the known bytes
 * divided by the pieces, in units of 2^-KNOWN_BITS. Bytes are known in a piece of several
 * characters, and if they are ASCII: a vocabulary has the letters of every script, which mean
 * nothing. Punctuation counts for nothing. */
enum { KNOWN_BITS = 16 };
struct known {
    uint64_t bytes, shares;
};

/* Send the ids of a text's pieces to the sink, and count the known bytes unless known is NULL. Any
 * bytes are accepted; ill-formed UTF-8 is skipped. */
void rag_wordpiece_read(const struct rag_model *model, const uint8_t *text, size_t size,
                        struct id_sink *sink, struct known *known);

#endif
