/* reader.h - the internals of an open generation, for reader.c, verify.c and writer.c. */
#ifndef RAG_READER_H
#define RAG_READER_H

#include "ragfile/container.h"

/* Reads bytes of the file itself beside its map, which costs less for single pages; false if it
 * cannot. */
struct rag_reads {
    bool (*read)(const void *context, uint64_t at, void *bytes, size_t size);
    const void *context;
};

struct rag_reader {
    const uint8_t *bytes; /* NULL where a source lends stretches */
    uint64_t size;
    const struct rag_source *source; /* NULL where all bytes are there */
    const struct rag_reads *reads;   /* while the reader is opened; or NULL */
    struct rag_commit commit;
    uint64_t toc_at;
    const uint8_t *toc; /* the table of contents ... */
    uint8_t *own_toc;   /* ... which is the reader's own where the source only lends it; or NULL */
    const uint8_t *entries, *segments, *names; /* inside the table of contents ... */
    uint8_t *own_entries; /* ... or here, with the sections that rag.sections lists; or NULL */
    uint64_t *own_places; /* entry -> the offset of its entry, or of the list that it comes from */
    uint32_t names_size;
    uint32_t *order;      /* entries by (segment, name), the file's own first */
    uint32_t *group_ends; /* where those end in `order` */
    bool *is_alike;       /* whether a segment has the names of the one before */
    uint8_t *seen;        /* which blocks were found right, one bit each, and one more a section */
    uint64_t *seen_at;    /* entry -> first byte in seen */
    uint64_t seen_bits;   /* blocks of all sections */
    const uint8_t **leaves; /* entry -> its leaves, where they are trusted; or NULL */
};

/* As rag_reader_open for the newest commit; lists of sections are read by `reads`. */
enum rag_status rag_reader_open_read(const uint8_t *bytes, size_t size,
                                     const struct rag_reads *reads, struct rag_reader **out,
                                     struct rag_fault *fault);

struct footer {
    uint64_t at, generation, toc_at, toc_size, toc_hash, previous;
};

/* The fields of a new footer; in generation 1, identity is the table's hash. */
struct rag_footing {
    uint64_t generation, toc_at, toc_size, toc_hash, previous, identity;
};
void rag_footer_write(uint8_t *f, const struct rag_footing *footing);

/* True if the 64 bytes f at offset `at` are an intact footer of this file. Does not look at its
 * table. */
bool rag_footer_read(const uint8_t *f, uint64_t at, uint64_t identity, struct footer *footer);

/* Validates the table of contents, whose hash was verified, and fills the reader from it. */
enum rag_status rag_toc_read(struct rag_reader *reader, const struct footer *footer,
                             struct rag_fault *fault);

/* Frees the memory that rag_toc_read allocated. */
void rag_reader_clear(struct rag_reader *reader);

/* Adds the sections that lists (rag.sections) in the table name to the reader's entries. The
 * table's own entries must have been validated and sorted. The results must be validated, too. */
enum rag_status rag_lists_read(struct rag_reader *reader, struct rag_fault *fault);

/* The offset of an entry in the table, or of the list that it comes from. */
uint64_t rag_entry_place(const struct rag_reader *reader, uint32_t i);

/* Whether an entry comes from a list. */
bool rag_entry_is_listed(const struct rag_reader *reader, uint32_t i);

/* Returns the address of [at, at + size) of the file, fetching it if necessary. */
enum rag_status rag_reader_need(const struct rag_reader *reader, uint64_t at, uint64_t size,
                                const uint8_t **bytes, struct rag_fault *fault);

/* The index of a segment's record, or -1. */
int64_t rag_segment_index(const struct rag_reader *reader, uint32_t number);

#endif
