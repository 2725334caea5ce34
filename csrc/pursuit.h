/* pursuit.h - rows that a sweep could not rule out, on their way to the sieve, for
 * scan_sweep.c; and the stretches of a shadow that scans read. */
#ifndef RAG_PURSUIT_H
#define RAG_PURSUIT_H

#include "scan.h"
#include "sight.h"

/* Some queries on one slice of a shadow; `place` is a query's number among them. */
struct pursuit {
    struct search *search;
    const struct slice *slice;
    const struct rag_shadow *shadow;
    const uint32_t *which;
    size_t count, room, pending_room, row_size;
    uint64_t group_size, codes_at, last_group, last_codes_at; /* where rows of codes lie */
    struct sight *sights;
    uint8_t *memory;
    /* for each query: the bounds of the `noted` blocks since the last harvest (of room rows), hits
       that wait (pending_room), and likely ones (of one run); firsts: where each noted block
       starts */
    float *uppers;
    uint32_t *firsts;
    size_t noted;
    struct hit *fresh, *pending, *likely;
    size_t *pending_count, *likely_count;
    float *guesses;        /* for each query: what a row must probably beat in the end */
    const uint64_t *where; /* rows that pass, where the sweep does not know them; or NULL */
    const uint8_t *next;   /* the blocks that are swept after those of this stretch, or NULL */
    float *scratch;
};

bool rag_pursuit_open(struct pursuit *on, struct search *search, const struct slice *slice,
                      const uint32_t *which, size_t count);
void rag_pursuit_close(struct pursuit *on);

/* Makes room for the bounds of blocks that are swept next, and notes where they start. */
void rag_pursuit_room(struct pursuit *on, uint64_t first, size_t blocks);

/* Where a query's bounds of these blocks go. */
static inline float *rag_pursuit_bounds(const struct pursuit *on, size_t place) {
    return on->uppers + place * on->room + BLOCK_ROWS * on->noted;
}

/* Takes the found hits in fresh. Every sweep of a run needs it, even where it found none. */
void rag_pursuit_take(struct pursuit *on, size_t place, size_t found);

/* Guesses, from the part of the rows that was swept, what the k-th best of all will be. */
void rag_pursuit_guess(struct pursuit *on, double part);

/* Takes every row that can still win to the sieve. The end of a scan needs it. */
void rag_pursuit_flush(struct pursuit *on);

/* Offers count <= REFINED rows to the sieve with the bounds of their 8-bit codes. */
enum { REFINED = 8 };
void rag_refine_rows(const struct query *query, uint32_t dim, const uint8_t *const *codes,
                     const uint32_t *rows, size_t count, struct sieve *sieve);

/* A stretch of one group: its blocks, of planes with the group's head and the rows' norms; or its
 * rows of codes. */
struct stretch {
    const uint8_t *head, *blocks, *norms, *codes;
    uint64_t first;
    size_t rows;
};

/* The stretch of at most `most` rows that starts at row, with its checksums checked. */
bool rag_stretch_at(struct search *search, const struct slice *slice, uint64_t row, size_t most,
                    bool codes_only, struct stretch *stretch);

#endif
