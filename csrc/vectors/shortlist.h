/* shortlist.h - rows that a sweep could not rule out, on their way to the candidates; and ranges
 * of a shadow. */
#ifndef RAG_SHORTLIST_H
#define RAG_SHORTLIST_H

#include "shadows/query_codes.h"
#include "vectors/scan.h"

/* Some queries on one slice of a shadow; `place` is a query's number among them. */
struct shortlist {
    struct search *search;
    const struct slice *slice;
    const struct rag_shadow *shadow;
    const uint32_t *which;
    size_t count, room, pending_room, row_size;
    uint64_t group_size, codes_at, last_group, last_codes_at; /* offsets of rows of codes */
    struct query_codes *codes;
    uint8_t *memory;
    /* for each query: the bounds of the `noted` blocks since the last harvest (of room rows), hits
       that wait (pending_room), and likely ones (of one run); firsts: where each noted block
       starts */
    float *uppers;
    uint32_t *firsts;
    size_t noted;
    struct hit *fresh, *pending, *likely;
    size_t *pending_count, *likely_count;
    float *guesses;        /* for each query: the likely final floor */
    const uint64_t *where; /* rows that pass, where the sweep does not know them; or NULL */
    const uint8_t *next;   /* the blocks that are swept after those of this stretch, or NULL */
    float *scratch;
};

bool rag_shortlist_open(struct shortlist *on, struct search *search, const struct slice *slice,
                        const uint32_t *which, size_t count);
void rag_shortlist_close(struct shortlist *on);

/* Reserves space for the bounds of the next blocks, and records their position. */
void rag_shortlist_room(struct shortlist *on, uint64_t first, size_t blocks);

/* The place for a query's bounds of these blocks. */
static inline float *rag_shortlist_bounds(const struct shortlist *on, size_t place) {
    return on->uppers + place * on->room + BLOCK_ROWS * on->noted;
}

/* Processes the hits in `fresh`. Call it after every sweep of a run, even if there were none. */
void rag_shortlist_take(struct shortlist *on, size_t place, size_t found);

/* Estimates the k-th best key of all rows from those of earlier slices and the first `swept` rows
 * of this one. */
void rag_shortlist_guess(struct shortlist *on, uint64_t swept);

/* Moves every row that can still win to the candidates. Required at the end of a scan. */
void rag_shortlist_flush(struct shortlist *on);

/* Offers count <= REFINED rows to the candidates with the bounds of their 8-bit codes. */
enum { REFINED = 8 };
void rag_refine_rows(const struct query *query, uint32_t dim, const uint8_t *const *codes,
                     const uint32_t *rows, size_t count, struct topk *topk);

/* A stretch of one group: its blocks, of planes with the group's head and the rows' norms; or its
 * rows of codes. */
struct stretch {
    const uint8_t *head, *blocks, *norms, *codes;
    uint64_t first;
    size_t rows;
};

/* Gets the range of at most `most` rows that starts at `row`, and verifies its checksums. */
bool rag_stretch_at(struct search *search, const struct slice *slice, uint64_t row, size_t most,
                    bool codes_only, struct stretch *stretch);

#endif
