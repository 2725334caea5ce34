/* formats.h - parts of other formats: base64, Markdown and JSON structure, FAISS headers. */
#ifndef RAGFILE_FORMATS_H
#define RAGFILE_FORMATS_H

#include "ragfile/status.h"

/* Where lines begin besides every 64 characters: at byte head and every row bytes after it, each
 * moved back to a multiple of 3 so that groups of four characters stay whole. row below 48 means
 * nowhere. */
struct rag_base64_rows {
    size_t head, row;
};

/* Writes bytes [*at, size) as whole lines with their line feeds while room (at least 65) lasts;
 * *at, a multiple of 3 unless all is written, moves on. Returns the characters written. */
size_t rag_base64_wrap(const struct rag_base64_rows *rows, const uint8_t *in, size_t size,
                       size_t *at, char *out, size_t room);

/* Base64 with any white space between characters to bytes. out has room for size / 4 * 3 + 3.
 * RAG_FORMAT names the offset of the first character that is not base64; padding is required, and
 * bits beyond the last byte must be zero. */
enum rag_status rag_base64_unwrap(const uint8_t *text, size_t size, uint8_t *out, size_t *written,
                                  struct rag_fault *fault);

/* The dividing lines of a markdown text, one after the other. Start with all zero; [at, end) is the
 * line without its line feed, next the start of the following one. length is not 0 while a fence is
 * open. */
enum rag_mark { RAG_MARK_HEADING = 1, RAG_MARK_OPEN, RAG_MARK_CLOSE };

struct rag_marks {
    enum rag_mark kind;
    size_t at, end, next;
    uint8_t fence;
    size_t length;
};

bool rag_marks_next(const uint8_t *text, size_t size, struct rag_marks *marks);

/* How deep arrays and objects of a JSON text are nested; stops at the first bracket beyond limit,
 * which *at then names. */
size_t rag_json_depth(const uint8_t *text, size_t size, size_t limit, size_t *at);

#define RAG_FAISS_FLAT_HEAD 45

/* The head of a FAISS index. rows_at is where the floats of a flat index start, 0 for any other. */
struct rag_faiss {
    char kind[5];
    uint32_t dim, metric;
    uint64_t count;
    size_t rows_at;
};

/* For a flat index everything is checked: the floats are there, and nothing follows them. */
enum rag_status rag_faiss_read(const uint8_t *bytes, size_t size, struct rag_faiss *index,
                               struct rag_fault *fault);

/* The 45 bytes before the floats of an IndexFlatIP or IndexFlatL2. */
void rag_faiss_flat_head(uint32_t dim, uint64_t count, bool inner_product, uint8_t *head);

#endif
