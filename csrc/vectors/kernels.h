/* kernels.h - the inner loops of the vector engine, one table of them per target.
 *
 * Kernels see pointers and counts, never files; everything they read has been checked by their
 * caller. canonical, canonical_rows, dots and encode are exact to the bit on every target. The
 * others can differ in the last bits between targets: their results only decide which rows get a
 * canonical score, inside the slack that spec/parts/vectors.md proves. */
#ifndef RAG_KERNELS_H
#define RAG_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BLOCK_ROWS = 16,     /* rows interleaved in one 4-bit block */
    GROUP_DIMS = 8,      /* dimensions in 64 bytes of a block: 16 rows x 4 bytes x 2 nibbles */
    BLOCK_META = 3 * 64, /* after a block's nibbles: 16 scales, 16 residual norms, 16 row norms */
    TILE_ROWS = 6,       /* rows and queries of one register tile of the batch scan */
    TILE_QUERIES = 64,
    TILE_STEP = 16,
    RUN_BLOCKS = 64, /* the most blocks of one sweep call */
    TOP_GROUPS = 2,  /* of planes: where a query has codes of more bits */
    TOP_SHIFT = 6,
    PANEL_ROWS = 4, /* rows and queries of one product in binary32 */
    PANEL_QUERIES = 64,
    QUERY_PAD = 64, /* a query's arrays are zero-padded to a multiple of this many components */
};

/* A query for the 4-bit sweep: <q, v> is about (sum - bias) * step * scale, for unit q and v. */
struct sweep_query {
    const int8_t *codes; /* 8 * groups */
    size_t groups;
    float bias, step, slack;
    float curve;         /* of the key w * (x - curve * w): 0, or 1 / (2 |q|) for l2 */
    bool unit;           /* cosine: w is 1, else the row's norm */
    const uint8_t *next; /* the bytes swept after these blocks; NULL: the bytes behind them */
};

/* The same for planes: <q, u> is about base + (sum - bias) * step * scale, and within times the
 * row's residual byte, beyond times its tail byte and reach times its scale are its error. */
struct planes_query {
    const int8_t *codes; /* 8 * groups */
    const int8_t *top;   /* 8 * TOP_GROUPS more for the first ones, each worth 1 << TOP_SHIFT */
    size_t groups;
    float bias, step, base, slack, reach, within, beyond, curve;
    const uint8_t *norms; /* a row's norm is w; NULL: w is 1 */
    const uint8_t *next;  /* as above */
};

/* A row that a sweep could not rule out: upper bound and likely value of its key. */
struct hit {
    uint32_t row;
    float upper, likely;
};

/* The query side of a batch tile: up to 64 queries, packed in fours of dimensions. */
struct tile_query {
    const int8_t *panel;         /* [fours][width][4] */
    size_t fours, count, width;  /* width: places for the queries, a multiple of TILE_STEP */
    int32_t start[TILE_QUERIES]; /* of the sums: -code_bias * the sum of the query's codes */
    float step[TILE_QUERIES], slack[TILE_QUERIES], curve[TILE_QUERIES], floor[TILE_QUERIES];
    float spread[TILE_QUERIES]; /* of the row's residual: 1 + the query's own error */
    bool unit;
};

/* The head of a row of the 8-bit plane: its scale, residual norm and row norm. In planes, 16 scales
 * in binary16, 16 residual norms and 16 tails in bytes come after the nibbles of a block. */
enum { CODE_HEAD = 12, PLANES_META = 64 };

struct tile_hit {
    uint8_t row, query;
    float score;
};

struct kernels {
    /* dot(q, row) and dot(row, row) in the canonical order; q is zero-padded binary64. */
    void (*canonical)(const uint8_t *row, const double *q, size_t dim, double *dot, double *square);

    /* Both for count rows at any addresses: products[2 * i] and products[2 * i + 1]. The
     * components of q are binary32 numbers. */
    void (*canonical_rows)(const uint8_t *const *rows, size_t count, const double *q, size_t dim,
                           double *products);

    /* The first of these for count rows, stride bytes apart, for such a q, too. */
    void (*dots)(const uint8_t *rows, size_t stride, size_t count, const double *q, size_t dim,
                 double *dots);

    /* The same two in plain binary32 for count rows, for a filter: relative errors below
     * (dim / 16 + 16) / 2^24, of |q||row| and of |row|^2. */
    void (*estimate)(const uint8_t *rows, size_t stride, size_t count, const float *q, size_t dim,
                     float *dots, float *squares);

    /* The products of PANEL_ROWS rows of binary32 with PANEL_QUERIES queries, whose component i is
     * at panel[PANEL_QUERIES * i ...]; relative error below (dim + 1) / 2^24 of |q||row|. */
    void (*multiply)(const uint8_t *rows, size_t stride, const float *panel, size_t dim,
                     float *dots);

    /* binary16 components to binary32. */
    void (*widen_f16)(const uint8_t *from, float *to, size_t dim);

    /* Looks at the rows of count <= RUN_BLOCKS blocks, numbered from first on; where has two bytes
     * per block, or is NULL. Writes to hits those that probably beat the floor, and to uppers the
     * most that the key of each other row can be; NaN for hits and for rows that are not in
     * where. Returns how many hits. */
    size_t (*sweep)(const uint8_t *blocks, size_t count, uint32_t first, const uint8_t *where,
                    const struct sweep_query *query, float floor, float *uppers, struct hit *hits);

    /* The same for the blocks of planes. */
    size_t (*sweep_planes)(const uint8_t *blocks, size_t count, uint32_t first,
                           const uint8_t *where, const struct planes_query *query, float floor,
                           float *uppers, struct hit *hits);

    /* Writes to hits the rows of blocks <= RUN_BLOCKS whose upper bound reaches the floor; block
     * b's are numbered from firsts[b] on. Returns how many. */
    size_t (*reach)(const float *uppers, const uint32_t *firsts, size_t blocks, float floor,
                    struct hit *hits);

    /* The products of a matrix of int16 with 1, 2 or 4 points, stride components apart: exact where
     * they fit. The matrix is stored as count pairs of its rows' components (an even number), each
     * with that pair of all rows (columns of them, a multiple of 32). Point i's products are
     * sums[i * columns ...]. */
    void (*turn)(const uint8_t *pairs, size_t columns, size_t count, const int16_t *x,
                 size_t stride, size_t points, int32_t *sums);

    /* For count rows the sums of (code - 128) * high and (code - 128) * low over size codes, given
     * 128 times the sums of high and of low. The queries are zero-padded to QUERY_PAD and the codes
     * readable as far. */
    void (*refine)(const uint8_t *const *codes, size_t count, const int8_t *high, const int8_t *low,
                   size_t size, const int64_t *biases, int64_t *sums);

    /* Appends to hits the pairs of count <= TILE_ROWS coded rows and the queries whose upper bound
     * reaches the query's floor. NULL where the target has no instruction that makes this
     * worthwhile. */
    size_t (*tile)(const uint8_t *rows, size_t stride, size_t count,
                   const struct tile_query *queries, struct tile_hit *hits);

    /* How tiles take codes: the most that the magnitudes of a query's codes 2i and 2i + 1 may add
     * up to, and what a row's codes are too high by. */
    int32_t pair_most, code_bias;

    /* The row times factor, as floats and those floats as doubles; returns the largest
     * magnitude. */
    float (*scale_row)(const uint8_t *row, size_t dim, double factor, float *unit, double *wide);

    /* values = unit - scale * values, each rounded once from binary64. */
    void (*leave)(const double *wide, size_t dim, float scale, float *values);

    /* The squared error of 4-bit codes with this step; unit is zero-padded to a multiple of 16. */
    float (*nibble_error)(const float *unit, size_t dim, float step);

    /* codes = unit / step + half rounded into 0..most, and values = codes - half. All arrays are
     * padded to a multiple of 16. */
    void (*encode)(const float *unit, size_t dim, float step, float half, float most,
                   uint8_t *codes, float *values);
};

/* The table for the target that rag_init chose. */
const struct kernels *rag_kernels(void);

#endif
