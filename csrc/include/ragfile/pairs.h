/* pairs.h - files of format 0.1.0: a text directory, then keyword and vector pairs. */
#ifndef RAGFILE_PAIRS_H
#define RAGFILE_PAIRS_H

#include "ragfile/status.h"

/* A file opens with 11 bytes (magic, version, byte order) and a textual directory of its sections,
 * name-(start,end), in which end is the last byte. spec/ has the grammar; these are its limits. */
enum {
    RAG_HEADER_SIZE = 11,
    RAG_NAME_MAX = 64,
    RAG_DIRECTORY_MAX = 65536,
    RAG_ENTRIES_MAX = 1024,
    RAG_KEYWORD_PREAMBLE = 17,
    RAG_VECTOR_PREAMBLE = 18,
    RAG_EXTENSION_SIZE = 32, /* RXV1, right after the vector preamble */
    RAG_KEYS_HEADER = 32,    /* of a rag.keys section */
};

struct rag_strategy {
    uint64_t start, end; /* absolute; end is the last byte, start - 1 when the section is empty */
    char name[RAG_NAME_MAX + 1];
};

struct rag_directory {
    uint8_t major, minor, patch;
    bool big_endian;
    uint32_t size; /* bytes from offset 11 through the last entry, NULs between them included */
    uint32_t count;
    struct rag_strategy *entries; /* in the order of the file; rag_directory_free */
};

/* Reads the front of a file, strictly: entries adjacent and in order, inside the file, names
 * unique. Versions 0.x and 1.x. On failure nothing needs freeing. */
enum rag_status rag_directory_read(const uint8_t *bytes, uint64_t size,
                                   struct rag_directory *directory, struct rag_fault *fault);

/* The same for the dialect of the 2025 reference script: a NUL after every entry, ends exclusive
 * (turned into inclusive ones here), start at the first pair instead of the preamble. size counts
 * the last NUL too. */
enum rag_status rag_directory_read_reference(const uint8_t *bytes, uint64_t size,
                                             struct rag_directory *directory,
                                             struct rag_fault *fault);
void rag_directory_free(struct rag_directory *directory);

/* Sets the first entry's start to the byte after the directory and its closing NUL, and
 * returns it. */
uint64_t rag_directory_place(struct rag_directory *directory, int digits);

/* Writes header, directory and closing NUL; *size gets the bytes used. Offsets have at least
 * `digits` digits (1.0 pads them to 20). RAG_LIMIT when they do not fit into capacity. */
enum rag_status rag_directory_write(const struct rag_directory *directory, int digits, uint8_t *out,
                                    size_t capacity, size_t *size, struct rag_fault *fault);

/* The pairs of one keyword or vector section. bytes[0] is the first pair's first byte, bytes[size -
 * 1] the last pair's last; nothing outside is ever read. */
struct rag_pairs {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t at;       /* file offset of bytes[0], for faults */
    uint8_t padding;   /* NULs between pairs: 4, 8 or 16 */
    uint8_t precision; /* bits of a component; 0 for keyword pairs */
    bool big_endian;
    bool extended;   /* the next five fields come from an RXV1 block */
    uint32_t dim;    /* 0: not known */
    uint32_t stride; /* bytes from pair to pair; 0: varies or not known */
    uint32_t flags;  /* RAG_EXTENSION_* */
    uint64_t count;
    uint64_t hash; /* XXH3-64 of the pairs, when RAG_EXTENSION_HASHED */
    uint64_t head; /* bytes that a pair's first half takes by width: dim * precision / 8; 0 for
                      keyword pairs */
};

enum { RAG_EXTENSION_HASHED = 1u };

/* Opens the section that starts at file offset `at`. Checks the preamble and the extension; the
 * pairs are checked as they are walked. A vector section without extension has dim 0:
 * rag_pairs_set_dim before walking it. */
enum rag_status rag_keyword_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                       bool big_endian, struct rag_pairs *pairs,
                                       struct rag_fault *fault);
enum rag_status rag_vector_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                      bool big_endian, struct rag_pairs *pairs,
                                      struct rag_fault *fault);
enum rag_status rag_pairs_set_dim(struct rag_pairs *pairs, uint64_t dim, struct rag_fault *fault);

/* The dimension of a vector section that does not record it: tries every one for a clean parse of
 * all pairs with finite components and UTF-8 contents, and puts up to `capacity` that fit into
 * dims, smallest first. RAG_LIMIT when that would take more work than a file deserves. */
enum rag_status rag_pairs_infer(const struct rag_pairs *pairs, uint32_t *dims, size_t capacity,
                                size_t *count, struct rag_fault *fault);

struct rag_pair {
    uint64_t at; /* from pairs->bytes, as content_at */
    uint64_t head_size;
    uint64_t content_at, content_size;
};

/* Reads the pair at *cursor and moves *cursor to the next, or to pairs->size after the last. The
 * caller starts at 0 and goes on while *cursor < pairs->size. */
enum rag_status rag_pairs_next(const struct rag_pairs *pairs, uint64_t *cursor,
                               struct rag_pair *pair, struct rag_fault *fault);

/* Walks all pairs. Writes the first `capacity` offsets when offsets is given; *stride gets the
 * distance between neighbours when it is the same for all (and a lone pair's own size plus
 * padding), else 0. */
enum rag_status rag_pairs_walk(const struct rag_pairs *pairs, uint64_t *offsets, uint64_t capacity,
                               uint64_t *count, uint64_t *stride, struct rag_fault *fault);

/* Copies the vectors of `count` pairs at the given offsets (NULL: row i at i * stride) to out,
 * row-major, in this host's byte order. RAG_ARGUMENT when one would leave the section. */
enum rag_status rag_pairs_gather(const struct rag_pairs *pairs, const uint64_t *offsets,
                                 uint64_t stride, uint64_t count, uint8_t *out,
                                 struct rag_fault *fault);

/* Spans of contents: at is an offset from pairs->bytes. */
struct rag_spans {
    struct rag_span {
        uint64_t at, size;
    } *items;
    size_t count, capacity;
};
void rag_spans_free(struct rag_spans *spans);

/* The contents of every pair with this keyword, in file order: the answer, or the fault, of a walk
 * over all pairs, at the speed of memory. */
enum rag_status rag_pairs_lookup(const struct rag_pairs *pairs, const uint8_t *key, size_t key_size,
                                 struct rag_spans *spans, struct rag_fault *fault);

/* rag.keys: the sorted companion of a keyword section. */
struct rag_keys {
    const uint8_t *entries; /* 16 bytes each: 8 of the keyword, u64 offset of its pair */
    uint64_t count;
    bool big_endian;
    uint64_t at; /* file offset of entries */
    uint64_t hash;
};
enum rag_status rag_keys_open(const uint8_t *section, uint64_t size, uint64_t at, bool big_endian,
                              const struct rag_pairs *pairs, struct rag_keys *keys,
                              struct rag_fault *fault);
enum rag_status rag_keys_lookup(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                const uint8_t *key, size_t key_size, struct rag_spans *spans,
                                struct rag_fault *fault);
/* Checks that lookups find everything: every pair once, ascending by (keyword, offset). */
enum rag_status rag_keys_verify(const struct rag_keys *keys, const struct rag_pairs *pairs,
                                struct rag_fault *fault);
/* Builds the section, RAG_KEYS_HEADER + 16 * count bytes, for `count` pairs (from rag_pairs_walk)
 * into section. */
enum rag_status rag_keys_build(const struct rag_pairs *pairs, uint64_t count, uint8_t *section,
                               struct rag_fault *fault);

/* Writing: the fixed parts, byte for byte. Pairs themselves are head, '-', content, with `padding`
 * NULs in between. */
void rag_keyword_preamble_write(const struct rag_pairs *pairs, uint8_t out[RAG_KEYWORD_PREAMBLE]);
/* Preamble and, when pairs->extended, the extension block after it. */
void rag_vector_preamble_write(const struct rag_pairs *pairs,
                               uint8_t out[RAG_VECTOR_PREAMBLE + RAG_EXTENSION_SIZE]);
/* Whether text can be a keyword (no '-' and no NUL) or content (no NUL): fault->at is the first bad
 * byte. */
enum rag_status rag_keyword_check(const uint8_t *text, size_t size, struct rag_fault *fault);
enum rag_status rag_content_check(const uint8_t *text, size_t size, struct rag_fault *fault);
/* Stores a row of this host's order in the file's; RAG_ARGUMENT when a component is NaN or infinite
 * and must not be. */
enum rag_status rag_row_write(const uint8_t *row, uint32_t dim, uint8_t precision, bool big_endian,
                              bool allow_nonfinite, uint8_t *out, struct rag_fault *fault);

/* The records that survive in a file of the reference script. Its writer rounds records up to a
 * multiple of the padding, so a record that needs no NUL runs into the next, and it puts the
 * directory over the first records. */
enum rag_survival {
    RAG_RECORD_CERTAIN,   /* the one reading of these bytes */
    RAG_RECORD_AMBIGUOUS, /* whole, but they could be one record or several */
    RAG_RECORD_DAMAGED    /* partly overwritten, or no record at all */
};
struct rag_remnants {
    struct rag_remnant {
        enum rag_survival kind;
        uint64_t at, size;    /* from pairs->bytes, without the NULs after */
        struct rag_pair pair; /* CERTAIN only */
    } *items;
    size_t count, capacity;
    bool clean; /* every byte that survives belongs to some record: padding and dim are plausible */
};

/* Opens a section of that dialect; index is its entry in the directory from
 * rag_directory_read_reference. *damaged gets the number of bytes of the pairs that the directory
 * overwrites. Padding and precision are 0 if it overwrites them too. */
enum rag_status rag_reference_open(const uint8_t *bytes, uint64_t size,
                                   const struct rag_directory *directory, uint32_t index,
                                   struct rag_pairs *pairs, uint64_t *damaged,
                                   struct rag_fault *fault);
/* Sorts all bytes of a section into remnants, in file order. Padding and (for vectors) precision
 * and dim must be set. */
enum rag_status rag_reference_walk(const struct rag_pairs *pairs, uint64_t damaged,
                                   struct rag_remnants *remnants, struct rag_fault *fault);
void rag_remnants_free(struct rag_remnants *remnants);

#endif
