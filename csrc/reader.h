/* reader.h - an open generation from inside, for reader.c, verify.c and writer.c. */
#ifndef RAG_READER_H
#define RAG_READER_H

#include "internal.h"

struct rag_reader {
    const uint8_t *bytes; /* NULL where a source lends stretches */
    uint64_t size;
    const struct rag_source *source; /* NULL where all bytes are there */
    struct rag_commit commit;
    uint64_t toc_at;
    const uint8_t *toc; /* the table of contents ... */
    uint8_t *own_toc;   /* ... which is the reader's own where the source only lends it; or NULL */
    const uint8_t *entries, *segments, *names; /* inside the table of contents */
    uint32_t names_size;
    uint32_t *order;    /* entries by (name, segment) */
    uint8_t *seen;      /* which blocks were found right, one bit each, and one more a section */
    uint64_t *seen_at;  /* entry -> first byte in seen */
    uint64_t seen_bits; /* blocks of all sections */
    const uint8_t **leaves; /* entry -> its leaves, where they are trusted; or NULL */
};

struct footer {
    uint64_t at, generation, toc_at, toc_size, toc_hash, previous;
};

/* A footer to be written; generation 1 has the table's hash as its identity. */
struct rag_footing {
    uint64_t generation, toc_at, toc_size, toc_hash, previous, identity;
};
void rag_footer_write(uint8_t *f, const struct rag_footing *footing);

/* True when the 64 bytes f, which lie at `at` of the file, are a footer of this file that holds by
 * itself; its table is not looked at. */
bool rag_footer_read(const uint8_t *f, uint64_t at, uint64_t identity, struct footer *footer);

/* Checks the table of a commit whose hash holds and fills the reader from it. */
enum rag_status rag_toc_read(struct rag_reader *reader, const struct footer *footer,
                             struct rag_fault *fault);

/* Frees what reading a table reserved. */
void rag_reader_clear(struct rag_reader *reader);

/* Index of a segment's record, or -1. */
int64_t rag_segment_index(const struct rag_reader *reader, uint32_t number);

#endif
