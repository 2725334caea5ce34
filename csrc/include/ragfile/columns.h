/* columns.h - metadata as sorted columns (section rag.columns).
 *
 * A column stores the distinct values of one path of the metadata in order, and for each row the
 * number of its value, called its code. Filters compare codes. */
#ifndef RAGFILE_COLUMNS_H
#define RAGFILE_COLUMNS_H

#include "ragfile/section.h"

/* Encode a JSON value as bytes that compare in the order of values (columns/values.h), and
 * return their number. A text takes at most 2 * size + 2 bytes. For a number, `floor` is the
 * largest binary64 not above it and `rest` the difference. */
enum { RAG_VALUE_NUMBER = 11 };
size_t rag_value_integer(uint8_t *out, int64_t integer);
size_t rag_value_number(uint8_t *out, double floor, uint16_t rest);
size_t rag_value_text(uint8_t *out, const uint8_t *raw, size_t size);

/* Limits of a builder, in bytes: `value` of one value, `values` of all values of one path,
 * `held` of everything that the builder holds, and for the texts, lists and objects of one
 * column free_bytes + bytes_a_row * rows. A path over a limit is listed without its values. */
struct rag_columns_limits {
    uint32_t value, bytes_a_row;
    uint64_t values, held, free_bytes;
};

/* Builds the section from the metadata of a segment's rows, in order: a document's JSON, then
 * that of its rows; equal consecutive rows are passed at once with their count. JSON is UTF-8
 * that may contain lone surrogates. `decimal` parses a number with a fraction or an exponent.
 * finish writes the section, unless the input was invalid: then the builder is spoilt. */
struct rag_columns_builder;
enum rag_status rag_columns_new(const struct rag_columns_limits *limits,
                                double (*decimal)(void *context, const char *digits, size_t size),
                                void *context, struct rag_columns_builder **builder,
                                struct rag_fault *fault);
enum rag_status rag_columns_document(struct rag_columns_builder *builder, const uint8_t *json,
                                     size_t size, struct rag_fault *fault);
enum rag_status rag_columns_rows(struct rag_columns_builder *builder, const uint8_t *json,
                                 size_t size, uint64_t count, struct rag_fault *fault);

/* Makes a new builder keep the column of one path, or of the tags, whatever its name and its
 * values: a number beyond 64 bits is the nearest binary64. */
enum rag_status rag_columns_only(struct rag_columns_builder *builder, const uint8_t *path,
                                 size_t size, bool is_tags, struct rag_fault *fault);

/* Whether a document's JSON holds metadata, tags and a source, and nothing else. Use a builder
 * of its own for this call. */
bool rag_columns_are_plain(struct rag_columns_builder *builder, const uint8_t *json, size_t size);
void rag_columns_spoil(struct rag_columns_builder *builder);
bool rag_columns_are_spoilt(const struct rag_columns_builder *builder);
enum rag_status rag_columns_finish(struct rag_columns_builder *builder,
                                   enum rag_status (*write)(void *context, const void *bytes,
                                                            size_t size),
                                   void *context, struct rag_fault *fault);
void rag_columns_free(struct rag_columns_builder *builder);

/* An open section. find returns the number of the column of a path, or of the tags, or -1. If
 * is_partial is false, no row has a path that is not listed. place gives the range of a column
 * in the section. */
struct rag_columns {
    struct rag_guard guard;
    uint64_t rows, data;
    uint32_t count;
    bool is_partial;
};
enum rag_status rag_columns_open(struct rag_columns *columns, uint64_t rows,
                                 struct rag_fault *fault);
int64_t rag_columns_find(const struct rag_columns *columns, const uint8_t *name, size_t size,
                         bool is_tags);
bool rag_columns_has_values(const struct rag_columns *columns, uint32_t i);

/* Whether a part of the path before a dot can be a list. Columns that are stored do not enter
 * lists: the column of such a path is made from the metadata (rag_columns_only). */
bool rag_columns_may_enter_lists(const struct rag_columns *columns, const uint8_t *path,
                                 size_t size);
void rag_columns_name(const struct rag_columns *columns, uint32_t i, const uint8_t **name,
                      size_t *size, bool *is_tags);
void rag_columns_place(const struct rag_columns *columns, uint32_t i, uint64_t *at, uint64_t *size);

/* One validated column. Code 0 means no value; codes 1 to `values` are the distinct values in
 * order. */
struct rag_column {
    uint64_t rows;
    uint32_t width, special, numbers, texts, lists, objects, values;
    const uint8_t *zones, *codes, *floors, *rests, *offsets, *blob;
};
enum rag_status rag_column_open(const struct rag_columns *columns, uint32_t i,
                                struct rag_column *column, struct rag_fault *fault);

/* The codes [low, high) that equal a value (none or one); and those of a kind: 0 null, 1 bool, 2
 * number, 3 text, 4 list, 5 object. */
enum rag_status rag_column_find(const struct rag_column *column, const uint8_t *value, size_t size,
                                uint32_t *low, uint32_t *high, struct rag_fault *fault);
void rag_column_kind(const struct rag_column *column, int kind, uint32_t *low, uint32_t *high);

/* The row set of the rows whose code is in [low, high), or has chosen[code] set. */
void rag_column_rows(const struct rag_column *column, uint32_t low, uint32_t high, uint64_t *words);
void rag_column_rows_of(const struct rag_column *column, const uint8_t *chosen, uint32_t count,
                        uint64_t *words);

/* Set chosen[code] for the lists that contain a value; for the texts that contain a part. */
void rag_column_holding(const struct rag_column *column, const uint8_t *value, size_t size,
                        uint8_t *chosen);
void rag_column_containing(const struct rag_column *column, const uint8_t *part, size_t size,
                           uint8_t *chosen);

/* Encodes a JSON value of up to 256 levels, such as a filter. *value belongs to the builder, which
 * is used for nothing else. */
enum rag_status rag_value_of_json(struct rag_columns_builder *builder, const uint8_t *json,
                                  size_t size, const uint8_t **value, size_t *value_size,
                                  struct rag_fault *fault);

/* The columns that a filter reads. column sets *own to the column of a path, or of the tags, NULL
 * if no row has it; *other is a column for the rows without a value in *own, or NULL. */
struct rag_filter_columns {
    enum rag_status (*column)(void *context, const uint8_t *path, size_t size, bool is_tags,
                              const struct rag_column **own, const struct rag_column **other,
                              struct rag_fault *fault);
    void *context;
    uint64_t rows;
};

/* The row set of the rows that pass a filter, an encoded object of conditions; and of those whose
 * tags have one, or all, of the elements of an encoded list. Fails with RAG_ARGUMENT for another
 * value. */
enum rag_status rag_filter_rows(const struct rag_filter_columns *columns, const uint8_t *filter,
                                size_t size, uint64_t *words, struct rag_fault *fault);
enum rag_status rag_filter_tags(const struct rag_filter_columns *columns, const uint8_t *tags,
                                size_t size, bool wants_all, uint64_t *words,
                                struct rag_fault *fault);

/* Text, list or object number i of the column's blob. */
const uint8_t *rag_column_text(const struct rag_column *column, uint32_t i, size_t *size);

/* Writes the bytes of a code's value and returns their number. With out NULL, returns an upper
 * bound. */
size_t rag_column_value(const struct rag_column *column, uint32_t code, uint8_t *out);

#endif
