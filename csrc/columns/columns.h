/* columns.h - shared by the files that make and read rag.columns.
 *
 *   columns_json.c    a JSON object taken apart: which path has which value
 *   columns_paths.c   the paths that were met, each with its distinct values and who has them
 *   columns_build.c   rows in, the section out
 *   columns_open.c    a section checked; a path and a value found in it
 *   columns_rows.c    the rows that have some values, as bits
 *   filter_rows.c     the rows that a filter passes
 */
#ifndef RAG_COLUMNS_H
#define RAG_COLUMNS_H

#include "ragfile/columns.h"
#include "columns/values.h"

/* ---------------------------------------------------------------------------------- the section */

enum {
    COLUMNS_HEAD = 64,
    COLUMNS_ROWS = 8,   /* u64 */
    COLUMNS_COUNT = 16, /* u32 */
    COLUMNS_FLAGS = 20, /* u32: COLUMNS_PARTIAL */
    COLUMNS_NAMES = 24, /* u64: bytes of the names */
    COLUMNS_ZERO = 32,
    COLUMNS_PARTIAL = 1, /* there may be paths that are not listed */

    COLUMN_ENTRY = 64,
    COLUMN_NAME = 0,      /* u32: offset among the names */
    COLUMN_NAME_SIZE = 4, /* u32 */
    COLUMN_FLAGS = 8,     /* u32 */
    COLUMN_WIDTH = 12,    /* u32: bytes of a code: 1, 2 or 4 */
    COLUMN_AT = 16,       /* u64: of its data, a multiple of 64 */
    COLUMN_SPECIAL = 24,  /* u32: 1 null, 2 false, 4 true are among the values */
    COLUMN_NUMBERS = 28,  /* u32 */
    COLUMN_TEXTS = 32,    /* u32 */
    COLUMN_LISTS = 36,    /* u32 */
    COLUMN_OBJECTS = 40,  /* u32 */
    COLUMN_ZERO = 44,     /* u32 */
    COLUMN_BLOB = 48,     /* u64: bytes of texts, lists and objects */
    COLUMN_ZERO_2 = 56,

    COLUMN_IS_TAGS = 1,
    COLUMN_IS_ABSENT = 2, /* not stored: its values are in rag.meta alone */
    COLUMN_HAS_RESTS = 4,

    COLUMNS_MAX = 1024,
    ZONE_ROWS = 4096,
    ZONE_SIZE = 8, /* u32 smallest code, u32 largest */
};
#define COLUMNS_MAGIC "RAGCOLS1"

/* Positions of the parts of a column in its data, computed from its entry. */
struct rag_column_parts {
    uint64_t zones, codes, numbers, rests, offsets, blob, end;
};
/* False if a size does not fit. */
bool rag_column_parts(struct rag_column_parts *parts, uint64_t rows, uint32_t width,
                      uint64_t numbers, bool has_rests, uint64_t others, uint64_t blob);

/* --------------------------------------------------------------------------------- its building */

/* The value of a JSON object at a path. `top` is the path of the object's own key. `depth` is
 * the number of keys on the way; if a path can be reached in two ways, the shorter counts. */
struct column_said {
    uint32_t path, top, depth, code;
};
enum { DEPTH_OF_SOURCE = UINT32_MAX, NO_TOP = UINT32_MAX, NO_PATH = UINT32_MAX };

struct column_words {
    struct column_said *items;
    size_t count, room;
};

struct column_run {
    uint32_t first, code; /* from this row to the next run's; code 0 is no value */
};

struct column_value {
    uint64_t at; /* in `values` */
    uint32_t size, code;
};

/* One path: its distinct values, numbered from 1 in order of arrival, and its runs. */
struct column_path {
    uint8_t *name;
    size_t name_size;
    bool is_tags, is_given_up;
    struct rag_buffer values;
    struct column_value *value;
    size_t value_count, value_room;
    uint32_t *slots; /* a hash table of value numbers + 1; its size is a power of two */
    size_t slot_count;
    struct column_run *runs;
    size_t run_count, run_room;
    uint32_t end; /* the row after the last that has a value */
    /* For the row that is being joined: whether it has a value of its own here, at this depth; and
     * whether the path is a key of its own. They hold where they equal the builder's turn. */
    uint64_t said_on, top_on;
    uint32_t said_depth;
};

struct rag_columns_builder {
    struct column_path *paths;
    size_t path_count, path_room;
    uint32_t *slots;
    size_t slot_count;
    uint64_t turn;       /* rows that were joined */
    uint64_t rows, held; /* held: bytes of all values and runs */
    struct rag_columns_limits limits;
    bool is_partial, is_spoilt, has_no_memory;
    bool is_dry;         /* objects are read and nothing of them is kept */
    bool is_of_one_path; /* `wanted` alone is kept */
    struct rag_buffer wanted;
    double (*decimal)(void *context, const char *digits, size_t size);
    void *context;
    struct column_words shared, own, both;
    struct rag_buffer scratch, name;
};

uint32_t rag_column_path_of(struct rag_columns_builder *b, const uint8_t *name, size_t size,
                            bool is_tags);
/* The number of a value; 0 if the path is not stored. */
uint32_t rag_column_code_of(struct rag_columns_builder *b, struct column_path *path,
                            const uint8_t *value, size_t size);
void rag_column_give_up(struct rag_columns_builder *b, struct column_path *path);
void rag_column_append(struct rag_columns_builder *b, struct column_path *path, uint64_t first,
                       uint64_t count, uint32_t code);

/* Parses the object of a document or chunk. False if it is invalid: then there are no columns. */
bool rag_column_words_of(struct rag_columns_builder *b, const uint8_t *json, size_t size,
                         struct column_words *words);

#endif
