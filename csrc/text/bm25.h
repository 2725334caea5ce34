/* bm25.h - shared by the files of the lexical engine: the sections' bytes, the canonical score, the
 * views on postings.
 *
 * rag.terms, little-endian:
 *      0   8  magic "RAGLEX1\0"
 *      8   8  rows                       16   8  terms
 *     24   8  total length               32   8  postings (pairs of a term and a row)
 *     40   8  size of rag.postings       48   8  k1, f64          56   8  b, f64
 *     64   4  size of the configuration  68   4  bytes of a length: 1, 2 or 4
 *     72   8  size of the dictionary     80   4  shortest length  84   4  longest length
 *     88  40  zero
 *    128   C  configuration (text), then zeros to a multiple of 8
 *          8B keys: the first 8 bytes of each block's first term, a big-endian number, zero-padded
 *          4B where each block starts in the dictionary, then zeros to a multiple of 8
 *          D  dictionary, then zeros to a multiple of 8
 *          lengths, one a row, then zeros to a multiple of 8, then 64 zeros of slack
 * with B = ceil(terms / 16). A block of the dictionary: u64 where its first posting list starts in
 * rag.postings, then up to 16 terms: u8 bytes shared with the term before, u8 further bytes, these,
 * varint df, then varint row, varint tf when df = 1, else varint size of its list; lists follow one
 * another in the order of terms.
 *
 * A short list (df <= 32): per row varint (row - row before) * 2 + (tf > 1), then varint tf if that
 * bit is set.
 * A long list: u8 m, u8 10th best code, u8 100th best code (0 where there is none), u8 0, u32
 * containers; per container u16 window, u16 rows - 1, u24 escapes * 2 + (1 for a dense one), u8
 * largest code; then each container's data:
 *   sparse  u16 row in window each, u8 code each
 *   dense   G = ceil(rows of the window / 64) groups: u64 bits each, u16 rows before the group
 *           each, u8 largest code of the group each; u8 code each row
 *   then per escape u16 index, u32 tf
 * rag.postings ends with 64 zeros of slack.
 *
 * A code bounds the score's tf part s = tf / (tf + K) from above: code = ceil(s * 255 * 256 / (m +
 * 1)), at most 255, where K uses the segment's own average length and (m + 1) / 256 is at least as
 * large as any s of the list. The tf of a row is the least t in 1..255 whose code is at least the
 * stored one, unless an escape gives it. */
#ifndef RAG_BM25_H
#define RAG_BM25_H

#include "ragfile/frequencies.h"
#include "ragfile/words.h"
#include "shared/array.h"
#include "shared/bytes.h"

enum {
    LEX_HEADER = 128,
    LEX_AT_ROWS = 8,
    LEX_AT_TERMS = 16,
    LEX_AT_TOTAL_LENGTH = 24,
    LEX_AT_POSTINGS = 32,
    LEX_AT_POSTINGS_SIZE = 40,
    LEX_AT_K1 = 48,
    LEX_AT_B = 56,
    LEX_AT_CONFIG_SIZE = 64,
    LEX_AT_LENGTH_WIDTH = 68,
    LEX_AT_DICTIONARY_SIZE = 72,
    LEX_AT_SHORTEST = 80,
    LEX_AT_LONGEST = 84,
    LEX_BLOCK = 16,
    LEX_SHORT = 32, /* largest df of a short list */
    LEX_SLACK = 64,
    LEX_LIST_HEAD = 8,
    LEX_CONTAINER = 8, /* bytes of a container's directory entry */
    LEX_ESCAPE = 6,
    LEX_WINDOW = 65536,
    LEX_GROUP = 64,
    LEX_GROUPS = LEX_WINDOW / LEX_GROUP,
    LEX_TERM_MAX = 255,
};
#define LEX_MAGIC "RAGLEX1"
#define LEX_ROWS_MAX ((uint64_t)1 << 32)

/* ----------------------------------------------------------------------------- canonical scores */

/* K of a row by its length, in binary64 and in this order of operations. */
struct rag_bm25_norm {
    double base, slope;
};

static inline struct rag_bm25_norm rag_bm25_norm_of(double k1, double b, uint64_t rows,
                                                    uint64_t total_length) {
    const double average = rows && total_length ? (double)total_length / (double)rows : 1.0;
    return (struct rag_bm25_norm){k1 * (1.0 - b), k1 * b / average};
}
static inline double rag_bm25_norm_at(struct rag_bm25_norm norm, uint32_t length) {
    return norm.base + norm.slope * (double)length;
}
static inline double rag_bm25_tf_part(double tf, double norm) { return tf / (tf + norm); }

/* The code of a tf part: a whole number in 0..255, with scale = 255 * 256 / (m + 1). */
static inline uint32_t rag_bm25_code(double part, double scale) {
    const double x = part * scale;
    uint32_t code = (uint32_t)x;
    code += (double)code < x;
    return code > 255 ? 255 : code;
}
static inline double rag_bm25_scale(uint32_t m) { return 255.0 * 256.0 / (double)(m + 1); }

/* -------------------------------------------------------------------------------------- varints */

enum { LEX_VARINT_MAX = 10 };

static inline size_t rag_bm25_varint_put(uint8_t *out, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) out[size++] = (uint8_t)(value | 0x80);
    out[size++] = (uint8_t)value;
    return size;
}

/* Read a varint at *at and advance. At `end`, or after ten bytes, return the part read so far;
 * never read beyond end. */
static inline uint64_t rag_bm25_varint_get(const uint8_t **at, const uint8_t *end) {
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) break;
    }
    return value;
}

/* -------------------------------------------------------------------------------------- buffers */

/* A growable byte buffer. When memory runs out, ok turns false for good and later writes do
 * nothing. */
struct rag_bm25_buffer {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};

uint8_t *rag_bm25_buffer_more(struct rag_bm25_buffer *buffer,
                              size_t size); /* append room for size bytes */
void rag_bm25_buffer_put(struct rag_bm25_buffer *buffer, const void *bytes, size_t size);
void rag_bm25_buffer_free(struct rag_bm25_buffer *buffer);
/* -------------------------------------------------------------------------------- string tables */

/* Distinct byte strings of 1..255 bytes, numbered from 0. */
struct rag_bm25_strings {
    struct rag_bm25_slot {
        uint64_t head; /* the first bytes */
        uint32_t hash, id_and_one;
    } *slots;
    uint8_t **texts;   /* by number: a size byte, then the string */
    size_t slot_count; /* a power of two */
    size_t count, text_capacity;
    struct rag_bm25_chunk *chunks;
    size_t memory; /* bytes held */
};

enum { LEX_NO_STRING = 0xFFFFFFFFu };
/* Return the number of a string, added if new (*is_new), or LEX_NO_STRING without memory. */

enum { LEX_DROPPED = 0x7FFFFFFFu, LEX_WHOLE = 0x80000000u };
struct rag_vocabulary {
    struct rag_bm25_strings words, terms;
    uint32_t *term_of; /* by word: number of its term or LEX_DROPPED, with LEX_WHOLE */
    size_t term_capacity;
    struct rag_bm25_buffer pending;
    size_t resolved; /* words below this number have their term */
    bool failed;
};

/* A language's code before its words, or nothing for those of language 0. */
struct rag_bm25_mark {
    uint8_t bytes[8];
    size_t size;
};
struct rag_bm25_mark rag_bm25_mark_of(size_t language);
/* Return the number of a word of a text, with the mark of its language, or LEX_NO_STRING without
 * memory. Wholes and words of scripts without spaces have no mark. */
uint32_t rag_bm25_vocabulary_marked(struct rag_vocabulary *vocabulary, struct rag_bm25_mark mark,
                                    const struct rag_word *word);
/* Return the number of a word, or LEX_NO_STRING without memory. */
uint32_t rag_bm25_vocabulary_word(struct rag_vocabulary *vocabulary, const uint8_t *word,
                                  size_t size, int kind);
/* Return the number of a word that equals its term; LEX_NO_STRING without memory or if it is too
 * long. */
uint32_t rag_bm25_vocabulary_term(struct rag_vocabulary *vocabulary, const uint8_t *term,
                                  size_t size);
void rag_bm25_vocabulary_clear(struct rag_vocabulary *vocabulary);

/* -------------------------------------------------------------------------------------- writing */

struct rag_bm25_posting {
    uint32_t row, tf;
};

/* Writes terms in order, with their rows, as the two sections. */
struct rag_bm25_writer {
    struct rag_sink postings;
    struct rag_bm25_norm norm;
    const uint32_t *lengths;
    uint64_t rows, postings_at, posting_count, terms;
    struct rag_bm25_buffer dictionary, keys, starts, list, codes;
    uint8_t last[LEX_TERM_MAX + 1];
    size_t last_size;
};

enum rag_status rag_bm25_writer_term(struct rag_bm25_writer *writer, const uint8_t *term,
                                     size_t size, const struct rag_bm25_posting *postings,
                                     size_t df, struct rag_fault *fault);
enum rag_status rag_bm25_writer_finish(struct rag_bm25_writer *writer, double k1, double b,
                                       const uint8_t *config, size_t config_size,
                                       struct rag_sink terms, struct rag_fault *fault);
void rag_bm25_writer_free(struct rag_bm25_writer *writer);

/* -------------------------------------------------------------------------------------- reading */

struct rag_lexicon {
    struct rag_guard terms, postings;
    struct rag_lexicon_info info;
    uint64_t blocks, keys_at, starts_at, dictionary_at, dictionary_size, lengths_at;
    uint64_t opened; /* its number among those that this process opened */
    uint32_t length_width, length_min, length_max;
    struct rag_bm25_field {
        struct rag_lexicon *lexicon; /* NULL for the first field, the remainder */
        uint32_t weight;             /* the build's weight */
    } *fields;                       /* one more than the fields, or NULL */
    size_t field_count;
    struct rag_bm25_scratches {
        struct rag_bm25_scratch *first;
        int lock;
    } scratches; /* a stack of working spaces for searches */
};

/* A term's entry in the dictionary; df is 0 if the segment lacks the term. */
struct rag_bm25_entry {
    uint64_t number;       /* of the term, in order */
    uint64_t df, at, size; /* list in rag.postings */
    uint32_t row, tf;      /* df == 1 */
};
enum rag_status rag_bm25_entry_find(const struct rag_lexicon *lexicon, const uint8_t *term,
                                    size_t size, struct rag_bm25_entry *entry,
                                    struct rag_fault *fault);

/* The number of rows of an entry that are in `where` (NULL for all). */
enum rag_status rag_bm25_entry_count(const struct rag_lexicon *lexicon,
                                     const struct rag_bm25_entry *entry, const uint64_t *where,
                                     uint64_t *df, struct rag_fault *fault);

/* The entries of the terms of queries in several lexicons, kept from the count of their rows for
 * the searches that follow: a look-up takes longer than anything else in a small segment. */
struct rag_bm25_known {
    const struct rag_query_term *terms; /* of all queries */
    size_t term_count, leg_count;
    uint64_t *opened;               /* by leg: the number of its lexicon */
    struct rag_bm25_entry *entries; /* [leg][term] */
};
/* Make room for the entries of all terms; NULL where that is too much. */
struct rag_bm25_known *rag_bm25_queries_know(struct rag_queries *queries, size_t leg_count);
/* The entries of terms that follow one another, in a lexicon; NULL if they are not known. */
const struct rag_bm25_entry *rag_bm25_known_in(const struct rag_lexicon *lexicon,
                                               const struct rag_query_term *terms, size_t count);

/* Visit the terms of a block of the dictionary with their df, until the visitor returns false. */
typedef bool rag_bm25_visitor(void *context, const uint8_t *term, size_t size, uint64_t rows);
enum rag_status rag_bm25_block_walk(const struct rag_lexicon *lexicon, uint64_t block,
                                    rag_bm25_visitor *visit, void *context,
                                    struct rag_fault *fault);
/* The last block whose first term can be before `term`: where a term from it on would begin. */
enum rag_status rag_bm25_block_before(const struct rag_lexicon *lexicon, const uint8_t *term,
                                      size_t size, uint64_t *block, struct rag_fault *fault);

/* Rows of one term in one window, in either encoding. Every member has been checked against the
 * section. */
struct rag_bm25_container {
    uint32_t window, count;
    uint32_t escapes;
    uint8_t dense, max;
    const uint8_t *rows;   /* sparse: u16 each; dense: the bits */
    const uint8_t *ranks;  /* dense: u16 each group */
    const uint8_t *maxima; /* dense: u8 each group */
    const uint8_t *codes;  /* u8 each row */
    const uint8_t
        *escaped;        /* u16 index, u32 tf each; NULL in a container decoded from a short list */
    const uint32_t *tfs; /* of a decoded short list */
};

/* Open and check a long list's head and containers; append the containers to a growing array. */
struct rag_bm25_list {
    uint32_t m, tenth, hundredth;
};
struct rag_bm25_containers {
    struct rag_bm25_container *items;
    size_t count, capacity;
};
enum rag_status rag_bm25_list_open(const struct rag_lexicon *lexicon,
                                   const struct rag_bm25_entry *entry, struct rag_bm25_list *list,
                                   struct rag_bm25_containers *containers, struct rag_fault *fault);
/* Read a short list's rows (or the one row of df 1): at most LEX_SHORT, strictly ascending, each
 * below the row count. */
enum rag_status rag_bm25_short_open(const struct rag_lexicon *lexicon,
                                    const struct rag_bm25_entry *entry,
                                    struct rag_bm25_posting out[LEX_SHORT], size_t *count,
                                    struct rag_fault *fault);

static inline uint32_t rag_bm25_window_width(const struct rag_lexicon *lexicon, uint32_t window) {
    const uint64_t rest = lexicon->info.rows - (uint64_t)window * LEX_WINDOW;
    return rest < LEX_WINDOW ? (uint32_t)rest : LEX_WINDOW;
}
static inline uint32_t rag_bm25_length_at(const struct rag_lexicon *lexicon, uint64_t row) {
    const uint8_t *at =
        rag_guard_at(&lexicon->terms, lexicon->lengths_at + row * lexicon->length_width);
    return lexicon->length_width == 2   ? load_u16(at)
           : lexicon->length_width == 1 ? *at
                                        : load_u32(at);
}

/* Return the index of `row` (in window) in a container, or UINT32_MAX. Any section bytes give an
 * index below count. */
uint32_t rag_bm25_container_find(const struct rag_bm25_container *container, uint32_t row,
                                 uint32_t *from);
/* Return the tf at an index. build_norm is the row's K by the segment's own statistics. */
uint32_t rag_bm25_container_tf(const struct rag_bm25_container *container, uint32_t index,
                               double build_norm, double scale);

/* Visit the terms of rag.frequencies in order, from the block that can contain `first`, until the
 * visitor returns false. */
enum rag_status rag_bm25_frequencies_walk(const struct rag_frequencies *f, const uint8_t *first,
                                          size_t size, rag_bm25_visitor *visit, void *context,
                                          struct rag_fault *fault);

#endif
