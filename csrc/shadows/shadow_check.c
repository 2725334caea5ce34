/* shadow_check.c - check that the bounds of a shadow hold for its rows.
 *
 * A search trusts these numbers: a bound that is too small would silently drop one of the best
 * rows. Opening cannot read every row; verification does. It checks exactly the "Guarantees" of
 * spec/parts/vectors.md, not the method of the writer.
 *
 * Along rotated axes the guarantee covers the row's part in the space of the axes, which are only
 * nearly orthonormal. The writer's own estimate, from exact integer products, is an upper bound and
 * settles almost every row. The others are computed in full, in binary64. TRUE_ENOUGH allows for
 * the rounding of that. */
#include <math.h>
#include <stdlib.h>

#include "ragfile/machine.h"
#include "shadows/shadow.h"
#include "shared/fail.h"
#include "system/system.h"

#define TRUE_ENOUGH 1e-9
#define REACH_MAX 2.1 /* of nibbles; the sweep's slack depends on it */
#define ORTHOGONAL 2e-6
#define ROUNDING 3e-7

struct check {
    const struct rag_shadow *shadow;
    struct axes axes;
    double skew;
    double *zeros, *unit, *wide, *x, *w, *places, *y, *c;
    float *floats, *values, *turned, *steps;
    int16_t *point;
    int32_t *sums;
    void *memory;
    double norm;
    bool finite, usual, zero;
};

static bool check_open(struct check *on) {
    const size_t size = align_up(on->shadow->dim, 64);
    on->memory = calloc(size, 8 * sizeof(double) + 5 * sizeof(float) + sizeof(int16_t));
    if (!on->memory) return false;
    on->zeros = on->memory;
    on->unit = on->zeros + size;
    on->wide = on->unit + size;
    on->x = on->wide + size;
    on->w = on->x + size;
    on->places = on->w + size;
    on->y = on->places + size;
    on->c = on->y + size;
    on->floats = (float *)(on->c + size);
    on->values = on->floats + size;
    on->turned = on->values + size;
    on->steps = on->turned + size;
    on->sums = (int32_t *)(on->steps + size);
    on->point = (int16_t *)(on->sums + size);
    for (uint32_t a = 0; a < on->shadow->kept; a++) on->steps[a] = load_f32(on->axes.steps + 4 * a);
    return true;
}

static double length(const double *values, size_t count) {
    double square = 0;
    for (size_t i = 0; i < count; i++) square += values[i] * values[i];
    return sqrt(square);
}

static double float_length(const struct check *on, const float *values, size_t count) {
    double dot, square;
    rag_kernels()->canonical((const uint8_t *)values, on->zeros, count, &dot, &square);
    return sqrt(square);
}

static void take_row(struct check *on, const struct rag_matrix *matrix, uint64_t row) {
    const uint8_t *floats = rag_matrix_floats(matrix, row, on->floats);
    double dot, square;
    rag_kernels()->canonical(floats, on->zeros, matrix->dim, &dot, &square);
    on->norm = sqrt(square);
    on->finite = isfinite(square);
    on->zero = square == 0;
    on->usual = square >= 0x1p-200 && square <= 0x1p200;
    const double inverse = on->usual ? 1 / on->norm : 0;
    for (uint32_t i = 0; i < matrix->dim; i++) {
        const double value = (double)load_f32(floats + 4 * i) * inverse;
        on->unit[i] = on->usual ? value : 0;
    }
    for (uint32_t i = 0; i < matrix->dim; i++) on->wide[i] = (float)on->unit[i];
}

/* True if scale times the values is within rest of the row. Try the writer's upper bound first; if
 * that is too loose, compute in full. */
static bool is_near(struct check *on, float scale, float rest) {
    const size_t dim = on->shadow->dim;
    memcpy(on->turned, on->values, dim * sizeof *on->values);
    rag_kernels()->leave(on->wide, dim, scale, on->turned);
    if ((float)(float_length(on, on->turned, dim) * (1 + 1e-6) + 1e-7) <= rest) return true;
    for (size_t i = 0; i < dim; i++) on->w[i] = on->unit[i] - (double)scale * (double)on->values[i];
    return length(on->w, dim) <= (double)rest + TRUE_ENOUGH;
}

/* ------------------------------------------------------------------------- what both kinds hold */

static bool is_norm_true(const struct check *on, float norm) {
    return norm == (on->usual ? (float)on->norm : on->zero ? 0 : 1);
}

/* For a row without a direction, check the class in its residual norm. */
static bool is_special_true(const struct check *on, float scale, float rest) {
    if (on->zero) return scale == 0 && rest >= 0;
    return scale == 0 && rest == (on->finite ? INFINITY : -INFINITY);
}

static const char *check_bytes(struct check *on, const uint8_t *row) {
    const float scale = load_f32(row), rest = load_f32(row + 4);
    if (!is_norm_true(on, load_f32(row + 8))) return "a row's norm is another";
    if (!on->usual)
        return is_special_true(on, scale, rest) ? NULL : "a row is not of the kind that it says";
    for (uint32_t i = 0; i < on->shadow->dim; i++)
        on->values[i] = (float)(row[CODE_HEAD + i] - 128);
    return is_near(on, scale, rest) ? NULL : "a row's 8-bit copy is further from it than is said";
}

/* Read the r-th row's nibbles, less 7.5. */
static void read_nibbles(const uint8_t *block, size_t r, size_t dims, float *values) {
    for (size_t g = 0; g < dims / GROUP_DIMS; g++)
        for (size_t t = 0; t < 4; t++) {
            const uint8_t byte = block[64 * g + 4 * r + t];
            values[8 * g + t] = (float)(byte & 15) - 7.5f;
            values[8 * g + 4 + t] = (float)(byte >> 4) - 7.5f;
        }
}

/* Plain kind: check that the codes are near the row, and are its projection. */
static const char *check_plain(struct check *on, const uint8_t *block, size_t r) {
    const uint32_t dim = on->shadow->dim;
    const uint8_t *meta = block + 8 * align_up(dim, GROUP_DIMS) + 4 * r;
    const float scale = load_f32(meta), rest = load_f32(meta + 64);
    double dot, square;
    if (!is_norm_true(on, load_f32(meta + 128))) return "a row's norm is another";
    if (!on->usual)
        return is_special_true(on, scale, rest) ? NULL : "a row is not of the kind that it says";
    read_nibbles(block, r, align_up(dim, GROUP_DIMS), on->values);
    rag_kernels()->canonical((const uint8_t *)on->values, on->unit, dim, &dot, &square);
    if (!(fabs(((double)scale * square - dot) * (double)scale) <= ORTHOGONAL))
        return "a row's 4-bit copy is not its projection";
    return is_near(on, scale, rest) ? NULL : "a row's 4-bit copy is further from it than is said";
}

/* ------------------------------------------------------------------------------ along the axes */

static double axis_at(const struct check *on, size_t axis, size_t i) {
    const size_t pair = i / 2 * on->shadow->kept + axis;
    return (int16_t)load_u16(on->axes.axes + 2 * (2 * pair + i % 2)) * 0x1p-15;
}

static void along(const struct check *on, const double *x, double *y) {
    for (size_t a = 0; a < on->shadow->kept; a++) {
        y[a] = 0;
        for (size_t i = 0; i < on->shadow->dim; i++) y[a] += axis_at(on, a, i) * x[i];
    }
}

/* Subtract the coded sum along the axes from x. */
static void less_places(const struct check *on, const double *x, const double *places, double *w) {
    for (size_t i = 0; i < on->shadow->dim; i++) {
        w[i] = x[i];
        for (size_t a = 0; a < on->shadow->kept; a++) w[i] -= axis_at(on, a, i) * places[a];
    }
}

/* Return the length of w's part in the space of the axes: with y = A w and (A A^T) c = y its
 * square is <c, y>. A A^T is so near the identity that six steps suffice. left gets w without
 * that part. */
static double part_of(struct check *on, const double *w, double *left) {
    const size_t kept = on->shadow->kept;
    double more[KEPT_MAX], square = 0;
    along(on, w, on->y);
    memcpy(on->c, on->y, kept * sizeof *on->c);
    for (size_t step = 0; step < 6; step++) {
        less_places(on, w, on->c, left);
        along(on, left, more);
        for (size_t a = 0; a < kept; a++) on->c[a] += more[a];
    }
    less_places(on, w, on->c, left);
    for (size_t a = 0; a < kept; a++) square += on->c[a] * on->y[a];
    return square > 0 ? sqrt(square) : 0;
}

static bool hold_in_full(struct check *on, double rest, double tail) {
    less_places(on, on->x, on->places, on->w);
    double left[ROTATED_DIM_MAX];
    if (!(part_of(on, on->w, left) <= rest + TRUE_ENOUGH)) return false;
    part_of(on, on->x, left);
    return length(left, on->shadow->dim) <= tail + TRUE_ENOUGH;
}

/* Compute the row's point, its distance from x, and its squared length. */
static double take_point(struct check *on, double *square) {
    int64_t sum = 0;
    double missed = 0;
    for (size_t i = 0; i < on->shadow->dim; i++) {
        const double whole = (on->x[i] * (1 << POINT_BITS) + 0x1.8p52) - 0x1.8p52;
        const double near = whole > INT16_MAX ? INT16_MAX : whole < -INT16_MAX ? -INT16_MAX : whole;
        on->point[i] = (int16_t)near;
        on->turned[i] = (float)(on->x[i] - near * 0x1p-14);
    }
    for (size_t i = 0; i < on->shadow->dim; i++) sum += (int32_t)on->point[i] * on->point[i];
    missed = float_length(on, on->turned, on->shadow->dim);
    *square = (double)sum * 0x1p-28;
    return missed * (1 + 1e-6) + ROUNDING;
}

/* Check by the writer's upper bounds (spec, part 4). values: nibbles times steps. */
static bool hold(struct check *on, float scale, double rest, double tail) {
    const size_t kept = on->shadow->kept, stride = align_up(on->shadow->dim, AXIS_PAD);
    double square;
    const double missed = take_point(on, &square), places = float_length(on, on->values, kept);
    rag_kernels()->turn(on->axes.axes, kept, stride / 2, on->point, stride, 1, on->sums);
    for (size_t a = 0; a < kept; a++) on->turned[a] = (float)on->sums[a] * 0x1p-29f;
    const double turned = float_length(on, on->turned, kept);
    for (size_t a = 0; a < kept; a++) on->w[a] = (double)on->turned[a];
    rag_kernels()->leave(on->w, kept, scale, on->values);
    const double error =
        float_length(on, on->values, kept) + 1.01 * missed + on->skew * (double)scale * places;
    const double across = square - turned * turned * (1 - ROUNDING) / (1 + on->skew);
    return error * (1 + on->skew) * (1 + 1e-6) + ROUNDING <= rest &&
           (across > 0 ? sqrt(across) : 0) * (1 + 1e-6) + missed + ROUNDING <= tail;
}

static float of_half(const uint8_t *bytes) {
    float value;
    rag_kernels()->widen_f16(bytes, &value, 1);
    return value;
}

static const char *check_places(struct check *on, const uint8_t *head, const uint8_t *block,
                                size_t r) {
    const size_t kept = on->shadow->kept;
    const uint8_t *meta = block + 8 * kept;
    const float scale = of_half(meta + 2 * r);
    const double reach = load_f32(head + GROUP_AT_REACH);
    const double rest = (double)load_f32(head + GROUP_AT_REST_UNIT) * meta[2 * BLOCK_ROWS + r],
                 tail = (double)load_f32(head + GROUP_AT_TAIL_UNIT) * meta[3 * BLOCK_ROWS + r];
    const bool known = meta[3 * BLOCK_ROWS + r] != TAIL_UNKNOWN;
    read_nibbles(block, r, kept, on->values);
    if (!(float_length(on, on->values, kept) <= reach + TRUE_ENOUGH))
        return "a row's nibbles are longer than is said";
    for (size_t a = 0; a < kept; a++) on->values[a] *= on->steps[a];
    for (size_t a = 0; a < kept; a++) on->places[a] = (double)scale * (double)on->values[a];
    if (!(scale >= 0 &&
          (double)scale * float_length(on, on->values, kept) * (1 + on->skew / 2) <= REACH_MAX))
        return "a row's scale is out of range";
    if (!known) return scale == 0 ? NULL : "a row without bounds has a scale";
    if (!on->usual && !on->zero) return "a row without a direction has bounds";
    for (uint32_t i = 0; i < on->shadow->dim; i++)
        on->x[i] = on->unit[i] - (double)load_f32(on->axes.mean + 4 * i);
    return hold(on, scale, rest, tail) || hold_in_full(on, rest, tail)
               ? NULL
               : "a row's places are further from it than is said";
}

/* ------------------------------------------------------------------------------------- walking */

static enum rag_status wrong(const struct rag_shadow *shadow, uint64_t at, const char *what,
                             struct rag_fault *fault) {
    rag_fail(fault, RAG_CORRUPT, at, what);
    strcpy(fault->section, shadow->kept ? "rag.planes" : "rag.shadow");
    return RAG_CORRUPT;
}

static bool is_zero(const struct rag_guard *guard, uint64_t at, uint64_t size) {
    const uint8_t *bytes = rag_guard_at(guard, at);
    for (uint64_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* The parts of a group, and its rows. */
struct group {
    uint64_t head, blocks, norms, codes, first, rows;
};

static struct group group_at(const struct rag_shadow *shadow, uint64_t g) {
    const uint64_t first = g * shadow->group_rows, left = shadow->count - first;
    struct group group = {.blocks = rag_shadow_blocks_at(shadow, g),
                          .norms = rag_shadow_norms_at(shadow, g),
                          .codes = rag_shadow_codes_at(shadow, g),
                          .first = first,
                          .rows = left < shadow->group_rows ? left : shadow->group_rows};
    group.head = group.blocks - (shadow->kept ? GROUP_HEAD : 0);
    return group;
}

/* Check row i of a group that is in memory. */
static enum rag_status check_row(struct check *on, const struct group *group, uint64_t i,
                                 struct rag_fault *fault) {
    const struct rag_shadow *shadow = on->shadow;
    const uint8_t *bytes = rag_guard_at(&shadow->guard, group->head);
    const uint64_t block = group->blocks + i / BLOCK_ROWS * rag_shadow_block_size(shadow),
                   norm = group->norms + 4 * i,
                   codes = group->codes + i * rag_shadow_row_size(shadow);
    const uint8_t *at = bytes + (block - group->head);
    const char *what = shadow->kept ? check_places(on, bytes, at, i % BLOCK_ROWS)
                                    : check_plain(on, at, i % BLOCK_ROWS);
    if (what) return wrong(shadow, block, what, fault);
    if (shadow->kept && !is_norm_true(on, load_f32(bytes + (norm - group->head))))
        return wrong(shadow, norm, "a row's norm is another", fault);
    what = check_bytes(on, bytes + (codes - group->head));
    return what ? wrong(shadow, codes, what, fault) : RAG_OK;
}

static enum rag_status check_group(struct check *on, const struct rag_matrix *matrix, uint64_t g,
                                   struct rag_fault *fault) {
    const struct rag_shadow *shadow = on->shadow;
    const struct group group = group_at(shadow, g);
    enum rag_status status = rag_guard_check(&shadow->guard, group.head,
                                             rag_shadow_group_size(shadow, group.rows), fault);
    if (status == RAG_OK) status = rag_matrix_touch(matrix, group.first, group.rows, fault);
    if (status == RAG_OK && shadow->kept &&
        !is_zero(&shadow->guard, group.head + GROUP_HEAD_USED, GROUP_HEAD - GROUP_HEAD_USED))
        status = wrong(shadow, group.head, "the rest of a group's head is not zero", fault);
    for (uint64_t i = 0; i < group.rows && status == RAG_OK; i++) {
        take_row(on, matrix, group.first + i);
        status = check_row(on, &group, i, fault);
    }
    return status;
}

static enum rag_status check_ends(const struct rag_shadow *shadow, struct rag_fault *fault) {
    const uint64_t slack = shadow->guard.size - SHADOW_SLACK;
    enum rag_status status = rag_guard_check(&shadow->guard, 0, shadow->groups_at, fault);
    if (status == RAG_OK) status = rag_guard_check(&shadow->guard, slack, SHADOW_SLACK, fault);
    if (status != RAG_OK) return status;
    const uint64_t rest = shadow->kept ? 32 : 28;
    if (!is_zero(&shadow->guard, rest, SHADOW_HEAD - rest))
        return wrong(shadow, rest, "reserved bytes are not zero", fault);
    return is_zero(&shadow->guard, slack, SHADOW_SLACK)
               ? RAG_OK
               : wrong(shadow, slack, "the last bytes are not zero", fault);
}

static enum rag_status bring_all(const struct rag_shadow *shadow, const struct rag_matrix *matrix,
                                 struct rag_fault *fault) {
    struct rag_wants wants = {0};
    rag_wants_add(&wants, &shadow->guard, 0, shadow->guard.size);
    rag_matrix_want(matrix, 0, matrix->count, &wants);
    return rag_wants_ready(&wants, fault);
}

/* The checking threads report the first wrong group. */
struct checking {
    const struct rag_shadow *shadow;
    const struct rag_matrix *matrix;
    double skew;
    uint64_t wrong;
    struct rag_fault fault;
    rag_mutex lock;
};

static void check_task(void *context, size_t g) {
    struct checking *all = context;
    struct check on = {.shadow = all->shadow, .skew = all->skew};
    struct rag_fault fault;
    rag_float_mode before;
    if (all->shadow->kept) on.axes = rag_shadow_axes(all->shadow);
    rag_float_plain(&before);
    const enum rag_status status = check_open(&on) ? check_group(&on, all->matrix, g, &fault)
                                                   : rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    rag_float_back(&before);
    free(on.memory);
    if (status == RAG_OK) return;
    rag_mutex_lock(&all->lock);
    if (g < all->wrong) all->wrong = g, all->fault = fault;
    rag_mutex_unlock(&all->lock);
}

enum rag_status rag_shadow_check(const struct rag_shadow *shadow, const struct rag_matrix *matrix,
                                 struct rag_fault *fault) {
    struct checking all = {
        .shadow = shadow, .matrix = matrix, .wrong = UINT64_MAX, .lock = RAG_MUTEX};
    enum rag_status status = bring_all(shadow, matrix, fault);
    if (status == RAG_OK) status = check_ends(shadow, fault);
    if (status != RAG_OK) return status;
    if (shadow->kept)
        all.skew = rag_axes_skew(rag_shadow_axes(shadow).axes, align_up(shadow->dim, AXIS_PAD),
                                 shadow->kept);
    rag_parallel((shadow->count + shadow->group_rows - 1) / shadow->group_rows, rag_cpu_count(),
                 check_task, &all);
    if (all.wrong == UINT64_MAX) return RAG_OK;
    *fault = all.fault;
    return fault->status;
}
